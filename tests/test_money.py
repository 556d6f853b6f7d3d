"""Sums of money: signs, codes and words on either side, coins, ranges, bounds, periods, and what is no money."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordari.extractors.grammar import Found

Find = Callable[..., Found]
Said = Callable[..., list[str]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("USD34.6 million", "34600000 USD"),
        ("US$4.7bn", "4700000000 USD"),
        ("40 MUSD", "40000000 USD"),
        ("75 USD million", "75000000 USD"),
        ("$3MM", "3000000 USD"),
        ("$ 1.9 bln", "1900000000 USD"),
        ("$1.5mn", "1500000 USD"),
        ("RM12 million", "12000000 MYR"),
        ("-$23", "-23 USD"),
        ("EUR 1.234,56", "1234.56 EUR"),
        ("CHF 1'234.50", "1234.5 CHF"),
        ("45 000 euros", "45000 EUR"),
        ("ten pounds", "10 GBP"),
        ("3 dollars 50 cents", "3.5 USD"),
        ("a dollar and 42 cents", "1.42 USD"),
        ("20 rupees 43", "20.43 INR"),
        ("15 dollars and 50", "15.5 USD"),
        ("NZD $100.70", "100.7 NZD"),
        ("three quarters billion us dollars", "750000000 USD"),
        ("¥1.5万", "15000 CNY"),
        ("1,300万元", "13000000 CNY"),
        ("人民币伍万元整", "50000 CNY"),
        ("玖仟陆佰陆拾伍圆壹角捌分", "9665.18 CNY"),
        ("237元2角5分", "237.25 CNY"),
        ("3块5", "3.5 CNY"),
        ("五块六", "5.6 CNY"),
        ("三块零四", "3.04 CNY"),
        ("两毛五分", "0.25 CNY"),
        ("5万块", "50000 CNY"),
        ("1200亿美元", "120000000000 USD"),
        ("负200元", "-200 CNY"),
    ],
)
def test_a_sum_is_read_whole(said: Said, found: Find, text: str, expected: str) -> None:
    assert said(text) == [f"money {expected}"]
    assert found(text).mentions[0].text == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("between $10k and $12k", "10000..12000 USD"),
        ("15-20 usd", "15..20 USD"),
        ("$2-5 million", "2000000..5000000 USD"),
        ("20万到30万元", "200000..300000 CNY"),
        ("1-5万元", "10000..50000 CNY"),
        ("三到五百块", "300..500 CNY"),
        ("五六十块", "50..60 CNY"),
        ("about $10-$20", "~10..20 USD"),
        ("不超过80万元", "<=800000 CNY"),
        ("at most 7€", "<=7 EUR"),
        ("over 1.37 dollars", ">1.37 USD"),
        ("1.2元以下", "<=1.2 CNY"),
        ("大概3万块左右", "~30000 CNY"),
        ("十几万元", "~100000..200000 CNY"),
        ("3000多欧元", ">3000 EUR"),
    ],
)
def test_bounds_and_ranges_are_part_of_the_sum(said: Said, text: str, expected: str) -> None:
    assert said(text) == [f"money {expected}"]


@pytest.mark.parametrize(
    ("text", "per"),
    [
        ("$3,300 a month", "P1M"), ("每月5200元", "P1M"), ("5200元/月", "P1M"),
        ("3千元一平", "平方米"), ("$1,000-a-month", "P1M"), ("$40 per hour", "PT1H"),
        ("$ 1.34 a share", "share"), ("每平米3万元", "平方米"), ("$500 monthly", "P1M"),
    ],
)  # fmt: skip
def test_a_sum_knows_what_it_is_paid_for(found: Find, text: str, per: str) -> None:
    (mention,) = found(text).mentions
    assert mention.kind == "money"
    assert getattr(mention.value, "per", None) == per


@pytest.mark.parametrize(
    ("text", "locale", "expected"),
    [
        ("$5", None, "5 USD"), ("$5", "en-CA", "5 CAD"), ("¥300", None, "300 JPY"), ("花了¥300", None, "300 CNY"),
        ("5元", "zh-TW", "5 TWD"), ("10 kr", "nb-NO", "10 NOK"), ("10 dinars", None, "10 XXX"),
    ],
)  # fmt: skip
def test_an_ambiguous_sign_is_settled_by_policy(said: Said, text: str, locale: str | None, expected: str) -> None:
    assert said(text, locale) == [f"money {expected}"]


def test_a_number_beside_a_money_label_is_money_without_currency(said: Said) -> None:
    assert said("预算是8万") == ["money 80000 XXX"]
    assert said("8万的预算") == ["money 80000 XXX"]
    assert said("the budget is 80k") == ["money 80000 XXX"]


def test_a_label_in_another_clause_or_a_small_count_makes_no_money(said: Said) -> None:
    assert said("预算没定。来了8万人") == ["quantity 80000 人"]
    assert said("买8套") == ["quantity 8 套"]
    assert said("the budget has 3 parts") == ["number 3"]


@pytest.mark.parametrize(
    "text",
    [
        "一分钱一分货", "元旦快乐", "五角大楼", "一块去吧", "a grand hall", "he won the game", "in a pound shop",
        "all of us", "万元户", "version v2.4.6", "the kip and the won",
    ],
)  # fmt: skip
def test_what_only_sounds_like_money_is_none(said: Said, text: str) -> None:
    assert [m for m in said(text) if m.startswith("money")] == []


def test_glued_text_is_cut_where_the_sum_ends(said: Said) -> None:
    assert said("3541.07万元2.3本项目") == ["money 35410700 CNY", "number 2.3"]


def test_sums_in_a_row_stay_apart(said: Said) -> None:
    assert said("30 rmb 40 usd") == ["money 30 CNY", "money 40 USD"]
    assert said("$ 20,000.00 $ 37,305.97") == ["money 20000 USD", "money 37305.97 USD"]


def test_a_movement_from_one_sum_to_another_is_no_range(said: Said) -> None:
    assert said("turnover fell $2.3 million to $31.6 million") == ["money 2300000 USD", "money 31600000 USD"]
    assert said("the price went from $10 to $12") == ["money 10 USD", "money 12 USD"]
    assert said("from $10 to $12") == ["money 10..12 USD"]


def test_two_sums_joined_by_and_are_no_range(said: Said) -> None:
    assert said("$5 and $10") == ["money 5 USD", "money 10 USD"]
    assert said("between $5 and $10") == ["money 5..10 USD"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # sign, code and word on either side, glued or not
        ("50 MUSD", "50000000 USD"), ("USD5000", "5000 USD"), ("5usd", "5 USD"), ("€1 234,56", "1234.56 EUR"),
        ("1.234,56 EUR", "1234.56 EUR"), ("₹12,34,567", "1234567 INR"), ("₹5 lakh", "500000 INR"),
        ("Rs. 2.5 crore", "25000000 INR"), ("HK$50k", "50000 HKD"), ("two grand", "2000 USD"), ("50 quid", "50 GBP"),
        ("12€50", "12.5 EUR"), ("$.99", "0.99 USD"), ("1 dollar and 5 cents", "1.05 USD"), ("$-23", "-23 USD"),
        ("one and a half million euros", "1500000 EUR"), ("from 2 point 4 to two point six dollars", "2.4..2.6 USD"),
        ("$ 31 . 6 million", "31600000 USD"), ("several million euros", "~3000000..10000000 EUR"),
        ("12.345 KWD", "12.345 KWD"), ("123456789012345678901234 美元", "123456789012345678901234 USD"),
        # Chinese
        ("一千二百块", "1200 CNY"), ("两块五毛五", "2.55 CNY"), ("十块零五分", "10.05 CNY"), ("3k元", "3000 CNY"),
        ("3w元", "30000 CNY"), ("新台币三千元", "3000 TWD"), ("30余万元", ">300000 CNY"),
        ("三五千元", "3000..5000 CNY"),
        ("10万元-20万元", "100000..200000 CNY"), ("百八十块", "~80..100 CNY"), ("几百块", "~100..1000 CNY"),
    ],
)  # fmt: skip
def test_every_way_to_write_a_sum(said: Said, text: str, expected: str) -> None:
    assert said(text) == [f"money {expected}"]


@pytest.mark.parametrize(
    ("text", "locale", "expected"),
    [
        ("500 kr", None, "500 XXX"), ("500 kr", "sv-SE", "500 SEK"), ("$5万元", None, "50000 XXX"),
        ("¥1.5万", None, "15000 CNY"), ("¥500 JPY", None, "500 JPY"), ("C$5 CAD", None, "5 CAD"),
        ("£5", "ar-EG", "5 EGP"), ("50 rials", None, "50 XXX"),
    ],
)  # fmt: skip
def test_a_sign_that_nothing_settles_leaves_the_currency_open(
    said: Said, text: str, locale: str | None, expected: str
) -> None:
    assert said(text, locale) == [f"money {expected}"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("收入(万元):1,200", "12000000 CNY"), ("收入（人民币万元）：1,200", "12000000 CNY"), ("订金(元)500", "500 CNY"),
        ("Revenue ($m): 120", "120000000 USD"), ("Sales (in thousands of USD): 85", "85000 USD"),
        ("300（万元）", "3000000 CNY"), ("1,5 Mio. €", "1500000 EUR"),
        ("Price (USD): 500", "500 USD"), ("(USD): $500", "500 USD"), ("(万元):300万元", "3000000 CNY"),
    ],
)  # fmt: skip
def test_a_unit_in_brackets_counts_for_the_figure_behind_it(said: Said, text: str, expected: str) -> None:
    assert said(text) == [f"money {expected}"]


def test_a_heading_gives_its_unit_to_the_figures_below_it(said: Said) -> None:
    table = "单位：万元\n项目 2023\n1 材料 1,350\n运输 -20"
    assert said(table) == ["number 2023", "number 1", "money 13500000 CNY", "money -200000 CNY"]
    assert said("(USD in thousands)\nFreight 1,200") == ["money 1200000 USD"]


def test_a_heading_says_nothing_about_prose_above_it_or_below(said: Said) -> None:
    assert said("材料 1,350\n单位：万元") == ["number 1350"]
    assert said("单位：万元\n另外我们招了20位。") == ["quantity 20 位"]
    assert said("(USD in thousands)\nWe hired 20. Then we left.") == ["number 20"]


@pytest.mark.parametrize(
    "text",
    ["人民币5美元", "US$5 CAD", "€5 USD", "(USD): 500 EUR", "(万元):300元", "单位：万元 单位：千元\n材料 1,350"],
)
def test_two_units_that_contradict_each_other_leave_no_value_and_a_reason(found: Find, text: str) -> None:
    got = found(text)
    assert got.mentions == ()
    assert [refused.why.startswith("two units") for refused in got.refused] == [True]


def test_two_sums_side_by_side_are_no_contradiction(said: Said) -> None:
    assert said("100 USD, EUR 50") == ["money 100 USD", "money 50 EUR"]
    assert said("$5 USD") == ["money 5 USD"]
    assert said("40 - $3.00") == ["number 40", "money 3 USD"]


@pytest.mark.parametrize("text", ["停车免费", "不要钱", "parking is free", "free of charge", "Free!"])
def test_what_costs_nothing_is_a_sum_of_zero(said: Said, text: str) -> None:
    assert said(text) == ["money 0 XXX"]


@pytest.mark.parametrize(
    "text",
    [
        "不免费", "要不要钱包", "收不收费", "feel free to call", "the fee is not free", "a free man", "duty-free shop",
        "he lost 25 pounds", "第3章第5条", "电话13800138000", "3.2本项目", "2024年", "九牛一毛",
    ],
)  # fmt: skip
def test_what_stands_near_money_or_sounds_like_it_is_none(said: Said, text: str) -> None:
    assert [m for m in said(text) if m.startswith("money")] == []


def test_a_long_table_costs_what_its_length_says(said: Said) -> None:
    rows = "\n".join(f"item {number} 1,2{number % 10}0" for number in range(300))
    sums = [each for each in said("(USD in thousands)\n" + rows) if each.startswith("money")]
    assert len(sums) == 300
    assert said("(USD in thousands)\n" + "7 and " * 200)[:2] == ["number 7", "number 7"]


@given(st.text(alphabet="0123456789.,'$€£¥ 万元块毛分角亿美人民币(单位:)\nUSDEURkmbn-~±", max_size=40))
def test_any_mix_of_money_is_read_without_a_crash(found: Find, text: str) -> None:
    for mention in found(text).mentions:
        assert mention.text == text[mention.start : mention.end]
