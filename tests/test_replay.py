"""Replay: same decisions again, differences told apart by their cause; and the runtime digest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recordari.audit.ledger import Ledger, MemoryLog
from recordari.audit.record import Private, Record, decision_entry, derived_salts, written
from recordari.audit.replay import Erasures, Ids, Replayed, replay_extraction, replay_policy
from recordari.audit.runtime import CODE, LIBRARIES, ROOT, digest_of, runtime_digest, runtime_facts
from recordari.model import Decision, MemoryItem, Turn, Verdict
from recordari.values import MoneyValue, TimeValue

NOON = datetime(2026, 3, 18, 12, 0, tzinfo=UTC)
NAMESPACE = "matter-17"
LEDGER = Ledger(derived_salts(b"a secret of this test"))
HERE, ELSEWHERE = "runtime-a", "runtime-b"
Logged = list[tuple[Record, Mapping[str, Private]]]


class Desk:
    """A small real decider: every turn "slot=amount" is remembered, a repeated slot is superseded."""

    def __init__(self, secret: str, runtime: str = HERE) -> None:
        self.secret = secret
        self.runtime = runtime
        self.live: dict[str, MemoryItem] = {}

    def absorb(self, turn: Turn, outcomes: Sequence[tuple[Decision, Sequence[MemoryItem]]], ids: Ids) -> None:
        for _, items in outcomes:
            for item in items:
                self.live[item.slot] = item.model_copy(update={"id": ids.replayed(item.id)})

    def act(self, record: Record, private: Mapping[str, Private], ids: Ids) -> None:
        """Nothing here is restricted, and what is erased has been replaced."""

    def decide(self, turn: Turn, ruleset: str, keep: Callable[[Sequence[Decision]], bool]) -> None:
        before = dict(self.live)
        if not keep(self.about(turn, ruleset)):
            self.live = before

    def about(self, turn: Turn, ruleset: str) -> list[Decision]:
        if ruleset != "rules-1":
            raise LookupError(f"rule set {ruleset} is not stored")
        slot, _, amount = turn.text.partition("=")
        old = self.live.get(slot)
        fresh = MemoryItem(
            id=f"{self.secret}-{turn.ordinal}",
            entity="client-17",
            slot=slot,
            value=MoneyValue(amount=amount, currency="EUR"),
            asserted_by="user",
            said_at=NOON,
            recorded_at=NOON,
            turn_id=turn.turn_id,
        )
        features = {"slot": slot, "act": "state", "relation": "none" if old is None else "differs"}
        verdict = judge(features)
        self.live[slot] = fresh
        return [
            Decision(
                turn_id=turn.turn_id,
                turn=turn.ordinal,
                ordinal=0,
                action=verdict.action,
                reason=verdict.reason,
                rule=verdict.rule,
                slot=slot,
                entity="client-17",
                kind="money",
                canonical=fresh.canonical,
                item=fresh.id,
                target=old.id if old else None,
                rested_on=(old.id,) if old else (),
                features=features,
                ruleset=ruleset,
                runtime=self.runtime,
                engine="desk",
            )
        ]


def judge(features: Mapping[str, str]) -> Verdict:
    if features["relation"] == "none":
        return Verdict(action="ADD", reason="stated", rule="policy.core@1")
    return Verdict(action="SUPERSEDE", reason="update_stated", rule="policy.core@1")


TURNS = [
    Turn(turn_id=f"t-{number}", text=text, said_at=NOON, received_at=NOON, ordinal=number)
    for number, text in enumerate(["budget=5", "rate=1", "budget=8", "budget=9"])
]
BY_ID = {turn.turn_id: turn for turn in TURNS}
WORDLESS = {**BY_ID, "t-0": TURNS[0].model_copy(update={"text": ""})}


def record_all(desk: Desk, log: MemoryLog | None = None) -> MemoryLog:
    log = log or MemoryLog()
    for turn in TURNS:
        for decision in desk.about(turn, "rules-1"):
            entry = decision_entry(decision, [desk.live[str(decision.slot)]])
            LEDGER.append(log, NAMESPACE, [entry], recorded_at=NOON)
    return log


def logged(log: MemoryLog) -> Logged:
    return list(LEDGER.records(log, NAMESPACE))


def again(log: MemoryLog, desk: Desk, turns: Mapping[str, Turn | None] = BY_ID) -> Replayed:
    return replay_extraction(logged(log), turns.get, desk, runtime=HERE, erasures=Erasures.of(logged(log)))


def change(log: MemoryLog, seq: int, **fields: object) -> Logged:
    result = logged(log)
    record, private = result[seq]
    content = {**record.content, **fields}
    result[seq] = (
        Record(record.seq, record.namespace, record.kind, record.recorded_at, content, record.hashes),
        private,
    )
    return result


def test_replay_under_another_secret_is_identical() -> None:
    replayed = again(record_all(Desk("secret-1")), Desk("secret-2"))
    assert replayed.ok
    assert replayed.differences == ()
    assert replayed.compared == replayed.identical == 4
    assert replayed.lines() == ["extraction: 4 decisions replayed, 4 identical"]


def test_a_changed_decision_is_named_with_its_field() -> None:
    changed = change(record_all(Desk("s")), 2, action="IGNORE")
    replayed = replay_extraction(changed, BY_ID.get, Desk("s"), runtime=HERE)
    assert not replayed.ok
    assert [(each.seq, each.name, each.standing) for each in replayed.differences] == [(2, "action", "differs")]
    assert "was 'IGNORE', is 'SUPERSEDE'" in replayed.lines()[1]


def test_a_difference_under_another_runtime_is_not_called_tampering() -> None:
    log = record_all(Desk("s", runtime=ELSEWHERE))
    assert again(log, Desk("s")).differences == ()
    replayed = replay_extraction(change(log, 2, reason="more_precise"), BY_ID.get, Desk("s"), runtime=HERE)
    assert replayed.ok
    assert [each.standing for each in replayed.differences] == ["other runtime"]


def test_an_erased_turn_is_skipped_and_what_it_wrote_still_counts() -> None:
    log = record_all(Desk("s"))
    replayed = again(log, Desk("other"), WORDLESS)
    assert replayed.differences == ()
    assert replayed.skipped == {0: "the text is erased, or there never was one"}
    assert replayed.compared == 3


def test_what_follows_from_erased_items_is_marked_as_resting_on_them() -> None:
    log = record_all(Desk("s"))
    LEDGER.erase(log, NAMESPACE, {0: ["written"]}, ground="g", actor="dpo", recorded_at=NOON)
    replayed = again(log, Desk("s"), WORDLESS)
    assert replayed.ok
    assert {each.standing for each in replayed.differences} == {"rests on erased"}
    assert {each.seq for each in replayed.differences} == {2}


def test_a_turn_that_is_not_there_at_all_leaves_nothing_certain() -> None:
    turns = {name: turn for name, turn in BY_ID.items() if name != "t-0"}
    replayed = again(record_all(Desk("s")), Desk("s"), turns)
    assert replayed.ok
    assert {each.standing for each in replayed.differences} == {"rests on erased"}


def test_after_a_difference_replay_goes_on_from_what_the_log_says() -> None:
    other = {**BY_ID, "t-0": TURNS[0].model_copy(update={"text": "salary=5"})}
    replayed = again(record_all(Desk("s")), Desk("t"), other)
    assert {each.seq for each in replayed.differences} == {0}
    assert not replayed.ok


def test_erased_values_are_left_out_of_the_comparison() -> None:
    log = record_all(Desk("s"))
    LEDGER.erase(log, NAMESPACE, {2: ["canonical", "entity"]}, ground="g", actor="dpo", recorded_at=NOON)
    replayed = again(log, Desk("s"))
    assert replayed.differences == ()
    assert replayed.compared == 4


def test_a_missing_rule_set_is_a_reason_not_to_replay_no_crash() -> None:
    replayed = replay_extraction(
        change(record_all(Desk("s")), 3, ruleset="rules-9"), BY_ID.get, Desk("s"), runtime=HERE
    )
    assert replayed.ok
    assert replayed.skipped == {3: "rule set rules-9 is not stored"}


def test_another_number_of_decisions_is_a_difference() -> None:
    class Twice(Desk):
        def about(self, turn: Turn, ruleset: str) -> list[Decision]:
            return super().about(turn, ruleset) * 2

    replayed = replay_extraction(logged(record_all(Desk("s"))), BY_ID.get, Twice("s"), runtime=HERE)
    assert {(each.name, each.recorded, each.replayed) for each in replayed.differences} == {("decisions", 1, 2)}
    assert not replayed.ok


def test_policy_is_judged_again_from_features_alone() -> None:
    replayed = replay_policy(logged(record_all(Desk("s"))), {"rules-1": judge}.get, runtime=HERE)
    assert replayed.ok
    assert replayed.compared == replayed.identical == 4


def test_a_verdict_that_does_not_follow_from_its_features_is_found() -> None:
    changed = change(record_all(Desk("s")), 1, action="IGNORE", reason="question")
    replayed = replay_policy(changed, {"rules-1": judge}.get, runtime=HERE)
    assert [(each.seq, each.name) for each in replayed.differences] == [(1, "action"), (1, "reason")]
    assert not replayed.ok
    assert replayed.identical == 3


def test_a_verdict_of_another_runtime_is_reported_as_such() -> None:
    changed = change(record_all(Desk("s", runtime=ELSEWHERE)), 1, action="IGNORE")
    replayed = replay_policy(changed, {"rules-1": judge}.get, runtime=HERE)
    assert replayed.ok
    assert [each.standing for each in replayed.differences] == ["other runtime"]


def test_decisions_that_never_met_policy_are_left_out() -> None:
    changed = change(record_all(Desk("s")), 1, features={})
    assert replay_policy(changed, {"rules-1": judge}.get, runtime=HERE).skipped == {1: "policy was not asked"}


def test_a_rule_set_that_is_not_stored_is_named() -> None:
    replayed = replay_policy(logged(record_all(Desk("s"))), lambda digest: None, runtime=HERE)
    assert replayed.compared == 0
    assert set(replayed.skipped.values()) == {"rule set rules-1 is not stored"}
    assert replayed.lines()[1] == "4 not replayed: rule set rules-1 is not stored"


def test_records_of_other_kinds_are_no_decisions_to_replay() -> None:
    log = record_all(Desk("s"))
    LEDGER.erase(log, NAMESPACE, {0: ["entity"]}, ground="g", actor="dpo", recorded_at=NOON)
    assert replay_policy(logged(log), {"rules-1": judge}.get, runtime=HERE).compared == 4
    assert again(log, Desk("s")).compared == 4


def test_item_versions_come_back_from_the_log_with_their_typed_values() -> None:
    item = Desk("s").about(TURNS[0], "rules-1")
    due = MemoryItem(
        id="i-9", entity="e", slot="deadline", value=TimeValue(type="date", edtf="2026-06-30"), asserted_by="user",
        said_at=NOON, recorded_at=NOON, turn_id="t-0",
    )  # fmt: skip
    log = MemoryLog()
    LEDGER.append(log, NAMESPACE, [decision_entry(item[0], [due]), decision_entry(item[0])], recorded_at=NOON)
    first, second = logged(log)
    assert written(*first) == [due]
    assert written(*second) == []


def test_the_runtime_digest_names_what_it_is_made_of() -> None:
    facts = runtime_facts()
    assert {f"library {name}" for name in LIBRARIES} <= set(facts)
    assert {"code", "python", "unicode", "tables", "time zones"} <= set(facts)
    assert len(runtime_digest()) == 64
    assert runtime_digest() == runtime_digest(())


def test_another_model_is_another_runtime_even_when_it_is_absent() -> None:
    assert runtime_facts(("no-such-model",))["library no-such-model"] == "absent"
    assert runtime_digest(("no-such-model",)) != runtime_digest()


@pytest.mark.parametrize("name", CODE)
def test_every_place_that_the_digest_names_is_one_of_this_package(name: str) -> None:
    assert not name.startswith("/")
    assert (ROOT / name).parent.is_dir()


def test_line_ends_do_not_change_the_code_digest_but_a_letter_does(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    digests = []
    for content in (b"a = 1\nb = 2\n", b"a = 1\r\nb = 2\r\n", b"a = 1\nb = 3\n"):
        file.write_bytes(content)
        digests.append(digest_of(tmp_path, [file]))
    assert digests[0] == digests[1] != digests[2]
