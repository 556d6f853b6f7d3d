"""Vocabulary files: word lists, word → value maps and label lexicons that other rule files name by id."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from ..rulefile import Language, RuleFile

Scalar = str | int | bool


class VocabularyFile(RuleFile):
    """Words with an owner and a source: a list, a map to values (廿 → 20), or labels (concept → words)."""

    kind: Literal["vocabulary"] = Field(description="vocabulary")
    language: Language = Field("any", description="Language of the words.")
    words: list[str] | dict[str, Scalar] = Field(default_factory=list, description="A list, or word → value.")
    labels: dict[str, list[str]] = Field(default_factory=dict, description="Concept → the words that mean it.")
    source: str = Field("", description="Where the words come from, with version and licence when not our own.")

    @model_validator(mode="after")
    def _filled_and_unique(self) -> VocabularyFile:
        seen: dict[str, str] = {}
        for concept, words in self.labels.items():
            for word in words:
                if seen.setdefault(word.casefold(), concept) != concept:
                    raise ValueError(f"{word!r} stands under {seen[word.casefold()]!r} and under {concept!r}")
        if not self.words and not self.labels:
            raise ValueError("a vocabulary needs words or labels")
        return self

    def entries(self) -> dict[str, Scalar]:
        """Word → value; a word of a list means itself, a label's word means its concept."""
        plain: dict[str, Scalar] = {}
        plain.update(self.words if isinstance(self.words, dict) else {word: word for word in self.words})
        return plain | {word: concept for concept, words in self.labels.items() for word in words}
