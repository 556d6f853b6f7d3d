"""A user's folder layered over the shipped packs adds a slot of its own: rules, labels, templates, tests, no code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shipped import shipped

from recordari.intake import read_turn
from recordari.memory import Memory
from recordari.rules.check import check
from recordari.rules.load import load
from recordari.rules.ruleset import Ruleset

pytestmark = pytest.mark.usefixtures("sharing")  # see conftest.py

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "insurance-rules"


@pytest.fixture(scope="module")
def layered() -> Ruleset:
    return load([FOLDER])


def remembered(ruleset: Ruleset, *texts: str) -> list[tuple[str, str, str, str]]:
    turns = [
        read_turn({"text": text, "at": f"2026-03-18T10:{minute:02d}:00+08:00"}, 1000)
        for minute, text in enumerate(texts)
    ]
    _, items = Memory.rehearsal(ruleset=ruleset).rehearse(turns)
    return [(i.slot, i.qualifier, i.canonical, i.sentence) for i in items if i.status == "current"]


def test_the_folder_adds_the_slot_its_labels_and_its_template(layered: Ruleset) -> None:
    ((slot, qualifier, canonical, sentence),) = remembered(layered, "车险保额50万元。", "汽车保险的保额改成60万元。")
    assert (slot, canonical) == ("insured_sum", "600000 CNY")
    assert qualifier == "motor"
    assert sentence.startswith("user的车险保额为60万元")


def test_two_lines_of_cover_stand_side_by_side(layered: Ruleset) -> None:
    found = remembered(layered, "车险保额50万元，寿险保额80万元。")
    assert {(qualifier, canonical) for _, qualifier, canonical, _ in found} == {
        ("motor", "500000 CNY"),
        ("life", "800000 CNY"),
    }


def test_without_the_folder_there_is_no_such_slot() -> None:
    assert "insured_sum" not in {slot for slot, *_ in remembered(shipped(), "车险保额50万元。")}


def test_a_question_about_the_new_slot_is_not_remembered(layered: Ruleset) -> None:
    assert remembered(layered, "车险保额50万元够吗？") == []


def test_the_inline_tests_of_the_folder_pass(layered: Ruleset) -> None:
    trial = Memory.rehearsal(ruleset=layered).trial
    for name in ("slot.insured_sum", "capture.insured_sum"):
        report = check(layered, trial, rule=name)
        assert report.problems == []
        assert report.passed >= 4


def test_the_new_slot_changes_the_digest_but_no_decision_about_other_things(layered: Ruleset) -> None:
    plain = shipped()
    assert layered.digest != plain.digest
    texts = ("预算8万元。", "预算改成9万元。", "My phone number is 617-555-0143.")
    assert json.dumps(remembered(layered, *texts)) == json.dumps(remembered(plain, *texts))


def test_a_retired_version_takes_a_shipped_rule_out(tmp_path: Path) -> None:
    rules = shipped()
    version = rules.files["capture.budget"].version
    source = rules.sources["capture.budget"]
    assert f"version: {version}" in source
    text = source.replace(f"version: {version}", f"version: {version + 1}", 1).replace(
        "status: active", "status: retired"
    )
    (tmp_path / "capture.budget.yaml").write_text(text, encoding="utf-8")
    assert "budget" in {slot for slot, *_ in remembered(rules, "预算8万元。")}
    assert "budget" not in {slot for slot, *_ in remembered(load([tmp_path]), "预算8万元。")}
