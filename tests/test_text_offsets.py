"""Normalised text: what it makes equal, and that every span leads back to the exact characters."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shipped import shipped

from recordari.extractors.figures import amounts
from recordari.extractors.grammar import Grammar, GrammarFile
from recordari.extractors.numbers import Numbers
from recordari.extractors.text import normalize

ODD = "１２万萬兩㎡①½³ﬁ，。：～–—“”\u0301\u200b\u00ad\r\n\t 　\ud800🏠👨‍👩‍👧İßé元$€千"
TEXTS = st.text(alphabet=st.one_of(st.sampled_from(ODD), st.characters(min_codepoint=32)), max_size=40)

GRAMMAR = Grammar.compile(
    [
        GrammarFile.model_validate(
            {
                "id": "toy",
                "version": 1,
                "kind": "grammar",
                "title": {"en": "toy", "zh": "玩具"},
                "owner": "tests",
                "leaves": {"unit": {"words": ["元", "万", "m2", "e", "a", "$"]}},
                "productions": {
                    "n": {
                        "sequence": [["number x", "unit u"], ["unit x"], ["number x"]],
                        "value": f"{amounts.count.__name__}(1)",
                        "type": "n",
                    }
                },
                "expose": ["n", "unit"],
            }
        )
    ]
)


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("８萬元", "8万元"),
        ("兩百五", "两百五"),
        ("50㎡", "50m2"),
        ("3½ hours", "3 1/2 hours"),
        ("10² m", "10^2 m"),
        ("a \u3000 b", "a b"),
        ("a\r\n\r\nb", "a\nb"),
        ("2020–2021", "2020-2021"),
        ("“it’s”", '"it\'s"'),
        ("（含）", "(含)"),
        ("cafe\u0301", "café"),
        ("a\u200bb", "ab"),
    ],
)
def test_ways_of_writing_become_one(written: str, normal: str) -> None:
    assert normalize(written).text == normal


def test_plain_text_keeps_its_offsets() -> None:
    assert normalize("the budget is $8").span(4, 10) == (4, 10)


def test_an_expanded_sign_maps_back_to_its_one_character() -> None:
    found = normalize("约50㎡房")
    at = found.text.index("m2")
    assert found.span(at, at + 2) == (3, 4)
    assert found.original[3:4] == "㎡"


def test_a_crlf_is_one_line_end_of_two_characters() -> None:
    found = normalize("a\r\nb")
    assert found.span(1, 2) == (1, 3)
    assert found.inside(3, 4) == (2, 3)


def test_a_lone_surrogate_and_emoji_do_no_harm() -> None:
    found = normalize("预算\ud800是🏠8万")
    assert "\ud800" not in found.text
    found.text.encode()


def test_traditional_characters_keep_their_number() -> None:
    found = normalize("發票後補")
    assert found.text == "发票后补"
    assert found.original == "發票後補"


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_every_normal_character_has_a_place_in_the_original(text: str) -> None:
    found = normalize(text)
    assert len(found.text) == len(found.starts) == len(found.ends) == len(found.lower)
    for at in range(len(found.text)):
        start, end = found.span(at, at + 1)
        assert 0 <= start < end <= len(text)
    assert list(found.starts) == sorted(found.starts)


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_every_part_is_its_own_characters_of_the_original(text: str) -> None:
    for part in GRAMMAR.find(text).parts:
        assert part.text == text[part.start : part.end]
        assert part.text


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalize(text).text
    assert normalize(once).text == once


def test_number_leaves_accept_any_text() -> None:
    assert list(Numbers(shipped().vocabularies).find(normalize("\ud83d 1\ud8001"))) != []
