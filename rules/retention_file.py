"""Retention files: how long what is remembered, and what was said, is kept before a sweep erases it."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Literal, Self

from pydantic import Field, model_validator

from ..rulefile import Refused, RuleFile
from .slots import span_of

SHORTEST, LONGEST = "P6M", "P10Y"


class RetentionFile(RuleFile):
    """How long what is remembered, and what was said, is kept before `recordari sweep` erases it."""

    kind: Literal["retention"] = Field(description="retention")
    classes: dict[str, str] = Field(
        min_length=1,
        description="Class, as slots name it → how long: ISO 8601 duration from 6 months (P6M) to 10 years (P10Y), "
        "counted from the day on which an item was last written.",
    )
    turns: str | None = Field(
        None, description="Class of what was said, remembered or refused, from the day it was received; none: kept."
    )
    traces: str | None = Field(
        None, description="Class of the traces of what was asked, from the day they were written; none: kept."
    )

    @model_validator(mode="after")
    def _within(self) -> Self:
        for name, span in self.classes.items():
            try:
                length = span_of(span)
            except (ValueError, KeyError, IndexError):
                length = timedelta()
            if not span_of(SHORTEST) <= length <= span_of(LONGEST):
                raise Refused(f"{name!r}: {span!r} is no time from 6 months (P6M) to 10 years (P10Y)", "wrong-value")
        for named in (self.turns, self.traces):
            if named is not None and named not in self.classes:
                raise Refused(f"{named!r} is none of the classes", "wrong-value")
        return self


def classes_of(files: Iterable[RetentionFile]) -> tuple[dict[str, str], str | None]:
    """Class → how long, and the class of what was said. Of two files that name one class the longer time counts: what a
    house must keep outweighs what it may let go."""
    spans: dict[str, str] = {}
    turns: list[str] = []
    for each in files:
        for name, span in each.classes.items():
            spans[name] = max(span, spans.get(name, span), key=span_of)
        turns += [each.turns] if each.turns is not None else []
    return spans, max(turns, key=lambda name: span_of(spans[name]), default=None)


def class_of_traces(files: Iterable[RetentionFile], spans: Mapping[str, str]) -> str | None:
    """The class of traces, of several the one that keeps them least: they are nobody's record."""
    return min(
        (each.traces for each in files if each.traces is not None), key=lambda name: span_of(spans[name]), default=None
    )


def kept_since(span: str, at: datetime) -> datetime:
    """What was written before this is kept no longer ``at`` a time; months and years are those of the calendar."""
    count, unit = int(span[1:-1]), span[-1]
    if unit in "DW":
        return at - span_of(span)
    months = at.year * 12 + at.month - 1 - count * (12 if unit == "Y" else 1)
    year, month = divmod(months, 12)
    return at.replace(year=year, month=month + 1, day=min(at.day, monthrange(year, month + 1)[1]))
