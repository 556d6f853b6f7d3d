"""Items as edges: which slots say a relation between two names, and the ends of an item that does."""

from __future__ import annotations

from collections.abc import Callable

from ..model import Edge, MemoryItem
from .book import RulesetLike, book_of
from .identity import name_key
from .naming import is_name
from .slots import SlotRelation


def relation_of(slot: str, ruleset: RulesetLike) -> SlotRelation | None:
    """What a slot, or the slot that a reported one reports on, says of relations."""
    file = ruleset.slots.get(slot.removeprefix("reported."))
    return file.relation if file is not None else None


def ends_of(item: MemoryItem, relation: SlotRelation) -> tuple[str, str]:
    """Subject and object of the edge that an item says, as they were said."""
    ends = item.entity, item.canonical
    return ends[::-1] if relation.inverse else ends


def edge_of(item: MemoryItem, principal: str, ruleset: RulesetLike) -> Edge | None:
    """The edge that an item says; None where it says none.

    What somebody is to the speaker (my aunt, 对方) is nobody in particular, and what is denied joins nothing.
    """
    relation = relation_of(item.slot, ruleset)
    if relation is None or item.polarity != "affirmed":
        return None
    book = book_of(ruleset)
    if item.entity != principal and not is_name(item.entity, book):
        return None
    subject, object_ = (name_key(each, book.names) for each in ends_of(item, relation))
    if not subject or not object_ or subject == object_:
        return None
    return Edge(relation.name, subject, object_, relation.symmetric or relation.same)


def edges(ruleset: RulesetLike) -> Callable[[MemoryItem, str], Edge | None]:
    """``edge_of`` of one rule set, as the store takes it: from an item and the principal it came from."""
    return lambda item, principal: edge_of(item, principal, ruleset)
