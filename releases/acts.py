"""What the log says of releases: the steps that were taken, and what withdrawn ones have left to be looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..audit.record import Record, read_record
from ..model import MemoryItem
from ..rules.release import KINDS, InForce, Step
from ..store.log import Log
from ..store.reading import Reading

WITHDRAWN = "withdrawn_release"
"""Flag of an item in review that a rolled back release wrote."""
STOPPED = "rolled_back_rule"
"""Flag of an item in review that a rule wrote which was stopped since."""
FLAGS = {"rule_rollback": WITHDRAWN, "rule_override": STOPPED}


def acts_of(log: Log, *kinds: str) -> Iterator[tuple[Record, Mapping[str, Any]]]:
    """The records of these kinds with their private values, oldest first."""
    for row in log.records_of(log.acts(*kinds)):
        record = read_record(row.record)
        yield record, record.with_private(row.private)


def steps_of(log: Log) -> list[Step]:
    """What was in force since when."""
    return [Step(record.seq, record.kind, InForce.read(record.content)) for record, _ in acts_of(log, *KINDS)]


def flagged(tx: Reading) -> list[tuple[MemoryItem, int, str]]:
    """Items that a withdrawn release or a stopped rule wrote and nobody has settled since: no person edited them, they
    still hold; each with the last record that withdrew it, and the flag that says why."""
    by: dict[str, tuple[int, str]] = {}
    for record, _ in acts_of(tx.log, *FLAGS):
        for item in record.content.get("review", ()):
            by[str(item)] = (record.seq, FLAGS[record.kind])
    found = ((tx.item(item), *why) for item, why in by.items())
    return [
        (item, seq, flag)
        for item, seq, flag in found
        if item is not None and item.status in ("current", "scheduled") and not _settled(tx, item.id, seq)
    ]


def _settled(tx: Reading, item_id: str, since: int) -> bool:
    for decision in tx.decisions_touching(item_id):
        if decision.features.get("source") == "person":
            seqs = tx.decision_seqs(decision.turn_id)
            if decision.ordinal < len(seqs) and seqs[decision.ordinal] > since:
                return True
    return False
