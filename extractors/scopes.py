"""The text as cue rules see it: mentions as single characters, clauses and sentences, and how far a cue reaches."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ..model import Mention, Part
from .cues import Family, slot_for, slot_for_part
from .text import Normalized

_CLAUSE_MARK = re.compile(r"[。;!?\n…—]|,(?!\d)|(?<!\d),|\.(?=[\s\"')]|$)|\.\.+|--+")
_SENTENCE_MARK = re.compile(r"[。;!?\n…]|\.\.+|\.(?=[\s\"')]|$)")
# A dot after these ends nothing: titles, company forms, street types, single letters.
_ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|ave|rd|blvd|ste|apt|no|inc|ltd|co|corp|jr|sr|vs|approx|dept|est|hon|rev|[a-z])"
    r"|\.[a-z])$",
    re.IGNORECASE,
)
_CLOSING = "\"'”’)』」 "
_FILLER = " \"'“‘(\n-"
# No cue reaches farther than this many characters, however long the text goes on without punctuation: what stands
# farther away was not meant, and the work stays linear.
REACH = 800
_TAG = 80  # a clause that carries a scope along says so in its first words


@dataclass(frozen=True, slots=True)
class Masked:
    """``text`` has one character for each mention (or unused part); ``places`` leads back to the normalised text."""

    text: str
    places: Sequence[int]  # normalised offset of each character, and the length of the normalised text
    held: dict[int, tuple[int, ...]]  # masked offset → indices of the mentions it stands for (none: a part)
    slots: tuple[int, ...]  # the offsets in ``held``, in order
    normalized: Normalized

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Original offsets of the masked characters ``start:end``; blanks at both ends are left off."""
        while start < end and self.text[start].isspace():
            start += 1
        while end > start and self.text[end - 1].isspace():
            end -= 1
        if start >= end:
            place = self.places[start]
            at = self.normalized.starts[place] if place < len(self.normalized.text) else len(self.normalized.original)
            return at, at
        return self.normalized.span(self.places[start], self.places[end])

    def inside(self, start: int, end: int) -> tuple[int, int]:
        """Masked offsets of normalised characters ``start:end``; a piece of a mention is the whole mention."""
        return bisect_right(self.places, start) - 1, bisect_left(self.places, end)


def mask(text: Normalized, mentions: Sequence[Mention], parts: Sequence[Part] = ()) -> Masked:
    """Put one character for each outermost mention and for each part that no mention holds."""
    if not mentions and not parts:
        return Masked(text.text, range(len(text.text) + 1), {}, (), text)
    spans: list[tuple[int, int, str, int | None]] = []
    for index, mention in enumerate(mentions):
        start, end = _normalised(text, mention.start, mention.end)
        spans.append((start, end, _slot(mention), index))
    types = list(dict.fromkeys(part.type for part in parts))
    for part in parts:
        start, end = _normalised(text, part.start, part.end)
        if text.text[end : end + 1] == "'":  # the currency "won" of "won't" would hide the negation
            continue
        spans.append((start, end, slot_for_part(types.index(part.type)), None))
    # Mentions before parts, longer before shorter: what lies inside an earlier one shares its character.
    spans.sort(key=lambda s: (s[0], -s[1], s[3] is None, -1 if s[3] is None else s[3]))
    out: list[str] = []
    places: list[int] = []
    held: dict[int, tuple[int, ...]] = {}
    at = 0
    for start, end, slot, owner in spans:
        if start >= end:
            continue
        if start < at:
            if owner is not None and out and held.get(len(out) - 1) is not None:
                held[len(out) - 1] += (owner,)
            continue
        out.extend(text.text[at:start])
        places.extend(range(at, start))
        held[len(out)] = () if owner is None else (owner,)
        out.append(slot)
        places.append(start)
        at = end
    out.extend(text.text[at:])
    places.extend(range(at, len(text.text) + 1))
    return Masked("".join(out), tuple(places), held, tuple(held), text)


def _normalised(text: Normalized, start: int, end: int) -> tuple[int, int]:
    if isinstance(text.starts, range):
        return start, end
    return bisect_right(text.ends, start), bisect_left(text.starts, end)


def _slot(mention: Mention) -> str:
    shape = getattr(mention.value, "type", None) if mention.kind == "time" else None
    return slot_for(shape if shape in {"duration", "recurrence"} else mention.kind)


class Layout:
    """Clauses and sentences of a masked text; a mark of punctuation belongs to the piece it ends."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _clauses(self) -> list[tuple[int, int]]:
        return _pieces(self.text, _CLAUSE_MARK)

    @cached_property
    def _sentences(self) -> list[tuple[int, int]]:
        return _pieces(self.text, _SENTENCE_MARK)

    def clause(self, at: int) -> tuple[int, int]:
        """The clause that holds the character at ``at``."""
        return _holding(self._clauses, at)

    def sentence(self, at: int) -> tuple[int, int]:
        """The sentence that holds the character at ``at``."""
        return _holding(self._sentences, at)

    def stands(self, start: int, end: int, place: str) -> bool:
        """True when ``start:end`` stands at the named place of its clause, sentence or turn."""
        if place == "anywhere":
            return True
        before = after = None
        if place in ("turn_start", "whole_turn"):
            before = 0
        elif place in ("clause_start", "sentence_start"):
            before = (self.clause if place == "clause_start" else self.sentence)(start)[0]
        if place == "whole_turn":
            after = len(self.text)
        elif place in ("clause_end", "sentence_end"):
            after = (self.clause if place == "clause_end" else self.sentence)(end - 1)[1]
        if before is not None and (start - before > _TAG or self.text[before:start].strip(_FILLER)):
            return False
        return after is None or not (after - end > _TAG or re.search(r"[^\W_]", self.text[end:after]))


def _pieces(text: str, mark: re.Pattern[str]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    begin, size = 0, len(text)
    for hit in mark.finditer(text):
        if hit.start() < begin:
            continue
        if hit.group() == "." and _ABBREVIATION.search(text, max(0, hit.start() - 8), hit.start()):
            continue
        end = hit.end()
        while end < size and (text[end] in _CLOSING or mark.match(text, end)):
            end += 1
        found.append((begin, end))
        begin = end
    if begin < size or not found:
        found.append((begin, size))
    return found


def _holding(pieces: list[tuple[int, int]], at: int) -> tuple[int, int]:
    place = bisect_right(pieces, (at, len(pieces) and pieces[-1][1] + 1)) - 1
    return pieces[max(place, 0)]


def reach(family: Family, start: int, end: int, layout: Layout, stops: Sequence[int]) -> tuple[int, int]:
    """The masked characters a cue at ``start:end`` governs; ``stops`` are where cues begin that end its scope."""
    size = len(layout.text)
    last = max(start, end - 1)
    if "clause_end" in family.ends:
        low, high = layout.clause(start)[0], layout.clause(last)[1]
    elif "sentence_end" in family.ends:
        low, high = layout.sentence(start)[0], layout.sentence(last)[1]
    else:
        low, high = 0, size
    direction = family.direction
    if direction in {"clause", "sentence"}:
        low, high = layout.clause(start) if direction == "clause" else layout.sentence(start)
        low = _carried_back(family, low, layout) if family.carries else low
    elif direction == "turn":
        low, high = 0, size
    low, high = max(low, start - REACH), min(high, end + REACH)
    if direction in {"clause", "sentence", "turn"}:
        return low, high
    if direction == "forward":
        return end, _forward(family, end, high, layout, stops)
    if direction == "backward":
        return _backward(family, start, low, layout, stops), start
    return _backward(family, start, low, layout, stops), _forward(family, end, high, layout, stops)


def _forward(family: Family, end: int, high: int, layout: Layout, stops: Sequence[int]) -> int:
    text = layout.text
    while family.carries and family.direction != "backward" and high < min(len(text), end + REACH):
        begin, close = layout.clause(high)
        if begin < high or not family.carries.match(text[begin : min(close, begin + _TAG)].lstrip(" ")):
            break
        high = min(close, end + REACH)
    if family.until:
        hit = family.until.search(text[end:high])  # a slice: RE2 encodes all the text it is given
        if hit:
            high = end + hit.start()
    place = bisect_left(stops, end)
    return min(high, stops[place]) if place < len(stops) else high


def _backward(family: Family, start: int, low: int, layout: Layout, stops: Sequence[int]) -> int:
    if family.carries and family.direction == "backward":
        low = _carried_back(family, low, layout)
    if family.until:
        ends = [hit.end() for hit in family.until.finditer(layout.text[low:start])]
        low += max(ends, default=0)
    place = bisect_left(stops, start) - 1
    return max(low, stops[place]) if place >= 0 else low


def _carried_back(family: Family, low: int, layout: Layout) -> int:
    """A tag ("…, 可以吗？") asks about the clause before it: go back while the own clause says so."""
    sentence = layout.sentence(low)[0]
    while family.carries and low > sentence:
        begin, close = layout.clause(low)
        if not family.carries.match(layout.text[begin : min(close, begin + _TAG)].lstrip(" ")):
            break
        low = layout.clause(low - 1)[0]
    return low


def mentions_in(masked: Masked, low: int, high: int) -> list[int]:
    """Masked offsets of the mentions and parts within ``low:high``, in order."""
    return list(masked.slots[bisect_left(masked.slots, low) : bisect_left(masked.slots, high)])
