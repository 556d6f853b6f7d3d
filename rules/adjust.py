"""By how much a value changes: the verb, its direction, the amount, and the label of what is adjusted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from ..extractors.assertion import assertion_of
from ..model import Act, Adjustment, Candidate, Mention, Span
from ..values import NumberValue, PercentValue, QuantityValue, TimeValue, Value
from .book import Book
from .frames import LONGEST, Frame, uncued
from .labels import is_han, key
from .view import Place, Segment, View

_KINDS = frozenset({"money", "number", "percent", "quantity", "time"})
_DECIMAL = re.compile(r"\d*[.,]\d+|\d+ ?[%％]")
_ISO = re.compile(r"P[\dT]")

Operator = Literal["add", "subtract", "later", "earlier"]
_NAMES: dict[str, Operator] = {"add": "add", "subtract": "subtract", "later": "later", "earlier": "earlier"}


@dataclass(frozen=True)
class Step:
    """A verb of adjusting beside an amount, at normalised offsets; no operator: which way is not said."""

    operator: Operator | None
    begin: int  # where the region of the label begins
    verb: tuple[int, int]
    amount: tuple[int, int]


def step_of(seen: View, book: Book, place: Place, act: Act, skip: frozenset[int]) -> Step | None:
    """The step a mention is, or None when it is a value of its own ("cut it to $500")."""
    if place.index in seen.moved:
        return None
    if place.kind not in _KINDS or (place.kind == "time" and getattr(place.mention.value, "type", "") != "duration"):
        return None
    segment = seen.segment_at(place.start)
    first = max(segment.start, place.start - 2 * LONGEST)
    walls = [p.end for p in seen.within(first, place.start) if p.wall and p.index not in skip]
    begin = max([first, *walls])
    covers = [low for cue, low, _ in seen.cues if cue.kind == "adjustment" and place.index in cue.covers]
    aimed = book.adjust_aim.search(seen.low[begin : place.start].rstrip()) is not None
    if aimed:
        return None
    step = _step(seen, book, segment, begin, (place.start, place.end), bool(covers), place.kind == "time")
    if step is None and (covers or act == "adjust"):  # an amount by which, but no word says which way
        return Step(None, begin, (place.start, place.start), (place.start, place.end))
    return step


def _step(
    seen: View, book: Book, segment: Segment, begin: int, amount: tuple[int, int], told: bool, timed: bool
) -> Step | None:
    before = seen.low[begin : amount[0]]
    verbs = list(book.adjust_pattern.finditer(before))
    for verb in reversed(verbs) if not told or any(is_han(v.group()) for v in verbs) else verbs:
        between = before[verb.end() :]
        ahead = _direction(book, between, timed)
        behind = _direction(book, seen.low[amount[1] : segment.end][:12], timed, first=True)
        opens = is_han(verb.group()) and len(verb.group()) > 1 and not book.lex.peel(before[: verb.start()]).text
        opens = opens and len(between) > 1 and not book.lex.said["step_noun"].fullmatch(between)
        if not told and not opens and not _touches(book, verb.group(), between, behind is not None):
            continue  # 砍掉服务费200元 has its object between; 加班费500元 is no step
        name = book.adjust[re.sub(r"\s+", " ", verb.group())]
        operator = ahead or behind if name == "direction" or (ahead or behind) else _NAMES[name]
        if name in {"later", "earlier"} and not timed and not (ahead or behind):
            operator = None
        if operator is not None:
            return Step(operator, begin, (begin + verb.start(), begin + verb.end()), amount)
    if told or not timed:  # "30% off": which way stands behind
        after = _direction(book, seen.low[amount[1] : segment.end][:12], timed, first=True)
        if after is not None:
            return Step(after, begin, (amount[0], amount[0]), amount)
    return None


def _touches(book: Book, verb: str, between: str, behind: bool) -> bool:
    """Without a cue the amount must stand right after the verb, or behind a word like "by" or "back"."""
    rest = between.strip()
    if not rest:
        return True
    if book.adjust_by.search(rest):
        return True
    if is_han(verb):
        return book.adjust_measure.fullmatch(rest) is not None
    hits = list(book.adjust_direction.finditer(rest))
    return behind or bool(hits and not book.adjust_measure.sub("", rest[hits[-1].end() :]).strip())


def _direction(book: Book, words: str, timed: bool, first: bool = False) -> Operator | None:
    hits = list(book.adjust_direction.finditer(words))
    if not hits or (first and words[: hits[0].start()].strip()):
        return None
    name = book.adjust_directions[re.sub(r"\s+", " ", hits[-1 if not first else 0].group())]
    if name == "up":
        return "earlier" if timed else "add"
    if name in {"later", "earlier"} and not timed:
        return None
    return _NAMES[name]


def label_of_step(seen: View, book: Book, step: Step, around: Frame | None) -> str:
    """What is adjusted, as said: object or subject of the verb, what follows the amount, or what was talked of."""
    segment = seen.segment_at(step.amount[0])
    for low, high in ((step.verb[1], step.amount[0]), (step.begin, step.verb[0])):
        if low < high and (label := _named(seen, book, low, high)):
            return label
        if low == step.verb[1] and book.lex.said["pronoun_object"].match(seen.low[low:high]):
            return ""  # "the judge extended it by 10 days": it is whatever was spoken of, and no judge
    walls = [p.start for p in seen.within(step.amount[1], segment.end) if p.wall]
    after = seen.text[step.amount[1] : min([segment.end, *walls])]
    onto = book.adjust_onto.match(after.lower().lstrip())
    if onto:
        behind = after.lstrip()[onto.end() :]
        label = book.lex.peel(behind).text
        if key(label):
            return label
    return around.label if around is not None and around.inherited else ""


def _named(seen: View, book: Book, low: int, high: int) -> str:
    decided = book.lex.said["decided"].match(seen.low[low:high])  # 法院同意延期: who grants it is not what is adjusted
    low += decided.end() if decided else 0
    text = uncued(seen, low, high) if low < high else ""
    text = seen.text[low:high] if not text.strip() else text
    for pattern in (book.adjust_direction, book.adjust_measure):
        text = _without_tail(pattern, text)
    text = _without_tail(book.adjust_measure, text)
    text = book.lex.peel(text).text
    label = _without_tail(book.adjust_measure, text).strip()
    words = [word for word in key(label).split() if word not in book.lex.light]
    return label if words and not book.lex.pronouns.fullmatch(label.lower()) else ""


def _without_tail(pattern: re.Pattern[str], text: str) -> str:
    """The text without words of the pattern at its end."""
    while True:
        low = text.lower().rstrip()
        ends = [hit.start() for hit in pattern.finditer(low) if hit.end() == len(low)]
        if not ends or not low:
            return text
        text = text[: ends[0]]


def adjustment_by(mention: Mention, operator: Operator, book: Book) -> Adjustment:
    """By how much a value changes. A fraction in words (一半) is a part of the value, "0.5" an amount; 增加两倍 adds
    twice the value."""
    value = mention.value
    part = value.amount if isinstance(value, NumberValue) and value.unit is None else None
    if part is not None and 0 < part < 1 and operator in {"add", "subtract"} and not _DECIMAL.search(mention.text):
        return Adjustment(operator="multiply", factor=1 + part if operator == "add" else 1 - part)
    counted = value if isinstance(value, QuantityValue) and operator == "add" else None
    if counted and counted.amount is not None and book.lex.said["times_unit"].fullmatch(counted.unit or ""):
        return Adjustment(operator="multiply", factor=1 + counted.amount)
    return Adjustment.model_validate({"operator": operator, "by": value})


def step_candidate(seen: View, book: Book, step: Step, adjustment: Adjustment | None, label: str) -> dict[str, object]:
    """Fields of the candidate of a step; bind finds by the label what is adjusted."""
    return {
        "act": "adjust", "form": "adjustment", "adjustment": adjustment, "value": None, "slot": None,
        "qualifier": label or None, "rule": "law.adjustment@1",
    }  # fmt: skip


def unnumbered(seen: View, book: Book, found: Sequence[Candidate]) -> Iterator[Candidate]:
    """ "Push it back a week", "double the budget": steps and factors without a number."""
    numbered = [c.start for c in found if c.act == "adjust"]
    for segment in seen.segments:
        low, high = seen.original(segment.start, segment.end)
        if any(low <= start < high for start in numbered):
            continue
        region = seen.low[segment.start : segment.end]
        step, adjustment = _said_step(seen, book, segment, region), None
        if step is not None:
            by = _amount(book, seen.low[slice(*step.amount)])
            adjustment = Adjustment.model_validate({"operator": step.operator, "by": by})
        else:
            step, adjustment = _said_factor(seen, book, segment, region)
        if step is None or adjustment is None:
            continue
        span = seen.original(*(step.amount if step.amount[0] < step.amount[1] else step.verb))
        yield Candidate.model_validate({
            **step_candidate(seen, book, step, adjustment, label_of_step(seen, book, step, None)),
            "mentions": tuple(p.index for p in seen.within(*step.verb)),
            "start": span[0], "end": span[1], "surface": seen.turn.text[low:high].strip(), "evidence": (span,),
            "assertion": assertion_of(seen.scan, Span(start=span[0], end=span[1])),
            "language": "zh" if seen.scan.lang == "zh" else "en",
        })  # fmt: skip


def _said_step(seen: View, book: Book, segment: Segment, region: str) -> Step | None:
    for hit in book.adjust_step.finditer(region):
        amount = (segment.start + hit.start(), segment.start + hit.end())
        value = _amount(book, hit.group())
        told = any(c.kind == "adjustment" and low >= segment.start and high <= amount[0] for c, low, high in seen.cues)
        told = not is_han(hit.group()) and (told or isinstance(value, PercentValue))  # "by half" says it is a step
        step = _step(seen, book, segment, segment.start, amount, told, isinstance(value, TimeValue))
        if step is not None:
            return step
    return None


def _said_factor(seen: View, book: Book, segment: Segment, region: str) -> tuple[Step | None, Adjustment | None]:
    hit = book.adjust_factor.search(region)
    cued = any(c.kind == "adjustment" and segment.start <= low < segment.end for c, low, _ in seen.cues)
    if hit is None or not (cued or is_han(hit.group())):
        return None, None
    at = (segment.start + hit.start(), segment.start + hit.end())
    factor = Decimal(book.adjust_factors[re.sub(r"\s+", " ", hit.group())])
    end = at[1] if is_han(hit.group()) else segment.end
    return Step("add", segment.start, at, (end, end)), Adjustment(operator="multiply", factor=factor)


def _amount(book: Book, words: str) -> Value:
    text = book.adjust_steps[re.sub(r"\s+", " ", words)]
    if _ISO.match(text):
        return TimeValue(type="duration", duration=text)
    return PercentValue(amount=Decimal(text.rstrip("%")))
