"""What a forger with all rights does to a copy of a store: drop the guards, change rows, make hashes and roots fit."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from ..audit.checkpoint import SigningKey, unverified
from ..audit.merkle import Frontier, leaf_hash
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


def records(database: sqlite3.Connection, namespace: str) -> list[str]:
    """The records, in order."""
    rows = database.execute("SELECT record FROM records WHERE namespace = ? ORDER BY seq", (namespace,))
    return [row[0] for row in rows]


def dump(fields: Any) -> str:
    """A record as it is hashed."""
    return json.dumps(fields, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def put(database: sqlite3.Connection, namespace: str, seq: int, record: str) -> None:
    """Put a record in the place of another, with the leaf hash that fits it."""
    database.execute(
        "UPDATE records SET record = ?, leaf = ? WHERE namespace = ? AND seq = ?",
        (record, leaf_hash(record.encode()), namespace, seq),
    )


def refit(database: sqlite3.Connection, namespace: str) -> Frontier:
    """Make the frontier that of the records, and forget the kept subtrees."""
    frontier = Frontier().extend(leaf_hash(each.encode()) for each in records(database, namespace))
    database.execute(
        "UPDATE namespaces SET frontier_size = ?, frontier = ? WHERE name = ?",
        (frontier.size, b"".join(frontier.nodes), namespace),
    )
    database.execute("DELETE FROM subtrees WHERE namespace = ?", (namespace,))
    return frontier


def resign(database: sqlite3.Connection, namespace: str, key: SigningKey) -> None:
    """Sign every checkpoint afresh over the records as they are now; those beyond the end are dropped."""
    frontier, roots = Frontier(), {0: Frontier().root()}
    for each in records(database, namespace):
        frontier = frontier.append(leaf_hash(each.encode()))
        roots[frontier.size] = frontier.root()
    found = database.execute("SELECT number, note FROM checkpoints WHERE namespace = ?", (namespace,)).fetchall()
    for number, note in found:
        size = unverified(note).size
        if size in roots:
            fresh = key.checkpoint(namespace, size, roots[size])
            database.execute(
                "UPDATE checkpoints SET note = ? WHERE namespace = ? AND number = ?", (fresh, namespace, number)
            )
        else:
            database.execute("DELETE FROM checkpoints WHERE namespace = ? AND number = ?", (namespace, number))


def cut(database: sqlite3.Connection, namespace: str, size: int) -> None:
    """Leave the first records and everything that they wrote, as if the rest had never been said."""
    mine = (namespace, size)
    kept = "SELECT turn_id FROM decisions WHERE namespace = ?1 AND seq < ?2"
    for statement in (
        "DELETE FROM private_values WHERE namespace = ?1 AND seq >= ?2",
        "DELETE FROM erasures WHERE namespace = ?1 AND decided_by >= ?2",
        "DELETE FROM acts WHERE namespace = ?1 AND seq >= ?2",
        f"DELETE FROM items WHERE namespace = ?1 AND written_by NOT IN ({kept})",
        f"UPDATE proposals SET answered_by = NULL WHERE namespace = ?1 AND answered_by NOT IN ({kept})",
        f"DELETE FROM proposals WHERE namespace = ?1 AND turn_id NOT IN ({kept})",
        "DELETE FROM decisions WHERE namespace = ?1 AND seq >= ?2",
        "DELETE FROM turns WHERE namespace = ?1 AND turn_id NOT IN (SELECT turn_id FROM decisions "
        "WHERE namespace = ?1 AND seq < ?2)",
        "DELETE FROM wishes WHERE namespace = ?1 AND seq >= ?2",
        "DELETE FROM records WHERE namespace = ?1 AND seq >= ?2",
        "DELETE FROM checkpoints WHERE namespace = ?1 AND size > ?2",
        "UPDATE items SET replaced_at = NULL WHERE namespace = ?1 AND ?2 >= 0 AND NOT EXISTS (SELECT 1 FROM items n "
        "WHERE n.namespace = items.namespace AND n.item_id = items.item_id AND n.version = items.version + 1)",
        "DELETE FROM search_terms WHERE namespace = ?1 AND ?2 >= 0 AND ordinal NOT IN "
        "(SELECT ordinal FROM items WHERE namespace = ?1)",
        "DELETE FROM search_texts WHERE namespace = ?1 AND ?2 >= 0 AND ordinal NOT IN "
        "(SELECT ordinal FROM items WHERE namespace = ?1)",
        "UPDATE namespaces SET item_rows = (SELECT coalesce(max(row), 0) FROM items WHERE namespace = ?1) "
        "WHERE name = ?1 AND ?2 >= 0",
    ):
        database.execute(statement, mine)
    refit(database, namespace)
