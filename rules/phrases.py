"""Sentence frames of capture rules: names, preferences, states and other facts taken as a stretch of text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..extractors.assertion import assertion_of
from ..model import Act, Assertion, Candidate, Part, Span
from ..values import NameValue, OrganizationValue, PersonValue, PlaceValue, TextValue, Value
from .book import Book, Rule
from .capture_file import CaptureFile
from .fitting import unsaid
from .frames import uncued
from .labels import key
from .owners import spoken_of
from .view import Place, Segment, View

_HAN = re.compile(r"[\u3400-\u9fff]")
# The beginning of a name that a mention left out.
_BEGUN = re.compile(r"[\u3400-\u9fff]+|(?:[A-Z][\w.'-]* )+")
# What a mention left out at the end of a name: the I of Alpha Fund I.
_MARKED = re.compile(r" ?[A-Z0-9]")
# A frame with a comma of its own; that of {1,60} is none.
_COMMA = re.compile(r",(?!\d+\})")
# A clause without any mark of punctuation for so long is no sentence of a person; frames would cost too much there.
LONGEST = 200


def phrase_candidates(seen: View, book: Book, taken_back: frozenset[int]) -> Iterator[Candidate]:
    """Candidates of all frames that match, each stretch of text used once, rules by priority."""
    claimed: list[tuple[int, int]] = []
    for rule, patterns in book.possible_frames(seen.low):
        file = rule.file
        if file.language != "any" and file.language != seen.scan.lang:
            continue
        for segment in seen.segments:
            if segment.end - segment.start > LONGEST:
                continue
            for pattern in patterns:
                end = frame_end(seen, segment, pattern)
                hit = pattern.search(seen.text[segment.start : end])
                if hit is None or next(unsaid(rule, seen, segment.sentence, segment.start, end), None):
                    continue
                span = _core(hit, segment)
                if any(span[0] < end and start < span[1] for start, end in claimed):
                    continue
                candidate = _candidate(seen, book, rule, segment, hit, taken_back)
                if candidate is not None:
                    claimed.append(span)
                    yield candidate
                    break


def frame_end(seen: View, segment: Segment, pattern: re.Pattern[str]) -> int:
    """Where a frame must end: with its clause, or the next one of the sentence where the frame has a comma itself."""
    following = seen.segments[segment.index + 1 : segment.index + 2]
    if following and following[0].sentence == segment.sentence and _COMMA.search(pattern.pattern.partition("(?=")[0]):
        return following[0].end
    return segment.end


def _core(hit: re.Match[str], segment: Segment) -> tuple[int, int]:
    groups = [hit.span(name) for name in ("value", "topic", "old") if hit.groupdict().get(name)]
    low = min(start for start, _ in groups)
    high = max(end for _, end in groups)
    return segment.start + low, segment.start + high


def _candidate(
    seen: View, book: Book, rule: Rule, segment: Segment, hit: re.Match[str], taken_back: frozenset[int]
) -> Candidate | None:
    file, groups = rule.file, hit.groupdict()
    start, end = _taken(seen, book, rule, segment, hit)
    if refusal(seen, book, rule, segment, hit) is not None:
        return None
    condition = file.condition()
    mention = _mention_at(seen, start, end, condition.kind if condition else _kinds(file.take.text_kind), taken_back)
    if condition is not None and mention is None:
        return None
    if mention is not None and groups.get("entity") and _overlaps(seen, mention.index, hit, segment, ("entity",)):
        mention = None  # 某某代表某某公司: the frame tells better where the name begins
    if condition is None and mention is not None and _BEGUN.fullmatch(seen.text, start, max(start, mention.start)):
        mention = None  # 在某某会计师事务所做事, "in Port NAME": the frame tells better where the name begins
    # A value with a kind of its own is bound by its kind, but not where all that is said is for the conversation alone.
    slot = book.slots.get(file.slot)
    if (
        mention is None
        and (slot is None or slot.keeps == "memory")
        and file.take.like is None  # the rule says what its words look like
        and any(2 * (min(p.end, end) - max(p.start, start)) > end - start for p in seen.places if _typed(p, file))
    ):
        return None
    # "I gave the boat away last week": what dates a change is no date of its own.
    until = segment.end if file.act in {"end", "change"} else segment.start + hit.end()
    inside = tuple(p.index for p in seen.within(segment.start + hit.start(), until))
    if mention is not None:
        value: Value = mention.mention.value
        if isinstance(value, NameValue) and mention.start == start < end < mention.end:
            value = type(value)(name=value.name[: end - mention.end])  # 换成某某了: the particle is no part of the name
        else:
            start, end = mention.start, mention.end
        inside = tuple(
            sorted(
                {
                    mention.index,
                    *(i for i in inside if _overlaps(seen, i, hit, segment) or seen.scan.mentions[i].kind == "time"),
                }
            )
        )
    else:
        value = _text_value(book, rule, seen, start, end)
        inside = tuple(i for i in inside if _overlaps(seen, i, hit, segment) or seen.scan.mentions[i].kind == "time")
    if rule.values:
        value = TextValue(text=rule.values[" ".join((groups["value"] or "").lower().split())])
    low, high = seen.original(start, end)
    old = None
    if groups.get("old"):
        begin, close = _trimmed(seen, book, rule, segment.start + hit.start("old"), segment.start + hit.end("old"))
        old = _text_value(book, rule, seen, begin, close) if begin < close else None
    if groups.get("label"):  # who says so is no part of what it is about
        groups["label"] = uncued(seen, segment.start + hit.start("label"), segment.start + hit.end("label"))
    qualifier = _qualifier(book, rule, groups, value)
    act: Act = file.act
    if act == "state":
        act = _cue_act(seen, start, end, segment, segment.start + hit.start())
    whole = seen.original(segment.start + hit.start(), segment.start + hit.end())
    original = seen.original(segment.start, segment.end)
    assertion = assertion_of(seen.scan, mention.index if mention is not None else Span(start=low, end=high))
    assertion = agreed(seen, assertion, segment)
    if file.take.polarity is not None:
        assertion = assertion.model_copy(update={"polarity": file.take.polarity})
    if file.take.qualifier == "topic":
        assertion = _topic_assertion(seen, book, segment, hit, assertion)
    bare = file.slot == "none"
    return Candidate(
        act=act, slot=None if bare else file.slot, qualifier=None if bare else qualifier,
        form="bare" if bare else "full", entity=_entity(seen, book, rule, groups, segment),
        kind=type(value).kind, value=value, old=old, assertion=assertion, start=low, end=high,
        surface=seen.turn.text[original[0] : original[1]].strip(), evidence=tuple(sorted({whole, (low, high)})),
        mentions=inside, rule=file.ref, language="zh" if seen.scan.lang == "zh" else "en",
    )  # fmt: skip


def _taken(seen: View, book: Book, rule: Rule, segment: Segment, hit: re.Match[str]) -> tuple[int, int]:
    """The stretch of text that becomes the value."""
    name = "value" if hit.groupdict().get("value") else "topic"
    begin, close = hit.span() if rule.file.take.value == "clause" else hit.span(name)
    return _trimmed(seen, book, rule, segment.start + begin, segment.start + close)


def refusal(seen: View, book: Book, rule: Rule, segment: Segment, hit: re.Match[str]) -> str | None:
    """What of a rule's demands the matched words do not meet, named as the rule file names it."""
    file, groups = rule.file, hit.groupdict()
    start, end = _taken(seen, book, rule, segment, hit)
    if start >= end or (file.take.like and not re.fullmatch(file.take.like, seen.text[start:end])):
        return "take.like" if start < end else "no words are left"
    name = "value" if groups.get("value") else "topic"
    if rule.refused is not None and rule.refused.search(seen.low, start, end):
        return "take.no_words"
    if not _shaped(seen, book, rule, segment, hit, segment.start + hit.start(name), start, end):
        return "take.shape"
    if file.take.entity == "named" and not _named(seen, book, rule, segment, hit):
        return "take.entity"
    if rule.trigger is not None and not _triggered(book, rule, seen, groups, start, end):
        return "trigger"
    # "It should be a table for two at seven": what holds a value is no text to bind.
    if file.slot == "none" and (any(_whole_parts(seen, start, end)) or any(p.wall for p in seen.within(start, end))):
        return "the words hold a value"
    if file.take.value != "clause" and any(_walled(seen, segment, hit, group) for group in ("entity", "label")):
        return "a value stands within the frame"
    return None


def _shaped(
    seen: View, book: Book, rule: Rule, segment: Segment, hit: re.Match[str], begin: int, start: int, end: int
) -> bool:
    """True for a value of the shape that the rule asks."""
    shapes = rule.file.take.shape
    if not shapes:
        return True
    repair = rule.file.act == "state" and _cue_act(seen, start, end, segment, segment.start + hit.start()) == "correct"
    return book.shapes.fits(seen, shapes, begin, start, end, repair=repair)


def _named(seen: View, book: Book, rule: Rule, segment: Segment, hit: re.Match[str]) -> bool:
    """True when the words for the entity have the shape of a name."""
    if not hit.groupdict().get("entity"):
        return False
    begin = segment.start + hit.start("entity")
    start, end = _trimmed(seen, book, rule, begin, segment.start + hit.end("entity"))
    if book.lex.said["self"].match(hit["entity"]) or book.lex.said["pronoun"].match(hit["entity"]):
        return False
    return start < end and book.shapes.fits(seen, ("person", "organization"), begin, start, end)


def _typed(place: Place, file: CaptureFile) -> bool:
    """True for a mention that a stretch of text must not swallow."""
    return place.wall or file.slot == "none"


def _triggered(book: Book, rule: Rule, seen: View, groups: dict[str, str | None], start: int, end: int) -> bool:
    assert rule.trigger is not None
    assert rule.file.trigger is not None
    label = groups.get("label")
    hits = list(rule.trigger.finditer(label.lower())) if label else []
    if label and hits:  # "the surveyor's fee" names no surveyor
        return not book.lex.said["name_noun"].sub("", label.lower()[hits[-1].end() :])
    return not (label and rule.file.trigger.place == "label" and rule.file.take.qualifier == "trigger") and bool(
        rule.trigger.search(seen.low[start:end])
    )


def _whole_parts(seen: View, start: int, end: int) -> Iterator[Part]:
    """Parts that make up most of a stretch of text."""
    for part in seen.scan.parts:
        low, high = seen.norm.inside(part.start, part.end)
        if low >= start and high <= end and 2 * (high - low) > end - start:
            yield part


def _walled(seen: View, segment: Segment, hit: re.Match[str], group: str) -> bool:
    """True when a value stands inside what should be a name or a label: the frame ran over another statement."""
    if not hit.groupdict().get(group):
        return False
    if group == "entity" and len(hit[group].split()) > 4:
        return True
    inside = seen.within(segment.start + hit.start(group), segment.start + hit.end(group))
    return any(p.wall for p in inside)


_GROUPS = ("value", "old", "topic", "entity", "label")


def _overlaps(
    seen: View, index: int, hit: re.Match[str], segment: Segment, groups: tuple[str, ...] = _GROUPS
) -> bool:  # fmt: skip
    place = next(p for p in seen.places if p.index == index)
    for name in groups:
        if hit.groupdict().get(name):
            low, high = segment.start + hit.start(name), segment.start + hit.end(name)
            if place.start < high and low < place.end:
                return True
    return False


def _kinds(text_kind: str) -> list[str]:
    return {
        "person": ["person"], "organization": ["organization"], "place": ["address", "place"],
        "name": ["organization", "person"],
    }.get(text_kind, [])  # fmt: skip


def _trimmed(seen: View, book: Book, rule: Rule, start: int, end: int) -> tuple[int, int]:
    text = seen.text
    while True:
        before = (start, end)
        head = book.lex.said["text_head"].match(text[start:end])
        if head:
            start += head.end()
        tail = book.lex.said["text_tail"].search(text[start:end])
        if tail:
            end = start + tail.start()
        if rule.strip is not None:
            for hit in rule.strip.finditer(text[start:end].lower()):
                if hit.start() == 0:
                    start += hit.end()
                    break
                if start + hit.end() == end:
                    end = start + hit.start()
                    break
        if (start, end) == before or start >= end:
            return start, end


def _mention_at(seen: View, start: int, end: int, kinds: list[str], taken_back: frozenset[int]) -> Place | None:
    found = [
        p for p in seen.places if p.kind in kinds and p.start < end and start < p.end and p.index not in taken_back
    ]
    # A mention much shorter than the stretch is a part of it ("Bank" in "Birch Row Bank"): the stretch is the value.
    whole = [
        p for p in found if p.start <= start + 2 and p.end >= end - 2 and not _MARKED.fullmatch(seen.text[p.end : end])
    ]
    if whole:
        return whole[0]
    return found[0] if found and not set(kinds) <= {"person", "organization"} else None


def _text_value(book: Book, rule: Rule, seen: View, start: int, end: int) -> Value:
    low, high = seen.original(start, end)
    text = seen.norm.original[low:high]
    kind = rule.file.take.text_kind
    if kind == "place":
        return PlaceValue(name=text)
    if kind == "organization" or (kind == "name" and book.lex.said["company"].search(text)):
        return OrganizationValue(name=text)
    if kind in {"person", "name"}:
        return PersonValue(name=text)
    return TextValue(text=text)


def _qualifier(book: Book, rule: Rule, groups: dict[str, str | None], value: Value) -> str | None:
    take = rule.file.take.qualifier
    if take == "none":
        slot = book.slots.get(rule.file.slot)
        # The writing system is part of a name: one in Chinese characters stands beside the same in Latin letters.
        latin = slot is not None and slot.qualifier == "script" and value.canonical.isascii()
        return "latin" if latin else ""
    if take.startswith("fixed:"):
        return take[6:]
    if take == "topic":
        return topic_key(book, groups.get("topic") or groups.get("value") or value.canonical)
    label = groups.get("label") or ""
    if take == "trigger" and rule.trigger is not None:
        hit = rule.trigger.search((label or value.canonical).lower())
        return book.lex.concept(key(hit.group())) if hit else ""
    return book.qualifier(rule.file.slot, book.lex.peel(label).text) if label else ""


def topic_key(book: Book, words: str) -> str:
    """A fact without a value, compared by its content words: negation and modal verbs stand apart."""
    bare = book.lex.said["modal"].sub(" ", book.lex.said["negation"].sub(" ", words))
    return key(bare)


def _topic_assertion(seen: View, book: Book, segment: Segment, hit: re.Match[str], found: Assertion) -> Assertion:
    negated = book.lex.said["negation"].search(seen.text, segment.start + hit.start(), segment.start + hit.end())
    return found.model_copy(update={"polarity": "negated" if negated else "affirmed"})


def agreed(seen: View, assertion: Assertion, segment: Segment) -> Assertion:
    """ "My aunt says X, and so do I, X": with the speaker's own consent it is the speaker's statement."""
    if assertion.reported_by is None:
        return assertion
    for cue, low, _ in seen.cues:
        same = seen.segment_at(low)
        if cue.kind == "confirmation" and same.sentence == segment.sentence and same.index <= segment.index:
            return assertion.model_copy(update={"reported_by": None})
    return assertion


def _cue_act(seen: View, start: int, end: int, segment: Segment, begin: int) -> Act:
    kinds = set()
    for cue, low, _ in seen.cues:
        same = seen.segment_at(low)
        if same.sentence == segment.sentence and same.index <= segment.index:
            scope = cue.scope or (cue.start, cue.end)
            inside = seen.norm.inside(*scope) if scope[0] < scope[1] else (low, low)
            reaches = same.index == segment.index or (inside[0] <= start and end <= inside[1])
            if reaches and (low >= begin or cue.kind not in {"ending", "withdrawal"}):  # "I left A and joined B"
                kinds.add(cue.kind)
    if "correction" in kinds or "repair" in kinds:
        return "correct"
    if "change" in kinds:
        return "change"
    if "withdrawal" in kinds:
        return "retract"
    return "end" if "ending" in kinds else "state"


def _uncued_words(seen: View, words: str) -> str:
    """Words without those that only say when or whether (我以前, "I no longer"), nor those of whoever says it."""
    for cue, _, _ in seen.cues:
        if cue.text and cue.text in words:
            rest = words.partition(cue.text)[2] if cue.kind == "third_party" else ""
            words = rest if rest.strip() else words.replace(cue.text, " ")
    return words


def _entity(seen: View, book: Book, rule: Rule, groups: dict[str, str | None], segment: Segment) -> str | None:
    if rule.file.take.entity == "principal":
        return None
    words = _uncued_words(seen, groups.get("entity") or "").strip(" ,:;'\"")
    if not words:
        return spoken_of(seen, segment, book.lex)
    words = book.lex.said["possessive_end"].sub("", words)
    if book.lex.said["self"].match(words) or not book.lex.peel(words).text:
        return None
    if book.lex.said["pronoun"].match(words):
        return "@last"
    owned = book.lex.said["owned"].match(words)
    rest = words[owned.end() :] if owned else words
    kin = book.lex.kin.match(rest.lower())
    if kin and owned and rest[kin.end() :].strip():
        return rest[kin.end() :].strip()  # apposition: my aunt NAME, 我舅舅某某
    return rest.strip() or None
