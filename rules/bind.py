"""Complete a candidate from what is live and what was said: slot, label, owner, value, features for policy."""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from ..extractors.phones import of_country
from ..model import Bound, Candidate, Known, MemoryItem, Proposal, Turn
from ..values import (
    AddressValue,
    Magnitude,
    MoneyValue,
    NameValue,
    NumberValue,
    PhoneValue,
    QuantityValue,
    TextValue,
    TimeValue,
    Value,
)
from .book import Book, RulesetLike, book_of
from .draft import Draft
from .features import features_of
from .frames import LAST_NAMED
from .labels import key
from .lookup import Found, Lookup, compatible, shape
from .naming import identified, known_as, short_for
from .parts import adjusted, completed, on_day, part_of, patched, with_moment
from .relation import compare

__all__ = ["bind"]


def bind(turn: Turn, candidate: Candidate, known: Known, ruleset: RulesetLike, gate: str = "none") -> Bound:
    """The candidate completed, with every feature of ``model.FEATURES``. What is not unique stays open and is asked."""
    book = book_of(ruleset)
    look = Lookup(turn, candidate, known, book)
    draft = _placed(turn, candidate, known, book, look)
    draft = valued(candidate, draft, book)
    draft = draft._replace(value=_full_name(turn, candidate, draft, known, book))
    draft = draft._replace(value=_currency_of_talk(candidate, draft, known, book))
    draft = draft._replace(value=_country_of_talk(candidate, draft.value, known))
    slot = draft.slot
    reported = candidate.assertion.reported_by is not None
    if reported and slot is not None:
        draft = _reported(turn, candidate, known, draft)
    identity, question = identified(turn, candidate, draft, known, book)
    draft = draft._replace(identity=identity, question=draft.question or question)
    features, flags = features_of(turn, candidate, draft, book, gate)
    if reported and book.lex.said["hearsay"].search(candidate.assertion.reported_by or ""):
        features["confidence"] = "low"
    act = candidate.act
    if draft.proposal is not None and act == "confirm":
        candidate = candidate.model_copy(update={"value": draft.value})
    suggested = draft.proposal.candidate if draft.proposal is not None else candidate
    if features["act"] != act:
        candidate = candidate.model_copy(update={"act": features["act"]})
    return Bound(
        candidate=candidate,
        slot=draft.slot,
        qualifier=draft.qualifier or "",
        entity=draft.entity,
        value=draft.value,
        target=draft.target.id if draft.target else None,
        closes=draft.closes,
        derived_from=draft.derived_from,
        valid_from=suggested.valid_from or candidate.valid_from,
        valid_to=turn.said_at if _over(candidate, draft) else suggested.valid_to or candidate.valid_to,
        question=draft.question,
        flags=flags,
        features=features,
    )


def _full_name(turn: Turn, candidate: Candidate, draft: Draft, known: Known, book: Book) -> Value | None:
    """ "The broker is Tom" says again that it is Tom Reed, as long as nobody else of that name is known."""
    value, target = draft.value, draft.target
    if candidate.act not in {"state", "confirm"} or not isinstance(value, NameValue) or target is None:
        return value
    same = short_for(value.canonical, turn, known, book) == target.canonical
    return target.value if same else value


# What somebody was or had: said in the past tense it is over. A figure of last year is a fact about that year.
_STATES = frozenset({"address", "location", "phone", "email", "employer", "name", "party", "owner", "role", "status"})


def _over(candidate: Candidate, draft: Draft) -> bool:
    past = candidate.assertion.time == "past" and candidate.act == "state" and draft.target is None
    return past and draft.slot in _STATES


def _placed(turn: Turn, candidate: Candidate, known: Known, book: Book, look: Lookup) -> Draft:
    """Slot, qualifier, entity and target, in the order of the design."""
    entity = _entity(turn, candidate, known, book)
    draft = Draft(candidate.slot, candidate.qualifier, entity, candidate.value)
    if turn.speaker == "user" and known.proposals:
        answered = _answer(candidate, known, draft, look)
        if answered is not None:
            return answered
    if candidate.form == "answer":
        return draft
    if candidate.slot is not None:
        if candidate.qualifier is None and candidate.slot in book.label_words:
            draft = draft._replace(qualifier=_meant_label(turn, candidate, known, book))
        found = look.named(candidate.slot, draft.qualifier, entity)
        if found.item is None and candidate.old is not None:
            old = look.by_old(candidate.slot)
            found = old if old.item is not None else found
        if candidate.act == "end" and found.item is not None and not _named_alike(candidate.value, found.item.value):
            found = Found()  # "I left Dublin" ends no job
        if candidate.act == "end" and found.item is None and not found.rivals:
            found = _ended_too(candidate, entity, known, book)
        if found.item is None and not found.rivals and draft.qualifier is None:
            return draft._replace(qualifier="", binding="named")
        return _settled(draft, found, candidate, book)
    if candidate.act in {"adjust", "correct"} and candidate.qualifier:  # it is named: nothing else can be meant
        found = look.by_label(candidate.qualifier, entity)
        return _settled(draft, found, candidate, book)
    asked = _asked(turn, candidate, known, book, draft, look)
    if asked is not None:
        return asked
    for found in (look.by_old(None), look.by_words(), look.by_ordinal(), look.recent()):
        if found.item is not None or found.rivals:
            return _settled(draft, found, candidate, book)
    return draft


def _ended_too(candidate: Candidate, entity: str, known: Known, book: Book) -> Found:
    """What else is over when a relation is that nobody told of in these words: of several it is asked which."""
    slot = book.slots.get(candidate.slot or "")
    also = slot.relation.ends_also if slot is not None and slot.relation is not None else ()
    value = candidate.value
    if value is None or not also:
        return Found()
    there = [item for item in known.live() if item.slot in also and item.entity == entity]
    items = tuple(item for item in there if compare(value, item.value) == "equal")
    return Found(items[0], "matched") if len(items) == 1 else Found(rivals=items)


def _asked(turn: Turn, candidate: Candidate, known: Known, book: Book, draft: Draft, look: Lookup) -> Draft | None:
    """A value alone, right after the agent asked for one, answers that question."""
    if turn.speaker != "user" or candidate.act not in {"state", "confirm"} or candidate.value is None:
        return None
    for said in reversed(known.recent):
        if said.turn != turn.ordinal - 1 or said.speaker != "assistant":
            return None
        slot = book.slots.get(said.slot or "")
        if slot is None or said.item is not None:
            continue
        part = book.slot_parts.get(slot.slot)
        value = candidate.value if part is None else part_of(candidate.value, part)
        if value is None:
            continue
        kind = type(value).kind
        if kind not in slot.value and not (kind == "number" and slot.value[0] in {"money", "quantity"}):
            continue
        found = look.named(slot.slot, said.qualifier or "", turn.entity)
        return draft._replace(
            slot=slot.slot, qualifier=said.qualifier or "", value=value, binding="recent", target=found.item
        )
    return None


def _named_alike(value: Value | None, known: Value) -> bool:
    """True unless both are names and neither holds the other."""
    if not isinstance(value, NameValue) or not isinstance(known, NameValue):
        return True
    one, other = (key(each.canonical).replace(" ", "") for each in (value, known))
    return one in other or other in one


def _meant_label(turn: Turn, candidate: Candidate, known: Known, book: Book) -> str:
    """The label of a value without one, in a slot that knows all its labels.

    It is the one the agent spoke of just before; else that of the only value there is to change; else the usual one.
    """
    assert candidate.slot is not None
    usual = book.slots[candidate.slot].unlabelled
    labels = {
        said.qualifier or usual
        for said in known.recent
        if said.turn == turn.ordinal - 1 and said.speaker == "assistant" and said.slot == candidate.slot
    }
    if len(labels) == 1 and turn.speaker == "user":
        return labels.pop()
    if candidate.act in {"change", "correct", "confirm", "retract", "end"}:
        live = {item.qualifier for item in known.live() if item.slot == candidate.slot and item.entity == turn.entity}
        return live.pop() if len(live) == 1 else usual
    return usual


def _settled(draft: Draft, found: Found, candidate: Candidate, book: Book) -> Draft:
    if found.rivals:
        return draft._replace(
            binding="ambiguous", rivals=found.rivals, question=_question(found.rivals, candidate, book)
        )
    if found.item is None:
        return draft._replace(binding="named" if draft.slot else "none", qualifier=draft.qualifier or "")
    item = found.item
    keeps_own = draft.slot is not None and book.slots[draft.slot].cardinality == "many" if draft.slot else False
    if keeps_own and found.how == "named":
        return draft._replace(qualifier=draft.qualifier or item.qualifier, target=item, binding="named")
    return draft._replace(slot=item.slot, qualifier=item.qualifier, entity=item.entity, target=item, binding=found.how)


def _entity(turn: Turn, candidate: Candidate, known: Known, book: Book) -> str:
    """Who it is about: as said, the one named last for a pronoun, else the principal."""
    if candidate.entity is None:
        return turn.entity
    if candidate.entity != LAST_NAMED:
        return known_as(_by_role(candidate.entity, known, book), turn, known, book)
    for said in reversed(known.recent):
        if said.entity and said.entity != turn.entity:
            return said.entity
        item = next((i for i in known.items if i.id == said.item), None)
        if item is not None and item.kind in {"organization", "person"}:
            return item.value.canonical
    return "third party"


def _by_role(entity: str, known: Known, book: Book) -> str:
    """乙方联系人 is whoever is known in that role."""
    named = key(entity)
    for item in known.live():
        if item.slot not in {"party", "owner", "witness"} or item.kind not in {"person", "organization"}:
            continue
        words = book.slot_words.get(item.slot)
        role = key(words.sub(" ", entity)) if words is not None else named
        if item.qualifier and item.qualifier in {named, role} and (role != named or item.slot != "owner"):
            return item.value.canonical
    return entity


def _answer(candidate: Candidate, known: Known, draft: Draft, look: Lookup) -> Draft | None:
    """The proposal that this candidate answers: by yes or no, or by saying its value (again, or another)."""
    latest = known.proposals[-1]
    if candidate.form == "answer":
        together = [p for p in known.proposals if p.turn == latest.turn]
        if candidate.act == "confirm" and len(together) > 1 and any(p.candidate.confidence == "low" for p in together):
            return draft._replace(binding="ambiguous")  # "a retainer of 5,000 or a cap of 20,000?" "Yes."
        return _from_proposal(draft, latest, known, look) if candidate.act in {"confirm", "reject"} else None
    if candidate.value is None or candidate.assertion.reported_by is not None:
        return None
    for proposal in reversed(known.proposals):
        given = proposal.candidate.value
        if given is None or not compatible(candidate.value, given):
            continue
        same = compare(_as(candidate.value, given), given) in {"equal", "broader"}
        bare = candidate.form == "bare" or candidate.slot is None
        if bare and candidate.old is None and (same or candidate.act in {"state", "correct", "confirm", "change"}):
            placed = _from_proposal(draft, proposal, known, look)
            if same:
                return placed
            # Another value than the suggested one is the speaker's own: it accepts nothing.
            return placed._replace(value=candidate.value, binding="recent", proposal=None)
        if same and candidate.act == "confirm" and candidate.slot == proposal.candidate.slot:
            return _from_proposal(draft, proposal, known, look)
    return None


def _from_proposal(draft: Draft, proposal: Proposal, known: Known, look: Lookup) -> Draft:
    given = proposal.candidate
    target = next((i for i in known.live() if i.id == proposal.answers), None)
    entity = given.entity or draft.entity
    if target is None and given.slot is not None:
        target = look.named(given.slot, given.qualifier or "", entity).item
    return draft._replace(
        slot=given.slot or (target.slot if target else None),
        qualifier=given.qualifier or (target.qualifier if target else ""),
        entity=target.entity if target else entity,
        value=given.value,
        target=target,
        binding="suggested",
        proposal=proposal,
    )


def valued(candidate: Candidate, draft: Draft, book: Book) -> Draft:
    """The value in the slot's own type: patched, adjusted, converted, with the unit of what it replaces."""
    target = draft.target
    if candidate.patch is not None:
        if target is None:
            return draft._replace(valid="missing")
        new = patched(candidate.patch, target.value, book.lex.said)
        return draft._replace(value=new, derived_from=(target.id,), valid="ok" if new is not None else "unparseable")
    if candidate.adjustment is not None:
        if target is None:
            return draft._replace(valid="missing")
        by = candidate.adjustment
        if by.by is not None:
            by = by.model_copy(update={"by": _as(by.by, target.value)})
        new = adjusted(by, target.value)
        return draft._replace(value=new, derived_from=(target.id,), valid="ok" if new is not None else "unparseable")
    value = draft.value
    if value is None and target is not None and candidate.act == "confirm":
        value = target.value  # "the deposit stays the same"
    if value is None:
        return draft._replace(valid="missing")
    if target is not None:
        scaled = _in_scale(value, candidate, target, book)
        if scaled is not value:
            draft = draft._replace(derived_from=(target.id,))
        value = _as(scaled, target.value)
        if candidate.act == "correct" and isinstance(value, AddressValue) and isinstance(target.value, AddressValue):
            value = completed(value, target.value, corrects=True)
        if candidate.act in {"change", "correct"}:
            value = _keeping_clock(value, target.value)
    if isinstance(value, NumberValue) and draft.slot is not None and draft.slot in book.slots:
        kinds = book.slots[draft.slot].value
        if "number" not in kinds:
            value = _converted(value, kinds[0])
    return draft._replace(value=value)


def _country_of_talk(candidate: Candidate, value: Value | None, known: Known) -> Value | None:
    """A number without its country is of the country of the numbers in the talk: 020 after a +44 number is London."""
    if not isinstance(value, PhoneValue) or "+" in candidate.surface or value.national.startswith("00"):
        return value
    known_as_well = [item.value for item in known.live() if isinstance(item.value, PhoneValue)]
    numbers = sorted({phone.e164 for phone in known_as_well if phone.e164 is not None})
    if not numbers or len(numbers) != len(known_as_well) or any(of_country(value, n) is None for n in numbers):
        return value
    read = {each.e164 for n in numbers if (each := of_country(value, n)) is not None}
    return of_country(value, numbers[0]) if len(read) == 1 else value


def _currency_of_talk(candidate: Candidate, draft: Draft, known: Known, book: Book) -> Value | None:
    """ "35 grand" names no currency: it is in the one of what it replaces, or the only one spoken of so far."""
    value, target = draft.value, draft.target
    said = candidate.value if isinstance(candidate.value, MoneyValue) else None
    if not isinstance(value, MoneyValue) or said is None or said.currency is None or value.currency != said.currency:
        return value
    if not book.lex.said["sum_without_currency"].search(candidate.surface.lower()):
        return value
    if target is not None:
        spoken = {target.value.currency} if isinstance(target.value, MoneyValue) else set()
    else:
        spoken = {item.value.currency for item in known.live() if isinstance(item.value, MoneyValue)}
    return value.model_copy(update={"currency": spoken.pop()}) if len(spoken) == 1 else value


def _converted(value: NumberValue, kind: str) -> Value:
    fields = {
        name: getattr(value, name) for name in ("amount", "min", "max", "per", "bound", "approx", "base", "period")
    }
    if kind == "money":
        return MoneyValue(**fields, currency=None)
    if kind == "quantity":
        return QuantityValue(**fields, unit=value.unit)
    return value


_DIGITS = re.compile(r"[0-9]+(?:\.[0-9]+)?")


def _in_scale(value: Value, candidate: Candidate, target: MemoryItem, book: Book) -> Value:
    """ "80k", then "make it 90": a bare number in the thousands, millions or 万 of the figure that it replaces."""
    if candidate.act not in {"change", "correct"} or not isinstance(value, NumberValue) or value.unit or value.per:
        return value
    known, said, again = target.value, _DIGITS.findall(target.surface), _DIGITS.findall(candidate.surface)
    if not isinstance(known, MoneyValue | QuantityValue) or known.amount is None or value.amount is None:
        return value
    if len(said) != 1 or len(again) != 1 or Decimal(again[0]) != value.amount or not (figure := Decimal(said[0])):
        return value
    scale = known.amount / figure
    near = figure / book.same_scale <= value.amount <= figure * book.same_scale
    if scale < book.least_scale or value.amount >= scale or not near:
        return value
    return value.model_copy(update={"amount": value.amount * scale})


def _as(value: Value, like: Value) -> Value:
    """The value in the type of another: a number about money is money in its currency, a clock joins its day."""
    if isinstance(value, NumberValue) and isinstance(like, MoneyValue):
        converted = _converted(value, "money")
        return converted.model_copy(update={"currency": like.currency, "per": value.per or like.per})
    if isinstance(value, NumberValue) and isinstance(like, QuantityValue):
        return _converted(value, "quantity").model_copy(update={"unit": like.unit})
    if isinstance(value, MoneyValue) and isinstance(like, MoneyValue):
        if value.currency is None and like.currency is not None:
            value = value.model_copy(update={"currency": like.currency})
        return value
    if isinstance(value, TimeValue) and isinstance(like, TimeValue):
        return _time_as(value, like)
    if isinstance(value, AddressValue) and isinstance(like, AddressValue):
        return completed(value, like)
    if isinstance(value, TextValue) and not isinstance(like, TextValue | Magnitude | TimeValue):
        fields = type(like).model_fields
        if "name" in fields:
            return type(like).model_validate({"name": value.text})
    return value


def _keeping_clock(value: Value, known: Value) -> Value:
    """A change of only the day keeps the clock: "make it Monday" about Friday at 4 pm."""
    if not isinstance(value, TimeValue) or not isinstance(known, TimeValue) or value.type != "date":
        return value
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", value.edtf or ""):
        return value
    kept = on_day(known, date.fromisoformat(value.edtf or ""))
    return kept if kept is not None else value


def _time_as(value: TimeValue, like: TimeValue) -> TimeValue:
    edtf = value.edtf or ""
    day = re.search(r"\d{4}-\d{2}-\d{2}", like.edtf or "")
    if edtf.startswith("T") and day and len(re.findall(r"\d{4}-\d{2}-\d{2}", like.edtf or "")) == 1:
        clock = re.match(r"T(\d{2}):(\d{2})", edtf)
        if clock:
            hour, minute = int(clock[1]), int(clock[2])
            moment = datetime.fromisoformat(day.group()).replace(hour=hour, minute=minute)
            return with_moment(like, moment, True)
    return value


def _reported(turn: Turn, candidate: Candidate, known: Known, draft: Draft) -> Draft:
    """What somebody else said goes to a slot of its own and never touches what the speaker said."""
    slot = f"reported.{draft.slot}"
    who = candidate.assertion.reported_by or ""
    entity = draft.entity if draft.entity != turn.entity else (who or "third party")
    qualifier = draft.qualifier or ""
    there = [i for i in known.live() if i.slot == slot and i.entity == entity and i.qualifier == qualifier]
    again = [i for i in there if draft.value is not None and compare(draft.value, i.value) == "equal"]
    target = next(iter(again or there), None)
    return draft._replace(slot=slot, entity=entity, target=target, binding="named", question=None)


def _question(rivals: tuple[MemoryItem, ...], candidate: Candidate, book: Book) -> str:
    """What to ask a person; names each of the items that could be meant."""
    shown = [
        f"{item.qualifier or book.slots[item.slot].title.zh if item.slot in book.slots else item.slot} {item.canonical}"
        for item in rivals
    ]
    language = "zh" if candidate.language == "zh" else "en"
    if language == "en":
        shown = [f"{item.qualifier or item.slot} ({item.canonical})" for item in rivals]
    items = ("、" if language == "zh" else ", ").join(shown)
    return book.which_one.get(language, "{items}?").replace("{items}", items)


def same_topic(one: MemoryItem, other: Any) -> bool:
    """True when two text facts have one topic."""
    return key(one.qualifier) == key(str(other)) and shape(one.value) == "text"
