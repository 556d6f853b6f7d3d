"""Erasing what is remembered: what would go, whether a hold forbids it, and its destruction with a record of it.

The record and the certificate name what went by id, never by value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ..audit.ledger import Ledger, LedgerError
from ..audit.record import Entry, Private, read_record
from ..intake import LONGEST, check_text
from ..store.engine import Store
from ..store.erasing import (
    Plan,
    destroy,
    gather,
    holders,
    items_of,
    items_where,
    turns_where,
)
from ..store.reading import Reading
from ..store.saying import turns_about, turns_of_items
from ..store.standing import Mark, On, Standing, in_force
from ..trust.actors import acting

if TYPE_CHECKING:
    from ..settings import Settings
    from ..store.writing import Writing
    from ..trust.signing import Signer


class ErasureError(ValueError):
    """An erasure that cannot be done; says why, and what can."""


class OnHold(ErasureError):
    """A legal hold is on what was to be erased; nothing was."""


@dataclass(frozen=True, slots=True)
class Target:
    """What is to be erased: items by id, an entity (with ``slot``: one field of it), a conversation, or turns."""

    items: tuple[str, ...] = ()
    entity: str | None = None
    slot: str | None = None
    qualifier: str | None = None
    conversation: str | None = None

    @property
    def scope(self) -> str:
        """What it is, in the words of the record."""
        if self.items:
            return "item"
        if self.conversation is not None:
            return "conversation"
        return "entity" if self.slot is None else "field"

    def check(self) -> None:
        """ErasureError unless exactly one kind of thing is named."""
        if sum((bool(self.items), self.entity is not None, self.conversation is not None)) != 1:
            raise ErasureError("what is to be erased? Name items, an entity or a conversation, one kind only")
        if (self.slot is not None and self.entity is None) or (self.qualifier is not None and self.slot is None):
            raise ErasureError("a field is a slot of an entity. Name entity and slot; a qualifier only narrows them")


@dataclass(frozen=True, slots=True)
class Erased:
    """What an erasure took, or would take (``record`` is None then, and where there was nothing to take)."""

    scope: str
    counts: Mapping[str, int]
    items: tuple[str, ...]
    turns: tuple[str, ...]
    record: int | None = None
    scrubbed: bool = True  # False: a reader keeps old pages alive; the next command that writes cleans them

    @property
    def nothing(self) -> bool:
        """True when there is nothing (left) to erase."""
        return not any(self.counts.values())


@dataclass(frozen=True, slots=True)
class House:
    """Where and for whom something is erased."""

    store: Store
    namespace: str
    settings: Settings
    signer: Signer | None = None


@dataclass(frozen=True, slots=True)
class Grounds:
    """Why something is erased, who does it (None: a sweep), and what the record says besides."""

    ground: str
    scope: str
    actor: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)


def plan_for(tx: Reading, target: Target) -> Plan:
    """Everything that holds what is meant."""
    target.check()
    if target.items:
        return gather(tx, [_known(tx, each) for each in target.items])
    if target.conversation is not None:
        turns = turns_where(tx, conversation=target.conversation)
        return gather(tx, items_of(tx, turns), turns)
    entity = target.entity
    if target.slot is not None:
        return gather(tx, items_where(tx, entity=entity, slot=target.slot, qualifier=target.qualifier))
    theirs = turns_where(tx, principal=entity)
    items = items_where(tx, entity=entity) | items_where(tx, principal=entity)
    return gather(tx, items, theirs | turns_about(tx, str(entity)), names=theirs, entity=entity)


def _known(tx: Reading, given: str) -> str:
    """The id of an item, or of one that an erasure took before; ErasureError when there never was one."""
    found = tx.item_id(given) or given
    if tx.item(found) is None:
        before = (read_record(row.record).content for row in tx.log.records_of(tx.log.acts("erase")))
        gone = {item for content in before for _, item, _ in content.get("versions", ())}
        if not any(item.startswith(given) for item in gone):
            raise ErasureError(f"no item {given!r}. Ids stand in the output of recordari items --json")
    return found


def preview(house: House, target: Target) -> Erased:
    """What would go: counts and ids. OnHold when a hold forbids it."""
    with house.store.reading(house.namespace) as tx:
        plan = plan_for(tx, target)
        refuse_held(tx, plan, target.entity)
    return told(target.scope, plan)


def erase(house: House, target: Target, *, ground: str, actor: str, now: datetime | None = None) -> Erased:
    """Erase what is meant, all of it or nothing, and clean the file; twice is harmless.

    ErasureError without a ground or an actor, ActorError when the actor is not known, OnHold when a hold forbids it.
    """
    if not ground.strip() or not actor.strip():
        raise ErasureError("an erasure needs a ground and an actor. Say on what ground it is done, and by whom")
    found: list[Plan] = []

    def planned(tx: Reading) -> Plan:
        plan = plan_for(tx, target)
        refuse_held(tx, plan, target.entity)
        found.append(plan)
        return plan

    why = Grounds(ground.strip(), target.scope, actor)
    record = carry_out(house, planned, why, now=now)
    return told(target.scope, found[0], record, house.store.scrub())


def told(scope: str, plan: Plan, record: int | None = None, scrubbed: bool = True) -> Erased:
    """The outcome of an erasure for whoever asked for it."""
    return Erased(scope, plan.counts(), tuple(plan.items), tuple(plan.turns), record, scrubbed)


def carry_out(house: House, planned: Any, why: Grounds, *, now: datetime | None = None) -> int | None:
    """Erase what ``planned(tx)`` names inside the writer's transaction; the number of the record, None for nothing."""
    act = acting(house.store, house.namespace, house.settings, why.actor) if why.actor is not None else None
    with house.store.writing(house.namespace) as tx:
        moment = now if now is not None else datetime.now(UTC)  # behind the lock: no record is older than the last
        plan: Plan = planned(tx)
        if plan.empty:
            return None
        _check_vouchers(tx, plan)
        entry = _entry(plan, why, signed=act is not None)
        entries = [entry] if act is None else list(act.entries(tx.log, house.namespace, [entry]))
        rows = Ledger().append(tx.log, house.namespace, entries, recorded_at=moment)
        destroy(tx, plan, decided_by=rows[-1].seq, now=moment)
    if house.signer is not None:
        house.signer.saw(house.namespace, [range(rows[0].seq, rows[-1].seq + 1)])
        house.signer.sign(house.store, house.namespace)
    return rows[-1].seq


def _entry(plan: Plan, why: Grounds, *, signed: bool) -> Entry:
    """The record of an erasure: everything by id."""
    content: dict[str, Any] = {
        "fields": [[seq, names] for seq, names in plan.fields.items()], "ground": why.ground, "scope": why.scope,
        "versions": [[each.row, each.item, each.number] for each in plan.versions], "turns": plan.turns,
        "names": plan.names, "suggestions": [list(each) for each in plan.suggestions], **why.more,
    }  # fmt: skip
    private: dict[str, Any] = {} if signed or why.actor is None else {"actor": why.actor}
    if plan.keeps:
        content["keeps"] = sorted(plan.keeps)
        private["keeps"] = [plan.keeps[key] for key in sorted(plan.keeps)]
    return Entry("erase", content, private)


def _check_vouchers(tx: Writing, plan: Plan) -> None:
    """What the new record vouches for must be what the old values said: a changed one is not laundered."""
    for row in tx.log.records_of({seq for seq, _ in plan.vouchers}):
        record = read_record(row.record)
        for seq, name in plan.vouchers:
            kept = row.private[name] if seq == row.seq else None
            if kept is not None and Private(kept.value, kept.salt).commitment(name) != record.hashes.get(name):
                told = f"the value of {name} beside record {seq} is not the one it commits to"
                raise LedgerError(f"{told}: run `recordari audit verify` before anything is erased")


# ---------------------------------------------------------------- holds
def refuse_held(tx: Reading, plan: Plan, entity: str | None = None) -> None:
    """OnHold when a legal hold is on anything of a plan."""
    forbidding = holding(tx, plan, in_force(tx.log, "hold_legal"), entity)
    if forbidding:
        some = ", ".join(f"{each.seq} (on {each.on}, {each.ground})" for each in forbidding)
        raise OnHold(f"a legal hold forbids it: {some}. Nothing was erased; `recordari hold lift` ends a hold")


def holding(tx: Reading, plan: Plan, holds: Sequence[Standing], entity: str | None = None) -> list[Standing]:
    """Those of the holds that are on anything of a plan."""
    if not holds:
        return []
    items = [item for item in map(tx.item, plan.items) if item is not None]
    turns = holders(tx, (*plan.turns, *plan.names, *(turn for turn, _ in plan.decisions)))
    principals, talks = {principal for principal, _ in turns.values()}, {talk for _, talk in turns.values()}
    principals |= {entity} if entity is not None else set()

    def forbids(hold: Standing) -> bool:
        if any(hold.covers(item) for item in items) or not held_turns(tx, [hold]).isdisjoint(plan.turns):
            return True
        return bool(hold.target) and hold.target in {"entity": principals, "conversation": talks}.get(hold.on, ())

    return [hold for hold in holds if forbids(hold)]


def held_turns(tx: Reading, holds: Sequence[Standing]) -> set[str]:
    """Turns that a hold keeps: those it is on, and those that say something of what it is on."""
    held: set[str] = set()
    for hold in holds:
        if not hold.target:
            continue
        if hold.on == "conversation":
            held |= turns_where(tx, conversation=hold.target)
        elif hold.on == "entity":
            held |= turns_where(tx, principal=hold.target) | turns_about(tx, hold.target)
        else:
            held |= turns_of_items(tx, [hold.target])
    return held


def mark(house: House, kind: Mark, on: On, target: str, *, ground: str, actor: str, now: datetime | None = None) -> int:
    """Put something on hold (``hold_legal``) or restrict it (``restrict``); the number of its record."""
    if not ground.strip() or not actor.strip() or not target.strip():
        raise ErasureError("say what it is on, on what ground it is done, and by whom")
    try:
        check_text(target, LONGEST)
    except ValueError as wrong:
        raise ErasureError(f"no item, entity or conversation has such a name: {wrong}") from None
    with house.store.reading(house.namespace) as tx:
        known = tx.item(tx.item_id(target) or target) if on == "item" else None
    if on == "item" and known is None:
        raise ErasureError(f"no item {target!r}. Ids stand in the output of recordari items --json")
    name = known.id if known is not None else target
    content: dict[str, Any] = {"act": "begin", "on": on, "ground": ground.strip()}
    private = {"target": name} if on == "entity" else {}  # the name of an entity can be erased
    if on != "entity":
        content["target"] = name
    return _note(house, Entry(kind, content, private), actor, now)


def lift(house: House, kind: Mark, number: int, *, ground: str, actor: str, now: datetime | None = None) -> int:
    """End a hold or a restriction by the number of its record; the number of the record that ends it."""
    if not ground.strip() or not actor.strip():
        raise ErasureError("say on what ground it ends, and by whom")
    with house.store.reading(house.namespace) as tx:
        if number not in {each.seq for each in in_force(tx.log, kind)}:
            raise ErasureError(f"no {kind} {number} is in force. The list shows those that are")
    return _note(house, Entry(kind, {"act": "lift", "lifts": number, "ground": ground.strip()}), actor, now)


def _note(house: House, entry: Entry, actor: str, now: datetime | None) -> int:
    act = acting(house.store, house.namespace, house.settings, actor)
    if act is None:
        entry = replace(entry, private={**entry.private, "actor": actor})
    with house.store.writing(house.namespace) as tx:
        entries = [entry] if act is None else list(act.entries(tx.log, house.namespace, [entry]))
        rows = Ledger().append(
            tx.log, house.namespace, entries, recorded_at=now if now is not None else datetime.now(UTC)
        )
        tx.forget()
    if house.signer is not None:
        house.signer.after_commit(house.store, house.namespace, [range(rows[0].seq, rows[-1].seq + 1)])
    return rows[-1].seq
