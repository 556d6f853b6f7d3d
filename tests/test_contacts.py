"""Telephone numbers, e-mail addresses, web addresses and identifiers: what is one, and what only looks like one."""

from __future__ import annotations

import string
from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shipped import shipped

from recordari.extractors.identifiers import credit_code, iban, identity_card, luhn
from recordari.extractors.scan import Extraction, scan
from recordari.model import Scan
from recordari.values import IdentifierValue, PhoneValue


@lru_cache(maxsize=1)
def extraction() -> Extraction:
    return shipped().extraction


def read(text: str, locale: str | None = None) -> Scan:
    return scan(text, extraction(), locale=locale, ner=False)


def found(text: str, kind: str) -> list[str]:
    return [m.canonical for m in read(text).mentions if m.kind == kind]


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("我的手机号是138 0000 2345", "+8613800002345"),
        ("电话：138-0000-3344。", "+8613800003344"),
        ("座机02155550101", "+862155550101"),
        ("座机021-5555 0101", "+862155550101"),
        ("办公电话(010)55550101", "+861055550101"),
        ("打 +86 138 0000 2345 找我", "+8613800002345"),
        ("Reach me on 718-555-0164.", "+17185550164"),
        ("(917) 555-0158", "+19175550158"),
        ("call 917.555.0158 ext 12", "+19175550158"),
        ("My number: +44 20 7946 0018", "+442079460018"),
        ("客服电话400-555-0101", "+864005550101"),
        ("手机幺三八零零零零二三四五", "+8613800002345"),
        ("手机号138零零零零2345", "+8613800002345"),
        ("call me at five five five oh one nine nine", "5550199"),
        ("电话010-55550101-8012", "+861055550101"),
        ("phone number of the office in Rome: 012234", "012234"),
        ("OFFICE-1(718)555-0164", "+17185550164"),
    ],
)
def test_a_telephone_number_is_found_in_every_way_of_writing_it(text: str, canonical: str) -> None:
    assert found(text, "phone") == [canonical]


@pytest.mark.parametrize(
    "text",
    [
        "订单号1390000222已发货，Order 00987654321是另一单。",
        "account number 87654329",
        "My card number is 87654329",
        "on 16-04-2010 or 2010/04/16",
        "the total is 13800002345.50",
        "Formula 45*31-339243873",
        "合同金额为13800000000元",
        "s666666666 is a sequence",
        "SSN 011-12-3456",
        "PO number is 66230",
        "version 10.20.3040.5060",
        "一二三四五，上山打老虎",
        "one two three four five six seven",
        "account number of the office in Rome: 0655501234",
        "共计1,13800002345份",
    ],
)
def test_other_numbers_are_no_telephone_numbers(text: str) -> None:
    assert found(text, "phone") == []


def test_a_label_makes_a_short_number_a_telephone_number_and_a_bare_one_is_none() -> None:
    assert found("火警电话119", "phone") == ["119"]
    assert found("一共119份", "phone") == []


def test_the_locale_decides_the_country_of_a_national_number() -> None:
    value = read("my phone: 020 7946 0018", locale="en-GB").mentions[0].value
    assert isinstance(value, PhoneValue)
    assert value.e164 == "+442079460018"


def test_an_extension_is_kept_beside_the_number() -> None:
    value = read("座机010-55550101-8012").mentions[0].value
    assert isinstance(value, PhoneValue)
    assert value.national == "01055550101 x8012"


def test_numbers_in_a_list_with_commas_are_mentions_of_their_own() -> None:
    assert found("电话:13800002222,13800003333", "phone") == ["+8613800002222", "+8613800003333"]


def test_two_numbers_side_by_side_are_two_mentions() -> None:
    assert found("手机13800002222，座机02155550101。", "phone") == ["+8613800002222", "+862155550101"]


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("孙七的邮箱是sun7@example.com，请查收", "sun7@example.com"),
        ("a邮箱地址test@Example.COM", "test@example.com"),
        ("Send notices to j.o-e+x@mail.example.org.", "j.o-e+x@mail.example.org"),
        ("write to sun at mail dot com", "sun@mail.com"),
        ("邮箱是sun7艾特example点com", "sun7@example.com"),
    ],
)
def test_an_email_address_is_cut_from_the_words_glued_to_it(text: str, address: str) -> None:
    assert found(text, "email") == [address]


@pytest.mark.parametrize(
    "text", ["a..bc@example.com", ".abc@example.com", "bob@example.c is wrong", "j@129.126.1.1", "@carol hi"]
)
def test_a_broken_email_address_is_none(text: str) -> None:
    assert found(text, "email") == []


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("见https://example.com/a?b=1，谢谢", "https://example.com/a?b=1"),
        ("官网是www.example.com", "www.example.com"),
        ("http://localhost:3000/#/77", "http://localhost:3000/#/77"),
        ("Visit example.com/help.", "example.com/help"),
    ],
)
def test_a_web_address_ends_before_the_punctuation_of_the_sentence(text: str, url: str) -> None:
    assert found(text, "url") == [url]


@pytest.mark.parametrize("text", ["https:// is incomplete", "open report.md please", "7.am", "e.g. this one", "v2.4.6"])
def test_what_has_dots_is_not_always_a_web_address(text: str) -> None:
    assert found(text, "url") == []


def test_a_domain_is_a_part_when_the_talk_is_of_domains_and_else_also_a_web_address() -> None:
    scanned = read("域名错了，是 example.org。")
    assert [(p.type, p.value) for p in scanned.parts] == [("mail_domain", "example.org")]
    assert scanned.mentions == ()
    assert found("please see example.org", "url") == ["example.org"]


def test_the_tail_of_a_number_is_a_part_beside_the_number_mention() -> None:
    parts = [(p.type, p.value) for p in read("尾号不是8881，是8818。").parts]
    assert ("digits", "8818") in parts
    assert ("digits", "8881") in parts


@pytest.mark.parametrize(
    ("text", "scheme", "value"),
    [
        ("合同编号：HT-2026-018", "contract", "HT-2026-018"),
        ("案号（2024）沪01民初123号", "case", "(2024)沪01民初123号"),
        ("公告编号2022年第16号。", "notice", "2022年第16号"),
        ("see Clause 7(1) above", "clause", "Clause 7(1)"),
        ("第十二条第三款另有约定", "clause", "第十二条第三款"),
        ("PO number is 66230", "purchase_order", "66230"),
        ("Our reference is 5283017.", "reference", "5283017"),
        ("Order 00987654321 has shipped", "order", "00987654321"),
        ("开户账号是6222020000", "account", "6222020000"),
        ("GB82 WEST 1234 5698 7654 32", "iban", "GB82 WEST 1234 5698 7654 32"),
        ("her SSN is 011-12-3456", "ssn", "011-12-3456"),
        ("EIN 12-3456789", "ein", "12-3456789"),
        ("the server is 8.8.8.8", "ip", "8.8.8.8"),
    ],
)
def test_an_identifier_is_found_with_its_scheme_and_is_nothing_else(text: str, scheme: str, value: str) -> None:
    mentions = read(text).mentions
    assert [(m.kind, m.canonical) for m in mentions] == [("identifier", value)]
    got = mentions[0].value
    assert isinstance(got, IdentifierValue)
    assert got.scheme == scheme


@pytest.mark.parametrize(
    "text",
    [
        "order 3 pizzas",
        "订单3个",
        "合同金额为80000元",
        "the article was long",
        "We sent your reference to the bank",
        "part a of the plan",
        "1111.1.1.1",
        "C# is no hashtag",
    ],
)
def test_a_label_without_a_code_is_no_identifier(text: str) -> None:
    assert found(text, "identifier") == []


def test_check_digits_tell_true_codes_from_false_ones() -> None:
    assert identity_card("11010519491231002X")
    assert not identity_card("110105194912310021")
    assert credit_code("91350100M000100Y43")
    assert not credit_code("91350100M000100Y44")
    assert iban("GB82 WEST 1234 5698 7654 32")
    assert not iban("GB82 WEST 1234 5698 7654 33")
    assert luhn("4111111111111111")
    assert not luhn("4111111111111112")


def test_a_bare_identity_card_needs_its_check_digit() -> None:
    assert found("11010519491231002X", "identifier") == ["11010519491231002X"]
    assert found("110105194912310021", "identifier") == []


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=string.digits + " -().+电话手机tel:@abc.comx", max_size=60))
def test_spans_lead_back_to_the_original_characters(text: str) -> None:
    for mention in read(text).mentions:
        assert text[mention.start : mention.end] == mention.text


@settings(max_examples=40, deadline=None)
@given(st.from_regex(r"1[3-9][0-9]0000[0-9]{4}", fullmatch=True))
def test_every_chinese_mobile_number_reads_the_same_with_blanks_dashes_and_country_code(number: str) -> None:
    forms = (
        number,
        f"{number[:3]} {number[3:7]} {number[7:]}",
        f"{number[:3]}-{number[3:7]}-{number[7:]}",
        f"+86 {number}",
    )
    assert {tuple(found(f"电话{form}", "phone")) for form in forms} == {(f"+86{number}",)}
