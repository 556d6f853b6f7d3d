"""kill -9 in the middle of a forgetting: what is archived or deleted is so as a whole, and the next goes on."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from commands import untraced

from recordari.memory import Memory
from recordari.rules.load import load
from recordari.rules.ruleset import Ruleset

RULES = """\
id: forgetting.core
version: 9
kind: forgetting
title: {en: House, zh: 内部}
owner: records
rationale: House rules.
ends: [{type: state, after: P30D}]
grace: {client-record-7y: P30D}
"""
CLIENTS = 90
FIRST, SECOND = "2025-03-01", "2025-04-15"  # half are due on the first day; those are deleted on the second


def filled(path: Path, ruleset: Ruleset) -> None:
    with Memory.open(path, ruleset=ruleset, ner=False) as memory, memory.store.group(memory.namespace):
        for number in range(CLIENTS):
            day = "2025-01-02" if number % 2 else "2025-03-02"
            memory.observe(
                "The ticket status is open.", said_at=f"{day}T10:00:00+00:00", entity=f"client-{number}",
                conversation=f"c-{number}",
            )  # fmt: skip


def state(path: Path, ruleset: Ruleset) -> list[tuple[Any, ...]]:
    """What is left, proved."""
    with Memory.open(path, ruleset=ruleset, ner=False) as memory:
        report = memory.verify()
        assert report.ok, report.lines()
        assert all(layer.ok for layer in memory.replay())
        with memory.store.reading(memory.namespace) as tx:
            return [(each.entity, each.status, each.version, each.valid_to) for each in tx.items(history=True)]


def test_kill_9_while_forgetting_loses_nothing_and_the_next_ends_as_if_never_killed(tmp_path: Path) -> None:
    for name in ("killed", "whole", "rules"):
        (tmp_path / name).mkdir()
    (tmp_path / "rules" / "forgetting.core.yaml").write_text(RULES, encoding="utf-8")
    ruleset = load([tmp_path / "rules"])
    path = tmp_path / "killed" / "m.db"
    filled(path, ruleset)
    for each in path.parent.iterdir():
        shutil.copy(each, tmp_path / "whole")
    chance, kills, cut = random.Random(7), 0, 0
    writer = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("forget_writer.py")), str(path), str(tmp_path / "rules")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=untraced(),
    )  # fmt: skip
    assert writer.stdin is not None
    assert writer.stdout is not None
    try:
        assert writer.stdout.readline() == "ready\n"
        for day in (FIRST, SECOND):
            done = False
            while not done:
                writer.stdin.write(f"{day}\n")
                pid = int(writer.stdout.readline().split()[1])
                time.sleep(chance.random() * 0.05 * kills)  # longer each time: a slow machine gets on too
                with contextlib.suppress(ProcessLookupError):  # it is through
                    os.kill(pid, signal.SIGKILL)
                kills += 1
                steps = 0
                while (line := writer.stdout.readline()) != "gone\n":
                    done |= line == "done\n"
                    steps += line.startswith("did")
                cut += steps > 0 and not done
    finally:
        writer.kill()
        writer.wait()
        writer.stdin.close()
        writer.stdout.close()
    assert kills > 4
    assert cut  # killed with work behind it and before it
    whole = tmp_path / "whole" / "m.db"
    with Memory.open(whole, ruleset=ruleset, ner=False) as memory:
        for day in (FIRST, SECOND):
            memory.forget(at=datetime.fromisoformat(f"{day}T00:00:00+00:00"))
    left = state(path, ruleset)
    assert left == state(whole, ruleset)
    assert {status for _, status, *_ in left} == {"expired"}
    assert len(left) == CLIENTS // 2
