"""Ranking: what each route proposes, fused by reciprocal rank and weighed with importance and age; every term kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal, Protocol

from ..model import MemoryItem
from ..rules.labels import is_han
from ..rules.slots import SlotFile
from ..store.items import status_at
from ..store.lookup import Place, places, read_rows, size
from ..store.reading import Reading
from ..store.search import search, terms, text_of, weighted
from .question import GUESSED, Asked, QuestionBook, answers, label_fit, pieces, probes

if TYPE_CHECKING:
    from .ranges import Range
    from .relations import Related
    from .transcript import TurnHit

ROUTES = ("exact", "range", "text", "vector")
# As close as a slot that was guessed by the kind of value asked for, under no label for one that was asked for.
_GUESS = 0.6 * GUESSED + 0.4 * 0.3 + 1e-9
_SHOWN = frozenset({"current", "scheduled"})


@dataclass(frozen=True, slots=True)
class Found:
    """What one route says of an item: its place there (1 the best; equals share one) and how close it is, 0 to 1."""

    rank: int
    closeness: float


@dataclass(frozen=True, slots=True)
class Hit:
    """An item with its score, every term of it (already weighed), and the routes that found it."""

    item: MemoryItem
    score: float
    similarity: float
    importance: float
    recency: float
    routes: Mapping[str, Found]
    reranked: float = 0.0  # what a reranker gave, weighed like the others
    source: Literal["memory"] = "memory"


@dataclass(frozen=True)
class Filters:
    """What an answer must be, decided before anything is ranked."""

    entity: str | None = None
    slots: frozenset[str] | None = None
    without: frozenset[str] = frozenset()  # classes of personal data that must not be shown
    history: bool = False


@dataclass(frozen=True)
class Recalled:
    """An answer: hits, the best first, the question as understood, and what it was widened by when it had missed."""

    hits: tuple[Hit, ...]
    asked: Asked
    expanded: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)  # filter → how many candidates it took out
    unserved: Mapping[str, str] = field(default_factory=dict)  # route that could not be asked → why
    filters: Filters = field(default_factory=Filters)
    proposed: tuple[Hit, ...] = ()  # all that the routes proposed and filters kept, the hits first
    guesses: tuple[Hit, ...] = ()  # of the kind asked for, left out as too far to be answers
    turns: tuple[TurnHit, ...] = ()  # what was said that bears on it, where that was asked for: no memory
    related: tuple[Related, ...] = ()  # the paths behind hits of the route "relation", in their order


class Nearby(Protocol):
    """A route by meaning instead of words, ranked; ``Vectors`` is one."""

    @property
    def model(self) -> str:
        """The family of its model: what a cosine means is a matter of that (``floor.…`` of the settings)."""

    def near(
        self, tx: Reading, question: str, *, entity: str | None, limit: int, at: datetime | None,
        keep: Callable[[MemoryItem], bool], known: Mapping[int, MemoryItem],
    ) -> list[tuple[MemoryItem, float]]:  # fmt: skip
        """The items of an entity nearest to a question, of those that are kept, each with its cosine; items ``known``
        by their numbers need not be read. Unserved when it cannot be asked."""


class Unserved(Exception):
    """A route that cannot be asked: why, and the way out."""


Reranker = Callable[[str, Sequence[Hit]], Sequence[float]]
"""A second opinion on the best hits: of a question and hits the share of each, 0 to 1."""


def recall(
    tx: Reading, asked: Asked, book: QuestionBook, filters: Filters, top: int = 10, *, nearby: Nearby | None = None,
    rerank: Reranker | None = None,
) -> Recalled:  # fmt: skip
    """Items that answer a question, of one namespace, at one time; nothing is written and no clock is read."""
    routes = _Search(tx, asked, book, filters, nearby)
    hits = routes.hits(asked.words)
    expanded: tuple[str, ...] = ()
    if not asked.idle and not any(hit.routes.keys() - {"vector"} for hit in hits):
        others, forms = _other_words(asked, book), book.wording.forms(asked.words)
        wider = routes.hits(" ".join([*others, *forms])) if others or forms else []
        if any(hit.routes.keys() - {"vector"} for hit in wider):
            there = {term for hit in wider for term in terms(text_of(hit.item))}
            hits, expanded = wider, (*others, *(form for form in forms if form in there))
    if rerank is not None:
        hits = reranked(hits, rerank, asked, book)
    shown, left = tuple(hits[:top]), routes.left_out
    return Recalled(shown, asked, expanded, left, routes.unserved, filters, tuple(hits), routes.guesses)


def reranked(hits: Sequence[Hit], rerank: Reranker, asked: Asked, book: QuestionBook) -> list[Hit]:
    """The best hits in the order of their scores with what a reranker gives each; of equals the order they had."""
    best = list(hits[: int(book.number("pool", 50))])
    given = rerank(asked.text, best)
    if len(given) != len(best):
        raise ValueError(f"the reranker gave {len(given)} scores for {len(best)} hits")
    weight = book.number("rerank", 1)
    told = [(hit, round(weight * score, 9)) for hit, score in zip(best, given, strict=True)]
    more = [replace(hit, reranked=score, score=round(hit.score + score, 9)) for hit, score in told]
    return [*sorted(more, key=lambda hit: -hit.score), *hits[len(best) :]]


class _Search:
    """One question on its way through the routes."""

    def __init__(
        self, tx: Reading, asked: Asked, book: QuestionBook, filters: Filters, nearby: Nearby | None
    ) -> None:  # fmt: skip
        self.tx, self.asked, self.book, self.filters = tx, asked, book, filters
        self._at, self._told_by = asked.at, asked.known
        self.nearby = nearby if not asked.idle else None
        self.history = asked.history or filters.history
        # Superseded versions may have been true then.
        self.past = self.history or asked.as_of is not None or asked.known_at is not None
        self.pool = int(book.number("pool", 50))
        self.left_out: dict[str, int] = {}
        self.unserved: dict[str, str] = {}
        self._kept: dict[str, MemoryItem | None] = {}
        # Whether the text of a label has something of the one asked for.
        probed = "|".join(map(re.escape, probes(asked.label + asked.timed)))
        self._shares: Callable[[str], object] = re.compile(probed).search if probed else lambda _: None
        self._known: dict[int, MemoryItem] = {}  # newest versions by the items' numbers
        self._near: list[tuple[MemoryItem, float]] | None = None
        self.guesses: tuple[Hit, ...] = ()  # of the last words asked by
        self._weak: set[str] = set()  # items that share but single characters with the question
        self._far: set[str] = set()  # items that are nearest, and still too far to be an answer by that alone
        self._about: set[str] = set()  # items near enough for one of the kind that is asked for
        slots = asked.slots if not asked.idle else {}
        self._named = {f"reported.{name}": 0.8 * sure for name, sure in slots.items()} | dict(slots)
        self._weights: dict[str, tuple[float, float, float]] = {}  # of similarity, importance, recency, by type
        self._guess = _GUESS if asked.label else 0.0
        self._other_kind = book.number("other_kind", 1)
        self._fades = book.number("full_days", 7), book.number("fade_months", 12)

    def hits(self, words: str) -> list[Hit]:
        """Fused hits, the best first."""
        here = self._places()
        text = self._text(words) if here is None else []
        exact = self._exact(here, text)
        near: list[tuple[MemoryItem, float]] = []
        # Who asks for exactly a slot and a label that are there need not look for words.
        if max((fit for _, fit in exact), default=0.0) < self.book.number("exact_enough", 1):
            text = self._text(words) if here is not None else text
            near = self._vector(here)
        proposals = {"exact": exact, "range": self._range(here, text), "text": text, "vector": near}
        wanted = self.asked.range
        routes: dict[str, dict[str, Found]] = {}
        items: dict[str, MemoryItem] = {}
        for name in ROUTES:
            kept = [(item, close) for item, close in proposals[name] if self._keeps(item)]
            kept.sort(key=lambda each: -round(each[1], 9))  # stable: what is equally close stays as it was proposed
            rank, last = 0, -1.0
            for item, close in kept[: self.pool]:
                if round(close, 9) != last or name == "vector":
                    rank, last = rank + 1, round(close, 9)
                shown = self._kept[item.id]
                if shown is None or (wanted and wanted.strict and self._outside(wanted, shown)):
                    continue
                items[item.id] = shown
                routes.setdefault(item.id, {})[name] = Found(rank, close)
        far = {
            each for each, by in routes.items()
            if ("exact" not in by or by["exact"].closeness <= self._guess) and self._guessed(items[each], by)
        }  # fmt: skip
        if far:
            self.left_out["nearness"] = len(far)  # of the last words asked by
        weights = {name: self.book.number(f"route.{name}", 1) for name in ROUTES if proposals[name]}
        k = self.book.number("fusion_rank", 1)
        most = sum(weights.values()) / (k + 1)
        found = [self._weighed(items[id_], by, weights, k, most) for id_, by in routes.items()]
        found.sort(key=_order)
        self.guesses = tuple(hit for hit in found if hit.item.id in far and "exact" in hit.routes)
        return [hit for hit in found if hit.item.id not in far]

    def _outside(self, wanted: Range, item: MemoryItem) -> bool:
        """Whether an item is no answer to a question for a range; a time may be a label instead of a range: the
        permission "on Fridays"."""
        named = self.asked.timed and not set(self.asked.timed).isdisjoint(item.qualifier.split())
        return not named and not wanted.holds(item.value, self.asked.now)

    def _guessed(self, item: MemoryItem, routes: Mapping[str, Found]) -> bool:
        """Whether nothing speaks for an item but that it is the nearest, and not near, or has the kind of value that is
        asked for, under a label that nobody asked for."""
        near = "vector" in routes and item.id not in self._far
        if near or "range" in routes or ("text" in routes and item.id not in self._weak):
            return False
        if "exact" not in routes:
            return True
        # A guess is all there may be, but not where vectors find it far, or where somebody else is named.
        far = self._near and item.id not in self._about
        return bool(far or self.asked.proper.difference(pieces(item.entity)))

    # ------------------------------------------------------------ routes
    def _places(self) -> list[Place] | None:
        """Where items stand that a look-up may compare; None: too many, only what full text found is compared."""
        most = self.book.number("scan_rows", 5000)
        if self.filters.entity is None and size(self.tx.connection, self.tx.namespace) > most:
            return None
        return places(self.tx.connection, self.tx.namespace, self.filters.entity, history=self.past)

    def _exact(
        self, found: list[Place] | None, text: list[tuple[MemoryItem, float]]
    ) -> list[tuple[MemoryItem, float]]:  # fmt: skip
        """Items under the slot and label asked for."""
        if found is None:
            near = ((item, self._fit(item.slot, item.qualifier, item.entity)) for item, _ in text)
            return [(item, fit) for item, fit in near if fit > 0]
        named, shares = self._named, self._shares
        scored: list[tuple[int, float]] = []
        for row, entity, slot, qualifier, _ in found:  # nearly all of them are told apart here
            if slot in named or (qualifier and shares(self.book.way_texts.get(qualifier, qualifier))):
                fit = self._fit(slot, qualifier, entity)
                if fit > 0:
                    scored.append((row, fit))
        scored.sort(key=lambda each: (-each[1], -each[0]))
        # What a filter may take out must not use up the places of what it keeps.
        plain = not (self.past or self.asked.said or self.filters.without or self.tx.restrictions)
        return self._read(scored[: self.pool] if plain and self.filters.slots is None else scored)

    def _range(
        self, found: list[Place] | None, text: list[tuple[MemoryItem, float]]
    ) -> list[tuple[MemoryItem, float]]:  # fmt: skip
        """Items whose normalised value lies in the range asked for."""
        wanted = self.asked.range
        if wanted is None:
            return []
        if found is None:
            items = [item for item, _ in text]
        else:
            items = [item for item, _ in self._read([(row, 1.0) for row, *_, kind in found if kind in wanted.kinds])]
        inside = [item for item in items if wanted.holds(item.value, self.asked.now)]
        return [(item, 0.5 + self._fit(item.slot, item.qualifier, item.entity) / 2) for item in inside]

    def _text(self, words: str) -> list[tuple[MemoryItem, float]]:
        """Items with the words of the question, by BM25 against the best of them."""
        if not words:
            return []
        at = None if self.past else self.asked.at
        found = search(
            self.tx.connection, self.tx.namespace, words, entity=self.filters.entity, limit=self.pool,
            history=self.past, at=at, keep=self._keeps, known=self._known,
        )  # fmt: skip
        # One character of a longer word is no word: it may speak for an item, but not alone.
        sure = {word for word, weight in weighted(words).items() if weight >= 1}
        self._weak |= (weak := {hit.item.id for hit in found if sure.isdisjoint(hit.words)})
        best = max((hit.score for hit in found), default=0.0)
        if len(weak) == len(found):
            best /= _GUESS
        return [(hit.item, hit.score / best) for hit in found] if best > 0 else []

    def _vector(self, found: list[Place] | None) -> list[tuple[MemoryItem, float]]:
        """Items whose words mean what the question says. Cosines say which is nearer, not whether it is near: of this
        route only the order counts."""
        if self.nearby is None or not self.asked.words:  # a number alone means nothing that could be near
            return []
        if self._near is None:
            self._near = []
            try:
                if found is None:
                    raise Unserved("too many items to compare. Name the entity")
                at = None if self.past else self.asked.at
                near = self.nearby.near(
                    self.tx, self.asked.text, entity=self.filters.entity, limit=self.pool, at=at, keep=self._keeps,
                    known=self._known,
                )  # fmt: skip
                close = self.book.number("vector_close", 0.6)
                self._near = [(item, close) for item, _ in near]
                least = floor(self.book, self.nearby.model, self.asked.language)
                self._far = {item.id for item, cosine in near if cosine < least}
                least -= self.book.number("floor.guess", 0)
                self._about = {item.id for item, cosine in near if cosine >= least}
            except Unserved as why:
                self.unserved["vector"] = str(why)
        return self._near

    def _read(self, scored: list[tuple[int, float]]) -> list[tuple[MemoryItem, float]]:
        """Items by the rows of their newest versions."""
        items = read_rows(self.tx.connection, self.tx.namespace, [row for row, _ in scored])
        # The number of an item is the row of its first version.
        self._known |= {row: item for row, item in items.items() if item.version == 1}
        hidden = self.tx.restrictions  # may be stored, not answered
        if hidden:
            items = {row: item for row, item in items.items() if not any(each.covers(item) for each in hidden)}
        return [(items[row], fit) for row, fit in scored if row in items]

    def _fit(self, slot: str, qualifier: str, entity: str) -> float:
        """How far slot and label are those asked for; 0 when neither is."""
        named = self._named.get(slot, 0.0)
        if not named and not (qualifier and self._shares(self.book.way_texts.get(qualifier, qualifier))):
            return 0.0
        asked = self.asked
        label = asked.label
        if asked.timed and not set(asked.timed).isdisjoint(qualifier.split()):
            label += asked.timed
        fit = label_fit(self.book, label, qualifier, entity, asked.rest)
        return 0.6 * named + 0.4 * fit if named or fit else 0.0

    # ------------------------------------------------------------ filters and weights
    def _keeps(self, item: MemoryItem) -> bool:
        if item.id not in self._kept:
            why, shown = self._judged(item)
            self._kept[item.id] = shown
            if why:
                self.left_out[why] = self.left_out.get(why, 0) + 1
        return self._kept[item.id] is not None

    def _judged(self, item: MemoryItem) -> tuple[str, MemoryItem | None]:
        """The filter that takes an item out, or the item with the status it has at the time asked for."""
        if any(each.covers(item) for each in self.tx.restrictions):
            return "restricted", None
        plain = item.slot.removeprefix("reported.")
        if self.filters.slots is not None and item.slot not in self.filters.slots:
            return "slot", None
        slot = self.book.ruleset.slots.get(plain)
        if slot is not None and slot.personal_data in self.filters.without:
            return "personal data", None
        if self.asked.said is not None:
            start, end = self.asked.said
            if (start is not None and item.said_at < start) or (end is not None and item.said_at >= end):
                return "time", None
        if self.asked.known_at is not None:
            then = self.tx.item_at(item.id, self.asked.known_at)
            if then is None:
                return "not known yet", None
            item = then
        status = status_at(item, self._at)
        if status == "held" or (status not in _SHOWN and not self.history):
            return "status", None
        # What was told later may have been true then; what was announced later was not even to come.
        if item.said_at > self._told_by or (status == "scheduled" and item.said_at > self._at):
            return "not said yet", None
        return "", item if status == item.status else item.model_copy(update={"status": status})

    def _weighed(
        self, item: MemoryItem, routes: dict[str, Found], weights: Mapping[str, float], k: float, most: float
    ) -> Hit:  # fmt: skip
        """A hit with its score: similarity as the share of the ``most`` that routes of these ``weights`` could give."""
        fused = sum(weights[name] / (k + found.rank) for name, found in routes.items())
        close = max(found.closeness for found in routes.values())
        slot = self.book.ruleset.slots.get(item.slot.removeprefix("reported."))
        alike, matters, recent = self._weights_of(item.type)
        alike *= fused / most * close
        if self.asked.kind and not answers(self.asked.kind, item.value):
            alike *= self._other_kind
        matters *= importance_of(item, slot)
        recent *= recency(item.said_at, self.asked.now, *self._fades)
        return Hit(item, round(alike + matters + recent, 9), alike, matters, recent, routes)

    def _weights_of(self, kind: str) -> tuple[float, float, float]:
        if kind not in self._weights:
            number = self.book.number
            alike, matters, recent = (
                number(f"{kind}.{term}", number(term, default))
                for term, default in (("similarity", 0.5), ("importance", 0.3), ("recency", 0.2))
            )
            self._weights[kind] = alike, matters, recent
        return self._weights[kind]


def floor(book: QuestionBook, model: str, language: str) -> float:
    """The least cosine with which something is an answer by its vector alone; models without one have none."""
    return book.number(f"floor.{model}.{language}", -1)


def importance_of(item: MemoryItem, slot: SlotFile | None) -> float:
    """0 to 1: the item's own, or its slot's."""
    if item.importance is not None:
        return float(item.importance)
    return slot.importance if slot is not None else 0.5


def recency(said_at: datetime, now: datetime, full_days: float = 7, fade_months: float = 12) -> float:
    """1 within ``full_days``; then it falls by one part in ``fade_months`` for every 30 days of age, down to 0."""
    age = max(now - said_at, timedelta(0)) / timedelta(days=1)
    return 1.0 if age <= full_days else max(0.0, 1 - age / 30 / fade_months)


def _order(hit: Hit) -> tuple[float, float, str, int, str, str]:
    """The best first; of equals what was said last, then the order of turns and of the text."""
    item = hit.item
    return -hit.score, -item.said_at.timestamp(), item.turn_id, item.start, item.slot, item.qualifier


def _other_words(asked: Asked, book: QuestionBook) -> tuple[str, ...]:
    """Words that mean what the question says: other labels of its concepts, other words of its slots."""
    label = frozenset(asked.label)
    found: dict[str, None] = {}
    for ways in book.ways.values():
        if any(way and label >= frozenset(way.split()) for way in ways) or any(
            is_han(way) and way in asked.words for way in ways
        ):
            found.update(dict.fromkeys(ways))
    for name in sorted(asked.slots):
        if asked.slots[name] >= 1:
            found.update(dict.fromkeys(book.ruleset.slots[name].words))
    return tuple(word for word in found if word not in asked.words.split())
