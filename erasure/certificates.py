"""Certificates of erasure: the record of one with its proof under a signed checkpoint, and what a restore does with it.

A certificate names what was erased by id, never by value, and anybody who has the public key of the log can check it.
Whoever puts an old backup back gives the certificates of later erasures, and what they name goes again.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..audit.checkpoint import NoteError, origin_of, read_checkpoint, unverified
from ..audit.heads import change_of
from ..audit.ledger import Ledger
from ..audit.merkle import leaf_hash, verify_inclusion
from ..audit.record import Record, RecordError, read_record
from ..store.erasing import Plan, gather, holders
from ..store.reading import Reading
from ..store.standing import in_force
from ..trust.signing import trust_for
from .erasing import Erased, ErasureError, Grounds, House, OnHold, carry_out, holding, told

FORMAT = 1


class CertificateError(ValueError):
    """A certificate that cannot be used; says why."""


def certificate(house: House, seq: int) -> dict[str, Any]:
    """The certificate of the erasure that record ``seq`` is; ErasureError when it is none.

    ``checkpoint`` is null where no signed note covers the record yet.
    """
    with house.store.reading(house.namespace) as tx:
        rows = tx.log.records_of([seq])
        record = read_record(rows[0].record) if rows else None
        if record is None or record.kind != "erase":
            raise ErasureError(f"record {seq} of {house.namespace!r} is no erasure")
        notes = [note for note in tx.log.checkpoints(house.namespace) if unverified(note).size > seq]
        size = unverified(notes[0]).size if notes else tx.log.size(house.namespace)
        proof = Ledger().prove(tx.log, house.namespace, seq, size)
    content = record.content
    return {
        "certificate": FORMAT, "namespace": house.namespace, "seq": seq, "erased_at": record.recorded_at,
        "ground": content["ground"], "scope": content.get("scope"),
        "items": list(dict.fromkeys(item for _, item, _ in content.get("versions", ()))),
        "turns": content.get("turns", []), "values": sum(len(names) for _, names in content["fields"]),
        "record": rows[0].record, "size": size, "root": proof.root.hex(),
        "proof": [base64.b64encode(each).decode() for each in proof.path], "checkpoint": notes[0] if notes else None,
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Proven:
    """An erasure of which a certificate speaks."""

    record: Record
    leaf: str  # hash of the record, hexadecimal


def read_certificate(text: str, namespace: str, publics: Sequence[bytes]) -> Proven:
    """The erasure of a certificate, checked: its proof leads to a checkpoint that one of the keys signed.

    Without keys the proof alone is checked. CertificateError when anything does not fit.
    """
    try:
        fields = json.loads(text)
        record, note = read_record(fields["record"]), fields["checkpoint"]
        leaf, size, root = leaf_hash(fields["record"].encode()), int(fields["size"]), bytes.fromhex(fields["root"])
        path = [base64.b64decode(each, validate=True) for each in fields["proof"]]
        proven = verify_inclusion(leaf, record.seq, size, path, root)
    except (ValueError, KeyError, TypeError, RecordError) as wrong:
        raise CertificateError(f"no certificate of an erasure ({wrong})") from None
    if not proven:
        raise CertificateError("its proof does not lead to the root that it states")
    if record.kind != "erase" or record.namespace != namespace:
        raise CertificateError(
            f"it is of kind {record.kind} in {record.namespace!r}, not of an erasure in {namespace!r}"
        )
    if publics and not _signed(note, namespace, publics, size, root):
        raise CertificateError("no key of this log signed it")
    return Proven(record, leaf.hex())


def _signed(note: str | None, namespace: str, publics: Iterable[bytes], size: int, root: bytes) -> bool:
    for public in publics if note else ():
        try:
            head = read_checkpoint(str(note), origin_of(namespace), public)
        except NoteError:
            continue
        return (head.size, head.root) == (size, root)
    return False


def keys_of(house: House, public_key: str | None = None) -> list[bytes]:
    """The key of the log and those that it had before; empty when none is known here."""
    trust = trust_for(house.store, house.namespace, house.settings, public_key)
    if trust.public is None:
        return []
    keys = [trust.public]
    with house.store.reading(house.namespace) as tx:
        for row in reversed(tx.log.records_of(tx.log.acts("key"))):
            change = change_of(read_record(row.record))
            if change.after in keys:
                keys.append(change.before)
    return keys


def all_of(house: House) -> list[str]:
    """The certificates of all erasures of a store, as JSON text."""
    with house.store.reading(house.namespace) as tx:
        seqs = tx.log.acts("erase")
    return [json.dumps(certificate(house, seq)) for seq in seqs]


def reapply(house: House, proven: Sequence[Proven], *, actor: str, now: datetime | None = None) -> list[Erased]:
    """Erase again what certificates name, oldest first, as far as it is there; what is gone already stays as it is.

    A hold forbids it when it is younger than the erasure: what was lifted since the backup forbids nothing.
    """
    if not actor.strip():
        raise ErasureError("who does it? Give the actor a name")
    done: list[Erased] = []
    for each in sorted(proven, key=lambda one: one.record.recorded_at):
        content, found = each.record.content, list[Plan]()

        def planned(tx: Reading, each: Proven = each, found: list[Plan] = found) -> Plan:
            plan = _again(tx, each.record.content)
            holds = [hold for hold in in_force(tx.log, "hold_legal") if hold.at > each.record.recorded_at]
            if forbidding := holding(tx, plan, holds):
                raise OnHold(f"hold {forbidding[0].seq} is younger than the erasure; `recordari hold lift` ends it")
            found.append(plan)
            return plan

        why = Grounds(str(content["ground"]), str(content.get("scope", "item")), actor, {"again": each.leaf})
        record = carry_out(house, planned, why, now=now)
        done.append(told(why.scope, found[0], record, house.store.scrub()))
    return done


def _again(tx: Reading, content: Mapping[str, Any]) -> Plan:
    """What a record of an erasure names, as far as it is there."""
    names = content.get("names", ())
    theirs = {principal for principal, _ in holders(tx, names).values() if principal}
    items = {item for _, item, _ in content.get("versions", ())}
    entity = theirs.pop() if len(theirs) == 1 else None
    return gather(tx, items, (*content.get("turns", ()), *names), names=names, texts=False, entity=entity)
