"""Actors in the log: the lists of them that it was told, and whether what people did is signed by one of a list."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .record import Beside, Record, key_of, to_be_signed, without_signature
from .report import Wrong


@dataclass(frozen=True, slots=True)
class Listed:
    """A list of actors as a record of the log states it: key → role and public half; names where not erased."""

    seq: int
    roles: Mapping[str, str]
    publics: Mapping[str, bytes]
    names: Mapping[str, str] = field(default_factory=dict)

    def name(self, key: str) -> str:
        """The name behind a key, or the key."""
        return self.names.get(key, key)


def listed_by(record: Record, private: Mapping[str, Beside]) -> Listed:
    """What a record of kind ``actors`` states; ValueError or KeyError when it states nothing that can be used."""
    content = record.content["actors"]
    publics = {str(each["key"]): base64.b64decode(each["public"], validate=True) for each in content}
    if any(key_of(public) != key for key, public in publics.items()):
        raise ValueError("a key of an actor has another name than its own")
    names = record.with_private(private).get("names", {})
    return Listed(record.seq, {str(each["key"]): str(each["role"]) for each in content}, publics, names)


def signature_holds(public: bytes, signature: str, record: str) -> bool:
    """Whether an actor with this public key signed the record; ``record`` is its text with the signature in it."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        raw = base64.b64decode(signature, validate=True)
        Ed25519PublicKey.from_public_bytes(public).verify(raw, to_be_signed(without_signature(record)))
    except (InvalidSignature, ValueError):
        return False
    return True


SIGNED = frozenset({"actors", "erase", "hold_legal", "pin", "restrict"})
"""Kinds of record, beside what people do to items, under which a signature is looked for."""


class Signatures:
    """Checks the records of one log, in order. ``outside``: the keys of a list that did not come from the log."""

    def __init__(self, wrong: Wrong, counts: Counter[str], outside: Sequence[str] | None) -> None:
        self._wrong = wrong
        self._counts = counts
        self._outside = outside
        self._listed: Listed | None = None
        self.strangers: dict[str, int] = {}  # keys that signed and are on no list from outside → first record
        self.changed: list[int] = []  # lists that somebody changed who was on none before

    def read(self, record: Record, text: str, private: Mapping[str, Beside]) -> None:
        """One record."""
        told: Listed | None = None
        if record.kind == "actors":
            told = listed_by(record, private)
            if self._listed is None:
                self._listed = told  # the first list vouches for itself; checkpoints and a list from outside for it
            elif record.signed is None or record.signed.key not in self._listed.publics:
                self.changed.append(record.seq)
        if record.signed is not None:
            self._signed(record, text, told)
        elif (record.by_person or by_actor(record)) and self._listed is not None:
            since = self._listed.seq
            self._wrong(record.seq, "actor", f"a person did this and nobody signed it; actors are listed since {since}")
        elif record.by_person or by_actor(record):
            self._counts["acts of people, unsigned"] += 1
        if told is not None:
            self._listed = told

    def _signed(self, record: Record, text: str, told: Listed | None) -> None:
        assert record.signed is not None
        key = record.signed.key
        listed = self._listed
        public = (listed.publics.get(key) if listed else None) or (told.publics.get(key) if told else None)
        if public is None:
            self._wrong(record.seq, "actor", f"signed with the key {key}, which is no actor's of the list before it")
        elif not signature_holds(public, record.signed.signature, text):
            self._wrong(record.seq, "signature", f"the signature of {listed.name(key) if listed else key} is wrong")
        else:
            self._counts["signatures of actors"] += 1
            if self._outside is not None and key not in self._outside:
                self.strangers.setdefault(key, record.seq)

    def remarks(self) -> tuple[str, ...]:
        """What is no finding, and what an auditor should look at."""
        said: list[str] = []
        if self.changed:
            numbers = ", ".join(map(str, self.changed))
            said.append(f"the list of actors was changed in records {numbers} by one who was on no list before")
        if self._listed is not None and self._outside is None:
            said.append("no list of actors was given: their keys are those that the log itself names")
        for key, seq in sorted(self.strangers.items(), key=lambda each: each[1]):
            said.append(f"key {key} signed from record {seq} on and is not on the list of actors that was given")
        return tuple(said)


def by_actor(record: Record) -> bool:
    """True for what only a person does to the store: a hold, a restriction, a pin, an erasure that no rule asks for."""
    return record.kind in ("hold_legal", "pin", "restrict") or (
        record.kind == "erase" and record.content.get("scope") not in ("forget", "retention")
    )
