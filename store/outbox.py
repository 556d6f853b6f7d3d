"""Work that a write leaves for later (embeddings, wording): rows of the same transaction, each done once.

All times are given by the caller. A worker takes work under a lease; when it dies, the lease runs out and
another one takes it. Only the holder of the lease can mark it done.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, delete, func, insert, select, update

from .tables import OUTBOX, stamp

REINDEX = "reindex"
"""The kind of work that a newer schema leaves: its search indexes are empty until they are built."""


@dataclass(frozen=True, slots=True)
class Work:
    """One piece of work as taken by a worker."""

    id: int
    namespace: str
    kind: str
    item_id: str
    item_version: int
    payload: Mapping[str, Any]
    attempts: int
    lease: str


class Outbox:
    """The work of one namespace inside one transaction."""

    def __init__(self, connection: Connection, namespace: str) -> None:
        self._connection = connection
        self._namespace = namespace

    def put(
        self, kind: str, item_id: str, item_version: int, payload: Mapping[str, Any], *, not_before: datetime
    ) -> None:
        """Leave work; the same kind for the same item version is one piece, however often it is left."""
        key = and_(
            OUTBOX.c.namespace == self._namespace,
            OUTBOX.c.kind == kind,
            OUTBOX.c.item_id == item_id,
            OUTBOX.c.item_version == item_version,
        )
        if self._connection.execute(select(OUTBOX.c.id).where(key)).first() is not None:
            return
        row = {
            "namespace": self._namespace,
            "kind": kind,
            "item_id": item_id,
            "item_version": item_version,
            "payload": json.dumps(payload, sort_keys=True, separators=(",", ":")),
            "state": "waiting",
            "attempts": 0,
            "not_before": stamp(not_before),
        }
        self._connection.execute(insert(OUTBOX), [row])

    def take(self, kind: str, *, now: datetime, lease: timedelta, holder: str, limit: int = 10) -> tuple[Work, ...]:
        """Work that is due, oldest first, for this holder alone until the lease runs out."""
        due = (
            select(OUTBOX)
            .where(
                OUTBOX.c.namespace == self._namespace,
                OUTBOX.c.kind == kind,
                OUTBOX.c.state == "waiting",
                OUTBOX.c.not_before <= stamp(now),
            )
            .order_by(OUTBOX.c.not_before, OUTBOX.c.id)
            .limit(limit)
        )
        taken: list[Work] = []
        for row in self._connection.execute(due).all():
            attempts = row.attempts + 1
            token = f"{holder}/{row.id}/{attempts}"  # a new one each time: a late worker cannot finish for another
            self._connection.execute(
                update(OUTBOX)
                .where(OUTBOX.c.id == row.id)
                .values(attempts=attempts, not_before=stamp(now + lease), lease=token)
            )
            payload = json.loads(row.payload)
            taken.append(Work(row.id, row.namespace, row.kind, row.item_id, row.item_version, payload, attempts, token))
        return tuple(taken)

    def done(self, work: Work) -> bool:
        """Mark work as done; False when the lease has gone to another or it was done already."""
        return self._finish(work, state="done", lease=None, error=None)

    def failed(self, work: Work, error: str, *, again_at: datetime | None) -> bool:
        """Put work back for later, or give it up when ``again_at`` is None."""
        if again_at is None:
            return self._finish(work, state="failed", lease=None, error=error)
        return self._finish(work, state="waiting", lease=None, error=error, not_before=stamp(again_at))

    def drop(self, work: Work) -> bool:
        """Mark work as done by taking it out, where nobody asks for it later; False as with ``done``."""
        mine = and_(OUTBOX.c.id == work.id, OUTBOX.c.state == "waiting", OUTBOX.c.lease == work.lease)
        return self._connection.execute(delete(OUTBOX).where(mine)).rowcount == 1

    def waits(self, kind: str) -> bool:
        """Whether any work of a kind waits."""
        query = select(OUTBOX.c.id).where(self._of(kind), OUTBOX.c.state == "waiting")
        return self._connection.execute(query.limit(1)).first() is not None

    def clear(self, kind: str) -> None:
        """Take out all work of a kind."""
        self._connection.execute(delete(OUTBOX).where(self._of(kind)))

    def _of(self, kind: str) -> ColumnElement[bool]:
        return and_(OUTBOX.c.namespace == self._namespace, OUTBOX.c.kind == kind)

    def counts(self) -> dict[str, int]:
        """How much work is waiting, done and given up."""
        query = select(OUTBOX.c.state, func.count()).where(OUTBOX.c.namespace == self._namespace)
        return {state: int(number) for state, number in self._connection.execute(query.group_by(OUTBOX.c.state))}

    def _finish(self, work: Work, **values: Any) -> bool:
        mine = and_(OUTBOX.c.id == work.id, OUTBOX.c.state == "waiting", OUTBOX.c.lease == work.lease)
        return self._connection.execute(update(OUTBOX).where(mine).values(**values)).rowcount == 1
