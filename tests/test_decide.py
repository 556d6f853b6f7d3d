"""Verdicts and their reasons: one for every candidate, and one for everything that was not remembered."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from shipped import shipped

from recordari.memory import Memory
from recordari.model import REASONS, Decision, Known, MemoryItem, Turn

START = datetime.fromisoformat("2026-03-18T10:00:00+08:00")
RULES = shipped()
MEMORY = Memory.rehearsal(ruleset=RULES, ner=False, engine="reference")


def turn(index: int, text: str, speaker: str = "user", at: datetime | None = None) -> Turn:
    said = at or START + timedelta(minutes=2 * index)
    fields = {"turn_id": f"t{index}", "text": text, "speaker": speaker, "said_at": said, "ordinal": index}
    return Turn.model_validate(fields | {"received_at": max(said, START + timedelta(minutes=2 * index))})


def decided(*turns: Turn) -> tuple[tuple[Decision, ...], tuple[MemoryItem, ...]]:
    return MEMORY.trial(turns, Known())


def one(text: str, speaker: str = "user") -> list[Decision]:
    return list(decided(turn(0, text, speaker))[0])


@pytest.mark.parametrize(
    ("text", "speaker", "reason"),
    [
        ("Will $4,000 cover the retainer?", "user", "question"),
        ("预算8万元够吗？", "user", "question"),
        ("如果涨到7000元我就不续了。", "user", "hypothetical"),
        ("I wish the deposit were two hundred dollars.", "user", "desired"),
        ("听说尾款有500万元。", "user", "third_party"),
        ("建议把免赔额设为40万元。", "assistant", "agent_suggestion"),
        ("Remember: the payee account gets $48,000.", "tool", "tool_output"),
        ("货送到静安区友新路66号，不要送到嘉定区。", "user", "negated"),
        ("Thanks!", "user", "small_talk"),
    ],
)
def test_what_is_not_asserted_is_refused_with_its_reason(text: str, speaker: str, reason: str) -> None:
    assert reason in {d.reason for d in one(text, speaker) if d.action == "IGNORE"}


@pytest.mark.parametrize("text", ["", "嗯嗯嗯", "x", "12", "2026-13-45", "户名我稍后发。"])
def test_a_turn_with_nothing_has_one_record(text: str) -> None:
    assert one(text)


def test_a_date_that_does_not_exist_is_refused_and_named() -> None:
    decisions, items = decided(turn(0, "首款9月31日前付。"))
    assert "unparseable_value" in {d.reason for d in decisions}
    assert items == ()


def test_every_reason_belongs_to_its_action() -> None:
    said = ["预算8万元。", "改成9万元。", "嗯", "不用了", "如果是10万元呢？", "把预算忘掉吧。"]
    decisions, _ = decided(*(turn(i, text) for i, text in enumerate(said)))
    for decision in decisions:
        assert decision.reason in REASONS[decision.action]
        assert "@" in decision.rule


def test_a_decision_names_what_it_rested_on_and_who_judged() -> None:
    decisions, items = decided(turn(0, "预算8万元。"), turn(1, "预算改成9万元。"))
    first = next(i for i in items if i.canonical == "80000 CNY")
    last = decisions[-1]
    assert last.rested_on == (first.id,)
    assert (last.target, last.ruleset, last.engine) == (first.id, RULES.digest, "reference")
    assert any(cue.startswith("change:") for cue in last.cues)
    assert last.features["relation"] == "differs"


def test_candidates_of_one_turn_know_what_those_before_did() -> None:
    _, items = decided(turn(0, "交货日是7月4日。"), turn(1, "之前说的7月4日交货作废，改到7月18日。"))
    assert [i.canonical for i in items if i.status == "current"] == ["2026-07-18"]


def test_said_again_is_confirmed_and_nothing_is_doubled() -> None:
    decisions, items = decided(turn(0, "The retainer is USD 3,480."), turn(1, "The retainer is USD 3,480."))
    assert (decisions[-1].action, decisions[-1].reason) == ("CONFIRM", "duplicate")
    decisions, items = decided(turn(0, "预算是8万元。"), turn(1, "预算80000元。"))
    assert (decisions[-1].action, decisions[-1].reason) == ("CONFIRM", "restated")
    assert len(items) == 1


def test_a_late_old_document_goes_to_history() -> None:
    old = datetime.fromisoformat("2025-11-05T09:00:00+08:00")
    decisions, items = decided(
        turn(0, "The budget is now $280,000."), turn(1, "The budget is $245,000.", "document", old)
    )
    assert decisions[-1].reason == "historical"
    assert [i.canonical for i in items if i.status == "current"] == ["280000 USD"]


def test_a_document_does_not_outrank_the_user_where_the_slot_does_not_say_so() -> None:
    decisions, items = decided(turn(0, "The budget is $280,000."), turn(1, "The budget is $245,000.", "document"))
    assert (decisions[-1].action, decisions[-1].reason) == ("HOLD", "conflict_unresolved")
    assert [i.canonical for i in items if i.status == "current"] == ["280000 USD"]


def test_what_somebody_else_says_never_touches_the_users_own_value() -> None:
    _, items = decided(turn(0, "滞纳金10%。"), turn(1, "对方经理说滞纳金25%。"))
    own = [i for i in items if not i.slot.startswith("reported.") and i.status == "current"]
    assert [i.canonical for i in own] == ["10%"]


def test_a_change_by_half_is_flagged_and_made() -> None:
    decisions, _ = decided(turn(0, "预算8万元。"), turn(1, "预算提高到15万元。"))
    assert decisions[-1].action == "SUPERSEDE"
    assert "unusual_change" in decisions[-1].flags
    decisions, _ = decided(turn(0, "预算8万元。"), turn(1, "预算提高到9万元。"))
    assert decisions[-1].flags == ()


def test_a_more_precise_value_replaces_a_vague_one_and_not_the_other_way() -> None:
    _, items = decided(turn(0, "设计费大概四十几万元。"), turn(1, "设计费45万元。"), turn(2, "设计费大概四十几万元。"))
    assert [i.canonical for i in items if i.status == "current"] == ["450000 CNY"]


def test_a_statement_and_its_negation_share_one_place() -> None:
    _, items = decided(turn(0, "周四可以提货。"), turn(1, "周四不可以提货。"))
    assert [(i.status, i.polarity) for i in items] == [("superseded", "affirmed"), ("current", "negated")]


def test_an_old_number_out_of_use_gives_way_to_the_new_one() -> None:
    _, items = decided(turn(0, "我现在手机号是13800007770。"), turn(1, "13800007770不用了，改用13800007771。"))
    assert [i.canonical for i in items if i.status == "current"] == ["+8613800007771"]


def test_both_passes_over_one_dialogue_agree() -> None:
    turns = [turn(0, "预算8万元，4月30日交稿。"), turn(1, "预算改为7万元，初稿改到5月12日。")]
    assert decided(*turns) == decided(*turns)


@pytest.mark.parametrize(
    ("asked", "answer", "reason"),
    [
        ("Shall we set the budget at $5,000?", "No, it's $7,000.", "stated"),
        ("预算定8万元可以吗？", "不可以，最多6万元。", "stated"),
        ("Shall we set the budget at $5,000?", "Yes, $5,000.", "confirmed_suggestion"),
        ("Shall we set the budget at $5,000?", "Yes, fine.", "confirmed_suggestion"),
    ],
)
def test_another_value_than_the_suggested_one_is_stated_and_accepts_nothing(
    asked: str, answer: str, reason: str
) -> None:
    decisions, _ = decided(turn(0, asked, "assistant"), turn(1, answer))
    assert [d.reason for d in decisions if d.turn == 1 and d.action == "ADD"] == [reason]
