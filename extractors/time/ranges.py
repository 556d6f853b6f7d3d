"""Ranges of time: what one end leaves open it inherits from the other, and the end is resolved after the start."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from ..resolve import Policy, clock_on, hours_of, resolve
from .lengths import Length, Unplaced, coarser
from .nodes import Clock, Cycle, Range, Time
from .periods import Period, day_of, midnight, move

Half = Literal["am", "pm"]


@dataclass(frozen=True, slots=True)
class Stretched:
    """A resolved range: its whole, and its last unit left out (2014 to 2018 may end when 2018 begins)."""

    whole: Period
    first: Period
    last: Period
    short: Period | None = None


def clock_range(value: Range, policy: Policy) -> list[tuple[int, int]]:
    """Minutes of the day from and to, the likeliest first; an end before the start is on the next day."""
    first, last = _same_half(value.first, value.last)
    found: list[tuple[int, int]] = []
    for start in _minutes(first, policy, last=False):
        ends = _minutes(last, policy, last=True)
        close = _within_minute(first, last)
        later = [end for end in ends if end > start or (close and end == start)]
        end = min(later) if later else ends[0] + 1440 * (1 + (start - ends[0]) // 1440)
        found.append((start, end))
    return found


def _within_minute(first: Time, last: Time) -> bool:
    """9:00:00 to 9:00:30."""
    a, b = first.clock, last.clock
    return a is not None and b is not None and (b.second or 0) > (a.second or 0)


def _minutes(time: Time, policy: Policy, *, last: bool) -> list[int]:
    if time.clock is None:
        assert time.part is not None
        return [round((time.part.end if last else time.part.start) * 60)]
    return [hour * 60 + (time.clock.minute or 0) for hour in hours_of(time, policy)]


def _same_half(first: Time, last: Time) -> tuple[Time, Time]:
    """am, pm or the part of day said with one end counts for the other where the order allows it."""
    a, b = first.clock, last.clock
    if a is None or b is None:
        return first, last
    if a.ambiguous and first.part is None and b.meridiem is not None:
        return replace(first, clock=replace(a, meridiem=_half_of_start(a, b))), last
    if b.ambiguous and last.part is None and a.meridiem is not None:
        later = (b.hour % 12, b.minute or 0) > (a.hour % 12, a.minute or 0)
        other: Half = "am" if a.meridiem == "pm" else "pm"
        return first, replace(last, clock=replace(b, meridiem=a.meridiem if later else other))
    if first.part is None and last.part is not None and a.ambiguous:
        return replace(first, part=last.part), last
    if last.part is None and first.part is not None and b.ambiguous:
        return first, replace(last, part=first.part) if _follows(first, replace(last, part=first.part)) else last
    return first, last


def _half_of_start(start: Clock, end: Clock) -> Half:  # "11 to 3 pm" starts in the morning
    earlier = (start.hour % 12, start.minute or 0) < (end.hour % 12, end.minute or 0)
    return end.meridiem or "am" if earlier else ("am" if end.meridiem == "pm" else "pm")


def _follows(first: Time, last: Time) -> bool:
    if first.part is None or last.part is None or first.clock is None or last.clock is None:
        return False
    return last.part.hour(last.clock) >= first.part.hour(first.clock)


def inherit(first: Time, last: Time) -> tuple[Time, Time]:
    """Both ends completed by what only one of them says."""
    if not (first.dated and last.dated):
        first, last = _same_half(first, last)
    if first.dated and last.clocked and not last.dated:
        return first, replace(last, **_dated(first))  # type: ignore[arg-type]
    if last.dated and first.clocked and not first.dated:
        if isinstance(last.node, Cycle) and last.node.unit == "day" and last.node.n > 0:
            return replace(first, node=Cycle("day", 0)), last  # from 2 pm until tomorrow at 4
        return replace(first, **_dated(last)), last  # type: ignore[arg-type]
    return _filled(first, last, later=True), _filled(last, first, later=False)


def _dated(time: Time) -> dict[str, object]:
    """The fields that say the date."""
    names = ("year", "month", "day", "quarter", "half", "weekday", "which", "node", "within")
    return {name: getattr(time, name) for name in names}


def _filled(time: Time, other: Time, *, later: bool) -> Time:
    """``time`` with the year, month or week that only ``other`` says; ``later``: ``other`` is the end."""
    if time.node is not None or not time.dated:
        return time
    changes: dict[str, object] = {}
    if time.weekday is not None and not time.day:
        if time.within is None and other.weekday is not None:
            if isinstance(other.node, Cycle) and other.node.unit == "week":
                changes["node"] = other.node
            elif other.which != "bare" and time.which == "bare" and not later and other.which != "last":
                pass  # "next Friday to Monday": the end follows the start
        return replace(time, **changes) if changes else time  # type: ignore[arg-type]
    if time.day is not None and time.month is None and time.within is None:
        if other.month is not None:
            changes["month"] = other.month
        elif isinstance(other.node, Cycle) and other.node.unit == "month":
            changes["node"] = other.node
    if (
        time.which == "bare"
        and time.year is None
        and (time.month is not None or "month" in changes or time.quarter or time.half)
    ):
        if other.year is not None:
            changes["year"] = other.year
        elif isinstance(other.node, Cycle) and other.node.unit == "year":
            changes["node"] = other.node
        elif other.within is not None and time.within is None:
            changes["within"] = other.within
    return replace(time, **changes) if changes else time  # type: ignore[arg-type]


def resolve_range(value: Range, now: datetime, policy: Policy) -> list[Stretched]:
    """The stretches that a dated range can mean, the likeliest first."""
    if value.lasting is not None:
        return [_for(start, value.lasting) for start in resolve(value.first, now, policy)]
    first, last = inherit(value.first, value.last)
    found = []
    for start in resolve(first, now, policy):
        end = _end_after(start, first, last, value, now, policy)
        if end is None and value.first.year is None and first.year is not None and value.first.month is not None:
            earlier = resolve(replace(first, year=first.year - 1), now, policy)[0]  # Dec to Jan 2026
            start, end = earlier, _end_after(earlier, first, last, value, now, policy)
        if end is not None:
            found.append(_stretched(start, end, value.open_end))
    if not found:
        raise Unplaced("the range ends before it begins")
    if first.month is not None and first.year is None:  # "from May to September" said in July: the one that runs
        year = timedelta(days=366)
        found.sort(key=lambda s: not (s.whole.start <= now < s.whole.end and s.whole.end - s.whole.start < year))
    return found


def _for(start: Period, lasting: Length) -> Stretched:
    """A start and how long it lasts."""
    end = move(start.start, lasting, 1)
    fine = start.clocked or lasting.finest in ("hour", "minute", "second")
    whole = Period(start.start, end, "minute" if fine else "day", single=False)
    return Stretched(whole, start, whole)


def _end_after(start: Period, first: Time, last: Time, value: Range, now: datetime, policy: Policy) -> Period | None:
    """The end of a range that began at ``start``: the first occurrence after it."""
    counted = last.node is not None or last.within is not None or last.year is not None
    origin = now if counted and not (value.last.clocked and not value.last.dated) else start.start
    if value.last.clocked and not value.last.dated:
        return _clock_end(start, last, policy)
    if origin != now and last.weekday is None:
        origin -= timedelta(days=1) if not last.clocked else timedelta(0)
    candidates = resolve(last, origin, policy)
    after = [p for p in candidates if p.end > start.start and p.start >= start.start]
    if after:
        return min(after, key=lambda p: candidates.index(p)) if counted else min(after, key=lambda p: p.start)
    if value.last.year is None and last.year is not None:  # December 2025 to March: the year turns
        after = [p for p in resolve(replace(last, year=last.year + 1), now, policy) if p.start >= start.start]
    return after[0] if after else None


def _clock_end(start: Period, last: Time, policy: Policy) -> Period:
    day = midnight(start.start)
    if last.clock is None:
        assert last.part is not None
        begin = day + timedelta(minutes=round(last.part.start * 60))
        return Period(begin, day + timedelta(minutes=round(last.part.end * 60)), "hour", single=False)
    ends = [clock_on(day, last.clock, hour) for hour in hours_of(last, policy)]
    later = [end for end in ends if end.start > start.start]
    if later:
        return later[0]
    return clock_on(day + timedelta(days=1), last.clock, hours_of(last, policy)[0])


def _stretched(start: Period, end: Period, open_end: bool) -> Stretched:
    grain = end.grain if coarser(start.grain, end.grain) else start.grain
    if end.grain == "second" and not start.clocked and not open_end:  # "from 3 May until now" is counted in days
        end, grain = day_of(end.start), "day"
    if end.clocked and end.single:
        close = end.start
        return Stretched(Period(start.start, close, grain, single=False), start, end)
    if start.grain == "second" and not end.clocked:  # "between now and 15 November" is counted in days
        start = Period(midnight(start.start), start.end, "day")
        grain = "day"
    whole = Period(start.start, end.start if open_end else end.end, grain, single=False)
    short = Period(start.start, end.end if open_end else end.start, grain, single=False)
    return Stretched(whole, start, end, short if short.end > short.start else None)
