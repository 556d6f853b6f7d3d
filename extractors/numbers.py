"""Numbers as people write them: digits in every grouping, Chinese numerals and capitals, English number words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from ..values import plain
from .chart import Edge, source
from .text import Normalized


@dataclass(frozen=True)
class Num:
    """A number as said: exact (``amount``) or between ``low`` and ``high``; ``approx`` when hedged by its form."""

    amount: Decimal | None = None
    low: Decimal | None = None
    high: Decimal | None = None
    approx: bool = False

    @property
    def canonical(self) -> str:
        if self.amount is not None:
            return plain(self.amount)
        return f"{'' if self.low is None else plain(self.low)}..{'' if self.high is None else plain(self.high)}"


@source("digits")
def digits(normalized: Normalized) -> Iterator[Edge]:
    """Bare runs of one to eight digits, as written."""
    for match in re.finditer(r"(?<![0-9])[0-9]{1,8}(?![0-9])", normalized.text):
        yield Edge("digits", match.start(), match.end(), match[0], "numbers.digits", 1, 1)


@source("number")
def numbers(normalized: Normalized) -> Iterator[Edge]:
    """Every number."""
    for match in re.finditer(r"(?<![0-9])[0-9]{1,15}(?:\.[0-9]{1,15})?(?![0-9])", normalized.text):
        yield Edge("number", match.start(), match.end(), Num(Decimal(match[0])), "numbers.arabic", 1, 1)
