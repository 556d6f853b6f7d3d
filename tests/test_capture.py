"""From words to candidates: labels, owners, acts, replaced values, frames and fragments."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recordari.extractors.scan import scan
from recordari.model import Candidate, Turn
from recordari.rules.book import book_of
from recordari.rules.capture import Captured, capture
from recordari.rules.labels import as_said, is_head, is_tail, key
from recordari.rules.load import load

AT = datetime(2026, 3, 18, 10, tzinfo=UTC)
RULES = load()


def caught(text: str, speaker: str = "user") -> Captured:
    turn = Turn.model_validate({"turn_id": "t", "text": text, "speaker": speaker, "said_at": AT, "received_at": AT})
    return capture(turn, scan(text, RULES.extraction, said_at=AT, speaker=turn.speaker, ner=False), RULES)


def candidates(text: str, speaker: str = "user") -> tuple[Candidate, ...]:
    return caught(text, speaker).candidates


def only(text: str, speaker: str = "user") -> Candidate:
    found = candidates(text, speaker)
    assert len(found) == 1, [(c.slot, c.qualifier, c.value) for c in found]
    return found[0]


def canonical(candidate: Candidate) -> str:
    assert candidate.value is not None
    return candidate.value.canonical


# ---------------------------------------------------------------- labels
@pytest.mark.parametrize(
    ("text", "slot", "qualifier", "value"),
    [
        ("The escrow holdback is $25,000.", "amount", "escrow holdback", "25000 USD"),
        ("Plan A costs $2,000.", "amount", "plan a", "2000 USD"),
        ("Storage fees run at 3% per month.", "rate", "storage fee", "3%"),
        ("仲裁费8万元。", "amount", "仲裁费", "80000 CNY"),
        ("我要购汇3万美元。", "amount", "购汇", "30000 USD"),
        ("乙合同首款6万元。", "amount", "乙合同首款", "60000 CNY"),
        ("Initial deposit 改为 USD 60,000。", "amount", "initial deposit", "60000 USD"),
        ("公证费一口价7千元。", "amount", "公证费", "7000 CNY"),
        ("提成按净利润的7%。", "rate", "提成", "7%"),
        ("股东会批了1.24亿元的扩建预算上限。", "budget", "扩建", "<=124000000 CNY"),
        ("3月26日上午九点交割。", "event", "交割", "2026-03-26T09:00"),
        ("样机发布日定在10月14日。", "event", "样机发布日", "2026-10-14"),
        ("年薪大概30万元。", "amount", "年薪", "~300000 CNY"),
    ],
)
def test_any_label_beside_a_value_is_its_qualifier(text: str, slot: str, qualifier: str, value: str) -> None:
    found = only(text)
    assert (found.slot, found.qualifier, canonical(found)) == (slot, qualifier, value)


def test_a_known_label_is_its_concept_and_an_unknown_one_is_itself() -> None:
    assert only("市场预算8万元。").qualifier == only("The marketing budget is $80,000.").qualifier == "marketing"
    assert only("展厅预算8万元。").qualifier == "展厅"


def test_two_values_of_a_clause_each_have_their_own_label() -> None:
    found = candidates("首付款24万元，尾款56万元。")
    assert [(c.qualifier, canonical(c)) for c in found] == [
        ("down payment", "240000 CNY"),
        ("final payment", "560000 CNY"),
    ]
    found = candidates("The retainer is $14,000 and the second draft is due April 23.")
    assert [(c.slot, c.qualifier) for c in found] == [("amount", "retainer"), ("deadline", "second draft")]


def test_a_clause_without_a_noun_goes_on_about_the_same_thing() -> None:
    found = candidates("第三期260万元，2026年8月31日前付。")
    assert [(c.slot, c.qualifier) for c in found] == [("amount", "第三期"), ("deadline", "第三期")]


def test_a_number_beside_a_money_noun_is_money_and_elsewhere_none() -> None:
    assert [c.slot for c in candidates("鉴定费是三百六。")] == ["amount"]
    assert candidates("第三条不变。") == ()


def test_now_dates_nothing() -> None:
    found = only("仓租现在每月3600元。")
    assert (found.slot, found.qualifier) == ("amount", "仓租")


@given(st.text(alphabet="abcde 的费款预算中文AB", max_size=20))
@example("A的的A")
def test_the_key_of_a_label_is_its_own_key(label: str) -> None:
    assert key(key(label)) == key(label)


def test_a_tail_is_a_whole_word() -> None:
    assert is_tail("limit", "revolver limit")
    assert is_tail("利率", "年利率")
    assert not is_tail("mit", "revolver limit")
    assert not is_tail("率", "年利率")
    assert is_head("样品", "样品寄")
    assert not is_head("pledg", "pledge clinic")


# ---------------------------------------------------------------- owners
@pytest.mark.parametrize(
    ("text", "entity"),
    [
        ("我太太的电话是13800000001。", "太太"),
        ("My sister's phone number is 312-555-0155.", "sister"),
        ("My brother earns $90,000 a year.", "brother"),
        ("My colleague Maren works at Fernhall Bank.", "Maren"),
        ("我同学阿康在星野科技工作。", "阿康"),
        ("我表哥买房的预算是35万元。", "表哥"),
    ],
)
def test_a_value_belongs_to_whom_the_words_name(text: str, entity: str) -> None:
    assert candidates(text)[0].entity == entity


@pytest.mark.parametrize("text", ["我的电话是13800000001。", "My phone number is 312-555-0155.", "律师费8万元。"])
def test_a_value_of_nobody_else_is_the_principals(text: str) -> None:
    assert only(text).entity is None


def test_a_number_right_after_a_named_person_is_that_persons() -> None:
    found = candidates("担保人是陶铭，电话13800000002。")
    assert [(c.slot, c.entity) for c in found] == [("party", None), ("phone", "陶铭")]


# ---------------------------------------------------------------- acts and replaced values
@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("培训预算9万元。", "state"),
        ("装修预算改成13万元。", "change"),
        ("物流预算提高到170万元。", "change"),
        ("更正：律师费是5.8万元。", "correct"),
        ("借款本金应为25万元。", "correct"),
        ("Rent has been renegotiated to $2,870 a month.", "change"),
        ("Correction: the retainer is $13,000.", "correct"),
    ],
)
def test_the_verb_or_a_cue_gives_the_act(text: str, act: str) -> None:
    assert only(text).act == act


@pytest.mark.parametrize(
    ("text", "new", "old", "act"),
    [
        ("展会预算从26万元改成21万元。", "210000 CNY", "260000 CNY", "change"),
        ("The order total is $3,920, not $3,290.", "3920 USD", "3290 USD", "correct"),
        ("展品改成7套，不是17套。", "7 套", "17 套", "correct"),
        ("预期收益率5.6%写错了，是5.2%。", "5.2%", "5.6%", "correct"),
        ("The fee is no longer $200, it's $250.", "250 USD", "200 USD", "change"),
    ],
)
def test_a_value_taken_back_is_no_candidate_of_its_own(text: str, new: str, old: str, act: str) -> None:
    found = only(text)
    assert found.old is not None
    assert (canonical(found), found.old.canonical, found.act) == (new, old, act)


def test_the_way_of_a_change_is_no_value() -> None:
    found = [c for c in candidates("Turnover fell $2.3 million to $31.6 million.") if c.value is not None]
    assert [(c.qualifier, canonical(c)) for c in found] == [("turnover", "31600000 USD")]


def test_either_or_is_neither() -> None:
    assert {c.confidence for c in candidates("Either $5,000 or $6,000, not sure yet.")} == {"low"}


def test_a_repair_takes_the_label_of_what_it_repairs() -> None:
    found = only("Put the retainer at $13,000, scratch that, $8,700.")
    assert (found.slot, found.qualifier, canonical(found)) == ("amount", "retainer", "8700 USD")


def test_a_value_called_void_with_nothing_in_its_place_is_withdrawn() -> None:
    found = only("刚才说的20万元作废。")
    assert found.act == "retract"
    assert found.old is not None
    assert found.old.canonical == "200000 CNY"


@pytest.mark.parametrize(
    ("text", "operator"),
    [
        ("再加两万元吧。", "add"),
        ("推广预算砍掉12万元。", "subtract"),
        ("推迟一周。", "later"),
        ("Cut it by $500.", "subtract"),
    ],
)
def test_an_amount_of_change_is_no_new_value(text: str, operator: str) -> None:
    found = only(text)
    assert found.act == "adjust"
    assert found.value is None
    assert found.adjustment is not None
    assert found.adjustment.operator == operator


@pytest.mark.parametrize("text", ["预算提高到8万元。", "Cut the budget to $500."])
def test_a_change_to_a_value_is_no_adjustment(text: str) -> None:
    assert only(text).adjustment is None


@pytest.mark.parametrize(
    "text", ["还是8万元吧。", "No, I mean sixteen thousand dollars.", "Make that June 30.", "改后天吧。"]
)
def test_a_value_alone_leaves_slot_and_label_open(text: str) -> None:
    found = only(text)
    assert (found.form, found.slot, found.qualifier) == ("bare", None, None)


@pytest.mark.parametrize(
    ("text", "part", "value"),
    [
        ("不是澳元，是人民币。", "currency", "CNY"),
        ("年份错了，是2027年。", "year", "2027"),
        ("不是15日，是25日。", "day_of_month", "25"),
        ("尾号不是8881，是8818。", "digits", "8818"),
    ],
)
def test_a_part_of_a_value_is_a_patch(text: str, part: str, value: str) -> None:
    found = only(text)
    assert found.patch is not None
    assert (found.form, found.patch.part, found.patch.value) == ("part", part, value)


# ---------------------------------------------------------------- frames
@pytest.mark.parametrize(
    ("text", "slot", "value"),
    [
        ("I've switched from rooibos to cider.", "preference", "cider"),
        ("适用瑞士法律。", "law", "瑞士"),
        ("订单状态是待发货。", "status", "待发货"),
        ("The ticket status is now closed.", "status", "closed"),
        ("担保人是陶铭。", "party", "陶铭"),
        ("I'm allergic to peanuts.", "health", "peanuts"),
    ],
)
def test_a_frame_takes_a_stretch_of_text(text: str, slot: str, value: str) -> None:
    found = only(text)
    assert (found.slot, canonical(found)) == (slot, value)


def test_what_is_allowed_and_its_denial_share_a_label() -> None:
    yes, no = only("周四可以提货。"), only("周四不可以提货。")
    assert yes.qualifier == no.qualifier
    assert (yes.assertion.polarity, no.assertion.polarity) == ("affirmed", "negated")


def test_an_office_does_not_name_its_holder_beside_a_price() -> None:
    assert [c.slot for c in candidates("The arbitrator's fee is $58,000.")] == ["amount"]


def test_an_agent_only_proposes() -> None:
    assert {c.act for c in candidates("建议把免赔额设为40万元。", "assistant")} == {"propose"}
    assert candidates("好的。", "assistant") == ()


@pytest.mark.parametrize("text", ["", "。", "你好", "Thanks!", "一二三四五六七八九" * 5])
def test_words_without_a_fact_give_no_value(text: str) -> None:
    assert [c for c in candidates(text) if c.value is not None] == []


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="预算是改成8万元,。不 Thebudgtis$50.\n到从A", max_size=40))
def test_every_span_of_a_candidate_lies_in_the_text(text: str) -> None:
    for found in candidates(text):
        assert 0 <= found.start <= found.end <= len(text)
        for start, end in found.evidence:
            assert 0 <= start <= end <= len(text)


def test_the_same_turn_is_captured_the_same_way_twice() -> None:
    text = "甲方是鸿远公司，合同金额34万元，付款期限20日。"
    assert caught(text) == caught(text)


def test_the_rules_of_a_set_are_compiled_once() -> None:
    assert book_of(RULES) is book_of(RULES)


def test_an_english_label_keeps_the_letters_it_was_said_in() -> None:
    assert as_said("it", "Trim the IT budget to $75,000.") == "IT"
    assert as_said("acme ltd", "The budget of Acme  Ltd is $5,000.") == "Acme  Ltd"
    assert as_said("iphone insurance fee", "My iPhone insurance fee is $20.") == "iPhone insurance fee"


def test_a_capital_that_begins_a_sentence_or_stands_among_capitals_is_no_name() -> None:
    assert as_said("legal", "Legal budget $60,000; IT budget $90,000.") == "legal"
    assert as_said("legal", "It is set. Legal budget: $60,000.") == "legal"
    assert as_said("legal", "THE LEGAL BUDGET IS $5,000.") == "legal"
    assert as_said("rent", "The Trent fee is $5.") == "rent"
    assert as_said("市场", "市场预算5万元，IT budget 3万元") == "市场"
