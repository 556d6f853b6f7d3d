"""`recordari forget`, `pin`, `unpin` as a person types them, in a process of their own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from commands import recordari

from recordari.memory import Memory
from recordari.rules.load import load

pytestmark = pytest.mark.usefixtures("sharing")  # see conftest.py

RULES = """\
id: forgetting.core
version: 9
kind: forgetting
title: {en: House, zh: 内部}
owner: records
rationale: House rules.
ends: [{type: state, after: session}, {slot: preference, after: P90D}]
budget: {items: 3, bytes: 100000}
"""
SAID = (
    "The ticket status is open.",
    "I prefer window seats.",
    "营销预算8万元。",
    "研发预算5万元。",
    "差旅预算2万元。",
    "培训预算1万元。",
)
AT = ("--at", "2025-06-30T00:00:00Z")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the rules of a house and a store."""
    folder = tmp_path_factory.mktemp("kept")
    (folder / "rules").mkdir()
    (folder / "rules" / "forgetting.core.yaml").write_text(RULES, encoding="utf-8")
    ruleset = load([folder / "rules"])
    with Memory.open(folder / "m.db", ruleset=ruleset, ner=False) as memory:
        for number, text in enumerate(SAID):
            memory.observe(text, said_at=f"2025-01-02T10:0{number}:00+08:00", conversation="c", entity="宋玉")
    return folder


@pytest.fixture
def folder(kept: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(kept, tmp_path / "copy"))


def run(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Exit status, standard output, standard error of the command itself."""
    done = recordari(*arguments, "--store", str(folder / "m.db"))
    return done.returncode, done.stdout, done.stderr


def forget(folder: Path, *arguments: str) -> list[dict[str, Any]]:
    status, printed, error = run(folder, "forget", *arguments, "--rules", str(folder / "rules"), "--json")
    assert status == 0, error
    return [json.loads(line) for line in printed.splitlines()]


def test_forgetting_is_shown_done_bounded_and_proved(folder: Path) -> None:
    *would, last = forget(folder, *AT, "--dry-run")
    assert last | {"archived": 0} == {
        "at": "2025-06-30T00:00:00Z", "dry_run": True, "archived": 0, "deleted": 0, "kept": 0, "more": False,
        "records": [],
    }  # fmt: skip
    assert {(each["slot"], each["why"], each["rule"]) for each in would} >= {
        ("status", "session", "forgetting.core@9"), ("preference", "ttl", "forgetting.core@9"),
        ("budget", "budget", "forgetting.core@9"),
    }  # fmt: skip
    done: list[dict[str, Any]] = []
    while (step := forget(folder, *AT, "--limit", "2"))[-1]["archived"]:
        assert step[-1]["archived"] <= 2
        done += step[:-1]
    assert sorted(each["item"] for each in done) == sorted(each["item"] for each in would)
    status, printed, _ = run(folder, "audit", "verify", "--replay")
    assert status == 0, printed
    assert f"{len(done)} of kind expire" in printed
    status, printed, error = run(folder, "audit", "export", str(folder / "bundle"))
    assert status == 0, error
    checked = subprocess.run(
        [sys.executable, str(folder / "bundle" / "check_bundle.py"), str(folder / "bundle")],
        capture_output=True, text=True, check=False, encoding="utf-8", timeout=120,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout


def test_people_read_what_goes_why_and_what_stays(folder: Path) -> None:
    state = next(each["item"] for each in forget(folder, *AT, "--dry-run") if each.get("slot") == "status")
    status, printed, error = run(folder, "pin", state[:12], "--actor", "ines", "--ground", "read every week")
    assert status == 0, error
    number = printed.strip()
    status, printed, _ = run(folder, "forget", *AT, "--rules", str(folder / "rules"))
    assert status == 0
    assert "1 due and kept" in printed
    assert f"{state[:12]}  宋玉  status[ticket]: its talk is over, 2025-01-03T02:05:00Z, forgetting.core@9" in printed
    assert f"; pinned by record {number} (read every week)" in printed
    assert "preference: not said again for as long as it stands" in printed
    assert printed.splitlines()[-1] == "as of 2025-06-30T00:00:00Z"
    assert run(folder, "unpin", state, "--actor", "ines")[0] == 0
    (gone, _) = forget(folder, *AT)
    assert gone["item"] == state


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("forget", "--at", "2999-01-01T00:00:00Z"), "has not come yet"),
        (("forget", "--at", "yesterday"), "--at"),
        (("pin", "ffffffffffff", "--actor", "ines"), "no item"),
        (("forget", "--limit", "0"), "--limit"),
    ],
)
def test_wrong_use_is_told_in_one_line(folder: Path, arguments: tuple[str, ...], said: str) -> None:
    status, _, error = run(folder, *arguments)
    assert status == 2
    assert said in error
    assert "Traceback" not in error
