"""Processes that correct one budget per client at the same time: ``memory_writer.py PLACE TURNS CLIENTS OF``.

They are forked from one that has read the rules, so that they begin together; each opens the store for itself.
"""

from __future__ import annotations

import gc
import os
import sys
import traceback
from datetime import UTC, datetime, timedelta

from recordari.memory import Memory
from recordari.rules.load import load
from recordari.rules.ruleset import Ruleset


def write(ruleset: Ruleset, place: str, turns: int, clients: int, number: int, of: int) -> None:
    with Memory.open(place, ruleset=ruleset, ner=False) as memory:
        for count in range(turns):
            said = datetime(2026, 3, 18, tzinfo=UTC) + timedelta(seconds=count * of + number)
            memory.observe(
                f"营销预算改成{1000 + count * of + number}元",
                said_at=said,
                entity=f"client-{count % clients}",
                conversation=f"talk-{number}-{count % clients}",
                turn_id=f"{number}-{count}",
            )


def main(place: str, turns: int, clients: int, of: int) -> int:
    ruleset = load()
    Memory.rehearsal(ruleset=ruleset, ner=False).observe("营销预算改成1元", said_at=datetime(2026, 3, 18, tzinfo=UTC))
    gc.collect()
    gc.freeze()
    children = []
    for number in range(of):
        pid = os.fork()
        if pid == 0:
            try:
                write(ruleset, place, turns, clients, number, of)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        children.append(pid)
    return sum(os.waitpid(pid, 0)[1] != 0 for pid in children)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:5])))
