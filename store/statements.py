"""Statements compiled once per back end and sent straight to the driver: half the time of a turn's writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ClauseElement, Connection, CursorResult, Table


class Statement:
    """A Core statement whose parameters are all named ``bindparam``s."""

    def __init__(self, core: ClauseElement) -> None:
        self._core = core
        self._compiled: dict[str, tuple[str, tuple[str, ...] | None]] = {}

    def run(self, connection: Connection, **parameters: Any) -> CursorResult[*tuple[Any, ...]]:
        """Send it once."""
        sql, order = self._for(connection)
        return connection.exec_driver_sql(sql, _arranged(parameters, order))

    def run_all(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> CursorResult[*tuple[Any, ...]]:
        """Send it for each row."""
        sql, order = self._for(connection)
        return connection.exec_driver_sql(sql, [_arranged(row, order) for row in rows])

    def _for(self, connection: Connection) -> tuple[str, tuple[str, ...] | None]:
        name = connection.dialect.name
        found = self._compiled.get(name)
        if found is None:
            compiled: Any = self._core.compile(dialect=connection.dialect)
            order = tuple(compiled.positiontup) if compiled.positional else None
            found = self._compiled[name] = (str(compiled), order)
        return found


class Insert:
    """Adds rows to a table; a row is a tuple in the order of ``columns``."""

    def __init__(self, table: Table, *columns: str) -> None:
        self._table = table
        self._columns = columns or tuple(column.name for column in table.columns)
        self._compiled: dict[str, str] = {}

    def run(self, connection: Connection, rows: Sequence[tuple[Any, ...]]) -> None:
        """Add the rows."""
        if rows:
            connection.exec_driver_sql(self._for(connection), list(rows))

    def _for(self, connection: Connection) -> str:
        dialect = connection.dialect
        if dialect.name not in self._compiled:
            quote = dialect.identifier_preparer.quote
            mark = "?" if dialect.name == "sqlite" else "%s"
            names = ", ".join(map(quote, self._columns))
            marks = ", ".join([mark] * len(self._columns))
            self._compiled[dialect.name] = f"INSERT INTO {self._table.name} ({names}) VALUES ({marks})"
        return self._compiled[dialect.name]


def _arranged(parameters: Mapping[str, Any], order: tuple[str, ...] | None) -> Any:
    return dict(parameters) if order is None else tuple(parameters[name] for name in order)
