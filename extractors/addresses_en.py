"""English addresses, read word by word from the house number to the country, and English places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ..values import AddressValue, PlaceValue
from .chart import Edge
from .gazetteer import gazetteer
from .recognizer import Lookup, Setting
from .text import Normalized
from .words import alternatives

_WORD = re.compile(r"#\s?\w[\w-]*|[^\W_](?:[\w'’./&-]*[\w])?\.?|,|[()]|½|&")
_HOUSE = re.compile(r"\d{1,6}(?:[-/]\d{1,6})?(?:[A-Za-z]|½| ?1/2)?|[NSEW]\d{1,5}[NSEW]\d{1,6}|\d+[A-Z]\d+", re.ASCII)
_ZIP = re.compile(r"\d{5}(?:-?\d{4})?")
_UK_CODE = re.compile(r"([A-Za-z]{1,2}\d[A-Za-z\d]?) ?(\d[A-Za-z]{2})")
_CA_CODE = re.compile(r"([A-Za-z]\d[A-Za-z]) ?(\d[A-Za-z]\d)")
_UNIT_ID = re.compile(r"#?\d{1,9}[A-Za-z]{0,2}(?:-\d+)?|#?[A-Za-z](?:-?\d{1,5}[A-Za-z]?|-[A-Za-z])?|#\w+", re.ASCII)
_ALONE = {"rear", "front", "upper", "lower", "penthouse"}  # units that need no number
_ORDINAL = re.compile(r"\d{1,3}(?:st|nd|rd|th)", re.IGNORECASE)
_GRID = re.compile(r"[A-Z]\d{2,6}")
_NUMBER_WORDS = {"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twenty", "fifty"}
_GLUED_UNIT = re.compile(r"(?:suite|ste|apt|unit|rm|bldg)\d{1,5}[a-z]?", re.IGNORECASE)
_ORDINAL_WORDS = {"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"}
# Provinces of Canada and the countries of the United Kingdom stand where a US state stands.
_REGIONS = {
    "ab",
    "bc",
    "mb",
    "nb",
    "nl",
    "ns",
    "on",
    "pe",
    "qc",
    "sk",
    "england",
    "scotland",
    "wales",
    "d.c",
    "dc",
    "pr",
}
_COUNTRIES = {
    "usa",
    "u.s.a",
    "us",
    "u.s",
    "united states",
    "united states of america",
    "uk",
    "u.k",
    "united kingdom",
    "great britain",
}
_PREFIXES = {
    "st",
    "saint",
    "san",
    "santa",
    "los",
    "las",
    "el",
    "la",
    "new",
    "fort",
    "ft",
    "mount",
    "mt",
    "north",
    "south",
    "east",
    "west",
    "port",
    "lake",
    "grand",
    "palm",
    "cedar",
    "oak",
}
_NUMBERED = {"highway", "hwy", "road", "rd", "route", "rte", "rt"}
_LONGEST_ROAD = 7  # words; longer ones are sentences


class Word(NamedTuple):
    """A word or comma at characters of the text."""

    start: int
    end: int
    low: str
    text: str

    @property
    def name(self) -> bool:
        """Written as a name: a capital first, or digits."""
        return self.text[:1].isupper() or self.text[:1].isdigit()


def _low(said: str) -> str:
    """Lower case without the dots of abbreviations: "N.W." and "NW" are one word."""
    low = said.lower().rstrip(".,")
    return low.replace(".", "") if re.fullmatch(r"(?:[a-z]\.)+[a-z]", low) else low


def _past(words: list[Word], at: int, stop: int) -> int:
    """The first word from ``at`` that is no comma."""
    while at < stop and words[at].text == ",":
        at += 1
    return at


@dataclass
class Draft:
    """An address under construction over words ``first`` to ``last`` (exclusive)."""

    first: int
    last: int
    parts: dict[str, tuple[int, int]] = field(default_factory=dict)


class EnglishAddresses:
    """Finds addresses and places in normalised text that is written in Latin letters."""

    def __init__(self, lookup: Lookup) -> None:
        words, places = lookup("words.address.en"), lookup("words.place.en")
        self.rule, self.place_rule = words.ref, places.ref
        both = set(words.labels["both"])
        self._street = frozenset(words.labels["street"]) | both
        self._leading = alternatives({*words.labels["leading"], *both})
        self._direction = frozenset(w.rstrip(".") for w in words.labels["direction"])
        self._unit = frozenset(words.labels["unit"])
        self._building = frozenset(words.labels["building"])
        self._box = alternatives(words.labels["box"])
        self._sentence = frozenset(words.labels["sentence"])
        self._before = re.compile(
            r"(?:" + "|".join(map(re.escape, sorted(places.labels["before"]))) + r")(?: the)?[ :]*$"
        )
        self._ambiguous = frozenset(places.labels["ambiguous"])
        self.gazetteer = gazetteer()

    def find(self, text: Normalized, setting: Setting) -> Iterator[Edge]:
        """Addresses first, then places that stand outside them."""
        flat, lower = text.text, text.lower
        taken = bytearray(len(flat) + 1)
        for edge in self._addresses(flat):
            taken[edge.start : edge.end] = b"\1" * (edge.end - edge.start)
            yield edge
        for start, end in self._places(flat, lower, setting):
            if not any(taken[start:end]):
                taken[start:end] = b"\1" * (end - start)
                yield Edge(
                    "place", start, end, PlaceValue(name=flat[start:end]), self.place_rule, weight=1, kind="place"
                )

    # ------------------------------------------------------------------ addresses
    def _addresses(self, flat: str) -> Iterator[Edge]:
        if not any(c.isdigit() for c in flat):
            return
        words = [Word(m.start(), m.end(), _low(m.group()), m.group()) for m in _WORD.finditer(flat)]
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
        tail = self._tail(flat, words, 0, len(words))
        opens = _HOUSE.fullmatch(words[0].text) is not None or self._box.match(flat) is not None
        opens = opens or self._one_unit(words, 0, len(words)) > 0
        return bool(
            "postcode" in tail or ("province" in tail and len(words) > 3) or (opens and self._has_street(words))
        )

    def _has_street(self, words: list[Word]) -> bool:
        return any(w.low in self._street or w.low in self._direction for w in words[2:]) or len(words) > 2 and all(
            w.text[:1].isupper() or w.text[:1].isdigit() or w.text == "," for w in words
        )  # fmt: skip

    def _tail(self, flat: str, words: list[Word], first: int, last: int) -> dict[str, tuple[int, int]]:
        """Country, postcode and state at the end of ``words[first:last]``, as ranges of words."""
        parts: dict[str, tuple[int, int]] = {}
        end = last
        for name, widths in (
            ("country", (4, 3, 2, 1)),
            ("postcode", (2, 1)),
            ("province", (3, 2, 1)),
            ("postcode", (2, 1)),
        ):
            while end > first and words[end - 1].text in {",", ")"}:
                end -= 1
            for width in widths:
                begin = end - width
                if name in parts or begin <= first or any(w.text == "," for w in words[begin:end]):
                    continue
                said = flat[words[begin].start : words[end - 1].end]
                sure = "postcode" in parts or words[begin - 1].text == ","
                if self._is(name, said, at_end=end == last or bool(parts), sure=sure):
                    parts[name] = (begin, end)
                    end = begin
                    break
        return parts

    def _is(self, name: str, said: str, *, at_end: bool, sure: bool) -> bool:
        said = said.rstrip(".")
        low = said.lower()
        if name == "postcode":
            return bool(_ZIP.fullmatch(said) or _UK_CODE.fullmatch(said) or _CA_CODE.fullmatch(said))
        if name == "country":
            return low in _COUNTRIES or (
                len(low) > 3 and low in self.gazetteer.countries and low not in self.gazetteer.states
            )
        if low in _REGIONS:
            return said.upper() == said or len(low) > 2
        if low in self._street | self._unit and not sure:
            return False  # "Cedar Crest Ct." is a court, "21st Fl." a floor
        return low in self.gazetteer.states and (len(low) > 2 or at_end)

    def _line(self, flat: str, words: list[Word]) -> Draft | None:
        """Read a whole line: what stands before the number, number, road, units, town, state, postcode, country."""
        draft = Draft(0, len(words))
        draft.parts.update(self._tail(flat, words, 0, len(words)))
        stop = min((a for a, _ in draft.parts.values()), default=len(words))
        while stop > 0 and words[stop - 1].text in {",", "("}:
            stop -= 1
        at = self._opening(flat, words, stop, draft)
        if self._names_road(words, at, stop, draft):
            at = self._number(words, at, stop, draft)
            at = self._road(flat, words, at, stop, draft, strict=False)
        at = self._units(words, at, stop, draft)
        at = self._house_name(words, at, stop, draft)
        at = self._units(words, at, stop, draft)
        box = self._box_end(flat, words, _past(words, at, stop), stop)
        if box and "poi" not in draft.parts:
            at = _past(words, at, stop)
            draft.parts["poi"] = (at, box)
            at = box
        self._city(flat, words, at, stop, draft)
        state = draft.parts.get("province")
        if state and "city" not in draft.parts and "postcode" not in draft.parts:
            name = flat[words[state[0]].start : words[state[1] - 1].end].lower()
            if name in self.gazetteer.towns:  # "260 5th Av New York" is in the city
                draft.parts["city"] = draft.parts.pop("province")
        return draft if {"road", "poi", "city"} & set(draft.parts) else None

    def _names_road(self, words: list[Word], at: int, stop: int, draft: Draft) -> bool:
        """False when only a town is left: "Los Ojos, NM 87551", or a box and its town."""
        if at >= stop or _HOUSE.fullmatch(words[at].text) or words[at].text == "#":
            return at < stop
        rest = words[at:stop]
        if any(w.low in self._street for w in rest[1:]) or self._leading.match(rest[0].text):
            return True
        return "poi" not in draft.parts and (rest[0].low in self._direction or any(w.text == "," for w in rest) or not (
            {"province", "postcode"} & set(draft.parts)
        ))  # fmt: skip

    def _house_name(self, words: list[Word], at: int, stop: int, draft: Draft) -> int:
        """A house name behind the road, up to a comma after which more than the state follows: "Jaeger Square, Columbus"."""
        if "road" not in draft.parts or "building" in draft.parts:
            return at
        comma = next((i for i in range(at, stop) if words[i].text == ","), stop)
        if comma == at and at < stop:
            nxt = next((i for i in range(at + 1, stop) if words[i].text == ","), stop)
            if nxt < stop and nxt - at <= 3 and all(_UNIT_ID.fullmatch(w.text) for w in words[at + 1 : nxt]):
                draft.parts.setdefault(
                    "unit", (at + 1, nxt)
                )  # a bare number between commas: "Wacker Dr, 1600, Chicago"
                return nxt
            return at
        if at < comma < stop and comma - at <= 5 and not _HOUSE.fullmatch(words[at].text):
            draft.parts["building"] = (at, comma)
            return comma
        return at

    def _opening(self, flat: str, words: list[Word], stop: int, draft: Draft) -> int:
        """Flat, house name, box or addressee before the house number; returns where the number or road begins."""
        at = 0
        while at < stop:
            box = self._box_end(flat, words, at, stop)
            if box:
                draft.parts["poi"] = (draft.parts.get("poi", (at, box))[0], box)
            end = box or self._units(words, at, stop, draft)
            if end == at:
                break
            at = _past(words, end, stop)
        house = next((i for i in range(at, stop) if self._opens_road(words, i, stop)), None)
        if house is None or house == at or "poi" in draft.parts:
            return at
        apart = words[house - 1].text == ","
        if apart or not any(words[i].low in self._street for i in range(at + 1, house)):
            draft.parts["poi"] = (at, house)
            return house
        return at

    def _opens_road(self, words: list[Word], i: int, stop: int) -> bool:
        if not _HOUSE.fullmatch(words[i].text) or i + 1 >= stop or words[i + 1].text == ",":
            return False
        return i == 0 or words[i - 1].low not in self._unit | self._building | self._street | {"highway", "route", "#"}

    def _box_end(self, flat: str, words: list[Word], at: int, stop: int) -> int:
        """The end of "PO Box 12" or "RR 4, Box 164 A" at ``at``; 0 when there is none."""
        end = at
        while end < stop:
            hit = self._box.match(flat, words[end].start)
            if not hit:
                break
            after = next((i for i in range(end, stop) if words[i].start >= hit.end()), stop)
            if after >= stop or not re.search(r"\d", words[after].text):
                break
            end = after + 1
            if end < stop and re.fullmatch(r"[A-Za-z]", words[end].text):
                end += 1
            if end < stop and words[end].text == "," and self._box.match(flat, words[min(end + 1, stop - 1)].start):
                end += 1
        return end if end > at else 0

    def _number(self, words: list[Word], at: int, stop: int, draft: Draft, *, strict: bool = False) -> int:
        """The house number, with its half or letter: 16½, 4224 A, W211 N16601."""
        if at >= stop or _ORDINAL.fullmatch(words[at].text):
            return at
        end = at
        if _HOUSE.fullmatch(words[at].text) or (words[at].text == "#" and not strict):
            end = at + 1
            if end < stop and words[end].text in {"½", "1/2"}:
                end += 1
            lettered = end + 2 <= stop and re.fullmatch(r"[A-Da-d]", words[end].text) and not strict
            if lettered and words[end + 1].low not in self._street and words[end].low not in self._direction:
                end += 1
        elif not strict and end + 1 < stop and all(_GRID.fullmatch(w.text) for w in words[at : at + 2]):
            end = at + 2
        elif not strict and at + 2 < stop and (words[at].low in _NUMBER_WORDS or _GRID.fullmatch(words[at].text)):
            end = at + 1
        if end == at:
            return at
        draft.parts["number"] = (at, end)
        return end + 1 if end < stop and words[end].text == "," else end

    def _road(self, flat: str, words: list[Word], at: int, stop: int, draft: Draft, *, strict: bool) -> int:
        """The road from ``at``; without a street word it ends at a comma, a unit or where a known town begins."""
        begin = at
        while at < stop and words[at].low in self._direction and at + 1 < stop and words[at + 1].text != ",":
            at += 1
        lead = self._leading.match(flat, words[at].start) if at < stop else None
        if lead:
            after = next((i for i in range(at, stop) if words[i].start >= lead.end()), stop)
            numbered = self._road_number(words, after, stop)
            if numbered:
                return self._ends_road(flat, words, begin, numbered, stop, draft)
        limit = min(stop, begin + _LONGEST_ROAD)
        if not strict and stop <= limit:
            limit = min(limit, self._town_begin(flat, words, at, stop, draft))
        end = at
        while end < limit and words[end].text not in {",", "(", ")"}:
            word = words[end]
            if end > at and (self._one_unit(words, end, stop) or self._box_end(flat, words, end, stop)):
                break
            if strict and not (word.name or word.low in {"of", "the", "and", "de", "del", "la"}):
                break
            street = end > at and (word.low in self._street or word.low == "broadway" or _ORDINAL.fullmatch(word.text))
            if street and not self._goes_on(words, end + 1, limit):
                numbered = self._road_number(words, end + 1, stop) if word.low in _NUMBERED else 0
                return self._ends_road(flat, words, begin, numbered or end + 1, stop, draft)
            end += 1
        if strict or end == begin:
            return begin
        return self._ends_road(flat, words, begin, end, stop, draft)

    def _goes_on(self, words: list[Word], at: int, limit: int) -> bool:
        """True when the road name is longer than the street word before ``at``: Ulster St Pkwy, Avalon Park East Blvd."""
        if at < limit and words[at].low in self._street:
            return True
        return at + 1 < limit and words[at].low in self._direction and words[at + 1].low in self._street

    def _road_number(self, words: list[Word], at: int, stop: int) -> int:
        """The end of "No 202" or "116" or "VV" after Highway or County Road; 0 when there is none."""
        if at < stop and words[at].low in {"no", "number"}:
            at += 1
        if (
            at < stop
            and re.fullmatch(r"\d{1,4}[A-Za-z]?(?:-\d{1,4})?|[A-Z]{1,2}", words[at].text)
            and words[at].low not in (self._unit | self._direction)
        ):
            return at + 1
        return 0

    def _ends_road(self, flat: str, words: list[Word], begin: int, end: int, stop: int, draft: Draft) -> int:
        """Close the road, with the direction behind it unless that begins the town: Main St NW, but Elm St East Lansing."""
        after = end + 1 if end < stop and words[end].text == "," else end
        if after < stop and words[after].low in self._direction:
            said, plain = words[after], len(words[after].low)
            town = flat[said.start : words[stop - 1].end].lower() in self.gazetteer.towns
            last = after + 1 == stop or words[after + 1].text == "," or self._one_unit(words, after + 1, stop) > 0
            pair = after + 1 < stop and said.low in {"n", "s"} and words[after + 1].low in {"e", "w"}
            if pair and after == end:
                end = after + 2
            elif plain == 2 or plain > 5 or last or (after == end and not town and (plain == 1 or end - begin > 1)):
                end = after + 1 if after == end or plain == 2 or last else end
        draft.parts["road"] = (begin, end)
        return end

    def _town_begin(self, flat: str, words: list[Word], begin: int, stop: int, draft: Draft) -> int:
        """Where the longest known town before the state begins; without one and without a street word, the last word."""
        known = {"province", "postcode"} & set(draft.parts)
        for first in range(begin + 1, stop):
            if any(w.text == "," for w in words[first:stop]):
                continue
            name = flat[words[first].start : words[stop - 1].end].lower().replace(".", "")
            if name in self.gazetteer.towns and (known or any(w.low in self._street for w in words[begin + 1 : first])):
                return first
        if not known or any(w.low in self._street or w.text == "," for w in words[begin + 1 : stop]):
            return stop
        last = stop - 1
        if last - 1 > begin and words[last - 1].low in _PREFIXES:
            last -= 1
        return max(last, begin + 1)

    def _takes_id(self, words: list[Word], at: int, stop: int) -> bool:
        after = at + 1
        if after < stop and words[after].low in {"no", "number"}:
            after += 1
        return after < stop and _UNIT_ID.fullmatch(words[after].text) is not None

    def _units(self, words: list[Word], at: int, stop: int, draft: Draft) -> int:
        """Apartment, suite, floor, building, each once or more: "Ste 400, Unit B" is one unit."""
        while at < stop:
            begin = at
            while begin < stop and words[begin].text == ",":
                begin += 1
            if begin >= stop:
                break
            end = self._one_unit(words, begin, stop)
            if not end:
                break
            name = "building" if words[begin].low in self._building else "unit"
            draft.parts[name] = (draft.parts.get(name, (begin, end))[0], end)
            at = end
        return at

    def _one_unit(self, words: list[Word], at: int, stop: int) -> int:
        """The end of one unit that begins at ``at``, or 0: "Apt 3", "# APT 200", "6th Floor", "Suite100", "Rear"."""
        word = words[at]
        if word.text.startswith("#") and word.low.lstrip("# ") in self._unit and self._takes_id(words, at, stop):
            return at + 2
        if (word.text.startswith("#") and len(word.text) > 1) or _GLUED_UNIT.fullmatch(word.text):
            return at + 1
        if word.low in _ALONE and (at + 1 == stop or words[at + 1].text == ","):
            return at + 1
        if word.low == "no" and at + 1 < stop and re.fullmatch(r"\d{1,5}[A-Za-z]?", words[at + 1].text):
            return at + 2
        ordinal = _ORDINAL.fullmatch(word.text) or word.low in _ORDINAL_WORDS
        if ordinal and at + 1 < stop and words[at + 1].low in {"floor", "fl", "flr"}:
            return at + 2
        if word.low not in self._unit | self._building or not self._takes_id(words, at, stop):
            return 0
        end = at + 2
        if words[at + 1].low in {"no", "number"}:
            end += 1
        if end < stop and re.fullmatch(r"[A-Za-z]", words[end].text) and words[end].low not in self._direction:
            end += 1
        return end

    def _city(self, flat: str, words: list[Word], at: int, stop: int, draft: Draft) -> None:
        """The town: of several stretches between commas the last that is a known town (a county stands behind it)."""
        while at < stop and words[at].text in {",", "(", ")"}:
            at += 1
        while stop > at and words[stop - 1].text in {",", "(", ")"}:
            stop -= 1
        if at >= stop:
            return
        commas = [i for i in range(at, stop) if words[i].text == ","]
        if commas and "road" not in draft.parts:
            street = any(words[i].low in self._street for i in range(at, commas[0]))
            draft.parts["road" if street else "poi"] = (at, commas[0])
            at, commas = commas[0] + 1, commas[1:]
        stretches = list(zip([at, *(c + 1 for c in commas)], [*commas, stop], strict=True))
        known = [(a, b) for a, b in stretches if b > a and self._is_town(flat, words, a, b)]
        draft.parts["city"] = known[-1] if known else stretches[-1]

    def _is_town(self, flat: str, words: list[Word], first: int, last: int) -> bool:
        return flat[words[first].start : words[last - 1].end].lower().replace(".", "") in self.gazetteer.towns

    # ------------------------------------------------------------------ in a sentence
    def _in_sentence(self, flat: str, words: list[Word], at: int) -> Draft | None:
        """An address that begins at word ``at``: number, capitalised road with a street word, then what follows it."""
        draft = Draft(at, at)
        box = self._box_end(flat, words, at, len(words)) if words[at].low[:1] in "p" else 0
        if box:
            draft.parts["poi"] = (at, box)
            end = box
        else:
            if not _HOUSE.fullmatch(words[at].text) or (at and flat[words[at].start - 1] in "$€£¥#-./"):
                return None
            end = self._number(words, at, len(words), draft, strict=True)
            end = self._road(flat, words, end, len(words), draft, strict=True)
            if "road" not in draft.parts or not self._road_is_named(words, draft.parts["road"]):
                return None
        end = self._units(words, end, len(words), draft)
        draft.last = self._after_road(flat, words, end, draft)
        return draft

    def _road_is_named(self, words: list[Word], road: tuple[int, int]) -> bool:
        first = next((w for w in words[road[0] : road[1]] if w.low not in self._direction), None)
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
            tail = self._tail(flat, words, at, last)
            if not tail or max(b for _, b in tail.values()) != last:
                continue
            begin = min(a for a, _ in tail.values())
            draft.parts.update(tail)
            self._city(flat, words, at, begin, draft)
            return last
        if at + 1 < stop and words[at].text == ",":  # ", Lewes" alone
            begin = at + 1
            last = begin
            while last < stop and words[last].text != "," and last - begin < 3:
                last += 1
            if flat[words[begin].start : words[last - 1].end].lower().rstrip(".") in self.gazetteer.towns:
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

    # ------------------------------------------------------------------ places
    def _places(self, flat: str, lower: str, setting: Setting) -> Iterator[tuple[int, int]]:
        at = 0
        for hit in re.finditer(r"(?<![\w@./'-])[^\W\d_]", lower):
            if hit.start() < at:
                continue
            for name in self.gazetteer.english_at(lower, hit.start()):
                if self._counts(name, flat, lower, hit.start()):
                    at = self._with_region(flat, lower, hit.start() + len(name))
                    yield hit.start(), at
                    break

    def _counts(self, name: str, flat: str, lower: str, at: int) -> bool:
        if len(name) < 3:
            return False
        said = flat[at : at + len(name)]
        after = self._before.search(lower, max(0, at - 24), at) is not None
        capital = all(
            word[:1].isupper() for word in re.split(r"[ -]", said) if word not in {"of", "and", "the", "upon"}
        )
        size = max(place.population for place in self.gazetteer.english[name])
        firm = " " in name or name not in self._ambiguous
        known = any(place.kind != "city" for place in self.gazetteer.english[name])
        if capital:
            return (firm and (size >= 100 or known or after)) or after
        return after and firm and (size >= 100 or known)

    def _with_region(self, flat: str, lower: str, end: int) -> int:
        """``Portland, OR`` and ``London, England`` are one place."""
        hit = re.match(r", ?([A-Za-z.]+(?: [A-Z][a-z]+)?)(?![\w])", flat[end:])
        if not hit:
            return end
        for said in (hit.group(1), hit.group(1).split(" ")[0]):
            low = said.lower().rstrip(".")
            region = (
                low in self.gazetteer.states or low in self.gazetteer.countries or low in _REGIONS or low in _COUNTRIES
            )
            if region and (said.isupper() or (len(low) > 2 and said[:1].isupper())):
                return end + hit.start(1) + len(said.rstrip("."))
        return end
