"""Word lists as patterns: longest word first, letters with word boundaries, Chinese without."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import re2


def alternatives(words: Iterable[str], *, ignore_case: bool = True) -> re.Pattern[str]:
    """A pattern that matches any of ``words``; an empty list matches nowhere."""
    parts = [_spelled(word) for word in sorted(words, key=lambda w: (-len(w), w))]
    return re.compile("|".join(parts) or r"(?!)", re.IGNORECASE if ignore_case else 0)


def _spelled(word: str) -> str:
    head = r"(?<![A-Za-z])" if word[:1].isascii() and word[:1].isalnum() else ""
    tail = r"(?![A-Za-z])" if word[-1:].isascii() and word[-1:].isalnum() else ""
    return head + re.escape(word).replace(r"\ ", r"\s+") + tail


class Words:
    """A long word list over whole texts: one linear pass of re2 tells most texts that none of the words occurs."""

    def __init__(self, words: Iterable[str]) -> None:
        listed = sorted(words, key=lambda w: (-len(w), w))
        self._words = alternatives(listed)
        self._any = re2.compile("(?i)" + "|".join(r"\s+".join(map(re.escape, word.split(" "))) for word in listed))

    def find(self, text: str) -> Iterator[re.Match[str]]:
        """The words in a text, from left to right."""
        if self._any.search(text):
            yield from self._words.finditer(text)

    def occurs(self, text: str) -> bool:
        """False when certainly none of the words is in the text."""
        return self._any.search(text) is not None
