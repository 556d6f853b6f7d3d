"""Addresses and places: the recogniser that asks the Chinese and the English reader, and the parts they expose."""

from __future__ import annotations

from collections.abc import Iterable

from .addresses_en import EnglishAddresses
from .addresses_zh import ChineseAddresses
from .chart import Edge
from .recognizer import Lookup, Setting, recognizer
from .text import Normalized


class Addresses:
    """Both readers over one text: a Chinese sentence may hold an English address."""

    def __init__(self, lookup: Lookup) -> None:
        self._chinese = ChineseAddresses(lookup)
        self._english = EnglishAddresses(lookup)

    def recognise(self, text: Normalized, setting: Setting) -> Iterable[Edge]:
        """Mentions of kind address and place; parts ``floor``, ``room`` and ``house_number``."""
        if any("\u3400" <= char <= "\u9fff" for char in text.text):
            yield from self._chinese.find(text.text)
        if any(char.isascii() and char.isalpha() for char in text.text):
            yield from self._english.find(text, setting)


@recognizer("addresses", "words.address.zh", "words.place.zh", "words.address.en", "words.place.en")
def _addresses(lookup: Lookup) -> Addresses:
    return Addresses(lookup)
