"""Checks a log from its own bytes: numbers, hashes, roots, signed checkpoints, personal values, what memory holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Protocol

from ..model import MemoryItem
from .checkpoint import NoteError, origin_of, unverified
from .heads import Heads, change_of
from .holdings import Decisions, Stored
from .ledger import LogStore
from .merkle import Frontier, Growing, leaf_hash
from .record import DECIDES, SALT_BYTES, Beside, Record, RecordError, domain_of, record_of
from .report import Erased as Erased
from .report import Finding as Finding
from .report import Report as Report
from .signatures import SIGNED, Signatures
from .strict import read_strictly
from .written import Items, plain

SUBTREES_AT_ONCE = 256  # kept roots that are read together


class KeptCheckpoint(Protocol):
    """A checkpoint with the columns beside it."""

    @property
    def number(self) -> int:
        """Its number, from 0."""

    @property
    def size(self) -> int:
        """How many records it is said to sign."""

    @property
    def note(self) -> str:
        """The signed note."""


class Holding(Stored, Protocol):
    """A store as the verifier sees it."""

    def checkpoints_kept(self) -> Sequence[KeptCheckpoint]:
        """All checkpoints, by number."""

    def stray_values(self) -> Sequence[tuple[int, str]]:
        """Personal values (record, field) beside which no record stands."""

    def reused_salts(self) -> Sequence[tuple[int, str]]:
        """Personal values (record, field) that share their salt with another one."""

    def foreign_parts(self) -> Sequence[str]:
        """What stands in the database that we did not make, and what is missing of what keeps the ledger."""


def verify(
    log: LogStore,
    namespace: str,
    *,
    witness: Iterable[str] | None = None,
    public_key: bytes | None = None,
    log_name: str = "recordari",
    items: Callable[[], Iterable[MemoryItem]] | None = None,
    stored: Holding | None = None,
    actors: Sequence[str] | None = None,
) -> Report:
    """Verify a namespace's log against itself, its checkpoints, a witness's copies and what memory holds.

    ``witness`` are notes from outside the database, ``actors`` keys of people from a list outside. ``items`` gives all
    item versions; ``stored`` the whole of what memory holds: turns, decisions, items, suggestions, checkpoints.
    Records are read once and in order; only what is wrong, erased or suggested takes memory.
    """
    return _Check(log, namespace, log_name, stored, actors, items is not None).run(witness, public_key, items)


class _Check:
    """One run over one log."""

    def __init__(
        self, log: LogStore, namespace: str, log_name: str, stored: Holding | None, actors: Sequence[str] | None,
        compared: bool,
    ) -> None:  # fmt: skip
        self.log = log
        self.namespace = namespace
        self.findings: list[Finding] = []
        self.counts: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self.values = 0
        self.subtrees: dict[int, Mapping[int, bytes]] = {}  # level → some kept roots, from the next number on
        self.missing: dict[tuple[int, str], str] = {}  # (seq, field) → hash in the record
        self.erasures: dict[tuple[int, str], tuple[int, str]] = {}
        self.stored = stored
        self.heads = Heads(origin_of(namespace, log_name), self.wrong, self.counts)
        self.signatures = Signatures(self.wrong, self.counts, actors)
        kept = iter(stored.items_kept()) if stored is not None else None
        self.items: Items | None = None
        if stored is not None or compared:
            self.items = Items(self.wrong, self.counts, kept, stored.has_item if stored is not None else None)
        self.decisions = Decisions(stored, self.wrong, self.counts) if stored is not None else None
        self.before: tuple[str, int] | None = None  # turn and ordinal of the decision in the record before
        self.grounds: dict[str, dict[str, int]] = {"ruleset": {}, "runtime": {}}
        self.clock = ""  # the latest time at which a record says it was written
        self.backwards: list[int] = []

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
        kept = tuple(self.log.checkpoints(self.namespace))
        remarks = self.heads.remarks
        if not kept and self.log.size(self.namespace):
            remarks.append("there is no checkpoint: nothing in this log is signed, all of it could be made up")
        self.heads.read(kept, witness)
        frontier, roots = self._walk(self.heads.sizes)
        size, nodes = self.log.frontier(self.namespace)
        if (size, tuple(nodes)) != (frontier.size, frontier.nodes):
            self.wrong(-1, "frontier", f"the stored frontier (size {size}) is not that of the {frontier.size} records")
        self.heads.check(frontier.size, roots, public_key)
        remarks += self.signatures.remarks()
        if self.backwards:
            some = ", ".join(map(str, self.backwards[:8])) + (" …" if len(self.backwards) > 8 else "")
            remarks.append(f"the clock went backwards {len(self.backwards)} times, at records {some}")
        self._guarded("checkpoints", self._columns)
        erased = self._gone()
        if self.decisions is not None:
            decisions = self.decisions
            self._guarded("decisions and turns", lambda: decisions.finish(self.missing))
            if decisions.uncommitted:
                remarks.append(
                    f"{decisions.uncommitted} turns were written by an older version, whose records do not commit to "
                    "what was said: their words are not checked"
                )
        if (held := self.items) is not None:
            holding = self.stored
            if holding is not None:
                self._guarded("items", lambda: held.finish(counted=holding.item_rows()))
            elif items is not None:
                held.finish(plain(items()))
        self.counts.update({f"of kind {kind}": number for kind, number in self.kinds.items()})
        if self.values:
            self.counts["personal values"] = self.values
        if decided := sum(number for kind, number in self.kinds.items() if kind in DECIDES):
            self.counts["decisions"] = decided
        return Report(
            self.namespace,
            frontier.size,
            frontier.root(),
            tuple(sorted(self.findings)),
            erased,
            dict(sorted(self.counts.items())),
            tuple(remarks),
            self.heads.signed,
            self.grounds,
        )

    def _guarded(self, what: str, check: Callable[[], None]) -> None:
        """One part of the verification; what breaks it is a finding, and the other parts are done."""
        try:
            check()
        except Exception as broken:  # rows of a kind that nobody writes
            self.wrong(-1, "damaged", f"{what} cannot be checked to the end: {type(broken).__name__}: {broken}")

    def _columns(self) -> None:
        """The columns beside the checkpoints, and what stands where nothing should."""
        if self.stored is None:
            return
        for seq, name in self.stored.stray_values():
            self.wrong(-1, "private", f"a value {name} is kept for record {seq}, which is not there")
        for seq, name in self.stored.reused_salts():
            self.wrong(seq, "private", f"the salt of {name} is that of another value too")
        for part in self.stored.foreign_parts():
            self.wrong(-1, "file", f"the database has {part}")
        for expected, each in enumerate(self.stored.checkpoints_kept()):
            if each.number != expected:
                self.wrong(-1, "checkpoint", f"checkpoint {each.number} stands where {expected} comes next")
            try:
                size = unverified(each.note).size
            except (NoteError, AttributeError, TypeError):
                continue  # told already
            if each.size != size:
                self.wrong(
                    -1, "checkpoint", f"checkpoint {each.number}: column size is {each.size}, the note has {size}"
                )

    def _walk(self, sizes: set[int]) -> tuple[Frontier, dict[int, bytes]]:
        """Re-hash every record; the roots at ``sizes`` are kept on the way."""
        tree = Growing()
        roots = {0: tree.frontier().root()}
        expected = 0
        for row in self.log.read(self.namespace):
            if row.seq != expected:
                self.wrong(expected, "gap", f"the next record is number {row.seq}: records are missing or out of order")
            seq: object = row.seq  # SQLite keeps any kind in any column
            if not isinstance(seq, int):
                continue
            expected = seq + 1
            text = row.record
            leaf = leaf_hash(text.encode() if type(text) is str and text.isascii() else _bytes_of(text))
            if leaf != row.leaf:
                self.wrong(seq, "altered", "the record does not have the hash it was stored with")
            if tree.size & 15 == 15:
                self._subtrees(tree.frontier(), leaf)
            tree.append(leaf)
            if tree.size in sizes:
                roots[tree.size] = tree.frontier().root()
            self._record(seq, text, row.private)
        if tree.size:
            self.counts["records"] = tree.size
        return tree.frontier(), roots

    def _subtrees(self, frontier: Frontier, leaf: bytes) -> None:
        """The full subtrees that are kept for short proofs; a log of an older version has none."""
        for level, number, root in frontier.completed(leaf):
            if number % SUBTREES_AT_ONCE == 0:
                self.subtrees[level] = self.log.subtrees(self.namespace, level, number, number + SUBTREES_AT_ONCE)
            if self.subtrees.get(level, {}).get(number, root) != root:
                self.wrong(-1, "frontier", f"the subtree {number} of {1 << level} records is not the one that is kept")

    def _record(self, seq: int, text: str, kept: Mapping[str, Beside]) -> None:
        try:
            if not isinstance(text, str):
                raise RecordError(f"the record is stored as {type(text).__name__}, not as text")
            fields, well_formed = read_strictly(text)
            record = record_of(fields)
            if not well_formed:
                self.wrong(seq, "form", "the record is not in canonical form")
        except (ValueError, RecursionError) as wrong:
            self.wrong(seq, "form", str(wrong))
            return
        said, namespace, kind, recorded_at, _, hashes, signed = record
        if said != seq:
            self.wrong(seq, "moved", f"the record says of itself that it is number {said}")
        if namespace != self.namespace:
            self.wrong(seq, "moved", f"the record belongs to the log {namespace!r}")
        private = self._private(said, hashes, kept)
        try:
            if recorded_at < self.clock:
                self.backwards.append(said)
            else:
                self.clock = recorded_at
            self._meaning(record, private)
            if signed is not None or kind in SIGNED or record.by_person:
                self.signatures.read(record, text, private)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as wrong:
            # well hashed, but not written by this code
            self.wrong(seq, "form", f"the content does not have the form of kind {kind}: {wrong!r}")

    def _meaning(self, record: Record, private: Mapping[str, Beside]) -> None:
        before, self.before = self.before, None
        self.kinds[record.kind] += 1
        if record.kind == "erase":
            ground = str(record.content["ground"])
            if not ground.strip():
                self.wrong(record.seq, "erasure", "personal values were erased and no ground is named")
            for seq, names in record.content["fields"]:
                for name in names:
                    self.erasures.setdefault((seq, name), (record.seq, ground))
            if self.items is not None:
                self.items.erased(record, private)
        elif record.kind == "key":
            self.heads.changes.append(change_of(record))
        elif record.decides:
            for name, digests in self.grounds.items():
                digest = record.content.get(name)
                if digest and digest not in digests:
                    digests[str(digest)] = record.seq
            if self.items is not None:
                self.items.decided(record, private)
            if self.decisions is not None:
                self._follows(record, before)
                self.decisions.decided(record, private)
        elif self.items is not None and record.kind == "rewrite" and record.content["outcome"] == "accepted":
            self.items.reworded(str(record.content["item"]), record.with_private(private).get("answer"))

    def _follows(self, record: Record, before: tuple[str, int] | None) -> None:
        """The decisions of a turn are written down together, in order."""
        turn_id, ordinal = str(record.content["turn_id"]), record.content["ordinal"]
        self.before = (turn_id, ordinal)
        if ordinal != 0 and before != (turn_id, ordinal - 1):
            self.wrong(record.seq, "order", f"decision {turn_id}/{ordinal} does not follow the one before it")

    def _private(self, seq: int, hashes: Mapping[str, str], private: Mapping[str, Beside]) -> Mapping[str, Beside]:
        """The personal values against what record ``seq`` commits to; those that fit."""
        good = 0
        for name, committed in hashes.items():
            each = private.get(name)
            if each is None:
                self.missing[(seq, name)] = committed
                continue
            try:
                salt = bytes.fromhex(each.salt)
                found = sha256(domain_of(name) + salt + each.value.encode()).hexdigest()
                agrees = found == committed and len(salt) == SALT_BYTES
            except (AttributeError, TypeError, ValueError):
                agrees = False
            if agrees:
                good += 1
            else:
                self.wrong(seq, "private", f"the value of {name} is not the one the record commits to")
                private = {field: each for field, each in private.items() if field != name}
        self.values += good
        if good != len(private):
            for name in sorted(set(private) - set(hashes)):
                self.wrong(seq, "private", f"a value {name} lies beside the record that it does not know")
        return private

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


def _bytes_of(record: str | bytes) -> bytes:
    """What is hashed: the bytes as they stand in the database."""
    if isinstance(record, bytes):
        return record
    try:
        return str(record).encode("utf-8", "surrogateescape")  # bytes that were no UTF-8 come back as they were
    except UnicodeEncodeError:
        return record.encode("utf-8", "surrogatepass")
