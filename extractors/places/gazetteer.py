"""The names of places: Chinese divisions as a tree, countries, states, large cities; the tables are read once."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

DATA = Path(__file__).resolve().parents[2] / "rules" / "packs" / "core" / "data"
LEVELS = ("province", "city", "district")
_FIRST_WORD = re.compile(r"[^\W\d_][^\W\d_'.]*")
NO_ENDS: Mapping[int, tuple[str, ...]] = {}
_GAP = re.compile(r"[ ,·/-]{0,2}")


class Division(NamedTuple):
    """A Chinese province, city or county; ``parents`` are its province and, for a county, its city ("" when none)."""

    name: str
    short: str
    level: int
    parents: tuple[str, ...]
    towns: str = ""

    def under(self, other: Division) -> bool:
        """True when ``other`` stands above this division."""
        return other.level < self.level and self.parents[other.level] == other.name


class Named(NamedTuple):
    """A division at characters of a text; ``full`` is False for the short form (杭州 for 杭州市)."""

    start: int
    end: int
    division: Division
    full: bool


class Gazetteer:
    """All tables: Chinese names by their first two characters, English ones by their spelling in lower case.

    Each table is read when it is first asked: a text in one language never pays for the other.
    """

    def __init__(self, folder: Path = DATA) -> None:
        self._folder = folder

    @cached_property
    def divisions(self) -> dict[str, list[Division]]:
        """Chinese divisions by full and short name."""
        return _read_china(self._folder / "china_divisions.tsv")

    @cached_property
    def chinese_world(self) -> frozenset[str]:
        """Chinese names of countries, states and large cities elsewhere."""
        lines = self._world_lines()
        return frozenset(name for name in (line.rpartition("\t")[2] for line in lines) if len(name) > 1)

    @cached_property
    def _world(self) -> World:
        return _read_world(self._world_lines())

    def _world_lines(self) -> list[str]:
        return (self._folder / "world_places.tsv").read_text("utf-8").splitlines()

    @property
    def english(self) -> dict[str, int]:
        """The population, in thousands, of the largest place of a name."""
        return self._world.sizes

    @property
    def states(self) -> dict[str, str]:
        """Codes of US states by code and name, in lower case."""
        return self._world.states

    @property
    def countries(self) -> dict[str, str]:
        """Codes of countries by name, in lower case."""
        return self._world.countries

    def more_than_city(self, name: str) -> bool:
        """True for the name of a country or a state, whatever else it names."""
        return name in self._world.wide

    @cached_property
    def _heads(self) -> dict[str, list[str]]:
        heads: dict[str, list[str]] = {}
        for name in self.chinese_world.union(self.divisions):
            heads.setdefault(name[:2], []).append(name)
        for names in heads.values():
            if len(names) > 1:
                names.sort(key=lambda name: (-len(name), name))
        return heads

    def chinese_places(self, text: str) -> list[int]:
        """The characters at which some Chinese name may start: two of them are looked up together."""
        heads = self._heads
        return [at for at in range(len(text)) if text[at : at + 2] in heads]

    @cached_property
    def towns(self) -> frozenset[str]:
        """Names of every US and UK town in lower case; only addresses without commas need them."""
        return _towns(self._folder / "towns.tsv")

    def chinese_at(self, text: str, at: int) -> Iterator[str]:
        """Names that start at a character, longest first."""
        for name in self._heads.get(text[at : at + 2], ()):
            if text.startswith(name, at):
                yield name

    def english_at(self, lower: str, at: int) -> Iterator[str]:
        """Names that start at a character of a lower-case text and end with a word, longest first."""
        word = _FIRST_WORD.match(lower, at)
        head = word.group().rstrip(".") if word else ""
        world = self._world
        longest = world.heads.get(head)
        if longest is None:
            return
        for end in range(min(at + longest, len(lower)), at, -1):
            name = lower[at:end]
            if name in world.sizes and not lower[end : end + 1].isalnum() and _head(name) == head:
                yield name

    def chain(
        self, text: str, at: int, above: tuple[Named, ...] = (), *, ends: Mapping[int, tuple[str, ...]] = NO_ENDS
    ) -> tuple[Named, ...]:
        """The longest run of divisions from ``at``, each below the one before: 江西|南昌市|新建区.

        ``ends``: by level, what a short name may carry that is not its official ending: 新津|县, 柳州|地区.
        """
        best: tuple[Named, ...] = ()
        for name in self.chinese_at(text, at):
            for division in self.divisions.get(name, ()):
                if above and not all(division.under(higher.division) for higher in above):
                    continue
                end = at + len(name)
                full = name != division.short
                if not full and (above or division.level == 1):
                    ending = next((e for e in ends.get(division.level, ()) if text.startswith(e, end)), "")
                    end, full = end + len(ending), bool(ending)  # 新津县 has become 新津区
                found = Named(at, end, division, full)
                gap = _GAP.match(text, found.end)
                follow = (
                    self.chain(text, gap.end() if gap else found.end, (*above, found), ends=ends)
                    if division.level < 2
                    else ()
                )
                run = (found, *follow)
                if _rank(run) > _rank(best):
                    best = run
        return best


def _read_china(path: Path) -> dict[str, list[Division]]:
    divisions: dict[str, list[Division]] = defaultdict(list)
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
            found = Division(name, short, 1, (province,))
        elif mark == "K":  # a county that stands where cities do
            city = name
            found = Division(name, short, 2, (province, ""))
        else:
            found = Division(name, short, 2, (province, city), rest[0])
        if name:
            divisions[name].append(found)
            if short:
                divisions[short].append(found)
    for old, new in renamed:
        divisions[old].extend(divisions[new])
    return divisions


@dataclass(frozen=True, slots=True)
class World:
    """Places elsewhere, by their names in lower case: sizes in thousands, names that are more than a city's."""

    sizes: dict[str, int]
    wide: frozenset[str]
    states: dict[str, str]
    countries: dict[str, str]
    heads: dict[str, int]  # first word → length of the longest name that begins with it


def _read_world(lines: list[str]) -> World:
    sizes: dict[str, int] = {}
    wide: set[str] = set()
    states: dict[str, str] = {}
    countries: dict[str, str] = {}
    for line in lines:
        kind, country, code, size, name, _ = line.split("\t")
        low = name.lower()
        spelled = low.replace("’", "'")
        # King's Lynn is written without its mark too.
        for form in (spelled, spelled.replace("'", "")) if "'" in spelled else (spelled,):
            sizes[form] = max(sizes.get(form, 0), int(size))
            if kind != "city":
                wide.add(form)
        if kind == "state":
            states[code.lower()] = states[low] = code
        elif kind == "country":
            countries[low] = country
    heads: dict[str, int] = {}
    for name in sizes:
        head = _head(name)
        heads[head] = max(heads.get(head, 0), len(name))
    return World(sizes, frozenset(wide), states, countries, heads)


def _head(name: str) -> str:
    return name.replace("-", " ").partition(" ")[0]


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
    return frozenset(name for line in lines for name in line.partition("\t")[2].lower().replace(".", "").split("|"))
