"""The append-only log of a namespace: gapless numbers, Merkle roots and proofs over any store that keeps rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from .merkle import Frontier, consistency_path, inclusion_path, leaf_hash, root_from_inclusion
from .record import DECISIONS, Entry, Private, Record, Row, Salts, random_salts, read_record, sealed
from .subtrees import Subtrees


class StoredPrivate(Protocol):
    """A personal value beside its record."""

    @property
    def value(self) -> str:
        """Canonical JSON of the value."""

    @property
    def salt(self) -> str:
        """The salt, hexadecimal."""


class StoredRow(Protocol):
    """A row as a store hands it back. ``private`` has only those fields that have not been erased."""

    @property
    def seq(self) -> int:
        """0-based place in the log."""

    @property
    def record(self) -> str:
        """The canonical JSON text, byte for byte as it was appended."""

    @property
    def leaf(self) -> bytes:
        """The stored leaf hash (32 bytes); the verifier computes it afresh."""

    @property
    def private(self) -> Mapping[str, StoredPrivate]:
        """Field name → value and salt."""


class LogStore(Protocol):
    """What a ledger needs from a store. All calls of one append happen in the writer's transaction.

    A store never changes or deletes a record; the only thing it may drop is private values.
    """

    def append(self, namespace: str, rows: Sequence[Row]) -> None:
        """Store rows as they are. Must fail when a ``seq`` exists already."""

    def read(self, namespace: str, start: int = 0, stop: int | None = None) -> Iterable[StoredRow]:
        """Rows with ``start <= seq < stop`` in order of ``seq``; to the end when ``stop`` is None."""

    def size(self, namespace: str) -> int:
        """Number of rows stored."""

    def frontier(self, namespace: str) -> tuple[int, Sequence[bytes]]:
        """Size and subtree roots as last set; ``(0, ())`` for a new namespace."""

    def set_frontier(self, namespace: str, size: int, nodes: Sequence[bytes]) -> None:
        """Keep the frontier that the next append starts from."""

    def add_subtrees(self, namespace: str, nodes: Sequence[tuple[int, int, bytes]]) -> None:
        """Keep roots of full subtrees: (level, number, root)."""

    def subtrees(self, namespace: str, level: int, first: int, stop: int) -> Mapping[int, bytes]:
        """Number → root of those full subtrees of 2**level records that are kept; leaf hashes at level 0."""

    def erase_private(self, namespace: str, seq: int, names: Sequence[str], *, decided_by: int) -> None:
        """Destroy value and salt of fields of record ``seq``, as ``decided_by`` says; absent ones are no error."""

    def checkpoints(self, namespace: str) -> Sequence[str]:
        """Signed notes, oldest first."""

    def add_checkpoint(self, namespace: str, size: int, note: str) -> None:
        """Keep a signed note beside the log."""


class LedgerError(RuntimeError):
    """The log as stored cannot be continued; nothing may be remembered until it has been verified."""


@dataclass(frozen=True, slots=True)
class Proof:
    """An inclusion proof that anybody can check with ``merkle.verify_inclusion``."""

    seq: int
    size: int
    leaf: bytes
    path: tuple[bytes, ...]
    root: bytes


class Ledger:
    """Appends to and proves from the log that a store keeps; holds no state of its own between calls."""

    def __init__(self, salts: Salts = random_salts) -> None:
        self._salts = salts

    def append(
        self, log: LogStore, namespace: str, entries: Iterable[Entry], *, recorded_at: datetime
    ) -> tuple[Row, ...]:
        """Write entries down at the end of the log, inside the caller's transaction; returns the rows."""
        frontier = self.frontier(log, namespace)
        rows: list[Row] = []
        full: list[tuple[int, int, bytes]] = []
        for entry in entries:
            seq = frontier.size
            record, private = sealed(
                entry, namespace=namespace, seq=seq, recorded_at=recorded_at, salts=self._salts
            )  # fmt: skip
            leaf = leaf_hash(record.encode())
            act = None if entry.kind in DECISIONS else entry.kind
            rows.append(Row(seq, record, leaf, private, act))
            full += frontier.completed(leaf)
            frontier = frontier.append(leaf)
        if rows:
            log.append(namespace, rows)
            if full:
                log.add_subtrees(namespace, full)
            log.set_frontier(namespace, frontier.size, frontier.nodes)
        return tuple(rows)

    def erase(
        self,
        log: LogStore,
        namespace: str,
        places: Mapping[int, Sequence[str]],
        *,
        ground: str,
        actor: str,
        recorded_at: datetime,
    ) -> Row:
        """Destroy personal values and write down that, where, by whom and on what ground.

        ``places`` maps the numbers of records to the fields whose values go. The records, and with them every
        proof and checkpoint, stay as they are.
        """
        size = self.frontier(log, namespace).size
        beyond = sorted(seq for seq in places if not 0 <= seq < size)
        if beyond:
            raise LedgerError(f"cannot erase from records {beyond}: the log of {namespace!r} ends at {size - 1}")
        fields = [[seq, sorted(set(places[seq]))] for seq in sorted(places)]
        entry = Entry("erase", {"fields": fields, "ground": ground}, {"actor": actor})
        (row,) = self.append(log, namespace, [entry], recorded_at=recorded_at)
        for seq in sorted(places):
            log.erase_private(namespace, seq, sorted(set(places[seq])), decided_by=row.seq)
        return row

    def frontier(self, log: LogStore, namespace: str) -> Frontier:
        """The frontier as stored; LedgerError when it does not belong to the rows."""
        size, nodes = log.frontier(namespace)
        rows = log.size(namespace)
        if size != rows:
            raise LedgerError(
                f"the log of {namespace!r} has {rows} records but its frontier says {size}: verify it before writing on"
            )
        try:
            return Frontier(size, tuple(nodes))
        except ValueError as wrong:
            raise LedgerError(f"the frontier of {namespace!r} is damaged: {wrong}") from wrong

    def root(self, log: LogStore, namespace: str) -> tuple[int, bytes]:
        """Size and root hash of the log as it stands."""
        frontier = self.frontier(log, namespace)
        return frontier.size, frontier.root()

    def prove(self, log: LogStore, namespace: str, seq: int, size: int | None = None) -> Proof:
        """Proof that record ``seq`` is in the log of ``size`` records (default: all)."""
        tree = Subtrees(log, namespace)
        size = self.frontier(log, namespace).size if size is None else size
        path = inclusion_path(tree.root_between, seq, size)
        leaf = tree.root_between(seq, seq + 1)
        root = root_from_inclusion(leaf, seq, size, path)
        assert root is not None  # the path was made for this tree
        return Proof(seq, size, leaf, path, root)

    def prove_growth(self, log: LogStore, namespace: str, old: int, new: int | None = None) -> tuple[bytes, ...]:
        """Proof that the log of ``new`` records (default: all) only added to the one of ``old``."""
        size = self.frontier(log, namespace).size if new is None else new
        return consistency_path(Subtrees(log, namespace).root_between, old, size)

    def records(
        self, log: LogStore, namespace: str, start: int = 0, stop: int | None = None
    ) -> Iterable[tuple[Record, Mapping[str, Private]]]:
        """Records with what is left of their private values, in order."""
        for row in log.read(namespace, start, stop):
            yield read_record(row.record), {name: Private(each.value, each.salt) for name, each in row.private.items()}


class MemoryLog:
    """A log store in plain memory: for throw-away ledgers such as rehearsals and for the tests of the algorithms."""

    def __init__(self) -> None:
        self._rows: dict[str, list[Row]] = {}
        self._frontiers: dict[str, tuple[int, tuple[bytes, ...]]] = {}
        self._notes: dict[str, list[str]] = {}
        self._subtrees: dict[tuple[str, int], dict[int, bytes]] = {}

    def append(self, namespace: str, rows: Sequence[Row]) -> None:
        kept = self._rows.setdefault(namespace, [])
        for row in rows:
            if row.seq != len(kept):
                raise LedgerError(f"record {row.seq} cannot follow {len(kept) - 1}")
            kept.append(row)

    def read(self, namespace: str, start: int = 0, stop: int | None = None) -> Iterable[Row]:
        return tuple(self._rows.get(namespace, [])[start:stop])

    def size(self, namespace: str) -> int:
        return len(self._rows.get(namespace, []))

    def frontier(self, namespace: str) -> tuple[int, Sequence[bytes]]:
        return self._frontiers.get(namespace, (0, ()))

    def set_frontier(self, namespace: str, size: int, nodes: Sequence[bytes]) -> None:
        self._frontiers[namespace] = (size, tuple(nodes))

    def add_subtrees(self, namespace: str, nodes: Sequence[tuple[int, int, bytes]]) -> None:
        for level, number, root in nodes:
            self._subtrees.setdefault((namespace, level), {})[number] = root

    def subtrees(self, namespace: str, level: int, first: int, stop: int) -> Mapping[int, bytes]:
        if level == 0:
            return {row.seq: row.leaf for row in self._rows.get(namespace, [])[first:stop]}
        kept = self._subtrees.get((namespace, level), {})
        return {number: root for number, root in kept.items() if first <= number < stop}

    def erase_private(self, namespace: str, seq: int, names: Sequence[str], *, decided_by: int) -> None:
        row = self._rows[namespace][seq]
        left: dict[str, Any] = {name: each for name, each in row.private.items() if name not in names}
        self._rows[namespace][seq] = Row(row.seq, row.record, row.leaf, left)

    def checkpoints(self, namespace: str) -> Sequence[str]:
        return tuple(self._notes.get(namespace, ()))

    def add_checkpoint(self, namespace: str, size: int, note: str) -> None:
        self._notes.setdefault(namespace, []).append(note)
