"""What is known to the writer of a namespace, kept between its turns and brought up to date when others wrote."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from sqlalchemy import Connection, bindparam, func, literal_column, select

from ..model import UNSAID, Decision, Known, MemoryItem, Proposal, Said, Turn, Wish, wish_of
from .codec import read_decision, read_item, read_proposal, read_turn
from .items import is_void, status_at
from .log import Log
from .standing import Standing, in_force, unrestricted
from .statements import Statement
from .tables import ACTS, DECISIONS, ITEMS, PROPOSALS, TURNS, WISHES, unstamp

# Principals and conversations kept in memory; the least used leave first. A miss costs one indexed query, so the
# number only has to cover the clients that talk at the same time.
_KEPT = 128
_WISHES_KEPT = 256  # of a principal; a rule that counts over months needs the last few dozen
_RECENT_TURNS = 32  # turns whose talk is kept; nobody resolves "the other one" over a longer way

_ITEMS_OF = Statement(
    select(ITEMS.c.item_id, ITEMS.c.ordinal, ITEMS.c.body)
    .where(ITEMS.c.namespace == bindparam("namespace"), ITEMS.c.principal == bindparam("principal"))
    .where(ITEMS.c.replaced_at.is_(None))
    .order_by(ITEMS.c.ordinal)
)
_ITEMS_SINCE = Statement(
    select(ITEMS.c.principal, ITEMS.c.item_id, ITEMS.c.ordinal, ITEMS.c.body)
    .where(ITEMS.c.namespace == bindparam("namespace"), ITEMS.c.row > bindparam("row"))
    .order_by(ITEMS.c.row)
)
_ORDINAL = Statement(
    select(func.max(TURNS.c.ordinal), func.max(TURNS.c.received_at)).where(
        TURNS.c.namespace == bindparam("namespace"), TURNS.c.conversation == bindparam("conversation")
    )
)
_SAID = Statement(
    select(DECISIONS.c.turn, DECISIONS.c.speaker, DECISIONS.c.action, DECISIONS.c.item, DECISIONS.c.body)
    .where(DECISIONS.c.namespace == bindparam("namespace"), DECISIONS.c.conversation == bindparam("conversation"))
    .where(DECISIONS.c.turn >= bindparam("turn"))
    .order_by(DECISIONS.c.turn, DECISIONS.c.ordinal)
)
_PROPOSALS = Statement(
    select(PROPOSALS.c.body)
    .where(PROPOSALS.c.namespace == bindparam("namespace"), PROPOSALS.c.conversation == bindparam("conversation"))
    .where(PROPOSALS.c.turn >= bindparam("turn"), PROPOSALS.c.answered_by.is_(None))
    .order_by(PROPOSALS.c.turn, PROPOSALS.c.number)
)
_WISH = select(WISHES.c.principal, TURNS.c.body, DECISIONS.c.body).where(
    WISHES.c.namespace == bindparam("namespace"),
    *(TURNS.c[name] == WISHES.c[name] for name in ("namespace", "turn_id")),
    *(DECISIONS.c[name] == WISHES.c[name] for name in ("namespace", "turn_id", "ordinal")),
)
_WISHES_OF = Statement(
    _WISH.where(WISHES.c.principal == bindparam("principal"))
    .order_by(WISHES.c.seq.desc())
    .limit(literal_column(str(_WISHES_KEPT)))
    .offset(literal_column("0"))  # or SQLite gets a parameter without a name
)
_FORGOTTEN_SINCE = Statement(
    select(func.count()).where(
        ACTS.c.namespace == bindparam("namespace"),
        ACTS.c.kind.in_([literal_column("'erase'"), literal_column("'restrict'")]),
        ACTS.c.seq >= bindparam("since"),
    )
)
_WISHES_SINCE = Statement(_WISH.where(WISHES.c.seq >= bindparam("since")).order_by(WISHES.c.seq))


class Source(Protocol):
    """Where the cache asks for what it does not have."""

    @property
    def namespace(self) -> str:
        """The namespace."""

    @property
    def connection(self) -> Connection:
        """For any question."""

    def about(self, column: str, key: str) -> Connection:
        """For a question about the rows with this key alone."""


@dataclass(slots=True)
class Principal:
    """The newest version of each item of one principal, in the order in which the items came to be."""

    ordinals: dict[str, int] = field(default_factory=dict)
    live: dict[str, MemoryItem] = field(default_factory=dict)
    history: dict[str, MemoryItem] = field(default_factory=dict)
    wishes: tuple[Wish, ...] = ()  # the last ones, oldest first

    def wished(self, wish: Wish) -> None:
        """Keep what was asked for; always the same last ones, whoever remembers them."""
        self.wishes = (*self.wishes, wish)[-_WISHES_KEPT:]

    def put(self, item: MemoryItem, ordinal: int) -> None:
        """Keep the newest version."""
        self.ordinals[item.id] = ordinal
        if item.superseded_at is None:
            self.live[item.id] = item
            return
        self.live.pop(item.id, None)
        if is_void(item):
            self.history.pop(item.id, None)
        else:
            self.history[item.id] = item

    def at(self, moment: datetime | None) -> tuple[tuple[MemoryItem, ...], tuple[MemoryItem, ...]]:
        """Unsuperseded and held items with their status at a time, and the history of what was once true."""
        live: list[MemoryItem] = []
        for item in self.live.values():
            status = item.status if moment is None else status_at(item, moment)
            live.append(item if status == item.status else item.model_copy(update={"status": status}))
        return tuple(live), tuple(self.history.values())


@dataclass(slots=True)
class Conversation:
    """Where a conversation stands."""

    next_ordinal: int = 0
    last_received: datetime | None = None
    recent: list[Said] = field(default_factory=list)
    proposals: list[Proposal] = field(default_factory=list)

    def forget_before(self, turn: int) -> None:
        """Drop talk that no turn will ask for any more."""
        if self.recent and self.recent[0].turn < turn - _RECENT_TURNS:
            self.recent = [said for said in self.recent if said.turn >= turn - _RECENT_TURNS]
        self.proposals = [each for each in self.proposals if each.turn >= turn - _RECENT_TURNS]


@dataclass(slots=True)
class Cache:
    """One namespace as its writer last left it; valid while the counter of the namespace stands where it stood."""

    version: int = -1
    item_rows: int = 0
    records: int = 0  # of the ledger
    principals: OrderedDict[str, Principal] = field(default_factory=OrderedDict)
    conversations: OrderedDict[str, Conversation] = field(default_factory=OrderedDict)
    restrictions: tuple[Standing, ...] | None = None  # None: not read yet

    def forget(self) -> None:
        """Nothing that was read counts any more."""
        self.principals.clear()
        self.conversations.clear()
        self.restrictions = None

    def refresh(self, source: Source, version: int, item_rows: int, records: int) -> None:
        """Take in what others wrote since: item versions are only added, so only the new ones are read."""
        if version == self.version:
            return
        if self.version >= 0 and _FORGOTTEN_SINCE.all(
            source.connection, namespace=source.namespace, since=self.records
        ) != [(0,)]:
            self.forget()
        if self.principals:
            since = _ITEMS_SINCE.all(source.connection, namespace=source.namespace, row=self.item_rows)
            for principal, _, ordinal, body in since:
                if principal in self.principals:
                    self.principals[principal].put(read_item(body), ordinal)
            wished = _WISHES_SINCE.all(source.connection, namespace=source.namespace, since=self.records)
            for principal, turn, decision in wished:
                wish = _read_wish(turn, decision)
                if wish is not None and principal in self.principals:
                    self.principals[principal].wished(wish)
        self.conversations.clear()
        self.version, self.item_rows, self.records = version, item_rows, records

    def principal(self, source: Source, name: str) -> Principal:
        """The items of a principal."""
        kept = self.principals.get(name)
        if kept is None:
            kept = Principal()
            for _, ordinal, body in _ITEMS_OF.all(
                source.about("principal", name), namespace=source.namespace, principal=name
            ):
                kept.put(read_item(body), ordinal)
            asked = {"namespace": source.namespace, "principal": name}
            for _, turn, decision in reversed(_WISHES_OF.all(source.about("principal", name), **asked)):
                wish = _read_wish(turn, decision)
                if wish is not None:
                    kept.wished(wish)
            self.principals[name] = kept
            if len(self.principals) > _KEPT:
                self.principals.popitem(last=False)
        self.principals.move_to_end(name)
        return kept

    def conversation(self, source: Source, name: str) -> Conversation:
        """Where a conversation stands."""
        kept = self.conversations.get(name)
        if kept is None:
            kept = _conversation(source, name)
            self.conversations[name] = kept
            if len(self.conversations) > _KEPT:
                self.conversations.popitem(last=False)
        self.conversations.move_to_end(name)
        return kept

    def known(self, source: Source, entity: str, conversation: str, last_turns: int, at: datetime | None) -> Known:
        """What a turn of this principal in this conversation may rest on."""
        principal = self.principal(source, entity)
        if self.restrictions is None:
            self.restrictions = in_force(Log(source, ""), "restrict")
        items, history = (unrestricted(some, self.restrictions) for some in principal.at(at))
        talk, wishes = self.conversation(source, conversation), principal.wishes
        first = talk.next_ordinal - min(last_turns, _RECENT_TURNS)
        if self.restrictions:
            hidden = {(each.on, each.target) for each in self.restrictions}
            wishes = tuple(
                wish for wish in wishes
                if not hidden & {("entity", wish.entity), ("conversation", wish.said.conversation)}
            )  # fmt: skip
            if hidden & {("entity", entity), ("conversation", conversation)}:  # nor is what was just said about it used
                return Known(items=items, history=history, wishes=wishes)
        return Known(
            items=items,
            history=history,
            recent=tuple(said for said in talk.recent if said.turn >= first),
            proposals=tuple(each for each in talk.proposals if each.turn >= first),
            wishes=wishes,
        )


def _read_wish(turn: str, decision: str) -> Wish | None:
    """A wish from its turn and decision; None when what was asked for has been erased."""
    return wish_of(read_turn(turn, None), read_decision(decision))


def said_in(turn: Turn, decisions: Iterable[Decision]) -> list[Said]:
    """What a turn talked about, as far as a later one can refer to it."""
    return [
        Said(
            turn=turn.ordinal,
            speaker=turn.speaker,
            slot=decision.slot,
            qualifier=decision.qualifier,
            entity=decision.entity,
            kind=decision.kind,
            action=decision.action,
            item=decision.item,
        )
        for decision in decisions
        if (decision.slot is not None or decision.kind is not None) and decision.features.get("act") not in UNSAID
    ]


def _conversation(source: Source, name: str) -> Conversation:
    connection, namespace = source.about("conversation", name), source.namespace
    ((last, received),) = _ORDINAL.all(connection, namespace=namespace, conversation=name)
    if last is None:
        return Conversation()
    recent: list[Said] = []
    asked: dict[str, Any] = {"namespace": namespace, "conversation": name, "turn": last + 1 - _RECENT_TURNS}
    for turn, speaker, action, item, body in _SAID.all(connection, **asked):
        fields = json.loads(body)
        named = fields.get("slot") is not None or fields.get("kind") is not None
        if named and fields.get("features", {}).get("act") not in UNSAID:
            recent.append(
                Said(
                    turn=turn,
                    speaker=speaker,
                    slot=fields.get("slot"),
                    qualifier=fields.get("qualifier", ""),
                    entity=fields.get("entity"),
                    kind=fields.get("kind"),
                    action=action,
                    item=item,
                )
            )
    proposals = _PROPOSALS.all(connection, **asked)
    return Conversation(last + 1, unstamp(received), recent, [read_proposal(body) for (body,) in proposals])
