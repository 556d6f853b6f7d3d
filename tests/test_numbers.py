"""Numbers, percentages and quantities: every writing, and what is no amount."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordari.extractors.figures.chinese import read
from recordari.extractors.figures.english import spelled
from recordari.extractors.grammar import Found

Find = Callable[..., Found]
Said = Callable[..., list[str]]

CHINESE = {
    "一万二": "12000", "两百五": "250", "百二": "120", "廿": "20", "十五": "15", "三万五千二": "35200",
    "一千零三": "1003", "玖仟陆佰陆拾伍": "9665", "壹佰贰拾叁万肆仟伍佰": "1234500",
    "五亿零六万零五百零六": "500060506",
    "四万亿": "4000000000000", "3万5": "35000", "1.5个亿": "150000000", "25万6千": "256000", "1300 万": "13000000",
    "三点五": "3.5", "两千万点五": "20000000.5", "三十几": "~30..40", "十几万": "~100000..200000", "几十": "~10..100",
    "二十来个": "~20", "两三": "2..3", "三四十": "30..40", "十七八": "17..18", "八万多": ">80000", "二百余": ">200",
    "一千多万": ">10000000", "上百": ">=100",
}  # fmt: skip


@pytest.mark.parametrize(("text", "value"), CHINESE.items())
def test_a_chinese_numeral_is_read(text: str, value: str) -> None:
    got = read(text, 0)
    assert got is not None
    assert got[0].canonical == value


def chinese(number: int) -> str:
    """The plain Chinese writing of a number below 10^8, for the round trip."""
    digits, out = "零一二三四五六七八九", ""
    for unit, name in ((10**4, "万"), (1, "")):
        section, number = divmod(number, unit)
        if not section:
            continue
        if out and section < 1000:
            out += "零"
        zero = False
        for step, word in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
            digit, section = divmod(section, step)
            if digit:
                out += ("零" if zero and not out.endswith("零") else "") + digits[digit] + word
                zero = False
            elif out and out[-1] in "千百十":
                zero = True
        out += name
    return out or "零"


@given(st.integers(min_value=1, max_value=99_999_999))
def test_every_chinese_numeral_reads_back(number: int) -> None:
    text = chinese(number)
    got = read(text, 0)
    assert got is not None
    assert (got[0].amount, got[1]) == (Decimal(number), len(text))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a hundred and five", "105"),
        ("twenty-five", "25"),
        ("two dozen", "24"),
        ("three and a half million", "3500000"),
        ("half a million", "500000"),
        ("fifteen hundred", "1500"),
        ("five thousand, two hundred", "5200"),
        ("three point one four million", "3140000"),
        ("two hundred thousand and three", "200003"),
        ("three quarters", "0.75"),
        ("one million and a half", "1500000"),
        ("one hundred and three quarters", "100.75"),
    ],
)
def test_english_number_words_are_read(text: str, value: str) -> None:
    got = spelled(text, 0)
    assert got is not None
    assert (got[0].normalize(), got[1]) == (Decimal(value).normalize(), len(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("we sold 1,234.56 of them", ["number 1234.56"]),
        ("insgesamt 1.234.567,8", ["number 1234567.8"]),
        ("it was 1'234.50", ["number 1234.5"]),
        ("12,34,567 votes", ["quantity 1234567 votes"]),
        ("22, 24 and 26", ["number 22", "number 24", "number 26"]),
        ("lists 22,24,26", ["number 22", "number 24", "number 26"]),
        ("2 1/4 of it", ["number 2.25"]),
        ("3 million", ["number 3000000"]),
        ("40k of them", ["number 40000"]),
        ("1.3e6", ["number 1300000"]),
        ("三分之一的人", ["number 0.333333333333333"]),
        ("-5 or so", ["number ~-5"]),
        ("between 20 and 30", ["number 20..30"]),
        ("at least 20 and at most 30", ["number 20..30"]),
        ("no more than 700", ["number <=700"]),
        ("5万不到", ["number <50000"]),
        ("大概三十几", ["number ~30..40"]),
    ],
)
def test_a_number_is_found(said: Said, text: str, expected: list[str]) -> None:
    assert said(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("15%", ["percent 15%"]),
        ("百分之二十五点五", ["percent 25.5%"]),
        ("千分之二", ["percent 0.2%"]),
        ("三成", ["percent 30%"]),
        ("三成半", ["percent 35%"]),
        ("七成六", ["percent 76%"]),
        ("8折", ["percent 80%"]),
        ("85折", ["percent 85%"]),
        ("35个基点", ["percent 0.35%"]),
        ("35 basis points", ["percent 0.35%"]),
        ("12,5%", ["percent 12.5%"]),
        ("5-8%", ["percent 5..8%"]),
        ("不低于30%", ["percent >=30%"]),
    ],
)
def test_a_percentage_is_found(said: Said, text: str, expected: list[str]) -> None:
    assert said(text) == expected


def test_a_margin_knows_its_benchmark_and_a_rate_its_period(found: Find) -> None:
    margin = found("利率为LPR+35bp").mentions[0].value
    assert (margin.canonical, margin.base) == ("0.35%", "LPR")
    assert getattr(found("5% per annum").mentions[0].value, "per", None) == "P1Y"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8套", ["quantity 8 套"]),
        ("两三个人", ["quantity 2..3 个人"]),
        ("about 40 people", ["quantity ~40 people"]),
        ("more than 300 employees", ["quantity >300 employees"]),
        ("120平米以上", ["quantity >=120 平米"]),
        ("三斤半", ["quantity 3.5 斤"]),
        ("a six-mile walk", ["quantity 6 mile"]),
    ],
)
def test_a_quantity_is_found(said: Said, text: str, expected: list[str]) -> None:
    assert said(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "五一路", "万一下雨", "千万别去", "一下", "一些人", "十分感谢", "3章", "page 12", "section 4",
        "version v2.4.6", "v2.4.6", "room 305", "三天", "30 days", "at 5 o'clock", "成立了", "百姓", "the first one",
        "a quarter", "T34", "COVID19", "some say so", "over there",
    ],
)  # fmt: skip
def test_what_only_looks_like_an_amount_is_none(said: Said, text: str) -> None:
    assert [m for m in said(text) if m != "number 1"] == []


def test_ten_thousand_digits_are_no_number(said: Said) -> None:
    assert said("7" * 10_000) == []
    assert said("1,234," * 2_000) is not None


@given(st.text(alphabet="0123456789.,' 一二三十百千万亿点零半几多个$%年-", max_size=30))
def test_any_mix_of_figures_is_read_without_a_crash(found: Find, text: str) -> None:
    for mention in found(text).mentions:
        assert mention.text == text[mention.start : mention.end]
