"""Full text that finds words of one and two Chinese characters and English words, without a model.

One table of postings serves both back ends. SQLite's FTS5 was left for three reasons: its trigrams miss short
Chinese words, its ranking counts over all tenants of the table, and what is deleted stays in its index file.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, and_, bindparam, delete, func, select

from ..model import MemoryItem
from .codec import read_item
from .statements import Insert, Statement
from .tables import ITEMS, TERMS

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

_DROP = Statement(
    delete(TERMS).where(
        TERMS.c.namespace == bindparam("of"),
        TERMS.c.term == bindparam("word"),
        TERMS.c.entity == bindparam("entity_of"),
        TERMS.c.ordinal == bindparam("number"),
    )
)
_ADD = Insert(TERMS, "namespace", "term", "entity", "ordinal", "count", "length")


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


def index(connection: Connection, namespace: str, items: Iterable[tuple[int, MemoryItem]]) -> None:
    """Put items, with their numbers, into the index."""
    rows: list[tuple[Any, ...]] = []
    for ordinal, item in items:
        counted = Counter(terms(text_of(item)))
        length = counted.total()
        rows += [(namespace, term, item.entity, ordinal, count, length) for term, count in counted.items()]
    _ADD.run(connection, rows)


def reindex(connection: Connection, namespace: str, ordinal: int, old: MemoryItem, new: MemoryItem) -> None:
    """Put an item's new wording in place of the old one."""
    gone = [
        {"of": namespace, "word": term, "entity_of": old.entity, "number": ordinal} for term in set(terms(text_of(old)))
    ]
    _DROP.run_all(connection, gone)
    index(connection, namespace, [(ordinal, new)])


def unindex(connection: Connection, namespace: str, ordinals: Iterable[int]) -> None:
    """Take items out of the index; the engine overwrites freed space, so their words are gone from the file.

    No index serves this: it would double the cost of every write, and erasure is rare.
    """
    gone = list(ordinals)
    connection.execute(delete(TERMS).where(TERMS.c.namespace == namespace, TERMS.c.ordinal.in_(gone)))


def search(
    connection: Connection,
    namespace: str,
    question: str,
    *,
    entity: str | None = None,
    limit: int = 10,
    history: bool = False,
) -> tuple[Hit, ...]:
    """Items with the words of the question, best first; namespace and entity narrow before anything is ranked."""
    asked = _asked(question)
    if not asked:
        return ()
    postings: dict[str, dict[int, tuple[int, int]]] = {}
    for word in asked:
        postings[word] = _postings(connection, namespace, entity, word)
    numbers = sorted({ordinal for found in postings.values() for ordinal in found})
    if not numbers:
        return ()
    items = _items(connection, namespace, numbers, history)
    total, average = _measure(connection, namespace, entity)
    hits: list[Hit] = []
    for ordinal, item in items.items():
        score = 0.0
        words: list[str] = []
        for word, weight in asked.items():
            if ordinal not in postings[word]:
                continue
            count, length = postings[word][ordinal]
            rarity = math.log(1 + (total - len(postings[word]) + 0.5) / (len(postings[word]) + 0.5))
            often = count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * length / average))
            score += weight * rarity * often
            words.append(word)
        hits.append(Hit(item, score, tuple(words)))
    # Equal scores: what was said last comes first; the id only settles what nothing else does.
    hits.sort(key=lambda hit: (-round(hit.score, 9), -hit.item.said_at.timestamp(), hit.item.id))
    return tuple(hits[:limit])


def _asked(question: str) -> dict[str, float]:
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
    where = [TERMS.c.namespace == namespace]
    if _HAN.fullmatch(word):  # one character: every term that begins with it
        where.append(and_(TERMS.c.term >= word, TERMS.c.term <= word + _LAST))
    else:
        where.append(TERMS.c.term == word)
    if entity is not None:
        where.append(TERMS.c.entity == entity)
    query = select(TERMS.c.ordinal, func.sum(TERMS.c.count), func.max(TERMS.c.length)).where(*where)
    rows = connection.execute(query.group_by(TERMS.c.ordinal))
    return {ordinal: (int(count), int(length)) for ordinal, count, length in rows}


def _items(connection: Connection, namespace: str, numbers: list[int], history: bool) -> dict[int, MemoryItem]:
    found: dict[int, MemoryItem] = {}
    first = ITEMS.alias()  # an item's number is the row of its first version
    for at in range(0, len(numbers), 500):
        query = (
            select(first.c.row, ITEMS.c.body)
            .join(first, and_(first.c.namespace == ITEMS.c.namespace, first.c.item_id == ITEMS.c.item_id))
            .where(ITEMS.c.namespace == namespace, first.c.row.in_(numbers[at : at + 500]))
            .where(ITEMS.c.replaced_at.is_(None))
        )
        if not history:
            query = query.where(ITEMS.c.status.in_(("current", "scheduled")))
        for ordinal, body in connection.execute(query):
            found[ordinal] = read_item(body)
    return found


def _measure(connection: Connection, namespace: str, entity: str | None) -> tuple[int, float]:
    """Number of texts searched and their mean length, of this tenant (and entity) alone."""
    texts = select(TERMS.c.ordinal, func.max(TERMS.c.length).label("length")).where(TERMS.c.namespace == namespace)
    if entity is not None:
        texts = texts.where(TERMS.c.entity == entity)
    each = texts.group_by(TERMS.c.ordinal).subquery()
    total, length = connection.execute(select(func.count(), func.sum(each.c.length)).select_from(each)).one()
    return int(total), (float(length) / total if total else 1.0)
