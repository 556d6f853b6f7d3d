"""The eraser that test_erasing_crash.py kills: says a conversation, erases it, and so on, telling what it has done.

A line on standard input is a round (see forking.py). Prints "said C" and "erased C" after each commit.
"""

from __future__ import annotations

import os
import sys

from forking import serve

from recordari.memory import Memory
from recordari.rules.load import load
from recordari.rules.ruleset import Ruleset
from recordari.settings import Settings

TURNS = ("预算{n}万元", "我的手机是1371234{n:04d}", "我的手机是1371234{n:04d}，邮箱是 box{n:04d}@example.com", "谢谢")


def child(path: str, round_: int, ruleset: Ruleset, settings: Settings) -> None:
    memory = Memory.open(path, ruleset=ruleset, ner=False, settings=settings)
    for number in range(100):
        name, own = f"c{round_}-{number}", round_ * 100 + number
        for turn, text in enumerate(TURNS):
            at = f"2026-03-18T10:{number % 60:02d}:{turn:02d}+08:00"
            memory.observe(text.format(n=own), entity=f"client-{own:04d}", said_at=at, conversation=name)
        os.write(1, f"said {name}\n".encode())
        memory.erase(conversation=name, ground="gdpr-17-1-b", actor="ines")
        os.write(1, f"erased {name}\n".encode())


def main() -> None:
    path = sys.argv[1]
    ruleset = load()
    with Memory.rehearsal(ruleset=ruleset, ner=False) as warm:  # compiled here, once
        for text in TURNS:
            warm.observe(text.format(n=1), said_at="2026-03-18T10:00:00+08:00")
    Memory.open(path, ruleset=ruleset, ner=False).close()
    settings = Settings()
    serve(lambda round_: child(path, int(round_), ruleset, settings))


if __name__ == "__main__":
    main()
