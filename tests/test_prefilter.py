"""Prefilters leave out only what cannot occur: words of sentence frames, and patterns asked together."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shipped import shipped

from recordari.extractors.scan import scan
from recordari.extractors.text import normalize
from recordari.extractors.words import Signs
from recordari.model import Turn
from recordari.rules.book import book_of
from recordari.rules.capture import around_of
from recordari.rules.capture_file import phrase_pattern
from recordari.rules.fitting import fits
from recordari.rules.prefilter import Prefilter, needed
from recordari.rules.replaced import replaced_in
from recordari.rules.view import view

NOW = datetime(2026, 3, 18, 10, tzinfo=UTC)

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


def test_every_rule_that_takes_a_mention_was_possible() -> None:
    ruleset = shipped()
    book = book_of(ruleset)
    sentences = {test.say for file in ruleset.captures for test in file.tests}
    taken = passed_over = 0
    for text in sorted(sentences):
        turn = Turn(turn_id="t", text=text, said_at=NOW, received_at=NOW)
        seen = view(turn, scan(text, ruleset.extraction, said_at=NOW, ner=False), book.lex.said["abbreviation"])
        for place in seen.places:
            binders = book.by_kind.get(place.kind)
            if binders is None:
                continue
            around, _ = around_of(seen, book, place, replaced_in(seen, book))
            possible = binders.possible(seen.low, around.label.lower(), around.predicate.lower())
            fitting = [rule for rule in binders.rules if fits(rule, seen, book, place, around)]
            assert all(rule in possible for rule in fitting), text
            assert possible == [rule for rule in binders.rules if rule in possible], "their order is kept"
            taken += len(fitting)
            passed_over += len(binders.rules) - len(possible)
    assert taken > 20
    assert passed_over > taken
