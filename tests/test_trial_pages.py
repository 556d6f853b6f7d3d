"""The pages on testing and comparing rules say what the code does, the same in both languages."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from recordari.rules.backtest import COMPARED
from recordari.rules.compare import INERT
from recordari.rules.expected import CONTAINS, KEYS
from recordari.rules.tally import COUNTS
from recordari.service.trial_commands import trials

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGES = ("rule-tests", "comparing")


def text(name: str) -> str:
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_both_languages_show_the_same_commands_examples_and_sections(page: str) -> None:
    english, chinese = text(page), text(f"{page}.zh")
    commands = [re.findall(r"^recordari .*?(?= {2,}#|$)", each, re.MULTILINE) for each in (english, chinese)]
    assert commands[0] == commands[1] != []
    blocks = [re.findall(r"```text\n(.*?)```", each, re.DOTALL) for each in (english, chinese)]
    assert blocks[0] == blocks[1] != []
    for mark in (r"^#+ ", r"^\|"):
        assert len(re.findall(mark, english, re.MULTILINE)) == len(re.findall(mark, chinese, re.MULTILINE)), mark


@pytest.mark.parametrize("page", PAGES)
def test_every_command_and_option_that_is_shown_exists(page: str) -> None:
    commands = get_command(trials).commands  # type: ignore[attr-defined]
    seen = set()
    for line in re.findall(r"^recordari rules .*$", text(page), re.MULTILINE):
        _, _, name, *words = shlex.split(line, comments=True)
        known = {option for each in commands[name].params for option in each.opts}
        assert {word for word in words if word.startswith("--")} <= known, line
        seen.add(name)
    assert seen == ({"test", "try"} if page == "rule-tests" else {"diff", "backtest"})
    told = set(re.findall(r"`(--[a-z-]+)`", text(page)))
    assert told <= {option for command in commands.values() for each in command.params for option in each.opts}


def test_the_page_on_comparing_names_what_is_compared_what_is_not_and_every_label() -> None:
    for page in ("comparing", "comparing.zh"):
        missing = {name for name in (*COMPARED, *INERT, *KEYS, CONTAINS, *COUNTS) if name not in text(page)}
        assert missing <= {"version"}


def test_the_page_on_testing_names_every_condition_that_can_stop_a_rule() -> None:
    rules = Path(__file__).resolve().parent.parent / "rules"
    named = set()
    for name in ("fitting.py", "phrases.py", "gates.py"):
        source = (rules / name).read_text(encoding="utf-8")
        named |= set(
            re.findall(r'(?:yield|return) "((?:when|take|unless)\.[a-z_.]+|trigger|language|longest)"', source)
        )
    named -= {"when.value.kind"}  # such a rule is not tried
    assert "when.no_cue" in named
    for page in ("rule-tests", "rule-tests.zh"):
        assert {each for each in named if f"`{each}`" not in text(page)} == set()
