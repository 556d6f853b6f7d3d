"""How a verdict changes what is known: pure reconciliation of item versions, and their status at a time.

The one law of a single-valued place (entity, slot, qualifier): its versions never overlap in valid time. What was
said later wins from its own start; what is said *about* later stands beside today's value ("rent is X from July").
A late turn fits into history between what was said before and after it, and never brings an old value back.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from ..model import Action, Bound, ItemStatus, Known, MemoryItem, SlotTraits, Turn, Verdict

_SOURCES = frozenset({"user", "assistant", "tool", "document", "person"})
_ENDED: frozenset[ItemStatus] = frozenset({"superseded", "retracted", "expired"})
# Whose words an item has, and where they stand.
_WORDS = ("asserted_by", "source", "surface", "turn_id", "turn", "start", "end", "rule", "conversation", "language")
_WRITING: frozenset[Action] = frozenset({"ADD", "SUPERSEDE"})


def reconcile(
    known: Known,
    bound: Bound,
    verdict: Verdict,
    turn: Turn,
    new_id: str,
    sentence: str,
    slot: SlotTraits,
) -> tuple[tuple[MemoryItem, ...], Known]:
    """Apply one verdict: the new and changed item versions, and what is known afterwards."""
    draft = _Draft(known, turn)
    if verdict.action in _WRITING:
        if bound.slot is not None and bound.value is not None:
            _write(draft, bound, verdict, new_id, sentence, slot)
    elif verdict.action == "HOLD":
        if bound.slot is not None and bound.value is not None:
            held = _item(draft, bound, new_id, sentence, slot, start=bound.valid_from or turn.said_at)
            draft.put(held.model_copy(update={"status": "held"}))
    elif verdict.action == "CONFIRM":
        target = draft.find(bound.target)
        if target is not None:
            # What was asked for again has more evidence and fades later; what is said outright does not fade at all.
            more = {"evidence": bound.evidence, "importance": bound.importance} if bound.evidence is not None else {}
            draft.change(target, confirmations=target.confirmations + 1, fades_at=bound.fades_at, **more)
        for held in filter(None, map(draft.find, bound.closes)):  # it waited for a person and says nothing new
            draft.close(held, held.valid_from or held.said_at)
    elif verdict.action == "RETRACT":
        _retract(draft, bound, verdict, slot)
    return draft.result()


def status_at(item: MemoryItem, at: datetime) -> ItemStatus:
    """What an item is at a time: a value changed in May was current in April; a voided one never was."""
    if item.status == "held":
        return "held"
    end = item.valid_to
    if is_void(item):
        return item.status if item.status in _ENDED else "superseded"
    if item.valid_from is not None and item.valid_from > at:
        return "scheduled"
    if end is not None and end <= at:
        return item.status if item.status in _ENDED else "expired"
    return "current"


def is_void(item: MemoryItem) -> bool:
    """True for a version that was never true: corrected, or called off before it began."""
    return item.valid_from is not None and item.valid_from == item.valid_to


def as_of(items: Iterable[MemoryItem], at: datetime) -> tuple[MemoryItem, ...]:
    """The items with the status they have at a time; one that another version followed is superseded, not expired."""
    given = tuple(items)
    starts = {(item.place, item.valid_from) for item in given if not is_void(item) and item.status != "held"}
    seen: list[MemoryItem] = []
    for item in given:
        status = status_at(item, at)
        if status == "expired" and item.status != "expired" and (item.place, item.valid_to) in starts:
            status = "superseded"
        seen.append(item if status == item.status else item.model_copy(update={"status": status}))
    return tuple(seen)


class _Draft:
    """The versions of one principal while one verdict is applied."""

    def __init__(self, known: Known, turn: Turn) -> None:
        self.known = known
        self.turn = turn
        # The present is when we learn of it; a turn that claims to arrive before it was said is taken at its word.
        self.now = max(turn.said_at, turn.received_at)
        self.items = {item.id: item for item in (*known.items, *known.history)}
        self._before = dict(self.items)
        self._touched: dict[str, None] = {}
        self._new: list[str] = []

    def find(self, item_id: str | None) -> MemoryItem | None:
        """A known version by its id."""
        return self.items.get(item_id) if item_id is not None else None

    def put(self, item: MemoryItem) -> None:
        """Write a new version."""
        if item.id in self.items:
            raise ValueError(f"item {item.id} exists already: ids come from turn, rule and span and are never reused")
        self.items[item.id] = item
        self._touched[item.id] = None
        self._new.append(item.id)

    def change(self, item: MemoryItem, **fields: Any) -> MemoryItem:
        """Change a known item: one version more than it had before this verdict."""
        before = self._before.get(item.id)
        changed = item.model_copy(update={**fields, "version": before.version + 1 if before else item.version})
        self.items[item.id] = changed
        self._touched[item.id] = None
        return changed

    def close(self, item: MemoryItem, at: datetime, status: ItemStatus = "superseded") -> None:
        """End a version at a time already reached; an end before its start means that it was never true."""
        start = item.valid_from or item.said_at
        end = max(start, at if item.valid_to is None else min(at, item.valid_to))
        if item.superseded_at is not None:  # history keeps how and when it left; only its extent shrinks
            self.change(item, valid_to=end)
        else:
            self.change(item, valid_to=end, status=status, superseded_at=self.now)

    def call_off(self, item: MemoryItem, status: ItemStatus = "superseded") -> None:
        """Void a version; what it would have followed goes on as if it had never been announced."""
        start = item.valid_from or item.said_at
        if start > self.now:
            for before in self.place(item):
                if before.valid_to == start and before.superseded_at is None:
                    self.change(before, valid_to=item.valid_to)
        self.close(item, start, status)

    def place(self, item: MemoryItem) -> list[MemoryItem]:
        """The other versions of the item's place that were or will be true, earliest first."""
        entity, slot, qualifier = item.place
        rivals = [
            other
            for other in self.items.values()
            if other.slot == slot
            and other.qualifier == qualifier
            and other.entity == entity
            and other.id != item.id
            and other.status != "held"
            and not is_void(other)
        ]
        return sorted(rivals, key=lambda other: (other.valid_from or other.said_at, other.said_at))

    def result(self) -> tuple[tuple[MemoryItem, ...], Known]:
        """What differs from before, and what is known now."""
        for each in list(self._touched):
            before = self._before.get(each)
            if before is not None and self.items[each].model_copy(update={"version": before.version}) == before:
                self.items[each] = before  # cut and then extended again: nothing happened to it
                del self._touched[each]
        written = tuple(self.items[each] for each in self._touched)
        if not written:
            return (), self.known
        items = tuple(
            item
            for item in (*(self.items[each.id] for each in self.known.items), *(self.items[each] for each in self._new))
            if item.superseded_at is None
        )
        history = self.known.history
        left = {item.id: item for item in written if item.superseded_at is not None}
        if left:
            never = {item.id for item in left.values() if is_void(item)}
            older = tuple(left.pop(each.id, each) for each in history if each.id not in never)
            history = (*older, *(item for item in left.values() if item.id not in never))
        return written, self.known.model_copy(update={"items": items, "history": history})


def _item(draft: _Draft, bound: Bound, new_id: str, sentence: str, slot: SlotTraits, *, start: datetime) -> MemoryItem:
    """The new version as it was said, not yet fitted in with the others."""
    candidate, turn = bound.candidate, draft.turn
    assert bound.slot is not None
    assert bound.value is not None
    source = bound.features.get("source", turn.speaker)
    end = bound.valid_to
    fields: dict[str, Any] = {
        "id": new_id,
        "entity": bound.entity,
        "type": slot.type,
        "slot": bound.slot,
        "qualifier": bound.qualifier,
        "value": bound.value,
        "polarity": candidate.assertion.polarity,
        "asserted_by": candidate.assertion.reported_by or turn.author or turn.speaker,
        "source": source if source in _SOURCES else turn.speaker,
        "status": "scheduled" if start > draft.now else "current",
        "valid_from": start,
        "valid_to": end if end is None or end > start else start,
        "said_at": turn.said_at,
        "recorded_at": draft.now,
        "sentence": sentence,
        "surface": candidate.surface,
        "turn_id": turn.turn_id,
        "turn": turn.ordinal,
        "start": candidate.start,
        "end": candidate.end,
        "rule": candidate.rule,
        "derived_from": bound.derived_from,
        "evidence": bound.evidence,
        "importance": bound.importance,
        "fades_at": bound.fades_at,
        "conversation": turn.conversation,
        "language": candidate.language,
    }
    said = draft.find(bound.as_said)
    if said is not None:  # nobody said it anew: its words stand where they stood
        fields |= {name: getattr(said, name) for name in _WORDS}
    return MemoryItem(**fields)


def _write(draft: _Draft, bound: Bound, verdict: Verdict, new_id: str, sentence: str, slot: SlotTraits) -> None:
    """ADD or SUPERSEDE: make room for the new version, then fit it in."""
    target = draft.find(bound.target)
    start = bound.valid_from or draft.turn.said_at
    correct = bound.candidate.act == "correct"
    historical = verdict.reason == "historical"
    if verdict.action == "SUPERSEDE" and target is not None and target.status != "held" and bound.valid_from is None:
        # What corrects a value was true all along; what changes it cannot begin before the value it changes.
        began = target.valid_from or target.said_at
        start = began if correct else max(start, began)
    new = _item(draft, bound, new_id, sentence, slot, start=start)
    for closed in _to_close(draft, bound, verdict, target):
        _replace(draft, closed, start, correct)
    if historical and target is not None and slot.cardinality == "many":
        end = max(start, target.valid_from or target.said_at)
        new = _history(draft, new, end)
    elif slot.cardinality == "one":
        new = _fit(draft, new, bound, historical=historical)
    draft.put(new)


def _to_close(draft: _Draft, bound: Bound, verdict: Verdict, target: MemoryItem | None) -> list[MemoryItem]:
    """The versions that end because of this one: the target of a SUPERSEDE, further named ones, an approved hold."""
    named = [target] if target is not None and (verdict.action == "SUPERSEDE" or target.status == "held") else []
    for each in bound.closes:
        item = draft.find(each)
        if item is not None and item not in named:
            named.append(item)
    return named


def _replace(draft: _Draft, old: MemoryItem, start: datetime, correct: bool) -> None:
    """End one version in favour of another that begins at ``start``."""
    began = old.valid_from or old.said_at
    if old.status == "held":
        draft.close(old, began)
    elif correct or start <= began:
        draft.call_off(old)
    elif start > draft.now:  # still true until then: only its end is known now
        draft.change(old, valid_to=start if old.valid_to is None else min(start, old.valid_to))
    else:
        draft.close(old, start)


def _fit(draft: _Draft, new: MemoryItem, bound: Bound, *, historical: bool) -> MemoryItem:
    """Fit a version into its single-valued place so that no two overlap; later words win, history is left in order."""
    start = new.valid_from or new.said_at
    claimed = bound.valid_to
    # A claim about the past alone ("last year it was 5") and a late old document change nothing that came after.
    yielding = historical or (claimed is not None and claimed <= draft.now)
    end = claimed
    for other in draft.place(new):
        began, ended = other.valid_from or other.said_at, other.valid_to
        is_history = other.superseded_at is not None
        later = other.said_at > new.said_at
        if ended is not None and ended <= start:
            continue
        if began <= start:  # it covers the start of the new one
            if later or (yielding and not is_history):
                end = start
            else:
                if began == start:  # taken over from its first moment: what came before it ends there as well
                    draft.close(other, start)
                else:
                    _replace(draft, other, start, correct=False)
                if is_history and ended is not None:
                    end = ended if end is None else min(end, ended)
        elif later or yielding or began > draft.now:
            end = began if end is None else min(end, began)
        elif end is None or began < end:
            draft.call_off(other)  # said earlier about a time that the new claim covers
    if end == claimed:
        return new
    return _history(draft, new, max(start, end) if end is not None else start)


def _history(draft: _Draft, new: MemoryItem, end: datetime) -> MemoryItem:
    """A version that another one ended already (or will end, when ``end`` lies ahead)."""
    if end > draft.now:
        return new.model_copy(update={"valid_to": end})
    return new.model_copy(update={"valid_to": end, "status": "superseded", "superseded_at": draft.now})


def _retract(draft: _Draft, bound: Bound, verdict: Verdict, slot: SlotTraits) -> None:
    """RETRACT: withdrawn or ended, at the time named or when it was said; expired, when its time to live was over."""
    named = [draft.find(bound.target), *map(draft.find, bound.closes)]
    if bound.target is None and not bound.closes and slot.cardinality == "one":
        named = [
            item
            for item in draft.items.values()
            if item.place == (bound.entity, bound.slot, bound.qualifier)
            and item.superseded_at is None
            and status_at(item, draft.now) == "current"
        ]
    for item in filter(None, named):
        began = item.valid_from or item.said_at
        at = bound.valid_to or draft.turn.said_at
        status: ItemStatus = "retracted"
        if verdict.reason == "expired":
            status = "expired"
            at = bound.valid_to or (began + slot.ttl if slot.ttl is not None else at)
        if item.status == "held":
            draft.close(item, began, status)
        elif began > draft.now:
            draft.call_off(item, status)
        elif at > draft.now:  # an ending announced ahead: true until then
            draft.change(item, valid_to=at if item.valid_to is None else min(at, item.valid_to))
        else:
            draft.close(item, at, status)
