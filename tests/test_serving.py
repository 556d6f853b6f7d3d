"""A running memory follows the releases of its log: canary by bucket, shadow beside, rollback, and no broken set."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path
from typing import Any

import pytest

from recordari import cachefolder
from recordari.erasure.erasing import House
from recordari.memory import Memory
from recordari.releases import proving, releasing, serving
from recordari.releases.checking import deviation
from recordari.releases.releasing import Deed
from recordari.rules.load import build, digest_of, following
from recordari.rules.parsed import SETS
from recordari.rules.promotion import Gate, Gates
from recordari.rules.release import InForce, bucket
from recordari.rules.ruleset import Ruleset
from recordari.service import forgery
from recordari.service.forgery import superuser

AT = "2026-03-18T10:00:00+08:00"
OPEN = Gates()
CLEAN = {"lint": 0, "lock": 0, "tests": 0}
DEED = Deed("ines", "a new word")


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


def forgetting_proofs(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which no set has been proved yet; it remembers how texts are parsed, which would take 15 seconds."""
    place.mkdir()
    known = cachefolder.folder()
    if known is not None and (known / SETS).is_dir():
        (place / SETS).symlink_to(known / SETS)
    monkeypatch.setenv("RECORDARI_CACHE", str(place))


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
            sources = json.dumps(
                {**wager.sources, "capture.wager": wager.sources["capture.wager"].replace("budget", "nowhere")}
            )
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


# ---------------------------------------------------------------- what others and bad luck can do
def test_items_of_a_stopped_rule_wait_for_review_and_those_of_others_do_not(
    memory: Memory, house: House, wager: Ruleset
) -> None:
    releasing.publish(house, DEED, wager, CLEAN)
    releasing.promote(house, DEED, "stable", OPEN)
    bet(memory, "client-1", "t-1")
    item = memory.items(principal="client-1")[0]
    done = releasing.override(house, DEED, "capture.wager")
    assert done.told["review"] == [item.id]
    assert done.after.stable == memory.ruleset.digest  # without the rule it is the first set again
    assert [(found.id, "rolled_back_rule" in decision.flags) for found, decision in memory.review()] == [
        (item.id, True)
    ]
    assert [(each["item"], each["flag"]) for each in releasing.status(house)["review"]] == [
        (item.id, "rolled_back_rule")
    ]
    memory.reject(item.id, actor="ines", seen_version=item.version)
    assert memory.review() == ()


def test_a_decision_table_is_not_stopped(house: House) -> None:
    with pytest.raises(releasing.ReleaseError, match="a decision table"):
        releasing.override(house, DEED, "policy.core")


def test_a_second_rollback_lists_what_was_written_since_the_first(memory: Memory, house: House, wager: Ruleset) -> None:
    listed = []
    for turn in ("t-1", "t-2"):
        releasing.publish(house, DEED, wager, CLEAN)
        releasing.promote(house, DEED, "stable", OPEN)
        bet(memory, f"client-{turn}", turn)
        listed.append(releasing.rollback(house, DEED, memory.ruleset.digest).told["review"])
    assert [len(each) for each in listed] == [1, 1]
    assert listed[0] != listed[1]


def test_who_looked_at_another_candidate_does_not_promote_this_one(house: House, wager: Ruleset) -> None:
    releasing.publish(house, DEED, wager, CLEAN)
    with pytest.raises(releasing.ReleaseError, match="Look at it first"):
        releasing.promote(house, Deed("otto", "looked"), "stable", OPEN, candidate="f" * 12)
    with pytest.raises(releasing.ReleaseError, match="Look at it first"):
        releasing.promote(house, Deed("otto", "looked"), "stable", OPEN, candidate=wager.digest[:2])
    assert releasing.promote(house, Deed("otto", "looked"), "stable", OPEN, candidate=wager.digest[:12]).after.stable


def test_a_promotion_between_scan_and_lock_decides_the_turn(
    memory: Memory, house: House, wager: Ruleset, monkeypatch: pytest.MonkeyPatch
) -> None:
    releasing.publish(house, DEED, wager, CLEAN)
    hear, promoted = memory.hear, []

    def slow(turns: Any) -> Any:
        heard = hear(turns)
        if not promoted:
            promoted.append(releasing.promote(house, DEED, "stable", OPEN))
        return heard

    monkeypatch.setattr(memory, "hear", slow)
    decision = bet(memory, "client-1", "t-1").decisions[0]
    assert (decision.slot, decision.ruleset) == ("budget", wager.digest)


def test_a_turn_without_an_entity_is_in_no_canary(memory: Memory, house: House, wager: Ruleset) -> None:
    releasing.publish(house, DEED, wager, CLEAN)
    releasing.promote(house, DEED, "canary", OPEN, share=10_000)
    decision = memory.observe("The wager is $500.", said_at=AT, turn_id="t-1").decisions[0]
    assert (decision.ruleset, decision.bucket, decision.threshold) == (memory.ruleset.digest, None, None)
    assert bet(memory, "client-1", "t-2").decisions[0].ruleset == wager.digest
    assert memory.verify().ok


def test_a_shadow_that_cannot_be_used_keeps_nothing_from_being_remembered_and_counts_as_differing(
    tmp_path: Path, ruleset: Ruleset, wager: Ruleset, caplog: pytest.LogCaptureFixture
) -> None:
    with Memory.open(tmp_path / "m.db", ruleset=ruleset, ner=False) as memory:
        memory.observe("我们的预算是8万元。", said_at=AT, entity="client-0")
        where = House(memory.store, memory.namespace, memory.settings, memory.signer)
        releasing.publish(where, DEED, wager, CLEAN)
        releasing.promote(where, DEED, "shadow", OPEN)
        with superuser(tmp_path / "m.db") as database:
            database.execute("UPDATE rulesets SET sources = '{}' WHERE digest = ?", (wager.digest,))
        assert bet(memory, "client-1", "t-1").decisions[0].ruleset == ruleset.digest
        assert [(each["what"], each["fault"]) for each in phantoms(memory)] == [("failed", "Unusable")]
        assert "cannot be used" in caplog.text
        with pytest.raises(releasing.GateShut, match="came out otherwise"):
            releasing.promote(where, DEED, "stable", Gates(stable=Gate(disagreement=100)))


def test_a_set_whose_compilation_ends_its_process_leaves_the_writer_alive(
    memory: Memory, house: House, wager: Ruleset, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
    tmp_path: Path,
) -> None:  # fmt: skip
    releasing.publish(house, DEED, wager, CLEAN)
    releasing.promote(house, DEED, "stable", OPEN)
    forgetting_proofs(tmp_path / "new", monkeypatch)
    monkeypatch.setattr(proving, "CHILD", (sys.executable, "-c", "import os; os.abort()"))
    assert bet(memory, "client-1", "t-1").decisions[0].ruleset == memory.ruleset.digest
    assert "ended a process by signal 6" in caplog.text
    (finding,) = memory.verify().findings
    assert (finding.code, "was in force for it" in finding.message) == ("release", True)


def test_where_no_process_can_be_started_a_set_is_proved_in_this_one_and_that_is_told(
    memory: Memory, house: House, wager: Ruleset, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
    tmp_path: Path,
) -> None:  # fmt: skip
    releasing.publish(house, DEED, wager, CLEAN)
    releasing.promote(house, DEED, "stable", OPEN)
    forgetting_proofs(tmp_path / "new", monkeypatch)
    monkeypatch.setattr(proving, "CHILD", (str(tmp_path / "nothing"),))
    assert bet(memory, "client-1", "t-1").decisions[0].ruleset == wager.digest
    assert "is proved inside this process" in caplog.text


def test_a_set_new_to_this_machine_is_proved_by_a_process_of_its_own(
    wager: Ruleset, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    forgetting_proofs(tmp_path / "new", monkeypatch)
    proving.prove(wager.digest, wager.sources)
    monkeypatch.setattr(proving, "CHILD", ("nothing",))
    proving.prove(wager.digest, wager.sources)  # remembered
    with pytest.raises(proving.NoChild):
        proving.prove("f" * 64, wager.sources)


def test_a_set_made_from_another_is_the_same_as_one_built_alone(ruleset: Ruleset, wager: Ruleset) -> None:
    assert ruleset.extraction
    made, alone = following(ruleset, wager.sources, wager.digest), build(wager.sources, wager.digest)
    assert (made.digest, made.files, made.contents) == (alone.digest, alone.files, alone.contents)
    assert made.extraction is ruleset.extraction
    assert following(wager, ruleset.sources, ruleset.digest).files == build(ruleset.sources, ruleset.digest).files
    with pytest.raises(ValueError, match="another digest"):
        following(
            ruleset,
            {**wager.sources, "capture.wager": wager.sources["capture.wager"].replace("70", "71")},
            wager.digest,
        )
    word = "kind: vocabulary"
    name = next(each for each in sorted(ruleset.extraction.read) if word in ruleset.sources.get(each, ""))
    version = ruleset.files[name].version
    sources = {**ruleset.sources, name: ruleset.sources[name].replace(f"version: {version}", "version: 999", 1)}
    assert following(ruleset, sources, digest_of(sources)).extraction is not ruleset.extraction


def test_rules_given_to_a_process_that_do_not_decide_are_told_once_a_change(
    tmp_path: Path, ruleset: Ruleset, wager: Ruleset, caplog: pytest.LogCaptureFixture
) -> None:
    with Memory.open(tmp_path / "m.db", ruleset=ruleset, ner=False) as memory:
        bet(memory, "client-1", "t-1")
        where = House(memory.store, memory.namespace, memory.settings, memory.signer)
        releasing.publish(where, DEED, wager, CLEAN)
        releasing.promote(where, DEED, "stable", OPEN)
        releasing.rollback(where, DEED, ruleset.digest)
        with caplog.at_level(logging.WARNING):
            bet(memory, "client-2", "t-2")
    assert "decides here" not in caplog.text  # nobody named other rules
    with Memory.open(tmp_path / "m.db", ruleset=wager, ner=False) as memory, caplog.at_level(logging.WARNING):
        for turn in ("t-3", "t-4"):
            assert bet(memory, "client-3", turn).decisions[0].ruleset == ruleset.digest
    told = [each.message for each in caplog.records if "decides here" in each.message]
    assert len(told) == 1
    assert "wager.yaml" in told[0]
    assert "rules publish" in told[0]


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("ruleset", "f" * 64, "was in force for it"),
        ("bucket", 17, "has the bucket 17"),
        ("bucket", None, "has the bucket None"),
        ("threshold", 9_999, "the canary was at 1000"),
    ],
)
def test_a_forged_set_bucket_or_threshold_is_found(
    tmp_path: Path, ruleset: Ruleset, wager: Ruleset, field: str, value: Any, told: str
) -> None:
    with Memory.open(tmp_path / "m.db", ruleset=ruleset, ner=False) as memory:
        memory.observe("我们的预算是8万元。", said_at=AT, entity="client-0")
        where = House(memory.store, memory.namespace, memory.settings, memory.signer)
        releasing.publish(where, DEED, wager, CLEAN)
        releasing.promote(where, DEED, "canary", OPEN, share=1_000)
        bet(memory, "client-1", "t-1")
        assert memory.verify().ok
    with superuser(tmp_path / "m.db") as database:
        forged = json.loads(forgery.records(database, "default")[-1])
        forged["content"][field] = value
        if value is None:
            del forged["content"][field]
        forgery.put(database, "default", forged["seq"], forgery.dump(forged))
        forgery.refit(database, "default")
    with Memory.open(tmp_path / "m.db", ruleset=ruleset, ner=False, read_only=True) as memory:
        found = [each for each in memory.verify().findings if each.code == "release"]
    assert told in found[0].message
    assert found[0].seq == forged["seq"]


def test_what_is_not_known_of_an_erased_turn_is_taken_as_written() -> None:
    state = InForce("a" * 64, "b" * 64, "canary", 1_000, "b" * 64)

    def said(**content: Any) -> list[str]:
        return list(deviation(state, "default", None, content))

    assert said(ruleset="b" * 64, bucket=999, threshold=1_000) == []
    assert said(ruleset="a" * 64, bucket=1_000, threshold=1_000) == []
    assert len(said(ruleset="b" * 64, bucket=1_000, threshold=1_000)) == 1
    assert len(said(ruleset="b" * 64, bucket=999, threshold=2_000)) == 1
    assert list(deviation(InForce("a" * 64), "default", None, {"ruleset": "a" * 64})) == []
    assert len(list(deviation(InForce("a" * 64), "default", None, {"ruleset": "a" * 64, "bucket": 1}))) == 1
    assert list(deviation(InForce(), "default", None, {"ruleset": "c" * 64})) == []
