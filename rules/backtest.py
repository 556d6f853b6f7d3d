"""Two rule sets rehearse the same dialogues, each in a memory of its own: what the second would have decided otherwise.

Each side remembers what it decided, so that whatever follows from a difference is followed. Rules stay below the
pipeline: ``Side`` and ``Stage`` are given by whoever owns it. As long as both sides know the same, a turn that the
change of rules cannot touch is decided once (``footprint`` says why that is certain).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, Protocol, Self, TypeVar

from ..model import Known, MemoryItem, Outcome, Scan, Turn, Verdict
from .capture import Captured, capture
from .engine import RuleEngine
from .expected import Expected
from .footprint import Footprint, footprint
from .policy import NoVerdict
from .ruleset import Ruleset

What = Literal["added", "removed", "changed"]
Outcomes = tuple[Outcome, ...]
S = TypeVar("S", contravariant=True)
# What of a decision is compared. Ids depend on rule versions, and rules are told apart by ``by`` and ``capture``.
COMPARED = (
    "action", "reason", "slot", "qualifier", "entity", "canonical", "polarity", "flags", "question", "replaces",
    "sentence",
)  # fmt: skip


class Stage(Protocol[S]):
    """What one side knows between turns; ``S`` is a turn as it arrives."""

    def copy(self) -> Self:
        """One that goes on from here by itself."""
        ...

    def turn(self, said: S) -> Turn:
        """The turn with its place in the conversation."""
        ...

    def known(self, turn: Turn) -> Known:
        """What decisions about the turn may rest on."""
        ...

    def take(self, turn: Turn, outcomes: Sequence[Outcome], known: Known, after: Known) -> None:
        """Remember what was decided."""
        ...

    def items(self, turn: Turn) -> tuple[MemoryItem, ...]:
        """All items with the status they have at a turn."""
        ...


@dataclass(frozen=True)
class Side:
    """One rule set and the pipeline under it."""

    ruleset: Ruleset
    read: Callable[[Turn], Scan]
    recue: Callable[[Turn, Scan], Scan]  # the same turn with the cues of this side, the mentions being the same
    decide: Callable[[Turn, Scan, Known, Captured | None], tuple[Outcomes, Known]]


class Watching:
    """The engine of the first side, which asks the table of the second as well and notes where they part."""

    def __init__(self, before: RuleEngine, after: RuleEngine) -> None:
        self.name, self.note = before.name, before.note
        self.before, self.after = before, after
        self.parted = False

    def judge(self, features: Mapping[str, str]) -> Verdict:
        """The verdict of the first table."""
        verdict = self.before.judge(features)
        try:
            other = self.after.judge(features)
        except NoVerdict:
            self.parted = True
        else:
            self.parted = self.parted or (other.action, other.reason) != (verdict.action, verdict.reason)
        return verdict


NO_LABELS = Expected()


@dataclass(frozen=True)
class Dialogue(Generic[S]):
    """Turns that share a memory, and what they should give, where somebody has said so."""

    id: str
    turns: tuple[S, ...]
    expect: Expected = NO_LABELS


@dataclass(frozen=True)
class Difference:
    """One decision that only one side took, or that came out otherwise; decisions are JSON-ready fields.

    ``follows``: the sides knew different things by then, so it may only follow from an earlier difference.
    ``right_before``, ``right_after``: by the labels of the corpus, None where it has none.
    """

    dialogue: str
    turn: int
    text: str
    what: What
    follows: bool
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    fields: tuple[str, ...] = ()
    right_before: bool | None = None
    right_after: bool | None = None


@dataclass
class Rehearsed:
    """What one dialogue came to. Decisions that are the same on both sides are counted by (slot, rule)."""

    dialogue: str
    turns: int = 0
    identical: dict[tuple[str, str], int] = field(default_factory=dict)
    differences: list[Difference] = field(default_factory=list)
    labelled: int = 0  # turns and dialogues with labels
    right_before: int = 0
    right_after: int = 0


class Backtest(Generic[S]):
    """A back-test of one step from a rule set to another."""

    def __init__(
        self, before: Side, after: Side, watching: Watching, begin: Callable[[], Stage[S]], *, share: bool = True
    ) -> None:
        self.before = before
        self.after = after
        self.reach: Footprint = footprint(before.ruleset, after.ruleset)
        self._watching = watching
        self._begin = begin
        self._share = share  # False: decide everything twice, which must give the same and takes longer

    def rehearse(self, given: Dialogue[S]) -> Rehearsed:
        """Both sides rehearse one dialogue from nothing."""
        result = Rehearsed(given.id, len(given.turns))
        one = two = self._begin()  # one memory until the sides remember different things
        turn: Turn | None = None
        for number, said in enumerate(given.turns):
            turn = one.turn(said)
            known, together = one.known(turn), two is one
            self._watching.parted = False
            scan = self.before.read(turn)
            captured = capture(turn, scan, self.before.ruleset) if turn.edit is None else None
            outcomes, after = self.before.decide(turn, scan, known, captured)
            old = [decision_told(each, known) for each in outcomes]
            other_scan = self._other_scan(turn, scan)
            alike = self._captured_alike(turn, scan, other_scan)
            if together and alike and self.reach.same_decisions and not self._watching.parted:
                one.take(turn, outcomes, known, after)
                self._compare(result, given, number, turn, old, old, follows=False)
                continue
            other_known = known if together else two.known(turn)
            others, other_after = self.after.decide(turn, other_scan, other_known, captured if alike else None)
            new = [decision_told(each, other_known) for each in others]
            if together and not (_same(old, new) and after == other_after and _written(outcomes) == _written(others)):
                two = one.copy()
            one.take(turn, outcomes, known, after)
            if two is not one:
                two.take(turn, others, other_known, other_after)
            self._compare(result, given, number, turn, old, new, follows=not together and known != other_known)
        if turn is not None:
            self._whole(result, given.expect, one.items(turn), two.items(turn))
        return result

    def _other_scan(self, turn: Turn, scan: Scan) -> Scan:
        if self.reach.same_scans and self._share:
            return scan
        return self.after.recue(turn, scan) if self.reach.same_mentions and self._share else self.after.read(turn)

    def _captured_alike(self, turn: Turn, scan: Scan, other: Scan) -> bool:
        """True when the second side certainly takes the same candidates from the turn, whatever it knows.

        When it knows the same as well and its table gives the same verdicts, it decides the same.
        """
        if not self._share or not self.reach.same_captures or (other is not scan and other.cues != scan.cues):
            return False
        if self.reach.gates and not self._gated_alike(turn, scan):
            return False
        return not self.reach.touches(turn, scan)

    def _gated_alike(self, turn: Turn, scan: Scan) -> bool:
        one, other = self.before.ruleset.gated(turn, scan), self.after.ruleset.gated(turn, scan)
        return (one and one.gate) == (other and other.gate)

    def _compare(
        self, result: Rehearsed, given: Dialogue[S], number: int, turn: Turn, old: Sequence[dict[str, Any]],
        new: Sequence[dict[str, Any]], *, follows: bool,
    ) -> None:  # fmt: skip
        expect = given.expect
        asked = expect.has(number)
        if asked:
            result.labelled += 1
            result.right_before += expect.right(number, old)
            result.right_after += expect.right(number, new)
        for before, after in matched(old, new):
            if before is not None and after is not None:
                fields = tuple(name for name in COMPARED if before[name] != after[name])
                if not fields:
                    place = place_of(after)
                    result.identical[place] = result.identical.get(place, 0) + 1
                    continue
                what: What = "changed"
            else:
                fields, what = (), "added" if before is None else "removed"
            told = (expect.right_one(number, old, before), expect.right_one(number, new, after)) if asked else ()
            result.differences.append(
                Difference(given.id, number, turn.text, what, follows, before, after, fields, *told)
            )

    def _whole(
        self, result: Rehearsed, expect: Expected, old: Sequence[MemoryItem], new: Sequence[MemoryItem]
    ) -> None:  # fmt: skip
        """What holds in the end; it also marks the differences of turns that have no labels of their own."""
        before, after = expect.right_after(old), expect.right_after(new)
        if before is None or after is None:
            return
        result.labelled += 1
        result.right_before += before
        result.right_after += after
        result.differences = [
            replace(each, right_before=before, right_after=after) if each.right_before is None else each
            for each in result.differences
        ]


def _same(old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> bool:
    return [[each[name] for name in COMPARED] for each in old] == [[each[name] for name in COMPARED] for each in new]


def _written(outcomes: Sequence[Outcome]) -> list[MemoryItem]:
    return [item for outcome in outcomes for item in outcome.written]


def decision_told(outcome: Outcome, known: Known) -> dict[str, Any]:
    """What of a decision is compared and shown; items are named by what they say, for their ids differ."""
    found = outcome.decision
    target = next((item for item in known.items if item.id == found.target), None) if found.target else None
    sentence = next((item.sentence for item in outcome.written if item.id == found.item), None)
    return {
        "action": found.action, "reason": found.reason, "slot": found.slot, "qualifier": found.qualifier,
        "entity": found.entity, "kind": found.kind, "canonical": found.canonical, "polarity": found.polarity,
        "flags": list(found.flags), "question": found.question, "sentence": sentence,
        "replaces": f"{target.slot}[{target.qualifier}] {target.canonical}" if target is not None else None,
        "rule": found.rule, "capture": found.capture, "start": found.start, "end": found.end,
    }  # fmt: skip


def place_of(decision: Mapping[str, Any]) -> tuple[str, str]:
    """(slot, rule) under which a decision is counted: the rule that took it from the text, else the one that judged."""
    return decision["slot"] or "none", (decision["capture"] or decision["rule"]).partition("@")[0]


Pair = tuple[dict[str, Any] | None, dict[str, Any] | None]


def matched(old: Sequence[dict[str, Any]], new: Sequence[dict[str, Any]]) -> list[Pair]:
    """Decisions of one turn that belong together: the same words and place in memory, else the same words.

    The record that a turn gave nothing stands for no words: it belongs to its like alone, and beside decisions of the
    other side it says nothing.
    """
    if old == new:
        return list(zip(old, new, strict=True))
    left, pairs = list(new), list[Pair]()
    rest = list(old)
    for keys in (("start", "end", "slot", "qualifier", "canonical"), ("start", "end")):
        for before in list(rest):
            hit = next((after for after in left if all(before[key] == after[key] for key in keys)), None)
            if hit is not None:
                pairs.append((before, hit))
                rest.remove(before)
                left.remove(hit)
    if old and new:
        rest = [each for each in rest if not _nothing(each)] if new else rest
        left = [each for each in left if not _nothing(each)] if old else left
    pairs += [(before, None) for before in rest] + [(None, after) for after in left]
    return sorted(pairs, key=lambda pair: _at(pair[0] or pair[1] or {}))


def _nothing(decision: Mapping[str, Any]) -> bool:
    return decision["action"] == "IGNORE" and decision["slot"] is None and decision["canonical"] is None


def _at(decision: Mapping[str, Any]) -> tuple[int, int]:
    return decision["start"], decision["end"]
