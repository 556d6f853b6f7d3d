"""Checks a log from its own bytes: numbers, hashes, roots, signed checkpoints, personal values, memory items."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..model import MemoryItem
from .checkpoint import Checkpoint, NoteError, of_origin, origin_of, read_checkpoint, unverified
from .ledger import LogStore, StoredRow
from .merkle import Frontier, leaf_hash
from .record import Private, Record, RecordError, canonical, item_fields, read_record

# What a later version of an item may change without a decision: a polish record says so, and what was answered.
REWORDED = frozenset({"sentence", "version"})


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One thing that is wrong, and where; ``seq`` is -1 when it concerns the log as a whole."""

    seq: int
    code: str
    message: str

    def __str__(self) -> str:
        place = f"record {self.seq}" if self.seq >= 0 else "log"
        return f"{place}: {self.message} [{self.code}]"


@dataclass(frozen=True, slots=True)
class Erased:
    """A personal value that is gone, and the decision that let it go."""

    seq: int
    name: str
    by: int
    ground: str

    def __str__(self) -> str:
        return f"record {self.seq}: {self.name} was erased by decision {self.by} on ground {self.ground}"


@dataclass(frozen=True, slots=True)
class Report:
    """What verification found. ``counts`` says how much was checked, ``remarks`` what could not be."""

    namespace: str
    size: int
    root: bytes
    findings: tuple[Finding, ...] = ()
    erased: tuple[Erased, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """True when nothing is wrong."""
        return not self.findings

    def lines(self) -> list[str]:
        """The report for people."""
        head = f"log {self.namespace}: {self.size} records, root {self.root.hex()}"
        counted = ", ".join(f"{number} {name}" for name, number in sorted(self.counts.items()))
        verdict = "verified" if self.ok else f"{len(self.findings)} findings"
        return [
            head,
            f"checked: {counted or 'nothing'}",
            *map(str, self.erased),
            *(f"remark: {remark}" for remark in self.remarks),
            *(f"wrong: {finding}" for finding in self.findings),
            verdict,
        ]


def verify(
    log: LogStore,
    namespace: str,
    *,
    witness: Iterable[str] | None = None,
    public_key: bytes | None = None,
    log_name: str = "recordari",
    items: Callable[[], Iterable[MemoryItem]] | None = None,
) -> Report:
    """Verify a namespace's log against itself, its checkpoints, a witness's copies and the items it explains.

    ``witness`` are notes from outside the database; ``items`` gives all stored item versions.
    """
    return _Check(log, namespace, log_name).run(witness, public_key, items)


class _Check:
    """One run over one log."""

    def __init__(self, log: LogStore, namespace: str, log_name: str) -> None:
        self.log = log
        self.namespace = namespace
        self.origin = origin_of(namespace, log_name)
        self.findings: list[Finding] = []
        self.counts: Counter[str] = Counter()
        self.remarks: list[str] = []
        self.missing: dict[tuple[int, str], str] = {}  # (seq, field) → hash in the record
        self.erasures: dict[tuple[int, str], tuple[int, str]] = {}
        self.named: dict[str, int] = {}  # item id → the last decision that names it
        self.promised: dict[str, int] = {}  # id/version → the last decision that wrote it
        self.written: dict[str, tuple[int, dict[str, Any]]] = {}  # id/version → that decision and the fields
        self.answers: dict[str, set[str | None]] = {}  # item id → sentences that polish accepted; None: erased

    def wrong(self, seq: int, code: str, message: str) -> None:
        """Note a finding."""
        self.findings.append(Finding(seq, code, message))

    def run(
        self,
        witness: Iterable[str] | None,
        public_key: bytes | None,
        items: Callable[[], Iterable[MemoryItem]] | None,
    ) -> Report:
        """Everything, in the order an auditor would ask it."""
        notes = self._notes(self.log.checkpoints(self.namespace), public_key, "checkpoint")
        if witness is None:
            self.remarks.append("no witness file was given: a cut tail or a log rewritten with the key cannot be seen")
        else:
            notes += self._notes(of_origin(witness, self.origin), public_key, "witness note")
        frontier, roots = self._walk({note.size for note, _ in notes})
        self._heads(frontier, notes, roots)
        erased = self._gone()
        if items is not None:
            self._items(items())
        return Report(
            self.namespace,
            frontier.size,
            frontier.root(),
            tuple(sorted(self.findings)),
            erased,
            dict(sorted(self.counts.items())),
            tuple(self.remarks),
        )

    def _notes(self, notes: Sequence[str], public_key: bytes | None, what: str) -> list[tuple[Checkpoint, str]]:
        good: list[tuple[Checkpoint, str]] = []
        if notes and public_key is None:
            self.remarks.append(f"no public key was given: signatures of {len(notes)} {what}s are not checked")
        for number, note in enumerate(notes):
            try:
                read = (
                    unverified(note)
                    if public_key is None
                    else read_checkpoint(note, self.origin, public_key)
                )  # fmt: skip
            except NoteError as wrong:
                self.wrong(-1, "note", f"{what} {number} cannot be trusted: {wrong}")
                continue
            self.counts[f"{what}s"] += 1
            good.append((read, what))
        return good

    def _walk(self, sizes: set[int]) -> tuple[Frontier, dict[int, bytes]]:
        """Re-hash every record; the roots at ``sizes`` are kept on the way."""
        frontier = Frontier()
        roots = {0: frontier.root()}
        expected = 0
        for row in self.log.read(self.namespace):
            if row.seq != expected:
                self.wrong(expected, "gap", f"the next record is number {row.seq}: records are missing or out of order")
            expected = row.seq + 1
            leaf = leaf_hash(row.record.encode("utf-8", "surrogatepass"))
            if leaf != row.leaf:
                self.wrong(row.seq, "altered", "the record does not have the hash it was stored with")
            frontier = frontier.append(leaf)
            if frontier.size in sizes:
                roots[frontier.size] = frontier.root()
            self.counts["records"] += 1
            self._record(row)
        return frontier, roots

    def _record(self, row: StoredRow) -> None:
        try:
            record = read_record(row.record)
            if canonical_again(row.record) != row.record:
                self.wrong(row.seq, "form", "the record is not in canonical form")
        except (RecordError, ValueError) as wrong:
            self.wrong(row.seq, "form", str(wrong))
            return
        if record.seq != row.seq:
            self.wrong(row.seq, "moved", f"the record says of itself that it is number {record.seq}")
        if record.namespace != self.namespace:
            self.wrong(row.seq, "moved", f"the record belongs to the log {record.namespace!r}")
        self.counts[f"of kind {record.kind}"] += 1
        private = {name: Private(each.value, each.salt) for name, each in row.private.items()}
        self._private(record, private)
        try:
            self._meaning(record, private)
        except (KeyError, TypeError, ValueError) as wrong:  # well hashed, but not written by this code
            self.wrong(row.seq, "form", f"the content does not have the form of kind {record.kind}: {wrong!r}")

    def _meaning(self, record: Record, private: dict[str, Private]) -> None:
        if record.kind == "erasure":
            ground = str(record.content["ground"])
            for seq, names in record.content["fields"]:
                for name in names:
                    self.erasures.setdefault((seq, name), (record.seq, ground))
        elif record.kind == "decision":
            self._promises(record, private)
        elif record.kind == "polish" and record.content["outcome"] == "accepted":
            answer = record.with_private(private).get("answer")
            self.answers.setdefault(str(record.content["item"]), set()).add(answer)

    def _private(self, record: Record, private: dict[str, Private]) -> None:
        for name in sorted(set(private) - set(record.hashes)):
            self.wrong(record.seq, "private", f"a value {name} lies beside the record that it does not know")
        for name, committed in sorted(record.hashes.items()):
            if name not in private:
                self.missing[(record.seq, name)] = committed
                continue
            try:
                agrees = private[name].commitment(name) == committed
            except ValueError:
                agrees = False
            if agrees:
                self.counts["personal values"] += 1
            else:
                self.wrong(record.seq, "private", f"the value of {name} is not the one the record commits to")
                del private[name]

    def _promises(self, record: Record, private: dict[str, Private]) -> None:
        item = record.content.get("item")
        if item is not None:
            self.named[item] = record.seq
        for key in record.content.get("written", ()):
            self.promised[key] = record.seq
            self.written.pop(key, None)
        for version in record.with_private(private).get("written", ()) if "written" in private else ():
            self.written[f"{version['id']}/{version['version']}"] = (record.seq, version)

    def _heads(self, frontier: Frontier, notes: list[tuple[Checkpoint, str]], roots: dict[int, bytes]) -> None:
        size, nodes = self.log.frontier(self.namespace)
        if (size, tuple(nodes)) != (frontier.size, frontier.nodes):
            self.wrong(-1, "frontier", f"the stored frontier (size {size}) is not that of the {frontier.size} records")
        for note, what in notes:
            if note.size > frontier.size:
                self.wrong(
                    frontier.size,
                    "truncated",
                    f"a {what} says that the log had {note.size} records; {frontier.size} are left",
                )
            elif roots[note.size] != note.root:
                self.wrong(-1, "rewritten", f"the first {note.size} records are not those that a {what} signs")

    def _gone(self) -> tuple[Erased, ...]:
        erased: list[Erased] = []
        for seq, name in sorted(self.missing):
            decided = self.erasures.get((seq, name))
            if decided is None or decided[0] < seq:
                self.wrong(seq, "private", f"the value of {name} is gone and no decision erased it")
            else:
                erased.append(Erased(seq, name, *decided))
        for seq, name in sorted(set(self.erasures) - set(self.missing)):
            if self.erasures[(seq, name)][0] > seq and (seq, name) not in self.missing and self._has(seq, name):
                by = self.erasures[(seq, name)][0]
                self.wrong(seq, "private", f"decision {by} erased {name}, but its value is still there")
        return tuple(erased)

    def _has(self, seq: int, name: str) -> bool:
        return any(name in row.private for row in self.log.read(self.namespace, seq, seq + 1))

    def _items(self, items: Iterable[MemoryItem]) -> None:
        seen: set[str] = set()
        ids: set[str] = set()
        for item in items:
            seen.add(_key(item.id, item.version))
            ids.add(item.id)
            self.counts["item versions"] += 1
            self._item(item)
        gone = {seq for seq, _ in self.missing}
        for key, seq in sorted(self.promised.items()):
            if key not in seen and seq not in gone:
                self.wrong(seq, "item", f"item {key}, which this decision wrote, is not in memory")
        kept = {key.rpartition("/")[0] for key in self.promised}
        for name, seq in sorted(self.named.items()):
            if name not in ids and name not in kept and seq not in gone:
                self.wrong(seq, "item", f"item {name}, which this decision names, is not in memory")

    def _item(self, item: MemoryItem) -> None:
        """One stored version against what the log says of it."""
        key = _key(item.id, item.version)
        if key in self.promised:
            if key in self.written:  # else erased: nothing left to compare with
                self._compare(item, key, frozenset())
            return
        before = max(
            (version for version in range(1, item.version) if _key(item.id, version) in self.promised), default=None
        )
        if before is None:
            if item.id not in self.named:
                self.wrong(-1, "item", f"item {key} ({item.slot}) is in memory, but no decision put it there")
            return
        answers = self.answers.get(item.id, set())
        if item.sentence not in answers and None not in answers:
            self.wrong(-1, "item", f"item {key} is worded as neither a decision nor an accepted rewriting says")
        if _key(item.id, before) in self.written:
            self._compare(item, _key(item.id, before), REWORDED)

    def _compare(self, item: MemoryItem, key: str, free: frozenset[str]) -> None:
        seq, fields = self.written[key]
        stored = item_fields(item)
        differs = sorted(name for name in {*fields, *stored} - free if fields.get(name) != stored.get(name))
        if differs:
            name = _key(item.id, item.version)
            self.wrong(seq, "item", f"item {name} is not as this decision wrote it: {', '.join(differs)} differ")


def _key(item: str, version: int) -> str:
    """How a record names an item version."""
    return f"{item}/{version}"


def canonical_again(text: str) -> str:
    """The canonical form of a JSON text; equal to it when it was canonical."""
    return canonical(json.loads(text))
