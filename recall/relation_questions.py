"""Questions about relations: who is asked about, along which relation, and what the graph of names answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from ..rules.capture_file import phrase_pattern
from ..rules.labels import words_pattern
from ..rules.ruleset import Ruleset
from ..store.items import status_at
from ..store.reading import Reading
from .question import Asked, QuestionBook
from .rank import Filters, Found, Hit, Recalled, importance_of, recency
from .relations import MOST_HOPS, Related, Wanted, book_of, related

ROUTE = "relation"
_HAN_BLANK = re.compile(r"(?<=[\u3400-\u9fff])\s+|\s+(?=[\u3400-\u9fff])")
_LONGEST_NAME = 60
_MARKS = " \t?？。.!！,，;；:："


@dataclass(frozen=True)
class Frame:
    """One question: a pattern with the group ``name``, and the way along the relation that it asks for."""

    pattern: re.Pattern[str]
    relation: str
    direction: str  # out: asks for objects, in: for subjects
    hops: int


class Frames:
    """The questions of all relations of a rule set."""

    def __init__(self, ruleset: Ruleset) -> None:
        self.frames = tuple(self._frames(ruleset))
        file = ruleset.vocabularies.get("recall.relations")
        labels = file.labels if file is not None else {}
        self.opens = words_pattern(labels.get("opens", ()), "start")
        self.closes = words_pattern(labels.get("closes", ()), "end")

    def _frames(self, ruleset: Ruleset) -> Iterator[Frame]:
        for name, relation in book_of(ruleset).relations.items():
            hops = MOST_HOPS if relation.transitive else 1
            for direction, asked in (("out", relation.objects), ("in", relation.subjects)):
                for words in (*asked.zh, *asked.en):
                    yield Frame(phrase_pattern(f"^{words}$", _LONGEST_NAME, ()), name, direction, hops)

    def asks(self, question: str) -> list[tuple[Frame, str]]:
        """The frames that a question fills, each with the name in it."""
        said = _HAN_BLANK.sub("", " ".join(question.split())).strip(_MARKS)
        for pattern in (self.opens, self.closes):
            said = pattern.sub("", said).strip(_MARKS)
        found: dict[tuple[str, str, str], Frame] = {}
        for frame in self.frames:
            hit = frame.pattern.search(said)
            if hit is not None:
                found.setdefault((frame.relation, frame.direction, hit["name"].strip(_MARKS)), frame)
        return [(frame, name) for (_, _, name), frame in found.items() if name]


@lru_cache(maxsize=4)
def frames_of(ruleset: Ruleset) -> Frames:
    """The frames of a rule set; the last few are kept."""
    return Frames(ruleset)


def with_relations(tx: Reading, answer: Recalled, book: QuestionBook, filters: Filters, top: int) -> Recalled:
    """The answer with what the graph of names says to a question about a relation, before all else.

    An ``entity`` among the filters is taken for the principal of the conversations here: what is about somebody else
    and was said in them is what such a question is after.
    """
    asked = answer.asked
    found: dict[str, tuple[Hit, Related]] = {}
    for frame, name in frames_of(book.ruleset).asks(asked.rest):
        wanted = Wanted(
            frozenset({frame.relation}), frame.direction, frame.hops, filters.entity, asked.said, filters.without
        )
        for each in related(tx, book_of(book.ruleset), name, wanted, asked.at, asked.known):
            hit = _hit(each, asked, book)
            if filters.slots is None or hit.item.slot in filters.slots:
                found.setdefault(hit.item.id, (hit, each))
    if not found:
        return answer
    best = sorted(found.values(), key=lambda pair: (pair[1].hops, -pair[0].score, pair[1].name))
    hits = [hit for hit, _ in best] + [hit for hit in answer.hits if hit.item.id not in found]
    return replace(answer, hits=tuple(hits[:top]), related=tuple(each for _, each in best))


def _hit(found: Related, asked: Asked, book: QuestionBook) -> Hit:
    """The last step of a path as a hit: as similar as the path is sure."""
    item = found.path[-1].items[0]
    item = item.model_copy(update={"status": status_at(item, asked.at)})
    slot = book.ruleset.slots.get(item.slot.removeprefix("reported."))
    sure = float(found.confidence)
    similarity = book.number("similarity", 0.5) * sure
    matters = book.number("importance", 0.3) * importance_of(item, slot)
    recent = book.number("recency", 0.2) * recency(
        item.said_at, asked.now, book.number("full_days", 7), book.number("fade_months", 12)
    )  # fmt: skip
    routes = {ROUTE: Found(found.hops, sure)}
    return Hit(item, round(similarity + matters + recent, 9), similarity, matters, recent, routes)
