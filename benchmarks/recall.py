"""Reading back, measured: whether what dialogues wrote is found again, and how long an answer takes.

    python benchmarks/recall.py readback DIALOGUES.jsonl …   # lines as `recordari rehearse` takes them
    python benchmarks/recall.py latency --items 100000 --entities 1000

``readback`` asks the template questions of every live item at the last time of its dialogue. ``latency`` fills a SQLite
file with fictitious amounts and dates, then asks for one at a time; the first answers, which fill caches, do not count.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from recordari.intake import received
from recordari.memory import Memory
from recordari.recall.context import count_tokens
from recordari.recall.question import book_of, understand
from recordari.recall.rank import Filters, recall
from recordari.rules.load import load
from recordari.service.batch import dialogue

START = datetime(2026, 1, 5, 9, tzinfo=UTC)


def readback(files: list[str], show: int) -> dict[str, Any]:
    """Questions, how many find their item first and in the top 3, what is superseded, what a small context holds."""
    ruleset = load()
    tally: Counter[str] = Counter()
    misses: list[str] = []
    for line in (line for name in files for line in Path(name).read_text(encoding="utf-8").splitlines() if line):
        id_, turns = dialogue(json.loads(line), 100_000)
        if not turns:
            continue
        with Memory.rehearsal(ruleset=ruleset, ner=False) as memory:
            memory.observe_group(list(enumerate(turns)))
            at = max(received(turn, None) for turn in turns)
            for each in memory.read_back(at=at):
                tally["questions"] += 1
                tally["first"] += each.place == 1
                tally["top 3"] += each.found
                tally["answered with what no longer holds"] += bool(each.superseded)
                block = memory.context(each.question, budget=500, at=at, entity=each.item.entity)
                tally["in a context of 500 tokens"] += each.item.id in {shown.item for shown in block.lines}
                tally["contexts over budget"] += count_tokens(block.text) > 500
                if not each.found:
                    misses.append(f"{id_}: {each.question}: {each.why}")
    for miss in misses[:show]:
        print(miss)
    return dict(tally)


def fill(memory: Memory, items: int, entities: int) -> None:
    """Write items straight through the store's own writer, some hundred for each entity, the way talk would leave
    them: one turn an item, its decision, its index rows."""
    labels = ["市场", "研发", "培训", "差旅", "法务", "parking", "catering", "printing", "storage", "cleaning"]
    turns = []
    for number in range(items):
        entity, kind = number % entities, number // entities
        label = f"{labels[kind % len(labels)]}{kind // len(labels) or ''}"
        chinese = f"{label}预算{number % 900 + 100}万元"
        text = chinese if label[0] > "\u3400" else f"The {label} fee is ${number % 9000 + 100}."
        said = {"text": text, "at": (START + timedelta(seconds=number)).isoformat(), "entity": f"client-{entity}"}
        turns.append(said | {"conversation": f"c-{entity}"})
    from recordari.intake import read_turn

    for first in range(0, len(turns), 2000):
        group = [(number, read_turn(turn, 10_000)) for number, turn in enumerate(turns[first : first + 2000])]
        memory.observe_group(group)
        print(f"{first + len(group)} of {items}", end="\r", flush=True)


def latency(items: int, entities: int, asks: int) -> dict[str, Any]:
    """Milliseconds of an answer by kind of question, one entity a question, in one process."""
    ruleset = load()
    book = book_of(ruleset)
    rng = random.Random(8)
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory.open(Path(folder) / "memory.db", ruleset=ruleset, ner=False) as memory,
    ):
        fill(memory, items, entities)
        now = START + timedelta(days=30)
        found: dict[str, Any] = {"items": items, "entities": entities, "asked": asks}
        kinds = {"exact": "研发预算是多少", "full text": "parking", "range": "fees over $5,000"}
        for kind, question in kinds.items():
            taken: dict[str, list[float]] = {"read": [], "found": []}
            for number in range(asks + 20):
                entity = f"client-{rng.randrange(entities)}"
                begun = time.perf_counter()
                asked = understand(question, now, ruleset)
                between = time.perf_counter()
                with memory.store.reading(memory.namespace) as tx:
                    hits = recall(tx, asked, book, Filters(entity)).hits
                ended = time.perf_counter()
                assert hits, (question, entity)
                if number >= 20:
                    taken["read"].append((between - begun) * 1000)
                    taken["found"].append((ended - between) * 1000)
            found[kind] = {
                name: {"p50": round(statistics.median(ms), 2), "p99": round(statistics.quantiles(ms, n=100)[98], 2)}
                for name, ms in taken.items()
            }
    return found


def main() -> None:
    """Run one of the two and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parts = parser.add_subparsers(dest="what", required=True)
    back = parts.add_parser("readback")
    back.add_argument("files", nargs="+")
    back.add_argument("--show", type=int, default=40, help="misses to print")
    speed = parts.add_parser("latency")
    speed.add_argument("--items", type=int, default=100_000)
    speed.add_argument("--entities", type=int, default=1000)
    speed.add_argument("--asks", type=int, default=500)
    given = parser.parse_args()
    if given.what == "readback":
        print(json.dumps(readback(given.files, given.show), indent=1))
    else:
        print(json.dumps(latency(given.items, given.entities, given.asks), indent=1))


if __name__ == "__main__":
    main()
