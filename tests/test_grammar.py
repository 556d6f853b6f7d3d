"""The grammar machine: leaves, productions, contexts, ranking, refusals and its bounds on work."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from recordari.extractors import numbers
from recordari.extractors.grammar import (
    FINISHERS,
    Context,
    Grammar,
    GrammarFile,
    GrammarProblems,
    Place,
    Refusal,
)  # fmt: skip
from recordari.extractors.parsing.expression import FUNCTIONS, function
from recordari.values import NumberValue, TextValue


@function("joined")
def joined(*parts: Any) -> str:
    return "+".join(str(getattr(part, "canonical", part)) for part in parts)


@function("never")
def never(*_: Any) -> None:
    return None


def finish_text(value: Any, context: Context, place: Place) -> TextValue | Refusal | None:
    if value == "31+4":
        return Refusal("no such day")
    return TextValue(text=str(value))


@pytest.fixture(autouse=True)
def _text_finisher(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FINISHERS, "text", finish_text)


def grammar(**content: Any) -> Grammar:
    header = {"id": "toy", "version": 1, "kind": "grammar", "title": {"en": "toy", "zh": "玩具"}, "owner": "tests"}
    return Grammar.compile([GrammarFile.model_validate(header | content)])


TOY: dict[str, Any] = {
    "leaves": {
        "month": {"words": {"april": 4, "may": 5, "四月": 4}, "latent": ["may"]},
        "weekday": {"words": {"monday": 1, "周一": 1}, "unless": {"after": ["morning"]}},
        "code": {"pattern": "q([1-4])"},
    },
    "productions": {
        "day": {"sequence": ["number n", "of|", "month m"], "value": "joined(n, m)", "type": "day", "kind": "text"},
        "range": {"sequence": ["day a", "to|-|到", "day b"], "value": "joined(a, b)", "kind": "text"},
        "weekday": {"sequence": ["weekday w"], "type": "weekday_said", "kind": "text"},
        "lone_month": {"sequence": ["month m"], "type": "month_said", "kind": "text"},
    },
    "expose": ["code", "month"],
}


def said(text: str, toy: dict[str, Any] = TOY) -> list[tuple[str, str]]:
    return [(m.text, m.canonical) for m in grammar(**toy).find(text).mentions]


def test_neighbouring_parts_join_into_the_longest_mention() -> None:
    assert said("from 3 of April to 5 April, please") == [("3 of April to 5 April", "3+4+5+4")]


def test_a_latent_part_counts_only_in_company() -> None:
    assert said("we may go") == []
    assert said("5 may") == [("5 may", "5+5")]


def test_words_keep_their_boundaries_and_chinese_needs_none() -> None:
    assert said("Aprilia mondays") == []
    assert said("在四月吧") == [("四月", "4")]


def test_a_negative_context_forbids_a_leaf() -> None:
    assert said("monday") == [("monday", "1")]
    assert said("monday morning") == []


def test_a_refused_span_is_kept_and_yields_no_smaller_mention() -> None:
    found = grammar(**TOY).find("pay on 31 April")
    assert found.mentions == ()
    assert [(r.text, r.why) for r in found.refused] == [("31 April", "no such day")]


def test_exposed_parts_come_out_where_no_mention_stands() -> None:
    found = grammar(**TOY).find("q3, 5 April")
    assert [(p.type, p.text, p.value) for p in found.parts] == [("code", "q3", "3")]


def test_a_rule_is_named_with_its_version() -> None:
    assert grammar(**TOY).find("5 April").mentions[0].rule == "toy.day@1"


def test_a_piece_of_a_code_is_no_mention() -> None:
    toy = {"productions": {"n": {"sequence": ["number n"], "value": "joined(n)", "type": "lone", "kind": "text"}}}
    assert said("T34 and 35", toy) == [("35", "35")]


def test_a_context_can_be_demanded_within_the_clause() -> None:
    when = {"before": ["budget"], "within": 12}
    toy = {
        "productions": {
            "n": {"sequence": ["number n"], "value": "joined(n)", "type": "b", "kind": "text", "when": when}
        }
    }
    assert said("the budget is 5", toy) == [("5", "5")]
    assert said("no budget; it is 5", toy) == []


def test_a_function_that_returns_none_makes_no_part() -> None:
    toy = {"productions": {"n": {"sequence": ["number n"], "value": "never(n)", "type": "b", "kind": "text"}}}
    assert said("5", toy) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"leaves": {"a": {"pattern": "[0-9]+"}}}, "no upper limit"),
        ({"leaves": {"a": {"pattern": "(?<=x)y"}}}, "look-around"),
        ({"leaves": {"a": {"words": ["x"], "value": "open(it)"}}}, "unknown function"),
        ({"leaves": {"a": {"words": ["x"], "value": "it.real"}}}, "not allowed"),
        ({"leaves": {"a": {"lexicon": "words.none"}}}, "no vocabulary"),
        ({"productions": {"a": {"sequence": ["wekday w", "=at"], "kind": "text"}}}, "no leaf or production gives"),
        ({"productions": {"a": {"sequence": ["number n"], "kind": "person"}}}, "no finisher"),
        ({"expose": ["nothing"]}, "no leaf or production gives"),
    ],
)
def test_a_wrong_file_is_refused_with_its_place(content: dict[str, Any], message: str) -> None:
    with pytest.raises(GrammarProblems, match=message) as caught:
        grammar(**content)
    assert caught.value.problems[0].file == "toy"


def test_long_repetitions_stay_bounded() -> None:
    toy = grammar(**TOY)
    assert len(toy.edges_of("3 April to " * 300)) < 5000
    assert toy.find("7" * 10_000).mentions == ()


def test_registered_functions_are_the_only_ones() -> None:
    assert "joined" in FUNCTIONS
    assert numbers.Num(Decimal("1.50")).canonical == "1.5"
    assert NumberValue(amount=Decimal(3)).canonical == "3"


def test_a_class_must_touch_the_span_and_a_word_may_stand_a_space_away() -> None:
    def toy(entry: str) -> dict[str, Any]:
        leaf = {"words": ["unit"], "kind": "text", "unless": {"before": [entry]}}
        return {"leaves": {"unit": leaf}}

    assert said("5 unit", toy("digit")) == [("unit", "unit")]
    assert said("5unit", toy("digit")) == []
    assert said("per unit", toy("per")) == []
    assert said("super unit", toy("per")) == [("unit", "unit")]


def test_an_item_of_an_unknown_type_is_no_silent_literal() -> None:
    with pytest.raises(GrammarProblems, match="gives this type"):
        grammar(productions={"a": {"sequence": ["half_after? h", "number n"], "value": "joined(n)"}})


def test_one_value_stands_for_a_span_and_type_the_most_specific_one() -> None:
    toy = {
        "leaves": {
            "word": {"words": ["q4"], "type": "quarter", "value": "joined('word')", "kind": "text"},
            "pattern": {"pattern": "q[1-4]", "type": "quarter", "value": "joined('pattern')", "kind": "text"},
        }
    }
    assert said("q4 and q3", toy) == [("q4", "word"), ("q3", "pattern")]
