"""What a person does to an item, bound like anything that is said: policy, store and ledger see no difference."""

from __future__ import annotations

from ..model import Act, Assertion, Bound, Candidate, Edit, Known, MemoryItem, Scan, Turn
from ..values import NumberValue, TextValue, Value
from .bind import valued
from .book import RulesetLike, book_of
from .draft import Draft
from .features import features_of
from .lookup import Lookup

RULE = "law.edit@1"
_ACTS: dict[str, Act] = {"correct": "correct", "confirm": "confirm", "reject": "reject", "approve": "change"}
_NAMED = frozenset({"text", "person", "organization", "place"})  # what a person writes is what it is


def bind_edit(turn: Turn, edit: Edit, scan: Scan, known: Known, ruleset: RulesetLike) -> Bound:
    """The edit with its item as target and every feature of ``model.FEATURES``.

    LookupError when the item is not known any more, which only an erasure can bring about.
    """
    book = book_of(ruleset)
    item = next((each for each in known.items if edit.names(each)), None)
    if item is None:
        raise LookupError(f"the item that {turn.turn_id!r} edits is not known any more")
    act = "change" if edit.does == "correct" and edit.since is not None else _ACTS[edit.does]
    candidate = Candidate(
        act=act, form="full" if edit.does == "correct" else "answer", slot=item.slot, qualifier=item.qualifier,
        entity=item.entity, kind=item.kind, assertion=Assertion(polarity=item.polarity), rule=RULE, start=0,
        end=len(turn.text), evidence=((0, len(turn.text)),) if turn.text else (), surface=turn.text.strip(),
        confidence="high", language=item.language,
    )  # fmt: skip
    draft = Draft(item.slot, item.qualifier, item.entity, item.value, target=item, binding="named")
    if edit.does == "correct":
        candidate = candidate.model_copy(update={"value": written(turn, scan, item)})
        draft = valued(candidate, draft._replace(value=candidate.value), book)
    elif edit.does == "approve":  # it waited beside what stands in its place
        rival = Lookup(turn, candidate, known, book).named(item.slot, item.qualifier, item.entity).item
        draft = draft._replace(target=rival, closes=(item.id,))
        candidate = candidate.model_copy(update={"value": item.value, "surface": item.surface})
    features, flags = features_of(turn, candidate, draft, book, "none")
    return Bound(
        candidate=candidate, slot=draft.slot, qualifier=item.qualifier, entity=item.entity, value=draft.value,
        target=draft.target.id if draft.target else None, closes=draft.closes, features=features, flags=flags,
        valid_from=edit.since if edit.does == "correct" else item.valid_from if edit.does == "approve" else None,
    )  # fmt: skip


def written(turn: Turn, scan: Scan, item: MemoryItem) -> Value | None:
    """The value that a person wrote for an item: the one mention of its kind, or for a name or text the words."""
    fits = [mention.value for mention in scan.mentions if mention.kind == item.kind]
    bare = [mention.value for mention in scan.mentions if isinstance(mention.value, NumberValue)]
    for found in (fits, bare):
        if len(found) == 1 and item.kind not in _NAMED:
            return found[0]
        if found and item.kind not in _NAMED:
            return None  # which of them?
    return TextValue(text=turn.text.strip()) if item.kind in _NAMED and turn.text.strip() else None
