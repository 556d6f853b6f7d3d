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

_NUM = r"(?:[0-9]{1,5}|[一二三四五六七八九十百零〇]{1,5})"
_SEP = lazy(r"[ ,·]{0,2}")
_HAN = r"[\u4e00-\u9fff]"
# Ends of a part; the name before them is found from the left end of the previous part, or by the left words.
_TOWN = lazy(
    rf"((?:(?![路街巷号弄]){_HAN}){{1,7}}?(?:街道办事处|街道|办事处|镇|乡|苏木|开发区|新区))(?![长政村上下里间])"
)
_VILLAGE = lazy(
    rf"((?:(?![路街巷号弄]){_HAN}){{1,8}}?(?:村委会|居委会|社区|村|屯)(?:{_NUM}(?:组|社|队))?)(?![镇上下里间长民])"
)
_ROAD_END = lazy(r"大道|大街|公路|环路|支路|胡同|路|街|巷|道|弄堂")
_ROAD_TAIL = lazy(rf"(?:[东西南北中]|{_NUM})段|[东西南北中]?[一二三四五六七八九十0-9]*(?:支路|支弄|弄(?!\d))|步行街")
_NUMBER = lazy(
    rf"第?(?:[A-Za-z]?{_NUM}(?:[-/之]{_NUM})*(?:号(?:院|大院|楼(?!\d)|门)?|弄)(?:\d+号)?)(?!码|线|令|文|高|地铁)"
)
_BUILDING = lazy(rf"(?:[A-Za-z]|[A-Za-z]?{_NUM}|[东西南北主附裙])(?:号楼|号?栋|幢|座|#楼?|期|区)(?![一-龥]?桥)")
_UNIT = lazy(rf"{_NUM}(?:单元|门(?!牌))")
_FLOOR = lazy(
    rf"(?:负|地下|B)?{_NUM}(?:楼|层)(?![盘房道市])|(?<![A-Za-z])[BF]\d{{1,2}}(?![0-9A-Za-z])|\d{{1,2}}F(?![A-Za-z])"
)
_ROOM = lazy(rf"[A-Za-z]?(?:\d{{1,5}}(?:-\d{{1,4}}){{0,2}}|{_NUM})(?:室|房间|号房|号铺|号室|房(?!产|租|价|款|东))")
_BARE_ROOM = lazy(r"[A-Za-z]?\d{3,4}(?![0-9A-Za-z.%]|[元万亿个人年月日号块平套米])")
_AFTER_ROAD = lazy(
    rf"$|[\s,。;!?、()\"]|第?[A-Za-z]?{_NUM}(?:[-/之]{_NUM})*(?:号|弄|#)|[与和及的附旁口上近交有吗呢吧]|[东西南北]?(?:路|街)?口|[东西南北]侧|{_HAN}{{2,10}}"
)
_JOINING = lazy(r"[到至和与及去在从的]")  # 红砖美术馆|到|鑫方圆饭店 are two
_BRANCH = lazy(r"\([^()]{1,14}(?:店|馆|院|区|楼|分行|支行|校区)\)")
_START = lazy(rf"{_HAN}|[A-Za-z0-9]")
# A stretch from one time to another is no way from one place to another.
_TIMES = lazy(
    rf"{_NUM}个?(?:点|时|分|号|日|月|年|天|小时|周|岁|元|万|%)|^[今明昨后前本下上去][天日年月周早晚]|[早晚]上|[上下中]午|周[一二三四五六日天末]|星期|[0-9]"
)
_WORD = re.compile(r"\w")
_STOP = lazy(r"[\s,。;!?、的]")
_NOT_NAMES = lazy(r"^[这那某哪什几每各该此本其有无没多大小好]|[的了吗呢吧啊在是和与或下]$")


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
        self.gazetteer: Gazetteer = gazetteer()
        self._left = alternatives(words.labels["left"])
        self._protected = alternatives(words.labels["protected"])
        self._not_road = tuple(words.labels["not_road"])
        self._landmark = alternatives(places.labels["landmark"])
        self._behind = alternatives(context.labels["behind"])
        self._small = alternatives(context.labels["small"])
        self._nowhere = frozenset(context.labels["generic"])
        self._ambiguous = frozenset(places.labels["ambiguous"])
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
                    yield self._in_division(text, start, end) or self._place(text, start, end)
        for name, pattern in (("floor", _FLOOR), ("room", _ROOM), ("house_number", _NUMBER)):
            for hit in pattern.finditer(text):
                yield Edge(name, *hit.span(), hit.group(), self.rule, weight=1)

    # ------------------------------------------------------------------ where an address may begin
    def _drafts(self, text: str) -> Iterator[Draft]:
        """Candidates from left to right: a run of divisions with what follows it, or a road with a number."""
        drafts: list[Draft] = []
        at = 0
        while at < len(text):
            chain = self.gazetteer.chain(text, at)
            if chain and self._may_begin(text, at, chain):
                draft = Draft(at, chain[-1].end, chain)
                self._extend(text, draft)
                drafts.append(draft)
                at = draft.end
                continue
            at += 1
        covered = bytearray(len(text))  # a mark a character: a list of spans would be searched once a hit
        for draft in drafts:
            covered[draft.start : draft.end] = b"\1" * (draft.end - draft.start)
        for hit in _ROAD_END.finditer(text):
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
        for pattern in (_BUILDING, _UNIT):
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
            city = first.division.level < 2 or first.division.name.endswith("市")
            return city and self._after_preposition(text, at)
        return True

    def _after_preposition(self, text: str, at: int) -> bool:
        return text[max(0, at - 4) : at].rstrip(" :").endswith(self._before)

    def _left_end(self, text: str, end: int) -> int:
        """Where the name that ends at ``end`` begins: after the nearest left word that is no piece of a name."""
        start = end
        while start > 0 and end - start < 14 and re.match(rf"{_HAN}|[A-Za-z0-9·]", text[start - 1]):
            start -= 1
        window = text[start:end]
        kept = [hit.span() for hit in self._protected.finditer(window)]
        cut = 0
        for hit in self._left.finditer(window):
            if not any(a < hit.end() and hit.start() < b for a, b in kept) and hit.end() < len(window):
                cut = hit.end()
        return start + cut

    def _is_no_road(self, text: str, start: int, end: int) -> bool:
        name = text[start:end]
        if name.endswith("道") and not name.endswith("大道"):
            return not _NUMBER.match(text, end)
        return any(name.endswith(word) for word in self._not_road) and not _NUMBER.match(text, end)

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
            ("number", _NUMBER),
            ("building", _BUILDING),
            ("unit", _UNIT),
            ("unit", _FLOOR),
            ("unit", _ROOM),
        ):
            hit = pattern.match(text, at)
            if hit and not (name in have and name != "unit"):
                if name == "number" and not {"road", "town", "poi"} & set(have) and not draft.chain:
                    continue
                return name, hit.end()
        bare = _BARE_ROOM.match(text, at)
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
            village = _VILLAGE.match(text, at)
            if village and draft.chain:
                options.append((village.end(), "poi"))
            landmark = self._landmark_end(text, at)
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
        hit = _TOWN.match(text, at)
        return hit.end() if hit else 0

    def _road_end(self, text: str, at: int) -> int:
        """The end of the road name that begins at ``at``: 新街|口外大街 is one name, since 口外 follows no road."""
        ends = []
        for hit in _ROAD_END.finditer(text, at + 1, min(len(text), at + 14)):
            if re.search(r"[\s,。;!?、()]|\d号", text[at : hit.start()]):
                break
            ends.append(hit.end())
        for end in ends:
            rest = text[end : end + 4]
            if (
                end != ends[-1]
                and re.match(rf"{_HAN}{{1,3}}(?:路|街|道|巷)", rest)
                and not re.match(r"与|和|及|交", rest)
            ):
                continue
            tail = _ROAD_TAIL.match(text, end)
            return tail.end() if tail else end
        return ends[-1] if ends else 0

    def _landmark_end(self, text: str, at: int) -> int:
        limit = min(len(text), at + 16)
        stop = _STOP.search(text, at, limit)  # never the whole text: this is asked at every address
        limit = stop.start() if stop else limit
        ends = [hit.end() for hit in self._landmark.finditer(text, at + 1, limit)]
        if not ends:
            return 0
        end = ends[0]
        for further in ends[1:]:  # 管局|农贸市场 belongs to the landmark before it
            if further - end <= 6 and not _JOINING.search(text, end, further):
                end = further
        branch = _BRANCH.match(text, end)
        return branch.end() if branch else end

    # ------------------------------------------------------------------ what comes of a draft
    def _finish(self, text: str, draft: Draft) -> Edge | None:
        parts, chain = draft.parts, draft.chain
        exact = {"number", "building", "unit"} & set(parts)
        whole = not re.search(r"\w", text[: draft.start] + text[draft.end :])
        if "road" in parts and not chain and not exact:
            short = len(parts["road"]) < 3 or parts["road"][-1] in "道"
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
            if end and hit.end() <= end and not _NOT_NAMES.search(text[start : hit.start()]):
                yield start, end

    def _in_division(self, text: str, start: int, end: int) -> Edge | None:
        """A landmark behind a division with its 区, 县 or 市 is an address: 西湖区|蒋村花园小区."""
        chain = self.gazetteer.chain(text, start)
        if not chain or not chain[-1].full or chain[-1].end >= end or len(chain[-1].division.name) < 3:
            return None
        draft = Draft(start, end, chain, {"poi": text[chain[-1].end : end]})
        return self._finish(text, draft)

    def _branches(self, text: str) -> Iterator[tuple[int, int]]:
        """A shop with its branch: 格林豪泰(学清路店)."""
        for hit in _BRANCH.finditer(text):
            start = self._left_end(text, hit.start())
            if start < hit.start() and not _NOT_NAMES.search(text[start : hit.start()]):
                yield start, hit.end()

    def _by_context(self, text: str) -> Iterator[tuple[int, int]]:
        """Names of any form where the sentence says place: 从|老书虫|到|天兴居|打车, 去|雁栖湖."""
        ends = [hit.start() for hit in self._behind.finditer(text)]
        ends += [
            hit.start() for hit in re.finditer(r"[到至]", text) if "从" in text[max(0, hit.start() - 14) : hit.start()]
        ]
        small = {hit.end() for hit in self._small.finditer(text)} - set(ends)
        for end in (*ends, *sorted(small)):
            start = self._left_end(text, end)
            name = text[start:end]
            if (
                not 2 <= len(name) <= 12
                or name in self._nowhere
                or _NOT_NAMES.search(name)
                or self._left.fullmatch(name)
            ):
                continue
            if end in small and not (self._after_preposition(text, start) and len(name) > 2):
                continue
            if (
                _TIMES.search(name)
                or text[start - 1 : start] in {"的", "是", "有"}
                or any(word in name for word in ("什么", "多少", "怎么", "哪"))
            ):
                continue
            yield start, end

    def _abroad(self, text: str) -> Iterator[tuple[int, int]]:
        """Countries and large cities outside the Chinese tree."""
        for at in range(len(text) - 1):
            for name in self.gazetteer.chinese_at(text, at):
                if name in self.gazetteer.chinese_world and name not in self.gazetteer.divisions:
                    if name not in self._ambiguous or self._after_preposition(text, at):
                        yield at, at + len(name)
                    break

    def _place(self, text: str, start: int, end: int) -> Edge:
        return Edge("place", start, end, PlaceValue(name=text[start:end]), self.place_rule, weight=1, kind="place")
