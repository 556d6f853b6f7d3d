"""Numbers, percentages and quantities: every writing, and what is no amount."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shipped import shipped

from recordari.extractors.grammar import Found, Grammar
from recordari.extractors.numbers import Numbers
from recordari.extractors.text import normalize

Find = Callable[..., Found]
Said = Callable[..., list[str]]

NUMBERS = Numbers(shipped().vocabularies)
assert NUMBERS.chinese is not None
assert NUMBERS.english is not None
read, spelled = NUMBERS.chinese.read, NUMBERS.english.spelled

CHINESE = {
    "一万二": "12000", "两百五": "250", "百二": "120", "廿": "20", "十五": "15", "三万五千二": "35200",
    "一千零三": "1003", "玖仟陆佰陆拾伍": "9665", "壹佰贰拾叁万肆仟伍佰": "1234500",
    "五亿零六万零五百零六": "500060506",
    "四万亿": "4000000000000", "3万5": "35000", "1.5个亿": "150000000", "25万6千": "256000", "1300 万": "13000000",
    "三点五": "3.5", "两千万点五": "20000000.5", "三十几": "~30..40", "十几万": "~100000..200000", "几十": "~10..100",
    "二十来个": "~20", "两三": "2..3", "三四十": "30..40", "十七八": "17..18", "八万多": ">80000", "二百余": ">200",
    "一千多万": ">10000000", "上百": ">=100", "一个多亿": ">100000000", "三百零几": "~300..310",
    "三百零几万": "~3000000..3100000", "百八十": "~80..100", "数十亿": "~1000000000..10000000000",
    "三百点两": "300", "十二万三千四百五十六点七八": "123456.78", "五十万三": "503000", "一百一": "110",
    "一万五十": "10050", "〇": "0", "四千万八千三百亿": "4000830000000000",
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
        "五一路", "万一下雨", "千万别去", "一下", "一些人", "十分感谢", "3弄", "page 12", "section 4",
        "version v2.4.6", "v2.4.6", "room 305", "三天", "30 days", "at 5 o'clock", "成立了", "百姓", "the first one",
        "a quarter", "T34", "COVID19", "some say so", "over there",
    ],
)  # fmt: skip
def test_what_only_looks_like_an_amount_is_none(said: Said, text: str) -> None:
    assert [m for m in said(text) if m != "number 1"] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # groupings and decimals
        ("1,234.56", "1234.56"), ("1.234,56", "1234.56"), ("1'234", "1234"), ("1 234,56", "1234.56"),
        ("12,34,567", "1234567"), (".5", "0.5"), ("2.7 x 10^5", "270000"), ("2.5E-3", "0.0025"),
        ("3½", "3.5"), ("½", "0.5"), ("1 point 5 million", "1500000"),
        # scales
        ("40 mn", "40000000"), ("7 mil", "7000000"), ("5 bn", "5000000000"), ("3 bln", "3000000000"),
        ("-2.5 M", "-2500000"), ("三千万", "30000000"), ("1亿2千万", "120000000"), ("eighty - four", "84"),
        # softened and open
        ("不到5万", "<50000"), ("近百万", "~1000000"), ("上千万", ">=10000000"), ("10,000+", ">=10000"),
        ("a couple of thousand", "~2000"), ("several hundred", "~300..1000"), ("fifty-odd", "~50..60"),
        ("20-something", "~20..30"), ("10±2", "8..12"), ("up to 10k", "<=10000"), ("less than half", "<0.5"),
        ("八九百", "800..900"),
        # shares
        ("1 over 8", "0.125"), ("three out of eight", "0.375"), ("one sixty-fourth", "0.015625"),
        ("a hundred billionths", "0.0000001"), ("five thirty-thirds", "0.151515151515152"),
        ("a ninth", "0.111111111111111"), ("负三又四分之一", "-3.25"), ("3 in 4 or more", ">=0.75"),
        # as a scanner leaves them
        ("六千 二百 四十七", "6247"), ("8万 3千 6百", "83600"), ("四百 六 又 四 分之 一", "460.25"),
    ],
)  # fmt: skip
def test_a_number_alone_is_read_whole(said: Said, found: Find, text: str, expected: str) -> None:
    assert said(text) == [f"number {expected}"]
    assert found(text).mentions[0].text == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("三到五成", "30..50%"),
        ("七到八折", "70..80%"),
        ("七五折", "75%"),
        ("±5%", "-5..5%"),
        ("5%±1%", "4..6%"),
        ("负百分之二", "-2%"),
        ("万分之三", "0.03%"),
        ("5‰", "0.5%"),
        ("50bp", "0.5%"),
        ("两成半", "25%"),
        ("百分之六 十", "60%"),
        ("三点 二个百分点", "3.2%"),
        ("万万分之九", "0.000009%"),
    ],
)
def test_a_percentage_alone_is_read_whole(said: Said, text: str, expected: str) -> None:
    assert said(text) == [f"percent {expected}"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("第三稿", "3"),
        ("第二十一", "21"),
        ("第12", "12"),
        ("forty-first", "41"),
        ("the 3rd draft", "3"),
        ("the 112th page", "112"),
        ("the one hundred and first time", "101"),
        ("my second choice", "2"),
        ("four billionth", "4000000000"),
        ("between the eighth and the twelfth", "8..12"),
        ("排在第八和第十二之间", "8..12"),
        ("见一百零八章", "108"),
    ],
)
def test_an_ordinal_is_a_number_marked_as_such(found: Find, text: str, expected: str) -> None:
    (mention,) = found(text).mentions
    assert (mention.value.canonical, getattr(mention.value, "unit", None)) == (expected, "ordinal")


@pytest.mark.parametrize(
    "text",
    [
        "at first we waited", "First, we wait", "first of all", "his first name", "first aid", "wait a second",
        "in twelve seconds", "The First Meridian", "问第三方", "第一时间回复", "the 12st", "two thirds of it",
    ],
)  # fmt: skip
def test_what_only_sounds_like_an_ordinal_is_none(found: Find, text: str) -> None:
    assert [m for m in found(text).mentions if getattr(m.value, "unit", None) == "ordinal"] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a ratio of 3 to 2", "1.5"), ("a ratio of 3:1", "3"), ("a 2-for-1 split", "2"), ("按3比1的比例", "3"),
        ("杠杆比例为4:1", "4"),
    ],
)  # fmt: skip
def test_a_ratio_is_a_number_marked_as_such(found: Find, text: str, expected: str) -> None:
    (mention,) = found(text).mentions
    assert (mention.value.canonical, getattr(mention.value, "unit", None)) == (expected, "ratio")


def test_dots_before_a_digit_are_no_decimal_point(said: Said) -> None:
    assert said("wait...4") == ["number 4"]
    assert said("1.2.3") == []


@pytest.mark.parametrize(
    ("text", "figure", "per"),
    [("三千一平", "3000", "平方米"), ("5000一个月", "5000", "P1M"), ("两万一年", "20000", "P1Y")],
)
def test_the_last_one_is_what_the_price_is_for(found: Find, text: str, figure: str, per: str) -> None:
    (mention,) = found(text).mentions
    assert (mention.value.canonical, getattr(mention.value, "per", None)) == (figure, per)


def test_a_unit_left_out_stays_a_tenth(said: Said) -> None:
    assert said("一万一") == ["number 11000"]
    assert said("两百一") == ["number 210"]
    assert said("三千一百") == ["number 3100"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("不到一半", ["number <0.5"]), ("一半以上", ["number >=0.5"]), ("另一半", []),
        ("half a percent", ["percent 0.5%"]),
        ("提高了1.5个百分点到12%", ["percent 1.5%", "percent 12%"]), ("千把人", ["quantity ~1000 人"]), ("万把锁", []),
        ("万八千块", ["money ~8000..10000 CNY"]), ("一百来号人", ["quantity ~100 号人"]),
        ("在三到五套之间", ["quantity 3..5 套"]),
        ("between 1,500 and 2,000 units", ["quantity 1500..2000 units"]), ("EBITDA of (12.3)m", []),
        ("hundreds of thousands of users", ["quantity ~100000..1000000 users"]),
    ],
)  # fmt: skip
def test_loose_talk_gives_no_exact_figure(said: Said, text: str, expected: list[str]) -> None:
    assert said(text) == expected


def test_a_score_is_no_ratio(found: Find) -> None:
    assert [getattr(m.value, "unit", None) for m in found("比分3比2").mentions] == [None, None]


def test_one_chinese_digit_counts_only_where_a_number_is_asked_for(said: Said) -> None:
    assert said("结果是六") == ["number 6"]
    assert said("不是二却是七") == ["number 2", "number 7"]
    assert said("写个“五”字") == ["number 5"]
    assert said("他是一把好手") == []
    assert said("这是一家店") == []


def test_numerals_in_a_list_stay_apart(said: Said) -> None:
    assert said("四百 五百 六百") == ["number 400", "number 500", "number 600"]
    assert said("预算7万 5人") == ["money 70000 XXX", "quantity 5 人"]
    assert said("三十 二十") == ["number 30", "number 20"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("40把椅子", "40 把"), ("5顶帐篷", "5 顶"), ("12组数据", "12 组"), ("she is 34 years old", "34 years old"),
        ("a 34-year-old", "34 year-old"), ("40m users", "40000000 users"), ("45 000 people", "45000 people"),
        ("12,90 kg", "12.9 kg"), ("a 40 mm pipe", "40 mm"), ("it weighs 25 pounds", "25 pounds"),
        ("tens of thousands of users", "~10000..100000 users"), ("several hundred people", "~300..1000 people"),
    ],
)  # fmt: skip
def test_what_is_counted_is_a_quantity(said: Said, text: str, expected: str) -> None:
    assert said(text) == [f"quantity {expected}"]


@pytest.mark.parametrize(
    "text",
    [
        "移动4/5G", "5G网络", "We may proceed", "in a second", "24/7 support", "2024/25 season", "PM2.5", "A4纸",
        "ISO 9001", "3.14.15", "192.168.0.1", "1-2-3", "#5", "No. 7", "九牛一毛", "一分钱一分货", "一带一路", "二手房",
        "三心二意", "七上八下", "3D打印", "B2B", "一把椅子", "no one", "an odd number", "一点也不",
    ],
)  # fmt: skip
def test_a_name_a_code_or_a_phrase_holds_no_amount(said: Said, text: str) -> None:
    assert said(text) == []


def test_a_letter_that_may_be_metres_is_no_million(said: Said) -> None:
    assert said("10m") == ["quantity 10 m"]
    assert said("10M") == ["number 10000000"]
    assert said("3把合同签了") == ["number 3"]


ENDLESS = ["7", "一", "一万", "三百五十", "一二三", "5千", "一点", "万亿", "几十", "1,234,", "7 ", "third ", "九 百 "]


def test_ten_thousand_digits_or_numerals_are_no_number(said: Said) -> None:
    for unit in ("7", "一", "一万", "三百五十", "5千", "一点"):
        assert said((unit * 10_000)[:10_000]) == []


@pytest.mark.parametrize("unit", ENDLESS)
def test_the_cost_of_a_run_is_linear_in_its_length(amounts: Grammar, unit: str) -> None:
    def cost(size: int) -> float:
        text = normalize((unit * size)[:size])
        best = math.inf
        for _ in range(3):
            start = time.process_time()
            for leaf in ("number", "digits"):
                assert sum(1 for _ in amounts.sources[leaf](text)) <= 4 * size
            best = min(best, time.process_time() - start)
        return best

    short, long = cost(2_500), cost(20_000)
    assert long < 24 * short + 0.05  # eight times the text; quadratic would be sixty-four times the work


@given(st.text(alphabet="0123456789.,' 一二三十百千万亿点零半几多个$%年-", max_size=30))
def test_any_mix_of_figures_is_read_without_a_crash(found: Find, text: str) -> None:
    for mention in found(text).mentions:
        assert mention.text == text[mention.start : mention.end]


WORDS = [
    "twenty",
    "third",
    "seconds",
    "hundred",
    "and",
    "a",
    "half",
    "-",
    " ",
    "million",
    "th",
    "5",
    "point",
    "of",
    ",",
]


@given(st.lists(st.sampled_from(WORDS), max_size=14))
def test_any_mix_of_number_words_is_read_without_a_crash(found: Find, words: list[str]) -> None:
    text = "".join(words)
    for mention in found(text).mentions:
        assert mention.text == text[mention.start : mention.end]
