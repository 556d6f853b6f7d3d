"""The features of a bound candidate: small closed strings, the only thing the rule engine ever sees."""

from __future__ import annotations

from ..extractors.text import normalize
from ..model import Candidate, MemoryItem, Turn
from ..values import Magnitude, TextValue, Value
from .book import Book
from .draft import Draft
from .relation import compare
from .slots import SlotFile, span_of


def features_of(
    turn: Turn, candidate: Candidate, draft: Draft, book: Book, gate: str
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Every feature of ``model.FEATURES`` and the flags of the decision."""
    base = (draft.slot or "").removeprefix("reported.")
    slot = book.slots.get(base)
    target = draft.target
    relation = relation_of(turn, candidate, draft.value, target, slot)
    stated = candidate.act in {"state", "confirm"} and draft.identity == "same"
    if stated and target is not None and candidate.assertion.polarity == target.polarity:
        relation = "equal"  # the known name in another writing; who corrects the writing is taken at their word
    unusual = relation in {"differs", "narrower", "broader"} and _unusual(turn, draft.value, target, slot)
    flags = ("unusual_change",) if unusual else ()
    act = candidate.act
    if act == "adjust" and draft.binding == "none":
        act = "adjust"
    hold = bool(unusual and slot and slot.flag_change and slot.flag_change.hold)
    features = {
        "slot": draft.slot or "none",
        "kind": type(draft.value).kind if draft.value is not None else (candidate.kind or "none"),
        "act": act,
        "form": candidate.form,
        "polarity": candidate.assertion.polarity,
        "modality": candidate.assertion.modality,
        "time": candidate.assertion.time,
        "source": turn.speaker,
        "attribution": "reported" if candidate.assertion.reported_by is not None else "own",
        "authority": _authority(turn, target, slot),
        "relation": relation,
        "wording": _wording(candidate, target),
        "identity": draft.identity,
        "binding": draft.binding,
        "value": draft.valid,
        "confidence": candidate.confidence,
        "gate": gate,
        "hedge": slot.hedge if slot else "ignore",
        "approval": "yes" if slot and slot.needs_approval else "no",
        "unusual": "yes" if hold else "no",
    }
    if slot is not None and slot.keeps == "session":  # any other decision says no more than it did
        features["keeps"] = "session"
    return features, flags


def relation_of(
    turn: Turn, candidate: Candidate, value: Value | None, target: MemoryItem | None, slot: SlotFile | None
) -> str:
    """How the value stands to the known one; a turn older than it gives history, never a change."""
    if target is None:
        return "none"
    if value is None:
        return "equal" if candidate.act in {"retract", "end"} else "none"
    relation: str = compare(value, target.value)
    if slot is not None and slot.equality == "topic" and isinstance(value, TextValue):
        relation = "equal"
    if slot is not None and slot.cardinality == "many" and relation != "equal" and candidate.act == "state":
        relation = "none"
    if relation != "none" and candidate.assertion.polarity != target.polarity:
        relation = "differs"
    if turn.said_at < target.said_at and relation not in {"equal", "none"}:
        return "older"
    return relation


def _authority(turn: Turn, target: MemoryItem | None, slot: SlotFile | None) -> str:
    if target is None or slot is None:
        return "none"
    executed = turn.document is not None and turn.document.status == "executed"
    mine, theirs = slot.rank(turn.speaker, executed), slot.rank(target.source)
    if mine == theirs:
        return "equal"
    return "higher" if mine < theirs else "lower"


def _wording(candidate: Candidate, target: MemoryItem | None) -> str:
    if target is None:
        return "other"
    one, other = (normalize(text).lower.strip(" .。!！,，") for text in (candidate.surface, target.surface))
    return "same" if one == other else "other"


def _unusual(turn: Turn, value: Value | None, target: MemoryItem | None, slot: SlotFile | None) -> bool:
    """True when the slot asks for a flag on a change of this size."""
    if slot is None or slot.flag_change is None or target is None:
        return False
    if not isinstance(value, Magnitude) or not isinstance(target.value, Magnitude):
        return False
    one, other = value.amount, target.value.amount
    if one is None or other is None or one <= 0 or other <= 0:
        return False
    if slot.flag_change.within is not None and turn.said_at - target.said_at > span_of(slot.flag_change.within):
        return False
    ratio = float(one / other)
    return ratio >= slot.flag_change.factor or ratio <= 1 / slot.flag_change.factor
