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

from sqlalchemy import ColumnElement, Connection, Select, case, delete, func, insert, literal, select

from .tables import ITEMS, TRACE_HITS, TRACES, TURNS, column, stamp, storable, unstamp

_PAGE = 400
_GROUPS = re.compile(r"(?<=\d)[ ,'-](?=\d)")
_NUMBERS = re.compile(r"\d{4,}")  # what tells one value from others, however it is written around
_SHORTEST = 2  # characters of a value that make it worth looking for in a question
_TELLING = 4  # characters of a question that make it worth looking for in a text
Kind = Literal["item", "turn"]
Unit = Literal["day", "month"]
Period = tuple[datetime | None, datetime | None]  # when they were written, the end exclusive
ALWAYS: Period = (None, None)
LARGEST = 2**63 - 1  # what a database takes as a whole number
_LENGTH: Mapping[Unit, int] = {"day": 10, "month": 7}


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


@dataclass(frozen=True, slots=True)
class Counted:
    """How many questions were traced in a day or a month (UTC; empty: in all), and how many of them found nothing."""

    period: str
    traced: int
    empty: int


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
    period: Period = ALWAYS,
    limit: int | None = None,
) -> Iterator[Trace]:
    """Traces, the newest first: one by its number, those with a target among their hits, those that found nothing,
    those of a period."""
    where = _of(namespace, period)
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
    query = query.limit(limit) if limit is not None else query
    with connection.execute(query.execution_options(yield_per=500)) as rows:
        for row in rows:
            yield _read(*row)


def _read(number: int, written: str, entity: str | None, found: int, body: str) -> Trace:
    return Trace(number, unstamp(written), entity, found, json.loads(body))


def counts(
    connection: Connection, namespace: str, *, by: Unit | None = None, period: Period = ALWAYS,
    hidden: frozenset[int] = frozenset(),
) -> list[Counted]:  # fmt: skip
    """How many traces there are and how many of them found nothing, by the day or the month they were written in,
    oldest first; without ``by`` one line for all of the ``period``. The ``hidden`` ones do not count."""
    when = func.substr(TRACES.c.written_at, 1, _LENGTH[by]) if by is not None else literal("")
    empty = func.sum(case((TRACES.c.found == 0, 1), else_=0))
    query = select(when, func.count(), empty).where(*_of(namespace, period)).group_by(when)
    found = {name: [int(every), int(none)] for name, every, none in connection.execute(query)}
    for some in _pages(hidden):
        for name, every, none in connection.execute(query.where(TRACES.c.number.in_(some))):
            found[name][0] -= int(every)
            found[name][1] -= int(none)
    return [Counted(name, every, none) for name, (every, none) in sorted(found.items()) if every]


def hits(
    connection: Connection, namespace: str, limit: int, *, hidden: frozenset[int] = frozenset()
) -> list[Hits]:  # fmt: skip
    """The items and turns that were answers most often, each with its count; the ``hidden`` traces do not count."""
    mine = (TRACE_HITS.c.namespace == namespace, TRACE_HITS.c.place > 0)
    which = (TRACE_HITS.c.kind, TRACE_HITS.c.target)
    query = select(*which, func.count(), func.sum(TRACE_HITS.c.injected)).where(*mine).group_by(*which)
    if not hidden:
        rows = connection.execute(query.order_by(func.count().desc(), *which).limit(limit))
        return [Hits(kind, target, int(times), int(shown)) for kind, target, times, shown in rows]
    found = {(kind, target): [int(times), int(shown)] for kind, target, times, shown in connection.execute(query)}
    for some in _pages(hidden):
        for kind, target, times, shown in connection.execute(query.where(TRACE_HITS.c.trace.in_(some))):
            found[kind, target][0] -= int(times)
            found[kind, target][1] -= int(shown)
    told = [Hits(kind, target, times, shown) for (kind, target), (times, shown) in found.items() if times]
    return sorted(told, key=lambda each: (-each.answers, each.kind, each.id))[:limit]


def targets(connection: Connection, namespace: str, number: int) -> set[str]:
    """Ids of all items and turns that a trace names."""
    query = select(TRACE_HITS.c.target).where(TRACE_HITS.c.namespace == namespace, TRACE_HITS.c.trace == number)
    return set(connection.execute(query).scalars())


def gone(connection: Connection, namespace: str, named: Iterable[Target]) -> bool:
    """Whether one of these items and turns is not, or no longer, stored."""
    for kind, table, key in (("item", ITEMS, ITEMS.c.item_id), ("turn", TURNS, TURNS.c.turn_id)):
        wanted = {each.id for each in named if each.kind == kind}
        for some in _pages(wanted):
            query = select(key).where(table.c.namespace == namespace, key.in_(some)).distinct()
            wanted -= set(connection.execute(query).scalars())
        if wanted:
            return True
    return False


def _of(namespace: str, period: Period) -> list[ColumnElement[bool]]:
    """The traces of a namespace and a period."""
    where = [TRACES.c.namespace == namespace]
    start, end = period
    if start is not None:
        where.append(TRACES.c.written_at >= stamp(start))
    if end is not None:
        where.append(TRACES.c.written_at < stamp(end))
    return where


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
    if connection.execute(select(TRACES.c.number).where(TRACES.c.namespace == namespace).limit(1)).first() is None:
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


def remove_stale(connection: Connection, namespace: str, stale: Select[Any]) -> None:
    """Delete the traces of hits on what is not stored."""
    remove(connection, namespace, {row.trace for row in connection.execute(stale)})


def remove(connection: Connection, namespace: str, numbers: Iterable[int]) -> None:
    """Delete traces; the free space is for ``Store.scrub`` to clean."""
    for some in _pages(numbers):
        for table, number in ((TRACE_HITS, TRACE_HITS.c.trace), (TRACES, TRACES.c.number)):
            connection.execute(delete(table).where(table.c.namespace == namespace, number.in_(some)))


def _pages(ids: Iterable[Any]) -> Iterator[Sequence[Any]]:
    every = sorted(set(ids))
    for at in range(0, len(every), _PAGE):
        yield every[at : at + _PAGE]
