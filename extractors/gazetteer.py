"""The names of places: Chinese divisions as a tree, countries, states, large cities; the tables are read once."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "rules" / "packs" / "core" / "data"
LEVELS = ("province", "city", "district")
_COUNTY_ENDS = ("区", "县", "市", "旗")
_FIRST_WORD = re.compile(r"[^\W\d_][^\W\d_'.]*")
_GAP = re.compile(r"[ ,·/-]{0,2}")


@dataclass(frozen=True, slots=True)
class Division:
    """A Chinese province, city or county; ``parents`` are its province and, for a county, its city ("" when none)."""

    name: str
    short: str
    level: int
    parents: tuple[str, ...]
    towns: str = ""

    def under(self, other: Division) -> bool:
        """True when ``other`` stands above this division."""
        return other.level < self.level and self.parents[other.level] == other.name


@dataclass(frozen=True, slots=True)
class Named:
    """A division at characters of a text; ``full`` is False for the short form (杭州 for 杭州市)."""

    start: int
    end: int
    division: Division
    full: bool


@dataclass(frozen=True, slots=True)
class Place:
    """A country, a US state or a large city outside the Chinese tree; population in thousands."""

    kind: str
    country: str
    code: str
    population: int
    name: str
    chinese: str


class Gazetteer:
    """All tables, indexed by the first two characters (Chinese) or the first word (English)."""

    def __init__(self, folder: Path = DATA) -> None:
        self.divisions: dict[str, list[Division]] = defaultdict(list)
        self.chinese_world: dict[str, Place] = {}
        self.english: dict[str, list[Place]] = defaultdict(list)
        self.states: dict[str, str] = {}
        self.countries: dict[str, str] = {}
        self._read_china(folder / "china_divisions.tsv")
        self._read_world(folder / "world_places.tsv")
        self._town_lines = folder / "towns.tsv"
        self._heads: dict[str, list[str]] = defaultdict(list)
        for name in sorted(set(self.divisions) | set(self.chinese_world), key=lambda n: (-len(n), n)):
            self._heads[name[:2]].append(name)
        self._first: dict[str, list[str]] = defaultdict(list)
        for name in sorted(self.english, key=lambda n: (-len(n), n)):
            self._first[re.split(r"[ -]", name, maxsplit=1)[0]].append(name)

    def _read_china(self, path: Path) -> None:
        province = city = ""
        renamed: list[tuple[str, str]] = []
        for line in path.read_text("utf-8").splitlines():
            mark, name, short, *rest = line.split("\t")
            if mark == "A":
                renamed.append((name, short))
                continue
            if mark == "P":
                province, city = name, ""
                found = Division(name, short, 0, ())
            elif mark == "C":
                city = name
                county = name.endswith("县")  # Taiwan's counties stand where cities do
                found = Division(name, short, 2, (province, "")) if county else Division(name, short, 1, (province,))
            else:
                found = Division(name, short, 2, (province, city), rest[0])
            if name:
                self.divisions[name].append(found)
                if short:
                    self.divisions[short].append(found)

        for old, new in renamed:
            self.divisions[old].extend(self.divisions[new])

    def _read_world(self, path: Path) -> None:
        for line in path.read_text("utf-8").splitlines():
            kind, country, code, size, name, chinese = line.split("\t")
            place = Place(kind, country, code, int(size), name, chinese)
            spelled = name.lower().replace("’", "'")
            for form in sorted({spelled, spelled.replace("'", "")}):  # King's Lynn is written without its mark too
                self.english[form].append(place)
            if len(chinese) > 1:
                self.chinese_world.setdefault(chinese, place)
            if kind == "state":
                self.states[code.lower()] = self.states[name.lower()] = code
            elif kind == "country":
                self.countries[name.lower()] = country

    @property
    def towns(self) -> frozenset[str]:
        """Names of every US and UK town in lower case; only addresses without commas need them."""
        return _towns(self._town_lines)

    def chinese_at(self, text: str, at: int) -> Iterator[str]:
        """Names that start at a character, longest first."""
        for name in self._heads.get(text[at : at + 2], ()):
            if text.startswith(name, at):
                yield name

    def english_at(self, lower: str, at: int) -> Iterator[str]:
        """Names that start at a character of a lower-case text and end with a word, longest first."""
        word = _FIRST_WORD.match(lower, at)
        for name in self._first.get(word.group().rstrip("."), ()) if word else ():
            end = at + len(name)
            if lower.startswith(name, at) and not lower[end : end + 1].isalnum():
                yield name

    def chain(self, text: str, at: int, above: tuple[Named, ...] = ()) -> tuple[Named, ...]:
        """The longest run of divisions from ``at``, each below the one before: 江西|南昌市|新建区."""
        best: tuple[Named, ...] = ()
        for name in self.chinese_at(text, at):
            for division in self.divisions.get(name, ()):
                if above and not all(division.under(higher.division) for higher in above):
                    continue
                end = at + len(name)
                full = name != division.short
                if not full and above and division.level == 2 and text[end : end + 1] in _COUNTY_ENDS:
                    end, full = end + 1, True  # 新津县 has become 新津区
                found = Named(at, end, division, full)
                gap = _GAP.match(text, found.end)
                follow = (
                    self.chain(text, gap.end() if gap else found.end, (*above, found)) if division.level < 2 else ()
                )
                run = (found, *follow)
                if _rank(run) > _rank(best):
                    best = run
        return best


def _rank(run: tuple[Named, ...]) -> tuple[int, int, int]:
    """Longest first; then a full name before a short one, then the larger division (吉林 is the province)."""
    return (run[-1].end, sum(n.full for n in run), -run[0].division.level) if run else (-1, 0, 0)


@lru_cache(maxsize=1)
def gazetteer() -> Gazetteer:
    """The shipped gazetteer; read once a process."""
    return Gazetteer()


@lru_cache(maxsize=1)
def _towns(path: Path) -> frozenset[str]:
    lines = path.read_text("utf-8").splitlines()
    return frozenset(name.lower().replace(".", "") for line in lines for name in line.split("\t")[1].split("|"))
