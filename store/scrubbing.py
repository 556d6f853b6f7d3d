"""Cleans a database of what was erased from it: rows that are deleted leave their bytes in files for a while."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable
from typing import Any, Protocol

from sqlalchemy import Connection, Engine, delete, func, select

from .tables import ACTS, NAMESPACES, OUTBOX
from .talk import WORDINGS

SCRUB = "scrub"  # the kind of work that an erasure leaves in the outbox, in its own transaction

PATIENCE = 30_000  # milliseconds that PostgreSQL waits for those who read
# What PostgreSQL rewrites: every table from which erasing takes rows or values.
TABLES = (
    "private_values", "items", "decisions", "turns", "proposals", "wishes", "outbox", "search_terms", "search_texts",
    "item_vectors",
    "turn_terms", "turn_texts", "turn_vectors", "traces", "trace_hits", "relations",
)  # fmt: skip


class Copy(Protocol):
    """A place outside the database where something of a namespace is kept."""

    def forget(self, secret: bytes, acts: int) -> bool:
        """Drop all of the namespace with this secret that was read before record ``acts``; False when it could not."""


def scrub(engine: Engine, copies: Iterable[Copy] = ()) -> bool:
    """Rewrite the database without its dead rows where an erasure asks for it and nobody has done it yet, as after a
    kill, and drop the copies outside of it; True when all is clean. False: a reader keeps the old pages of an SQLite
    file alive, or a copy could not be reached."""
    with engine.connect() as connection, connection.begin():
        work = connection.execute(select(OUTBOX.c.id, OUTBOX.c.namespace).where(OUTBOX.c.kind == SCRUB)).all()
        asked = [row[0] for row in work]
        acts = _acts(connection, {row[1] for row in work}) if work else []
    if not asked:
        return True
    reached = [copy.forget(secret, last) for copy in copies for secret, last in acts]
    clean = all(reached)
    clean &= _sqlite(engine) if engine.dialect.name == "sqlite" else _postgresql(engine)
    if clean:
        with engine.connect() as plain:
            connection = plain.execution_options(recordari_writer=True)
            with connection.begin():
                connection.execute(delete(OUTBOX).where(OUTBOX.c.id.in_(asked)))
    return clean


def _acts(connection: Connection, namespaces: Collection[str]) -> list[tuple[bytes, int]]:
    """The secret of each namespace and the number of its last record that may have taken something away: as the
    window counts, or what it reads next would seem older than the erasure."""
    query = select(NAMESPACES.c.secret, func.max(ACTS.c.seq)).where(
        NAMESPACES.c.name == ACTS.c.namespace, NAMESPACES.c.name.in_(sorted(namespaces)),
        ACTS.c.kind.not_in(WORDINGS),
    )  # fmt: skip
    found = connection.execute(query.group_by(NAMESPACES.c.name, NAMESPACES.c.secret))
    return [(bytes(secret), int(last)) for secret, last in found]


def _sqlite(engine: Engine) -> bool:
    """SQLite overwrites what it deletes, but pages that were rearranged keep copies, and the write-ahead log as well:
    VACUUM writes the file anew, the checkpoint cuts the log to nothing."""
    raw = engine.raw_connection()
    try:
        cursor = raw.cursor()
        cursor.execute("VACUUM")
        busy = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        cursor.close()
        return busy is None or busy[0] == 0
    finally:
        raw.close()


def _postgresql(engine: Engine) -> bool:
    """VACUUM FULL writes tables and indexes to new files; ANALYZE lets go of values kept as statistics. The log of the
    server keeps old pages until its segments are used again: nothing here reaches those, nor replicas and backups."""
    raw = engine.raw_connection()
    driver: Any = raw.driver_connection
    try:
        driver.autocommit = True  # VACUUM runs in no transaction
        driver.execute(f"SET lock_timeout = {PATIENCE}")
        driver.execute(f"VACUUM (FULL, ANALYZE) {', '.join(TABLES)}")
        with contextlib.suppress(Exception):  # only who may; the server does it by itself within minutes
            driver.execute("CHECKPOINT")
    finally:
        driver.execute("RESET lock_timeout")
        driver.autocommit = False
        raw.close()
    return True
