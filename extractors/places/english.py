"""English addresses: a whole line as a form holds it, or an address inside a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...values import AddressValue
from ..parsing.chart import Edge
from ..recognizer import Lookup
from ..words import alternatives
from .line_en import AddressLine
from .parts_en import AddressParts, Draft
from .words_en import AddressWords, Word, past, words_of

_BROKEN = re.compile(r"[.;!?\n]")
_NO_SIGN = "$€£¥#-./"  # before a house number these make it something else
_LONGEST_AFTER = 14  # words behind the road
_LONGEST_TOWN = 3


class EnglishAddresses:
    """Finds addresses in normalised text that is written in Latin letters."""

    def __init__(self, lookup: Lookup) -> None:
        self.words = AddressWords(lookup)
        self.parts = AddressParts(self.words)
        self._line = AddressLine(self.parts)
        self.rule = self.words.ref
        self._open = alternatives([*lookup("words.address.line.en").labels["crossing"], *self.words.number_word])
        self._before_year = frozenset(lookup("words.address.line.en").labels["before_year"]) | self.words.small

    def opens(self, flat: str) -> bool:
        """True for a text without digits that begins as an address may: One North Larch Avenue, corner of …"""
        return self._open.match(flat) is not None

    def find(self, flat: str) -> Iterator[Edge]:
        """The addresses of a text in its order."""
        line = flat.replace(";", ",")  # some forms keep the parts apart by semicolons
        words = words_of(line)
        draft = self._line.read(line, words)
        if draft is not None:
            yield self._edge(flat, words, draft)
            return
        words = words_of(flat) if line != flat else words
        at = 0
        while at < len(words):
            draft = self._in_sentence(flat, words, at)
            if draft is None:
                at += 1
                continue
            yield self._edge(flat, words, draft)
            at = draft.last

    def _in_sentence(self, flat: str, words: list[Word], at: int) -> Draft | None:
        """An address that begins at word ``at``: number, capitalised road with a street word, then what follows it."""
        draft = Draft(at, at)
        opened = self._unit_ahead(flat, words, at)
        if opened:  # Flat 3, 12 Saltern Road
            draft.parts["unit"] = (at, opened)
            at = past(words, opened, len(words))
        box = self.parts.box_end(flat, words, at, len(words)) if words[at].low[:1] == "p" else 0
        if box:
            draft.parts["poi"] = (at, box)
            end = box
        else:
            if not self.parts.is_house(words, at) or (at and flat[words[at].start - 1] in _NO_SIGN):
                return None
            if at and not opened and words[at - 1].low in self.words.unit | self.words.building:
                return None
            if at and self.words.fits("year", words[at].text) and words[at - 1].low in self._before_year:
                return None  # "In 2026 Main Street grew"
            end = self.parts.number(words, at, len(words), draft, strict=True)
            end = self.parts.road(flat, words, end, len(words), draft, strict=True)
            if "road" not in draft.parts or not self._road_is_named(words, draft.parts["road"]):
                return None
        while end < len(words):
            begin = end + (words[end].text == ",")
            piece = self.parts.piece(flat, words, begin, len(words)) if begin < len(words) else None
            if piece is None:
                break
            draft.add(piece[0], begin, piece[1])
            end = piece[1]
        draft.last = self._after_road(flat, words, end, draft)
        return draft

    def _unit_ahead(self, flat: str, words: list[Word], at: int) -> int:
        """The end of a flat that stands before a house number: Flat 3,|12 Saltern Road; 0 when there is none."""
        if words[at].low not in self.words.unit or not words[at].name:
            return 0
        piece = self.parts.piece(flat, words, at, len(words))
        if piece is None or piece[0] != "unit":
            return 0
        house = past(words, piece[1], len(words))
        near = house < len(words) and house - piece[1] <= 1
        return piece[1] if near and self.parts.is_house(words, house) else 0

    def _road_is_named(self, words: list[Word], road: tuple[int, int]) -> bool:
        first = next((w for w in words[road[0] : road[1]] if w.low not in self.words.direction), None)
        return first is not None and first.name and road[1] - road[0] >= 2

    def _after_road(self, flat: str, words: list[Word], at: int, draft: Draft) -> int:
        """Town, state, postcode and country behind the road, as far as they are written like names."""
        end = at
        stop = at
        while stop < len(words) and stop - at < _LONGEST_AFTER:
            word = words[stop]
            broken = stop and _BROKEN.search(flat, words[stop - 1].end, word.start)
            ended = stop and words[stop - 1].text.endswith(".") and len(words[stop - 1].text) > 4
            if broken or ended or not (word.name or word.text == ","):
                break
            stop += 1
        for last in range(stop, at, -1):
            if words[last - 1].text == ",":
                continue
            tail = self.parts.tail(flat, words, at, last)
            if not tail or max(b for _, b in tail.values()) != last:
                continue
            begin = min(a for a, _ in tail.values())
            draft.parts.update(tail)
            self._city(flat, words, at, begin, draft)
            self.parts.state_is_city(flat, words, draft)
            return last
        if at + 1 < stop and words[at].text == ",":  # ", Lewes" alone
            begin = at + 1
            last = begin
            while last < stop and words[last].text != "," and last - begin < _LONGEST_TOWN:
                last += 1
            if self.words.is_town(flat, words, begin, last):
                draft.parts["city"] = (begin, last)
                return last
        return end

    def _city(self, flat: str, words: list[Word], at: int, stop: int, draft: Draft) -> None:
        """The town: of several stretches between commas the last that is a known town (a county stands behind it)."""
        stretches: list[tuple[int, int]] = []
        first = at
        for i in range(at, stop + 1):
            if i == stop or words[i].text in {",", "(", ")"}:
                if i > first:
                    stretches.append((first, i))
                first = i + 1
        known = [part for part in stretches if self.words.is_town(flat, words, *part)]
        if stretches:
            draft.parts["city"] = known[-1] if known else stretches[-1]

    def _edge(self, flat: str, words: list[Word], draft: Draft) -> Edge:
        fields = {
            name: flat[words[a].start : words[b - 1].end].rstrip(".,") for name, (a, b) in draft.parts.items() if b > a
        }
        first = min(a for a, _ in draft.parts.values())
        last = max(b for _, b in draft.parts.values())
        start, end = words[first].start, words[last - 1].end
        while flat[end - 1] in ".,":
            end -= 1
        value = AddressValue(**fields, full=flat[start:end])
        return Edge("address", start, end, value, self.rule, weight=1, kind="address")
