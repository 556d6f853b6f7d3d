"""Typed values that a memory can hold, each frozen and each the only one that knows its canonical form."""

from __future__ import annotations

import re
import unicodedata
from abc import abstractmethod
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer

Bound = Literal["=", "<=", ">=", "<", ">"]
TimeType = Literal["instant", "date", "interval", "duration", "recurrence", "symbolic"]
Grain = Literal["second", "minute", "hour", "day", "week", "month", "quarter", "year"]
Kind = Literal[
    "time", "money", "number", "percent", "quantity", "address", "place", "person", "organization",
    "phone", "email", "url", "identifier", "text",
]  # fmt: skip


def plain(number: Decimal) -> str:
    """A decimal without exponent and without trailing zeros: ``1.50E+3`` → ``1500``."""
    text = format(number, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in {"-0", ""} else text


def folded(text: str) -> str:
    """NFKC with single spaces: the form in which names and free text are compared and shown."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


# Amounts are decimals in memory and plain strings in every output: a float would lose cents.
Amount = Annotated[Decimal, PlainSerializer(plain, return_type=str)]


class Value(BaseModel):
    """Base of all typed values. ``base`` (of what) and ``period`` (which quarter) belong to any value."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: ClassVar[str]

    base: str | None = Field(None, description="Of what the value is a share or a margin, e.g. LPR.")
    period: str | None = Field(None, description="The period the value belongs to, in EDTF, e.g. 2025-36.")

    @property
    @abstractmethod
    def canonical(self) -> str:
        """One unambiguous line for people and tests."""

    def key(self) -> dict[str, Any]:
        """Everything that makes two values the same memory; alternative readings are not part of it."""
        return self.model_dump(mode="json", exclude={"readings"}, exclude_none=True)

    def same_as(self, other: Value) -> bool:
        """True when both are the same kind and equal as whole values."""
        return type(self) is type(other) and self.key() == other.key()


class Magnitude(Value):
    """An amount, a range, a bound or an approximation; the parent of money, numbers, percentages, quantities."""

    amount: Amount | None = None
    min: Amount | None = None
    max: Amount | None = None
    per: str | None = Field(None, description='ISO 8601 duration or unit: "$3,300 a month" has P1M.')
    bound: Bound = "="
    approx: bool = False

    def figure(self) -> str:
        """The number part of the canonical form: bound, tilde, amount or ``min..max``."""
        if self.amount is not None:
            number = plain(self.amount)
        elif self.min is not None or self.max is not None:
            low = plain(self.min) if self.min is not None else ""
            number = f"{low}..{plain(self.max) if self.max is not None else ''}"
        else:
            number = "?"
        mark = "" if self.bound == "=" else self.bound
        return f"{'~' if self.approx else ''}{mark}{number}"


class MoneyValue(Magnitude):
    """Money; ``currency`` is an ISO 4217 code, or None when nothing says which."""

    kind: ClassVar[str] = "money"
    currency: str | None = None

    @property
    def canonical(self) -> str:
        return f"{self.figure()} {self.currency or 'XXX'}"


class NumberValue(Magnitude):
    """A bare number."""

    kind: ClassVar[str] = "number"
    unit: str | None = None

    @property
    def canonical(self) -> str:
        return self.figure()


class PercentValue(Magnitude):
    """A percentage; ``amount`` counts per cent (15 for 15 %), a basis point is 0.01."""

    kind: ClassVar[str] = "percent"
    unit: str | None = "%"

    @property
    def canonical(self) -> str:
        return f"{self.figure()}%"


class QuantityValue(Magnitude):
    """A number of units, the unit as said: 8 套, 20 people."""

    kind: ClassVar[str] = "quantity"
    unit: str | None = None

    @property
    def canonical(self) -> str:
        return f"{self.figure()} {self.unit or ''}".strip()


class Reading(BaseModel):
    """Another legal reading of a time expression; ``end`` is exclusive."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    start: str | None = None
    end: str | None = None


class TimeValue(Value):
    """A date, an instant, an interval, a duration, a recurrence or a time counted from an anchor."""

    kind: ClassVar[str] = "time"
    type: TimeType
    edtf: str | None = None
    start: str | None = Field(None, description="ISO 8601, inclusive; of a bare time of day the coming one.")
    end: str | None = Field(None, description="ISO 8601, exclusive.")
    grain: Grain | None = None
    duration: str | None = Field(None, description="ISO 8601; business days are P3BD.")
    duration_max: str | None = None
    rrule: str | None = Field(None, description="RFC 5545, without the RRULE: prefix.")
    anchor: str | None = Field(None, description="Concept of the anchor vocabulary, or the label as said.")
    offset: str | None = Field(None, description="Signed ISO 8601 duration or business days: +P30D, -P7D, +3bd.")
    zone: str | None = Field(None, description="IANA zone or fixed offset when the text names one.")
    bound: Bound = "="
    approx: bool = False
    readings: tuple[Reading, ...] = ()

    def key(self) -> dict[str, Any]:
        """A bare time of day is the same whenever it is said: its next occurrence is no part of it."""
        fields = super().key()
        if self.edtf and not re.search(r"[0-9X]{4}", self.edtf):
            fields = {name: value for name, value in fields.items() if name not in ("start", "end")}
        return fields

    @property
    def canonical(self) -> str:
        mark = "" if self.bound == "=" else self.bound
        if self.type == "symbolic":
            text = f"{mark}{self.anchor}{self.offset or ''}"
        elif self.type == "duration":
            text = f"{mark}{self.duration}" + (f"..{self.duration_max}" if self.duration_max else "")
        elif self.type == "recurrence":
            text = f"RRULE:{self.rrule}"
        else:
            text = self.edtf or ""  # dates.py writes open bounds as ../X and X/.. itself
        return f"~{text}" if self.approx else text


class AddressValue(Value):
    """A postal address, its parts as written; a US state stands in ``province``."""

    kind: ClassVar[str] = "address"
    PARTS: ClassVar[tuple[str, ...]] = (
        "country", "province", "city", "district", "town", "road", "number", "poi", "building", "unit",
    )  # fmt: skip
    country: str | None = None
    province: str | None = None
    city: str | None = None
    district: str | None = None
    town: str | None = None
    road: str | None = None
    number: str | None = None
    building: str | None = None
    unit: str | None = None
    poi: str | None = None
    postcode: str | None = None
    full: str

    @property
    def canonical(self) -> str:
        if re.search(r"[\u3400-\u9fff]", self.full):  # Chinese: the parts, largest first, without spaces
            parts = [getattr(self, name) for name in self.PARTS]
            joined = "".join(part for part in parts if part)
            return re.sub(r"\s+", "", unicodedata.normalize("NFKC", joined or self.full))
        return folded(self.full)


class NameValue(Value):
    """A name as said; the writing system is part of it."""

    name: str

    @property
    def canonical(self) -> str:
        return folded(self.name)


class PlaceValue(NameValue):
    """A place or landmark that is no full address."""

    kind: ClassVar[str] = "place"


class PersonValue(NameValue):
    """A person."""

    kind: ClassVar[str] = "person"


class OrganizationValue(NameValue):
    """A company, firm, court, bank or other body."""

    kind: ClassVar[str] = "organization"


class PhoneValue(Value):
    """A telephone number; ``e164`` is None when the country is unknown."""

    kind: ClassVar[str] = "phone"
    e164: str | None = None
    national: str

    @property
    def canonical(self) -> str:
        return self.e164 or self.national


class EmailValue(Value):
    """An e-mail address as written; only the domain is case-insensitive."""

    kind: ClassVar[str] = "email"
    address: str

    @property
    def canonical(self) -> str:
        return self.address


class UrlValue(Value):
    """A web address."""

    kind: ClassVar[str] = "url"
    url: str

    @property
    def canonical(self) -> str:
        return self.url


class IdentifierValue(Value):
    """A number that names something: contract, case, order, account, identity card, clause."""

    kind: ClassVar[str] = "identifier"
    scheme: str | None = None
    value: str

    @property
    def canonical(self) -> str:
        return self.value


class TextValue(Value):
    """A fact without a typed value: its topic as said; compared by ``folded`` text."""

    kind: ClassVar[str] = "text"
    text: str

    @property
    def canonical(self) -> str:
        return folded(self.text)


AnyValue = (
    MoneyValue | NumberValue | PercentValue | QuantityValue | TimeValue | AddressValue | PlaceValue | PersonValue
    | OrganizationValue | PhoneValue | EmailValue | UrlValue | IdentifierValue | TextValue
)  # fmt: skip

VALUE_TYPES: dict[str, type[Value]] = {
    cls.kind: cls
    for cls in (
        MoneyValue, NumberValue, PercentValue, QuantityValue, TimeValue, AddressValue, PlaceValue, PersonValue,
        OrganizationValue, PhoneValue, EmailValue, UrlValue, IdentifierValue, TextValue,
    )
}  # fmt: skip


def read_value(kind: str, fields: dict[str, Any]) -> Value:
    """The typed value of ``kind`` from its JSON fields; KeyError: unknown kind, ValueError: bad fields."""
    return VALUE_TYPES[kind].model_validate(fields)
