"""Ranges of typed values: what a question compares with, and whether an item's normalised value lies within."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from ..model import Mention
from ..values import Magnitude, MoneyValue, TimeValue, Value

_COUNTED = frozenset({"number", "money", "quantity"})


@dataclass(frozen=True, slots=True)
class Range:
    """A stretch of values of one kind; ``strict``: what lies outside is no answer at all."""

    kind: str
    words: str
    low: Decimal | datetime | None = None
    high: Decimal | datetime | None = None
    open_low: bool = False  # the end itself is outside; times always exclude their upper end
    open_high: bool = False
    currency: str | None = None
    strict: bool = False

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of value that it may hold: a number without a unit asks for an amount of any kind but a share."""
        return _COUNTED if self.kind == "number" else frozenset({self.kind})

    def holds(self, value: Value, now: datetime) -> bool:
        """True when a value lies within; a value without a number or a day never does."""
        if value.kind not in self.kinds:
            return False
        if isinstance(value, TimeValue):
            start, end = days_of(value, now)
            if start is None and end is None:
                return False
            low = self.low is None or end is None or (isinstance(self.low, datetime) and end > self.low)
            # "By May 3" is a time of May 3: what has no beginning lies where it ends.
            begins = start if start is not None else end - timedelta(microseconds=1) if end is not None else None
            high = self.high is None or begins is None or (isinstance(self.high, datetime) and begins < self.high)
            return low and high
        if not isinstance(value, Magnitude):
            return False
        if self.currency and isinstance(value, MoneyValue) and value.currency not in {None, self.currency}:
            return False
        least = value.amount if value.amount is not None else value.min if value.min is not None else value.max
        most = value.amount if value.amount is not None else value.max if value.max is not None else value.min
        return self._above(least) and self._below(most)

    def _above(self, number: Decimal | None) -> bool:
        if self.low is None or number is None or isinstance(self.low, datetime):
            return number is not None
        return number > self.low if self.open_low else number >= self.low

    def _below(self, number: Decimal | None) -> bool:
        if self.high is None or number is None or isinstance(self.high, datetime):
            return number is not None
        return number < self.high if self.open_high else number <= self.high


def range_of(mention: Mention, now: datetime) -> Range | None:
    """The range that a typed value in a question asks for: "over 50,000", "between May 1 and May 15", "on May 3"."""
    value = mention.value
    if isinstance(value, TimeValue):
        start, end = days_of(value, now)
        if start is None and end is None:
            return None
        return Range("time", mention.text, start, end, strict=value.type == "interval")
    if not isinstance(value, Magnitude):
        return None
    currency = value.currency if isinstance(value, MoneyValue) else None
    low, high = value.min, value.max
    if value.amount is not None:
        low = None if value.bound in {"<", "<="} else value.amount
        high = None if value.bound in {">", ">="} else value.amount
    strict = value.bound != "=" or value.amount is None
    return Range(
        value.kind, mention.text, low, high, value.bound == ">", value.bound == "<", currency, strict
    )  # fmt: skip


def days_of(
    value: Value, now: datetime, *, nearest: bool = False
) -> tuple[datetime | None, datetime | None]:  # fmt: skip
    """Start and end (exclusive) of a time in the zone of ``now``; (None, None) when it names no day.

    ``nearest``: of its readings the one that lies nearest to now.
    """
    if not isinstance(value, TimeValue) or value.type in {"duration", "recurrence"}:
        return None, None
    main = _moment(value.start, now), _moment(value.end, now)
    if not nearest:
        return main
    alike = [main, *_alike(value, main, now)]
    return min(alike, key=lambda each: _away(each, now))


def past_days(value: Value, now: datetime) -> tuple[datetime | None, datetime | None]:
    """Whole days of a time that has begun: the latest of its readings that lies in the past."""
    main = days_of(value, now)
    if not isinstance(value, TimeValue) or main == (None, None):
        return main
    begun = [each for each in (main, *_alike(value, main, now)) if (each[0] or each[1] or now) <= now]
    start, end = max(begun, key=lambda each: each[0] or each[1] or now) if begun else main
    return _midnight(start), _midnight(end, after=True)


def _alike(
    value: TimeValue, main: tuple[datetime | None, datetime | None], now: datetime
) -> list[tuple[datetime | None, datetime | None]]:
    """The other readings of a time that are open at the same end, and as long."""
    found = []
    for reading in value.readings:
        start, end = _moment(reading.start, now), _moment(reading.end, now)
        if (start is None) != (main[0] is None) or (end is None) != (main[1] is None):
            continue
        if start and end and main[0] and main[1] and abs((end - start) - (main[1] - main[0])) > timedelta(days=3):
            continue
        found.append((start, end))
    return found


def _away(span: tuple[datetime | None, datetime | None], now: datetime) -> timedelta:
    start, end = span
    if (start is None or start <= now) and end is not None and now < end and start is not None:
        return timedelta(0)
    edges = [abs(edge - now) for edge in span if edge is not None]
    return min(edges, default=timedelta.max)


def _midnight(moment: datetime | None, *, after: bool = False) -> datetime | None:
    """The beginning of its day, or with ``after`` the first midnight that does not come before it."""
    if moment is None:
        return None
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return day + timedelta(days=1) if after and day < moment else day


def _moment(written: str | None, now: datetime) -> datetime | None:
    if written is None:
        return None
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:  # outside the calendar of the machine
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=now.tzinfo)
