"""Functions of time grammars for whole expressions: merging, ranges, bounds, lengths, symbols, recurrences."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

from ...values import Bound
from ..parsing.expression import function
from .fields import SPOKEN, fraction, whole
from .lengths import Length, Unit
from .nodes import Cycle, Invalid, Nth, Range, Recurrence, Shifted, Symbolic, Time, merge  # fmt: skip
from .shifts import TURNED, shift


@function("approx")
def approx(value: Any) -> Any:
    """About: a time or a length that is not meant exactly."""
    return None if value is None else replace(value, approx=True)


@function("intersect")
def intersect(a: Any, b: Any, c: Any = None) -> Any:
    """All constraints together, None when they contradict each other."""
    if isinstance(a, Invalid) or isinstance(b, Invalid):
        return a if isinstance(a, Invalid) else b
    if isinstance(a, Recurrence) or isinstance(b, Recurrence):
        return _repeat_at(a, b) if isinstance(a, Recurrence) else _repeat_at(b, a)
    if isinstance(a, Range) and isinstance(b, Time):
        return range_on(a, b)
    if isinstance(a, Time) and isinstance(b, Range):
        return range_on(b, a)
    both = merge(a, b)
    return both if both is None or c is None else intersect(both, c)


def range_on(clocks: Range, day_said: Time) -> Range | None:
    """A range of clock times on a day: tomorrow from nine to eleven."""
    if clocks.first.dated or clocks.last.dated:
        return None
    first = merge(day_said, clocks.first)
    return replace(clocks, first=first) if first is not None else None


def _repeat_at(repeat: Recurrence, time: Any) -> Recurrence | None:
    if not isinstance(time, Time) or time.dated or repeat.clock or repeat.part:
        return None
    return replace(repeat, clock=time.clock, part=time.part)


# ---------------------------------------------------------------- ranges, bounds, lengths, symbols, recurrences
@function("span", gives="span")
def span(first: Any, last: Any, open_end: bool = False) -> Range | Invalid | None:
    """From one time to another."""
    for end in (first, last):
        if isinstance(end, Invalid):
            return end
    if not isinstance(first, Time) or not isinstance(last, Time) or first.bound != "=" or last.bound != "=":
        return None
    if not _comparable(first, last):
        return None
    return Range(first, last, first.approx or last.approx, open_end)


def _comparable(first: Time, last: Time) -> bool:
    """A bare day or weekday needs an end of its own kind: Friday to August is no range, nor is 1 to "in two days"."""
    for one, other in ((first, last), (last, first)):
        if one.day is not None and one == Time(day=one.day) and other.day is None and other.weekday is None:
            return False
        if one.weekday is not None and one.day is None and other.month is not None and other.day is None:
            return False
    return True


@function("bound", gives="bounded")
def bound(value: Any, operator: str) -> Any:
    """Not later than, before, from, after."""
    if isinstance(value, Invalid):
        return value
    if value.bound != "=":
        return None
    return replace(value, bound=cast(Bound, operator))


@function("length", gives="duration")
def length(n: Any, unit: str, extra: Any = None) -> Length | None:
    """A duration: so many units, ``extra`` (a half, a quarter) of the same unit more; a number range gives two ends."""
    low, high = getattr(n, "low", None), getattr(n, "high", None)
    rough = bool(getattr(n, "approx", False))
    more = fraction(extra) if extra is not None else Fraction(0)
    if low is not None and high is not None:
        top = Length(((cast(Unit, unit), Fraction(high)),))
        return Length(((cast(Unit, unit), Fraction(low)),), high=top, approx=rough)
    amount = fraction(n)
    if amount is None or more is None or amount < 0 or amount > 1_000_000:
        return None
    return Length(((cast(Unit, unit), amount + more),), approx=rough)


@function("part_length", gives="duration")
def part_length(numerator: Any, denominator: Any, unit: str) -> Length | None:
    """A fraction of a unit: half an hour, three quarters of a year."""
    top, bottom = whole(numerator), whole(denominator)
    return Length(((cast(Unit, unit), Fraction(top, bottom)),)) if top and bottom else None


@function("add_length", gives="duration")
def add_length(a: Length, b: Length) -> Length | None:
    """Both together, the longer unit first: two years and three months."""
    if a.high or b.high or a.bound != "=" or b.bound != "=":
        return None
    units = [unit for unit, _ in (*a.parts, *b.parts)]
    return a.plus(b) if len(set(units)) == len(units) and "business_day" not in units else None


@function("length_range", gives="duration")
def length_range(low: Any, high: Length) -> Length | None:
    """Four to six business days: a number or a length, then the longer one."""
    if isinstance(low, Length):
        return replace(low, high=high) if low.high is None and high.high is None else None
    amount = fraction(low)
    if amount is None or high.high is not None or len(high.parts) != 1 or amount >= high.parts[0][1]:
        return None
    return Length(((high.parts[0][0], amount),), high=high)


@function("symbolic", gives="symbolic")
def symbolic(anchor: str, length: Length | None = None, sign: int = 1, operator: str = "=") -> Symbolic | None:
    """A time counted from an event: 30 days after the Effective Date."""
    if length is not None and length.high is not None:
        return None
    said: Bound = "=" if length is None else length.bound
    if sign < 0:
        said = TURNED[said]  # at least 30 days before expiry: up to expiry less 30 days
    return Symbolic(anchor, length, sign, cast(Bound, operator if operator != "=" else said))


@function("counted_event", gives="symbolic")
def counted_event(anchor: str, n: Any, unit: str, sign: int = 1) -> Symbolic | None:
    """The third anniversary of an event, the fifth business day after it."""
    number = n.day if isinstance(n, Time) else whole(n)
    if number is None or number < 1:
        return None
    made = unit_length(number, unit)
    return None if made is None else symbolic(anchor, made, sign)


@function("every", gives="repeat")
def every(unit: str, n: Any = 1) -> Recurrence | None:
    """Every unit, or every n units."""
    number = whole(n)
    return Recurrence(cast(Unit, unit), number) if number is not None and 1 <= number < 10_000 else None


@function("every_length", gives="repeat")
def every_length(length: Length) -> Recurrence | None:
    """Every ninety minutes, every half hour."""
    amounts = length.whole()
    if len(amounts) != 1 or length.high is not None:
        return None
    unit, amount = next(iter(amounts.items()))
    return Recurrence(unit, amount)


@function("each", gives="repeat")
def each(time: Any, unit: str | None = None, interval: Any = 1) -> Recurrence | None:
    """What repeats on the fields of a time: every Monday, the 15th of every month, each year on 1 May."""
    number = whole(interval) or 1
    if isinstance(time, Range):
        first, last = time.first.weekday, time.last.weekday
        if first is None or last is None or time.first.clocked or first >= last:
            return None
        return Recurrence("week", number, weekdays=tuple(range(first, last + 1)))
    if not isinstance(time, Time) or time.year is not None or time.within is not None:
        return None
    node = time.node
    fields: dict[str, Any] = {"clock": time.clock, "part": time.part, "month": time.month, "day": time.day}
    if isinstance(node, Nth) and node.weekday is not None and node.within is None:
        return Recurrence("month", number, (node.weekday,), position=node.n, **fields)
    if node is not None:
        return None
    if time.weekday is not None:
        return Recurrence("week", number, (time.weekday,), **fields)
    if time.month is not None:
        return Recurrence("year", number, **fields)
    if time.day is not None:
        return Recurrence(cast(Unit, unit or "month"), number, **fields)
    return Recurrence("day", number, **fields) if time.clocked else None


@function("weekdays", gives="repeat")
def weekdays(first: int, last: int) -> Recurrence:
    """Every working day (1 to 5), every day of the weekend (6 to 7)."""
    return Recurrence("week", 1, tuple(range(first, last + 1)))


_RHYTHMS: dict[str, tuple[Unit, int]] = {
    "two_days": ("day", 2),
    "fortnight": ("week", 2),
    "two_months": ("month", 2),
    "ten_days": ("day", 10),
}


@function("repeat", gives="repeat")
def repeat(rhythm: str) -> Recurrence:
    """A rhythm by name: a unit, a fortnight, two months."""
    unit, interval = _RHYTHMS.get(rhythm, (cast(Unit, rhythm), 1))
    return Recurrence(unit, interval)


@function("unit_length", gives="duration")
def unit_length(n: Any, unit: str, extra: Any = None) -> Length | None:
    """So many units, where a fortnight is two weeks."""
    if unit == "fortnight":
        amount = fraction(n)
        return None if amount is None else Length((("week", amount * 2),))
    return length(n, unit, extra)


@function("part_unit", gives="duration")
def part_unit(n: Any, unit: str, top: int, bottom: int) -> Length | None:
    """So many units and a fraction: two and a half years."""
    whole_units = fraction(n)
    if whole_units is None:
        return None
    return Length(((cast(Unit, unit), whole_units + Fraction(top, bottom)),))


_LETTERS: dict[str, Unit] = {"y": "year", "w": "week", "d": "day", "h": "hour", "m": "minute", "s": "second"}


@function("short_length", gives="duration")
def short_length(n: Any, letter: str) -> Length | None:
    """2w, 3d, 5h, 10m, 30s."""
    return length(whole(n), _LETTERS[letter.lower()])


@function("quarters", gives="duration")
def quarters(text: str) -> Length | None:
    """So many quarters of a year: five quarters are no fraction."""
    return length(SPOKEN.get(text.split()[0].lower()), "quarter")


@function("span_year", gives="span")
def span_year(said: Any, year_said: Time) -> Any:
    """A year said after a range of days."""
    if not isinstance(said, Range):
        return said
    if said.last.year is not None or said.last.month is None or said.last.clocked:
        return None
    return replace(said, last=replace(said.last, year=year_said.year))


@function("span_part", gives="span")
def span_part(said: Range, part_said: Time) -> Range | None:
    """Three to four in the afternoon."""
    if not isinstance(said, Range) or not said.last.clock or said.last.part or not said.first.clock:
        return None
    first = said.first if said.first.part or said.first.clock.meridiem else replace(said.first, part=part_said.part)
    return replace(said, first=first, last=replace(said.last, part=part_said.part))


@function("span_zone", gives="span")
def span_zone(said: Any, name: str) -> Range | None:
    """A time zone said after a range of clock times."""
    if not isinstance(said, Range) or not said.last.clocked or said.last.zone:
        return None
    return replace(said, last=replace(said.last, zone=name))


@function("span_for", gives="span")
def span_for(start: Any, lasting: Length) -> Any:
    """From a start for a length of time."""
    if isinstance(start, Invalid) or lasting.high is not None:
        return start if isinstance(start, Invalid) else None
    return Range(start, Time(), lasting=replace(lasting, bound="="))


@function("moment", gives="moment")
def moment(day_said: Any, clock_said: Any) -> Any:
    """A time of day on a day."""
    if isinstance(day_said, Invalid) or not isinstance(day_said, Time) or not isinstance(clock_said, Time):
        return day_said if isinstance(day_said, Invalid) else None
    node = day_said.node
    if isinstance(node, Shifted) and node.length.finest in ("hour", "minute", "second"):
        return None
    if (
        isinstance(node, Cycle)
        and node.unit not in ("day", "business_day")
        and not day_said.day
        and not day_said.weekday
    ):
        return None
    return merge(day_said, clock_said)


@function("within", gives="bounded")
def shift_bound(said: Length, operator: str) -> Any:
    """Within a length of time from now; working days keep their count, since holidays are not known here."""
    if said.bound != "=" or said.high is not None:
        return None
    if said.said == "business_day":
        return replace(said, bound=cast(Bound, operator))
    moved = shift(said, 1)
    return None if moved is None else replace(moved, bound=cast(Bound, operator))


@function("bound_on", gives="bounded")
def bound_on(day_said: Any, said: Any) -> Any:
    """A bound of a time of day on a day: Friday after 2 pm."""
    if isinstance(day_said, Invalid):
        return day_said
    if not isinstance(said, Time) or said.dated or not said.clocked or day_said.clocked:
        return None
    both = merge(day_said, replace(said, bound="="))
    return None if both is None else replace(both, bound=said.bound)
