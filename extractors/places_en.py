"""English places: countries, states and large cities that a sentence treats as places."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..values import PlaceValue
from .chart import Edge
from .gazetteer import gazetteer
from .recognizer import Lookup


class EnglishPlaces:
    """Finds places in normalised text; the ambiguous ones only after a word such as "in"."""

    def __init__(self, lookup: Lookup) -> None:
        places, regions = lookup("words.place.en"), lookup("words.region.en")
        self.rule = places.ref
        before = "|".join(map(re.escape, sorted(places.labels["before"])))
        self._before = re.compile(rf"(?:{before})(?: the)?[ :]*$")
        self._ambiguous = frozenset(places.labels["ambiguous"])
        self._regions = frozenset(regions.labels["region"])
        self._countries = frozenset(regions.labels["country"])
        self.gazetteer = gazetteer()

    def find(self, flat: str, lower: str) -> Iterator[Edge]:
        """The places of a text in its order."""
        for start, end in self._places(flat, lower):
            yield Edge("place", start, end, PlaceValue(name=flat[start:end]), self.rule, weight=1, kind="place")

    def _places(self, flat: str, lower: str) -> Iterator[tuple[int, int]]:
        at = 0
        for hit in re.finditer(r"(?<![\w@./'-])[^\W\d_]", lower):
            if hit.start() < at:
                continue
            for name in self.gazetteer.english_at(lower, hit.start()):
                if self._counts(name, flat, lower, hit.start()):
                    at = self._with_region(flat, lower, hit.start() + len(name))
                    yield hit.start(), at
                    break

    def _counts(self, name: str, flat: str, lower: str, at: int) -> bool:
        if len(name) < 3:
            return False
        said = flat[at : at + len(name)]
        after = self._before.search(lower, max(0, at - 24), at) is not None
        capital = all(
            word[:1].isupper() for word in re.split(r"[ -]", said) if word not in {"of", "and", "the", "upon"}
        )
        size = max(place.population for place in self.gazetteer.english[name])
        firm = " " in name or name not in self._ambiguous
        known = any(place.kind != "city" for place in self.gazetteer.english[name])
        if capital:
            return (firm and (size >= 100 or known or after)) or after
        return after and firm and (size >= 100 or known)

    def _with_region(self, flat: str, lower: str, end: int) -> int:
        """``Portland, OR`` and ``London, England`` are one place."""
        hit = re.match(r", ?([A-Za-z.]+(?: [A-Z][a-z]+)?)(?![\w])", flat[end:])
        if not hit:
            return end
        for said in (hit.group(1), hit.group(1).split(" ")[0]):
            low = said.lower().rstrip(".")
            region = (
                low in self.gazetteer.states
                or low in self.gazetteer.countries
                or low in self._regions
                or low in self._countries
            )
            if region and (said.isupper() or (len(low) > 2 and said[:1].isupper())):
                return end + hit.start(1) + len(said.rstrip("."))
        return end
