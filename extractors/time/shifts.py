"""Functions of time grammars that count, name and cut periods."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from ...values import Bound
from ..parsing.expression import function
from .fields import whole
from .lengths import Length, Unit
from .nodes import (  # fmt: skip
    Containing,
    Cycle,
    Edge,
    Holiday,
    Invalid,
    Lunar,
    Nearest,
    Now,
    Nth,
    Season,
    Shifted,
    Stretch,
    Time,
    Which,
    Window,
    Years,
    merge,
)


@function("now", gives="moment")
def now() -> Time:
    """The moment of saying."""
    return Time(node=Now())


@function("cycle", gives="period")
def cycle(unit: str, n: Any = 0) -> Time | None:
    """This, the next, the last calendar unit."""
    number = whole(n)
    return None if number is None else Time(node=Cycle(cast(Unit, unit), number))


@function("holiday", gives="date")
def holiday(rule: str) -> Time:
    """A row of a holiday table."""
    return Time(node=Holiday(rule))


@function("season", gives="period")
def season(month_number: int) -> Time:
    """Three months from a month."""
    return Time(node=Season(month_number))


@function("lunar", gives="date")
def lunar(m: Any, d: Any = None, leap: bool = False) -> Time | None:
    """A day or month of the Chinese calendar."""
    months, days = whole(m), whole(d)
    if months is None or not 1 <= months <= 12 or (d is not None and (days is None or not 1 <= days <= 30)):
        return None
    return Time(node=Lunar(months, days, leap))


@function("years", gives="period")
def years(first: Any, count: int, pivot: int | None = None) -> Time | None:
    """A run of years: the nineties (with a pivot for two digits), the 21st century."""
    number = whole(first)
    if number is None:
        return None
    if number < 100 and count == 10:
        number += 2000 if pivot is not None and number < pivot else 1900
    if count == 10 and number % 100 == 0 and number < 2000:
        count = 100  # the 1700s are a century
    return Time(node=Years(number, count)) if 1 <= number <= 9000 else None


@function("century", gives="period")
def century(n: Any, tens: Any = None) -> Time | None:
    """The n-th century, or its decade (十九世纪七十年代)."""
    number, decade = n.day if isinstance(n, Time) else whole(n), whole(tens)
    if number is None or not 1 <= number <= 50 or (decade is not None and decade > 90):
        return None
    start = (number - 1) * 100
    return Time(node=Years(max(start, 1), 100) if decade is None else Years(start + decade, 10))


@function("sub", gives="period")
def sub(unit: str, n: Any) -> Time | None:
    """A quarter or half of a year."""
    number = whole(n)
    if number is None or not 1 <= number <= (4 if unit == "quarter" else 2):
        return None
    return Time(quarter=number) if unit == "quarter" else Time(half=number)


@function("edge", gives="date")
def edge(within: Time, where: str) -> Time | None:
    """The beginning, middle or end of a period; ``first`` and ``last`` mean its first and last day."""
    return None if within.clocked or isinstance(within.node, Now) else Time(node=Edge(where, within))


@function("nth", gives="date")
def nth(n: Any, what: Any, within: Time | None = None, count: Any = 1, thursday: bool = False) -> Time | None:
    """The n-th weekday or unit within a period, from its end when negative; ``thursday`` says where weeks belong."""
    number, many = n.day if isinstance(n, Time) else whole(n), whole(count)
    if number is None or number == 0 or many is None or not -400 < number < 400 or many < 1:
        return None
    if isinstance(what, Time):
        if what.weekday is None or replace(what, weekday=None) != Time():
            return None
        return Time(node=Nth(number, weekday=what.weekday, within=within))
    return Time(node=Nth(number, unit=cast(Unit, what), within=within, count=many, thursday=thursday))


@function("nearest", gives="date")
def nearest(what: Time, n: Any, base: Time | None = None, closest: bool = False) -> Time | None:
    """The n-th weekday after or before a day, or the closest one to it."""
    number = whole(n)
    if number is None or number == 0 or what.weekday is None:
        return None
    return Time(node=Nearest(what.weekday, number, base, closest))


@function("shift", gives="date")
def shift(length: Length, sign: int, base: Time | None = None) -> Time | None:
    """A time moved by a length: three days ago, two weeks after Easter."""
    if length.high is not None:
        return _shifted_between(length, sign) if base is None else None
    if not _reach(length):
        return None
    moved = Time(node=Shifted(replace(length, approx=False, bound="="), sign, base), approx=length.approx)
    if length.bound == "=":
        return moved
    return replace(moved, bound=length.bound if sign > 0 else TURNED[length.bound])  # more than a week ago: before


@function("window", gives="period")
def window(length: Length, sign: int, rolling: bool = False, base: Time | None = None) -> Time | None:
    """The last or next so many units."""
    if length.high is not None or not _reach(length) or not _years_to_come(length):
        return None
    return Time(node=Window(replace(length, approx=False), sign, rolling, base), approx=length.approx)


def _shifted_between(length: Length, sign: int) -> Time | None:
    """三四天后: between the nearer and the farther day."""
    assert length.high is not None
    ends = [shift(replace(part, high=None, approx=False), sign) for part in (length, length.high)]
    near, far = ends if sign > 0 else ends[::-1]
    return None if near is None or far is None else replace(stretch(near, far), approx=True)


TURNED: dict[Bound, Bound] = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}


def _reach(length: Length) -> bool:
    """Only lengths that stay within the calendar: 5,000,000 years ago is no date."""
    return all(abs(amount) < 100_000 for _, amount in length.parts) and length.whole().get("year", 0) < 5000


def _years_to_come(length: Length) -> bool:
    """False for 下 2009年: a year, not two thousand of them."""
    return length.whole().get("year", 0) < 500


@function("stretch", gives="period")
def stretch(first: Time, last: Time) -> Time:
    """From the start of one to the end of another, as one period."""
    return Time(node=Stretch(first, last))


@function("which")
def which(time: Time, word: str) -> Time | None:
    """This, next or last, said of a weekday, a month or a holiday."""
    return replace(time, which=cast(Which, word)) if time.which == "bare" and time.year is None else None


@function("backwards")
def backwards(n: Any) -> int | None:
    """Counted from the end, or back."""
    number = whole(n)
    return None if number is None else -number


@function("window_of", gives="period")
def window_of(length: Length, step: int) -> Time | None:
    """The last (-1) or next (+1) so many units."""
    return window(length, step) if step and len(length.parts) >= 1 else None


@function("year_sub", gives="period")
def year_sub(y: Any, unit: str, n: Any) -> Time | None:
    """A quarter or half of a year that is written with it: 2026Q3."""
    number, made = whole(y), sub(unit, n)
    if number is None or made is None:
        return None
    return replace(made, year=number + 2000 if number < 100 else number)


@function("unit_of", gives="period")
def unit_of(unit: str, base: Any) -> Time | None:
    """The week of 6 October."""
    return Time(node=Containing(cast(Unit, unit), base)) if isinstance(base, Time) and not base.clocked else None


@function("of_week", gives="date")
def of_week(weekday_said: Time, week: Time) -> Time | None:
    """A weekday of a week that is counted or named."""
    node = week.node
    of = node.unit if isinstance(node, Cycle | Nth | Containing) else None
    return within_period(weekday_said, week) if of in ("week", "weekend") and weekday_said.which == "bare" else None


@function("of_month", gives="date")
def of_month(day_said: Time, month_said: Time) -> Time | None:
    """A day of a month that is counted or named."""
    node = month_said.node
    if day_said.day is None or (node is None and month_said.month is None):
        return None
    counted = (isinstance(node, Cycle) and node.unit == "month") or isinstance(node, Shifted)
    return within_period(day_said, month_said) if node is None or counted or month_said.month else None


@function("of_year")
def of_year(inner: Any, year_said: Time) -> Any:
    """A month, a date, a quarter, a half or a holiday of a year that is counted or named."""
    if isinstance(inner, Invalid):
        return inner
    node = year_said.node
    counted = isinstance(node, Cycle) and node.unit == "year" and not year_said.calendar
    plain = node is None and year_said == Time(year=year_said.year) and year_said.year is not None
    if not (counted or plain) or inner.year is not None or inner.weekday is not None:
        return None
    if inner.month is None and inner.quarter is None and inner.half is None and inner.node is None:
        return None
    if inner.node is not None and not isinstance(inner.node, Holiday | Lunar | Season):
        return None
    return merge(inner, year_said)


@function("in_year_of", gives="date")
def in_year_of(holiday_said: Time, day_said: Time) -> Time | None:
    """Thanksgiving three years ago: the holiday of the year that is so far away."""
    node = day_said.node
    if not isinstance(node, Shifted) or node.base is not None or node.length.said != "year" or day_said.calendar:
        return None
    if holiday_said.within is not None or holiday_said.year is not None or len(node.length.parts) != 1:
        return None
    years = int(node.length.parts[0][1]) * node.sign
    return replace(holiday_said, within=Time(node=Cycle("year", years)))


@function("of_shift", gives="date")
def of_shift(weekday_said: Time, day_said: Time) -> Time | None:
    """Monday two weeks from now."""
    node = day_said.node
    if not isinstance(node, Shifted) or node.length.said not in ("week", "month", "year") or day_said.calendar:
        return None
    return merge(weekday_said, day_said)


@function("within_period")
def within_period(inner: Time, outer: Time) -> Time | None:
    """Calendar fields inside a counted period: Tuesday of next week, June of last year."""
    if outer.clocked or inner.node is not None or inner.within is not None or isinstance(outer.node, Now):
        return None
    return merge(inner, outer) or replace(inner, within=outer)
