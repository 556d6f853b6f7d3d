"""Patterns that are compiled when they are first asked, and word lists as such patterns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import groupby
from typing import Any, cast

import re2


class _Lazy:
    """Stands for a pattern until a method of it is asked; compiling all patterns of a rule set costs a second."""

    def __init__(self, source: str, flags: int, compile_: Callable[[str, int], Any]) -> None:
        self.pattern = source
        self._source = (source, flags, compile_)

    @cached_property
    def _made(self) -> Any:
        source, flags, compile_ = self._source
        return compile_(source, flags)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._made, name)  # asked for a name once: it is the object's own from then on
        self.__dict__[name] = found
        return found


def lazy(source: str, flags: int = 0, compile_: Callable[[str, int], Any] = re.compile) -> re.Pattern[str]:
    """A pattern compiled when it is first used; for sources that are known to be sound."""
    return cast("re.Pattern[str]", _Lazy(source, flags, compile_))


def linear(source: str, flags: int = 0) -> Any:
    """RE2, without regard to case: no rule can make its time grow faster than the text. Answers like ``re``."""
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    return re2.compile(source, options)


def unreadable(error: Exception) -> str:
    """What RE2 has against a pattern, and the way out; it says it in bytes."""
    said = error.args[0].decode() if error.args and isinstance(error.args[0], bytes) else str(error)
    return f"{said}. RE2 has no look-around and no back-reference: write what may stand there"


def spans(pattern: Any, text: str) -> Iterator[list[tuple[int, int]]]:
    """Where a RE2 pattern matches: the spans of each match and of its groups, (-1, -1) for a group that took no part.

    What its own ``finditer`` gives, without an object for each match.
    """
    raw = text.encode()
    size, at = len(raw), 0
    one_byte = size == len(text)
    last_byte = last_char = 0
    match, anchor = pattern._regexp.Match, re2._Anchor.UNANCHORED
    while True:
        found = match(anchor, raw, at, size)
        begin, end = found[0]
        if begin < 0:
            return
        if one_byte:
            yield found
        else:
            places = {-1: -1}
            for place in sorted({place for span in found for place in span if place >= 0}):
                last_char += re2._re2.BytesToCharLen(raw, last_byte, place)
                places[place] = last_char
                last_byte = place
            yield [(places[a], places[b]) for a, b in found]
        if at == size:
            return
        at = end if end > at else at + re2._re2.CharLenToBytes(raw, at, 1)


FEW = 16  # so few patterns make an automaton whose states are soon all known


class Signs:
    """Many RE2 patterns asked together which of them may occur in a text: a few microseconds, whatever their number.

    Most patterns cannot match without one of some literal words: RE2 takes those from the patterns, and a text is asked
    for the words alone. Patterns that need no word are asked themselves, as one automaton. All of them as one automaton
    would be exact, but each new text meets states that are not built yet, at some 400 microseconds a turn.
    Compiled when first asked. Words within ``common`` stand in nearly every text and tell nothing.
    """

    def __init__(self, sources: Iterable[str], common: str = "") -> None:
        self._sources = tuple(sources)
        self._common = common
        self._last: tuple[str | None, list[int]] = (None, [])  # asked of one text by several lists

    @cached_property
    def _made(self) -> tuple[Any, frozenset[int], Any, list[int]]:
        options = re2.Options()
        options.log_errors = False
        words, wordless = re2.Filter(), re2.Set.SearchSet(options)
        if len(self._sources) > FEW:
            for source in self._sources:
                words.Add(source, options)
            words.Compile()
            rest = sorted(words.Match(self._common, potential=True) or ())
        else:
            rest = list(range(len(self._sources)))
        for number in rest:
            wordless.Add(self._sources[number])
        wordless.Compile()
        return words, frozenset(rest), wordless, rest

    def within(self, text: str) -> list[int]:
        """The numbers of the patterns that may occur, in order; the others certainly do not."""
        if not self._sources:
            return []
        last, found = self._last
        if last is not text:
            words, apart, wordless, rest = self._made
            # RE2 keeps the words in lower case, whether or not their pattern minds the case.
            hits = [] if len(rest) == len(self._sources) else words.Match(text.lower(), potential=True) or []
            found = [number for number in hits if number not in apart]
            if rest:
                found += [rest[number] for number in wordless.Match(text) or ()]
            found.sort()
            self._last = (text, found)
        return found


def alternatives(words: Iterable[str], *, ignore_case: bool = True) -> re.Pattern[str]:
    """A pattern that matches any of ``words``; an empty list matches nowhere."""
    ordered = sorted(words, key=lambda w: (-len(w), w))
    return lazy(joined(ordered, _edges) or r"(?!)", re.IGNORECASE if ignore_case else 0)


def joined(words: Iterable[str], edges: Callable[[str], tuple[str, str]]) -> str:
    """The words as one pattern in their order; ``edges`` says what stands before and after each.

    Neighbours with the same edges share them: edges of their own cost ten times as long to compile.
    """
    parts = []
    for (head, tail), run in groupby(words, edges):
        bodies = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in run)
        parts.append(f"{head}(?:{bodies}){tail}" if head or tail else bodies)
    return "|".join(parts)


def _edges(word: str) -> tuple[str, str]:
    head = r"(?<![A-Za-z])" if word[:1].isascii() and word[:1].isalnum() else ""
    tail = r"(?![A-Za-z])" if word[-1:].isascii() and word[-1:].isalnum() else ""
    return head, tail


class Words:
    """A long word list over whole texts: one linear pass of re2 tells most texts that none of the words occurs."""

    def __init__(self, words: Iterable[str]) -> None:
        listed = sorted(words, key=lambda w: (-len(w), w))
        self._words = alternatives(listed)
        any_of = "|".join(r"\s+".join(map(re.escape, word.split(" "))) for word in listed)
        self._sign = f"(?i){any_of}"
        self._signs, self._number = Signs([self._sign]), 0

    @classmethod
    def together(cls, *lists: Iterable[str]) -> tuple[Words, ...]:
        """Several lists that are asked of the same texts: one pass tells which of them occur."""
        made = tuple(cls(words) for words in lists)
        signs = Signs([words._sign for words in made])
        for number, words in enumerate(made):
            words._signs, words._number = signs, number
        return made

    def find(self, text: str) -> Iterator[re.Match[str]]:
        """The words in a text, from left to right."""
        if self.occurs(text):
            yield from self._words.finditer(text)

    def occurs(self, text: str) -> bool:
        """False when certainly none of the words is in the text."""
        return self._number in self._signs.within(text)
