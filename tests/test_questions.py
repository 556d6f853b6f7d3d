"""Sixty questions with their answers, and what a time in a question means: true then, told then, known then."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from recordari.memory import Memory
from recordari.recall.question import Asked, QuestionError, understand
from recordari.rules.ruleset import Ruleset

SHEET = YAML(typ="safe").load(Path(__file__).with_name("questions.yaml"))
NOW = SHEET["now"]
ASKS = [(entity, ask) for entity, asks in SHEET["asks"].items() for ask in asks]
STILL_MISSED = {"What time of day do they like calls?"}  # a channel is not looked for by a time of day


@pytest.fixture(scope="module")
def talked(ruleset: Ruleset) -> Iterator[Memory]:
    """What two clients said from February to May."""
    with Memory.rehearsal(ruleset=ruleset, ner=False) as memory:
        for entity, turns in SHEET["talk"].items():
            for day, text in turns:
                memory.observe(text, said_at=f"{day}T10:00:00+08:00", entity=entity, conversation=entity)
        yield memory


def found(memory: Memory, question: str, **asked: Any) -> list[str]:
    """Canonical values of an answer."""
    return [hit.item.canonical for hit in memory.recall(question, at=NOW, **asked)]


def read(question: str, ruleset: Ruleset) -> Asked:
    """A question as understood."""
    return understand(question, datetime.fromisoformat(NOW), ruleset)


@pytest.mark.parametrize(("entity", "ask"), ASKS, ids=[ask["ask"] for _, ask in ASKS])
def test_a_question_has_the_answer_that_was_written_before(entity: str, ask: dict[str, Any], talked: Memory) -> None:
    if ask.get("error"):
        with pytest.raises(QuestionError):
            talked.recall(ask["ask"], entity=entity, at=NOW)
        return
    values = found(talked, ask["ask"], entity=entity)
    good = values[:1] == [ask.get("first", *values[:1])]
    good &= set(ask.get("all", ())) <= set(values[:3]) and set(ask.get("has", ())) <= set(values)
    good &= not set(ask.get("not", ())) & set(values)
    assert good != (ask["ask"] in STILL_MISSED), values


@pytest.mark.parametrize(
    "question",
    [
        "5月3日时我们知道的研发预算",
        "我们在5月3日掌握的研发预算是多少",
        "截至5月3日我们知道的研发预算",
        "5月3日我方得知的研发预算",
        "what did we know on May 3 about the rent",
        "On May 3, what did we believe the rent was?",
        "the rent we knew as of May 3",
        "which rent was on record on May 3",
    ],
)
def test_a_word_of_knowing_makes_of_its_time_the_day_on_which_we_knew(question: str, ruleset: Ruleset) -> None:
    asked = read(question, ruleset)
    assert asked.known_at is not None
    assert asked.known_at.date().isoformat() == "2026-05-03"
    assert (asked.as_of, asked.said, asked.range) == (None, None, None)
    assert not {"know", "知道", "believe", "记录"} & set(asked.label)


@pytest.mark.parametrize(
    "question",
    [
        "5月3日的研发预算",
        "what was the rent on May 3",
        "do you know the rent on May 3",
        "你知不知道5月3日的房租",
        "what do we know about the rent",
    ],
)
def test_without_one_it_does_not(question: str, ruleset: Ruleset) -> None:
    assert read(question, ruleset).known_at is None


def test_two_times_are_the_day_of_knowing_and_the_day_of_truth(ruleset: Ruleset) -> None:
    for question in ("4月20日我们知道的3月5日的房租", "what did we know on April 20 about the rent as of March 5"):
        asked = read(question, ruleset)
        assert asked.known_at is not None
        assert asked.as_of is not None
        assert (str(asked.known_at)[:10], str(asked.as_of)[:10]) == ("2026-04-20", "2026-03-05")


@pytest.mark.parametrize(
    "question", ["what did we know about the rent", "当时知道的房租是多少", "what we knew at signing of the fee"]
)
def test_what_we_knew_without_a_day_is_an_error(question: str, ruleset: Ruleset) -> None:
    with pytest.raises(QuestionError):
        read(question, ruleset)


@pytest.mark.parametrize("question", ["", " ", "\n\t", "\u3000", "\u00a0 "])
def test_an_empty_question_is_an_error_that_says_what_to_do(question: str, talked: Memory) -> None:
    for ask in (talked.recall, talked.answer, talked.context):
        with pytest.raises(QuestionError, match="the question is empty"):
            ask(question, at=NOW)
    assert talked.recall("?", at=NOW) == ()


def test_what_was_told_by_a_day_is_what_was_known_on_it(ruleset: Ruleset) -> None:
    asked = read("what had we been told by April 5 about the late fee", ruleset)
    assert str(asked.known_at)[:10] == "2026-04-05"
    during = read("what were we told in April about the late fee", ruleset)
    assert (during.known_at, str((during.said or [None])[0])[:10]) == (None, "2026-04-01")


def test_a_correction_counts_for_what_was_true_and_not_for_what_was_known(talked: Memory) -> None:
    assert found(talked, "5月3日的研发预算", entity="client")[0] == "950000 CNY"
    assert found(talked, "5月3日我们知道的研发预算", entity="client")[0] == "900000 CNY"
    assert found(talked, "5月10日我们知道的研发预算", entity="client")[0] == "950000 CNY"
    assert found(talked, "研发预算", entity="client", known_at="2026-05-03T12:00:00+08:00")[0] == "900000 CNY"
    assert found(talked, "1月3日我们知道的研发预算", entity="client") == []


def test_a_document_that_came_late_was_not_known_before(ruleset: Ruleset) -> None:
    with Memory.rehearsal(ruleset=ruleset, ner=False) as memory:
        memory.observe(
            "The storage fee is $300.", said_at="2026-03-02T10:00:00+08:00", received_at="2026-04-20T10:00:00+08:00",
            speaker="document", entity="client",
        )  # fmt: skip
        assert found(memory, "the storage fee as of March 5") == ["300 USD"]
        assert found(memory, "what did we know on March 5 about the storage fee") == []
        assert found(memory, "what did we know on April 21 about the storage fee") == ["300 USD"]


@pytest.mark.parametrize(
    ("question", "day"),
    [
        ("截至3月5日市场预算", "2026-03-05"),
        ("截至3月5日商业中心租金", "2026-03-05"),
        ("截至2026年3月5日体育馆押金", "2026-03-05"),
        ("截至三月五日市场费用", "2026-03-05"),
        ("4月10日的时候尾款是多少", "2026-04-10"),
        ("4月10日那天交货期是哪天", "2026-04-10"),
        ("三月的时候房租多少", "2026-03-31"),
    ],
)
def test_a_day_is_read_whatever_stands_behind_it(question: str, day: str, ruleset: Ruleset) -> None:
    as_of = read(question, ruleset).as_of
    assert as_of is not None
    assert as_of.date().isoformat() == day


def test_a_day_to_come_is_asked_for_and_not_looked_back_from(ruleset: Ruleset) -> None:
    for question in ("6月10日的时候有什么安排", "6月10日那天要交什么"):
        asked = read(question, ruleset)
        assert asked.as_of is None
        assert asked.range is not None


@pytest.mark.parametrize(
    "question", ["房租调整前是多少", "涨价之前的房租", "what was the rent before", "the rent before it went up"]
)
def test_before_a_change_asks_for_history(question: str, ruleset: Ruleset) -> None:
    assert read(question, ruleset).history


@pytest.mark.parametrize(
    "question",
    ["开庭之前要交什么", "when is the hearing before the tribunal", "五一之前的房租", "the rent before May 1"],
)
def test_before_an_event_or_a_day_does_not(question: str, ruleset: Ruleset) -> None:
    assert not read(question, ruleset).history


def test_what_was_announced_later_was_not_even_to_come(talked: Memory) -> None:
    assert "13500 CNY" not in found(talked, "截至4月1日的房租", entity="client")
    assert "13500 CNY" in found(talked, "截至4月3日的房租", entity="client")


def test_several_labels_in_one_question_are_all_answered(talked: Memory) -> None:
    assert {"120000 CNY", "280000 CNY"} <= set(found(talked, "首付和尾款", entity="client")[:3])
    assert set(found(talked, "compare the rent with the retainer", entity="acme")[:2]) == {"4600 USD", "9000 USD"}
    assert found(talked, "the retainer", entity="acme")[0] == "9000 USD"
