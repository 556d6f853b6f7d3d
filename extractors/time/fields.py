"""Functions of time grammars that make calendar fields and times of day from words and numbers."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast

from ..parsing.expression import function
from .nodes import Clock, Holiday, Invalid, PartOfDay, Time, merge

_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
    "○": 0,
    "元": 1,
    "正": 1,
    "冬": 11,
    "腊": 12,
}
_TENS = {"廿": 20, "卅": 30, "初": 0}


@function("whole")
def whole(number: Any) -> int | None:
    """An int from digits, from Chinese numerals up to 99 or digit by digit, or from a parsed number."""
    if number is None or isinstance(number, int):
        return number
    if isinstance(number, str):
        return int(number) if number.isascii() and number.isdigit() else _chinese(number)
    amount = getattr(number, "amount", None)
    if amount is None or amount != int(amount):
        return None
    return int(amount)


def _chinese(text: str) -> int | None:
    if text[:1] in _TENS:
        tail = _chinese(text[1:]) if text[1:] else 0
        return None if tail is None else _TENS[text[0]] + tail
    if "十" in text:
        before, _, after = text.partition("十")
        tens, ones = _DIGITS.get(before, None if before else 1), _DIGITS.get(after, None if after else 0)
        return None if tens is None or ones is None else tens * 10 + ones
    if any(c not in _DIGITS and not c.isdigit() for c in text) or not text:
        return None
    return int("".join(c if c.isdigit() else str(_DIGITS[c]) for c in text))


def fraction(number: Any) -> Fraction | None:
    """An exact amount from digits or a parsed number."""
    if isinstance(number, int | Decimal | Fraction):
        return Fraction(number)
    if isinstance(number, str):
        n = whole(number)
        return None if n is None else Fraction(n)
    amount = getattr(number, "amount", None)
    return None if amount is None else Fraction(amount)


@function("weekday", gives="weekday")
def weekday(n: int) -> Time:
    """A day of the week, Monday 1."""
    return Time(weekday=n)


@function("month", gives="month")
def month(n: Any) -> Time | None:
    """A month by number."""
    number = whole(n)
    return Time(month=number) if number is not None and 1 <= number <= 12 else None


@function("day", gives="day_of_month")
def day(n: Any) -> Time | None:
    """A day of the month; -1 is the last."""
    number = whole(n)
    return Time(day=number) if number is not None and (1 <= number <= 31 or number == -1) else None


@function("year", gives="year")
def year(n: Any, pivot: int | None = None) -> Time | None:
    """A year; with ``pivot`` two digits below it are 20xx, the others 19xx."""
    number = whole(n)
    if number is not None and number < 100:
        if pivot is None:
            return None
        number += 2000 if number < pivot else 1900
    return Time(year=number) if number is not None and 1 <= number <= 9998 else None


_ONES = ("oh", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
         "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")  # fmt: skip
_TENTHS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
SPOKEN = {word: n for n, word in enumerate(_ONES)} | {word: 10 * n for n, word in enumerate(_TENTHS, 2)}


@function("spoken_year", gives="year")
def spoken_year(text: str) -> Time | None:
    """A year in words: nineteen ninety-nine, two thousand and twenty, twenty oh five."""
    words = [w for w in text.lower().replace("-", " ").split() if w not in ("and", "zero")]
    total = 0
    for n, word in enumerate(words):
        if word not in ("thousand", "hundred"):
            scale = words[n + 1] if n + 1 < len(words) else ""
            first = 100 if n == 0 else 1  # nineteen eighty-four
            total += SPOKEN[word] * {"thousand": 1000, "hundred": 100}.get(scale, first)
    return Time(year=total) if 1000 <= total <= 2199 else None


@function("plus_years", gives="year")
def plus_years(n: Any, add: int) -> Time | None:
    """A year of another count: 民国 113 is 2024, B.E. 2555 is 2012."""
    number = whole(n)
    return Time(year=number + add) if number is not None and 1 <= number + add <= 9998 else None


@function("date", gives="date")
def date(y: Any = None, m: Any = None, d: Any = None, pivot: int = 50) -> Time | Invalid | None:
    """A date from its numbers; one that no calendar has is kept as invalid."""
    years, months, days = whole(y), whole(m), whole(d)
    if years is not None and years < 100:
        made = year(years, pivot)
        years = made.year if made is not None else None
    wrong = _wrong(years, months, days)
    return Invalid(wrong) if wrong else Time(year=years, month=months, day=days)


def _wrong(years: int | None, months: int | None, days: int | None) -> str | None:
    """Why the calendar has no such day."""
    if months is not None and not 1 <= months <= 12:
        return f"there is no month {months}"
    if months is not None and days is not None:
        try:
            datetime(years or 2024, months, days)  # noqa: DTZ001 - a calendar check, no moment
        except ValueError:
            return f"month {months} has no day {days}"
    return None


@function("numeric_date", gives="date")
def numeric_date(a: Any, b: Any, y: Any = None, order: str = "") -> Time | Invalid | None:
    """Two numbers and a year: the order of day and month comes from the locale where both are possible."""
    one, two = whole(a), whole(b)
    if one is None or two is None:
        return None
    month_first, day_first = date(y, one, two), date(y, two, one)
    if order == "dmy" or isinstance(month_first, Invalid):
        return day_first if isinstance(day_first, Time) or order == "dmy" else month_first
    if order == "mdy" or isinstance(day_first, Invalid) or one == two or month_first is None:
        return month_first
    return replace(month_first, alternative=cast(Time, day_first))


@function("short_date", gives="date")
def short_date(a: Any, b: Any, c: Any) -> Time | Invalid | None:
    """Three numbers of two digits; the year may stand last or first."""
    last, first = numeric_date(a, b, c), date(a, b, c)
    if not isinstance(last, Time) or not isinstance(first, Time):
        return first if isinstance(first, Time) else last
    return replace(last, year_first=first)


@function("clock", gives="clock")
def clock(h: Any, m: Any = None, s: Any = None, half: str | None = None, exact: bool = False) -> Time | None:
    """A time of day; ``half`` is am, pm or None; ``exact`` when 24 hours are written (08:00, 16h)."""
    hour, minute, second = whole(h), whole(m), whole(s)
    if hour is None or hour > 24 or (minute or 0) > 59 or (second or 0) > 59:
        return None
    side = cast(Any, {"a": "am", "p": "pm"}.get((half or "")[:1].lower()))
    if side and not 1 <= hour <= 12:
        if hour or side == "pm":
            return None
        side = None  # 0:01 am
        exact = True
    exact = exact or (isinstance(h, str) and len(h) == 2 and h[0] == "0")
    return Time(clock=Clock(hour, minute, second, side, exact))


@function("clock_shift", gives="clock")
def clock_shift(time: Time, minutes: Any) -> Time | None:
    """Minutes after (or before) an hour: half past three, a quarter to noon."""
    amount = whole(minutes)
    if time.clock is None or amount is None or time.clock.minute:
        return None
    total = time.clock.hour * 60 + amount
    if total < 0:
        total += 1440 if time.clock.exact else 720  # a quarter to midnight
    return replace(time, clock=replace(time.clock, hour=total // 60, minute=total % 60))


@function("meridiem", gives="clock")
def meridiem(time: Time, half: str) -> Time | None:
    """am or pm added to a clock."""
    if time.clock is None or time.clock.meridiem or not 1 <= time.clock.hour <= 12:
        return None
    side = "am" if half[:1].lower() == "a" else "pm"
    return replace(time, clock=replace(time.clock, meridiem=cast(Any, side), exact=False))


@function("part", gives="part_of_day")
def part(start: Any, end: Any, name: str = "") -> Time:
    """A part of the day from hour to hour."""
    return Time(part=PartOfDay(Fraction(str(start)), Fraction(str(end)), name))


@function("zone")
def zone(time: Any, name: str | None) -> Any:
    """A time zone said with a time."""
    if name is None or not isinstance(time, Time):
        return time
    return replace(time, zone=name if "/" in name else name.upper()) if time.clocked and time.zone is None else None


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


@function("month_named")
def month_named(name: str) -> int:
    """The number of an English month by its first three letters."""
    return _MONTHS.index(name[:3].lower()) + 1


@function("date_named", gives="date")
def date_named(y: Any, a: str, b: str) -> Time | Invalid | None:
    """A year, then a day and a named month in either order."""
    return date(y, month_named(a), b) if a[:1].isalpha() else date(y, month_named(b), a)


@function("day_and_month", gives="date")
def day_and_month(a: str, b: str) -> Time | Invalid | None:
    """A day and a named month in either order."""
    return date(None, month_named(a), b) if a[:1].isalpha() else date(None, month_named(b), a)


@function("on_day", gives="date")
def on_day(month_said: Time, day_said: Time) -> Time | Invalid | None:
    """A day of a month."""
    return date(None, month_said.month, day_said.day)


@function("dated_year", gives="date")
def dated_year(a: Any, year_said: Time) -> Time | Invalid | None:
    """A year added to a date or to a holiday."""
    if isinstance(a, Invalid):
        return a
    if a.month is None and not isinstance(a.node, Holiday):
        return None
    both = merge(a, year_said)
    wrong = _wrong(both.year, both.month, both.day) if both is not None else None
    return Invalid(wrong) if wrong else both


@function("weekday_of", gives="date")
def weekday_of(day_said: Any, weekday_said: Time) -> Time | Invalid | None:
    """A weekday said with a date."""
    if isinstance(day_said, Invalid):
        return day_said
    single = day_said.day is not None or isinstance(day_said.node, Holiday)
    return merge(day_said, weekday_said) if single or day_said.node is not None else None


@function("formal", gives="date")
def formal(text: str, language: str) -> Time | Invalid | None:
    """A formal absolute date in another language, classified by the grammar and read by dateparser."""
    import dateparser

    # STRICT_PARSING and the base keep dateparser from guessing a missing part or a relative meaning.
    found = dateparser.parse(
        text,
        languages=[language],
        settings={
            "STRICT_PARSING": True,
            "RELATIVE_BASE": datetime(2000, 1, 1),  # noqa: DTZ001 - never used: all parts are required
            "PARSERS": ["absolute-time"],
            "DATE_ORDER": "DMY",
        },
    )
    return None if found is None else Time(year=found.year, month=found.month, day=found.day)
