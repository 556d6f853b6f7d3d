"""Cue files: words and patterns that change how mentions count, read from YAML and compiled to linear-time matchers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import re2
from pydantic import Field, ValidationInfo, model_validator

from ..model import CueKind, Speaker
from ..rulefile import Language, Model, Refused, RuleFile, passed_before
from ..values import Kind
from .vocabulary import VocabularyFile
from .words import Signs, lazy, linear, spans

Direction = Literal["forward", "backward", "both", "clause", "sentence", "turn"]
Place = Literal["anywhere", "turn_start", "sentence_start", "clause_start", "clause_end", "sentence_end", "whole_turn"]
ENDS = ("clause_end", "sentence_end", "turn_end")

# A mention stands in the matched text as one private-use character, so that a pattern can say {money} or {m},
# a comma inside an address ends no clause and no cue is found inside a value ("不超过80万" is not negated).
_SLOTS: dict[str, str] = {
    "time": "\ue000", "money": "\ue001", "number": "\ue002", "percent": "\ue003", "quantity": "\ue004",
    "address": "\ue005", "place": "\ue006", "person": "\ue007", "organization": "\ue008", "phone": "\ue009",
    "email": "\ue00a", "url": "\ue00b", "identifier": "\ue00c", "text": "\ue00d", "duration": "\ue00e",
    "recurrence": "\ue00f",
}  # fmt: skip
_GROUPS: dict[str, tuple[str, ...]] = {
    "m": tuple(_SLOTS),
    "amount": ("money", "number", "percent", "quantity"),
    "step": ("money", "number", "percent", "quantity", "duration"),
    "name": ("person", "organization"),
}
# Parts have a character for each type met in the text, so that a floor repairs a floor and never a year.
_FIRST_PART, _LAST_PART = 0xE020, 0xE0FF
_RANGES = {
    "part": f"[{chr(_FIRST_PART)}-{chr(_LAST_PART)}]",
    "any": f"[{''.join(_SLOTS.values())}{chr(_FIRST_PART)}-{chr(_LAST_PART)}]",
}
_CLASSES = {"numeral": "[0-9零〇一二两三四五六七八九十百千万亿壹贰叁肆伍陆柒捌玖拾佰仟半几]", "latin": "[A-Za-z]"}
_REFERENCE = re.compile(r"\{([a-z_]+)\}")
_CONTEXT = 24  # characters looked at before and after a cue for its negative contexts


def slot_for(kind: str) -> str:
    """The character that stands for a mention of this kind."""
    return _SLOTS[kind]


def slot_for_part(number: int) -> str:
    """The character that stands for parts of the n-th type met in a text."""
    return chr(min(_FIRST_PART + number, _LAST_PART))


def is_slot(char: str) -> bool:
    """True for a character that stands for a mention or a part."""
    return 0xE000 <= ord(char) <= _LAST_PART


class Unless(Model):
    """Neighbours that make the words no cue: words, or the classes ``numeral`` and ``latin``."""

    before: list[str] = Field(default_factory=list, description="Directly before the cue.")
    after: list[str] = Field(default_factory=list, description="Directly after the cue.")
    preceded_by: str | None = Field(None, description="One class or word directly before; short for a before list.")


class CueSpec(Model):
    """One family of cue words with one scope."""

    words: list[str] = Field(default_factory=list, description="Words as said; Latin ones match whole words.")
    lexicon: str | None = Field(None, description="Id of a vocabulary whose words are cues too.")
    patterns: list[str] = Field(
        default_factory=list,
        description="RE2 patterns; {m}, {money}, {time}, {duration}, {amount}, {name}, {part} stand for mentions, "
        "other {names} for `define`; groups: cue (its words), scope, who, reparandum, repair.",
    )
    direction: Direction | None = Field(None, description="Where the mentions stand that it governs.")
    until: list[str] | None = Field(None, description="clause_end, sentence_end, turn_end, or words that end it.")
    until_cues: list[CueKind] | None = Field(None, description="Kinds of cue that end the scope.")
    carries: list[str] | None = Field(
        None, description="Patterns; when the next clause (backward: the own one) matches, the scope goes on over it."
    )
    kinds: list[Kind] | None = Field(None, description="Kinds of mention it can cover; all when left out.")
    max_targets: int | None = Field(None, ge=1, description="At most so many mentions, the nearest first.")
    unless: Unless | None = Field(None, description="Neighbours beside which the words are no cue.")
    pseudo: list[str] = Field(default_factory=list, description="Words that contain the cue and are none (不断, 不过).")
    pseudo_patterns: list[str] = Field(default_factory=list, description="The same as RE2 patterns.")
    at: Place | None = Field(None, description="Where in the turn it must stand.")
    speakers: list[Speaker] | None = Field(None, description="Whose turns it counts in; all when left out.")
    who: str | None = Field(None, description="Who is said to have said it when no group `who` names one.")
    in_mentions: bool | None = Field(None, description="Found inside mentions too (去年 is a time and a cue).")
    spill: bool | None = Field(None, description="With no mention in reach it governs the sentence before.")
    swallows: bool | None = Field(None, description="Shorter cues inside its words do not count (default yes).")


class CueFile(CueSpec, RuleFile):
    """A cue file: one category, its words and, under ``cues``, further families that inherit the file's scope."""

    kind: Literal["cue"] = Field(description="cue")
    language: Language = Field("any", description="Only turns in this language.")
    category: CueKind = Field(description="What the words say about the values they govern.")
    define: dict[str, list[str] | str] = Field(default_factory=dict, description="Names for lists or patterns.")
    cues: dict[str, CueSpec] = Field(default_factory=dict, description="Further families of words, by name.")

    @model_validator(mode="after")
    def _readable(self, info: ValidationInfo) -> CueFile:
        if passed_before(info):
            return self
        specs = [self.family(None), *(self.family(name) for name in self.cues)]
        if not any(spec.words or spec.patterns or spec.lexicon for spec in specs):
            raise ValueError("a cue file needs words, patterns or a lexicon")
        for spec in specs:
            for pattern in (*spec.patterns, *spec.pseudo_patterns, *(spec.carries or ())):
                try:
                    linear(_expand(pattern, self.define))
                except re2.error as error:
                    raise Refused(f"pattern {pattern!r}: {error}", "pattern-not-linear") from None
        return self

    def family(self, name: str | None) -> CueSpec:
        """The words of one family with the scope fields it leaves out taken from the file."""
        own = self if name is None else self.cues[name]
        fields: dict[str, object] = {}
        for field in CueSpec.model_fields:
            value = getattr(own, field)
            inherited = field not in {"words", "patterns", "lexicon"} and value is None
            fields[field] = getattr(self, field) if inherited else value
        if name is not None:
            fields["pseudo"] = [word for word in (*self.pseudo, *own.pseudo) if word not in own.words]
            fields["pseudo_patterns"] = [*self.pseudo_patterns, *own.pseudo_patterns]
        return CueSpec.model_validate(fields)


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """A compiled ``CueSpec``: what a match needs to become a cue with a scope."""

    rule: str
    category: CueKind
    direction: Direction
    ends: frozenset[str]
    until: re.Pattern[str] | None
    until_cues: frozenset[str]
    carries: re.Pattern[str] | None
    kinds: frozenset[str] | None
    max_targets: int | None
    before: re.Pattern[str] | None
    after: re.Pattern[str] | None
    pseudo: re.Pattern[str] | None
    at: Place
    speakers: frozenset[str] | None
    who: str | None
    in_mentions: bool
    spill: bool
    swallows: bool

    def neighbours_allow(self, text: str, start: int, end: int) -> bool:
        """False where a negative context or a pseudo-cue says that these words are no cue."""
        if self.before and self.before.search(text[max(0, start - _CONTEXT) : start]):
            return False
        if self.after and self.after.match(text[end : end + _CONTEXT]):
            return False
        return not self.is_pseudo(text, start, end)

    def is_pseudo(self, text: str, start: int, end: int) -> bool:
        """True when the words belong to a longer expression that is no cue; it may begin before them (没开玩笑)."""
        if self.pseudo is None:
            return False
        low = max(0, start - _CONTEXT)
        for hit in self.pseudo.finditer(text[low : end + _CONTEXT]):
            begin, close = hit.start() + low, hit.end() + low
            if begin > start:
                break
            if close >= end or begin < start < close:
                return True
        return False


@dataclass(frozen=True, eq=False)
class Unit:
    """One pattern of a family."""

    family: Family
    source: str

    @cached_property
    def _pattern(self) -> Any:
        return linear(self.source)

    @cached_property
    def _names(self) -> tuple[tuple[str, int], ...]:
        return tuple(self._pattern.groupindex.items())

    def hits(self, text: str) -> Iterator[tuple[tuple[int, int], dict[str, tuple[int, int]]]]:
        """Each match: its span, and the spans of the named groups that took part."""
        for found in spans(self._pattern, text):
            yield found[0], {name: found[n] for name, n in self._names if found[n][0] >= 0}


class CompiledCues:
    """All cue files of a rule set: one prefilter over every pattern, and the patterns themselves, in a fixed order."""

    def __init__(self, units: Sequence[Unit], sources: Sequence[str]) -> None:
        self.units = tuple(units)
        # Units that look inside mentions are asked of the unmasked text; the others never match there.
        self._inner = tuple(n for n, unit in enumerate(self.units) if unit.family.in_mentions)
        self._outer = tuple(n for n, unit in enumerate(self.units) if not unit.family.in_mentions)
        self._signs = Signs((sources[n] for n in self._outer), common="".join(_SLOTS.values()))
        self._inner_signs = Signs(sources[n] for n in self._inner)

    def possible(self, masked: str, text: str) -> list[Unit]:
        """The units that can match, in file order: in the masked text, or in the text with its mentions."""
        hits = [self._outer[n] for n in self._signs.within(masked)]
        hits += [self._inner[n] for n in self._inner_signs.within(text)]
        return [self.units[n] for n in sorted(hits)]


def compile_cues(files: Iterable[CueFile], vocabularies: Mapping[str, VocabularyFile] | None = None) -> CompiledCues:
    """Compile cue files, sorted by id; raises KeyError for a lexicon that no vocabulary defines."""
    units: list[Unit] = []
    sources: list[str] = []
    for file in sorted(files, key=lambda f: f.id):
        for name in (None, *file.cues):
            spec = file.family(name)
            words = list(spec.words)
            if spec.lexicon:
                words += list((vocabularies or {})[spec.lexicon].entries())
            texts = [_alternation(words)] if words else []
            texts += [_expand(pattern, file.define) for pattern in spec.patterns]
            if not texts:
                continue
            family = _family(file, spec)
            for text in texts:
                units.append(Unit(family, text))
                sources.append(f"(?i){text}")
    return CompiledCues(units, sources)


def _family(file: CueFile, spec: CueSpec) -> Family:
    until = spec.until if spec.until is not None else ["clause_end"]
    words = [word for word in until if word not in ENDS]
    unless = spec.unless or Unless(preceded_by=None)
    before = [*unless.before, *([unless.preceded_by] if unless.preceded_by else [])]
    pseudo = [*([_alternation(spec.pseudo)] if spec.pseudo else []), *_expanded(spec.pseudo_patterns, file.define)]
    return Family(
        rule=file.ref,
        category=file.category,
        direction=spec.direction or "forward",
        ends=frozenset(word for word in until if word in ENDS),
        until=_maybe(_alternation, words),
        until_cues=frozenset(spec.until_cues or ()),
        carries=_compile("^(?:" + "|".join(_expanded(spec.carries, file.define)) + ")") if spec.carries else None,
        kinds=frozenset(spec.kinds) if spec.kinds is not None else None,
        max_targets=spec.max_targets,
        before=_maybe(lambda these: rf"{_alternation(these)}\s*$", before),
        after=_maybe(lambda these: rf"\s*{_alternation(these)}", unless.after),
        pseudo=_compile("|".join(f"(?:{text})" for text in pseudo)) if pseudo else None,
        at=spec.at or "anywhere",
        speakers=frozenset(spec.speakers) if spec.speakers is not None else None,
        who=spec.who,
        in_mentions=bool(spec.in_mentions),
        spill=bool(spec.spill),
        swallows=spec.swallows is not False,
    )


def _maybe(build: Callable[[list[str]], str], words: list[str]) -> re.Pattern[str] | None:
    return _compile(build(words)) if words else None


def _compile(text: str) -> re.Pattern[str]:
    """RE2, so that no rule can make the time grow faster than the text; its objects answer like those of ``re``."""
    return lazy(text, compile_=linear)


def _word(word: str) -> str:
    """A literal with word boundaries at Latin ends; ``numeral`` and other classes by name."""
    if word in _CLASSES:
        return _CLASSES[word]
    if word[0] == "{" and _REFERENCE.fullmatch(word):
        return _expand(word, {})
    left = r"\b" if _latin(word[0]) and not word.startswith("n't") else ""  # n't stands at the end of a word
    right = r"\b" if _latin(word[-1]) else ""
    return left + re.escape(word).replace(r"\ ", r"\s+") + right


def _latin(char: str) -> bool:
    return char.isascii() and char.isalnum()


def _alternation(words: Iterable[str]) -> str:
    """The words as one pattern, the longest first, so that 不是 wins over 不."""
    return "(?:" + "|".join(_word(w) for w in sorted(set(words), key=lambda w: (-len(w), w))) + ")"


def _expanded(patterns: Iterable[str] | None, define: Mapping[str, list[str] | str]) -> list[str]:
    return [_expand(pattern, define) for pattern in patterns or ()]


def _expand(pattern: str, define: Mapping[str, list[str] | str]) -> str:
    """Replace {money} and the like by their characters and {name} by what the file defines."""

    def put(hit: re.Match[str]) -> str:
        name = hit.group(1)
        if name in define:
            value = define[name]
            return (
                f"(?:{_expand(value, {k: v for k, v in define.items() if k != name})})"
                if isinstance(value, str)
                else _alternation(value)
            )
        if name in _RANGES:
            return _RANGES[name]
        if name in _GROUPS:
            return "[" + "".join(_SLOTS[kind] for kind in _GROUPS[name]) + "]"
        if name in _SLOTS:
            return _SLOTS[name]
        raise ValueError(f"pattern {pattern!r} names {{{name}}}, which is no kind of mention and not under define")

    return _REFERENCE.sub(put, pattern)
