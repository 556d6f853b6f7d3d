"""Values that are counted from an event ("7 days before the launch") follow it: dated, moved, and open again with it.

Which item is the event is decided by its name alone: an anchor vocabulary (id ``anchors.*``) says under which words an
event is known, and the item of the same entity that is labelled with one of them is the event. A label with more to it
("Phoenix launch") is the event of values whose own label says as much, and of one that was said next to it when there
is no other such event. Where two could be meant none is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ..extractors.grammar import Context
from ..extractors.time.anchored import counted_from, open_value
from ..model import Assertion, Bound, Candidate, Known, MemoryItem, Turn
from ..values import TimeValue
from .book import Book, RulesetLike, book_of
from .draft import Draft
from .features import features_of
from .labels import key

RULE = "law.anchor@1"
LONGEST_CHAIN = 8
"""Values counted from values: no contract counts further, and what does stays open."""
NEAR = 3
"""Turns between an event and a value that is counted from "the" event."""
_HAN = re.compile(r"[\u3400-\u9fff]")


class Move(NamedTuple):
    """A value that is no longer what its anchor makes it."""

    item: MemoryItem
    value: TimeValue
    anchor: MemoryItem | None  # None: the event has no date any more


@dataclass(frozen=True, eq=False)
class Anchors:
    """The dated and the counted values of one entity at one moment."""

    known: Known
    entity: str
    turn: Turn
    ruleset: RulesetLike

    def moved(self) -> Iterator[Move]:
        """The values that have to follow, each after what it is counted from."""
        waiting = []
        for item in self._times():
            if item.value.anchor is not None:  # type: ignore[attr-defined]
                value, anchor = self.settled(item)
                if not value.same_as(item.value):
                    waiting.append(Move(item, value, anchor))
        unsettled = {move.item.id for move in waiting}
        yield from (move for move in waiting if move.anchor is None or move.anchor.id not in unsettled)

    def settled(self, item: MemoryItem, above: tuple[str, ...] = ()) -> tuple[TimeValue, MemoryItem | None]:
        """What a value is now, and the event it is counted from; open when that has no date, or counts from it."""
        value = item.value
        assert isinstance(value, TimeValue)
        return (value, None) if value.anchor is None else self.dated(value, item, above)

    def dated(
        self, value: TimeValue, item: MemoryItem, above: tuple[str, ...] = ()
    ) -> tuple[TimeValue, MemoryItem | None]:
        """A counted value at the date of its event; ``item`` tells whose value it is and what must not be its event."""
        event = self._event(value, item)
        if event is not None and event.id not in above and len(above) < LONGEST_CHAIN:
            at, _ = self.settled(event, (*above, item.id))
            tables = self.ruleset.extraction.grammar.tables
            context = Context(
                self.turn.said_at, self.turn.timezone, self.turn.locale, item.language, tables=tables
            )  # fmt: skip
            made = counted_from(value, at, context)
            if made is not None:
                return made, event
        return open_value(value), None

    def _times(self) -> list[MemoryItem]:
        """The times of the entity that stand now; what was only reported is nobody's event."""
        return [
            item
            for item in self.known.live()
            if item.entity == self.entity and isinstance(item.value, TimeValue) and item.polarity == "affirmed"
            and not item.slot.startswith("reported.")
        ]  # fmt: skip

    def _event(self, value: TimeValue, item: MemoryItem) -> MemoryItem | None:
        """The one item that is the event, the one it followed so far if that is among several."""
        assert value.anchor is not None
        named: dict[bool, list[MemoryItem]] = {True: [], False: []}
        for other in self._times():
            if other.id != item.id and other.place != item.place:
                more = self._more(other, value.anchor)
                if more is not None:
                    named[all(word in _said_of(item) for word in more)].append(other)
        before = {each.place for each in (*self.known.items, *self.known.history) if each.id in item.derived_from}
        fits = named[True] or [other for other in named[False] if other.place in before or _near(other, item)]
        places = {other.place for other in named[True] or named[False]}
        if len(places) > 1:
            places &= before
        here = [other for other in fits if other.place in places]
        if len(places) != 1 or not here:
            return None
        return next((other for other in here if other.status == "current"), here[0])

    def _more(self, other: MemoryItem, anchor: str) -> tuple[str, ...] | None:
        """What the label of an item says beside the name of the event; None when it does not name it."""
        book = book_of(self.ruleset)
        for label in book.event_labels(anchor, other.slot):
            more = _without(other.qualifier, label)
            if more is not None:
                return tuple(word for word in more if word not in book.event_days)
        return None


def _without(qualifier: str, label: str) -> tuple[str, ...] | None:
    """What a label says beside the name of the event; None when it does not name it."""
    if qualifier == label:
        return ()
    if not label:
        return None
    if _HAN.search(label):  # A合同签约: no blank need stand between the two
        before, found, after = qualifier.partition(label)
        return tuple(f"{before} {after}".split()) if found else None
    before, found, after = f" {qualifier} ".partition(f" {label} ")
    return tuple(f"{before} {after}".split()) if found else None


def _near(other: MemoryItem, item: MemoryItem) -> bool:
    """Whether both were said in one breath: "the launch" is the one that was just spoken of."""
    return other.conversation == item.conversation and abs(other.turn - item.turn) <= NEAR


def _said_of(item: MemoryItem) -> str:
    return f"{item.qualifier} {key(item.surface)}"


def counted(bound: Bound, turn: Turn, known: Known, ruleset: RulesetLike) -> Bound:
    """A candidate whose value is counted from an event, at the date of the event when that is known.

    A value that lost its own words (a clock put on a counted day, a day moved by hand) is counted no longer.
    """
    value, candidate = bound.value, bound.candidate
    if not isinstance(value, TimeValue) or value.anchor is None or bound.slot is None:
        return bound
    if bound.features.get("relation") == "equal" or bound.slot.startswith("reported."):
        return bound
    own = candidate.value if candidate.value is not None or candidate.form == "answer" else None
    kept = candidate.form == "answer" or (isinstance(own, TimeValue) and own.anchor == value.anchor)
    if not kept:
        free = value.model_copy(update={"anchor": None, "offset": None})
        return bound if value.type == "symbolic" else bound.model_copy(update={"value": free})
    like = MemoryItem(
        id="", entity=bound.entity, slot=bound.slot, qualifier=bound.qualifier, value=value, asserted_by="",
        said_at=turn.said_at, recorded_at=turn.said_at, surface=candidate.surface, turn_id=turn.turn_id,
        turn=turn.ordinal, conversation=turn.conversation, language=candidate.language,
    )  # fmt: skip
    made, event = Anchors(known, bound.entity, turn, ruleset).dated(value, like)
    if event is None:
        return bound if value.type == "symbolic" else bound.model_copy(update={"value": made})
    return bound.model_copy(update={"value": made, "derived_from": (*bound.derived_from, event.id)})


def counted_out(bound: Bound) -> bool:
    """Whether a value is the work of this module: dated by its event, or open again."""
    value = bound.value
    if not isinstance(value, TimeValue) or value.anchor is None:
        return False
    return bound.as_said is not None or value.type != "symbolic"


def event_name(bound: Bound, ruleset: RulesetLike) -> str:
    """The event of a counted value in the words in which it was said; empty when its words are not at hand."""
    anchor = bound.value.anchor if isinstance(bound.value, TimeValue) else None
    said = bound.candidate.surface.lower()
    words = [word for word in book_of(ruleset).events.get(anchor or "", ()) if word.lower() in said]
    return max(words, key=len, default="")


def following(move: Move, cause: Bound, turn: Turn, book: Book) -> Bound:
    """The candidate of a value that follows its event, to be judged like any other.

    ``cause`` is what moved the event: what corrects the event was never true of what is counted from it either.
    """
    item, why = move.item, cause.candidate
    candidate = Candidate(
        act="correct" if why.act == "correct" and move.anchor is not None else "change", slot=item.slot,
        qualifier=item.qualifier, entity=item.entity, kind="time", value=move.value,
        assertion=Assertion(polarity=item.polarity), start=why.start, end=why.end, surface=item.surface,
        evidence=why.evidence, rule=RULE, language=item.language,
    )  # fmt: skip
    draft = Draft(item.slot, item.qualifier, item.entity, move.value, target=item, binding="named")
    features, _ = features_of(turn, candidate, draft, book, "none")
    derived = (move.anchor.id,) if move.anchor is not None else ()
    return Bound(
        candidate=candidate, slot=item.slot, qualifier=item.qualifier, entity=item.entity, value=move.value,
        target=item.id, as_said=item.id, derived_from=derived, features={**features, "act": "follow"},
    )  # fmt: skip
