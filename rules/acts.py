"""What is done to a value: the act of a mention, by how much it adjusts, and which part of another value it is."""

from __future__ import annotations

import re
from dataclasses import replace

from ..model import Act, Mention, Patch
from ..values import Magnitude, Value
from .book import Book
from .frames import Frame
from .replaced import Replaced
from .view import Place, View

_DAY = re.compile(r"\d{4}-\d{2}-(\d{2})")


def act_of(seen: View, book: Book, place: Place, around: Frame, replaced: Replaced) -> Act:
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
    if (
        "change" in kinds
        or around.act == "change"
        or book.lex.said["now_after"].match(seen.low[place.end : around.segment.end])
    ):
        return "change"
    if "ending" in kinds and not around.copula:
        return "end"
    if (around.bare and _uncovered_correction(seen, around)) or _corrected_behind(seen, around):
        return "correct"
    if "repair" in kinds:
        return "correct"
    if "confirmation" in kinds:
        return "confirm"
    if "rejection" in kinds:
        return "correct"
    return "state"


def _corrected_behind(seen: View, around: Frame) -> bool:
    """鉴定费是7700元，上一句说错了: a clause of nothing but a correction follows in the sentence."""
    for cue, low, _ in seen.cues:
        after = seen.segment_at(low)
        if cue.kind == "correction" and after.index == around.segment.index + 1 and not cue.covers:
            said = seen.within(after.start, after.end) or seen.within(after.end, seen.sentence_span(after.sentence)[1])
            return after.sentence == around.segment.sentence and not said
    return False


def _uncovered_correction(seen: View, around: Frame) -> bool:
    """ "It is 88 Birch Row, I swapped two figures": the sentence corrects, and names nothing else."""
    return any(
        cue.kind == "correction" and not cue.covers and seen.segment_at(low).sentence == around.segment.sentence
        for cue, low, _ in seen.cues
    )


def patch_of(seen: View, book: Book, place: Place, around: Frame, old: int | None) -> Patch | None:
    """末四位不是7701，是7710: a number that stands for the part its label names."""
    part = around.attribute
    if place.kind == "time" and old is not None and part is None and around.bare:
        return _day_patch(seen, book, place, old)
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


def _day_patch(seen: View, book: Book, place: Place, old: int) -> Patch | None:
    """不是6号，是16号: days of a month that is not said, so they change the day of a date that is known."""
    texts = (seen.norm.text[place.start : place.end], seen.scan.mentions[old].text)
    if not all(book.lex.said["day_alone"].fullmatch(text.strip()) for text in texts):
        return None
    days = [_DAY.search(getattr(m.value, "edtf", None) or "") for m in (place.mention, seen.scan.mentions[old])]
    if days[0] is None or days[1] is None:
        return None
    return Patch(part="day_of_month", value=days[0].group(1), old=days[1].group(1))


def bounded(value: Value, around: Frame, book: Book) -> Value:
    """监理费上限仍为77万元: the label says that the value is a bound."""
    ceiling, floor = (book.lex.said[name].search(around.label) for name in ("ceiling", "floor"))
    if not isinstance(value, Magnitude):
        return value
    raised = around.act == "change" and around.place.mention.text.lower().startswith("up to")
    if raised and value.bound == "<=":  # "the fee rose up to $77" tells a change and is no ceiling
        return value.model_copy(update={"bound": "="})
    if (ceiling or floor) and value.bound == "=" and value.amount is not None:
        return value.model_copy(update={"bound": "<=" if ceiling else ">="})
    return value


def pointing(around: Frame, book: Book) -> Frame:
    """前者, "the second one", "that one" point at something and are no label; a verb of adjusting is none either."""
    low = around.label.lower()
    for pattern in (book.ordinal_pattern, book.demonstratives):
        if low and pattern.fullmatch(low):
            return replace(around, label="", start=around.place.start, end=around.place.start)
    pointed = [hit for hit in book.demonstratives.finditer(low) if hit.end() == len(low)]
    if pointed:  # 律师费那个: the label of something known, and a word that points at it
        return replace(around, label=around.label[: pointed[0].start()], end=around.start + pointed[0].start())
    hits = list(book.adjust_pattern.finditer(low))
    if hits and hits[-1].end() == len(low):
        label = around.label[: hits[-1].start()].rstrip()
        return replace(around, label=label, end=around.start + len(label))
    return around
