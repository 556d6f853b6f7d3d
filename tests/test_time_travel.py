"""Time travel: what was true at a time, what was known at a time, and when a turn counts as received."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from shipped import shipped

from recordari.intake import IntakeError, read_turn
from recordari.memory import Memory
from recordari.rules.ruleset import Ruleset


@pytest.fixture(scope="module")
def ruleset() -> Ruleset:
    return shipped()


@pytest.fixture
def memory(ruleset: Ruleset) -> Iterator[Memory]:
    with Memory.rehearsal(ruleset=ruleset, ner=False) as opened:
        yield opened


def on(day: str) -> str:
    return f"2026-{day}T10:00:00+08:00"


def shown(memory: Memory, **when: Any) -> list[tuple[str, str]]:
    return [(item.status, item.canonical) for item in memory.items(**when)]


def test_what_was_said_later_and_became_true_later_is_not_shown_as_of_a_time(memory: Memory) -> None:
    memory.observe("租金每月5000元。", said_at=on("03-01"))
    memory.observe("我的电话是13800002345。", said_at=on("04-01"))
    assert shown(memory, as_of=on("03-15")) == [("current", "5000 CNY")]
    assert shown(memory, as_of=on("02-01")) == []
    assert [status for status, _ in shown(memory, as_of=on("04-02"))] == ["current", "current"]
    assert {status for status, _ in shown(memory, as_of=on("03-15"), history=True)} == {"current", "scheduled"}


def test_what_had_been_announced_by_then_is_shown_as_scheduled(memory: Memory) -> None:
    (rent,) = memory.observe("租金每月5000元。", said_at=on("03-01")).items
    told = datetime.fromisoformat(on("04-01"))
    memory.correct(rent.id, "5600元", actor="ines", seen_version=1, since=on("07-01"), at=told)
    assert shown(memory, as_of=on("05-01")) == [("current", "5000 CNY"), ("scheduled", "5600 CNY")]
    assert shown(memory, as_of=on("03-15")) == [("current", "5000 CNY")]
    assert shown(memory, as_of=on("07-02")) == [("current", "5600 CNY")]


def test_what_is_held_is_not_what_was_true(memory: Memory) -> None:
    memory.observe("The fee is 500 euros.", said_at=on("03-01"))
    memory.observe("The fee may be about 900 euros.", said_at=on("03-02"))
    held = [status for status, _ in shown(memory) if status == "held"]
    assert "held" not in [status for status, _ in shown(memory, as_of=on("03-20"))]
    assert [status for status, _ in shown(memory, known_at=on("03-20")) if status == "held"] == held


@pytest.mark.parametrize(
    ("at", "given", "counts"),
    [
        ("03-18", None, "03-18"),
        ("03-18", "03-18", "03-18"),
        ("01-05", "03-20", "03-20"),  # an old document that arrives late
        ("03-18", "01-05", "03-18"),  # nothing is known before it was said
    ],
)
def test_a_turn_counts_as_received_when_it_was_but_not_before_it_was_said(
    memory: Memory, at: str, given: str | None, counts: str
) -> None:
    received = {} if given is None else {"received_at": on(given)}
    receipt = memory.observe("租金每月5000元。", said_at=on(at), **received)
    with memory.store.reading("default") as tx:
        turn = tx.turn(receipt.turn_id)
    assert turn is not None
    assert turn.received_at.isoformat() == on(counts)


def test_a_conversation_never_runs_backwards_and_known_at_tells_the_truth(memory: Memory) -> None:
    memory.observe("租金每月5000元。", said_at=on("03-01"), received_at=on("03-10"))
    memory.observe("租金改成每月5600元。", said_at=on("03-11"), received_at=on("03-05"))
    memory.observe("租金改成每月5700元。", said_at=on("03-12"), received_at=on("03-01"))
    for when, known in (("03-09", []), ("03-10", ["5000 CNY"]), ("03-11", ["5600 CNY"]), ("03-12", ["5700 CNY"])):
        assert [value for status, value in shown(memory, known_at=on(when)) if status == "current"] == known
    assert memory.verify().ok


@pytest.mark.parametrize("date", ["2026-13-41", "2026-02-30", "2026-00-10", "2025-02-29", "2026-03-18T25:00"])
def test_a_document_has_a_day_of_the_calendar(date: str) -> None:
    turn = {"text": "x", "at": on("03-18"), "document": {"status": "draft", "date": date}}
    with pytest.raises(IntakeError, match=r"document: .*no ISO 8601 date"):
        read_turn(turn, 100)


@pytest.mark.parametrize("date", ["2026-03-18", "2024-02-29", "2026-03-18T10:00:00+08:00", None])
def test_a_day_of_the_calendar_is_taken(date: str | None) -> None:
    turn = read_turn({"text": "x", "at": on("03-18"), "document": {"status": "draft", "date": date}}, 100)
    assert turn.document is not None
    assert turn.document.date == date
