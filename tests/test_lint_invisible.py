"""Lint and signs that look right on the screen, and ways out that name something else than the rule itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from recordari.rules.lint import lint_folders

HEAD = "version: 1\nkind: vocabulary\nstatus: active\ntitle: {en: e, zh: z}\nowner: o\nrationale: because.\n"


def told(folder: Path, name: str, text: str) -> list[str]:
    (folder / name).write_text(text, encoding="utf-8")
    return [str(problem) for problem in lint_folders([folder])[1] if name in str(problem)]


@pytest.mark.parametrize(("word", "found"), [("免\u200b赔额", True), ("excess\u00ad", True), ("免赔额", False)])
def test_an_invisible_character_in_a_word_is_told(tmp_path: Path, word: str, found: bool) -> None:
    lines = told(tmp_path, "words.excess.yaml", f"id: words.excess\n{HEAD}words: [{word}]\n")
    assert any("invisible character" in line for line in lines) is found


def test_an_unknown_base_is_not_answered_with_the_rule_itself(tmp_path: Path) -> None:
    text = f"id: words.adress.en.more.acme\n{HEAD}labels: {{street: [snicket]}}\n"
    (line,) = told(tmp_path, "words.adress.en.more.acme.yaml", text)
    assert "Did you mean 'words.address.en'?" in line


def test_a_pattern_that_is_not_linear_is_told_in_words(tmp_path: Path) -> None:
    text = f"id: patterns.policy\n{HEAD}patterns: {{policy: '(P[0-9])\\1'}}\n"
    lines = told(tmp_path, "patterns.policy.yaml", text)
    assert any("RE2 has no look-around and no back-reference" in line and "b'" not in line for line in lines)
