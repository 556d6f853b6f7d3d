"""Item versions in memory held against the decisions and rewritings that wrote them, in step with the log."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from ..model import MemoryItem
from .holdings import KeptItem
from .record import Beside, Record, canonical, item_fields
from .report import Wrong

# What a version of an item may change without a decision: a record of a rewriting says so, and what was answered.
REWORDED = frozenset({"sentence", "version"})
NO_DECISION = -1


@dataclass(frozen=True, slots=True)
class Plain:
    """An item version without anything that says where it is stored."""

    item: MemoryItem
    before: MemoryItem | None = None
    row: int = 0
    ordinal: int = 0
    principal: str = ""
    written_by: str = ""
    decision: int = 0
    first: tuple[int | None, str | None] = (0, "")
    wrong: tuple[str, ...] = ()

    @property
    def item_id(self) -> str:
        return self.item.id

    @property
    def version(self) -> int:
        return self.item.version


def plain(items: Iterable[MemoryItem]) -> Iterator[Plain]:
    """Item versions of which no store says more."""
    before: MemoryItem | None = None
    for item in sorted(items, key=lambda each: (each.id, each.version)):
        yield Plain(item, before if before is not None and before.id == item.id else None)
        before = item


@dataclass(frozen=True, slots=True)
class _Promise:
    """What a decision said of an item version: its record, its place there, and the version while it is not erased."""

    seq: int
    place: int
    turn_id: str
    ordinal: int
    fields: Mapping[str, object] | None
    erased: bool  # something of the record is gone: the version may be, too


class Items:
    """Reads the versions along with the records, in the order of writing; what finds no partner waits to the end.

    So only differences take memory. ``rows``: the versions of a store, in order; None when they come at the end.
    """

    def __init__(
        self,
        wrong: Wrong,
        counts: Counter[str],
        rows: Iterator[KeptItem] | None = None,
        has_item: Callable[[str], bool] | None = None,
    ) -> None:
        self._has_item = has_item
        self._wrong = wrong
        self._counts = counts
        self._rows = rows
        self._ahead = 0  # versions promised so far, less those read
        self._promised: dict[str, _Promise] = {}
        self._waiting: dict[str, KeptItem] = {}
        self._answers: dict[str, list[str | None]] = {}  # item → sentences accepted and not yet seen; None: erased
        self._named: dict[str, tuple[int, bool]] = {}  # items named by a decision that did not write them
        self._row = 1  # the number that the next version must have
        self._gaps: list[tuple[int, int, str]] = []  # numbers that are missing, from and to before; what follows
        self._held: KeptItem | None = None  # read and not yet promised
        self._erased: dict[str, int] = {}  # versions that erasures named → their row
        self._erased_items: set[str] = set()
        self._unnamed = False  # an erasure of the first days named no versions
        self._unvouched: dict[str, str] = {}  # versions whose promise is gone → digest of what is stored
        self._last = (-1, -1)  # record and place of the last version in order

    def decided(self, record: Record, private: Mapping[str, Beside]) -> None:
        """Take in what a decision says that it wrote."""
        content = record.content
        keys = content.get("written", ())
        item = content.get("item")
        gone = len(private) < len(record.hashes)
        if item is not None and not any(key.rpartition("/")[0] == item for key in keys):
            there = self._has_item is not None and (gone or self._has_item(item))
            if not there:
                self._named.setdefault(item, (record.seq, gone))
        if not keys:
            return
        turn_id, ordinal = str(content.get("turn_id")), int(content.get("ordinal", 0))
        versions: dict[str, Mapping[str, object]] = {}
        for version in json.loads(private["written"].value) if "written" in private else ():
            versions[_key(version["id"], version["version"])] = version
        if strange := set(versions) - set(keys):
            raise ValueError(f"{sorted(strange)[0]} is written but not named")
        for place, key in enumerate(keys):
            promise = _Promise(record.seq, place, turn_id, ordinal, versions.get(key), gone)
            early = self._waiting.pop(key, None)
            if early is not None:
                self._wrong(record.seq, "column", f"item {key}: column row is out of the order of the log")
                self._kept(early, key, promise)
            else:
                self._promised[key] = promise
            self._ahead += 1
        self._follow()

    def erased(self, record: Record, private: Mapping[str, Beside]) -> None:
        """Take in what an erasure took, and the versions that it vouches for in place of a value that went."""
        content = record.content
        self._unnamed |= "versions" not in content
        for row, item, number in content.get("versions", ()):
            self._erased[_key(item, number)] = row
            self._erased_items.add(item)
            if self._has_item is not None and self._has_item(item):
                self._wrong(record.seq, "item", f"item {item} was erased by this decision, but is still in memory")
        for version in json.loads(private["keeps"].value) if "keeps" in private else ():
            key = _key(version["id"], version["version"])
            if key not in content["keeps"]:
                raise ValueError(f"{key} is kept but not named")
            if self._unvouched.pop(key, None) != _digest(version):
                self._wrong(record.seq, "item", f"item {key}, which this decision kept, is not as it was written")

    def reworded(self, item: str, answer: str | None) -> None:
        """Take in a sentence that was accepted."""
        self._answers.setdefault(item, []).append(answer)

    def _follow(self) -> None:
        """Read as many versions as were promised, and those between them that no decision wrote."""
        while self._rows is not None and self._ahead > 0:
            each = self._held or next(self._rows, None)
            self._held = None
            if each is None:
                self._rows = iter(())
                return
            if missing := self._gap(each):
                self._ahead -= missing  # promised, and erased as it seems: nothing more is to be read for them
                if each.decision != NO_DECISION and _key(each.item_id, each.version) not in self._promised:
                    self._held = each  # read too early: its own decision comes later
                    continue
            self._take(each)

    def finish(self, rows: Iterable[KeptItem] = (), counted: int | None = None) -> None:
        """The rest of the versions, then what found no partner. ``counted``: how many versions the store counted, None
        when it says nothing about the order of writing."""
        seen: set[str] = set()
        held = [self._held] if self._held is not None else []
        for each in chain(held, self._rows if self._rows is not None else rows):
            if self._has_item is None:
                seen.add(each.item_id)
            self._take(each, ordered=counted is not None)
        for key, promise in sorted(self._promised.items()):
            if not (promise.erased and (key in self._erased or self._unnamed)):
                self._wrong(promise.seq, "item", f"item {key}, which this decision wrote, is not in memory")
        for key, row in sorted(self._waiting.items()):
            slot = f" ({row.item.slot})" if row.item is not None else ""
            self._wrong(-1, "item", f"item {key}{slot} is in memory, but no decision put it there")
        for name, (seq, gone) in sorted(self._named.items()):
            if not gone and name not in seen and name not in self._erased_items:
                self._missing(seq, name)
        if counted is None:
            return
        last = self._row - 1
        if counted > last:
            told = f"{counted} item versions were counted, the last is number {last}"
            self._gaps.append((self._row, counted + 1, told))
        elif counted < last:
            self._wrong(-1, "column", f"{counted} item versions were counted, the last is number {last}")
        erased = set(self._erased.values())
        for first, stop, told in self._gaps:
            if any(row not in erased for row in range(first, stop)):
                self._wrong(-1, "column", told)

    def _missing(self, seq: int, item: str) -> None:
        self._wrong(seq, "item", f"item {item}, which this decision names, is not in memory")

    def _take(self, each: KeptItem, *, ordered: bool = True) -> None:
        """One stored version."""
        key = _key(each.item_id, each.version)
        self._counts["item versions"] += 1
        for what in each.wrong:
            self._wrong(-1, "column", f"item {key}: {what}")
        if ordered:
            self._ordered(each, key)
        promise = self._promised.pop(key, None)
        if each.decision != NO_DECISION or promise is not None:
            self._ahead -= 1
        if promise is not None:
            if ordered and (promise.seq, promise.place) < self._last:
                self._wrong(promise.seq, "column", f"item {key}: column row is out of the order of the log")
            self._last = max(self._last, (promise.seq, promise.place))
            self._kept(each, key, promise, ordered=ordered)
        elif each.before is not None and (each.decision == NO_DECISION or not ordered):
            self._worded(each, each.before, key, ordered=ordered)
        else:
            self._waiting[key] = each

    def _gap(self, each: KeptItem) -> int:
        """How many rows are missing before this one; whether they were erased is for later records to say."""
        row: object = each.row
        if not isinstance(row, int) or row <= self._row:
            return 0
        missing, key = row - self._row, _key(each.item_id, each.version)
        self._gaps.append((self._row, row, f"item {key}: column row is {row!r}, {self._row} comes next"))
        self._row = row
        return missing

    def _ordered(self, each: KeptItem, key: str) -> None:
        """Numbers run without gaps; all versions of an item share number and principal."""
        self._gap(each)
        if each.row != self._row:
            self._wrong(-1, "column", f"item {key}: column row is {each.row!r}, {self._row} comes next")
        self._row = each.row + 1 if isinstance(each.row, int) else self._row
        if (each.ordinal, each.principal) != each.first:
            self._wrong(-1, "column", f"item {key}: column ordinal or principal is not that of its first version")

    def _kept(self, each: KeptItem, key: str, promise: _Promise, *, ordered: bool = True) -> None:
        """A version against the decision that wrote it."""
        if ordered:
            self._origin(each, key, promise.seq, promise.turn_id, promise.ordinal)
        if each.item is None:
            return
        if promise.fields is not None:
            self._compare(each.item, promise.fields, frozenset(), promise.seq, key)
        else:
            self._unvouched[key] = _digest(item_fields(each.item))

    def _worded(self, each: KeptItem, before: MemoryItem, key: str, *, ordered: bool) -> None:
        """A version that no decision wrote, against the one before it and what was accepted."""
        if each.item is None:
            return
        if ordered:
            self._origin(each, key, -1, each.item.turn_id, NO_DECISION)
        answers = self._answers.get(each.item_id, [])
        match = each.item.sentence if each.item.sentence in answers else None
        if match is None and None not in answers:
            self._wrong(-1, "item", f"item {key} is worded as neither a decision nor an accepted rewriting says")
        else:
            answers.remove(match)
        if not answers:
            self._answers.pop(each.item_id, None)
        self._compare(each.item, item_fields(before), REWORDED, -1, key)

    def _origin(self, each: KeptItem, key: str, seq: int, turn_id: str, ordinal: int) -> None:
        """Which decision a version says that it is from."""
        pairs = (("written_by", each.written_by, turn_id), ("decision", each.decision, ordinal))
        for name, said, right in pairs:
            if said != right:
                self._wrong(seq, "column", f"item {key}: column {name} is {said!r}")

    def _compare(
        self, item: MemoryItem, fields: Mapping[str, object], free: frozenset[str], seq: int, key: str
    ) -> None:
        stored = item_fields(item)
        differs = sorted(name for name in {*fields, *stored} - free if fields.get(name) != stored.get(name))
        if differs:
            self._wrong(seq, "item", f"item {key} is not as it was written: {', '.join(differs)} differ")


def _digest(fields: Mapping[str, object]) -> str:
    """What tells two versions apart."""
    return hashlib.sha256(canonical(fields).encode()).hexdigest()


def _key(item: str, version: int) -> str:
    """How a record names an item version."""
    return f"{item}/{version}"
