"""People and organisations: the recogniser that asks the Chinese and the English reader, and the hints of a model."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .names import chinese, english
from .parsing.chart import Edge
from .recognizer import Lookup, Setting, as_written, named_as_written, recognizer
from .text import Normalized

_HAN = re.compile(r"[\u3400-\u9fff]")
_CAPITAL = re.compile(r"[A-Z]")


class Entities:
    """Both readers over one text: a Chinese sentence may name an English firm."""

    def __init__(self, lookup: Lookup) -> None:
        self._chinese = chinese.ChineseNames(lookup)
        self._english = english.EnglishNames(lookup)

    def recognise(self, text: Normalized, setting: Setting) -> Iterable[Edge]:
        """Mentions of kind person and organization."""
        flat = text.text
        chinese = _HAN.search(flat) is not None
        if chinese:
            written = as_written(text)
            yield from (named_as_written(edge, flat, written) for edge in self._chinese.find(flat, setting.hints))
        if _CAPITAL.search(flat):
            yield from self._english.find(flat, () if chinese else setting.hints, setting.tables)


@recognizer("entities", *chinese.VOCABULARIES, *english.VOCABULARIES)
def _entities(lookup: Lookup) -> Entities:
    return Entities(lookup)
