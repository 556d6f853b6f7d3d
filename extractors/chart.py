"""Bottom-up chart over neighbouring parts: which productions of the grammar hold where, best reading first."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .text import Normalized

# Bounds on work. A mention of more than 14 leaves has never been seen in contracts or talk; four ways to reach the
# same state of a production are enough, since the ways differ only in how the inner parts were grouped.
MAX_LEAVES = 14
MAX_WAYS = 4


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


class Network:
    """All productions as one trie of items, so that a part starts each shared beginning once."""

    def __init__(self) -> None:
        self.root = Node()
        self.exposed: frozenset[str] = frozenset()  # types that are worth finding although they are no mention
        self._needs: list[tuple[tuple[frozenset[str], ...], Reduction]] = []
        self._useful: dict[frozenset[str], bool] = {}

    def add(self, items: tuple[Item, ...], reduction: Reduction) -> None:
        """Add one sequence; absent optional items are spelled out as further paths."""
        self._needs.append((tuple(item.symbols for item in items if not item.optional), reduction))
        self._add(self.root, items, 0, (), reduction)

    def useful(self, symbols: frozenset[str]) -> bool:
        """Can parts of these types, in any order, become a mention or an exposed part? Remembered for each set."""
        known = self._useful.get(symbols)
        if known is None:
            if len(self._useful) > 20_000:
                self._useful.clear()
            known = self._useful[symbols] = self._can_end(symbols)
        return known

    def _can_end(self, symbols: frozenset[str]) -> bool:
        have = set(symbols)
        before = -1
        while before < len(have):
            before = len(have)
            for needed, reduction in self._needs:
                if all(not have.isdisjoint(choice) for choice in needed):
                    if reduction.kind is not None or reduction.type in self.exposed:
                        return True
                    have.add(reduction.type)
        return not self.exposed.isdisjoint(have)

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
        self._add(node.child(first.symbols), rest, read + 1, here, reduction)


class _Active(NamedTuple):
    """A production read up to somewhere."""

    node: Node
    start: int
    parts: tuple[Edge, ...]
    leaves: int
    weight: int


def clusters(leaves: Iterable[Edge], text: str, network: Network) -> list[list[Edge]]:
    """Runs of neighbouring leaves; runs that can yield nothing (connecting words alone) are dropped."""
    runs: list[list[Edge]] = []
    reach = -2
    for leaf in sorted(leaves, key=lambda e: (e.start, e.end, e.type)):
        near = leaf.start <= reach or (leaf.start == reach + 1 and text[reach] == " ")
        if near and runs:
            runs[-1].append(leaf)
            reach = max(reach, leaf.end)
        else:
            runs.append([leaf])
            reach = leaf.end
    return [
        run
        for run in runs
        if any(edge.kind is not None for edge in run) or network.useful(frozenset([edge.type for edge in run]))
    ]


def parse(leaves: Iterable[Edge], text: str, network: Network) -> list[Edge]:
    """Every part that the grammar finds, leaves included: one per span and type."""
    found: list[Edge] = []
    for run in clusters(leaves, text, network):
        found.extend(_parse_run(run, text, network))
    return found


def _parse_run(run: list[Edge], text: str, network: Network) -> list[Edge]:
    """Chart of one cluster, by end ascending, start descending, rank: a part is complete before it is used."""
    by_end: dict[int, list[Edge]] = {}
    for leaf in run:
        by_end.setdefault(leaf.end, []).append(leaf)
    waiting: dict[int, list[_Active]] = {}
    found: list[Edge] = []
    for end in sorted(by_end):
        heap = [(-e.start, e.rank, i, e) for i, e in enumerate(by_end[end])]
        heapq.heapify(heap)
        number = len(heap)
        seen: set[tuple[int, str]] = set()
        ways: dict[tuple[int, int], int] = {}
        here: list[_Active] = []
        while heap:
            edge = heapq.heappop(heap)[3]
            if (edge.start, edge.type) in seen:
                continue
            seen.add((edge.start, edge.type))
            found.append(edge)
            for active in _advance(edge, waiting, text, network):
                for reduction, bound in active.node.done:
                    whole = _reduce(reduction, bound, active, end, text)
                    if whole is not None and (whole.start, whole.type) not in seen:
                        heapq.heappush(heap, (-whole.start, whole.rank, number, whole))
                        number += 1
                if active.node.moves:
                    key = (id(active.node), active.start)
                    ways[key] = ways.get(key, 0) + 1
                    if ways[key] <= MAX_WAYS:
                        here.append(active)
        if here:
            waiting[end] = here
    return found


def _advance(edge: Edge, waiting: dict[int, list[_Active]], text: str, network: Network) -> list[_Active]:
    """The productions that ``edge`` begins or carries on."""
    symbol, start = edge.type, edge.start
    out = [_Active(n, start, (edge,), edge.leaves, edge.weight) for n in network.root.moves.get(symbol, ())]
    befores = (start, start - 1) if start and text[start - 1] == " " else (start,)
    for before in befores:
        for active in waiting.get(before, ()):
            nodes = active.node.moves.get(symbol)
            if nodes is not None and active.leaves + edge.leaves <= MAX_LEAVES:
                leaves, weight = active.leaves + edge.leaves, active.weight + edge.weight
                out.extend(_Active(n, active.start, (*active.parts, edge), leaves, weight) for n in nodes)
    return out


def _reduce(
    reduction: Reduction, bound: tuple[tuple[str, int], ...], active: _Active, end: int, text: str
) -> Edge | None:
    """The part that a completed production yields; None when its parts do not fit or its context forbids it."""
    parts = active.parts
    if reduction.allowed is not None and not reduction.allowed(text, active.start, end):
        return None
    value = reduction.run({name: parts[place].value for name, place in bound})
    if value is None:
        return None
    latent = reduction.latent
    if latent is None:  # a lone latent part stays latent whatever it is renamed to; in company it is confirmed
        latent = len(parts) == 1 and parts[0].latent
    return Edge(
        reduction.type,
        active.start,
        end,
        value,
        reduction.rule,
        active.leaves,
        active.weight,
        latent,
        reduction.priority,
        reduction.kind,
    )


Source = Callable[[Normalized], Iterable[Edge]]
SOURCES: dict[str, Source] = {}


def source(name: str) -> Callable[[Source], Source]:
    """Register built-in leaves: a linear function from normalised text to parts (Chinese numerals, phone numbers …)."""

    def register(find: Source) -> Source:
        SOURCES[name] = find
        return find

    return register
