"""The whole pipeline over every back end: same turns, same decisions, a log that verifies and replays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recordari.intake import Incoming, IntakeError, read_turn
from recordari.memory import Memory, NotFoundError
from recordari.model import Receipt
from recordari.rules.ruleset import Ruleset
from recordari.store.errors import TurnConflict

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def example(name: str) -> list[Incoming]:
    lines = (EXAMPLES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [read_turn(json.loads(line), 100_000) for line in lines]


def told(receipts: list[Receipt]) -> list[tuple[int, str, str, str | None, str | None]]:
    return [(d.turn, d.action, d.reason, d.slot, d.canonical) for receipt in receipts for d in receipt.decisions]


def test_every_back_end_decides_alike_and_its_log_verifies_and_replays(memory: Memory, ruleset: Ruleset) -> None:
    turns = example("finance-en")
    receipts = [receipt for _, receipt in memory.observe_group(list(enumerate(turns)))]
    assert all(receipt.decisions for receipt in receipts)
    with Memory.rehearsal(ruleset=ruleset, ner=False) as rehearsal:
        assert told(receipts) == told([rehearsal.take(turn) for turn in turns])
    report = memory.verify()
    assert report.ok, report.lines()
    policy, extraction = memory.replay()
    assert policy.ok, policy.lines()
    assert extraction.ok, extraction.lines()
    assert policy.compared > 20
    assert extraction.identical == extraction.compared > 40


def test_one_by_one_and_in_groups_remember_the_same(ruleset: Ruleset) -> None:
    turns = example("service-mixed")
    with Memory.rehearsal(ruleset=ruleset, ner=False) as one, Memory.rehearsal(ruleset=ruleset, ner=False) as many:
        single = [one.take(turn) for turn in turns]
        grouped = [receipt for _, receipt in many.observe_group(list(enumerate(turns)))]
        assert told(single) == told(grouped)
        assert [i.model_dump() for i in one.items(history=True)] == [i.model_dump() for i in many.items(history=True)]


def test_a_known_turn_gives_its_old_receipt_and_other_content_under_its_id_is_refused(memory: Memory) -> None:
    said = {"said_at": "2026-03-18T10:00:00+08:00", "entity": "client-17", "turn_id": "t-1"}
    first = memory.observe("预算8万元", **said)
    again = memory.observe("预算8万元", **said)
    assert again.repeated
    assert not first.repeated
    assert again.decisions == first.decisions
    with pytest.raises(TurnConflict, match="other content"):
        memory.observe("预算9万元", **said)
    assert len(memory.items(entity="client-17")) == 1
    assert len(memory.turn_ids()) == 1


def test_a_turn_that_cannot_be_taken_changes_nothing(memory: Memory) -> None:
    with pytest.raises(IntakeError, match="UTC offset"):
        memory.observe("预算8万元", said_at="2026-03-18T10:00:00")
    assert memory.turn_ids() == ()
    assert memory.items(history=True) == ()


def test_a_conflicting_turn_of_a_group_is_told_and_the_others_stand(memory: Memory) -> None:
    at = "2026-03-18T10:00:00+08:00"
    texts = (("a", "预算8万元"), ("a", "预算9万元"), ("b", "我的电话是13800002345"))
    group = [(n, read_turn({"text": text, "at": at, "turn_id": id_}, 100)) for n, (id_, text) in enumerate(texts)]
    wrong: list[tuple[int, str]] = []
    receipts = memory.observe_group(group, lambda number, message: wrong.append((number, message)))
    assert [number for number, _ in receipts] == [0, 2]
    assert [number for number, _ in wrong] == [1]
    assert {item.slot for item in memory.items()} == {"budget", "phone"}


def test_time_travel_tells_what_was_true_and_what_was_known(memory: Memory) -> None:
    memory.observe("租金每月5000元。", said_at="2026-03-01T10:00:00+08:00", entity="c")
    memory.observe("租金改成每月5600元。", said_at="2026-04-01T10:00:00+08:00", entity="c")

    def rents(**when: str) -> list[str]:
        return [item.canonical for item in memory.items(entity="c", **when) if item.status == "current"]  # type: ignore[arg-type]

    assert rents() == ["5600 CNY"]
    assert rents(known_at="2026-03-15T00:00:00+08:00") == ["5000 CNY"]
    assert rents(as_of="2026-03-15T00:00:00+08:00") == ["5000 CNY"]
    assert rents(known_at="2026-02-01T00:00:00+08:00") == []
    with pytest.raises(IntakeError, match="known_at"):
        memory.items(known_at="last week")


def test_explanations_lead_from_the_characters_to_the_rule(memory: Memory) -> None:
    receipt = memory.observe("预算8万元", said_at="2026-03-18T10:00:00+08:00", entity="c")
    (item,) = receipt.items
    (explanation,) = memory.explain(item.id)
    text = "\n".join(explanation.lines())
    for part in ("8万元", "capture.budget", "policy.core", "ADD", "80000 CNY"):
        assert part in text
    chinese = "\n".join(memory.explain(item.id, language="zh")[0].lines())
    assert "原话" in chinese
    refused = memory.observe("如果预算是9万元呢？", said_at="2026-03-18T10:01:00+08:00", entity="c")
    reasons = "\n".join(memory.why_not(refused.turn_id).lines())
    assert "hypothetical" in reasons or "question" in reasons
    with pytest.raises(NotFoundError, match="no item"):
        memory.explain("nothing")
    with pytest.raises(NotFoundError, match="no turn"):
        memory.why_not("nothing")


def test_namespaces_share_a_store_and_nothing_else(place: str, ruleset: Ruleset) -> None:
    if place == "sqlite://":
        pytest.skip("a memory database has one store")
    at = "2026-03-18T10:00:00+08:00"
    with Memory.open(place, ruleset=ruleset, namespace="a", ner=False) as one:
        one.observe("预算8万元", said_at=at)
    with Memory.open(place, ruleset=ruleset, namespace="b", ner=False) as other:
        assert other.items() == ()
        other.observe("预算9万元", said_at=at)
        assert [item.canonical for item in other.items()] == ["90000 CNY"]
        assert [hit.item.canonical for hit in other.recall("预算8万")] == ["90000 CNY"]
        assert other.verify().ok
