"""Functions of time grammars that Chinese wording needs: the lunar calendar, hours in pairs, lengths, joined ranges."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from ..parsing.expression import function
from .fields import date, whole
from .forms import each, length, moment, range_on, shift_bound, span, span_part
from .lengths import Length
from .nodes import Cycle, Fiscal, Holiday, Invalid, Lunar, Range, Recurrence, Time, Years, merge  # fmt: skip
from .shifts import nth, of_year, shift


@function("year_chinese", gives="year")
def year_chinese(text: str) -> Time | None:
    """两千年, 两千零四年, 两千一十二年."""
    rest = whole(text.removeprefix("两千").lstrip("零〇") or "零")
    return None if rest is None else Time(year=2000 + rest)


@function("era_year", gives="year")
def era_year(first: int, n: Any) -> Time | None:
    """康熙三年: the n-th year of an era."""
    number = whole(n)
    return Time(year=first + number - 1) if number is not None and 1 <= number <= 64 else None


@function("same_month", gives="period")
def same_month(year_said: Time) -> Time | None:
    """去年本月: this month, so many years away."""
    node = year_said.node
    return Time(node=Cycle("month", 12 * node.n)) if isinstance(node, Cycle) and node.unit == "year" else None


@function("fiscal", gives="fiscal_year")
def fiscal(year_said: Any = None, n: int = 0) -> Time | None:
    """A fiscal year by its number, or counted from the present one."""
    number = year_said.year if isinstance(year_said, Time) else whole(year_said)
    return Time(node=Fiscal(number + 2000 if number is not None and number < 100 else number, n))


@function("fiscal_quarter", gives="fiscal_year")
def fiscal_quarter(said: Time, part_said: Time) -> Time | None:
    """A quarter or a half of a fiscal year."""
    node = said.node
    if not isinstance(node, Fiscal) or node.quarter or node.half or not (part_said.quarter or part_said.half):
        return None
    return Time(node=replace(node, quarter=part_said.quarter, half=part_said.half))


@function("workday_by", gives="date")
def workday_by(day_said: Any, n: Any) -> Time | None:
    """The n-th working day after (or before) a day or a holiday."""
    number = whole(n)
    made = length(abs(number), "business_day") if number else None
    if number is None or made is None or not isinstance(day_said, Time):
        return None
    return shift(made, 1 if number > 0 else -1, day_said)


@function("days_after", gives="date")
def days_after(day_said: Any, n: Any, long_ones: str = "") -> Time | None:
    """中秋节后第二天: the n-th day after a day; None after a festival (by its rule) with days off behind it."""
    number = whole(n)
    if number is None or number < 1 or not isinstance(day_said, Time) or day_said.clocked:
        return None
    node = day_said.node
    if isinstance(node, Holiday) and node.rule in long_ones.split("|"):
        return None
    made = length(number, "day")
    return shift(made, 1, day_said) if made is not None else None


@function("day_of_break", gives="date")
def day_of_break(stretch_said: Any, n: Any) -> Time | None:
    """国庆假期第三天, 国庆假期最后一天: a day of published days off."""
    node = stretch_said.node if isinstance(stretch_said, Time) else None
    if not isinstance(node, Holiday) or not node.rule.startswith("spans"):
        return None
    return nth(n, "day", stretch_said)


@function("also", gives="repeat")
def also(said: Recurrence, more: Any) -> Recurrence | None:
    """每月5号和20号, 每周二和周四, 每年3月和9月: a further day of the same rhythm."""
    if not isinstance(more, Time) or more.clocked or said.clock or said.part or said.workday:
        return None
    if more.weekday is not None and said.weekdays and said.position is None and more.weekday not in said.weekdays:
        return replace(said, weekdays=(*said.weekdays, more.weekday))
    if more == Time(day=more.day) and said.day is not None and said.month is None and more.day != said.day:
        return replace(said, also=(*said.also, more.day))  # type: ignore[arg-type]
    if more == Time(month=more.month) and said.month is not None and said.day is None and more.month != said.month:
        return replace(said, also=(*said.also, more.month))  # type: ignore[arg-type]
    return None


@function("weekday_list", gives="repeat")
def weekday_list(text: str, interval: int = 1) -> Recurrence | None:
    """每周一三五: several days of the week in their order."""
    days = tuple("一二三四五六日".index("日" if c == "天" else c) + 1 for c in text if c in "一二三四五六日天")
    return Recurrence("week", interval, days) if list(days) == sorted(set(days)) else None


@function("monthly_workday", gives="repeat")
def monthly_workday(n: Any, interval: int = 1) -> Recurrence | None:
    """The n-th working day of every month."""
    number = whole(n)
    return Recurrence("month", interval, workday=number) if number else None


@function("quarter_month_day", gives="repeat")
def quarter_month_day(n: Any, day_said: Any) -> Recurrence | None:
    """每季度首月10日, 每季度末月20日: a day of the n-th month of every quarter, from its end when negative."""
    number, day = whole(n), getattr(day_said, "day", None)
    if number is None or day is None or not 1 <= number % 4 <= 3:
        return None
    first = number if number > 0 else number + 4
    return Recurrence("month", 1, months=tuple(range(first, 13, 3)), day=day)


@function("run_on", gives="span")
def run_on(said: Any, more: Time) -> Range | None:
    """9月10号、11号、12号: days in a row are one stretch."""
    last = said.last if isinstance(said, Range) else said
    if not isinstance(last, Time) or last.clocked or last.day is None or more.day != last.day + 1:
        return None
    end = replace(last, day=more.day)
    return replace(said, last=end) if isinstance(said, Range) else Range(said, end)


@function("no_such_clock", gives="clock")
def no_such_clock(hour: str) -> Invalid:
    """下午25点."""
    return Invalid(f"there is no hour {hour}")


@function("same_day", gives="date")
def same_day(said: Time) -> Time | None:
    """去年的今天: the same day a year ago."""
    node = said.node
    if not isinstance(node, Cycle) or node.n == 0:
        return None
    made = length(abs(node.n), node.unit)
    return None if made is None else shift(made, 1 if node.n > 0 else -1)


@function("decades", gives="period")
def decades(hundred: str, first: str, last: str) -> Time | None:
    """二十世纪五六十年代."""
    number, one, two = 20 if hundred == "上" else whole(hundred), whole(first), whole(last)
    if number is None or one is None or two != one + 1:
        return None
    return Time(node=Years((number - 1) * 100 + 10 * one, 20))


@function("second", gives="date")
def second(_: Any, said: Any) -> Any:
    """What stands in brackets explains what stands before them."""
    return said


@function("either", gives="date")
def either(a: Time, b: Time) -> Time:
    """Two readings, the likelier first."""
    return replace(a, alternative=b)


@function("month_number")
def month_number(said: Time) -> int | None:
    """The number of a month."""
    return said.month


@function("lunar_of", gives="date")
def lunar_of(month_said: Time, day_said: Any = None) -> Time | None:
    """A month and day of the Chinese calendar from a month leaf and a day."""
    node = month_said.node
    months = node.month if isinstance(node, Lunar) else month_said.month
    days = day_said.day if isinstance(day_said, Time) else whole(day_said)
    if months is None or (day_said is not None and (days is None or not 1 <= days <= 30)):
        return None
    return Time(node=Lunar(months, days, isinstance(node, Lunar) and node.leap))


@function("with_lunar", gives="date")
def with_lunar(said: Any) -> Any:
    """二月二十七 without 日: the day of our calendar, the one of the Chinese calendar as a reading."""
    if not isinstance(said, Time) or said.month is None or said.day is None or said.day > 30:
        return said
    return replace(said, alternative=Time(node=Lunar(said.month, said.day)))


@function("holiday_only", gives="date")
def holiday_only(said: Any) -> Time | None:
    """农历 before the name of a day."""
    return said if isinstance(said, Time) and isinstance(said.node, Holiday) else None


@function("quarter_number")
def quarter_number(text: str) -> int | None:
    """一季度, 首季."""
    return 1 if text == "首" else whole(text)


@function("quarter_minutes")
def quarter_minutes(text: str) -> int | None:
    """Quarters of an hour in minutes."""
    n = whole(text)
    return None if n is None else 15 * n


@function("times")
def times(text: str, factor: int) -> int | None:
    """A numeral multiplied: 踏三 is a quarter past, a 字 is five minutes."""
    n = whole(text)
    return None if n is None else n * factor


@function("half_of")
def half_of(unit: str, n: int) -> int:
    """The denominator in a table of halves and quarters; 半年 is counted as one half-year."""
    return 1 if unit == "half" else n


@function("hour_pair", gives="span")
def hour_pair(a: str, b: str) -> Range | None:
    """七八点: from seven to eight."""
    first, last = whole(a), whole(b)
    if first is None or last != first + 1:
        return None
    from .nodes import Clock

    return Range(Time(clock=Clock(first)), Time(clock=Clock(last)), approx=True)


@function("zh_length", gives="duration")
def zh_length(n: Any, unit: str, half: bool = False) -> Length | None:
    """A Chinese duration; four-digit years are dates (2014年)."""
    extra = Fraction(1, 2) if half else None
    if unit == "quarter_hour":
        amount = whole(n)
        return None if amount is None else length(15 * amount, "minute")
    made = length(n, unit, extra)
    if made is None or (unit == "year" and made.parts[0][1] >= 300):
        return None
    if unit == "year" and made is not None and extra is None and made.high is None:
        years = made.parts[0][1]
        if 10 <= years < 100 and years.denominator == 1:  # 24年: the year 2024 stays a reading
            return replace(made, year=int(years) + (2000 if years < 50 else 1900))
    return made


@function("each_year", gives="repeat")
def each_year(said: Any) -> Recurrence | None:
    """Each year on a date, in a month, on a holiday."""
    if isinstance(said, Time) and isinstance(said.node, Holiday | Lunar) and not said.calendar:
        return Recurrence("year")
    return each(said)


@function("repeat_clock", gives="repeat")
def repeat_clock(said: Recurrence, time: Any) -> Recurrence | None:
    """A time of day, or the beginning of a stretch of the day, on what repeats."""
    first = time.first if isinstance(time, Range) else time
    if not isinstance(first, Time) or first.dated or said.clock or said.part:
        return None
    return replace(said, clock=first.clock, part=first.part)


@function("loose")
def loose(said: Any) -> Any:
    """ "2025年前": whether the year itself is meant stays a reading."""
    return said


@function("within_or_length", gives="bounded")
def within_or_length(said: Length) -> Any:
    """Within a length of time: from now on, but working days without an event stay a length."""
    return shift_bound(said, "<=")


@function("span_joined", gives="span")
def span_joined(a: Any, b: Any) -> Range | Invalid | None:
    """A range whose ends are no bare days in a row (15日、16日 is a list, 15日到16日 a range)."""
    return span(a, b)


@function("span_of_year", gives="span")
def span_of_year(said: Range, year_said: Time) -> Range | None:
    """A year said before a range of days or months."""
    if said.first.year is not None or said.first.clocked or said.lasting:
        return None
    first = of_year(said.first, year_said)
    return replace(said, first=first) if isinstance(first, Time) else None


@function("span_parts", gives="span")
def span_parts(said: Range, part_said: Time) -> Range | None:
    """下午三点到五点 read as a range of afternoon hours."""
    made = span_part(said, part_said) if said.last.clock and not said.last.part else None
    if made is not None:
        return made
    first = merge(said.first, part_said)
    return replace(said, first=first) if first is not None and said.first.clock else None


@function("span_on", gives="span")
def span_on(day_said: Any, said: Any = None, a: Any = None, b: Any = None) -> Any:
    """A range of clock times on a day, or from a moment to a clock time."""
    if said is not None:
        if isinstance(day_said, Invalid):
            return day_said
        return range_on(said, day_said)
    return span(moment(day_said, a) if a is not None else day_said, b)


@function("chinese")
def chinese(text: str) -> int | None:
    """Numerals of whole tens and hundreds: 六十, 一百八十."""
    head, hundred, tail = text.partition("百")
    if not hundred:
        return whole(text)
    hundreds, rest = whole(head), whole(tail) if tail else 0
    return None if hundreds is None or rest is None else hundreds * 100 + rest


__all__ = ["date", "lunar_of"]
