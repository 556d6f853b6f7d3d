"""Addresses and places: the recogniser that asks the Chinese and the English readers, and the parts they expose."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .parsing.chart import Edge
from .places.chinese import ChineseAddresses
from .places.english import EnglishAddresses
from .places.towns_en import EnglishPlaces
from .recognizer import Lookup, Setting, as_written, named_as_written, recognizer
from .text import Normalized

_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN = re.compile(r"[A-Za-z]")
_DIGIT = re.compile(r"\d")


class Addresses:
    """All readers over one text: a Chinese sentence may hold an English address."""

    def __init__(self, lookup: Lookup) -> None:
        self._chinese = ChineseAddresses(lookup)
        self._english = EnglishAddresses(lookup)
        self._places = EnglishPlaces(lookup)

    def recognise(self, text: Normalized, setting: Setting) -> Iterable[Edge]:
        """Mentions of kind address and place; parts ``floor``, ``room`` and ``house_number``."""
        flat = text.text
        if _HAN.search(flat):
            written = as_written(text)
            yield from (named_as_written(edge, flat, written) for edge in self._chinese.find(flat))
        if _LATIN.search(flat):
            if _DIGIT.search(flat) or self._english.opens(flat):
                yield from self._english.find(flat)
            yield from self._places.find(flat, text.lower)


@recognizer(
    "addresses",
    "words.address.zh",
    "words.address.parts.zh",
    "words.place.zh",
    "words.place.context.zh",
    "words.address.en",
    "words.address.line.en",
    "words.place.en",
    "words.region.en",
    "words.person.not.en",
)
def _addresses(lookup: Lookup) -> Addresses:
    return Addresses(lookup)
