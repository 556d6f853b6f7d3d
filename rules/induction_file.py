"""Induction files: which refused wishes count, how many of them make a preference, and when it fades."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Literal

from pydantic import Field

from ..model import Evidence
from ..rulefile import Model, RuleFile
from .slots import span_of

_SPAN = r"^P\d+[DWMY]$"


class ByCount(Model):
    """How much an induced item matters, by the number of its evidence."""

    first: float = Field(0.4, ge=0, le=1, description="When it is induced.")
    each: float = Field(0.1, ge=0, le=1, description="More for every further time.")
    most: float = Field(0.7, ge=0, le=1, description="Never more than this.")


class InductionFile(RuleFile):
    """Which refused wishes count, how many make a preference, and when it fades."""

    kind: Literal["induction"] = Field(description="induction")
    slot: str = Field(
        pattern=r"^[a-z][a-z0-9_]*(\.[a-z0-9_]+)*$", description="Slot of the wishes, and of what they become."
    )
    refused: list[Literal["desired", "one_off_command"]] = Field(
        ["desired", "one_off_command"], min_length=1, description="Reasons of the refusals that count."
    )
    times: int = Field(ge=2, description="How often the same must have been asked for.")
    within: str = Field(pattern=_SPAN, description="All of them within this time: ISO 8601 duration, days to years.")
    apart: Literal["turn", "conversation", "day"] = Field(
        "day", description="Counted once a turn, once a conversation, or once a day: who insists asks once."
    )
    importance: ByCount = Field(ByCount(), description="How much it matters, by the count of its evidence.")
    fades: str = Field(pattern=_SPAN, description="Ends when it was asked for no more for so long.")

    def weight(self, count: int) -> Decimal:
        """The importance of something with so much evidence."""
        by = self.importance
        more = Decimal(str(by.each)) * max(0, count - self.times)
        return min(Decimal(str(by.most)), Decimal(str(by.first)) + more)

    def standing(self, evidence: Iterable[Evidence], now: datetime) -> tuple[Evidence, ...]:
        """The evidence that counts at a time, oldest first: within the window, and what was not apart once."""
        counted: dict[str, Evidence] = {}
        for each in sorted(evidence, key=lambda each: (each.said_at, each.turn_id, each.start)):
            if now - span_of(self.within) <= each.said_at <= now:
                names = {"turn": each.turn_id, "conversation": each.conversation, "day": str(each.said_at.date())}
                counted.setdefault(names[self.apart], each)
        return tuple(counted.values())
