"""One writer's transaction on a namespace: read what is known, write a turn and all that follows from it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import Column, ColumnElement, bindparam, insert, literal_column, select, update

from ..model import Decision, Known, MemoryItem, Outcome, Proposal, Turn, wish_of
from . import derived, relations, search, traces, transcript, vectors
from .codec import (
    content_digest,
    decision_body,
    item_body,
    item_columns,
    proposal_body,
    read_item,
    text_bytes,
    turn_body,
)
from .errors import Stale, StoreError
from .known import Cache, said_in
from .log import Log
from .outbox import REINDEX
from .reading import Reading
from .relations import EdgeOf
from .statements import Columns, Insert, Statement
from .tables import DECISIONS, ITEMS, OUTBOX, PROPOSALS, RULESETS, RUNTIMES, TURNS, WISHES, about, stamp, storable

if TYPE_CHECKING:
    from .transaction import Head, Transaction

_ADD_TURN = Insert(TURNS)
_ADD_ITEM = Insert(
    ITEMS,
    *("namespace", "row", "ordinal", "principal", "written_at", "replaced_at", "written_by", "decision"),
    *("item_id", "version", "entity", "slot", "qualifier", "kind", "status", "valid_from", "valid_to", "superseded_at"),
    "body",
)
_ADD_DECISION = Insert(DECISIONS)
_ADD_PROPOSAL = Insert(PROPOSALS)
_ADD_WISH = Insert(WISHES)
_ADD_WORK = Insert(
    OUTBOX, "namespace", "kind", "item_id", "item_version", "payload", "state", "attempts", "not_before"
)  # fmt: skip
_NEWEST = Statement(
    select(ITEMS.c.item_id, ITEMS.c.version, ITEMS.c.written_at)
    .where(ITEMS.c.namespace == bindparam("namespace"), ITEMS.c.replaced_at.is_(None))
    .order_by(ITEMS.c.row)
)
_REPLACE = Statement(
    update(ITEMS)
    .where(ITEMS.c.namespace == bindparam("of"), ITEMS.c.item_id == bindparam("item"))
    .where(ITEMS.c.version == bindparam("before"), ITEMS.c.replaced_at.is_(None))
    .values(replaced_at=bindparam("then"))
)
_ORIGIN = Statement(
    select(ITEMS.c.principal, ITEMS.c.ordinal).where(
        ITEMS.c.namespace == bindparam("namespace"),
        ITEMS.c.item_id == bindparam("item"),
        ITEMS.c.version == literal_column("1"),
    )
)
_ANSWER = Statement(
    update(PROPOSALS)
    .where(PROPOSALS.c.namespace == bindparam("of"), PROPOSALS.c.turn_id == bindparam("turn"))
    .where(PROPOSALS.c.body == bindparam("proposal"))
    .values(answered_by=bindparam("by"))
)

_PAGE = 400  # rows read at once
NO_DECISION = -1
"""Ordinal of the decision behind a version that none wrote: a new wording."""


class Writing(Reading):
    """The one open writing transaction of a namespace; committed when its block ends without an error."""

    def __init__(self, transaction: Transaction, place: str, head: Head, cache: Cache) -> None:
        super().__init__(transaction, place)
        self._transaction = transaction
        self.secret = head.secret
        self.log = Log(transaction, place, head.frontier, transaction.add)
        self._head = head
        self._cache = cache
        self._start = head.frontier.size
        self._wrote = False

    def next_ordinal(self, conversation: str) -> int:
        """The place that the next turn of a conversation gets."""
        return self._cache.conversation(self._transaction, conversation).next_ordinal

    def last_received(self, conversation: str) -> datetime | None:
        """The latest time at which a turn of a conversation was received."""
        return self._cache.conversation(self._transaction, conversation).last_received

    def known(self, entity: str, conversation: str, *, last_turns: int = 6, at: datetime | None = None) -> Known:
        """What a turn of principal ``entity`` may rest on; statuses are those ``at`` a time, else as last written."""
        return self._cache.known(self._transaction, entity, conversation, last_turns, at)

    def write_turn(self, turn: Turn, *, retention: str | None = None) -> None:
        """Keep the turn itself; before anything that refers to it."""
        for name, key in (("turn_id", turn.turn_id), ("entity", turn.entity), ("conversation", turn.conversation)):
            if not storable(key):
                raise StoreError(self.place, f"{name} {key!r} has a character that no database keeps", "Choose another")
        self._wrote = True
        row = (
            self.namespace,
            turn.turn_id,
            turn.conversation,
            turn.ordinal,
            turn.entity,
            turn.speaker,
            stamp(turn.said_at),
            stamp(turn.received_at),
            content_digest(turn, self.secret),
            retention,
            text_bytes(turn.text),
            turn_body(turn),
        )
        self._transaction.add(_ADD_TURN, [row])
        talk = self._cache.conversation(self._transaction, turn.conversation)
        talk.next_ordinal = max(talk.next_ordinal, turn.ordinal + 1)
        received = talk.last_received
        talk.last_received = turn.received_at if received is None else max(received, turn.received_at)
        talk.forget_before(turn.ordinal)

    def write_outcomes(
        self, turn: Turn, outcomes: Sequence[Outcome], *, seqs: Sequence[int] = (), edge_of: EdgeOf | None = None
    ) -> None:
        """Keep the decisions of a turn and the item versions they write; ``seqs`` are their ledger records, ``edge_of``
        gives the edges that items say."""
        if not outcomes:
            return
        self._wrote = True
        decisions = [outcome.decision for outcome in outcomes]
        rows = [
            (
                self.namespace,
                turn.turn_id,
                decision.ordinal,
                seqs[at] if at < len(seqs) else None,
                turn.conversation,
                turn.ordinal,
                turn.speaker,
                decision.action,
                decision.reason,
                decision.item,
                decision.target,
                decision_body(decision),
                about(decision.entity, turn.entity),
            )
            for at, decision in enumerate(decisions)
        ]
        self._transaction.add(_ADD_DECISION, rows)
        if seqs:
            transcript.index(self._transaction.add, self.namespace, turn, seqs[0], decisions)
        talk = self._cache.conversation(self._transaction, turn.conversation)
        talk.recent.extend(said_in(turn, decisions))
        self._write_wishes(turn, decisions, seqs)
        versions = [(item, outcome.decision.ordinal) for outcome in outcomes for item in outcome.written]
        if versions:
            self._write_versions(turn, versions)
        if edge_of is not None:
            self._relate(turn, outcomes, edge_of)

    def write_wording(self, turn: Turn, item: MemoryItem) -> None:
        """Keep a version that differs in its sentence alone; no decision of ``turn`` wrote it."""
        self._wrote = True
        before = self.item(item.id, item.version - 1)
        self._write_versions(turn, [(item, NO_DECISION)])
        if before is not None and before.sentence != item.sentence:
            _, ordinal = self._origin(turn.entity, item)
            versions = [(ordinal, each) for each in self.versions(item.id)]
            search.unindex(self.connection, self.namespace, item.entity, versions)
            search.index(self._transaction.add, self.namespace, [(ordinal, item)])

    def write_items(self, turn: Turn, items: Iterable[MemoryItem], *, decision: int = NO_DECISION) -> None:
        """Keep item versions beside the outcomes of a turn; ``decision`` is the ordinal of the one that wrote them."""
        for item in items:
            if decision == NO_DECISION:
                self.write_wording(turn, item)
            else:
                self._wrote = True
                self._write_versions(turn, [(item, decision)])

    def write_proposals(self, opened: Iterable[Proposal], *, answered: Iterable[Proposal] = (), turn: Turn) -> None:
        """Keep suggestions that ``turn`` made, and mark those that it answered."""
        self._wrote = True
        talk = self._cache.conversation(self._transaction, turn.conversation)
        given = list(opened)
        rows = [
            (
                self.namespace,
                proposal.turn_id,
                number,
                turn.conversation,
                proposal.turn,
                None,
                proposal_body(proposal),
            )
            for number, proposal in enumerate(given)
        ]
        self._transaction.add(_ADD_PROPOSAL, rows)
        talk.proposals += given
        for proposal in answered:
            body = proposal_body(proposal)
            answer = {"of": self.namespace, "turn": proposal.turn_id, "proposal": body, "by": turn.turn_id}
            self._transaction.change(_ANSWER, answer)
            talk.proposals = [each for each in talk.proposals if each != proposal]

    def leave(self, kind: str, items: Iterable[MemoryItem], not_before: datetime) -> None:
        """Leave work on item versions that nobody has left yet, sent with the other rows."""
        then = stamp(not_before)
        rows = [(self.namespace, kind, item.id, item.version, "{}", "waiting", 0, then) for item in items]
        self._transaction.add(_ADD_WORK, rows)

    def unembed(self) -> int:
        """Take all vectors out and leave the embedding of every item for the present; how many there are."""
        self._wrote = True
        vectors.clear(self.connection, self.namespace)
        rows = _NEWEST.all(self.connection, namespace=self.namespace)
        work = [(self.namespace, vectors.EMBED, item, number, "{}", "waiting", 0, then) for item, number, then in rows]
        self._transaction.add(_ADD_WORK, work)
        return len(work)

    def reindex(self, edge_of: EdgeOf | None = None) -> int:
        """Build the search indexes again, from the newest version of every item and from the turns; how many items.

        ``edge_of`` gives the edges of the graph of names, which is built again as well.
        """
        self._wrote = True
        add = self._transaction.add
        search.clear(self.connection, self.namespace)
        total = 0
        for page in self._pages(ITEMS.c.row, -1, ITEMS.c.replaced_at.is_(None)):
            search.index(add, self.namespace, ((row.ordinal, read_item(row.body)) for row in page))
            total += len(page)
        transcript.clear(self.connection, self.namespace)
        for page in self._pages(DECISIONS.c.turn_id, "", DECISIONS.c.ordinal == 0, DECISIONS.c.seq.is_not(None)):
            transcript.rebuild(self.connection, add, self.namespace, {row.turn_id: row.seq for row in page})
        if edge_of is not None:
            relations.clear(self.connection, self.namespace)
            for page in self._pages(ITEMS.c.row, -1, ITEMS.c.version == 1):
                given = [(row.body, row.principal) for row in page]
                relations.rebuild(self.connection, add, self.namespace, edge_of, given)
        traces.remove_stale(self.connection, self.namespace, derived.stale(self.namespace))
        self.outbox.clear(REINDEX)
        return total

    def _pages(self, key: Column[Any], last: Any, *which: ColumnElement[bool]) -> Iterator[Sequence[Any]]:
        """Rows of a table in the order of a key that an index has, some at a time: any number takes the same memory,
        since what was written meanwhile is sent before the next."""
        table = key.table
        query = select(table).where(table.c.namespace == self.namespace, *which).order_by(key).limit(_PAGE)
        while page := self.connection.execute(query.where(key > last)).all():
            yield page
            last = getattr(page[-1], key.name)

    def keep_ruleset(self, digest: str, sources: Mapping[str, str]) -> None:
        """Keep the sources of a rule set under its digest, once."""
        if self.ruleset(digest) is None:
            self.connection.execute(insert(RULESETS), [{"digest": digest, "sources": _json(sources)}])

    def keep_runtime(self, digest: str, versions: Mapping[str, Any]) -> None:
        """Keep the versions behind a runtime digest, once."""
        if self.runtime(digest) is None:
            self.connection.execute(insert(RUNTIMES), [{"digest": digest, "versions": _json(versions)}])

    def expect_version(self, item_id: str, version: int) -> MemoryItem:
        """The item a person edits; Stale when it is no longer as they saw it."""
        item = self.item(item_id)
        if item is None or item.version != version:
            seen = "is unknown" if item is None else f"has version {item.version}, not {version}"
            raise Stale(self.place, f"item {item_id!r} {seen}", "Look at it again, then repeat the edit")
        for each in self.restrictions:
            if each.covers(item):
                wrong = f"item {item_id!r} is restricted by record {each.seq}"
                raise Stale(self.place, wrong, "`recordari restrict lift` ends a restriction")
        return item

    def forget(self) -> None:
        """Forget what was known, after something of it was erased, restricted or freed: it is read again."""
        self._wrote = True
        self._cache.forget()

    def finish(self) -> None:
        """Move the counters of the namespace on."""
        if self._wrote or self._head.frontier.size != self._start:
            self._head.version += 1
            self._cache.version, self._cache.item_rows = self._head.version, self._head.item_rows
            self._cache.records = self._head.frontier.size

    def _write_wishes(self, turn: Turn, decisions: Sequence[Decision], seqs: Sequence[int]) -> None:
        """Note which decisions refused a wish; what was wished stands in the decision."""
        kept = self._cache.principals.get(turn.entity)
        for seq, decision in zip(seqs, decisions, strict=False):
            wish = wish_of(turn, decision)
            if wish is not None:
                row = (self.namespace, seq, turn.entity, turn.turn_id, decision.ordinal)
                self._transaction.add(_ADD_WISH, [row])
                if kept is not None:
                    kept.wished(wish)

    def _relate(self, turn: Turn, outcomes: Sequence[Outcome], edge_of: EdgeOf) -> None:
        """Note each edge that a decision of the turn is evidence for, once."""
        given = {
            item.id: item
            for outcome in outcomes if relations.gives(outcome.decision)
            for item in outcome.written if item.id == outcome.decision.item
        }  # fmt: skip
        for item in given.values():
            edge = edge_of(item, turn.entity)
            if edge is not None:
                evidence = [(turn.turn_id, stamp(turn.received_at))]
                relations.relate(self._transaction.add, self.namespace, edge, item.id, evidence)

    def _write_versions(self, turn: Turn, versions: Sequence[tuple[MemoryItem, int]]) -> None:
        rows: list[tuple[Any, ...]] = []
        fresh: list[tuple[int, MemoryItem]] = []
        then = stamp(turn.received_at)
        for item, decision in versions:
            self._head.item_rows += 1
            if item.version == 1:
                principal, ordinal = turn.entity, self._head.item_rows
                fresh.append((ordinal, item))
            else:
                principal, ordinal = self._origin(turn.entity, item)
                before = {"of": self.namespace, "item": item.id, "before": item.version - 1, "then": then}
                self._transaction.change(_REPLACE, before, self._stale(item))
            kept = self._cache.principals.get(principal)
            if kept is not None:
                kept.put(item, ordinal)
            rows.append(self._version_row(turn, item, decision, principal, ordinal))
        self._transaction.add(_ADD_ITEM, rows)
        search.index(self._transaction.add, self.namespace, fresh)

    def _stale(self, item: MemoryItem) -> Stale:
        wrong = f"version {item.version - 1} of item {item.id!r} is not the newest: someone else changed it meanwhile"
        return Stale(self.place, wrong, "Send the turn again")

    def _version_row(
        self, turn: Turn, item: MemoryItem, decision: int, principal: str, ordinal: int
    ) -> tuple[Any, ...]:
        written = stamp(turn.received_at)
        ours = (self._head.item_rows, ordinal, principal, written, None, turn.turn_id, decision)
        return (self.namespace, *ours, *item_columns(item).values(), item_body(item))

    def _origin(self, entity: str, item: MemoryItem) -> tuple[str, int]:
        """Principal and number of an item whose first version was written before."""
        kept = self._cache.principals.get(entity)
        if kept is not None and item.id in kept.ordinals:
            return entity, kept.ordinals[item.id]
        row = _ORIGIN.first(self.connection, namespace=self.namespace, item=item.id)
        if row is None:
            raise Stale(self.place, f"item {item.id!r} is unknown", "Send the turn again")
        return row[0], row[1]

    def _turn_row(self, turn_id: str) -> Columns | None:
        return self._turn_in(self._transaction.about("turn_id", turn_id), turn_id)


def _json(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
