"""How the parts of a Chinese address are written: the patterns and endings of the rule file, compiled once."""

from __future__ import annotations

import re

from ..recognizer import Lookup
from ..vocabulary import VocabularyFile
from ..words import alternatives, lazy

VOCABULARY = "words.address.parts.zh"
HAN = r"[\u4e00-\u9fff]"
_TOWN_NAME, _VILLAGE_NAME = 7, 8  # characters before the ending


class ChineseParts:
    """Patterns by part, and the characters that a division's short name may add."""

    def __init__(self, lookup: Lookup) -> None:
        file = lookup(VOCABULARY)
        self._patterns = file.patterns
        self._numeral = file.patterns["numeral"]
        name = rf"(?:(?!{file.patterns['no_name']}){HAN})"
        self.town = self._made(rf"({name}{{1,{_TOWN_NAME}}}?(?:{_ends(file, 'town_end')}))", "town")
        group = rf"(?:{self._numeral}(?:{_ends(file, 'village_group')}))?"
        self.village = self._made(rf"({name}{{1,{_VILLAGE_NAME}}}?(?:{_ends(file, 'village_end')}){group})", "village")
        self.road_end = alternatives(file.labels["road_end"])
        self.road_tail = self._of("road_tail")
        self.road_further = self._of("road_further")
        self.road_broken = self._of("road_broken")
        self.stop = self._of("stop")
        self.number, self.building = self._of("number"), self._of("building")
        self.unit, self.floor, self.room = self._of("unit"), self._of("floor"), self._of("room")
        self.exit, self.weak_road = self._of("exit"), self._of("weak_road")
        self.room_alone = self._of("room_alone")
        self.branch = lazy(rf"\([^()]{{1,14}}(?:{_ends(file, 'branch_end')})\)")
        self.joining, self.crossing = alternatives(file.labels["joining"]), self._of("crossing")
        self.day_before = self._of("day_before")
        self.times, self.asking = self._of("times"), self._of("asking")
        self.no_name, self.no_name_before = self._of("no_place_name"), self._of("no_place_before")
        self.source, self.target = self._of("from"), self._of("to")
        self.ends = {1: tuple(file.labels["city_end"]), 2: tuple(file.labels["county_end"])}

    def _of(self, part: str) -> re.Pattern[str]:
        """Every pattern of a part, the more special ones first: number.house before number."""
        names = [n for n in self._patterns if n == part or (n.startswith(f"{part}.") and ".not_" not in n)]
        names.sort(key=lambda n: (-n.count("."), n))
        return lazy("|".join(self._one(name) for name in names), re.IGNORECASE | re.ASCII)

    def _one(self, name: str) -> str:
        source = f"(?:{self._patterns[name]})"
        if f"{name}.not_before" in self._patterns:
            source = f"(?<!{self._patterns[f'{name}.not_before']}){source}"
        if f"{name}.not_after" in self._patterns:
            source = f"{source}(?!{self._patterns[f'{name}.not_after']})"
        return source.replace("{numeral}", self._numeral)

    def _made(self, source: str, name: str) -> re.Pattern[str]:
        return lazy(rf"{source}(?!{self._patterns[f'{name}.not_after']})")


def _ends(file: VocabularyFile, label: str) -> str:
    return "|".join(map(re.escape, sorted(file.labels[label], key=lambda w: (-len(w), w))))
