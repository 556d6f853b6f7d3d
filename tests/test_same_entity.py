"""A name that is perhaps a known one: it waits, says what to ask and why, and a person lets it in."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import pytest
from shipped import shipped

from recordari.memory import Memory
from recordari.model import Decision
from recordari.rules.engine import engine_for
from recordari.rules.policy import PLAIN
from recordari.rules.reference import ReferenceEngine
from recordari.rules.ruleset import Ruleset

AT = "2026-03-18T10:00:00+08:00"
LATER = datetime.fromisoformat("2026-03-20T09:30:00+08:00")


@pytest.fixture(scope="module")
def ruleset() -> Ruleset:
    return shipped()


@pytest.fixture
def memory(ruleset: Ruleset) -> Iterator[Memory]:
    with Memory.open("sqlite://", ruleset=ruleset, ner=False) as opened:
        yield opened


def told(memory: Memory, *texts: str) -> Decision:
    """The first decision about the last of the texts."""
    for text in texts:
        receipt = memory.observe(text, said_at=AT, entity="client-9", conversation="c-9")
    return receipt.decisions[0]


HELD = [
    (("The buyer is Greystone.", "The buyer is Greystone LLC."), "Is Greystone LLC the same as the known Greystone?"),
    (("甲方是星野科技。", "甲方是星野云科技。"), "“星野云科技”和已知的“星野科技”是不是同一个？"),
    (("The guarantor is Anna Holt.", "The guarantor is A. Holt."), "an initial may stand for the name"),
    (("Greystone's fund size is $40 million.", "Greystone LLC's fund size is $50 million."), "the legal forms differ"),
    (("星野科技的电话是13800002345。", "星野云科技的电话是13800002346。"), "一个名称包含另一个"),
]  # fmt: skip


@pytest.mark.parametrize(("texts", "question"), HELD)
def test_what_is_perhaps_a_known_name_waits_with_its_question(
    texts: tuple[str, ...], question: str, memory: Memory
) -> None:
    decision = told(memory, *texts)
    assert (decision.action, decision.reason) == ("HOLD", "possible_same_entity")
    assert decision.features["identity"] == "perhaps"
    assert question in (decision.question or "")
    assert {item.status for item in memory.items(history=True)} == {"current", "held"}


PASSED = [
    (("The buyer is Greystone.", "The buyer is Harborline."), "SUPERSEDE", "update_stated"),
    (("The buyer is Greystone.", "The buyer is Greystone LLC, not Greystone."), "SUPERSEDE", "correction_explicit"),
    (("The buyer is Greystone.", "The buyer changed to Greystone LLC."), "SUPERSEDE", "update_stated"),
    (("The buyer is Brightwater Ltd.", "The buyer is BRIGHTWATER Limited."), "CONFIRM", "restated"),
    (("甲方是星野科技。", "甲方是海澄科技。"), "SUPERSEDE", "update_stated"),
    (("甲方是星野科技。", "甲方改成星野云科技。"), "SUPERSEDE", "update_stated"),
    (("担保人是劉曉東。", "担保人是刘晓东。"), "CONFIRM", "duplicate"),
    (("担保人是李明。", "担保人是Li Ming。"), "SUPERSEDE", "update_stated"),
]  # fmt: skip


@pytest.mark.parametrize(("texts", "action", "reason"), PASSED)
def test_other_names_and_explicit_changes_do_not_wait(
    texts: tuple[str, ...], action: str, reason: str, memory: Memory
) -> None:
    decision = told(memory, *texts)
    assert (decision.action, decision.reason) == (action, reason)
    assert decision.question is None


@pytest.mark.parametrize("text", ["Is the buyer Greystone LLC?", "If the buyer is Greystone LLC, call me."])
def test_a_question_or_a_thought_about_a_name_asks_nobody(text: str, memory: Memory) -> None:
    decision = told(memory, "The buyer is Greystone.", text)
    assert (decision.action, decision.question) == ("IGNORE", None)


@pytest.mark.parametrize("texts", [HELD[0][0], HELD[1][0], HELD[3][0], HELD[4][0]])
def test_a_person_lets_the_held_name_in_and_it_is_not_asked_again(texts: tuple[str, ...], memory: Memory) -> None:
    told(memory, *texts)
    (held,) = (item for item in memory.items(history=True) if item.status == "held")
    memory.approve(held.id, actor="Rosa Example", seen_version=held.version, at=LATER)
    assert held.canonical in {item.canonical for item in memory.items()}
    receipt = memory.observe(texts[-1], said_at="2026-03-21T10:00:00+08:00", entity="client-9", conversation="c-9")
    assert receipt.decisions[0].action == "CONFIRM"


def test_a_person_refuses_the_held_name_and_the_known_one_stands(memory: Memory) -> None:
    told(memory, *HELD[0][0])
    (held,) = (item for item in memory.items(history=True) if item.status == "held")
    memory.reject(held.id, actor="Rosa Example", seen_version=held.version, at=LATER)
    assert [item.canonical for item in memory.items()] == ["Greystone"]


def test_a_rename_reaches_values_of_one_turn_and_replays_alike(memory: Memory) -> None:
    told(memory, "The buyer is Greystone LLC.", "My brother Tom works at Greystone LLC.")
    told(memory, "Greystone LLC is now called Harborline LLC.")
    now = {(item.entity, item.slot): item.canonical for item in memory.items()}
    assert now["client-9", "party"] == "Harborline LLC"
    assert now["Tom", "employer"] == "Harborline LLC"
    assert now["Greystone LLC", "alias"] == "Harborline LLC"
    was = [item for item in memory.items(history=True) if item.status == "superseded"]
    assert {item.canonical for item in was} == {"Greystone LLC"}


def test_both_engines_give_each_identity_its_verdict(ruleset: Ruleset) -> None:
    mine, reference = engine_for(ruleset), ReferenceEngine(ruleset.table)
    for identity in ("none", "same", "perhaps"):
        for act in ("state", "confirm", "change", "correct"):
            for relation in ("none", "equal", "differs"):
                features = PLAIN | {"slot": "party", "identity": identity, "act": act, "relation": relation}
                verdict = mine.judge(features)
                assert verdict == reference.judge(features)
                held = identity == "perhaps" and act in {"state", "confirm"} and relation != "equal"
                assert (verdict.reason == "possible_same_entity") == held


GIVEN = [
    (("The broker is Nora Pell.", "Nora's phone is (212) 555-0143."), ("Nora Pell", "phone")),
    (("The broker is Nora Pell.", "The broker is Nora, phone (212) 555-0143."), ("Nora Pell", "phone")),
]


@pytest.mark.parametrize(("texts", "place"), GIVEN)
def test_a_given_name_means_the_only_person_of_that_name_in_the_conversation(
    texts: tuple[str, ...], place: tuple[str, str], memory: Memory
) -> None:
    told(memory, *texts)
    assert place in {(item.entity, item.slot) for item in memory.items()}
    assert not [item for item in memory.items(history=True) if item.status == "held"]


def test_a_given_name_said_again_keeps_the_full_name(memory: Memory) -> None:
    decision = told(memory, "The broker is Nora Pell.", "The broker is Nora.")
    assert (decision.action, decision.reason) == ("CONFIRM", "restated")
    assert [item.canonical for item in memory.items()] == ["Nora Pell"]


def test_a_given_name_of_two_people_waits(memory: Memory) -> None:
    decision = told(memory, "The broker is Nora Pell.", "The buyer is Nora Quill.", "Nora's phone is (212) 555-0143.")
    assert (decision.action, decision.reason) == ("HOLD", "possible_same_entity")


def test_a_given_name_from_another_conversation_waits(memory: Memory) -> None:
    told(memory, "The broker is Nora Pell.")
    later = memory.observe("Nora's phone is (212) 555-0143.", said_at=AT, entity="client-9", conversation="c-10")
    assert (later.decisions[0].action, later.decisions[0].reason) == ("HOLD", "possible_same_entity")


def test_the_first_word_of_a_company_is_no_given_name(memory: Memory) -> None:
    told(memory, "The buyer is Harbor View Ltd.", "Harbor's phone is (212) 555-0143.")
    assert ("Harbor View Ltd", "phone") not in {(item.entity, item.slot) for item in memory.items()}
