"""Questions about relations: who is asked about, along which relations, and what the graph of names answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from ..rules.capture_file import phrase_pattern
from ..rules.labels import words_pattern
from ..rules.prefilter import Prefilter
from ..rules.ruleset import Ruleset
from ..store.items import status_at
from ..store.reading import Reading
from .question import Asked, QuestionBook
from .rank import Filters, Found, Hit, Recalled, importance_of, recency
from .relations import MOST_HOPS, Related, RelationBook, Wanted, along, book_of, named, related

ROUTE = "relation"
_HAN_BLANK = re.compile(r"(?<=[\u3400-\u9fff])\s+|\s+(?=[\u3400-\u9fff])")
_LONGEST_NAME = 60
_MARKS = " \t?？。.!！,，;；:："
_KINDS = ("person", "organization")


@dataclass(frozen=True)
class Frame:
    """One question, or one phrase that stands for an end: a pattern with the group ``name``, and the way along the
    relation that leads from that name to what is meant."""

    pattern: re.Pattern[str]
    relation: str
    direction: str  # out: asks for objects, in: for subjects
    hops: int


@dataclass(frozen=True)
class Meant:
    """One reading of a question: the relations that are followed from a name, one after another, and how far the last
    of them is followed when it is the only one."""

    steps: tuple[tuple[str, str], ...]
    name: str
    hops: int = 1


class _Set:
    """Frames of which only those are compiled and tried whose words stand in a text."""

    def __init__(self, told: Iterable[tuple[str, str, str, int]]) -> None:
        self._told = tuple(told)
        self._possible = Prefilter(words for words, *_ in self._told)
        self._compiled: dict[int, Frame] = {}

    def matching(self, text: str) -> Iterator[tuple[Frame, str]]:
        """The frames that a text fills, each with the name in it."""
        for number in self._possible.possible(text.lower()):
            words, relation, direction, hops = self._told[number]
            if number not in self._compiled:
                pattern = phrase_pattern(f"^{words}$", _LONGEST_NAME, ())
                self._compiled[number] = Frame(pattern, relation, direction, hops)
            frame = self._compiled[number]
            hit = frame.pattern.search(text)
            if hit is not None:
                yield frame, hit["name"]


class Frames:
    """The questions of all relations of a rule set, and the phrases that stand for their ends."""

    def __init__(self, ruleset: Ruleset) -> None:
        relations = book_of(ruleset).relations.values()
        both = [(each, direction) for each in relations for direction in ("out", "in")]
        self.frames = _Set(
            (words, each.name, direction, MOST_HOPS if each.transitive else 1)
            for each, direction in both
            for asked in (each.objects if direction == "out" else each.subjects,)
            for words in (*asked.zh, *asked.en)
        )
        self.phrases = _Set(
            (words, each.name, direction, 1)
            for each, direction in both
            for named in (each.named_objects if direction == "out" else each.named_subjects,)
            for words in (*named.zh, *named.en)
        )
        file = ruleset.vocabularies.get("recall.relations")
        labels = file.labels if file is not None else {}
        self.opens = words_pattern(labels.get("opens", ()), "start")
        self.closes = words_pattern(labels.get("closes", ()), "end")
        self.asks = (
            words_pattern(labels.get("asks_before", ()), "start"),
            words_pattern(labels.get("asks_behind", ()), "end"),
        )
        self.self = frozenset(word.lower() for word in labels.get("self", ()))
        self.own = (words_pattern(labels.get("own_en", ())), words_pattern(labels.get("own_zh", ())))
        self.kinds = {kind: words_pattern(labels.get(kind, ())) for kind in _KINDS}

    def said(self, question: str) -> str:
        """A question without marks and without what only opens or closes it."""
        said = _HAN_BLANK.sub("", " ".join(question.split())).strip(_MARKS)
        for pattern in (self.opens, self.closes):
            said = pattern.sub("", said).strip(_MARKS)
        return said

    def meant(self, said: str, principal: str | None) -> list[Meant]:
        """The readings of a question, those along the fewest relations first; "we" and "our" are the ``principal``."""
        if principal is not None:
            # By a function: a name is no pattern, whatever signs are in it.
            said = self.own[0].sub(lambda _: f"{principal}'s ", said)
            said = self.own[1].sub(lambda _: f"{principal}的", said)
        found: dict[Meant, None] = {}
        for frame, asked in self.frames.matching(said):
            for steps, name in self._read(asked, MOST_HOPS - 1):
                found.setdefault(
                    Meant((*steps, (frame.relation, frame.direction)), self._who(name, principal), frame.hops)
                )
        bare = said
        for pattern in self.asks:
            bare = pattern.sub("", bare).strip(_MARKS)
        if bare != said:  # "who are the suppliers of …"
            for steps, name in self._read(bare, MOST_HOPS):
                if steps:
                    found.setdefault(Meant(steps, self._who(name, principal)))
        return sorted((each for each in found if each.name), key=lambda each: len(each.steps))

    def _who(self, name: str, principal: str | None) -> str:
        return principal if principal is not None and name.lower() in self.self else name

    def _read(self, words: str, depth: int) -> Iterator[tuple[tuple[tuple[str, str], ...], str]]:
        """Words as a name, and as a phrase about whatever the words in it may mean."""
        words = words.strip(_MARKS)
        yield (), words
        for phrase, meant in self.phrases.matching(words) if depth else ():
            for steps, name in self._read(meant, depth - 1):
                yield (*steps, (phrase.relation, phrase.direction)), name

    def kind_asked(self, said: str) -> str | None:
        """What the answer must be, where the question says so: a person, an organization."""
        kinds = [kind for kind, words in self.kinds.items() if words.search(said)]
        return kinds[0] if len(kinds) == 1 else None


@lru_cache(maxsize=4)
def frames_of(ruleset: Ruleset) -> Frames:
    """The frames of a rule set; the last few are kept."""
    return Frames(ruleset)


def with_relations(tx: Reading, answer: Recalled, book: QuestionBook, filters: Filters, top: int) -> Recalled:
    """The answer with what the graph of names says to a question about relations, before all else.

    An ``entity`` among the filters is taken for the principal of the conversations here: what is about somebody else
    and was said in them is what such a question is after. A question about relations that the graph cannot answer says
    so in its notes; the other routes answer it as any.
    """
    asked, frames = answer.asked, frames_of(book.ruleset)
    said = frames.said(asked.rest)
    readings = frames.meant(said, filters.entity)
    if not readings:
        return answer
    kind = frames.kind_asked(said)
    graph = book_of(book.ruleset)
    found: dict[str, tuple[Hit, Related]] = {}
    others = 0
    for meant in readings:
        for each in _followed(tx, graph, meant, asked, filters):
            if kind is not None and each.kind in {*_KINDS, "product", "matter"} - {kind}:
                others += 1
                continue
            hit = _hit(each, asked, book)
            if filters.slots is None or hit.item.slot in filters.slots:
                found.setdefault(hit.item.id, (hit, each))
        if found:  # what a name means needs no second reading
            break
    if not found:
        why = f"what is found is no {kind}" if others else _unread(readings)
        return replace(answer, asked=replace(asked, notes=(*asked.notes, f"as a question about relations: {why}")))
    best = sorted(found.values(), key=lambda pair: (pair[1].hops, -pair[0].score, pair[1].name))
    hits = [hit for hit, _ in best] + [hit for hit in answer.hits if hit.item.id not in found]
    return replace(answer, hits=tuple(hits[:top]), related=tuple(each for _, each in best))


def _followed(
    tx: Reading, graph: RelationBook, meant: Meant, asked: Asked, filters: Filters
) -> tuple[Related, ...]:  # fmt: skip
    """What one reading of a question reaches."""
    wanted = Wanted(None, None, meant.hops, filters.entity, asked.said, filters.without)
    if len(meant.steps) > MOST_HOPS or not named(graph, meant.name):
        return ()
    if len(meant.steps) > 1:
        return along(tx, graph, meant.name, meant.steps, wanted, asked.at, asked.known)
    ((relation, direction),) = meant.steps
    wanted = replace(wanted, relations=frozenset({relation}), direction=direction)
    return related(tx, graph, meant.name, wanted, asked.at, asked.known)


def _unread(readings: list[Meant]) -> str:
    """What to say where no reading leads anywhere: what was looked for."""
    looked = (f"{each.name!r} by {' then '.join(relation for relation, _ in each.steps)}" for each in readings)
    return f"nothing is known of {' or of '.join(list(dict.fromkeys(looked))[:3])}"


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
