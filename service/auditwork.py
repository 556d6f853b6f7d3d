"""The audit commands that do more than print: sign a log that verifies, hand out keys, export, prove."""

from __future__ import annotations

import base64
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .show import show_report
from .streams import emit

if TYPE_CHECKING:
    from ..memory import Memory


def sign(memory: Memory) -> int:
    """Sign a log that verifies and print the note; on standard error, how much of it nobody here has seen written."""
    report = memory.verify()
    if not report.ok:
        show_report(report)
        print("nothing was signed: the log does not verify", file=sys.stderr)
        return 1
    print(memory.checkpoint(), end="")
    if report.unsigned:
        told = f"{report.size} records signed; records {report.unsigned} were not written by this command"
        print(f"{told}. The note says so; make sure where they come from", file=sys.stderr)
    return 0


def verifier(memory: Memory) -> str:
    """The public key that verifies the checkpoints, as one line for an auditor."""
    from ..audit.checkpoint import KeyFileError
    from ..trust.signing import trust_for, verifier_line

    trust = trust_for(memory.store, memory.namespace, memory.settings)
    line = verifier_line(trust, memory.namespace)
    if line is None:
        why = "; ".join(trust.remarks) or "there is no signing key beside it"
        raise KeyFileError(f"{memory.store.place}: {why}. RECORDARI_SIGNING_KEY names another")
    return line


def note_act(memory: Memory, kind: str, actor: str, content: Mapping[str, Any]) -> None:
    """Leave a record of what an actor did with the log, signed where there is a list of actors."""
    from ..audit.ledger import Ledger
    from ..audit.record import Entry
    from ..trust.actors import acting

    act = acting(memory.store, memory.namespace, memory.settings, actor)
    entry = Entry(kind, content, {} if act is not None else {"actor": actor})
    with memory.store.writing(memory.namespace) as tx:
        entries = [entry] if act is None else list(act.entries(tx.log, memory.namespace, [entry]))
        rows = Ledger().append(tx.log, memory.namespace, entries, recorded_at=datetime.now(UTC))
    if memory.signer is not None:
        memory.signer.saw(memory.namespace, [range(rows[0].seq, rows[-1].seq + 1)])


def write_bundle(memory: Memory, folder: Path, *, proofs: bool, actor: str | None) -> int:
    """Export a namespace; an actor's export stands in the log, and so in the bundle itself."""
    from ..evidence.bundle import check_empty, export

    check_empty(folder)
    if actor is not None:
        with memory.store.reading(memory.namespace) as tx:
            size = tx.log.size(memory.namespace)
        note_act(memory, "export", actor, {"proofs": proofs, "size": size})
        if memory.signer is not None:
            memory.signer.sign(memory.store, memory.namespace)
    manifest = export(memory, folder, proofs=proofs)
    print(f"{folder}: {manifest['size']} records, root {manifest['root']}")
    if not (folder / "manifest.note").exists():
        print("the manifest is not signed: the key of the log is not at hand here", file=sys.stderr)
    return 0


def proof_of(memory: Memory, seq: int) -> int:
    """Print a record, its values, its proof and the latest checkpoint."""
    from ..audit.ledger import Ledger

    with memory.store.reading(memory.namespace) as tx:
        found = list(tx.log.read(memory.namespace, seq, seq + 1))
        if seq < 0 or not found:
            size = tx.log.size(memory.namespace)
            print(f"no record {seq}. The log has the records 0 to {size - 1}", file=sys.stderr)
            return 2
        proof = Ledger().prove(tx.log, memory.namespace, seq)
        notes = tx.log.checkpoints(memory.namespace)
        values = {name: [each.value, each.salt] for name, each in found[0].private.items()}
    emit(
        {
            "record": found[0].record, "private": values, "seq": seq, "size": proof.size, "root": proof.root.hex(),
            "proof": [base64.b64encode(each).decode() for each in proof.path],
            "checkpoint": notes[-1] if notes else None,
        }
    )  # fmt: skip
    return 0


def new_actor(name: str, role: str, key: Path | None, store: str | None) -> int:
    """Put a person on the list of actors of a store."""
    from ..settings import Settings
    from ..trust.actors import FILE, ActorError, add_actor, key_file

    settings = Settings()
    if settings.actors is None and "://" in (store or settings.store):
        raise ActorError("RECORDARI_ACTORS: not set, and a database server has no folder. Name the file of the list")
    listed = settings.actors if settings.actors is not None else Path(store or settings.store).with_name(FILE)
    place = key if key is not None else key_file(listed, name)
    made = add_actor(listed, name, role, place)
    print(f"{listed}: {made.name}, {made.role}, key {made.key}")
    print(f"{place}: the private key. Give it to {made.name} and to nobody else; RECORDARI_ACTOR_KEY names where it is")
    return 0


def new_key(memory: Memory) -> int:
    """Change the signing key of a store."""
    from ..trust.signing import rotate

    for line in rotate(memory.store, memory.settings):
        print(line)
    print("give these lines to the auditors: they replace the ones before", file=sys.stderr)
    return 0
