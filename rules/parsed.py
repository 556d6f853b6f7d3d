"""Rule files as plain data: parsed once, kept in the user's cache, and shipped parsed beside the packs.

Parsing YAML with positions costs seconds for all packs, reading plain data costs milliseconds. Whatever comes from a
cache is digested again by us: a wrong entry gives a rule set of another digest, never other rules under the same one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import cache
from .ruleset import content_digest

if TYPE_CHECKING:
    from .yamltext import YamlText

# Layers of what is read: the packs, sources stored in a database, then folders from 1.
PACKS = 0
SOURCES = -1
SHIPPED = "rules.parsed.json"
SETS = "sets"  # shelf of the cache: whole layers, because opening hundreds of small files takes longer
MOST_SETS = 16  # an entry is up to a megabyte, and every edit makes a new one


@dataclass(frozen=True, eq=False)
class Read:
    """One file as read: its layer, the path shown in messages, its text with plain line ends."""

    layer: int
    shown: str
    text: str

    @cached_property
    def source(self) -> YamlText:
        """The parsed text with positions; slow, so only made on a cache miss or for a message."""
        from .yamltext import YamlText

        return YamlText(self.text, self.shown)

    def data(self, trusting: bool) -> Any:
        """Plain data, from the cache when ``trusting``; None when the text has problems."""

        def parsed() -> Any:
            return None if self.source.problems else self.source.data

        if not trusting:
            return parsed()
        return cache.remembered("yaml", cache.key_of(_code(), self.text), parsed)


@dataclass(frozen=True, slots=True)
class Parsed:
    """Plain data (None when the text has problems), and their digest."""

    data: Any
    digest: str

    @classmethod
    def of(cls, data: Any) -> Parsed:
        """The data with what follows from them."""
        if not isinstance(data, dict):
            return cls(None, "")
        return cls(data, content_digest(data))


def parse(reads: Iterable[Read], trusting: bool) -> Iterator[tuple[Read, Parsed]]:
    """Each file with its plain data; layer by layer from the cache when ``trusting``."""
    for number, group in groupby(reads, key=lambda read: read.layer):
        layer = list(group)
        for read, data in zip(layer, _layer(number, layer) if trusting else _afresh(layer), strict=True):
            yield read, Parsed.of(data)


def _afresh(layer: list[Read]) -> list[Any]:
    return [read.data(trusting=False) for read in layer]


def _layer(number: int, layer: list[Read]) -> list[Any]:
    key = _key(layer)
    found = _shipped(key) if number == PACKS else None
    if found is None:
        found = cache.read(SETS, key)
    if not isinstance(found, list) or len(found) != len(layer):
        found = [read.data(trusting=True) for read in layer]
        cache.write(SETS, key, found)
        cache.trim(SETS, MOST_SETS)
    return found


def _code() -> str:
    return cache.code_version("yamltext.py")


def _key(layer: list[Read]) -> str:
    return cache.key_of(_code(), *(read.text for read in layer))


def _shipped(key: str) -> Any | None:
    try:
        entry = json.loads((files(__package__) / "packs" / SHIPPED).read_bytes())
    except (OSError, ValueError):
        return None
    return entry["data"] if isinstance(entry, dict) and entry.get("key") == key else None


def shipped_text(layer: list[Read]) -> str:
    """What the file beside the packs should say; one rule a line, so that a change shows as one line."""
    rows = [json.dumps(data, ensure_ascii=False, separators=(",", ":")) for data in _afresh(layer)]
    return f'{{"key":"{_key(layer)}","data":[\n' + ",\n".join(rows) + "\n]}\n"


def write_shipped(layer: Iterable[Read], folder: Path) -> None:
    """Write the parsed packs beside them."""
    (folder / SHIPPED).write_text(shipped_text(list(layer)), encoding="utf-8")
