"""The finisher of times: resolves what a grammar found against the time of saying and writes the typed value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any, cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ...values import Bound, Grain, Reading, TimeType, TimeValue, Value
from ..grammar import Context, Place, Refusal, finisher, lister
from ..resolve import Policy, clock_on, hours_of, resolve
from .lengths import Impossible, Length, Unit, Unplaced
from .nodes import Cycle, Fiscal, Invalid, Range, Recurrence, Shifted, Symbolic, Time  # fmt: skip
from .periods import Period, calendar, step, unit_at
from .ranges import clock_range, inherit, resolve_range
from .recurrence import hours_text, recurrence
from .tense import speaks_of_past, tells_what_was
from .workdays import Unpublished, Workdays

_ANY = datetime(2000, 1, 1)  # noqa: DTZ001 - stands in for "now" where a year is said and now does not matter
_GRAINS: dict[Unit, Grain] = {
    "weekend": "day", "business_day": "day", "half": "month", "season": "month", "decade": "year", "century": "year",
}  # fmt: skip
_DAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MAX_READINGS = 3


@finisher("time")
def finish(value: Any, context: Context, place: Place) -> Value | Refusal | None:
    """The typed value of a time part; Refusal when the calendar has no such time, None when it cannot be placed."""
    if isinstance(value, Invalid):
        return Refusal(value.why)
    try:
        made = _finish(value, context, place)
        return made if made is not None or context.said_at is not None else _labelled(value, place)
    except Unpublished as error:  # refused, lest a piece of it be read as a date of this year
        return Refusal(str(error))
    except Unplaced:
        return None
    except Impossible as error:
        return Refusal(str(error))


@lister("time")
def share(first: Any, last: Any, between: str, context: Context) -> tuple[Any, Any] | None:
    """Two times of a list, each completed by what only the other says: 9月10号和20号, the 10th and 20th of May."""
    if not isinstance(first, Time) or not isinstance(last, Time) or first.bound != "=" or last.bound != "=":
        return None
    table = context.tables.get("time_policy", {}).get(context.lang, {})
    if between.strip() not in table.get("list_words", ()):
        return None
    one, two = inherit(first, last)
    if (
        two is not last and two.weekday is not None and two.alternative is None
    ):  # next Monday or Tuesday: or the coming one
        two = replace(two, alternative=last)
    return one, two


def _labelled(value: Any, place: Place) -> Value | None:
    """What counts from an unknown moment of saying is kept under its own words: the end of next month."""
    ends = (value.first, value.last) if isinstance(value, Range) else (value,)
    if not all(isinstance(end, Time) for end in ends) or not any(end.dated and end.relative for end in ends):
        return None
    bound = value.bound if isinstance(value, Time) else "="
    return TimeValue(type="symbolic", anchor=place.text.lower(), bound=bound, approx=value.approx)


def _finish(value: Any, context: Context, place: Place) -> Value | None:
    if isinstance(value, Length):
        return _duration(value)
    if isinstance(value, Symbolic):
        return _symbolic(value)
    policy = _policy(context)
    if isinstance(value, Recurrence):
        return recurrence(value, policy)
    now = _local(context)
    if isinstance(value, Range):
        first, last = _ordered(value.first, context, policy), _ordered(value.last, context, policy)
        return _range(replace(value, first=first, last=last), now, policy)
    if isinstance(value, Time):
        return _time(_ordered(value, context, policy), now, policy, past=_past(value, context, place))
    return None


def _past(time: Time, context: Context, place: Place) -> bool:
    """True for a day that may lie on either side of now, in a clause that speaks of the past."""
    if time.anchored or time.node is not None or time.within is not None or time.which != "bare" or not time.calendar:
        return False
    table = context.tables.get("time_policy", {}).get(context.lang, {})
    words, barred = tuple(table.get("past_words", ())), tuple(table.get("past_not_with", ()))
    if table.get("past_verb") == "after":
        return tells_what_was(words, barred, place.normalized.text, place.start, place.end)
    return speaks_of_past(words, barred, place.normalized.text, place.start)


def _policy(context: Context) -> Policy:
    table = context.tables.get("time_policy", {})
    table = {**table, **table.get(context.lang, {})}
    return Policy(
        recent_past_days=int(table.get("recent_past_days", 0)),
        recent_holiday_days=int(table.get("recent_holiday_days", 0)),
        season_terms=bool(table.get("season_terms", False)),
        year_first=bool(table.get("year_first", False)),
        this_year_until=int(table.get("this_year_until", 0)),
        workdays=Workdays(context.tables.get("workdays", {}).get(_country(table, context), {})),
        fiscal_year_start=int(table.get("fiscal_year_start", 0)),
        same_weekday=str(table.get("same_weekday", "next")),
        next_weekday=str(table.get("next_weekday", "next_week")),
        afternoon_until=int(table.get("afternoon_until", 0)),
        day_first_locales=tuple(table.get("day_first_locales", ())),
    )


def _country(table: Mapping[str, Any], context: Context) -> str:
    """Whose working days count: by the locale when it names a country, else by the policy of the language."""
    _, _, country = (context.locale or "").partition("-")
    return country if len(country) == 2 else str(table.get("workdays", ""))


def _local(context: Context) -> datetime | None:
    """The wall time of saying, in the zone named by the caller, else in the zone of ``said_at`` itself."""
    moment = context.said_at
    if moment is None:
        return None
    if context.timezone and moment.tzinfo is not None:
        with suppress(ZoneInfoNotFoundError, ValueError):  # an unknown name: the zone of said_at stands
            moment = moment.astimezone(ZoneInfo(context.timezone))
    return moment.replace(tzinfo=None)


def _ordered(time: Time, context: Context, policy: Policy) -> Time:
    """03/04/2026 in the order of the locale; the other order stays as a reading."""
    if time.year_first is not None:
        other = replace(time, year_first=None)
        if not policy.year_first:
            return _ordered(other, context, policy)
        return replace(time.year_first, alternative=other)
    if time.alternative is None or time.alternative.node is not None or context.locale not in policy.day_first_locales:
        return time
    return replace(time.alternative, alternative=replace(time, alternative=None))


# ---------------------------------------------------------------- forms
def _iso(moment: datetime, grain: Unit) -> str:
    """ISO 8601 at day precision for days and longer, else with seconds."""
    text = moment.isoformat(timespec="seconds")  # unlike strftime it writes the year 706 with four digits
    return text if grain in ("second", "minute", "hour") else text[:10]


def _mark(moment: datetime, grain: Unit) -> str:
    """One moment or unit in EDTF at its grain."""
    text = moment.isoformat(timespec="seconds")
    lengths = {"second": 19, "minute": 16, "hour": 16, "month": 7, "year": 4}
    return text[: lengths.get(grain, 10)]


def _edtf(period: Period) -> str:
    """A unit, or first/last unit of an interval (both inclusive; clock times as said)."""
    if period.single and period.grain in ("second", "minute", "hour", "day", "month", "year"):
        return _mark(period.start, period.grain)
    if period.clocked:
        grain: Unit = "second" if period.start.second or period.end.second else "minute"
        return f"{_mark(period.start, grain)}/{_mark(period.end, grain)}"
    grain = period.grain if period.grain in ("month", "year") and not period.single else "day"
    last = step(period.end, grain, -1)
    return _mark(period.start, grain) if last == period.start else f"{_mark(period.start, grain)}/{_mark(last, grain)}"


def _grain(unit: Unit) -> Grain:
    return _GRAINS.get(unit) or cast(Grain, unit)


def _readings(periods: Iterable[Period]) -> tuple[Reading, ...]:
    made = [Reading(start=_iso(p.start, p.grain), end=_iso(p.end, p.grain)) for p in periods]
    return tuple(dict.fromkeys(made))[:MAX_READINGS]


def _written(period: Period, others: list[Period], time: Time | Range) -> TimeValue:
    """The value of a period with the other readings."""
    kind: TimeType = "interval"
    if period.single:
        kind = "instant" if period.clocked else "date" if period.grain in ("day", "month", "year") else "interval"
    return TimeValue(
        type=kind,
        edtf=_edtf(period),
        start=_iso(period.start, period.grain),
        end=_iso(period.end, period.grain),
        grain=_grain(period.grain),
        approx=time.approx,
        zone=time.zone if isinstance(time, Time) else time.first.zone or time.last.zone,
        readings=_readings(p for p in others if (p.start, p.end) != (period.start, period.end)),
    )


# ---------------------------------------------------------------- times
def _time(time: Time, now: datetime | None, policy: Policy, *, past: bool = False) -> TimeValue | None:
    if not time.dated:
        return _clock_only(time, now, policy)
    if isinstance(time.node, Fiscal) and not policy.fiscal_year_start:
        return _fiscal(time, time.node)
    if now is None and time.relative:
        return _unplaced(time)
    try:
        periods = resolve(time, now or _ANY, policy)
    except Unpublished:
        node = time.node
        if isinstance(node, Shifted) and node.base is None and not time.clocked:
            return _symbolic(Symbolic("said_at", node.length, node.sign, time.bound, time.approx))
        raise
    if past and now is not None:
        periods.sort(key=lambda p: (p.start > now, p.end > now))  # the last one before now first, then today
    if time.bound != "=":
        return _bounded(time, periods, _since(time, now, policy))
    made = _written(periods[0], periods[1:], time)
    if isinstance(time.node, Shifted) and time.node.base is None and not time.calendar:
        # 三天之后 is to some everything from then on
        open_side = {"start": made.start} if time.node.sign > 0 else {"end": made.start}
        return made.model_copy(update={"readings": (*made.readings[: MAX_READINGS - 1], Reading(**open_side))})
    return made


def _since(time: Time, now: datetime | None, policy: Policy) -> datetime | None:
    """Where "within ten days" begins to count: now, or the day it is counted from."""
    node = time.node
    if not isinstance(node, Shifted) or node.sign < 0 or time.bound not in ("<", "<="):
        return None
    return now if node.base is None else resolve(node.base, now or _ANY, policy)[0].start


def _unplaced(time: Time) -> TimeValue | None:
    """Without a time of saying a weekday keeps its name, a yearless date its open year, a shift its length."""
    node = time.node
    if isinstance(node, Shifted) and node.base is None and not time.calendar and not time.clocked:
        return _symbolic(Symbolic("said_at", node.length, node.sign, time.bound, time.approx))
    if isinstance(node, Cycle) and not time.calendar:
        return _unplaced_cycle(time, node)
    if node is not None or time.within is not None or time.quarter or time.half:
        return None
    clock = f"T{hours_text(hours_of(time, Policy())[0] % 24, time.clock)}" if time.clock is not None else None
    if time.weekday is not None and time.day is None:
        start = clock if time.part is None or clock else f"T{int(time.part.start) % 24:02}:00"
        return TimeValue(
            type="symbolic", anchor=_DAY_NAMES[time.weekday - 1], offset=clock, start=start, bound=time.bound
        )
    if time.month is not None and time.bound == "=":
        edtf = f"XXXX-{time.month:02}" + (f"-{time.day:02}" if time.day else "") + (clock or "")
        return TimeValue(type="date", edtf=edtf, grain="day" if time.day else "month", approx=time.approx)
    if time.day is not None and time.bound == "=":
        return TimeValue(type="date", edtf=f"XXXX-XX-{time.day:02}{clock or ''}", grain="day", approx=time.approx)
    return None


def _fiscal(time: Time, node: Fiscal) -> TimeValue:
    """A fiscal year stays symbolic while no setting says when it begins."""
    offset = f"{'+' if node.n > 0 else '-'}P{abs(node.n)}Y" if node.n else None
    return TimeValue(
        type="symbolic",
        anchor=node.anchor,
        offset=offset,
        bound=time.bound,
        approx=time.approx,
        grain="quarter" if node.quarter else "month" if node.half else "year",
    )


def _unplaced_cycle(time: Time, node: Cycle) -> TimeValue:
    """Tomorrow, next week at no known time: so many units from the moment of saying, with its time of day."""
    said = _symbolic(Symbolic("said_at", Length(((node.unit, Fraction(abs(node.n))),)), 1 if node.n >= 0 else -1))
    changes: dict[str, object] = {"grain": _grain(node.unit), "bound": time.bound, "approx": time.approx}
    if node.n == 0:
        changes["offset"] = None
    if time.clock is not None:
        changes["start"] = f"T{hours_text(hours_of(time, Policy())[0], time.clock)}"
    elif time.part is not None:
        changes["start"] = f"T{int(time.part.start) % 24:02}:00"
    return said.model_copy(update=changes)


def _clock_only(time: Time, now: datetime | None, policy: Policy) -> TimeValue:
    """A bare time of day: T15:30, with its coming and past occurrences as readings."""
    if time.clock is None:
        assert time.part is not None
        if time.bound != "=":
            return _part_bounded(time, now)
        minutes = [(round(time.part.start * 60), round(time.part.end * 60))]
        return _clock_stretch(minutes, now, time, approx=time.approx)
    hours = hours_of(time, policy)
    text = f"T{hours_text(hours[0], time.clock)}"
    others: list[Period] = []
    if now is not None:
        today = now.replace(hour=0, minute=0, second=0, microsecond=0)
        for days in (0, 1, -1):
            dated = [clock_on(today + timedelta(days=days), time.clock, hour) for hour in hours]
            others += [p for p in dated if (p.end > now) == (days >= 0)]
        past_today = [clock_on(today, time.clock, hour) for hour in hours]
        others += [p for p in past_today if p.end <= now]
        others.sort(key=lambda p: (p.end <= now, abs((p.start - today).days), abs(p.start - now)))
    # ``edtf`` keeps what was said; ``start`` and ``end`` are its coming occurrence.
    best = next((p for p in others if p.start.hour == hours[0] % 24), None)
    grain: Grain = "hour" if time.clock.minute is None else "minute" if time.clock.second is None else "second"
    value = TimeValue(
        type="instant",
        edtf=text,
        start=_iso(best.start, best.grain) if best is not None else text,
        end=_iso(best.end, best.grain) if best is not None else None,
        grain=grain,
        approx=time.approx,
        zone=time.zone,
        readings=_readings(p for p in others if p is not best),
    )
    if time.bound == "=":
        return value
    below = time.bound in ("<", "<=")
    edtf = f"../{text}" if below else f"{text}/.."
    # A limit by the clock is a moment: ``bound`` says on which side of it; the open stretch is a reading.
    ends = {"end": value.start} if below else {"end": None}
    point = Reading(end=value.start) if below else Reading(start=value.start, end=value.end or value.start)
    readings = (point, *(Reading(end=r.start) if below else Reading(start=r.start) for r in value.readings[:1]))
    return value.model_copy(
        update={"type": "interval", "edtf": edtf, "bound": time.bound, "readings": readings, **ends}
    )


def _part_bounded(time: Time, now: datetime | None) -> TimeValue:
    """Before lunch, by the end of the day: an open side at the edge of a part of the day."""
    assert time.part is not None
    below = time.bound in ("<", "<=")
    edge = round((time.part.start if time.bound in ("<", ">=") else time.part.end) * 60)
    text = f"T{edge // 60 if edge <= 1440 else edge // 60 % 24:02}:{edge % 60:02}"
    moment = text
    if now is not None:
        coming = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(minutes=edge)
        moment = _iso(coming if coming > now else coming + timedelta(days=1), "minute")
    whole = _clock_stretch([(round(time.part.start * 60), round(time.part.end * 60))], now, time, approx=time.approx)
    return whole.model_copy(
        update={
            "edtf": f"../{text}" if below else f"{text}/..",
            "bound": time.bound,
            "start": None if below else moment,
            "end": moment if below else None,
            "readings": (Reading(start=whole.start, end=whole.end), *whole.readings[:1]),
        }
    )


def _clock_stretch(
    minutes: list[tuple[int, int]], now: datetime | None, time: Time | Range, *, approx: bool
) -> TimeValue:
    """A stretch of the day: T09:30/T11:00, with its coming dates as readings."""
    start, end = minutes[0]
    ends = (time, time) if isinstance(time, Time) else (time.first, time.last)
    seconds = [t.clock.second if t.clock is not None else None for t in ends]
    texts = [
        f"T{m // 60 % 24:02}:{m % 60:02}" + (f":{s:02}" if s is not None and any(seconds) else "")
        for m, s in zip((start, end), seconds, strict=True)
    ]
    others: list[Period] = []
    if now is not None:
        today = now.replace(hour=0, minute=0, second=0, microsecond=0)
        first, last = (timedelta(seconds=s or 0) for s in seconds)
        for a, b in minutes:
            for day in (today, today + timedelta(days=1)):
                ends_at = day + timedelta(minutes=b) + last
                others.append(Period(day + timedelta(minutes=a) + first, ends_at, "minute", single=False))
        others.sort(key=lambda p: (p.end <= now, p.start > today + timedelta(days=1), p.start))
    best = next((p for p in others if (p.start.hour * 60 + p.start.minute) == start % 1440), None)
    return TimeValue(
        type="interval", edtf="/".join(texts), grain="hour", approx=approx,
        start=_iso(best.start, "minute") if best is not None else texts[0],
        end=_iso(best.end, "minute") if best is not None else texts[1],
        zone=time.zone if isinstance(time, Time) else time.first.zone or time.last.zone,
        readings=_readings(p for p in others if p is not best),
    )  # fmt: skip


def _bounded(time: Time, periods: list[Period], since: datetime | None) -> TimeValue:
    """An open side: ../X up to and with X, X/.. from X on; strict bounds leave X itself out.

    "Within ten days" begins at ``since``, though its bound alone is what was said.
    """
    values = [_one_bound(time.bound, period) for period in periods]
    edtf, start, end = values[0]
    others = [_one_bound(_LOOSE[time.bound], periods[0])] if not periods[0].clocked else []
    readings = [Reading(start=a, end=b) for _, a, b in others]
    if since is not None:
        periods = periods[:1]
        unit: Unit = "second" if periods[0].clocked else "day"
        closes = periods[0].start if periods[0].clocked else periods[0].end
        readings.insert(0, Reading(start=start, end=end))
        start, end = _iso(since, unit), _iso(closes, unit)
    elif end is not None and periods[0].clocked and periods[0].single:  # a limit by the clock is a moment
        readings.insert(0, Reading(end=end))
        start = end
    readings += _readings(periods[:1])  # the time named itself, for whoever asks which day was said
    readings.extend(Reading(start=a, end=b) for _, a, b in values[1:] if (a, b) != (start, end))
    return TimeValue(
        type="interval", edtf=edtf, start=start, end=end, grain=_grain(periods[0].grain), bound=time.bound,
        approx=time.approx, zone=time.zone, readings=tuple(dict.fromkeys(readings))[:MAX_READINGS],
    )  # fmt: skip


_LOOSE: dict[Bound, Bound] = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "=": "="}


def _one_bound(bound: Bound, period: Period) -> tuple[str, str | None, str | None]:
    unit: Unit = period.grain if period.single and period.grain in ("month", "year") else "day"
    if period.clocked:
        upper = period.start if period.single else period.end
        moment = upper if bound in ("<", "<=") else period.start if period.single or bound == ">=" else period.end
        text, iso = _mark(moment, "second" if period.grain == "second" else "minute"), _iso(moment, "minute")
        if moment.hour == moment.minute == moment.second == 0 and not period.single:
            text = _mark(moment - timedelta(days=1), "day")  # by the end of a day: with that day
        return (f"../{text}", None, iso) if bound in ("<", "<=") else (f"{text}/..", iso, None)
    if bound == "<=":
        return f"../{_mark(step(period.end, unit, -1), unit)}", None, _iso(period.end, "day")
    if bound == "<":
        return f"../{_mark(step(period.start, unit, -1), unit)}", None, _iso(period.start, "day")
    if bound == ">=":
        return f"{_mark(period.start, unit)}/..", _iso(period.start, "day"), None
    return f"{_mark(period.end, unit)}/..", _iso(period.end, "day"), None


# ---------------------------------------------------------------- ranges
def _range(value: Range, now: datetime | None, policy: Policy) -> TimeValue | None:
    if not value.first.dated and not value.last.dated and value.lasting is None:
        return _clock_stretch(clock_range(value, policy), now, value, approx=value.approx)
    if now is None and value.first.relative and (value.lasting is not None or value.last.relative):
        return None
    if value.lasting is not None and not value.first.dated:
        value = replace(value, first=replace(value.first, node=Cycle("day", 0)))
    found = resolve_range(value, now or _ANY, policy)
    others = [s.short for s in found[:1] if s.short] + [s.whole for s in found[1:]]
    best = found[0]
    made = _written(best.whole, others, value)
    if best.first.grain != best.last.grain and not best.whole.clocked:
        edtf = "/".join(_mark(p.start if p is best.first else step(p.end, _shown(p), -1), _shown(p))
                        for p in (best.first, best.last))  # fmt: skip
        return made.model_copy(update={"edtf": edtf})
    return made


def _shown(period: Period) -> Unit:
    return period.grain if period.grain in ("month", "year") else "day"


# ---------------------------------------------------------------- durations, symbols
def _duration(length: Length) -> TimeValue:
    return TimeValue(
        type="duration",
        duration=length.iso(),
        duration_max=length.high.iso() if length.high is not None else None,
        grain=_grain(length.finest),
        bound=length.bound,
        approx=length.approx,
        readings=() if length.year is None else _readings([unit_at(calendar(length.year), "year")]),
    )


def _symbolic(value: Symbolic) -> TimeValue:
    offset = None
    if value.length is not None:
        sign = "+" if value.sign > 0 else "-"
        days = value.length.whole()
        offset = f"{sign}{days['business_day']}bd" if set(days) == {"business_day"} else f"{sign}{value.length.iso()}"
    return TimeValue(type="symbolic", anchor=value.anchor, offset=offset, bound=value.bound, approx=value.approx)
