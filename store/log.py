"""The rows of the ledger in the database; fits the ``LogStore`` protocol of audit without importing it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol, cast

from sqlalchemy import Connection, bindparam, delete, func, insert, literal_column, select

from .errors import StoreError
from .statements import Columns, Insert, Statement
from .tables import ACTS, CHECKPOINTS, ERASURES, NAMESPACES, PRIVATE, RECORDS, SUBTREES

_HASH = 32
_PAGE = 200  # records read at once: constant memory, and still in the processor's cache when they are checked
_ADD_RECORD = Insert(RECORDS, "namespace", "seq", "record", "leaf")
_ADD_PRIVATE = Insert(PRIVATE, "namespace", "seq", "field", "value", "salt")
_ADD_ACT = Insert(ACTS, "namespace", "seq", "kind")
_RECORDS = Statement(
    select(RECORDS.c.seq, RECORDS.c.record, RECORDS.c.leaf)
    .where(RECORDS.c.namespace == bindparam("namespace"), RECORDS.c.seq >= bindparam("first"))
    .order_by(RECORDS.c.seq)
    .limit(bindparam("room"))
    .offset(literal_column("0"))  # SQLite's dialect would add a parameter of its own
)
_VALUES = Statement(
    select(PRIVATE.c.seq, PRIVATE.c.field, PRIVATE.c.value, PRIVATE.c.salt)
    .where(PRIVATE.c.namespace == bindparam("namespace"))
    .where(PRIVATE.c.seq >= bindparam("first"), PRIVATE.c.seq <= bindparam("last"))
    .order_by(PRIVATE.c.seq, PRIVATE.c.field)
)
_ADD_SUBTREE = Insert(SUBTREES, "namespace", "level", "number", "hash")
_LEAVES = Statement(
    select(RECORDS.c.seq, RECORDS.c.leaf)
    .where(RECORDS.c.namespace == bindparam("namespace"))
    .where(RECORDS.c.seq >= bindparam("first"), RECORDS.c.seq < bindparam("stop"))
)
_SUBTREES = Statement(
    select(SUBTREES.c.number, SUBTREES.c.hash)
    .where(SUBTREES.c.namespace == bindparam("namespace"), SUBTREES.c.level == bindparam("level"))
    .where(SUBTREES.c.number >= bindparam("first"), SUBTREES.c.number < bindparam("stop"))
)
_LATEST = Statement(
    select(func.max(ACTS.c.seq))
    .where(ACTS.c.namespace == bindparam("namespace"))
    .where(ACTS.c.kind >= bindparam("low"), ACTS.c.kind < bindparam("high"))
)
_ALL_ACTS = select(ACTS.c.seq).where(ACTS.c.namespace == bindparam("namespace")).order_by(ACTS.c.seq)
_ACTS = Statement(_ALL_ACTS)
_ACTS_OF = Statement(_ALL_ACTS.where(ACTS.c.kind == bindparam("kind")))
_LAST = Statement(select(func.max(RECORDS.c.seq)).where(RECORDS.c.namespace == bindparam("namespace")))


class PrivateValue(Protocol):
    """A personal value and its salt."""

    @property
    def value(self) -> str:
        """Canonical JSON of the value."""

    @property
    def salt(self) -> str:
        """The salt, hexadecimal."""


class NewRow(Protocol):
    """A row as audit hands it over."""

    @property
    def seq(self) -> int:
        """0-based place in the log."""

    @property
    def record(self) -> str:
        """Canonical JSON."""

    @property
    def leaf(self) -> bytes:
        """Leaf hash."""

    @property
    def private(self) -> Mapping[str, PrivateValue]:
        """Field name → value and salt."""

    @property
    def act(self) -> str | None:
        """The kind of a record that is no decision."""


class KeptPrivate(NamedTuple):
    """A personal value as stored."""

    value: str
    salt: str


_kept = cast(Callable[[tuple[str, str]], KeptPrivate], partial(tuple.__new__, KeptPrivate))  # half the time of a call


class KeptRow(NamedTuple):
    """A row as stored; ``private`` has what has not been erased."""

    seq: int
    record: str
    leaf: bytes
    private: Mapping[str, KeptPrivate]


_NOTHING: Mapping[str, KeptPrivate] = {}


@dataclass(slots=True)
class Frontier:
    """Size and subtree roots of the log as this transaction knows them; written once, when it ends."""

    size: int
    nodes: tuple[bytes, ...]
    records: int | None = None  # number of records by the rows themselves, once they have been asked


def _bytes(stored: object) -> bytes:
    """A column of bytes, even when a hand put something else there: it will fit no hash."""
    return bytes(stored) if isinstance(stored, bytes | memoryview) else str(stored).encode("utf-8", "replace")


def split_nodes(joined: bytes) -> tuple[bytes, ...]:
    """The subtree roots out of one column."""
    return tuple(joined[at : at + _HASH] for at in range(0, len(joined), _HASH))


class Source(Protocol):
    """Where a namespace is read."""

    @property
    def connection(self) -> Connection:
        """The connection, with everything written so far."""

    @property
    def namespace(self) -> str:
        """The namespace."""


class Log:
    """The log of one namespace inside one transaction. Records are only ever added."""

    def __init__(
        self,
        source: Source,
        place: str,
        pending: Frontier | None = None,
        add: Callable[[Insert, Sequence[Columns]], None] | None = None,
    ) -> None:
        self._source = source
        self._namespace = source.namespace
        self._place = place
        self._pending = pending  # None: this transaction only reads
        self._add = add

    @property
    def _connection(self) -> Connection:
        return self._source.connection

    def append(self, namespace: str, rows: Sequence[NewRow]) -> None:
        """Store rows as they are; a ``seq`` that exists already is refused by the primary key."""
        self._mine(namespace)
        if self._pending is None or self._add is None:
            raise StoreError(self._place, "the log can only grow inside a writing transaction")
        self._add(_ADD_RECORD, [(namespace, row.seq, row.record, row.leaf) for row in rows])
        private = [
            (namespace, row.seq, name, each.value, each.salt)
            for row in rows
            for name, each in sorted(row.private.items())
        ]
        self._add(_ADD_PRIVATE, private)
        self._add(_ADD_ACT, [(namespace, row.seq, row.act) for row in rows if row.act is not None])
        if self._pending.records is not None:
            self._pending.records += len(rows)

    def read(self, namespace: str, start: int = 0, stop: int | None = None) -> Iterator[KeptRow]:
        """Rows with ``start <= seq < stop`` in order of ``seq``."""
        self._mine(namespace)
        at = max(start, 0)
        while stop is None or at < stop:
            room = _PAGE if stop is None else min(_PAGE, stop - at)
            page = _RECORDS.page(self._connection, namespace=namespace, first=at, room=room)
            if not page:
                return
            beside = self._private(namespace, page[0][0], page[-1][0])
            for seq, record, leaf in page:
                if stop is None or not isinstance(seq, int) or seq < stop:
                    kept = leaf if type(leaf) is bytes else _bytes(leaf)
                    yield KeptRow(seq, record, kept, beside.get(seq, _NOTHING))
            if not isinstance(page[-1][0], int):  # SQLite sorts what is no number to the end: there is no more
                return
            at = page[-1][0] + 1

    def size(self, namespace: str) -> int:
        """Number of records by the rows themselves, not by a counter: one deleted at the end is noticed.

        A writer asks once a transaction: until it ends nobody else can change the log.
        """
        self._mine(namespace)
        if self._pending is not None and self._pending.records is not None:
            return self._pending.records
        ((last,),) = _LAST.all(self._connection, namespace=namespace)
        size = 0 if last is None else int(last) + 1
        if self._pending is not None:
            self._pending.records = size
        return size

    def frontier(self, namespace: str) -> tuple[int, Sequence[bytes]]:
        """Size and subtree roots as last set."""
        self._mine(namespace)
        if self._pending is not None:
            return self._pending.size, self._pending.nodes
        row = self._connection.execute(
            select(NAMESPACES.c.frontier_size, NAMESPACES.c.frontier).where(NAMESPACES.c.name == namespace)
        ).first()
        return (row.frontier_size, split_nodes(_bytes(row.frontier))) if row is not None else (0, ())

    def set_frontier(self, namespace: str, size: int, nodes: Sequence[bytes]) -> None:
        """Keep the frontier; it reaches the database with the end of the transaction."""
        self._mine(namespace)
        if self._pending is None:
            raise StoreError(self._place, "the frontier can only move inside a writing transaction")
        self._pending.size, self._pending.nodes = size, tuple(nodes)

    def add_subtrees(self, namespace: str, nodes: Sequence[tuple[int, int, bytes]]) -> None:
        """Keep roots of full subtrees: (level, number, hash)."""
        self._mine(namespace)
        if self._add is None:
            raise StoreError(self._place, "the log can only grow inside a writing transaction")
        self._add(_ADD_SUBTREE, [(namespace, *node) for node in nodes])

    def subtrees(self, namespace: str, level: int, first: int, stop: int) -> Mapping[int, bytes]:
        """Number → root of the full subtrees of 2**level records that are kept; leaf hashes at level 0."""
        self._mine(namespace)
        wanted = {"namespace": namespace, "first": first, "stop": stop}
        if level == 0:
            rows = _LEAVES.all(self._connection, **wanted)
        else:
            rows = _SUBTREES.all(self._connection, level=level, **wanted)
        return {number: _bytes(each) for number, each in rows}

    def erase_private(self, namespace: str, seq: int, names: Sequence[str], *, decided_by: int) -> None:
        """Destroy value and salt of these fields, as record ``decided_by`` says; absent ones are no error."""
        self._mine(namespace)
        known = set(
            self._connection.execute(
                select(ERASURES.c.field).where(ERASURES.c.namespace == namespace, ERASURES.c.seq == seq)
            ).scalars()
        )
        rows = [
            {"namespace": namespace, "seq": seq, "field": name, "decided_by": decided_by}
            for name in sorted(set(names) - known)
        ]
        if rows:
            self._connection.execute(insert(ERASURES), rows)
        self._connection.execute(
            delete(PRIVATE).where(
                PRIVATE.c.namespace == namespace, PRIVATE.c.seq == seq, PRIVATE.c.field.in_(list(names))
            )
        )

    def checkpoints(self, namespace: str) -> Sequence[str]:
        """Signed notes, oldest first."""
        self._mine(namespace)
        query = select(CHECKPOINTS.c.note).where(CHECKPOINTS.c.namespace == namespace).order_by(CHECKPOINTS.c.number)
        return tuple(self._connection.execute(query).scalars())

    def add_checkpoint(self, namespace: str, size: int, note: str) -> None:
        """Keep a signed note beside the log."""
        self._mine(namespace)
        last = select(func.max(CHECKPOINTS.c.number)).where(CHECKPOINTS.c.namespace == namespace)
        number = self._connection.execute(last).scalar()
        self._connection.execute(
            insert(CHECKPOINTS),
            [{"namespace": namespace, "number": 0 if number is None else number + 1, "size": size, "note": note}],
        )

    def acts(self, *kinds: str) -> tuple[int, ...]:
        """The numbers of records that are no decisions, of these kinds (all when none is named), in order."""
        if not kinds:
            return tuple(row[0] for row in _ACTS.all(self._connection, namespace=self._namespace))
        rows = _ACTS_OF.each(self._connection, "kind", set(kinds), namespace=self._namespace)
        return tuple(sorted(row[0] for row in rows))

    def latest(self, family: str) -> int | None:
        """The number of the last record that is no decision and whose kind begins so; None when there is none."""
        high = family[:-1] + chr(ord(family[-1]) + 1)
        ((last,),) = _LATEST.all(self._connection, namespace=self._namespace, low=family, high=high)
        return None if last is None else int(last)

    def records_of(self, seqs: Iterable[int]) -> tuple[KeptRow, ...]:
        """Single records by their numbers, in order."""
        return tuple(row for seq in sorted(seqs) for row in self.read(self._namespace, seq, seq + 1))

    def _private(self, namespace: str, first: int, last: int) -> dict[int, dict[str, KeptPrivate]]:
        beside: dict[int, dict[str, KeptPrivate]] = {}
        now, values = None, {}
        for seq, name, value, salt in _VALUES.page(self._connection, namespace=namespace, first=first, last=last):
            if seq != now:
                now = seq
                values = beside[seq] = {}
            values[name] = _kept((value, salt))
        return beside

    def _mine(self, namespace: str) -> None:
        if namespace != self._namespace:
            raise StoreError(self._place, f"this transaction is of namespace {self._namespace!r}, not of {namespace!r}")
