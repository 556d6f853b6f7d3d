"""The benchmarks of kills and of replay on another machine, with small numbers: the large ones are run by hand."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from commands import untraced

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCHMARKS / arguments[0]), *arguments[1:]]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False, env=untraced())


def test_a_writer_killed_while_it_signs_and_erases_loses_nothing_that_it_acknowledged() -> None:
    done = run("crash.py", "8")
    assert done.returncode == 0, done.stdout + done.stderr
    seen = json.loads(done.stdout)
    assert seen["amiss"] == []
    assert sum(seen["killed while"].values()) == 8
    assert seen["turns acknowledged"] > 0


def test_turns_in_two_languages_are_replayed_alike_under_another_locale_zone_and_seed() -> None:
    done = run("replay.py", "200", "--here")
    assert done.returncode == 0, done.stdout + done.stderr
    assert '"byte for byte the same": true' in done.stdout
    assert '"differs"' not in done.stdout
