"""Which rule set is in force for whom: a stable release, at most one candidate, and buckets of principal entities.

Everything here is a function of its arguments: the acts of the ledger say what was decided, and this says what follows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

Stage = Literal["published", "shadow", "canary"]

BUCKETS = 10_000
NOBODY = "user"
"""The principal entity of a turn whose caller named none: it is in no canary."""
KINDS = ("rule_publish", "rule_promote", "rule_override", "rule_rollback")
"""The kinds of record that say what is in force."""


def bucket(salt: str, namespace: str, entity: str) -> int:
    """The place of an entity among the buckets, 0 to 9,999: the first 8 bytes of SHA-256 as a number, mod 10,000.

    Hashed is ``salt NUL namespace NUL entity`` in UTF-8; none of them can hold a NUL, so no two triples are the same.
    """
    told = "\x00".join((salt, namespace, entity)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(told).digest()[:8], "big") % BUCKETS


@dataclass(frozen=True, slots=True)
class Pick:
    """The rule set for an entity, with the bucket and the threshold that chose it; None where nothing had to choose."""

    digest: str
    bucket: int | None = None
    threshold: int | None = None


@dataclass(frozen=True, slots=True)
class InForce:
    """What is in force in a namespace after an act; every field None (and 0) before the first.

    ``salt`` is the digest under which the candidate was published: stopping one of its rules gives it another digest
    and moves nobody to another bucket. ``threshold``: an entity whose bucket is below it is in the canary.
    """

    stable: str | None = None
    candidate: str | None = None
    stage: Stage | None = None
    threshold: int = 0
    salt: str | None = None

    @staticmethod
    def read(content: Mapping[str, Any]) -> InForce:
        """From the ``releases`` of a record; KeyError and TypeError for what is none."""
        fields = content["releases"]
        return InForce(
            fields.get("stable"), fields.get("candidate"), fields.get("stage"), fields.get("threshold", 0),
            fields.get("salt"),
        )  # fmt: skip

    def fields(self) -> dict[str, Any]:
        """As it stands in a record, absent ones left out."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def pick(self, namespace: str, entity: str) -> Pick | None:
        """The set that decides for an entity; None when no release is stable."""
        if self.stable is None:
            return None
        if self.candidate is None or self.stage != "canary" or self.salt is None or entity == NOBODY:
            return Pick(self.stable)
        place = bucket(self.salt, namespace, entity)
        return Pick(self.candidate if place < self.threshold else self.stable, place, self.threshold)

    @property
    def shadow(self) -> str | None:
        """The set that decides beside the stable one and changes nothing."""
        return self.candidate if self.stage == "shadow" else None

    def digests(self) -> tuple[str, ...]:
        """The sets that a process must have at hand: they decide, or will soon."""
        return tuple(dict.fromkeys(each for each in (self.stable, self.candidate) if each is not None))

    def deciding(self) -> tuple[str, ...]:
        """The sets under which items may have been written."""
        found = (self.stable, self.candidate if self.stage == "canary" else None)
        return tuple(each for each in found if each is not None)


@dataclass(frozen=True, slots=True)
class Step:
    """One act of the ledger: its record, and what was in force from it on."""

    seq: int
    kind: str
    after: InForce


def in_force_at(steps: Sequence[Step], seq: int) -> InForce:
    """What was in force for a decision at a place of the log."""
    found = InForce()
    for step in steps:
        if step.seq > seq:
            break
        found = step.after
    return found


def stage_began(steps: Sequence[Step]) -> int:
    """The record at which the present stage of the present candidate began; 0 when there is no candidate.

    Stopping a rule of the candidate begins its shadow anew: what was seen before was seen with the rule.
    """
    began = 0
    now = steps[-1].after if steps else InForce()
    for step in reversed(steps):
        if (step.after.candidate, step.after.stage) != (now.candidate, now.stage):
            break
        began = step.seq
    return began


def withdrawn(steps: Sequence[Step], to: str) -> tuple[str, ...]:
    """The sets that decided since ``to`` did alone, and are withdrawn when it is made stable again; those of earlier
    rollbacks are not among them."""
    found = (digest for step in steps[_alone(steps, to) :] for digest in step.after.deciding())
    return tuple(dict.fromkeys(digest for digest in found if digest != to))


def withdrawn_since(steps: Sequence[Step], to: str) -> int:
    """The record from which on those sets have decided; what they wrote before was withdrawn by an earlier rollback."""
    first = _alone(steps, to)
    return steps[first].seq if first < len(steps) else 0


def _alone(steps: Sequence[Step], to: str) -> int:
    """The step at which a set began to be stable for the last time; past the end when it never was."""
    ran = [number for number, step in enumerate(steps) if step.after.stable == to]
    if not ran:
        return len(steps)
    first = ran[-1]
    while first > 0 and steps[first].kind != "rule_rollback" and steps[first - 1].after.stable == to:
        first -= 1
    return first


def stables(steps: Sequence[Step]) -> Iterator[str]:
    """The sets that were ever stable, each once, in order."""
    seen: set[str] = set()
    for step in steps:
        if step.after.stable is not None and step.after.stable not in seen:
            seen.add(step.after.stable)
            yield step.after.stable
