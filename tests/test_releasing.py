"""Releases: each step is a record of the log by a known actor, gates stay shut, and stored items must fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from recordari.erasure.erasing import House
from recordari.memory import Memory
from recordari.releases import releasing
from recordari.releases.releasing import Deed, GateShut, ReleaseError, Unfit
from recordari.rules.load import load
from recordari.rules.promotion import Gate, GateFileError, Gates, read_gates
from recordari.rules.release import InForce
from recordari.rules.ruleset import Ruleset
from recordari.settings import Settings
from recordari.trust.actors import ActorError, add_actor, key_file

pytestmark = pytest.mark.usefixtures("sharing")  # see conftest.py

AT = "2026-03-18T10:00:00+08:00"
OPEN = Gates()
CLEAN = {"lint": 0, "lock": 0, "tests": 0}
SLOT = """id: slot.budget
version: 99
kind: slot
status: active
title: {en: Budget, zh: 预算}
owner: test
rationale: Budgets without labels.
slot: budget
type: fact
value: [money]
cardinality: one
qualifier: none
family: money
say: {zh: "{entity}的预算为{value}。", en: "{entity}: the budget is {value}."}
asked_as: {zh: [预算是多少], en: [what is the budget]}
"""


def house(memory: Memory) -> House:
    return House(memory.store, memory.namespace, memory.settings, memory.signer)


def by(actor: str = "ines", why: str = "a new word") -> Deed:
    return Deed(actor, why)


def canary(memory: Memory, ruleset: Ruleset, share: int = 1_000) -> House:
    where = house(memory)
    releasing.publish(where, by(), ruleset, CLEAN)
    releasing.promote(where, by(), "canary", OPEN, share=share)
    return where


def test_every_step_is_a_record_and_the_last_one_says_what_is_in_force(memory: Memory, wager: Ruleset) -> None:
    memory.observe("我们的预算是8万元。", said_at=AT, entity="client-17")
    where, old = house(memory), memory.ruleset.digest
    releasing.publish(where, by(), wager, CLEAN)
    releasing.promote(where, by(), "shadow", OPEN)
    releasing.promote(where, by(), "canary", OPEN, share=1_000)
    releasing.promote(where, by("otto"), "stable", OPEN)
    releasing.rollback(where, by(why="too many bets"), old[:10])
    with memory.store.reading(memory.namespace) as tx:
        steps = releasing.steps_of(tx.log)
        assert tx.ruleset(wager.digest) == wager.sources
    assert [step.kind for step in steps] == [
        "rule_publish", "rule_promote", "rule_promote", "rule_promote", "rule_rollback",
    ]  # fmt: skip
    assert [step.after.stable for step in steps] == [old, old, old, wager.digest, old]
    told = releasing.status(where)
    assert [each["who"] for each in told["history"]][-2:] == ["otto", "ines"]
    assert told["history"][-1]["why"] == "too many bets"
    assert memory.verify().ok


def test_a_gate_stays_shut_until_everything_is_shown(memory: Memory, wager: Ruleset) -> None:
    memory.observe("我们的预算是8万元。", said_at=AT)
    where = house(memory)
    releasing.publish(where, by(), wager, {"lint": 0, "lock": 2, "tests": None})
    with pytest.raises(GateShut, match=r"2 rules that the lock.*tests was not checked"):
        releasing.promote(where, by(), "shadow", read_gates())
    releasing.promote(where, by(), "shadow", OPEN)
    strict = Gates(canary=Gate(decisions=1, second_actor=True))
    with pytest.raises(GateShut, match=r"0 decisions were compared.*second person"):
        releasing.promote(where, by(), "canary", strict, share=100)
    with pytest.raises(GateShut) as shut:
        releasing.promote(where, by("otto"), "canary", strict, share=100)
    assert "second" not in str(shut.value)


def test_steps_that_make_no_sense_are_refused_and_leave_no_record(memory: Memory, wager: Ruleset) -> None:
    where = house(memory)
    with pytest.raises(ReleaseError, match="no candidate"):
        releasing.promote(where, by(), "shadow", OPEN)
    with pytest.raises(ReleaseError, match="a reason"):
        releasing.publish(where, Deed("ines", " "), wager, CLEAN)
    releasing.publish(where, by(), wager, CLEAN)
    with pytest.raises(ReleaseError, match="nothing to compare"):
        releasing.promote(where, by(), "shadow", OPEN)
    with pytest.raises(ReleaseError, match="names no set"):
        releasing.rollback(where, by(), wager.digest)
    releasing.promote(where, by(), "stable", OPEN)
    with pytest.raises(ReleaseError, match="stable set already"):
        releasing.publish(where, by(), wager, CLEAN)
    with pytest.raises(ReleaseError, match="for all already"):
        releasing.rollback(where, by(), wager.digest)
    with memory.store.reading(memory.namespace) as tx:
        assert len(releasing.steps_of(tx.log)) == 2


def test_nobody_is_taken_out_of_a_canary_by_a_smaller_share(memory: Memory, wager: Ruleset) -> None:
    memory.observe("我们的预算是8万元。", said_at=AT)
    where = canary(memory, wager)
    for share in (500, 1_000, 0, 10_001, None):
        with pytest.raises(ReleaseError):
            releasing.promote(where, by(), "canary", OPEN, share=share)
    assert releasing.promote(where, by(), "canary", OPEN, share=5_000).after.threshold == 5_000
    with pytest.raises(ReleaseError, match="in canary"):
        releasing.publish(where, by(), memory.ruleset, CLEAN)


def test_a_rule_is_stopped_in_both_sets_and_nobody_changes_buckets(memory: Memory, wager: Ruleset) -> None:
    memory.observe("我们的预算是8万元。", said_at=AT)
    where = canary(memory, wager)
    done = releasing.override(where, by(why="it takes bets for budgets"), "capture.budget")
    with memory.store.reading(memory.namespace) as tx:
        for digest in done.after.digests():
            assert "capture.budget" not in (tx.ruleset(digest) or {"capture.budget": ""})
    assert done.after.salt == wager.digest
    assert done.after.threshold == 1_000
    with pytest.raises(ReleaseError, match="no rule"):
        releasing.override(where, by(), "capture.budget")
    with pytest.raises(ReleaseError, match="others need it"):
        releasing.override(where, by(), "labels.concepts")
    with pytest.raises(ReleaseError, match="is a slot"):
        releasing.override(where, by(), "slot.budget")


def test_a_release_whose_slots_do_not_fit_what_is_stored_is_not_published(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "slot.yaml").write_text(SLOT)
    narrower = load([tmp_path])
    memory.observe("The legal budget is $60,000.", said_at=AT, entity="client-17")
    item = memory.items()[0]
    with pytest.raises(Unfit) as unfit:
        releasing.publish(house(memory), by(), narrower, CLEAN)
    assert [each.item.id for each in unfit.value.misfits] == [item.id]
    assert f"recordari reject {item.id} --seen {item.version}" in unfit.value.misfits[0].proposal()
    memory.reject(item.id, actor="ines", seen_version=item.version)
    releasing.publish(house(memory), by(), narrower, CLEAN)


def test_with_a_list_of_actors_steps_are_signed_and_strangers_refused(
    tmp_path: Path, ruleset: Ruleset, wager: Ruleset
) -> None:
    path = tmp_path / "actors.yaml"
    for name in ("ines", "otto"):
        add_actor(path, name, "compliance", key_file(path, name))
    with Memory.open(tmp_path / "m.db", ruleset=ruleset, ner=False, settings=Settings()) as memory:
        memory.observe("我们的预算是8万元。", said_at=AT)
        where = house(memory)
        with pytest.raises(ActorError):
            releasing.publish(where, by("stranger"), wager, CLEAN)
        releasing.publish(where, by(), wager, CLEAN)
        two = Gates(shadow=Gate(second_actor=True))
        with pytest.raises(GateShut, match="second person"):
            releasing.promote(where, by(), "shadow", two)
        releasing.promote(where, by("otto"), "shadow", two)
        report = memory.verify()
        assert report.ok, report.lines()
        with memory.store.reading(memory.namespace) as tx:
            records = [row.record for row in tx.log.records_of(tx.log.acts("rule_publish", "rule_promote"))]
        assert all('"signed":{"key":' in record for record in records)


def test_a_file_of_gates_with_an_unknown_key_is_refused_by_its_name(tmp_path: Path) -> None:
    file = tmp_path / "gates.yaml"
    file.write_text("canary: {decisons: 5}\n")
    with pytest.raises(GateFileError, match=r"gates.yaml:1:1: canary.decisons"):
        read_gates(file)
    file.write_text("canary: {decisions: 5}\n")
    assert read_gates(file).canary.decisions == 5
    assert read_gates().canary.second_actor


def test_nothing_is_in_force_in_an_empty_memory(memory: Memory) -> None:
    with memory.store.reading(memory.namespace) as tx:
        assert releasing.in_force(tx.log, memory.namespace) == InForce()
