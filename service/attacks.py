"""`recordari audit attack`: every way we know to falsify a ledger, done to a throw-away copy, and who sees it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from ..store import guards


@contextmanager
def superuser(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection of one who may do everything: the guards of the ledger are dropped, and put back to hide it."""
    with closing(sqlite3.connect(path)) as database:
        for name in guards.sqlite_triggers():
            database.execute(f"DROP TRIGGER {name}")
        yield database
        for statement in guards.sqlite_triggers().values():
            database.execute(statement)
        database.commit()
