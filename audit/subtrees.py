"""Roots between any two places of a long log, out of the full subtrees that its store keeps and a few leaf hashes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from .merkle import KEPT_LEVELS, Frontier, root_of

_LEVELS = (*reversed(KEPT_LEVELS), 0)
_BLOCK = 16  # hashes fetched at once; at every level but the highest they lie under one hash of the level above


class KeepsSubtrees(Protocol):
    """The part of a log store that is asked."""

    def subtrees(self, namespace: str, level: int, first: int, stop: int) -> Mapping[int, bytes]:
        """Number → root of the full subtrees of 2**level records; leaf hashes at level 0."""


class Subtrees:
    """The tree over one log. What the store does not keep (a log of an older version) is computed from the leaves."""

    def __init__(self, log: KeepsSubtrees, namespace: str) -> None:
        self._log = log
        self._namespace = namespace
        self._blocks: dict[tuple[int, int], Mapping[int, bytes]] = {}

    def root_between(self, low: int, high: int) -> bytes:
        """The root over the leaves from ``low`` to before ``high``; a place where a subtree of that size begins."""
        nodes: list[bytes] = []
        for level in _LEVELS:
            number = (high - low) >> level
            if number:
                frontier = Frontier().extend(self._node(level, (low >> level) + each) for each in range(number))
                nodes += frontier.nodes
                low += number << level
        return Frontier((1 << len(nodes)) - 1, tuple(nodes)).root()  # folds them from the right, whatever their sizes

    def _node(self, level: int, number: int) -> bytes:
        block = number // _BLOCK
        held = self._blocks.get((level, block))
        if held is None:
            first = block * _BLOCK
            held = self._log.subtrees(self._namespace, level, first, first + _BLOCK)
            self._blocks[(level, block)] = held
        found = held.get(number)
        if found is not None:
            return found
        if level == 0:
            raise LookupError(f"record {number} of {self._namespace!r} is not there")
        below = _LEVELS[_LEVELS.index(level) + 1]
        width = 1 << (level - below)
        return root_of(self._node(below, number * width + each) for each in range(width))
