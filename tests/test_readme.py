"""The README's own code and commands, run as a newcomer would."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from commands import recordari, untraced

from recordari.rules.schema import KINDS

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "README.zh.md")


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_the_five_lines_run_and_remember_the_budget(page: str, tmp_path: Path) -> None:
    (code,) = blocks(page, "python")
    code += "\nassert [item.canonical for item in memory.items(entity='client-17')], 'nothing remembered'\n"
    code += "assert memory.verify().ok and all(layer.ok for layer in memory.replay())\nmemory.close()\n"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False, env=untraced()
    )
    assert done.returncode == 0, done.stderr
    assert "budget" in done.stdout


def test_both_readmes_name_the_same_pages_and_commands() -> None:
    english, chinese = ((ROOT / page).read_text(encoding="utf-8") for page in PAGES)
    pages = re.compile(r"\]\((docs/[^)]+)\)")
    assert sorted(set(pages.findall(english))) == sorted(set(pages.findall(chinese)))
    commands = re.compile(r"^(?:recordari|make) .*?(?= {2,}#|$)", re.MULTILINE)
    assert commands.findall(english) == commands.findall(chinese)


def test_the_commands_of_the_readme_exist() -> None:
    from recordari.service.helppage import page

    known = page()
    for block in blocks("README.md", "sh"):
        for line in block.splitlines():
            words = shlex.split(line, comments=True)
            if words and words[0] == "recordari":
                assert f"`recordari {words[1]}" in known, line


@pytest.mark.parametrize("page", ["docs/rules.md", "docs/rules.zh.md"])
def test_the_worked_example_of_the_rules_page_is_the_shipped_folder_to_the_letter(page: str) -> None:
    shown = {block.splitlines()[0].removeprefix("id: "): block for block in blocks(page, "yaml")}
    files = sorted((ROOT / "examples" / "insurance-rules").glob("*.yaml"))
    assert sorted(shown) == [file.stem for file in files]
    for file in files:
        assert shown[file.stem] == file.read_text(encoding="utf-8"), file.name


def test_the_pages_on_rules_show_the_same_in_both_languages() -> None:
    english, chinese = ((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("rules.md", "rules.zh.md"))
    for mark in (r"^#+ ", r"^\| `", r"^recordari [a-z ]+"):
        found = [re.findall(mark, page, re.MULTILINE) for page in (english, chinese)]
        assert found[0] == found[1], mark
    for kind in KINDS:
        assert f"\n| `{kind}` | " in english, kind


def test_the_commands_of_the_rules_page_do_what_it_says(tmp_path: Path) -> None:
    mine = str(tmp_path / "my-rules")
    lines = [line for block in blocks("docs/rules.md", "sh") for line in block.splitlines()]
    ran = 0
    for line in lines:
        if line.startswith("recordari "):
            words = shlex.split(line, comments=True)
            words = [word.replace("my-rules", mine) for word in words[1:]]
            words = [str(ROOT / word) if word.startswith("examples/") else word for word in words]
            words = [str(tmp_path / word) if word == "labels.csv" else word for word in words]
            done = recordari(*words)
            left = words[:2] == ["rules", "lint"] and mine in words  # what was just scaffolded is not filled in
            assert done.returncode == (1 if left else 0) or words[1] in ("test", "try"), (
                line,
                done.stdout,
                done.stderr,
            )
            ran += 1
    assert ran >= 9


def test_the_line_of_a_dialogue_in_the_readme_can_be_observed(tmp_path: Path) -> None:
    (line,) = blocks("README.md", "json")
    (tmp_path / "dialogue.jsonl").write_text(line, encoding="utf-8")
    command = [str(Path(sys.executable).with_name("recordari")), "observe", "dialogue.jsonl", "--store", "m.db"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=untraced())
    assert done.returncode == 0, done.stderr
    assert "80000 XXX" in done.stdout  # no currency was said
