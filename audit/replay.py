"""Replay: decide again what the log says was decided, and tell a difference of runtime from one of content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

from ..model import Decision, MemoryItem, Turn, Verdict, dump
from .record import PERSONAL, Private, Record, written

Logged = tuple[Record, Mapping[str, Private]]
Judge = Callable[[Mapping[str, str]], Verdict]
Standing = Literal["differs", "other runtime", "rests on erased"]

# Under which conditions a decision was made, not what was decided. The two engines agree by law.
CONDITIONS = ("bucket", "engine", "runtime", "threshold")
# Ids depend on the secret of the namespace; two replays under two secrets must compare equal.
REFERENCES = ("item", "target", "rested_on", "derived_from")


@dataclass(frozen=True, slots=True)
class Difference:
    """One field of one decision that came out otherwise."""

    seq: int
    name: str
    recorded: Any
    replayed: Any
    standing: Standing

    def __str__(self) -> str:
        return f"record {self.seq}: {self.name} was {self.recorded!r}, is {self.replayed!r} ({self.standing})"


@dataclass(frozen=True, slots=True)
class Replayed:
    """The outcome of one layer. ``skipped`` maps the number of a record to why it could not be replayed."""

    layer: Literal["policy", "extraction"]
    compared: int
    differences: tuple[Difference, ...]
    skipped: Mapping[int, str]

    @property
    def ok(self) -> bool:
        """True when nothing differs that the runtime or an erasure does not explain."""
        return not any(difference.standing == "differs" for difference in self.differences)

    @property
    def identical(self) -> int:
        """How many decisions came out exactly as recorded."""
        return self.compared - len({difference.seq for difference in self.differences})

    def lines(self) -> list[str]:
        """The outcome for people."""
        reasons = Counter(self.skipped.values())
        return [
            f"{self.layer}: {self.compared} decisions replayed, {self.identical} identical",
            *(f"{number} not replayed: {why}" for why, number in sorted(reasons.items())),
            *map(str, self.differences),
        ]


def replay_policy(
    logged: Iterable[Logged],
    judge_for: Callable[[str], Judge | None],
    *,
    runtime: str,
    judged: Callable[[Decision], bool] = lambda decision: bool(decision.features),
) -> Replayed:
    """Judge the stored features again with the rule set of each decision.

    ``judge_for`` gives the judge of a rule set's digest, None when the set is not stored. ``judged`` tells the
    decisions of policy from those that never met it (an unused mention). Needs no text, so it works for ever.
    """
    differences: list[Difference] = []
    skipped: dict[int, str] = {}
    compared = 0
    for record, private in logged:
        if not record.decides:
            continue
        decision = record.decision(private)
        if not judged(decision):
            skipped[record.seq] = "policy was not asked"
            continue
        judge = judge_for(decision.ruleset)
        if judge is None:
            skipped[record.seq] = f"rule set {decision.ruleset[:12]} is not stored"
            continue
        compared += 1
        verdict = dump(judge(decision.features))
        standing: Standing = "differs" if decision.runtime == runtime else "other runtime"
        differences += [
            Difference(record.seq, name, getattr(decision, name), verdict[name], standing)
            for name in ("action", "reason", "rule")
            if getattr(decision, name) != verdict[name]
        ]
    return Replayed("policy", compared, tuple(differences), skipped)


def replay_extraction(
    logged: Iterable[Logged],
    turn_of: Callable[[str], Turn | None],
    decide: Callable[[Turn, str], Sequence[Decision]],
    *,
    runtime: str,
    absorb: Callable[[Sequence[MemoryItem]], None] | None = None,
) -> Replayed:
    """Decide the stored turns again, one after another, and compare the content of the decisions.

    ``turn_of`` gives the turn of an id, None when its text was erased or the decision was a person's or a sweep's.
    ``decide(turn, ruleset)`` decides in a fresh, throw-away state that remembers the turns before; it raises
    LookupError when it does not have the rule set. ``absorb`` gets the item versions that a decision wrote which
    cannot be replayed, so that the state can follow; without it all that comes later may rest on what is missing. So it
    may from the first restriction on: what was hidden then is not hidden here.
    """
    differences: list[Difference] = []
    skipped: dict[int, str] = {}
    compared = 0
    shaky = False  # something earlier is erased: from here on a difference proves nothing
    ids = _Ids(), _Ids()
    restricted = 0  # the first record of a restriction

    def deciding() -> Iterable[Logged]:
        nonlocal restricted
        for each in logged:
            if each[0].decides:
                yield each
            elif each[0].kind == "restrict":
                restricted = restricted or each[0].seq

    decisions = deciding()
    done: dict[str, int] = {}  # turn → where it was decided
    for turn_id, group in groupby(decisions, key=lambda each: str(each[0].content["turn_id"])):
        entries = list(group)
        first = entries[0][0].seq
        was = [record.decision(private) for record, private in entries]
        if turn_id in done:  # all decisions of a turn are written down together: these were added later
            again = f"turn {turn_id} was decided in record {done[turn_id]} already"
            differences.append(Difference(first, "turn_id", turn_id, again, "differs"))
            skipped |= {record.seq: "its turn was decided before" for record, _ in entries}
            continue
        done[turn_id] = first
        gone = False
        try:
            turn = turn_of(turn_id)
            gone = turn is None
            now = None if turn is None else decide(turn, was[0].ruleset)
            why = "the text is erased, or there never was one"
        except LookupError as missing:
            now, why = None, str(missing.args[0] if missing.args else missing)
        except Exception as broken:  # what is stored is not what was decided about
            told = f"cannot be decided: {type(broken).__name__}: {broken}"
            differences.append(Difference(first, "turn", turn_id, told, "differs"))
            now, why = None, "the turn cannot be decided"
        if now is None:
            shaky |= any("written" in record.hashes and "written" not in private for record, private in entries)
            if absorb is None:
                shaky |= gone
            else:
                absorb([item for record, private in entries for item in written(record, private)])
            for (record, _), decision in zip(entries, was, strict=True):
                skipped[record.seq] = why
                ids[0].introduce(decision)
                ids[1].introduce(decision)
            continue
        compared += len(entries)
        hidden = restricted and first > restricted
        standing: Standing = "rests on erased" if shaky or hidden else "differs"
        if any(decision.runtime != runtime for decision in was):
            standing = "other runtime"
        if len(now) != len(was):
            differences.append(Difference(entries[0][0].seq, "decisions", len(was), len(now), standing))
        for (record, private), before, after in zip(entries, was, now, strict=False):
            erased = frozenset(record.hashes) - frozenset(private)
            differences += _compare(record.seq, ids[0].content(before), ids[1].content(after), erased, standing)
    return Replayed("extraction", compared, tuple(differences), skipped)


def _compare(
    seq: int, before: dict[str, Any], after: dict[str, Any], erased: frozenset[str], standing: Standing
) -> Iterable[Difference]:
    for name in sorted({*before, *after} - erased):
        if before.get(name) != after.get(name):
            yield Difference(seq, name, before.get(name), after.get(name), standing)


class _Ids:
    """Item ids as the ordinal of the decision that first named them."""

    def __init__(self) -> None:
        self._ordinals: dict[str, str] = {}

    def introduce(self, decision: Decision) -> None:
        """Give the item of a decision its ordinal, if it has none yet."""
        if decision.item is not None:
            self._ordinals.setdefault(decision.item, f"#{len(self._ordinals)}")

    def content(self, decision: Decision) -> dict[str, Any]:
        """What was decided, without conditions, with ordinals for ids."""
        self.introduce(decision)
        fields = dump(decision)
        for name in CONDITIONS:
            fields.pop(name, None)
        for name in REFERENCES:
            value = fields.get(name)
            if isinstance(value, str):
                fields[name] = self._ordinals.get(value, value)
            elif value is not None:  # sorted: a store may list ids in the order of the ids themselves
                fields[name] = sorted(self._ordinals.get(each, each) for each in value)
        for name in PERSONAL:
            if fields.get(name) in ("", []):
                del fields[name]
        return fields
