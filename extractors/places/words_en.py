"""The words of an English address: how a text is cut into them, and which classes of a rule file each belongs to."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..recognizer import Lookup
from ..words import alternatives, lazy
from .gazetteer import gazetteer

VOCABULARIES = ("words.address.en", "words.address.line.en", "words.region.en")
_WORD = re.compile(r"#\s?\w[\w-]*|[^\W_](?:[\w'’./&-]*[\w])?\.?|,|[()]|½|&|#")
_DOTTED = re.compile(r"(?:[a-z]\.)+[a-z]")


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
    return low.replace(".", "") if _DOTTED.fullmatch(low) else low


def words_of(flat: str) -> list[Word]:
    """The words, commas and brackets of a text."""
    return [Word(m.start(), m.end(), _low(m.group()), m.group()) for m in _WORD.finditer(flat)]


def past(words: list[Word], at: int, stop: int) -> int:
    """The first word from ``at`` that is no comma or bracket."""
    while at < stop and words[at].text in {",", "(", ")"}:
        at += 1
    return at


class AddressWords:
    """Word classes and forms of numbers from the rule files, compiled once."""

    def __init__(self, lookup: Lookup) -> None:
        words, line, regions = (lookup(of) for of in VOCABULARIES)
        self.ref = words.ref
        label = {name: frozenset(w.rstrip(".") for w in said) for name, said in words.labels.items()}
        more = {name: frozenset(said) for name, said in line.labels.items()}
        self.strong = label["street"] | label["both"]
        self.street = self.strong | label["site"]
        self.named = label["site"] | label["name_end"] | label["building"]
        self.building_name = label["name_end"] | label["building"]
        self.leading = alternatives({*words.labels["leading"], *words.labels["both"]})
        self.direction = label["direction"]
        self.unit, self.building = label["unit"], label["building"]
        self.box = alternatives(words.labels["box"])
        self.box_words = frozenset(said.rpartition(" ")[2] for said in words.labels["box"])
        self.sentence = label["sentence"]
        self.alone, self.floor, self.sign = more["alone"], more["floor"], more["sign"]
        self.number_word, self.ordinal_word = more["number_word"], more["ordinal_word"]
        self.numbered, self.small, self.after_road = more["numbered"], more["small"] | more["joint"], more["after_road"]
        self.saint, self.joint, self.county = more["saint"], more["joint"], more["county"]
        self.crossed_by, self.state_city, self.zero_states = more["crossed_by"], more["state_city"], more["zero_states"]
        self.civil = more["civil"] | self.county
        self.announcing = self.unit | self.building | self.direction | self.box_words | self.small
        self.short = {short: str(full) for short, full in line.words.items()} if isinstance(line.words, dict) else {}
        self.code = alternatives(line.labels["code"])
        self.recipient = alternatives(line.labels["recipient"])
        self.crossing = alternatives(line.labels["crossing"])
        self.forms = {
            name: lazy(source, re.IGNORECASE | re.ASCII) for name, source in line.patterns.items()
        }  # fmt: skip
        self.regions = frozenset(regions.labels["region"])
        self.countries = frozenset(regions.labels["country"])
        self.prefixes = frozenset(regions.labels["prefix"])
        self.gazetteer = gazetteer()

    def fits(self, form: str, said: str) -> bool:
        """True when the whole word has a form: "house", "unit", "postcode" …"""
        return self.forms[form].fullmatch(said) is not None

    def text(self, flat: str, words: list[Word], first: int, last: int) -> str:
        """The words ``first`` to ``last`` (exclusive) as they stand."""
        return flat[words[first].start : words[last - 1].end]

    def is_town(self, flat: str, words: list[Word], first: int, last: int) -> bool:
        """True for a town of the tables; "Street" and "West" are towns too, and never meant."""
        if first >= last or all(w.low in self.strong | self.direction for w in words[first:last]):
            return False
        if last - first == 1 and words[first].low in self.street:
            return False
        name = self.text(flat, words, first, last).lower().replace(".", "")
        towns = self.gazetteer.towns
        if name in towns:
            return True
        head, _, rest = name.partition(" ")
        return head in self.short and f"{self.short[head]} {rest}" in towns

    def town_at_end(self, flat: str, words: list[Word], first: int, last: int) -> int:
        """Where the longest known town that ends at ``last`` begins; ``last`` when none is known."""
        return next((i for i in range(first, last) if self.is_town(flat, words, i, last)), last)

    def is_part(self, name: str, said: str, *, at_end: bool, sure: bool) -> bool:
        """True when the words are a country, postcode or state ("province")."""
        said = said.rstrip(".")
        low = said.lower()
        if name == "postcode":
            return self.fits("postcode", said)
        if name == "country":
            return low in self.countries or (
                len(low) > 3 and low in self.gazetteer.countries and low not in self.gazetteer.states
            )
        if low in self.regions:
            return said.upper() == said or len(low) > 2
        if low in self.street | self.unit and not sure:
            return False  # "Cedar Crest Ct." is a court, "21st Fl." a floor
        return low in self.gazetteer.states and (len(low) > 2 or at_end)
