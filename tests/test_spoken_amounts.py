"""Amounts as people say them: ranges of number words, coins, interest in 分, signs on both sides, and set phrases."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from recordari.extractors.grammar import Found

Find = Callable[..., Found]
Said = Callable[..., list[str]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("between one million and two million dollars", "money 1000000..2000000 USD"),
        ("between two hundred and three hundred euros", "money 200..300 EUR"),
        ("between two hundred and three thousand euros", "money 200..3000 EUR"),
        ("between one hundred and two hundred thousand pounds", "money 100000..200000 GBP"),
        ("between ninety and one hundred and ten yuan", "money 90..110 CNY"),
        ("between one hundred and five and two hundred", "number 105..200"),
        ("from six hundred thousand to one million", "number 600000..1000000"),
    ],
)
def test_a_range_of_number_words_keeps_its_two_ends(said: Said, text: str, expected: str) -> None:
    assert said(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("they paid two hundred and three thousand dollars", ["money 203000 USD"]),
        ("it was one hundred and five", ["number 105"]),
        ("four million and two hundred", ["number 4000200"]),
        ("one hundred and one hundred", ["number 100", "number 100"]),
    ],
)
def test_and_within_one_number_parts_nothing(said: Said, text: str, expected: list[str]) -> None:
    assert said(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("it was a dollar fifty", ["money 1.5 USD"]),
        ("we paid a pound twenty", ["money 1.2 GBP"]),
        ("two dimes and three quarters", ["money 0.95 USD"]),
        ("it costs a quarter", ["money 0.25 USD"]),
        ("块八毛", ["money 1.8 CNY"]),
        ("五十欧", ["money 50 EUR"]),
        ("本票面额肆佰叁拾万", ["money 4300000 XXX"]),
        ("$1,200 per square foot", ["money 1200 USD"]),
        ("1,000 dollars per square foot", ["money 1000 USD"]),
        ("$600ish", ["money ~600 USD"]),
    ],
)
def test_coins_and_short_forms_are_sums(said: Said, text: str, expected: list[str]) -> None:
    assert said(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "sales rose in the last quarter", "a quarter of an hour", "it costs a quarter more",
        "这块八角形的布", "五欧姆的电阻", "欧洲五国",
        "咱俩三七分", "得了九十五分", "五毛党又来了", "肆拾岁", "陆地上", "拾起来", "三刀流",
    ],
)  # fmt: skip
def test_what_only_sounds_like_coins_is_no_sum(said: Said, text: str) -> None:
    assert [m for m in said(text) if m.startswith("money")] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("月息两分", ["percent 2%"]),
        ("月息1分2厘", ["percent 1.2%"]),
        ("年息一分五", ["percent 15%"]),
        ("年利八厘", ["percent 8%"]),
        ("plus or minus 3%", ["percent -3..3%"]),
        ("上下浮动5%", ["percent -5..5%"]),
        ("three-quarters of one percent", ["percent 0.75%"]),
        ("half of one percent", ["percent 0.5%"]),
        ("百分之五至七", ["percent 5..7%"]),
        ("千分之三到五", ["percent 0.3..0.5%"]),
        ("minus 3%", ["percent -3%"]),
        ("百分之五到手", ["percent 5%"]),
    ],
)
def test_rates_are_read_as_spoken(said: Said, text: str, expected: list[str]) -> None:
    assert said(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("选一个，$20，300美元", ["money 20 USD", "money 300 USD"]),
        ("£15，250英镑都行", ["money 15 GBP", "money 250 GBP"]),
        ("合同价¥1，200元", ["money 1200 CNY"]),
        ("$1,200美元", ["money 1200 USD"]),
        ("合计20，300元", ["money 20300 CNY"]),
    ],
)
def test_a_chinese_comma_parts_two_sums_with_a_currency_on_either_side(
    said: Said, text: str, expected: list[str]
) -> None:
    assert said(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one in five people", ["number 0.2"]),
        ("one in six directors resigned", ["number 0.166666666666667"]),
        ("more than one in three", ["number >0.333333333333333"]),
        ("大盘跌破3000点", ["quantity 3000 点"]),
        ("来了小两千人", ["quantity ~2000 人"]),
        ("50ish", ["number ~50"]),
        ("一二三四五", []),
        ("they won 1-0", []),
        ("four quarters", []),
        ("减小一百", ["number 100"]),
        ("二十点", []),
        ("there is one in Lyon", []),
    ],
)
def test_shares_points_and_near_amounts(said: Said, text: str, expected: list[str]) -> None:
    assert said(text) == expected


@pytest.mark.parametrize(
    "text", ["两人半斤八两", "从此一刀两断", "他两面三刀", "花样五花八门", "a nine to five job", "her 401(k)"]
)
def test_a_set_phrase_is_refused_whole(found: Find, text: str) -> None:
    (refused,) = found(text).refused
    assert refused.why == "a set phrase"
    assert not [m for m in found(text).mentions if m.end > refused.start]


def test_the_unit_over_a_table_is_no_sum_of_its_own(said: Said) -> None:
    assert said("(in thousands of US dollars)\nRevenue 1,200") == ["money 1200000 USD"]
    assert said("they lost thousands of dollars") == ["money ~1000..10000 USD"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("around a hundred and twenty, give or take ten", ["number ~110..130"]),
        ("$120, give or take $10", ["money 110..130 USD"]),
        ("10% plus or minus 2%", ["percent 8..12%"]),
        ("thirty-odd thousand dollars", ["money ~30000..40000 USD"]),
        ("2 to 2.5k a month", ["number 2000..2500"]),
        ("预算大概在八到十万之间", ["money ~80000..100000 XXX"]),
        ("百八十万", ["number ~800000..1000000"]),
        ("about 120, give him ten", ["number ~120", "number 10"]),
        ("thirty odd jobs", ["number 30"]),
    ],
)
def test_softened_ranges_keep_both_ends(said: Said, text: str, expected: list[str]) -> None:
    assert said(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("来了上万人", ["quantity >=10000 人"]),
        ("近万人参加", ["quantity ~10000 人"]),
        ("销售额破亿", ["money >100000000 XXX"]),
        ("花了万余元", ["money >10000 CNY"]),
        ("赚了几个亿", ["money ~100000000..1000000000 XXX"]),
        ("起码得三百", ["number >=300"]),
        ("撑死三百块", ["money <=300 CNY"]),
        ("不止三百人", ["quantity >300 人"]),
        ("we can go up to 1.5 mil", ["number <=1500000"]),
        ("晚上万达见", []),
        ("通过亿达找人", []),
        ("附近万科", []),
        ("万一下雨", []),
        ("seven figures", []),
    ],
)
def test_a_unit_alone_counts_one_behind_its_words(said: Said, text: str, expected: list[str]) -> None:
    assert said(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a loss of $(2.3) million", ["money -2300000 USD"]),
        ("USD (1,200)", ["money -1200 USD"]),
        ("利润(1,200)万元", ["money -12000000 CNY"]),
        ("the fee ($500) is due", ["money 500 USD"]),
        ("佣金万三", ["percent 0.03%"]),
        ("万2.5的手续费", ["percent 0.025%"]),
        ("万三高速", []),
        ("leverage not to exceed 3.5x", ["quantity <=3.5 x"]),
        ("a 1920x1080 screen", []),
        ("3 x $200", ["number 3", "money 200 USD"]),
    ],
)
def test_signs_of_accounts_and_of_fees(said: Said, text: str, expected: list[str]) -> None:
    assert said(text) == expected


def test_a_number_for_each_keeps_what_it_is_for(found: Find) -> None:
    for text, per in (("20k/月", "P1M"), ("5,000 a month", "P1M"), ("8.5万/平", "平方米")):
        (mention,) = found(text).mentions
        assert getattr(mention.value, "per", None) == per
    for text in ("5,000 of them", "5,000 a year ago"):
        assert getattr(found(text).mentions[0].value, "per", None) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(USD in millions)\nRevenue 12.3\nHeadcount 450", ["money 12300000 USD", "number 450"]),
        ("单位：万元 币种：人民币\n货款 350", ["money 3500000 CNY"]),
        ("币种：美元\n金额：350\n税费：130", ["money 350 USD", "money 130 USD"]),
        ("($ in thousands)\nCash 1,200\nDebt (3,400)\nNote (3) 500", [
            "money 1200000 USD", "money -3400000 USD", "number 3", "money 500000 USD",
        ]),
        ("(in thousands)\nTonnes shipped 1,250", ["number 1250000"]),
        ("Item Price ($)\nDesk 310", ["money 310 USD"]),
        ("paid ($500)\nDesk 310", ["money 500 USD", "number 310"]),
        ("金额为300（单位：万元）", ["money 3000000 CNY"]),
        ("the fee (in EUR) is 700", ["money 700 EUR"]),
        ("the fee in dollars is 700", ["money 700 USD"]),
        ("reserves of 700 (in thousands)", ["number 700000"]),
        ("预算(k): 80", ["money 80000 XXX"]),
        ("fee 700 (m)", ["money 700 XXX"]),
        ("(k) 80 of them", ["number 80"]),
    ],
)  # fmt: skip
def test_units_in_headings_and_brackets_hold_where_they_are_meant(said: Said, text: str, expected: list[str]) -> None:
    assert said(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "单位：万元\n单位：美元\n货款 350",
        "单位：万元/美元\n货款 350",
        "单位：元（万元）\n货款 350",
        "Price in USD: 500 EUR",
    ],
)
def test_two_units_of_one_heading_are_refused(found: Find, text: str) -> None:
    got = found(text)
    assert [m for m in got.mentions if m.kind == "money"] == []
    assert [refused.why.startswith("two units") for refused in got.refused] == [True]


def test_the_number_of_a_room_is_no_deposit(said: Said) -> None:
    assert said("房间302押金500") == ["money 500 XXX"]
    assert said("500的押金") == ["money 500 XXX"]
