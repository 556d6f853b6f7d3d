"""Clauses, sentences and tokens: their offsets, and what ends none of them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordari.extractors.segment import Clause, clause_of, clauses, sentences, tokens, words_before


def cut(text: str, spans: Sequence[Clause]) -> list[str]:
    return [text[s.start : s.end].strip() for s in spans]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("预算8万，先付3万。", ["预算8万", "先付3万"]),
        ("The fee is $1,200.50, paid at 10:30.", ["The fee is $1,200.50", "paid at 10:30"]),
        ("Dr. Holt agreed; we signed.", ["Dr. Holt agreed", "we signed"]),
        ("电话：138、139", ["电话：138、139"]),
        ("", []),
        ("，。", []),
    ],
)
def test_a_clause_ends_at_its_mark_but_not_inside_a_number_or_after_a_title(text: str, expected: list[str]) -> None:
    assert cut(text, clauses(text)) == expected


def test_a_sentence_keeps_its_commas() -> None:
    text = "He paid, then left. She stayed!"
    assert cut(text, sentences(text)) == ["He paid, then left", "She stayed"]


def test_the_clause_of_a_place_is_the_one_around_it_and_between_two_it_is_empty() -> None:
    text = "预算8万，先付3万"
    assert text[slice(*(lambda c: (c.start, c.end))(clause_of(text, 7)))] == "先付3万"
    between = clause_of(text, 4)
    assert between.start == between.end == 4


def test_tokens_are_words_at_their_characters() -> None:
    assert [t.text for t in tokens("营销预算是8万", "zh")] == ["营销", "预算", "是", "8", "万"]
    assert [(t.start, t.text) for t in tokens("The fee  is due", "en")] == [
        (0, "The"),
        (4, "fee"),
        (9, "is"),
        (12, "due"),
    ]
    assert tokens("  ", "en") == ()


def test_the_words_before_a_place_stop_at_the_clause() -> None:
    text = "甲方同意，营销预算是8万"
    assert [t.text for t in words_before(text, text.index("8"), "zh")] == ["营销", "预算", "是"]
    assert words_before("，8万", 1, "zh") == ()
    assert [t.text for t in words_before("one two three four", 13, "en", limit=2)] == ["two", "three"]


@given(st.text(alphabet="预算8万，。,. abAB\n!?", max_size=40))
def test_clauses_come_in_order_and_do_not_overlap(text: str) -> None:
    last = 0
    for clause in clauses(text):
        assert last <= clause.start < clause.end <= len(text)
        assert text[clause.start : clause.end].strip()
        last = clause.end


def test_spacy_is_not_loaded_before_a_token_is_asked_for() -> None:
    code = (
        "import sys; from recordari.rules.load import load; from recordari.extractors.scan import scan; "
        "scan('预算8万，电话13800002345', load().extraction, ner=False); "
        "print('spacy' in sys.modules, 'jieba' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.split() == ["False", "False"]


def test_the_words_of_chinese_come_without_spacy_noise_or_a_file_in_the_shared_temporary_folder(tmp_path: Path) -> None:
    shared, own = tmp_path / "shared", tmp_path / "own"
    shared.mkdir()
    code = (
        "import sys; from recordari.extractors.segment import tokens; "
        "print(*(t.text for t in tokens('我叫赵新民 哈哈', 'zh')), 'spacy' in sys.modules)"
    )
    for cache in (str(own), ""):
        place = os.environ | {"TMPDIR": str(shared), "RECORDARI_CACHE": cache, "PYTHONIOENCODING": "utf-8"}
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=place, encoding="utf-8"
        )
        assert done.stdout.split() == ["我", "叫", "赵", "新民", "哈哈", "False"]
        assert done.stderr == ""
        assert list(shared.iterdir()) == []
    assert [file.name for file in own.iterdir()] == ["jieba.cache"]
