"""How long walks over a graph of names take: a store of so many edges, one to three steps from random names.

    python benchmarks/relations.py [--edges 100000] [--names 20000] [--walks 200]

The edges are written through the store alone, with one item each, as if rules had captured them; names are made up.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from recordari.memory import Memory
from recordari.model import Decision, MemoryItem, Outcome, Turn
from recordari.rules.edges import edges
from recordari.rules.load import load
from recordari.values import OrganizationValue

SAID = datetime(2026, 3, 18, 10, tzinfo=UTC)


def written(number: int, subject: str, object_: str, turn: Turn) -> Outcome:
    """An edge as the pipeline would write it."""
    item = MemoryItem(
        id=f"{number:032x}", entity=subject, slot="relation.supplies", value=OrganizationValue(name=object_),
        asserted_by="user", valid_from=SAID, said_at=SAID, recorded_at=SAID, turn_id=turn.turn_id, rule="bench@1",
        sentence=f"{subject} supplies {object_}", surface="",
    )  # fmt: skip
    decision = Decision(
        turn_id=turn.turn_id, turn=turn.ordinal, ordinal=0, action="ADD", reason="stated", rule="bench@1",
        slot=item.slot, entity=subject, kind="organization", canonical=object_, item=item.id,
    )  # fmt: skip
    return Outcome(decision=decision, written=(item,))


def main() -> None:
    """Fill a store, walk, print."""
    options = argparse.ArgumentParser(description=__doc__)
    for name, default in (("edges", 100_000), ("names", 20_000), ("walks", 200)):
        options.add_argument(f"--{name}", type=int, default=default)
    asked = options.parse_args()
    chosen = random.Random(7)
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory.open(Path(folder) / "graph.db", ruleset=load([]), ner=False)
        edge_of, began = edges(memory.ruleset), time.perf_counter()
        with memory.store.group():
            for number in range(asked.edges):
                subject, object_ = chosen.sample(range(asked.names), 2)
                turn = Turn(turn_id=f"t{number}", text="", said_at=SAID, received_at=SAID, ordinal=number)
                with memory.store.writing() as tx:
                    tx.write_turn(turn)
                    outcome = written(number, f"Body {subject} Ltd", f"Body {object_} Ltd", turn)
                    tx.write_outcomes(turn, [outcome], edge_of=edge_of)
        print(f"{asked.edges} edges written in {time.perf_counter() - began:.1f} s")
        for hops in (1, 2, 3):
            took, found = [], []
            for _ in range(asked.walks):
                name, start = f"Body {chosen.randrange(asked.names)} Ltd", time.perf_counter()
                found.append(len(memory.related(name, hops=hops, as_of=SAID)))
                took.append((time.perf_counter() - start) * 1000)
            took.sort()
            middle, worst = statistics.median(took), took[int(len(took) * 0.99)]
            print(f"{hops} steps: p50 {middle:.2f} ms, p99 {worst:.2f} ms, {statistics.mean(found):.1f} names")


if __name__ == "__main__":
    main()
