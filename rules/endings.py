"""What ends though nobody said so: a preference that faded, and what a forgetting names."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ..model import Bound, Candidate, Ending, Known, MemoryItem, Turn
from .book import Book
from .draft import Draft
from .features import features_of


def ended(item: MemoryItem, turn: Turn, book: Book, *, at: datetime | None, rule: str) -> Bound:
    """The end of an item at a time, bound as policy judges it: act ``fade``."""
    candidate = Candidate(
        act="end", slot=item.slot, qualifier=item.qualifier, entity=item.entity, kind=item.kind, start=0, end=0,
        rule=rule, language=item.language,
    )  # fmt: skip
    draft = Draft(item.slot, item.qualifier, item.entity, None, target=item, binding="named")
    features, _ = features_of(turn, candidate, draft, book, "none")
    return Bound(
        candidate=candidate, slot=item.slot, qualifier=item.qualifier, entity=item.entity, target=item.id,
        evidence=item.evidence, valid_to=at, features={**features, "act": "fade"},
    )  # fmt: skip


def standing(items: Sequence[MemoryItem]) -> list[MemoryItem]:
    """The items that a forgetting may end: neither ended already nor waiting for a person."""
    return [item for item in items if item.superseded_at is None and item.status != "held"]


def bind_endings(turn: Turn, endings: Sequence[Ending], known: Known, book: Book) -> list[Bound]:
    """What a forgetting names. LookupError when it is not known any more, which only an erasure can bring about."""
    items = standing(known.items)
    found: list[Bound] = []
    for ending in endings:
        meant = [item for item in items if ending.names(item)]
        if len(meant) <= ending.nth:
            raise LookupError(f"an item that {turn.turn_id!r} ends is not known any more")
        end = ended(meant[ending.nth], turn, book, at=ending.at, rule=ending.rule)
        found.append(end.model_copy(update={"flags": (f"forgotten_{ending.why}",)}))
    return found


def with_known_endings(turn: Turn, known: Known) -> Turn:
    """A forgetting without what these rules never remembered."""
    items = standing(known.items)
    kept = tuple(each for each in turn.endings or () if sum(map(each.names, items)) > each.nth)
    return turn.model_copy(update={"endings": kept})
