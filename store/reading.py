"""Questions to a namespace: items at a time, their versions, turns, decisions, the log, full text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, bindparam, func, or_, select

from ..model import Decision, ItemStatus, MemoryItem, Proposal, Receipt, Turn
from .codec import content_digest, read_decision, read_item, read_proposal, read_turn
from .errors import StoreError, TurnConflict
from .items import as_of as at_time
from .log import Log, Source
from .outbox import Outbox
from .search import Hit, search
from .standing import Standing, in_force, unrestricted
from .statements import Columns, Statement
from .tables import DECISIONS, ITEMS, NAMESPACES, PROPOSALS, RECORDS, RULESETS, RUNTIMES, TURNS, stamp

_TURN = Statement(
    select(TURNS.c.digest, TURNS.c.body, TURNS.c.text).where(
        TURNS.c.namespace == bindparam("namespace"), TURNS.c.turn_id == bindparam("turn")
    )
)
SHORTEST = 8  # characters of an id that may stand for it
_HEX = re.compile("[0-9a-f]+")
_SHOWN: frozenset[ItemStatus] = frozenset({"current", "scheduled", "held"})


@dataclass(frozen=True, slots=True)
class View:
    """A namespace through a connection that is fetched anew for each question."""

    connect: Callable[[], Connection]
    namespace: str

    @property
    def connection(self) -> Connection:
        """The connection, with everything written so far."""
        return self.connect()


class Reading:
    """A consistent view of one namespace, for as long as its block lasts."""

    def __init__(self, source: Source, place: str) -> None:
        self._source = source
        self.namespace = source.namespace
        self.place = place

    @property
    def connection(self) -> Connection:
        """The connection; what a writer has not sent yet is sent first."""
        return self._source.connection

    @cached_property
    def secret(self) -> bytes:
        """The secret of the namespace; empty when nothing has been written to it yet."""
        query = select(NAMESPACES.c.secret).where(NAMESPACES.c.name == self.namespace)
        kept = self.connection.execute(query).scalar()
        return bytes(kept) if kept is not None else b""

    @cached_property
    def log(self) -> Log:
        """The ledger rows of the namespace."""
        return Log(self._source, self.place)

    @cached_property
    def restrictions(self) -> tuple[Standing, ...]:
        """What may be stored and not be answered."""
        return in_force(self.log, "restrict")

    @cached_property
    def outbox(self) -> Outbox:
        """Work waiting in the namespace."""
        return Outbox(self.connection, self.namespace)

    def items(
        self,
        *,
        entity: str | None = None,
        principal: str | None = None,
        slot: str | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        history: bool = False,
    ) -> tuple[MemoryItem, ...]:
        """Items in the order in which they came to be.

        ``as_of`` asks what was true in the world at a time, ``known_at`` what we had been told by then; together
        they say what we would have answered. Without ``as_of`` statuses are those of the last write. Current,
        scheduled and held items are shown, with ``history`` the superseded, ended and expired ones too. What was
        to come at the time is shown when it had been said by then.
        """
        where: list[ColumnElement[bool]] = [ITEMS.c.namespace == self.namespace]
        for column, wanted in ((ITEMS.c.entity, entity), (ITEMS.c.principal, principal), (ITEMS.c.slot, slot)):
            if wanted is not None:
                where.append(column == wanted)
        if known_at is None:
            where.append(ITEMS.c.replaced_at.is_(None))
        else:
            then = stamp(known_at)
            where.append(
                and_(ITEMS.c.written_at <= then, or_(ITEMS.c.replaced_at.is_(None), ITEMS.c.replaced_at > then))
            )
        query = select(ITEMS.c.item_id, ITEMS.c.body).where(*where).order_by(ITEMS.c.ordinal, ITEMS.c.version)
        # Turns of several conversations may arrive out of step; the newest version known at the time counts.
        newest = _pairs(self.connection.execute(query))
        found = unrestricted((read_item(body) for body in newest.values()), self.restrictions)
        moment = as_of if as_of is not None else known_at
        if moment is not None:
            found = at_time(found, moment)
        if history:
            return found
        return tuple(
            item
            for item in found
            if item.status in _SHOWN and (item.status != "scheduled" or moment is None or item.said_at <= moment)
        )

    def item(self, item_id: str, version: int | None = None) -> MemoryItem | None:
        """One item: its newest version, or the one asked for."""
        query = select(ITEMS.c.body).where(ITEMS.c.namespace == self.namespace, ITEMS.c.item_id == item_id)
        query = query.where(ITEMS.c.replaced_at.is_(None) if version is None else ITEMS.c.version == version)
        body = self.connection.execute(query).scalar()
        return None if body is None else read_item(body)

    def item_at(self, item_id: str, known_at: datetime) -> MemoryItem | None:
        """The version of an item that was known at a time; None when it was not known yet."""
        then = stamp(known_at)
        query = select(ITEMS.c.body).where(ITEMS.c.namespace == self.namespace, ITEMS.c.item_id == item_id)
        query = query.where(ITEMS.c.written_at <= then).order_by(ITEMS.c.version.desc()).limit(1)
        body = self.connection.execute(query).scalar()
        return None if body is None else read_item(body)

    def item_id(self, given: str) -> str | None:
        """The id that begins with what was given, as tables show it; None for none, StoreError for several."""
        if len(given) < SHORTEST or not _HEX.fullmatch(given):
            return None
        query = select(ITEMS.c.item_id).where(ITEMS.c.namespace == self.namespace, ITEMS.c.version == 1)
        query = query.where(ITEMS.c.item_id >= given, ITEMS.c.item_id < f"{given}g")  # hexadecimal ends with f
        found = self.connection.execute(query.limit(2)).scalars().all()
        if len(found) > 1:
            raise StoreError(self.place, f"several items begin with {given!r}", "Give more of the id")
        return found[0] if found else None

    def versions(self, item_id: str) -> tuple[MemoryItem, ...]:
        """All versions of an item, oldest first."""
        query = select(ITEMS.c.body).where(ITEMS.c.namespace == self.namespace, ITEMS.c.item_id == item_id)
        return tuple(read_item(body) for body in self.connection.execute(query.order_by(ITEMS.c.version)).scalars())

    def place_history(self, entity: str, slot: str, qualifier: str = "") -> tuple[MemoryItem, ...]:
        """Everything that ever stood at one place, newest versions, in order of valid time."""
        query = select(ITEMS.c.body).where(
            ITEMS.c.namespace == self.namespace,
            ITEMS.c.entity == entity,
            ITEMS.c.slot == slot,
            ITEMS.c.qualifier == qualifier,
            ITEMS.c.replaced_at.is_(None),
        )
        query = query.order_by(ITEMS.c.valid_from, ITEMS.c.ordinal)
        found = (read_item(body) for body in self.connection.execute(query).scalars())
        return unrestricted(found, self.restrictions)

    def turn(self, turn_id: str) -> Turn | None:
        """A turn by its id; its text is empty when it has been erased."""
        row = self._turn_row(turn_id)
        return None if row is None else read_turn(row[1], row[2])

    def turns(self, *, conversation: str | None = None, principal: str | None = None) -> tuple[Turn, ...]:
        """Turns in order of conversation and place in it."""
        query = select(TURNS.c.body, TURNS.c.text).where(TURNS.c.namespace == self.namespace)
        if conversation is not None:
            query = query.where(TURNS.c.conversation == conversation)
        if principal is not None:
            query = query.where(TURNS.c.principal == principal)
        rows = self.connection.execute(query.order_by(TURNS.c.conversation, TURNS.c.ordinal))
        return tuple(read_turn(body, text) for body, text in rows)

    def turns_as_taken(self) -> tuple[Turn, ...]:
        """Turns in the order in which they were decided, edits of people among them."""
        first = (
            select(DECISIONS.c.turn_id, func.min(DECISIONS.c.seq).label("seq"))
            .where(DECISIONS.c.namespace == self.namespace)
            .group_by(DECISIONS.c.turn_id)
            .subquery()
        )
        query = (
            select(TURNS.c.body, TURNS.c.text)
            .join(first, first.c.turn_id == TURNS.c.turn_id)
            .where(TURNS.c.namespace == self.namespace)
            .order_by(first.c.seq)
        )
        return tuple(read_turn(body, text) for body, text in self.connection.execute(query))

    def decisions(self, turn_id: str) -> tuple[Decision, ...]:
        """The decisions of a turn, in order."""
        query = select(DECISIONS.c.body).where(DECISIONS.c.namespace == self.namespace, DECISIONS.c.turn_id == turn_id)
        return tuple(map(read_decision, self.connection.execute(query.order_by(DECISIONS.c.ordinal)).scalars()))

    def decision_seqs(self, turn_id: str) -> tuple[int, ...]:
        """The ledger records of a turn's decisions."""
        query = select(DECISIONS.c.seq).where(
            DECISIONS.c.namespace == self.namespace, DECISIONS.c.turn_id == turn_id, DECISIONS.c.seq.is_not(None)
        )
        return tuple(self.connection.execute(query.order_by(DECISIONS.c.ordinal)).scalars())

    def decisions_touching(self, item_id: str) -> tuple[Decision, ...]:
        """Decisions that wrote, confirmed, changed or ended an item, in the order in which they were taken."""
        mine = DECISIONS.c.namespace == self.namespace
        columns = (DECISIONS.c.turn_id, DECISIONS.c.ordinal, DECISIONS.c.seq, DECISIONS.c.body)
        # Apart, so that each uses its index; an item that ended along with another is found by its versions.
        named = select(*columns).where(mine, DECISIONS.c.item == item_id)
        aimed = select(*columns).where(mine, DECISIONS.c.target == item_id)
        wrote = (
            select(*columns)
            .join(ITEMS, and_(ITEMS.c.namespace == DECISIONS.c.namespace, ITEMS.c.written_by == DECISIONS.c.turn_id))
            .where(mine, ITEMS.c.item_id == item_id, ITEMS.c.decision == DECISIONS.c.ordinal)
        )
        found: dict[tuple[str, int], tuple[int, str]] = {}
        for query in (named, aimed, wrote):
            for turn_id, ordinal, seq, body in self.connection.execute(query):
                # A row that claims to be written by a decision is told as its story only when the record says so.
                if query is not wrote or seq is None or self._says(seq, item_id):
                    found[(turn_id, ordinal)] = (-1 if seq is None else seq, body)
        order = sorted(found.items(), key=lambda each: (each[1][0], each[0]))
        return tuple(read_decision(body) for _, (_, body) in order)

    def _says(self, seq: int, item_id: str) -> bool:
        """Whether a record says that its decision wrote a version of an item."""
        query = select(RECORDS.c.record).where(RECORDS.c.namespace == self.namespace, RECORDS.c.seq == seq)
        record = self.connection.execute(query).scalar()
        content = json.loads(record)["content"] if record is not None else {}
        return any(key.rpartition("/")[0] == item_id for key in content.get("written", ()))

    def proposals_of(self, turn_id: str) -> tuple[Proposal, ...]:
        """The suggestions that a turn made."""
        query = select(PROPOSALS.c.body).where(PROPOSALS.c.namespace == self.namespace, PROPOSALS.c.turn_id == turn_id)
        return tuple(map(read_proposal, self.connection.execute(query.order_by(PROPOSALS.c.number)).scalars()))

    def answered_by(self, turn_id: str) -> tuple[Proposal, ...]:
        """The suggestions that a turn answered."""
        query = select(PROPOSALS.c.body).where(
            PROPOSALS.c.namespace == self.namespace, PROPOSALS.c.answered_by == turn_id
        )
        rows = self.connection.execute(query.order_by(PROPOSALS.c.turn, PROPOSALS.c.number)).scalars()
        return tuple(map(read_proposal, rows))

    def receipt_of(self, turn: Turn) -> Receipt | None:
        """The receipt of a turn seen before, None for a new one; TurnConflict when its id came with other content."""
        row = self._turn_row(turn.turn_id)
        if row is None:
            return None
        # An erased turn has no digest: sent again, it is known, and what was erased does not come back.
        if row[0] and row[0] != content_digest(turn, self.secret):
            raise TurnConflict(
                self.place,
                f"turn {turn.turn_id!r} is known with other content",
                "Give the new turn an id of its own",
            )
        return self.receipt(turn.turn_id)

    def receipt(self, turn_id: str) -> Receipt:
        """What a turn decided and wrote, as it was when it did."""
        query = (
            select(ITEMS.c.item_id, ITEMS.c.body)
            .where(ITEMS.c.namespace == self.namespace, ITEMS.c.written_by == turn_id, ITEMS.c.decision >= 0)
            .order_by(ITEMS.c.row)
        )
        newest = _pairs(self.connection.execute(query))
        items = tuple(map(read_item, newest.values()))
        return Receipt(turn_id=turn_id, decisions=self.decisions(turn_id), items=items, repeated=True)

    def ordinals(self, item_ids: tuple[str, ...]) -> dict[str, int]:
        """The numbers of items within the namespace: names that do not depend on its secret."""
        query = select(ITEMS.c.item_id, ITEMS.c.ordinal).where(
            ITEMS.c.namespace == self.namespace, ITEMS.c.item_id.in_(item_ids), ITEMS.c.version == 1
        )
        return _pairs(self.connection.execute(query))

    def search(
        self, question: str, *, entity: str | None = None, limit: int = 10, history: bool = False,
        at: datetime | None = None,
    ) -> tuple[Hit, ...]:  # fmt: skip
        """Items whose text has the words of the question, best first; ``at``: what is true then or will be."""
        return search(
            self.connection, self.namespace, question, entity=entity, limit=limit, history=history, at=at,
            keep=lambda item: not any(each.covers(item) for each in self.restrictions),
        )  # fmt: skip

    def ruleset(self, digest: str) -> Mapping[str, str] | None:
        """The sources of a rule set: file name → text."""
        found = self.connection.execute(select(RULESETS.c.sources).where(RULESETS.c.digest == digest)).scalar()
        return None if found is None else json.loads(found)

    def runtime(self, digest: str) -> Mapping[str, Any] | None:
        """The versions behind a runtime digest."""
        found = self.connection.execute(select(RUNTIMES.c.versions).where(RUNTIMES.c.digest == digest)).scalar()
        return None if found is None else json.loads(found)

    def _turn_row(self, turn_id: str) -> Columns | None:
        return self._turn_in(self.connection, turn_id)

    def _turn_in(self, connection: Connection, turn_id: str) -> Columns | None:
        return _TURN.first(connection, namespace=self.namespace, turn=turn_id)


def _pairs(rows: Iterable[Any]) -> dict[str, Any]:
    """Rows of two columns as a mapping; of several with one key the last counts."""
    return {row[0]: row[1] for row in rows}
