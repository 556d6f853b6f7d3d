"""Cleans a database of what was erased from it: rows that are deleted leave their bytes in files for a while."""

from __future__ import annotations

import contextlib
from typing import Any

from sqlalchemy import Engine, delete, select

from .tables import OUTBOX

SCRUB = "scrub"  # the kind of work that an erasure leaves in the outbox, in its own transaction

PATIENCE = 30_000  # milliseconds that PostgreSQL waits for those who read
# What PostgreSQL rewrites: every table from which erasing takes rows or values.
TABLES = (
    "private_values", "items", "decisions", "turns", "proposals", "wishes", "outbox", "search_terms", "search_texts",
    "turn_terms", "turn_texts", "traces", "trace_hits",
)  # fmt: skip


def scrub(engine: Engine) -> bool:
    """Rewrite the database without its dead rows where an erasure asks for it and nobody has done it yet, as after a
    kill; True when it is clean. False: a reader keeps the old pages of an SQLite file alive."""
    with engine.connect() as connection, connection.begin():
        asked = connection.execute(select(OUTBOX.c.id).where(OUTBOX.c.kind == SCRUB)).scalars().all()
    if not asked:
        return True
    clean = _sqlite(engine) if engine.dialect.name == "sqlite" else _postgresql(engine)
    if clean:
        with engine.connect() as plain:
            connection = plain.execution_options(recordari_writer=True)
            with connection.begin():
                connection.execute(delete(OUTBOX).where(OUTBOX.c.id.in_(asked)))
    return clean


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
