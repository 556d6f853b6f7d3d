"""Explanations: why something is remembered, why something is not, and a reason text for every code."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from shipped import shipped

from recordari.audit.explain import Explanation, Logged, explain, why_not
from recordari.audit.reasons import page, reason, reasons
from recordari.model import REASONS, Decision, MemoryItem, Turn
from recordari.rulefile import RuleFile, Title
from recordari.values import MoneyValue

NOON = datetime(2026, 3, 18, 12, 0, tzinfo=UTC)
TEXT = "预算不是5万，是8万"
TURN = Turn(turn_id="t-2", text=TEXT, said_at=NOON, received_at=NOON, entity="client-17")
RULES = {
    "budget.zh.stated@3": RuleFile(
        id="budget.zh.stated",
        version=3,
        kind="capture",
        title=Title(en="A stated budget", zh="陈述的预算"),
        owner="desk",
    ),
    "policy.core@5": RuleFile(
        id="policy.core", version=5, kind="policy", title=Title(en="Core policy", zh="核心策略"), owner="desk"
    ),
}
KNOWN = MemoryItem(
    id="i-1",
    entity="client-17",
    slot="budget",
    qualifier="营销",
    value=MoneyValue(amount="50000", currency="XXX"),
    asserted_by="user",
    said_at=NOON,
    recorded_at=NOON,
    valid_from=NOON,
    turn_id="t-1",
    sentence="营销预算为5万元。",
)
CORRECTED = Decision(
    turn_id="t-2",
    turn=1,
    ordinal=0,
    action="SUPERSEDE",
    reason="correction_explicit",
    rule="policy.core@5",
    capture="budget.zh.stated@3",
    slot="budget",
    qualifier="营销",
    entity="client-17",
    kind="money",
    canonical="80000 XXX",
    item="i-2",
    target="i-1",
    rested_on=("i-1",),
    start=8,
    end=10,
    evidence=((0, 2), (8, 10)),
    cues=("correction:cue.zh.correction@1:2-4",),
    features={"slot": "budget", "act": "correct", "binding": "named", "relation": "differs", "modality": "asserted"},
    flags=("unusual_change",),
    ruleset="a" * 64,
    runtime="b" * 64,
    engine="durable",
)
REFUSED = Decision(
    turn_id="t-2", turn=1, ordinal=1, action="IGNORE", reason="negated", rule="policy.core@5", slot="budget",
    kind="money", canonical="50000 XXX", start=4, end=6,
)  # fmt: skip


def rule(ref: str) -> RuleFile | None:
    return RULES.get(ref)


def items(name: str) -> MemoryItem | None:
    return KNOWN if name == "i-1" else None


def details(explanation: Explanation, name: str) -> str:
    step = explanation.step(name)
    assert step is not None, explanation.lines()
    return "\n".join(step.details)


def test_a_correction_is_told_from_its_characters_to_its_digests() -> None:
    (told,) = explain([Logged(CORRECTED, TURN, 7)], rule=rule, item=items)
    assert told.subject == "SUPERSEDE budget [营销] 80000 XXX"
    assert "预算不是5万，是«8万»" in details(told, "said")
    assert details(told, "seen") == "characters 0-2: 预算\ncharacters 8-10: 8万"
    assert details(told, "cues") == "correction, characters 2-4: 不是, rule cue.zh.correction@1"
    assert "rule budget.zh.stated@3 (A stated budget)" in details(told, "captured")
    assert "known item i-1 (budget[营销] 50000 XXX)" in details(told, "bound")
    assert "it differs from the known value" in details(told, "bound")
    assert (
        details(told, "judged")
        == "slot=budget, act=correct, relation=differs, binding=named\nrule policy.core@5 (Core policy)"
    )
    assert "SUPERSEDE correction_explicit: The speaker said that the old value was wrong" in details(told, "verdict")
    assert "unusual_change" in details(told, "verdict")
    assert "record 7" in details(told, "ground")
    assert [step.name for step in told.steps] == [
        "said", "seen", "cues", "captured", "bound", "judged", "verdict", "item", "ground",
    ]  # fmt: skip


def test_the_same_story_is_told_in_chinese() -> None:
    (told,) = explain([Logged(CORRECTED, TURN)], rule=rule, item=items, language="zh")
    text = "\n".join(told.lines())
    for words in ("原话", "陈述的预算", "与已知值不同", "旧值视为从未成立", "核心策略"):
        assert words in text
    assert "What was said" not in text


def test_an_item_is_shown_as_it_stands() -> None:
    (told,) = explain([Logged(CORRECTED.model_copy(update={"item": "i-1"}), TURN)], rule=rule, item=items)
    assert details(told, "item").splitlines() == ["i-1 v1, current, 2026-03-18T12:00:00Z..", "营销预算为5万元。"]


def test_after_the_words_are_erased_the_offsets_still_stand() -> None:
    (told,) = explain([Logged(CORRECTED)], rule=rule)
    assert details(told, "said") == "the words have been erased"
    assert details(told, "seen") == "characters 0-2\ncharacters 8-10"
    assert "8万" not in "\n".join(told.lines())


def test_a_turn_answers_why_not_for_each_refusal_and_names_what_was_kept() -> None:
    told = why_not(TURN, [Logged(CORRECTED, TURN), Logged(REFUSED, TURN)], rule=rule)
    assert "characters 4-6: 5万 = 50000 XXX" in details(told, "not_remembered")
    assert "The value is denied" in details(told, "not_remembered")
    assert "budget[营销] = 80000 XXX" in details(told, "remembered")


def test_why_not_can_be_asked_about_some_characters_only() -> None:
    told = why_not(TURN, [Logged(CORRECTED, TURN), Logged(REFUSED, TURN)], rule=rule, span=(4, 6))
    assert told.step("remembered") is None
    assert "negated" in details(told, "not_remembered")


def test_characters_that_no_rule_looked_at_are_answered_too() -> None:
    told = why_not(TURN, [Logged(CORRECTED, TURN)], rule=rule, span=(6, 7))
    assert details(told, "not_remembered") == "no rule saw anything in these characters"


def test_a_turn_without_any_decision_is_said_to_be_missing_from_the_log() -> None:
    assert "no decision" in details(why_not(TURN, [], rule=rule), "not_remembered")


def test_a_refusal_of_the_whole_turn_counts_for_all_its_characters() -> None:
    gate = Decision(turn_id="t-2", turn=1, ordinal=0, action="IGNORE", reason="small_talk", rule="gate.zh.talk@1")
    told = why_not(TURN, [Logged(gate, TURN)], rule=rule, span=(4, 6))
    assert details(told, "not_remembered").startswith("the whole turn\nIGNORE small_talk")


def test_a_held_decision_shows_the_question_for_a_person() -> None:
    held = REFUSED.model_copy(update={"action": "HOLD", "reason": "ambiguous_reference", "question": "营销还是研发？"})
    assert "to ask: 营销还是研发？" in details(why_not(TURN, [Logged(held, TURN)], rule=rule), "not_remembered")


def test_a_cue_written_by_another_version_is_shown_as_it_stands() -> None:
    (told,) = explain([Logged(CORRECTED.model_copy(update={"cues": ("odd",)}), TURN)], rule=rule)
    assert details(told, "cues") == "odd"


CODES = [(action, code) for action, codes in REASONS.items() for code in codes]


@pytest.mark.parametrize(("action", "code"), CODES)
def test_every_reason_code_has_plain_words_in_both_languages(action: str, code: str) -> None:
    found = reason(action, code)
    assert found.en.endswith(".")
    assert found.zh.endswith("。")
    assert found.example


def test_no_reason_is_explained_that_the_model_does_not_have() -> None:
    assert sorted(reasons()) == sorted(CODES)


def test_no_shipped_policy_gives_a_code_that_is_marked_as_reserved() -> None:
    given = {(row.do, row.reason) for file in shipped().policies for row in file.rows}
    reserved = {place for place, each in reasons().items() if each.reserved}
    assert reserved
    assert not given & reserved


def test_a_code_of_another_version_is_said_to_be_unknown() -> None:
    assert "not known" in reason("IGNORE", "from_the_future").text("en")
    assert "不认识" in reason("IGNORE", "from_the_future").text("zh")


def test_the_page_of_reason_codes_is_up_to_date() -> None:
    written = Path(__file__).parent.parent.joinpath("docs", "reason-codes.md").read_text(encoding="utf-8")
    assert written == page(), "write page() of recordari.audit.reasons to docs/reason-codes.md again"
