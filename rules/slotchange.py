"""Slots that a release defines otherwise, held against the items that are stored in them: what would no longer fit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..model import MemoryItem
from .ruleset import Ruleset

LIVE = frozenset({"current", "scheduled", "held"})


@dataclass(frozen=True, slots=True)
class Misfit:
    """An item that a changed slot has no place for, why, and the decision that would settle it."""

    item: MemoryItem
    why: str

    def proposal(self) -> str:
        """The command that settles it, once somebody has looked: taking the item back."""
        return f'recordari reject {self.item.id} --seen {self.item.version} --note "{self.why}"'


def misfits(before: Ruleset, after: Ruleset, items: Iterable[MemoryItem]) -> Iterator[Misfit]:
    """The live items that a slot of ``after`` has no place for and one of ``before`` has; versions as stored.

    Of several values where one is allowed all but the newest are named.
    """
    by_slot: defaultdict[str, list[MemoryItem]] = defaultdict(list)
    for item in items:
        if item.status in LIVE:
            by_slot[item.slot.removeprefix("reported.")].append(item)
    for name in sorted(by_slot):
        old, new = before.slots.get(name), after.slots.get(name)
        if old is None:
            continue  # nothing of these releases defines it: it did not fit before either
        if new is None:
            for item in by_slot[name]:
                yield Misfit(item, f"the release has no slot {name}")
            continue
        for item in by_slot[name]:
            if item.kind not in new.value and item.kind in old.value:
                yield Misfit(item, f"{name} no longer takes {item.kind}")
            elif new.qualifier == "none" and old.qualifier != "none" and item.qualifier:
                yield Misfit(item, f"{name} no longer has labels")
        if new.cardinality == "one" and old.cardinality == "many":
            yield from _crowded(name, by_slot[name])


def _crowded(name: str, items: Iterable[MemoryItem]) -> Iterator[Misfit]:
    places: defaultdict[tuple[str, str, str], list[MemoryItem]] = defaultdict(list)
    for item in items:
        if item.status == "current":
            places[(item.entity, item.slot, item.qualifier)].append(item)
    for _, there in sorted(places.items()):
        for item in sorted(there, key=lambda one: (one.said_at, one.id))[:-1]:
            yield Misfit(item, f"{name} takes one value now, and a newer one stands beside it")
