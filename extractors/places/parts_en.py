"""The parts of an English address, each read from words: number, road, units, box, town, state, postcode, country."""

from __future__ import annotations

from dataclasses import dataclass, field

from .words_en import AddressWords, Word, past

_LONGEST_ROAD = 7  # words; longer ones are sentences
_LARGE = 500  # thousands of people: a city that ends an address without a comma or state
_TAIL = (("country", (4, 3, 2, 1)), ("postcode", (2, 1)), ("province", (3, 2, 1)), ("postcode", (2, 1)))


@dataclass
class Draft:
    """An address under construction over words ``first`` to ``last`` (exclusive)."""

    first: int
    last: int
    parts: dict[str, tuple[int, int]] = field(default_factory=dict)

    def add(self, name: str, first: int, last: int) -> None:
        """Add a part; a second one of a name joins the first when it follows it, else it is left out."""
        if name not in self.parts:
            self.parts[name] = (first, last)
        elif first - self.parts[name][1] <= 1:
            self.parts[name] = (self.parts[name][0], last)


class AddressParts:
    """Reads one part at a time; every reader takes words and a place and returns the place behind the part."""

    def __init__(self, words: AddressWords) -> None:
        self.words = words

    def tail(self, flat: str, words: list[Word], first: int, last: int) -> dict[str, tuple[int, int]]:
        """Country, postcode and state at the end of ``words[first:last]``, as ranges of words."""
        parts: dict[str, tuple[int, int]] = {}
        end = last
        for name, widths in _TAIL:
            while end > first and words[end - 1].text in {",", ")"}:
                end -= 1
            for width in widths:
                begin = end - width
                if name in parts or begin <= first or any(w.text == "," for w in words[begin:end]):
                    continue
                said = self.words.text(flat, words, begin, end)
                sure = "postcode" in parts or words[begin - 1].text == ","
                sure = sure or (said.isupper() and self._ends_with_town(flat, words, first, begin))
                found = self.words.is_part(name, said, at_end=end == last or bool(parts), sure=sure)
                if found or (name == "postcode" and width == 1 and self._lost_zero(flat, words, first, begin)):
                    parts[name] = (begin, end)
                    end = begin
                    break
        return parts

    def _lost_zero(self, flat: str, words: list[Word], first: int, at: int) -> bool:
        """True for four digits behind a state whose postcodes begin with 0: MA 1701."""
        if not self.words.fits("short_postcode", words[at].text):
            return False
        for begin in range(max(first, at - 2), at):
            state = self.words.text(flat, words, begin, at).rstrip(".")
            if state.lower() in self.words.zero_states and (len(state) > 2 or state.isupper()):
                return True
        return False

    def state_is_city(self, flat: str, words: list[Word], draft: Draft) -> None:
        """ "260 5th Av New York" is in the city of that name."""
        state = draft.parts.get("province")
        if state and not {"city", "postcode"} & set(draft.parts):
            name = self.words.text(flat, words, *state).lower().rstrip(".,")
            if len(name) > 2 and (name in self.words.gazetteer.towns or name in self.words.state_city):
                draft.parts["city"] = draft.parts.pop("province")

    def _ends_with_town(self, flat: str, words: list[Word], first: int, last: int) -> bool:
        """True when a comma and a known town stand before ``last``: ", Palm Coast|FL"."""
        comma = next((i for i in range(last - 1, first, -1) if words[i].text == ","), 0)
        return comma > 0 and self.words.is_town(flat, words, comma + 1, last)

    # ------------------------------------------------------------------ the house and the road
    def is_house(self, words: list[Word], at: int) -> bool:
        return self.words.fits("house", words[at].text) and not self.words.fits("ordinal", words[at].text)

    def road_ahead(self, flat: str, words: list[Word], at: int, stop: int) -> int:
        """How sure a road begins at ``at``: 2 with a street word, 1 with a site word or direction, 0 without."""
        sure = 0
        for i in range(at, min(stop, at + _LONGEST_ROAD)):
            if words[i].text in {",", "("} or (i > at and self.piece(flat, words, i, stop)):
                break
            if i > at + 1 and words[i - 1].low in self.words.named and self.is_house(words, i):
                break  # Granite Center|505 20th St: the number opens another road
            saint = words[i].low in self.words.saint and self.words.is_town(flat, words, i, stop)
            if words[i].low in self.words.strong and not saint and (i > at or self.leads(flat, words, i, stop)):
                return 2
            if i > at and saint:
                break
            if i == at and self.words.fits("ordinal", words[i].text):
                sure = 1
            if (i > at and words[i].low in self.words.street) or (i == at and words[i].low in self.words.direction):
                sure = 1
            if i == at and self.leads(flat, words, i, stop):
                return 2
        return sure

    def leads(self, flat: str, words: list[Word], at: int, stop: int) -> int:
        """The end of "Highway No 202" or "Avenue of the Americas" or "Rue de Jean" at ``at``; 0 when there is none."""
        lead = self.words.leading.match(flat, words[at].start) if at < stop else None
        if not lead:
            return 0
        after = next((i for i in range(at, stop) if words[i].start >= lead.end()), stop)
        numbered = self.road_number(words, after, stop)
        if numbered:
            return numbered
        end = after
        while end < stop and words[end].low in self.words.small:
            end += 1
        if end == after or end >= stop or words[end].text in {",", "("}:
            return 0
        return end + 1

    def number(self, words: list[Word], at: int, stop: int, draft: Draft, *, strict: bool = False) -> int:
        """The house number, with its half or letter: 16½, 4224 A, W211 N16601."""
        form = self.words.fits
        if at >= stop or form("ordinal", words[at].text):
            return at
        end = at
        if form("house", words[at].text) or (words[at].text[0] == "#" and not strict):
            end = at + 1
            if end < stop and form("half", words[end].text):
                end += 1
            lettered = end + 2 <= stop and form("house_letter", words[end].text) and not strict
            lettered = lettered and words[end].text.isupper() and words[end].low not in self.words.direction
            if lettered and words[end + 1].low not in self.words.street:
                end += 1
        elif not strict and end + 1 < stop and all(form("grid", w.text) for w in words[at : at + 2]):
            end = at + 2
        elif not strict and at + 2 < stop and (
            words[at].low in self.words.number_word or form("grid", words[at].text)
        ):  # fmt: skip
            end = at + 1
        if end == at:
            return at
        draft.parts["number"] = (at, end)
        return end + 1 if end < stop and words[end].text == "," else end

    def road(self, flat: str, words: list[Word], at: int, stop: int, draft: Draft, *, strict: bool) -> int:
        """The road from ``at``; without a street word it ends at a comma, a unit or where a known town begins."""
        begin = at
        while at < stop and words[at].low in self.words.direction and at + 1 < stop and words[at + 1].text != ",":
            at += 1
        lead = self.leads(flat, words, at, stop)
        if lead:
            return self.ends_road(flat, words, begin, lead, stop, draft)
        limit = min(stop, begin + _LONGEST_ROAD)
        if not strict and stop <= limit:
            limit = min(limit, self.town_begin(flat, words, at, stop, draft))
        end = at
        while end < limit and words[end].text not in {",", "(", ")"}:
            word = words[end]
            if end > at and self.piece(flat, words, end, stop):
                break
            if strict and not (word.name or word.low in self.words.small):
                break
            ordinal = self.words.fits("ordinal", word.text) and not strict  # in a sentence "July 14th" is a day
            street = end > at and (word.low in self.words.street or ordinal)
            if street and not self.goes_on(flat, words, end + 1, limit, stop):
                numbered = self.road_number(words, end + 1, stop) if word.low in self.words.numbered else 0
                return self.ends_road(flat, words, begin, numbered or end + 1, stop, draft)
            end += 1
        if strict or end == begin:
            return begin
        return self.ends_road(flat, words, begin, end, stop, draft)

    def goes_on(self, flat: str, words: list[Word], at: int, limit: int, stop: int) -> bool:
        """True when the road goes on behind the street word before ``at``: Ulster St Pkwy, Avalon Park East Blvd."""
        strong = words[at - 1].low in self.words.strong
        further = self.words.strong if strong else self.words.street
        if at < limit and words[at].low in self.words.saint and at + 1 < stop:
            rest = past(words, at + 1, stop)
            if not self.words.is_town(flat, words, rest, stop) and rest < stop and words[at].low != "ste":
                return False  # Raymond's Grant Trace|St. Simons Island
        if at < limit and words[at].low in further:
            return not self.words.is_town(flat, words, at, stop)
        if at + 1 < limit and words[at].low in self.words.direction and words[at + 1].low in further:
            return True
        weak = not strong and words[at - 1].low not in self.words.direction
        return (
            weak
            and any(  # Lake Cook|Forest Road: a street word a little further on, before any comma
                words[i].low in self.words.strong and words[i].low not in self.words.saint
                for i in range(at, min(limit, at + 3))
                if all(w.text != "," and not self.piece(flat, words, j, stop) for j, w in enumerate(words[at:i], at))
            )
        )

    def road_number(self, words: list[Word], at: int, stop: int) -> int:
        """The end of "No 202" or "116" or "VV" after Highway or County Road; 0 when there is none."""
        if at < stop and words[at].low in self.words.sign:
            at += 1
        if at >= stop or not self.words.fits("road_number", words[at].text):
            return 0
        said = words[at]
        letters = said.text.isalpha()
        if at + 1 < stop and words[at + 1].low in self.words.box_words:
            return 0  # Harting Road|PO Box 7
        if (letters and not said.text.isupper()) or said.low in self.words.announcing:
            return 0
        return 0 if letters and said.low in self.words.street else at + 1

    def ends_road(self, flat: str, words: list[Word], begin: int, end: int, stop: int, draft: Draft) -> int:
        """Close the road, with its direction unless that begins the town: Main St NW, but Elm St East Lansing."""
        if end < stop and words[end].low in self.words.after_road:
            end += 1
        after = end + 1 if end < stop and words[end].text == "," else end
        if after < stop and words[after].low in self.words.direction:
            plain = len(words[after].low)
            town = self.words.is_town(flat, words, after, stop)
            last = (
                after + 1 == stop
                or words[after + 1].text == ","
                or self.piece(flat, words, after + 1, stop) is not None
            )
            pair = after + 1 < stop and plain == len(words[after + 1].low) == 1
            pair = pair and words[after + 1].low in self.words.direction
            if pair and after == end:
                end = after + 2
            elif plain == 2 or plain > 5 or last or (after == end and not town and (plain == 1 or end - begin > 1)):
                end = after + 1 if after == end or plain == 2 or last else end
        draft.parts["road"] = (begin, end)
        return end

    def town_begin(self, flat: str, words: list[Word], begin: int, stop: int, draft: Draft) -> int:
        """Where the longest known town before the state begins; without one or a street word, the last word."""
        known = {"province", "postcode"} & set(draft.parts)
        street = self.words.street
        for first in range(begin + 1, stop):
            if any(w.text == "," for w in words[first:stop]):
                continue
            sure = known or any(w.low in street for w in words[begin + 1 : first])
            if sure and self.words.is_town(flat, words, first, stop):
                return first
        if not known and begin and words[begin - 1].low in self.words.direction:
            large = self.words.gazetteer.english
            for first in range(begin + 1, stop):  # 7 N. Wells|Chicago
                if large.get(self.words.text(flat, words, first, stop).lower(), 0) >= _LARGE:
                    return first
        if not known or any(w.low in street or w.text == "," for w in words[begin + 1 : stop]):
            return stop
        last = stop - 1
        if last - 1 > begin and words[last - 1].low in self.words.prefixes:
            last -= 1
        return max(last, begin + 1)

    # ------------------------------------------------------------------ boxes, units, buildings
    def piece(self, flat: str, words: list[Word], at: int, stop: int) -> tuple[str, int] | None:
        """The part that its own word announces at ``at``, and where it ends: a box, a code, a unit, a building."""
        box = self.box_end(flat, words, at, stop)
        if box:
            return "poi", box
        code = self.words.code.match(flat, words[at].start)
        if code:
            after = next((i for i in range(at, stop) if words[i].start >= code.end()), stop)
            end = next(
                (e for e in range(min(stop, after + 2), after, -1)
                 if self.words.fits("code", self.words.text(flat, words, after, e))
                 and not (e - after == 2 and words[after].text[0].isdigit() and self.road_ahead(flat, words, e, stop))),
                0,
            )  # fmt: skip
            if end:
                return "building", end
        unit = self.one_unit(flat, words, at, stop)
        if unit:
            return ("building" if words[at].low in self.words.building else "unit"), unit
        return None

    def box_end(self, flat: str, words: list[Word], at: int, stop: int) -> int:
        """The end of "PO Box 12" or "RR 4, Box 164 A" at ``at``; 0 when there is none."""
        end = at
        while end < stop:
            hit = self.words.box.match(flat, words[end].start)
            if not hit:
                if end == at and self.boxed_route(words, at, stop):
                    end += 2
                    continue
                break
            after = next((i for i in range(end, stop) if words[i].start >= hit.end()), stop)
            if after >= stop or not self.words.fits("box_number", words[after].text):
                break
            if words[after].text.isalpha() and not words[after].text.isupper():
                break
            end = after + 1
            further = end < stop and len(words[end].text) == 1 and words[end].text.isalpha()
            if further and not self.words.box.match(flat, words[end].start):
                end += words[end].low not in self.words.direction
            if (
                end < stop
                and words[end].text == ","
                and self.words.box.match(flat, words[min(end + 1, stop - 1)].start)
            ):
                end += 1
        return end if end > at else 0

    def boxed_route(self, words: list[Word], at: int, stop: int) -> bool:
        """A route with its box: RT 1|BOX 81."""
        return (
            at + 2 < stop and words[at].low in self.words.numbered and words[at + 1].text.isdigit()
            and words[at + 2].low in self.words.box_words
        )  # fmt: skip

    def takes_id(self, words: list[Word], at: int, stop: int) -> bool:
        after = at + 1
        if after < stop and words[after].low in self.words.sign:
            after += 1
        if after >= stop or self.words.fits("ordinal", words[after].text):
            return False
        return self.words.fits("unit", words[after].text)

    def one_unit(self, flat: str, words: list[Word], at: int, stop: int) -> int:
        """The end of one unit that begins at ``at``, or 0: "Apt 3", "# APT 200", "6th Floor", "Suite100", "Rear"."""
        word, form = words[at], self.words.fits
        if word.text.startswith("#") and word.low.lstrip("# ") in self.words.unit and self.takes_id(words, at, stop):
            return at + 2
        if (word.text.startswith("#") and form("unit", word.text) and len(word.text) > 1) or form(
            "glued_unit", word.text
        ):
            return self.with_side(words, at + 1, stop)
        floor = at + 1 < stop and words[at + 1].low in self.words.floor
        if floor and (
            form("ordinal", word.text) or word.low in self.words.ordinal_word or word.low in self.words.alone
            or (word.text.isdigit() and len(word.text) < 3 and not self.takes_id(words, at + 1, stop))
        ):  # fmt: skip
            return at + 2
        if word.low in self.words.alone and (at + 1 == stop or words[at + 1].text == ","):
            return at + 1
        if word.low in self.words.sign and at + 1 < stop and form("bare_unit", words[at + 1].text):
            return at + 2
        if word.low not in self.words.unit | self.words.building or not self.takes_id(words, at, stop):
            return 0
        end = at + 2
        if words[at + 1].low in self.words.sign:
            end += 1
        letter = end < stop and len(words[end].text) == 1 and words[end].text.isalpha()
        if letter and words[end].low not in self.words.direction and not self.words.box.match(flat, words[end].start):
            end += 1
        return end

    def with_side(self, words: list[Word], end: int, stop: int) -> int:
        """The place behind a direction that ends the line: # 3|South."""
        return end + 1 if end + 1 == stop and words[end].low in self.words.direction else end

    def bare_unit(self, flat: str, words: list[Word], at: int, stop: int, *, ends: bool) -> int:
        """The end of a unit without a word, right behind the road: Court|B, Drive|6, Street|C1S, Avenue|LH."""
        said = words[at]
        if self.words.fits("bare_unit", said.text) and not self.words.fits("ordinal", said.text):
            if self.road_ahead(flat, words, at + 1, stop) == 2:
                return 0
            letter = at + 1 < stop and len(words[at + 1].text) == 1 and words[at + 1].text.isalpha()
            if letter and (at + 2 == stop or words[at + 2].text == ","):
                return at + 2
            return self.with_side(words, at + 1, stop)
        if not (said.text.isalpha() and said.text.isupper() and len(said.text) <= 2):
            return 0
        if len(said.text) == 1:
            return at + 1 if said.low not in self.words.direction else 0
        alone = at + 1 == stop and ends
        return at + 1 if alone and said.low not in self.words.direction | self.words.street else 0
