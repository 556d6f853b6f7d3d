"""Which sentence frames can occur in a turn at all: each has words that it cannot do without."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import re2

from ..extractors.words import Signs

_PIECES = re.compile(r"(\{\w+\}|\)\?|[\[\]()|])")
# Patterns that ignore case read these two as i; they have no plain small letter.
_LIKE_I = str.maketrans("İı", "ii")
_NOTHING: frozenset[str] = frozenset()


class Prefilter:
    """Asked once a turn instead of every frame in every clause."""

    def __init__(self, phrases: Iterable[str]) -> None:
        # A frame without such words has an empty pattern, which is in every text.
        self._signs = Signs("|".join(map(re2.escape, sorted(needed(phrase)))) for phrase in phrases)

    def possible(self, low: str) -> list[int]:
        """The numbers of the frames whose words stand in a text of small letters, in order."""
        return self._signs.within(low if low.isascii() else low.translate(_LIKE_I))


def needed(phrase: str) -> frozenset[str]:
    """Words of which one must stand in every text that the frame matches; none when nothing is sure."""
    body = phrase.removeprefix("^").removesuffix("$")
    alternatives, _ = _alternatives(iter(_PIECES.split(body)))
    return _any_of(alternatives)


def _alternatives(pieces: Iterator[str]) -> tuple[list[frozenset[str]], str]:
    """What each alternative of a group needs, and the piece that closes the group."""
    found: list[frozenset[str]] = []
    best = _NOTHING
    for piece in pieces:
        if piece in {")", ")?", "]"}:
            return [*found, best], piece
        if piece == "|":
            found.append(best)
            best = _NOTHING
            continue
        if piece in {"(", "["}:
            inside, close = _alternatives(pieces)
            words = _any_of(inside) if close == ")" else _NOTHING
        else:
            words = _NOTHING if piece.startswith("{") else frozenset(sorted(_sure(piece), key=len)[-1:])
        best = max(best, words, key=_worth)
    return [*found, best], ""


def _any_of(alternatives: list[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*alternatives) if all(alternatives) else _NOTHING


def _worth(words: frozenset[str]) -> int:
    """The shortest word tells how seldom one of them is there by chance."""
    return min(map(len, words), default=0)


def _sure(literal: str) -> list[str]:
    """The words whose small letters are found wherever the pattern is: ASCII, and scripts without capitals."""
    return [word for word in literal.lower().split() if all(c.isascii() or c.lower() == c.upper() for c in word)]
