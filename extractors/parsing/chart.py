"""Bottom-up chart over neighbouring parts: which productions of the grammar hold where, best reading first."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, NamedTuple

from ..text import Normalized
from ..vocabulary import VocabularyFile

# Bounds on work. A mention of more than 14 leaves has never been seen in contracts or talk; four ways to reach the
# same state of a production are enough, since the ways differ only in how the inner parts were grouped.
MAX_LEAVES = 14
MAX_WAYS = 4
# Sets of types remembered with what they lead to. Most lead where another one led already and share it: some 3 kB
# each, so that a process stays below 30 MB of them.
MAX_REMEMBERED = 8000


class Edge(NamedTuple):
    """A typed part at normalised characters ``start:end``; ``kind`` when it may become a mention."""

    type: str
    start: int
    end: int
    value: Any
    rule: str
    leaves: int = 1
    weight: int = 0  # 0 for words, 1 for each pattern or built-in number: the less specific, the heavier
    latent: bool = False
    priority: int = 0
    kind: str | None = None

    @property
    def rank(self) -> tuple[int, int, bool, int, str]:
        """Among parts of one span and type the smallest rank wins."""
        return (self.leaves, self.weight, self.latent, -self.priority, self.rule)


Test = Callable[[str, int, int], bool]


@dataclass(frozen=True, eq=False)
class Reduction:
    """What a completed production yields; ``allowed`` is its context test (None: anywhere)."""

    type: str
    rule: str
    run: Callable[[Mapping[str, Any]], Any]
    kind: str | None = None
    latent: bool | None = None
    priority: int = 0
    allowed: Test | None = None


@dataclass(eq=False)
class Node:
    """A state of the network: the items of some productions read so far. Built once, then only read."""

    moves: dict[str, list[Node]] = field(default_factory=dict)
    done: list[tuple[Reduction, tuple[tuple[str, int], ...]]] = field(default_factory=list)
    _children: dict[frozenset[str], Node] = field(default_factory=dict)

    def child(self, symbols: frozenset[str]) -> Node:
        """The state after one item that accepts any of ``symbols``; productions share common beginnings."""
        node = self._children.get(symbols)
        if node is None:
            node = self._children[symbols] = Node()
            for symbol in sorted(symbols):
                self.moves.setdefault(symbol, []).append(node)
        return node


class Item(NamedTuple):
    """One place of a sequence: the symbols it accepts, the variable it binds ("" for none), and if it may be absent."""

    symbols: frozenset[str]
    variable: str
    optional: bool


class Step(NamedTuple):
    """A state after one more part: what is complete there, and whether anything worth reading may follow."""

    node: Node
    done: tuple[tuple[Reduction, tuple[tuple[str, int], ...]], ...]
    goes_on: bool


class Reach:
    """What a set of part types can lead to: the types still worth reading, the productions worth trying."""

    def __init__(self, symbols: frozenset[str], reductions: frozenset[Reduction], states: frozenset[Node]) -> None:
        self.symbols = symbols
        self.reductions = reductions
        self.states = states  # on the way to one of the productions
        self.known: dict[tuple[Node, str], tuple[Step, ...]] = {}  # what ``steps`` has found

    def steps(self, node: Node, symbol: str) -> tuple[Step, ...]:
        """The states after ``symbol`` on the way to a production worth trying; asked once, then ``known``."""
        found = tuple(self._step(after) for after in node.moves.get(symbol, ()) if after in self.states)
        self.known[node, symbol] = found
        return found

    def _step(self, node: Node) -> Step:
        done = tuple(pair for pair in node.done if pair[0] in self.reductions)
        return Step(node, done, not node.moves.keys().isdisjoint(self.symbols))


class Network:
    """All productions as one trie of items, so that a part starts each shared beginning once."""

    def __init__(self) -> None:
        self.root = Node()
        self.exposed: frozenset[str] = frozenset()  # types that are worth finding although they are no mention
        self._rules: list[tuple[tuple[frozenset[str], ...], frozenset[str], Reduction]] = []  # needs, reads, result
        self._states: dict[Reduction, set[Node]] = {}
        self._users: dict[str, int] = {}  # symbol → how many needs it satisfies
        self._watched: dict[str, list[int]] = {}  # symbol → rules to look at when it is there: once for each rule
        self._bits: dict[str, int] = {}  # each symbol as a bit: whether a need is met is asked a thousand times a text
        self._needs: list[tuple[tuple[int, frozenset[str]], ...]] = []
        self._reach: dict[frozenset[str], Reach] = {}
        self._same: dict[tuple[frozenset[str], frozenset[Reduction]], Reach] = {}

    def add(self, items: tuple[Item, ...], reduction: Reduction) -> None:
        """Add one sequence; absent optional items are spelled out as further paths."""
        read = frozenset().union(*(item.symbols for item in items))
        for symbol in read:
            self._users[symbol] = self._users.get(symbol, 0) + 1
        self._rules.append((tuple(item.symbols for item in items if not item.optional), read, reduction))
        self._add(self.root, items, 0, (), reduction)

    def close(self) -> None:
        """Let each production be looked at only when its rarest need is there; nothing is added afterwards."""
        for symbol in sorted({*self._users, *(reduction.type for _, _, reduction in self._rules)}):
            self._bits[symbol] = 1 << len(self._bits)
        for number, (needs, _, _) in enumerate(self._rules):
            self._needs.append(tuple((sum(self._bits[symbol] for symbol in need), need) for need in needs))
            rarest = min(needs, key=lambda need: (sum(self._users[symbol] for symbol in need), sorted(need)))
            for symbol in rarest:
                self._watched.setdefault(symbol, []).append(number)

    def reach(self, types: Iterable[str]) -> Reach:
        """What parts of these types can lead to. Remembered for each set: a text has few kinds of clusters."""
        present = frozenset(self._users.keys() & types)
        known = self._reach.get(present)
        if known is None:
            if len(self._reach) >= MAX_REMEMBERED:
                self._reach.clear()
                self._same.clear()
            known = self._reach[present] = self._closure(present)
        return known

    def _closure(self, present: Iterable[str]) -> Reach:
        """Forward: which productions can hold at all; backward: which of them can serve a mention or exposed part."""
        have = 0
        full: set[int] = set()
        waiting: dict[str, list[int]] = {}  # a need that was not there when its production was looked at
        makers: dict[str, list[int]] = {}
        work: list[int] = []
        todo = list(present)
        while todo:
            symbol = todo.pop()
            bit = self._bits[symbol]
            if have & bit:
                continue
            have |= bit
            for number in (*self._watched.get(symbol, ()), *waiting.get(symbol, ())):
                if number in full:
                    continue
                for need, symbols in self._needs[number]:
                    if not need & have:
                        for other in symbols:
                            waiting.setdefault(other, []).append(number)
                        break
                else:
                    full.add(number)
                    reduction = self._rules[number][2]
                    makers.setdefault(reduction.type, []).append(number)
                    todo.append(reduction.type)
                    if reduction.kind is not None or reduction.type in self.exposed:
                        work.append(number)
        live: set[str] = set()
        serving: set[Reduction] = set()
        while work:
            _, read, reduction = self._rules[work.pop()]
            serving.add(reduction)
            for symbol in read:
                if symbol not in live and have & self._bits[symbol]:
                    live.add(symbol)
                    work.extend(makers.get(symbol, ()))
        key = (frozenset(live), frozenset(serving))
        known = self._same.get(key)
        if known is None:
            states = frozenset().union(*(self._states[reduction] for reduction in serving))
            known = self._same[key] = Reach(*key, states)
        return known

    def _add(
        self, node: Node, items: tuple[Item, ...], read: int, bound: tuple[tuple[str, int], ...], reduction: Reduction
    ) -> None:
        if not items:
            if read:
                node.done.append((reduction, bound))
            return
        first, rest = items[0], items[1:]
        if first.optional:
            self._add(node, rest, read, bound, reduction)
        here = (*bound, (first.variable, read)) if first.variable else bound
        child = node.child(first.symbols)
        self._states.setdefault(reduction, set()).add(child)
        self._add(child, rest, read + 1, here, reduction)


class _Active(NamedTuple):
    """A production read up to somewhere."""

    node: Node
    start: int
    parts: tuple[Edge, ...]
    leaves: int
    weight: int


_IN_ORDER = attrgetter("start", "end", "type")


def clusters(leaves: Iterable[Edge], text: str) -> list[list[Edge]]:
    """Runs of neighbouring leaves."""
    runs: list[list[Edge]] = []
    reach = -2
    for leaf in sorted(leaves, key=_IN_ORDER):
        start = leaf.start
        if runs and (start <= reach or (start == reach + 1 and text[reach] == " ")):
            runs[-1].append(leaf)
            if leaf.end > reach:
                reach = leaf.end
        else:
            runs.append([leaf])
            reach = leaf.end
    return runs


def parse(leaves: Iterable[Edge], text: str, network: Network) -> list[Edge]:
    """Every part that the grammar finds, leaves included: one per span and type."""
    found: list[Edge] = []
    for run in clusters(leaves, text):
        reach = network.reach([edge.type for edge in run])
        ends = [e for e in run if e.kind is not None or e.type in network.exposed or e.type in reach.symbols]
        found.extend(_parse_run(ends, text, network, reach) if reach.reductions else ends)
    return found


def _parse_run(run: list[Edge], text: str, network: Network, reach: Reach) -> list[Edge]:
    """Chart of one cluster, by end ascending, start descending, rank: a part is complete before it is used."""
    by_end: dict[int, list[Edge]] = {}
    for leaf in run:
        by_end.setdefault(leaf.end, []).append(leaf)
    waiting: dict[int, list[_Active]] = {}
    found: list[Edge] = []
    root, steps_of, known = network.root, reach.steps, reach.known
    for end in sorted(by_end):
        heap = [(-e.start, e.rank, i, e) for i, e in enumerate(by_end[end])]
        heapq.heapify(heap)
        number = len(heap)
        seen: set[tuple[int, str]] = set()
        ways: dict[tuple[Node, int], int] = {}
        here: list[_Active] = []
        while heap:
            edge = heapq.heappop(heap)[3]
            symbol, start = edge.type, edge.start
            if (start, symbol) in seen:
                continue
            seen.add((start, symbol))
            found.append(edge)
            befores = [*waiting.get(start, ())] if waiting else []
            if start and text[start - 1] == " ":
                befores += waiting.get(start - 1, ())
            # What the part begins, then what it carries on.
            for active in (None, *befores):
                if active is None:
                    steps = known.get((root, symbol))
                    if steps is None:
                        steps = steps_of(root, symbol)
                    begin, parts, leaves, weight = start, (edge,), edge.leaves, edge.weight
                else:
                    steps = known.get((active.node, symbol))
                    if steps is None:
                        steps = steps_of(active.node, symbol)
                    leaves = active.leaves + edge.leaves
                    if not steps or leaves > MAX_LEAVES:
                        continue
                    begin, parts, weight = active.start, (*active.parts, edge), active.weight + edge.weight
                for node, done, goes_on in steps:
                    for reduction, bound in done:
                        whole = _reduce(reduction, bound, begin, end, parts, leaves, weight, text)
                        if whole is not None and (begin, whole.type) not in seen:
                            heapq.heappush(heap, (-begin, whole.rank, number, whole))
                            number += 1
                    if goes_on:
                        ways[node, begin] = many = ways.get((node, begin), 0) + 1
                        if many <= MAX_WAYS:
                            here.append(_Active(node, begin, parts, leaves, weight))
        if here:
            waiting[end] = here
    return found


def _reduce(
    reduction: Reduction,
    bound: tuple[tuple[str, int], ...],
    start: int,
    end: int,
    parts: tuple[Edge, ...],
    leaves: int,
    weight: int,
    text: str,
) -> Edge | None:
    """The part that a completed production yields; None when its parts do not fit or its context forbids it."""
    value = reduction.run({name: parts[place].value for name, place in bound})
    if value is None or (reduction.allowed is not None and not reduction.allowed(text, start, end)):
        return None
    latent = reduction.latent
    if latent is None:  # a lone latent part stays latent whatever it is renamed to; in company it is confirmed
        latent = len(parts) == 1 and parts[0].latent
    return Edge(
        reduction.type,
        start,
        end,
        value,
        reduction.rule,
        leaves,
        weight,
        latent,
        reduction.priority,
        reduction.kind,
    )


Source = Callable[[Normalized], Iterable[Edge]]
# Name → how to build the source from the vocabularies of a rule set.
SOURCES: dict[str, Callable[[Mapping[str, VocabularyFile]], Source]] = {}


def source(name: str) -> Callable[[Callable[[Mapping[str, VocabularyFile]], Source]], object]:
    """Register what builds a source of leaves: a linear function from normalised text to parts (numerals …)."""

    def register(build: Callable[[Mapping[str, VocabularyFile]], Source]) -> object:
        SOURCES[name] = build
        return build

    return register
