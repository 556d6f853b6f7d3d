"""The README's own code and commands, run as a newcomer would."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "README.zh.md")


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_the_five_lines_run_and_remember_the_budget(page: str, tmp_path: Path) -> None:
    (code,) = blocks(page, "python")
    code += "\nassert [item.canonical for item in memory.items(entity='client-17')], 'nothing remembered'\n"
    code += "assert memory.verify().ok and all(layer.ok for layer in memory.replay())\nmemory.close()\n"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
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


def test_the_worked_example_of_the_rules_page_is_the_shipped_folder_to_the_letter() -> None:
    shown = {block.splitlines()[0].removeprefix("id: "): block for block in blocks("docs/rules.md", "yaml")}
    files = sorted((ROOT / "examples" / "insurance-rules").glob("*.yaml"))
    assert sorted(shown) == [file.stem for file in files]
    for file in files:
        assert shown[file.stem] == file.read_text(encoding="utf-8"), file.name


def test_the_line_of_a_dialogue_in_the_readme_can_be_observed(tmp_path: Path) -> None:
    (line,) = blocks("README.md", "json")
    (tmp_path / "dialogue.jsonl").write_text(line, encoding="utf-8")
    command = [str(Path(sys.executable).with_name("recordari")), "observe", "dialogue.jsonl", "--store", "m.db"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "80000 XXX" in done.stdout  # no currency was said
