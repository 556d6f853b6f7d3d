"""Gate files: what makes a whole turn not worth remembering. The outcome is a feature for policy, never a door.

"可以" and "OK" are small talk and yet may answer a suggestion, so a gate only says what it saw; policy decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import re2
from pydantic import Field, field_validator, model_validator

from ..extractors.scan import Spoken
from ..extractors.text import normalize
from ..extractors.words import Signs, unreadable
from ..model import CueKind, Scan, Speaker
from ..rulefile import Language, Model, Refused, RuleFile
from ..values import VALUE_TYPES

GateKind = Literal["small_talk", "one_off_command", "tool_output", "agent_reasoning"]
Match = Literal["whole", "start", "end", "anywhere"]
# Between words of a turn that is made of nothing but gate words: blanks, punctuation, emoji.
_BETWEEN = r"[^\p{L}\p{N}]*"


class GateUnless(Model):
    """What keeps the gate open although its words are there."""

    words: list[str] = Field(default_factory=list, description="Words anywhere in the turn.")
    lexicon: list[str] = Field(default_factory=list, description="Ids of vocabularies with such words.")
    patterns: list[str] = Field(default_factory=list, description="RE2 patterns found anywhere in the turn.")
    cues: list[CueKind] = Field(default_factory=list, description="Kinds of cue found in the turn.")
    mentions: list[str] = Field(default_factory=list, description="Kinds of mention found in the turn.")


class GateFile(RuleFile):
    """Signs of one kind of turn. Every field that is given must hold; words, lexicon and patterns are alternatives."""

    kind: Literal["gate"] = Field(description="gate")
    language: Language = Field("any", description="Only turns in this language.")
    gives: GateKind = Field(description="The value of the feature `gate`.")
    priority: int = Field(0, description="Higher is tried first; then the order of ids.")
    speaker: list[Speaker] = Field(default_factory=list, description="Only turns of these speakers; empty: all.")
    words: list[str] = Field(default_factory=list, description="Words or phrases; Latin ones match as whole words.")
    lexicon: list[str] = Field(default_factory=list, description="Ids of vocabularies whose words count too.")
    patterns: list[str] = Field(default_factory=list, description="RE2 patterns over the normalised lower-case text.")
    match: Match = Field("whole", description="whole: the turn is nothing but these words, fillers and punctuation.")
    fillers: list[str] = Field(default_factory=list, description="For `whole`: words that may stand beside them.")
    longest: int | None = Field(None, ge=1, description="Only turns of at most so many characters.")
    mentions: Literal["any", "none"] | list[str] = Field("any", description="none: only turns with no mention.")
    cues: list[CueKind] = Field(default_factory=list, description="At least one cue of these kinds must be there.")
    unless: GateUnless = Field(GateUnless(), description="What keeps the gate open all the same.")

    @field_validator("speaker", "lexicon", "cues", mode="before")
    @classmethod
    def _one_or_many(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @model_validator(mode="after")
    def _can_be_tried(self) -> GateFile:
        if not (self.words or self.lexicon or self.patterns or self.speaker or self.cues):
            raise ValueError("a gate needs words, a lexicon, patterns, a speaker or cues")
        for pattern in (*self.patterns, *self.unless.patterns):
            try:
                re2.compile(pattern)
            except re2.error as error:
                raise Refused(f"pattern {pattern!r}: {unreadable(error)}", "pattern-not-linear") from None
        named = [*self.unless.mentions, *(self.mentions if isinstance(self.mentions, list) else ())]
        for kind in named:
            if kind not in VALUE_TYPES:
                raise ValueError(f"unknown kind of mention {kind!r}; one of {', '.join(VALUE_TYPES)}")
        return self


@dataclass(frozen=True, slots=True)
class Gated:
    """What a gate saw in a turn, and which rule (``id@version``) saw it where (normalised offsets)."""

    gate: GateKind
    rule: str


@dataclass(frozen=True, slots=True)
class _Gate:
    file: GateFile
    sign: int | None  # number of its pattern among the signs of all gates
    veto: int | None

    def stops(
        self, turn: Spoken, scan: Scan, size: int, kinds: set[str], cues: set[str], signs: set[int]
    ) -> str | None:
        """The condition that keeps the gate open, None when it holds."""
        if self.sign is not None and self.sign not in signs:
            return "words"  # most gates end here
        file = self.file
        if not file.counts_on(turn.said_at.date()):
            return "effective"
        if file.speaker and turn.speaker not in file.speaker:
            return "speaker"
        if file.language not in ("any", scan.lang):
            return "language"
        if file.longest is not None and size > file.longest:
            return "longest"
        if (file.mentions == "none" and kinds) or (
            isinstance(file.mentions, list) and not kinds.issubset(file.mentions)
        ):
            return "mentions"
        if file.cues and cues.isdisjoint(file.cues):
            return "cues"
        if not kinds.isdisjoint(file.unless.mentions):
            return "unless.mentions"
        if not cues.isdisjoint(file.unless.cues):
            return "unless.cues"
        return "unless.words" if self.veto in signs else None


class Gates:
    """All gates of a rule set, compiled once."""

    def __init__(self, files: Iterable[GateFile], words_of: Callable[[str], Iterable[str]]) -> None:
        ordered = sorted(files, key=lambda file: (-file.priority, file.id))
        sources: list[str] = []
        self._gates = tuple(_compiled(file, words_of, sources) for file in ordered)
        self._signs = Signs(sources)

    def judge(self, turn: Spoken, scan: Scan) -> Gated | None:
        """The first gate that holds for the turn, or None."""
        for gate, stopped in self._tried(turn, scan):
            if stopped is None:
                return Gated(gate.gives, gate.ref)
        return None

    def nearly(self, turn: Spoken, scan: Scan) -> list[tuple[GateFile, str]]:
        """The gates whose words are there, each with the condition that kept it open."""
        found = []
        for gate, stop in self._tried(turn, scan):
            if stop is not None and stop != "words" and (gate.words or gate.lexicon or gate.patterns):
                found.append((gate, stop))
        return found

    def _tried(self, turn: Spoken, scan: Scan) -> Iterator[tuple[GateFile, str | None]]:
        if not self._gates:
            return
        text = normalize(turn.text)
        kinds = {mention.kind for mention in scan.mentions}
        cues: set[str] = {cue.kind for cue in scan.cues}
        signs = set(self._signs.within(text.lower))
        for gate in self._gates:
            yield gate.file, gate.stops(turn, scan, len(text.text), kinds, cues, signs)


def _compiled(file: GateFile, words_of: Callable[[str], Iterable[str]], sources: list[str]) -> _Gate:
    """The gate; its patterns are added to ``sources``."""
    words = [*file.words, *(word for name in file.lexicon for word in words_of(name))]
    signs = "|".join([*_alternatives(words), *(f"(?:{pattern})" for pattern in file.patterns)])
    sign = veto = None
    if signs:
        core = f"(?:{signs})"
        if file.match == "whole":
            beside = "|".join([signs, *_alternatives(file.fillers)])
            core = rf"^{_BETWEEN}(?:(?:{beside}){_BETWEEN})*{core}{_BETWEEN}(?:(?:{beside}){_BETWEEN})*$"
        elif file.match == "start":
            core = rf"^{_BETWEEN}{core}"
        elif file.match == "end":
            core = rf"{core}{_BETWEEN}$"
        sign = len(sources)
        sources.append(core)
    refuse = [*file.unless.words, *(word for name in file.unless.lexicon for word in words_of(name))]
    vetoes = [*_alternatives(refuse), *(f"(?:{pattern})" for pattern in file.unless.patterns)]
    if vetoes:
        veto = len(sources)
        sources.append("|".join(vetoes))
    return _Gate(file, sign, veto)


def _alternatives(words: Sequence[str]) -> list[str]:
    """Words as patterns, longest first; ASCII letters and digits get word boundaries, Chinese none."""
    found = []
    for word in sorted({normalize(word).lower.strip() for word in words} - {""}, key=lambda w: (-len(w), w)):
        left = r"\b" if re.match(r"[a-z0-9]", word) else ""
        right = r"\b" if re.search(r"[a-z0-9]$", word) else ""
        found.append(f"{left}{re2.escape(word)}{right}")
    return found
