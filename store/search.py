"""Full text that finds words of one and two Chinese characters and English words, without a model.

One table of postings serves both back ends. SQLite's FTS5 was left for three reasons: its trigrams miss short
Chinese words, its ranking counts over all tenants of the table, and what is deleted stays in its index file.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, bindparam, delete, func, literal_column, or_, select

from ..model import MemoryItem
from .codec import read_item
from .items import status_at
from .statements import Columns, Insert, Statement
from .tables import ITEMS, TERMS, TEXTS, column

_IDEOGRAPHS = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HAN = re.compile(f"[{_IDEOGRAPHS}]")
_RUNS = re.compile(rf"[{_IDEOGRAPHS}]+|\d+|[^\W\d_{_IDEOGRAPHS}]+(?:['’][^\W\d_{_IDEOGRAPHS}]+)*")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
# BM25's usual constants (Robertson & Zaragoza 2009): how soon repetition stops counting, how far length does.
_K1 = 1.2
_B = 0.75
# A character shared is weaker evidence than a word shared: 预算 must outweigh 算.
_CHARACTER = 0.3

_ADD = Insert(TERMS, "namespace", "term", "entity", "ordinal", "count")
_ADD_TEXT = Insert(TEXTS, "namespace", "entity", "ordinal", "length")
Add = Callable[[Insert, Sequence[Columns]], None]

_MINE = TERMS.c.namespace == bindparam("namespace")
_WITH = (
    select(TERMS.c.ordinal, TERMS.c.count, TEXTS.c.length)
    .join(TEXTS, and_(*(TEXTS.c[name] == TERMS.c[name] for name in ("namespace", "entity", "ordinal"))))
    .where(_MINE, TERMS.c.term == bindparam("term"))
)
_OF_ALL = Statement(_WITH)
_OF_ENTITY = Statement(_WITH.where(TERMS.c.entity == bindparam("entity")))
_LENGTHS = select(func.count(), func.sum(TEXTS.c.length)).where(TEXTS.c.namespace == bindparam("namespace"))
_TEXTS_OF_ALL = Statement(_LENGTHS)
_TEXTS_OF_ENTITY = Statement(_LENGTHS.where(TEXTS.c.entity == bindparam("entity")))
_POSTING = (
    _MINE, TERMS.c.term == bindparam("term"), TERMS.c.entity == bindparam("entity"),
    TERMS.c.ordinal == bindparam("ordinal"),
)  # fmt: skip
_COUNT, _TAKE_OUT = (
    Statement(select(TERMS.c.term, TERMS.c.count).where(*_POSTING)),
    Statement(delete(TERMS).where(*_POSTING)),
)
_TEXT = tuple(TEXTS.c[name] == bindparam(name) for name in ("namespace", "entity", "ordinal"))
_LENGTH, _TAKE_TEXT = Statement(select(TEXTS.c.length).where(*_TEXT)), Statement(delete(TEXTS).where(*_TEXT))
# The number of an item is the row of its first version.
_FIRST = ITEMS.alias("first")
_BY_NUMBER = (
    select(_FIRST.c.row, ITEMS.c.body)
    .join(_FIRST, and_(_FIRST.c.namespace == ITEMS.c.namespace, _FIRST.c.item_id == ITEMS.c.item_id))
    .where(_FIRST.c.namespace == bindparam("namespace"), _FIRST.c.row == bindparam("number"))
    .where(ITEMS.c.replaced_at.is_(None))
)
_BY_ROW = select(ITEMS.c.row, ITEMS.c.body).where(
    ITEMS.c.namespace == bindparam("namespace"), ITEMS.c.row == bindparam("number"), ITEMS.c.replaced_at.is_(None)
)
_IS_LIVE = or_(ITEMS.c.status == bindparam("current"), ITEMS.c.status == bindparam("scheduled"))
# By the row of an item's only version, then by way of its first one to its newest.
_NEWEST = (Statement(_BY_ROW.where(ITEMS.c.version == literal_column("1"))), Statement(_BY_NUMBER))
_NEWEST_LIVE = (
    Statement(_BY_ROW.where(ITEMS.c.version == literal_column("1"), _IS_LIVE)), Statement(_BY_NUMBER.where(_IS_LIVE))
)  # fmt: skip
_NONE: Mapping[int, MemoryItem] = {}
LIVE = {"current": "current", "scheduled": "scheduled"}


@dataclass(frozen=True, slots=True)
class Hit:
    """An item found, its score, and the words of the question that it has."""

    item: MemoryItem
    score: float
    words: tuple[str, ...]


def terms(text: str) -> list[str]:
    """What a text is indexed under: lower-cased words and numbers; of Chinese each character, and each pair of
    neighbours, so that every question is a look-up of whole terms and an entity narrows it before anything is read."""
    found: list[str] = []
    for run in _runs(text):
        if _HAN.match(run):
            found += run
            found += [run[at : at + 2] for at in range(len(run) - 1)]
        else:
            found.append(run)
    return found


def _runs(text: str) -> list[str]:
    """Runs of Chinese characters, and words and numbers of other scripts, folded."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _RUNS.findall(_THOUSANDS.sub("", folded))


def text_of(item: MemoryItem) -> str:
    """What an item can be found by."""
    return f"{item.sentence}\n{item.surface}\n{item.qualifier}\n{item.canonical}\n{item.slot.replace('.', ' ')}"


def index(add: Add, namespace: str, items: Iterable[tuple[int, MemoryItem]]) -> None:
    """Put items, with their numbers, into the index; ``add`` takes the rows."""
    postings: list[tuple[Any, ...]] = []
    texts: list[tuple[Any, ...]] = []
    for ordinal, item in items:
        entity = column(item.entity)
        counted = Counter(terms(text_of(item)))
        postings += [(namespace, term, entity, ordinal, count) for term, count in counted.items()]
        texts.append((namespace, entity, ordinal, counted.total()))
    add(_ADD, postings)
    add(_ADD_TEXT, texts)


def unindex(connection: Connection, namespace: str, entity: str, versions: Iterable[tuple[int, MemoryItem]]) -> None:
    """Take items of an entity out of the index, by their numbers and all their versions: which of them was indexed last
    stands nowhere. The engine overwrites freed space, so their words are gone from the file.

    The postings are found by the words of the versions, each under its key. That they are all is told by the length
    of the text; where it is not so (a text damaged or indexed by another release) the postings of the namespace are
    searched. No index serves this: it would double the cost of every write.
    """
    of, words = column(entity), dict[int, set[str]]()
    for ordinal, item in versions:
        words.setdefault(ordinal, set()).update(terms(text_of(item)))
    left: list[int] = []
    for ordinal, some in words.items():
        key = {"namespace": namespace, "entity": of, "ordinal": ordinal}
        length = _LENGTH.first(connection, **key)
        counts = list(_COUNT.each(connection, "term", sorted(some), **key))
        _TAKE_OUT.many(connection, "term", [term for term, _ in counts], **key)
        if length is None or sum(count for _, count in counts) != length[0]:
            left.append(ordinal)
        _TAKE_TEXT.run(connection, **key)
    if left:
        mine = (TERMS.c.namespace == namespace, TERMS.c.entity == of, TERMS.c.ordinal.in_(left))
        connection.execute(delete(TERMS).where(*mine))


def clear(connection: Connection, namespace: str) -> None:
    """Empty the index of a namespace, to be built again."""
    for table in (TERMS, TEXTS):
        connection.execute(delete(table).where(table.c.namespace == namespace))


def search(
    connection: Connection,
    namespace: str,
    question: str,
    *,
    entity: str | None = None,
    limit: int = 10,
    history: bool = False,
    at: datetime | None = None,
    keep: Callable[[MemoryItem], bool] | None = None,
    known: Mapping[int, MemoryItem] = _NONE,
) -> tuple[Hit, ...]:
    """Items with the words of the question, best first; namespace and entity narrow before anything is ranked.

    ``at``: only what is true then or will be; without it, and without ``history``, what stood after the last write.
    What ``keep`` refuses takes no place of what it keeps; items ``known`` by their numbers are not read again.
    """
    asked = weighted(question)
    of = column(entity) if entity is not None else None
    postings = {word: found for word in asked if (found := _postings(connection, namespace, of, word))}
    if not postings:
        return ()
    total, average = _measure(connection, namespace, of)
    scores: dict[int, float] = {}
    for word, found in postings.items():
        for ordinal, gain in weigh(found, total, average):
            scores[ordinal] = scores.get(ordinal, 0.0) + asked[word] * gain
    # Of equal scores the item remembered last comes first.
    ranked = sorted(scores, key=lambda ordinal: (-round(scores[ordinal], 9), -ordinal))
    hits: list[Hit] = []
    for page in range(0, len(ranked), limit):
        items = newest(connection, namespace, ranked[page : page + limit], history=history, at=at, known=known)
        for ordinal in ranked[page : page + limit]:
            if ordinal in items and (keep is None or keep(items[ordinal])):
                words = tuple(word for word, found in postings.items() if ordinal in found)
                hits.append(Hit(items[ordinal], scores[ordinal], words))
        if len(hits) >= limit:
            break
    return tuple(hits[:limit])


def weigh(found: Mapping[int, tuple[int, int]], total: int, average: float) -> Iterator[tuple[int, float]]:
    """BM25: what a word adds to each text that has it, from how often it stands there and how long the text is."""
    rarity = math.log(1 + (total - len(found) + 0.5) / (len(found) + 0.5))
    for number, (count, length) in found.items():
        yield number, rarity * count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * length / average))


def weighted(question: str) -> dict[str, float]:
    """The terms of a question and what each weighs."""
    asked: dict[str, float] = {}
    for run in _runs(question):
        if not _HAN.match(run) or len(run) == 1:
            asked[run] = 1.0
        else:
            for at in range(len(run) - 1):
                asked[run[at : at + 2]] = 1.0
            for char in run:
                asked.setdefault(char, _CHARACTER)
    return asked


def _postings(connection: Connection, namespace: str, entity: str | None, word: str) -> dict[int, tuple[int, int]]:
    """Items that have a word: how often, and how long their text is."""
    asked = {"namespace": namespace, "term": word} | ({} if entity is None else {"entity": entity})
    rows = (_OF_ALL if entity is None else _OF_ENTITY).all(connection, **asked)
    return {ordinal: (count, length) for ordinal, count, length in rows}


def newest(
    connection: Connection, namespace: str, numbers: Sequence[int], *, history: bool, at: datetime | None,
    known: Mapping[int, MemoryItem] = _NONE,
) -> dict[int, MemoryItem]:  # fmt: skip
    """The newest versions of items by their numbers, with the status that they have ``at`` a time; without ``history``
    only those that are true then, or will be. Those ``known`` are not read again."""
    asked = {"namespace": namespace} | ({} if history else LIVE)
    found = {number: known[number] for number in numbers if number in known}
    # Most items have but one version: their number is the row itself.
    for statement in _NEWEST if history else _NEWEST_LIVE:
        missing = [number for number in numbers if number not in found]
        rows = statement.each(connection, "number", missing, **asked)
        found |= {number: read_item(body) for number, body in rows}
    if at is None or history:
        return found
    then = {ordinal: status_at(item, at) for ordinal, item in found.items()}
    return {
        ordinal: item if then[ordinal] == item.status else item.model_copy(update={"status": then[ordinal]})
        for ordinal, item in found.items()
        if then[ordinal] in {"current", "scheduled"}
    }


def _measure(connection: Connection, namespace: str, entity: str | None) -> tuple[int, float]:
    """Number of texts searched and their mean length, of this tenant (and entity) alone."""
    asked = {"namespace": namespace} | ({} if entity is None else {"entity": entity})
    ((total, length),) = (_TEXTS_OF_ALL if entity is None else _TEXTS_OF_ENTITY).all(connection, **asked)
    return int(total), (float(length) / total if total else 1.0)
