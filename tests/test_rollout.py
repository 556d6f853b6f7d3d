"""The rollout drill through the command line, smaller: one writer process, never started anew, takes all turns."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from commands import recordari, untraced

pytestmark = pytest.mark.usefixtures("sharing")  # see conftest.py

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def rollout(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.delitem(sys.modules, "rollout", raising=False)
    return importlib.import_module("rollout")


def test_a_writer_that_never_stops_follows_every_step_and_the_log_explains_each_decision(
    rollout: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in os.environ.keys() - untraced().keys():  # each command of the drill runs under coverage elsewhere
        monkeypatch.delenv(name)
    found = rollout.drill(tmp_path, 7 * rollout.GROUP)
    assert found.unexplained == 0
    assert found.flipped == 0
    assert found.decisions >= found.turns
    assert found.by["None: old"] == 2 * rollout.GROUP  # before the first release, and after the rollback
    assert found.by["None: new"] == rollout.GROUP
    assert "shadow: new" not in found.by
    assert 0 < found.by["canary 10 %: new"] < found.by["canary 50 %: new"]
    assert found.phantoms > 0
    assert found.review > 0
    done = recordari("audit", "verify", "--store", str(tmp_path / "m.db"))
    assert done.returncode == 0, done.stdout + done.stderr


def rules(*arguments: str, store: Path) -> subprocess.CompletedProcess[str]:
    return recordari("rules", *arguments, "--store", str(store), RECORDARI_ACTOR="ines")


def test_the_commands_say_what_is_in_force_and_refuse_by_exit_code(rollout: ModuleType, tmp_path: Path) -> None:
    store, folder = tmp_path / "m.db", tmp_path / "mine"
    folder.mkdir()
    (folder / "wager.yaml").write_text(rollout.RULE.format(word="wager"), encoding="utf-8")
    (tmp_path / "gates.yaml").write_text("stable: {second_actor: true}\n", encoding="utf-8")
    done = rules("publish", str(folder), "--skip-tests", "--why", "bets", store=store)
    assert done.returncode == 0, done.stderr
    assert "candidate" in done.stdout
    assert rules("promote", "--to", "shadow", "--why", "bets", store=store).returncode == 2  # nothing to compare with
    shut = rules("promote", "--to", "stable", "--why", "bets", store=store)
    assert shut.returncode == 1
    assert "tests was not checked" in shut.stderr
    open_ = rules("promote", "--to", "stable", "--why", "bets", "--gates", str(tmp_path / "gates.yaml"), store=store)
    assert open_.returncode == 0, open_.stderr
    told = json.loads(rules("status", "--json", store=store).stdout)
    assert "candidate" not in told
    assert [each["kind"] for each in told["history"]] == ["rule_publish", "rule_promote"]
    assert {each["who"] for each in told["history"]} == {"ines"}


def test_a_broken_folder_is_not_published(tmp_path: Path) -> None:
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "broken.yaml").write_text("id: slot.broken\nversion: 1\nkind: slot\n", encoding="utf-8")
    done = rules("publish", str(folder), "--why", "try", store=tmp_path / "m.db")
    assert done.returncode == 3
    assert "broken.yaml:1:1" in done.stderr
    assert not (tmp_path / "m.db").exists()
