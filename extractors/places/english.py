"""English addresses: a whole line as a form holds it, or an address inside a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...values import AddressValue
from ..parsing.chart import Edge
from ..recognizer import Lookup
from .parts_en import HOUSE, UNIT_ID, AddressParts, Draft, Word, past, words_of

_YEAR = re.compile(r"(?:19|20)\d\d")
_BEFORE_YEAR = {"in", "since", "until", "by", "before", "after", "during", "of"}


class EnglishAddresses:
    """Finds addresses in normalised text that is written in Latin letters."""

    def __init__(self, lookup: Lookup) -> None:
        words = lookup("words.address.en")
        self.rule = words.ref
        self.parts = AddressParts(lookup)
        self._sentence = frozenset(words.labels["sentence"])

    def find(self, flat: str) -> Iterator[Edge]:
        """The addresses of a text in its order."""
        words = words_of(flat)
        if self._is_line(flat, words):
            draft = self._line(flat, words)
            if draft is not None:
                yield self._edge(flat, words, draft)
                return
        at = 0
        while at < len(words):
            draft = self._in_sentence(flat, words, at)
            if draft is None:
                at += 1
                continue
            yield self._edge(flat, words, draft)
            at = draft.last

    def _is_line(self, flat: str, words: list[Word]) -> bool:
        """A text that is one address and nothing else, as a form field holds it: then capitals are not needed."""
        if not 2 <= len(words) <= 24 or re.search(
            r"[?!;:$€£%]|[a-z]{3}\.\s+[A-Z]\w+ (?:is|was|has)\b|[\u3400-\u9fff]", flat
        ):
            return False
        if any(word.low in self._sentence and word.text != word.text.upper() for word in words):
            return False
        tail = self.parts.tail(flat, words, 0, len(words))
        opens = HOUSE.fullmatch(words[0].text) is not None or self.parts.box.match(flat) is not None
        opens = opens or self.parts.one_unit(words, 0, len(words)) > 0
        return bool(
            "postcode" in tail or ("province" in tail and len(words) > 3) or (opens and self._has_street(words))
        )

    def _has_street(self, words: list[Word]) -> bool:
        """A street word, a direction or a unit behind the number and a name: 10 August 2012 has none."""
        if len(words) > 2 and words[1].low in self.parts.direction:
            return True
        road = self.parts.street | self.parts.direction | self.parts.unit
        return any(word.low in road for word in words[2:])

    def _line(self, flat: str, words: list[Word]) -> Draft | None:
        """Read a whole line: what stands before the number, number, road, units, town, state, postcode, country."""
        draft = Draft(0, len(words))
        draft.parts.update(self.parts.tail(flat, words, 0, len(words)))
        stop = min((a for a, _ in draft.parts.values()), default=len(words))
        while stop > 0 and words[stop - 1].text in {",", "("}:
            stop -= 1
        at = self._opening(flat, words, stop, draft)
        if self._names_road(words, at, stop, draft):
            at = self.parts.number(words, at, stop, draft)
            at = self.parts.road(flat, words, at, stop, draft, strict=False)
        at = self.parts.units(words, at, stop, draft)
        at = self._house_name(words, at, stop, draft)
        at = self.parts.units(words, at, stop, draft)
        box = self.parts.box_end(flat, words, past(words, at, stop), stop)
        if box and "poi" not in draft.parts:
            at = past(words, at, stop)
            draft.parts["poi"] = (at, box)
            at = box
        self.parts.city(flat, words, at, stop, draft)
        state = draft.parts.get("province")
        if state and "city" not in draft.parts and "postcode" not in draft.parts:
            name = flat[words[state[0]].start : words[state[1] - 1].end].lower()
            if name in self.parts.gazetteer.towns:  # "260 5th Av New York" is in the city
                draft.parts["city"] = draft.parts.pop("province")
        return draft if {"road", "poi", "city"} & set(draft.parts) else None

    def _names_road(self, words: list[Word], at: int, stop: int, draft: Draft) -> bool:
        """False when only a town is left: "Los Ojos, NM 87551", or a box and its town."""
        if at >= stop or HOUSE.fullmatch(words[at].text) or words[at].text == "#":
            return at < stop
        rest = words[at:stop]
        if any(w.low in self.parts.street for w in rest[1:]) or self.parts.leading.match(rest[0].text):
            return True
        commas = any(w.text == "," for w in rest)
        return "poi" not in draft.parts and (rest[0].low in self.parts.direction or commas or not (
            {"province", "postcode"} & set(draft.parts)
        ))  # fmt: skip

    def _house_name(self, words: list[Word], at: int, stop: int, draft: Draft) -> int:
        """A house name behind the road, up to a comma with a town after it: "Jaeger Square, Columbus"."""
        if "road" not in draft.parts or "building" in draft.parts:
            return at
        comma = next((i for i in range(at, stop) if words[i].text == ","), stop)
        if comma == at and at < stop:
            nxt = next((i for i in range(at + 1, stop) if words[i].text == ","), stop)
            if nxt < stop and nxt - at <= 3 and all(UNIT_ID.fullmatch(w.text) for w in words[at + 1 : nxt]):
                draft.parts.setdefault(
                    "unit", (at + 1, nxt)
                )  # a bare number between commas: "Wacker Dr, 1600, Chicago"
                return nxt
            return at
        if at < comma < stop and comma - at <= 5 and not HOUSE.fullmatch(words[at].text):
            draft.parts["building"] = (at, comma)
            return comma
        return at

    def _opening(self, flat: str, words: list[Word], stop: int, draft: Draft) -> int:
        """Flat, house name, box or addressee before the house number; returns where the number or road begins."""
        at = 0
        while at < stop:
            box = self.parts.box_end(flat, words, at, stop)
            if box:
                draft.parts["poi"] = (draft.parts.get("poi", (at, box))[0], box)
            end = box or self.parts.units(words, at, stop, draft)
            if end == at:
                break
            at = past(words, end, stop)
        house = next((i for i in range(at, stop) if self.parts.opens_road(words, i, stop)), None)
        if house is None or house == at or "poi" in draft.parts:
            return at
        apart = words[house - 1].text == ","
        if apart or not any(words[i].low in self.parts.street for i in range(at + 1, house)):
            draft.parts["poi"] = (at, house)
            return house
        return at

    def _in_sentence(self, flat: str, words: list[Word], at: int) -> Draft | None:
        """An address that begins at word ``at``: number, capitalised road with a street word, then what follows it."""
        draft = Draft(at, at)
        box = self.parts.box_end(flat, words, at, len(words)) if words[at].low[:1] in "p" else 0
        if box:
            draft.parts["poi"] = (at, box)
            end = box
        else:
            if not HOUSE.fullmatch(words[at].text) or (at and flat[words[at].start - 1] in "$€£¥#-./"):
                return None
            if at and _YEAR.fullmatch(words[at].text) and words[at - 1].low in _BEFORE_YEAR:
                return None  # "In 2026 Main Street grew"
            end = self.parts.number(words, at, len(words), draft, strict=True)
            end = self.parts.road(flat, words, end, len(words), draft, strict=True)
            if "road" not in draft.parts or not self._road_is_named(words, draft.parts["road"]):
                return None
        end = self.parts.units(words, end, len(words), draft)
        draft.last = self._after_road(flat, words, end, draft)
        return draft

    def _road_is_named(self, words: list[Word], road: tuple[int, int]) -> bool:
        first = next((w for w in words[road[0] : road[1]] if w.low not in self.parts.direction), None)
        return first is not None and first.name and road[1] - road[0] >= 2

    def _after_road(self, flat: str, words: list[Word], at: int, draft: Draft) -> int:
        """Town, state, postcode and country behind the road, as far as they are written like names."""
        end = at
        stop = at
        while stop < len(words) and stop - at < 14:
            word = words[stop]
            broken = stop and re.search(r"[.;!?\n]", flat[words[stop - 1].end : word.start])
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
            self.parts.city(flat, words, at, begin, draft)
            return last
        if at + 1 < stop and words[at].text == ",":  # ", Lewes" alone
            begin = at + 1
            last = begin
            while last < stop and words[last].text != "," and last - begin < 3:
                last += 1
            if flat[words[begin].start : words[last - 1].end].lower().rstrip(".") in self.parts.gazetteer.towns:
                draft.parts["city"] = (begin, last)
                return last
        return end

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
