"""The writing transaction that a thread holds: rows wait in it until something is asked of it, or it ends.

So a group of turns sends each table once, which costs a fraction of a statement a turn. Whoever takes ``connection``
sees everything written so far: what waits is sent first.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from .errors import StoreError
from .known import Cache
from .log import Frontier, split_nodes
from .statements import Columns, Insert, Statement
from .tables import NAMESPACES
from .writing import Writing

# Rows are asked for by these while others of them still wait.
_KEYS = ("turn_id", "conversation", "principal")
MOST_WAITING = 4000  # rows; a group of any length takes bounded memory
_HEAD = Statement(
    select(
        NAMESPACES.c.secret,
        NAMESPACES.c.version,
        NAMESPACES.c.item_rows,
        NAMESPACES.c.frontier_size,
        NAMESPACES.c.frontier,
    ).where(NAMESPACES.c.name == bindparam("name"))
)
_ADD_HEAD = Insert(NAMESPACES, "name", "secret", "version", "item_rows", "frontier_size", "frontier")
_MOVE_HEAD = Statement(
    update(NAMESPACES)
    .where(NAMESPACES.c.name == bindparam("of"))
    .values(
        version=bindparam("now_version"),
        item_rows=bindparam("now_rows"),
        frontier_size=bindparam("now_size"),
        frontier=bindparam("now_nodes"),
    )
)


@dataclass(slots=True)
class Head:
    """The row of a namespace: its secret and the counters that a part of the transaction moves on, or leaves."""

    secret: bytes
    version: int = 0
    item_rows: int = 0
    frontier: Frontier = field(default_factory=lambda: Frontier(0, ()))

    def copy(self) -> Head:
        """One for a part to move."""
        frontier = Frontier(self.frontier.size, self.frontier.nodes, self.frontier.records)
        return Head(self.secret, self.version, self.item_rows, frontier)


@dataclass(slots=True)
class Waiting:
    """Rows to be added, and changes of rows to be made after that."""

    rows: dict[Insert, list[Columns]] = field(default_factory=dict)
    changes: list[tuple[Statement, Mapping[str, Any], StoreError | None]] = field(default_factory=list)
    keys: set[tuple[str, str]] = field(default_factory=set)

    def add(self, insert: Insert, rows: Sequence[Columns]) -> None:
        """Rows that wait."""
        self.rows.setdefault(insert, []).extend(rows)
        for name in _KEYS:
            place = insert.places.get(name)
            if place is not None:
                self.keys.update((name, row[place]) for row in rows)

    def take(self, other: Waiting) -> None:
        """Everything that waits in another one."""
        for insert, rows in other.rows.items():
            self.rows.setdefault(insert, []).extend(rows)
        self.changes += other.changes
        self.keys |= other.keys
        other.clear()

    def clear(self) -> None:
        """Forget all of it."""
        self.rows.clear()
        self.changes.clear()
        self.keys.clear()

    def send(self, connection: Connection) -> None:
        """To the database, referred-to tables first; what has to change one row and finds none is its error."""
        for insert in sorted(self.rows, key=lambda insert: insert.rank):
            insert.run(connection, self.rows[insert])
        for statement, parameters, refused in self.changes:
            if statement.run(connection, **parameters) != 1 and refused is not None:
                raise refused
        self.clear()

    def about(self, column: str, key: str) -> bool:
        """Whether any row has this key."""
        return (column, key) in self.keys

    def __len__(self) -> int:
        return sum(map(len, self.rows.values()))


class Transaction:
    """What one outer transaction holds: parts that ended well, the part now open, and the head they move."""

    def __init__(self, connection: Connection, namespace: str, secret: bytes | None, cache: Cache | None) -> None:
        self.namespace = namespace
        self._connection = connection
        self.cache = cache  # goes back to the store only when the commit has succeeded
        self.open: Writing | None = None
        self.broken = False  # nothing of it can be kept, as after a full disk
        self._driver: Any = connection.connection.dbapi_connection
        self._stored = self._read_head()  # None: nothing has been written to this namespace yet
        self._head = self._stored or Head(secret if secret is not None else os.urandom(32))
        self._first = self._head
        self._settled = Waiting()
        self._waiting = Waiting()
        self._nested = False
        self._savepoint = False

    @property
    def connection(self) -> Connection:
        """The connection, after everything that waits."""
        self._settle()
        if self._nested and not self._savepoint:
            self._driver.execute("SAVEPOINT part")
            self._savepoint = True
        self._waiting.send(self._connection)
        return self._connection

    def about(self, column: str, key: str) -> Connection:
        """The connection for a question about this key alone: what waits is sent only when some of it has the key."""
        if self._waiting.about(column, key) or self._settled.about(column, key):
            return self.connection
        return self._connection

    def add(self, insert: Insert, rows: Sequence[Columns]) -> None:
        """Rows to be added before the next question."""
        if rows:
            self._waiting.add(insert, rows)

    def change(self, statement: Statement, parameters: Mapping[str, Any], refused: StoreError | None = None) -> None:
        """A change made after the rows that wait; ``refused`` is raised when there is not one row to change."""
        self._waiting.changes.append((statement, parameters, refused))

    @contextlib.contextmanager
    def part(self, place: str, *, nested: bool) -> Iterator[Writing]:
        """One block of a group (``nested``), or the only one; its error undoes the block alone."""
        head = self._head.copy()
        self._nested = nested
        try:
            self.cache = self.cache or Cache()
            self.cache.refresh(self, head.version, head.item_rows, head.frontier.size)
            self.open = Writing(self, place, head, self.cache)
            yield self.open
            self.open.finish()
            if self._savepoint:
                self._driver.execute("RELEASE SAVEPOINT part")
            self._head = head
            self._settled.take(self._waiting)
        except BaseException:
            self.cache = None  # it may hold what is being undone
            self._waiting.clear()
            self.broken = self.broken or not self._in_transaction()
            if self._savepoint and not self.broken:
                self._driver.execute("ROLLBACK TO SAVEPOINT part")
                self._driver.execute("RELEASE SAVEPOINT part")
            raise
        finally:
            self.open, self._nested, self._savepoint = None, False, False
        if len(self._settled) > MOST_WAITING:
            self._settle()

    def finish(self) -> None:
        """Send the rest; the last statements of the transaction."""
        self._settle()

    def _settle(self) -> None:
        """Send what the parts before have written, and the head they moved."""
        try:
            self._settled.send(self._connection)
            self._write_head()
        except BaseException:
            self.broken = True  # those parts were told that all is well
            raise

    def _read_head(self) -> Head | None:
        row = _HEAD.first(self._connection, name=self.namespace)
        if row is None:
            return None
        return Head(bytes(row[0]), row[1], row[2], Frontier(row[3], split_nodes(bytes(row[4]))))

    def _write_head(self) -> None:
        head, stored = self._head, self._stored
        size, nodes = head.frontier.size, b"".join(head.frontier.nodes)
        if stored is None and head is not self._first:
            row = (self.namespace, head.secret, head.version, head.item_rows, size, nodes)
            _ADD_HEAD.run(self._connection, [row])
            self._stored = head
        elif stored is not None and head.version != stored.version:
            _MOVE_HEAD.run(
                self._connection, of=self.namespace, now_version=head.version, now_rows=head.item_rows, now_size=size,
                now_nodes=nodes,
            )  # fmt: skip
            self._stored = head

    def _in_transaction(self) -> bool:
        """SQLite undoes all of a transaction by itself when the disk is full."""
        return bool(getattr(self._driver, "in_transaction", True))
