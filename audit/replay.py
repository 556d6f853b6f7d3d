"""Replay: decide again what the log says was decided, and tell a difference of runtime from one of content."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from ..model import Decision, MemoryItem, Turn, Verdict, dump
from .record import PERSONAL, Private, Record, read_item, written

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
    digest: str = ""  # SHA-256 over the contents of the decisions as replayed: the same on every machine

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


@dataclass(slots=True)
class Erasures:
    """What erasures took of other records, and which item versions they vouch for since."""

    until: dict[int, int] = field(default_factory=dict)  # record → the last erasure that took something of it
    keeps: dict[str, MemoryItem] = field(default_factory=dict)  # "item/version" → the version

    @classmethod
    def of(cls, logged: Iterable[Logged]) -> Erasures:
        """All of a log; ``logged`` may hold other records as well."""
        found = cls()
        for record, private in logged:
            if record.kind != "erase":
                continue
            for seq, _ in record.content["fields"]:
                found.until[seq] = max(record.seq, found.until.get(seq, 0))
            kept = record.with_private(private).get("keeps", ()) if "keeps" in private else ()
            found.keeps |= {f"{each['id']}/{each['version']}": read_item(each) for each in kept}
        return found

    def outcome(self, record: Record, private: Mapping[str, Private]) -> tuple[list[MemoryItem], bool]:
        """The versions that a decision wrote as far as the log still says, and whether it still says everything that
        a later decision could rest on."""
        gone = set(record.hashes) - set(private)
        if "written" not in gone:
            return written(record, private), gone <= _UNUSED
        keys = record.content["written"]
        found = [self.keeps[key] for key in keys if key in self.keeps]
        return found, len(found) == len(keys) and gone <= {"written", *_UNUSED}


_UNUSED = frozenset({"hints", "question", "said"})  # what no later decision rests on


class Ids:
    """Which item of the log is which of the replay: both depend on a secret, and the two have one each."""

    def __init__(self) -> None:
        self._recorded: dict[str, str] = {}  # replayed → recorded
        self._replayed: dict[str, str] = {}
        self._ordinals: dict[str, str] = {}

    def pair(self, before: Sequence[Decision], after: Sequence[Decision]) -> list[tuple[str, str]]:
        """Take the items that decisions at the same place name for the first time for the same; the pairs made."""
        made = []
        for recorded, replayed in ((b.item, a.item) for b, a in zip(before, after, strict=False)):
            if recorded is None or replayed is None or recorded in self._ordinals:
                continue
            self._ordinals[recorded] = f"#{len(self._ordinals)}"
            if replayed not in self._recorded:
                self._recorded[replayed], self._replayed[recorded] = recorded, replayed
                made.append((recorded, replayed))
        return made

    def part(self, made: Iterable[tuple[str, str]]) -> None:
        """Take pairs back: the replay goes on with the items of the log under their own ids."""
        for recorded, replayed in made:
            del self._recorded[replayed], self._replayed[recorded]

    def introduce(self, decisions: Iterable[Decision]) -> None:
        """Number the items of decisions that are not replayed."""
        for each in decisions:
            if each.item is not None:
                self._ordinals.setdefault(each.item, f"#{len(self._ordinals)}")

    def replayed(self, item: str) -> str:
        """What the replay calls an item of the log."""
        return self._replayed.get(item, item)

    def content(self, decision: Decision, *, replayed: bool) -> dict[str, Any]:
        """What was decided, without conditions, with ordinals for ids."""
        fields = dump(decision)
        for name in CONDITIONS:
            fields.pop(name, None)

        def named(item: str) -> str:
            recorded = self._recorded.get(item, item) if replayed else item
            return self._ordinals.get(recorded, recorded)

        for name in REFERENCES:
            value = fields.get(name)
            if isinstance(value, str):
                fields[name] = named(value)
            elif value is not None:  # sorted: a store may list ids in the order of the ids themselves
                fields[name] = sorted(map(named, value))
        for name in PERSONAL:
            if fields.get(name) in ("", []):
                del fields[name]
        return fields


class Following(Protocol):
    """A throw-away memory that decides the turns of a log again, and takes from the log what it cannot decide."""

    def decide(self, turn: Turn, ruleset: str, keep: Callable[[Sequence[Decision]], bool]) -> None:
        """Decide a turn as one who remembers those before, and remember it when ``keep`` is true of the decisions.
        LookupError when the rule set is not at hand."""

    def absorb(self, turn: Turn, outcomes: Sequence[tuple[Decision, Sequence[MemoryItem]]], ids: Ids) -> None:
        """Remember a turn with decisions and item versions as the log has them."""

    def act(self, record: Record, private: Mapping[str, Private], ids: Ids) -> None:
        """What a record that decides about no turn changes: an erasure, a restriction, another wording."""


def replay_extraction(
    logged: Iterable[Logged],
    turn_of: Callable[[str], Turn | None],
    following: Following,
    *,
    runtime: str,
    erasures: Erasures | None = None,
) -> Replayed:
    """Decide the stored turns again, one after another, and compare the content of the decisions.

    ``turn_of`` gives the turn of an id, without text when that was erased, None when there is none. What the log says
    of a turn that cannot be decided again, or that came out otherwise, is taken over: so every turn is decided on what
    was known when it was decided first, and one difference does not make a hundred. ``erasures`` are those of the
    whole log: what they took was known until then, and a difference that may rest on it proves nothing.
    """
    return _Extraction(turn_of, following, runtime, erasures or Erasures()).run(logged)


@dataclass(frozen=True, slots=True)
class _Lost:
    """Something that is not known here any more, and was until a record; None: to whom or where is not known."""

    principal: str | None
    conversation: str | None
    until: int

    def touches(self, turn: Turn, seq: int) -> bool:
        """Whether a turn decided in record ``seq`` may have rested on it."""
        if seq > self.until:
            return False
        return self.conversation in (None, turn.conversation) or (
            bool(self.principal) and self.principal == turn.entity
        )


class _Extraction:
    """One run over one log."""

    def __init__(
        self, turn_of: Callable[[str], Turn | None], following: Following, runtime: str, erasures: Erasures
    ) -> None:
        self.turn_of, self.following, self.runtime, self.erasures = turn_of, following, runtime, erasures
        self.differences: list[Difference] = []
        self.skipped: dict[int, str] = {}
        self.compared = 0
        self.ids = Ids()
        self.done: dict[str, int] = {}  # turn → where it was decided
        self.lost: list[_Lost] = []
        self.contents = hashlib.sha256()

    def run(self, logged: Iterable[Logged]) -> Replayed:
        """Turn by turn, with what happens between turns where it happens."""
        for entries in _steps(logged):
            record, private = entries[0]
            if record.decides:
                self._turn(entries)
                continue
            try:
                self.following.act(record, private, self.ids)
            except Exception as broken:  # not written by this code
                told = f"cannot be followed: {type(broken).__name__}: {broken}"
                self.differences.append(Difference(record.seq, record.kind, "an act", told, "differs"))
            if record.kind == "restrict" and set(record.hashes) - {"actor"} - set(private):
                self.lost.append(_Lost(None, None, self.erasures.until.get(record.seq, record.seq)))
            self.lost = [each for each in self.lost if each.until > record.seq]
        digest = self.contents.hexdigest()
        return Replayed("extraction", self.compared, tuple(self.differences), self.skipped, digest)

    def _turn(self, entries: Sequence[Logged]) -> None:
        """All decisions about one turn."""
        first = entries[0][0].seq
        was = [record.decision(private) for record, private in entries]
        turn_id = was[0].turn_id
        if turn_id in self.done:  # all decisions of a turn are written down together: these were added later
            again = f"turn {turn_id} was decided in record {self.done[turn_id]} already"
            self.differences.append(Difference(first, "turn_id", turn_id, again, "differs"))
            self._skip(entries, "its turn was decided before")
            return
        self.done[turn_id] = first
        try:
            turn = self.turn_of(turn_id)
            if turn is not None and turn.text:
                self._again(turn, entries, was)
                return
            why = "the text is erased, or there never was one"
        except LookupError as missing:
            turn, why = self.turn_of(turn_id), str(missing.args[0] if missing.args else missing)
        except Exception as broken:  # what is stored is not what was decided about
            told = f"cannot be decided: {type(broken).__name__}: {broken}"
            self.differences.append(Difference(first, "turn", turn_id, told, "differs"))
            turn, why = None, "the turn cannot be decided"
        self._skip(entries, why)
        self._absorb(turn, entries, was)

    def _again(self, turn: Turn, entries: Sequence[Logged], was: Sequence[Decision]) -> None:
        """Decide a turn again; what is not exactly as recorded is taken from the log."""
        first = entries[0][0].seq
        shaky = any(each.touches(turn, first) for each in self.lost)
        standing: Standing = "rests on erased" if shaky else "differs"
        if any(decision.runtime != self.runtime for decision in was):
            standing = "other runtime"
        found: list[Difference] = []
        made: list[tuple[str, str]] = []

        def keep(now: Sequence[Decision]) -> bool:
            made.extend(self.ids.pair(was, now))
            if len(now) != len(was):
                found.append(Difference(first, "decisions", len(was), len(now), standing))
            for (record, private), before, after in zip(entries, was, now, strict=False):
                erased = frozenset(record.hashes) - frozenset(private)
                contents = self.ids.content(before, replayed=False), self.ids.content(after, replayed=True)
                found.extend(_compare(record.seq, *contents, erased, standing))
                left = {name: value for name, value in contents[1].items() if name not in erased}
                self.contents.update(json.dumps(left, sort_keys=True).encode() + b"\n")
            return not found and not shaky

        self.following.decide(turn, was[0].ruleset, keep)
        self.compared += len(entries)
        self.differences += found
        if found or shaky:
            self.ids.part(made)
            self._absorb(turn, entries, was)

    def _skip(self, entries: Sequence[Logged], why: str) -> None:
        self.skipped |= {record.seq: why for record, _ in entries}

    def _absorb(self, turn: Turn | None, entries: Sequence[Logged], was: Sequence[Decision]) -> None:
        """Go on from what the log says of a turn, and keep in mind what it does not say any more."""
        self.ids.introduce(was)
        outcomes: list[tuple[Decision, Sequence[MemoryItem]]] = []
        until = -1
        for (record, private), decision in zip(entries, was, strict=True):
            versions, whole = self.erasures.outcome(record, private)
            outcomes.append((decision, versions))
            if not whole:
                until = max(until, self.erasures.until.get(record.seq, record.seq))
        if turn is None:  # nobody knows whose it was
            self.lost.append(_Lost(None, None, _FOR_EVER))
            return
        if until >= 0:
            self.lost.append(_Lost(turn.entity, turn.conversation, until))
        try:
            self.following.absorb(turn, outcomes, self.ids)
        except Exception as broken:  # what memory holds is not what the log says
            told = f"cannot be taken over: {type(broken).__name__}: {broken}"
            self.differences.append(Difference(entries[0][0].seq, "turn", turn.turn_id, told, "differs"))
            self.lost.append(_Lost(turn.entity, turn.conversation, _FOR_EVER))


_FOR_EVER = 2**63


def _steps(logged: Iterable[Logged]) -> Iterator[list[Logged]]:
    """The decisions of one turn together, and every other record by itself."""
    together: list[Logged] = []
    for each in logged:
        record = each[0]
        if together and not (record.decides and record.content["turn_id"] == together[0][0].content["turn_id"]):
            yield together
            together = []
        if record.decides:
            together.append(each)
        else:
            yield [each]
    if together:
        yield together


def _compare(
    seq: int, before: dict[str, Any], after: dict[str, Any], erased: frozenset[str], standing: Standing
) -> Iterable[Difference]:
    for name in sorted({*before, *after} - erased):
        if before.get(name) != after.get(name):
            yield Difference(seq, name, before.get(name), after.get(name), standing)
