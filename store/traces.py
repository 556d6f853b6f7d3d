"""Traces: what was asked and how its answer came about, kept for a while beside the memory.

A trace is no part of the log and proves nothing. It has the words of a question, so it goes with whatever it names: an
erasure takes it whole.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, delete, func, insert, select

from .tables import TRACE_HITS, TRACES, TURNS, column, stamp, storable, unstamp

_PAGE = 400
_GROUPS = re.compile(r"(?<=\d)[ ,'-](?=\d)")
_NUMBERS = re.compile(r"\d{4,}")  # what tells one value from others, however it is written around
_SHORTEST = 2  # characters of a value that make it worth looking for in a question
_TELLING = 4  # characters of a question that make it worth looking for in a text
Kind = Literal["item", "turn"]


@dataclass(frozen=True, slots=True)
class Target:
    """An item or a turn that a trace names: its place in the answer (0: only proposed), and whether a model saw it."""

    kind: Kind
    id: str
    place: int = 0
    injected: bool = False


@dataclass(frozen=True, slots=True)
class Trace:
    """One question and how its answer came about; ``found`` counts the hits."""

    number: int
    written_at: datetime
    entity: str | None
    found: int
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Hits:
    """How often an item or a turn was an answer, and how often it stood before a model."""

    kind: Kind
    id: str
    answers: int
    injected: int


def write(
    connection: Connection,
    namespace: str,
    at: datetime,
    entity: str | None,
    found: int,
    body: Mapping[str, Any],
    targets: Iterable[Target],
) -> int:
    """Keep a trace inside the writer's transaction; its number."""
    last = connection.execute(select(func.max(TRACES.c.number)).where(TRACES.c.namespace == namespace)).scalar()
    number = int(last or 0) + 1
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    row = {
        "namespace": namespace, "number": number, "written_at": stamp(at), "found": found,
        "entity": column(entity) if entity is not None else None,
        "body": text if storable(text) else json.dumps(body, separators=(",", ":")),
    }  # fmt: skip
    connection.execute(insert(TRACES), [row])
    best: dict[tuple[str, str], Target] = {}
    for each in targets:
        best.setdefault((each.kind, each.id), each)
    rows = [
        {"namespace": namespace, "target": each.id, "trace": number, "kind": each.kind, "place": each.place,
         "injected": int(each.injected)}
        for each in best.values()
    ]  # fmt: skip
    if rows:
        connection.execute(insert(TRACE_HITS), rows)
    return number


# ---------------------------------------------------------------- reading
def last(
    connection: Connection,
    namespace: str,
    *,
    number: int | None = None,
    target: str | None = None,
    empty: bool = False,
    limit: int | None = None,
) -> list[Trace]:
    """Traces, the newest first: one by its number, those with a target among their hits, those that found nothing."""
    where = [TRACES.c.namespace == namespace]
    if number is not None:
        where.append(TRACES.c.number == number)
    if empty:
        where.append(TRACES.c.found == 0)
    query = select(TRACES.c.number, TRACES.c.written_at, TRACES.c.entity, TRACES.c.found, TRACES.c.body)
    if target is not None:
        hit = select(TRACE_HITS.c.trace).where(
            TRACE_HITS.c.namespace == namespace, TRACE_HITS.c.target == target, TRACE_HITS.c.place > 0
        )
        where.append(TRACES.c.number.in_(hit))
    query = query.where(*where).order_by(TRACES.c.number.desc())
    rows = connection.execute(query.limit(limit) if limit is not None else query)
    return [_read(*row) for row in rows]


def _read(number: int, written: str, entity: str | None, found: int, body: str) -> Trace:
    return Trace(number, unstamp(written), entity, found, json.loads(body))


def count(connection: Connection, namespace: str, *, empty: bool = False) -> int:
    """How many traces there are; ``empty``: of questions that found nothing."""
    query = select(func.count()).select_from(TRACES).where(TRACES.c.namespace == namespace)
    return int(connection.execute(query.where(TRACES.c.found == 0) if empty else query).scalar_one())


def hits(connection: Connection, namespace: str, limit: int) -> list[Hits]:
    """The items and turns that were answers most often, each with its count."""
    answers = func.count()
    query = (
        select(TRACE_HITS.c.kind, TRACE_HITS.c.target, answers, func.sum(TRACE_HITS.c.injected))
        .where(TRACE_HITS.c.namespace == namespace, TRACE_HITS.c.place > 0)
        .group_by(TRACE_HITS.c.kind, TRACE_HITS.c.target)
        .order_by(answers.desc(), TRACE_HITS.c.kind, TRACE_HITS.c.target)
        .limit(limit)
    )
    return [Hits(kind, target, int(times), int(shown)) for kind, target, times, shown in connection.execute(query)]


def targets(connection: Connection, namespace: str, number: int) -> set[str]:
    """Ids of all items and turns that a trace names."""
    query = select(TRACE_HITS.c.target).where(TRACE_HITS.c.namespace == namespace, TRACE_HITS.c.trace == number)
    return set(connection.execute(query).scalars())


# ---------------------------------------------------------------- letting go
def naming(
    connection: Connection,
    namespace: str,
    *,
    items: Iterable[str] = (),
    turns: Iterable[str] = (),
    words: Iterable[str] = (),
    entity: str | None = None,
) -> list[int]:
    """Traces that must go with these items and turns: those that name one, those that ask about the entity, those whose
    question has one of the words, and those whose question is a part of what was said in one of the turns."""
    if not count(connection, namespace):
        return []
    found: set[int] = set()
    said: list[str] = []
    mine = TRACE_HITS.c.namespace == namespace
    for some in _pages({*items, *turns}):
        found |= set(
            connection.execute(select(TRACE_HITS.c.trace).where(mine, TRACE_HITS.c.target.in_(some))).scalars()
        )
    for some in _pages(turns):
        texts = select(TURNS.c.text).where(TURNS.c.namespace == namespace, TURNS.c.turn_id.in_(some))
        kept = (bytes(text).decode("utf-8", "replace") for text in connection.execute(texts).scalars() if text)
        said += map(_plain, kept)
    plain = {_plain(word) for word in (*words, *([entity] if entity is not None else []))}
    numbers = {number for word in plain for number in _NUMBERS.findall(word)}
    wanted = {word for word in plain | numbers if len(word) >= _SHORTEST}
    query = select(TRACES.c.number, TRACES.c.entity, TRACES.c.body).where(TRACES.c.namespace == namespace)
    with connection.execute(query.execution_options(yield_per=500)) as rows:
        for number, about, body in rows:
            question = _plain(str(json.loads(body).get("question", "")))
            telling = len(question) >= _TELLING and any(question in text for text in said)
            if telling or (entity is not None and about == column(entity)) or any(word in question for word in wanted):
                found.add(number)
    return sorted(found)


def _plain(text: str) -> str:
    """A text to compare by: folded, and numbers without what groups their digits."""
    return _GROUPS.sub("", unicodedata.normalize("NFKC", text).casefold()).strip()


def due(connection: Connection, namespace: str, before: datetime) -> Iterator[tuple[int, str | None]]:
    """Number and entity of each trace that was written before a time, the oldest first."""
    query = select(TRACES.c.number, TRACES.c.entity).where(
        TRACES.c.namespace == namespace, TRACES.c.written_at < stamp(before)
    )
    for row in connection.execute(query.order_by(TRACES.c.number)).all():
        yield row[0], row[1]


def remove(connection: Connection, namespace: str, numbers: Iterable[int]) -> None:
    """Delete traces; the free space is for ``Store.scrub`` to clean."""
    for some in _pages(numbers):
        for table, number in ((TRACE_HITS, TRACE_HITS.c.trace), (TRACES, TRACES.c.number)):
            connection.execute(delete(table).where(table.c.namespace == namespace, number.in_(some)))


def _pages(ids: Iterable[Any]) -> Iterator[Sequence[Any]]:
    every = sorted(set(ids))
    for at in range(0, len(every), _PAGE):
        yield every[at : at + _PAGE]
