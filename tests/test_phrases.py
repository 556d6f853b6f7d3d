"""Sentence frames take a value only in its shape: a table of sentences, what each leaves, and what none may leave."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML
from shipped import shipped

from recordari.extractors.scan import scan
from recordari.intake import read_turn
from recordari.memory import Memory
from recordari.model import Turn
from recordari.rules.shape_names import SHAPES, Shape
from recordari.rules.shapes import shapes_of
from recordari.rules.view import View, view

TABLE: list[Any] = YAML(typ="safe").load(Path(__file__).with_name("phrase_table.yaml").read_text(encoding="utf-8"))
AT = datetime(2026, 3, 18, 10, tzinfo=UTC)
RULES = shipped()
KNOWN = shapes_of(RULES.extraction.vocabularies)


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with Memory.rehearsal() as opened:
        yield opened


def seen(text: str) -> View:
    turn = Turn.model_validate({"turn_id": "t", "text": text, "speaker": "user", "said_at": AT, "received_at": AT})
    return view(turn, scan(text, RULES.extraction, said_at=AT, ner=False))


def shaped(shape: Shape, text: str) -> bool:
    return KNOWN.fits(seen(text), [shape], 0, 0, len(text))


@pytest.mark.parametrize("row", TABLE, ids=[str(number) for number in range(len(TABLE))])
def test_a_sentence_leaves_a_value_only_in_its_shape(memory: Memory, row: Any) -> None:
    said = read_turn({"at": AT.isoformat(), "speaker": "user", "text": row["say"]}, 1000)
    _, items = memory.rehearse([said])
    left = {item.slot: item.canonical for item in items if item.status == "current"}
    assert left == ({} if row["leaves"] == "none" else row["leaves"]), row["say"]


def test_half_of_the_table_leaves_nothing() -> None:
    silent = [row for row in TABLE if row["leaves"] == "none"]
    assert len(TABLE) >= 60
    assert 2 * len(silent) >= len(TABLE)


@pytest.mark.parametrize(
    ("shape", "yes", "no"),
    [
        ("person", "Odile Marsh", "odile marsh"),
        ("person", "王律师", "周一可以过来"),
        ("organization", "Tarrow & Finch", "fun"),
        ("organization", "晴川物流", "一家公司"),
        ("place", "Stavanger", "Plan B"),
        ("place", "青浦区", "附近"),
        ("law", "德国法", "做法"),
        ("forum", "杭州仲裁委员会", "王律师"),
        ("role", "head of logistics", "stressful"),
        ("role", "采购主管", "直肠子"),
        ("thing", "window seats", "it"),
        ("thing", "靠窗的座位", "这个"),
    ],
)
def test_every_shape_takes_its_own_and_refuses_its_double(shape: Shape, yes: str, no: str) -> None:
    assert shaped(shape, yes)
    assert not shaped(shape, no)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(SHAPES), st.sampled_from(["it", "that", "这", "了", "他", "them", "你"]))
def test_no_shape_takes_a_pronoun_or_a_particle(shape: Shape, word: str) -> None:
    assert not shaped(shape, word)
