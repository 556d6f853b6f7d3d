"""Stretches of the calendar: whole units, their neighbours and parts, and moving a moment by a length."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from .lengths import Impossible, Length, Unit

_MONTHS: dict[Unit, int] = {"month": 1, "quarter": 3, "half": 6, "year": 12, "decade": 120, "century": 1200}
_SECONDS: dict[Unit, int] = {"second": 1, "minute": 60, "hour": 3600}


@dataclass(frozen=True, slots=True)
class Period:
    """From ``start`` to ``end`` (exclusive) at the precision of ``grain``; ``single`` when it is one such unit."""

    start: datetime
    end: datetime
    grain: Unit
    single: bool = True

    @property
    def clocked(self) -> bool:
        """True when it is finer than a day."""
        return self.grain in ("second", "minute", "hour")


def calendar(year: int, month: int = 1, day: int = 1) -> datetime:
    """Midnight of a day, or Impossible with the reason."""
    if not 1 <= year <= 9998:
        raise Impossible(f"year {year} is out of range")
    if not 1 <= month <= 12:
        raise Impossible(f"there is no month {month}")
    if not 1 <= day <= monthrange(year, month)[1]:
        raise Impossible(f"{year}-{month:02} has no day {day}")
    return datetime(year, month, day)  # noqa: DTZ001 - wall time; the zone is the one of saying


def wall(day: date) -> datetime:
    """The midnight with which a day begins."""
    return datetime.combine(day, time())


def midnight(moment: datetime) -> datetime:
    """The start of its day."""
    return datetime.combine(moment.date(), time())


def floor(moment: datetime, unit: Unit) -> datetime:
    """The start of the unit that contains ``moment``; weeks begin on Monday (ISO 8601)."""
    if unit in _SECONDS:
        return moment.replace(
            microsecond=0,
            second=moment.second if unit == "second" else 0,
            minute=moment.minute if unit != "hour" else 0,
        )
    day = midnight(moment)
    if unit == "week":
        return day - timedelta(days=day.weekday())
    if unit == "weekend":
        return day + timedelta(days=5 - day.weekday())
    if unit == "season":
        return add_months(day.replace(day=1), -((day.month) % 3))
    if unit in _MONTHS:
        size = min(_MONTHS[unit], 12)
        month = (day.month - 1) // size * size + 1
        years = _MONTHS[unit] // 12
        return calendar(day.year // years * years if years > 1 else day.year, month)
    return day


def add_months(moment: datetime, months: int) -> datetime:
    """The same day so many months on; a day that the month lacks becomes its last one (31 January → 28 February)."""
    years, month = divmod(moment.month - 1 + months, 12)
    year = moment.year + years
    if not 1 <= year <= 9998:
        raise Impossible(f"year {year} is out of range")
    return moment.replace(year=year, month=month + 1, day=min(moment.day, monthrange(year, month + 1)[1]))


def step(moment: datetime, unit: Unit, n: int) -> datetime:
    """``moment`` and ``n`` units."""
    try:
        if unit in _MONTHS:
            return add_months(moment, n * _MONTHS[unit])
        if unit == "season":
            return add_months(moment, 3 * n)
        if unit == "business_day":
            return business_days(moment, n)
        if unit in _SECONDS:
            return moment + timedelta(seconds=n * _SECONDS[unit])
        return moment + timedelta(days=n * (7 if unit in ("week", "weekend") else 1))
    except OverflowError:
        raise Impossible("beyond the calendar") from None


def business_days(moment: datetime, n: int) -> datetime:
    """``n`` weekdays on; public holidays are not known here."""
    direction = 1 if n > 0 else -1
    for _ in range(abs(n)):
        moment += timedelta(days=direction)
        while moment.weekday() > 4:
            moment += timedelta(days=direction)
    return moment


def move(moment: datetime, length: Length, sign: int) -> datetime:
    """``moment`` moved by a length, coarse units first."""
    for unit, amount in reversed(length.whole().items()):
        moment = step(moment, unit, sign * amount)
    return moment


def unit_at(moment: datetime, unit: Unit, n: int = 0) -> Period:
    """The unit that contains ``moment``, moved by ``n`` units."""
    if unit == "business_day":
        day = business_days(midnight(moment), n)
        return Period(day, day + timedelta(days=1), "day")
    start = step(floor(moment, unit), unit, n)
    end = start + timedelta(days=2) if unit == "weekend" else step(start, unit, 1)
    return Period(start, end, unit)


def month_of(year: int, month: int) -> Period:
    """A calendar month."""
    return unit_at(calendar(year, month), "month")


def day_of(moment: datetime) -> Period:
    """The day of a moment."""
    return unit_at(moment, "day")


def third(period: Period, which: str) -> Period:
    """The beginning, middle or last third of a period, in whole days where it has them."""
    length = period.end - period.start
    if period.grain == "month":  # 上旬, 中旬, 下旬: tens of days
        first, second = period.start + timedelta(days=10), period.start + timedelta(days=20)
    elif length >= timedelta(days=80):
        months = max(round(length.days / 30.4), 1)
        first, second = add_months(period.start, round(months / 3)), add_months(period.start, round(months * 2 / 3))
    elif length >= timedelta(days=6):
        first, second = period.start + timedelta(days=2), period.start + timedelta(days=4)
    else:
        first, second = period.start + length / 3, period.start + length * 2 / 3
    grain: Unit = "day" if length >= timedelta(days=6) else "hour"
    if which == "start":
        return Period(period.start, first, grain, single=False)
    if which == "middle":
        return Period(first, second, grain, single=False)
    return Period(second, period.end, grain, single=False)
