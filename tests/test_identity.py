"""Two names: the same, another, or perhaps; measured on a table of pairs that were answered from rules of naming."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML
from shipped import shipped

from recordari.rules.identity import REASONS, NameWords, judge, name_words

TABLE: dict[str, list[list[str]]] = YAML(typ="safe").load(
    Path(__file__).with_name("name_pairs.yaml").read_text(encoding="utf-8")
)
PAGE = Path(__file__).resolve().parents[1] / "docs" / "entities.md"


@pytest.fixture(scope="module")
def words() -> NameWords:
    return name_words(shipped().vocabularies)


def pairs() -> Iterator[tuple[str, str, str, str]]:
    for theme, listed in TABLE.items():
        for one, other, answer in listed:
            yield theme, one, other, answer


def figures(words: NameWords, language: str) -> tuple[int, int, int, int]:
    """(pairs that are one thing, of them split; pairs that are not, of them merged)."""
    split = merged = same = unlike = 0
    for theme, one, other, answer in pairs():
        if theme.startswith(language):
            given = judge(one, other, words).answer
            same += answer == "same"
            unlike += answer != "same"
            split += answer == "same" != given
            merged += answer != "same" == given
    return same, split, unlike, merged


@pytest.mark.parametrize(("theme", "one", "other", "answer"), list(pairs()))
def test_two_names_are_judged_as_the_rules_of_naming_say(
    theme: str, one: str, other: str, answer: str, words: NameWords
) -> None:
    found = judge(one, other, words)
    assert found.answer == answer, found
    assert found.reasons
    assert set(found.reasons) <= set(REASONS)
    assert judge(other, one, words) == found, "the order of the two makes no difference"


@pytest.mark.parametrize("language", ["zh", "en"])
def test_nothing_is_merged_silently_and_little_is_split(language: str, words: NameWords) -> None:
    same, split, unlike, merged = figures(words, language)
    print(f"{language}: {same + unlike} pairs, false merges {merged}/{unlike}, false splits {split}/{same}")
    assert merged == 0
    assert split == 0
    assert f"| {language} | {same + unlike} | {merged} of {unlike} | {split} of {same} |" in PAGE.read_text("utf-8")


def test_the_table_is_large_enough_and_names_no_pair_twice() -> None:
    listed = [frozenset((one, other)) for _, one, other, _ in pairs() if one != other]
    assert len(listed) >= 120
    assert len(set(listed)) == len(listed)
    assert sum(theme.startswith("zh") for theme, *_ in pairs()) >= 60
    assert sum(theme.startswith("en") for theme, *_ in pairs()) >= 60


def test_a_declared_alias_joins_what_no_rule_would(words: NameWords) -> None:
    assert judge("李明", "Li Ming", words, [("Li Ming", "李明")]).answer == "same"
    assert judge("Greystone LLC", "Harborline LLC", words, [("Harborline LLC", "GREYSTONE LLC")]).reasons == ("alias",)
    assert judge("李明", "Li Ming", words, [("Li Ming", "李鸣")]).answer == "other"


NAMES = st.lists(
    st.sampled_from([*"李明于於范範一二AB12 .&()（）", " LLC", "Ltd", "Mr. ", "II", "公司", "先生"]), max_size=7
)


@settings(max_examples=300, deadline=None)
@given(made=st.tuples(NAMES, NAMES))
def test_a_judgement_is_symmetric_and_a_differing_numeral_is_never_the_same(
    words: NameWords, made: tuple[list[str], list[str]]
) -> None:
    one, other = ("".join(parts) for parts in made)
    found = judge(one, other, words)
    assert found == judge(other, one, words)
    if sorted(c for c in one if c in "12一二") != sorted(c for c in other if c in "12一二"):
        assert found.answer != "same"
    assert judge(one, one, words).answer == "same"
