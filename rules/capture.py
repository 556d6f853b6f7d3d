"""From mentions and cues to candidates: which slot, which label, whose, and what is done to it. Blind to assertion."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ..extractors.assertion import assertion_of, replaced_by
from ..model import Act, Adjustment, Assertion, Candidate, Mention, Patch, Scan, Span, Turn
from ..values import Magnitude, Value
from .book import Book, Rule, RulesetLike, book_of
from .capture_file import CaptureFile
from .fragments import fragments
from .frames import Frame, frame
from .labels import key
from .phrases import agreed, phrase_candidates
from .moves import split_moves
from .view import Place, View, view

__all__ = ["CaptureFile", "Captured", "capture"]

_NOW_AFTER = re.compile(r"\s*(?:now\b|instead\b|from now on\b|了\s*$)")
_NAMING = frozenset({"party", "owner", "witness"})
_MINE = re.compile(r"\b(?:me|my|us|our)\b|我")
_DAY_ALONE = re.compile(r"(?:the\s+)?\d{1,2}(?:st|nd|rd|th)|[0-9一二三四五六七八九十廿]{1,3}(?:日|号)", re.IGNORECASE)
_DAY = re.compile(r"\d{4}-\d{2}-(\d{2})")


@dataclass(frozen=True)
class Captured:
    """What one turn may add: candidates in the order of the text, and what the gate saw."""

    candidates: tuple[Candidate, ...] = ()
    gate: str = "none"
    gate_rule: str | None = None
    taken_back: tuple[int, ...] = field(default=())


@dataclass(frozen=True)
class Replaced:
    """Which mentions were taken back within the turn, what stands for them, and how."""

    by: dict[int, int]
    acts: dict[int, Act]
    alone: dict[int, Act]

    @property
    def indices(self) -> frozenset[int]:
        """All mentions taken back, replaced or not."""
        return frozenset(self.by) | frozenset(self.alone)

    def old_of(self, index: int) -> int | None:
        """The mention that this one replaces."""
        return next((old for old, new in sorted(self.by.items()) if new == index), None)


def capture(turn: Turn, scan: Scan, ruleset: RulesetLike) -> Captured:
    """All candidates of a turn. Partial ones (no slot, no label, a fragment of a value) are left for bind."""
    book = book_of(ruleset)
    seen = view(turn, scan)
    seen = split_moves(seen)
    replaced = _replaced(seen, book)
    found: list[Candidate] = []
    used: set[int] = set()
    for candidate in phrase_candidates(seen, book, replaced.indices):
        found.append(candidate)
        used.update(candidate.mentions)
    for place in seen.places:
        if place.index in used or place.index in replaced.indices or place.now:
            continue
        candidate = _of_mention(seen, book, place, replaced)
        if candidate is not None:
            found.append(candidate)
            used.update(candidate.mentions)
    for index, act in sorted(replaced.alone.items()):
        found.append(_withdrawn(seen, index, act))
        used.add(index)
    found = _apposed(seen, found)
    found.extend(fragments(seen, book, tuple(found), frozenset(used) | replaced.indices))
    if turn.speaker == "assistant":
        found = [c if c.act in {"confirm", "reject"} else c.model_copy(update={"act": "propose"}) for c in found]
        found = [c for c in found if c.act == "propose"]
    if any(c.confidence == "high" and c.form == "full" for c in found):  # one stated fact: the turn states facts
        found = [c.model_copy(update={"confidence": "high"}) for c in found]
    ordered = sorted(found, key=lambda c: (c.start, c.end, c.rule))
    gate, rule = _gate(turn, scan, ruleset)
    return Captured(tuple(ordered), gate, rule, tuple(sorted(replaced.indices)))


def _apposed(seen: View, found: list[Candidate]) -> list[Candidate]:
    """乙方联系人是邱明，电话…: a number right after somebody is named in the sentence is that person's."""
    out: list[Candidate] = []
    for candidate in found:
        if candidate.kind in {"phone", "email", "address"} and candidate.entity is None and candidate.slot is not None:
            start, _ = seen.norm.inside(candidate.start, candidate.end)
            segment = seen.segment_at(start)
            if not _MINE.search(seen.low[segment.start : start]):
                for other in found:
                    at = seen.segment_at(seen.norm.inside(other.start, other.end)[0])
                    near = at.sentence == segment.sentence and at.index == segment.index - 1
                    if near and other.slot in _NAMING and other.kind in {"person", "organization"} and other.value:
                        candidate = candidate.model_copy(update={"entity": other.value.canonical})
        out.append(candidate)
    return out


def _gate(turn: Turn, scan: Scan, ruleset: RulesetLike) -> tuple[str, str | None]:
    gated = ruleset.gated(turn, scan)
    return (gated.gate, gated.rule) if gated is not None else ("none", None)


def _of_mention(seen: View, book: Book, place: Place, replaced: Replaced) -> Candidate | None:
    old = replaced.old_of(place.index)
    before = next((p for p in seen.places if p.index == old), None)
    around = _pointing(frame(seen, place, book.lex, replaced.indices, before), book)
    act = _act(seen, place, around, replaced)
    rule = next((r for r in book.rules if _fits(r, seen, place, around)), None)
    adjustment = _adjustment(seen, book, place, around, act)
    if rule is None and not around.bare and adjustment is None:
        if place.kind in {"person", "organization", "place"} or not _changes(seen, place, act, old):
            return None
    patch = _patch(seen, place, around, old)
    if patch is not None:
        base = _base(seen, place, around, None)
        base |= {"act": act if act != "state" else "correct", "form": "part", "patch": patch, "value": None}
        base |= {"mentions": tuple(i for i in (place.index, old) if i is not None), "rule": "law.part@1"}
        return Candidate(**base)
    base = _base(seen, place, around, rule)
    base["old"] = seen.scan.mentions[old].value if old is not None else None
    base["mentions"] = tuple(i for i in (place.index, old) if i is not None)
    if adjustment is not None:
        base |= {"act": "adjust", "form": "adjustment", "adjustment": adjustment, "value": None}
    elif act == "adjust":
        act = "change"
    base.setdefault("act", act)
    if base.get("value") is not None:
        base["value"] = _bounded(base["value"], around)
    own = place.kind in {"phone", "email", "address"} and _MINE.search(seen.low[around.segment.start : place.start])
    base["confidence"] = "high" if around.copula or own or base["act"] != "state" else "medium"
    contact = place.kind in {"phone", "email", "url"} and base["act"] == "state" and not around.alone
    open_label = rule is None or (around.bare and rule.file.trigger is None and not contact) or bool(around.attribute)
    if open_label:
        form = base.get("form", "bare")
        base |= {"slot": None, "qualifier": None, "form": form, "rule": rule.file.ref if rule else "law.bare@1"}
        base["kind"] = place.kind
        return Candidate(**base)
    assert rule is not None
    label = _qualifier_words(rule, around)
    qualifier: str | None = book.qualifier(rule.file.slot, label)
    if label and not qualifier and (around.definite or base["act"] in {"change", "correct", "adjust"}):
        qualifier = None  # "the term", 预算改成: whichever it is, when there is only one
    if rule.file.take.qualifier == "none":
        qualifier = ""
    elif rule.file.take.qualifier.startswith("fixed:"):
        qualifier = rule.file.take.qualifier[6:]
    base |= {"slot": rule.file.slot, "qualifier": qualifier, "rule": rule.file.ref}
    return Candidate(**base)


def _bounded(value: object, around: Frame) -> object:
    """顾问费上限还是300万元: the label says that the value is a bound."""
    hit = re.search(r"(上限|最高限额|封顶)|(下限)$", around.label)
    if around.place.mention.text.lower().startswith("up to") and isinstance(value, Magnitude) and value.bound == "<=":
        if around.act == "change":  # "the rate went up to $320" is no ceiling
            return value.model_copy(update={"bound": "="})
    if hit and isinstance(value, Magnitude) and value.bound == "=" and value.amount is not None:
        return value.model_copy(update={"bound": "<=" if hit.group(1) else ">="})
    return value


def _pointing(around: Frame, book: Book) -> Frame:
    """前者, "the second one", "that one" point at something and are no label; a verb of adjusting is none either."""
    low = around.label.lower()
    for pattern in (book.ordinal_pattern, book.demonstratives):
        if low and pattern.fullmatch(low):
            return replace(around, label="", start=around.place.start, end=around.place.start)
    hits = list(book.adjust_pattern.finditer(low))
    if hits and hits[-1].end() == len(low):
        label = around.label[: hits[-1].start()].rstrip()
        return replace(around, label=label, end=around.start + len(label))
    return around


def _patch(seen: View, place: Place, around: Frame, old: int | None) -> Patch | None:
    """尾号不是8881，是8818: a number that stands for the part its label names."""
    part = around.attribute
    if place.kind == "time" and old is not None and part is None and around.bare:
        return _day_patch(seen, place, old)
    if part not in {"digits", "mail_domain", "house_number", "room", "floor", "year", "month"}:
        return None
    if place.kind not in {"number", "url", "quantity", "identifier", "time"}:
        return None
    return Patch(
        part=part, value=_part_value(part, place.mention),
        old=_part_value(part, seen.scan.mentions[old]) if old is not None else None,
    )  # fmt: skip


def _part_value(part: str, mention: Mention) -> str:
    """What a mention says about one part of another value."""
    if mention.kind == "url":
        return mention.canonical
    edtf = getattr(mention.value, "edtf", None) or mention.canonical
    if part == "year":
        hit = re.search(r"\d{4}", edtf)
        return hit.group() if hit else mention.text
    if part == "month":
        hit = re.search(r"\d{4}-(\d{2})", edtf)
        return hit.group(1) if hit else mention.text
    return mention.text


def _day_patch(seen: View, place: Place, old: int) -> Patch | None:
    """不是15日，是25日: days of a month that is not said, so they change the day of a date that is known."""
    texts = (seen.norm.text[place.start : place.end], seen.scan.mentions[old].text)
    if not all(_DAY_ALONE.fullmatch(text.strip()) for text in texts):
        return None
    days = [_DAY.search(getattr(m.value, "edtf", None) or "") for m in (place.mention, seen.scan.mentions[old])]
    if days[0] is None or days[1] is None:
        return None
    return Patch(part="day_of_month", value=days[0].group(1), old=days[1].group(1))


def _base(seen: View, place: Place, around: Frame, rule: Rule | None) -> dict[str, object]:
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


def _fits(rule: Rule, seen: View, place: Place, around: Frame) -> bool:
    file = rule.file
    condition = file.condition()
    if condition is None or place.kind not in condition.kind:
        return False
    if file.language != "any" and file.language != seen.scan.lang:
        return False
    value = place.mention.value
    if condition.type and getattr(value, "type", None) not in condition.type:
        return False
    if condition.bound and getattr(value, "bound", "=") not in condition.bound:
        return False
    if condition.open_end and not _open_ended(value):
        return False
    if condition.copula and not around.copula and around.act == "state":
        return False
    if place.kind == "quantity" and not around.predicate and len(around.label) == 1:
        return False  # 分两期: one character is no label
    of = re.match(r"\s*的", seen.text[place.end :]) is not None and not around.copula
    if place.kind == "time" and of and any(p.wall for p in seen.within(place.end, around.segment.end)):
        return False  # 去年的维护费: the time belongs to the noun
    if condition.labelled is not None and condition.labelled == around.bare:
        return False
    cues = {cue.kind for cue, start, _ in seen.cues if seen.segment_at(start).sentence == around.segment.sentence}
    for each in file.when:
        if each.speaker and seen.turn.speaker not in each.speaker:
            return False
        if (each.cue and not cues & set(each.cue)) or cues & set(each.no_cue):
            return False
    if rule.no_words and rule.no_words.search(seen.low, around.segment.start, around.segment.end):
        return False
    return rule.trigger is None or _triggered(rule, seen, place, around, condition.within)


def _triggered(rule: Rule, seen: View, place: Place, around: Frame, within: int) -> bool:
    assert rule.trigger is not None
    assert rule.file.trigger is not None
    where = rule.file.trigger.place
    if where == "label":
        if rule.trigger.search(around.label.lower()):
            return True
        # Peeling may take a word off (最后交割日), the value may swallow one (赔偿上限70万元): look at the raw side too.
        walls = [p.end for p in seen.within(around.segment.start, place.start) if p.wall]
        raw = seen.low[max([around.segment.start, place.start - within, *walls]) : place.end]
        return not around.inherited and rule.trigger.search(raw) is not None
    if where == "label_end":
        return rule.trigger.search(around.label.lower()) is not None
    if where == "predicate":
        return rule.trigger.search(around.predicate.lower()) is not None
    if where == "around":
        # The raw clause side before the value too: peeling takes off words like "due on".
        raw = seen.low[max(around.segment.start, place.start - within) : place.start]
        return any(rule.trigger.search(part) for part in (around.label.lower(), around.predicate.lower(), raw))
    if where == "clause":
        return rule.trigger.search(seen.low, around.segment.start, around.segment.end) is not None
    low, high = seen.sentence_span(around.segment.sentence)
    return rule.trigger.search(seen.low, low, high) is not None


def _open_ended(value: Value) -> bool:
    edtf = getattr(value, "edtf", None) or ""
    return edtf.startswith("../") or edtf.endswith("/..") or getattr(value, "bound", "=") != "="


def _act(seen: View, place: Place, around: Frame, replaced: Replaced) -> Act:
    """The strongest act that cues and the verb before the value give."""
    kinds = {cue.kind for cue, _, _ in seen.cues if place.index in cue.covers}
    old = replaced.old_of(place.index)
    if place.index in seen.moved:
        return "change"
    if old is not None:
        return replaced.acts.get(old, "correct")
    if "withdrawal" in kinds:
        return "retract"
    if "correction" in kinds or around.act == "correct":
        return "correct"
    if "adjustment" in kinds:
        return "adjust"
    if "change" in kinds or around.act == "change" or _NOW_AFTER.match(seen.low[place.end : around.segment.end]):
        return "change"
    if "ending" in kinds and not around.copula:
        return "end"
    if around.bare and _uncovered_correction(seen, around):
        return "correct"
    if "repair" in kinds:
        return "correct"
    if "confirmation" in kinds:
        return "confirm"
    if "rejection" in kinds:
        return "correct"
    return "state"


def _uncovered_correction(seen: View, around: Frame) -> bool:
    """ "It's 201 Maple Terrace, I transposed the digits": the sentence corrects, and names nothing else."""
    return any(
        cue.kind == "correction" and not cue.covers and seen.segment_at(low).sentence == around.segment.sentence
        for cue, low, _ in seen.cues
    )


def _changes(seen: View, place: Place, act: Act, old: int | None) -> bool:
    return act in {"change", "correct", "confirm", "retract", "end"} or old is not None


def _adjustment(seen: View, book: Book, place: Place, around: Frame, act: Act) -> Adjustment | None:
    """An amount by which something changes: 再加两万, push it back a week; "to" a value is no adjustment."""
    if place.kind not in {"money", "number", "percent", "quantity", "time"}:
        return None
    if place.kind == "time" and getattr(place.mention.value, "type", "") != "duration":
        return None
    before = seen.low[max(around.segment.start, place.start - 24) : place.start]
    hits = list(book.adjust_pattern.finditer(before))
    if hits:
        last = hits[-1]
        between = before[last.end() :].strip()
        near = len(between) <= 2 if re.search(r"[\u3400-\u9fff]", last.group()) else len(between.split()) <= 3
        if near and not re.search(r"(?:到|至|为|成|\bto)$", between):
            return _by(book.adjust[re.sub(r"\s+", " ", last.group())], place.mention.value)
    by = re.search(r"\bby\s*$", before)
    verbs = list(book.adjust_verb_pattern.finditer(before)) if by or act == "adjust" else []
    if verbs:  # "cut it by $500", 减掉10万: any verb of its kind, with what it changes in between
        return _by(book.adjust_verbs[verbs[-1].group()], place.mention.value)
    if act == "adjust":
        after = seen.low[place.end : around.segment.end]
        hit = book.adjust_pattern.search(after)
        if hit and len(after[: hit.start()].strip()) <= 3:
            return _by(book.adjust[re.sub(r"\s+", " ", hit.group())], place.mention.value)
    return None


def _by(operator: str, value: Value) -> Adjustment:
    return Adjustment.model_validate({"operator": operator, "by": value})


def _withdrawn(seen: View, index: int, act: Act) -> Candidate:
    """A value that was called void with nothing in its place ("13800009990停用了")."""
    mention = seen.scan.mentions[index]
    segment = seen.segment_at(next(p.start for p in seen.places if p.index == index))
    low, high = seen.original(segment.start, segment.end)
    return Candidate(
        act=act, form="bare", kind=mention.kind, old=mention.value, start=mention.start, end=mention.end,
        surface=seen.turn.text[low:high].strip(), evidence=((mention.start, mention.end),), mentions=(index,),
        rule="law.withdrawn@1", language="zh" if seen.scan.lang == "zh" else "en",
        assertion=Assertion(),
    )  # fmt: skip


def _replaced(seen: View, book: Book) -> Replaced:
    """Pairs of old and new value within the turn: by repair cues, and by words that void a value."""
    by: dict[int, int] = {}
    acts: dict[int, Act] = {}
    alone: dict[int, Act] = {}
    for place in seen.places:
        new = [n for n in replaced_by(seen.scan, place.index) if n != place.index]
        if new:
            by[place.index] = new[0]
            acts[place.index] = "change" if _told_as_change(seen, place.index) else "correct"
            continue
        act = _voided(seen, book, place)
        if act is None:
            continue
        partner = _partner(seen, book, place)
        if partner is not None:
            by[place.index] = partner.index
            acts[place.index] = act if act in {"change", "correct"} else "change"
        elif act in {"retract", "end"}:
            alone[place.index] = act
    for old in [o for o, n in by.items() if n in by and by[n] == o]:
        del by[old]
    return Replaced(by, acts, alone)


def _told_as_change(seen: View, index: int) -> bool:
    return assertion_of(seen.scan, index).time == "past" and assertion_of(seen.scan, index).polarity == "affirmed"


def _voided(seen: View, book: Book, place: Place) -> Act | None:
    segment = seen.segment_at(place.start)
    after = seen.low[place.end : min(segment.end, place.end + 14)]
    hit = re.match(r"\s*(?:[\u3400-\u9fff]{0,2}?|is|was)?\s*", after)
    start = 0
    for start in {0, hit.end() if hit else 0, *range(1, 4)}:
        found = book.lex.void_after.match(after, start)
        if found and not (start and re.search(r"[是为到]", after[:start])):
            return _act_name(book.lex.void_after_acts[found.group()])
    if re.match(
        r"\s*(?:改为|改成|改到|换成|换为|变为|变成|调整为|->|→|=>)\s*$", seen.low[place.end : _next_start(seen, place)]
    ):
        return "change" if _partner(seen, book, place) is not None else None
    before = seen.low[segment.start : place.start].rstrip()
    found = book.lex.void_before.search(before)
    if found and found.group() not in {"从", "由", "from"}:
        return _act_name(book.lex.void_before_acts[re.sub(r"\s+", " ", found.group())])
    if found and place.kind in {"money", "percent", "quantity", "number"}:
        return "change" if _partner(seen, book, place) is not None else None
    return None


def _next_start(seen: View, place: Place) -> int:
    """Where the next mention of the same kind begins."""
    return next((p.start for p in seen.places if p.start >= place.end and _same_kind(p.kind, place.kind)), place.end)


def _act_name(value: str) -> Act:
    known: dict[str, Act] = {"change": "change", "correct": "correct", "retract": "retract", "end": "end"}
    return known[value]


def _partner(seen: View, book: Book, place: Place) -> Place | None:
    """The value that stands for a voided one: the next of its kind in the sentence, else the one before it."""
    sentence = seen.segment_at(place.start).sentence
    same = [
        p
        for p in seen.places
        if p.index != place.index
        and _same_kind(p.kind, place.kind)
        and seen.segment_at(p.start).sentence == sentence
        and not p.mention.value.same_as(place.mention.value)
    ]
    later = [p for p in same if p.start >= place.end]
    earlier = [p for p in same if p.end <= place.start]
    if later:
        return later[0]
    return earlier[-1] if earlier else None


def _same_kind(one: str, other: str) -> bool:
    return one == other or {one, other} in ({"money", "number"}, {"number", "quantity"}, {"address", "place"})


def evidence_span(candidates: Iterable[Candidate]) -> Span | None:
    """From the first to the last character that candidates used, or None without candidates."""
    spans = [span for candidate in candidates for span in candidate.evidence]
    return Span(start=min(s for s, _ in spans), end=max(e for _, e in spans)) if spans else None


def label_key(label: str) -> str:
    """How labels are compared."""
    return key(label)
