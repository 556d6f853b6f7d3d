"""The forgetter that test_forgetting_crash.py kills: forgets a few items at a time until nothing is due.

A line on standard input is a day (see forking.py). Prints "did A D" after each step (archived, deleted), "done" when
nothing is left.
"""

from __future__ import annotations

import os
import sys
from datetime import datetime
from pathlib import Path

from forking import serve

from recordari.memory import Memory
from recordari.rules.load import load
from recordari.rules.ruleset import Ruleset
from recordari.settings import Settings

STEP = 1  # item in one step: as many moments to be killed at as there are


def child(path: str, day: str, ruleset: Ruleset, settings: Settings) -> None:
    memory = Memory.open(path, ruleset=ruleset, ner=False, settings=settings)
    more = True
    while more:
        done = memory.forget(at=datetime.fromisoformat(f"{day}T00:00:00+00:00"), limit=STEP)
        os.write(1, f"did {len(done.archived)} {len(done.deleted)}\n".encode())
        more = done.more
    memory.close()
    os.write(1, b"done\n")


def main() -> None:
    path, rules = sys.argv[1:]
    ruleset = load([Path(rules)])
    Memory.open(path, ruleset=ruleset, ner=False).close()
    settings = Settings()
    serve(lambda day: child(path, day, ruleset, settings))


if __name__ == "__main__":
    main()
