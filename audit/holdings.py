"""Holds what memory stores (turns, decisions, items, suggestions) against what the records of the log commit to."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from ..model import MemoryItem, Turn
from .record import BESIDE, PERSONAL, Beside, Record, turn_digest
from .report import Wrong


class KeptTurn(Protocol):
    """A turn as stored."""

    @property
    def turn(self) -> Turn | None:
        """The turn, None when it cannot be read."""

    @property
    def erased(self) -> bool:
        """Its text is gone."""

    @property
    def keyed(self) -> bool:
        """The digest beside it is that of its content under the secret of the namespace."""

    @property
    def wrong(self) -> tuple[str, ...]:
        """Where its columns contradict it."""


class KeptDecision(Protocol):
    """A decision as stored."""

    @property
    def seq(self) -> int | None:
        """The record it claims."""

    @property
    def turn_id(self) -> str:
        """Its turn."""

    @property
    def ordinal(self) -> int:
        """Its place among the decisions of the turn."""

    @property
    def fields(self) -> Mapping[str, Any] | None:
        """Its fields, None when they cannot be read."""

    @property
    def known(self) -> bool:
        """Its turn is stored."""

    @property
    def turn(self) -> KeptTurn | None:
        """Its turn, beside the first decision of one."""

    @property
    def wrong(self) -> tuple[str, ...]:
        """Where its columns contradict it."""


class KeptItem(Protocol):
    """An item version as stored."""

    @property
    def item_id(self) -> str:
        """Its item."""

    @property
    def version(self) -> int:
        """Its number."""

    @property
    def item(self) -> MemoryItem | None:
        """The version, None when it cannot be read."""

    @property
    def row(self) -> int:
        """Its place in the order of writing."""

    @property
    def ordinal(self) -> int:
        """The row of the first version."""

    @property
    def principal(self) -> str:
        """Whose conversation it came from."""

    @property
    def written_by(self) -> str:
        """The turn it claims."""

    @property
    def decision(self) -> int:
        """The decision of that turn."""

    @property
    def before(self) -> MemoryItem | None:
        """For a version that no decision wrote: the version before it as stored."""

    @property
    def first(self) -> tuple[int | None, str | None]:
        """Row and principal of the first version."""

    @property
    def wrong(self) -> tuple[str, ...]:
        """Where its columns contradict it."""


class KeptProposal(Protocol):
    """A suggestion as stored."""

    @property
    def turn_id(self) -> str:
        """The turn that made it."""

    @property
    def number(self) -> int:
        """Its place among those of the turn."""

    @property
    def digest(self) -> str:
        """SHA-256 of it as stored."""

    @property
    def answered_by(self) -> str | None:
        """The turn that answered it."""

    @property
    def wrong(self) -> tuple[str, ...]:
        """Where its columns contradict it."""


class Stored(Protocol):
    """What a verifier asks of a store besides its log."""

    def decisions_kept(self) -> Iterable[KeptDecision]:
        """All decisions by the number of their records."""

    def undecided_turns(self) -> Sequence[str]:
        """Turns that no decision is about."""

    def items_kept(self) -> Iterable[KeptItem]:
        """All item versions, in the order in which they say they were written."""

    def has_item(self, item_id: str) -> bool:
        """Whether there is any version of an item."""

    def item_rows(self) -> int:
        """How many item versions were counted."""

    def proposals_kept(self) -> Iterable[KeptProposal]:
        """All suggestions, in the order in which each turn made them."""


class Decisions:
    """Decisions and turns in memory against their records, both read once and in step."""

    def __init__(self, stored: Stored, wrong: Wrong, counts: Counter[str]) -> None:
        self._wrong = wrong
        self._stored = stored
        self._counts = counts
        self._rows = iter(stored.decisions_kept())
        self._next = next(self._rows, None)
        self._unkeyed: list[tuple[int, str]] = []
        self._lingering: list[tuple[int, str, str]] = []  # (record, field, what still stands)
        self._made: dict[str, tuple[int, list[str] | None]] = {}  # turn → record, digests; None: erased
        self._answered: dict[str, tuple[int, str]] = {}  # digest of a suggestion → record and turn that answered it
        self.uncommitted = 0  # turns whose record does not commit to them: written by an older version
        self._forgot = False  # answers were erased: which suggestion they answered is not known any more
        self._unbound: set[str] = set()  # turns that no record commits to: written by an older version

    def decided(self, record: Record, private: Mapping[str, Beside]) -> None:
        """One record of a decision, in order."""
        row = self._row(record.seq)
        turn_id = str(record.content.get("turn_id"))
        if record.content.get("ordinal") == 0:
            self._suggestions(record, private, turn_id)
        if row is None:
            self._wrong(record.seq, "decision", "the decision is in no row of memory: explain and why-not miss it")
            return
        self._counts["decisions in memory"] += 1
        for what in row.wrong:
            self._wrong(record.seq, "decision", f"decision {row.turn_id}/{row.ordinal} in memory: {what}")
        if row.fields is not None:
            self._compare(record, private, row.fields)
        if not row.known:
            self._wrong(record.seq, "turn", f"turn {row.turn_id}, which this decision is about, is not in memory")
        elif row.turn is not None:
            self._turn(record, private, row.turn, row.turn_id)

    def finish(self, missing: Iterable[tuple[int, str]]) -> None:
        """What is left over; ``missing`` are (record, field) of values that were erased or are gone."""
        while self._next is not None:
            self._stray(self._next)
            self._next = next(self._rows, None)
        for turn_id in self._stored.undecided_turns():
            self._wrong(-1, "turn", f"turn {turn_id} is in memory, but no decision is about it")
        lost = set(missing)
        for seq, name, what in self._lingering:
            if (seq, name) in lost:
                self._wrong(seq, "private", f"{name} is gone from the record, but {what} still has it")
        if self._unkeyed and len(self._unkeyed) == self._counts["turns"]:
            self._wrong(-1, "secret", "the secret of the namespace is not the one that its turns were written under")
        else:
            for seq, turn_id in self._unkeyed:
                self._wrong(seq, "turn", f"turn {turn_id}: column digest is not that of its content")
        self._proposals()

    def _row(self, seq: int) -> KeptDecision | None:
        """The row of a record; rows on the way that belong to none are told."""
        found: KeptDecision | None = None
        while self._next is not None and (self._next.seq is None or self._next.seq <= seq):
            row, self._next = self._next, next(self._rows, None)
            if row.seq == seq and found is None:
                found = row
            else:
                self._stray(row)
        return found

    def _stray(self, row: KeptDecision) -> None:
        place = f"decision {row.turn_id}/{row.ordinal}"
        claim = "names no record" if row.seq is None else f"claims record {row.seq}, which is not of it"
        self._wrong(-1, "decision", f"{place} is in memory, but {claim}")

    def _compare(self, record: Record, private: Mapping[str, Beside], fields: Mapping[str, Any]) -> None:
        recorded = {name: value for name, value in record.with_private(private).items() if name not in BESIDE}
        stored = {name: each for name, each in fields.items() if not (name in PERSONAL and each in ("", [], None))}
        for name in PERSONAL:
            if name in record.hashes and name not in private:
                if stored.pop(name, None) is not None:
                    self._lingering.append((record.seq, name, "the decision in memory"))
                recorded.pop(name, None)
        differ = sorted(
            name for name in {*recorded, *stored} if _absent(recorded.get(name)) != _absent(stored.get(name))
        )
        if differ:
            told = f"decision {record.content.get('turn_id')}/{record.content.get('ordinal')} in memory"
            self._wrong(record.seq, "decision", f"{told} is not the one recorded: {', '.join(differ)} differ")

    def _turn(self, record: Record, private: Mapping[str, Beside], kept: KeptTurn, turn_id: str) -> None:
        self._counts["turns"] += 1
        for what in kept.wrong:
            self._wrong(record.seq, "turn", f"turn {turn_id}: {what}")
        if kept.turn is None:
            return
        if "said" not in record.hashes:
            self.uncommitted += 1
        elif "said" not in private:
            if not kept.erased:
                self._lingering.append((record.seq, "said", f"turn {turn_id}"))
        elif kept.erased:
            self._wrong(record.seq, "turn", f"the words of turn {turn_id} are gone and no decision erased them")
        elif json.loads(private["said"].value) != turn_digest(kept.turn):
            self._wrong(
                record.seq,
                "turn",
                f"turn {turn_id} is not as it was when it was decided: its words, speaker, times or place differ",
            )
            return
        if not kept.keyed:
            self._unkeyed.append((record.seq, turn_id))

    def _suggestions(self, record: Record, private: Mapping[str, Beside], turn_id: str) -> None:
        """What the first record of a turn says of suggestions made and answered."""
        if "said" not in record.hashes:
            self._unbound.add(turn_id)
        if "proposals" in record.hashes:
            digests = json.loads(private["proposals"].value) if "proposals" in private else None
            self._made[turn_id] = (record.seq, digests)
        self._forgot |= "answers" in record.hashes and "answers" not in private
        for digest in json.loads(private["answers"].value) if "answers" in private else ():
            self._answered[digest] = (record.seq, turn_id)

    def _proposals(self) -> None:
        """Suggestions in memory against those the log commits to; those of older turns nobody committed to."""
        stored: dict[str, list[KeptProposal]] = {}
        for each in self._stored.proposals_kept():
            self._counts["suggestions"] += 1
            stored.setdefault(each.turn_id, []).append(each)
            for what in each.wrong:
                self._wrong(-1, "proposal", f"suggestion {each.number} of turn {each.turn_id}: {what}")
        for turn_id, (seq, digests) in sorted(self._made.items()):
            held = stored.pop(turn_id, [])
            if digests is None:  # erased
                continue
            if [each.digest for each in held] != digests:
                self._wrong(seq, "proposal", f"the suggestions of turn {turn_id} in memory are not those it made")
                continue
            for each in held:
                by = self._answered.get(each.digest)
                if self._forgot and by is None:
                    continue
                if each.answered_by != (by[1] if by else None):
                    said = "unanswered" if each.answered_by is None else f"answered by turn {each.answered_by}"
                    self._wrong(
                        seq, "proposal", f"suggestion {each.number} of turn {turn_id} is {said}; the log says otherwise"
                    )  # fmt: skip
        for turn_id in sorted(set(stored) - self._unbound):
            self._wrong(-1, "proposal", f"turn {turn_id} has suggestions in memory that no record commits to")


def _absent(value: Any) -> Any:
    """Empty lists and texts are left out of a record's private part, and stand in a row."""
    return None if value in ("", []) else value
