"""Vocabulary files: word lists, word → value maps and label lexicons that other rule files name by id."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Literal

import re2
from pydantic import Field, model_validator

from ..rulefile import Language, Refused, RuleFile
from .words import linear, unreadable

Scalar = str | int | bool


class VocabularyFile(RuleFile):
    """Words with an owner and a source: a list, a map to values (廿 → 20), or labels (concept → words)."""

    kind: Literal["vocabulary"] = Field(description="vocabulary")
    language: Language = Field("any", description="Language of the words.")
    words: list[str] | dict[str, Scalar] = Field(default_factory=list, description="A list, or word → value.")
    labels: dict[str, list[str]] = Field(default_factory=dict, description="Concept → the words that mean it.")
    patterns: dict[str, str] = Field(
        default_factory=dict,
        description="Name → linear pattern (RE2: no look-around), small and capital letters alike.",
    )
    source: str = Field("", description="Where the words come from, with version and licence when not our own.")

    @model_validator(mode="after")
    def _filled_and_unique(self) -> VocabularyFile:
        seen: dict[str, str] = {}
        for concept, words in self.labels.items():
            for word in words:
                if seen.setdefault(word.casefold(), concept) != concept:
                    raise ValueError(f"{word!r} stands under {seen[word.casefold()]!r} and under {concept!r}")
        for name, source in self.patterns.items():
            try:
                linear(source)
            except re2.error as error:
                raise Refused(f"pattern {name!r}: {unreadable(error)}", "pattern-not-linear") from None
        if not self.words and not self.labels and not self.patterns:
            raise ValueError("a vocabulary needs words, labels or patterns")
        return self

    def extended(self, other: VocabularyFile) -> VocabularyFile:
        """This vocabulary with the words, labels and patterns of another added; what it has itself stays."""
        labels = {name: list(said) for name, said in self.labels.items()}
        for name, said in other.labels.items():
            kept = labels.setdefault(name, [])
            kept += [word for word in said if word not in kept]
        words: list[str] | dict[str, Scalar] = dict(other.words) if isinstance(other.words, dict) else [*other.words]
        if isinstance(words, dict) and isinstance(self.words, dict):
            words = {**words, **self.words}
        elif isinstance(words, dict):
            words = {**words, **{word: word for word in self.words}}
        elif isinstance(self.words, dict):
            words = {**{word: word for word in words}, **self.words}
        else:
            words = list(dict.fromkeys([*self.words, *words]))
        patterns = {**self.patterns, **{k: v for k, v in other.patterns.items() if k not in self.patterns}}
        return self.model_copy(update={"words": words, "labels": labels, "patterns": patterns})

    def entries(self) -> dict[str, Scalar]:
        """Word → value; a word of a list means itself, a label's word means its concept."""
        plain: dict[str, Scalar] = {}
        plain.update(self.words if isinstance(self.words, dict) else {word: word for word in self.words})
        return plain | {word: concept for concept, words in self.labels.items() for word in words}


# ``words.address.en.more`` and ``words.address.en.more.acme`` add to ``words.address.en``.
ADDITION = ".more"


def with_additions(vocabularies: Mapping[str, VocabularyFile]) -> dict[str, VocabularyFile]:
    """The vocabularies, each with what the files named ``<id>.more…`` add to it, in the order of their ids."""
    # A mapping of its own kind (one that notes what it is asked) stays one.
    made = copy(vocabularies) if isinstance(vocabularies, dict) else dict(vocabularies)
    for name in sorted(vocabularies):
        base, mark, rest = name.partition(ADDITION)
        if mark and base in made and (not rest or rest.startswith(".")):
            made[base] = made[base].extended(vocabularies[name])
    return made
