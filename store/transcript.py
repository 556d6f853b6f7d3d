"""Full text over what was said: the second source of an answer, beside the items and apart from them.

A turn stands in the index under its words and under the slots that its decisions were about (its marks), never under a
value of theirs: what is said of the same thing in other words is still told from the rest.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, bindparam, delete, exists, func, select

from ..model import Decision, Turn
from . import search, vectors
from .codec import read_decision, read_turn
from .search import Add
from .statements import Insert, Statement
from .tables import DECISIONS, TURN_TERMS, TURN_TEXTS, TURN_VECTORS, TURNS, column, stamp

_ADD = Insert(TURN_TERMS, "namespace", "term", "principal", "number", "count")
_ADD_TEXT = Insert(
    TURN_TEXTS, "namespace", "principal", "number", "turn_id", "conversation", "said_at", "length"
)  # fmt: skip
_ADD_VECTOR = Insert(TURN_VECTORS, "namespace", "number", "model", "vector")
_PAGE = 400
_MARK = "slot="
_POSTING = tuple(TURN_TERMS.c[name] == bindparam(name) for name in ("namespace", "term", "principal", "number"))
_COUNT = Statement(select(TURN_TERMS.c.term, TURN_TERMS.c.count).where(*_POSTING))
_TAKE_OUT = Statement(delete(TURN_TERMS).where(*_POSTING))
_TAKE_TEXT = Statement(
    delete(TURN_TEXTS).where(*(TURN_TEXTS.c[name] == bindparam(name) for name in ("namespace", "principal", "number")))
)
_TAKE_VECTOR = Statement(
    delete(TURN_VECTORS).where(*(TURN_VECTORS.c[name] == bindparam(name) for name in ("namespace", "number")))
)
_INDEXED = Statement(
    select(TURN_TEXTS.c.turn_id, TURN_TEXTS.c.principal, TURN_TEXTS.c.number, TURN_TEXTS.c.length).where(
        TURN_TEXTS.c.namespace == bindparam("namespace"), TURN_TEXTS.c.turn_id == bindparam("turn")
    )
)
_TEXT, _DECIDED = (
    Statement(select(each).where(table.c.namespace == bindparam("namespace"), table.c.turn_id == bindparam("turn")))
    for table, each in ((TURNS, TURNS.c.text), (DECISIONS, DECISIONS.c.body))
)


@dataclass(frozen=True)
class Within:
    """What a turn must be, decided before anything is ranked; times are those of saying, ``before`` exclusive."""

    principal: str | None = None
    since: datetime | None = None
    before: datetime | None = None
    until: datetime | None = None  # inclusive
    not_principals: frozenset[str] = frozenset()
    not_conversations: frozenset[str] = frozenset()
    not_turns: frozenset[str] = frozenset()
    slots: frozenset[str] | None = None  # only turns in which something was decided about one of these


def slot_mark(slot: str) -> str:
    """The term of turns in which something was decided about a slot; no word has such a sign in it."""
    return f"{_MARK}{slot.removeprefix('reported.')}"


def marks(decisions: Iterable[Decision]) -> set[str]:
    """What a turn is about: the slots of its decisions, refused ones too."""
    return {slot_mark(decision.slot) for decision in decisions if decision.slot is not None}


def index(add: Add, namespace: str, turn: Turn, number: int, decisions: Iterable[Decision]) -> None:
    """Put a turn into the index under ``number``, that of its first record; what people do to items is no talk."""
    if turn.edit is not None or turn.endings is not None or not turn.text:
        return
    principal, counted = column(turn.entity), Counter(search.terms(turn.text))
    length = counted.total()
    counted.update(marks(decisions))
    add(_ADD, [(namespace, term, principal, number, count) for term, count in counted.items()])
    text = (namespace, principal, number, turn.turn_id, column(turn.conversation), stamp(turn.said_at), length)
    add(_ADD_TEXT, [text])


def unindex(connection: Connection, namespace: str, turn_ids: Iterable[str]) -> None:
    """Take turns out of the index, before their texts are erased; their words are gone from the file once it is
    scrubbed. The turn after each of them loses its vector, which has something of what was said before: it waits for
    another.

    The postings are found by the words of the text and the slots of the decisions, each under its key. That the words
    are all is told by the length of the text; where it is not so, the postings of the namespace are searched.
    """
    rows = list(_INDEXED.each(connection, "turn", sorted(set(turn_ids)), namespace=namespace))
    numbers = [number for _, _, number, _ in rows]
    after = [next_ for some in _pages(numbers) for next_ in beside(connection, namespace, some, 1, Within()).values()]
    _TAKE_VECTOR.many(connection, "number", {*numbers, *after}, namespace=namespace)
    left: list[int] = []
    for turn_id, principal, number, length in rows:
        key = {"namespace": namespace, "principal": principal, "number": number}
        counts = list(_COUNT.each(connection, "term", _terms_of(connection, namespace, turn_id), **key))
        _TAKE_OUT.many(connection, "term", [term for term, _ in counts], **key)
        _TAKE_TEXT.run(connection, **key)
        if sum(count for term, count in counts if not term.startswith(_MARK)) != length:
            left.append(number)
    for some in _pages(left):
        connection.execute(delete(TURN_TERMS).where(TURN_TERMS.c.namespace == namespace, TURN_TERMS.c.number.in_(some)))


def _terms_of(connection: Connection, namespace: str, turn_id: str) -> list[str]:
    """What a turn may stand under."""
    found: set[str] = set()
    for (text,) in _TEXT.all(connection, namespace=namespace, turn=turn_id):
        if text is not None:
            found.update(search.terms(bytes(text).decode("utf-8", "surrogatepass")))
    slots = (json.loads(body).get("slot") for (body,) in _DECIDED.all(connection, namespace=namespace, turn=turn_id))
    return sorted(found | {slot_mark(slot) for slot in slots if slot is not None})


def _pages(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    for at in range(0, len(numbers), _PAGE):
        yield numbers[at : at + _PAGE]


def clear(connection: Connection, namespace: str) -> None:
    """Empty the index, to be built again; vectors stay."""
    for table in (TURN_TERMS, TURN_TEXTS):
        connection.execute(delete(table).where(table.c.namespace == namespace))


def rebuild(connection: Connection, add: Add, namespace: str, numbers: Mapping[str, int]) -> None:
    """Put turns (id → number) back into the index, as far as they still have their text; a page of them at most."""
    rows = connection.execute(
        select(TURNS.c.turn_id, TURNS.c.body, TURNS.c.text, DECISIONS.c.body)
        .join(DECISIONS, and_(DECISIONS.c.namespace == TURNS.c.namespace, DECISIONS.c.turn_id == TURNS.c.turn_id))
        .where(TURNS.c.namespace == namespace, TURNS.c.text.is_not(None), TURNS.c.turn_id.in_(sorted(numbers)))
        .order_by(TURNS.c.turn_id, DECISIONS.c.ordinal)
    ).all()
    found: dict[str, tuple[Turn, list[Decision]]] = {}
    for turn_id, body, text, decided in rows:
        if turn_id not in found:
            found[turn_id] = (read_turn(body, text), [])
        found[turn_id][1].append(read_decision(decided))
    for turn_id, (turn, decisions) in found.items():
        index(add, namespace, turn, numbers[turn_id], decisions)


# ---------------------------------------------------------------- asking it
def find(
    connection: Connection, namespace: str, asked: Mapping[str, float], within: Within
) -> list[tuple[int, float]]:  # fmt: skip
    """Turns (by number) that have some of the weighed terms, with their BM25 score, best first; what is filtered out
    counts in no statistic."""
    postings = {term: found for term in asked if (found := _postings(connection, namespace, term, within))}
    if not postings:
        return []
    total, average = _measure(connection, namespace, within)
    scores: dict[int, float] = {}
    for term, found in postings.items():
        for number, gain in search.weigh(found, total, average):
            scores[number] = scores.get(number, 0.0) + asked[term] * gain
    # Of equal scores what was said last comes first.
    return sorted(scores.items(), key=lambda each: (-round(each[1], 9), -each[0]))


def turns_by_number(connection: Connection, namespace: str, numbers: Sequence[int]) -> dict[int, Turn]:
    """Turns by the numbers under which they stand in the index."""
    query = (
        select(TURN_TEXTS.c.number, TURNS.c.body, TURNS.c.text)
        .join(TURNS, and_(TURNS.c.namespace == TURN_TEXTS.c.namespace, TURNS.c.turn_id == TURN_TEXTS.c.turn_id))
        .where(TURN_TEXTS.c.namespace == namespace, TURN_TEXTS.c.number.in_(numbers))
    )
    return {number: read_turn(body, text) for number, body, text in connection.execute(query)}


def numbers_of(
    connection: Connection, namespace: str, turn_ids: Iterable[str], within: Within
) -> dict[str, int]:  # fmt: skip
    """Of these turns, those that stand in the index and may be shown, with their numbers."""
    query = select(TURN_TEXTS.c.turn_id, TURN_TEXTS.c.number).where(
        TURN_TEXTS.c.turn_id.in_(sorted(set(turn_ids))), *_where(namespace, within)
    )
    return {row[0]: row[1] for row in connection.execute(query)}


def beside(
    connection: Connection, namespace: str, numbers: Sequence[int], step: int, within: Within
) -> dict[int, int]:  # fmt: skip
    """The turn ``step`` places on in the same conversation (before, when negative), by the number of each turn."""
    here, there = TURNS.alias("here"), TURNS.alias("there")
    mine = TURN_TEXTS.alias("mine")
    query = (
        select(mine.c.number, TURN_TEXTS.c.number)
        .join(here, and_(here.c.namespace == mine.c.namespace, here.c.turn_id == mine.c.turn_id))
        .join(
            there,
            and_(
                there.c.namespace == here.c.namespace, there.c.conversation == here.c.conversation,
                there.c.ordinal == here.c.ordinal + step,
            ),
        )
        .join(
            TURN_TEXTS,
            and_(TURN_TEXTS.c.namespace == there.c.namespace, TURN_TEXTS.c.turn_id == there.c.turn_id),
        )
        .where(mine.c.namespace == namespace, mine.c.number.in_(numbers), *_where(namespace, within))
    )  # fmt: skip
    return {row[0]: row[1] for row in connection.execute(query)}


def _where(namespace: str, within: Within) -> list[ColumnElement[bool]]:
    where: list[ColumnElement[bool]] = [TURN_TEXTS.c.namespace == namespace]
    if within.principal is not None:
        where.append(TURN_TEXTS.c.principal == column(within.principal))
    for moment, compare in (
        (within.since, TURN_TEXTS.c.said_at.__ge__),
        (within.before, TURN_TEXTS.c.said_at.__lt__),
        (within.until, TURN_TEXTS.c.said_at.__le__),
    ):
        if moment is not None:
            where.append(compare(stamp(moment)))
    for name, hidden in (
        (TURN_TEXTS.c.principal, within.not_principals), (TURN_TEXTS.c.conversation, within.not_conversations),
        (TURN_TEXTS.c.turn_id, within.not_turns),
    ):  # fmt: skip
        if hidden:
            where.append(name.not_in(sorted(map(column, hidden))))
    if within.slots is not None:
        about = TURN_TERMS.alias("about")
        marked = about.c.term.in_(sorted(set(map(slot_mark, within.slots))))
        same = and_(about.c.principal == TURN_TEXTS.c.principal, about.c.number == TURN_TEXTS.c.number)
        where.append(exists().where(about.c.namespace == namespace, marked, same))
    return where


def _postings(connection: Connection, namespace: str, term: str, within: Within) -> dict[int, tuple[int, int]]:
    """Turns that have a term: how often, and how long they are."""
    where: list[Any] = [TURN_TERMS.c.namespace == namespace, TURN_TERMS.c.term == term]
    if within.principal is not None:
        where.append(TURN_TERMS.c.principal == column(within.principal))
    text = and_(
        TURN_TEXTS.c.namespace == TURN_TERMS.c.namespace,
        TURN_TEXTS.c.principal == TURN_TERMS.c.principal,
        TURN_TEXTS.c.number == TURN_TERMS.c.number,
    )
    query = (
        select(TURN_TERMS.c.number, func.sum(TURN_TERMS.c.count), func.max(TURN_TEXTS.c.length))
        .join(TURN_TEXTS, text)
        .where(*where, *_where(namespace, within))
        .group_by(TURN_TERMS.c.number)
    )
    return {number: (int(count), int(length)) for number, count, length in connection.execute(query)}


def _measure(connection: Connection, namespace: str, within: Within) -> tuple[int, float]:
    """Number of turns that may be shown, and their mean length."""
    query = select(func.count(), func.sum(TURN_TEXTS.c.length)).where(*_where(namespace, within))
    total, length = connection.execute(query).one()
    return int(total), (float(length) / total if total and length else 1.0)


# ---------------------------------------------------------------- vectors
def waiting(connection: Connection, namespace: str, model: str, limit: int, after: int = -1) -> list[int]:
    """Numbers of turns ``after`` one that have no vector of a model, oldest first."""
    there = and_(
        TURN_VECTORS.c.namespace == TURN_TEXTS.c.namespace, TURN_VECTORS.c.number == TURN_TEXTS.c.number,
        TURN_VECTORS.c.model == model,
    )  # fmt: skip
    query = select(TURN_TEXTS.c.number).outerjoin(TURN_VECTORS, there)
    query = query.where(
        TURN_TEXTS.c.namespace == namespace, TURN_TEXTS.c.number > after, TURN_VECTORS.c.number.is_(None)
    )  # fmt: skip
    return list(connection.execute(query.order_by(TURN_TEXTS.c.number).limit(limit)).scalars())


def write_vectors(connection: Connection, namespace: str, model: str, rows: Mapping[int, Sequence[float]]) -> None:
    """Put vectors in the place of those that are there, by the numbers of turns."""
    mine = TURN_VECTORS.c.namespace == namespace
    connection.execute(delete(TURN_VECTORS).where(mine, TURN_VECTORS.c.number.in_(list(rows))))
    plain = connection.dialect.name != "sqlite"
    _ADD_VECTOR.run(
        connection, [(namespace, number, model, vectors.stored(row, plain)) for number, row in rows.items()]
    )  # fmt: skip


def nearest(
    connection: Connection, namespace: str, model: str, asked: Sequence[float], within: Within
) -> list[tuple[int, float]]:  # fmt: skip
    """Turns that may be shown with the cosine of their vector to another, the nearest first; every one is compared."""
    pair = and_(TURN_VECTORS.c.namespace == TURN_TEXTS.c.namespace, TURN_VECTORS.c.number == TURN_TEXTS.c.number)
    query = select(TURN_VECTORS.c.number, TURN_VECTORS.c.vector).join(TURN_TEXTS, pair)
    rows = connection.execute(query.where(TURN_VECTORS.c.model == model, *_where(namespace, within))).all()
    return sorted(vectors.scanned(rows, asked), key=lambda each: (-round(each[1], 6), -each[0]))


def size(connection: Connection, namespace: str, within: Within) -> int:
    """How many turns may be shown."""
    return _measure(connection, namespace, within)[0]
