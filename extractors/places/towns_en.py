"""English places: countries, states, cities and landmarks that a sentence treats as places."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...values import PlaceValue
from ..parsing.chart import Edge
from ..recognizer import Lookup
from ..words import alternatives, lazy
from .gazetteer import gazetteer

_CAPITAL = r"(?<![A-Za-zÀ-ɏ])[A-ZÀ-Þ][A-Za-zÀ-ɏ'’.\-]{0,40}"  # bounded: a wall of capitals takes no quadratic time
_CITY = 100  # thousands of people: a larger city needs no preposition when it is capitalised
_WORDS = re.compile(r"[^\W\d_][\w'-]*(?: [^\W\d_][\w'-]*){0,2}")
_LONGER_NAME = re.compile(r" [A-Z][a-z]+")
_LEADING_WORD = re.compile(r"[\w'’.\-&]+ ?")
_REGION = re.compile(r"(, ?| )([A-Za-z.]+(?: [A-Za-z][a-z]+){0,2})(?![\w])")


class EnglishPlaces:
    """Finds places in normalised text; the ambiguous ones only after a word such as "in"."""

    def __init__(self, lookup: Lookup) -> None:
        places, regions = lookup("words.place.en"), lookup("words.region.en")
        self.rule = places.ref
        form = places.patterns
        before = "|".join(map(re.escape, sorted(places.labels["before"], key=len, reverse=True)))
        self._before = lazy(rf"(?<![a-z])(?=((?:{before})[ :]+)((?:{form['article']}) +)?)")
        self._ambiguous = frozenset(places.labels["ambiguous"])
        self._namesake = frozenset(places.labels["namesake"])
        self._short = alternatives(places.labels["short"])
        landmark = alternatives(places.labels["landmark"]).pattern
        self._landmark = lazy(rf"(?:{_CAPITAL} (?:(?:{form['inside']}) )*){{1,4}}(?i:{landmark})")
        self._not = frozenset(lookup("words.person.not.en").entries()) - frozenset(places.labels["landmark"])
        self._stop_name = lazy(rf" ((?:[A-Za-z']+ ){{1,2}})(?:{form['stop_name']})\b", re.IGNORECASE)
        self._small_code = lazy(form["small_code"])
        self._regions = frozenset(regions.labels["region"])
        self._countries = frozenset(regions.labels["country"])
        self.gazetteer = gazetteer()

    def find(self, flat: str, lower: str) -> Iterator[Edge]:
        """The places of a text; of overlapping ones the longest will count."""
        after = frozenset(end for hit in self._before.finditer(lower) for end in (hit.end(1), hit.end(2)))
        for start, end in (*self._known(flat, lower, after), *self._landmarks(flat), *self._states(flat, after)):
            yield Edge("place", start, end, PlaceValue(name=flat[start:end]), self.rule, weight=1, kind="place")

    def _known(self, flat: str, lower: str, after: frozenset[int]) -> Iterator[tuple[int, int]]:
        """Names of the gazetteer, with the state or country behind them."""
        at = 0
        alone = len(lower.split()) <= 4  # "Paris." as an answer
        for hit in re.finditer(r"(?<![\w@./'-])[^\W\d_]", lower):
            if hit.start() < at:
                continue
            start = hit.start()
            if not (flat[start].isupper() or start in after or alone):
                continue
            short = self._short.match(flat, start)
            if (
                short
                and (short.group().isupper() or start in after)
                and not lower[short.end() : short.end() + 1].isalnum()
            ):
                at = self._with_region(flat, short.end())
                yield start, at
                continue
            for name in self._names(lower, start):
                whole = alone and name == lower.strip(" .!?")
                if whole or self._counts(name, flat, start, start in after):
                    at = self._with_region(flat, start + len(name))
                    yield start, at
                    break

    def _names(self, lower: str, start: int) -> list[str]:
        """Large places and small towns of the home countries that begin at a word, longest first."""
        found = list(self.gazetteer.english_at(lower, start))
        words = _WORDS.match(lower, start)
        name = words.group() if words else ""
        while name:
            if name in self.gazetteer.towns and name not in self.gazetteer.english:
                found.append(name)
            name = name.rpartition(" ")[0]
        return sorted(found, key=len, reverse=True)

    def _counts(self, name: str, flat: str, at: int, after: bool) -> bool:
        if len(name) < 3:
            return False
        capital = flat[at].isupper()
        size = self.gazetteer.english.get(name, 0)
        known = self.gazetteer.more_than_city(name)
        if name not in self.gazetteer.english:  # a small town, unless the name goes on: "Willard" of "Willard Hicks"
            plain = name not in self._ambiguous and name not in self._namesake and name not in self._not
            return after and capital and plain and (" " in name or not _LONGER_NAME.match(flat, at + len(name)))
        firm = " " in name or (name not in self._ambiguous and name not in self._namesake)
        if capital:
            return after or (firm and (size >= _CITY or known))
        return after and name not in self._ambiguous and (name not in self._namesake or size >= _CITY or known)

    def _with_region(self, flat: str, end: int) -> int:
        """``Portland, OR``, ``London England`` and ``lakeland florida`` are one place."""
        stop = self._stop_name.match(flat, end)
        if stop and not any(word.lower() in self._not for word in stop.group(1).split()):
            return stop.end()  # London Kings Cross, Birmingham New Street
        hit = _REGION.match(flat, end)
        if not hit:
            return end
        words = hit.group(2).split(" ")
        for size in range(len(words), 0, -1):
            said = " ".join(words[:size])
            low = said.lower().rstrip(".")
            if len(low) == 2 or "." in low:
                code = low in self.gazetteer.states or low in self._regions or low in self._countries
                written = (
                    said.rstrip(".").isupper()
                    or self._small_code.fullmatch(low)
                    or (said[0].isupper() and low not in self._not)
                )
                if code and (written or (hit.group(1) != " " and low not in self._not)):
                    return hit.start(2) + len(said.rstrip("."))
            elif low not in self._ambiguous and (
                low in self.gazetteer.states or low in self.gazetteer.countries or low in self._regions
            ):
                return hit.start(2) + len(said.rstrip("."))
        return end

    def _landmarks(self, flat: str) -> Iterator[tuple[int, int]]:
        """A capitalised name with a landmark word: Kuala Lumpur International Airport."""
        for hit in self._landmark.finditer(flat):
            start = hit.start()
            while start < hit.end():  # leave off leading words that are no names: "The", "Our"
                word = _LEADING_WORD.match(flat, start)
                if not word or word.group().strip().lower() not in self._not:
                    break
                start = word.end()
            if " " in flat[start : hit.end()]:
                yield start, hit.end()

    def _states(self, flat: str, after: frozenset[int]) -> Iterator[tuple[int, int]]:
        """The code of a state in capitals after a preposition: a coffeehouse in NE."""
        for hit in re.finditer(r"(?<![\w.])[A-Z]{2}(?![\w.]|-\d)", flat):
            code = hit.group().lower()
            if (code in self.gazetteer.states or code in self._regions) and hit.start() in after:
                yield hit.span()
