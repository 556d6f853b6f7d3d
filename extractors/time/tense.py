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


_CLAUSE = re.compile(r"[,.;!?\n。、]")
_CLAUSE_REACH = 40


@lru_cache(maxsize=64)
def _characters(words: tuple[str, ...]) -> re.Pattern[str]:
    """Any of the words, anywhere: Chinese has no gaps between them."""
    return re.compile("|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)))


def tells_what_was(words: tuple[str, ...], barred: tuple[str, ...], text: str, start: int, end: int) -> bool:
    """True when one of ``words`` follows the time in its clause (周五去了法院) and none of ``barred`` stands in it.

    A verb before the time, or a time that is an attribute, says nothing: 买了周五的票.
    """
    if not words or text.startswith("的", end):
        return False
    after = text[end : end + _CLAUSE_REACH]
    stop = _CLAUSE.search(after)
    after = after[: stop.start()] if stop else after
    if _characters(words).search(after) is None:
        return False
    before = _CLAUSE.split(text[max(0, start - _CLAUSE_REACH) : start])[-1]
    return not (barred and _characters(barred).search(f"{before} {after}"))


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
