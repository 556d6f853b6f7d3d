"""Whether what is made from items and turns agrees with them: search postings, the transcript's index, the graph of
names, traces. Nothing here proves anything; what an index lacks is not found.

Both sides are read in one order and compared as they come, so that a store of any size takes the same memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any, Literal

from sqlalchemy import Connection, RowMapping, Select, and_, exists, func, select

from ..model import Turn
from . import relations, transcript
from .codec import read_decision, read_item, read_turn
from .relations import EdgeOf
from .search import terms, text_of
from .tables import DECISIONS, ITEMS, RELATIONS, TERMS, TEXTS, TRACE_HITS, TRACES, TURN_TERMS, TURN_TEXTS, TURNS, column
from .tables import stamp as column_time

Kind = Literal["items", "transcript", "relations", "traces"]
Rows = Callable[[Select[Any]], Iterator[RowMapping]]
_PAGE = 500


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing on which an index and what is stored do not agree; ``id`` is that of the item, the turn or the trace,
    empty for rows that belong to nothing that is stored."""

    kind: Kind
    id: str
    why: str


@dataclass(frozen=True, slots=True)
class Compared:
    """How many things of a kind were compared, and how many of them differ."""

    kind: Kind
    compared: int
    different: int


Tell = Callable[[Difference], None]


def check(connection: Connection, namespace: str, edge_of: EdgeOf, slots: Sequence[str], tell: Tell) -> list[Compared]:
    """Compare all of a namespace; ``edge_of`` gives the edges that items say, ``slots`` are those that may."""

    def rows(query: Select[Any]) -> Iterator[RowMapping]:
        with connection.execute(query.execution_options(yield_per=1000)) as result:
            yield from result.mappings()

    found: list[Compared] = []
    sides: tuple[tuple[Kind, Iterator[tuple[str, str]]], ...] = (
        ("items", items(rows, namespace)),
        ("transcript", turns(connection, rows, namespace)),
        ("relations", edges(rows, namespace, edge_of, slots)),
        ("traces", trace_hits(connection, rows, namespace)),
    )
    for kind, side in sides:
        compared = different = 0
        for id_, why in side:
            compared += bool(id_)
            if why:
                different += 1
                tell(Difference(kind, id_, why))
        found.append(Compared(kind, compared, different))
    return found


def items(rows: Rows, namespace: str) -> Iterator[tuple[str, str]]:
    """Each item, and what is wrong with its entry in full text; then what belongs to no item."""
    newest = (
        select(ITEMS.c.ordinal, ITEMS.c.item_id, ITEMS.c.body)
        .where(ITEMS.c.namespace == namespace, ITEMS.c.replaced_at.is_(None))
        .order_by(ITEMS.c.ordinal)
    )
    texts = select(TEXTS.c.ordinal, TEXTS.c.entity, TEXTS.c.length).where(TEXTS.c.namespace == namespace)
    postings = select(TERMS.c.ordinal, TERMS.c.entity, TERMS.c.term, TERMS.c.count).where(
        TERMS.c.namespace == namespace
    )
    lengths = Grouped((row["ordinal"], (row["entity"], row["length"])) for row in rows(texts.order_by(TEXTS.c.ordinal)))
    words = Grouped(
        (row["ordinal"], (row["entity"], row["term"], row["count"])) for row in rows(postings.order_by(TERMS.c.ordinal))
    )
    for row in rows(newest):
        held, length = words.at(row["ordinal"]), lengths.at(row["ordinal"])
        try:
            item = read_item(row["body"])
        except Exception:  # told by `audit verify`
            continue
        entity, counted = column(item.entity), Counter(terms(text_of(item)))
        fits = sorted(held) == sorted((entity, term, count) for term, count in counted.items())
        fits = fits and length == [(entity, counted.total())]
        yield row["item_id"], "" if fits else _what(held or length)
    yield from [("", "an entry of no item")] * max(words.left(), lengths.left())


def turns(connection: Connection, rows: Rows, namespace: str) -> Iterator[tuple[str, str]]:
    """Each turn that has its words, and what is wrong with its entry in the transcript's index; then the rest."""
    first = select(DECISIONS.c.seq, DECISIONS.c.turn_id).where(
        DECISIONS.c.namespace == namespace, DECISIONS.c.ordinal == 0, DECISIONS.c.seq.is_not(None)
    )
    texts = select(TURN_TEXTS).where(TURN_TEXTS.c.namespace == namespace).order_by(TURN_TEXTS.c.number)
    postings = select(TURN_TERMS).where(TURN_TERMS.c.namespace == namespace).order_by(TURN_TERMS.c.number)
    names = ("principal", "turn_id", "conversation", "said_at", "length")
    held_texts = Grouped((row["number"], tuple(row[name] for name in names)) for row in rows(texts))
    held_words = Grouped((row["number"], (row["principal"], row["term"], row["count"])) for row in rows(postings))
    numbered = rows(first.order_by(DECISIONS.c.seq))
    while page := list(islice(numbered, _PAGE)):
        said = _said(connection, namespace, [row["turn_id"] for row in page])
        for row in page:
            held, text = held_words.at(row["seq"]), held_texts.at(row["seq"])
            if row["turn_id"] not in said:
                if held or text:
                    yield row["turn_id"], "its words are gone, and not from the index"
                continue
            turn, marks = said[row["turn_id"]]
            wanted: list[tuple[Any, ...]] = []
            wanted_text: list[tuple[Any, ...]] = []
            if turn.edit is None and turn.endings is None and turn.text:  # as `transcript.index` takes it
                counted = Counter(terms(turn.text))
                length = counted.total()
                counted.update(marks)
                principal = column(turn.entity)
                wanted = sorted((principal, term, count) for term, count in counted.items())
                place = (turn.turn_id, column(turn.conversation), column_time(turn.said_at))
                wanted_text = [(principal, *place, length)]
            fits = sorted(held) == wanted and text == wanted_text
            yield row["turn_id"], "" if fits else _what(held or text)
    yield from [("", "an entry of no turn")] * max(held_words.left(), held_texts.left())


def _said(connection: Connection, namespace: str, ids: Sequence[str]) -> dict[str, tuple[Turn, set[str]]]:
    """Turns that have their words, and the marks of what was decided about them."""
    found: dict[str, tuple[Turn, set[str]]] = {}
    query = (
        select(TURNS.c.turn_id, TURNS.c.body, TURNS.c.text, DECISIONS.c.body)
        .join(DECISIONS, and_(DECISIONS.c.namespace == TURNS.c.namespace, DECISIONS.c.turn_id == TURNS.c.turn_id))
        .where(TURNS.c.namespace == namespace, TURNS.c.turn_id.in_(ids), TURNS.c.text.is_not(None))
    )
    for turn_id, body, text, decided in connection.execute(query):
        if turn_id not in found:
            found[turn_id] = read_turn(body, text), set()
        found[turn_id][1].update(transcript.marks([read_decision(decided)]))
    return found


def edges(rows: Rows, namespace: str, edge_of: EdgeOf, slots: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each item that says an edge or has one in the graph, and what is wrong with it."""
    graph = select(RELATIONS).where(RELATIONS.c.namespace == namespace).order_by(RELATIONS.c.item_id)
    names = ("node", "relation", "direction", "other", "turn_id", "recorded_at")
    held = Grouped((row["item_id"], tuple(row[name] for name in names)) for row in rows(graph))
    evidence = (
        select(
            ITEMS.c.item_id, ITEMS.c.body, ITEMS.c.principal, DECISIONS.c.body.label("decided"), DECISIONS.c.turn_id,
            TURNS.c.received_at,
        )
        .join_from(
            ITEMS, DECISIONS,
            and_(DECISIONS.c.namespace == ITEMS.c.namespace, DECISIONS.c.item == ITEMS.c.item_id), isouter=True,
        )
        .join(
            TURNS, and_(TURNS.c.namespace == DECISIONS.c.namespace, TURNS.c.turn_id == DECISIONS.c.turn_id),
            isouter=True,
        )
        .where(ITEMS.c.namespace == namespace, ITEMS.c.version == 1, ITEMS.c.slot.in_(slots))
        .order_by(ITEMS.c.item_id)
    )  # fmt: skip
    for item_id, told in groupby(rows(evidence), key=lambda row: row["item_id"]):
        each = list(told)
        there = held.at(item_id)
        edge = edge_of(read_item(each[0]["body"]), each[0]["principal"])
        if edge is None:
            if there:
                yield item_id, "an edge of an item that says none"
            continue
        given = {
            (row["turn_id"], row["received_at"])
            for row in each
            if row["decided"] is not None and relations.gives(read_decision(row["decided"]))
        }
        wanted = sorted(row[1:5] + row[6:] for row in relations.rows_of("", edge, "", sorted(given)))
        yield item_id, "" if sorted(there) == wanted else _what(there)
    yield from [("", "an edge of no item that may say one")] * held.left()


def trace_hits(connection: Connection, rows: Rows, namespace: str) -> Iterator[tuple[str, str]]:
    """Each trace, and what it names that is not stored."""
    wrong = 0
    for number, told in groupby(rows(stale(namespace)), key=lambda row: row["trace"]):
        wrong += 1
        yield str(number), "it names " + ", ".join(f"{row['kind']} {row['target']}" for row in told) + ", which is gone"
    fine = select(func.count()).select_from(TRACES).where(TRACES.c.namespace == namespace)
    yield from [("*", "")] * (int(connection.execute(fine).scalar_one()) - wrong)


def stale(namespace: str) -> Select[Any]:
    """Hits of traces on items and turns that are not stored, in the order of the traces."""
    item = exists().where(ITEMS.c.namespace == TRACE_HITS.c.namespace, ITEMS.c.item_id == TRACE_HITS.c.target)
    turn = exists().where(TURNS.c.namespace == TRACE_HITS.c.namespace, TURNS.c.turn_id == TRACE_HITS.c.target)
    query = select(TRACE_HITS.c.trace, TRACE_HITS.c.kind, TRACE_HITS.c.target).where(
        TRACE_HITS.c.namespace == namespace,
        ((TRACE_HITS.c.kind == "item") & ~item) | ((TRACE_HITS.c.kind == "turn") & ~turn),
    )
    return query.order_by(TRACE_HITS.c.trace, TRACE_HITS.c.target)


def _what(there: object) -> str:
    """What is wrong with an entry."""
    return "it differs" if there else "it is missing"


class Grouped:
    """Rows by a rising key, asked for by rising key; those asked for by none are counted."""

    def __init__(self, rows: Iterator[tuple[Any, Any]]) -> None:
        self._rows = rows
        self._next = next(rows, None)
        self._strays = 0

    def at(self, key: Any) -> list[Any]:
        """The rows of a key."""
        found: list[Any] = []
        while self._next is not None and self._next[0] <= key:
            if self._next[0] == key:
                found.append(self._next[1])
            else:
                self._strays += 1
            self._next = next(self._rows, None)
        return found

    def left(self) -> int:
        """How many rows nobody asked for, once the last has been asked for."""
        rest = (0 if self._next is None else 1) + sum(1 for _ in self._rows)
        self._next = None
        return self._strays + rest
