"""Names against what is known: the entity a name reaches, what may be the same, and what a rename changes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import combinations

from ..model import Candidate, Known, MemoryItem, Turn
from ..values import NameValue, OrganizationValue, PersonValue
from .book import Book
from .draft import Draft
from .identity import judge

ALIAS = "alias"
_HAN = re.compile(r"[\u3400-\u9fff]")
_GIVEN = re.compile(r"[A-Z][a-z]+")
_FULL = re.compile(r"[A-Z][a-z]+(?: [A-Z][\w'.-]*){1,3}")
_NAMING = frozenset({"person", "organization"})
_STATED = frozenset({"state", "confirm"})


def known_as(entity: str, turn: Turn, known: Known, book: Book) -> str:
    """The entity that a name means: itself when known, whose alias or other writing it is, whose given name it is."""
    principal = turn.entity
    entities = {item.entity for item in known.live() if item.slot != ALIAS} - {principal}
    if entity == principal or entity in entities or not is_name(entity, book):
        return entity
    for alias in _aliases(known):
        if judge(alias.canonical, entity, book.names).answer == "same":
            return alias.entity
    for other in sorted(entities | {alias.entity for alias in _aliases(known)}):
        if is_name(other, book) and judge(other, entity, book.names).answer == "same":
            return other
    return short_for(entity, turn, known, book) or entity


def short_for(name: str, turn: Turn, known: Known, book: Book) -> str | None:
    """The full name that a given name is short for; None unless this conversation knows exactly one such person.

    "Tom" after "Tom Reed" needs no question as long as nobody else of that name was ever spoken of.
    """
    if turn.speaker != "user" or not _GIVEN.fullmatch(name):
        return None
    here = [item for item in known.live() if item.conversation == turn.conversation]
    of_people = {each for each in _names(known.live()) if not book.lex.said["company"].search(each)}
    full = {each for each in of_people if each.partition(" ")[0] == name and _FULL.fullmatch(each)}
    return full.pop() if len(full) == 1 and full <= _names(here) else None


def _names(items: Iterable[MemoryItem]) -> set[str]:
    """Every name that the items give or are about."""
    found = {name for item in items for name in (item.entity, item.value.canonical if item.kind in _NAMING else "")}
    return found - {""}


def identified(turn: Turn, candidate: Candidate, draft: Draft, known: Known, book: Book) -> tuple[str, str | None]:
    """The feature ``identity`` and, where a name is perhaps a known one, the question with the reasons."""
    pairs = _declared(known)
    value, target = draft.value, draft.target
    if isinstance(value, _NAMED) and target is not None and isinstance(target.value, _NAMED):
        slot = book.slots.get((draft.slot or "").removeprefix("reported."))
        if slot is None or slot.cardinality == "one":
            found = judge(value.canonical, target.canonical, book.names, pairs)
            if found.answer == "same":
                return ("none" if value.canonical == target.canonical else "same"), None
            own = slot is not None and slot.qualifier == "script"  # one's own name: who it is, is not in question
            if found.answer == "perhaps" and not own:
                if draft.binding == "suggested":  # the suggestion was the question
                    return "perhaps", None
                return "perhaps", _asked(candidate, value.canonical, target.canonical, found.reasons, book)
    if draft.entity == turn.entity or draft.slot is None or draft.slot.startswith("reported."):
        return "none", None
    entities = {item.entity for item in known.live() if not item.slot.startswith("reported.")} - {turn.entity}
    entities |= _names(known.live()) - {turn.entity} if _GIVEN.fullmatch(draft.entity) else set()
    if draft.entity in entities or not is_name(draft.entity, book):
        return "none", None
    for other in sorted(each for each in entities if is_name(each, book)):
        found = judge(draft.entity, other, book.names, pairs)
        if found.answer == "perhaps":
            return "perhaps", _asked(candidate, draft.entity, other, found.reasons, book)
    return "none", None


def renames(candidate: Candidate, turn: Turn, known: Known, book: Book) -> tuple[Candidate, ...]:
    """A rename is a new alias, and a change of values that are the old name; anything else is itself alone.

    One value a slot and label: two items of one place in one turn could not be told apart. What is left keeps the old
    name, which goes on meaning the same.
    """
    value, entity = candidate.value, candidate.entity
    if candidate.slot != ALIAS or entity is None or not isinstance(value, NameValue):
        return (candidate,)
    if candidate.act != "change":  # a second name beside the first
        return (candidate,)
    candidate = candidate.model_copy(update={"act": "state"})  # the old aliases stay
    if not _plain(candidate) or turn.speaker not in {"user", "document"}:
        return (candidate,)
    changed = [candidate]
    pairs = _declared(known)
    taken: set[tuple[str, str]] = set()
    for item in known.live():
        old = item.value
        if (
            (item.slot, item.qualifier) in taken
            or item.slot == ALIAS
            or item.slot.startswith("reported.")
            or not isinstance(old, _NAMED)
        ):
            continue
        if judge(old.canonical, entity, book.names, pairs).answer == "same":
            taken.add((item.slot, item.qualifier))
            update = {
                "act": "change", "slot": item.slot, "qualifier": item.qualifier, "entity": item.entity, "old": old,
                "value": type(old)(name=value.name), "kind": item.kind,
            }  # fmt: skip
            changed.append(candidate.model_copy(update=update))
    return tuple(changed)


_NAMED = (PersonValue, OrganizationValue)


def _plain(candidate: Candidate) -> bool:
    """True for what the speaker says is so."""
    said = candidate.assertion
    return (said.reported_by, said.polarity, said.modality) == (None, "affirmed", "asserted") and said.time != "future"


def _aliases(known: Known) -> list[MemoryItem]:
    """The aliases that stand or once stood, the newest first: a name goes on meaning whom it meant."""
    found = [item for item in (*known.live(), *known.history) if item.slot == ALIAS and item.status != "retracted"]
    true = [item for item in found if item.valid_from is None or item.valid_from != item.valid_to]
    return sorted(true, key=lambda item: (item.said_at, item.id), reverse=True)


def _declared(known: Known) -> list[tuple[str, str]]:
    """All pairs of names of one entity."""
    names: dict[str, list[str]] = {}
    for alias in _aliases(known):
        names.setdefault(alias.entity, [alias.entity]).append(alias.canonical)
    return [pair for group in names.values() for pair in combinations(group, 2)]


def is_name(entity: str, book: Book) -> bool:
    """True for a name, not for what somebody is to the speaker (my aunt, 对方)."""
    low = entity.lower()
    for words in (book.lex.kin, book.lex.others, book.lex.pronouns):
        hit = words.match(low)
        if hit is not None and hit.end() == len(low):
            return False
    if _HAN.search(entity):
        return len(entity) > 1
    return entity[:1].isupper() or entity[:1].isdigit()


def _asked(candidate: Candidate, new: str, old: str, reasons: tuple[str, ...], book: Book) -> str | None:
    """The question; None for what waits for no answer: a change, a denial, a mere thought."""
    if candidate.act not in _STATED or not _plain(candidate):
        return None
    language = "zh" if candidate.language == "zh" else "en"
    told = [book.same_entity.get(f"{language}.{reason}", reason) for reason in reasons]
    why = ("、" if language == "zh" else ", ").join(told)
    words = book.same_entity.get(language, "{new} = {known}? ({why})")
    return words.replace("{new}", new).replace("{known}", old).replace("{why}", why)
