"""What people have put on hold, restricted or pinned, as the records of the log say: nothing else remembers it.

A hold keeps data from being erased; what is restricted stays stored and is not answered; what is pinned is not
forgotten. They stand until a later record of the same kind lifts them, so that no table could say otherwise than the
log.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from ..model import MemoryItem
from .log import Log

Mark = Literal["hold_legal", "restrict", "pin"]
On = Literal["item", "entity", "conversation"]


@dataclass(frozen=True, slots=True)
class Standing:
    """A hold, a restriction or a pin: its record, what it is on, and the record that lifted it.

    ``target`` is an id of an item or a conversation, or the name of an entity; empty once that name was erased.
    """

    seq: int
    kind: str
    on: str
    target: str
    ground: str
    at: str
    by: str | None = None  # who, where there is no list of actors; else the record bears a signature
    lifted: int | None = None

    def covers(self, item: MemoryItem) -> bool:
        """True for an item that it is on."""
        if not self.target:
            return False
        if self.on == "item":
            return item.id == self.target
        return self.target == (item.entity if self.on == "entity" else item.conversation)


def standing(log: Log, kind: Mark) -> tuple[Standing, ...]:
    """All of a kind, lifted ones too, oldest first."""
    found: dict[int, Standing] = {}
    for row in log.records_of(log.acts(kind)):
        record = json.loads(row.record)
        content = record["content"]
        private = {name: json.loads(each.value) for name, each in row.private.items()}
        if content["act"] == "lift":
            if content["lifts"] in found:
                found[content["lifts"]] = replace(found[content["lifts"]], lifted=row.seq)
            continue
        target = str(content.get("target") or private.get("target", ""))
        found[row.seq] = Standing(
            row.seq, kind, content["on"], target, content["ground"], record["recorded_at"], private.get("actor"),
        )  # fmt: skip
    return tuple(found.values())


def in_force(log: Log, kind: Mark) -> tuple[Standing, ...]:
    """Those that nobody has lifted."""
    return tuple(each for each in standing(log, kind) if each.lifted is None)


def unrestricted(items: Iterable[MemoryItem], restrictions: tuple[Standing, ...]) -> tuple[MemoryItem, ...]:
    """The items that may be answered."""
    if not restrictions:
        return tuple(items)
    return tuple(item for item in items if not any(each.covers(item) for each in restrictions))
