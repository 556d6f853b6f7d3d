"""From mentions and cues to candidates: which slot, which label, whose, and what is done to it. Blind to assertion."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ..extractors.assertion import assertion_of
from ..extractors.scan import Spoken
from ..model import Act, Candidate, Mention, Scan
from ..values import MoneyValue, NumberValue
from .acts import act_of, bounded, patch_of, pointing
from .adjust import Step, adjustment_by, label_of_step, step_candidate, step_of, unnumbered
from .book import Book, Rule, RulesetLike, book_of
from .capture_file import CaptureFile
from .counted import counted
from .dating import dated
from .fitting import fits
from .fragments import fragments
from .frames import Frame, frame
from .labels import key
from .moves import split_moves
from .owners import spoken_of
from .parts import part_of
from .phrases import agreed, phrase_candidates
from .replaced import Replaced, replaced_in, withdrawn
from .told import without_told
from .view import Place, View, view

__all__ = ["CaptureFile", "Captured", "capture"]

_CHANGING = frozenset({"change", "correct", "confirm", "retract", "end"})
_NAMING = frozenset({"party", "owner", "witness"})


@dataclass(frozen=True)
class Captured:
    """What one turn may add: candidates in the order of the text, and what the gate saw."""

    candidates: tuple[Candidate, ...] = ()
    gate: str = "none"
    gate_rule: str | None = None
    taken_back: tuple[int, ...] = field(default=())


class Heard(NamedTuple):
    """What the extractors found in a turn, and what was captured from it where that was done ahead."""

    scan: Scan
    captured: Captured | None = None


def capture(turn: Spoken, scan: Scan, ruleset: RulesetLike) -> Captured:
    """All candidates of a turn. Partial ones (no slot, no label, a fragment of a value) are left for bind."""
    book = book_of(ruleset)
    seen = seen_by(turn, scan, book)
    replaced = replaced_in(seen, book)
    found: list[Candidate] = []
    used: set[int] = set()
    for candidate in phrase_candidates(seen, book, replaced.indices):
        found.append(candidate)
        if candidate.act not in {"wish", "unwish"}:  # what is wished for is only counted; its values stay free
            used.update(candidate.mentions)
    for place in seen.places:
        if place.index in used or place.index in replaced.indices or place.now:
            continue
        for beside in _of_mention(seen, book, place, replaced):
            found.append(beside)
            used.update(beside.mentions)
    for index, act in sorted(replaced.alone.items()):
        found.append(withdrawn(seen, index, act))
        used.add(index)
    found = _apposed(seen, book, found)
    found.extend(unnumbered(seen, book, tuple(found)))
    found = dated(seen, book, _undated(seen, found))
    found.extend(fragments(seen, book, tuple(found), frozenset(used) | replaced.indices))
    if turn.speaker == "assistant":
        found = [_proposed(c) for c in found]
        found = [c for c in found if c.act == "propose"]
    if any(c.confidence == "high" and c.form == "full" for c in found):  # one stated fact: the turn states facts
        found = [c if c.confidence == "low" else c.model_copy(update={"confidence": "high"}) for c in found]
    ordered = sorted(found, key=lambda c: (c.start, c.end, c.rule))
    gate, rule = _gate(turn, scan, ruleset)
    return Captured(tuple(ordered), gate, rule, tuple(sorted(replaced.indices)))


def seen_by(turn: Spoken, scan: Scan, book: Book) -> View:
    """The turn as capture rules see it: without figures that amount to nothing, moves and counts taken apart."""
    said = book.lex.said
    plain = without_told(_hiding(view(turn, scan, said["abbreviation"], said["clause_joint"]), book), book.lex)
    return counted(split_moves(plain, book), book)


def around_of(seen: View, book: Book, place: Place, replaced: Replaced) -> tuple[Frame, Place | None]:
    """What stands around a mention, and the mention that it replaces in the same turn."""
    old = replaced.old_of(place.index)
    before = seen.of_mention(old) if old is not None else None
    return pointing(frame(seen, place, book.lex, replaced.indices, before), book), before


def _apposed(seen: View, book: Book, found: list[Candidate]) -> list[Candidate]:
    """房东是某某，电话…: a number right after somebody is named in the sentence is that person's."""
    out: list[Candidate] = []
    for candidate in found:
        if candidate.kind in {"phone", "email", "address"} and candidate.entity is None and candidate.slot is not None:
            start, _ = seen.norm.inside(candidate.start, candidate.end)
            segment = seen.segment_at(start)
            if not book.lex.own.search(seen.low[segment.start : start]):
                candidate = candidate.model_copy(update={"entity": spoken_of(seen, segment, book.lex)})
                for other in found:
                    at = seen.segment_at(seen.norm.inside(other.start, other.end)[0])
                    near = at.sentence == segment.sentence and at.index == segment.index - 1
                    if near and other.slot in _NAMING and other.kind in {"person", "organization"} and other.value:
                        candidate = candidate.model_copy(update={"entity": other.value.canonical})
        out.append(candidate)
    return out


def _hiding(seen: View, book: Book) -> View:
    """The view without figures that amount to nothing: in a word of their own (后四位), ordinals, ratios, 免费."""
    words = [hit.span() for hit in book.lex.attribute_words.finditer(seen.low)]
    inside = {
        place.index
        for place in seen.places
        if _counts_nothing(place.mention)
        or (place.kind == "number" and _is_year(seen, book, place))
        or (place.kind != "text" and _garbled(seen, book, place))
        or (place.kind == "quantity" and _only_once(seen, book, place))
        or (place.kind == "time" and _excepted(seen, book, place))
        or (place.kind in {"number", "quantity"} and any(a <= place.start and place.end <= b for a, b in words))
    }
    return replace(seen, hidden=frozenset(inside)) if inside else seen


def _counts_nothing(mention: Mention) -> bool:
    """An ordinal or a ratio (a number with a unit), or a price of nothing said in words: "free of charge"."""
    value = mention.value
    if isinstance(value, MoneyValue):
        return value.amount == 0 and not any(char.isdigit() for char in mention.text)
    return isinstance(value, NumberValue) and value.unit is not None


def _is_year(seen: View, book: Book, place: Place) -> bool:
    """ "The budget for 2027 is $60,000": the year is no sum."""
    year = re.fullmatch(r"(?:19|20)\d\d", seen.text[place.start : place.end])
    return year is not None and book.lex.said["year_of"].search(seen.low[: place.start][-12:]) is not None


def _garbled(seen: View, book: Book, place: Place) -> bool:
    """True for figures that nobody can be sure of: turned round by an override, in keycaps, half of a product."""
    text, start, end = seen.turn.text, place.mention.start, place.mention.end
    opened = max(text.rfind(mark, 0, start + 1) for mark in "\u202d\u202e")
    if opened > text.rfind("\u202c", 0, start + 1) or "\u20e3" in text[start : end + 2]:
        return True
    if place.kind not in {"money", "number", "percent", "quantity"}:
        return False
    beside = (
        seen.low[max(0, place.start - 2) : place.start].strip()[-1:] + seen.low[place.end : place.end + 2].strip()[:1]
    )
    # "one million one million": two figures in words with nothing between them are one that nobody can read.
    at = seen.position(place)
    for one, two in zip(seen.places[max(0, at - 1) : at + 1], seen.places[max(1, at) : at + 2], strict=False):
        if {one.kind, two.kind} <= {"money", "number"} and one.end <= two.start:
            spelled = not any(char.isdigit() for char in one.mention.text + two.mention.text)
            if spelled and seen.low[one.end : two.start].isspace():
                return True
    # Where the next words are a scale, the numeral was cut in the wrong place.
    unread = book.lex.said["unreadable"].match(seen.low[place.end : place.end + 12])
    return unread is not None or (place.kind != "quantity" and any(sign in "×÷✕✖" for sign in beside))


def _excepted(seen: View, book: Book, place: Place) -> bool:
    """ "Every day except in August", 除8月外: the time is left out of what is said, and no date of its own."""
    return book.lex.said["excepted"].search(seen.low, max(0, place.start - 24), place.start) is not None


def _only_once(seen: View, book: Book, place: Place) -> bool:
    """吵了一架, 看了一眼: the measure counts how often something was done, and what is done once is no quantity."""
    segment = seen.segment_at(place.start)
    after = seen.text[place.end : segment.end].strip(" 了啊呢吧")
    return not after and bool(book.lex.said["verbal_measure"].search(seen.text[segment.start : place.end]))


def _proposed(candidate: Candidate) -> Candidate:
    """What an agent says is a proposal; a bare value that changes nothing is about nothing that is known."""
    if candidate.act in {"confirm", "reject"}:
        return candidate
    loose = candidate.form == "bare" and candidate.act == "state" and candidate.old is None
    return candidate.model_copy(update={"act": "propose", **({"confidence": "low"} if loose else {})})


def _undated(seen: View, found: list[Candidate]) -> list[Candidate]:
    """Without the moments that only date a step: 上周涨了7%, "from May 7 the fee goes up by $77"."""
    if not any(c.act == "adjust" for c in found):
        return found
    steps = {seen.segment_at(seen.norm.inside(c.start, c.end)[0]).index for c in found if c.act == "adjust"}
    kept = []
    for candidate in found:
        at = seen.segment_at(seen.norm.inside(candidate.start, candidate.end)[0]).index
        if candidate.kind != "time" or candidate.act == "adjust" or candidate.old is not None or at not in steps:
            kept.append(candidate)
    return kept


def _gate(turn: Spoken, scan: Scan, ruleset: RulesetLike) -> tuple[str, str | None]:
    gated = ruleset.gated(turn, scan)
    return (gated.gate, gated.rule) if gated is not None else ("none", None)


def _of_mention(seen: View, book: Book, place: Place, replaced: Replaced) -> Iterator[Candidate]:
    """The candidate of a mention; two where one rule takes its day and another its clock."""
    around, before = around_of(seen, book, place, replaced)
    rules: dict[str, Rule | None] = {}
    binders = book.by_kind.get(place.kind)
    for rule in binders.possible(seen.low, around.label.lower(), around.predicate.lower()) if binders else ():
        part = rule.file.take.part
        if part not in rules and (part != "whole" or not rules) and fits(rule, seen, book, place, around):
            rules[part] = rule
            if part == "whole":
                break
    for chosen in rules.values() or (None,):
        candidate = _filled(seen, book, place, before, around, chosen, replaced)
        if candidate is not None:
            yield candidate
            if candidate.slot is None:
                return  # a part, or a step: what it is does not depend on the rule


def _filled(
    seen: View, book: Book, place: Place, before: Place | None, around: Frame, rule: Rule | None, replaced: Replaced
) -> Candidate | None:
    old = before.index if before is not None else None
    act = act_of(seen, book, place, around, replaced)
    step = _step(seen, book, place, before, act, replaced)
    named = place.kind in {"person", "organization", "place"}
    unmoved = named or (act not in _CHANGING and old is None)
    if rule is None and not around.bare and step is None and unmoved:
        return None
    patch = patch_of(seen, book, place, around, old)
    if patch is not None:
        base = _base(seen, place, around, None)
        base |= {"act": act if act != "state" else "correct", "form": "part", "patch": patch, "value": None}
        base |= {"mentions": tuple(i for i in (place.index, old) if i is not None), "rule": "law.part@1"}
        return Candidate(**base)
    base = _base(seen, place, around, rule)
    base["old"] = seen.scan.mentions[old].value if old is not None else None
    if rule is not None and rule.file.take.part != "whole":
        base["value"] = part_of(place.mention.value, rule.file.take.part)
        base["old"] = part_of(base["old"], rule.file.take.part) if base["old"] is not None else None
    base["mentions"] = tuple(i for i in (place.index, old) if i is not None)
    if step is not None:
        adjustment = None
        if step.operator is not None:
            adjustment = adjustment_by(place.mention, step.operator, book)
        base |= step_candidate(seen, book, step, adjustment, label_of_step(seen, book, step, around))
        return Candidate(**base)
    base.setdefault("act", "change" if act == "adjust" else act)
    if _alternative(seen, book, place):
        base["confidence"] = "low"
    if base.get("value") is not None:
        base["value"] = bounded(base["value"], around, book)
    said_before = seen.low[around.segment.start : place.start]
    own = place.kind in {"phone", "email", "address"} and book.lex.own.search(said_before)
    if base.get("confidence") != "low":
        base["confidence"] = "high" if around.copula or own or base["act"] != "state" else "medium"
    reach = place.kind in {"phone", "email", "url", "address"}
    contact = reach and base["act"] == "state" and (not around.alone or bool(own))
    knows = rule is not None and rule.file.slot in book.label_words
    bare = around.bare and rule is not None and rule.file.trigger is None and not contact and not knows
    open_label = rule is None or bare or (bool(around.attribute) and not knows)
    if open_label:
        form = base.get("form", "bare")
        base |= {"slot": None, "qualifier": None, "form": form, "rule": rule.file.ref if rule else "law.bare@1"}
        if rule is None and base["act"] == "correct" and around.inherited and not around.attribute:
            base["qualifier"] = _said_wrong(book, around.label)
        base["kind"] = place.kind
        return Candidate(**base)
    assert rule is not None
    label = _qualifier_words(rule, around)
    qualifier: str | None = book.qualifier(rule.file.slot, label)
    if rule.file.slot in book.label_words and rule.file.take.qualifier == "label":
        qualifier, label = _known_label(seen, book, rule, place), ""
    if label and not qualifier and base["act"] == "state" and not around.definite:
        qualifier = book.lex.light_label(label, book.slot_words.get(rule.file.slot))
    if label and not qualifier and (around.definite or base["act"] in {"change", "correct", "adjust"}):
        qualifier = None  # "the term", 预算改成: whichever it is, when there is only one
    if rule.file.take.qualifier == "none":
        qualifier = ""
    elif rule.file.take.qualifier.startswith("fixed:"):
        qualifier = rule.file.take.qualifier[6:]
    base |= {"slot": rule.file.slot, "qualifier": qualifier, "rule": rule.file.ref}
    return Candidate(**base)


def _said_wrong(book: Book, label: str) -> str | None:
    """What was said to be wrong, where it is named: "the zip code was wrong, it's 94105" corrects nothing else."""
    words = [word for word in key(label).split() if word not in book.lex.light]
    named = " ".join(words)
    return named if named and named not in book.lex.general else None


def _known_label(seen: View, book: Book, rule: Rule, place: Place) -> str | None:
    """The nearest label of a slot that knows all its labels: before the value in its sentence, else behind it.

    Another value of the same part ends the search: "check in on Friday, out on Sunday" has a label for each.
    """
    words = book.label_words[rule.file.slot]
    if rule.file.take.part == "day" and part_of(place.mention.value, "last_day") is not None:
        return book.slots[rule.file.slot].unlabelled  # the first of two days: "until" in it speaks of the last
    low, high = seen.sentence_span(seen.segment_at(place.start).sentence)
    part = rule.file.take.part
    for other in seen.places:
        same = other.kind == place.kind and (part == "whole" or part_of(other.mention.value, part) is not None)
        if same and other.end <= place.start:
            low = max(low, other.end)
        elif same and other.start >= place.end:
            joint = book.lex.said["joint"].search(seen.low, place.end, max(place.end, min(high, other.start)))
            high = min(high, joint.start() if joint else other.start)  # "tomorrow, and return on Sunday"
    before = list(words.finditer(seen.low, low, place.end))  # "until Friday" is one mention
    hit = before[-1] if before else words.search(seen.low, place.end, high)
    return book.known_label(rule.file.slot, hit.group()) if hit else None


def _step(seen: View, book: Book, place: Place, before: Place | None, act: Act, replaced: Replaced) -> Step | None:
    """The step a mention is; one said instead of a step is a step too ("raise it by $100, no, $200")."""
    step = step_of(seen, book, place, act, replaced.indices)
    if step is None and before is not None and before.end <= place.start:
        step = step_of(seen, book, before, "state", replaced.indices)
    return step


def _alternative(seen: View, book: Book, place: Place) -> bool:
    """True for one of two values that exclude each other: "either $5,000 or $6,000", 6万还是8万."""
    at = seen.position(place)
    for other in (*seen.places[max(0, at - 2) : at], *seen.places[at + 1 : at + 3]):
        if other.kind == place.kind and other.index != place.index:
            low, high = min(place.end, other.end), max(place.start, other.start)
            if low <= high and book.lex.said["either"].fullmatch(seen.low[low:high]):
                return True
            if (
                low <= high
                and seen.turn.speaker == "assistant"
                and book.lex.said["either_of"].search(seen.low[low:high])
            ):
                return True
    return False


def _base(seen: View, place: Place, around: Frame, rule: Rule | None) -> dict[str, Any]:
    mention = place.mention
    evidence = [(mention.start, mention.end)]
    if around.label:
        evidence.insert(0, seen.original(around.start, around.end))
    low, high = seen.original(around.segment.start, around.segment.end)
    return {
        "kind": mention.kind,
        "value": mention.value,
        "entity": around.entity if rule is None or rule.file.take.entity != "principal" else None,
        "assertion": agreed(seen, assertion_of(seen.scan, place.index), around.segment),
        "start": mention.start,
        "end": mention.end,
        "surface": seen.turn.text[low:high].strip(),
        "evidence": tuple(sorted(set(evidence))),
        "language": "zh" if seen.scan.lang == "zh" else "en",
    }


def _qualifier_words(rule: Rule, around: Frame) -> str:
    """The words that name the label: before the value, and for times what follows it."""
    if rule.file.take.qualifier == "words_before(trigger)" and rule.trigger is not None:
        hit = rule.trigger.search(around.label.lower())
        if hit:
            return (around.label[: hit.start()] + " " + around.label[hit.end() :]).strip() or around.label
    if rule.file.take.qualifier == "counted":
        unit = str(getattr(around.place.mention.value, "unit", None) or "")
        named = unit in around.place.mention.text and unit.isascii()
        return unit if named else around.predicate or around.label or unit
    if rule.file.take.qualifier == "trigger" and rule.trigger is not None:
        hit = rule.trigger.search(around.words.lower())
        return hit.group() if hit else around.label
    if rule.file.take.qualifier == "words_before(value)":
        return around.label
    value = around.place.mention.value
    time_like = around.place.kind == "time" and getattr(value, "type", "") != "duration"
    if time_like or not around.label:
        return around.words if around.predicate and not (around.inherited and around.label) else around.label
    return around.label
