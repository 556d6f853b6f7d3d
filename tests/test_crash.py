"""kill -9 at random points of a stream of writes: nothing acknowledged is lost, no item stands without its decision."""

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

KILLS = 200


def test_kill_9_at_200_random_points_loses_no_acknowledged_turn(tmp_path: Path) -> None:
    path = tmp_path / "crash.db"
    chance = random.Random(17)
    writer = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("crash_writer.py")), str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=untraced(),
    )  # fmt: skip
    assert writer.stdin is not None
    assert writer.stdout is not None
    acknowledged: set[str] = set()
    try:
        assert writer.stdout.readline() == "ready\n"
        for round_ in range(KILLS):
            writer.stdin.write(f"{round_}\n")
            pid = int(writer.stdout.readline().split()[1])
            # Some are killed while opening, most in the middle of writing.
            wanted = chance.randrange(0, 8)
            seen = 0
            while seen < wanted:
                acknowledged.add(writer.stdout.readline().split()[1])
                seen += 1
            time.sleep(chance.random() * 0.006)
            os.kill(pid, signal.SIGKILL)
            while (line := writer.stdout.readline()) != "gone\n":
                acknowledged.add(line.split()[1])
    finally:
        writer.kill()
        writer.wait()
        writer.stdin.close()
        writer.stdout.close()
    assert len(acknowledged) > KILLS
    with Memory.open(path, ner=False) as memory:
        stored = set(memory.turn_ids())
        assert acknowledged <= stored
        # At most the turn in flight at each kill was committed without its acknowledgement having been read.
        assert len(stored - acknowledged) <= KILLS
        report = memory.verify()
        assert report.ok, report.lines()
        assert memory.items(history=True)
