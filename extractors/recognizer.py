"""Recognisers: mechanisms beside the grammar (telephones, places, names) that take their words from vocabularies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from ..model import Hint
from ..values import Value
from .parsing.chart import Edge
from .text import Normalized
from .vocabulary import VocabularyFile

Lookup = Callable[[str], VocabularyFile]


class Setting(Protocol):
    """What a recogniser may know about a turn besides its text."""

    @property
    def lang(self) -> str: ...

    @property
    def locale(self) -> str | None: ...

    @property
    def tables(self) -> Mapping[str, Any]: ...

    @property
    def hints(self) -> tuple[Hint, ...]: ...


class Recognizer(Protocol):
    """Finds typed values in normalised text. An edge with a ``kind`` carries a ``Value``, one without is a part."""

    def recognise(self, text: Normalized, setting: Setting) -> Iterable[Edge]:
        """The edges found; offsets are those of the normalised text."""
        ...


def as_written(normalized: Normalized) -> str:
    """The normalised text with its Chinese characters as the writer chose them, at the same offsets."""
    return normalized.written


def named_as_written(edge: Edge, text: str, written: str) -> Edge:
    """Names and parts of addresses keep the writer's characters: 乾元酒店 is not 干元酒店, 國 stays 國."""
    value = edge.value
    if text[edge.start : edge.end] == written[edge.start : edge.end] or not isinstance(value, Value):
        return edge
    changes: dict[str, str] = {}
    for name, said in value.model_dump(exclude_none=True).items():
        at = text.find(said, edge.start, edge.end) if isinstance(said, str) else -1
        if at >= 0 and name not in {"province", "city", "district"}:  # these are official names, whoever writes
            changes[name] = written[at : at + len(said)]
    return edge._replace(value=value.model_copy(update=changes))


# Name → (ids of the vocabularies it cannot work without, how to build it from them).
RECOGNIZERS: dict[str, tuple[tuple[str, ...], Callable[[Lookup], Recognizer]]] = {}


def recognizer(name: str, *needs: str) -> Callable[[Callable[[Lookup], Recognizer]], Callable[[Lookup], Recognizer]]:
    """Register a recogniser; it is left out of a rule set that lacks one of the vocabularies it needs."""

    def register(build: Callable[[Lookup], Recognizer]) -> Callable[[Lookup], Recognizer]:
        RECOGNIZERS[name] = (needs, build)
        return build

    return register
