"""Days that return each year: the small language of holiday tables and the calendars behind it."""

from __future__ import annotations

import re
from datetime import date, timedelta
from functools import lru_cache

from .lengths import Impossible

_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_RULE = re.compile(
    r"^(?P<calendar>[a-z]+)(?: (?P<rest>.*?))?(?P<observed>(?: on [a-z]{3} [+-]\d)*)"
    r"(?: shift (?P<offset>[+-]?\d+))?(?: for (?P<days>\d+))?$"
)
_OBSERVED = re.compile(r" on ([a-z]{3}) ([+-]\d)")


@lru_cache(maxsize=4096)
def dates_of(rule: str, year: int) -> tuple[tuple[date, date], ...]:
    """First day and day after the last of the holiday in ``year``; empty when the year has none.

    ``fixed 12-25`` · ``nth 11 thu 4`` (-1: the last) · ``before 05-25 mon`` · ``after 11-01 tue`` · ``easter -2`` ·
    ``orthodox 0`` · ``lunar 8-15`` · ``term 清明`` · ``hebrew 7-1`` · ``islamic 9-1`` ·
    ``list 2026-11-08 …`` (days as published) · ``spans 2026-10-01..2026-10-07 …`` (stretches as published) ·
    ``every 4 2000 …`` (only each fourth year); then ``on sun +1`` (kept a day later when it is a Sunday),
    ``shift -1`` in days and a length, ``for 3``.
    """
    match = _RULE.match(rule)
    if match is None:
        raise ValueError(f"unreadable holiday rule {rule!r}")
    calendar, rest = match["calendar"], match["rest"] or ""
    if calendar == "spans":
        return spans_of(rest, year)
    if calendar == "every":
        step, first, inner = rest.split(" ", 2)
        return dates_of(f"{inner}{_tail(match)}", year) if (year - int(first)) % int(step) == 0 else ()
    shift, days = int(match["offset"] or 0), int(match["days"] or 1)
    kept = {_WEEKDAYS.index(name): int(by) for name, by in _OBSERVED.findall(match["observed"] or "")}
    days_of = _CALENDARS[calendar](rest, year)
    found = [day + timedelta(days=shift + kept.get(day.weekday(), 0)) for day in days_of]
    return tuple((day, day + timedelta(days=days)) for day in found)


_SPAN = re.compile(r"(\d{4}-\d{2}-\d{2})\.\.(\d{4}-\d{2}-\d{2})")


def spans_of(text: str, year: int) -> tuple[tuple[date, date], ...]:
    """Published stretches (first day, day after the last) that end in a year."""
    found = [(date.fromisoformat(a), date.fromisoformat(b)) for a, b in _SPAN.findall(text) if b.startswith(str(year))]
    return tuple((first, last + timedelta(days=1)) for first, last in found)


def _tail(match: re.Match[str]) -> str:
    """Shift and length of a rule, as written."""
    offset = f" shift {match['offset']}" if match["offset"] else ""
    return (match["observed"] or "") + offset + (f" for {match['days']}" if match["days"] else "")


def _fixed(rest: str, year: int) -> list[date]:
    month, day = map(int, rest.split("-"))
    try:
        return [date(year, month, day)]
    except ValueError:
        return []


def _nth(rest: str, year: int) -> list[date]:
    month, weekday, n = rest.split()
    return [nth_weekday(year, int(month), _WEEKDAYS.index(weekday), int(n))]


def nth_weekday(year: int, month: int, weekday: int, n: int) -> date:
    """The n-th weekday (Monday 0) of a month, from its end when negative."""
    first = date(year, month, 1)
    if n > 0:
        day = first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (n - 1))
    else:
        last = date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
        day = last - timedelta(days=(last.weekday() - weekday) % 7 + 7 * (-n - 1))
    if day.month != month:
        raise Impossible("the month has no such weekday")
    return day


def _before(rest: str, year: int) -> list[date]:
    day, weekday = rest.split()
    base = _fixed(day, year)[0] - timedelta(days=1)
    return [base - timedelta(days=(base.weekday() - _WEEKDAYS.index(weekday)) % 7)]


def _after(rest: str, year: int) -> list[date]:
    day, weekday = rest.split()
    base = _fixed(day, year)[0] + timedelta(days=1)
    return [base + timedelta(days=(_WEEKDAYS.index(weekday) - base.weekday()) % 7)]


def _list(rest: str, year: int) -> list[date]:
    return [date.fromisoformat(day) for day in rest.split() if day.startswith(f"{year}-")]


def _easter(rest: str, year: int) -> list[date]:
    """Western Easter (the anonymous Gregorian rule) and days from it."""
    a, (b, c) = year % 19, divmod(year, 100)
    d, e = divmod(b, 4)
    h = (19 * a + b - d - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    i, k = divmod(c, 4)
    weekday = (32 + 2 * e + 2 * i - h - k) % 7
    m = (a + 11 * h + 22 * weekday) // 451
    month, day = divmod(h + weekday - 7 * m + 114, 31)
    return [date(year, month, day + 1) + timedelta(days=int(rest or 0))] if year >= 1583 else []


def _orthodox(rest: str, year: int) -> list[date]:
    """Orthodox Easter (Meeus's Julian rule, moved into our calendar) and days from it."""
    d = (19 * (year % 19) + 15) % 30
    e = (2 * (year % 4) + 4 * (year % 7) - d + 34) % 7
    month, day = divmod(d + e + 114, 31)
    behind = year // 100 - year // 400 - 2
    return [date(year, month, day + 1) + timedelta(days=behind + int(rest or 0))] if year >= 1583 else []


def _lunar(rest: str, year: int) -> list[date]:
    month, day = map(int, rest.split("-"))
    try:
        return [lunar_days(year, month, day)[0]]
    except Impossible:
        return []


def _term(name: str, year: int) -> list[date]:
    from lunar_python import Lunar

    table = Lunar.fromYmd(year, 6, 1).getJieQiTable()
    days = {
        date(solar.getYear(), solar.getMonth(), solar.getDay()) for key, solar in table.items() if key in _names(name)
    }
    return sorted(day for day in days if day.year == year)


def _names(term: str) -> tuple[str, ...]:
    # lunar_python keys the terms that fall outside the lunar year by these names.
    doubles = {"冬至": "DONG_ZHI", "小寒": "XIAO_HAN", "大寒": "DA_HAN", "立春": "LI_CHUN", "雨水": "YU_SHUI",
               "惊蛰": "JING_ZHE", "大雪": "DA_XUE"}  # fmt: skip
    return (term, doubles[term]) if term in doubles else (term,)


def _hebrew(rest: str, year: int) -> list[date]:
    from convertdate import hebrew

    month, day = map(int, rest.split("-"))
    found = [date(*hebrew.to_gregorian(other, month, day)) for other in range(year + 3759, year + 3763)]
    return sorted(moment for moment in found if moment.year == year)


def _islamic(rest: str, year: int) -> list[date]:
    """All days of ``year`` that bear the date; a lunar year is shorter than ours, so there may be two."""
    month, day = map(int, rest.split("-"))
    guess = int((year - 622) * 33 / 32)
    found = [_islamic_month(other, month) + timedelta(days=day - 1) for other in range(guess - 1, guess + 3)]
    return sorted(moment for moment in found if moment.year == year)


def _islamic_month(year: int, month: int) -> date:
    """The first day of a month: the day after the new moon, which of 22 feasts of 2015-2025 fits 21.

    The tabular calendar, a day late as often as not, only says which new moon is meant.
    """
    from convertdate import islamic
    from lunar_python import Solar

    table = date(*islamic.to_gregorian(year, month, 1))
    for days in (-1, -2, 0, -3, 1, -4, 2):
        moon = table + timedelta(days=days)
        if Solar.fromYmd(moon.year, moon.month, moon.day).getLunar().getDay() == 1:
            return moon + timedelta(days=1)
    return table


_CALENDARS = {
    "fixed": _fixed,
    "nth": _nth,
    "before": _before,
    "after": _after,
    "list": _list,
    "easter": _easter,
    "orthodox": _orthodox,
    "lunar": _lunar,
    "term": _term,
    "hebrew": _hebrew,
    "islamic": _islamic,
}


# Years with a leap month, by its number (1950 to 2100, by lunar_python 1.4.8): to ask the calendar for each is slow.
LEAP_MONTHS: dict[int, tuple[int, ...]] = {
    2: (2004, 2023, 2042, 2099),
    3: (1955, 1966, 1993, 2031, 2050, 2061, 2080),
    4: (1963, 1974, 1982, 2001, 2012, 2020, 2058, 2069, 2077, 2088, 2096),
    5: (1952, 1971, 1990, 1998, 2009, 2028, 2039, 2047, 2066, 2085),
    6: (1960, 1979, 1987, 2017, 2025, 2036, 2055, 2074, 2093),
    7: (1968, 2006, 2044, 2063, 2082),
    8: (1957, 1976, 1995, 2052, 2071, 2090),
    9: (2014,),
    10: (1984,),
    11: (2033,),
}


@lru_cache(maxsize=1024)
def lunar_days(year: int, month: int, day: int | None, leap: bool = False) -> tuple[date, date]:
    """First day and day after the last of a day (or month) of the Chinese calendar."""
    from lunar_python import Lunar, LunarMonth

    number = -month if leap else month
    moon = LunarMonth.fromYm(year, number)
    if moon is None:
        raise Impossible("the Chinese year has no such month")
    length = moon.getDayCount()
    if day is not None and day > length:
        raise Impossible(f"that month of the Chinese calendar has {length} days")
    solar = Lunar.fromYmd(year, number, day or 1).getSolar()
    first = date(solar.getYear(), solar.getMonth(), solar.getDay())
    return first, first + timedelta(days=length if day is None else 1)
