"""The worker: it empties the outbox beside the writers, and whatever hinders it is tried again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pytest
from typer.testing import CliRunner

from recordari.memory import Memory
from recordari.rules.ruleset import Ruleset
from recordari.service.cli import app
from recordari.service.worker import work
from recordari.store.errors import Busy

AT = "2026-03-01T10:00:00+08:00"
NOW = "2026-03-18T10:00:00+08:00"
SAID = ("市场预算5万元", "The parking fee is $120.", "我对花生过敏", "The retainer is $7,500.")
LINES = "".join(json.dumps({"text": text, "at": AT, "entity": "client"}) + "\n" for text in SAID)


class Parking:
    """Embeds a text by whether it speaks of parking: near is what does or does not alike."""

    name, dimension, broken = "parking/1", 2, ""

    def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> list[list[float]]:
        if self.broken:
            raise RuntimeError(self.broken)
        return [[1.0, 0.0] if "parking" in text.lower() else [0.0, 1.0] for text in texts]


@pytest.fixture
def parking(monkeypatch: pytest.MonkeyPatch) -> Parking:
    """The embedder that the command line finds."""
    embedder = Parking()
    monkeypatch.setattr("recordari.recall.vectors.installed", lambda: embedder)
    return embedder


def vectors_of(place: Path, ruleset: Ruleset) -> list[str]:
    """Values found by their vectors alone."""
    with Memory.open(place, ruleset=ruleset, ner=False, read_only=True) as memory:
        hits = memory.recall("the fee for parking the van", entity="client", at=NOW)
        return [hit.item.canonical for hit in hits if "vector" in hit.routes]


def observed(place: Path, *more: str) -> Any:
    return CliRunner().invoke(app, ["observe", "--store", str(place), "--no-ner", *more], input=LINES)


def test_a_worker_embeds_what_was_written_and_ends_when_nothing_is_left(
    tmp_path: Path, ruleset: Ruleset, parking: Parking
) -> None:
    place = tmp_path / "memory.db"
    assert observed(place).exit_code == 0
    assert vectors_of(place, ruleset) == []
    done = CliRunner().invoke(app, ["worker", "--once", "--transcript", "--store", str(place)])
    assert (done.exit_code, done.stdout) == (0, "4 items embedded\n4 turns embedded\n")
    assert "120 USD" in vectors_of(place, ruleset)
    again = CliRunner().invoke(app, ["worker", "--once", "--store", str(place)])
    assert (again.exit_code, again.stdout) == (0, "")


def test_a_dialogue_can_be_embedded_at_its_end_and_no_failure_fails_it(
    tmp_path: Path, ruleset: Ruleset, parking: Parking
) -> None:
    parking.broken = "out of memory"
    place = tmp_path / "memory.db"
    broken = observed(place, "--embed")
    assert broken.exit_code == 0
    assert len(broken.stdout.splitlines()) == len(SAID)
    assert "4 items could not be embedded, tried again later: RuntimeError: out of memory" in broken.stderr
    parking.broken = ""
    assert observed(tmp_path / "other.db", "--embed").exit_code == 0
    assert "120 USD" in vectors_of(tmp_path / "other.db", ruleset)


def test_without_an_embedder_a_dialogue_is_remembered_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recordari.recall.vectors.installed", lambda: None)
    done = observed(tmp_path / "memory.db", "--embed")
    assert (done.exit_code, len(done.stdout.splitlines())) == (0, len(SAID))
    assert "no embedder is installed" in done.stderr
    assert CliRunner().invoke(app, ["worker", "--once", "--store", str(tmp_path / "memory.db")]).exit_code == 0


def test_a_worker_outlives_what_hinders_a_round(
    tmp_path: Path,
    ruleset: Ruleset,
    parking: Parking,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    place = tmp_path / "memory.db"
    observed(place)
    rounds: list[float] = []
    embed = Memory.embed

    def busy_at_first(memory: Memory, **asked: Any) -> Any:
        if not rounds:
            raise Busy(str(place), "another writer holds the database")
        return embed(memory, **asked)

    def pause(seconds: float) -> None:
        rounds.append(seconds)
        if len(rounds) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(Memory, "embed", busy_at_first)
    with pytest.raises(KeyboardInterrupt):
        work(str(place), None, None, every=3.0, transcript=False, pause=pause)
    told = capsys.readouterr()
    assert "another writer holds the database" in told.err
    assert told.out == "4 items embedded\n"
    assert rounds == [3.0, 3.0]
    assert "120 USD" in vectors_of(place, ruleset)


def test_a_worker_says_that_cleaning_has_to_wait(
    tmp_path: Path, ruleset: Ruleset, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "memory.db"
    observed(place)
    with monkeypatch.context() as patched:
        patched.setattr("recordari.store.scrubbing._checkpoint", lambda cursor: False)  # as while somebody reads
        with Memory.open(place, ruleset=ruleset, ner=False) as memory:
            assert not memory.erase(memory.items()[0].id, ground="gdpr-17-1-b", actor="ines").scrubbed
            assert memory.store.unclean
        work(str(place), None, None, every=None, transcript=False)
        assert "somebody is reading it" in capsys.readouterr().err
    work(str(place), None, None, every=None, transcript=False)
    assert "somebody is reading it" not in capsys.readouterr().err
    with Memory.open(place, ruleset=ruleset, ner=False, read_only=True) as memory:
        assert not memory.store.unclean
