"""Units of time and durations in the units they were said in."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from ...values import Bound

Unit = Literal[
    "second", "minute", "hour", "day", "business_day", "weekend", "week", "month", "quarter", "half", "season",
    "year", "decade", "century",
]  # fmt: skip

# Finest first; a weekend and a season are periods of their own that no calendar unit divides.
ORDER: tuple[Unit, ...] = (
    "second", "minute", "hour", "day", "business_day", "weekend", "week", "month", "quarter", "season", "half",
    "year", "decade", "century",
)  # fmt: skip

# A fraction of a unit is counted in a smaller one: half a year is six months, never 182.6 days.
_SMALLER: dict[Unit, tuple[Unit, int]] = {
    "century": ("year", 100),
    "decade": ("year", 10),
    "year": ("month", 12),
    "half": ("month", 6),
    "season": ("month", 3),
    "quarter": ("month", 3),
    "month": ("day", 30),
    "week": ("day", 7),
    "weekend": ("day", 2),
    "day": ("hour", 24),
    "hour": ("minute", 60),
    "minute": ("second", 60),
}
_WHOLE: tuple[Unit, ...] = ("century", "decade", "half", "season", "quarter")
_DATE_LETTERS: tuple[tuple[Unit, str], ...] = (
    ("year", "Y"), ("month", "M"), ("week", "W"), ("day", "D"), ("business_day", "BD"),
)  # fmt: skip
_CLOCK_LETTERS: tuple[tuple[Unit, str], ...] = (("hour", "H"), ("minute", "M"), ("second", "S"))


class Impossible(ValueError):
    """A combination that the calendar does not have: 31 April, month 13, 25 o'clock."""


class Unplaced(Impossible):
    """Words that the grammar joined but that make no time together: a time of day on a whole week."""


def coarser(a: Unit, b: Unit) -> bool:
    """True when ``a`` is a longer unit than ``b``."""
    return ORDER.index(a) > ORDER.index(b)


@dataclass(frozen=True, slots=True)
class Length:
    """A duration in the units it was said in; ``high`` is the other end of "4-6 business days"."""

    parts: tuple[tuple[Unit, Fraction], ...]
    high: Length | None = None
    approx: bool = False
    bound: Bound = "="
    year: int | None = None  # 24年 may also be the year 2024

    def whole(self) -> dict[Unit, int]:
        """Whole numbers of units, fractions carried down (2.5 h → 2 h 30 min)."""
        if all(amount.denominator == 1 and unit not in _WHOLE for unit, amount in self.parts):
            counted: dict[Unit, int] = {}
            for unit, amount in self.parts:
                counted[unit] = counted.get(unit, 0) + amount.numerator
            return {unit: counted[unit] for unit in ORDER if counted.get(unit)}
        amounts: dict[Unit, Fraction] = {}
        for unit, amount in self.parts:
            amounts[unit] = amounts.get(unit, Fraction(0)) + amount
        for unit in reversed(ORDER):
            amount = amounts.get(unit, Fraction(0))
            fraction = amount if unit in _WHOLE else amount - int(amount)
            if fraction and unit in _SMALLER:
                smaller, factor = _SMALLER[unit]
                amounts[unit] = amount - fraction
                amounts[smaller] = amounts.get(smaller, Fraction(0)) + fraction * factor
        return {unit: int(amounts[unit]) for unit in ORDER if int(amounts.get(unit, 0))}

    @property
    def split_second(self) -> Fraction:
        """What is left below a second: 123.45 s."""
        seconds = sum((amount for unit, amount in self.parts if unit == "second"), Fraction(0))
        return seconds - int(seconds)

    def iso(self) -> str:
        """ISO 8601: P30D, PT90M, P2Y6M; business days are P4BD."""
        amounts = self.whole()
        if "weekend" in amounts:
            amounts["day"] = amounts.get("day", 0) + 2 * amounts.pop("weekend")
        if len(amounts) > 1 and "week" in amounts:  # P1W3D is no ISO 8601: weeks stand alone
            amounts["day"] = amounts.get("day", 0) + 7 * amounts.pop("week")
        days = "".join(f"{amounts[unit]}{letter}" for unit, letter in _DATE_LETTERS if amounts.get(unit))
        clock = "".join(f"{amounts[unit]}{letter}" for unit, letter in _CLOCK_LETTERS if amounts.get(unit))
        if self.split_second:
            rest = f"{float(self.split_second):.3f}"[1:].rstrip("0")
            clock = f"{clock[:-1]}{rest}S" if clock.endswith("S") else f"{clock}0{rest}S"
        return f"P{days}{'T' + clock if clock else ''}" if days or clock else "P0D"

    @property
    def finest(self) -> Unit:
        """The smallest unit it counts in."""
        return min(self.whole() or {"day": 0}, key=ORDER.index)

    @property
    def said(self) -> Unit:
        """The smallest unit as said, before fractions are carried down."""
        return min((unit for unit, _ in self.parts), key=ORDER.index)

    def plus(self, other: Length) -> Length:
        """Both together: a year and three months."""
        return Length(self.parts + other.parts, approx=self.approx or other.approx)
