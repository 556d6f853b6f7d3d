"""Values and the times in which they hold: until when, for which year, under which former name."""

from __future__ import annotations

import pytest

from recordari.intake import read_turn
from recordari.memory import Memory
from recordari.model import Decision, MemoryItem
from recordari.rules.ruleset import Ruleset


@pytest.fixture(scope="module")
def told(ruleset: Ruleset) -> Memory:
    return Memory.rehearsal(ruleset=ruleset, ner=False)


def rehearsed(told: Memory, *texts: str) -> tuple[tuple[Decision, ...], tuple[MemoryItem, ...]]:
    said = [
        {"at": f"2026-03-18T10:{minute:02}:00+08:00", "speaker": "user", "text": text}
        for minute, text in enumerate(texts)
    ]
    return told.rehearse([read_turn(turn, 100_000) for turn in said])


def items(told: Memory, *texts: str) -> list[tuple[str, str, str, str, str | None]]:
    """(slot, qualifier, canonical, status, end of validity) of what is remembered of the turns."""
    _, kept = rehearsed(told, *texts)
    return [
        (i.slot, i.qualifier, i.value.canonical, i.status, i.valid_to.date().isoformat() if i.valid_to else None)
        for i in kept
    ]


@pytest.mark.parametrize(
    ("text", "until"),
    [
        ("The interest rate is 4% until 30 June 2026.", "2026-07-01"),
        ("Until June the interest rate is 4%.", "2026-07-01"),
        ("利率是4%，直到年底。", "2027-01-01"),
        ("利率4%，一直到今年年底。", "2027-01-01"),
        ("到6月底利率是4%。", "2026-07-01"),
    ],
)
def test_until_says_how_long_a_value_holds(told: Memory, text: str, until: str) -> None:
    (kept,) = items(told, text)
    assert (kept[0], kept[2], kept[3], kept[4]) == ("rate", "4%", "current", until)


@pytest.mark.parametrize(
    "text", ["The interest rate was 4% until March.", "Until last month the interest rate was 4%."]
)
def test_what_was_true_until_a_past_time_is_not_current(told: Memory, text: str) -> None:
    (kept,) = items(told, text)
    assert kept[3:] == ("expired", "2026-03-01")
    later = items(told, text, "The interest rate is 5%.")
    assert [i[2] for i in later if i[3] == "current"] == ["5%"]


def test_a_deadline_ends_no_validity(told: Memory) -> None:
    kept = items(told, "The budget is 50000 dollars, and we decide by June.")
    assert [i[4] for i in kept if i[0] == "budget"] == [None]


@pytest.mark.parametrize("text", ["到明年预算会涨到5万元。", "The marketing budget for 2027 is 50000 dollars."])
def test_a_figure_of_a_year_to_come_is_scheduled(told: Memory, text: str) -> None:
    (kept,) = items(told, text)
    assert (kept[0], kept[3]) == ("budget", "scheduled")


def test_a_time_between_label_and_verb_leaves_the_label(told: Memory) -> None:
    assert items(told, "营销预算明年是50万元。")[0][1] == "marketing"
    assert items(told, "The office rent in 2027 is 5000 dollars.")[0][1] == "office rent"


def test_the_figure_of_a_past_year_does_not_replace_the_one_that_holds(told: Memory) -> None:
    kept = items(told, "The budget is 60000 dollars.", "The 2025 budget was 40000 dollars.")
    assert [i[2] for i in kept if i[3] == "current"] == ["60000 USD"]


@pytest.mark.parametrize(
    "text", ["昨晚看了一场话剧。", "前天吃了火锅。", "上周六爬了山。", "Last night we watched a documentary."]
)
def test_a_private_pastime_that_is_over_is_no_date_to_remember(told: Memory, text: str) -> None:
    assert items(told, text) == []


@pytest.mark.parametrize("text", ["昨天签了租赁合同。", "周六爬山。", "Yesterday we signed the lease."])
def test_business_done_and_plans_keep_their_dates(told: Memory, text: str) -> None:
    assert [i[0] for i in items(told, text)] == ["date"]


def test_a_former_name_in_brackets_is_neither_name_nor_past(told: Memory) -> None:
    _, (kept,) = rehearsed(told, "云杉科技（原名云松科技）的电话是010-62345678。")
    assert (kept.entity, kept.slot, kept.status, kept.qualifier) == ("云杉科技", "phone", "current", "")


def test_a_former_amount_in_brackets_is_past_and_the_one_before_them_is_not(told: Memory) -> None:
    decisions, _ = rehearsed(told, "年费是950元（原来900元）。")
    assert [(d.canonical, d.reason) for d in decisions] == [("950 CNY", "stated"), ("900 CNY", "historical")]


def test_a_word_of_a_list_is_no_part_of_a_label(told: Memory) -> None:
    kept = items(told, "The hearing is on the 10th and 20th of September.")
    assert kept[0][:3] == ("event", "hearing", "2026-09-10")
    assert "2026-09-20" in {i[2] for i in kept}


def test_a_label_that_bears_the_name_of_a_word_class_is_said_as_it_was(told: Memory) -> None:
    _, (kept,) = rehearsed(told, "The meeting is on May 3.")
    assert kept.sentence.startswith("user: meeting is on 3 May 2026")
