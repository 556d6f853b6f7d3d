"""Find the live item a candidate talks about: by label, by the value it replaces, by words, by order, by recency."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..extractors.text import normalize
from ..model import Candidate, Known, MemoryItem, Turn
from ..values import AddressValue, EmailValue, Magnitude, MoneyValue, PhoneValue, QuantityValue, TimeValue, Value
from .book import Book
from .labels import is_han, is_head, is_tail, key
from .parts import adjustable, holds, part_of
from .relation import compare

# A bare number above it is no percentage.
_MOST_PER_CENT = 100
_NAMES = frozenset({"person", "organization", "text"})


@dataclass(frozen=True)
class Found:
    """One item, or several that it could be."""

    item: MemoryItem | None = None
    how: str = "none"
    rivals: tuple[MemoryItem, ...] = ()


NOTHING = Found()


def shape(value: Value) -> str:
    """What may stand for what: durations for durations, dates for dates, names for names."""
    if isinstance(value, TimeValue):
        return {"duration": "duration", "recurrence": "recurrence"}.get(value.type, "date")
    kind = type(value).kind
    if kind in _NAMES:
        return "name"
    return kind


def compatible(new: Value, old: Value) -> bool:
    """True when the new value could replace the old one."""
    one, other = shape(new), shape(old)
    if one == other:
        return True
    if one == "number":
        share = isinstance(new, Magnitude) and max(new.amount or 0, new.max or 0) <= _MOST_PER_CENT
        return other in {"money", "quantity"} or (other == "percent" and share)
    if {one, other} in ({"address", "place"}, {"date", "recurrence"}):
        return True
    return type(new).kind == "text" and other in {"place", "address"}


@dataclass(frozen=True)
class Lookup:
    """The questions bind asks about what is known, for one candidate."""

    turn: Turn
    candidate: Candidate
    known: Known
    book: Book

    def _live(self) -> list[MemoryItem]:
        """What stands and is no hearsay; what ended before it is spoken of (said in this turn) stands no longer."""
        now = self.turn.said_at
        standing = (i for i in self.known.live() if i.valid_to is None or i.valid_to > now)
        return [i for i in standing if not i.slot.startswith("reported.")]

    def _fitting(self) -> list[MemoryItem]:
        """Live items whose value this candidate could replace, patch, adjust or withdraw."""
        c = self.candidate
        items = self._live()
        if c.patch is not None:
            from .fragments import PATCHES

            kinds = PATCHES.get(c.patch.part, ())
            return [i for i in items if i.kind in kinds and not _is_length(i.value)]
        if c.adjustment is not None and c.adjustment.by is not None:
            return [i for i in items if adjustable(c.adjustment, i.value)]
        if c.adjustment is not None:
            return [i for i in items if isinstance(i.value, Magnitude) and i.value.amount is not None]
        value = c.value or c.old
        if value is None:
            return items
        return [i for i in items if compatible(value, i.value) and self._takes(i.slot, value)]

    def _takes(self, slot: str, value: Value) -> bool:
        """A slot that keeps only days takes no bare clock: "by 19:00" is no day of a booking."""
        part = self.book.slot_parts.get(slot)
        if part is None or not isinstance(value, TimeValue):
            return True
        return part_of(value, "clock" if part == "clock" else "day") is not None

    def named(self, slot: str, qualifier: str | None, entity: str) -> Found:
        """By slot and label; a label may be the tail (or head) of exactly one live label."""
        found = self._named(slot, qualifier, entity)
        if (
            found.item is not None
            and (found.how == "matched" or found.item.slot != slot)
            and self._changes_another(found.item)
        ):
            return NOTHING
        return found

    def _changes_another(self, item: MemoryItem) -> bool:
        """ "The margin went from 3% to 2%": what was never at three is another value, however near its label is."""
        c = self.candidate
        if c.act != "change" or c.old is None or not compatible(c.old, item.value):
            return False
        return not (_part_of(c.old, item.value) or _alike(c.old, item.value))

    def _named(self, slot: str, qualifier: str | None, entity: str) -> Found:
        value = self.candidate.value or self.candidate.old
        family = self.book.family(slot)
        items = [i for i in self._live() if i.entity == entity and i.slot in family]
        if not qualifier:
            items = [i for i in items if i.slot == slot or self._shares_words(slot, i)]
        if value is not None and self.candidate.patch is None and self.candidate.adjustment is None:
            items = [i for i in items if compatible(value, i.value)]
        own = [i for i in items if i.slot == slot]
        many = slot in self.book.slots and self.book.slots[slot].cardinality == "many"
        if many:
            return self._among_many(own, qualifier)
        if qualifier is None:
            exact = [i for i in own if i.qualifier == ""]
            if exact:
                return Found(exact[0], "named")
            return self._only(own) if own else self._only(items)
        exact = [i for i in own if i.qualifier == qualifier] or [
            i for i in items if qualifier and i.qualifier == qualifier
        ]
        if not qualifier and isinstance(value, AddressValue | PhoneValue | EmailValue):
            again = [i for i in own if compare(value, i.value) in {"equal", "broader"}]
            if len(again) == 1 and self.candidate.act in {"state", "confirm"}:  # said again, shorter, without its label
                return Found(again[0], "matched")
        if len(exact) == 1:
            return Found(exact[0], "named")
        changing = self.candidate.act in {"change", "correct", "adjust", "retract", "end"}
        if not qualifier:
            only = own or items
            return Found(only[0], "matched") if changing and len(only) == 1 else NOTHING
        near = [i for i in items if self._near(qualifier, i.qualifier, changing)]
        own_near = [i for i in near if i.slot == slot]
        chosen = own_near or near
        if len(chosen) == 1:
            return Found(chosen[0], "matched")
        if len(chosen) > 1 and changing:
            return Found(rivals=tuple(chosen))
        return NOTHING

    def _shares_words(self, slot: str, item: MemoryItem) -> bool:
        """True when the words said for a slot may name an item of another one: a penalty is no management fee."""
        words = self.book.slot_words.get(slot)
        said = set(words.findall(normalize(self.candidate.surface).lower)) if words is not None else set()
        theirs = set(self.book.slots[item.slot].words) if item.slot in self.book.slots else set()
        return (
            not said
            or bool(said & (theirs | self.book.lex.general))
            or any(key(word) in item.qualifier for word in said)
        )

    def by_label(self, label: str, entity: str) -> Found:
        """By a label in whichever slot it names something that fits."""
        fitting = [i for i in self._fitting() if i.entity == entity]
        named = [(i, self.book.qualifier(i.slot, label)) for i in fitting]
        units = [i for i in fitting if isinstance(i.value, QuantityValue) and key(i.value.unit or "") == key(label)]
        exact = units or [i for i, words in named if words == i.qualifier and (words or self._names(i.slot, label))]
        near = [i for i, words in named if words and self._near(words, i.qualifier, True)]
        slot = [i for i, words in named if not words and self._names(i.slot, label)]
        for items, how in ((exact, "named"), (near, "matched"), (slot, "matched")):
            if len(items) == 1:
                return Found(items[0], how)
            if items:
                return Found(rivals=tuple(items))
        return NOTHING

    def _names(self, slot: str, label: str) -> bool:
        words = self.book.slot_words.get(slot)
        return words is not None and words.search(label.lower()) is not None

    def _near(self, qualifier: str, known: str, changing: bool) -> bool:
        for label in self.book.lex.ways(qualifier):
            if is_tail(label, known) or (changing and is_head(label, known)):
                return True
        return changing and bool(known) and (is_tail(known, qualifier) or is_head(known, qualifier))

    def _only(self, items: list[MemoryItem]) -> Found:
        if len(items) == 1:
            return Found(items[0], "matched")
        narrowed = self._spoken(items)
        if len(narrowed) == 1:
            return Found(narrowed[0], "matched")
        return Found(rivals=tuple(items)) if len(items) > 1 else NOTHING

    def _among_many(self, own: list[MemoryItem], qualifier: str | None) -> Found:
        """Slots that hold many values: the same value again, the one named as old, or the one of a fixed label."""
        c = self.candidate
        if c.old is not None:
            old = [i for i in own if _alike(c.old, i.value)]
            if len(old) == 1:
                return Found(old[0], "named")
        if c.value is not None:
            same = [i for i in own if compare(c.value, i.value) == "equal"]
            if same:
                return Found(same[0], "named")
            if c.act in {"retract", "end"}:
                like = [i for i in own if _alike(c.value, i.value)]
                if len(like) == 1:
                    return Found(like[0], "named")
        if qualifier:
            exact = [i for i in own if i.qualifier == qualifier]
            if len(exact) == 1 and c.act in {"change", "correct"}:
                return Found(exact[0], "named")
        if c.act in {"change", "correct"} and c.old is None and c.form == "full" and len(own) == 1:
            return Found(own[0], "matched")
        return NOTHING

    def by_old(self, slot: str | None) -> Found:
        """By the value said to be replaced."""
        old, patch = self.candidate.old, self.candidate.patch
        if patch is not None and patch.old is not None:
            parts = [i for i in self._fitting() if holds(patch, i.value)]
            return Found(parts[0], "matched") if len(parts) == 1 else NOTHING
        if old is None:
            return NOTHING
        items = [i for i in self._live() if compatible(old, i.value)]
        same = [i for i in items if compare(old, i.value) == "equal" or _alike(old, i.value)]
        if slot is not None:
            same = [i for i in same if i.slot in self.book.family(slot)] or same
            if isinstance(old, Magnitude | TimeValue):  # two fees may have been equal; a telephone number is one thing
                same = [i for i in same if self._may_mean(slot, i)]
        if len(same) == 1:
            return Found(same[0], "matched")
        return NOTHING

    def _may_mean(self, slot: str, item: MemoryItem) -> bool:
        """A label that was said and shares no word with the item's names another value, even if the old ones agree."""
        label = self.candidate.qualifier
        if not label:
            return item.slot == slot or self._shares_words(slot, item)
        if not item.qualifier:
            return item.slot == slot or self._names(item.slot, label)
        one, other = label.split(), item.qualifier.split()
        if set(one) & set(other):
            return True
        return any(a[n : n + 2] in item.qualifier for a in one if is_han(a) for n in range(len(a) - 1))

    def by_words(self) -> Found:
        """By a live label (or the slot's own words) that stands in the turn."""
        best = self._spoken(self._fitting())
        if len(best) == 1:
            return Found(best[0], "named")
        return NOTHING

    def _spoken(self, items: list[MemoryItem]) -> list[MemoryItem]:
        """The items whose label is said in the turn; the longest label wins."""
        text = key(self.candidate.surface or self.turn.text)
        whole = normalize(self.turn.text).lower
        scored: list[tuple[int, MemoryItem]] = []
        for item in items:
            score = _said_in(item.qualifier, text)
            words = self.book.slot_words.get(item.slot)
            hit = words.search(whole) if words is not None else None
            if hit:
                score += len(hit.group())
            if score:
                scored.append((score, item))
        if not scored:
            return []
        top = max(score for score, _ in scored)
        return [item for score, item in scored if score == top]

    def by_ordinal(self) -> Found:
        """前者, the second one: by the order of the text among the items talked about together."""
        low = normalize(self.turn.text).lower
        for hit in re.finditer(r"\S", low):
            found = self.book.ordinal_pattern.match(low, hit.start())
            if found is None:
                continue
            place = self.book.ordinals[re.sub(r"\s+", " ", found.group())]
            group = self._group()
            index = {"first": 0, "second": 1, "third": 2, "last": -1}.get(place)
            if index is None or len(group) < 2 or (index >= len(group)):
                return NOTHING
            return Found(group[index], "recent")
        return NOTHING

    def _group(self) -> list[MemoryItem]:
        """Fitting items of the latest turn that gave at least two, in the order of the text."""
        items = [i for i in self._fitting() if self._distance(i) <= self.book.recent_turns]
        by_turn: dict[int, list[MemoryItem]] = {}
        for item in items:
            by_turn.setdefault(item.turn, []).append(item)
        for turn in sorted(by_turn, reverse=True):
            if len(by_turn[turn]) >= 2:
                return sorted(by_turn[turn], key=lambda i: i.start)
        return sorted(items, key=lambda i: (i.turn, i.start))

    def _distance(self, item: MemoryItem) -> int:
        """Turns since the item was last talked about in this conversation."""
        talked = [said.turn for said in self.known.recent if said.item == item.id]
        if item.conversation == self.turn.conversation:
            talked.append(item.turn)
        return self.turn.ordinal - max(talked) if talked else self.book.recent_turns + 1

    def recent(self) -> Found:
        """The one fitting item talked about in the last turns; several are rivals, unless one is clearly nearer."""
        c = self.candidate
        if c.form == "bare" and (c.act == "state" or (c.act == "propose" and c.confidence == "low")):
            return NOTHING
        fitting = [i for i in self._fitting() if self._distance(i) <= self.book.recent_turns]
        if c.patch is not None:
            fitting = [i for i in fitting if holds(c.patch, i.value)]
        if c.value is None and c.old is None and c.patch is None and c.adjustment is None:
            return NOTHING
        if c.old is not None and c.patch is None:
            near = [i for i in fitting if _part_of(c.old, i.value) or _alike(c.old, i.value)]
            # "We replaced the carpet with tiles": a name that nobody has is replaced nowhere.
            fitting = near or ([] if shape(c.old) == "name" else fitting)
        if c.act == "correct" and isinstance(c.value, MoneyValue) and c.value.currency is not None:
            fitting = [i for i in fitting if _other_currency(c.value, i.value)] or fitting
        if len(fitting) <= 1:
            return Found(fitting[0], "recent") if fitting else NOTHING
        ranked = sorted(fitting, key=lambda i: (self._distance(i), -i.start))
        nearest, next_one = self._distance(ranked[0]), self._distance(ranked[1])
        if next_one - nearest >= self.book.nearer_by:
            return Found(ranked[0], "recent")
        return Found(rivals=tuple(sorted(fitting, key=lambda i: (i.turn, i.start))))


def _other_currency(new: MoneyValue, known: Value) -> bool:
    """True for the same number in another currency: 币种错了，是5000欧元 about 5000 dollars."""
    if not isinstance(known, MoneyValue) or known.currency == new.currency:
        return False
    return (
        known.model_copy(update={"currency": new.currency, "per": new.per, "readings": ()}).canonical == new.canonical
    )


def _is_length(value: Value) -> bool:
    return isinstance(value, TimeValue) and value.type == "duration"


def _said_in(qualifier: str, text: str) -> int:
    """Length of the label when it, or its longest half, is said in the text; 0 when it is not."""
    if not qualifier:
        return 0
    if re.search(r"[\u3400-\u9fff]", qualifier):
        joined = text.replace(" ", "")
        plain = qualifier.replace(" ", "")
        if plain in joined:
            return len(plain)
        for size in range(len(plain) - 1, 1, -1):
            if plain[-size:] in joined or plain[:size] in joined:
                return size
        return 0
    padded = f" {text} "
    if f" {qualifier} " in padded:
        return len(qualifier)
    words = qualifier.split()
    for size in range(len(words) - 1, 0, -1):
        for part in (words[-size:], words[:size]):
            piece = " ".join(part)
            if len(piece) > 3 and f" {piece} " in padded:
                return len(piece)
    return 0


def _alike(old: Value, known: Value) -> bool:
    """The value named as old may be said shorter than it was: "green tea" for "green tea at meetings"."""
    if compare(old, known) == "equal":
        return True
    if shape(old) not in {"name", "place"} or shape(known) not in {"name", "address", "place"}:
        return False
    one, other = key(old.canonical), key(known.canonical)
    if not one or not other:
        return False
    if re.search(r"[\u3400-\u9fff]", one):
        return one.replace(" ", "") in other.replace(" ", "") or other.replace(" ", "") in one.replace(" ", "")
    return f" {one} " in f" {other} " or f" {other} " in f" {one} "


def _part_of(old: Value, known: Value) -> bool:
    """A day said alone names the date with that day: 不是15日 about 7月15日."""
    if compare(old, known) in {"equal", "narrower", "broader"}:
        return True
    if isinstance(old, TimeValue) and isinstance(known, TimeValue):
        one = re.search(r"-(\d{2})(?:T|/|$)", old.edtf or "")
        other = re.search(r"-(\d{2})(?:T|/|$)", known.edtf or "")
        return bool(one and other and one[1] == other[1])
    return False
