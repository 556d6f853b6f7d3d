"""`check index`: what is made from items and turns is held against them, and `audit reindex` makes it right again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from shipped import shipped
from typer.testing import CliRunner

from recordari.memory import Memory
from recordari.service.cli import app
from recordari.settings import Settings
from recordari.store.derived import Difference
from recordari.store.tables import ITEMS, RELATIONS, TERMS, TEXTS, TRACE_HITS, TURN_TERMS, TURN_TEXTS, TURNS

pytestmark = pytest.mark.usefixtures("sharing")  # see conftest.py

NOW = "2026-03-18T10:00:00+08:00"
RULES = shipped()
TRACED = Settings(embedder="none", trace=1)


def fill(memory: Memory) -> None:
    for said in (
        "Oakline Ltd supplies Acme Ltd.",
        "张经理在长河公司工作。",
        "The legal budget is $60,000.",
        "Good morning!",
    ):
        memory.observe(said, said_at=NOW)
    memory.recall("legal budget", at=NOW)


@pytest.fixture
def memory(place: str) -> Iterator[Memory]:
    with Memory.open(place, ruleset=RULES, ner=False, settings=TRACED) as opened:
        fill(opened)
        yield opened


def found(memory: Memory) -> tuple[dict[str, tuple[int, int]], list[Difference]]:
    told: list[Difference] = []
    compared = memory.check_index(told.append)
    return {each.kind: (each.compared, each.different) for each in compared}, told


def test_what_was_written_confirmed_corrected_and_erased_agrees_with_its_indexes(memory: Memory) -> None:
    assert found(memory) == ({"items": (3, 0), "transcript": (4, 0), "relations": (2, 0), "traces": (1, 0)}, [])
    memory.observe("Oakline Ltd supplies Acme Ltd.", said_at=NOW, conversation="again")
    memory.observe("Oakline Ltd no longer supplies Acme Ltd.", said_at=NOW)
    memory.observe("Oakline Ltd is also known as Oakline.", said_at=NOW)
    budget = next(each for each in memory.items() if each.slot == "budget")
    memory.correct(budget.id, "$70,000", actor="ines", seen_version=budget.version)
    assert found(memory)[1] == []
    memory.erase(budget.id, ground="gdpr-17-1-b", actor="ines")
    memory.erase(
        next(each for each in memory.items() if each.slot == "employer").id, ground="gdpr-17-1-b", actor="ines"
    )
    assert found(memory)[1] == []
    before = found(memory)
    memory.reindex()
    assert found(memory) == before


@pytest.mark.parametrize(
    ("change", "kind", "why"),
    [
        (TERMS.delete(), "items", "it differs"),
        (TERMS.update().values(count=99), "items", "it differs"),
        (TEXTS.update().values(ordinal=TEXTS.c.ordinal + 100), "items", "it differs"),
        (TURN_TEXTS.delete(), "transcript", "it differs"),
        (TURN_TERMS.update().values(count=99), "transcript", "it differs"),
        (TURN_TEXTS.update().values(conversation="another"), "transcript", "it differs"),
        (TURNS.update().values(text=None).where(TURNS.c.ordinal == 2), "transcript", "not from the index"),
        (RELATIONS.delete(), "relations", "it is missing"),
        (RELATIONS.update().values(other="nobody").where(RELATIONS.c.direction == "out"), "relations", "it differs"),
        (RELATIONS.update().values(item_id="f" * 32), "relations", "no item"),
        (TRACE_HITS.update().values(target="f" * 32).where(TRACE_HITS.c.place > 0), "traces", "which is gone"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_every_kind_of_difference_is_told_with_its_place_and_made_right(
    memory: Memory, change: Any, kind: str, why: str
) -> None:
    with memory.store.writing() as tx:
        tx.connection.execute(change)
    counts, told = found(memory)
    assert {each.kind for each in told} == {kind}
    assert counts[kind][1] == len(told) > 0
    assert any(why in each.why for each in told)
    ids = {each.id for each in memory.items()} | set(memory.turn_ids()) | {"1", ""}
    assert {each.id for each in told} <= ids
    memory.reindex()
    assert found(memory)[1] == []


def test_an_item_of_another_namespace_is_no_difference(memory: Memory) -> None:
    with Memory(memory.store, RULES, namespace="other", ner=False, settings=TRACED) as other:
        fill(other)
        assert found(other)[1] == []
        with memory.store.writing() as tx:
            tx.connection.execute(ITEMS.update().values(slot="relation.uses").where(ITEMS.c.namespace == "other"))
        assert found(memory)[1] == []


def test_the_command_tells_counts_and_places_and_its_exit_code_says_whether_they_differ(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    with Memory.open(path, ruleset=RULES, ner=False, settings=TRACED) as memory:
        fill(memory)

    def run(*given: str) -> Any:
        return CliRunner().invoke(app, [*given, "--store", path])

    fine = run("check", "index")
    assert fine.exit_code == 0
    assert "relations: 2 compared, 0 differ" in fine.stdout
    with Memory.open(path, ruleset=RULES, ner=False, settings=TRACED) as memory:
        item = next(each.id for each in memory.items() if each.slot == "relation.supplies")
        with memory.store.writing() as tx:
            tx.connection.execute(RELATIONS.delete().where(RELATIONS.c.item_id == item))
            tx.connection.execute(TURN_TEXTS.delete())
    wrong = run("check", "index", "--last", "1")
    assert wrong.exit_code == 1
    assert f"relations: {item}: it is missing" in wrong.stdout
    assert wrong.stdout.count("transcript: default:") == 1
    assert "transcript: 4 compared, 4 differ" in wrong.stdout
    assert "audit reindex" in wrong.stderr
    lines = [json.loads(line) for line in run("check", "index", "--json").stdout.splitlines()]
    assert {"kind": "relations", "id": item, "why": "it is missing"} in lines
    assert {"kind": "transcript", "compared": 4, "different": 4} in lines
    assert run("audit", "reindex").exit_code == 0
    assert run("check", "index").exit_code == 0
