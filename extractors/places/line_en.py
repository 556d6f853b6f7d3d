"""A whole text that is one English address, as a form field holds it: then capitals and commas are not needed."""

from __future__ import annotations

import re

from .parts_en import AddressParts, Draft
from .words_en import Word, past

_NO_LINE = re.compile(r"[?!€£$%]|[\u3400-\u9fff]")
_LONGEST_LINE = 24  # words
_LONGEST_BUILDING = 5
_LONGEST_NAME = 6  # words of one road of a crossing


class AddressLine:
    """Reads a line: what stands before the number, number, road, units, town, state, postcode, country."""

    def __init__(self, parts: AddressParts) -> None:
        self.parts, self.words = parts, parts.words

    def read(self, flat: str, words: list[Word]) -> Draft | None:
        """The address that the whole text is; None when it is something else."""
        if not 2 <= len(words) <= _LONGEST_LINE or _NO_LINE.search(flat):
            return None
        tail = self.parts.tail(flat, words, 0, len(words))
        stop = min((a for a, _ in tail.values()), default=len(words))
        while stop > 0 and words[stop - 1].text in {",", "("}:
            stop -= 1
        crossing = self._crossing(flat, words, stop, tail)
        if crossing is not None:
            return crossing
        if self._is_sentence(flat, words[: stop if "postcode" in tail else len(words)]):
            return None
        house = self._house(flat, words, stop)
        if not self._is_line(flat, words, stop, house, tail):
            return None
        draft = Draft(0, len(words), dict(tail))
        at = self._before(flat, words, house if house is not None else 0, draft)
        if house is None:
            at = self._opening_pieces(flat, words, at, stop, draft)
            at = self._name_before_road(flat, words, at, stop, draft)
            if self._names_road(flat, words, at, stop, draft):
                at = self.parts.number(words, at, stop, draft)
                at = self.parts.road(flat, words, at, stop, draft, strict=False)
        else:
            at = self.parts.number(words, at, stop, draft)
            at = self.parts.road(flat, words, at, stop, draft, strict=False)
            self._unit_of_road(words, draft)
        self._behind(flat, words, at, stop, draft)
        self.parts.state_is_city(flat, words, draft)
        kept = {"road", "poi", "city"} & set(draft.parts) or {"building", "unit"} <= set(draft.parts)
        return draft if kept else None

    # ------------------------------------------------------------------ is it one at all
    def _is_sentence(self, flat: str, words: list[Word]) -> bool:
        if any(w.low in self.words.sentence and w.text != w.text.upper() for w in words):
            return True
        colons = [at for at, char in enumerate(flat) if char == ":"]
        return bool(colons) and not self.words.recipient.search(flat, 0, colons[0] + 1)

    def _is_line(
        self, flat: str, words: list[Word], stop: int, house: int | None, tail: dict[str, tuple[int, int]]
    ) -> bool:
        if "postcode" in tail or ("province" in tail and len(words) > 3):
            return True
        if house is not None and (house == 0 or self._known_before(flat, words, house)):
            return self._has_street(words[house:])
        lead = self.parts.leads(flat, words, 0, stop)
        if lead and lead + 1 == stop and words[lead].low in self.words.direction:
            return True  # Highway 34 East
        first = self.parts.piece(flat, words, 0, len(words))
        if first is not None and first[0] == "poi":
            return True
        names = all(w.name or w.text in {",", "(", ")"} or w.low in self.words.small for w in words)
        if names and house is not None and self.parts.road_ahead(flat, words, house + 1, stop):
            return any(self.parts.piece(flat, words, i, stop) for i in range(house + 2, stop))
        road = any(w.low in self.words.street | self.words.direction for w in words[2:])
        pieces = sum(self.parts.piece(flat, words, i, stop) is not None for i in range(len(words)))
        return (first is not None and (road or pieces > 1)) or (
            pieces > 0 and any(w.low in self.words.building_name for w in words[:-1])
        )

    def _has_street(self, words: list[Word]) -> bool:
        """A street word, a direction or a unit behind the number and a name: 10 August 2012 has none."""
        if len(words) > 2 and words[1].low in self.words.direction:
            return True
        road = self.words.street | self.words.direction | self.words.unit
        return any(word.low in road for word in words[1 if len(words) > 3 else 2 :])

    def _known_before(self, flat: str, words: list[Word], house: int) -> bool:
        """What stands before the house number is an addressee, a unit, a building or another number of it."""
        if self.words.recipient.match(flat) or words[house - 1].text == ",":
            return True
        at = 0
        while at < house:
            piece = self.parts.piece(flat, words, past(words, at, house), house)
            if piece is None:
                return words[house - 1].low in self.words.named or self.words.fits("grid", words[at].text)
            at = past(words, piece[1], house)
        return True

    # ------------------------------------------------------------------ before the road
    def _house(self, flat: str, words: list[Word], stop: int) -> int | None:
        """The word that is the house number: the first with a street word behind it, else the first with less."""
        found: list[tuple[int, int]] = []
        at = 0
        while at + 1 < stop:
            piece = self.parts.piece(flat, words, at, stop)
            first = at == 0 and words[0].text[0] == "#"
            if piece and not (first and self.parts.road_ahead(flat, words, at + 1, stop) == 2):
                inner = self._house_inside(flat, words, at, piece[1], stop)
                if inner is None:
                    at = piece[1]
                    continue
                at = inner
            lead = self.parts.leads(flat, words, at, stop)
            if lead:  # the number of a highway is no house number
                at = lead
                continue
            number = self.parts.is_house(words, at) or first
            word = words[at].low in self.words.number_word and words[at].name and words[at + 1].name
            grid = self.words.fits("grid", words[at].text) and (self.words.fits("grid", words[at + 1].text) or at == 0)
            if (number or word or grid) and words[at + 1].text not in {",", ")"}:
                sure = self.parts.road_ahead(flat, words, at + 1, stop)
                if sure == 2 or (number and (at == 0 or sure or words[at - 1].text == ",")):
                    found.append((-sure if sure == 2 else 0, at))
            at += 1
        return min(found)[1] if found else None

    def _house_inside(self, flat: str, words: list[Word], at: int, end: int, stop: int) -> int | None:
        """A number that a building word seems to take and that opens a road: L & C Tower|401 Church Street."""
        named = words[at].low in self.words.building_name and at > 0 and words[at - 1].text != ","
        if (
            named
            and end == at + 2 < stop
            and self.parts.is_house(words, at + 1)
            and not self.parts.is_house(words, end)
        ):
            return at + 1 if self.parts.road_ahead(flat, words, end, stop) == 2 else None
        return None

    def _before(self, flat: str, words: list[Word], house: int, draft: Draft) -> int:
        """Flat, house name, box, department or addressee before the house number."""
        at = past(words, 0, house)
        while at < house:
            piece = self.parts.piece(flat, words, at, house)
            if piece is not None:
                draft.add(piece[0], at, piece[1])
                at = past(words, piece[1], house)
                continue
            end = self._stretch(flat, words, at, house)
            draft.add(self._kind(flat, words, at, end), at, end)
            at = past(words, end, house)
        return house

    def _opening_pieces(self, flat: str, words: list[Word], at: int, stop: int, draft: Draft) -> int:
        while at < stop:
            piece = self.parts.piece(flat, words, at, stop)
            if piece is None and self.words.recipient.match(flat, words[at].start):
                end = next((i for i in range(at, stop) if self.parts.box_end(flat, words, i, stop)), at)
                piece = ("poi", end) if end > at else None
            if piece is None:
                break
            draft.add(piece[0], at, piece[1])
            at = past(words, piece[1], stop)
        return at

    def _name_before_road(self, flat: str, words: list[Word], at: int, stop: int, draft: Draft) -> int:
        """A house name before a road without a number: Larch Opera House|, Bow Street, London."""
        end = self._stretch(flat, words, at, stop) if at < stop else stop
        begin = past(words, end, stop)
        if begin >= stop or words[end].text != "," or words[end - 1].low in self.words.strong:
            return at
        last = self._stretch(flat, words, begin, stop) - 1
        if (
            last <= begin
            or words[last].low not in self.words.strong
            or self.words.is_town(flat, words, begin, last + 1)
        ):
            return at
        draft.add("building" if words[end - 1].low in self.words.building else "poi", at, end)
        return begin

    def _kind(self, flat: str, words: list[Word], first: int, last: int) -> str:
        """A stretch that ends like the name of a building is one, any other an addressee or a landmark."""
        if self.words.recipient.match(flat, words[first].start):
            return "poi"
        if words[last - 1].low in self.words.direction and last - first > 2:
            last -= 1  # Alder Square|North
        return "building" if words[last - 1].low in self.words.named else "poi"

    def _is_landmark(self, words: list[Word], first: int, last: int) -> bool:
        """A name that ends like a site and no road: Church Street Station, Alder Mall, The Empire."""
        end = words[last - 1].low
        return (end in self.words.named and end not in self.words.strong) or words[first].low in self.words.small

    def _stretch(self, flat: str, words: list[Word], at: int, stop: int) -> int:
        """The end of the words up to a comma, bracket or part that announces itself."""
        end = at + 1
        while end < stop and words[end].text not in {",", "(", ")"}:
            if self.parts.piece(flat, words, end, stop) or self.words.recipient.match(flat, words[end].start):
                break
            end += 1
        return end

    def _names_road(self, flat: str, words: list[Word], at: int, stop: int, draft: Draft) -> bool:
        """False when only a town or a landmark is left: "Los Ojos, NM 87551", "Alder Mall, Yuma"."""
        if at >= stop:
            return False
        end = self._stretch(flat, words, at, stop)
        if self.parts.leads(flat, words, at, stop) or words[at].low in self.words.direction:
            return not self.words.is_town(flat, words, at, stop)
        if end == stop and self.words.is_town(flat, words, at, end):
            return False
        sure = self.parts.road_ahead(flat, words, at, end)
        if self._is_landmark(words, at, end) and not (sure == 2 and words[end - 1].low in self.words.strong):
            return False
        if sure == 2:
            return end < stop or not {"poi", "building"} & set(draft.parts)
        if {"poi", "building"} & set(draft.parts):
            return False
        return end < stop and words[end].text == ","

    # ------------------------------------------------------------------ behind the road
    def _unit_of_road(self, words: list[Word], draft: Draft) -> None:
        """A number at the end of a road without a street word is a unit: 203 N. Wabash|608."""
        first, last = draft.parts.get("road", (0, 0))
        inner = words[first:last]
        plain = last - first > 2 and words[last - 1].text.isdigit() and "unit" not in draft.parts
        plain = plain and words[last - 2].text.isalpha() and words[last - 2].low not in self.words.sign
        if plain and not any(w.low in self.words.street for w in inner):
            draft.parts["road"] = (first, last - 1)
            draft.parts["unit"] = (last - 1, last)

    def _behind(self, flat: str, words: list[Word], at: int, stop: int, draft: Draft) -> None:
        """Units, boxes, buildings, addressees and at the end the town."""
        left: list[tuple[int, int]] = []
        road = draft.parts.get("road")
        ends = not ({"province", "postcode"} & set(draft.parts))
        close = road is not None
        while (at := past(words, at, stop)) < stop:
            piece = self.parts.piece(flat, words, at, stop)
            if piece is not None:
                if left and piece[0] != "poi":
                    self._building(left.pop(), draft)
                draft.add(piece[0], at, piece[1])
                at = piece[1]
                close = True
                continue
            if close and "unit" not in draft.parts and not self._counted_building(flat, words, at, stop):
                unit = self.parts.bare_unit(flat, words, at, stop, ends=ends)
                if unit:
                    draft.parts["unit"] = (at, unit)
                    at, close = unit, False
                    continue
            close = False
            if self.words.recipient.match(flat, words[at].start):
                end = next(
                    (i for i in range(at + 1, stop)
                     if words[i].text == "," or self.parts.box_end(flat, words, i, stop)
                     or (not ends and self.words.is_town(flat, words, i, stop))), stop,
                )  # fmt: skip
                draft.add("poi", at, end)
                at = end
                continue
            end = self._stretch(flat, words, at, stop)
            further = self._further_road(words, at, end, draft)
            if further:  # River Rd|Liberty Grove Rd: one road of two names
                draft.parts["road"] = (draft.parts["road"][0], further)
                at = further
                continue
            left.append((at, end))
            at = end
        self._city(flat, words, left, draft)

    def _further_road(self, words: list[Word], at: int, end: int, draft: Draft) -> int:
        """The end of a second name of the road, right behind the first and with a street word of its own; else 0."""
        road = draft.parts.get("road")
        if road is None or road[1] != at or words[at - 1].low not in self.words.strong:
            return 0
        last = next((i for i in range(at + 1, min(end, at + 4)) if words[i].low in self.words.numbered), 0)
        return last + 1 if last and last + 1 < end else 0

    def _counted_building(self, flat: str, words: list[Word], at: int, stop: int) -> bool:
        """A number that begins the name of a building: 1 Alder Center."""
        end = self._stretch(flat, words, at, stop)
        return end - at > 2 and words[end - 1].low in self.words.named and words[at].text.isdigit()

    def _building(self, stretch: tuple[int, int], draft: Draft) -> None:
        if stretch[1] - stretch[0] <= _LONGEST_BUILDING and "building" not in draft.parts:
            draft.parts["building"] = stretch

    def _city(self, flat: str, words: list[Word], left: list[tuple[int, int]], draft: Draft) -> None:
        """Of the stretches that are left, the last that is a known town, else the last; a county stands behind it."""
        if not left:
            return
        known = [part for part in left if self.words.is_town(flat, words, *part)]
        first, last = known[-1] if known else left[-1]
        county = [part for part in left if words[part[1] - 1].low in self.words.county]
        if not known and (first, last) in county and len(left) > 1:
            first, last = left[left.index((first, last)) - 1]
        before = left[: left.index((first, last))]
        begin = first if known else self._town_begin(flat, words, first, last)
        if not known and "road" in draft.parts and self._is_building(words, first, last, draft):
            self._building((first, last), draft)
        else:
            draft.parts["city"] = (begin, last)
            if begin > first and any(w.low in self.words.named for w in words[first:begin]):
                before.append((first, begin))
        for part in before:
            if "road" in draft.parts or words[part[1] - 1].low in self.words.building:
                self._building(part, draft)
            elif "poi" not in draft.parts:
                draft.parts["poi"] = part

    def _is_building(self, words: list[Word], first: int, last: int, draft: Draft) -> bool:
        """The last stretch of a line without a state: "Peachtree Rd, Canterbury Court" names no town."""
        ends = not ({"province", "postcode"} & set(draft.parts))
        return ends and words[last - 1].low in self.words.named | self.words.strong and last - first > 1

    def _town_begin(self, flat: str, words: list[Word], first: int, last: int) -> int:
        """Where the town begins in a stretch that holds more: Ona West Industrial Park|Ona, ground lvl|Los Angeles."""
        begin = self.words.town_at_end(flat, words, first, last)
        ahead = [i for i in range(first + 1, last - 1) if words[i].low in self.words.named]
        if words[last - 1].low in self.words.civil:
            return first  # Bear Creek Twp
        if begin == last:
            return ahead[-1] + 1 if ahead and last - first > 3 else first
        kept = begin - first
        if kept == 1 and words[first].low.isalpha() and not ahead and words[first].low not in self.words.unit:
            part_of_name = words[first].low in self.words.prefixes | self.words.direction or last - begin == 1
            return first if part_of_name else begin
        return begin

    # ------------------------------------------------------------------ crossings
    def _crossing(self, flat: str, words: list[Word], stop: int, tail: dict[str, tuple[int, int]]) -> Draft | None:
        """Two roads that meet: "Corner of First and Larch Streets", "18th & Lincoln"; the road is both names."""
        if not tail and len(words) > 9:
            return None
        lead = self.words.crossing.match(flat)
        first = next((i for i in range(stop) if lead is None or words[i].start >= lead.end()), stop)
        meets = self.words.joint | self.words.crossed_by
        joint = next((i for i in range(first + 1, stop - 1) if words[i].low in meets), 0)
        comma = next((i for i in range(joint, stop) if words[i].text == ","), stop)
        if not joint or joint - first > _LONGEST_NAME or comma - joint - 1 > _LONGEST_NAME:
            return None
        if self.parts.is_house(words, first):
            return None
        one, two = words[first:joint], words[joint + 1 : comma]
        if any(w.low in self.words.sentence or not w.name or w.text in {",", "("} for w in (*one, *two)):
            return None
        roads = [self._is_road(side) for side in (one, two)]
        if words[joint].low in self.words.crossed_by and min(roads) < 2:
            return None  # Dinner at Elm Street
        if not (lead or tail or len(words) == comma - first) or not any(roads) or (max(roads) < 2 and not lead):
            return None
        draft = Draft(0, len(words), {**tail, "road": (first, comma)})
        rest = past(words, comma, stop)
        if rest < stop:
            draft.parts["city"] = (rest, stop)
        return draft

    def _is_road(self, side: list[Word]) -> int:
        """2 for a name with a street word or an ordinal alone (18th), 0 for anything else."""
        if self.words.fits("ordinal", side[-1].text):
            return 2 if len(side) == 1 else 1
        return 2 if len(side) > 1 and side[-1].low in self.words.strong else 0
