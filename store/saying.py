"""Turns by what was said in them: of an entity that is not their principal, of items; and suggestions before them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import bindparam, select

from .reading import Reading
from .statements import Statement
from .tables import DECISIONS, ITEMS, PROPOSALS, TURNS, column

_PAGE = 400  # ids in one statement
_SAID = Statement(
    select(ITEMS.c.written_by, ITEMS.c.body).where(
        ITEMS.c.namespace == bindparam("namespace"), ITEMS.c.item_id == bindparam("item")
    )
)
_NAMED = tuple(
    Statement(
        select(DECISIONS.c.turn_id)
        .where(DECISIONS.c.namespace == bindparam("namespace"))
        .where(of == bindparam("item"))
    )
    for of in (DECISIONS.c.item, DECISIONS.c.target)
)


def turns_about(tx: Reading, entity: str) -> set[str]:
    """Turns with somebody else in which something was decided about an entity, remembered or not."""
    query = select(DECISIONS.c.turn_id, DECISIONS.c.body).where(
        DECISIONS.c.namespace == tx.namespace, DECISIONS.c.about == column(entity)
    )
    return {turn for turn, body in tx.connection.execute(query) if json.loads(body).get("entity") == entity}


def turns_of_items(tx: Reading, items: Iterable[str]) -> set[str]:
    """Turns in which items were said, said again, changed or named, and those that had suggested them: the turns whose
    words go with the items."""
    wanted = sorted(set(items))
    found = {turn for named in _NAMED for (turn,) in named.each(tx.connection, "item", wanted, namespace=tx.namespace)}
    for written_by, body in _SAID.each(tx.connection, "item", wanted, namespace=tx.namespace):
        fields = json.loads(body)
        found.update((written_by, fields["turn_id"], *(each["turn_id"] for each in fields.get("evidence") or ())))
    return found | suggesting(tx, found)


def suggesting(tx: Reading, turns: set[str]) -> set[str]:
    """Turns whose suggestions were answered in one of these, always in the same conversation."""
    talks: set[str] = set()
    for some in _pages(turns):
        query = select(TURNS.c.conversation).where(TURNS.c.namespace == tx.namespace, TURNS.c.turn_id.in_(some))
        talks.update(tx.connection.execute(query.distinct()).scalars())
    found: set[str] = set()
    for some in _pages(talks):
        made = select(PROPOSALS.c.turn_id, PROPOSALS.c.answered_by).where(PROPOSALS.c.namespace == tx.namespace)
        rows = tx.connection.execute(made.where(PROPOSALS.c.conversation.in_(some)))
        found.update(turn for turn, by in rows if by in turns)
    return found


def _pages(ids: Iterable[Any]) -> Iterator[list[Any]]:
    every = sorted(set(ids))
    for at in range(0, len(every), _PAGE):
        yield every[at : at + _PAGE]
