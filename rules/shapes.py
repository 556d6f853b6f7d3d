"""Shapes of values taken as text: what may be a name, a body, a place, a law, a role; anything else is no value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..extractors.vocabulary import VocabularyFile
from ..extractors.words import lazy
from .labels import words_pattern
from .shape_names import SHAPES, Shape
from .view import View

# Mentions that are a value of the shape by themselves.
_KINDS: dict[Shape, frozenset[str]] = {
    "person": frozenset({"person"}),
    "organization": frozenset({"organization"}),
    "place": frozenset({"place", "address"}),
    "law": frozenset({"place"}),
    "forum": frozenset({"place"}),
}
_CAPITALISED: frozenset[Shape] = frozenset({"person", "organization", "place", "law"})
# "Sorry, I meant north creek": a repair may name what no list and no capital tells.
_REPAIRED: frozenset[Shape] = frozenset({"place", "role"})
_HAN = re.compile(r"[\u3400-\u9fff]")
_WORD = r"[A-Z\u00c0-\u00de0-9][\w&'\u2019.()/-]*"
# "from A to B", "Plan B": a letter or a number is no place.
_LETTER = re.compile(r"(?:^|\s)[A-Za-z0-9]$")
_INITIAL = r"[A-Z\u00c0-\u00de][\w'\u2019.-]*"
_HEAD_END = re.compile(r"\s(?:of|at|for|in|with|and|on)\s.*$")
_ROMANISED = re.compile(r"[\u3400-\u9fff]{1,8}(?:·[\u3400-\u9fff]{1,8})+")
_PET = re.compile(r"[小老阿][\u3400-\u9fff]{1,2}|([\u3400-\u9fff])\1")


@dataclass(frozen=True)
class ShapeWords:
    """The words of one shape, from its vocabulary ``shapes.<name>``."""

    whole: re.Pattern[str]  # values taken as they are
    ends: re.Pattern[str]  # words at the end that make the shape
    never: re.Pattern[str]  # whole values that are none
    opens: re.Pattern[str]  # beginnings that make none
    closes: re.Pattern[str]  # endings that make none
    holds: re.Pattern[str]  # words that stand in none


@dataclass(frozen=True)
class Shapes:
    """All shapes with their words, and the surnames a Chinese name begins with."""

    words: Mapping[str, ShapeWords]
    surname: re.Pattern[str]
    name: re.Pattern[str]  # capitalised words with small ones between
    person: re.Pattern[str]

    def fits(
        self, seen: View, shapes: Iterable[Shape], begin: int, start: int, end: int, *, repair: bool = False
    ) -> bool:
        """True when the text has one of the shapes; ``begin`` is where it began before articles were taken off."""
        return any(self._fits(seen, shape, begin, start, end, repair) for shape in shapes)

    def _fits(self, seen: View, shape: Shape, begin: int, start: int, end: int, repair: bool) -> bool:
        words = self.words[shape]
        text, low = seen.text[start:end], seen.low[start:end]
        raw = seen.low[min(begin, start) : end].lstrip()
        if words.never.fullmatch(low) or words.holds.search(low) or words.closes.search(low):
            return False
        if words.opens.match(raw) or words.opens.match(low):
            return False
        if shape == "place" and _LETTER.search(text):
            return False
        if shape == "thing" or words.whole.fullmatch(low) or (repair and shape in _REPAIRED):
            return True
        kinds = _KINDS.get(shape, frozenset())
        if seen.covers(start, end, kinds):
            return True
        if not _HAN.search(text):
            if shape == "person":  # "Back in London" begins like what is no name
                return self.person.fullmatch(text) is not None and not words.never.fullmatch(low.split()[0])
            if shape in _CAPITALISED and self.name.fullmatch(text):
                return True
            return self._ends_latin(shape, text, low)
        end_word = words.ends.search(low)
        if end_word is not None:
            return end_word.start() > 0 or (shape == "role" and len(low) > 1)
        return shape == "person" and self._chinese_name(text)

    def _ends_latin(self, shape: Shape, text: str, low: str) -> bool:
        ends = self.words[shape].ends
        if shape == "role":
            return ends.search(_HEAD_END.sub("", low)) is not None
        whole = self.words[shape].whole
        words = low.replace(",", " ").split()
        return any(c.isupper() for c in text) and any(ends.search(word) or whole.fullmatch(word) for word in words)

    def _chinese_name(self, text: str) -> bool:
        if _ROMANISED.fullmatch(text) or _PET.fullmatch(text):
            return True
        surname = self.surname.match(text)
        return surname is not None and 1 <= len(text) - surname.end() <= 2


def shapes_of(vocabularies: Mapping[str, VocabularyFile]) -> Shapes:
    """The shapes with the words of their vocabularies; a set without one leaves that list empty."""
    surnames = vocabularies.get("words.surname.zh")
    named = vocabularies.get("shapes.person")
    small = named.patterns if named is not None else {}
    join, particle = (small.get(key, "(?!)") for key in ("name_join", "name_particle"))
    return Shapes(
        words={shape: _words(vocabularies.get(f"shapes.{shape}")) for shape in SHAPES},
        surname=words_pattern(surnames.entries() if surnames is not None else (), "start"),
        name=lazy(rf"(?=[^a-z]*[A-Z\u00c0-\u00de]){_WORD}(?:,? (?:{join} )*{_WORD}){{0,7}}"),
        person=lazy(rf"{_INITIAL}(?: (?:{particle} )*{_INITIAL}){{0,4}}"),
    )


def _words(file: VocabularyFile | None) -> ShapeWords:
    labels = file.labels if file is not None else {}

    def pattern(*concepts: str, place: str = "any") -> re.Pattern[str]:
        return words_pattern([word for concept in concepts for word in labels.get(concept, ())], place)

    return ShapeWords(
        whole=pattern("whole"), ends=_ends(labels.get("ends", ())), never=_never(labels.get("never", ())),
        opens=pattern("opens", "edges", place="start"), closes=pattern("closes", "edges", place="end"),
        holds=pattern("holds"),
    )  # fmt: skip


def _never(words: Iterable[str]) -> re.Pattern[str]:
    """Whole values; "-ous" stands for any one word that ends so."""
    plain, endings = _split(words)
    return lazy(rf"(?:{words_pattern(plain).pattern}|[a-z-]+(?:{endings}))") if endings else words_pattern(plain)


def _ends(words: Iterable[str]) -> re.Pattern[str]:
    """A word at the end; "-er" stands for the ending of a word."""
    plain, endings = _split(words)
    listed = words_pattern(plain, "end")
    return lazy(rf"(?:{listed.pattern}|[a-z](?:{endings})$)") if endings else listed


def _split(words: Iterable[str]) -> tuple[list[str], str]:
    """Whole words, and the endings of words as one pattern, longest first."""
    listed = sorted(words, key=lambda w: (-len(w), w))
    endings = "|".join(re.escape(word[1:]) for word in listed if word.startswith("-"))
    return [word for word in listed if not word.startswith("-")], endings
