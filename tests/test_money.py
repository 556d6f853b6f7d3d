"""Sums of money: signs, codes and words on either side, coins, ranges, bounds, periods, and what is no money."""

from __future__ import annotations

from collections.abc import Callable

import pytest

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
        ("$3,300 a month", "P1M"), ("每月5200元", "P1M"), ("5200元/月", "P1M"), ("$40 per hour", "PT1H"),
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
