"""A candidate that decides beside the stable set from the same known state: where it parts from it, and nothing else.

It is asked only where the change of rules can reach (``footprint``). What it says here is of the first order: what
would follow from it, had it been written, is the back-test's business.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..model import Known, Outcome, Scan, Turn
from .backtest import COMPARED, Side, Watching, decision_told, matched
from .capture import Captured, capture
from .engine import ReferenceEngine, RuleEngine
from .footprint import footprint

Decide = Callable[[], tuple[tuple[Outcome, ...], Known]]
# What of a decision a phantom shows: nothing that is personal, since a phantom can never be erased.
SHOWN = ("action", "reason", "rule", "capture", "slot", "kind", "polarity", "start", "end")


class Shadow:
    """One candidate beside one stable set, and the engine that judges for the stable one."""

    def __init__(self, stable: Side, candidate: Side, judge: RuleEngine) -> None:
        self.stable = stable
        self.candidate = candidate
        self._reach = footprint(stable.ruleset, candidate.ruleset)
        same = stable.ruleset.table == candidate.ruleset.table
        self.watching = None if same else Watching(judge, ReferenceEngine(candidate.ruleset.table))

    def decide(
        self, turn: Turn, found: Scan, known: Known, captured: Captured | None = None
    ) -> tuple[tuple[Outcome, ...], Known, list[dict[str, Any]]]:
        """What the stable set decides and what is known afterwards, and the differences as fields of records.

        A fault of the candidate is one of the differences; the stable decision stands.
        """
        captured = captured or capture(turn, found, self.stable.ruleset)
        if self.watching is not None:
            self.watching.parted = False
        outcomes, after = self.stable.decide(turn, found, known, captured)
        try:
            other = self._scan(turn, found)
            alike = self._alike(turn, found, other)
            parted = self.watching is not None and self.watching.parted
            if alike and self._reach.same_decisions and not parted:
                return outcomes, after, []
            others, _ = self.candidate.decide(turn, other, known, captured if alike else None)
        except Exception as broken:
            fault = {"what": "failed", "fields": [], "fault": type(broken).__name__}
            return outcomes, after, [self._placed(turn, 0, fault)]
        found_ones = differences(outcomes, others, known)
        return outcomes, after, [self._placed(turn, number, each) for number, each in enumerate(found_ones)]

    def _placed(self, turn: Turn, number: int, fields: dict[str, Any]) -> dict[str, Any]:
        sets = {"candidate": self.candidate.ruleset.digest, "stable": self.stable.ruleset.digest}
        return {**sets, "turn_id": turn.turn_id, "turn": turn.ordinal, "number": number, **fields}

    def _scan(self, turn: Turn, found: Scan) -> Scan:
        if self._reach.same_scans:
            return found
        return self.candidate.recue(turn, found) if self._reach.same_mentions else self.candidate.read(turn)

    def _alike(self, turn: Turn, found: Scan, other: Scan) -> bool:
        """True when the candidate certainly takes the same from the turn, whatever is known."""
        if not self._reach.same_captures or (other is not found and other.cues != found.cues):
            return False
        if self._reach.gates:
            one, two = self.stable.ruleset.gated(turn, found), self.candidate.ruleset.gated(turn, found)
            if (one and one.gate) != (two and two.gate):
                return False
        return not self._reach.touches(turn, found)


def differences(outcomes: Sequence[Outcome], others: Sequence[Outcome], known: Known) -> list[dict[str, Any]]:
    """Where two sets of decisions about one turn part: in which fields, and both sides without personal values."""
    old, new = [decision_told(each, known) for each in outcomes], [decision_told(each, known) for each in others]
    found: list[dict[str, Any]] = []
    for before, after in matched(old, new):
        if before is not None and after is not None:
            fields = [name for name in COMPARED if before[name] != after[name]]
            if not fields:
                continue
            what = "changed"
        else:
            fields, what = [], "added" if before is None else "removed"
        sides = {name: _shown(side) for name, side in (("before", before), ("after", after)) if side is not None}
        found.append({"what": what, "fields": fields, **sides})
    return found


def _shown(side: dict[str, Any]) -> dict[str, Any]:
    return {name: side[name] for name in SHOWN if side[name] is not None}
