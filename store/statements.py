"""Statements compiled once per back end and sent straight to the driver: what a turn writes takes half the time.

SQLAlchemy still opens, begins and ends the transaction, and still writes the SQL of each back end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import ClauseElement, Connection, Table

Columns = tuple[Any, ...]


class Statement:
    """A Core statement whose parameters are all named ``bindparam``s; rows come back as plain tuples."""

    def __init__(self, core: ClauseElement) -> None:
        self._core = core
        self._compiled: dict[str, tuple[str, tuple[str, ...] | None]] = {}

    def run(self, connection: Connection, **parameters: Any) -> int:
        """Send it for its effect; how many rows it touched."""
        touched: int = self._send(connection, parameters).rowcount
        return touched

    def first(self, connection: Connection, **parameters: Any) -> Columns | None:
        """The first row, if any."""
        row: Columns | None = self._send(connection, parameters).fetchone()
        return row

    def all(self, connection: Connection, **parameters: Any) -> list[Columns]:
        """All rows."""
        rows: list[Columns] = self._send(connection, parameters).fetchall()
        return rows

    def page(self, connection: Connection, **parameters: Any) -> list[Columns]:
        """All rows, for who reads a whole table. A verifier's connection calls a function for every text, which mends
        what is no UTF-8; the driver itself reads texts in half the time, and says when one needs mending."""
        driver = _driver(connection)
        mending = getattr(driver, "text_factory", str)
        if mending is str:
            return self.all(connection, **parameters)
        driver.text_factory = str
        try:
            return self.all(connection, **parameters)
        except connection.dialect.loaded_dbapi.OperationalError:
            pass
        finally:
            driver.text_factory = mending
        return self.all(connection, **parameters)

    def each(self, connection: Connection, name: str, values: Iterable[Any], **parameters: Any) -> Iterator[Columns]:
        """The rows for each value of the parameter ``name``. Not one statement with a list: without statistics SQLite
        takes a condition on the namespace alone for a narrower one than twenty keys, and reads all of a table."""
        sql, order = self._for(connection)
        execute = _driver(connection).execute
        for given in _each(parameters, name, values, order):
            yield from execute(sql, given).fetchall()

    def many(self, connection: Connection, name: str, values: Iterable[Any], **parameters: Any) -> None:
        """Send it for its effect with each value of the parameter ``name``."""
        sql, order = self._for(connection)
        _driver(connection).cursor().executemany(sql, _each(parameters, name, values, order))

    def _send(self, connection: Connection, parameters: Mapping[str, Any]) -> Any:
        sql, order = self._for(connection)
        return _driver(connection).execute(sql, _arranged(parameters, order))

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
        self.places = {name: at for at, name in enumerate(self._columns)}
        self.rank = table.metadata.sorted_tables.index(table)  # after every table that its rows refer to
        self._compiled: dict[str, str] = {}

    def run(self, connection: Connection, rows: Sequence[Columns]) -> None:
        """Add the rows."""
        if rows:
            _driver(connection).cursor().executemany(self._for(connection), rows)

    def _for(self, connection: Connection) -> str:
        dialect = connection.dialect
        if dialect.name not in self._compiled:
            quote = dialect.identifier_preparer.quote
            mark = "?" if dialect.name == "sqlite" else "%s"
            names = ", ".join(map(quote, self._columns))
            marks = ", ".join([mark] * len(self._columns))
            self._compiled[dialect.name] = f"INSERT INTO {self._table.name} ({names}) VALUES ({marks})"
        return self._compiled[dialect.name]


def _driver(connection: Connection) -> Any:
    """The driver's own connection: sqlite3 and psycopg both execute on it directly."""
    return connection.connection.dbapi_connection


def _arranged(parameters: Mapping[str, Any], order: tuple[str, ...] | None) -> Any:
    return parameters if order is None else tuple(parameters[name] for name in order)


def _each(
    parameters: Mapping[str, Any], name: str, values: Iterable[Any], order: tuple[str, ...] | None
) -> Iterator[Any]:  # fmt: skip
    """The parameters with each value of one of them in turn; only that one is put in place again."""
    if order is None:
        for value in values:
            yield {**parameters, name: value}
        return
    given = [None if each == name else parameters[each] for each in order]
    places = [at for at, each in enumerate(order) if each == name]
    for value in values:
        for at in places:
            given[at] = value
        yield tuple(given)
