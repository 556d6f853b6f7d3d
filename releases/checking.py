"""Decisions against the releases in force at their places in the log: which set, and for a canary which bucket."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..audit.record import read_record
from ..audit.report import Finding
from ..rules.release import KINDS, InForce
from ..store.reading import Reading

CODE = "release"
"""The code of these findings."""


def deviations(tx: Reading) -> Iterator[Finding]:
    """What decisions say of their rule set and bucket that the releases of the log do not. Of a turn that was erased
    the entity is not known any more: its bucket is taken as written, and the set must still follow from it."""
    begun = tx.log.acts(*KINDS)
    if not begun:
        return
    state = InForce()
    for row in tx.log.read(tx.namespace, begun[0]):
        try:
            record = read_record(row.record)
            if record.kind in KINDS:
                state = InForce.read(record.content)
                continue
        except (AttributeError, LookupError, TypeError, ValueError):
            continue  # a record that cannot be read is told by those who read all of them
        if record.decides:
            turn = tx.turn(str(record.content.get("turn_id"))) if state.stage == "canary" else None
            for said in deviation(state, tx.namespace, turn.entity if turn is not None else None, record.content):
                yield Finding(record.seq, CODE, said)


def deviation(state: InForce, namespace: str, entity: str | None, content: Mapping[str, Any]) -> Iterator[str]:
    """In which ways a decision was not taken as ``state`` asks; ``entity`` None for one that is not known."""
    if state.stable is None:
        return  # before the first release a process decides with the rules that it was given
    ruleset, bucket, threshold = content.get("ruleset"), content.get("bucket"), content.get("threshold")
    if state.stage != "canary" or state.candidate is None:
        if bucket is not None or threshold is not None:
            yield f"the decision has a bucket ({bucket}) or threshold ({threshold}), and no canary was running"
        expected = state.stable
    elif entity is not None:
        pick = state.pick(namespace, entity)
        assert pick is not None
        if bucket != pick.bucket:
            yield f"the decision has the bucket {bucket}, that of its entity is {pick.bucket}"
        if threshold != pick.threshold:
            yield f"the decision has the threshold {threshold}, the canary was at {pick.threshold}"
        expected = pick.digest
    else:
        if threshold not in (None, state.threshold):
            yield f"the decision has the threshold {threshold}, the canary was at {state.threshold}"
        expected = state.candidate if isinstance(bucket, int) and bucket < state.threshold else state.stable
    if ruleset != expected:
        yield (
            f"the decision was taken with the rule set {str(ruleset)[:12]}, and {expected[:12]} was in force for it: "
            "it was changed, or its process could not use the release and said so in its own log"
        )
