"""Times counted from an event, once the event has a date: the same calendar arithmetic as for what was said."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from fractions import Fraction

from ...values import Bound, TimeValue
from ..grammar import Context, Place
from ..text import normalize
from .finish import finish
from .lengths import Length, Unit
from .nodes import Clock, Shifted, Time

_WORKDAYS = re.compile(r"([+-])(\d+)bd")
_ISO = re.compile(
    r"([+-])P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)BD)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?"
)
_UNITS: tuple[Unit, ...] = ("year", "month", "week", "business_day", "day", "hour", "minute", "second")
_NOWHERE = Place(normalize(""), 0, 0)  # no text is read
_CLOCK = frozenset({"hour", "minute", "second"})
# What is known of a time when only one side of its event is known: ten days after 1 May at the latest.
_JOINED: dict[tuple[Bound, Bound], Bound] = {
    ("=", "<="): "<=", ("<=", "<="): "<=", ("<", "<="): "<", ("=", ">="): ">=", (">=", ">="): ">=", (">", ">="): ">",
}  # fmt: skip


def open_value(value: TimeValue) -> TimeValue:
    """The time as it was said, counted from its event: what stands while the event has no date."""
    return TimeValue(
        type="symbolic", anchor=value.anchor, offset=value.offset, bound=value.bound, approx=value.approx,
        base=value.base, period=value.period,
    )  # fmt: skip


def counted_from(value: TimeValue, event: TimeValue, context: Context) -> TimeValue | None:
    """The date of a time with an anchor when its event is at ``event``; None while that is no single day or moment.

    The result keeps anchor, offset and bound, so that it can be counted again when the event moves.
    """
    base, sides = _base(event), _side(event)
    bound = value.bound if sides == "=" else _JOINED.get((value.bound, sides))
    if base is None or bound is None:
        return None
    counted = base
    if value.offset is not None:
        length = _length(value.offset)
        by_clock = length is not None and any(unit in _CLOCK for unit, _ in length.parts)
        if length is None or (by_clock and not base.clocked):
            return None  # two hours after a day are no moment
        if not by_clock:  # a week before a hearing at nine is a day
            base = replace(base, clock=None)
        counted = Time(node=Shifted(length, -1 if value.offset.startswith("-") else 1, base))
    counted = replace(counted, bound=bound, approx=value.approx or event.approx)
    made = finish(counted, context, _NOWHERE)
    if not isinstance(made, TimeValue) or made.type == "symbolic":
        return None  # the working days of that year are not published, or there is no such day
    kept = {"anchor": value.anchor, "offset": value.offset, "bound": value.bound, "readings": ()}
    return made.model_copy(update={**kept, "zone": event.zone, "base": value.base, "period": value.period})


def _base(event: TimeValue) -> Time | None:
    """The day or moment of an event as calendar fields."""
    text = (event.edtf or "").removeprefix("../").removesuffix("/..")
    if event.type == "symbolic" or not re.fullmatch(r"\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?)?", text):
        return None
    moment = datetime.fromisoformat(text)
    clock = Clock(moment.hour, moment.minute, exact=True) if "T" in text else None
    return Time(year=moment.year, month=moment.month, day=moment.day, clock=clock)


def _side(event: TimeValue) -> Bound:
    """On which side of its day an event lies; the day itself belongs to it."""
    text = event.edtf or ""
    return "<=" if text.startswith("../") else ">=" if text.endswith("/..") else "="


def _length(offset: str) -> Length | None:
    if days := _WORKDAYS.fullmatch(offset):
        return Length((("business_day", Fraction(int(days[2]))),))
    found = _ISO.fullmatch(offset)
    if found is None:
        return None
    parts = tuple((unit, Fraction(int(n))) for unit, n in zip(_UNITS, found.groups()[1:], strict=True) if n)
    return Length(parts) if parts else None
