"""What repeats, as an RFC 5545 rule."""

from __future__ import annotations

from dataclasses import replace

from ...values import Reading, TimeValue
from ..resolve import Policy, hours_of
from .lengths import Unit
from .nodes import Clock, Recurrence, Time

_DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_FREQUENCIES: dict[Unit, tuple[str, int]] = {
    "second": ("SECONDLY", 1), "minute": ("MINUTELY", 1), "hour": ("HOURLY", 1), "day": ("DAILY", 1),
    "week": ("WEEKLY", 1), "month": ("MONTHLY", 1), "quarter": ("MONTHLY", 3), "season": ("MONTHLY", 3),
    "half": ("MONTHLY", 6), "year": ("YEARLY", 1), "decade": ("YEARLY", 10), "century": ("YEARLY", 100),
}  # fmt: skip


def hours_text(hour: int, clock: Clock) -> str:
    """An hour with the minutes and seconds of a clock, as in 15:30."""
    second = f":{clock.second:02}" if clock.second is not None else ""
    return f"{hour % 24:02}:{clock.minute or 0:02}{second}"


def recurrence(value: Recurrence, policy: Policy) -> TimeValue:
    """The value of what repeats; the other half of the day is a reading where the hour leaves it open."""
    if value.unit == "weekend":
        value = replace(value, unit="week", weekdays=(6, 7))
    elif value.unit == "business_day":
        value = replace(value, unit="week", weekdays=(1, 2, 3, 4, 5))
    frequency, times = _FREQUENCIES[value.unit]
    parts = [f"FREQ={frequency}"]
    if value.interval * times > 1:
        parts.append(f"INTERVAL={value.interval * times}")
    if value.month is not None:
        parts.append("BYMONTH=" + ",".join(map(str, (value.month, *(value.also if value.day is None else ())))))
    if value.months:
        parts.append("BYMONTH=" + ",".join(map(str, value.months)))
    if value.day is not None:
        parts.append("BYMONTHDAY=" + ",".join(map(str, (value.day, *value.also))))
    if value.workday is not None:
        parts += ["BYDAY=MO,TU,WE,TH,FR", f"BYSETPOS={value.workday}"]
    if value.weekdays:
        position = str(value.position) if value.position is not None else ""
        parts.append("BYDAY=" + ",".join(position + _DAYS[n - 1] for n in value.weekdays))
    start = None
    readings: tuple[Reading, ...] = ()
    if value.clock is not None:
        hour, *others = hours_of(Time(clock=value.clock, part=value.part), policy)
        parts += [f"BYHOUR={hour % 24}", f"BYMINUTE={value.clock.minute or 0}"]
        start = f"T{hours_text(hour, value.clock)}"
        readings = tuple(Reading(start=f"T{hours_text(other, value.clock)}") for other in others)
    elif value.part is not None:
        start = f"T{int(value.part.start) % 24:02}:00"
    return TimeValue(type="recurrence", rrule=";".join(parts), start=start, readings=readings)
