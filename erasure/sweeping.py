"""Retention: what has been kept for as long as its class says is erased by a sweep, a bounded number at a time.

Each sweep leaves one record a class, of kind ``erase``, whose ground names the class; holds are exempt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import islice

from ..model import utc
from ..rules.retention_file import RetentionFile, class_of_traces, classes_of, kept_since
from ..rules.ruleset import Ruleset
from ..store import traces
from ..store.erasing import (
    Plan,
    drop_traces,
    due_items,
    due_turns,
    gather,
    slots_stored,
)
from ..store.reading import Reading
from ..store.standing import in_force
from .erasing import ErasureError, Grounds, House, carry_out, held_turns

TURNS = "turns"  # beside the slots of a class: what was said


@dataclass(frozen=True, slots=True)
class Swept:
    """What one sweep erased of a class; ``more``: there is more that is due."""

    retention: str
    items: int
    turns: int
    record: int | None
    more: bool
    traces: int = 0  # of questions; they are no part of the log, and no record tells of them


def sweep(
    house: House, ruleset: Ruleset, *, at: datetime, limit: int = 1000, actor: str | None = None, dry_run: bool = False
) -> list[Swept]:  # fmt: skip
    """Erase what is due ``at`` a time, at most ``limit`` items and turns of each class; what is held stays.

    ErasureError for a time that has not come yet: nothing is kept too long by a slip of the pen, but much would go.
    """
    if at > datetime.now(UTC):
        raise ErasureError(f"{utc(at)} has not come yet: a sweep erases what is due, not what will be")
    files = ruleset.of(RetentionFile)
    spans, said = classes_of(files)
    traced = class_of_traces(files, spans)
    done: list[Swept] = []
    with house.store.reading(house.namespace) as tx:
        stored = slots_stored(tx)
    for name in sorted(spans):
        slots = [slot for slot in stored if class_of(ruleset, slot) == name]
        before = kept_since(spans[name], at)
        look = partial(_due, slots=slots, before=before, limit=limit, with_turns=name == said)
        with house.store.reading(house.namespace) as tx:
            found = look(tx)
        asked = _due_traces(house, before, limit) if name == traced else []
        if not (found.items or found.turns or asked):
            continue
        record = None
        if not dry_run and asked:
            with house.store.writing(house.namespace) as writer:
                drop_traces(writer, asked[:limit], now=at)
        if not dry_run and (found.items or found.turns):
            why = Grounds(f"retention:{name}", "retention", actor, {"before": utc(before), "at": utc(at)})
            looks: list[_Due] = []
            record = carry_out(house, partial(_planned, look=look, looks=looks), why)
            found = looks[-1]
        if not (found.items or found.turns or asked):
            continue  # all of it was said again, or put on hold, meanwhile
        more = found.more or len(asked) > limit
        done.append(Swept(name, len(found.items), len(found.turns), record, more, len(asked[:limit])))
    if not dry_run:
        house.store.scrub()
    return done


def _planned(tx: Reading, look: Callable[[Reading], _Due], looks: list[_Due]) -> Plan:
    """What holds that which is due. It is looked for again where nobody else can write: what was said again, changed or
    put on hold since the first look stays.

    Each by its own class: the words stay as long as theirs says, though an item of them has gone.
    """
    looks.append(look(tx))
    return gather(tx, looks[-1].items, looks[-1].turns, texts=False)


def unclassed(house: House, ruleset: Ruleset) -> list[str]:
    """Slots with items that no class covers: a sweep leaves them alone."""
    spans, _ = classes_of(ruleset.of(RetentionFile))
    with house.store.reading(house.namespace) as tx:
        return [slot for slot in slots_stored(tx) if class_of(ruleset, slot) not in spans]


def class_of(ruleset: Ruleset, slot: str) -> str | None:
    """The retention class of a slot; None when it is no slot of the rules."""
    found = ruleset.slots.get(slot.removeprefix("reported."))
    return found.retention if found is not None else None


@dataclass(frozen=True, slots=True)
class _Due:
    """Items and turns of one class that are due."""

    items: Sequence[str]
    turns: Sequence[str]
    more: bool


def _due(tx: Reading, slots: Sequence[str], before: datetime, limit: int, *, with_turns: bool) -> _Due:
    holds = in_force(tx.log, "hold_legal")
    items = due_items(tx, slots, before, limit + 1, lambda item: any(hold.covers(item) for hold in holds))
    turns = due_turns(tx, before, limit + 1, held_turns(tx, holds)) if with_turns else []
    return _Due(items[:limit], turns[:limit], len(items) > limit or len(turns) > limit)


def _due_traces(house: House, before: datetime, limit: int) -> list[int]:
    """Traces that are due and name nothing that a hold keeps, at most one more than ``limit``."""
    with house.store.reading(house.namespace) as tx:
        holds = [hold for hold in in_force(tx.log, "hold_legal") if hold.target]
        entities = {hold.target for hold in holds if hold.on == "entity"}
        turns = held_turns(tx, holds)

        def free(number: int, entity: str | None) -> bool:
            named = traces.targets(tx.connection, tx.namespace, number) if holds else set()
            items = [item for item in map(tx.item, named) if item is not None]
            held = any(hold.covers(item) for hold in holds for item in items)
            return not (held or entity in entities or named & turns)

        due = traces.due(tx.connection, tx.namespace, before)
        return list(islice((number for number, entity in due if free(number, entity)), limit + 1))
