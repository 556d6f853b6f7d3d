"""What is asked oddly is answered, or refused in one clear line, over every back end; nothing odd is kept for ever."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from recordari.erasure.erasing import ErasureError
from recordari.intake import IntakeError
from recordari.memory import Memory, NotFoundError
from recordari.recall.question import QuestionError
from recordari.rules.ruleset import Ruleset
from recordari.service.cli import app
from recordari.settings import Settings
from recordari.store.errors import Unstorable

AT = "2026-03-01T10:00:00+08:00"
ODD = {
    "only marks": "?!.,;:'\"()[]{}", "emoji": "😀👩\u200d👩\u200d👧🇨🇳", "marks of direction": "\u202e\u200f预算\u202c",
    "NUL": "预算\0多少", "half a pair": "预算\ud800多少", "wildcards": "%_%", "SQL": "'; DROP TABLE items; --",
    "fields": "{0} {qualifier} %s", "tags": "\U000e0041\U000e0042", "marks above": "预" + "\u0301" * 3000,
    "an expression": "(((((a*)*)*)*)*b", "one long number": "9" * 3000,
}  # fmt: skip
UNKEPT = ("预算\0", "预算\ud800")
NAMED: dict[str, Callable[[Memory, str], Any]] = {
    "items": lambda memory, name: memory.items(entity=name),
    "window": lambda memory, name: memory.window(name),
    "why-not": lambda memory, name: memory.why_not(name),
    "explain": lambda memory, name: memory.explain(name),
    "traces": lambda memory, name: memory.traces(item=name),
    "related": lambda memory, name: memory.related(name),
    "recall of an entity": lambda memory, name: memory.recall("预算", entity=name, transcript=True),
    "recall of a slot": lambda memory, name: memory.recall("预算", slots=[name], transcript=True),
    "erase an entity": lambda memory, name: memory.erase(entity=name, ground="g", actor="a", dry_run=True),
    "erase a conversation": lambda memory, name: memory.erase(conversation=name, ground="g", actor="a", dry_run=True),
}


@pytest.fixture
def told(memory: Memory) -> Memory:
    """A memory over each back end that has one budget."""
    memory.observe("市场预算5万元", said_at=AT, entity="client", conversation="c")
    return memory


@pytest.mark.parametrize("question", ODD.values(), ids=ODD)
def test_an_odd_question_is_answered(told: Memory, question: str) -> None:
    assert isinstance(told.recall(question, transcript=True), tuple)
    assert told.context(question, budget=50).tokens <= 50
    assert told.context("预算", turn=question).lines


@pytest.mark.parametrize("ask", NAMED.values(), ids=NAMED)
@pytest.mark.parametrize("name", UNKEPT, ids=["NUL", "half a pair"])
def test_a_name_that_no_database_keeps_finds_nothing_or_is_refused(
    told: Memory, ask: Callable[[Memory, str], Any], name: str
) -> None:
    try:
        found = ask(told, name)
    except (Unstorable, NotFoundError):
        return
    assert not found or getattr(found, "nothing", False) or not getattr(found, "turns", found)


@pytest.mark.parametrize("name", [*UNKEPT, "客" * 201])
def test_nothing_is_restricted_or_held_under_a_name_that_nobody_can_have(told: Memory, name: str) -> None:
    with pytest.raises(ErasureError, match="no item, entity or conversation has such a name"):
        told.restrict("entity", name, ground="dispute", actor="clerk")
    told.restrict("entity", "client's %_ friend", ground="dispute", actor="clerk")
    assert told.recall("预算", transcript=True)


def test_a_question_longer_than_any_turn_is_refused(ruleset: Ruleset) -> None:
    with Memory.open("sqlite://", ruleset=ruleset, ner=False, settings=Settings(max_turn_chars=100)) as memory:
        memory.observe("市场预算5万元", said_at=AT)
        assert memory.recall("预算" * 50)
        with pytest.raises(QuestionError, match="the question has 102 characters, more than 100"):
            memory.recall("预算" * 51)


@pytest.mark.parametrize("top", [0, -1, -100])
def test_who_wants_no_hits_gets_none(told: Memory, top: int) -> None:
    assert told.recall("预算", top=top, transcript=True) == ()


@pytest.mark.parametrize("name", ["at", "as_of", "known_at"])
def test_a_time_beyond_the_calendar_is_refused(told: Memory, name: str) -> None:
    with pytest.raises(IntakeError, match=f"{name}: .* lies beyond the calendar"):
        told.recall("预算", **{name: "0001-01-01T00:00:00+14:00"})
    assert told.recall("预算", **{name: "2026-03-18T00:00:00+14:00"})


def test_the_command_line_refuses_what_no_database_keeps_with_exit_code_2(tmp_path: Path, ruleset: Ruleset) -> None:
    place = str(tmp_path / "memory.db")
    with Memory.open(place, ruleset=ruleset, ner=False) as memory:
        memory.observe("市场预算5万元", said_at=AT, entity="client")
    odd = CliRunner().invoke(app, ["items", "--store", place, "--entity", "\ud800"])
    assert isinstance(odd.exception, Unstorable)  # main() tells it in one line
    from recordari.service.faults import told

    assert told(odd.exception) == 2
