"""The turns themselves as evidence: what was said that bears on a question. It is transcript, not memory: nobody
decided that it is true, or still is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..model import Turn
from ..store import transcript as said
from ..store.engine import Store
from ..store.erasing import items_of, turns_where
from ..store.reading import Reading
from ..store.saying import suggesting, turns_about, turns_of_items
from ..store.search import weighted
from .question import Asked, QuestionBook
from .rank import Filters, Found, Recalled
from .vectors import Down, Embedded, Embedder, family, passages_of, rows_of

_BEFORE, _OWN = 300, 2000  # characters of a turn, and of the one before it, that are embedded
_AT_ONCE = 32
_FUSION = 10


@dataclass(frozen=True, slots=True)
class TurnHit:
    """A turn with its score and its place in every route that found it."""

    turn: Turn
    score: float
    routes: Mapping[str, Found]
    source: Literal["transcript"] = "transcript"


def with_turns(
    tx: Reading, answer: Recalled, book: QuestionBook, filters: Filters, top: int, embedder: Embedder | None
) -> Recalled:
    """An answer with the turns that bear on its question, of those that may be shown.

    Nobody has classed the words of a turn: where a class of personal data must not be shown, no turn is.
    """
    if filters.without:
        return replace(answer, left_out={**answer.left_out, "transcript": 1})
    if answer.asked.idle and not answer.hits:  # small talk asks nothing of what was said, either
        return answer
    search = _Search(tx, answer, book, filters, embedder)
    turns = search.found(top)
    return replace(answer, turns=turns, unserved={**answer.unserved, **search.unserved})


class _Search:
    """One question on its way through the turns."""

    def __init__(
        self, tx: Reading, answer: Recalled, book: QuestionBook, filters: Filters, embedder: Embedder | None
    ) -> None:
        self.tx, self.asked, self.book, self.embedder = tx, answer.asked, book, embedder
        # What was too far to be an answer may have been said in a turn that is one.
        self.hits = (*answer.hits, *answer.guesses)
        self.pool = int(book.number("turn.pool", 50))
        self.within = _within(tx, answer.asked, filters)
        self.unserved: dict[str, str] = {}
        self.far: set[int] = set()  # turns whose vectors are too far from the question to be evidence by that alone

    def found(self, top: int) -> tuple[TurnHit, ...]:
        """The routes fused by reciprocal rank, each with its weight."""
        words, items, near = self._words(), self._items(), self._near()
        # What is merely nearest is no evidence, and what was said beside it none either.
        near = {number: found for number, found in near.items() if number not in self.far - words.keys() - items.keys()}
        weights = {"words": self._weight("words" if near else "words_alone"), "vector": self._weight("vector")}
        proposed = {"items": items, "words": words, "vector": near}
        proposed["beside"] = self._beside({"words": words, "vector": near}, weights)
        proposed["about"] = self._about({number for each in proposed.values() for number in each})
        scores = self._fused(proposed, {name: weights.get(name, self._weight(name)) for name in proposed})
        best = _best(scores)[:top]
        turns = said.turns_by_number(self.tx.connection, self.tx.namespace, best)
        return tuple(
            TurnHit(
                turns[number],
                round(scores[number], 9),
                {name: found[number] for name, found in proposed.items() if number in found},
            )
            for number in best
            if number in turns
        )

    def _weight(self, name: str) -> float:
        return self.book.number(f"turn.{name}", 1)

    def _fused(
        self, proposed: Mapping[str, Mapping[int, Found]], weights: Mapping[str, float]
    ) -> dict[int, float]:  # fmt: skip
        k = self.book.number("turn.fusion_rank", _FUSION)
        scores: dict[int, float] = {}
        for name, places in proposed.items():
            for number, found in places.items():
                scores[number] = scores.get(number, 0.0) + weights[name] / (k + found.rank)
        return scores

    def _ranked(self, scored: Sequence[tuple[int, float]]) -> dict[int, Found]:
        """Places by score; equal scores share one, and closeness is measured against the best."""
        places: dict[int, Found] = {}
        rank, last, best = 0, -2.0, max((score for _, score in scored), default=0.0)
        for number, score in scored[: self.pool]:
            if round(score, 9) != last:
                rank, last = rank + 1, round(score, 9)
            places.setdefault(number, Found(rank, score / best if best > 0 else 0.0))
        return places

    # ------------------------------------------------------------ routes
    def _words(self) -> dict[int, Found]:
        """Turns that have the words of the question, by BM25 among those that may be shown."""
        terms = weighted(self.book.ask_words.sub(" ", self.asked.text.lower()))
        return self._ranked(said.find(self.tx.connection, self.tx.namespace, terms, self.within))

    def _near(self) -> dict[int, Found]:
        """Turns that mean the same in other words, told with what was said before them."""
        if self.embedder is None:
            return {}
        most = self.book.number("scan_rows", 5000)
        if self.within.principal is None and said.size(self.tx.connection, self.tx.namespace, self.within) > most:
            self.unserved["transcript vector"] = f"more than {most:g} turns would be compared: name the entity"
            return {}
        try:
            (asked,) = rows_of(self.embedder, [self.asked.text], "query")
            found = said.nearest(self.tx.connection, self.tx.namespace, self.embedder.name, asked, self.within)
        except Exception as wrong:  # whatever a model does, the other routes answer
            self.unserved["transcript vector"] = f"vectors cannot be compared ({type(wrong).__name__}: {wrong})"
            return {}
        least = self.book.number(f"turn.floor.{family(self.embedder)}.{self.asked.language}", -1)
        self.far = {number for number, cosine in found if cosine < least}
        return self._ranked(found)

    def _items(self) -> dict[int, Found]:
        """The turns on which the items rest that may answer the question: said there, asked for there."""
        placed: dict[str, Found] = {}
        for rank, hit in enumerate(self.hits, 1):
            item = hit.item
            for turn in (item.turn_id, *(each.turn_id for each in item.evidence or ())):
                placed.setdefault(turn, Found(rank, hit.score))
        numbers = said.numbers_of(self.tx.connection, self.tx.namespace, placed, self.within) if placed else {}
        return {numbers[turn]: found for turn, found in placed.items() if turn in numbers}

    def _beside(
        self, by: Mapping[str, Mapping[int, Found]], weights: Mapping[str, float]
    ) -> dict[int, Found]:  # fmt: skip
        """What was said next to the turns found so far: the answer after a question, what "make it Friday" is about."""
        of = _best(self._fused(by, weights))[: int(self.book.number("turn.beside_of", 15))]
        ranks = {number: rank for rank, number in enumerate(of, 1)}
        behind = int(self.book.number("turn.before", 2))
        places: dict[int, int] = {}
        for step, more in ((1, 0), (-1, behind)):
            pairs = said.beside(self.tx.connection, self.tx.namespace, of, step, self.within) if of else {}
            for number, other in pairs.items():
                places[other] = min(places.get(other, ranks[number] + more), ranks[number] + more)
        return {number: Found(rank, 1 / rank) for number, rank in sorted(places.items())}

    def _about(self, among: set[int]) -> dict[int, Found]:
        """Of the turns found so far those in which something was decided about a slot that the question means."""
        least = self.book.number("turn.about_from", 0.5)
        terms = {said.slot_mark(name): 1.0 for name, sure in self.asked.slots.items() if sure >= least}
        found = said.find(self.tx.connection, self.tx.namespace, terms, self.within) if terms else []
        return {number: Found(1, 1.0) for number, _ in found if number in among}


def _best(scores: Mapping[int, float]) -> list[int]:
    """Numbers by score; of equals what was said last."""
    return sorted(scores, key=lambda number: (-round(scores[number], 9), -number))


# ---------------------------------------------------------------- filters
def _within(tx: Reading, asked: Asked, filters: Filters) -> said.Within:
    """What a turn must be: whose, when it was said, and not restricted in any way."""
    since, before = asked.said if asked.said is not None else (None, None)
    return said.Within(
        principal=filters.entity, since=since, before=before, until=asked.at,
        not_principals=frozenset(each.target for each in tx.restrictions if each.on == "entity" and each.target),
        not_conversations=frozenset(each.target for each in tx.restrictions if each.on == "conversation"),
        not_turns=restricted_turns(tx),
        slots=filters.slots,
    )  # fmt: skip


def restricted_turns(tx: Reading) -> frozenset[str]:
    """Turns that say something of a restricted item or of one from a restricted conversation, wherever they were said,
    or of a restricted entity that is not their principal."""
    found: set[str] = set()
    for each in tx.restrictions:
        if each.on == "item":
            found |= turns_of_items(tx, [each.target])
        elif each.on == "conversation":
            there = turns_where(tx, conversation=each.target)
            found |= turns_of_items(tx, items_of(tx, there)) - there  # those themselves are known by their conversation
        elif each.target:
            about = turns_about(tx, each.target)
            found |= about | suggesting(tx, about)
    return frozenset(found)


# ---------------------------------------------------------------- embedding
def embed_turns(store: Store, namespace: str, embedder: Embedder, *, limit: int | None = None) -> Embedded:
    """Give vectors to the turns that have none of this model, some at a time; one that cannot be embedded is passed
    over, and tried again by the next call. Ends when nothing can be embedded at all.

    A turn is embedded with the end of the one before it, since "make it Friday" means nothing alone.
    """
    written = failed = 0
    why, last = "", -1
    while limit is None or written + failed < limit:
        most = _AT_ONCE if limit is None else min(_AT_ONCE, limit - written - failed)
        with store.reading(namespace) as tx:
            numbers = said.waiting(tx.connection, namespace, embedder.name, most, after=last)
            texts = _passages(tx, numbers)
        if not numbers:
            break
        last = numbers[-1]
        try:
            rows, told = passages_of(embedder, list(texts.values())) if texts else ([], "")
        except Down as down:
            return Embedded(written, failed + len(texts), str(down))
        why = told or why
        embedded = {number: row for number, row in zip(texts, rows, strict=True) if row is not None}
        failed += len(texts) - len(embedded)
        with store.writing(namespace) as writer:
            present = _passages(writer, list(embedded))  # what was erased meanwhile gets no vector
            kept = {number: row for number, row in embedded.items() if present.get(number) == texts[number]}
            said.write_vectors(writer.connection, namespace, embedder.name, kept)
        written += len(kept)
    return Embedded(written, failed, why)


def _passages(tx: Reading, numbers: Sequence[int]) -> dict[int, str]:
    """What of some turns is embedded, by their numbers."""
    if not numbers:
        return {}
    before = said.beside(tx.connection, tx.namespace, numbers, -1, said.Within())
    turns = said.turns_by_number(tx.connection, tx.namespace, [*numbers, *before.values()])
    texts: dict[int, str] = {}
    for number in numbers:
        if number in turns:
            earlier = turns[before[number]].text[-_BEFORE:] + "\n" if before.get(number) in turns else ""
            texts[number] = earlier + turns[number].text[:_OWN]
    return texts
