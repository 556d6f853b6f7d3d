"""Traces: every step of an answer by ids, never in its way, sampled without chance, gone with what they name."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import pytest
from typer.testing import CliRunner

from recordari.memory import Memory, NotFoundError, NotInstalledError
from recordari.recall import trace
from recordari.recall.trace import sampled
from recordari.rules.ruleset import Ruleset
from recordari.service.cli import app
from recordari.settings import Settings, SettingsError
from recordari.store import traces
from recordari.store.tables import NAMESPACES, TRACE_HITS, TRACES

pytestmark = pytest.mark.usefixtures("sharing")  # see conftest.py

AT = "2026-04-02T10:00:00+08:00"
ACTOR: dict[str, Any] = {"ground": "gdpr-17-1-b", "actor": "dpo"}
ALL = Settings(embedder="none", trace=1)


@pytest.fixture
def memory(place: str, ruleset: Ruleset) -> Any:
    """A memory over each back end that traces all it is asked."""
    with Memory.open(place, ruleset=ruleset, ner=False, settings=ALL) as opened:
        yield opened


def tell(memory: Memory, *texts: str, entity: str = "client", conversation: str = "c") -> None:
    for number, text in enumerate(texts, len(memory.turn_ids())):
        at = datetime(2026, 3, 1, 9, tzinfo=UTC) + timedelta(minutes=number)
        memory.observe(text, said_at=at, entity=entity, conversation=conversation)


def written(memory: Memory) -> int:
    return memory.trace_counts()[0]


def backdate(memory: Memory, at: datetime) -> None:
    """As if all traces had been written then."""
    with memory.store.writing() as tx:
        tx.connection.execute(TRACES.update().values(written_at=at.isoformat(timespec="microseconds")))


# ---------------------------------------------------------------- what stands in one
def test_a_trace_tells_routes_scores_and_hits_by_id_and_copies_no_value(memory: Memory) -> None:
    tell(memory, "The legal budget is $61,234.", "The IT budget is $75,000.")
    answer = memory.answer("what is the legal budget", entity="client", at=AT, top=1)
    (told,) = memory.traces()
    assert told.body["question"] == "what is the legal budget"
    assert told.entity == "client"
    assert told.found == 1
    assert [hit["item"] for hit in told.body["hits"]] == [answer.hits[0].item.id]
    assert told.body["hits"][0]["score"] == answer.hits[0].score
    proposed = {id_ for route in told.body["routes"].values() for _, id_, _ in route}
    assert proposed == {hit.item.id for hit in answer.proposed}
    assert len(proposed) == 2  # the one that was outranked, too
    assert told.body["read"]["slots"]["budget"] == 1.0
    assert "61,234" not in json.dumps(told.body)


def test_what_filters_took_out_is_counted(memory: Memory) -> None:
    tell(memory, "The legal budget is $60,000.")
    memory.answer("legal budget", at=AT, without=["financial"])
    (told,) = memory.traces()
    assert told.body["filters"]["without"] == ["financial"]
    assert told.body["filters"]["left_out"] == {"personal data": 1}
    assert told.found == 0


def test_a_context_leaves_one_trace_that_says_what_stood_before_the_model(memory: Memory) -> None:
    tell(memory, "The legal budget is $60,000.", "The legal team has moved.")
    shown = memory.context("what is the legal budget", at=AT, budget=500, transcript=True)
    (told,) = memory.traces()
    assert [line["item"] for line in told.body["context"]["lines"]] == [line.item for line in shown.lines]
    assert told.body["context"]["tokens"] == shown.tokens
    assert told.body["context"]["turns"] == list(shown.said)
    injected = {each.id for each in memory.trace_hits() if each.injected}
    assert injected == {line.item for line in shown.lines} | set(shown.said)


def test_a_context_without_room_injects_nothing(memory: Memory) -> None:
    tell(memory, "The legal budget is $60,000.")
    memory.context("what is the legal budget", at=AT, budget=1)
    (told,) = memory.traces()
    assert told.body["context"]["lines"] == []
    assert told.body["context"]["left_out"][0]["why"] == "budget"
    assert [each.injected for each in memory.trace_hits()] == [0]


def test_how_often_an_item_was_an_answer_can_be_counted(memory: Memory) -> None:
    tell(memory, "The legal budget is $60,000.", "I live in Leeds.")
    for _ in range(3):
        memory.recall("legal budget", entity="client", at=AT)
    memory.recall("where do I live", entity="client", at=AT)
    legal, leeds = (each.id for each in memory.items(as_of=AT))
    counts = {each.id: each.answers for each in memory.trace_hits()}
    assert counts[legal] == 3
    assert counts[leeds] == 1
    assert len(memory.traces(item=legal[:12])) == 3
    with pytest.raises(NotFoundError, match="no item 'no such item'"):
        memory.traces(item="no such item")


def test_questions_that_found_nothing_can_be_counted(memory: Memory) -> None:
    tell(memory, "The legal budget is $60,000.")
    memory.recall("legal budget", at=AT)
    memory.recall("zebra crossing", at=AT)
    assert memory.trace_counts() == (2, 1)
    (told,) = memory.traces(empty=True)
    assert told.body["question"] == "zebra crossing"


def test_what_is_merely_nearest_was_not_found(memory: Memory) -> None:
    class Anything:
        name, dimension = "anything/1", 2

        def embed(self, texts: Any, kind: str) -> list[list[float]]:
            return [[1.0, 0.0] for _ in texts]

    tell(memory, "The legal budget is $60,000.")
    memory.embedder = Anything()
    memory.embed(anew=True)
    assert memory.recall("zebra crossing", entity="client", at=AT) != ()
    assert memory.trace_counts() == (1, 1)


def test_the_newest_trace_comes_first_and_one_is_found_by_its_number(memory: Memory) -> None:
    for question in ("first", "second", "third"):
        memory.recall(question, at=AT)
    assert [each.body["question"] for each in memory.traces(last=2)] == ["third", "second"]
    assert [each.body["question"] for each in memory.traces(number=1)] == ["first"]
    assert memory.traces(number=9) == ()


def test_the_read_back_test_leaves_no_traces(memory: Memory) -> None:
    tell(memory, "The legal budget is $60,000.")
    memory.read_back(at=AT)
    assert written(memory) == 0


# ---------------------------------------------------------------- which questions
def test_nothing_is_traced_unless_it_is_asked_for(place: str, ruleset: Ruleset) -> None:
    with Memory.open(place, ruleset=ruleset, ner=False) as memory:
        tell(memory, "The legal budget is $60,000.")
        memory.recall("legal budget", at=AT)
        assert written(memory) == 0


def test_a_share_is_traced_and_the_same_share_again(ruleset: Ruleset) -> None:
    def asked() -> list[str]:
        settings = Settings(embedder="none", trace=0.3)
        with Memory.open("sqlite://", ruleset=ruleset, ner=False, settings=settings) as memory:
            for number in range(60):
                memory.recall(f"question {number}", at=AT)
            return [each.body["question"] for each in memory.traces(last=100)]

    some = asked()
    assert 5 < len(some) < 35
    assert asked() == some


def test_the_share_of_many_questions_is_near_what_was_asked_for() -> None:
    kept = sum(sampled(f"q{number}", 0.1) for number in range(5000))
    assert 400 < kept < 600
    assert all(sampled(f"q{number}", 1) for number in range(100))
    assert not any(sampled(f"q{number}", 0) for number in range(100))


def test_a_share_beyond_all_is_refused() -> None:
    with pytest.raises(SettingsError, match="RECORDARI_TRACE"):
        Settings(trace=1.5)


# ---------------------------------------------------------------- never in the way
def test_a_trace_that_cannot_be_written_fails_no_answer(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    tell(memory, "The legal budget is $60,000.")

    def full(*_: Any, **__: Any) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(traces, "write", full)
    assert len(memory.recall("legal budget", at=AT)) == 1
    monkeypatch.undo()
    assert written(memory) == 0
    memory.recall("legal budget", at=AT)  # what waits is written with the next
    assert written(memory) == 2


def test_a_writer_at_work_delays_no_answer_and_the_trace_comes_later(tmp_path: Path, ruleset: Ruleset) -> None:
    path = tmp_path / "memory.db"
    with Memory.open(path, ruleset=ruleset, ner=False, settings=ALL) as memory:
        tell(memory, "The legal budget is $60,000.")
        with closing(sqlite3.connect(path, isolation_level=None)) as writer:
            writer.execute("BEGIN IMMEDIATE")
            assert len(memory.recall("legal budget", at=AT)) == 1
            assert written(memory) == 0
            writer.execute("ROLLBACK")
    with Memory.open(path, ruleset=ruleset, ner=False, read_only=True) as memory:
        assert written(memory) == 1  # on close at the latest


def test_waiting_traces_are_bounded(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(traces, "write", full)
    for number in range(trace._WAITING + 5):
        memory.recall(f"question {number}", at=AT)
    monkeypatch.undo()
    memory.recall("the last", at=AT)
    assert written(memory) == trace._WAITING


def test_who_reads_only_leaves_traces_where_the_place_can_be_written(tmp_path: Path, ruleset: Ruleset) -> None:
    path = tmp_path / "memory.db"
    with Memory.open(path, ruleset=ruleset, ner=False) as memory:
        tell(memory, "The legal budget is $60,000.")
    with Memory.open(path, ruleset=ruleset, ner=False, settings=ALL, read_only=True) as memory:
        assert len(memory.recall("legal budget", at=AT)) == 1
        assert written(memory) == 1


@pytest.mark.skipif(os.name == "nt", reason="rights of folders differ")
def test_where_nothing_can_be_written_questions_are_answered(
    tmp_path: Path, ruleset: Ruleset, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memory.db"
    with Memory.open(path, ruleset=ruleset, ner=False) as memory:
        tell(memory, "The legal budget is $60,000.")
    if os.geteuid() == 0:  # rights do not bind root: the refusal comes from the store itself

        def refused(*_: Any, **__: Any) -> None:
            raise trace.ReadOnly(str(path), "it cannot be written", "Ask somebody")

        monkeypatch.setattr("recordari.store.engine.Store.again", refused)
    path.chmod(stat.S_IREAD)
    tmp_path.chmod(stat.S_IREAD | stat.S_IEXEC)
    try:
        with Memory.open(path, ruleset=ruleset, ner=False, settings=ALL, read_only=True) as memory:
            assert len(memory.recall("legal budget", at=AT)) == 1
            assert written(memory) == 0
    finally:
        tmp_path.chmod(stat.S_IRWXU)
        path.chmod(stat.S_IREAD | stat.S_IWRITE)


def test_a_trace_is_no_part_of_the_log_and_moves_no_cache(memory: Memory) -> None:
    tell(memory, "The legal budget is $60,000.")

    def counters() -> list[Any]:
        with memory.store.reading() as tx:
            return list(tx.connection.execute(NAMESPACES.select()))

    before = counters()
    memory.recall("legal budget", at=AT)
    assert (written(memory), counters()) == (1, before)
    assert memory.verify().ok


# ---------------------------------------------------------------- gone with what it names
def test_erasing_an_item_takes_the_traces_that_name_it(memory: Memory) -> None:
    tell(memory, "The legal budget is $60,000.")
    tell(memory, "I live in Leeds.", conversation="d")
    memory.recall("legal budget", entity="client", at=AT)
    memory.recall("where do I live", entity="client", at=AT)
    legal, leeds = memory.items(as_of=AT)
    erased = memory.erase(legal.id, **ACTOR)
    assert erased.counts["traces"] == 1
    assert [each.body["question"] for each in memory.traces()] == ["where do I live"]
    assert {each.id for each in memory.trace_hits()} == {leeds.id}


def test_a_question_that_quotes_what_is_erased_goes_even_if_it_found_nothing(memory: Memory) -> None:
    tell(memory, "My name is Odo Quill.", "The legal budget is $60,000.")
    memory.recall("which cats has Odo Quill", at=AT, slots=["deadline"])
    memory.recall("which cats has Ida Crane", at=AT, slots=["deadline"])
    assert memory.trace_counts() == (2, 2)
    item = next(each for each in memory.items(as_of=AT) if "Odo" in each.canonical)
    memory.erase(item.id, **ACTOR)
    assert [each.body["question"] for each in memory.traces()] == ["which cats has Ida Crane"]


@pytest.mark.parametrize("written_as", ["60000", "60,000", "60 000", "６００００"])
def test_a_number_that_is_erased_is_known_however_a_question_writes_it(memory: Memory, written_as: str) -> None:
    tell(memory, "The legal budget is $60,000.")
    memory.recall(f"who spoke of {written_as}", at=AT, slots=["deadline"])
    memory.recall("who spoke of 600", at=AT, slots=["deadline"])
    (item,) = memory.items(as_of=AT)
    memory.erase(item.id, **ACTOR)
    assert [each.body["question"] for each in memory.traces()] == ["who spoke of 600"]


def test_erasing_an_entity_takes_what_was_asked_about_it(memory: Memory) -> None:
    tell(memory, "The legal budget is $60,000.")
    tell(memory, "The IT budget is $75,000.", entity="other", conversation="d")
    memory.recall("anything at all", entity="client", at=AT)
    memory.recall("what has client got", at=AT, slots=["deadline"])
    memory.recall("IT budget", entity="other", at=AT)
    memory.erase(entity="client", **ACTOR)
    assert [each.entity for each in memory.traces()] == ["other"]


def test_what_was_asked_after_an_erasure_can_be_erased_as_well(memory: Memory) -> None:
    tell(memory, "The legal budget is $60,000.")
    memory.erase(entity="client", **ACTOR)
    memory.recall("legal budget", entity="client", at=AT)
    assert memory.erase(entity="client", dry_run=True, **ACTOR).counts["traces"] == 1
    memory.erase(entity="client", **ACTOR)
    assert written(memory) == 0
    assert memory.erase(entity="client", **ACTOR).nothing
    assert memory.verify().ok


def test_erasing_a_conversation_takes_questions_that_were_said_in_it(memory: Memory) -> None:
    tell(memory, "Please remind me what we agreed with Sorrel House.")
    memory.recall("remind me what we agreed with Sorrel House", at=AT, slots=["deadline"])
    memory.recall("what else did we agree", at=AT, slots=["deadline"])
    memory.erase(conversation="c", **ACTOR)
    assert [each.body["question"] for each in memory.traces()] == ["what else did we agree"]


def test_no_byte_of_an_erased_trace_is_left_in_the_file(tmp_path: Path, ruleset: Ruleset) -> None:
    path = tmp_path / "memory.db"
    with Memory.open(path, ruleset=ruleset, ner=False, settings=ALL) as memory:
        tell(memory, "The legal budget is $60,000.")
        memory.recall("legal budget of quixotania", entity="client", at=AT)
        assert b"quixotania" in b"".join(each.read_bytes() for each in tmp_path.glob("memory.db*"))
        memory.erase(entity="client", **ACTOR)
    assert b"quixotania" not in b"".join(each.read_bytes() for each in tmp_path.glob("memory.db*"))


def test_a_trace_of_what_is_restricted_is_not_shown(memory: Memory) -> None:
    tell(memory, "The legal budget is $60,000.")
    tell(memory, "The IT budget is $75,000.", entity="other", conversation="d")
    memory.recall("legal budget", entity="client", at=AT)
    memory.recall("IT budget", entity="other", at=AT)
    number = memory.restrict("entity", "client", ground="gdpr-18", actor="dpo")
    assert [each.entity for each in memory.traces()] == ["other"]
    memory.release("restrict", number, ground="settled", actor="dpo")
    assert len(memory.traces()) == 2


# ---------------------------------------------------------------- retention
def test_a_sweep_takes_traces_of_its_class_when_they_are_due(memory: Memory) -> None:
    memory.recall("zebra crossing", at=AT)
    backdate(memory, datetime.now(UTC) - timedelta(days=170))
    assert memory.sweep(at=datetime.now(UTC)) == []
    backdate(memory, datetime.now(UTC) - timedelta(days=190))
    (would,) = memory.sweep(at=datetime.now(UTC), dry_run=True)
    assert (would.retention, would.traces, written(memory)) == ("service-6m", 1, 1)
    (done,) = memory.sweep(at=datetime.now(UTC))
    assert (done.traces, done.record, written(memory)) == (1, None, 0)
    with memory.store.reading() as tx:
        assert tx.connection.execute(TRACE_HITS.select()).all() == []


def test_a_sweep_takes_no_more_than_it_may_and_says_that_there_is_more(memory: Memory) -> None:
    for number in range(3):
        memory.recall(f"zebra {number}", at=AT)
    backdate(memory, datetime.now(UTC) - timedelta(days=190))
    (first,) = memory.sweep(at=datetime.now(UTC), limit=2)
    assert (first.traces, first.more, written(memory)) == (2, True, 1)
    (second,) = memory.sweep(at=datetime.now(UTC), limit=2)
    assert (second.traces, second.more) == (1, False)


@pytest.mark.parametrize("on", ["entity", "item", "conversation"])
def test_a_trace_of_what_is_on_hold_stays(memory: Memory, on: Literal["entity", "item", "conversation"]) -> None:
    tell(memory, "The legal budget is $60,000.")
    (item,) = memory.items(as_of=AT)
    memory.recall("legal budget", entity="client", at=AT)
    memory.recall("zebra crossing", at=AT, slots=["deadline"])
    target = {"entity": "client", "item": item.id, "conversation": "c"}[on]
    memory.hold(on, target, ground="litigation", actor="dpo")
    backdate(memory, datetime.now(UTC) - timedelta(days=190))
    memory.sweep(at=datetime.now(UTC))
    assert [each.body["question"] for each in memory.traces()] == ["legal budget"]


# ---------------------------------------------------------------- the command line
def test_the_command_line_traces_recalls_and_tells_of_them(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    with Memory.open(path, ner=False) as memory:
        tell(memory, "The legal budget is $60,000.")
        (item,) = memory.items(as_of=AT)
    traced = CliRunner(env={"RECORDARI_TRACE": "1"})
    for command in (("recall", "legal budget"), ("context", "what is the legal budget"), ("recall", "zebra")):
        assert traced.invoke(app, [*command, "--store", path, "--at", AT]).exit_code == 0
    untraced = CliRunner(env={"RECORDARI_TRACE": "0"})
    untraced.invoke(app, ["recall", "legal", "--store", path, "--at", AT])

    def told(*options: str) -> str:
        done = untraced.invoke(app, ["trace", *options, "--store", path])
        assert done.exit_code == 0, done.output
        return done.stdout

    assert "1 of 3 traced questions found nothing" in told()
    assert '"zebra"' in told("--empty")
    assert '"legal budget"' not in told("--empty")
    assert told("--last", "1").count("found") == 2  # the question, and the line that counts
    assert "before a model" in told("2")
    assert f"item {item.id[:12]}" in told("2")
    assert f"item {item.id}" in told("--hits")
    assert '"zebra"' not in told("--item", item.id)
    fields = [json.loads(line) for line in told("--json").splitlines()]
    assert [each["trace"] for each in fields] == [3, 2, 1]
    assert fields[1]["context"]["lines"] == [{"item": item.id, "version": 1}]
    missing = untraced.invoke(app, ["trace", "77", "--store", path])
    assert missing.exit_code == 2
    assert "no trace 77" in missing.stderr
    refused = untraced.invoke(app, ["trace", "--item", "nope", "--store", path])
    assert isinstance(refused.exception, NotFoundError)  # the command line gives 2 for it, as `explain` does
    assert "no item 'nope'" in str(refused.exception)
    month = f"{datetime.now(UTC):%Y-%m}"
    assert f"{month}: 1 of 3 traced questions found nothing" in told("--by", "month")
    assert json.loads(told("--by", "month", "--json")) == {"period": month, "traced": 3, "found_nothing": 1}
    assert "no traces of that time" in told("--until", "2020-01-01T00:00:00Z")


def test_without_traces_the_command_says_how_to_keep_them(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    with Memory.open(path, ner=False) as memory:
        tell(memory, "The legal budget is $60,000.")
    done = CliRunner(env={"RECORDARI_TRACE": "0"}).invoke(app, ["trace", "--store", path])
    assert done.exit_code == 0
    assert "RECORDARI_TRACE=1" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code"), [(["9" * 23], 2), (["--", "-" + "9" * 23], 2), (["--last", "9" * 20], 0)]
)
def test_a_number_beyond_what_a_database_takes_is_no_internal_error(
    tmp_path: Path, ruleset: Ruleset, arguments: list[str], code: int
) -> None:
    place = str(tmp_path / "m.db")
    with Memory.open(place, ruleset=ruleset) as memory:
        tell(memory, "The legal budget is $60,000.")
    result = CliRunner().invoke(app, ["trace", "--store", place, *arguments])
    assert result.exit_code == code
    assert result.exception is None or isinstance(result.exception, SystemExit)


def test_without_an_embedder_the_message_says_what_to_install_and_nothing_of_ids(
    tmp_path: Path, ruleset: Ruleset, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory.open(str(tmp_path / "m.db"), ruleset=ruleset) as memory:
        monkeypatch.setattr(memory, "embedder", None)
        with pytest.raises(NotInstalledError, match=r"^no embedder is installed. Install recordari\[vectors\]"):
            memory.embed()
