"""The schema of a database: made at once when it is empty, upgraded by alembic when it is older."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Dialect, insert, inspect, literal, select, text
from sqlalchemy.schema import CreateIndex, CreateTable

from . import guards
from .errors import Missing, NewerSchema, NotADatabase, OlderSchema
from .outbox import REINDEX
from .tables import METADATA, NAMESPACES, OUTBOX, REVISIONS, SCHEMA

_FILLED = "0005"  # the last schema with an index that its migration leaves empty
_LONG_AGO = "1970-01-01T00:00:00.000000Z"


def prepare(connection: Connection, place: str, *, read_only: bool = False, new: bool = True) -> None:
    """Bring the schema to the newest version, inside the caller's transaction (which keeps others out).

    An empty database gets its tables when it may be a ``new`` one.
    """
    found = version_of(connection, place)
    if found == REVISIONS[-1]:
        return
    if found is not None and found not in REVISIONS:
        raise NewerSchema(
            place,
            f"its schema {found!r} is newer than {REVISIONS[-1]!r}, the newest that this version knows",
            "Upgrade Recordari",
        )
    if found is None and (read_only or not new):
        raise Missing(place, "there is no memory in it yet", "`recordari observe` begins one")
    if read_only:
        way_out = "`recordari audit checkpoint` brings it to this one; keep a copy of what it was"
        raise OlderSchema(place, f"its schema {found!r} is older than this version", way_out)
    if found is None:
        create(connection)
    else:
        upgrade(connection)
        if found < _FILLED:
            _reindex_later(connection)


def _reindex_later(connection: Connection) -> None:
    """Leave the filling of the indexes that came since to whoever opens a memory and knows its rules."""
    every = select(NAMESPACES.c.name, *map(literal, (REINDEX, "", 0, "{}", "waiting", 0, _LONG_AGO)))
    columns = ("namespace", "kind", "item_id", "item_version", "payload", "state", "attempts", "not_before")
    connection.execute(insert(OUTBOX).from_select(columns, every))


def version_of(connection: Connection, place: str) -> str | None:
    """The schema version; None for an empty database. A database of something else is refused untouched."""
    tables = set(inspect(connection).get_table_names())
    if SCHEMA.name in tables and "namespaces" in tables:
        version: str | None = connection.execute(select(SCHEMA.c.version_num)).scalar()
        return version
    if tables & set(METADATA.tables) or (tables and connection.dialect.name == "sqlite"):
        raise NotADatabase(place, "a database of something else", "Give the path of a Recordari database or a new file")
    return None


def create(connection: Connection) -> None:
    """Make all tables and stamp them with the newest version."""
    for statement in _statements(connection.dialect.name, connection.dialect):
        connection.exec_driver_sql(statement)
    connection.execute(insert(SCHEMA), [{"version_num": REVISIONS[-1]}])


def upgrade(connection: Connection, to: str = "head") -> None:
    """Run the migrations that are missing."""
    from alembic import command

    command.upgrade(alembic_config(connection), to)


def alembic_config(connection: Connection) -> Any:
    """Alembic's configuration without an ini file."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.attributes.update(connection=connection, metadata=METADATA)
    return config


@lru_cache(maxsize=4)
def _statements(name: str, dialect: Dialect) -> tuple[str, ...]:
    """The DDL of a dialect, compiled once a process: a throw-away store opens in a few milliseconds."""
    made: list[str] = []
    for table in METADATA.sorted_tables:
        made.append(str(CreateTable(table).compile(dialect=dialect)))
        for each in table.indexes:
            if "where" in each.info:
                each.dialect_kwargs[f"{name}_where"] = text(each.info["where"])
        made += [
            str(CreateIndex(each).compile(dialect=dialect))
            for each in sorted(table.indexes, key=lambda each: str(each.name))
        ]
    return (*made, *guards.statements(name))
