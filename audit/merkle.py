"""RFC 6962 Merkle tree: leaf and node hashes, the growing frontier, inclusion and consistency proofs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

# Levels of which a store keeps all full subtrees (16, 256, 4096, 65,536 leaves): with them a proof out of a million
# records reads some sixty rows.
KEPT_LEVELS = (4, 8, 12, 16)
EMPTY_ROOT = hashlib.sha256(b"").digest()


def leaf_hash(data: bytes) -> bytes:
    """Hash of one entry; the prefix keeps an entry from passing for an inner node."""
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Hash of an inner node."""
    return hashlib.sha256(b"\x01" + left + right).digest()


@dataclass(frozen=True, slots=True)
class Frontier:
    """The roots of the perfect subtrees that make up a tree, largest first: all that appending needs to know."""

    size: int = 0
    nodes: tuple[bytes, ...] = ()

    def __post_init__(self) -> None:
        if self.size < 0 or self.size.bit_count() != len(self.nodes):
            raise ValueError(
                f"a tree of {self.size} leaves has {self.size.bit_count()} subtrees, not {len(self.nodes)}"
            )

    def append(self, leaf: bytes) -> Frontier:
        """The frontier with one leaf hash more; as many subtrees merge as the size has trailing one-bits."""
        nodes = list(self.nodes)
        node = leaf
        rest = self.size
        while rest & 1:
            node = node_hash(nodes.pop(), node)
            rest >>= 1
        return Frontier(self.size + 1, (*nodes, node))

    def completed(self, leaf: bytes) -> Iterable[tuple[int, int, bytes]]:
        """The subtrees of the kept levels that one leaf hash more makes full: (level, number, root)."""
        size, node = self.size + 1, leaf
        if size % (1 << KEPT_LEVELS[0]):
            return
        for level in range(KEPT_LEVELS[-1] + 1):
            if level in KEPT_LEVELS:
                yield level, (size >> level) - 1, node
            if size % (2 << level):
                return
            node = node_hash(self.nodes[-1 - level], node)

    def extend(self, leaves: Iterable[bytes]) -> Frontier:
        """The frontier with several leaf hashes more."""
        frontier = self
        for leaf in leaves:
            frontier = frontier.append(leaf)
        return frontier

    def root(self) -> bytes:
        """Root hash of the tree."""
        if not self.nodes:
            return EMPTY_ROOT
        root = self.nodes[-1]
        for node in reversed(self.nodes[:-1]):
            root = node_hash(node, root)
        return root


class Growing:
    """A frontier that grows in place: for who appends a million leaves and looks at a few heads."""

    def __init__(self) -> None:
        self.size = 0
        self._nodes: list[bytes] = []

    def append(self, leaf: bytes) -> None:
        """One leaf hash more."""
        nodes, rest = self._nodes, self.size
        while rest & 1:
            leaf = hashlib.sha256(b"\x01" + nodes.pop() + leaf).digest()
            rest >>= 1
        nodes.append(leaf)
        self.size += 1

    def frontier(self) -> Frontier:
        """The frontier as it is now."""
        return Frontier(self.size, tuple(self._nodes))


def root_of(leaves: Iterable[bytes]) -> bytes:
    """Root hash over leaf hashes."""
    return Frontier().extend(leaves).root()


def _split(size: int) -> int:
    """The largest power of two below ``size``: how many leaves the left subtree has."""
    return 1 << ((size - 1).bit_length() - 1)


RootBetween = Callable[[int, int], bytes]
"""The root over the leaves from the first to before the second: of any store that can find it."""


def inclusion_proof(leaves: Sequence[bytes], index: int) -> tuple[bytes, ...]:
    """Audit path of leaf ``index`` in the tree over ``leaves`` (leaf hashes), nearest sibling first."""
    return inclusion_path(lambda low, high: root_of(leaves[low:high]), index, len(leaves))


def inclusion_path(root_between: RootBetween, index: int, size: int) -> tuple[bytes, ...]:
    """The same in a tree of ``size`` leaves of which only roots can be asked for."""
    if not 0 <= index < size:
        raise IndexError(f"no leaf {index} in a tree of {size}")
    path: list[bytes] = []
    low, high = 0, size
    while high - low > 1:  # from the root downwards; turned round at the end
        middle = low + _split(high - low)
        if index < middle:
            path.append(root_between(middle, high))
            high = middle
        else:
            path.append(root_between(low, middle))
            low = middle
    return tuple(reversed(path))


def root_from_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes]) -> bytes | None:
    """The root that an audit path leads to; None when the path cannot belong to such a tree."""
    if not 0 <= index < size:
        return None
    place, last, node = index, size - 1, leaf
    for sibling in proof:
        if last == 0:
            return None
        if place & 1 or place == last:
            node = node_hash(sibling, node)
            while not place & 1 and place:
                place >>= 1
                last >>= 1
        else:
            node = node_hash(node, sibling)
        place >>= 1
        last >>= 1
    return node if last == 0 else None


def verify_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """True when the proof shows that ``leaf`` (a leaf hash) stands at ``index`` of the tree with this root."""
    return root_from_inclusion(leaf, index, size, proof) == root


def consistency_proof(leaves: Sequence[bytes], old: int) -> tuple[bytes, ...]:
    """Proof that the tree over the first ``old`` leaves is a prefix of the tree over all of them."""
    return consistency_path(lambda low, high: root_of(leaves[low:high]), old, len(leaves))


def consistency_path(root_between: RootBetween, old: int, size: int) -> tuple[bytes, ...]:
    """The same in a tree of ``size`` leaves of which only roots can be asked for."""
    if not 0 < old <= size:
        raise IndexError(f"no tree of {old} leaves inside one of {size}")
    path: list[bytes] = []
    low, high, whole = 0, size, True
    while old < high:
        middle = low + _split(high - low)
        if old <= middle:
            path.append(root_between(middle, high))
            high = middle
        else:
            path.append(root_between(low, middle))
            low, whole = middle, False
    if not whole:  # the old root itself is known to the verifier, an inner node of it is not
        path.append(root_between(low, high))
    return tuple(reversed(path))


def verify_consistency(old: int, new: int, old_root: bytes, new_root: bytes, proof: Sequence[bytes]) -> bool:
    """True when the proof shows that the tree (``old``, ``old_root``) is a prefix of (``new``, ``new_root``)."""
    if not 0 <= old <= new:
        return False
    if old == new:
        return not proof and old_root == new_root
    if old == 0:
        return not proof and old_root == EMPTY_ROOT
    path = list(proof)
    if old & (old - 1) == 0:  # a perfect tree is its own first node
        path.insert(0, old_root)
    if not path:
        return False
    place, last = old - 1, new - 1
    while place & 1:
        place >>= 1
        last >>= 1
    first = second = path[0]
    for sibling in path[1:]:
        if last == 0:
            return False
        if place & 1 or place == last:
            first = node_hash(sibling, first)
            second = node_hash(sibling, second)
            while not place & 1 and place:
                place >>= 1
                last >>= 1
        else:
            second = node_hash(second, sibling)
        place >>= 1
        last >>= 1
    return last == 0 and first == old_root and second == new_root
