"""What an inline test takes as given: moments, turns, and memories written as ``slot[qualifier]: canonical``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from decimal import Decimal, InvalidOperation

from ..model import Known, MemoryItem, Turn
from ..rulefile import InlineTest
from ..values import (
    VALUE_TYPES,
    AddressValue,
    EmailValue,
    IdentifierValue,
    Magnitude,
    MoneyValue,
    NameValue,
    PercentValue,
    PhoneValue,
    QuantityValue,
    TextValue,
    TimeValue,
    UrlValue,
    Value,
)  # fmt: skip
from .slots import SlotFile

# The moment of saying when a test names none; also the zone of moments without one.
NOW = "2026-03-18T10:00:00+08:00"
ZONE = timezone(timedelta(hours=8))
_PLACE = re.compile(r"(?P<slot>[a-z][a-z0-9_.]*)(?:\[(?P<qualifier>.*)\])?\Z", re.DOTALL)
_FIGURE = re.compile(
    r"(?P<approx>~?)(?P<bound><=|>=|<|>|)(?P<figure>-?[\d.]+(?:\.\.-?[\d.]*)?|\.\.-?[\d.]+)(?P<rest>.*)\Z"
)
_SYMBOLIC = re.compile(r"(?P<bound><=|>=|<|>|)(?P<anchor>[^\W\d]\w*)(?P<offset>[+-].+)?\Z")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\Z")


def moment(now: str | None) -> datetime:
    """The moment of saying: a date means ten in the morning, a moment without a zone is in China."""
    text = now or NOW
    read = datetime.fromisoformat(f"{text}T10:00:00" if _DAY.match(text) else text)
    return read if read.tzinfo is not None else read.replace(tzinfo=ZONE)


def turns_of(test: InlineTest, apart: timedelta = timedelta(minutes=1)) -> tuple[Turn, ...]:
    """The turns of a test: those of ``after``, so far ``apart``, and last the sentence itself."""
    said_at = moment(test.now)
    texts = [*test.after, test.say]
    turns = []
    for index, text in enumerate(texts):
        at = said_at - apart * (len(texts) - 1 - index)
        turns.append(
            Turn(turn_id=f"t{index}", text=text, speaker=test.speaker, said_at=at, received_at=at, ordinal=index)
        )
    return tuple(turns)


Parse = Callable[[str], Sequence[Value]]


def known_of(test: InlineTest, slots: Mapping[str, SlotFile], parse: Parse) -> Known:
    """The memories a test starts from, said by the user a day before; ValueError for one that cannot be read.

    ``parse`` gives the values that extraction finds in a canonical text: where it finds that very value, the memory
    holds it exactly as a turn would have made it.
    """
    said_at = moment(test.now) - timedelta(days=1)
    items = []
    for index, (place, canonical) in enumerate(test.known.items()):
        hit = _PLACE.match(place)
        slot = slots.get(hit["slot"]) if hit else None
        if hit is None or slot is None:
            raise ValueError(f"known: {place!r} is no slot, or slot[qualifier]")
        found = [value for value in parse(canonical) if type(value).kind in slot.value and value.canonical == canonical]
        value = found[0] if len(found) == 1 else read_canonical(slot.value, canonical)
        items.append(
            MemoryItem(
                id=f"known-{index}", entity="user", type=slot.type, slot=slot.slot, qualifier=hit["qualifier"] or "",
                value=value, asserted_by="user", valid_from=said_at, said_at=said_at, recorded_at=said_at,
                surface=canonical, turn_id=f"before-{index}", turn=index, rule="test.known@1",
            )
        )  # fmt: skip
    return Known(items=tuple(items))


def read_canonical(kinds: list[str], canonical: str) -> Value:
    """The value of the first kind whose canonical form is exactly this text; ValueError when there is none."""
    for kind in kinds:
        value = _read(kind, canonical)
        if value is not None and value.canonical == canonical:
            return value
    raise ValueError(f"known: {canonical!r} is no canonical form of {' or '.join(kinds)}")


def _read(kind: str, text: str) -> Value | None:
    made = VALUE_TYPES[kind]
    if issubclass(made, Magnitude):
        return _magnitude(made, text)
    if issubclass(made, NameValue):
        return made(name=text)
    if made is TimeValue:
        return _time(text)
    if made is AddressValue:
        return AddressValue(full=text)
    if made is PhoneValue:
        return PhoneValue(e164=text if text.startswith("+") else None, national=text)
    if made is EmailValue:
        return EmailValue(address=text)
    if made is UrlValue:
        return UrlValue(url=text)
    if made is IdentifierValue:
        return IdentifierValue(value=text)
    return TextValue(text=text) if made is TextValue else None


def _magnitude(made: type[Magnitude], text: str) -> Magnitude | None:
    hit = _FIGURE.match(text)
    if hit is None:
        return None
    low, dots, high = hit["figure"].partition("..")
    try:
        numbers = {name: Decimal(part) for name, part in (("min", low), ("max", high)) if dots and part}
        if not dots:
            numbers = {"amount": Decimal(low)}
    except InvalidOperation:
        return None
    rest = hit["rest"].strip()
    fields: dict[str, object] = {**numbers, "bound": hit["bound"] or "=", "approx": bool(hit["approx"])}
    if made is MoneyValue:
        fields["currency"] = None if rest == "XXX" else rest
    elif made is QuantityValue:
        fields["unit"] = rest or None
    elif rest != ("%" if made is PercentValue else ""):
        return None
    return made.model_validate(fields)


def _time(text: str) -> TimeValue | None:
    """A time of the canonical profile."""
    plain = text.removeprefix("~")
    approx = plain != text
    if plain.startswith("RRULE:"):
        return TimeValue(type="recurrence", rrule=plain.removeprefix("RRULE:"), approx=approx)
    if re.match(r"P[\dT]", plain):
        first, _, last = plain.partition("..")
        return TimeValue(type="duration", duration=first, duration_max=last or None, approx=approx)
    if "/" in plain:
        start, _, end = plain.partition("/")
        return TimeValue(
            type="interval", edtf=plain, start=None if start == ".." else start, end=None if end == ".." else end,
            approx=approx,
        )  # fmt: skip
    if _DAY.match(plain):
        following = (datetime.fromisoformat(plain) + timedelta(days=1)).date().isoformat()
        return TimeValue(type="date", edtf=plain, start=plain, end=following, grain="day", approx=approx)
    if re.match(r"\d{4}", plain):
        kind = "instant" if "T" in plain else "date"
        return TimeValue.model_validate({"type": kind, "edtf": plain, "start": plain, "approx": approx})
    hit = _SYMBOLIC.match(plain)
    if hit is None:
        return None
    fields = {"anchor": hit["anchor"], "offset": hit["offset"], "bound": hit["bound"] or "=", "approx": approx}
    return TimeValue.model_validate({"type": "symbolic", **fields})
