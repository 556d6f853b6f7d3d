"""Vectors of items: one row an item in a table of both back ends, and the exact distances to a question's.

The rows of an entity are compared in the database where it can (sqlite-vec, pgvector), else here: nothing depends on an
extension, and nothing approximates. Only a vector's direction counts, so its numbers are kept as whole ones from -127
to 127, the largest at an end: that moves a cosine by less than a thousandth, and lets the rows of an entity lie side by
side on a few pages of SQLite; as floats each would lie on a page of its own somewhere in the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, literal_column, select, text

from .statements import Insert, Statement
from .tables import OUTBOX, VECTORS, column

EMBED = "embed"  # the kind of work that a write leaves in the outbox, in its own transaction
_ADD = Insert(VECTORS, "namespace", "entity", "ordinal", "version", "model", "vector")
_MINE = (VECTORS.c.namespace == bindparam("namespace"), VECTORS.c.model == bindparam("model"))
_OF = VECTORS.c.entity == bindparam("entity")
_ROWS = select(VECTORS.c.ordinal, VECTORS.c.vector).where(*_MINE)
_READ, _READ_OF = Statement(_ROWS), Statement(_ROWS.where(_OF))
_ONE = select(VECTORS.c.ordinal).where(*_MINE)
# An offset, or SQLite gets a parameter without a name.
_ANY, _ANY_OF = (
    Statement(each.limit(literal_column("1")).offset(literal_column("0"))) for each in (_ONE, _ONE.where(_OF))
)
_TAKE_OUT = Statement(
    delete(VECTORS).where(VECTORS.c.namespace == bindparam("namespace"), _OF, VECTORS.c.ordinal == bindparam("ordinal"))
)
_MODELS = Statement(
    select(VECTORS.c.model, func.count()).where(VECTORS.c.namespace == bindparam("namespace")).group_by(VECTORS.c.model)
)
_FROM = "FROM item_vectors WHERE namespace = :namespace AND model = :model"
# The same product by the extension of a back end. A distance is 0 where two vectors are alike.
_PRODUCTS = {
    "sqlite": "1 - vec_distance_cosine(vec_int8(vector), vec_int8(:asked))",
    "postgresql": "1 - (CAST(vector AS vector) <=> CAST(CAST(:asked AS real[]) AS vector))",
}
_BY_EXTENSION = {
    (name, whose): Statement(text(f"SELECT ordinal, {product} {_FROM}{' AND entity = :entity' if whose else ''}"))
    for name, product in _PRODUCTS.items()
    for whose in (True, False)
}
_PGVECTOR = Statement(text("SELECT to_regtype('vector') IS NOT NULL"))
_TOLD = "recordari_vectors"  # kept with a connection: whether its database can compare vectors


def write(connection: Connection, namespace: str, rows: Iterable[tuple[str, int, int, str, Sequence[float]]]) -> None:
    """Put vectors in the place of those that are there: (entity, number of the item, version, model, vector)."""
    given = [(column(entity), ordinal, version, model, vector) for entity, ordinal, version, model, vector in rows]
    for entity, ordinal, *_ in given:
        _TAKE_OUT.run(connection, namespace=namespace, entity=entity, ordinal=ordinal)
    plain = connection.dialect.name != "sqlite"
    _ADD.run(
        connection,
        [(namespace, entity, ordinal, version, model, stored(vector, plain))
         for entity, ordinal, version, model, vector in given],
    )  # fmt: skip


def remove(connection: Connection, namespace: str, entity: str, ordinals: Iterable[int]) -> int:
    """Take the vectors of items out; how many there were."""
    of = column(entity)
    return sum(_TAKE_OUT.run(connection, namespace=namespace, entity=of, ordinal=ordinal) for ordinal in ordinals)


def clear(connection: Connection, namespace: str) -> None:
    """Take all vectors of a namespace out, and the work that waits for them."""
    connection.execute(delete(VECTORS).where(VECTORS.c.namespace == namespace))
    connection.execute(delete(OUTBOX).where(OUTBOX.c.namespace == namespace, OUTBOX.c.kind == EMBED))


def models(connection: Connection, namespace: str) -> dict[str, int]:
    """How many vectors there are of each model."""
    return {model: int(count) for model, count in _MODELS.all(connection, namespace=namespace)}


def any_of(connection: Connection, namespace: str, entity: str | None, model: str) -> bool:
    """Whether an entity (None: the namespace) has a vector of a model."""
    asked = {"namespace": namespace, "model": model} | ({} if entity is None else {"entity": column(entity)})
    return (_ANY if entity is None else _ANY_OF).first(connection, **asked) is not None


def nearest(
    connection: Connection, namespace: str, entity: str | None, model: str, asked: Sequence[float]
) -> list[tuple[int, float]]:  # fmt: skip
    """Numbers of the items of an entity (None: of the namespace) with their cosine to a vector, the nearest first; of
    equals the item remembered last."""
    given: dict[str, Any] = {"namespace": namespace, "model": model}
    if entity is not None:
        given["entity"] = column(entity)
    if extension(connection):
        statement = _BY_EXTENSION[connection.dialect.name, entity is not None]
        # An error ends a transaction of PostgreSQL; what else is asked in this one must go on.
        with connection.begin_nested() if connection.dialect.name == "postgresql" else nullcontext():
            rows = statement.all(connection, **given, asked=stored(asked, connection.dialect.name != "sqlite"))
        found = [(ordinal, float(cosine)) for ordinal, cosine in rows]
    else:
        found = scanned((_READ_OF if entity is not None else _READ).all(connection, **given), asked)
    return sorted(found, key=lambda each: (-round(each[1], 6), -each[0]))


def extension(connection: Connection) -> bool:
    """Whether the database of a connection compares vectors itself: asked once, by loading sqlite-vec or by looking for
    pgvector."""
    told = connection.info.get(_TOLD)
    if told is None:
        found = _load(connection) if connection.dialect.name == "sqlite" else _PGVECTOR.all(connection) == [(True,)]
        told = connection.info[_TOLD] = found
    return bool(told)


def _load(connection: Connection) -> bool:
    """sqlite-vec into this connection; False where it is not installed or the SQLite of this Python loads nothing."""
    driver: Any = connection.connection.dbapi_connection
    try:
        import sqlite_vec

        driver.enable_load_extension(True)
        try:
            sqlite_vec.load(driver)
        finally:
            driver.enable_load_extension(False)
    except Exception:  # whatever keeps it from loading, the scan gives the same answer
        return False
    return True


def scanned(rows: Sequence[Any], asked: Sequence[float]) -> list[tuple[int, float]]:
    """The same, computed here. ValueError for rows of another length."""
    if not rows:
        return []
    import numpy

    kept = [vector for _, vector in rows]
    if any(len(vector) != len(asked) for vector in kept):
        raise ValueError("some are of another length than the question's")
    if isinstance(kept[0], bytes | memoryview):
        vectors = numpy.frombuffer(b"".join(kept), dtype="i1").reshape(len(kept), -1).astype("<f4")
    else:
        vectors = numpy.array(kept, dtype="<f4")
    wanted = _whole(asked).astype("<f4")
    cosines = vectors @ wanted / (numpy.linalg.norm(vectors, axis=1) * numpy.linalg.norm(wanted))
    return [(ordinal, float(cosine)) for (ordinal, _), cosine in zip(rows, cosines, strict=True)]


def stored(vector: Sequence[float], plain: bool) -> Any:
    """A byte a number; a list of the same numbers where the back end has arrays."""
    numbers = _whole(vector)
    return [float(each) for each in numbers] if plain else numbers.tobytes()


def _whole(vector: Sequence[float]) -> Any:
    """The direction of a vector in whole numbers from -127 to 127."""
    import numpy

    numbers = numpy.asarray(vector, dtype="<f8")
    return numpy.rint(numbers * (127 / numpy.abs(numbers).max())).astype("i1")
