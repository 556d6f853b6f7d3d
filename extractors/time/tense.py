"""Whether a clause speaks of the past, by the words that the time policy of its language lists."""

from __future__ import annotations

import re
from functools import lru_cache

_REACH = 80  # characters before the time; a verb stands nearer
_BREAK = re.compile(r"[.;!?\n](?: |$)|[;\n]")


@lru_cache(maxsize=64)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Any of the words, as words."""
    return re.compile(
        r"\b(?:" + "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)) + r")\b", re.I
    )


def speaks_of_past(words: tuple[str, ...], not_after: tuple[str, ...], text: str, start: int) -> bool:
    """True when one of ``words`` stands before ``start`` in the same sentence, and none of ``not_after`` does."""
    if not words:
        return False
    before = text[max(0, start - _REACH) : start]
    ends = [gap.end() for gap in _BREAK.finditer(before)]
    before = before[ends[-1] :] if ends else before
    if not before or _pattern(words).search(before) is None:
        return False
    return not (not_after and _pattern(not_after).search(before))
