"""Measure `recordari rules backtest`: processor time and turns per second for the kinds of change there are.

    python benchmarks/backtest.py [--turns 6000]

One process does the work, so that the figure holds whatever else the machine is doing: processes share nothing, and two
of them on two idle cores do twice as many turns. The example dialogues are repeated under names of their own; nearly
every turn of them states a fact, which is the dear case.
"""

from __future__ import annotations

import argparse
import gc
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

from run import turns as example_turns  # noqa: E402

from recordari.intake import Incoming, read_turn  # noqa: E402
from recordari.rehearsing import Stage, sides  # noqa: E402
from recordari.rules.backtest import Backtest, Dialogue  # noqa: E402
from recordari.rules.load import load  # noqa: E402
from recordari.rules.ruleset import Ruleset  # noqa: E402

# A rule of each kind, and an edit of it that changes decisions.
EDITS: dict[str, tuple[str, Callable[[str], str]]] = {
    "a capture": ("capture.budget", lambda text: re.sub(r"priority: \d+", "priority: 5", text)),
    "a policy": (
        "policy.core",
        lambda text: re.sub(r"do: SUPERSEDE,(\s+)reason: update_stated", r"do: ADD,\1reason: stated", text),
    ),
    "a slot": ("slot.amount", lambda text: text + "\nneeds_approval: true\n"),
    "a cue": ("cue.en.hypothesis", lambda text: text.replace("suppose", "imagine")),
}  # fmt: skip


def corpus(total: int) -> list[Dialogue[Incoming]]:
    """Dialogues of the examples, each round under its own names."""
    found: dict[str, list[Incoming]] = {}
    for row in example_turns(total):
        found.setdefault(row["conversation"], []).append(read_turn(row, 10**6))
    return [Dialogue(name, tuple(said)) for name, said in found.items()]


def edited(before: Ruleset, place: Path) -> Iterator[tuple[str, Ruleset]]:
    """Rule sets that differ from the shipped one in one rule."""
    for what, (name, edit) in EDITS.items():
        version = before.files[name].version
        text = before.sources[name].replace(f"version: {version}\n", f"version: {version + 1}\n", 1)
        folder = place / name
        folder.mkdir()
        (folder / "rule.yaml").write_text(edit(text.replace("\nneeds_approval: false", "")), encoding="utf-8")
        yield what, load([folder])


def measured(before: Ruleset, after: Ruleset, dialogues: list[Dialogue[Incoming]]) -> tuple[float, float, int]:
    """Processor time and time of a turn in milliseconds, and how many decisions differ."""
    backtest: Backtest[Incoming] = Backtest(*sides(before, after, ner=False), Stage)
    for each in dialogues[:3]:
        backtest.rehearse(each)  # what is compiled on first use
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    count = sum(len(each.turns) for each in dialogues)
    wall, work = time.perf_counter(), time.process_time()
    differ = sum(len(backtest.rehearse(each).differences) for each in dialogues)
    wall, work = time.perf_counter() - wall, time.process_time() - work
    return work / count * 1e3, wall / count * 1e3, differ


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=6000)
    total: int = parser.parse_args().turns
    dialogues = corpus(total)
    before = load()
    print("| what differs | CPU ms a turn | turns/s of two idle cores | ms a turn here | decisions that differ |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place:
        for what, after in [("nothing", before), *edited(before, Path(place))]:
            work, wall, differ = measured(before, after, dialogues)
            print(f"| {what} | {work:.2f} | {2000 / work:.0f} | {wall:.2f} | {differ} |", flush=True)


if __name__ == "__main__":
    main()
