"""Typed values in words that read back to the same value: 8万元, $80,000, no later than 30 June 2026."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, Literal

from ..values import Magnitude, MoneyValue, PercentValue, QuantityValue, TimeValue, Value, plain

FILE = Path(__file__).with_name("wording.yaml")
Tongue = Literal["zh", "en"]

_MOMENT = re.compile(r"(?:(\d{4})(?:-(\d\d)(?:-(\d\d))?)?)?(?:T(\d\d):(\d\d))?")
_DURATION = re.compile(
    r"P(?:(?P<Y>\d+)Y)?(?:(?P<M>\d+)M)?(?:(?P<W>\d+)W)?(?:(?P<BD>\d+)BD)?(?:(?P<D>\d+)D)?"
    r"(?:T(?:(?P<H>\d+)H)?(?:(?P<MIN>\d+)M)?(?:(?P<S>\d+)S)?)?"
)
# 8.05万 is read easily, 8.0001万 is not: beyond two decimals the plain figure stands.
_DECIMALS = 2


@cache
def _words(language: Tongue) -> dict[str, Any]:
    from ruamel.yaml import YAML  # loaded with the rules anyway; not needed to start the command line

    content: dict[str, dict[str, Any]] = YAML(typ="safe", pure=True).load(FILE.read_text(encoding="utf-8"))
    return content[language]


def readable(value: Value, language: Tongue, surface: str = "") -> str:
    """The value in words. What has no such form is given as it was said, or else in its canonical form."""
    words = None
    if value.base is None and value.period is None:
        if isinstance(value, Magnitude):
            words = _magnitude(value, language)
        elif isinstance(value, TimeValue):
            words = _time(value, language)
        else:
            words = value.canonical
    return words or " ".join(surface.split()) or value.canonical


def from_event(value: TimeValue, language: Tongue, event: str) -> str:
    """A time that is counted from an event: "7 days before launch", with the date when it has one."""
    words = _words(language)
    offset = value.offset or ""
    days = offset[1:].removesuffix("bd")
    length = _duration(f"P{days}BD" if offset.endswith("bd") else offset[1:], language) if offset else None
    text = words["counted"][offset[0]].format(anchor=event, length=length) if length else f"{event}{offset}"
    if value.type == "symbolic":
        frame = {"<=": "until", "<": "until", ">=": "since", ">": "since"}.get(value.bound)
        text = words[frame].format(text) if frame is not None else text
        return str(words["about"].format(text) if value.approx else text)
    return str(words["aside"].format(_time(value, language) or value.canonical, text))


def _magnitude(value: Magnitude, language: Tongue) -> str | None:
    words = _words(language)
    if value.amount is not None:
        text = _unit(value, value.amount, language)
        bound = value.bound
    elif value.min is not None and value.max is not None:
        text = words["range"].format(_unit(value, value.min, language), _unit(value, value.max, language))
        bound = "="
    else:
        return None
    if value.per is not None:
        if value.per not in words["per"]:
            return None
        text = words["per"][value.per].format(text)
    if bound != "=":
        text = words["bounds"][bound].format(text)
    return str(words["about"].format(text) if value.approx else text)


def _unit(value: Magnitude, amount: Decimal, language: Tongue) -> str:
    """One figure with its currency, per cent sign or unit."""
    words = _words(language)
    figure = _chinese(amount) if language == "zh" else _english(amount, cents=isinstance(value, MoneyValue))
    if isinstance(value, MoneyValue):
        if value.currency is None:
            return figure
        known = words["currencies"].get(value.currency)
        return str(known.format(figure) if known else words["currency"].format(figure, code=value.currency))
    if isinstance(value, PercentValue):
        return str(words["percent"].format(plain(amount)))
    if isinstance(value, QuantityValue) and value.unit:
        return str(words["quantity"].format(figure, unit=value.unit))
    return figure


def _chinese(amount: Decimal) -> str:
    for size, name in ((Decimal(10**8), "亿"), (Decimal(10**4), "万")):
        if abs(amount) >= size and amount * 10**_DECIMALS % size == 0:
            return f"{plain(amount / size)}{name}"
    return plain(amount)


def _english(amount: Decimal, *, cents: bool) -> str:
    whole, _, rest = plain(amount).partition(".")
    if cents and rest:
        rest = rest.ljust(2, "0")
    sign, digits = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    grouped = f"{int(digits):,}" if len(digits) > 4 or cents else digits
    return f"{sign}{grouped}.{rest}" if rest else f"{sign}{grouped}"


def _time(value: TimeValue, language: Tongue) -> str | None:
    words = _words(language)
    if value.zone is not None or value.type in ("recurrence", "symbolic"):
        return None
    text: str | None
    if value.type == "duration":
        text = None if value.duration_max else _duration(value.duration or "", language)
        if text is not None and value.bound != "=":
            text = words["bounds"][value.bound].format(text)
    else:
        text = _stretch(value, language)
    return words["about"].format(text) if text is not None and value.approx else text


def _stretch(value: TimeValue, language: Tongue) -> str | None:
    words = _words(language)
    first, slash, last = (value.edtf or "").partition("/")
    if not slash:
        return _moment(first, language)
    if first == "..":
        if words["before"] and value.bound == "<" and (day := _moment(value.end or "", language)):
            return str(words["before"].format(day))
        return _framed(words["until"], _moment(last, language))
    if last == "..":
        return _framed(words["since"], _moment(first, language))
    start, end = _moment(first, language), _moment(last, language)
    return str(words["between"].format(start, end)) if start and end else None


def _framed(frame: str, inner: str | None) -> str | None:
    return frame.format(inner) if inner else None


def _moment(edtf: str, language: Tongue) -> str | None:
    """A year, month, day, clock time or both; None for any other form (open digits, seconds)."""
    match = _MOMENT.fullmatch(edtf)
    if match is None or not edtf:
        return None
    words = _words(language)
    year, month, day, hour, minute = match.groups()
    clock = words["clock"].format(hour=hour, minute=minute) if hour else ""
    if year is None:
        return str(clock)
    name = words["months"][int(month) - 1] if month and "months" in words else ""
    form = words["day"] if day else words["month"] if month else words["year"]
    date = form.format(year=year, month=int(month or 0), day=int(day or 0), name=name)
    return str(words["moment"].format(date=date, clock=clock) if clock else date)


def _duration(text: str, language: Tongue) -> str | None:
    match = _DURATION.fullmatch(text)
    if match is None:
        return None
    words = _words(language)
    parts = [
        words["unit"].format(number, unit=words["units"][unit][0 if number == "1" else 1])
        for unit, number in match.groupdict().items()
        if number is not None
    ]
    return words["joint"].join(parts) or None
