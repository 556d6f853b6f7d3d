"""The audit commands that do more than print: sign a log that verifies, hand out the key, build the search index."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from .show import show_report

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
    from ..signing import trust_for, verifier_line

    trust = trust_for(memory.store, memory.namespace, memory.settings)
    line = verifier_line(trust, memory.namespace)
    if line is None:
        why = "; ".join(trust.remarks) or "there is no signing key beside it"
        raise KeyFileError(f"{memory.store.place}: {why}. RECORDARI_SIGNING_KEY names another")
    return line
