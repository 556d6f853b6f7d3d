"""Questions and the items that answer them: time, label, range, order; each positive with its negative beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from recordari.memory import Memory
from recordari.recall.question import Asked, QuestionError, understand
from recordari.recall.rank import Hit, recency
from recordari.rules.ruleset import Ruleset

NOW = "2026-03-18T10:00:00+08:00"
TALK = (
    (1, "市场预算5万元"),
    (1, "研发预算20万元"),
    (2, "The late fee is $500."),
    (3, "The parking fee is $120,000."),
    (4, "房租5000元"),
    (9, "市场预算提高到8万元"),
    (10, "甲合同的交货期是4月20日"),
    (12, "The late fee is now $700."),
    (12, "我对花生过敏"),
    (12, "The closing dinner is on May 3."),
    (15, "房租改成6000元"),
)


@pytest.fixture(scope="module")
def talked(ruleset: Ruleset) -> Iterator[Memory]:
    """A memory of one client's talk in March."""
    with Memory.rehearsal(ruleset=ruleset, ner=False) as memory:
        for day, text in TALK:
            memory.observe(text, said_at=f"2026-03-{day:02}T10:00:00+08:00", entity="client")
        yield memory


def found(memory: Memory, question: str, **asked: Any) -> list[str]:
    """Canonical values of an answer."""
    return [hit.item.canonical for hit in memory.recall(question, at=NOW, **asked)]


def read(question: str, ruleset: Ruleset) -> Asked:
    """A question as understood."""
    return understand(question, datetime.fromisoformat(NOW), ruleset)


@pytest.mark.parametrize(
    ("question", "slot", "not_slot"),
    [
        ("预算上限是多少", "budget", "deadline"),
        ("什么时候截止", "deadline", "budget"),
        ("what is the credit limit", "credit_limit", "phone"),
        ("which deadlines are there", "deadline", "amount"),
    ],
)
def test_a_question_names_its_slot_and_no_other(question: str, slot: str, not_slot: str, ruleset: Ruleset) -> None:
    asked = read(question, ruleset)
    assert asked.slots[slot] == 1
    assert not_slot not in asked.slots


def test_what_is_left_of_a_question_is_its_label(ruleset: Ruleset) -> None:
    assert read("营销预算是多少", ruleset).label == ("营销",)
    assert read("what is the late fee", ruleset).label == ("late", "fee")
    assert read("预算上限是多少", ruleset).label == ()


@pytest.mark.parametrize(
    ("question", "day"),
    [
        ("截至3月5日的市场预算是多少", "2026-03-05"),
        ("what was the late fee as of March 5", "2026-03-05"),
        ("到3月5日为止的市场预算", "2026-03-05"),
        ("3月5日房租是多少", "2026-03-05"),
        ("上个月的房租", "2026-02-28"),
    ],
)
def test_a_day_beside_a_question_is_the_day_on_which_the_answer_was_true(
    question: str, day: str, ruleset: Ruleset
) -> None:
    as_of = read(question, ruleset).as_of
    assert as_of is not None
    assert as_of.date().isoformat() == day


@pytest.mark.parametrize("question", ["上周说的交货期", "what did we agree last week on the late fee"])
def test_a_day_beside_a_word_of_saying_is_the_day_on_which_it_was_told(question: str, ruleset: Ruleset) -> None:
    asked = read(question, ruleset)
    assert asked.as_of is None
    assert asked.said is not None
    assert [str(each)[:10] for each in asked.said] == ["2026-03-09", "2026-03-16"]


def test_a_day_that_is_asked_for_is_neither(ruleset: Ruleset) -> None:
    for question in ("what is on May 3", "5月3日有什么安排"):
        asked = read(question, ruleset)
        assert (asked.as_of, asked.said) == (None, None)
        assert asked.range is not None


def test_since_monday_is_the_monday_that_was(ruleset: Ruleset) -> None:
    for question in ("what was said since Monday about the rent", "周一以来说的房租"):
        said = read(question, ruleset).said
        assert said is not None
        assert str(said[0])[:10] == "2026-03-16"


@pytest.mark.parametrize(
    "question",
    [
        "what was the budget as of 31 April",
        "as of signing, what was the fee",
        "截至验收时的尾款",
        "since the flood, what rent",
    ],
)
def test_a_time_that_cannot_be_read_is_an_error(question: str, ruleset: Ruleset) -> None:
    with pytest.raises(QuestionError):
        read(question, ruleset)


def test_as_of_now_is_no_error(ruleset: Ruleset) -> None:
    for question in ("what is the fee as of today", "截至目前的尾款", "what is the fee as of now"):
        as_of = read(question, ruleset).as_of
        assert as_of is None or str(as_of)[:10] == "2026-03-18"


def test_the_value_of_the_day_answers(talked: Memory) -> None:
    assert found(talked, "市场预算是多少")[0] == "80000 CNY"
    assert found(talked, "截至3月5日的市场预算是多少")[0] == "50000 CNY"
    assert found(talked, "what was the late fee as of March 5")[0] == "500 USD"
    assert found(talked, "what is the late fee")[0] == "700 USD"


def test_what_was_superseded_appears_only_when_history_is_asked_for(talked: Memory) -> None:
    assert "50000 CNY" not in found(talked, "市场预算")
    assert "50000 CNY" in found(talked, "以前的市场预算")
    assert "500 USD" not in found(talked, "late fee")
    assert "500 USD" in found(talked, "late fee", history=True)


def test_only_what_was_told_in_those_days_answers(talked: Memory) -> None:
    assert found(talked, "上周说的交货期") == ["2026-04-20"]
    assert found(talked, "昨天说的交货期") == []


@pytest.mark.parametrize("question", ["which fees are over $50,000", "超过5万美元的费用有哪些"])
def test_a_range_keeps_what_lies_in_it(talked: Memory, question: str) -> None:
    assert found(talked, question)[0] == "120000 USD"
    assert "700 USD" not in found(talked, question)


def test_days_between_two_days(talked: Memory) -> None:
    assert found(talked, "what is between May 1 and May 15") == ["2026-05-03"]
    assert found(talked, "between June 1 and June 15") == []


def test_another_word_for_the_label_finds_it(talked: Memory) -> None:
    assert found(talked, "marketing budget")[0] == "80000 CNY"
    assert found(talked, "营销预算")[0] == "80000 CNY"
    assert found(talked, "研发预算")[0] == "200000 CNY"


def test_a_question_that_misses_is_widened_and_says_so(talked: Memory) -> None:
    widened = talked.answer("r&d", at=NOW)
    assert widened.hits
    direct = talked.answer("花生", at=NOW)
    assert direct.hits
    assert direct.expanded == ()
    nothing = talked.answer("天气怎么样", at=NOW)
    assert (nothing.hits, nothing.expanded) == ((), ())


def test_classes_of_personal_data_can_be_left_out(talked: Memory) -> None:
    assert found(talked, "过敏") == ["花生"]
    left = talked.answer("过敏", at=NOW, without={"health"})
    assert left.hits == ()
    assert left.left_out == {"personal data": 1}


def test_another_entity_is_never_answered_with(talked: Memory) -> None:
    assert found(talked, "市场预算", entity="client")
    assert not found(talked, "市场预算", entity="stranger")


def test_what_is_restricted_is_no_answer(ruleset: Ruleset) -> None:
    with Memory.rehearsal(ruleset=ruleset, ner=False) as memory:
        memory.observe("市场预算5万元", said_at="2026-03-01T10:00:00+08:00", entity="client")
        assert found(memory, "市场预算")
        memory.restrict("entity", "client", ground="gdpr-18-1-a", actor="officer")
        assert not found(memory, "市场预算")


def test_every_hit_tells_its_terms_and_its_routes(talked: Memory) -> None:
    best = talked.recall("the parking fee", at=NOW)[0]
    assert set(best.routes) == {"exact", "text"}
    assert set(talked.recall("市场预算", at=NOW)[0].routes) == {"exact"}  # exactly its slot and label
    assert best.routes["exact"].rank == 1
    assert best.score == pytest.approx(best.similarity + best.importance + best.recency)
    assert best.recency < 0.2  # said more than a week ago
    assert best.importance == pytest.approx(0.24)


def test_the_same_question_gives_the_same_order(talked: Memory) -> None:
    once = [hit.item.id for hit in talked.recall("费用", at=NOW)]
    assert once == [hit.item.id for hit in talked.recall("费用", at=NOW)]


def test_age_counts_after_a_week_and_ends_after_a_year() -> None:
    now = datetime.fromisoformat(NOW)
    ages = [recency(now - timedelta(days=days), now) for days in (0, 7, 30, 60, 180, 360, 900)]
    assert ages == pytest.approx([1, 1, 11 / 12, 10 / 12, 0.5, 0, 0])
    assert recency(now + timedelta(days=1), now) == 1


def test_what_was_said_after_the_question_is_no_answer(talked: Memory) -> None:
    early = [hit.item.canonical for hit in talked.recall("交货期", at="2026-03-09T10:00:00+08:00")]
    assert early == []
    assert found(talked, "交货期") == ["2026-04-20"]


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("8万", ["80000 CNY"]),
        ("80000", ["80000 CNY"]),
        ("八万", ["80000 CNY"]),
        ("谁说过8万", ["80000 CNY"]),
        ("120k", ["120000 USD"]),
        ("七百", ["700 USD"]),
        ("20万", ["200000 CNY"]),
        ("超过10万", ["120000 USD", "200000 CNY"]),
        ("over 100k", ["120000 USD", "200000 CNY"]),
    ],
)
def test_a_number_without_a_unit_finds_the_amounts_that_it_may_be(
    talked: Memory, question: str, values: list[str]
) -> None:
    assert sorted(found(talked, question)) == values


@pytest.mark.parametrize("question", ["9万", "8", "80", "8万美元", "$80,000", "120", "8万箱"])
def test_a_number_finds_no_other_amount(talked: Memory, question: str) -> None:
    assert found(talked, question) == []


def test_a_number_without_a_unit_is_no_share(ruleset: Ruleset) -> None:
    with Memory.rehearsal(ruleset=ruleset, ner=False) as memory:
        memory.observe("违约金为合同总额的5%", said_at="2026-03-01T10:00:00+08:00")
        assert found(memory, "5") == []
        assert found(memory, "5%") == ["5%"]


def test_a_reranker_has_a_say_that_is_told_and_ties_keep_their_order(talked: Memory) -> None:
    plain = talked.recall("预算", at=NOW)
    same = talked.recall("预算", at=NOW, rerank=lambda question, hits: [0.5] * len(hits))
    assert [hit.item.id for hit in same] == [hit.item.id for hit in plain]
    last = plain[-1].item.id
    asked: list[str] = []

    def prefers_last(question: str, hits: Sequence[Hit]) -> list[float]:
        asked.append(question)
        return [float(hit.item.id == last) for hit in hits]

    best = talked.recall("预算", at=NOW, rerank=prefers_last)[0]
    assert (best.item.id, best.reranked, asked) == (last, 1.0, ["预算"])
    assert best.score == pytest.approx(best.similarity + best.importance + best.recency + best.reranked)
    assert plain[0].reranked == 0


def test_a_reranker_that_loses_hits_is_an_error(talked: Memory) -> None:
    with pytest.raises(ValueError, match="0 scores for"):
        talked.recall("预算", at=NOW, rerank=lambda question, hits: [])


def test_every_back_end_gives_the_same_answers_contexts_and_read_backs(memory: Memory, talked: Memory) -> None:
    for day, text in TALK:
        memory.observe(text, said_at=f"2026-03-{day:02}T10:00:00+08:00", entity="client")
    for question in (
        "市场预算是多少",
        "截至3月5日的市场预算",
        "late fee",
        "过敏",
        "8万",
        "over $50,000",
        "以前的房租",
        "花生",
    ):
        for entity in ("client", None):
            asked = {"at": NOW, "entity": entity}
            ours, theirs = memory.recall(question, **asked), talked.recall(question, **asked)
            assert [(hit.item.canonical, hit.score, hit.routes) for hit in ours] == [
                (hit.item.canonical, hit.score, hit.routes) for hit in theirs
            ], question
            here, there = (each.context(question, budget=200, **asked) for each in (memory, talked))
            assert (here.text, here.tokens) == (there.text, there.tokens)
    backs = [[(each.question, each.place) for each in one.read_back(at=NOW)] for one in (memory, talked)]
    assert sorted(backs[0]) == sorted(backs[1])
    assert all(place is not None for _, place in backs[0])
