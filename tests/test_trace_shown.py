"""Traces: what may be shown of them under a restriction, what they count, and numbers that are none."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import pytest

from recordari.memory import Memory
from recordari.recall.question import QuestionError
from recordari.rules.ruleset import Ruleset
from recordari.settings import Settings
from recordari.store.engine import Store
from recordari.store.tables import TRACES

AT = "2026-04-02T10:00:00+08:00"
ACTOR: dict[str, Any] = {"ground": "gdpr-17-1-b", "actor": "dpo"}


@pytest.fixture
def memory(place: str, ruleset: Ruleset) -> Any:
    """A memory over each back end that traces all it is asked."""
    with Memory.open(place, ruleset=ruleset, ner=False, settings=Settings(embedder="none", trace=1)) as opened:
        yield opened


def tell(memory: Memory, *texts: str, entity: str = "client", conversation: str = "c") -> None:
    for number, text in enumerate(texts, len(memory.turn_ids())):
        at = datetime(2026, 3, 1, 9, tzinfo=UTC) + timedelta(minutes=number)
        memory.observe(text, said_at=at, entity=entity, conversation=conversation)


def test_questions_that_found_nothing_are_counted_by_day_and_month_and_within_a_time(memory: Memory) -> None:
    tell(memory, "The legal budget is $60,000.")
    for day, question in ((10, "zebra"), (11, "legal budget"), (40, "zebra")):
        memory.recall(question, at=AT)
        with memory.store.writing() as tx:
            at = datetime(2026, 1, 1, 12, tzinfo=UTC) + timedelta(days=day)
            newest = TRACES.c.number == memory.traces(last=1)[0].number
            tx.connection.execute(
                TRACES.update().where(newest).values(written_at=at.isoformat(timespec="microseconds"))
            )
    by_month = [(each.period, each.traced, each.empty) for each in memory.trace_periods("month")]
    assert by_month == [("2026-01", 2, 1), ("2026-02", 1, 1)]
    by_day = memory.trace_periods("day", since="2026-01-12T00:00:00Z")
    assert [(each.period, each.traced, each.empty) for each in by_day] == [("2026-01-12", 1, 0), ("2026-02-10", 1, 1)]
    assert memory.trace_counts(until="2026-02-01T00:00:00Z") == (2, 1)
    assert memory.trace_counts(since="2026-03-01T00:00:00Z") == (0, 0)
    assert [each.number for each in memory.traces(until="2026-01-12T00:00:00Z")] == [1]


@pytest.mark.parametrize(
    "asked", [{"number": 2**70}, {"number": 0}, {"number": -(2**70)}, {"last": 2**70}, {"last": 0}]
)
def test_a_number_that_no_trace_can_have_is_refused_before_the_database_sees_it(
    memory: Memory, asked: dict[str, int]
) -> None:
    with pytest.raises(QuestionError, match="counted from 1 to 9223372036854775807"):
        memory.traces(**asked)
    assert memory.traces(number=2**63 - 1) == ()


def test_a_question_that_only_says_a_restricted_name_or_value_is_not_shown(memory: Memory) -> None:
    tell(memory, "Tom Reed works at Wexmoor Partners.")
    tell(memory, "The IT budget is $75,000.", entity="other", conversation="d")
    asked = ("what did Tom Reed say", "who is at Wexmoor Partners", "IT budget", "anything on Tom")
    for question in asked:
        memory.recall(question, at=AT)
    assert memory.trace_hits()
    number = memory.restrict("entity", "Tom Reed", ground="gdpr-18", actor="dpo")
    # A part of a name may be anybody's; what named an item of theirs goes with it all the same.
    assert {each.body["question"] for each in memory.traces()} <= {"anything on Tom", "IT budget"}
    assert "IT budget" in [each.body["question"] for each in memory.traces()]
    assert all("Reed" not in json.dumps(each.body) for each in memory.traces())
    about = {item.id for item in memory.items(as_of=AT)}
    assert {each.id for each in memory.trace_hits() if each.kind == "item"} <= about
    assert memory.trace_counts()[0] == len(memory.traces())
    hidden = next(n for n in range(1, 5) if not memory.traces(number=n))
    assert memory.traces(number=hidden) == ()
    memory.release("restrict", number, ground="settled", actor="dpo")
    assert [each.body["question"] for each in memory.traces()] == list(reversed(asked))


@pytest.mark.parametrize("on", ["item", "conversation"])
def test_a_question_that_quotes_a_restricted_item_or_conversation_is_not_shown(
    memory: Memory, on: Literal["item", "conversation"]
) -> None:
    tell(memory, "The legal budget is $60,000.")
    tell(memory, "The IT budget is $75,000.", entity="other", conversation="d")
    item = next(each for each in memory.items(as_of=AT) if each.entity == "client")
    for question in ("who spoke of 60,000", "who spoke of 75,000"):
        memory.recall(question, at=AT, slots=["deadline"])
    memory.restrict(on, item.id if on == "item" else "c", ground="gdpr-18", actor="dpo")
    assert [each.body["question"] for each in memory.traces()] == ["who spoke of 75,000"]


def test_what_was_erased_while_a_trace_waited_leaves_none(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    tell(memory, "The legal budget is $60,000.")
    (item,) = memory.items(as_of=AT)
    answer = memory.answer("legal budget", entity="client", at=AT, traced=False)
    memory.erase(item.id, **ACTOR)
    memory._trace(answer)
    assert memory.trace_counts()[0] == 0
    memory.recall("legal budget", entity="client", at=AT)
    assert memory.trace_counts()[0] == 1


@pytest.mark.parametrize("question", ["who spoke of 60,000", "what does client owe"])
def test_a_trace_that_waits_while_something_is_erased_is_given_up(
    tmp_path: Path, ruleset: Ruleset, question: str
) -> None:
    """It found nothing, so that no item that it names is gone; but it may quote what is."""
    place = tmp_path / "m.db"
    with Memory.open(place, ruleset=ruleset, ner=False, settings=Settings(trace=1)) as memory:
        tell(memory, "The legal budget is $60,000.")
        for erases in (False, True):
            with Store.open(place) as other, other.writing(memory.namespace):
                memory.recall(question, at=AT, entity="client", slots=["deadline"])
            if erases:
                with Memory.open(place, ruleset=ruleset, ner=False) as eraser:
                    eraser.erase(entity="client", **ACTOR)
            memory.recall("who are you", at=AT)
            assert (question in {each.body["question"] for each in memory.traces()}) is not erases
