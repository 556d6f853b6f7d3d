"""Retention: what has been kept as long as its class says goes, the rest and what is on hold stays."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from recordari.erasure.erasing import ErasureError, Grounds, House
from recordari.memory import Memory
from recordari.rules.load import load
from recordari.rules.retention_file import classes_of, kept_since
from recordari.rules.ruleset import Ruleset
from recordari.service.cli import app

ACTOR = "ines"
SAID = (
    ("2014-05-06", "我的电话是13712348765。"),
    ("2014-05-07", "今天天气真好。"),
    ("2017-05-06", "The office address is 48 Mill Lane, Bath."),
    ("2019-05-06", "预算83万元。"),
)


def at(day: str) -> datetime:
    return datetime.fromisoformat(f"{day}T00:00:00+00:00")


@pytest.fixture
def talk(memory: Memory) -> Memory:
    for number, (day, text) in enumerate(SAID):
        memory.observe(text, said_at=f"{day}T10:00:00+08:00", conversation=f"c-{number}", entity=f"client-{number}")
    return memory


def texts(memory: Memory) -> list[bool]:
    with memory.store.reading(memory.namespace) as tx:
        return [bool(turn.text) for turn in tx.turns()]


def slots(memory: Memory) -> list[str]:
    return sorted(each.slot for each in memory.items(history=True))


def test_nothing_goes_before_its_time(talk: Memory) -> None:
    assert talk.sweep(at=at("2019-05-05")) == []
    assert texts(talk) == [True] * 4


def test_what_was_said_goes_by_its_own_class_remembered_or_refused(talk: Memory) -> None:
    done = talk.sweep(at=at("2019-05-20"))  # five years after the first two
    assert [(each.retention, each.items, each.turns) for each in done] == [("advice-5y", 0, 2)]
    assert texts(talk) == [False, False, True, True]
    assert slots(talk)[-1] == "phone"
    report = talk.verify()
    assert report.ok, report.lines()
    assert {each.ground for each in report.erased} == {"retention:advice-5y"}
    assert all(each.ok for each in talk.replay())


def test_items_go_by_the_class_of_their_slot(talk: Memory) -> None:
    before = slots(talk)
    done = talk.sweep(at=at("2021-05-20"))  # seven years after the first
    assert ("client-record-7y", 1) in [(each.retention, each.items) for each in done]
    assert slots(talk) == [slot for slot in before if slot != "phone"]
    report = talk.verify()
    assert report.ok, report.lines()
    assert all(each.ok for each in talk.replay())


def test_a_sweep_is_bounded_and_goes_on_where_it_stopped(talk: Memory) -> None:
    first = talk.sweep(at=at("2024-06-01"), limit=1)
    assert all(each.items <= 1 and each.turns <= 1 for each in first)
    assert any(each.more for each in first)
    rounds = 0
    while talk.sweep(at=at("2024-06-01"), limit=1):
        rounds += 1
    assert rounds > 1
    assert not any(texts(talk))
    assert talk.sweep(at=at("2024-06-01")) == []


@pytest.mark.parametrize(("on", "target"), [("entity", "client-0"), ("conversation", "c-0"), ("item", None)])
def test_what_is_on_hold_is_exempt_until_the_hold_is_lifted(talk: Memory, on: str, target: str | None) -> None:
    named = target or next(each.id for each in talk.items() if each.slot == "phone")
    number = talk.hold(on, named, ground="case 7", actor=ACTOR)  # type: ignore[arg-type]
    talk.sweep(at=at("2021-05-20"))
    assert texts(talk)[:2] == [True, False]
    assert "phone" in slots(talk)
    talk.release("hold_legal", number, ground="closed", actor=ACTOR)
    talk.sweep(at=at("2021-05-20"))
    assert texts(talk)[:2] == [False, False]
    assert "phone" not in slots(talk)


def test_a_dry_run_counts_and_erases_nothing(talk: Memory) -> None:
    would = talk.sweep(at=at("2021-05-20"), dry_run=True)
    assert texts(talk) == [True] * 4
    done = talk.sweep(at=at("2021-05-20"))
    assert [(each.items, each.turns) for each in done] == [(each.items, each.turns) for each in would]


def test_a_time_that_has_not_come_is_refused(talk: Memory) -> None:
    with pytest.raises(ErasureError, match="not come yet"):
        talk.sweep(at=datetime.now(UTC) + timedelta(days=1))


# ---------------------------------------------------------------- the files
FILE = """
id: retention.house
version: 1
kind: retention
title: {en: House, zh: 内部}
owner: compliance
rationale: What the house keeps.
"""


def with_file(folder: Path, text: str) -> Ruleset:
    (folder / "retention.house.yaml").write_text(FILE + text, encoding="utf-8")
    return load([folder])


def test_a_folder_adds_a_class_and_the_longer_time_counts(tmp_path: Path) -> None:
    from recordari.rules.retention_file import RetentionFile

    ruleset = with_file(tmp_path, "classes: {advice-5y: P6Y, client-record-7y: P1Y, matter: P9Y}\n")
    spans, said = classes_of(ruleset.of(RetentionFile))
    assert (spans["advice-5y"], spans["client-record-7y"], spans["matter"]) == ("P6Y", "P7Y", "P9Y")
    assert said == "advice-5y"


@pytest.mark.parametrize(
    "text",
    ["classes: {a: P5M}\n", "classes: {a: P11Y}\n", "classes: {a: five years}\n", "classes: {a: P5Y}\nturns: b\n"],
)
def test_a_class_outside_six_months_to_ten_years_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match=r"from 6 months|none of the classes"):
        with_file(tmp_path, text)


@pytest.mark.parametrize(
    ("span", "day", "since"),
    [
        ("P5Y", "2024-02-29", "2019-02-28"), ("P6M", "2024-08-31", "2024-02-29"), ("P6M", "2024-03-15", "2023-09-15"),
        ("P200D", "2024-03-01", "2023-08-14"), ("P10Y", "2024-01-01", "2014-01-01"),
    ],
)  # fmt: skip
def test_months_and_years_are_those_of_the_calendar(span: str, day: str, since: str) -> None:
    assert kept_since(span, at(day)) == at(since)


def test_every_slot_that_ships_has_a_class_that_is_there(ruleset: Ruleset) -> None:
    from recordari.rules.retention_file import RetentionFile

    spans, _ = classes_of(ruleset.of(RetentionFile))
    assert {slot.retention for slot in ruleset.slots.values() if slot.keeps == "memory"} <= set(spans)


def test_what_is_said_again_while_a_sweep_looks_stays(talk: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    from recordari.erasure import sweeping

    carry_out = sweeping.carry_out

    def slowly(house: House, planned: Any, why: Grounds) -> int | None:
        if why.ground == "retention:client-record-7y":
            talk.observe(SAID[0][1], said_at="2021-05-19T10:00:00+08:00", conversation="c-0", entity="client-0")
        return carry_out(house, planned, why)

    monkeypatch.setattr(sweeping, "carry_out", slowly)
    done = talk.sweep(at=at("2021-05-20"))
    assert "client-record-7y" not in [each.retention for each in done]
    assert "phone" in slots(talk)


def test_looking_for_what_is_due_changes_nothing_and_needs_no_right_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "memory.db"
    with Memory.open(place, ner=False) as memory:
        memory.observe(SAID[0][1], said_at="2014-05-06T10:00:00+08:00")
    for module in ("erasure", "opening"):  # the one that has a name of its own for it first: it must not learn this one
        name = f"recordari.service.{module}.editing"
        monkeypatch.setattr(name, lambda *_: pytest.fail("it would be opened for writing"))
    for command in ("sweep", "forget"):
        when = ["--at", "2024-06-01T00:00:00Z"]
        looked = CliRunner().invoke(app, [command, *when, "--dry-run", "--store", str(place)])
        assert looked.exit_code == 0, looked.output
    assert "items, 1 turns due" in CliRunner().invoke(app, ["sweep", *when, "--dry-run", "--store", str(place)]).stdout


@pytest.mark.parametrize("reads", [True, False])
def test_a_sweep_that_cannot_be_cleaned_up_after_says_so(
    tmp_path: Path, ruleset: Ruleset, monkeypatch: pytest.MonkeyPatch, reads: bool
) -> None:
    place = tmp_path / "m.db"
    with Memory.open(place, ruleset=ruleset, ner=False) as memory:
        for number, (day, text) in enumerate(SAID):
            memory.observe(text, said_at=f"{day}T10:00:00+08:00", conversation=f"c-{number}")
    if reads:
        monkeypatch.setattr("recordari.store.scrubbing._checkpoint", lambda cursor: False)  # somebody does
    done = CliRunner().invoke(app, ["sweep", "--at", "2026-01-01T00:00:00Z", "--store", str(place)])
    assert done.exit_code == 0, done.output
    assert "erased" in done.stdout
    assert ("somebody is reading it" in done.stderr) is reads
