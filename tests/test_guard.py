"""The guard: a rewriting may smooth a sentence, never change or add anything."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shipped import shipped

from recordari.extractors.scan import Extraction, scan
from recordari.llm_polish.guard import GROWTH, SLACK, Accepted, Key, Refused, guard, parsed
from recordari.model import Assertion, Candidate, Scan
from recordari.values import MoneyValue

EN = "The marketing budget of Acme is $80,000 (said on 18 March 2026)."
ZH = "李明的营销预算为8万元（2026年3月18日说）。"
SMALL = frozenset(["has", "a", "of", "is", "in", "on", "的", "为", "是", "表示", "其"])


def blind(sentence: str) -> frozenset[Key]:
    """A reader that sees no difference: what is refused with it is refused for its words alone."""
    return frozenset([Key("mention money", "80000 XXX", "")])


@cache
def extraction() -> Extraction:
    return shipped().extraction


@cache
def read(sentence: str) -> frozenset[Key]:
    """The real scan of the shipped rules."""
    return parsed(scan(sentence, extraction(), ner=False), ())


def judged(rewritten: str, template: str = EN, said: str = "", keep: tuple[str, ...] = ()) -> str:
    outcome = guard(rewritten, template, said, blind, function_words=SMALL, keep=keep)
    return "accepted" if isinstance(outcome, Accepted) else outcome.why


@pytest.mark.parametrize(
    ("rewritten", "template"),
    [
        (EN, EN),
        (ZH, ZH),
        ("Acme has a marketing budget of $80,000, said on 18 March 2026.", EN),
        ("On 18 March 2026: Acme's marketing budget is $80,000.", EN),
        ("The marketing budgets of Acme: $80000 (18 March 2026).", EN),
        ("2026年3月18日，李明表示其营销预算是8万元。", ZH),
        ("李明的营销预算是８万元（２０２６年３月１８日说）。", ZH),
    ],
)
def test_words_of_the_template_and_function_words_may_be_put_in_another_order(rewritten: str, template: str) -> None:
    assert judged(rewritten, template) == "accepted"


@pytest.mark.parametrize(
    ("rewritten", "template", "why"),
    [
        ("", EN, "empty"),
        (" \n ", EN, "empty"),
        (EN + "\n" + EN, EN, "several_lines"),
        ("Here:\r" + EN, EN, "several_lines"),
        (EN * 5, EN, "too_long"),
        ("The marketing budget of Acme is not $80,000.", EN, "new_words"),
        ("The marketing budget of Acme isn't $80,000.", EN, "new_words"),
        ("The marketing budget of Acme was $80,000.", EN, "new_words"),
        ("The marketing budget of Acme may be $80,000.", EN, "new_words"),
        ("The whole marketing budget of Acme is $80,000.", EN, "new_words"),
        ("The marketing budget of Acme Holdings is $80,000.", EN, "new_words"),
        ("The marketing budget of Acne is $80,000.", EN, "new_words"),
        ("The marketing budget of Acme is eighty thousand dollars.", EN, "new_words"),
        ("The marketing budget of Acme is $81,000.", EN, "new_numbers"),
        ("The marketing budget of Acme is $80,000 in 2027.", EN, "new_numbers"),
        ("The marketing budget of Acme is $80,000 ٣.", EN, "new_numbers"),
        ("The marketing budget of Acme is $80,000?", EN, "odd_characters"),
        ("The marketing budget of <b>Acme</b> is $80,000.", EN, "new_words"),
        ("The marketing budget of [Acme] is $80,000.", EN, "odd_characters"),
        ("The marketing budget of Acme is \u202e$80,000.", EN, "odd_characters"),
        ("Маркетинг of Acme is $80,000.", EN, "new_words"),
        ("Acme の marketing budget is $80,000.", EN, "new_words"),
        ("李明的营销预算不是8万元。", ZH, "new_words"),
        ("李明的营销预算可能为8万元。", ZH, "new_words"),
        ("如果李明的营销预算为8万元。", ZH, "new_words"),
        ("李明的营销预算约为8万元。", ZH, "new_words"),
        ("李明的营销总预算为8万元。", ZH, "new_words"),
        ("李明的销预营算为8万元。", ZH, "new_words"),
        ("李明明的营销预算为8万元。", ZH, "new_words"),
        ("李明的营销预算为8亿元。", ZH, "new_words"),
        ("李明的营销预算为80万元。", ZH, "new_numbers"),
        ("The marketing budget of 李明 is 8万元.", ZH, "new_words"),
    ],
)
def test_what_adds_or_bends_anything_is_refused_for_its_words_alone(rewritten: str, template: str, why: str) -> None:
    assert judged(rewritten, template) == why


def test_words_that_were_said_may_come_back() -> None:
    assert judged("The total marketing budget of Acme is $80,000.") == "new_words"
    assert judged("The total marketing budget of Acme is $80,000.", said="total budget: $80,000") == "accepted"


@pytest.mark.parametrize(
    ("name", "fate"), [("Acme", "accepted"), ("acme", "accepted"), ("", "accepted"), ("Bcme", "name_missing")]
)
def test_a_name_must_stand_as_it_is(name: str, fate: str) -> None:
    assert judged("The marketing budget of Acme is $80,000.", keep=(name,)) == fate


def test_the_longest_sentence_that_is_allowed_is_allowed() -> None:
    template = "Acme"
    longest = "Acme " * 5 + "Acme..."
    assert len(longest) == GROWTH * len(template) + SLACK
    assert judged(longest, template) == "accepted"
    assert judged("Acme " * 7, template) == "too_long"


@pytest.mark.parametrize(
    ("rewritten", "template", "said"),
    [
        ("The marketing budget of Acme is €80,000.", "The marketing budget of Acme is $80,000.", ""),
        ("Acme: at most $80,000 budget.", "The budget of Acme is $80,000.", "at most"),
        ("预算不超过8万元。", "预算为8万元。", "原来不超过5万"),
        ("预算为8万元。", "预算不超过8万元。", ""),
        ("预算不是8万元。", "预算为8万元。", "不是5万，是8万"),
        ("The deadline is 7 June 2026.", "The deadline is 6 July 2026.", "6 or 7 June or July 2026"),
        ("预算为5万元。", "预算为8万元。", "不是5万，是8万"),
        ("预算为8万元和5万元。", "预算为8万元。", "不是5万元和3万元，是8万元"),
        ("预算。", "预算为8万元。", ""),
        ("如果预算为8万元。", "预算为8万元。", "如果通过，预算8万"),
    ],
)
def test_what_reads_back_otherwise_is_refused_even_if_every_word_was_said(
    rewritten: str, template: str, said: str
) -> None:
    outcome = guard(rewritten, template, said, read, function_words=[*SMALL, "和", "如果", "不", "or"])
    assert isinstance(outcome, Refused)
    assert outcome.why == "value_changed", outcome


@pytest.mark.parametrize("template", ["预算为8万元。", "The budget is $80,000.", "不晚于2026年6月30日交付。"])
def test_the_template_itself_always_reads_back(template: str) -> None:
    assert guard(template, template, "", read) == Accepted(template)


def test_a_template_in_which_no_rule_reads_anything_cannot_be_rewritten() -> None:
    outcome = guard("Acme likes tea.", "Acme likes tea.", "", read)
    assert isinstance(outcome, Refused)
    assert outcome.why == "unverifiable"


def test_the_refusal_names_what_was_lost_and_what_is_new() -> None:
    outcome = guard("预算为5万元。", "预算为8万元。", "5万", read, function_words=["为"])
    assert isinstance(outcome, Refused)
    assert "80000" in outcome.detail
    assert "50000" in outcome.detail


def candidate(**fields: object) -> Candidate:
    value = MoneyValue(amount="80000", currency="CNY")
    base = Candidate(slot="budget", qualifier="营销", kind="money", value=value, start=0, end=2, rule="r@1")
    return base.model_copy(update=fields)


@pytest.mark.parametrize(
    "change",
    [
        {"slot": "amount"},
        {"qualifier": "研发"},
        {"entity": "李明"},
        {"act": "retract"},
        {"value": MoneyValue(amount="80000", currency="CNY", bound="<=")},
        {"value": MoneyValue(amount="80000", currency="CNY", per="P1M")},
        {"value": None},
        {"assertion": Assertion(polarity="negated")},
        {"assertion": Assertion(modality="hypothetical")},
        {"assertion": Assertion(reported_by="老板")},
        {"assertion": Assertion(time="past")},
    ],
)
def test_two_candidates_compare_in_slot_label_entity_value_and_assertion(change: dict[str, object]) -> None:
    empty = Scan(lang="zh")
    assert parsed(empty, [candidate(**change)]) != parsed(empty, [candidate()])


AMOUNT = Key("mention money", "80000", "")
ACME = Key("name", "Acme", "")


@pytest.mark.parametrize(
    ("expected", "found", "fate"),
    [
        ({AMOUNT, ACME}, {AMOUNT}, "accepted"),
        ({AMOUNT}, {AMOUNT, ACME}, "accepted"),
        ({AMOUNT, Key("name", "Bcme", "")}, {AMOUNT}, "value_changed"),
        ({AMOUNT}, {AMOUNT, Key("name", "Acme", "negation")}, "value_changed"),
        ({AMOUNT, ACME}, {AMOUNT, Key("name", "Acme", "negation")}, "value_changed"),
        ({AMOUNT, Key("name", "Acme", "third_party")}, {AMOUNT}, "value_changed"),
        ({AMOUNT, ACME}, {ACME}, "value_changed"),
    ],
)
def test_a_plain_name_counts_as_said_when_it_stands_there_whatever_it_was_seen_as(
    expected: set[Key], found: set[Key], fate: str
) -> None:
    answers = {EN: frozenset(expected), EN.replace("is", "has"): frozenset(found)}
    outcome = guard(EN.replace("is", "has"), EN, "", answers.__getitem__, function_words=SMALL)
    assert ("accepted" if isinstance(outcome, Accepted) else outcome.why) == fate


def test_where_a_value_stands_does_not_matter() -> None:
    empty = Scan(lang="zh")
    assert parsed(empty, [candidate(start=5, end=7, surface="8万")]) == parsed(empty, [candidate()])


@given(st.text(min_size=1, max_size=80))
def test_no_text_whatever_makes_the_guard_fail(text: str) -> None:
    outcome = guard(text, EN, "", blind, function_words=SMALL)
    assert isinstance(outcome, Accepted | Refused)


@given(st.integers(0, len(EN) - 1), st.sampled_from("0123456789"))
def test_no_single_changed_digit_gets_through(place: int, digit: str) -> None:
    if not EN[place].isdigit() or EN[place] == digit:
        return
    changed = EN[:place] + digit + EN[place + 1 :]
    assert judged(changed) in ("new_numbers", "value_changed") or changed.count("18") != EN.count("18")
