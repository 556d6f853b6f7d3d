"""Prefilters leave out only what cannot occur: words of sentence frames, and patterns asked together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordari.extractors.text import normalize
from recordari.extractors.words import Signs
from recordari.rules.capture_file import phrase_pattern
from recordari.rules.prefilter import Prefilter, needed

FRAMES = (
    "my name is [now] {value}$",
    "^i [really] (prefer|like) {value}$",
    "(以后|今后)?(改用|用){value}(联系我|沟通)",
    "{label}(是|为){value}$",
    "(the|our) ((very )?big|small) {value}",
)


@pytest.mark.parametrize(
    ("phrase", "words"),
    [
        ("my name is [now] {value}$", {"name"}),
        ("^i [really] (prefer|like) {value}$", {"prefer", "like"}),
        ("(以后|今后)?(改用|用){value}(联系我|沟通)", {"联系我", "沟通"}),
        ("(the|our) (big|small) {value}", {"the", "our"}),
        ("{label}[是]{value}$", set()),
        ("(非常|){value}", set()),
        ("{value} ὁδός", set()),
    ],
)
def test_a_frame_needs_the_words_that_it_cannot_do_without(phrase: str, words: set[str]) -> None:
    assert needed(phrase) == words


def test_a_frame_without_sure_words_is_always_possible() -> None:
    assert Prefilter(["{label}[是]{value}$", "my name is {value}$"]).possible("nothing of it") == [0]


def test_a_capital_i_with_a_dot_hides_no_word() -> None:
    assert Prefilter(["(prefers|likes) {value}"]).possible(normalize("she LİKES tea").lower) == [0]


@given(
    st.lists(st.sampled_from(["my", "name is", "now", "I", "LIKE", "Prefer", "the", "BIG", "用", "联系我", "为", "x"]))
)
def test_what_matches_is_possible(pieces: list[str]) -> None:
    text = normalize(" ".join(pieces))
    possible = Prefilter(FRAMES).possible(text.lower)
    for number, phrase in enumerate(FRAMES):
        if phrase_pattern(phrase, 60, ()).search(text.text):
            assert number in possible


def test_signs_name_the_patterns_that_occur_in_order() -> None:
    signs = Signs(["b+", "(?i)A", "zz"])
    assert signs.within("abb") == [0, 1]
    assert signs.within("none of them, c") == []


def test_no_signs_occur_nowhere() -> None:
    assert Signs([]).within("abc") == []
