"""Look-ups by place without a text index: which items stand where, and the items themselves by their rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, bindparam, or_, select

from ..model import MemoryItem
from .codec import read_item
from .statements import Statement
from .tables import ITEMS, NAMESPACES, column, unstamp

_COLUMNS = (ITEMS.c.row, ITEMS.c.entity, ITEMS.c.slot, ITEMS.c.qualifier, ITEMS.c.kind)  # an index has them all
_NEWEST = select(*_COLUMNS).where(ITEMS.c.namespace == bindparam("namespace"), ITEMS.c.replaced_at.is_(None))
_LIVE = or_(ITEMS.c.status == bindparam("current"), ITEMS.c.status == bindparam("scheduled"))
_STATUSES = {"current": "current", "scheduled": "scheduled"}
_ALL = Statement(_NEWEST)
_ALL_LIVE = Statement(_NEWEST.where(_LIVE))
_OF_ENTITY = Statement(_NEWEST.where(ITEMS.c.entity == bindparam("entity")))
_LIVE_OF_ENTITY = Statement(_NEWEST.where(ITEMS.c.entity == bindparam("entity"), _LIVE))
_ROWS = Statement(
    select(ITEMS.c.row, ITEMS.c.body).where(
        ITEMS.c.namespace == bindparam("namespace"), ITEMS.c.row == bindparam("row")
    )
)
_SIZE = Statement(select(NAMESPACES.c.item_rows).where(NAMESPACES.c.name == bindparam("namespace")))


Place = tuple[int, str, str, str, str]
"""Where an item stands: the row of its newest version, entity, slot, label and kind of value. Everything a look-up
compares before it reads the item itself; hundreds a question, so a plain tuple as the driver gives it."""


def places(connection: Connection, namespace: str, entity: str | None, *, history: bool) -> list[Place]:
    """The newest versions of all items of an entity (None: of the namespace); without ``history`` only those that
    were current or scheduled at the last write."""
    asked = {"namespace": namespace} | ({} if history else _STATUSES)
    if entity is None:
        return (_ALL if history else _ALL_LIVE).all(connection, **asked)
    return (_OF_ENTITY if history else _LIVE_OF_ENTITY).all(connection, **asked, entity=column(entity))


def read_rows(connection: Connection, namespace: str, rows: Sequence[int]) -> dict[int, MemoryItem]:
    """Items by the rows of their versions."""
    return {row: read_item(body) for row, body in _ROWS.each(connection, "row", rows, namespace=namespace)}


def size(connection: Connection, namespace: str) -> int:
    """Item versions ever written to a namespace."""
    found = _SIZE.first(connection, namespace=namespace)
    return int(found[0]) if found is not None else 0


def newest(connection: Connection, namespace: str) -> datetime | None:
    """When the item version written last came to be known; None when there is none."""
    query = select(ITEMS.c.written_at).where(ITEMS.c.namespace == namespace, ITEMS.c.row <= size(connection, namespace))
    written = connection.execute(query.order_by(ITEMS.c.row.desc()).limit(1)).scalar()
    return None if written is None else unstamp(written)


def deciders(connection: Connection, namespace: str, item_ids: Sequence[str]) -> dict[str, tuple[str, int]]:
    """The decision (turn, ordinal) that wrote the newest version of each item."""
    query = select(ITEMS.c.item_id, ITEMS.c.written_by, ITEMS.c.decision).where(
        ITEMS.c.namespace == namespace, ITEMS.c.item_id.in_(item_ids), ITEMS.c.replaced_at.is_(None)
    )
    return {item: (turn, int(ordinal)) for item, turn, ordinal in connection.execute(query)}
