"""Self-repairs: which words were taken back and which stand for them, with and without mentions."""

from __future__ import annotations

import pytest
from shipped import shipped

from recordari.extractors.assertion import assertion_of, replaced_by, replaces
from recordari.extractors.scan import scan
from recordari.model import Cue, Scan


def heard(text: str) -> Scan:
    return scan(text, shipped().extraction, ner=False)


def repairs(text: str) -> list[Cue]:
    return [cue for cue in heard(text).cues if cue.kind == "repair"]


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("律师费3万元，哦不，2.8万元", "3万元", "2.8万元"),
        ("保证金5万元，不对，6万元", "5万元", "6万元"),
        ("佣金2%，说错了，3%", "2%", "3%"),
        ("不是6万元，是9万元", "6万元", "9万元"),
        ("上限不是30万元而是20万元", "30万元", "20万元"),
        ("总价是91万元，不是19万元", "19万元", "91万元"),
        ("利率从4%改成3%", "4%", "3%"),
        ("押金由2万元调整为1万元", "2万元", "1万元"),
        ("The fee is $13,000, scratch that, $8,700", "$13,000", "$8,700"),
        ("It's 6.3%, or rather 5.8%", "6.3%", "5.8%"),
        ("The total is $3,920, not $3,290", "$3,290", "$3,920"),
        ("It is not $4,180 but $4,810", "$4,180", "$4,810"),
        ("Pay $300 instead of $500", "$500", "$300"),
        ("The rate went from 4% in May to 5%", "4%", "5%"),
        ("$500, I mean $600", "$500", "$600"),
        ("Budget is $5,000. No wait, $6,000.", "$5,000", "$6,000"),
        ("that is 15%, sorry, 50%", "15%", "50%"),
    ],
)
def test_a_repair_marks_both_sides(text: str, old: str, new: str) -> None:
    (cue,) = repairs(text)
    assert cue.reparandum is not None
    assert cue.repair is not None
    assert text[slice(*cue.reparandum)] == old
    assert text[slice(*cue.repair)] == new
    found = heard(text)
    first, second = (next(n for n, m in enumerate(found.mentions) if m.text == side) for side in (old, new))
    assert cue.covers == tuple(sorted((first, second)))
    assert replaced_by(found, first) == (second,)
    assert replaces(found, second) == (first,)


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("把普洱茶换成拿铁咖啡了", "普洱茶", "拿铁咖啡"),
        ("I switched from rooibos to cider.", "rooibos", "cider"),
        ("Where did the tenant no wait the landlord live", "the tenant", "the landlord live"),
        ("What year, or rather what month was it", "What year", "what month was it"),
    ],
)
def test_words_are_repaired_where_there_are_no_mentions(text: str, old: str, new: str) -> None:
    (cue, *_) = repairs(text)
    assert cue.reparandum is not None
    assert cue.repair is not None
    assert (text[slice(*cue.reparandum)], text[slice(*cue.repair)]) == (old, new)


@pytest.mark.parametrize(
    "text",
    [
        "预算不是8万元", "材料、人工等等一共5万元", "要是8万元不行，9万元也可以", "从5月1日到5月9日",
        "这两笔不是一回事，3万元和4万元",
        "We have no objections to $500", "There are no fees, $500 in all", "No later than Friday, $500",
        "I would rather pay $500 than $600", "Open from Monday to Friday", "By no means $500", "Do you mean $500?",
        "We charge no interest on $500", "It is $500, not bad", "What does no one know about $500",
    ],
)  # fmt: skip
def test_a_sentence_without_a_repair_has_none(text: str) -> None:
    assert repairs(text) == []


@pytest.mark.parametrize("text", ["No wait, $500", "哦不，是5万元", "I mean $500", "Scratch that, 5%"])
def test_with_nothing_before_it_an_editing_phrase_corrects_what_was_said_earlier(text: str) -> None:
    cues = heard(text).cues
    assert "correction" in {cue.kind for cue in cues}
    assert "repair" not in {cue.kind for cue in cues}


def test_what_was_taken_back_is_negated_and_what_was_changed_is_past() -> None:
    taken = heard("佣金2%，哦不，3%")
    assert [assertion_of(taken, n).polarity for n in range(2)] == ["negated", "affirmed"]
    changed = heard("利率从4%改成3%")
    assert [assertion_of(changed, n).time for n in range(2)] == ["past", "current"]
    assert [assertion_of(changed, n).polarity for n in range(2)] == ["affirmed", "affirmed"]


def test_a_negation_outside_a_change_denies_the_new_value() -> None:
    found = heard("利率不会从4%改成3%")
    assert assertion_of(found, 1).polarity == "negated"
