"""A running memory follows the releases of its log: canary by bucket, shadow beside, rollback, and no broken set."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from recordari.erasure.erasing import House
from recordari.memory import Memory
from recordari.releases import releasing, serving
from recordari.releases.releasing import Deed
from recordari.rules.load import load
from recordari.rules.promotion import Gates
from recordari.rules.release import bucket
from recordari.rules.ruleset import Ruleset
from recordari.service.forgery import superuser

AT = "2026-03-18T10:00:00+08:00"
OPEN = Gates()
CLEAN = {"lint": 0, "lock": 0, "tests": 0}
DEED = Deed("ines", "a new word")
WAGER = """id: capture.wager
version: 1
kind: capture
status: active
title: {en: Wager, zh: 赌注}
owner: test
rationale: A word that no shipped rule knows.
slot: budget
language: any
priority: 70
trigger: {words: [wager], place: around}
when:
  - value: {kind: [money, number]}
"""


@pytest.fixture(scope="session")
def wager(tmp_path_factory: pytest.TempPathFactory) -> Ruleset:
    folder = tmp_path_factory.mktemp("wager")
    (folder / "wager.yaml").write_text(WAGER)
    return load([folder])


@pytest.fixture
def house(memory: Memory) -> House:
    """A house in which the shipped rules have decided once."""
    memory.observe("我们的预算是8万元。", said_at=AT, entity="client-0")
    return House(memory.store, memory.namespace, memory.settings, memory.signer)


def inside(salt: str, share: int, wanted: bool) -> str:
    """A client who is in a canary, or is not."""
    names = (f"client-{number}" for number in range(1, 10_000))
    return next(name for name in names if (bucket(salt, "default", name) < share) == wanted)


def budgets(memory: Memory, entity: str) -> list[str]:
    return [item.canonical for item in memory.items(principal=entity, slot="budget")]


def phantoms(memory: Memory) -> list[dict[str, Any]]:
    with memory.store.reading(memory.namespace) as tx:
        return [json.loads(row.record)["content"] for row in tx.log.records_of(tx.log.acts("phantom"))]


def bet(memory: Memory, entity: str, turn: str) -> Any:
    return memory.observe("The wager is $500.", said_at=AT, entity=entity, conversation=entity, turn_id=turn)


def test_a_canary_decides_for_its_buckets_only_and_says_so(memory: Memory, house: House, wager: Ruleset) -> None:
    releasing.publish(house, DEED, wager, CLEAN)
    releasing.promote(house, DEED, "canary", OPEN, share=1_000)
    one, other = inside(wager.digest, 1_000, True), inside(wager.digest, 1_000, False)
    taken, refused = bet(memory, one, "t-1").decisions[0], bet(memory, other, "t-2").decisions[0]
    assert (taken.action, taken.slot, taken.ruleset) == ("ADD", "budget", wager.digest)
    assert (taken.bucket, taken.threshold) == (bucket(wager.digest, "default", one), 1_000)
    assert refused.ruleset == memory.ruleset.digest
    assert (refused.bucket, refused.threshold) == (bucket(wager.digest, "default", other), 1_000)
    assert budgets(memory, one) == ["500 USD"]
    assert budgets(memory, other) == []
    with memory.store.reading(memory.namespace) as tx:
        steps = releasing.steps_of(tx.log)
        for entity, turn in ((one, "t-1"), (other, "t-2")):
            for decision, seq in zip(tx.decisions(turn), tx.decision_seqs(turn), strict=True):
                assert releasing.explains(steps, "default", seq, entity, decision.ruleset)
                assert not releasing.explains(steps, "default", seq, entity, "f" * 64)
    assert memory.verify().ok
    assert [each.ok for each in memory.replay()] == [True, True]


def test_a_group_of_turns_is_decided_by_what_is_in_force_at_its_lock(
    memory: Memory, house: House, wager: Ruleset
) -> None:
    from recordari.intake import read_turn

    given = [
        (number, read_turn({"at": AT, "text": "The wager is $500.", "entity": f"client-{number}"}, 9_000))
        for number in range(3)
    ]
    releasing.publish(house, DEED, wager, CLEAN)
    releasing.promote(house, DEED, "stable", OPEN)
    receipts = memory.observe_group(given)
    assert {decision.ruleset for _, receipt in receipts for decision in receipt.decisions} == {wager.digest}


def test_a_rollback_is_followed_and_what_was_written_waits_for_review(
    memory: Memory, house: House, wager: Ruleset
) -> None:
    releasing.publish(house, DEED, wager, CLEAN)
    releasing.promote(house, DEED, "stable", OPEN)
    assert bet(memory, "client-1", "t-1").decisions[0].ruleset == wager.digest
    item = memory.items(principal="client-1")[0]
    done = releasing.rollback(house, DEED, memory.ruleset.digest)
    assert done.told["review"] == [item.id]
    assert memory.items(principal="client-1") == (item,)
    assert bet(memory, "client-2", "t-2").decisions[0].ruleset == memory.ruleset.digest
    assert [(found.id, decision.item) for found, decision in memory.review()] == [(item.id, item.id)]
    memory.confirm(item.id, actor="ines", seen_version=item.version)
    assert memory.review() == ()
    assert releasing.status(house)["review"] == []


def test_a_shadow_is_compared_and_changes_nothing(memory: Memory, house: House, wager: Ruleset) -> None:
    releasing.publish(house, DEED, wager, CLEAN)
    releasing.promote(house, DEED, "shadow", OPEN)
    decision = bet(memory, "client-1", "t-1").decisions[0]
    memory.observe("The weather is fine.", said_at=AT, entity="client-1", turn_id="t-2")
    assert (decision.slot, decision.ruleset) == ("amount", memory.ruleset.digest)
    assert budgets(memory, "client-1") == []
    (found,) = phantoms(memory)
    assert (found["turn_id"], found["what"]) == ("t-1", "changed")
    assert (found["before"]["slot"], found["after"]["slot"]) == ("amount", "budget")
    assert "500" not in json.dumps(found)
    told = releasing.status(house)["shadow"]
    assert (told["decisions"], told["disagreements"]) == (2, 1)
    assert told["by"] == [{"slot": "budget", "rule": "capture.wager", "what": "changed", "count": 1}]
    assert told["samples"][0]["text"] == "The wager is $500."
    assert memory.verify().ok


def test_a_shadow_is_not_asked_where_its_rules_cannot_reach(
    memory: Memory, house: House, wager: Ruleset, monkeypatch: pytest.MonkeyPatch
) -> None:
    releasing.publish(house, DEED, wager, CLEAN)
    releasing.promote(house, DEED, "shadow", OPEN)
    memory.observe("Our legal budget is $900.", said_at=AT, entity="client-1")
    shadow = memory.serving._shadow
    assert shadow is not None
    asked: list[str] = []
    decide = shadow.candidate.decide
    monkeypatch.setitem(
        shadow.candidate.__dict__, "decide", lambda turn, *rest: (asked.append(turn.text), decide(turn, *rest))[1]
    )
    memory.observe("Our legal budget is $800 now.", said_at=AT, entity="client-1")
    bet(memory, "client-1", "t-9")
    assert asked == ["The wager is $500."]


def test_a_candidate_that_breaks_is_a_difference_and_the_stable_decision_stands(
    memory: Memory, house: House, wager: Ruleset, monkeypatch: pytest.MonkeyPatch
) -> None:
    releasing.publish(house, DEED, wager, CLEAN)
    releasing.promote(house, DEED, "shadow", OPEN)
    memory.observe("Good morning.", said_at=AT, entity="client-1")
    shadow = memory.serving._shadow
    assert shadow is not None

    def breaks(*_: object) -> Any:
        raise ZeroDivisionError

    monkeypatch.setitem(shadow.candidate.__dict__, "decide", breaks)
    assert bet(memory, "client-1", "t-1").decisions[0].slot == "amount"
    assert [(each["what"], each["fault"]) for each in phantoms(memory)] == [("failed", "ZeroDivisionError")]


def test_a_set_that_cannot_be_used_leaves_the_old_one_in_force_and_is_told_again(
    tmp_path: Path, ruleset: Ruleset, wager: Ruleset, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory.open(tmp_path / "m.db", ruleset=ruleset, ner=False) as memory:
        memory.observe("我们的预算是8万元。", said_at=AT, entity="client-0")
        where = House(memory.store, memory.namespace, memory.settings, memory.signer)
        releasing.publish(where, DEED, wager, CLEAN)
        with superuser(tmp_path / "m.db") as database:
            sources = json.dumps({**wager.sources, "capture.wager": WAGER.replace("budget", "nowhere")})
            database.execute("UPDATE rulesets SET sources = ? WHERE digest = ?", (sources, wager.digest))
        releasing.promote(where, DEED, "stable", OPEN)
        monkeypatch.setattr(serving, "REPEAT", 0.0)
        with caplog.at_level(logging.ERROR):
            assert bet(memory, "client-1", "t-1").decisions[0].ruleset == ruleset.digest
            assert bet(memory, "client-2", "t-2").decisions[0].ruleset == ruleset.digest
        told = [each.message for each in caplog.records if "cannot be used" in each.message]
        assert len(told) >= 2
        assert wager.digest[:12] in told[0]
        assert ruleset.digest[:12] in told[0]
        with superuser(tmp_path / "m.db") as database:
            right = json.dumps(dict(wager.sources))
            database.execute("UPDATE rulesets SET sources = ? WHERE digest = ?", (right, wager.digest))
        assert bet(memory, "client-3", "t-3").decisions[0].ruleset == wager.digest


def test_a_published_set_is_compiled_ahead_and_its_fault_is_told_before_it_decides(
    tmp_path: Path, ruleset: Ruleset, wager: Ruleset, caplog: pytest.LogCaptureFixture
) -> None:
    with Memory.open(tmp_path / "m.db", ruleset=ruleset, ner=False) as memory:
        memory.observe("我们的预算是8万元。", said_at=AT, entity="client-0")
        where = House(memory.store, memory.namespace, memory.settings, memory.signer)
        releasing.publish(where, DEED, wager, CLEAN)
        with superuser(tmp_path / "m.db") as database:
            database.execute("UPDATE rulesets SET sources = '{}' WHERE digest = ?", (wager.digest,))
        bet(memory, "client-1", "t-1")
        for thread in memory.serving._coming.values():
            thread.join()
        assert [each.message for each in caplog.records if "published and cannot be used" in each.message]
        with superuser(tmp_path / "m.db") as database:
            right = json.dumps(dict(wager.sources))
            database.execute("UPDATE rulesets SET sources = ? WHERE digest = ?", (right, wager.digest))
        releasing.promote(where, DEED, "stable", OPEN)
        assert bet(memory, "client-2", "t-2").decisions[0].ruleset == wager.digest


def test_an_edit_is_decided_by_the_set_of_whom_the_item_came_from(memory: Memory, house: House, wager: Ruleset) -> None:
    releasing.publish(house, DEED, wager, CLEAN)
    releasing.promote(house, DEED, "canary", OPEN, share=1_000)
    one = inside(wager.digest, 1_000, True)
    bet(memory, one, "t-1")
    item = memory.items(principal=one)[0]
    assert memory.confirm(item.id, actor="ines", seen_version=item.version).decisions[0].ruleset == wager.digest
    first = memory.items(principal="client-0")[0]
    mine = memory.confirm(first.id, actor="ines", seen_version=first.version).decisions[0]
    expected = wager.digest if bucket(wager.digest, "default", "client-0") < 1_000 else memory.ruleset.digest
    assert mine.ruleset == expected


def test_a_rehearsal_follows_no_release(ruleset: Ruleset) -> None:
    one = Memory.rehearsal(ruleset=ruleset, ner=False)
    with one.store.writing(one.namespace) as tx:
        assert one.serving.refresh(tx) == 0
