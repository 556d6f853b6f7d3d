"""How a new value stands to a known one: equal, narrower (more precise), broader (vaguer) or different."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Literal

from ..values import AddressValue, EmailValue, Magnitude, MoneyValue, NameValue, PhoneValue, TextValue, TimeValue, Value
from .labels import key

Relation = Literal["equal", "narrower", "broader", "differs"]
_OPEN = re.compile(r"^\.\./|/\.\.$")


def compare(new: Value, old: Value) -> Relation:
    """The relation of whole values; kinds that differ are different."""
    if new.same_as(old):
        return "equal"
    if isinstance(new, Magnitude) and isinstance(old, Magnitude):
        return _magnitudes(new, old) if type(new) is type(old) else "differs"
    if isinstance(new, TimeValue) and isinstance(old, TimeValue):
        return _times(new, old)
    if isinstance(new, AddressValue) and isinstance(old, AddressValue):
        return _addresses(new, old)
    if isinstance(new, PhoneValue) and isinstance(old, PhoneValue):
        return "equal" if _digits(new) == _digits(old) else "differs"
    if isinstance(new, EmailValue) and isinstance(old, EmailValue):
        return "equal" if _mail(new) == _mail(old) else "differs"
    if isinstance(new, NameValue) and isinstance(old, NameValue):
        # A name may be read as a company once and as a person another time; the writing system is part of it.
        return "equal" if new.canonical.casefold() == old.canonical.casefold() else "differs"
    if isinstance(new, TextValue) and isinstance(old, TextValue):
        return "equal" if key(new.text) == key(old.text) else "differs"
    if isinstance(new, NameValue | TextValue | AddressValue) and isinstance(old, NameValue | TextValue | AddressValue):
        return "equal" if new.canonical.casefold() == old.canonical.casefold() else "differs"
    return "differs"


def _magnitudes(new: Magnitude, old: Magnitude) -> Relation:
    if isinstance(new, MoneyValue) and isinstance(old, MoneyValue) and new.currency != old.currency:
        if new.currency and old.currency:
            return "differs"
        bare_new, bare_old = (v.model_copy(update={"currency": None}) for v in (new, old))
        if bare_new.same_as(bare_old):
            return "narrower" if new.currency else "equal"
        return _magnitudes(bare_new, bare_old)
    if getattr(new, "unit", None) != getattr(old, "unit", None):
        return "differs"
    if new.per != old.per and new.per and old.per:
        return "differs"
    if new.bound == old.bound == "=":
        low_new, high_new = _range(new)
        low_old, high_old = _range(old)
        if low_new is None or high_new is None or low_old is None or high_old is None:
            return "differs"
        if (low_new, high_new) == (low_old, high_old):
            if new.approx == old.approx:
                return "equal" if new.per == old.per else ("narrower" if new.per else "equal")
            return "broader" if new.approx else "narrower"
        if low_old <= low_new and high_new <= high_old and (old.approx or old.amount is None):
            return "narrower"
        if low_new <= low_old and high_old <= high_new and (new.approx or new.amount is None):
            return "broader"
    return "differs"


def _range(value: Magnitude) -> tuple[Decimal | None, Decimal | None]:
    if value.amount is not None:
        return value.amount, value.amount
    return value.min, value.max


def _times(new: TimeValue, old: TimeValue) -> Relation:
    if new.type == "symbolic" or old.type == "symbolic":  # counted from an event, be it dated by now or not
        same = (new.anchor, new.offset, new.bound) == (old.anchor, old.offset, old.bound)
        return "equal" if same else "differs"
    if "duration" in (new.type, old.type) or "recurrence" in (new.type, old.type):
        return "equal" if new.canonical == old.canonical and new.type == old.type else "differs"
    one, other = _OPEN.sub("", new.edtf or ""), _OPEN.sub("", old.edtf or "")
    if one and one == other:
        return "equal"  # due on the day and due by the day are one deadline
    if new.start and new.end and old.start and old.end:
        if old.start <= new.start and new.end <= old.end:
            return "narrower"
        if new.start <= old.start and old.end <= new.end:
            return "broader"
    if one and other and one.startswith(other):
        return "narrower"
    if one and other and other.startswith(one):
        return "broader"
    return "differs"


def _addresses(new: AddressValue, old: AddressValue) -> Relation:
    one, other = new.canonical.casefold(), old.canonical.casefold()
    if one == other:
        return "equal"
    parts_new = {n: getattr(new, n) for n in AddressValue.PARTS if getattr(new, n)}
    parts_old = {n: getattr(old, n) for n in AddressValue.PARTS if getattr(old, n)}
    if all(parts_new.get(n) == v for n, v in parts_old.items()) and len(parts_new) > len(parts_old):
        return "narrower"
    if all(parts_old.get(n) == v for n, v in parts_new.items()) and len(parts_old) > len(parts_new):
        return "broader"
    return "differs"


def _digits(phone: PhoneValue) -> str:
    return phone.e164 or re.sub(r"\D", "", phone.national)


def _mail(mail: EmailValue) -> str:
    name, _, domain = mail.address.rpartition("@")
    return f"{name}@{domain.lower()}"
