"""The parts of an English address, each read from words: number, road, units, box, town, state, postcode, country."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from ..recognizer import Lookup
from ..words import alternatives
from .gazetteer import gazetteer

_WORD = re.compile(r"#\s?\w[\w-]*|[^\W_](?:[\w'’./&-]*[\w])?\.?|,|[()]|½|&")
HOUSE = re.compile(r"\d{1,6}(?:[-/]\d{1,6})?(?:[A-Za-z]|½| ?1/2)?|[NSEW]\d{1,5}[NSEW]\d{1,6}|\d+[A-Z]\d+", re.ASCII)
_ZIP = re.compile(r"\d{5}(?:-?\d{4})?")
_UK_CODE = re.compile(r"([A-Za-z]{1,2}\d[A-Za-z\d]?) ?(\d[A-Za-z]{2})")
_CA_CODE = re.compile(r"([A-Za-z]\d[A-Za-z]) ?(\d[A-Za-z]\d)")
UNIT_ID = re.compile(r"#?\d{1,9}[A-Za-z]{0,2}(?:-\d+)?|#?[A-Za-z](?:-?\d{1,5}[A-Za-z]?|-[A-Za-z])?|#\w+", re.ASCII)
_ALONE = {"rear", "front", "upper", "lower", "penthouse"}  # units that need no number
_ORDINAL = re.compile(r"\d{1,3}(?:st|nd|rd|th)", re.IGNORECASE)
_GRID = re.compile(r"[A-Z]\d{2,6}")
_NUMBER_WORDS = {"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twenty", "fifty"}
_GLUED_UNIT = re.compile(r"(?:suite|ste|apt|unit|rm|bldg)\d{1,5}[a-z]?", re.IGNORECASE)
_ORDINAL_WORDS = {"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"}
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


def words_of(flat: str) -> list[Word]:
    """The words, commas and brackets of a text."""
    return [Word(m.start(), m.end(), _low(m.group()), m.group()) for m in _WORD.finditer(flat)]


def past(words: list[Word], at: int, stop: int) -> int:
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


class AddressParts:
    """Reads one part at a time; every reader takes words and a place and returns the place behind the part."""

    def __init__(self, lookup: Lookup) -> None:
        words, regions = lookup("words.address.en"), lookup("words.region.en")
        both = set(words.labels["both"])
        self.street = frozenset(words.labels["street"]) | both
        self.leading = alternatives({*words.labels["leading"], *both})
        self.direction = frozenset(w.rstrip(".") for w in words.labels["direction"])
        self.unit = frozenset(words.labels["unit"])
        self.building = frozenset(words.labels["building"])
        self.box = alternatives(words.labels["box"])
        self.regions = frozenset(regions.labels["region"])
        self.countries = frozenset(regions.labels["country"])
        self.prefixes = frozenset(regions.labels["prefix"])
        self.gazetteer = gazetteer()

    def tail(self, flat: str, words: list[Word], first: int, last: int) -> dict[str, tuple[int, int]]:
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
                if self.is_kind(name, said, at_end=end == last or bool(parts), sure=sure):
                    parts[name] = (begin, end)
                    end = begin
                    break
        return parts

    def is_kind(self, name: str, said: str, *, at_end: bool, sure: bool) -> bool:
        said = said.rstrip(".")
        low = said.lower()
        if name == "postcode":
            return bool(_ZIP.fullmatch(said) or _UK_CODE.fullmatch(said) or _CA_CODE.fullmatch(said))
        if name == "country":
            return low in self.countries or (
                len(low) > 3 and low in self.gazetteer.countries and low not in self.gazetteer.states
            )
        if low in self.regions:
            return said.upper() == said or len(low) > 2
        if low in self.street | self.unit and not sure:
            return False  # "Cedar Crest Ct." is a court, "21st Fl." a floor
        return low in self.gazetteer.states and (len(low) > 2 or at_end)

    def opens_road(self, words: list[Word], i: int, stop: int) -> bool:
        if not HOUSE.fullmatch(words[i].text) or i + 1 >= stop or words[i + 1].text == ",":
            return False
        return i == 0 or words[i - 1].low not in self.unit | self.building | self.street | {"highway", "route", "#"}

    def box_end(self, flat: str, words: list[Word], at: int, stop: int) -> int:
        """The end of "PO Box 12" or "RR 4, Box 164 A" at ``at``; 0 when there is none."""
        end = at
        while end < stop:
            hit = self.box.match(flat, words[end].start)
            if not hit:
                break
            after = next((i for i in range(end, stop) if words[i].start >= hit.end()), stop)
            if after >= stop or not re.search(r"\d", words[after].text):
                break
            end = after + 1
            if end < stop and re.fullmatch(r"[A-Za-z]", words[end].text):
                end += 1
            if end < stop and words[end].text == "," and self.box.match(flat, words[min(end + 1, stop - 1)].start):
                end += 1
        return end if end > at else 0

    def number(self, words: list[Word], at: int, stop: int, draft: Draft, *, strict: bool = False) -> int:
        """The house number, with its half or letter: 16½, 4224 A, W211 N16601."""
        if at >= stop or _ORDINAL.fullmatch(words[at].text):
            return at
        end = at
        if HOUSE.fullmatch(words[at].text) or (words[at].text == "#" and not strict):
            end = at + 1
            if end < stop and words[end].text in {"½", "1/2"}:
                end += 1
            lettered = end + 2 <= stop and re.fullmatch(r"[A-Da-d]", words[end].text) and not strict
            if lettered and words[end + 1].low not in self.street and words[end].low not in self.direction:
                end += 1
        elif not strict and end + 1 < stop and all(_GRID.fullmatch(w.text) for w in words[at : at + 2]):
            end = at + 2
        elif not strict and at + 2 < stop and (words[at].low in _NUMBER_WORDS or _GRID.fullmatch(words[at].text)):
            end = at + 1
        if end == at:
            return at
        draft.parts["number"] = (at, end)
        return end + 1 if end < stop and words[end].text == "," else end

    def road(self, flat: str, words: list[Word], at: int, stop: int, draft: Draft, *, strict: bool) -> int:
        """The road from ``at``; without a street word it ends at a comma, a unit or where a known town begins."""
        begin = at
        while at < stop and words[at].low in self.direction and at + 1 < stop and words[at + 1].text != ",":
            at += 1
        lead = self.leading.match(flat, words[at].start) if at < stop else None
        if lead:
            after = next((i for i in range(at, stop) if words[i].start >= lead.end()), stop)
            numbered = self.road_number(words, after, stop)
            if numbered:
                return self.ends_road(flat, words, begin, numbered, stop, draft)
        limit = min(stop, begin + _LONGEST_ROAD)
        if not strict and stop <= limit:
            limit = min(limit, self.town_begin(flat, words, at, stop, draft))
        end = at
        while end < limit and words[end].text not in {",", "(", ")"}:
            word = words[end]
            if end > at and (self.one_unit(words, end, stop) or self.box_end(flat, words, end, stop)):
                break
            if strict and not (word.name or word.low in {"of", "the", "and", "de", "del", "la"}):
                break
            ordinal = _ORDINAL.fullmatch(word.text) is not None and not strict  # in a sentence "July 14th" is a day
            street = end > at and (word.low in self.street or word.low == "broadway" or ordinal)
            if street and not self.goes_on(words, end + 1, limit):
                numbered = self.road_number(words, end + 1, stop) if word.low in _NUMBERED else 0
                return self.ends_road(flat, words, begin, numbered or end + 1, stop, draft)
            end += 1
        if strict or end == begin:
            return begin
        return self.ends_road(flat, words, begin, end, stop, draft)

    def goes_on(self, words: list[Word], at: int, limit: int) -> bool:
        """True when the road goes on behind the street word before ``at``: Ulster St Pkwy, Avalon Park East Blvd."""
        if at < limit and words[at].low in self.street:
            return True
        return at + 1 < limit and words[at].low in self.direction and words[at + 1].low in self.street

    def road_number(self, words: list[Word], at: int, stop: int) -> int:
        """The end of "No 202" or "116" or "VV" after Highway or County Road; 0 when there is none."""
        if at < stop and words[at].low in {"no", "number"}:
            at += 1
        if (
            at < stop
            and re.fullmatch(r"\d{1,4}[A-Za-z]?(?:-\d{1,4})?|[A-Z]{1,2}", words[at].text)
            and words[at].low not in (self.unit | self.direction)
        ):
            return at + 1
        return 0

    def ends_road(self, flat: str, words: list[Word], begin: int, end: int, stop: int, draft: Draft) -> int:
        """Close the road, with its direction unless that begins the town: Main St NW, but Elm St East Lansing."""
        after = end + 1 if end < stop and words[end].text == "," else end
        if after < stop and words[after].low in self.direction:
            said, plain = words[after], len(words[after].low)
            town = flat[said.start : words[stop - 1].end].lower() in self.gazetteer.towns
            last = after + 1 == stop or words[after + 1].text == "," or self.one_unit(words, after + 1, stop) > 0
            pair = after + 1 < stop and said.low in {"n", "s"} and words[after + 1].low in {"e", "w"}
            if pair and after == end:
                end = after + 2
            elif plain == 2 or plain > 5 or last or (after == end and not town and (plain == 1 or end - begin > 1)):
                end = after + 1 if after == end or plain == 2 or last else end
        draft.parts["road"] = (begin, end)
        return end

    def town_begin(self, flat: str, words: list[Word], begin: int, stop: int, draft: Draft) -> int:
        """Where the longest known town before the state begins; without one or a street word, the last word."""
        known = {"province", "postcode"} & set(draft.parts)
        for first in range(begin + 1, stop):
            if any(w.text == "," for w in words[first:stop]):
                continue
            name = flat[words[first].start : words[stop - 1].end].lower().replace(".", "")
            if name in self.gazetteer.towns and (known or any(w.low in self.street for w in words[begin + 1 : first])):
                return first
        if not known or any(w.low in self.street or w.text == "," for w in words[begin + 1 : stop]):
            return stop
        last = stop - 1
        if last - 1 > begin and words[last - 1].low in self.prefixes:
            last -= 1
        return max(last, begin + 1)

    def takes_id(self, words: list[Word], at: int, stop: int) -> bool:
        after = at + 1
        if after < stop and words[after].low in {"no", "number"}:
            after += 1
        return after < stop and UNIT_ID.fullmatch(words[after].text) is not None

    def units(self, words: list[Word], at: int, stop: int, draft: Draft) -> int:
        """Apartment, suite, floor, building, each once or more: "Ste 400, Unit B" is one unit."""
        while at < stop:
            begin = at
            while begin < stop and words[begin].text == ",":
                begin += 1
            if begin >= stop:
                break
            end = self.one_unit(words, begin, stop)
            if not end:
                break
            name = "building" if words[begin].low in self.building else "unit"
            draft.parts[name] = (draft.parts.get(name, (begin, end))[0], end)
            at = end
        return at

    def one_unit(self, words: list[Word], at: int, stop: int) -> int:
        """The end of one unit that begins at ``at``, or 0: "Apt 3", "# APT 200", "6th Floor", "Suite100", "Rear"."""
        word = words[at]
        if word.text.startswith("#") and word.low.lstrip("# ") in self.unit and self.takes_id(words, at, stop):
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
        if word.low not in self.unit | self.building or not self.takes_id(words, at, stop):
            return 0
        end = at + 2
        if words[at + 1].low in {"no", "number"}:
            end += 1
        if end < stop and re.fullmatch(r"[A-Za-z]", words[end].text) and words[end].low not in self.direction:
            end += 1
        return end

    def city(self, flat: str, words: list[Word], at: int, stop: int, draft: Draft) -> None:
        """The town: of several stretches between commas the last that is a known town (a county stands behind it)."""
        while at < stop and words[at].text in {",", "(", ")"}:
            at += 1
        while stop > at and words[stop - 1].text in {",", "(", ")"}:
            stop -= 1
        if at >= stop:
            return
        commas = [i for i in range(at, stop) if words[i].text == ","]
        if commas and "road" not in draft.parts:
            street = any(words[i].low in self.street for i in range(at, commas[0]))
            draft.parts["road" if street else "poi"] = (at, commas[0])
            at, commas = commas[0] + 1, commas[1:]
        stretches = list(zip([at, *(c + 1 for c in commas)], [*commas, stop], strict=True))
        known = [(a, b) for a, b in stretches if b > a and self.is_town(flat, words, a, b)]
        draft.parts["city"] = known[-1] if known else stretches[-1]

    def is_town(self, flat: str, words: list[Word], first: int, last: int) -> bool:
        return flat[words[first].start : words[last - 1].end].lower().replace(".", "") in self.gazetteer.towns
