"""Chinese addresses, read from the largest part to the smallest, and Chinese places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ...values import AddressValue, PlaceValue
from ..parsing.chart import Edge
from ..recognizer import Lookup
from ..words import alternatives, lazy
from .gazetteer import LEVELS, Gazetteer, Named, gazetteer
from .parts_zh import HAN, ChineseParts

_SEP = lazy(r"[ ,·]{0,2}")
_START = lazy(rf"{HAN}|[A-Za-z0-9]")
_NAME_RUN = lazy(rf"(?:{HAN}|[A-Za-z0-9·])*\Z")
_WORD = re.compile(r"\w")
_LONGEST_NAME = 14  # characters of a road's or landmark's name
_LONGEST_FROM = 14  # characters between 从 and 到


@dataclass
class Draft:
    """An address under construction: the parts so far and where the last one ends."""

    start: int
    end: int
    chain: tuple[Named, ...] = ()
    parts: dict[str, str] = field(default_factory=dict)

    def take(self, name: str, text: str, end: int) -> None:
        """Add a part; what fits nowhere else is appended to the part it belongs to."""
        self.parts[name] = self.parts.get(name, "") + text
        self.end = end


class ChineseAddresses:
    """Finds addresses and places in normalised Chinese text."""

    def __init__(self, lookup: Lookup) -> None:
        words, places, context = (lookup(f"words.{of}.zh") for of in ("address", "place", "place.context"))
        self.rule, self.place_rule = words.ref, places.ref
        self.parts = ChineseParts(lookup)
        self.gazetteer: Gazetteer = gazetteer()
        self._left = alternatives(words.labels["left"])
        self._protected = alternatives(words.labels["protected"])
        self._not_road = tuple(words.labels["not_road"])
        self._landmark = alternatives(places.labels["landmark"])
        self._behind = alternatives(context.labels["behind"])
        self._small = alternatives(context.labels["small"])
        self._nowhere = frozenset(context.labels["generic"])
        self._ambiguous = frozenset(places.labels["ambiguous"])
        self._city = lazy(places.patterns["city"])
        self._before = tuple(places.labels["place_before"])

    def find(self, text: str) -> Iterator[Edge]:
        """Addresses, places and parts of addresses that stand alone; of overlapping ones the longest will count."""
        exact = bytearray(len(text) + 1)  # characters of addresses with a number: no landmark may cut into them
        taken = bytearray(len(text) + 1)
        for draft in self._drafts(text):
            if any(taken[draft.start : draft.end]):
                continue
            edge = self._finish(text, draft)
            if edge is not None:
                taken[edge.start : edge.end] = b"\1" * (edge.end - edge.start)
                if {"number", "building", "unit"} & set(draft.parts):
                    exact[edge.start : edge.end] = b"\1" * (edge.end - edge.start)
                yield edge
        for reader in (self._branches, self._landmarks, self._abroad, self._by_context):
            for start, end in reader(text):
                if not any(exact[start:end]):
                    found = self._in_division(text, start, end) or self._block(text, start, end)
                    yield found or self._place(text, start, end)
        for name, pattern in (
            ("floor", self.parts.floor),
            ("room", self.parts.room),
            ("house_number", self.parts.number),
        ):
            for hit in pattern.finditer(text):
                yield Edge(name, *hit.span(), hit.group(), self.rule, weight=1)

    # ------------------------------------------------------------------ where an address may begin
    def _drafts(self, text: str) -> Iterator[Draft]:
        """Candidates from left to right: a run of divisions with what follows it, or a road with a number."""
        drafts: list[Draft] = []
        free = 0
        for at in self.gazetteer.chinese_places(text):
            if at < free:
                continue
            chain = self.gazetteer.chain(text, at, ends=self.parts.ends)
            if chain and self._may_begin(text, at, chain):
                draft = Draft(at, chain[-1].end, chain)
                self._extend(text, draft)
                drafts.append(draft)
                free = draft.end
        covered = bytearray(len(text))  # a mark a character: a list of spans would be searched once a hit
        for draft in drafts:
            covered[draft.start : draft.end] = b"\1" * (draft.end - draft.start)
        for hit in self.parts.road_end.finditer(text):
            if covered[hit.start()]:
                continue
            start = self._left_end(text, hit.start())
            if start < hit.start() and _START.match(text, start) and not self._is_no_road(text, start, hit.end()):
                draft = Draft(start, hit.end())
                end = self._road_end(text, start)
                draft.take("road", text[start:end], end)
                self._extend(text, draft)
                covered[draft.start : draft.end] = b"\1" * (draft.end - draft.start)
                drafts.append(draft)
        for pattern in (self.parts.building, self.parts.unit):
            for hit in pattern.finditer(text):
                if not covered[hit.start()]:
                    draft = Draft(hit.start(), hit.start())
                    self._extend(text, draft)
                    if len({"building", "unit"} & set(draft.parts)) == 2:
                        covered[draft.start : draft.end] = b"\1" * (draft.end - draft.start)
                        drafts.append(draft)
        return iter(sorted(drafts, key=lambda d: (d.start, -d.end)))

    def _may_begin(self, text: str, at: int, chain: tuple[Named, ...]) -> bool:
        """False for a short name that is more often something else: a county's alone, or an ambiguous city's."""
        first = chain[0]
        if len(chain) > 1 or (first.full and len(first.division.name) > 2):
            return True
        name = text[first.start : first.end]
        alone = not _WORD.search(text, 0, at) and not _WORD.search(text, first.end)
        if alone:
            return True
        if first.division.level == 2 or name in self._ambiguous:
            city = first.division.level < 2 or self._city.search(first.division.name) is not None
            return city and self._after_preposition(text, at)
        return True

    def _after_preposition(self, text: str, at: int) -> bool:
        return text[max(0, at - 4) : at].rstrip(" :").endswith(self._before)

    def _left_end(self, text: str, end: int) -> int:
        """Where the name that ends at ``end`` begins: after the nearest left word that is no piece of a name."""
        run = _NAME_RUN.search(text, max(0, end - _LONGEST_NAME), end)
        start = run.start() if run else end
        window = text[start:end]
        kept = [hit.span() for hit in self._protected.finditer(window)]
        cut = 0
        for hit in self._left.finditer(window):
            if not any(a < hit.end() and hit.start() < b for a, b in kept) and hit.end() < len(window):
                cut = hit.end()
        day = self.parts.day_before.match(text, start + cut, end)  # 3月5日|市场预算, 3月5日|国贸大厦见
        return day.end() if day else start + cut

    def _is_no_road(self, text: str, start: int, end: int) -> bool:
        name = text[start:end]
        if self.parts.weak_road.search(name):
            return not self.parts.number.match(text, end)
        return any(name.endswith(word) for word in self._not_road) and not self.parts.number.match(text, end)

    # ------------------------------------------------------------------ the parts
    def _extend(self, text: str, draft: Draft) -> None:
        """Read the parts after the divisions, each at most once, in whatever order they come."""
        while True:
            gap = _SEP.match(text, draft.end)
            at = gap.end() if gap else draft.end
            part = self._next(text, at, draft)
            if part is None:
                return
            name, end = part
            draft.take(name, text[at:end], end)

    def _next(self, text: str, at: int, draft: Draft) -> tuple[str, int] | None:
        have = draft.parts
        for name, pattern in (
            ("number", self.parts.number),
            ("building", self.parts.building),
            ("unit", self.parts.unit),
            ("unit", self.parts.floor),
            ("unit", self.parts.room),
        ):
            hit = pattern.match(text, at)
            again = name == "unit" or (name == "building" and at == draft.end)  # 5期12幢, 3楼302室
            if hit and (name not in have or again):
                if name == "number" and not {"road", "town", "poi"} & set(have) and not draft.chain:
                    continue
                if name == "number" and "poi" in have and "road" not in have and self.parts.building.match(text, at):
                    continue  # 幸福小区|3号楼
                return name, hit.end()
        bare = self.parts.room_alone.match(text, at)
        if bare and {"building", "unit"} & set(have) and at == draft.end:
            return "unit", bare.end()
        if {"building", "unit"} & set(have):
            return None
        options: list[tuple[int, str]] = []
        if "town" not in have and "road" not in have and draft.chain:
            end = self._town_end(text, at, draft.chain)
            if end:
                options.append((end, "town"))
        if "road" not in have and draft.chain:
            end = self._road_end(text, at)
            if end and not self._is_no_road(text, at, end):
                options.append((end, "road"))
        if "poi" not in have and (draft.chain or "number" in have):
            village = self.parts.village.match(text, at)
            if village and draft.chain:
                options.append((village.end(), "poi"))
            landmark = self._landmark_end(text, at)
            bare = None if landmark else self._landmark.match(text, at)
            if bare and draft.chain and len(bare.group()) > 2:  # 南山区|科技园: the only one there
                landmark = bare.end()
            if landmark:
                options.append((landmark, "poi"))
        if not options:
            return None
        end, name = min(options)
        return name, end

    def _town_end(self, text: str, at: int, chain: tuple[Named, ...]) -> int:
        for town in sorted(chain[-1].division.towns.split("|"), key=len, reverse=True):
            if town and text.startswith(town, at):
                return at + len(town)
        hit = self.parts.town.match(text, at)
        return hit.end() if hit else 0

    def _road_end(self, text: str, at: int) -> int:
        """The end of the road name that begins at ``at``: 新街|口外大街 is one name, since 口外 follows no road."""
        ends = []
        for hit in self.parts.road_end.finditer(text, at + 1, min(len(text), at + _LONGEST_NAME)):
            if self.parts.road_broken.search(text[at : hit.start()]):
                break
            ends.append(hit.end())
        for end in ends:
            rest = text[end : end + 4]
            if end != ends[-1] and self.parts.road_further.match(rest) and not self.parts.crossing.match(rest):
                continue
            tail = self.parts.road_tail.match(text, end)
            return tail.end() if tail else end
        return ends[-1] if ends else 0

    def _landmark_end(self, text: str, at: int) -> int:
        limit = min(len(text), at + 16)
        stop = self.parts.stop.search(text, at, limit)  # never the whole text: this is asked at every address
        limit = stop.start() if stop else limit
        ends = [hit.end() for hit in self._landmark.finditer(text, at + 1, limit)]
        if not ends:
            return 0
        end = ends[0]
        for further in ends[1:]:  # 管局|农贸市场 belongs to the landmark before it
            if further - end <= 6 and not self.parts.joining.search(text, end, further):
                end = further
        behind = self.parts.branch.match(text, end) or self.parts.exit.match(text, end)
        return behind.end() if behind else end

    # ------------------------------------------------------------------ what comes of a draft
    def _finish(self, text: str, draft: Draft) -> Edge | None:
        parts, chain = draft.parts, draft.chain
        exact = {"number", "building", "unit"} & set(parts)
        whole = not re.search(r"\w", text[: draft.start] + text[draft.end :])
        if "road" in parts and not chain and not exact:
            short = len(parts["road"]) < 3 or self.parts.weak_road.search(parts["road"])
            return None if short else self._place(text, draft.start, draft.end)
        if chain and not parts and len(chain) == 1 and not whole:
            return self._place(text, draft.start, draft.end)
        if not chain and "road" not in parts and not ({"building", "unit"} <= set(parts)):
            return None
        fields = {**self._admin(chain), **parts}
        value = AddressValue(**fields, full=text[draft.start : draft.end])
        return Edge("address", draft.start, draft.end, value, self.rule, weight=1, kind="address")

    def _admin(self, chain: tuple[Named, ...]) -> dict[str, str]:
        """Official names of the stated divisions and of those they lie in, when these are certain.

        So 浦东新区明月路100号 and 上海市浦东新区明月路100号 are one address; ``full`` keeps what was said.
        """
        found = {LEVELS[n.division.level]: n.division.name for n in chain}
        if chain and (len(chain) > 1 or len(self.gazetteer.divisions[chain[-1].division.name]) == 1):
            for level, parent in enumerate(chain[-1].division.parents):
                if parent:
                    found.setdefault(LEVELS[level], parent)
        return found

    def _landmarks(self, text: str) -> Iterator[tuple[int, int]]:
        for hit in self._landmark.finditer(text):
            start = self._left_end(text, hit.start())
            end = self._landmark_end(text, start) if start < hit.start() else 0
            if end and hit.end() <= end and not self.parts.no_name.search(text[start : hit.start()]):
                yield start, end

    def _in_division(self, text: str, start: int, end: int) -> Edge | None:
        """A landmark behind a division with its 区, 县 or 市 is an address: 西湖区|蒋村花园小区."""
        chain = self.gazetteer.chain(text, start, ends=self.parts.ends)
        if not chain or not chain[-1].full or chain[-1].end >= end or len(chain[-1].division.name) < 3:
            return None
        draft = Draft(start, end, chain, {"poi": text[chain[-1].end : end]})
        return self._finish(text, draft)

    def _block(self, text: str, start: int, end: int) -> Edge | None:
        """A landmark with a building behind it is an address: 幸福小区|3号楼. A floor alone leaves it a place."""
        draft = Draft(start, end, (), {"poi": text[start:end]})
        self._extend(text, draft)
        if "building" not in draft.parts:
            return None
        value = AddressValue(**draft.parts, full=text[start : draft.end])
        return Edge("address", start, draft.end, value, self.rule, weight=1, kind="address")

    def _branches(self, text: str) -> Iterator[tuple[int, int]]:
        """A shop with its branch: 格林豪泰(学清路店)."""
        for hit in self.parts.branch.finditer(text):
            start = self._left_end(text, hit.start())
            if start < hit.start() and not self.parts.no_name.search(text[start : hit.start()]):
                yield start, hit.end()

    def _by_context(self, text: str) -> Iterator[tuple[int, int]]:
        """Names of any form where the sentence says place: 从|老书虫|到|天兴居|打车, 去|雁栖湖."""
        ends = [hit.start() for hit in self._behind.finditer(text)]
        ends += [
            hit.start()
            for hit in self.parts.target.finditer(text)
            if self.parts.source.search(text, max(0, hit.start() - _LONGEST_FROM), hit.start())
        ]
        small = {hit.end() for hit in self._small.finditer(text)} - set(ends)
        for end in (*ends, *sorted(small)):
            start = self._left_end(text, end)
            name = text[start:end]
            if (
                not 2 <= len(name) <= 12
                or name in self._nowhere
                or self.parts.no_name.search(name)
                or self._left.fullmatch(name)
            ):
                continue
            if end in small and not (self._after_preposition(text, start) and len(name) > 2):
                continue
            if (
                self.parts.times.search(name)
                or self.parts.no_name_before.search(text, 0, start)
                or self.parts.asking.search(name)
            ):
                continue
            yield start, end

    def _abroad(self, text: str) -> Iterator[tuple[int, int]]:
        """Countries and large cities outside the Chinese tree."""
        for at in self.gazetteer.chinese_places(text):
            for name in self.gazetteer.chinese_at(text, at):
                if name in self.gazetteer.chinese_world and name not in self.gazetteer.divisions:
                    if name not in self._ambiguous or self._after_preposition(text, at):
                        yield at, at + len(name)
                    break

    def _place(self, text: str, start: int, end: int) -> Edge:
        return Edge("place", start, end, PlaceValue(name=text[start:end]), self.place_rule, weight=1, kind="place")
