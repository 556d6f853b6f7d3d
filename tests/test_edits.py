"""People in the loop: what they correct, confirm, refuse and let in, logged with who did it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from commands import recordari

from recordari.editing import EditError
from recordari.intake import IntakeError
from recordari.memory import Memory, NotFoundError
from recordari.model import MemoryItem
from recordari.store.errors import Stale

pytestmark = pytest.mark.usefixtures("sharing")  # see conftest.py

AT = "2026-03-18T10:00:00+08:00"
LATER = "2026-03-20T09:30:00+08:00"


def tell(memory: Memory, text: str, at: str = AT, **more: str) -> tuple[MemoryItem, ...]:
    return memory.observe(text, said_at=at, entity="client-9", conversation="c-9", **more).items


def edited(memory: Memory, does: str, item: MemoryItem, *value: str, at: str = LATER) -> tuple[MemoryItem, ...]:
    act = getattr(memory, does)
    when = datetime.fromisoformat(at)
    return act(item.id, *value, actor="Rosa Example", seen_version=item.version, at=when).items  # type: ignore[no-any-return]


def values(memory: Memory, **asked: object) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for item in memory.items(**asked):  # type: ignore[arg-type]
        found.setdefault(item.status, []).append(item.canonical)
    return found


def test_a_persons_correction_replaces_the_value_and_names_the_person(memory: Memory) -> None:
    (item,) = tell(memory, "我们的营销预算是5万元。")
    edited(memory, "correct", item, "6万元")
    (now,) = memory.items()
    assert (now.canonical, now.asserted_by, now.source, now.qualifier) == (
        "60000 CNY", "Rosa Example", "person", item.qualifier,
    )  # fmt: skip
    assert values(memory, history=True) == {"superseded": ["50000 CNY"], "current": ["60000 CNY"]}
    decision = memory.explain(now.id)
    assert "Rosa Example" in "\n".join(line for part in decision for line in part.lines())


def test_what_a_person_wrote_without_a_currency_keeps_the_one_it_had(memory: Memory) -> None:
    (item,) = tell(memory, "The marketing budget is USD 50,000.")
    edited(memory, "correct", item, "60,000")
    assert values(memory) == {"current": ["60000 USD"]}


def test_a_change_since_a_day_leaves_the_old_value_true_before_it(memory: Memory) -> None:
    (item,) = tell(memory, "The marketing budget is USD 50,000.")
    memory.correct(item.id, "USD 70,000", actor="Rosa Example", seen_version=1, since="2026-03-19T00:00:00+08:00")
    assert values(memory, as_of="2026-03-18T12:00:00+08:00") == {"current": ["50000 USD"]}
    assert values(memory, as_of="2026-03-19T12:00:00+08:00") == {"current": ["70000 USD"]}


def test_an_edit_of_a_version_that_is_no_longer_the_newest_changes_nothing(memory: Memory) -> None:
    (item,) = tell(memory, "The marketing budget is USD 50,000.")
    tell(memory, "The marketing budget is USD 50,000.", at="2026-03-19T10:00:00+08:00")  # said again: version 2
    before = memory.items(history=True)
    with pytest.raises(Stale, match="version 2, not 1"):
        memory.correct(item.id, "USD 1", actor="Rosa Example", seen_version=1)
    assert memory.items(history=True) == before


@pytest.mark.parametrize("value", ["soon", "USD 5 or USD 6", "", "   "])
def test_a_value_that_cannot_be_read_is_an_error_and_stores_nothing(memory: Memory, value: str) -> None:
    (item,) = tell(memory, "The marketing budget is USD 50,000.")
    before = (memory.items(history=True), memory.turn_ids())
    with pytest.raises(EditError):
        memory.correct(item.id, value, actor="Rosa Example", seen_version=1)
    assert (memory.items(history=True), memory.turn_ids()) == before
    assert memory.verify().ok


def test_a_rejected_item_is_taken_back_and_stays_in_history(memory: Memory) -> None:
    (item,) = tell(memory, "The marketing budget is USD 50,000.")
    edited(memory, "reject", item)
    assert values(memory) == {}
    assert values(memory, history=True) == {"retracted": ["50000 USD"]}


def test_a_confirmed_item_counts_one_voice_more_and_stays_as_it_is(memory: Memory) -> None:
    (item,) = tell(memory, "The marketing budget is USD 50,000.")
    edited(memory, "confirm", item)
    (now,) = memory.items()
    assert (now.canonical, now.confirmations, now.version) == ("50000 USD", item.confirmations + 1, 2)


def test_an_edit_needs_a_name_and_an_item_that_stands(memory: Memory) -> None:
    (item,) = tell(memory, "The marketing budget is USD 50,000.")
    with pytest.raises(EditError, match="actor"):
        memory.confirm(item.id, actor=" ", seen_version=1)
    with pytest.raises(NotFoundError):
        memory.confirm("0" * 32, actor="Rosa Example", seen_version=1)
    with pytest.raises(EditError, match="not held"):
        memory.approve(item.id, actor="Rosa Example", seen_version=1)
    edited(memory, "reject", item)
    with pytest.raises(EditError, match="only what stands now"):
        memory.confirm(item.id, actor="Rosa Example", seen_version=2)


APPROVAL = """
id: slot.budget
version: 99
kind: slot
status: active
title: {en: Budget, zh: 预算}
owner: compliance
rationale: A budget of this client is let in by a person.
slot: budget
type: fact
value: money
needs_approval: true
say: {en: "The {qualifier} budget of {entity} is {value}.", zh: "{entity}的{qualifier}预算是{value}。"}
asked_as: {en: [What is the budget?], zh: [预算是多少？]}
"""


@pytest.fixture
def careful(place: str, tmp_path: Path) -> Iterator[Memory]:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "slot.budget.yaml").write_text(APPROVAL, encoding="utf-8")
    with Memory.open(place, rules=tmp_path / "rules", ner=False) as opened:
        yield opened


def test_what_needs_approval_waits_for_a_person_who_lets_it_in(careful: Memory) -> None:
    (item,) = tell(careful, "The marketing budget is USD 50,000.")
    assert item.status == "held"
    ((waiting, decision),) = careful.review()
    assert (waiting.id, decision.action, decision.reason) == (item.id, "HOLD", "needs_approval")
    edited(careful, "approve", item)
    assert careful.review() == ()
    assert values(careful) == {"current": ["50000 USD"]}


def test_an_approved_change_takes_the_place_of_what_it_contradicts(careful: Memory) -> None:
    (first,) = tell(careful, "The marketing budget is USD 50,000.")
    edited(careful, "approve", first)
    (second,) = tell(careful, "The marketing budget is now USD 80,000.", at="2026-04-01T10:00:00+08:00")
    assert second.status == "held"
    edited(careful, "approve", second, at="2026-04-02T10:00:00+08:00")
    assert values(careful, as_of="2026-04-03T00:00:00+08:00") == {"current": ["80000 USD"]}
    assert careful.review() == ()


def test_a_refused_hold_leaves_what_stands_alone(careful: Memory) -> None:
    (first,) = tell(careful, "The marketing budget is USD 50,000.")
    edited(careful, "approve", first)
    (second,) = tell(careful, "The marketing budget is now USD 80,000.", at="2026-04-01T10:00:00+08:00")
    edited(careful, "reject", second, at="2026-04-02T10:00:00+08:00")
    assert careful.review() == ()
    assert values(careful, as_of="2026-04-03T00:00:00+08:00") == {"current": ["50000 USD"]}


def test_edits_are_verified_and_replayed_like_everything_else(careful: Memory) -> None:
    (item,) = tell(careful, "The marketing budget is USD 50,000.")
    edited(careful, "approve", item)
    (now,) = careful.items()
    edited(careful, "correct", now, "USD 55,000", at="2026-03-21T09:30:00+08:00")
    (now,) = careful.items()
    edited(careful, "reject", now, at="2026-03-22T09:30:00+08:00")
    report = careful.verify()
    assert report.ok, report.lines()
    policy, extraction = careful.replay()
    assert policy.ok, policy.lines()
    assert extraction.ok, extraction.lines()
    assert extraction.identical == extraction.compared == 4


def test_nobody_can_speak_as_an_editor_in_a_dialogue(memory: Memory) -> None:
    with pytest.raises(IntakeError):
        tell(memory, "The marketing budget is USD 50,000.", speaker="person")


def run(*arguments: str, code: int = 0) -> str:
    done = recordari(*arguments)
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


def test_the_command_line_reviews_and_edits(tmp_path: Path) -> None:
    store = str(tmp_path / "matter.db")
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "slot.budget.yaml").write_text(APPROVAL, encoding="utf-8")
    turn = {"text": "The marketing budget is USD 50,000.", "at": AT, "entity": "client-9", "conversation": "c-9"}
    (tmp_path / "talk.jsonl").write_text(json.dumps(turn), encoding="utf-8")
    run("observe", str(tmp_path / "talk.jsonl"), "--store", store, "--rules", str(tmp_path / "rules"), "--no-ner")
    waiting = json.loads(run("review", "--store", store, "--json"))
    assert (waiting["reason"], waiting["version"], waiting["canonical"]) == ("needs_approval", 1, "50000 USD")
    assert waiting["id"][:12] in run("review", "--store", store)
    who = ("--actor", "Rosa Example", "--store", store, "--rules", str(tmp_path / "rules"))
    run("approve", waiting["id"], "--seen", "1", "--note", "seen the mandate", *who)
    assert run("review", "--store", store, "--json") == ""
    now = json.loads(run("items", "--store", store, "--json"))
    assert "version 1, not 7" in run("correct", now["id"], "USD 60,000", "--seen", "7", *who, code=2)
    assert "read as no money" in run("correct", now["id"], "soon", "--seen", "1", *who, code=2)
    run("correct", now["id"], "USD 60,000", "--seen", "1", *who)
    assert json.loads(run("items", "--store", store, "--json"))["canonical"] == "60000 USD"
    assert run("audit", "verify", "--store", store)
