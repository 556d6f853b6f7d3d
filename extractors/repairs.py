"""Self-repairs within one utterance: which words were taken back (reparandum) and which stand for them (repair)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .scopes import REACH, Layout, Masked, mentions_in

Pair = tuple[tuple[int, int] | None, tuple[int, int] | None]
_WORD = re.compile(r"[A-Za-z0-9][\w'’.-]*|[\u3400-\u9fff]|[\ue000-\ue0ff]")
_OPENERS = frozenset({"what", "who", "whom", "whose", "which", "when", "where", "why", "how"})
_WORDS = 160  # characters in which words are compared; a speaker repairs what was just said
_SENTENCES_BACK = 2  # "Budget is 50k. No wait, 40k.": farther back it is a correction, which bind resolves


def align(masked: Masked, layout: Layout, start: int, end: int, taken: Sequence[tuple[int, int]] = ()) -> Pair:
    """Reparandum and repair around an editing phrase at ``start:end``, in masked offsets; None where there is none.

    Mentions decide: the first one after the phrase replaces the nearest one of its kind before it. Where no mentions
    pair up, words do: a restart at a question word takes back everything, a repeated word everything since it was
    first said, otherwise the last word (in Chinese as many characters as the repair has). Words in ``taken``
    (other cues: the "No" of "No, I mean …") are nothing that could be taken back.
    """
    low = max(_back(layout, start), start - REACH)
    high = layout.sentence(max(start, end - 1))[1]
    if high <= end:
        high = layout.sentence(end)[1] if end < len(layout.text) else end
    high = min(high, end + REACH)
    before, after = mentions_in(masked, low, start), mentions_in(masked, end, high)
    for late in after:
        for early in reversed(before):
            if masked.text[early] == masked.text[late]:
                return (early, early + 1), (late, late + 1)
    begin = max(layout.sentence(max(start - 1, 0))[0], start - _WORDS)
    left = [hit.span() for hit in _WORD.finditer(layout.text, begin, start)]
    left = [span for span in left if not any(low <= span[0] and span[1] <= high for low, high in taken)]
    close = min(layout.clause(min(end, len(layout.text) - 1))[1], end + _WORDS)
    right = [hit.span() for hit in _WORD.finditer(layout.text, end, close)]
    if not right and end < high:
        right = [hit.span() for hit in _WORD.finditer(layout.text, end, min(high, end + _WORDS))]
    repair = (right[0][0], right[-1][1]) if right else None
    if not left or not right:
        return None, repair
    return _words(layout.text, left, right, start), repair


def _back(layout: Layout, start: int) -> int:
    low = layout.sentence(max(start - 1, 0))[0]
    for _ in range(_SENTENCES_BACK - 1):
        if low > 0:
            low = layout.sentence(low - 1)[0]
    return low


def _words(text: str, left: list[tuple[int, int]], right: list[tuple[int, int]], start: int) -> tuple[int, int]:
    first = text[slice(*right[0])].casefold()
    close = left[-1][1]
    if first in _OPENERS:
        return left[0][0], close
    for begin, end in reversed(left):
        if text[begin:end].casefold() == first:
            return begin, close
    # No anchor: the repair names one thing, so the last thing named goes.
    count = min(len(left), len(right), 4) if text[right[0][0]] >= "\u3400" else 1  # a Han character is no word
    begin = left[-count][0]
    comma = text.rfind(",", begin, left[-1][0])
    return (begin if begin > comma else left[-1][0]), close


def holds(masked: Masked, span: tuple[int, int] | None) -> tuple[int, ...]:
    """Indices of the mentions within a masked span."""
    if span is None:
        return ()
    return tuple(sorted(n for at in mentions_in(masked, *span) for n in masked.held[at]))
