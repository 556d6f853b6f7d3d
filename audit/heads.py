"""Checkpoints held against the log: which keys signed them, whether their roots are its roots, who has copies."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .checkpoint import Checkpoint, NoteError, key_id, of_origin, open_note, signers, unverified
from .record import Record
from .report import Wrong, joined, stretch

SHOWN = 8  # stretches of records that a remark names


@dataclass(frozen=True, slots=True)
class Change:
    """The signing key of the log was changed: the record that says so, the key before and the key after."""

    seq: int
    before: bytes
    after: bytes


def change_of(record: Record) -> Change:
    """What a record of kind ``key`` states; ValueError or KeyError when it states nothing."""
    before, after = (base64.b64decode(record.content[name], validate=True) for name in ("before", "after"))
    if len(before) != 32 or len(after) != 32:
        raise ValueError("a key has 32 bytes")
    return Change(record.seq, before, after)


@dataclass(frozen=True, slots=True)
class Note:
    """A note with what it states, and where it lies."""

    note: str
    checkpoint: Checkpoint
    what: str
    number: int


class Heads:
    """The checkpoints of one log and their copies outside."""

    def __init__(self, origin: str, wrong: Wrong, counts: Counter[str]) -> None:
        self.origin = origin
        self.signed = 0
        self.changes: list[Change] = []
        self.remarks: list[str] = []
        self._wrong = wrong
        self._counts = counts
        self._notes: list[Note] = []

    @property
    def sizes(self) -> set[int]:
        """At which sizes the root of the log is wanted."""
        return {each.checkpoint.size for each in self._notes}

    def read(self, kept: Sequence[str], witness: Iterable[str] | None) -> None:
        """Take the checkpoints in, and the copies a witness has, and compare the two."""
        self._take(kept, "checkpoint")
        if witness is None:
            self.remarks.append("no witness file was given: a cut tail or a log rewritten with the key cannot be seen")
            return
        copies = of_origin(witness, self.origin)
        self._take(copies, "witness note")
        readable = {each.note for each in self._notes}
        if kept and not copies:
            self.remarks.append(
                "the witness file is missing or has no note of this log: "
                "a cut tail or a log rewritten with the key cannot be seen"
            )
        elif lacking := len(set(kept) - set(copies)):
            self.remarks.append(f"the witness file is shorter: it lacks {lacking} of {len(kept)} checkpoints")
        if beyond := len((set(copies) - set(kept)) & readable):
            self._wrong(-1, "checkpoint", f"{beyond} checkpoints of the witness file are not in the database any more")

    def _take(self, notes: Sequence[str], what: str) -> None:
        for number, note in enumerate(notes):
            try:
                checkpoint = unverified(note)
                if checkpoint.origin != self.origin:
                    raise NoteError(f"a checkpoint of {checkpoint.origin}, not of {self.origin}")
            except (NoteError, AttributeError, TypeError) as wrong:
                self._wrong(-1, "note", f"{what} {number} cannot be trusted: {wrong}")
                continue
            self._notes.append(Note(note, checkpoint, what, number))

    def check(self, size: int, roots: Mapping[int, bytes], public: bytes | None) -> None:
        """Hold every note against the log of ``size`` records; ``roots`` at the sizes that were wanted."""
        fitting: list[Note] = []
        for each in self._notes:
            if each.checkpoint.size > size:
                told = f"a {each.what} says that the log had {each.checkpoint.size} records; {size} are left"
                self._wrong(size, "truncated", told)
            elif roots[each.checkpoint.size] != each.checkpoint.root:
                told = f"the first {each.checkpoint.size} records are not those that a {each.what} signs"
                self._wrong(-1, "rewritten", told)
            else:
                fitting.append(each)
        if public is None:
            self._blind()
            for each in self._notes:
                self._counts[f"{each.what}s"] += 1
        else:
            self._signatures(fitting, public)
        self._unseen()

    def _blind(self) -> None:
        for what in ("checkpoint", "witness note"):
            notes = [each.note for each in self._notes if each.what == what]
            if notes:
                needed = ", ".join(sorted({name for note in notes for name in signers(note)})) or "none they name"
                self.remarks.append(
                    f"no public key was given: signatures of {len(notes)} {what}s are not checked; the key is {needed}"
                )

    def _signatures(self, fitting: Sequence[Note], public: bytes) -> None:
        """Every note by the key of its time. A key given vouches for the one before it, where the log names that; for
        the one after it only when a checkpoint that it signed covers the record of the change."""
        keys = {public: len(self.changes)}  # key → how many changes it may be followed by: up to which record it signs
        for place, change in reversed(list(enumerate(self.changes))):
            if change.after in keys:
                keys.setdefault(change.before, place)
        for place, change in enumerate(self.changes):
            if change.before in keys and change.after not in keys:
                covered = (each for each in fitting if each.checkpoint.size > change.seq)
                if any(self._by(each.note, change.before) is None for each in covered):
                    keys[change.after] = place + 1
        until = {change.before: change.seq + 1 for change in self.changes}
        named = {f"{self.origin}+{key_id(self.origin, key).hex()}": key for key in keys}
        good = set(map(id, fitting))
        for each in self._notes:
            known = [named[name] for name in signers(each.note) if name in named] or [public]
            faults = [self._by(each.note, key) for key in known]
            late = all(each.checkpoint.size > until.get(key, each.checkpoint.size) for key in known)
            if all(fault is not None for fault in faults):
                self._wrong(-1, "note", f"{each.what} {each.number} cannot be trusted: {faults[0]}")
            elif late:
                told = f"{each.what} {each.number} is signed with a key that had been replaced before"
                self._wrong(-1, "note", told)
            else:
                self._counts[f"{each.what}s"] += 1
                if id(each) in good:
                    self.signed = max(self.signed, each.checkpoint.size)
        if len(keys) > 1:
            self.remarks.append(f"{len(keys)} keys signed this log, one after another; the log names each change")

    def _by(self, note: str, key: bytes) -> str | None:
        """Why a note is not signed by a key; None when it is."""
        try:
            open_note(note, self.origin, key)
        except NoteError as wrong:
            return str(wrong)
        return None

    def _unseen(self) -> None:
        unseen = [stretch(*part) for part in joined(part for each in self._notes for part in each.checkpoint.unseen)]
        if unseen:
            more = f" and {len(unseen) - SHOWN} more stretches" if len(unseen) > SHOWN else ""
            told = (
                f"records {', '.join(unseen[:SHOWN])}{more} were signed by a process that had not written them itself"
            )
            self.remarks.append(told)
