"""Dialogues: what a later turn means for what is known, and what is asked when it is not clear."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shipped import shipped

from recordari.memory import Memory
from recordari.model import FEATURES, Adjustment, Decision, Known, MemoryItem, Patch, Turn
from recordari.rules.book import book_of
from recordari.rules.parts import adjusted, patched
from recordari.rules.relation import compare
from recordari.values import AddressValue, MoneyValue, PhoneValue, QuantityValue, TimeValue

SAID = book_of(shipped()).lex.said

START = datetime.fromisoformat("2026-03-18T10:00:00+08:00")
MEMORY = Memory.rehearsal(ruleset=shipped(), ner=False, engine="reference")


def talk(*said: str | tuple[str, str]) -> tuple[tuple[Decision, ...], tuple[MemoryItem, ...]]:
    """Decisions and items of a dialogue; a plain string is said by the user."""
    turns = []
    for index, one in enumerate(said):
        speaker, text = ("user", one) if isinstance(one, str) else one
        at = START + timedelta(minutes=2 * index)
        turns.append(
            Turn.model_validate(
                {
                    "turn_id": f"t{index}", "text": text, "speaker": speaker, "said_at": at, "received_at": at,
                    "ordinal": index,
                }
            )
        )  # fmt: skip
    return MEMORY.trial(turns, Known())


def current(*said: str | tuple[str, str]) -> list[tuple[str, str, str]]:
    _, items = talk(*said)
    return sorted((i.slot, i.qualifier, i.canonical) for i in items if i.status == "current")


def last(*said: str | tuple[str, str]) -> Decision:
    return talk(*said)[0][-1]


# ---------------------------------------------------------------- by label
def test_a_named_label_changes_its_own_value_and_no_other() -> None:
    assert current("甲合同首款6万元，乙合同首款4万元。", "乙合同首款改成5.3万元。") == [
        ("amount", "乙合同首款", "53000 CNY"),
        ("amount", "甲合同首款", "60000 CNY"),
    ]


def test_a_label_may_be_the_tail_of_exactly_one_live_label() -> None:
    assert current("贷款年利率4.35%。", "利率调成4.2%。") == [("rate", "贷款年利率", "4.2%")]


def test_a_tail_of_two_live_labels_is_asked() -> None:
    decision = last("甲合同首款6万元，乙合同首款4万元。", "首款改成8万元。")
    assert (decision.action, decision.reason) == ("HOLD", "ambiguous_reference")
    assert decision.question is not None
    assert "甲合同首款" in decision.question
    assert "乙合同首款" in decision.question


def test_labels_of_one_concept_are_one_label() -> None:
    assert current("市场预算8万元。", "营销预算改成9万元。") == [("budget", "marketing", "90000 CNY")]


def test_an_unknown_label_is_never_merged_by_likeness() -> None:
    assert len(current("展厅预算8万元。", "展台预算改成9万元。")) == 2


def test_a_deadline_is_found_under_its_label_whatever_kind_of_date_it_was() -> None:
    assert current("8月20日上线。", "上线改到8月27日。") == [("event", "上线", "2026-08-27")]


# ---------------------------------------------------------------- by what was said
@pytest.mark.parametrize(
    ("first", "then", "value"),
    [
        ("这次搬家预算是6万。", "还是5万吧。", "50000 XXX"),
        ("The grant is sixty thousand dollars.", "No, I mean sixteen thousand dollars.", "16000 USD"),
        ("We need the survey by June 13.", "Make that June 30.", "2026-06-30"),
        ("My phone number is 312-555-0120.", "Actually, it's 312-555-0102.", "+13125550102"),
        ("我的预算是13万元。", "再加三万吧。", "160000 CNY"),
        ("评估报告4月6日交。", "推迟一周。", "2026-04-13"),
        ("服务费4000美元。", "币种错了，是4000欧元。", "4000 EUR"),
        ("服务费3万澳元。", "不是澳元，是人民币。", "30000 CNY"),
        ("开工定在7月16日。", "不是16日，是26日。", "2026-07-26"),
        ("例会是3月24日下午一点。", "时间改到下午三点，日期不变。", "2026-03-24T15:00"),
        ("我的手机号是13800006661。", "尾号不是6661，是6616。", "+8613800006616"),
        ("我叫周文祺。", "打错字了，是周文琪。", "周文琪"),
        ("铝材采购30吨。", "单位错了，是30公斤。", "30 公斤"),
    ],
)
def test_what_is_said_alone_changes_the_one_thing_it_can_mean(first: str, then: str, value: str) -> None:
    assert [canonical for _, _, canonical in current(first, then)] == [value]


def test_two_that_could_be_meant_are_asked_and_neither_changes() -> None:
    said = ("The deposit is $8,000.", "The retainer is $6,000.", "Change that one to $7,000.")
    decision = last(*said)
    assert (decision.action, decision.reason) == ("HOLD", "ambiguous_reference")
    assert {value for _, _, value in current(*said)} == {"8000 USD", "6000 USD"}


def test_the_old_value_tells_which_one_is_meant() -> None:
    said = ("The deposit is $8,000.", "The retainer is $6,000.", "It's not $6,000, it's $7,000.")
    assert current(*said) == [("amount", "deposit", "8000 USD"), ("amount", "retainer", "7000 USD")]


def test_former_and_second_count_in_the_order_of_the_text() -> None:
    assert current("方案一预算16万元，方案二预算24万元。", "前者改成17万元。") == [
        ("budget", "方案一", "170000 CNY"),
        ("budget", "方案二", "240000 CNY"),
    ]
    assert ("amount", "plan b", "3300 USD") in current(
        "Plan A costs $2,000. Plan B costs $3,500.", "The second one is now $3,300."
    )


def test_a_value_alone_with_nothing_to_change_is_not_guessed() -> None:
    decision = last("还是8万元吧。")
    assert (decision.action, decision.reason) == ("IGNORE", "ambiguous_reference")


def test_an_adjustment_says_what_it_was_computed_from() -> None:
    decisions, items = talk("我的预算是13万元。", "再加三万吧。")
    first = next(i for i in items if i.canonical == "130000 CNY")
    assert decisions[-1].reason == "adjusted"
    assert decisions[-1].derived_from == (first.id,)


def test_a_withdrawal_finds_its_label_in_the_words() -> None:
    decisions, items = talk("My asking price is $520,000.", "Forget what I said about the asking price.")
    assert (decisions[-1].action, decisions[-1].reason) == ("RETRACT", "withdrawn")
    assert [i.status for i in items] == ["retracted"]


# ---------------------------------------------------------------- proposals
@pytest.mark.parametrize("answer", ["可以。", "好的，就按9万元。", "就按你说的，9万元。"])
def test_an_accepted_suggestion_is_remembered_with_its_label(answer: str) -> None:
    assert current(("assistant", "押金建议定9万元。"), answer) == [("amount", "押金", "90000 CNY")]


@pytest.mark.parametrize("answer", ["我再想想。", "不用。", "押金是什么意思？"])
def test_a_suggestion_that_is_not_accepted_is_not_remembered(answer: str) -> None:
    assert current(("assistant", "押金建议定9万元。"), answer) == []


def test_an_echo_awaits_no_answer() -> None:
    said = ("押金6万元。", ("assistant", "好的，已记录押金6万元。"), "好的。")
    assert last(*said).action == "IGNORE"
    assert current(*said) == [("amount", "押金", "60000 CNY")]


def test_a_remark_of_the_agent_is_confirmed_by_nobody() -> None:
    assert current(("assistant", "今天大盘上涨2%。"), "好。") == []


def test_a_denied_question_takes_the_value_that_follows() -> None:
    said = ("付款期限60日。", ("assistant", "付款期限是75日，对吗？"), "不是，是60日。")
    assert current(*said) == [("term", "payment", "P60D")]


@pytest.mark.parametrize(
    ("asked", "answer", "place"),
    [
        ("装修预算是多少？", "8万元。", ("budget", "装修", "80000 CNY")),
        ("What is the marketing budget?", "$40,000.", ("budget", "marketing", "40000 USD")),
        ("What's your phone number?", "212-555-0161.", ("phone", "", "+12125550161")),
        ("What is the deadline?", "June 5.", ("deadline", "", "2026-06-05")),
    ],
)
def test_a_value_alone_answers_what_the_agent_just_asked(asked: str, answer: str, place: tuple[str, str, str]) -> None:
    assert current(("assistant", asked), answer) == [place]


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("Which option do you prefer?", "$40,000."),
        ("How is the weather?", "June 5."),
        ("What is the deadline?", "$40."),
    ],
)
def test_a_value_alone_answers_no_other_question(asked: str, answer: str) -> None:
    assert current(("assistant", asked), answer) == []


def test_a_question_is_answered_at_once_or_not_at_all() -> None:
    assert current(("assistant", "What is the deadline?"), "One moment.", "June 5.") == []


# ---------------------------------------------------------------- owners and roles
def test_a_pronoun_is_the_one_named_last() -> None:
    _, items = talk("The counterparty is Vance & Orrin LLC.", "Their address is 310 Cedar Terrace, Toledo, OH 43699.")
    assert [i.entity for i in items if i.slot == "address"] == ["Vance & Orrin LLC"]


def test_a_role_is_the_person_known_in_it() -> None:
    said = ("乙方联系人是邱明，电话13800003002。", "乙方联系人的电话换成13800003003。")
    _, items = talk(*said)
    assert [(i.entity, i.canonical) for i in items if i.slot == "phone" and i.status == "current"] == [
        ("邱明", "+8613800003003")
    ]


def test_a_name_in_another_script_stands_beside_the_first() -> None:
    assert [value for slot, _, value in current("我叫索菲娅。", "I'm Sofia.") if slot == "name"] == [
        "索菲娅",
        "Sofia",
    ]


def test_witnesses_stand_side_by_side_and_an_executor_is_replaced() -> None:
    assert current("担保人是赵敏。", "担保人换成钱伟。") == [("party", "担保人", "钱伟")]


# ---------------------------------------------------------------- laws of values
def test_every_feature_of_a_decision_is_in_the_closed_vocabulary() -> None:
    decisions, _ = talk("预算8万元。", "改成9万元。", "如果是10万元呢？", ("assistant", "建议12万元。"), "可以。")
    for decision in decisions:
        if decision.features:
            assert set(decision.features) == set(FEATURES) - {"keeps"}  # said only of slots that keep for a talk
            for name, value in decision.features.items():
                assert not FEATURES[name] or value in FEATURES[name]


@given(st.decimals(min_value=1, max_value=10**9, places=2), st.decimals(min_value=1, max_value=10**6, places=2))
def test_adding_and_taking_away_the_same_is_nothing(start: Decimal, step: Decimal) -> None:
    value, by = MoneyValue(amount=start, currency="CNY"), MoneyValue(amount=step, currency=None)
    more = adjusted(Adjustment(operator="add", by=by), value)
    assert more is not None
    back = adjusted(Adjustment(operator="subtract", by=by), more)
    assert back is not None
    assert back.same_as(value)


def test_an_adjustment_never_goes_below_nothing_or_across_currencies() -> None:
    value = MoneyValue(amount=Decimal(10), currency="CNY")
    assert adjusted(Adjustment(operator="subtract", by=MoneyValue(amount=Decimal(11))), value) is None
    assert adjusted(Adjustment(operator="add", by=MoneyValue(amount=Decimal(1), currency="USD")), value) is None


def test_a_month_later_than_the_last_day_is_the_last_day() -> None:
    day = TimeValue(type="date", edtf="2026-01-31", start="2026-01-31", end="2026-02-01", grain="day")
    month = TimeValue(type="duration", duration="P1M")
    later = adjusted(Adjustment(operator="later", by=month), day)
    assert later is not None
    assert later.canonical == "2026-02-28"


def test_a_part_that_does_not_exist_is_refused() -> None:
    day = TimeValue(type="date", edtf="2026-02-10", start="2026-02-10", end="2026-02-11", grain="day")
    assert patched(Patch(part="day_of_month", value="30"), day, SAID) is None
    moved = patched(Patch(part="day_of_month", value="20"), day, SAID)
    assert moved is not None
    assert moved.canonical == "2026-02-20"
    assert patched(Patch(part="floor", value="3"), day, SAID) is None


def test_a_floor_and_a_room_are_replaced_where_they_stand() -> None:
    home = AddressValue(road="清江路", number="18号", building="3栋", unit="304室", full="清江路18号3栋304室")
    changed = patched(Patch(part="room", value="404室"), home, SAID)
    assert changed is not None
    assert changed.canonical == "清江路18号3栋404室"


def test_the_last_digits_of_a_number_are_replaced_in_both_forms() -> None:
    phone = PhoneValue(e164="+8613800006661", national="13800006661")
    changed = patched(Patch(part="digits", value="8818", old="8881"), phone, SAID)
    assert isinstance(changed, PhoneValue)
    assert (changed.e164, changed.national) == ("+8613800008818", "13800008818")


@pytest.mark.parametrize(
    ("new", "old", "relation"),
    [
        (MoneyValue(amount=Decimal(8), currency="CNY"), MoneyValue(amount=Decimal(8), currency="CNY"), "equal"),
        (MoneyValue(amount=Decimal(8), currency="CNY"), MoneyValue(amount=Decimal(8)), "narrower"),
        (MoneyValue(amount=Decimal(8), currency="CNY"), MoneyValue(amount=Decimal(8), currency="USD"), "differs"),
        (MoneyValue(amount=Decimal(8)), MoneyValue(amount=Decimal(8), bound="<="), "differs"),
        (MoneyValue(amount=Decimal(8)), MoneyValue(min=Decimal(5), max=Decimal(9), approx=True), "narrower"),
        (MoneyValue(min=Decimal(5), max=Decimal(9), approx=True), MoneyValue(amount=Decimal(8)), "broader"),
        (QuantityValue(amount=Decimal(20), unit="公斤"), QuantityValue(amount=Decimal(20), unit="吨"), "differs"),
        (TimeValue(type="date", edtf="../2026-06-30"), TimeValue(type="date", edtf="2026-06-30"), "equal"),
        (TimeValue(type="duration", duration="P30D"), TimeValue(type="duration", duration="P60D"), "differs"),
    ],
)
def test_values_are_compared_as_wholes(new: MoneyValue, old: MoneyValue, relation: str) -> None:
    assert compare(new, old) == relation
