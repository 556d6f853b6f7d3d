"""Word lists as one pattern: longest word first, letters with word boundaries, Chinese without."""

from __future__ import annotations

import re
from collections.abc import Iterable


def alternatives(words: Iterable[str], *, ignore_case: bool = True) -> re.Pattern[str]:
    """A pattern that matches any of ``words``; an empty list matches nowhere."""
    parts = [_spelled(word) for word in sorted(words, key=lambda w: (-len(w), w))]
    return re.compile("|".join(parts) or r"(?!)", re.IGNORECASE if ignore_case else 0)


def _spelled(word: str) -> str:
    head = r"(?<![A-Za-z])" if word[:1].isascii() and word[:1].isalnum() else ""
    tail = r"(?![A-Za-z])" if word[-1:].isascii() and word[-1:].isalnum() else ""
    return head + re.escape(word).replace(r"\ ", r"\s+") + tail
