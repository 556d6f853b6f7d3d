"""Canonical JSON of a ledger record, with personal fields as salted hashes whose values lie beside it."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

from ..model import Decision, MemoryItem, Turn, dump, utc
from ..values import read_value

FORMAT = 1
SALT_BYTES = 32
# RFC 8785 writes numbers as IEEE doubles: beyond this an integer would no longer be exact there.
LARGEST_INTEGER = 2**53 - 1
# What a decision says about a person: erasable, therefore never in the record itself.
PERSONAL = ("canonical", "entity", "hints", "qualifier", "question")
# What a record commits to beside the decision: what was said, what was suggested and answered, what was written.
BESIDE = ("answers", "proposals", "said", "written")

# The kinds of record. A decision about a turn has the kind of its action, what a person does to an item its own name;
# the first record of a turn, whatever its kind, is where the turn was observed and commits to it.
DECISIONS = (
    "ignore", "add", "supersede", "confirm", "retract", "hold", "expire", "approve", "correct", "reject",
)  # fmt: skip
ACTS = (
    "rewrite", "rewrite_refused", "summary", "summary_refused", "erase", "restrict", "hold_legal", "pin",
    "rule_publish", "rule_promote", "rule_override", "rule_rollback", "phantom", "actors", "key", "export", "verify",
    "read",
)  # fmt: skip
DECIDES = frozenset((*DECISIONS, "decision"))
# What the first stores called them; still read.
FORMER = {"decision": "decision", "erasure": "erase", "polish": "rewrite"}

_TIMES = tuple(name for name, field in MemoryItem.model_fields.items() if "datetime" in str(field.annotation))
_SURROGATE = re.compile("[\ud800-\udfff]")
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")).encode

Salts = Callable[[str, int, str], bytes]
"""Where salts come from: (namespace, seq, field) → 32 bytes."""


class RecordError(ValueError):
    """A value that has no place in a canonical record; says where it stands and what is allowed."""


def canonical(value: Any) -> str:
    """The one JSON text of ``value``; equal to RFC 8785, because what could differ is refused.

    Allowed: null, booleans, integers up to 2**53 - 1, strings, lists, and objects with ASCII keys. Decimals
    and dates are strings; a float is an error, never rounded.
    """
    if _plain(value):
        return _text(value)
    _refuse(value, "$")
    raise RecordError("$: this value has no canonical form")


def _text(value: Any) -> str:
    """The canonical text of what is known to be plain: nouns have no floats and no keys beyond ASCII (a test)."""
    text = _encode(value)
    # Only half a surrogate pair has no UTF-8: looking once at the whole text costs less than at every string.
    if not text.isascii() and _SURROGATE.search(text):
        _refuse(value, "$")
    return text


def _plain(value: Any) -> bool:
    """True when everything in ``value`` may be written, halves of surrogate pairs not looked for."""
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return True
    if kind is int:
        return bool(-LARGEST_INTEGER <= value <= LARGEST_INTEGER)
    if kind is dict:
        try:
            keys = "".join(value)
        except TypeError:
            return False
        return keys.isascii() and keys.isprintable() and "" not in value and _all_plain(value.values())
    return (kind is list or kind is tuple) and _all_plain(value)


def _all_plain(values: Iterable[Any]) -> bool:
    """Most are strings, which need no call of their own."""
    return all(_plain(each) for each in values if type(each) is not str)


def _refuse(value: Any, where: str) -> None:
    """Raise for the first thing that may not be written, saying where it stands."""
    if isinstance(value, str):
        if _SURROGATE.search(value):
            raise RecordError(f"{where}: half of a surrogate pair is no character; repair the text before it is kept")
    elif isinstance(value, list | tuple):
        for index, each in enumerate(value):
            _refuse(each, f"{where}[{index}]")
    elif isinstance(value, dict):
        for key, each in value.items():
            if not (isinstance(key, str) and key.isascii() and key.isprintable() and key):
                raise RecordError(f"{where}: the key {key!r} is not printable ASCII")
            _refuse(each, f"{where}.{key}")
    elif isinstance(value, int) and not _plain(value):
        raise RecordError(f"{where}: {value} is beyond 2**53 - 1; write it as a string")
    elif not _plain(value):
        raise RecordError(f"{where}: {type(value).__name__} has no canonical form; write it as a string")


class Beside(Protocol):
    """A personal value as it lies beside a record."""

    @property
    def value(self) -> str:
        """Canonical JSON of the value."""

    @property
    def salt(self) -> str:
        """The salt, hexadecimal."""


@dataclass(frozen=True, slots=True)
class Private:
    """A personal value (as canonical JSON) and the salt under which its hash stands in the record."""

    value: str
    salt: str  # hexadecimal

    def commitment(self, name: str) -> str:
        """The hash that the record carries for field ``name``."""
        return commitment(name, bytes.fromhex(self.salt), self.value)


def commitment(name: str, salt: bytes, value: str) -> str:
    """``SHA-256(domain | salt | canonical value)`` in hexadecimal.

    The domain names the field, so that a committed value cannot be moved to another one.
    """
    if len(salt) != SALT_BYTES:
        raise RecordError(f"the salt of {name} has {len(salt)} bytes; {SALT_BYTES} are needed")
    return hashlib.sha256(domain_of(name) + salt + value.encode()).hexdigest()


@lru_cache(maxsize=256)
def domain_of(name: str) -> bytes:
    """What the hash of a field begins with."""
    return f"recordari/field/{FORMAT}/{name}\n".encode("ascii")


def random_salts(namespace: str, seq: int, name: str) -> bytes:
    """Salts from the operating system: what a real log uses. They are envelope, no part of any decision."""
    return os.urandom(SALT_BYTES)


def derived_salts(secret: bytes) -> Salts:
    """Salts computed from a secret: for rehearsals, whose output must be the same on every machine."""

    def salt(namespace: str, seq: int, name: str) -> bytes:
        message = canonical([namespace, seq, name]).encode()
        return hmac.digest(secret, message, "sha256")

    return salt


@dataclass(frozen=True, slots=True)
class Signed:
    """The signature of an actor under a record: which key (``key_of``), and Ed25519 in base64."""

    key: str
    signature: str


Sign = Callable[[bytes], Signed]
"""Signs what ``to_be_signed`` gives: a key in a file, or one in a device."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What is to be written down, before it has a place in a log; ``sign`` when an actor answers for it."""

    kind: str
    content: Mapping[str, Any]
    private: Mapping[str, Any] = field(default_factory=dict)
    nouns: bool = False  # all of it was dumped from nouns of the model: nothing in it has to be refused
    sign: Sign | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One place of the log: the record that is hashed, its leaf hash, and the private values beside it."""

    seq: int
    record: str
    leaf: bytes
    private: Mapping[str, Private] = field(default_factory=dict)
    act: str | None = None  # the kind of a record that is no decision


def decision_entry(
    decision: Decision,
    written: Iterable[MemoryItem] = (),
    beside: Mapping[str, Any] | None = None,
    *,
    does: str | None = None,
    sign: Sign | None = None,
) -> Entry:
    """The entry of one decision; ``written`` are the item versions it stores or changes, ``beside`` what the first
    record of a turn commits to besides: the turn itself, suggestions it made and answered. ``does``: the act of a
    person that it is the decision about.

    The versions are committed to as well: a row of the item table that is changed later by hand no longer
    agrees with the log.
    """
    content = dump(decision)
    private = {name: value for name in PERSONAL if (value := content.pop(name, None)) not in (None, "", [])}
    versions = [item_fields(item) for item in written]
    if versions:
        content["written"] = [f"{version['id']}/{version['version']}" for version in versions]
        private["written"] = versions
    if beside:
        private |= beside
    return Entry(_kind(decision, does), content, private, nouns=True, sign=sign)


def _kind(decision: Decision, does: str | None) -> str:
    """What a decision is called in the log."""
    if does is not None and decision.ordinal == 0:
        return does
    return "expire" if decision.reason == "expired" else decision.action.lower()


def turn_digest(turn: Turn) -> str:
    """SHA-256 of the canonical JSON of a turn, its text included: what the first record of a turn commits to."""
    return hashlib.sha256(_encode(dump(turn)).encode("utf-8", "surrogatepass")).hexdigest()


def item_fields(item: MemoryItem) -> dict[str, Any]:
    """An item version as the log keeps it: its fields, times in UTC, and the kind that its value is read by again."""
    fields = dump(item)
    for name in _TIMES:
        if name in fields:
            fields[name] = utc(getattr(item, name))
    fields["kind"] = item.kind
    return fields


def read_item(fields: Mapping[str, Any]) -> MemoryItem:
    """An item version from what ``item_fields`` made of it."""
    rest = {name: value for name, value in fields.items() if name != "kind"}
    return MemoryItem.model_validate({**rest, "value": read_value(fields["kind"], fields["value"])})


def sealed(
    entry: Entry, *, namespace: str, seq: int, recorded_at: datetime, salts: Salts
) -> tuple[str, dict[str, Private]]:
    """The canonical record of an entry at its place, and the private values that go beside it."""
    private: dict[str, Private] = {}
    hashes: dict[str, str] = {}
    written_out = _text if entry.nouns else canonical
    for name, value in sorted(entry.private.items()):
        text, salt = written_out(value), salts(namespace, seq, name)
        private[name] = Private(text, salt.hex())
        hashes[name] = commitment(name, salt, text)
    record = {
        "content": dict(entry.content),
        "format": FORMAT,
        "kind": entry.kind,
        "namespace": namespace,
        "private": hashes,
        "recorded_at": utc(recorded_at),
        "seq": seq,
    }
    text = written_out(record)
    if entry.sign is not None:
        signed = entry.sign(to_be_signed(text))
        record["signed"] = {"key": signed.key, "signature": signed.signature}
        text = written_out(record)
    return text, private


def to_be_signed(record: str) -> bytes:
    """What an actor signs: the canonical record as it stands without ``signed``, at its place in its log.

    It has the hashes of the personal values, not the values: the signature stands when they are erased.
    """
    return f"recordari/record/{FORMAT}\n{record}".encode()


def without_signature(record: str) -> str:
    """A signed record as it was before it was signed."""
    fields = json.loads(record)
    del fields["signed"]
    return _text(fields)


def key_of(public: bytes) -> str:
    """The name of an actor's key: the first 16 bytes of a hash of its public half, hexadecimal."""
    return hashlib.sha256(b"recordari/actor/1\n" + public).hexdigest()[:32]


class Record(NamedTuple):
    """A record as read back: envelope, content, and the hashes of the private fields."""

    seq: int
    namespace: str
    kind: str
    recorded_at: str
    content: Mapping[str, Any]
    hashes: Mapping[str, str]
    signed: Signed | None = None

    @property
    def decides(self) -> bool:
        """True for a decision about a turn."""
        return self.kind in DECIDES

    @property
    def by_person(self) -> bool:
        """True for what a person did to an item."""
        return self.kind in DECIDES and self.content.get("features", {}).get("source") == "person"

    def with_private(self, private: Mapping[str, Beside]) -> dict[str, Any]:
        """The content with those personal fields put back that have not been erased."""
        return {**self.content, **{name: json.loads(private[name].value) for name in self.hashes if name in private}}

    def decision(self, private: Mapping[str, Beside]) -> Decision:
        """The decision again; erased fields have their defaults. KeyError when the record is no decision."""
        if not self.decides:
            raise KeyError(f"record {self.seq} is of kind {self.kind}, not a decision")
        fields = self.with_private(private)
        for name in BESIDE:
            fields.pop(name, None)
        return Decision.model_validate(fields)


def written(record: Record, private: Mapping[str, Beside]) -> list[MemoryItem]:
    """The item versions that a decision wrote; none when it wrote none or they were erased."""
    return [read_item(fields) for fields in record.with_private(private)["written"]] if "written" in private else []


def read_record(text: str) -> Record:
    """A record from its JSON; raises RecordError when it is not one of this format."""
    try:
        return record_of(json.loads(text))
    except json.JSONDecodeError as wrong:
        raise RecordError(f"not a ledger record: {wrong!r}") from wrong


def record_of(fields: Any) -> Record:
    """A record from what its JSON holds; raises RecordError when it is not one of this format."""
    try:
        if fields["format"] != FORMAT:
            raise RecordError(f"record format {fields['format']} is unknown here; this version reads format {FORMAT}")
        if not (isinstance(fields["content"], dict) and isinstance(fields["private"], dict)):
            raise RecordError("not a ledger record: content and private are objects")
        signed = fields.get("signed")
        kind = fields["kind"]
        return Record(
            fields["seq"],
            fields["namespace"],
            FORMER.get(kind, kind),
            fields["recorded_at"],
            fields["content"],
            fields["private"],
            None if signed is None else Signed(str(signed["key"]), str(signed["signature"])),
        )
    except (KeyError, TypeError) as wrong:
        raise RecordError(f"not a ledger record: {wrong!r}") from wrong
