"""Finds the leaves of a grammar in a text: words by table look-up, patterns behind a re2 prefilter, contexts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as regex_parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

import re2

from .chart import Edge, Test
from .text import Normalized

# Named character classes for ``unless`` and ``when``; the first form is looked for before the span, the second after.
CLASSES: dict[str, tuple[str, str]] = {
    "digit": (r"[0-9]", r"[0-9]"),
    "letter": (r"[a-z]", r"[a-z]"),
    "han": (r"[\u3400-\u9fff]", r"[\u3400-\u9fff]"),
    "numeral": (r"[0-9零〇一二两三四五六七八九十百千万亿]", r"[0-9零〇一二两三四五六七八九十百千万亿]"),
    "decimal": (r"[0-9][.,:/]", r"[.,:/]?[0-9]"),
    "start": (r"(?:^|\n)", r"(?!)"),
    "end": (r"(?!)", r"(?:$|\n)"),
}
WINDOW = 40  # characters looked at on either side when a context gives no ``within``
MAX_REPEAT = 400  # product of nested repeats: the longest text that one pattern may run over
_CLAUSE_END = re.compile(r"[。;!?\n]|[,.](?=[^0-9]|$)|(?<=[^0-9]),")
_STARTS = re.compile(r"[^\sa-z]|(?<![a-z])[a-z]")


class Word(NamedTuple):
    """One word of a leaf."""

    type: str
    value: Any
    rule: str
    latent: bool
    priority: int
    kind: str | None
    strict: bool  # boundary: word: no digit may touch it either
    allowed: Test | None


class Pattern(NamedTuple):
    """One pattern of a leaf; ``read`` makes its value from the match."""

    regex: re.Pattern[str]
    cased: bool
    read: Callable[[re.Match[str]], Any]
    word: Word


def letter(char: str) -> bool:
    """A letter of a script that writes words with spaces."""
    return char < "\u2e80" and char.isalpha()


def parted(text: str, at: int, strict: bool = False) -> bool:
    """True when a word may begin or end at ``at``: no letter on both sides, no digit on both sides."""
    if at <= 0 or at >= len(text):
        return True
    a, b = text[at - 1], text[at]
    if letter(a):
        return not (letter(b) or (strict and b.isdigit()))
    if "0" <= a <= "9":
        return not ("0" <= b <= "9" or (strict and letter(b)))
    return True


class WordIndex:
    """Words by their first characters, every length that occurs: a look-up costs the same for 50 words and 50,000."""

    def __init__(self) -> None:
        self.words: dict[str, list[Word]] = {}
        self._lengths: dict[str, set[int]] = {}
        self._sorted: dict[str, tuple[int, ...]] = {}

    def add(self, text: str, word: Word) -> None:
        """Add one spelling; the same spelling may mean several things."""
        self.words.setdefault(text, []).append(word)
        self._lengths.setdefault(text[:2], set()).add(len(text))

    def close(self) -> None:
        """Sort the lengths, longest first."""
        self._sorted = {head: tuple(sorted(lengths, reverse=True)) for head, lengths in self._lengths.items()}

    def find(self, text: str, starts: Iterable[int], bounded: bool) -> Iterator[Edge]:
        """Every word at the given starts, of every length."""
        lengths, words = self._sorted, self.words
        if not words:
            return
        for at in starts:
            for size in (*lengths.get(text[at : at + 2], ()), *((1,) if text[at] in words else ())):
                entries = words.get(text[at : at + size]) if at + size <= len(text) else None
                for word in entries or ():
                    end = at + size
                    if bounded and not (parted(text, at, word.strict) and parted(text, end, word.strict)):
                        continue
                    if word.allowed is None or word.allowed(text, at, end):
                        yield Edge(
                            word.type, at, end, word.value, word.rule, 1, 0, word.latent, word.priority, word.kind
                        )


class Matcher:
    """All leaves of a compiled grammar."""

    def __init__(self) -> None:
        self.plain, self.cased, self.glued = WordIndex(), WordIndex(), WordIndex()
        self.patterns: list[Pattern] = []
        self._sets: list[tuple[Any, list[Pattern]]] = []

    def add_word(self, text: str, word: Word, *, cased: bool, glued: bool) -> None:
        """Add a spelling, already normalised; ``glued`` words ignore word boundaries."""
        index = self.glued if glued else self.cased if cased else self.plain
        index.add(text if cased else text.lower(), word)

    def close(self) -> None:
        """Build the prefilters; nothing is added afterwards."""
        for index in (self.plain, self.cased, self.glued):
            index.close()
        for cased in (False, True):
            mine = [p for p in self.patterns if p.cased is cased]
            if mine:
                trigger = re2.Set.SearchSet()
                for pattern in mine:
                    trigger.Add(pattern.regex.pattern)
                trigger.Compile()
                self._sets.append((trigger, mine))

    def find(self, normalized: Normalized) -> list[Edge]:
        """Every leaf in the text."""
        low, text = normalized.lower, normalized.text
        starts = [m.start() for m in _STARTS.finditer(low)]
        found = list(self.plain.find(low, starts, True))
        found += self.cased.find(text, starts, True)
        if self.glued.words:
            found += self.glued.find(low, (i for i, c in enumerate(low) if not c.isspace()), False)
        for trigger, patterns in self._sets:
            over = text if patterns[0].cased else low
            for number in sorted(trigger.Match(over) or ()):
                found += _matches(patterns[number], over)
        return found


def _matches(pattern: Pattern, text: str) -> Iterator[Edge]:
    """The parts that one pattern finds."""
    word = pattern.word
    for match in pattern.regex.finditer(text):
        start, end = match.span()
        if start == end or not (parted(text, start, word.strict) and parted(text, end, word.strict)):
            continue
        if word.allowed is not None and not word.allowed(text, start, end):
            continue
        value = pattern.read(match)
        if value is not None:
            yield Edge(word.type, start, end, value, word.rule, 1, 1, word.latent, word.priority, word.kind)


def longest_run(pattern: str) -> int:
    """The largest product of nested repeats in a pattern; raises ValueError for an unbounded one.

    Bounded repeats are what makes ``re`` safe here: without them a pattern can take quadratic time on 10,000 digits.
    """
    return _longest(regex_parser.parse(pattern))


def _longest(tree: Iterable[tuple[Any, Any]]) -> int:
    worst = 1
    for code, argument in tree:
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            _, high, inner = argument
            if high is codes.MAXREPEAT:
                raise ValueError("a repeat has no upper limit; write {1,20} instead of + and {0,20} instead of *")
            worst = max(worst, int(high) * _longest(inner))
        elif code is codes.SUBPATTERN:
            worst = max(worst, _longest(argument[3]))
        elif code is codes.BRANCH:
            worst = max(worst, *(_longest(branch) for branch in argument[1]))
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            raise ValueError("look-around is not allowed; write unless: {before: …, after: …}")
    return worst


def word_regex(word: str) -> str:
    """A literal word as a pattern: letters keep their boundaries, spaces match a space."""
    head = r"(?<![a-z])" if word[:1].isascii() and word[:1].isalpha() else ""
    tail = r"(?![a-z])" if word[-1:].isascii() and word[-1:].isalpha() else ""
    return f"{head}{re.escape(word)}{tail}"


def context_test(before: list[str], after: list[str], within: int | None, wanted: bool) -> Test | None:
    """A test of what stands around a span; entries are patterns already. ``wanted`` turns "unless" into "when"."""
    if not before and not after:
        return None
    if within is None:
        left = re.compile(rf"(?:{'|'.join(before)})$", re.IGNORECASE) if before else None
        right = re.compile("|".join(after), re.IGNORECASE) if after else None
    else:
        left = re.compile("|".join(before), re.IGNORECASE) if before else None
        right = re.compile("|".join(after), re.IGNORECASE) if after else None
    width = WINDOW if within is None else within

    def on_left(text: str, start: int) -> bool:
        if left is None:
            return wanted
        first = max(0, start - width)
        if within is not None:
            first += max((m.end() for m in _CLAUSE_END.finditer(text[first:start])), default=0)
        return left.search(text, first, start) is not None

    def on_right(text: str, end: int) -> bool:
        if right is None:
            return wanted
        if within is None:
            return right.match(text, end) is not None
        stop = _CLAUSE_END.search(text[end : end + width])
        return right.search(text, end, end + (stop.start() if stop else width)) is not None

    if wanted:  # every side that is named
        return lambda text, start, end: on_left(text, start) and on_right(text, end)
    return lambda text, start, end: not (on_left(text, start) or on_right(text, end))
