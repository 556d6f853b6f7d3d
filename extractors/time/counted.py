"""Periods that are counted from others: shifts, n-th units, nearest weekdays, windows, edges."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta

from .lengths import Impossible, Unit, coarser
from .nodes import Containing, Cycle, Edge, Nearest, Node, Now, Nth, Shifted, Window, Years  # fmt: skip
from .periods import Period, calendar, day_of, floor, midnight, move, step, third, unit_at

_DAY = timedelta(days=1)


def _now(_: Now, __: list[Period], now: datetime) -> list[Period]:
    return [unit_at(now, "second")]


def _between(a: datetime, b: datetime, grain: Unit) -> Period:
    """The stretch between two moments, whichever is the earlier."""
    return Period(min(a, b), max(a, b), grain, single=False)


def _cycle(node: Cycle, _: list[Period], now: datetime) -> list[Period]:
    period = unit_at(now, node.unit, node.n)
    if node.unit == "hour" and node.n:  # 上个小时: the clock hour, or the sixty minutes until now
        return [period, _between(now, step(now, "hour", node.n), "minute")]
    if node.n and node.unit in ("week", "month", "quarter", "year"):  # to some "last week" is the day a week ago
        return [period, day_of(step(midnight(now), node.unit, node.n))]
    return [period]


def _shifted(node: Shifted, bases: list[Period], now: datetime) -> list[Period]:
    if node.base is None:
        return _shifted_from_now(node, now)
    clocked = node.length.finest in ("second", "minute", "hour")
    found: list[Period] = []
    for base in bases:
        moment = move(base.start, node.length, node.sign)
        if clocked and node.length.said not in ("day", "week", "month", "year"):
            found += [_exactly(moment, node.length.finest)]
        elif base.clocked:
            found.append(Period(moment, moment + (base.end - base.start), base.grain, base.single))
        elif (
            base.grain in ("week", "month", "quarter", "year")
            and base.single
            and not coarser(base.grain, node.length.finest)
        ):
            found.append(unit_at(moment, base.grain))
        else:
            found.append(day_of(moment))
            if node.length.finest in ("month", "year", "week"):
                found.append(unit_at(moment, node.length.finest))
    return found


def _shifted_from_now(node: Shifted, now: datetime) -> list[Period]:
    """The moment or day so far from now, then the unit it lies in, then the whole stretch until then."""
    length = node.length
    moment = move(now, length, node.sign)
    stretch = _window(Window(length, node.sign), [], now)[:1]
    if length.finest in ("second", "minute", "hour") and length.said not in ("day", "week", "month", "year"):
        hour = [Period(moment, step(moment, "hour", 1), "hour")] if length.said == "hour" else []
        return [_exactly(moment, length.finest), *hour, *stretch]
    if length.finest in ("week", "month", "year"):  # three years ago is hardly ever meant to the day
        return [day_of(moment), unit_at(moment, length.finest), *stretch]
    return [day_of(moment), unit_at(moment, "minute"), *stretch]  # seven days ago, to the minute


def _exactly(moment: datetime, finest: Unit) -> Period:
    """A moment that is counted in hours or minutes keeps its seconds and is written to the minute."""
    grain: Unit = "second" if finest == "second" else "minute"
    return Period(moment, step(moment, grain, 1), grain)


def _nth(node: Nth, bases: list[Period], now: datetime) -> list[Period]:
    found = []
    for outer in bases or [unit_at(now, "month" if node.weekday else "year")]:
        if node.weekday is not None:
            found.append(_nth_weekday(outer, node.weekday, node.n))
        else:
            assert node.unit is not None
            ways = [outer]
            if node.unit == "week" and outer.grain == "month":
                ways.append(replace(outer, grain="quarter"))
            for way in reversed(ways) if node.thursday else ways:
                with suppress(Impossible):
                    found.append(_nth_unit(way, node.unit, node.n, node.count))
            if not found:
                raise Impossible(f"the period has no {abs(node.n)}th {node.unit}")
    return found


def _nth_weekday(outer: Period, weekday: int, n: int) -> Period:
    if n > 0:
        first = outer.start + timedelta(days=(weekday - 1 - outer.start.weekday()) % 7)
        day = day_of(first + timedelta(days=7 * (n - 1)))
    else:
        final = outer.end - _DAY
        day = day_of(final - timedelta(days=(final.weekday() - weekday + 1) % 7 + 7 * (-n - 1)))
    if not outer.start <= day.start < outer.end:
        raise Impossible("the period has no such weekday")
    return day


def _nth_unit(outer: Period, unit: Unit, n: int, count: int) -> Period:
    """The n-th week, day, month … of a period; a week belongs to the period that holds its Thursday (ISO 8601)."""
    if unit == "business_day":
        before, after = outer.start - _DAY, outer.end
        start = step(before, unit, n) if n > 0 else step(after, unit, n)
        if not outer.start <= start < outer.end:
            raise Impossible(f"the period has no {abs(n)}th working day")
        return day_of(start)
    if unit in ("week", "weekend"):
        first = floor(outer.start, unit)
        held = 0 if outer.grain == "month" else 3  # weeks of a month begin in it; weeks of a year hold a Thursday of it
        if unit == "week" and first + timedelta(days=held) < outer.start:
            first += timedelta(days=7)
        if unit == "weekend" and first < outer.start:
            first += timedelta(days=7)
        last = floor(outer.end - _DAY, unit)
        if unit == "week" and last + timedelta(days=held) >= outer.end:
            last -= timedelta(days=7)
        if unit == "weekend" and last >= outer.end:
            last -= timedelta(days=7)
    else:
        first, last = outer.start, floor(step(outer.end, "second", -1), unit)
    start = step(first, unit, n - 1) if n > 0 else step(last, unit, n + 1 - (count - 1))
    period = unit_at(start, unit)
    if not outer.start - timedelta(days=3) <= period.start < outer.end:
        raise Impossible(f"the period has no {abs(n)}th {unit}")
    if count > 1:
        return Period(period.start, step(period.start, unit, count), unit, single=False)
    return period


def _nearest(node: Nearest, bases: list[Period], now: datetime) -> list[Period]:
    found = []
    for base in bases or [day_of(now)]:
        day, n = midnight(base.start), node.n
        ahead = (node.weekday - 1 - day.weekday()) % 7
        if node.closest:
            order = sorted((k for k in range(-28, 29)), key=lambda k: (abs(ahead + 7 * k), -k))
            found.append(day_of(day + timedelta(days=ahead + 7 * order[n - 1])))
        elif n > 0:
            found.append(day_of(day + timedelta(days=(ahead or 7) + 7 * (n - 1))))
        else:
            behind = (7 - ahead) % 7 or 7
            found.append(day_of(day - timedelta(days=behind + 7 * (-n - 1))))
    return found


def _window(node: Window, bases: list[Period], now: datetime) -> list[Period]:
    """The last or next n units: whole calendar units, or counted from now; the other one is a reading."""
    unit = node.length.said
    clocked = unit in ("second", "minute", "hour")
    moment = now
    if bases:
        base = bases[0]
        moment = base.start if node.sign > 0 else base.end
        end = move(moment, node.length, node.sign)
        return [Period(min(moment, end), max(moment, end), "day" if not base.clocked else "minute", single=False)]
    fine: Unit = "second" if unit in ("second", "minute") else "minute" if clocked else "day"
    here = floor(moment, fine)
    there = move(here, node.length, node.sign)
    rolling = Period(min(here, there), max(here, there), fine, single=False)
    if unit == "weekend":
        return [rolling]
    edge = floor(moment, unit)
    if node.sign > 0:
        start = step(edge, unit, 1)
        counted = Period(start, move(start, node.length, 1), unit, single=False)
    else:
        counted = Period(move(edge, node.length, -1), edge, unit, single=False)
    if clocked:
        return [rolling, counted]
    exact = _between(now, move(now, node.length, node.sign), "second")
    if node.rolling or any(amount.denominator > 1 for _, amount in node.length.parts):
        return [rolling, counted, exact]
    if len(node.length.parts) == 1 and node.length.parts[0][1] == 1:
        counted = replace(counted, single=True)
    return [counted, rolling, exact]


def _containing(node: Containing, bases: list[Period], _: datetime) -> list[Period]:
    return [unit_at(base.start, node.unit) for base in bases]


def _edge(node: Edge, bases: list[Period], _: datetime) -> list[Period]:
    found: list[Period] = []
    for period in bases:
        whole_days = period.end - period.start > _DAY
        if node.part == "close" and period.grain == "year":  # 年底 is December, its last day a reading
            found += [Period(step(period.end, "month", -1), period.end, "day", single=False), day_of(period.end - _DAY)]
        elif node.part in ("last", "close"):
            found.append(day_of(period.end - _DAY) if whole_days else third(period, "end"))
            found.append(third(period, "end"))
        elif node.part == "first":
            found.append(day_of(period.start) if whole_days else third(period, "start"))
            found.append(third(period, "start"))
        else:
            found.append(third(period, node.part))
    return found


def _years(node: Years, _: list[Period], __: datetime) -> list[Period]:
    start = calendar(node.first)
    return [Period(start, calendar(node.first + node.count), "year", single=node.count == 1)]


COUNTED: dict[type[Node], Callable[..., list[Period]]] = {
    Now: _now,
    Cycle: _cycle,
    Shifted: _shifted,
    Nth: _nth,
    Nearest: _nearest,
    Window: _window,
    Edge: _edge,
    Containing: _containing,
    Years: _years,
}
