"""Cue files: their scopes, pseudo-cues and limits, on rules made for the test and on the shipped ones."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from shipped import shipped

from recordari.extractors.assertion import find_cues
from recordari.extractors.cues import CompiledCues, CueFile, compile_cues
from recordari.extractors.scan import scan
from recordari.extractors.vocabulary import VocabularyFile
from recordari.model import Cue, Mention
from recordari.values import MoneyValue


def said(marked: str) -> tuple[str, tuple[Mention, ...]]:
    """A sentence and its mentions, which stand in square brackets: "预算[8万]"."""
    text, mentions, at = "", [], 0
    for hit in re.finditer(r"\[(.*?)\]", marked):
        text += marked[at : hit.start()]
        value = MoneyValue(amount=Decimal(len(mentions) + 1))
        mentions.append(Mention(start=len(text), end=len(text) + len(hit[1]), text=hit[1], value=value, rule="hand@1"))
        text += hit[1]
        at = hit.end()
    return text + marked[at:], tuple(mentions)


def rule(**fields: Any) -> CueFile:
    """A cue file with the header every rule has."""
    header = {"id": "cue.test", "version": 1, "kind": "cue", "title": {"en": "t", "zh": "t"}, "owner": "tests"}
    return CueFile.model_validate({**header, "category": "negation", **fields})


def covered(marked: str, *files: CueFile) -> list[str]:
    """The mentions that the cues of these files cover."""
    text, mentions = said(marked)
    cues = find_cues(text, mentions, (), compile_cues(files))
    return [mentions[n].text for cue in cues for n in cue.covers]


def cues_of(text: str, kind: str, speaker: Any = "user") -> list[Cue]:
    found = scan(text, shipped().extraction, speaker=speaker, ner=False)
    return [cue for cue in found.cues if cue.kind == kind]


def test_a_forward_cue_covers_what_follows_in_its_clause_only() -> None:
    cue = rule(words=["不"], direction="forward")
    assert covered("[1]不[2]，[3]", cue) == ["2"]


def test_a_backward_cue_covers_what_stands_before_in_its_clause_only() -> None:
    cue = rule(words=["不行"], direction="backward")
    assert covered("[1]，[2]不行[3]", cue) == ["2"]


@pytest.mark.parametrize(
    ("direction", "expected"),
    [("both", ["2", "3"]), ("clause", ["2", "3"]), ("sentence", ["1", "2", "3"]), ("turn", ["1", "2", "3", "4"])],
)
def test_each_direction_reaches_as_far_as_it_says(direction: str, expected: list[str]) -> None:
    assert covered("[1]，[2]不[3]。[4]", rule(words=["不"], direction=direction)) == expected


def test_a_word_of_until_ends_the_scope() -> None:
    cue = rule(words=["not"], until=["sentence_end", "but"])
    assert covered("not [1], [2] but [3]", cue) == ["1", "2"]


def test_a_cue_of_another_kind_ends_the_scope() -> None:
    cue = rule(words=["不"], until_cues=["change"])
    other = rule(id="cue.other", category="change", words=["改成"])
    assert covered("不[1]改成[2]", cue, other) == ["1", "2"]
    assert covered("不[1]改成[2]", cue) == ["1", "2"]
    text, mentions = said("不[1]改成[2]")
    negation = find_cues(text, mentions, (), compile_cues([cue, other]))[0]
    assert negation.covers == (0,)


def test_a_comma_inside_a_mention_ends_no_clause() -> None:
    assert covered("not [8 Elm Street, Salem, OR] now", rule(words=["not"])) == ["8 Elm Street, Salem, OR"]
    assert covered("not now, [8 Elm Street]", rule(words=["not"])) == []


def test_a_dot_of_an_abbreviation_or_a_number_ends_no_clause() -> None:
    assert covered("not Mr. Lee for [1]", rule(words=["not"])) == ["1"]
    assert covered("not v2.4 for [1]", rule(words=["not"])) == ["1"]
    assert covered("not today. [1]", rule(words=["not"])) == []


def test_no_cue_is_found_inside_a_mention() -> None:
    assert covered("[不超过8]，[9]", rule(words=["不"], direction="turn")) == []
    assert covered("不要[8]", rule(words=["不"])) == ["8"]


def test_a_pseudo_cue_hides_the_cue_it_contains() -> None:
    cue = rule(words=["不"], pseudo=["不断", "并非不"])
    assert covered("不断[1]", cue) == []
    assert covered("并非不给[1]", cue) == []
    assert covered("不给[1]", cue) == ["1"]


def test_a_longer_cue_swallows_a_shorter_one_inside_it() -> None:
    negation = rule(words=["不"])
    question = rule(id="cue.question", category="question", words=["是不是"])
    text, mentions = said("是不是[1]")
    assert [cue.kind for cue in find_cues(text, mentions, (), compile_cues([negation, question]))] == ["question"]


def test_negative_contexts_stand_directly_beside_the_cue() -> None:
    cue = rule(words=["万一"], unless={"preceded_by": "numeral", "after": ["一"]})
    assert covered("一万一[1]", cue) == []
    assert covered("万一一[1]", cue) == []
    assert covered("万一要[1]", cue) == ["1"]


def test_latin_words_match_whole_words_and_chinese_ones_do_not_need_to() -> None:
    assert covered("nothing [1]", rule(words=["not"])) == []
    assert covered("NOT [1]", rule(words=["not"])) == ["1"]
    assert covered("决不给[1]", rule(words=["不"])) == ["1"]


def test_kinds_and_max_targets_limit_what_is_covered() -> None:
    assert covered("not [1] [2]", rule(words=["not"], max_targets=1)) == ["1"]
    assert covered("[1] [2] ruled out", rule(words=["ruled out"], direction="backward", max_targets=1)) == ["2"]
    assert covered("not [1]", rule(words=["not"], kinds=["time"])) == []


def test_a_clause_that_carries_takes_the_scope_along() -> None:
    cue = rule(category="hypothesis", words=["如果"], carries=["就"])
    assert covered("如果行，就[1]，[2]", cue) == ["1"]
    assert covered("如果行，[1]", cue) == []


def test_a_place_restricts_where_the_cue_may_stand() -> None:
    cue = rule(words=["no"], at="turn_start", until=["turn_end"])
    assert covered("No, [1]", cue) == ["1"]
    assert covered("We have no [1]", cue) == []


def test_speakers_restrict_whose_cue_it_is() -> None:
    cue = compile_cues([rule(category="proposal", words=["ok?"], speakers=["assistant"], direction="turn")])
    text, mentions = said("[1] ok?")
    assert find_cues(text, mentions, (), cue, None, "assistant")[0].covers == (0,)
    assert find_cues(text, mentions, (), cue, None, "user") == ()


def test_a_family_inherits_the_scope_of_its_file_and_may_change_it() -> None:
    file = rule(
        words=["not"], until=["sentence_end"], cues={"ruled": {"words": ["ruled out"], "direction": "backward"}}
    )
    assert covered("not [1], [2]", file) == ["1", "2"]
    assert covered("[1], [2] ruled out", file) == ["1", "2"]


def test_a_cue_can_take_its_words_from_a_vocabulary() -> None:
    words = VocabularyFile.model_validate(
        {
            "id": "words.no", "version": 1, "kind": "vocabulary", "title": {"en": "n", "zh": "n"}, "owner": "tests",
            "words": ["nowise"],
        }
    )  # fmt: skip
    text, mentions = said("nowise [1]")
    compiled = compile_cues([rule(lexicon="words.no")], {"words.no": words})
    assert find_cues(text, mentions, (), compiled)[0].covers == (0,)
    with pytest.raises(KeyError):
        compile_cues([rule(lexicon="words.other")], {"words.no": words})


@pytest.mark.parametrize(
    "fields",
    [{}, {"patterns": ["(unclosed"]}, {"words": ["x"], "category": "none"}, {"words": ["x"], "surprise": 1},
     {"patterns": ["{nobody} x"]}, {"patterns": ["(?=x)"]}],
)  # fmt: skip
def test_a_bad_cue_file_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        rule(**fields)


def test_spans_are_exact_in_the_original_even_when_normalising_moves_characters() -> None:
    text = "預算  不是 ＄５０００"
    value = MoneyValue(amount=Decimal(5000), currency="USD")
    at = text.index("＄")
    mention = Mention(start=at, end=len(text), text=text[at:], value=value, rule="hand@1")
    (cue,) = find_cues(text, [mention], (), compile_cues([rule(words=["不是"])]))
    assert (text[cue.start : cue.end], cue.text, cue.covers) == ("不是", "不是", (0,))


def test_an_empty_text_and_an_empty_rule_set_have_no_cues() -> None:
    assert find_cues("", (), (), compile_cues([rule(words=["不"])])) == ()
    assert find_cues("不", (), (), CompiledCues((), ())) == ()


@settings(max_examples=150, deadline=None)
@given(
    st.text(
        alphabet=st.sampled_from("如果不是改成万一,，。？?!“”\"' no not if $8元 I mean\n…—吗就\u200b８"), max_size=60
    )
)
def test_every_cue_of_any_text_is_an_exact_span_and_covers_real_mentions(text: str) -> None:
    found = scan(text, shipped().extraction, ner=False)
    assert found == scan(text, shipped().extraction, ner=False)
    for cue in found.cues:
        assert text[cue.start : cue.end] == cue.text
        assert all(0 <= n < len(found.mentions) for n in cue.covers)
        assert cue.scope is not None
        assert 0 <= cue.scope[0] <= cue.scope[1] <= len(text)
        if cue.kind == "repair":
            assert cue.reparandum is not None
    assert list(found.cues) == sorted(found.cues, key=lambda c: (c.start, c.end, c.kind, c.rule))


def test_a_very_long_turn_is_read_to_its_end() -> None:
    text = "如果不行就改成" * 3000 + "8万元"
    assert scan(text, shipped().extraction, ner=False).cues


INLINE = [
    (file, test)
    for file in sorted(shipped().cues, key=lambda f: f.id)
    for test in file.tests
    if test.covers is not None or test.expect is not None
]


@pytest.mark.parametrize(("file", "test"), INLINE, ids=[f"{f.id}: {t.say}" for f, t in INLINE])
def test_the_shipped_cue_file_keeps_its_own_tests(file: CueFile, test: Any) -> None:
    found = scan(test.say, shipped().extraction, speaker=test.speaker, ner=False)
    own = [cue for cue in found.cues if cue.rule == file.ref]
    if test.covers is not None:
        wanted = [] if test.covers == "none" else [test.covers] if isinstance(test.covers, str) else test.covers
        assert sorted({found.mentions[n].canonical for cue in own for n in cue.covers}) == sorted(wanted)
    if test.expect is not None:
        wanted = [] if test.expect == "none" else [test.expect] if isinstance(test.expect, str) else test.expect
        assert [cue.text for cue in own] == wanted


@pytest.mark.parametrize("file", sorted(shipped().cues, key=lambda f: f.id), ids=lambda f: f.id)
def test_every_shipped_cue_file_has_two_positive_and_two_negative_examples(file: CueFile) -> None:
    negative = [t for t in file.tests if t.covers == "none" or t.expect == "none"]
    assert len(negative) >= 2
    assert len(file.tests) - len(negative) >= 2


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("我非常满意", "negation"), ("不过总价是上限", "negation"), ("对方不断催款", "negation"),
        ("别墅很贵", "negation"),
        ("特别说明", "negation"), ("无锡分公司", "negation"), ("若干问题", "hypothesis"), ("一万一千", "hypothesis"),
        ("没错", "correction"), ("价格不错", "correction"), ("不用改成别的样子了", "correction"),
        ("刚才提到的事", "change"), ("改天再说", "change"), ("大概三成", "hedge"), ("顺便说一下", "third_party"),
        ("not only that", "negation"), ("Nonetheless", "negation"), ("no later than Friday", "repair"),
        ("whenever you like", "hypothesis"), ("We have no objections to it", "repair"), ("the wish list", "wish"),
        ("Nothing is wrong with it", "correction"), ("up to ten people", "change"), ("cancellation fee", "withdrawal"),
        ("right now", "confirmation"), ("no later than Friday", "rejection"), ("as I said", "third_party"),
        ("Which is why we came", "question"), ("used to paying", "repair"), ("I'm not kidding", "joke"),
    ],
)  # fmt: skip
def test_words_that_only_look_like_a_cue_are_none(text: str, kind: str) -> None:
    assert cues_of(text, kind) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("我不满意", "negation"), ("别付款", "negation"), ("如果付款", "hypothesis"), ("写错了", "correction"),
        ("改成周五", "change"), ("可能三成", "hedge"), ("老板说可以", "third_party"), ("就当我没说", "withdrawal"),
        ("not that", "negation"), ("If you like", "hypothesis"), ("Monday, no wait, Tuesday", "repair"),
        ("I wish it were", "wish"), ("That's wrong", "correction"), ("moved to Leeds", "change"),
        ("Forget it", "withdrawal"), ("Right.", "confirmation"), ("No thanks.", "rejection"),
        ("my lawyer said", "third_party"), ("Is it late", "question"), ("just kidding", "joke"),
        ("I quit my job", "ending"), ("please move it to Friday", "request"), ("再加两万元", "adjustment"),
        ("我打算去", "plan"), ("以前住北京", "past"), ("建议改期", "proposal"), ("模板写着", "quotation"),
    ],
)  # fmt: skip
def test_the_words_themselves_are_cues(text: str, kind: str) -> None:
    assert cues_of(text, kind)
