"""Reading back, measured: whether what dialogues wrote is found again, and how long an answer takes.

    python benchmarks/recall.py readback DIALOGUES.jsonl …   # lines as `recordari rehearse` takes them
    python benchmarks/recall.py latency --items 10000 1000000 --entities 100 10000
    python benchmarks/recall.py erasure --items 1000000 --entities 10000

``readback`` asks the template questions of every live item at the last time of its dialogue. ``latency`` fills SQLite
files (recall_store.py), then asks one question at a time, each of every store; the first answers, which fill caches, do
not count.
``erasure`` takes single items, conversations and entities out of such a file, and tells what cleaning the file costs.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

from recall_store import START, build, client

from recordari.intake import received
from recordari.memory import Memory
from recordari.recall.context import count_tokens
from recordari.recall.question import book_of, understand
from recordari.recall.rank import Filters, recall
from recordari.recall.vectors import Embedder, Vectors, installed
from recordari.rules.load import load
from recordari.rules.ruleset import Ruleset
from recordari.service.batch import dialogue

WARM = 200  # answers that fill caches


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


# Questions by the route that answers them; each is asked of entities drawn at random.
KINDS = {
    "exact": ["研发预算是多少", "差旅负责人是谁", "what is the credit limit", "when is the parking report due"],
    "label and full text": ["差旅费多少钱", "What is the catering fee?", "甲合同的交货期是几号", "the retainer"],
    "full text": ["parking", "花生", "靠窗的座位", "显示器", "bridge loan interest", "码头工程", "无糖"],
    "range": ["fees over $5,000", "超过100万元的预算", "what is between August 1 and August 5"],
    "hybrid": ["供应商哪天送货", "food that makes people ill", "工地什么时候查验", "the seat they like", "电线"],
}  # fmt: skip


class Remembered:
    """An embedder that has embedded a question before: what embedding costs is measured apart."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder, self.name, self.dimension = embedder, embedder.name, embedder.dimension
        self._known: dict[str, Any] = {}

    def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> list[Any]:
        for text in texts:
            if text not in self._known:
                self._known[text] = self._embedder.embed([text], kind)[0]
        return [self._known[text] for text in texts]


def latency(sizes: Sequence[tuple[int, int]], asks: int, at: Path | None) -> dict[str, Any]:
    """Milliseconds of an answer by kind of question and size of the store (items, entities), one entity a question, in
    one process: by the clock and of the processor, which is what a machine without other work would come to. Several
    stores are asked in turn, so that whatever slows the machine slows all alike."""
    gc.set_threshold(50_000, 20, 20)  # as the command line does
    ruleset = load()
    book = book_of(ruleset)
    embedder = installed()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as opened:
        memories = []
        for items, entities in sizes:
            path = _store(at or Path(folder), items, entities, ruleset, embedder)
            memories.append(opened.enter_context(Memory.open(path, ruleset=ruleset, ner=False)))
        nearby = Vectors(Remembered(embedder)) if embedder is not None else None
        found: dict[str, Any] = {"asked": asks, "steady work": _steady()}
        for kind, questions in KINDS.items():
            if kind == "hybrid" and nearby is None:
                continue
            with_vectors = nearby if kind == "hybrid" else None
            taken = [{"read": [], "found": [], "found, processor": []} for _ in sizes]
            routes: list[Counter[str]] = [Counter() for _ in sizes]
            rng = random.Random(8)
            for number in range(asks + WARM):
                question, place = questions[number % len(questions)], rng.random()
                for which, (memory, (_, entities)) in enumerate(zip(memories, sizes, strict=True)):
                    begun = time.perf_counter()
                    asked = understand(question, START + timedelta(days=30), ruleset)
                    between, worked = time.perf_counter(), time.thread_time()
                    with memory.store.reading(memory.namespace) as tx:
                        filters = Filters(client(int(place * entities)))
                        hits = recall(tx, asked, book, filters, nearby=with_vectors).hits
                    ended, done = time.perf_counter(), time.thread_time()
                    routes[which].update(route for hit in hits for route in hit.routes)
                    if number >= WARM:
                        taken[which]["read"].append((between - begun) * 1000)
                        taken[which]["found"].append((ended - between) * 1000)
                        taken[which]["found, processor"].append((done - worked) * 1000)
            found[kind] = {
                f"{items} items": {name: _spread(ms) for name, ms in taken[which].items()}
                | {"hits by route": dict(routes[which])}
                for which, (items, _) in enumerate(sizes)
            }
    return found


def _store(folder: Path, items: int, entities: int, ruleset: Ruleset, embedder: Embedder | None) -> Path:
    """A store of this size, made where there is none; its file lies in memory as far as it fits, as that of a server at
    work does."""
    path = folder / f"recall-{items}-{entities}.db"
    if not path.exists():
        begun = time.perf_counter()
        count = build(path, items, entities, ruleset, embed=lambda memory: memory.embed() if embedder else None)
        took, size = time.perf_counter() - begun, path.stat().st_size / 1e9
        print(f"{count} item versions in {took:.0f} s, {size:.2f} GB", file=sys.stderr)
    with path.open("rb") as file:
        while file.read(1 << 24):
            pass
    return path


def _spread(ms: Sequence[float]) -> dict[str, float]:
    return {"p50": round(statistics.median(ms), 2), "p99": round(statistics.quantiles(ms, n=100)[98], 2)}


def _steady() -> dict[str, float]:
    """The same half millisecond of work two thousand times: what of a p99 is the machine's own."""
    ms: list[float] = []
    for _ in range(2000):
        begun = time.perf_counter()
        sum(number * number % 7 for number in range(12_000))
        ms.append((time.perf_counter() - begun) * 1000)
    return _spread(ms)


def erasure(items: int, entities: int, times: int, at: Path | None) -> dict[str, Any]:
    """Seconds that it takes to erase an item, a conversation or an entity of a big store (which has no log and no index
    of turns): by the clock and of the processor until it is committed, then by the clock until the file is clean."""
    ruleset = load()
    rng = random.Random(9)
    found: dict[str, Any] = {"items": items, "entities": entities}
    ground = {"ground": "benchmark", "actor": "benchmark"}
    with tempfile.TemporaryDirectory() as folder:
        path = (at or Path(folder)) / f"recall-{items}-{entities}.db"
        if not path.exists():
            build(path, items, entities, ruleset)
        with Memory.open(path, ruleset=ruleset, ner=False) as memory:
            scrub, cleaned = memory.store.scrub, 0.0

            def timed() -> bool:
                nonlocal cleaned
                begun = time.perf_counter()
                clean = scrub()
                cleaned = time.perf_counter() - begun
                return clean

            memory.store.scrub = timed  # type: ignore[method-assign]
            drawn = map(client, rng.sample(range(entities), entities))
            names = (name for name in drawn if len(memory.items(entity=name)) > 1)  # of a kept store some are gone
            for what in ("item", "conversation", "entity"):
                taken: list[tuple[float, float, float]] = []
                for _ in range(times):
                    name = next(names)
                    item = memory.items(entity=name)[0].id
                    asked = {"conversation": f"talk-{name}"} if what == "conversation" else {"entity": name}
                    worked, begun = time.process_time(), time.perf_counter()
                    done = memory.erase(item, **ground) if what == "item" else memory.erase(**asked, **ground)
                    ended, done_working = time.perf_counter(), time.process_time()
                    assert done.scrubbed
                    assert done.items
                    taken.append((ended - begun - cleaned, done_working - worked, cleaned))
                found[what] = {
                    label: [round(each[at], 3) for each in taken]
                    for at, label in enumerate(("committed", "processor in all", "cleaned"))
                }
        found["file, GB"] = round(path.stat().st_size / 1e9, 2)
    found["load of the machine"] = [round(each, 2) for each in os.getloadavg()]
    return found


def main() -> None:
    """Run one of them and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parts = parser.add_subparsers(dest="what", required=True)
    back = parts.add_parser("readback")
    back.add_argument("files", nargs="+")
    back.add_argument("--show", type=int, default=40, help="misses to print")
    speed = parts.add_parser("latency")
    speed.add_argument("--items", type=int, nargs="+", default=[100_000], help="of each store")
    speed.add_argument("--entities", type=int, nargs="+", default=[1000], help="of each store")
    speed.add_argument("--asks", type=int, default=2000)
    speed.add_argument("--at", type=Path, help="folder that keeps the store for the next run (default: thrown away)")
    gone = parts.add_parser("erasure")
    gone.add_argument("--items", type=int, default=100_000)
    gone.add_argument("--entities", type=int, default=1000)
    gone.add_argument("--times", type=int, default=3)
    gone.add_argument("--at", type=Path, help="folder of a store that may lose some entities (default: a new one)")
    given = parser.parse_args()
    if given.what == "readback":
        print(json.dumps(readback(given.files, given.show), indent=1))
    elif given.what == "erasure":
        print(json.dumps(erasure(given.items, given.entities, given.times, given.at), indent=1))
    else:
        sizes = list(zip(given.items, given.entities, strict=True))
        print(json.dumps(latency(sizes, given.asks, given.at), indent=1))


if __name__ == "__main__":
    main()
