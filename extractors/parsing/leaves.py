"""Finds the leaves of a grammar in a text: words by table look-up, patterns behind a re2 prefilter, contexts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as regex_parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

import re2

from ..text import Normalized
from ..words import lazy
from .chart import Edge, Test

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
_RUN = re.compile(r"[a-z]*")
_CLAUSE_END = re.compile(r"[。;!?\n]|[,.](?=[^0-9]|$)|(?<=[^0-9]),")


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


@cache
def compiled(source: str) -> re.Pattern[str]:
    """A pattern, compiled when it is first needed: most patterns of a rule set never are in one process."""
    return re.compile(source)


class Pattern(NamedTuple):
    """One pattern of a leaf; ``read`` makes its value from the match."""

    source: str
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
    if a >= "\u2e80":
        return True
    if a.isalpha():
        return not ((b < "\u2e80" and b.isalpha()) or (strict and b.isdigit()))
    if "0" <= a <= "9":
        return not ("0" <= b <= "9" or (strict and letter(b)))
    return True


class Spelling(NamedTuple):
    """What one spelling means, and which of its ends can stand inside a longer word."""

    words: list[Word]
    check_start: bool
    check_end: bool


class WordIndex:
    """Words by how they begin, with every length that occurs: a look-up costs the same for 50 words and 50,000.

    A word that begins with Latin letters is found by all of them up to its first other character, any other by its
    first two characters.
    """

    def __init__(self) -> None:
        self.spellings: dict[str, Spelling] = {}
        self._heads: dict[str, tuple[int, ...]] = {}
        self._runs: dict[str, tuple[int, ...]] = {}
        self._singles: dict[str, Spelling] = {}
        self._starts = re.compile(r"(?!)")

    def add(self, text: str, word: Word, bounded: bool = True) -> None:
        """Add one spelling; the same spelling may mean several things."""
        known = self.spellings.get(text)
        if known is None:
            first, last = text[0], text[-1]
            start = bounded and (first.isdigit() or (letter(first) and not first.isascii()))
            known = self.spellings[text] = Spelling([], start, bounded and (letter(last) or last.isdigit()))
        known.words.append(word)

    def close(self, inside: bool = False) -> None:
        """Sort the lengths, longest first; ``inside``: words may begin and end inside a run of ASCII letters."""
        heads: dict[str, set[int]] = {}
        runs: dict[str, set[int]] = {}
        for text in self.spellings:
            run = "" if inside else _RUN.findall(text)[0]
            (runs if run else heads).setdefault(run or text[:2], set()).add(len(text))
        self._heads = {head: tuple(sorted(lengths, reverse=True)) for head, lengths in heads.items()}
        self._runs = {run: tuple(sorted(lengths, reverse=True)) for run, lengths in runs.items()}
        self._singles = {
            text: spelling for text, spelling in self.spellings.items() if text in heads and len(text) == 1
        }
        latin = _any_of({run[0] for run in runs})
        other = _any_of({head[0] for head in heads if not head[0].isspace()})
        self._starts = re.compile(f"((?<![a-z]){latin}[a-z]*)|{other}")

    def find(self, text: str, out: list[Edge], low: str | None = None) -> None:
        """Add every word, of every length; ``low`` is the text in lower case when ``text`` is not."""
        heads, runs, spellings, size_of_text = self._heads, self._runs, self.spellings, len(text)
        for hit in self._starts.finditer(text):
            at = hit.start()
            if low is not None and at and "a" <= low[at] <= "z" and "a" <= low[at - 1] <= "z":
                continue
            run = hit[1]
            sizes = runs.get(run) if run else heads.get(text[at : at + 2])
            if sizes is not None:
                for size in sizes:
                    end = at + size
                    spelling = spellings.get(text[at:end])
                    if spelling is not None and end <= size_of_text:
                        _add(text, at, end, spelling, out)
            if not run:
                single = self._singles.get(text[at])
                if single is not None and at + 1 < size_of_text:  # at the very end the two-character head was the sign
                    _add(text, at, at + 1, single, out)


def _any_of(chars: Iterable[str]) -> str:
    """A class of these characters; a pattern that never matches when there are none."""
    return f"[{''.join(map(re.escape, sorted(chars)))}]" if chars else "(?!)"


def _add(text: str, at: int, end: int, spelling: Spelling, out: list[Edge]) -> None:
    """Add what a spelling means here, if its ends and its contexts allow it."""
    if (spelling.check_end and not parted(text, end)) or (spelling.check_start and not parted(text, at)):
        return
    for word in spelling.words:
        if word.strict and not (parted(text, at, True) and parted(text, end, True)):
            continue
        if word.allowed is None or word.allowed(text, at, end):
            out.append(Edge(word.type, at, end, word.value, word.rule, 1, 0, word.latent, word.priority, word.kind))


class Matcher:
    """All leaves of a compiled grammar."""

    def __init__(self) -> None:
        self.plain, self.cased, self.glued = WordIndex(), WordIndex(), WordIndex()
        self.patterns: list[Pattern] = []
        self._sets: list[tuple[Any, list[Pattern]]] = []

    def add_word(self, text: str, word: Word, *, cased: bool, glued: bool) -> None:
        """Add a spelling, already normalised; ``glued`` words ignore word boundaries."""
        index = self.glued if glued else self.cased if cased else self.plain
        index.add(text if cased else text.lower(), word, not glued)

    def close(self) -> None:
        """Build the prefilters; nothing is added afterwards."""
        self.plain.close()
        self.cased.close(inside=True)  # what stands before is looked up in the text in lower case
        self.glued.close(inside=True)
        for cased in (False, True):
            mine = [p for p in self.patterns if p.cased is cased]
            if mine:
                trigger = re2.Set.SearchSet()
                for pattern in mine:
                    trigger.Add(pattern.source)
                trigger.Compile()
                self._sets.append((trigger, mine))

    def find(self, normalized: Normalized) -> list[Edge]:
        """Every leaf in the text."""
        low, text = normalized.lower, normalized.text
        found: list[Edge] = []
        self.plain.find(low, found)
        if self.cased.spellings:
            self.cased.find(text, found, low)
        if self.glued.spellings:
            self.glued.find(low, found)
        for trigger, patterns in self._sets:
            over = text if patterns[0].cased else low
            for number in sorted(trigger.Match(over) or ()):
                found += _matches(patterns[number], over)
        return found


def _matches(pattern: Pattern, text: str) -> Iterator[Edge]:
    """The parts that one pattern finds."""
    word = pattern.word
    for match in compiled(pattern.source).finditer(text):
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


class WordSet:
    """Words of one side of a context; asked whether one of them touches a place or stands near it."""

    def __init__(self, words: Iterable[str]) -> None:
        self._listed = tuple(words)

    def __getattr__(self, name: str) -> Any:
        """The tables, made when one of them is first asked for: most contexts of a rule set never are."""
        if name not in {"words", "by_last", "lengths", "firsts", "odd"}:
            raise AttributeError(name)
        self._build()
        return self.__dict__[name]

    def _build(self) -> None:
        self.words = frozenset(self._listed)
        by_last: dict[str, set[int]] = {}
        lengths: dict[str, set[int]] = {}
        for word in self.words:
            by_last.setdefault(word[-1:], set()).add(len(word))
            lengths.setdefault(word[:2], set()).add(len(word))
        self.by_last = {last: tuple(sorted(sizes)) for last, sizes in by_last.items()}
        self.lengths = {head: tuple(sorted(sizes)) for head, sizes in lengths.items()}
        # Both cases, so that most places are told by one look; "İ" has a lower case of two characters.
        self.firsts = frozenset(char for word in self.words for char in (word[0], word[0].upper()))
        self.odd = "i" in self.firsts

    def ends_at(self, text: str, end: int) -> bool:
        """A word ends here, or one space before."""
        for at in (end, end - 1) if end and text[end - 1] == " " else (end,):
            if at <= 0:
                continue
            sizes = self.by_last.get(text[at - 1].lower()[-1])
            if sizes is None or not parted(text, at):
                continue
            for size in sizes:
                if size > at:
                    break
                if text[at - size : at].lower() in self.words and parted(text, at - size):
                    return True
        return False

    def starts_at(self, text: str, start: int) -> bool:
        """A word starts here, or one space after."""
        for at in (start, start + 1) if text[start : start + 1] == " " else (start,):
            if self._word_at(text, at, len(text)) and parted(text, at):
                return True
        return False

    def within(self, text: str, start: int, end: int) -> bool:
        """A word stands somewhere between."""
        return any(self._word_at(text, at, end) and parted(text, at) for at in range(start, end))

    def _word_at(self, text: str, at: int, stop: int) -> bool:
        if at >= stop or not (text[at] in self.firsts or (self.odd and text[at] == "İ")):
            return False
        for head in (text[at : at + 2].lower(), text[at].lower()):
            for size in self.lengths.get(head, ()):
                if at + size <= stop and text[at : at + size].lower() in self.words and parted(text, at + size):
                    return True
        return False


class Side(NamedTuple):
    """What a context looks for on one side: words and patterns; empty when the side is not named."""

    words: list[str]
    patterns: list[str]


def context_test(before: Side, after: Side, within: int | None, wanted: bool) -> Test | None:
    """A test of what stands around a span. ``wanted`` turns "unless" into "when"."""
    left = _left(before, within)
    right = _right(after, within)
    if left is None and right is None:
        return None
    if not wanted:
        if right is None and left is not None:
            return lambda text, start, end: not left(text, start)
        if left is None and right is not None:
            return lambda text, start, end: not right(text, end)
        return lambda text, start, end: (
            not ((left is not None and left(text, start)) or (right is not None and right(text, end)))
        )
    return lambda text, start, end: (  # every side that is named
        (left is None or left(text, start)) and (right is None or right(text, end))
    )


def _left(side: Side, within: int | None) -> Callable[[str, int], bool] | None:
    """Does one of them stand before a place?"""
    if not side.words and not side.patterns:
        return None
    words = WordSet(side.words) if side.words else None
    ending = "" if within is not None else r"\s?$"
    source = f"(?:{'|'.join(side.patterns)}){ending}" if side.patterns else ""
    width = WINDOW if within is None else within
    if within is None and not source and words is not None:
        return words.ends_at
    pattern = lazy(source, re.IGNORECASE)

    def test(text: str, start: int) -> bool:
        first = start - width if start > width else 0
        if within is None:
            if words is not None and words.ends_at(text, start):
                return True
        else:
            first += max((m.end() for m in _CLAUSE_END.finditer(text[first:start])), default=0)
            if words is not None and words.within(text, first, start):
                return True
        return bool(source) and pattern.search(text, first, start) is not None

    return test


def _right(side: Side, within: int | None) -> Callable[[str, int], bool] | None:
    """Does one of them stand after a place?"""
    if not side.words and not side.patterns:
        return None
    words = WordSet(side.words) if side.words else None
    opening = "" if within is not None else r"\s?"
    source = f"{opening}(?:{'|'.join(side.patterns)})" if side.patterns else ""
    if within is None and not source and words is not None:
        return words.starts_at
    pattern = lazy(source, re.IGNORECASE)

    def test(text: str, end: int) -> bool:
        if within is None:
            if words is not None and words.starts_at(text, end):
                return True
            return bool(source) and pattern.match(text, end) is not None
        stop = _CLAUSE_END.search(text[end : end + within])
        last = min(len(text), end + (stop.start() if stop else within))
        if words is not None and words.within(text, end, last):
            return True
        return bool(source) and pattern.search(text, end, last) is not None

    return test
