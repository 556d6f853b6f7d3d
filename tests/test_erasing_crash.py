"""kill -9 in the middle of erasures: a conversation is there whole or gone whole, and no byte of what went is left."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from commands import untraced

from recordari.memory import Memory
from recordari.rules.ruleset import Ruleset

KILLS = 40


def test_kill_9_while_erasing_leaves_nothing_half_done(tmp_path: Path, ruleset: Ruleset) -> None:
    path = tmp_path / "crash.db"
    chance = random.Random(23)
    writer = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("erase_writer.py")), str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=untraced(),
    )  # fmt: skip
    assert writer.stdin is not None
    assert writer.stdout is not None
    told: dict[str, str] = {}
    caught = 0  # kills between "said" and "erased"
    try:
        assert writer.stdout.readline() == "ready\n"
        for round_ in range(KILLS):
            writer.stdin.write(f"{round_}\n")
            pid = int(writer.stdout.readline().split()[1])
            word, name = writer.stdout.readline().split()
            told[name] = word
            time.sleep(chance.random() * 0.12)
            os.kill(pid, signal.SIGKILL)
            while (line := writer.stdout.readline()) != "gone\n":
                word, name = line.split()
                told[name] = word
            caught += word == "said"
    finally:
        writer.kill()
        writer.wait()
        writer.stdin.close()
        writer.stdout.close()
    assert caught > KILLS // 4
    with Memory.open(path, ruleset=ruleset, ner=False) as memory:
        data = b"".join(each.read_bytes() for each in tmp_path.iterdir())
        with memory.store.reading(memory.namespace) as tx:
            for name, word in told.items():
                round_, _, number = name[1:].partition("-")
                own = int(round_) * 100 + int(number)
                turns = tx.turns(conversation=name)
                texts = [bool(turn.text) for turn in turns]
                assert len(set(texts)) == 1, name  # all or nothing
                items = [item for item in tx.items(history=True) if item.conversation == name]
                assert bool(items) == texts[0], name
                left = [each for each in (f"1371234{own:04d}", f"box{own:04d}@") if each.encode() in data]
                assert bool(left) == texts[0], (name, left)
                assert not (texts[0] and word == "erased"), name
        report = memory.verify()
        assert report.ok, report.lines()
