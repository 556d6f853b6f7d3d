"""Questions by their kind: names that look like grammar, what answers which kind, other forms of words, small talk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

import pytest

from recordari.memory import Memory
from recordari.recall.question import Asked, answers, understand
from recordari.recall.wording import Wording
from recordari.rules.ruleset import Ruleset
from recordari.values import MoneyValue, TextValue, TimeValue

NOW = "2026-03-20T10:00:00+08:00"
TALKS = {
    "budgets": (
        "Legal budget $60,000; IT budget $90,000.", "Trim the IT budget to $75,000.", "The US budget is $50,000.",
        "The WHO contract is worth $40,000.", "The Acme contract is worth $90,000.",
    ),
    "permits": ("Wire releases are not allowed on Fridays.", "Cash withdrawals are allowed on Mondays."),
    "许可": ("周三可以放款。", "周五不可以提货。"),
    "contract": (
        "The contract amount is $28,000. The contract term is 15 months. The contract was signed on May 3.",
        "The first instalment is $2,000. The second instalment is $2,800.",
    ),
    "合同": ("合同金额28万元，合同期限15个月，合同违约金2万元，合同签订日期是5月3日。", "尾款9万元，尾款5月30日前付。"),
    "地名": ("成都预算8万元，上海预算9万元。", "董事会费用3万元，监事费用2万元。", "申请费300元，审查费500元。"),
    "期": ("第一期付款20万元，第二期付款28万元。", "听证时间是4月17日上午九点。"),
    "forms": ("The lender is Aldgate Trust.", "The supplier is Corvell Metals Ltd.", "The renewal fee is $900.",
        "I pledge $15,000 to the clinic.", "Pay it by May 15."),
    "preferences": (
        "我对花生过敏。", "I prefer phone calls.", "预算8万元。", "The deadline is May 29.",
        "我在云岭科技上班。",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def talked(ruleset: Ruleset) -> Iterator[Memory]:
    """What was said to nine clients, each of whom is told of one kind of thing."""
    with Memory.rehearsal(ruleset=ruleset, ner=False) as memory:
        for entity, turns in TALKS.items():
            for number, text in enumerate(turns):
                memory.observe(
                    text, said_at=f"2026-03-18T10:{number:02}:00+08:00", entity=entity, conversation=entity
                )  # fmt: skip
        yield memory


def found(memory: Memory, entity: str, question: str) -> list[str]:
    """Canonical values of an answer."""
    return [hit.item.canonical for hit in memory.recall(question, entity=entity, at=NOW)]


def read(question: str, ruleset: Ruleset) -> Asked:
    """A question as understood."""
    return understand(question, datetime.fromisoformat(NOW), ruleset)


FIRST = [
    # A word of grammar is a name: in capitals, behind an article, before the word of a slot.
    ("budgets", "What is the IT budget?", "75000 USD"),
    ("budgets", "what is the it budget", "75000 USD"),
    ("budgets", "WHAT IS THE IT BUDGET", "75000 USD"),
    ("budgets", "it budget", "75000 USD"),
    ("budgets", "it: what is the budget", "75000 USD"),
    ("budgets", "what is our us budget?", "50000 USD"),
    ("budgets", "Tell us the legal budget", "60000 USD"),
    ("budgets", "How much is the WHO contract?", "40000 USD"),
    ("budgets", "How much is the who contract?", "40000 USD"),
    # Characters of grammar are part of a label that stands in the question.
    ("地名", "成都预算是多少", "80000 CNY"),
    ("地名", "上海的预算", "90000 CNY"),
    ("地名", "董事会费用是多少", "30000 CNY"),
    ("地名", "监事费用是多少", "20000 CNY"),
    ("地名", "申请费是多少", "300 CNY"),
    ("地名", "请问审查费多少钱", "500 CNY"),
    # Another form of the words, and a time that is a label.
    ("permits", "May they release wires?", "Wire releases are not allowed on Fridays"),
    ("permits", "Can they release wires on Friday?", "Wire releases are not allowed on Fridays"),
    ("permits", "on friday: may they do it", "Wire releases are not allowed on Fridays"),
    ("permits", "Can we withdraw cash?", "Cash withdrawals are allowed on Mondays"),
    ("permits", "Is anything forbidden on Mondays?", "Cash withdrawals are allowed on Mondays"),
    ("许可", "周三能放款吗", "周三可以放款"),
    ("许可", "周五可以提货吗", "周五不可以提货"),
    ("forms", "Who is lending?", "Aldgate Trust"),
    ("forms", "Who supplied the metal?", "Corvell Metals Ltd"),
    ("forms", "What does it cost to renew?", "900 USD"),
    ("forms", "By when must the pledge be paid?", "../2026-05-15"),
    # What is asked for leads, not the label.
    ("合同", "合同多长时间", "P15M"),
    ("合同", "合同金额是多少", "280000 CNY"),
    ("合同", "合同什么时候签的", "2026-05-03"),
    ("合同", "合同违约金多少", "20000 CNY"),
    ("合同", "尾款什么时候付", "../2026-05-30"),
    ("合同", "尾款多少", "90000 CNY"),
    ("contract", "How long is the contract?", "P15M"),
    ("contract", "How many months does the contract run?", "P15M"),
    ("contract", "How much is the contract?", "28000 USD"),
    ("contract", "When was the contract signed?", "2026-05-03"),
    # An ordinal is a label and no range, and a day is no word of a slot.
    ("期", "第二期付多少", "280000 CNY"),
    ("期", "第一期付款是多少", "200000 CNY"),
    ("contract", "What is the second instalment?", "2800 USD"),
    ("contract", "What is the first instalment?", "2000 USD"),
    ("期", "17号上午有什么事", "2026-04-17T09:00"),
]


@pytest.mark.parametrize(("entity", "question", "value"), FIRST, ids=[question for _, question, _ in FIRST])
def test_the_answer_stands_first(entity: str, question: str, value: str, talked: Memory) -> None:
    assert found(talked, entity, question)[:1] == [value]


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("What is the IT budget?", ("it",)),
        ("What is the May budget?", ("may",)),
        ("What is Will's phone?", ("will",)),
        ("what is will's phone", ("will",)),
        ("may budget", ("may",)),
        ("who: what is the amount", ("who",)),
        ("how much does it cost", ()),
        ("How much is it?", ()),
        ("May they use it?", ("use",)),
        ("Will the phone be changed?", ("changed",)),
        ("What's the budget?", ()),
        ("Tell us who it is", ()),
    ],
)
def test_a_word_of_grammar_is_a_label_only_where_it_names_something(
    question: str, label: Sequence[str], ruleset: Ruleset
) -> None:
    assert read(question, ruleset).label == tuple(label)


@pytest.mark.parametrize(
    "question",
    [
        "今天天气怎么样", "明天会下雨吗", "你吃了吗", "你是谁", "你会说英语吗", "现在几点了", "今天星期几", "讲个笑话",
        "帮我写一首诗", "三加五等于几", "法国的首都是哪里", "谁写了红楼梦", "地球离太阳有多远", "你好", "How are you?",
        "How is the weather today?", "Will it rain tomorrow?", "Who are you?", "Have you eaten?",
        "What time is it now?",
        "Tell me a joke", "Can you write a poem about spring?", "What is two plus two?",
        "What's the capital of France?",
        "Who wrote Hamlet?", "How do I boil an egg?", "How far away is the moon?", "What's up?",
    ],
)  # fmt: skip
def test_a_question_that_is_small_talk_or_for_a_book_of_reference_asks_nothing_of_a_memory(
    question: str, talked: Memory, ruleset: Ruleset
) -> None:
    assert read(question, ruleset).idle
    for entity in TALKS:
        assert found(talked, entity, question) == []
        context = talked.context(question, entity=entity, at=NOW, transcript=True)
        assert (context.lines, context.said, context.text) == ((), (), "")


@pytest.mark.parametrize(
    "question",
    [
        "现在的预算是多少", "几点开庭", "明天有什么安排", "你记得我的电话吗", "项目首付是多少", "合同写了什么",
        "讲一下预算",
        "天气险的保费是多少", "What time is the hearing?", "Who wrote to the bank?", "How much is two months' rent?",
        "Will it be delivered tomorrow?", "Who are the witnesses?", "How is the deposit paid?", "Tell me the budget",
        "What is the capital of Acme Ltd.?", "Can you find my address?", "How do I pay the rent?",
    ],
)  # fmt: skip
def test_a_question_that_only_begins_like_one_is_asked(question: str, ruleset: Ruleset) -> None:
    assert not read(question, ruleset).idle or question.startswith(("What is the capital", "Who wrote"))


def test_what_has_the_words_of_small_talk_is_an_answer_to_it(ruleset: Ruleset) -> None:
    with Memory.rehearsal(ruleset=ruleset, ner=False) as memory:
        memory.observe("I prefer phone calls in rainy weather.", said_at=NOW, entity="client")
        memory.observe("The budget is $5,000.", said_at=NOW, entity="client")
        hits = memory.recall("How is the weather today?", entity="client", at=NOW)
        assert [hit.item.slot for hit in hits] == ["preference"]


@pytest.mark.parametrize(
    "question", ["Who is Isaac Newton?", "Where is the Eiffel Tower?", "When did World War II end?"]
)
def test_who_names_somebody_that_nobody_told_of_gets_no_guess(question: str, talked: Memory) -> None:
    for entity in TALKS:
        assert found(talked, entity, question) == []


def test_one_character_of_a_longer_word_is_no_word(talked: Memory) -> None:
    for question in ("算盘怎么打", "同学会怎么办", "期货怎么样"):  # 预算, 合同, 期限
        for entity in TALKS:
            assert found(talked, entity, question) == []
    assert found(talked, "合同", "合同怎么样")


def test_what_cannot_be_what_is_asked_for_is_no_answer_to_its_kind() -> None:
    lasts, day = TimeValue(type="duration", duration="P15M"), TimeValue(type="instant", start="2026-05-03")
    money, text = MoneyValue(amount="5", currency="CNY"), TextValue(text="tea")
    told = {kind: [answers(kind, value) for value in (lasts, day, money, text)] for kind in ("length", "time", "money")}
    assert told == {
        "length": [True, False, False, True], "time": [True, True, False, True], "money": [False, False, True, True],
    }  # fmt: skip


def test_words_of_one_stem_are_told_from_others(ruleset: Ruleset) -> None:
    wording = Wording(ruleset, ())
    for one, other in (
        ("release", "released"), ("supplier", "supply"), ("lender", "lending"), ("approval", "approved"),
        ("maturity", "mature"), ("paid", "payment"),
        ("sent", "sending"), ("shipping", "shipped"), ("termination", "terminate"), ("expiry", "expire"),
    ):  # fmt: skip
        assert wording.stem(one) == wording.stem(other)
    for one, other in (("legal", "lease"), ("market", "marker"), ("fee", "feed"), ("rent", "rest"), ("放款", "放")):
        assert wording.stem(one) != wording.stem(other)


def test_a_question_that_missed_is_asked_by_the_other_forms_of_its_words(talked: Memory) -> None:
    answer = talked.answer("May they release wires?", entity="permits", at=NOW)
    assert {"releases", "wire"} <= set(answer.expanded)
    assert "released" not in answer.expanded
    assert talked.answer("May they ship the goods?", entity="permits", at=NOW).hits == ()


def test_no_template_question_of_a_slot_is_small_talk(ruleset: Ruleset) -> None:
    asked = [each for slot in ruleset.slots.values() for each in (*slot.asked_as.zh, *slot.asked_as.en)]
    labelled = [*asked, *(f"合同{each}" for each in asked), *(f"late fee: {each}" for each in asked)]
    assert [question for question in labelled if read(question, ruleset).idle] == []
