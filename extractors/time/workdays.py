"""Working days as published: weekends, public holidays, and the weekends worked in their place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import lru_cache

from .lengths import Impossible, Unplaced
from .nodes import Cycle, Node, Nth, Shifted, Window
from .periods import Period, day_of, midnight

_DAY = timedelta(days=1)
Published = Mapping[int | str, Mapping[str, str]]


class Unpublished(Unplaced):
    """Nobody knows yet which days of that year are worked."""


@lru_cache(maxsize=256)
def _days(year: int, text: str) -> frozenset[date]:
    """``01-01..01-03 04-05`` as days of a year."""
    found: set[date] = set()
    for part in text.split():
        first, _, last = part.partition("..")
        day, end = (date.fromisoformat(f"{year}-{mark}") for mark in (first, last or first))
        while day <= end:
            found.add(day)
            day += _DAY
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class Workdays:
    """The working days of a country by year (``off``, ``work`` as in the rule file); without years Monday to Friday."""

    years: Published = field(default_factory=dict)

    def works(self, day: date) -> bool:
        """Whether people work on a day; Unpublished where a year is missing."""
        if not self.years:
            return day.weekday() < 5
        year = self.years.get(day.year) or self.years.get(str(day.year))
        if year is None:
            raise Unpublished(f"the working days of {day.year} are not published")
        if day in _days(day.year, year.get("work", "")):
            return True
        return day.weekday() < 5 and day not in _days(day.year, year["off"])

    def move(self, moment: datetime, n: int) -> datetime:
        """``n`` working days on (or back), the day itself not counted."""
        step = _DAY if n > 0 else -_DAY
        for _ in range(abs(n)):
            moment += step
            while not self.works(moment.date()):
                moment += step
        return moment


def counts_workdays(node: Node) -> bool:
    """True for what is counted in working days."""
    if isinstance(node, Cycle | Nth):
        return node.unit == "business_day"
    return isinstance(node, Shifted | Window) and set(node.length.whole()) == {"business_day"}


def by_workdays(node: Node, outer: list[Period], now: datetime, calendar: Workdays) -> list[Period]:
    """The days that a node counted in working days means, within or from the ``outer`` periods."""
    if isinstance(node, Nth):
        return [_nth(period, node.n, node.count, calendar) for period in outer]
    if isinstance(node, Cycle):
        today = midnight(now)
        return [day_of(calendar.move(today if node.n else today - _DAY, node.n or 1))]
    assert isinstance(node, Shifted | Window)
    amount = node.length.whole()["business_day"]
    bases = outer or [day_of(now)]
    if isinstance(node, Shifted):  # the first working day after a holiday begins to count when the holiday is over
        return [day_of(calendar.move(midnight(_edge(p, node.sign)), node.sign * amount)) for p in bases]
    near, far = (calendar.move(midnight(bases[0].start), node.sign * n) for n in (1, amount))
    return [Period(min(near, far), max(near, far) + _DAY, "day", single=amount == 1)]


def _edge(period: Period, sign: int) -> datetime:
    """The last or first day of a period of days; a moment is its own edge."""
    whole = period.end - period.start >= _DAY
    return period.end - _DAY if whole and sign > 0 else period.start


def _nth(outer: Period, n: int, count: int, calendar: Workdays) -> Period:
    """The n-th working day of a period, from its end when negative."""
    start = outer.start - _DAY if n > 0 else outer.end
    day = calendar.move(start, n)
    if not outer.start <= day < outer.end:
        raise Impossible("the period has too few working days")
    if count == 1:
        return day_of(day)
    last = calendar.move(start, n + count - 1) if n > 0 else day
    first = day if n > 0 else calendar.move(start, n - count + 1)
    return Period(first, last + _DAY, "day", single=False)


__all__ = ["Published", "Unpublished", "Workdays", "by_workdays", "counts_workdays"]
