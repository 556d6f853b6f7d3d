"""The writer that test_crash.py kills: observes a stream of turns, acknowledging each on standard output.

It forks once per line "ROUND" on standard input, so that rules are loaded once for all rounds; the child observes
until it is killed. Prints "pid N" of each child, then "ack TURN_ID" after each commit.
"""

from __future__ import annotations

import gc
import os
import sys
import threading

from recordari.memory import Memory
from recordari.rules.load import load
from recordari.rules.ruleset import Ruleset
from recordari.settings import Settings

TURNS = [
    "预算{n}万元",
    "律师费改为{n}千元",
    "The retainer is USD {n},250.",
    "再加两万吧",
    "谢谢",
    "手机号是1380000{n:04d}",
]


def child(path: str, round_: int, ruleset: Ruleset, settings: Settings) -> None:
    memory = Memory.open(path, ruleset=ruleset, ner=False, settings=settings)
    for number in range(10_000):
        turn = f"r{round_}-{number}"
        memory.observe(
            TURNS[number % len(TURNS)].format(n=number % 90 + 1),
            entity=f"client-{number % 3}",
            said_at=f"2026-03-18T10:{number // 60 % 60:02d}:{number % 60:02d}+08:00",
            conversation=f"c{round_}",
            turn_id=turn,
        )
        os.write(1, f"ack {turn}\n".encode())


def main() -> None:
    path = sys.argv[1]
    ruleset = load()
    # Everything compiled lazily is compiled here, once, so that the children spend their lives writing.
    with Memory.rehearsal(ruleset=ruleset, ner=False) as warm:
        for text in TURNS:
            warm.observe(text.format(n=1), said_at="2026-03-18T10:00:00+08:00")
    Memory.open(path, ruleset=ruleset, ner=False).close()
    settings = Settings()
    gc.collect()
    gc.freeze()  # the children share these pages instead of copying them
    # A fork is sound only from a process with one thread that holds no lock: durable-rules runs without its timer
    # threads here, and both stores are closed.
    assert threading.active_count() == 1
    tasks = "/proc/self/task"
    assert not os.path.isdir(tasks) or len(os.listdir(tasks)) == 1
    os.write(1, b"ready\n")
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            try:
                child(path, int(line), ruleset, settings)
            finally:
                os._exit(1)  # whatever happened, never a second reader of standard input
        os.write(1, f"pid {pid}\n".encode())
        os.waitpid(pid, 0)
        os.write(1, b"gone\n")


if __name__ == "__main__":
    main()
