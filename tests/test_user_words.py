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


def test_an_unknown_check_is_an_error_that_names_the_checks() -> None:
    files = {"patterns.identifier.more.acme": "words: {badge: soundex}\npatterns: {badge: 'BD[0-9]{6}'}\n"}
    with pytest.raises(RuleError, match="unknown check 'soundex'; there are gb11643"):
        _ = load([folder_of(files)]).extraction
