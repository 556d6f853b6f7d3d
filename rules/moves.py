"""Ranges that are none: in "changed from $5,000 to $6,000" and "fell $1 million to $2 million" the second counts."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta

from ..model import Mention
from ..values import Magnitude, TimeValue, Value
from .book import Book
from .view import Place, View

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def split_moves(seen: View, book: Book) -> View:
    """The view with such ranges replaced by their second value."""
    changed: dict[int, Mention] = {}
    moved: dict[int, Value] = {}
    for place in seen.places:
        mention = place.mention
        glued = _glued(seen, book, place)
        if glued is not None:
            start = seen.norm.span(place.start + 1, place.end)[0]
            shorter = {"value": glued, "start": start, "text": mention.text[start - mention.start :]}
            changed[place.index] = mention.model_copy(update=shorter)
            continue
        if not book.lex.said["move_to"].search(mention.text):
            continue
        segment = seen.segment_at(place.start)
        before = seen.low[segment.start : place.start]
        starts = bool(book.lex.said["from"].match(mention.text) or book.lex.said["from_end"].search(before.rstrip()))
        if not book.lex.said["move_verb"].search(before) or not (starts or book.lex.said["move_by"].search(before)):
            continue
        second = _second(mention.value)
        if second is not None:
            # The span stays: the label stands before "from", and both values are evidence.
            changed[place.index] = mention.model_copy(update={"value": second})
            moved[place.index] = mention.value
    if not changed:
        return seen
    mentions = tuple(changed.get(index, mention) for index, mention in enumerate(seen.scan.mentions))
    return replace(seen, scan=seen.scan.model_copy(update={"mentions": mentions}), moved=moved)


def _glued(seen: View, book: Book, place: Place) -> TimeValue | None:
    """延后5天 and 提前三天 are no "next five days" and "last three days": the verb took the first character along."""
    value = place.mention.value
    if not isinstance(value, TimeValue) or value.type != "interval" or place.start == 0:
        return None
    if not book.lex.said["glued"].fullmatch(seen.text[place.start - 1 : place.start + 1]):
        return None
    days = _DAY.findall(value.edtf or "")
    if len(days) != 2:
        return None
    count = (date.fromisoformat(days[1]) - date.fromisoformat(days[0])).days + 1
    return TimeValue(type="duration", duration=f"P{count}D")


def _second(value: Value) -> Value | None:
    if isinstance(value, Magnitude) and value.max is not None and value.amount is None:
        return value.model_copy(update={"amount": value.max, "min": None, "max": None})
    if isinstance(value, TimeValue) and value.type == "interval":
        days = _DAY.findall(value.edtf or "")
        if len(days) == 2 and value.edtf == f"{days[0]}/{days[1]}":
            after = date.fromisoformat(days[1]) + timedelta(days=1)
            return TimeValue(type="date", edtf=days[1], start=days[1], end=after.isoformat(), grain="day")
    return None
