"""What is asked for again and again becomes a preference, and fades when it is asked for no more."""

from __future__ import annotations

from collections.abc import Sequence

from ..model import Bound, Evidence, Known, MemoryItem, Turn, Wish
from ..values import Value
from .book import Book
from .draft import Draft
from .endings import ended
from .features import features_of
from .induction_file import InductionFile
from .labels import key
from .slots import span_of


def rule_of(rules: Sequence[InductionFile], slot: str, reason: str) -> InductionFile | None:
    """The rule under which a wish counts that was refused for this reason."""
    return next((rule for rule in rules if rule.slot == slot and reason in rule.refused), None)


def same_wish(one: Wish, other: Wish) -> bool:
    """Whether two ask for the same, by the same person, of the same and in the same direction."""
    return _asked(one) == _asked(other)


def _asked(wish: Wish) -> tuple[str, ...]:
    return (wish.by, wish.entity, wish.slot, wish.qualifier, wish.kind, key(wish.canonical), wish.polarity)


def induced(
    rule: InductionFile, wish: Wish, wishes: Sequence[Wish], cause: Bound, turn: Turn, known: Known, book: Book
) -> Bound | None:
    """The preference that a wish completes, ``wishes`` including it; None while it was not asked for often enough.

    What has been made a preference once is spent: when that ended, it takes as many wishes again.
    """
    same = [each for each in wishes if same_wish(each, wish)]
    spent = max((place for place, each in enumerate(same) if each.reason == "induced"), default=-1)
    fresh = [each.said for each in same[spent + 1 :] if each.reason in rule.refused]
    evidence = rule.standing(fresh, turn.said_at)
    value = cause.value
    if len(evidence) < rule.times or value is None:
        return None
    here = [item for item in known.live() if _is_about(item, wish, value)]
    if any(item.polarity == wish.polarity for item in here):
        return None
    candidate = cause.candidate.model_copy(update={"act": "state", "rule": rule.ref, "confidence": "high"})
    draft = Draft(wish.slot, wish.qualifier, wish.entity, value, target=here[0] if here else None, binding="named")
    features, _ = features_of(turn, candidate, draft, book, "none")
    return Bound(
        candidate=candidate, slot=wish.slot, qualifier=wish.qualifier, entity=wish.entity, value=value,
        target=here[0].id if here else None, evidence=evidence, importance=rule.weight(len(evidence)),
        fades_at=evidence[-1].said_at + span_of(rule.fades), features={**features, "act": "induce"},
    )  # fmt: skip


def _is_about(item: MemoryItem, wish: Wish, value: Value) -> bool:
    place = (item.entity, item.slot, item.qualifier, item.kind)
    return place == (wish.entity, wish.slot, wish.qualifier, wish.kind) and key(item.canonical) == key(value.canonical)


def asked_again(bound: Bound, turn: Turn, known: Known, rules: Sequence[InductionFile]) -> Bound:
    """A wish for what was induced is evidence for it; the opposite wish turns it, which ends it at once."""
    if bound.candidate.act != "wish" or bound.target is None:
        return bound
    item = next((each for each in known.live() if each.id == bound.target), None)
    if item is None or item.evidence is None:
        return bound
    if bound.candidate.assertion.polarity != item.polarity:
        return bound.model_copy(update={"features": {**bound.features, "act": "unwish"}})
    rule = next((each for each in rules if each.slot == item.slot), None)
    if rule is None or bound.features.get("relation") != "equal":
        return bound
    said = Evidence(
        turn_id=turn.turn_id, start=bound.candidate.start, end=bound.candidate.end, conversation=turn.conversation,
        said_at=turn.said_at,
    )  # fmt: skip
    evidence = rule.standing((*item.evidence, said), max(turn.said_at, item.evidence[-1].said_at))
    fades = evidence[-1].said_at + span_of(rule.fades)
    return bound.model_copy(
        update={"evidence": evidence, "importance": rule.weight(len(evidence)), "fades_at": fades}
    )  # fmt: skip


def faded(turn: Turn, known: Known, book: Book) -> list[Bound]:
    """What was asked for no more for so long that it ends: decided at the first turn after that, as of then."""
    now = max(turn.said_at, turn.received_at)
    return [
        ended(item, turn, book, at=item.fades_at, rule=item.rule)
        for item in known.live()
        if item.fades_at is not None and item.fades_at <= now
    ]
