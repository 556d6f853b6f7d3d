"""What a forgetting asks of the tables: which items may be due, when they were last used, what an entity takes up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, func, or_, select

from ..model import MemoryItem
from .codec import read_item
from .reading import Reading
from .standing import unrestricted
from .tables import ITEMS, TURNS, stamp, unstamp

_PAGE = 400  # ids in one statement
ROOM = 4  # bytes that a character takes at most


class Standing(NamedTuple):
    """An item that stands, whose conversation it came from, what it takes up, its number and the row of its version."""

    item: MemoryItem
    principal: str
    size: int  # bytes
    number: int
    row: int


def _stand(tx: Reading, at: datetime) -> list[ColumnElement[bool]]:
    """The newest versions of what stands, written by then."""
    return [
        ITEMS.c.namespace == tx.namespace, ITEMS.c.replaced_at.is_(None), ITEMS.c.superseded_at.is_(None),
        ITEMS.c.status != "held", ITEMS.c.written_at <= stamp(at),
    ]  # fmt: skip


def _read(tx: Reading, where: Iterable[ColumnElement[bool]], room: int | None = None) -> list[Standing]:
    query = select(ITEMS.c.body, ITEMS.c.principal, ITEMS.c.ordinal, ITEMS.c.row).where(*where)
    return [
        Standing(read_item(body), principal, len(body.encode("utf-8", "surrogatepass")), ordinal, row)
        for body, principal, ordinal, row in tx.connection.execute(query.order_by(ITEMS.c.row).limit(room))
    ]


def may_be_due(
    tx: Reading, at: datetime, before: Mapping[str, datetime], fading: Iterable[str], *, room: int
) -> Iterator[list[Standing]]:  # fmt: skip
    """What stands ``at`` a time and has an end of its own (in slots of preferences that are ``fading`` it may), or was
    last written ``before`` the time of its slot; ``room`` of them at once, in the order of writing."""
    spent = [
        (ITEMS.c.slot == slot) & (ITEMS.c.written_at <= stamp(then)) for slot, then in sorted(before.items())
    ]  # fmt: skip
    fades = ITEMS.c.slot.in_(sorted(fading))  # when one does stands in its body alone
    maybe = or_(ITEMS.c.valid_to <= stamp(at), fades, *spent)
    row = 0
    while page := _read(tx, [*_stand(tx, at), maybe, ITEMS.c.row > row], room):
        yield page
        row = page[-1].row


def followed(tx: Reading, item: MemoryItem) -> bool:
    """Whether another version begins where an item ends: then it was replaced."""
    if item.valid_to is None:
        return False
    query = select(ITEMS.c.item_id).where(
        ITEMS.c.namespace == tx.namespace, ITEMS.c.entity == item.entity, ITEMS.c.slot == item.slot,
        ITEMS.c.qualifier == item.qualifier, ITEMS.c.replaced_at.is_(None), ITEMS.c.item_id != item.id,
        ITEMS.c.valid_from == stamp(item.valid_to),
    )  # fmt: skip
    return tx.connection.execute(query.limit(1)).first() is not None


def last_used(tx: Reading, items: Iterable[str]) -> dict[str, datetime]:
    """When a turn last said, confirmed or changed items; a new wording is no use, nor is a question."""
    found: dict[str, datetime] = {}
    for some in _pages(items):
        query = select(ITEMS.c.item_id, func.max(ITEMS.c.written_at)).where(
            ITEMS.c.namespace == tx.namespace, ITEMS.c.item_id.in_(some), ITEMS.c.version > 1
        )
        for item, written in tx.connection.execute(query.group_by(ITEMS.c.item_id)):
            found[item] = unstamp(written)
    return found


def last_heard(tx: Reading, conversations: Iterable[str]) -> dict[str, datetime]:
    """When something was last said in conversations."""
    found: dict[str, datetime] = {}
    for some in _pages(conversations):
        query = select(TURNS.c.conversation, func.max(TURNS.c.received_at)).where(
            TURNS.c.namespace == tx.namespace, TURNS.c.conversation.in_(some)
        )
        for talk, received in tx.connection.execute(query.group_by(TURNS.c.conversation)):
            found[talk] = unstamp(received)
    return found


def full(tx: Reading, at: datetime, items: int, size: int) -> list[str]:
    """Entities of which more may stand than so many items or bytes."""
    query = select(ITEMS.c.entity).where(*_stand(tx, at)).group_by(ITEMS.c.entity)
    over = or_(func.count() > items, func.sum(func.length(ITEMS.c.body)) * ROOM > size)
    return sorted(tx.connection.execute(query.having(over)).scalars())


def standing_of(tx: Reading, at: datetime, entity: str) -> list[Standing]:
    """What stands of an entity."""
    return _read(tx, [*_stand(tx, at), ITEMS.c.entity == entity])


def with_words_of(tx: Reading, item: MemoryItem, principal: str) -> list[str]:
    """Ids of what stands with the words of an item, oldest first, itself among them."""
    query = select(ITEMS.c.body).where(
        ITEMS.c.namespace == tx.namespace, ITEMS.c.principal == principal, ITEMS.c.slot == item.slot,
        ITEMS.c.replaced_at.is_(None), ITEMS.c.superseded_at.is_(None), ITEMS.c.status != "held",
    )  # fmt: skip
    bodies = tx.connection.execute(query.order_by(ITEMS.c.ordinal)).scalars()
    found = unrestricted(map(read_item, bodies), tx.restrictions)
    return [each.id for each in found if _words(each) == _words(item)]


def _words(item: MemoryItem) -> tuple[str, int, int]:
    return item.turn_id, item.start, item.end


def archived(tx: Reading, before: Mapping[str, datetime]) -> Iterator[MemoryItem]:
    """What had ended by itself ``before`` the time of its slot, the oldest first."""
    spent = [
        (ITEMS.c.slot == slot) & (ITEMS.c.superseded_at <= stamp(then)) for slot, then in sorted(before.items())
    ]  # fmt: skip
    if not spent:
        return
    query = select(ITEMS.c.body).where(
        ITEMS.c.namespace == tx.namespace, ITEMS.c.replaced_at.is_(None), ITEMS.c.status == "expired", or_(*spent)
    )
    rows = tx.connection.execute(query.order_by(ITEMS.c.superseded_at, ITEMS.c.row))
    for body in rows.scalars():
        yield read_item(body)


def _pages(ids: Iterable[Any]) -> Iterator[list[Any]]:
    every = sorted(set(ids))
    for at in range(0, len(every), _PAGE):
        yield every[at : at + _PAGE]
