"""The turns themselves as evidence: what was said that bears on a question. It is transcript, not memory: nobody decided
that it is true, or still is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..model import Turn
from ..rules.labels import is_han
from ..store import transcript as said
from ..store.erasing import turns_about
from ..store.reading import Reading
from ..store.search import weighted
from .question import Asked, QuestionBook
from .rank import Filters, Found, Hit, Recalled

_SURE = 0.8  # a slot that is named, not only one whose values are of the kind asked for
ROUTES = ("items", "words", "alike", "about", "beside")


@dataclass(frozen=True, slots=True)
class TurnHit:
    """A turn with its score and its place in every route that found it."""

    turn: Turn
    score: float
    routes: Mapping[str, Found]
    source: Literal["transcript"] = "transcript"


def with_turns(tx: Reading, answer: Recalled, book: QuestionBook, filters: Filters, top: int = 10) -> Recalled:
    """An answer with the turns that bear on its question, of those that may be shown.

    Nobody has classed the words of a turn: where a class of personal data must not be shown, no turn is.
    """
    if filters.without:
        return replace(answer, left_out={**answer.left_out, "transcript": 1})
    return replace(answer, turns=_Search(tx, answer.asked, book, filters, answer.hits).found(top))


class _Search:
    """One question on its way through the turns."""

    def __init__(
        self, tx: Reading, asked: Asked, book: QuestionBook, filters: Filters, hits: Sequence[Hit]
    ) -> None:  # fmt: skip
        self.tx, self.asked, self.book, self.hits = tx, asked, book, hits
        self.pool = int(book.number("turn_pool", 50))
        self.within = _within(tx, asked, filters)

    def found(self, top: int) -> tuple[TurnHit, ...]:
        """The routes fused by reciprocal rank."""
        words = self._ranked(weighted(self.book.ask_words.sub(" ", self.asked.text.lower())))
        proposals = {
            "items": self._items(),
            "words": words,
            "alike": self._ranked(weighted(" ".join(_alike(self.asked, self.book)))),
            "about": self._about(),
        }
        proposals["beside"] = self._beside(words)
        k = self.book.number("turn.fusion_rank", 10)
        scores: dict[int, float] = {}
        routes: dict[int, dict[str, Found]] = {}
        for name in ROUTES:
            weight = self.book.number(f"turn.{name}", 1)
            for number, found in proposals[name].items():
                scores[number] = scores.get(number, 0.0) + weight / (k + found.rank)
                routes.setdefault(number, {})[name] = found
        best = sorted(scores, key=lambda number: (-round(scores[number], 9), -number))[:top]
        turns = said.turns_by_number(self.tx.connection, self.tx.namespace, best)
        return tuple(
            TurnHit(turns[number], round(scores[number], 9), routes[number]) for number in best if number in turns
        )

    def _ranked(self, terms: Mapping[str, float]) -> dict[int, Found]:
        """Turns that have some of these terms, by BM25."""
        return self._places(said.find(self.tx.connection, self.tx.namespace, terms, self.within) if terms else [])

    def _places(self, scored: Sequence[tuple[int, float]]) -> dict[int, Found]:
        """Equal scores share a place; closeness is measured against the best."""
        places: dict[int, Found] = {}
        rank, last, best = 0, -1.0, max((score for _, score in scored), default=0.0)
        for number, score in scored[: self.pool]:
            if round(score, 9) != last:
                rank, last = rank + 1, round(score, 9)
            places.setdefault(number, Found(rank, score / best if best > 0 else 0.0))
        return places

    def _items(self) -> dict[int, Found]:
        """The turns on which the items rest that answer the question: said there, asked for there."""
        placed: dict[str, Found] = {}
        for rank, hit in enumerate(self.hits, 1):
            item = hit.item
            for turn in (item.turn_id, *(each.turn_id for each in item.evidence or ())):
                placed.setdefault(turn, Found(rank, hit.score))
        numbers = said.numbers_of(self.tx.connection, self.tx.namespace, placed, self.within) if placed else {}
        return {numbers[turn]: found for turn, found in placed.items() if turn in numbers}

    def _about(self) -> dict[int, Found]:
        """Turns in which something was decided about a slot that the question names, or about a value of its kind."""
        terms = {said.slot_mark(name): sure for name, sure in self.asked.slots.items()}
        kinds = {kind for name in self.asked.slots for kind in self.book.ruleset.slots[name].value}
        if self.asked.range is not None:
            kinds.add(self.asked.range.kind)
        share = self.book.number("turn.kind", 0.5)
        return self._ranked(terms | {said.kind_mark(kind): share for kind in sorted(kinds)})

    def _beside(self, words: Mapping[int, Found]) -> dict[int, Found]:
        """What was said next to the turns that have the words: the answer to a question, the question of an answer."""
        near = [number for number, found in words.items() if found.rank <= self.book.number("turn.beside_of", 10)]
        found: list[tuple[int, float]] = []
        for step in (1, -1):
            share = self.book.number("turn.after" if step > 0 else "turn.before", 1)
            pairs = said.beside(self.tx.connection, self.tx.namespace, near, step, self.within) if near else {}
            found += [(other, words[number].closeness * share) for number, other in pairs.items()]
        return self._places(sorted(found, key=lambda each: (-round(each[1], 9), -each[0])))


def _within(tx: Reading, asked: Asked, filters: Filters) -> said.Within:
    """What a turn must be: whose, when it was said, and not restricted in any way."""
    since, before = asked.said if asked.said is not None else (None, None)
    return said.Within(
        principal=filters.entity, since=since, before=before, until=asked.at,
        not_principals=frozenset(each.target for each in tx.restrictions if each.on == "entity" and each.target),
        not_conversations=frozenset(each.target for each in tx.restrictions if each.on == "conversation"),
        not_turns=frozenset(_restricted(tx)),
        turns=None if filters.slots is None else frozenset(_about_slots(tx, filters.slots)),
    )  # fmt: skip


def _restricted(tx: Reading) -> Iterable[str]:
    """Turns that say something of a restricted item, or of a restricted entity that is not their principal."""
    for each in tx.restrictions:
        if each.on == "item":
            for decision in tx.decisions_touching(each.target):
                yield decision.turn_id
            for item in tx.versions(each.target):
                yield item.turn_id
                yield from (one.turn_id for one in item.evidence or ())
        elif each.on == "entity" and each.target:
            yield from turns_about(tx, each.target)


def _about_slots(tx: Reading, slots: Iterable[str]) -> Iterable[str]:
    """Turns in which something of these slots was said that was remembered."""
    for slot in slots:
        for item in tx.items(slot=slot, history=True):
            yield item.turn_id
            yield from (one.turn_id for one in item.evidence or ())


def _alike(asked: Asked, book: QuestionBook) -> list[str]:
    """Other words for what a question says: the labels of its concepts, in both languages, and its slots' words."""
    low, label = asked.text.lower(), frozenset(asked.label)
    found: dict[str, None] = {}
    for ways in book.ways.values():
        if any(way and (way in low if is_han(way) else label >= frozenset(way.split())) for way in ways):
            found.update(dict.fromkeys(ways))
    for name in sorted(name for name, sure in asked.slots.items() if sure >= _SURE):
        found.update(dict.fromkeys(book.ruleset.slots[name].words))
    return [word for word in found if word not in low]
