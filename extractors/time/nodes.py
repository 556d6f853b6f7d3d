"""What a time expression says before it is resolved: constraints, shifts, ranges, lengths, recurrences, symbols."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal, TypeVar

from ...values import Bound
from .lengths import Length, Unit

Which = Literal["bare", "this", "next", "last"]


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day as said; without am/pm an hour up to twelve has two readings."""

    hour: int
    minute: int | None = None
    second: int | None = None
    meridiem: Literal["am", "pm"] | None = None
    exact: bool = False  # written as 24 hours (08:00, 16h)

    @property
    def ambiguous(self) -> bool:
        return self.meridiem is None and not self.exact and 0 < self.hour <= 12


@dataclass(frozen=True, slots=True)
class PartOfDay:
    """A named stretch of the day, in hours from midnight; ``end`` may pass 24."""

    start: Fraction
    end: Fraction
    name: str = ""

    def hour(self, clock: Clock) -> int:
        """The hour, counted from midnight, that ``clock`` means within this part (25 = 1 am next day)."""
        hour = clock.hour
        if hour > 12 or clock.meridiem is not None:
            return hour24(clock)
        if self.end <= 12:  # one in the morning is 1:00, 上午12点 is noon
            return 12 if hour == 12 and self.start > 0 else hour % 12
        near = [hour % 12 + 12 * n for n in range(3) if n or self.start < 12]  # 下午11点 is 23:00
        inside = [h for h in near if self.start <= h < self.end]
        middle = (self.start + self.end) / 2
        return inside[0] if inside else min(near, key=lambda h: (abs(h - middle), h))


def hour24(clock: Clock) -> int:
    """The hour on a 24-hour dial."""
    if clock.meridiem == "pm" and clock.hour < 12:
        return clock.hour + 12
    if clock.meridiem == "am" and clock.hour == 12:
        return 0
    return clock.hour


class Node:
    """A period that is not given by calendar fields but counted, named or looked up."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Now(Node):
    """The moment of saying."""


@dataclass(frozen=True, slots=True)
class Cycle(Node):
    """The calendar unit that contains now, moved by ``n``: next week, last year, tomorrow."""

    unit: Unit
    n: int = 0


@dataclass(frozen=True, slots=True)
class Shifted(Node):
    """``base`` (or now) moved by a length: two days ago, three weeks after Easter."""

    length: Length
    sign: int
    base: Time | None = None


@dataclass(frozen=True, slots=True)
class Nth(Node):
    """The n-th unit or weekday within a period, from the end when negative."""

    n: int
    unit: Unit | None = None
    weekday: int | None = None
    within: Time | None = None
    count: int = 1
    thursday: bool = False  # a week of a month is one whose Thursday lies in it, not one that begins in it


@dataclass(frozen=True, slots=True)
class Nearest(Node):
    """The n-th weekday after (or before) a day: the Monday after 5 October."""

    weekday: int
    n: int
    base: Time | None = None
    closest: bool = False


@dataclass(frozen=True, slots=True)
class Window(Node):
    """A stretch next to now or next to ``base``: the last two weeks, the next three days."""

    length: Length
    sign: int
    rolling: bool = False
    base: Time | None = None


@dataclass(frozen=True, slots=True)
class Containing(Node):
    """The calendar unit that contains a day: the week of 6 October."""

    unit: Unit
    base: Time


@dataclass(frozen=True, slots=True)
class Edge(Node):
    """The beginning, middle or end of a period; ``part`` names a span of the edge table."""

    part: str
    within: Time


@dataclass(frozen=True, slots=True)
class Fiscal(Node):
    """A fiscal year by its number or counted from the present one, or a quarter or half of it."""

    year: int | None = None
    n: int = 0
    quarter: int | None = None
    half: int | None = None

    @property
    def anchor(self) -> str:
        """Its name while nobody knows when the year begins."""
        name = "fiscal_year" if self.year is None else f"fiscal_year_{self.year}"
        if self.half:
            return f"{name}_h{self.half}"
        return f"{name}_q{self.quarter}" if self.quarter else name


@dataclass(frozen=True, slots=True)
class Season(Node):
    """Three months from ``month``."""

    month: int
    which: Which = "bare"
    n: int = 0


@dataclass(frozen=True, slots=True)
class Holiday(Node):
    """A row of a holiday table; see ``holidays.dates_of``."""

    rule: str
    which: Which = "bare"


@dataclass(frozen=True, slots=True)
class Lunar(Node):
    """A month (and day) of the Chinese calendar."""

    month: int
    day: int | None = None
    leap: bool = False


@dataclass(frozen=True, slots=True)
class Years(Node):
    """A run of whole years: the nineties, the 21st century."""

    first: int
    count: int


@dataclass(frozen=True, slots=True)
class Stretch(Node):
    """From the start of one time to the end of another."""

    first: Time
    last: Time


@dataclass(frozen=True, slots=True)
class Time:
    """A set of constraints; ``merge`` joins two, ``resolve`` turns the whole into calendar days once, at the end."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    quarter: int | None = None
    half: int | None = None
    weekday: int | None = None
    which: Which = "bare"
    clock: Clock | None = None
    part: PartOfDay | None = None
    node: Node | None = None
    within: Time | None = None
    zone: str | None = None
    bound: Bound = "="
    approx: bool = False
    alternative: Time | None = field(default=None)  # 03/04/2026 in the other order of day and month
    year_first: Time | None = field(default=None)  # 26-3-15 with the year in front
    loose_bound: bool = False  # "2025年前": the unit itself may be in or out

    @property
    def canonical(self) -> str:
        """The one thing said, for parts: a year, a month, a day, a weekday, a clock, a part of day."""
        if self.clock is not None:
            second = f":{self.clock.second:02}" if self.clock.second is not None else ""
            hour = self.part.hour(self.clock) % 24 if self.part is not None else hour24(self.clock)
            return f"T{hour:02}:{self.clock.minute or 0:02}{second}"
        if self.part is not None:
            return self.part.name
        fields = (self.year, self.month, self.day, self.weekday, self.quarter, self.half)
        return "-".join(str(value) for value in fields if value is not None)

    @property
    def dated(self) -> bool:
        """True when anything but a time of day is said."""
        return bool(self.calendar or self.node is not None or self.within is not None)

    @property
    def calendar(self) -> bool:
        """True when a calendar field is said."""
        fields = (self.year, self.month, self.day, self.quarter, self.half, self.weekday)
        return any(value is not None for value in fields)

    @property
    def clocked(self) -> bool:
        """True when a time of day is said."""
        return self.clock is not None or self.part is not None

    @property
    def relative(self) -> bool:
        """True when it cannot be resolved without the time of saying."""
        if self.node is not None:
            return isinstance(self.node, Now | Cycle) or not self.anchored
        return not self.anchored

    @property
    def anchored(self) -> bool:
        """True when a year is said somewhere, so that the time of saying is not needed."""
        if self.year is not None or isinstance(self.node, Years):
            return True
        inner = [self.within]
        if isinstance(self.node, Nth | Edge):
            inner.append(self.node.within)
        elif isinstance(self.node, Shifted | Nearest | Window | Containing):
            inner.append(self.node.base)
        elif isinstance(self.node, Stretch):
            return self.node.first.anchored and self.node.last.anchored
        return any(time.anchored for time in inner if time is not None)


@dataclass(frozen=True, slots=True)
class Range:
    """From one time to another; what one end leaves open it inherits from the other."""

    first: Time
    last: Time
    approx: bool = False
    open_end: bool = False  # "until": the last unit is not part of it
    lasting: Length | None = None  # from the first time for so long, instead of a last time


@dataclass(frozen=True, slots=True)
class Symbolic:
    """A time counted from an event whose date is not known here: 30 days after the Effective Date."""

    anchor: str
    length: Length | None = None
    sign: int = 1
    bound: Bound = "="
    approx: bool = False


@dataclass(frozen=True, slots=True)
class Recurrence:
    """What repeats: an interval in units, or the fields of a day."""

    unit: Unit
    interval: int = 1
    weekdays: tuple[int, ...] = ()
    position: int | None = None  # BYSETPOS-like ordinal of the weekday: every second Tuesday of the month
    month: int | None = None
    day: int | None = None
    clock: Clock | None = None
    part: PartOfDay | None = None
    since: Time | None = None
    also: tuple[int, ...] = ()  # further days of the month, or months: the 5th and the 20th
    workday: int | None = None  # the n-th working day of the month
    months: tuple[int, ...] = ()  # the first month of every quarter: 1, 4, 7, 10


@dataclass(frozen=True, slots=True)
class Invalid:
    """A time that cannot exist, kept so that its refusal is logged."""

    why: str


T = TypeVar("T")
_FIELDS = ("year", "month", "day", "quarter", "half", "weekday", "clock", "part", "zone")


def merge(a: Time, b: Time) -> Time | None:
    """All constraints of both, or None when they contradict each other."""
    if a.bound != "=" or b.bound != "=":
        return None
    changes: dict[str, object] = {}
    for name in _FIELDS:
        one, two = getattr(a, name), getattr(b, name)
        if one is not None and two is not None and one != two:
            return None
        if one is None and two is not None:
            changes[name] = two
    if a.node is not None and b.node is not None:
        return _nest(a, b)
    changes["node"] = a.node if a.node is not None else b.node
    if a.which != "bare" and b.which != "bare" and a.which != b.which:
        return None
    changes["which"] = a.which if a.which != "bare" else b.which
    changes["approx"] = a.approx or b.approx
    if a.within is not None and b.within is not None:
        return None
    changes["within"] = a.within if a.within is not None else b.within
    changes["alternative"] = a.alternative if a.alternative is not None else b.alternative
    if changes["alternative"] is not None:
        other = replace(a, alternative=None) if a.alternative is None else replace(b, alternative=None)
        alternative = changes["alternative"]
        assert isinstance(alternative, Time)
        changes["alternative"] = merge(alternative, other)
    return replace(a, **changes)  # type: ignore[arg-type]


def _nest(a: Time, b: Time) -> Time | None:
    """A named day inside a counted period: Christmas last year, 中秋 next year."""
    for inner, outer in ((a, b), (b, a)):
        named = isinstance(inner.node, Holiday | Season | Lunar)
        if (
            named
            and isinstance(outer.node, Cycle)
            and outer.node.unit in ("year", "month", "week")
            and not outer.clocked
        ):
            if outer.calendar or inner.within is not None:
                return None
            other = merge(inner.alternative, outer) if inner.alternative is not None else None
            within = replace(outer, approx=False)
            return replace(inner, within=within, approx=inner.approx or outer.approx, alternative=other)
    return None
