"""A throw-away memory that follows a log: it decides turns again, and takes over what cannot be decided again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from ..audit.ledger import Ledger
from ..audit.record import PERSONAL, Entry, Private, Record, decision_entry, derived_salts, read_record
from ..audit.replay import Ids
from ..model import Decision, MemoryItem, Outcome, Proposal, Turn
from ..rules.ruleset import Ruleset
from ..store.engine import Store
from ..store.erasing import Plan, Version, destroy
from ..store.reading import Reading
from ..store.writing import Writing

NAMESPACE = "default"
Remember = Callable[[Writing, Turn, Ruleset], Sequence[Decision]]
"""Decides a turn with a rule set and writes down what follows, in an open transaction."""


class _Otherwise(Exception):
    """What was decided is not to be remembered."""


@dataclass(slots=True)
class Follower:
    """The state that a log led to, step by step; ``source`` is what is replayed, ``store`` is thrown away."""

    source: Reading
    store: Store
    remember: Remember
    ruleset_of: Callable[[str], Ruleset | None]
    ledger: Ledger = field(default_factory=lambda: Ledger(derived_salts(b"replay")))
    restrictions: dict[int, int] = field(default_factory=dict)  # record of the log → record here

    def decide(self, turn: Turn, ruleset: str, keep: Callable[[Sequence[Decision]], bool]) -> None:
        """Decide a turn, and remember it when ``keep`` is true of the decisions."""
        found = self.ruleset_of(ruleset)
        if found is None:
            raise LookupError(f"rule set {ruleset[:12]} is not stored")
        try:
            with self.store.writing(NAMESPACE) as tx:
                if not keep(self.remember(tx, turn, found)):
                    raise _Otherwise
        except _Otherwise:
            pass

    def absorb(self, turn: Turn, outcomes: Sequence[tuple[Decision, Sequence[MemoryItem]]], ids: Ids) -> None:
        """Remember a turn as the log has it; what is kept of the suggestions it made and answered goes with it."""
        made = self.source.proposals_of(turn.turn_id)
        answered = [_proposal(each, ids) for each in self.source.answered_by(turn.turn_id)]
        with self.store.writing(NAMESPACE) as tx:
            tx.write_turn(turn)
            numbers: dict[str, int] = {}
            absorbed = [
                Outcome(
                    decision=_decision(decision, ids), written=tuple(_item(tx, each, ids, numbers) for each in some)
                )
                for decision, some in outcomes
            ]
            entries = [decision_entry(each.decision) for each in absorbed]
            rows = self.ledger.append(tx.log, NAMESPACE, entries, recorded_at=turn.received_at)
            tx.write_outcomes(turn, absorbed, seqs=[row.seq for row in rows])
            tx.write_proposals([_proposal(each, ids) for each in made], answered=answered, turn=turn)
            tx.forget()

    def act(self, record: Record, private: Mapping[str, Private], ids: Ids) -> None:
        """What was erased, restricted or worded otherwise is so from here on."""
        if record.kind == "erase":
            self._erase(record, ids)
        elif record.kind == "restrict":
            self._restrict(record, private, ids)
        elif record.kind == "rewrite" and record.content["outcome"] == "accepted":
            self._reword(record, private, ids)

    def _erase(self, record: Record, ids: Ids) -> None:
        content = record.content
        lost = {seq: frozenset(names) & frozenset(PERSONAL) for seq, names in content["fields"]}
        places: dict[tuple[str, int], frozenset[str]] = {}
        wishes: set[tuple[str, int]] = set()
        for row in self.source.log.records_of(lost):
            of = read_record(row.record)
            if not of.decides or not lost[row.seq]:
                continue
            place = (str(of.content["turn_id"]), int(of.content["ordinal"]))
            places[place] = lost[row.seq]
            if "canonical" in lost[row.seq]:
                wishes.add(place)
        with self.store.writing(NAMESPACE) as tx:
            here = {each: tx.decision_seqs(each) for each in {turn for turn, _ in places}}
            there = {name: tx.turn(name) is not None for name in (*content.get("turns", ()), *content.get("names", ()))}
            plan = Plan(
                versions=[
                    Version(row, ids.replayed(item), number) for row, item, number in content.get("versions", ())
                ],
                turns=[each for each in content.get("turns", ()) if there[each]],
                names=[each for each in content.get("names", ()) if there[each]],
                decisions={(turn, at): names for (turn, at), names in places.items() if at < len(here[turn])},
                suggestions=[(turn, number) for turn, number in content.get("suggestions", ())],
                wishes=[here[turn][at] for turn, at in wishes if at < len(here[turn])],
            )
            destroy(tx, plan, decided_by=record.seq, now=datetime.fromisoformat(record.recorded_at))

    def _restrict(self, record: Record, private: Mapping[str, Private], ids: Ids) -> None:
        content = record.with_private(private)
        if content["act"] == "lift":
            if content["lifts"] not in self.restrictions:
                return
            content["lifts"] = self.restrictions[content["lifts"]]
        elif content["on"] == "item":
            content["target"] = ids.replayed(content["target"])
        with self.store.writing(NAMESPACE) as tx:
            entry = Entry("restrict", content)
            rows = self.ledger.append(
                tx.log, NAMESPACE, [entry], recorded_at=datetime.fromisoformat(record.recorded_at)
            )
            self.restrictions[record.seq] = rows[0].seq
            tx.forget()

    def _reword(self, record: Record, private: Mapping[str, Private], ids: Ids) -> None:
        """The version is counted even when its words are gone."""
        with self.store.writing(NAMESPACE) as tx:
            item = tx.item(ids.replayed(str(record.content["item"])))
            turn = tx.turn(item.turn_id) if item is not None else None
            if item is None or turn is None:
                return
            answer = record.with_private(private).get("answer", item.sentence)
            tx.write_wording(turn, item.model_copy(update={"version": item.version + 1, "sentence": answer}))


def _decision(decision: Decision, ids: Ids) -> Decision:
    """A decision with the items as the replay calls them."""

    def named(item: str | None) -> str | None:
        return None if item is None else ids.replayed(item)

    return decision.model_copy(
        update={
            "item": named(decision.item), "target": named(decision.target),
            "rested_on": tuple(map(ids.replayed, decision.rested_on)),
            "derived_from": tuple(map(ids.replayed, decision.derived_from)),
        }
    )  # fmt: skip


def _item(tx: Reading, item: MemoryItem, ids: Ids, numbers: dict[str, int]) -> MemoryItem:
    """A version with its items as the replay calls them, and the number that comes next here."""
    name = ids.replayed(item.id)
    if name not in numbers:
        before = tx.item(name)
        numbers[name] = 0 if before is None else before.version
    numbers[name] += 1
    derived = tuple(map(ids.replayed, item.derived_from))
    return item.model_copy(update={"id": name, "version": numbers[name], "derived_from": derived})


def _proposal(proposal: Proposal, ids: Ids) -> Proposal:
    answers = None if proposal.answers is None else ids.replayed(proposal.answers)
    return proposal.model_copy(update={"answers": answers})
