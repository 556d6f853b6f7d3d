"""The only door to the extractors: one turn's text in, its mentions, parts, refused spans and cues out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol

from ..model import Hint, Scan, Source, Speaker
from . import addresses, assertion, contacts, dates, entities, identifiers, money, numbers
from .cues import CompiledCues, CueFile, compile_cues
from .grammar import Context, Found, Grammar, GrammarFile
from .names.models import hints as model_hints
from .recognizer import RECOGNIZERS, Recognizer
from .text import Normalized, normalize
from .vocabulary import VocabularyFile, with_additions

__all__ = ["Extraction", "Spoken", "language_of", "scan", "scan_all"]

# Importing these registers recognisers, and the functions, finishers and built-in leaves that grammar files name.
REGISTERED = (numbers, money, dates, addresses, contacts, entities, identifiers)
_HAN = re.compile(r"[\u3400-\u9fff]")
BUNCH = 10_000  # characters, some hundred turns of talk


@dataclass(frozen=True, eq=False)
class Extraction:
    """Everything that extraction needs, compiled once from the files of a rule set."""

    grammar: Grammar
    cues: CompiledCues
    vocabularies: Mapping[str, VocabularyFile]
    read: frozenset[str]
    """Ids of the vocabularies it was made from; whatever stands in another makes no difference to any scan."""

    @classmethod
    def compile(
        cls,
        grammars: Iterable[GrammarFile] = (),
        cues: Iterable[CueFile] = (),
        vocabularies: Iterable[VocabularyFile] = (),
        *,
        checked: bool = False,
    ) -> Extraction:
        """Compile the active files; raises GrammarProblems for what is wrong in a grammar.

        ``checked``: the very same files have been compiled before, so that their patterns need no proof.
        """
        words = _Noting({v.id: v for v in sorted(vocabularies, key=lambda v: v.id) if v.status == "active"})
        grammar = Grammar.compile(grammars, words, recognizers(words), checked)
        compiled = compile_cues([c for c in cues if c.status == "active"], words)
        return cls(grammar, compiled, dict(words), frozenset(words.asked))

    def vocabulary(self, of: str) -> VocabularyFile:
        """The vocabulary with this id; raises KeyError."""
        return self.vocabularies[of]


class _Noting(dict[str, VocabularyFile]):
    """Vocabularies that note which of them were asked for; a copy notes in the same place."""

    def __init__(self, words: Mapping[str, VocabularyFile]) -> None:
        super().__init__(words)
        self.asked: set[str] = set()

    def __copy__(self) -> _Noting:
        other = _Noting(self)
        other.asked = self.asked
        return other

    def __getitem__(self, name: str) -> VocabularyFile:
        self.asked.add(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self.asked.add(str(name))
        return super().__contains__(name)

    def get(self, name: str, default: Any = None) -> Any:
        """The same for a name that may be missing."""
        self.asked.add(name)
        return super().get(name, default)


def recognizers(words: dict[str, VocabularyFile]) -> tuple[Recognizer, ...]:
    """The recognisers (contacts, addresses, names) that the vocabularies allow, in the order of their names."""
    lookup = with_additions(words).__getitem__
    return tuple(
        build(lookup) for _, (needs, build) in sorted(RECOGNIZERS.items()) if all(need in words for need in needs)
    )


def language_of(text: str) -> Literal["zh", "en"]:
    """Chinese as soon as one Han character occurs: "budget 改成 8万" follows Chinese policy."""
    return "zh" if _HAN.search(text) else "en"


class Spoken(Protocol):
    """All that extraction and capture may know of a turn: not when it came nor where it stands, so it is done ahead."""

    @property
    def text(self) -> str: ...

    @property
    def speaker(self) -> Source: ...

    @property
    def said_at(self) -> datetime: ...

    @property
    def lang(self) -> Literal["zh", "en"] | None: ...

    @property
    def timezone(self) -> str | None: ...

    @property
    def locale(self) -> str | None: ...


class _Asked(NamedTuple):
    """A text that is no turn; without a moment, what hangs on it stays open."""

    text: str
    said_at: datetime | None
    lang: Literal["zh", "en"] | None
    timezone: str | None
    locale: str | None
    speaker: Source


def scan(
    text: str,
    extraction: Extraction,
    *,
    said_at: datetime | None = None,
    lang: Literal["zh", "en"] | None = None,
    timezone: str | None = None,
    locale: str | None = None,
    speaker: Source = "user",
    ner: bool = True,
) -> Scan:
    """Everything the rules find in one turn; the same text and context always give the same scan."""
    return scan_all([_Asked(text, said_at, lang, timezone, locale, speaker)], extraction, ner=ner)[0]


def scan_all(turns: Iterable[Spoken | _Asked], extraction: Extraction, *, ner: bool = True) -> list[Scan]:
    """The same for several turns, in less time than one by one."""
    return [found for some in _bunches(turns) for found in _scans(some, extraction, ner)]


def _bunches(turns: Iterable[Spoken | _Asked]) -> Iterator[list[Spoken | _Asked]]:
    """Turns that are scanned together: so many that it pays, so few that what lies between the steps stays small."""
    bunch: list[Spoken | _Asked] = []
    size = 0
    for turn in turns:
        if bunch and size + len(turn.text) > BUNCH:
            yield bunch
            bunch, size = [], 0
        bunch.append(turn)
        size += len(turn.text)
    if bunch:
        yield bunch


def _scans(turns: Iterable[Spoken | _Asked], extraction: Extraction, ner: bool) -> list[Scan]:
    """A step for all of the turns and then the next: what a step works with stays in the processor's caches."""
    texts: list[Normalized] = []
    contexts: list[Context] = []
    for one in turns:
        normalized = normalize(one.text)
        language = one.lang or language_of(normalized.text)
        hints = model_hints(normalized.text, language) if ner else ()
        talks, tables = _talks(one.speaker), extraction.grammar.tables
        texts.append(normalized)
        contexts.append(Context(one.said_at, one.timezone, one.locale, language, talks, tables, ner=ner, hints=hints))
    every = extraction.grammar.find_all(texts, contexts)
    return [_scan(*one, extraction) for one in zip(texts, contexts, every, strict=True)]


def _scan(normalized: Normalized, context: Context, found: Found, extraction: Extraction) -> Scan:
    cues = assertion.find_cues(normalized, found.mentions, found.parts, extraction.cues, context.lang, context.speaker)
    return Scan(
        lang=context.lang,
        mentions=found.mentions,
        cues=cues,
        parts=found.parts,
        refused=found.refused,
        hints=tuple(_original(hint, normalized) for hint in context.hints),
    )


def with_cues_of(extraction: Extraction, found: Scan, text: str, speaker: Source = "user") -> Scan:
    """The scan of the same turn under rules that find the same mentions and parts, and perhaps other cues."""
    cues = assertion.find_cues(text, found.mentions, found.parts, extraction.cues, found.lang, _talks(speaker))
    return found.model_copy(update={"cues": cues})


def _talks(speaker: Source) -> Speaker:
    """What a person writes into an edit is read as talk."""
    return "user" if speaker == "person" else speaker


def _original(hint: Hint, normalized: Normalized) -> Hint:
    start, end = normalized.span(hint.start, hint.end)
    return hint.model_copy(update={"start": start, "end": end, "text": normalized.original[start:end]})
