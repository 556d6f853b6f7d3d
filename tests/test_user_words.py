"""A user's folder adds words and forms of its own to the shipped lists: streets, companies, identifiers; no code."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from recordari.extractors.scan import Extraction, scan
from recordari.rules.load import load
from recordari.rules.ruleset import RuleError
from recordari.values import AddressValue, IdentifierValue

HEAD = """id: {id}
version: 1
kind: vocabulary
title: {{en: Our own words, zh: 自己的词}}
owner: compliance
language: any
"""
FILES = {
    "words.address.en.more.acme": "labels: {street: [snicket]}\n",
    "words.address.parts.zh.more.acme": "labels: {road_end: [垄]}\n",
    "words.organization.zh.more.acme": "labels: {form: [合作联社]}\n",
    "words.organization.en.more.acme": "labels: {form: [kkt]}\n",
    "words.identifier.more.acme": "labels: {membership: [会员证号, membership number]}\n",
    "words.number.en.more.acme": "words: {septante: 70}\n",
    "words.number.multiple.en.more.acme": "words: {gross: 144}\n",
    "words.number.scale.more.acme": "words: {mega: 1000000}\n",
    "words.number.zh.more.acme": "words: {仨: 3, 垓: 100000000}\n",
    "patterns.identifier.more.acme": "words: {membership: luhn}\npatterns: {membership: 'MB[0-9]{8}'}\n",
}


def folder_of(files: dict[str, str]) -> Path:
    folder = Path(mkdtemp())
    for name, body in files.items():
        (folder / f"{name}.yaml").write_text(HEAD.format(id=name) + body, "utf-8")
    return folder


@lru_cache(maxsize=2)
def extraction(own: bool) -> Extraction:
    return load([folder_of(FILES)] if own else []).extraction


def found(text: str, kind: str, *, own: bool = True) -> list[str]:
    return [m.canonical for m in scan(text, extraction(own), ner=False).mentions if m.kind == kind]


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("Ship it to 14 Larch Snicket, Hove.", "address", "14 Larch Snicket, Hove"),
        ("寄到明月垄18号", "address", "明月垄18号"),
        ("甲方是南浦合作联社", "organization", "南浦合作联社"),
        ("We sued Hollin Frey Kkt yesterday", "organization", "Hollin Frey Kkt"),
        ("会员证号：7788-QX", "identifier", "7788-QX"),
        ("use MB10000008 at the desk", "identifier", "MB10000008"),
        ("they sold septante-five", "number", "75"),
        ("they sold three gross", "number", "432"),
        ("they sold 4 mega", "number", "4000000"),
        ("一共仨垓二千", "number", "300002000"),
    ],
)
def test_a_word_of_a_users_folder_counts_like_a_shipped_one(text: str, kind: str, value: str) -> None:
    assert found(text, kind) == [value]
    assert value not in found(text, kind, own=False)


def test_a_scheme_of_a_users_folder_is_checked_by_the_check_it_names() -> None:
    (mention,) = scan("use MB10000008 at the desk", extraction(True), ner=False).mentions
    assert isinstance(mention.value, IdentifierValue)
    assert mention.value.scheme == "membership"
    assert found("use MB10000009 at the desk", "identifier") == []


def test_the_shipped_words_stay() -> None:
    (mention,) = scan("Ship it to 14 Larch Street, Hove.", extraction(True), ner=False).mentions
    assert isinstance(mention.value, AddressValue)
    assert found("甲方是鸿远公司", "organization") == ["鸿远公司"]
    assert found("her SSN is 011-12-3456", "identifier") == ["011-12-3456"]


@pytest.mark.parametrize("text", ["We met 3 people in the snicket", "一垄菜地", "合作联社很多", "membership is free"])
def test_a_new_word_alone_makes_no_mention(text: str) -> None:
    mentions = scan(text, extraction(True), ner=False).mentions
    assert [m.kind for m in mentions if m.kind in {"address", "place", "organization", "identifier"}] == []


@pytest.mark.parametrize(
    ("name", "body", "said"),
    [
        ("words.number.zh.more.acme", "words: {一打: 12}\n", "give each character its value"),
        ("words.number.en.more.acme", "words: {umpteen: many}\n", "must have a whole number for its value"),
    ],
)
def test_a_number_word_that_cannot_be_read_is_an_error_that_says_so(name: str, body: str, said: str) -> None:
    with pytest.raises(RuleError, match=said):
        _ = load([folder_of({name: body})]).extraction


CURRENCIES = """id: money.acme
version: 1
kind: grammar
title: {en: Our currencies, zh: 我们的货币}
owner: compliance
leaves: {acme_sign: {type: currency_sign, words: {"₯": "₯"}}}
tables: {currency_policy: {"₯": {any: GRD}}, currency_meanings: {"₯": [GRD, XDR]}}
"""


def test_a_users_grammar_adds_a_sign_and_what_it_may_stand_for() -> None:
    folder = folder_of({})
    (folder / "money.acme.yaml").write_text(CURRENCIES, "utf-8")
    own = load([folder]).extraction

    def money(text: str) -> list[str]:
        return [m.canonical for m in scan(text, own, ner=False).mentions if m.kind == "money"]

    assert money("they paid ₯500") == ["500 GRD"]
    assert money("they paid ₯500 GRD") == ["500 GRD"]
    assert money("they paid ₯500 EUR") == []
    assert money("they paid $500") == ["500 USD"]  # the shipped meanings stay
    assert found("they paid ₯500", "money") == ["500 XXX"]  # without the file: money of a currency not said


def test_an_unknown_check_is_an_error_that_names_the_checks() -> None:
    files = {"patterns.identifier.more.acme": "words: {badge: soundex}\npatterns: {badge: 'BD[0-9]{6}'}\n"}
    with pytest.raises(RuleError, match="unknown check 'soundex'; there are gb11643"):
        _ = load([folder_of(files)]).extraction
