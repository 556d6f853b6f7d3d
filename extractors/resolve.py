"""From constraints to calendar: a Time becomes the period it means and the other periods it could mean."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from .time.counted import COUNTED
from .time.holidays import LEAP_MONTHS, dates_of, lunar_days
from .time.lengths import Impossible, Unit, Unplaced, coarser
from .time.nodes import (  # fmt: skip
    Clock,
    Cycle,
    Edge,
    Fiscal,
    Holiday,
    Lunar,
    Node,
    Nth,
    Season,
    Shifted,
    Stretch,
    Time,
    Which,
    hour24,
)
from .time.periods import Period, add_months, calendar, day_of, floor, midnight, month_of, unit_at, wall
from .time.workdays import Workdays, by_workdays, counts_workdays

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Policy:
    """What a bare expression means; the values stand in the rule file ``time.policy`` with their reasons."""

    recent_past_days: int = 0
    recent_holiday_days: int = 0  # the same for days that bear a name
    this_year_until: int = 0  # a yearless date is this year's unless the next one is nearer than so many days; 0: off
    season_terms: bool = False  # spring from 立春 to 立夏 is a reading
    year_first: bool = False  # 26-3-15 is 15 March 2026
    workdays: Workdays = field(default_factory=Workdays)
    fiscal_year_start: int = 0  # the month in which the fiscal year begins; 0: not known, it stays symbolic
    same_weekday: str = "next"  # "Friday" said on a Friday: next | today
    next_weekday: str = "next_week"  # "next Tuesday": next_week | coming
    afternoon_until: int = 0  # an hour up to this one without am/pm is in the afternoon
    day_first_locales: tuple[str, ...] = ()


def resolve(time: Time, now: datetime, policy: Policy) -> list[Period]:
    """The periods a dated time can mean, the likeliest first; raises Impossible when the calendar has none."""
    found = _unclocked(replace(time, alternative=None), now, policy)
    other = time.alternative
    while other is not None:
        with suppress(Impossible):  # 13/05: only one order of day and month exists
            found = found + _unclocked(replace(other, alternative=None), now, policy)
        other = other.alternative
    if not time.clocked:
        return _unique(found)
    return _unique(_possible(lambda period: on_day(time, period, now, policy), found))


def _unique(periods: list[Period]) -> list[Period]:
    seen: list[Period] = []
    for period in periods:
        if not any(p.start == period.start and p.end == period.end for p in seen):
            seen.append(period)
    return seen


def _unclocked(time: Time, now: datetime, policy: Policy) -> list[Period]:
    """Days and longer periods, before a time of day is put on them."""
    if time.node is None and time.within is None:
        return _fields(time, now, policy)
    node = time.node
    if node is None:
        assert time.within is not None
        return _possible(lambda p: [refine(time, p)], resolve(time.within, now, policy))
    if isinstance(node, Holiday):
        return _holiday(node, time, now, policy)
    if isinstance(node, Lunar):
        return _lunar(node, time, now, policy)
    if isinstance(node, Fiscal):
        return [_fiscal(node, now, policy)]
    if isinstance(node, Season):
        return _season(node, time, now, policy)
    if isinstance(node, Stretch):
        ends = (resolve(node.first, now, policy)[0], resolve(node.last, now, policy)[0])
        return [Period(ends[0].start, ends[1].end, ends[0].grain, single=False)]
    inner = node.within if isinstance(node, Nth | Edge) else getattr(node, "base", None)
    if counts_workdays(node):
        outer = resolve(inner, now, policy) if inner is not None else []
        if not outer and isinstance(node, Nth):
            outer = [unit_at(now, "month")]
        periods = (
            _possible(lambda p: by_workdays(node, [p], now, policy.workdays), outer)
            if outer
            else by_workdays(node, [], now, policy.workdays)
        )
    elif inner is None:
        periods = COUNTED[type(node)](node, [], now)
    else:
        periods = _possible(lambda p: COUNTED[type(node)](node, [p], now), resolve(inner, now, policy))
    if isinstance(node, Cycle) and node.unit == "day" and not time.calendar:
        return periods
    if isinstance(node, Cycle) and node.unit == "week" and node.n == 0 and time.weekday is not None:
        periods = [periods[0], unit_at(now + timedelta(days=7), "week")]  # "this Monday" said on Tuesday
    return _possible(lambda p: [refine(time, _widened(time, node, p))], periods)


def _possible(make: Callable[[Period], list[Period]], periods: list[Period]) -> list[Period]:
    """What comes of each period, without the readings that the calendar does not have; Impossible when none is left."""
    found: list[Period] = []
    why: Impossible | None = None
    for period in periods:
        try:
            found.extend(make(period))
        except Impossible as error:
            why = why or error
    if not found and why is not None:
        raise why
    return found


def _widened(time: Time, node: Node, period: Period) -> Period:
    """The container in which the fields count: "Monday two weeks from now" is the Monday of that week."""
    if not isinstance(node, Shifted):
        return period
    if time.month is not None:
        return unit_at(period.start, "year")
    if time.day is not None:
        return unit_at(period.start, "month")
    if time.weekday is not None:
        return unit_at(period.start, "week")
    return period


def refine(time: Time, period: Period) -> Period:
    """The part of ``period`` that the calendar fields name; Impossible when the fields do not fit into it."""
    if time.year is not None and coarser(period.grain, "year"):
        period = unit_at(calendar(time.year), "year")
    if time.half is not None:
        period = _sub(period, "half", 6, time.half)
    if time.quarter is not None:
        period = _sub(period, "quarter", 3, time.quarter)
    if time.month is not None:
        if not coarser(period.grain, "month"):
            if period.start.month != time.month:
                raise Unplaced("the month does not lie in that period")
        else:
            period = month_of(period.start.year, time.month)
    if time.day is not None:
        if coarser(period.grain, "month"):
            raise Unplaced("a day needs a month")
        if period.grain == "day":
            if period.start.day != time.day:
                raise Unplaced("the day does not fit")
        else:
            period = _day_in(period, time.day)
    if time.weekday is not None:
        period = _weekday_in(period, time.weekday)
    return period


def _sub(period: Period, unit: Unit, months: int, n: int) -> Period:
    """The n-th half or quarter of a year."""
    start = unit_at(period.start, "year").start
    return unit_at(add_months(start, months * (n - 1)), unit)


def _day_in(period: Period, day: int) -> Period:
    if period.grain == "week":
        inside = [period.start + timedelta(days=n) for n in range(7)]
        fitting = [moment for moment in inside if moment.day == day]
        if not fitting:
            raise Unplaced("that week has no such day")
        return day_of(fitting[0])
    if day < 0:
        return day_of(period.end + day * _DAY)
    return day_of(calendar(period.start.year, period.start.month, day))


def _weekday_in(period: Period, weekday: int) -> Period:
    """The first such weekday of the period; a single day stays as it is even when its weekday is said wrongly."""
    if period.end - period.start <= _DAY:
        return period
    return day_of(period.start + timedelta(days=(weekday - 1 - period.start.weekday()) % 7))


# ---------------------------------------------------------------- bare calendar fields
def _fields(time: Time, now: datetime, policy: Policy) -> list[Period]:
    if time.year is not None:
        return [refine(replace(time, year=None), unit_at(calendar(time.year), "year"))]
    year = now.year
    if time.month is not None:
        if time.day is not None:
            _possible_day(time.month, time.day)
        if time.bound in ("<", "<="):
            policy = replace(policy, this_year_until=0, recent_past_days=0)  # a time limit lies ahead
        return _returning(lambda n: refine(time, unit_at(calendar(year + n), "year")), time.which, now, policy)
    if time.day is not None:
        month = floor(now, "month")
        found = _returning(lambda n: refine(time, unit_at(add_months(month, n), "month")), time.which, now, None)
        if time.weekday is not None:
            return _on_weekday(replace(time, weekday=None), time.weekday, month) + found
        return found
    if time.quarter is not None or time.half is not None:
        return [refine(time, unit_at(calendar(year + n), "year")) for n in _order(time.which)]
    if time.weekday is not None:
        return _weekday(time.weekday, time.which, now, policy)
    raise Unplaced("no date is said")


def _on_weekday(time: Time, weekday: int, month: datetime) -> list[Period]:
    """ "Tuesday the 19th": the coming and the last 19th that is a Tuesday."""
    fitting = []
    for months in (range(25), range(-1, -25, -1)):
        for n in months:
            with suppress(Impossible):
                day = refine(time, unit_at(add_months(month, n), "month"))
                if day.start.isoweekday() == weekday:
                    fitting.append(day)
                    break
    return fitting


def _order(which: Which) -> tuple[int, ...]:
    """Years in the order of likelihood, counted from this one."""
    return {"bare": (0, 1, -1), "this": (0,), "next": (1,), "last": (-1,)}[which]


def _possible_day(month: int, day: int) -> None:
    """31 April exists in no year; 29 February does in some."""
    if not 1 <= month <= 12:
        raise Impossible(f"there is no month {month}")
    calendar(2024, month, day) if day > 0 else None


def _returning(at: Callable[[int], Period], which: Which, now: datetime, policy: Policy | None) -> list[Period]:
    """What returns each year (or month): the coming one first, unless the last one has only just passed."""
    candidates: list[Period] = []
    for n in range(-8, 9):
        if -1 <= n <= 1 or len(candidates) < 3 or candidates[-1].end <= now:
            try:
                candidates.append(at(n))
            except Impossible:
                continue  # 29 February, the 31st: not in every year or month
    today = midnight(now)
    past = [p for p in candidates if p.end <= today]
    coming = [p for p in candidates if p.end > today]
    if not coming:
        raise Impossible("no year near now has that day")
    if which == "last":
        return past[-1:] or coming[:1]
    if which == "next":
        later = [p for p in coming if p.start > now]
        return later[:2]
    if which == "this":
        return sorted(candidates, key=lambda p: abs(p.start.year - now.year))[:1]
    if policy is not None and past and coming[0].start > today and _just_passed(past[-1], coming[0], today, policy):
        return [past[-1], *coming[:1]]
    return coming[:1] + past[-1:] + coming[1:2]


def _just_passed(past: Period, coming: Period, today: datetime, policy: Policy) -> bool:
    """Whether the last occurrence is meant rather than the coming one."""
    if policy.this_year_until and past.start.year == today.year < coming.start.year:
        return (coming.start - today).days >= policy.this_year_until
    return (today - past.end).days < policy.recent_past_days


def _weekday(weekday: int, which: Which, now: datetime, policy: Policy) -> list[Period]:
    today, monday = midnight(now), floor(now, "week")
    of_week = day_of(monday + timedelta(days=weekday - 1))
    ahead = (weekday - 1 - today.weekday()) % 7
    coming = day_of(today + timedelta(days=ahead or 7))
    before = day_of(today - timedelta(days=(today.weekday() - weekday + 1) % 7 or 7))
    following = day_of(of_week.start + timedelta(days=7))
    if which == "this":
        return _unique([of_week, coming, before])
    if which == "next":
        return _unique([following, coming] if policy.next_weekday == "next_week" else [coming, following])
    if which == "last":
        return _unique([before, day_of(of_week.start - timedelta(days=7))])
    if ahead == 0 and policy.same_weekday == "today":
        return [day_of(today), coming, before]
    return _unique([coming, *([day_of(today)] if ahead == 0 else []), before])


# ---------------------------------------------------------------- days of a table
def _years_said(time: Time, now: datetime, policy: Policy) -> Period | None:
    """The period in which a named day is looked for, when one is said."""
    if time.year is not None:
        return unit_at(calendar(time.year), "year")
    if time.within is not None:
        return resolve(time.within, now, policy)[0]
    return None


def _holiday(node: Holiday, time: Time, now: datetime, policy: Policy) -> list[Period]:
    outer = _years_said(time, now, policy)

    def of_year(year: int) -> list[Period]:
        return [Period(wall(a), wall(b), "day", (b - a).days == 1) for a, b in dates_of(node.rule, year)]

    if outer is not None:
        found = [p for year in range(outer.start.year, outer.end.year + 1) for p in of_year(year)]
        found = [p for p in found if outer.start <= p.start < outer.end]
        if not found:
            raise Impossible("that year has no such day")
        return _variants(node.rule, time, found)
    days = sorted((p for n in (-1, 0, 1) for p in of_year(now.year + n)), key=lambda p: p.start)
    if not days or not days[0].end <= midnight(now) < days[-1].end:  # only each fourth year
        days = sorted((p for n in range(-12, 13) for p in of_year(now.year + n)), key=lambda p: p.start)
    which = node.which if node.which != "bare" else time.which
    past = [p for p in days if p.end <= midnight(now)]
    coming = [p for p in days if p.end > midnight(now)]
    if which == "last":
        chosen = past[-1:]
    elif which == "this":
        chosen = [p for p in days if p.start.year == now.year]
    elif which == "next":
        chosen = [p for p in coming if p.start > now][:2]
    elif node.rule.startswith(("list ", "spans ")) and not coming and len(days) > 1:
        raise Impossible("that day is not published yet")
    elif (
        past
        and coming
        and (midnight(now) - past[-1].end).days < policy.recent_holiday_days < (coming[0].start - now).days
    ):
        chosen = [past[-1], coming[0]]
    else:
        chosen = coming[:1] + past[-1:] + coming[1:2]
    if not chosen:
        raise Impossible("no such day near now")
    return _variants(node.rule, time, chosen)


def _variants(rule: str, time: Time, periods: list[Period]) -> list[Period]:
    """The days themselves, then their first day, then the eve: days counted by the moon begin in the evening before."""
    found = [_inside(time, p) for p in periods] + [day_of(p.start) for p in periods if not p.single]
    if rule.startswith(("hebrew", "islamic")):
        found += [replace(p, start=p.start - _DAY, end=p.end - _DAY) for p in periods[:1]]
    return _unique(found)


def _inside(time: Time, period: Period) -> Period:
    return _weekday_in(period, time.weekday) if time.weekday is not None else period


def _lunar_years(node: Lunar, year: int) -> list[int]:
    """The years round this one; of a leap month the last and the next that have it."""
    if not node.leap:
        return [year - 1, year, year + 1]
    known = LEAP_MONTHS.get(node.month, ())
    return [y for y in known if y <= year][-1:] + [y for y in known if y > year][:1]


def _lunar(node: Lunar, time: Time, now: datetime, policy: Policy) -> list[Period]:
    outer = _years_said(time, now, policy)
    years = [outer.start.year] if outer is not None else _lunar_years(node, now.year)
    day = node.day if node.day is not None else time.day
    found: list[Period] = []
    why = "no such day in the Chinese calendar"
    for year in years:
        try:
            a, b = lunar_days(year, node.month, day, node.leap)
        except Impossible as error:
            why = str(error)
            continue
        single = day is not None
        found.append(Period(wall(a), wall(b), "day", single))
    if not found:
        raise Impossible(why)
    if outer is not None:
        return found
    today = midnight(now)
    past, coming = [p for p in found if p.end <= today], [p for p in found if p.end > today]
    nearer = node.leap and past and coming and today - past[-1].end < coming[0].start - today
    if past and (not coming or nearer or _just_passed(past[-1], coming[0], today, policy)):
        return past[-1:] + coming[:1]
    return coming[:1] + past[-1:]


def _season(node: Season, time: Time, now: datetime, policy: Policy) -> list[Period]:
    outer = _years_said(time, now, policy)

    def of_year(year: int) -> Period:
        start = calendar(year, node.month)
        return Period(start, add_months(start, 3), "season")

    if outer is not None:
        found = [of_year(outer.start.year)]
    else:
        which = node.which if node.which != "bare" else time.which
        found = _returning(lambda n: of_year(now.year + n), which, now, policy)
    if policy.season_terms:
        found.insert(1, _by_terms(node.month, found[0].start.year))
    return found


def _fiscal(node: Fiscal, now: datetime, policy: Policy) -> Period:
    """A fiscal year, its quarter or half; it bears the number of the calendar year in which it ends."""
    begins = policy.fiscal_year_start
    turn = 0 if begins == 1 else 1
    year = node.year
    if year is None:
        year = now.year + (turn if now.month >= begins else 0) + node.n
    start = calendar(year - turn, begins)
    if node.quarter:
        start = add_months(start, 3 * (node.quarter - 1))
        return Period(start, add_months(start, 3), "quarter", single=begins % 3 == 1)
    if node.half:
        start = add_months(start, 6 * (node.half - 1))
        return Period(start, add_months(start, 6), "half", single=begins in (1, 7))
    return Period(start, add_months(start, 12), "year" if begins == 1 else "month", single=begins == 1)


_TERMS = {3: "立春", 6: "立夏", 9: "立秋", 12: "立冬"}


def _by_terms(month: int, year: int) -> Period:
    """The season from its solar term to the next one's."""
    first = dates_of(f"term {_TERMS[month]}", year)[0][0]
    after = dates_of(f"term {_TERMS[month % 12 + 3]}", year + (month == 12))[0][0]
    return Period(wall(first), wall(after), "day", single=False)


# ---------------------------------------------------------------- times of day
def on_day(time: Time, period: Period, now: datetime, policy: Policy) -> list[Period]:
    """A time of day put on a day; on a longer period it has no place."""
    if period.clocked or period.end - period.start > _DAY:
        raise Unplaced("a time of day needs a single day")
    day = period.start
    if time.clock is None:
        assert time.part is not None
        found = [_part_on(day, time)]
        if time.part.start >= 24:  # 前天后半夜: the night after that day, or its own small hours
            found += [replace(p, start=p.start - _DAY, end=p.end - _DAY) for p in found]
        return found
    hours = hours_of(time, policy)
    if len(hours) > 1 and day == midnight(now):  # "today at 3" said at ten is the one to come
        minute = time.clock.minute or 0
        hours = sorted(hours, key=lambda h: day + timedelta(hours=h, minutes=minute) < now)
    found = [clock_on(day, time.clock, hour) for hour in hours]
    return found + [clock_on(day, time.clock, hour - 24) for hour in hours if hour > 24]  # 半夜一点: of which night


def _part_on(day: datetime, time: Time) -> Period:
    assert time.part is not None
    start = day + timedelta(minutes=round(time.part.start * 60))
    return Period(start, day + timedelta(minutes=round(time.part.end * 60)), "hour", single=False)


def hours_of(time: Time, policy: Policy) -> list[int]:
    """The hours that a clock may mean, the likeliest first; above 24 they count into the next day."""
    clock = time.clock
    assert clock is not None
    if clock.hour > 24 or (clock.minute or 0) > 59 or (clock.second or 0) > 59:
        raise Impossible("no such time of day")
    if clock.meridiem is not None and clock.hour > 12:
        return [clock.hour]  # 14 pm: said twice
    if time.part is not None:
        return [time.part.hour(clock)]
    hour = hour24(clock)
    if not clock.ambiguous:
        return [hour]
    other = hour + 12 if hour < 12 else 0
    return [other, hour] if hour <= policy.afternoon_until else [hour, other]


def clock_on(day: datetime, clock: Clock, hour: int) -> Period:
    """The second, minute or hour of a clock on a day."""
    grain: Unit = "hour" if clock.minute is None else "minute" if clock.second is None else "second"
    start = day + timedelta(hours=hour, minutes=clock.minute or 0, seconds=clock.second or 0)
    return unit_at(start, grain)
