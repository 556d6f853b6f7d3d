"""Cleans a database of what was erased from it: rows that are deleted leave their bytes in files for a while."""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import sys
from collections.abc import Collection, Iterable
from typing import Any, Protocol

from sqlalchemy import Connection, Engine, delete, func, select

from . import gaps
from .tables import ACTS, NAMESPACES, OUTBOX
from .talk import WORDINGS

LOG = logging.getLogger(__name__)
SCRUB = "scrub"  # the kind of work that an erasure leaves in the outbox, in its own transaction

TRIES = 3  # to find nobody writing
PATIENCE = 30_000  # milliseconds that PostgreSQL waits for those who read
# The same of SQLite. While it waits nobody can write, and whoever opens a place that could not be cleaned waits anew.
READERS = 2_000
# What PostgreSQL rewrites: every table from which erasing takes rows or values.
TABLES = (
    "private_values", "items", "decisions", "turns", "proposals", "wishes", "outbox", "search_terms", "search_texts",
    "item_vectors",
    "turn_terms", "turn_texts", "turn_vectors", "traces", "trace_hits", "relations",
)  # fmt: skip
# Statements that drop the statistics of tables of which nothing is left: ANALYZE leaves those as they were, and a
# column that is given the type it has loses them.
_STALE = """
SELECT format('ALTER TABLE %%I.%%I ALTER COLUMN %%I TYPE %%s', s.schemaname, s.tablename, s.attname,
  format_type(a.atttypid, a.atttypmod) || coalesce(' COLLATE ' || quote_ident(l.collname), ''))
FROM pg_stats s
JOIN pg_class c ON c.oid = format('%%I.%%I', s.schemaname, s.tablename)::regclass
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = s.attname
LEFT JOIN pg_collation l ON l.oid = a.attcollation AND l.collname <> 'default'
WHERE s.schemaname = current_schema AND s.tablename = ANY(%s) AND c.reltuples = 0
"""
# Whether this user may write the statistics of the server anew.
_OWNED = "SELECT pg_has_role(datdba, 'USAGE') FROM pg_database WHERE datname = current_database()"


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
    clean &= _sqlite(engine, asked) if engine.dialect.name == "sqlite" else _postgresql(engine)
    if clean:
        with engine.connect() as plain:
            connection = plain.execution_options(recordari_writer=True)
            with connection.begin():
                connection.execute(delete(OUTBOX).where(OUTBOX.c.id.in_(asked)))
    return clean


def waits(engine: Engine) -> bool:
    """Whether an erasure asks for cleaning that nobody has done yet."""
    with engine.connect() as connection, connection.begin():
        return connection.execute(select(OUTBOX.c.id).where(OUTBOX.c.kind == SCRUB).limit(1)).first() is not None


def _acts(connection: Connection, namespaces: Collection[str]) -> list[tuple[bytes, int]]:
    """The secret of each namespace and the number of its last record that may have taken something away: as the
    window counts, or what it reads next would seem older than the erasure."""
    query = select(NAMESPACES.c.secret, func.max(ACTS.c.seq)).where(
        NAMESPACES.c.name == ACTS.c.namespace, NAMESPACES.c.name.in_(sorted(namespaces)),
        ACTS.c.kind.not_in(WORDINGS),
    )  # fmt: skip
    found = connection.execute(query.group_by(NAMESPACES.c.name, NAMESPACES.c.secret))
    return [(bytes(secret), int(last)) for secret, last in found]


def _sqlite(engine: Engine, asked: Collection[int]) -> bool:
    """SQLite overwrites what it deletes, but pages that were rearranged keep copies, and the write-ahead log as well:
    the checkpoint cuts the log to nothing, then the space between the rows is overwritten in the file (gaps.py)."""
    raw = engine.raw_connection()
    try:
        cursor = raw.cursor()
        path = cursor.execute("PRAGMA database_list").fetchone()[2]
        for _ in range(TRIES if path and cursor.execute("PRAGMA journal_mode").fetchone() == ("wal",) else 0):
            if not _checkpoint(cursor):
                return False
            cursor.execute("BEGIN IMMEDIATE")
            try:
                # With an empty log and no writer nobody changes the file: what is in a log would be folded in.
                still = not os.path.exists(f"{path}-wal") or os.path.getsize(f"{path}-wal") == 0
                if still and _overwritten(path):
                    # Pages read before must not be written again as they were: not by this connection, which forgets
                    # them, nor by another, which does so when it sees that the database has changed.
                    cursor.execute("PRAGMA shrink_memory")
                    marks = ", ".join("?" * len(asked))
                    cursor.execute(f"UPDATE outbox SET attempts = attempts + 1 WHERE id IN ({marks})", tuple(asked))
                    cursor.execute("COMMIT")
                    return True
            finally:
                if raw.driver_connection is not None and raw.driver_connection.in_transaction:
                    cursor.execute("ROLLBACK")
            if still:
                break
        cursor.execute("VACUUM")  # writes the file anew
        return _checkpoint(cursor)
    finally:
        raw.close()


def _checkpoint(cursor: Any) -> bool:
    """Fold the write-ahead log in and cut it to nothing; False when somebody still reads from it."""
    (patience,) = cursor.execute("PRAGMA busy_timeout").fetchone()
    cursor.execute(f"PRAGMA busy_timeout = {min(patience, READERS)}")
    try:
        busy = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        cursor.execute(f"PRAGMA busy_timeout = {patience}")
    return busy is None or busy[0] == 0


def _overwritten(path: str) -> bool:
    """Run the program that cleans a file nobody writes to; False where it cannot be run, or finds what it does not
    understand."""
    if not sys.executable or getattr(sys, "frozen", False):
        return False
    command = [sys.executable, "-I", "-S", gaps.__file__, path]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    except OSError:
        return False
    if done.returncode:
        LOG.warning("the file is written anew, since its pages could not be cleaned: %s", done.stderr.strip())
    return done.returncode == 0 and done.stdout.strip().isdigit()


def _postgresql(engine: Engine) -> bool:
    """VACUUM FULL writes tables and indexes to new files; ANALYZE lets go of values kept as statistics, whose own table
    is then written anew as well. The log of the server keeps old pages until its segments are used again: nothing here
    reaches those, nor replicas and backups."""
    raw = engine.raw_connection()
    driver: Any = raw.driver_connection
    try:
        driver.autocommit = True  # VACUUM runs in no transaction
        driver.execute(f"SET lock_timeout = {PATIENCE}")
        driver.execute(f"VACUUM (FULL, ANALYZE) {', '.join(TABLES)}")
        for (forget,) in driver.execute(_STALE, [list(TABLES)]).fetchall():
            driver.execute(forget)
        if driver.execute(_OWNED).fetchone()[0]:
            driver.execute("VACUUM FULL pg_catalog.pg_statistic")
        else:
            LOG.warning(
                "old statistics of PostgreSQL may quote what was erased until the server vacuums them: the user of "
                "Recordari does not own the database. Its owner runs VACUUM FULL pg_statistic"
            )
        with contextlib.suppress(Exception):  # only who may; the server does it by itself within minutes
            driver.execute("CHECKPOINT")
    finally:
        driver.execute("RESET lock_timeout")
        driver.autocommit = False
        raw.close()
    return True
