"""Patches and adjustments: replace one part of a bound value, or compute a new value from it."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal

from ..model import Adjustment, Patch
from ..values import (
    AddressValue,
    EmailValue,
    Magnitude,
    MoneyValue,
    NumberValue,
    PercentValue,
    PhoneValue,
    QuantityValue,
    TimeValue,
    Value,
)

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_CLOCK = re.compile(r"T(\d{2}:\d{2}(?::\d{2})?)")
_STAMP = re.compile(r"\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?)?")
_ISO = re.compile(r"^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$")
_NUMBERED = re.compile(r"(\d+)(\S*)")
_PART_HOURS = {"morning": 9, "am": 9, "noon": 12, "afternoon": 15, "pm": 15, "evening": 19, "night": 20}


def patched(patch: Patch, value: Value, said: Mapping[str, re.Pattern[str]]) -> Value | None:
    """The value with one part replaced; None when it has no such part or the result does not exist.

    ``said`` has the patterns ``floor_mark`` and ``room_mark`` by which a floor or a room stands in an address.
    """
    try:
        if isinstance(value, MoneyValue) and patch.part == "currency":
            return value.model_copy(update={"currency": patch.value})
        if isinstance(value, QuantityValue) and patch.part == "unit":
            return value.model_copy(update={"unit": patch.value})
        if isinstance(value, TimeValue):
            return _time(patch, value)
        if isinstance(value, AddressValue):
            return _address(patch, value, said)
        if isinstance(value, EmailValue) and patch.part in {"mail_domain", "domain"}:
            return value.model_copy(update={"address": f"{value.address.rpartition('@')[0]}@{patch.value}"})
        if isinstance(value, PhoneValue) and patch.part == "digits":
            return _phone(patch, value)
    except ValueError:
        return None
    return None


def holds(patch: Patch, value: Value) -> bool:
    """True when the value shows the part that is said to be replaced (or none was said)."""
    if patch.old is None:
        return True
    old = patch.old
    if isinstance(value, MoneyValue):
        return value.currency == old
    if isinstance(value, TimeValue):
        stamp = _STAMP.search(value.edtf or "")
        if not stamp:
            return False
        moment = datetime.fromisoformat(stamp.group())
        if patch.part in {"day_of_month", "day"}:
            return old.lstrip("0") == str(moment.day)
        if patch.part == "month":
            return old.lstrip("0") == str(moment.month)
        if patch.part == "year":
            return old == str(moment.year)
        return True
    if isinstance(value, PhoneValue):
        return re.sub(r"\D", "", value.national).endswith(old) or (value.e164 or "").endswith(old)
    if isinstance(value, AddressValue):
        whole = re.search(rf"(?<![0-9]){re.escape(old)}(?![0-9])", value.full)  # the 9 of Apt 9 is none of 01970
        return _digits(old) in {_digits(part) for part in _unit_parts(value)} or whole is not None
    if isinstance(value, EmailValue):
        return value.address.endswith(old)
    return True


def _unit_parts(value: AddressValue) -> list[str]:
    return [p for p in (value.number, value.building, value.unit) if p]


def _digits(text: str) -> str:
    return re.sub(r"\D", "", text)


def _time(patch: Patch, value: TimeValue) -> TimeValue | None:
    stamp = _STAMP.search(value.edtf or "")
    if stamp is None or len(_STAMP.findall(value.edtf or "")) != 1:
        return None
    moment = datetime.fromisoformat(stamp.group())
    timed = "T" in stamp.group()
    if patch.part in {"day_of_month", "day"}:
        moment = moment.replace(day=int(patch.value))
    elif patch.part == "month":
        moment = moment.replace(month=int(patch.value))
    elif patch.part == "year":
        moment = moment.replace(year=int(patch.value))
    elif patch.part in {"clock", "hour"}:
        hit = re.search(r"(\d{1,2})(?::(\d{2}))?", patch.value)
        if hit is None:
            return None
        hour = int(hit[1])
        if hour < 12 and not re.search(r"am|pm|T", patch.value) and timed and moment.hour >= 12 and hour <= 11:
            hour += 12  # "at four" about something in the afternoon
        moment, timed = moment.replace(hour=hour, minute=int(hit[2] or 0)), True
    elif patch.part in {"part_of_day", "daypart"}:
        named = _PART_HOURS.get(patch.value)
        if named is None or not timed:
            return None
        late = named >= 12
        moment = moment.replace(hour=moment.hour % 12 + (12 if late else 0))
    elif patch.part == "weekday":
        moment += timedelta(days=int(patch.value) - moment.isoweekday())
    else:
        return None
    return with_moment(value, moment, timed)


def with_moment(value: TimeValue, moment: datetime, timed: bool) -> TimeValue:
    """The same time value about another moment: bounds and open ends stay."""
    old = _STAMP.search(value.edtf or "")
    shown = moment.strftime("%Y-%m-%dT%H:%M") if timed else moment.strftime("%Y-%m-%d")
    edtf = (value.edtf or "").replace(old.group(), shown) if old else shown
    fields: dict[str, object] = {"edtf": edtf, "readings": ()}
    if timed:
        fields |= {"type": "instant", "grain": "minute"}
    for name in ("start", "end"):
        given = getattr(value, name)
        if given and old:
            then = datetime.fromisoformat(old.group())
            moved = _moved(given, moment - then)
            fields[name] = moved
    if timed and value.type != "instant":
        fields["start"] = moment.strftime("%Y-%m-%dT%H:%M:%S")
        fields["end"] = (moment + timedelta(minutes=1)).strftime("%Y-%m-%dT%H:%M:%S")
    return value.model_copy(update=fields)


def _moved(stamp: str, by: timedelta) -> str:
    try:
        return (datetime.fromisoformat(stamp) + by).isoformat()
    except ValueError:
        return stamp


def _address(patch: Patch, value: AddressValue, said: Mapping[str, re.Pattern[str]]) -> AddressValue | None:
    new = patch.value
    if patch.part == "house_number" and value.number:
        number = _like(value.number, new)
        return value.model_copy(update={"number": number, "full": value.full.replace(value.number, number)})
    slot = value.unit or ""
    if patch.part in {"room", "floor", "unit_number"}:
        mark = said[f"{patch.part}_mark"] if patch.part in {"floor", "room"} else _NUMBERED
        for name in ("unit", "building", "number", "poi"):
            part = getattr(value, name)
            hit = mark.search(part) if part else None
            if part and hit:
                changed = part.replace(hit.group(1), _digits(new) or new, 1)
                return value.model_copy(update={name: changed, "full": value.full.replace(part, changed)})
        hit = mark.search(value.full)
        if hit:
            changed = hit.group().replace(hit.group(1), _digits(new) or new, 1)
            return value.model_copy(update={"full": value.full.replace(hit.group(), changed)})
        if slot and _digits(slot):
            changed = slot.replace(_digits(slot), _digits(new) or new, 1)
            return value.model_copy(update={"unit": changed, "full": value.full.replace(slot, changed)})
    return None


def completed(value: AddressValue, known: AddressValue, corrects: bool = False) -> AddressValue:
    """A shorter address that corrects a longer one ("it is 88 Birch Row") keeps the rest of it."""
    if value.city or value.province or value.postcode or not (value.road and known.road):
        return value
    if (value.road != known.road and not corrects) or not (known.city or known.province or known.postcode):
        return value
    fields = {name: getattr(value, name) or getattr(known, name) for name in AddressValue.PARTS}
    full = known.full
    for name in ("road", "number", "building", "unit"):
        old, new = getattr(known, name), getattr(value, name)
        if old and new and old != new:
            full = full.replace(old, new, 1)
    return AddressValue(**fields, postcode=known.postcode, full=full)


def _like(old: str, new: str) -> str:
    digits = re.search(r"\d+", new)
    return re.sub(r"\d+", digits.group(), old, count=1) if digits and re.search(r"\d", old) else new


def _phone(patch: Patch, value: PhoneValue) -> PhoneValue | None:
    size = len(patch.value)
    national = value.national
    if len(_digits(national)) <= size:
        return None
    changed = national[: len(national) - size] + patch.value if national[-size:].isdigit() else None
    if changed is None:
        return None
    e164 = value.e164[: len(value.e164) - size] + patch.value if value.e164 else None
    return PhoneValue(national=changed, e164=e164)


def adjustable(adjustment: Adjustment, value: Value) -> bool:
    """True when an amount can change a value: days a date, months a term, dollars dollars, a share any magnitude."""
    by = adjustment.by
    if isinstance(by, TimeValue):
        return isinstance(value, TimeValue) and adjusted(adjustment, value) is not None
    if isinstance(by, NumberValue) and isinstance(value, Magnitude):
        return not isinstance(value, PercentValue)
    if isinstance(by, PercentValue):
        return isinstance(value, Magnitude)
    return type(by) is type(value) and adjusted(adjustment, value) is not None


def adjusted(adjustment: Adjustment, value: Value) -> Value | None:
    """The value that an adjustment gives; None when the two do not fit together."""
    by, operator = adjustment.by, adjustment.operator
    if isinstance(value, TimeValue) and isinstance(by, TimeValue) and by.duration:
        back = operator in {"earlier", "subtract"}
        return _shifted(value, by.duration, back)
    if isinstance(value, Magnitude) and isinstance(by, Magnitude) and by.amount is not None:
        if isinstance(value, MoneyValue) and isinstance(by, MoneyValue) and by.currency not in {None, value.currency}:
            return None
        if isinstance(value, QuantityValue) and isinstance(by, QuantityValue) and by.unit not in {None, value.unit}:
            return None
        sign = Decimal(-1 if operator in {"subtract", "earlier"} else 1)
        share = isinstance(by, PercentValue) and not isinstance(value, PercentValue)  # of a rate: points
        fields: dict[str, Decimal] = {}
        for name in ("amount", "min", "max"):
            given = getattr(value, name)
            if given is not None:
                change = sign * by.amount
                fields[name] = _plain(given * (100 + change) / 100 if share else given + change)
        if any(number < 0 for number in fields.values()):
            return None
        return value.model_copy(update=fields)
    if isinstance(value, Magnitude) and adjustment.factor is not None:
        given = {name: getattr(value, name) for name in ("amount", "min", "max")}
        fields = {name: _plain(one * adjustment.factor) for name, one in given.items() if one is not None}
        return value.model_copy(update=fields) if fields else None
    return None


def _plain(number: Decimal) -> Decimal:
    """At most four places after the point, and none that say nothing."""
    short = round(number, 4).normalize()
    return short.quantize(Decimal(1)) if short == short.to_integral_value() else short


def _shifted(value: TimeValue, duration: str, back: bool) -> TimeValue | None:
    hit = _ISO.match(duration)
    if hit is None:
        return None
    years, months, weeks, days, hours, minutes, _ = (int(part or 0) for part in hit.groups())
    sign = -1 if back else 1
    if value.type == "duration":
        return _longer(value, duration, back)
    stamps = _STAMP.findall(value.edtf or "")
    if not stamps or ((hours or minutes) and not all("T" in stamp for stamp in stamps)):
        return None  # an hour later than a day is no moment

    def moved(moment: datetime) -> datetime:
        total = moment.year * 12 + moment.month - 1 + sign * (years * 12 + months)
        year, month = divmod(total, 12)
        day = min(moment.day, calendar.monthrange(year, month + 1)[1])
        moment = moment.replace(year=year, month=month + 1, day=day)
        return moment + sign * timedelta(days=weeks * 7 + days, hours=hours, minutes=minutes)

    return _each_moment(value, moved)


def _each_moment(value: TimeValue, move: Callable[[datetime], datetime]) -> TimeValue:
    """The same time value with every moment in it moved."""

    def again(hit: re.Match[str]) -> str:
        moment = move(datetime.fromisoformat(hit.group()))
        return moment.strftime("%Y-%m-%dT%H:%M" if "T" in hit.group() else "%Y-%m-%d")

    fields: dict[str, object] = {"edtf": _STAMP.sub(again, value.edtf or ""), "readings": ()}
    for name in ("start", "end"):
        given = getattr(value, name)
        if given:
            moment = move(datetime.fromisoformat(given))
            fields[name] = moment.isoformat() if "T" in given else moment.date().isoformat()
    return value.model_copy(update=fields)


def on_day(value: TimeValue, day: date) -> TimeValue | None:
    """The same clock on another day; None when the value has no clock, or clocks on several days."""
    stamps = _STAMP.findall(value.edtf or "")
    days = {stamp[:10] for stamp in stamps}
    if len(days) != 1 or not all("T" in stamp for stamp in stamps):
        return None
    by = day - date.fromisoformat(days.pop())
    return _each_moment(value, lambda moment: moment + by)


def _longer(value: TimeValue, duration: str, back: bool) -> TimeValue | None:
    """A term longer or shorter by a duration of the same unit."""
    one, two = _counted(value.duration or ""), _counted(duration)
    if one is None or two is None:
        return None
    for coarse, fine, times in (("W", "D", 7), ("Y", "M", 12)):  # 40 days less a week are 33 days
        if {one[1], two[1]} == {coarse, fine}:
            one, two = (((n * times, fine) if unit == coarse else (n, unit)) for n, unit in (one, two))
    if one[1] != two[1]:
        return None
    count = one[0] + (-two[0] if back else two[0])
    clock = "T" if one[1].startswith("T") else ""
    return value.model_copy(update={"duration": f"P{clock}{count}{one[1][-1]}"}) if count > 0 else None


def _counted(duration: str) -> tuple[int, str] | None:
    """A length of one unit; those of the clock are marked with T."""
    hit = re.fullmatch(r"P(T?)(\d+)([YMWDHS])", duration)
    return (int(hit[2]), hit[1] + hit[3]) if hit else None


def part_of(value: Value, part: str) -> TimeValue | None:
    """Only the first day, the last day or the clock of a time; None when it has none."""
    if not isinstance(value, TimeValue) or value.type not in {"date", "instant", "interval"}:
        return None
    edtf = value.edtf or ""
    if part == "clock":
        clocks = _CLOCK.findall(edtf)
        if len(clocks) != 1 or "/" in edtf:
            return None
        return TimeValue(type="instant", edtf="T" + clocks[0], grain=value.grain, approx=value.approx)
    days = _DATE.findall(edtf)
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/\d{4}-\d{2}-\d{2}T00:00", edtf):
        days = days[:1]  # "later today" ends at midnight
    if not days or (part == "last_day" and len(days) != 2):
        return None
    day = date.fromisoformat(days[-1] if part == "last_day" else days[0])
    if value.type == "date" and part == "day":
        return value
    after = (day + timedelta(days=1)).isoformat()
    return TimeValue(type="date", edtf=day.isoformat(), start=day.isoformat(), end=after, grain="day")


def as_date(value: TimeValue) -> date | None:
    """The day of a dated value, when it is one day."""
    days = _DATE.findall(value.edtf or "")
    return date.fromisoformat(days[0]) if len(days) == 1 else None
