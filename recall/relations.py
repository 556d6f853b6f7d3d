"""Relations between names: who is joined to whom over one to three steps, how surely, by which items and decisions."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import lru_cache

from ..model import MemoryItem, Turn
from ..rules.book import book_of as rule_book
from ..rules.edges import ends_of, relation_of
from ..rules.identity import name_key
from ..rules.ruleset import Ruleset
from ..rules.slots import SlotRelation
from ..store.lookup import deciders
from ..store.reading import Reading
from ..store.relations import Scope, Step, hidden_items, reach, steps_between, turns_of
from .question import QuestionError

MOST_HOPS = 3
_EXACT = Decimal("0.001")


@dataclass(frozen=True)
class Link:
    """One step of a path: the edge in the direction in which it was told, and what says so."""

    subject: str
    relation: str
    object: str
    confidence: Decimal  # 0 to 1
    items: tuple[MemoryItem, ...]  # the surest first
    told: str  # in words, in the language of the first item
    decisions: tuple[tuple[str, int], ...]  # turn and ordinal of the decision that wrote each item
    turns: tuple[str, ...]  # the turns that are evidence for it


@dataclass(frozen=True)
class Related:
    """A name that was reached, by the shortest path and, of those, the surest."""

    name: str
    kind: str  # person | organization | name | product | matter
    hops: int
    confidence: Decimal  # of the whole path: the product of its links
    strength: str  # strong | usual | weak
    path: tuple[Link, ...]


class RelationBook:
    """What the slots of a rule set say of relations, and the numbers that make a confidence."""

    def __init__(self, ruleset: Ruleset) -> None:
        self.ruleset = ruleset
        told = [file.relation for _, file in sorted(ruleset.slots.items()) if file.relation is not None]
        # What is told from its end is the relation of another slot; where none has it, it stands for itself.
        self.relations: dict[str, SlotRelation] = {
            each.name: each for each in sorted(told, key=lambda each: not each.inverse)
        }
        self.same = frozenset(name for name, each in self.relations.items() if each.same)
        self.both = self.same | {name for name, each in self.relations.items() if each.symmetric}
        file = ruleset.vocabularies.get("relations.confidence")
        self._numbers = {word: Decimal(str(value)) for word, value in file.entries().items()} if file else {}

    def ends(self, item: MemoryItem) -> tuple[str, str]:
        """Subject and object of the edge that an item says."""
        relation = relation_of(item.slot, self.ruleset)
        return ends_of(item, relation) if relation is not None else (item.entity, item.canonical)

    def told(self, relation: str, item: MemoryItem) -> str:
        """The edge that an item says, in words."""
        reads = self.relations[relation].reads
        subject, object_ = self.ends(item)
        words = reads.zh if item.language == "zh" else reads.en
        return words.replace("{subject}", subject).replace("{object}", object_)

    def number(self, name: str) -> Decimal:
        """A number of ``relations.confidence``; 0 for one that is not there."""
        return self._numbers.get(name, Decimal(0))

    def confidence(self, evidence: Iterable[tuple[Turn, bool]]) -> Decimal:
        """How sure turns make an edge; ``True``: the turn only reported it.

        1 - (1 - w1)(1 - w2)…: every voice takes away a share of the doubt. The share is that of the source; the same
        voice in another conversation takes less, and again in the same one least.
        """
        doubt = Decimal(1)
        heard: set[tuple[str, str]] = set()
        for turn, reported in sorted(evidence, key=lambda each: (each[0].received_at, each[0].turn_id)):
            who = turn.author or f"{turn.speaker}\n{turn.entity}"
            weight = self.number("reported" if reported else _source(turn))
            if (who, turn.conversation) in heard:
                weight *= self.number("again")
            elif any(who == each for each, _ in heard):
                weight *= self.number("another_conversation")
            heard.add((who, turn.conversation))
            doubt *= 1 - weight
        return (1 - doubt).quantize(_EXACT)

    def strength(self, confidence: Decimal) -> str:
        """In a word."""
        if confidence >= self.number("strong"):
            return "strong"
        return "weak" if confidence < self.number("weak") else "usual"


def _source(turn: Turn) -> str:
    executed = turn.document is not None and turn.document.status == "executed"
    return "executed_document" if executed else turn.speaker


@lru_cache(maxsize=4)
def book_of(ruleset: Ruleset) -> RelationBook:
    """The book of a rule set; the last few are kept."""
    return RelationBook(ruleset)


@dataclass(frozen=True)
class Wanted:
    """What is asked of the graph; ``direction`` in: against the relation (who works there), None: both ways."""

    relations: frozenset[str] | None = None
    direction: str | None = None
    hops: int = 1
    principal: str | None = None
    said: tuple[datetime | None, datetime | None] | None = None  # evidence from these days counts, the end exclusive
    without: frozenset[str] = frozenset()  # classes of personal data that must not be shown


def named(book: RelationBook, name: str) -> str:
    """Under which key a name stands in the graph; empty for what names nothing."""
    return name_key(name, rule_book(book.ruleset).names)


def _hidden(tx: Reading) -> tuple[frozenset[str], frozenset[str]]:
    """Items that may not be answered, and entities about which none may."""
    if not tx.restrictions:
        return frozenset(), frozenset()
    entities = frozenset(each.target for each in tx.restrictions if each.on == "entity" and each.target)
    return hidden_items(tx.connection, tx.namespace, tx.restrictions), entities


def related(
    tx: Reading, book: RelationBook, name: str, wanted: Wanted, at: datetime, known_at: datetime | None = None
) -> tuple[Related, ...]:
    """Names within some steps of one, the nearest and surest first: true ``at``, and known by ``known_at``.

    QuestionError: no name, more steps than three, or a relation that no slot declares.
    """
    if not 1 <= wanted.hops <= MOST_HOPS:
        raise QuestionError(f"{wanted.hops} steps: take 1 to {MOST_HOPS}")
    unknown = sorted((wanted.relations or frozenset()) - set(book.relations))
    if unknown:
        raise QuestionError(f"no relation {unknown[0]!r}: one of {', '.join(sorted(book.relations))}")
    scope = Scope(
        at, wanted.relations or frozenset(book.relations), known_at, book.same, book.both, wanted.direction,
        wanted.principal, *_hidden(tx),
    )  # fmt: skip
    start = named(book, name)
    if not start:
        raise QuestionError("the name is empty. Name a person, a company, a product or a matter")
    most = int(book.number("most_names") or 1000)
    found = reach(tx.connection, tx.namespace, [start], wanted.hops, scope, most)
    if len(found.depth) < 2:
        return ()
    # From the farthest names nothing leads on but what is no step.
    inner = [node for node, depth in found.depth.items() if depth < wanted.hops]
    steps = steps_between(tx.connection, tx.namespace, inner, found.depth, scope)
    edge = [node for node, depth in found.depth.items() if depth == wanted.hops]
    steps += steps_between(tx.connection, tx.namespace, edge, found.depth, replace(scope, relations=frozenset()))
    links = _links(tx, book, _allowed(book, steps, wanted.without), wanted.said)
    paths = _paths(start, links, book.same, wanted.hops)
    names = _names(book, steps)
    known = [
        Related(*names[node], hops, confidence, book.strength(confidence), path)
        for node, (hops, confidence, path) in paths.items()
        if hops > 0
    ]
    return tuple(sorted(known, key=lambda each: (each.hops, -each.confidence, each.name)))


def along(
    tx: Reading,
    book: RelationBook,
    name: str,
    steps: Sequence[tuple[str, str]],
    wanted: Wanted,
    at: datetime,
    known_at: datetime | None = None,
) -> tuple[Related, ...]:
    """Names at the end of relations followed one after another from a name, the surest first.

    ``steps``: relation and direction of each (``out``: from subject to object). Of ``wanted`` count the principal,
    ``without``, and ``said``, which is about the last step.
    """
    scope = Scope(
        at, frozenset(relation for relation, _ in steps), known_at, book.same, book.both, None, wanted.principal,
        *_hidden(tx), tuple(steps),
    )  # fmt: skip
    start = named(book, name)
    most = int(book.number("most_names") or 1000)
    layers = reach(tx.connection, tx.namespace, [start], len(steps), scope, most).layers
    if not layers[-1]:
        return ()
    every: list[Step] = []
    links: dict[str, list[tuple[str, Link]]] = {}
    for depth, nodes in enumerate(layers):
        last = depth == len(steps)
        relation, direction = steps[depth] if not last else ("", "out")
        layer = replace(scope, relations=frozenset({relation} - {""}), direction=direction, steps=())
        among = nodes | (frozenset() if last else layers[depth + 1])
        found = _allowed(book, steps_between(tx.connection, tx.namespace, nodes, among, layer), wanted.without)
        every += found
        said = wanted.said if depth == len(steps) - 1 else None
        for node, joined in _links(tx, book, found, said).items():
            links[_state(depth, node)] = [
                (_state(depth + (link.relation not in book.same), other), link) for other, link in joined
            ]
    names = _names(book, every)
    reached = [
        (node, best)
        for state, best in _paths(_state(0, start), links, book.same, len(steps)).items()
        for depth, node in [state.split("\x1f", 1)]
        if int(depth) == len(steps)
    ]
    told = [
        Related(*names[node], hops, confidence, book.strength(confidence), path)
        for node, (hops, confidence, path) in reached
    ]
    return tuple(sorted(told, key=lambda each: (-each.confidence, each.name)))


def _state(depth: int, node: str) -> str:
    """A name after so many steps, as a place of its own in a walk."""
    return f"{depth}\x1f{node}"


def _allowed(book: RelationBook, steps: Sequence[Step], without: frozenset[str]) -> list[Step]:
    """The steps whose class of personal data may be shown."""
    if not without:
        return list(steps)
    slots = book.ruleset.slots
    return [step for step in steps if slots[step.item.slot.removeprefix("reported.")].personal_data not in without]


def _links(
    tx: Reading,
    book: RelationBook,
    steps: Sequence[Step],
    said: tuple[datetime | None, datetime | None] | None,
) -> dict[str, list[tuple[str, Link]]]:
    """The links from each name to its neighbours, with what makes them sure."""
    turns = turns_of(tx.connection, tx.namespace, {turn for step in steps for turn in step.turns})
    decided = deciders(tx.connection, tx.namespace, sorted({step.item.id for step in steps}))
    by_edge: dict[tuple[str, str, str, str], list[Step]] = {}
    for step in steps:
        by_edge.setdefault((step.node, step.relation, step.direction, step.other), []).append(step)
    links: dict[str, list[tuple[str, Link]]] = {}
    for (node, relation, _, other), told in by_edge.items():
        evidence = [
            (turns[turn], step.item.slot.startswith("reported."))
            for step in told
            for turn in step.turns
            if turn in turns
        ]
        if said is not None and not any(_within(turn.said_at, said) for turn, _ in evidence):
            continue
        items = tuple(
            step.item for step in sorted(told, key=lambda each: (-len(each.turns), each.item.said_at, each.item.id))
        )
        subject, object_ = book.ends(items[0])
        link = Link(
            subject, relation, object_, book.confidence(evidence), items, book.told(relation, items[0]),
            tuple(decided[item.id] for item in items if item.id in decided),
            tuple(dict.fromkeys(turn.turn_id for turn, _ in evidence)),
        )  # fmt: skip
        links.setdefault(node, []).append((other, link))
    return links


def _within(moment: datetime, said: tuple[datetime | None, datetime | None]) -> bool:
    start, end = said
    return (start is None or moment >= start) and (end is None or moment < end)


def _paths(
    start: str, links: Mapping[str, list[tuple[str, Link]]], same: frozenset[str], hops: int
) -> dict[str, tuple[int, Decimal, tuple[Link, ...]]]:
    """The best path to each name: fewest steps, then surest, then first by its names."""
    best: dict[str, tuple[int, Decimal, tuple[Link, ...]]] = {}
    waiting: list[tuple[int, Decimal, tuple[str, ...], int, tuple[Link, ...]]] = [(0, Decimal(-1), (start,), 0, ())]
    seen = 0  # of what is equal in all that counts, the first
    while waiting:
        steps, doubt, names, _, path = heapq.heappop(waiting)
        if names[-1] in best:
            continue
        best[names[-1]] = (steps, -doubt, path)
        for other, link in links.get(names[-1], ()):
            further = steps + (link.relation not in same)
            if other not in best and further <= hops:
                sure = (doubt * link.confidence).quantize(_EXACT)
                seen += 1
                heapq.heappush(waiting, (further, sure, (*names, link.relation, other), seen, (*path, link)))
    return best


def _names(book: RelationBook, steps: Sequence[Step]) -> dict[str, tuple[str, str]]:
    """Each name as it was said last, and what it names."""
    found: dict[str, tuple[datetime, str, str]] = {}
    company = rule_book(book.ruleset).lex.said["company"]
    for step in steps:
        relation, item = book.relations[step.relation], step.item
        named = item.kind if relation.object == "name" and item.kind == "organization" else relation.object
        subject, object_ = book.ends(item)
        ends = ((subject, str(relation.subject)), (object_, str(named)))
        for node, (name, kind) in zip(_order(book, step), ends, strict=True):
            before = found.get(node, (item.said_at, name, kind))
            kind = before[2] if kind == "name" else kind  # what one relation leaves open another may say
            if kind == "name" and company.search(name):
                kind = "organization"
            found[node] = (item.said_at, name, kind) if before[0] <= item.said_at else (*before[:2], kind)
    return {node: (name, kind) for node, (_, name, kind) in found.items()}


def _order(book: RelationBook, step: Step) -> tuple[str, str]:
    """The ends of a step, the subject first: one that holds both ways has no direction that says so."""
    first = name_key(book.ends(step.item)[0], rule_book(book.ruleset).names) == step.node
    return (step.node, step.other) if first else (step.other, step.node)
