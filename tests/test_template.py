"""Template sentences and readable values: nothing is lost when a field is empty, everything reads back."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shipped import shipped

from recordari.extractors.scan import scan
from recordari.llm_polish.template import FIELDS, TemplateError, fields_of, render
from recordari.llm_polish.wording import Tongue, readable
from recordari.rules.ruleset import Ruleset
from recordari.values import (
    AddressValue,
    EmailValue,
    Magnitude,
    MoneyValue,
    NumberValue,
    PercentValue,
    PersonValue,
    PhoneValue,
    QuantityValue,
    TextValue,
    TimeValue,
    Value,
)

ZH = "{entity}的{qualifier}预算为{value}（{said_at}说）。"
EN = "{entity}'s {qualifier} budget is {value} (said on {said_at})."


@cache
def rules() -> Ruleset:
    return shipped()


@pytest.mark.parametrize(
    ("template", "fields", "sentence"),
    [
        (ZH, ("李明", "营销", "8万元", "3月18日"), "李明的营销预算为8万元（3月18日说）。"),
        (ZH, ("李明", "", "8万元", "3月18日"), "李明的预算为8万元（3月18日说）。"),
        (ZH, ("", "营销", "8万元", ""), "营销预算为8万元。"),
        (ZH, ("", "", "8万元", ""), "预算为8万元。"),
        (EN, ("Acme", "marketing", "$80,000", "18 March"), "Acme's marketing budget is $80,000 (said on 18 March)."),
        (EN, ("Acme", "", "$80,000", "18 March"), "Acme's budget is $80,000 (said on 18 March)."),
        (EN, ("", "marketing", "$80,000", ""), "marketing budget is $80,000."),
        (EN, ("", "", "$80,000", ""), "Budget is $80,000."),
        ("The {qualifier} rent is {value}.", ("", "", "$900", ""), "The rent is $900."),
        ("{value} is the {qualifier} fee of {entity}.", ("Acme", "", "$5", ""), "$5 is the fee of Acme."),
        ("{entity}{qualifier}的租金为{value}。", ("李明", "", "900元", ""), "李明的租金为900元。"),
        ("{value} ({entity}, {said_at})", ("Acme", "", "$5", "18 March"), "$5 (Acme, 18 March)"),
    ],
)
def test_an_empty_field_goes_with_what_hangs_on_it(template: str, fields: tuple[str, ...], sentence: str) -> None:
    named = dict(zip(("entity", "qualifier", "value", "said_at"), fields, strict=True))
    assert render(template, named) == sentence


@pytest.mark.parametrize(
    ("template", "qualifier", "sentence"),
    [
        ("{qualifier} rate is {value}.", "discount rate", "discount rate is 5%."),
        ("{qualifier} rate is {value}.", "discount", "discount rate is 5%."),
        ("{qualifier} rate is {value}.", "separate", "separate rate is 5%."),
        ("{qualifier}金额为{value}。", "押金金额", "押金金额为5%。"),
        ("{qualifier}金额为{value}。", "押金", "押金金额为5%。"),
        ("{qualifier}的日期为{value}。", "开工的", "开工的日期为5%。"),
        ("{qualifier}期限为{value}。", "学期", "学期期限为5%。"),
    ],
)
def test_a_label_that_ends_in_the_noun_of_the_template_says_it_once(
    template: str, qualifier: str, sentence: str
) -> None:
    assert render(template, {"qualifier": qualifier, "value": "5%"}) == sentence


def test_an_absent_field_is_an_empty_one() -> None:
    assert render(ZH, {"value": "8万元"}) == "预算为8万元。"


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("{amount} is {value}", r"unknown field \{amount\}; legal are \{entity\}"),
        ("{value!r}", "takes no format"),
        ("{value:>9}", "takes no format"),
        ("{value.amount}", "unknown field"),
        ("{} {value}", "unknown field"),
        ("{value", "braces"),
        ("}{value}", "braces"),
        ("nothing", "names {value}"),
    ],
)
def test_a_template_that_cannot_be_filled_says_what_is_wrong(template: str, says: str) -> None:
    with pytest.raises(TemplateError, match=says):
        fields_of(template)


def test_an_unknown_field_given_is_an_error_too() -> None:
    with pytest.raises(TemplateError, match="unknown field 'amount'"):
        render(ZH, {"value": "8", "amount": "8"})


def test_a_sentence_without_a_value_is_refused() -> None:
    with pytest.raises(TemplateError, match="empty"):
        render(ZH, {"value": " "})


def test_braces_in_what_was_said_are_only_braces() -> None:
    assert render("{entity}: {value}", {"entity": "{value}", "value": "{entity}"}) == "{value}: {entity}"


def test_a_name_in_small_letters_keeps_them() -> None:
    assert render(EN, {"entity": "eNotary", "value": "$5"}) == "eNotary's budget is $5."


@given(st.fixed_dictionaries({name: st.text(max_size=8) for name in FIELDS}))
def test_every_field_that_is_not_empty_stands_in_the_sentence(fields: dict[str, str]) -> None:
    if not fields["value"].split():
        return
    for template in (ZH, EN):
        sentence = render(template, fields)
        for value in fields.values():
            assert " ".join(value.split()) in sentence


WORDS: list[tuple[Value, str, str]] = [
    (MoneyValue(amount="80000", currency="CNY"), "8万元", "80,000 CNY"),
    (MoneyValue(amount="80000", currency="USD"), "8万美元", "$80,000"),
    (MoneyValue(amount="1250.5", currency="USD"), "1250.5美元", "$1,250.50"),
    (MoneyValue(amount="80500", currency="EUR"), "8.05万欧元", "€80,500"),
    (MoneyValue(amount="80001", currency="GBP"), "80001英镑", "£80,001"),
    (MoneyValue(amount="150000000", currency="CNY"), "1.5亿元", "150,000,000 CNY"),
    (MoneyValue(amount="80000", currency="USD", bound="<="), "不超过8万美元", "at most $80,000"),
    (MoneyValue(amount="80000", currency="CNY", bound=">="), "不低于8万元", "at least 80,000 CNY"),
    (MoneyValue(amount="80000", currency="USD", approx=True), "约8万美元", "about $80,000"),
    (MoneyValue(min="50000", max="80000", currency="USD"), "5万美元至8万美元", "$50,000 to $80,000"),
    (MoneyValue(amount="3300", currency="USD", per="P1M"), "每月3300美元", "$3,300 a month"),
    (MoneyValue(amount="40", currency="USD", per="P1D"), "每天40美元", "$40 a day"),
    (MoneyValue(amount="40", currency="USD", per="P1W"), "每周40美元", "$40 a week"),
    (MoneyValue(amount="80000", currency="EUR", per="P3M"), "每季度8万欧元", "€80,000 a quarter"),
    (MoneyValue(amount="80000", currency="GBP", per="P1Y"), "每年8万英镑", "£80,000 a year"),
    (
        MoneyValue(min="5000", max="8000", currency="CHF", approx=True),
        "约5000CHF至8000CHF",
        "about 5,000 CHF to 8,000 CHF",
    ),
    (MoneyValue(amount="5000", currency="JPY", bound="<"), "低于5000日元", "less than 5,000 JPY"),
    (MoneyValue(amount="5000", currency="HKD", bound=">"), "超过5000港元", "more than 5,000 HKD"),
    (PercentValue(amount="15"), "15%", "15%"),
    (PercentValue(amount="4.35", bound="<="), "不超过4.35%", "at most 4.35%"),
    (TimeValue(type="date", edtf="2026-06-30"), "2026年6月30日", "30 June 2026"),
    (TimeValue(type="date", edtf="2026-05"), "2026年5月", "May 2026"),
    (TimeValue(type="instant", edtf="2026-09-22T15:30"), "2026年9月22日15:30", "22 September 2026 at 15:30"),
    (TimeValue(type="instant", edtf="T15:30"), "15:30", "15:30"),
    (TimeValue(type="interval", edtf="../2026-06-30", bound="<="), "不晚于2026年6月30日", "no later than 30 June 2026"),
    (
        TimeValue(type="interval", edtf="../2026-06-29", end="2026-06-30", bound="<"),
        "不晚于2026年6月29日",
        "before 30 June 2026",
    ),
    (TimeValue(type="interval", edtf="2026-06-30/..", bound=">="), "2026年6月30日起", "from 30 June 2026 on"),
    (
        TimeValue(type="interval", edtf="2026-05-15/2026-05-21"),
        "2026年5月15日至2026年5月21日",
        "from 15 May 2026 to 21 May 2026",
    ),
    (TimeValue(type="duration", duration="P30D"), "30天", "30 days"),
    (TimeValue(type="duration", duration="P30D", bound="<="), "不超过30天", "at most 30 days"),
    (TimeValue(type="duration", duration="P2W", approx=True), "约2周", "about 2 weeks"),
    (TimeValue(type="duration", duration="P1M"), "1个月", "1 month"),
    (TimeValue(type="duration", duration="PT2H"), "2小时", "2 hours"),
    (TimeValue(type="interval", edtf="../2026-06", bound="<="), "不晚于2026年6月", "no later than June 2026"),
    (TimeValue(type="duration", duration="P1Y6M"), "1年6个月", "1 year 6 months"),
    (TimeValue(type="duration", duration="PT90M"), "90分钟", "90 minutes"),
    (TimeValue(type="duration", duration="P3BD"), "3个工作日", "3 business days"),
    (EmailValue(address="li.ming@example.com"), "li.ming@example.com", "li.ming@example.com"),
]


@pytest.mark.parametrize(("value", "zh", "en"), WORDS, ids=lambda each: each if isinstance(each, str) else "")
def test_a_value_is_written_as_people_write_it(value: Value, zh: str, en: str) -> None:
    assert readable(value, "zh") == zh
    assert readable(value, "en") == en


# The frames put a value where such values stand; a bare figure is no money, a bare clock no time.
FRAMES: dict[str, tuple[str, str]] = {
    "money": ("预算为{}。", "The budget is {}."),
    "percent": ("利率为{}。", "The rate is {}."),
    "time": ("期限为{}。", "The date is {}."),
    "email": ("邮箱是{}。", "The address is {}."),
}


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize(("value", "zh", "en"), WORDS, ids=lambda each: each if isinstance(each, str) else "")
def test_the_words_of_a_value_read_back_to_the_same_value(value: Value, zh: str, en: str, language: Tongue) -> None:
    frame = FRAMES[type(value).kind][0 if language == "zh" else 1]
    found = scan(frame.format(zh if language == "zh" else en), rules().extraction, lang=language, ner=False).mentions
    assert [mention.canonical for mention in found] == [value.canonical]
    if isinstance(value, Magnitude):  # the canonical line leaves out what an amount is for or per
        assert found[0].value.same_as(value)


@pytest.mark.parametrize(
    ("value", "surface", "text"),
    [
        (
            TimeValue(type="symbolic", anchor="closing", offset="+P30D"),
            "within 30 days of closing",
            "within 30 days of closing",
        ),
        (TimeValue(type="recurrence", rrule="FREQ=WEEKLY;BYDAY=MO"), "every  Monday", "every Monday"),
        (TimeValue(type="date", edtf="XXXX-06-30"), "30 June", "30 June"),
        (
            TimeValue(type="instant", edtf="2026-09-22T15:30", zone="Europe/Paris"),
            "3.30 pm in Paris",
            "3.30 pm in Paris",
        ),
        (TimeValue(type="duration", duration="P30D", duration_max="P60D"), "30-60 days", "30-60 days"),
        (PercentValue(amount="0.35", base="LPR"), "LPR plus 35 bp", "LPR plus 35 bp"),
        (MoneyValue(amount="5", currency="USD", period="2025-36"), "$5 for Q4", "$5 for Q4"),
        (MoneyValue(amount="5", currency="USD", per="P5D"), "$5 every five days", "$5 every five days"),
        (MoneyValue(max="5", currency="USD"), "", "..5 USD"),
    ],
)
def test_a_value_without_such_a_form_stays_as_it_was_said(value: Value, surface: str, text: str) -> None:
    assert readable(value, "en", surface) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (PersonValue(name="李明"), "李明"),
        (PhoneValue(e164="+12025550123", national="202-555-0123"), "+12025550123"),
        (AddressValue(full="西湖区文三路90号", district="西湖区", road="文三路", number="90号"), "西湖区文三路90号"),
        (TextValue(text="likes  tea"), "likes tea"),
        (NumberValue(amount="8"), "8"),
        (QuantityValue(amount="8", unit="套"), "8套"),
        (MoneyValue(amount="80000"), "8万"),
    ],
)
def test_other_values_are_written_in_their_canonical_form(value: Value, text: str) -> None:
    assert readable(value, "zh", "something else") == text


@given(st.decimals(0, 10**12, places=2, allow_nan=False), st.sampled_from(["zh", "en"]))
def test_no_amount_loses_a_digit_in_words(amount: Any, language: Tongue) -> None:
    text = readable(MoneyValue(amount=amount, currency="USD"), language)
    figure = text.replace(",", "").replace("$", "").replace("美元", "")
    factor = 10**8 if "亿" in figure else 10**4 if "万" in figure else 1
    assert type(amount)(figure.strip("亿万")) * factor == amount
