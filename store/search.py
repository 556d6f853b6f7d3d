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

from sqlalchemy import ColumnElement, Connection, and_, delete, func, select

from ..model import MemoryItem
from .codec import read_item
from .items import status_at
from .statements import Columns, Insert
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
_LAST = "\U0010ffff"

_ADD = Insert(TERMS, "namespace", "term", "entity", "ordinal", "count")
_ADD_TEXT = Insert(TEXTS, "namespace", "entity", "ordinal", "length")
Add = Callable[[Insert, Sequence[Columns]], None]
_PAGE = 50  # items read at once, best first, until enough of them are current


@dataclass(frozen=True, slots=True)
class Hit:
    """An item found, its score, and the words of the question that it has."""

    item: MemoryItem
    score: float
    words: tuple[str, ...]


def terms(text: str) -> list[str]:
    """What a text is indexed under: lower-cased words and numbers; Chinese as pairs of neighbours.

    The last character of a Chinese run stands alone as well: then each character begins exactly one term, and a
    question for one character is a question for a beginning.
    """
    found: list[str] = []
    for run in _runs(text):
        if _HAN.match(run):
            found += [run[at : at + 2] for at in range(len(run))]
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


def unindex(connection: Connection, namespace: str, entity: str, ordinals: Iterable[int]) -> None:
    """Take items out of the index; the engine overwrites freed space, so their words are gone from the file.

    No index serves this: it would double the cost of every write, and rewording and erasure are rare.
    """
    gone, of = list(ordinals), column(entity)
    for table in (TERMS, TEXTS):
        mine = (table.c.namespace == namespace, table.c.entity == of, table.c.ordinal.in_(gone))
        connection.execute(delete(table).where(*mine))


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
) -> tuple[Hit, ...]:
    """Items with the words of the question, best first; namespace and entity narrow before anything is ranked.

    ``at``: only what is true then or will be; without it, and without ``history``, what stood after the last write.
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
    for page in range(0, len(ranked), _PAGE):
        items = _items(connection, namespace, ranked[page : page + _PAGE], history, at)
        for ordinal in ranked[page : page + _PAGE]:
            if ordinal in items:
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


def term_is(term: ColumnElement[str], word: str) -> ColumnElement[bool]:
    """The rows of a word; of one Chinese character every term that begins with it."""
    return and_(term >= word, term <= word + _LAST) if _HAN.fullmatch(word) else term == word


def _postings(connection: Connection, namespace: str, entity: str | None, word: str) -> dict[int, tuple[int, int]]:
    """Items that have a word: how often, and how long their text is."""
    where = [TERMS.c.namespace == namespace]
    where.append(term_is(TERMS.c.term, word))
    if entity is not None:
        where.append(TERMS.c.entity == entity)
    text = and_(
        TEXTS.c.namespace == TERMS.c.namespace,
        TEXTS.c.entity == TERMS.c.entity,
        TEXTS.c.ordinal == TERMS.c.ordinal,
    )
    query = select(TERMS.c.ordinal, func.sum(TERMS.c.count), func.max(TEXTS.c.length)).join(TEXTS, text).where(*where)
    rows = connection.execute(query.group_by(TERMS.c.ordinal))
    return {ordinal: (int(count), int(length)) for ordinal, count, length in rows}


def _items(
    connection: Connection, namespace: str, numbers: list[int], history: bool, at: datetime | None
) -> dict[int, MemoryItem]:
    """The newest versions of items by their numbers, the number of an item being the row of its first version."""
    first = ITEMS.alias()
    query = (
        select(first.c.row, ITEMS.c.body)
        .join(first, and_(first.c.namespace == ITEMS.c.namespace, first.c.item_id == ITEMS.c.item_id))
        .where(ITEMS.c.namespace == namespace, first.c.row.in_(numbers), ITEMS.c.replaced_at.is_(None))
    )
    if not history:
        query = query.where(ITEMS.c.status.in_(("current", "scheduled")))
    found = {ordinal: read_item(body) for ordinal, body in connection.execute(query)}
    if at is None or history:
        return found
    then = {ordinal: status_at(item, at) for ordinal, item in found.items()}
    return {
        ordinal: item.model_copy(update={"status": then[ordinal]})
        for ordinal, item in found.items()
        if then[ordinal] in {"current", "scheduled"}
    }


def _measure(connection: Connection, namespace: str, entity: str | None) -> tuple[int, float]:
    """Number of texts searched and their mean length, of this tenant (and entity) alone."""
    query = select(func.count(), func.sum(TEXTS.c.length)).where(TEXTS.c.namespace == namespace)
    if entity is not None:
        query = query.where(TEXTS.c.entity == entity)
    total, length = connection.execute(query).one()
    return int(total), (float(length) / total if total else 1.0)
