"""Who signs a log and who can check it: keys, checkpoints while writing, and what an auditor has to go by."""

from __future__ import annotations

import base64
import errno
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ..audit.checkpoint import (
    KeyFileError,
    NoteError,
    SigningKey,
    Witness,
    both,
    due,
    origin_of,
    read_public,
    unverified,
    vkey,
)
from ..audit.heads import Change, change_of
from ..audit.ledger import Ledger
from ..audit.record import Entry, read_record
from ..settings import Settings
from ..store.engine import Store
from ..store.log import Log

MOST_GAPS = 8  # lines in a note that name records which its signer did not write
SIGN_AFTER = 60.0  # seconds; a checkpoint bounds what a rewrite could change unseen


class Signer:
    """Signs the root every 256 records, every minute and on close, and copies each note outside the database.

    A record that this process did not write may be another process's, or forged by who has the database alone: the
    note names it as ``unseen``, and the verifier says so.
    """

    def __init__(self, key: SigningKey, witness: Witness | None, path: Path | None = None) -> None:
        self.key = key
        self._path = path  # where the key lies: another process may have changed it
        self.witness = witness
        self._signed: dict[str, int] = {}
        self._at: dict[str, float] = {}
        self._seen: dict[str, list[range]] = {}

    def sign(self, store: Store, namespace: str) -> str:
        """Sign the present root; returns the note."""
        with store.writing(namespace) as tx:
            size, root = Ledger().root(tx.log, namespace)
            notes = tx.log.checkpoints(namespace)
            last = unverified(notes[-1]).size if notes else 0
            unseen = _without(last, size, self._seen.get(namespace, ()))
            self._renew(tx.log, namespace)
            note = self.key.checkpoint(namespace, size, root, unseen=unseen)
            tx.log.add_checkpoint(namespace, size, note)
        if self.witness is not None:
            self.witness.add(note)
        self._signed[namespace] = size
        self._seen.pop(namespace, None)
        self._at[namespace] = time.monotonic()
        return note

    def _renew(self, log: Log, namespace: str) -> None:
        """Take up the key that the log names, when it was changed meanwhile."""
        change = last_change(log, namespace)
        if change is None or change.after == self.key.public:
            return
        if self._path is not None:
            self.key = SigningKey.open(self._path)
        if change.after != self.key.public:
            told = f"record {change.seq} of {namespace!r} says that the log has another signing key"
            raise KeyFileError(f"{self._path or 'the key'}: {told}. RECORDARI_SIGNING_KEY names the file")

    def saw(self, namespace: str, records: Iterable[range]) -> None:
        """Remember which records this process has written."""
        kept = self._seen.setdefault(namespace, [])
        for each in records:
            if kept and kept[-1].stop == each.start:
                kept[-1] = range(kept[-1].start, each.stop)
            elif each:
                kept.append(each)

    def after_commit(self, store: Store, namespace: str, records: Sequence[range]) -> None:
        """Sign the log, which has these new records, when that is due: it grew by so much, or a minute has passed."""
        self.saw(namespace, records)
        if namespace not in self._signed:
            self._signed[namespace] = last_signed(store, namespace)
            self._at[namespace] = time.monotonic()
        size = max((each.stop for each in records), default=self._signed[namespace])
        late = time.monotonic() - self._at[namespace] >= SIGN_AFTER
        if due(size, self._signed[namespace]) or (late and size > self._signed[namespace]):
            self.sign(store, namespace)

    def close(self, store: Store, namespace: str) -> None:
        """Sign what has been written since the last note."""
        if self._seen.get(namespace) and _size(store, namespace) > last_signed(store, namespace):
            self.sign(store, namespace)


def _without(first: int, stop: int, seen: Iterable[range]) -> tuple[tuple[int, int], ...]:
    """The numbers from ``first`` to before ``stop`` that are in none of the ranges."""
    left: list[tuple[int, int]] = []
    for each in sorted(seen, key=lambda one: one.start):
        if each.start > first:
            left.append((first, min(each.start, stop)))
        first = max(first, each.stop)
    if first < stop:
        left.append((first, stop))
    # Of many writers each would name the gaps between its own: then the whole stretch counts as not seen.
    return tuple(left) if len(left) <= MOST_GAPS else ((left[0][0], left[-1][1]),)


def _size(store: Store, namespace: str) -> int:
    with store.reading(namespace) as tx:
        return tx.log.frontier(namespace)[0]


def last_signed(store: Store, namespace: str) -> int:
    """Size of the log at its last checkpoint."""
    with store.reading(namespace) as tx:
        notes = tx.log.checkpoints(namespace)
    return unverified(notes[-1]).size if notes else 0


@dataclass(frozen=True, slots=True)
class Trust:
    """What a verifier goes by: a public key and a witness file, each perhaps absent, and remarks about them."""

    public: bytes | None = None
    witness: Witness | None = None
    remarks: tuple[str, ...] = ()


def places(store: Store, settings: Settings) -> tuple[Path | None, Path | None]:
    """Where key and witness file are: as the settings say, else beside an SQLite file; nowhere for a memory database.

    A key beside the database protects against accidents and those who cannot read it, no more: see docs/ledger.md.
    """
    key, witness = settings.signing_key, settings.witness
    beside = Path(store.place)
    if store.backend == "sqlite" and beside.is_file():
        key = key if key is not None else beside.with_name(beside.name + ".key")
        witness = witness if witness is not None else beside.with_name(beside.name + ".checkpoints")
    return key, witness


def signer_for(store: Store, settings: Settings) -> Signer | None:
    """The signer of a store that is written to; None for who only reads, and where there is no place for a key."""
    key, witness = places(store, settings)
    if key is None or store.read_only:
        return None
    return Signer(SigningKey.open(key), Witness(witness) if witness is not None else None, key)


def last_change(log: Log, namespace: str) -> Change | None:
    """The last change of the signing key that a log speaks of."""
    seqs = log.acts("key")
    for row in log.read(namespace, seqs[-1], seqs[-1] + 1) if seqs else ():
        return change_of(read_record(row.record))
    return None


def rotate(store: Store, settings: Settings) -> tuple[str, ...]:
    """Give a store a new signing key: every log names it in a record, and a checkpoint signed by both keys covers that.

    The new key lies beside the old one until all logs have it and then takes its place, so that an interrupted change
    is finished by doing it again. Returns the verifier lines of the logs.
    """
    path, copies = places(store, settings)
    if path is None or not path.exists():
        raise KeyFileError(f"{path or store.place}: there is no signing key to be replaced")
    old, coming = SigningKey.open(path), path.with_name(path.name + ".next")
    new = SigningKey.open(coming)
    lines: list[str] = []
    for namespace in store.namespaces():
        origin = origin_of(namespace)
        with store.writing(namespace) as tx:
            change = last_change(tx.log, namespace)
            if change is None or change.after != new.public:
                content = {
                    name: base64.b64encode(key.public).decode() for name, key in (("before", old), ("after", new))
                }
                Ledger().append(tx.log, namespace, [Entry("key", content)], recorded_at=datetime.now(UTC))
                size, root = Ledger().root(tx.log, namespace)
                notes = tx.log.checkpoints(namespace)
                last = unverified(notes[-1]).size if notes else 0
                unseen = _without(last, size, [range(size - 1, size)])
                signed = (key.checkpoint(namespace, size, root, unseen=unseen) for key in (old, new))
                note = both(*signed)
                tx.log.add_checkpoint(namespace, size, note)
                if copies is not None:
                    Witness(copies).add(note)
        lines.append(vkey(origin, new.public))
    os.replace(coming, path)
    return tuple(lines)


def trust_for(
    store: Store, namespace: str, settings: Settings, public_key: str | None = None, witness: Path | None = None
) -> Trust:
    """What to verify with: the public key given (a file, or its line), else that of the key file; nothing is made.

    Raises NoteError for a key that is none, or one of another log, FileNotFoundError for a witness that was named.
    """
    key, beside = places(store, settings)
    if witness is not None and not witness.exists():
        raise FileNotFoundError(errno.ENOENT, "there is no such witness file", str(witness))
    copies = witness if witness is not None else beside
    kept = Witness(copies) if copies is not None else None
    if public_key is not None:
        return Trust(_public(public_key, origin_of(namespace)), kept)
    if key is None or not key.exists():
        return Trust(None, kept)
    try:
        private, remark = SigningKey.read(key)
    except OSError as wrong:
        return Trust(None, kept, (f"the key file cannot be used ({wrong})",))
    return Trust(private.public, kept, (remark,) if remark else ())


def _public(given: str, origin: str) -> bytes:
    """The public key out of a file or a line."""
    path = Path(given)
    try:
        text = path.read_text(encoding="utf-8") if len(given) < 1000 and path.is_file() else given
    except UnicodeDecodeError:
        raise NoteError(f"{given}: no public key. Give the line that `recordari audit key` prints") from None
    try:
        name, public = read_public(text)
    except NoteError as wrong:
        what = "no public key" if text is not given else "no such file, and no public key"
        raise NoteError(f"{given[:200]}: {what} ({wrong}). Give the line that `recordari audit key` prints") from None
    if name is not None and name != origin:
        raise NoteError(f"the public key is of {name}, this log is signed by {origin}")
    return public


def verifier_line(trust: Trust, namespace: str) -> str | None:
    """The line to hand to an auditor."""
    return None if trust.public is None else vkey(origin_of(namespace), trust.public)
