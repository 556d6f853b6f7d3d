"""Tracing: what each route proposed, how it was scored, what filters took out, and what was put before a model.

A trace is written after the answer, through a connection of its own, and only by ids: no value and no sentence of what
was found is copied. Whatever keeps it from being written, the answer has been given.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from ..store import traces
from ..store.engine import Store
from ..store.erasing import items_of, items_where, turns_where
from ..store.errors import CannotOpen, ReadOnly
from ..store.reading import Reading
from ..store.saying import turns_about, turns_of_items
from ..store.traces import Period, Target, Trace
from .context import Context
from .rank import Recalled

_WAIT = 0.05  # seconds that a recall waits for whoever is writing; what is not written waits for the next
_WAITING = 100  # traces; older ones are given up
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Pending:
    at: datetime
    entity: str | None
    found: int
    body: Mapping[str, Any]
    targets: tuple[Target, ...]
    erased: int | None


class Tracer:
    """Writes the traces of one namespace, a ``share`` (0 to 1) of its questions."""

    def __init__(self, store: Store, namespace: str, share: float) -> None:
        self.namespace, self.share = namespace, share
        self._memory = store
        self._own: Store | None = None
        self._pending: deque[_Pending] = deque(maxlen=_WAITING)
        self._asked = 0
        self._given_up = False
        self._lock = threading.Lock()

    def keep(self, answer: Recalled, context: Context | None = None, erased: int | None = None) -> None:
        """Trace an answer if it is one of the share: a matter of its question, the time it is asked at, and how many
        were asked before it in this process, never of chance. ``erased``: the last erasure before it was asked, by
        ``last_erasure``; when another has come before the trace is written, the question may quote what that took, and
        there is none. Raises nothing."""
        with self._lock:
            self._asked += 1
            key = f"{answer.asked.text}\x1f{answer.asked.now.isoformat()}\x1f{self._asked}"
            if self._given_up or not sampled(key, self.share):
                return
            # Something is always nearest: what only nearness proposes was not found.
            routes = [hit.routes for hit in answer.hits] + [hit.routes for hit in answer.turns]
            found = sum(bool(each.keys() - {"vector", "beside"}) for each in routes)
            targets = tuple(_targets(answer, context))
            body = body_of(answer, context)
            self._pending.append(_Pending(datetime.now(UTC), answer.filters.entity, found, body, targets, erased))
            self._write()

    def close(self) -> None:
        """Write what waits and let go of the connection."""
        with self._lock:
            if self._pending:
                self._write()
            if self._own is not None:
                self._own.close()
                self._own = None

    def _write(self) -> None:
        try:
            store = self._store()
            with store.writing(self.namespace) as tx:
                erased = last_erasure(tx)
                for each in self._pending:
                    if each.erased not in (None, erased) or traces.gone(tx.connection, tx.namespace, each.targets):
                        continue  # erased since the question was asked: its trace would have gone with it
                    traces.write(tx.connection, tx.namespace, each.at, each.entity, each.found, each.body, each.targets)
            self._pending.clear()
        except (ReadOnly, CannotOpen) as wrong:  # nothing can be written here, now or later
            self._given_up = True
            self._pending.clear()
            _LOG.warning("no traces are written: %s", wrong)
        except Exception as wrong:
            _LOG.info("a trace waits: %s", type(wrong).__name__)

    def _store(self) -> Store:
        """A connection of its own, which waits for nobody long; a memory database has only one."""
        if self._own is None:
            self._own = self._memory.again(busy_timeout=_WAIT)
        return self._own if self._own is not None else self._memory


def last_erasure(tx: Reading) -> int:
    """The number of the last record of an erasure, -1 for none."""
    last = tx.log.latest("erase")
    return -1 if last is None else last


def shown(
    tx: Reading, *, number: int | None, target: str | None, empty: bool, period: Period, last: int
) -> tuple[Trace, ...]:  # fmt: skip
    """Traces, the newest first, without those that a restriction hides."""
    out = hidden(tx)
    found = traces.last(
        tx.connection, tx.namespace, number=number, target=target, empty=empty, period=period,
        limit=None if out else last,
    )  # fmt: skip
    return tuple(islice((each for each in found if each.number not in out), last))


def hidden(tx: Reading) -> frozenset[int]:
    """Numbers of the traces that are not shown: what would go with the items, the entity or the conversation that is
    restricted, if that were erased. So a question that only says the name of somebody restricted is among them."""
    found: set[int] = set()
    for each in tx.restrictions:
        if not each.target:
            continue
        entity = each.target if each.on == "entity" else None
        if each.on == "item":
            items, turns = {each.target}, turns_of_items(tx, [each.target])
        elif entity is not None:
            items = items_where(tx, entity=entity)
            turns = turns_where(tx, principal=entity) | turns_about(tx, entity)
        else:
            turns = turns_where(tx, conversation=each.target)
            items = items_of(tx, turns)
            turns |= turns_of_items(tx, items)
        words = {word for item in items for one in tx.versions(item) for word in (one.surface, one.canonical)}
        found.update(traces.naming(tx.connection, tx.namespace, items=items, turns=turns, words=words, entity=entity))
    return frozenset(found)


def sampled(key: str, share: float) -> bool:
    """Whether a key is one of the share of all keys."""
    return int.from_bytes(hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()[:8], "big") < share * 2**64


def body_of(answer: Recalled, context: Context | None) -> dict[str, Any]:
    """A trace for people and programs: how the question was read, routes, scores, filters, what stood in context."""
    asked, filters = answer.asked, answer.filters
    routes: dict[str, list[list[Any]]] = {}
    for hit in answer.proposed:
        for name, found in hit.routes.items():
            routes.setdefault(name, []).append([found.rank, hit.item.id, round(found.closeness, 4)])
    body: dict[str, Any] = {
        "question": asked.text,
        "read": {
            "now": asked.now.isoformat(),
            "as_of": asked.as_of.isoformat() if asked.as_of else None,
            "known_at": asked.known_at.isoformat() if asked.known_at else None,
            "said": [each.isoformat() if each else None for each in asked.said] if asked.said else None,
            "slots": {name: round(sure, 3) for name, sure in sorted(asked.slots.items())},
            "range": asked.range.words if asked.range else None,
            "history": asked.history or filters.history,
            "expanded": list(answer.expanded),
        },
        "filters": {
            "slots": sorted(filters.slots) if filters.slots is not None else None,
            "without": sorted(filters.without),
            "left_out": dict(answer.left_out),
        },
        "unserved": dict(answer.unserved),
        "routes": {name: sorted(found) for name, found in routes.items()},
        "hits": [
            {"item": hit.item.id, "version": hit.item.version, "score": hit.score, "similarity": hit.similarity,
             "importance": hit.importance, "recency": hit.recency, "reranked": hit.reranked}
            for hit in answer.hits
        ],
        "turns": [
            {"turn": hit.turn.turn_id, "score": hit.score,
             "routes": {name: found.rank for name, found in hit.routes.items()}}
            for hit in answer.turns
        ],
    }  # fmt: skip
    if context is not None:
        body["context"] = {
            "budget": context.budget, "tokens": context.tokens,
            "lines": [{"item": line.item, "version": line.version} for line in context.lines],
            "turns": list(context.said),
            "window": [{"items": list(line.items), "turn": line.turn_id, "record": line.record}
                       for line in context.recent],
            "left_out": [{"item": each.item, "why": each.why} for each in context.left_out],
        }  # fmt: skip
    return body


def _targets(answer: Recalled, context: Context | None) -> Iterator[Target]:
    """All that an answer names, what is in it first."""
    shown = {line.item for line in context.lines} if context is not None else set()
    for place, hit in enumerate(answer.hits, 1):
        yield Target("item", hit.item.id, place, hit.item.id in shown)
    quoted = set(context.said) if context is not None else set()
    for place, said in enumerate(answer.turns, 1):
        yield Target("turn", said.turn.turn_id, place, said.turn.turn_id in quoted)
    for line in context.recent if context is not None else ():
        for key in line.items:
            yield Target("item", key.rpartition("/")[0], injected=True)
        if line.turn_id is not None:
            yield Target("turn", line.turn_id)
    for out in context.left_out if context is not None else ():
        yield Target("item", out.item)
    for hit in answer.proposed:
        yield Target("item", hit.item.id)
