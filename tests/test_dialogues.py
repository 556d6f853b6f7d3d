"""Whole dialogues, in our own words: what must be current afterwards, what must not, and about whom."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from recordari.intake import Incoming, read_turn
from recordari.memory import Memory
from recordari.model import MemoryItem

FOLDER = Path(__file__).with_name("dialogues")
START = datetime.fromisoformat("2026-03-18T10:00:00+08:00")


def dialogues() -> Iterator[Any]:
    for file in sorted(FOLDER.glob("*.yaml")):
        for one in YAML(typ="safe").load(file.read_text(encoding="utf-8")):
            yield pytest.param(one, id=f"{file.stem}:{one['id']}")


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with Memory.rehearsal() as opened:
        yield opened


def turns(given: list[Any]) -> list[Incoming]:
    made = []
    for number, turn in enumerate(given):
        fields = {"at": (START + timedelta(minutes=2 * number)).isoformat()}
        if isinstance(turn, str):
            fields |= {"speaker": "user", "text": turn}
        else:
            at = turn.get("at", fields["at"])
            ((speaker, text),) = ((name, said) for name, said in turn.items() if name != "at")
            fields |= {"speaker": speaker, "text": text, "at": at}
        made.append(read_turn(fields, 1000))
    return made


def names(item: MemoryItem) -> set[str]:
    """The ways in which a dialogue may name an item."""
    return {item.canonical, f"{item.slot} {item.canonical}", f"{item.slot}[{item.qualifier}] {item.canonical}"}


@pytest.mark.parametrize("dialogue", list(dialogues()))
def test_after_a_dialogue_the_right_things_are_current(dialogue: dict[str, Any], memory: Memory) -> None:
    decisions, items = memory.rehearse(turns(dialogue["turns"]))
    assert {decision.turn for decision in decisions} == set(range(len(dialogue["turns"])))
    current = [item for item in items if item.status == "current"]
    shown = [f"{i.entity}: {i.slot}[{i.qualifier}] {i.canonical} {i.polarity}" for i in current]
    wanted = [str(each) for each in dialogue.get("current", [])]
    for name in wanted:
        assert any(name in names(item) for item in current), f"{name} is not current; current: {shown}"
    for name in map(str, dialogue.get("never", [])):
        assert not any(name in names(item) for item in current), f"{name} is current: {shown}"
    for canonical, entity in dialogue.get("entities", {}).items():
        about = {item.entity for item in current if item.canonical == canonical}
        assert about == {entity}, f"{canonical} is about {about}; current: {shown}"
    for words in dialogue.get("negated", []):
        found = [item for item in current if words in item.canonical]
        assert {item.polarity for item in found} == {"negated"}, shown
    if dialogue.get("only"):
        assert len(current) == len(wanted), shown
