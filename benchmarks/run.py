"""Measure speed, memory and start-up, and write docs/performance.md with a plot of where a turn's time goes.

    python benchmarks/run.py [--turns 20000] [--out docs]

One process, durable commits (SQLite WAL, synchronous=FULL), the example dialogues repeated under new conversation
and entity names until the number of turns is reached.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
GROUP = 256  # as `recordari observe` does


def turns(total: int) -> Iterator[dict[str, Any]]:
    """Rows of the example dialogues, each round under its own names."""
    rows = [
        json.loads(line)
        for file in sorted((ROOT / "examples").glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    for number in range(total):
        round_, index = divmod(number, len(rows))
        row = rows[index]
        yield row | {"conversation": f"{row['conversation']}-{round_}", "entity": f"{row['entity']}-{round_}"}


class Stages:
    """Seconds by stage, measured by wrapping the pipeline's own functions: nothing in the product knows of it."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    def wrap(self, owner: Any, name: str, stage: str) -> None:
        """Time every call of ``owner.name`` under ``stage``."""
        inner: Callable[..., Any] = getattr(owner, name)

        def timed(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            try:
                return inner(*args, **kwargs)
            finally:
                self.seconds[stage] += time.perf_counter() - start

        setattr(owner, name, timed)


def throughput(total: int, work: Path) -> dict[str, Any]:
    """Extraction + decision + durable commit with group commits."""
    from recordari import memory as pipeline
    from recordari.intake import read_turn
    from recordari.memory import Memory

    rows = [read_turn(row, 10**6) for row in turns(total)]
    memory = Memory.open(str(work / "group.db"), ner=False)
    memory.observe_group([(0, rows[0])])
    gc.collect()
    gc.freeze()  # the rows and the rules live to the end, as they do in `recordari observe`
    gc.set_threshold(50_000, 20, 20)
    stages = Stages()
    stages.wrap(pipeline, "scan_all", "extraction")
    stages.wrap(pipeline, "capture", "decision")
    stages.wrap(memory, "decide", "decision")
    start = time.perf_counter()
    for at in range(1, len(rows), GROUP):
        memory.observe_group(list(enumerate(rows[at : at + GROUP])))
    seconds = time.perf_counter() - start
    memory.close()
    stages.seconds["store and ledger"] = seconds - sum(stages.seconds.values())
    return {"turns_per_s": total / seconds, "seconds": seconds, "stages": dict(stages.seconds)}


def one_by_one(total: int, work: Path) -> dict[str, float]:
    """Milliseconds of single durable observes."""
    from recordari.intake import read_turn
    from recordari.memory import Memory

    memory = Memory.open(str(work / "single.db"), ner=False)
    times = []
    for row in turns(total):
        turn = read_turn(row, 10**6)
        start = time.perf_counter()
        memory.take(turn)
        times.append((time.perf_counter() - start) * 1000)
    memory.close()
    times = sorted(times[1:])
    return {"p50": statistics.median(times), "p99": times[int(len(times) * 0.99)], "max": times[-1]}


def started(command: list[str], bytecode: Path, stdin: str = "", runs: int = 5) -> float:
    """Median seconds of a whole process whose modules are compiled, as they are once a package is installed."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(bytecode)
    times = []
    for _ in range(1 + runs):  # the first one compiles
        start = time.perf_counter()
        subprocess.run(command, input=stdin.encode(), env=environment, capture_output=True, check=True)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def peak(total: int) -> float:
    """Peak resident megabytes of a process of its own that observes ``total`` turns without NER."""
    code = (
        "import sys, tempfile, pathlib; sys.path.insert(0, sys.argv[1]); import run\n"
        "with tempfile.TemporaryDirectory() as d: run.throughput(int(sys.argv[2]), pathlib.Path(d))\n"
        "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    command = [sys.executable, "-c", code, str(Path(__file__).parent), str(total)]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    return int(done.stdout.split()[-1]) / 1024


def plot(stages: dict[str, float], path: Path) -> None:
    """Share of each stage as a bar."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 2.2))
    left, whole = 0.0, sum(stages.values())
    for name, seconds in stages.items():
        share = seconds / whole * 100
        axes.barh([0], [share], left=left, label=f"{name} {share:.0f} %")
        left += share
    axes.set(yticks=[], xlim=(0, 100), xlabel="share of a turn's time (%)")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.35), ncols=3, frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def report(total: int, out: Path) -> str:
    """Run everything; docs/performance.md."""
    command = str(Path(sys.executable).parent / "recordari")
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        bulk = throughput(total, work)
        single = one_by_one(min(total, 2000), work)
        plain = json.dumps({"at": "2026-03-18T10:00:00+08:00", "text": "预算8万元", "entity": "c"}) + "\n"
        observe = [command, "observe", "-", "--no-ner", "--store", str(work / "first.db")]
        first = started(observe, work / "bytecode", plain)
        helped = started([command, "--help"], work / "bytecode")
    memory = peak(min(total, 20000))
    plot(bulk["stages"], out / "performance.png")
    whole = sum(bulk["stages"].values())
    rows = [
        (f"turns/s, group commit of {GROUP}, synchronous=FULL", f"{bulk['turns_per_s']:.0f}", "≥ 500"),
        ("one by one, p50 / p99 (ms)", f"{single['p50']:.2f} / {single['p99']:.2f}", "p99 ≤ 10"),
        ("peak memory without NER (MB)", f"{memory:.0f}", "≤ 300"),
        ("`recordari --help` (s)", f"{helped:.2f}", "≤ 0.3"),
        ("first `observe` of a process (s)", f"{first:.2f}", "≤ 1.5"),
    ]
    lines = ["# Performance", "", f"Made by `make bench` over {total:,} turns, one process.", ""]
    lines += ["| what | measured | aim |", "|---|---|---|", *(f"| {a} | {b} | {c} |" for a, b, c in rows), ""]
    lines += ["| stage | seconds | share |", "|---|---|---|"]
    lines += [f"| {k} | {v:.2f} | {v / whole:.0%} |" for k, v in bulk["stages"].items()]
    lines += ["", "![share of each stage](performance.png)", ""]
    lines += ["## Recall", "", "With up to a million items: [recall.md](recall.md#measured).", ""]
    return "\n".join(lines)


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--turns", type=int, default=20_000)
    parser.add_argument("--out", type=Path, default=ROOT / "docs")
    args = parser.parse_args()
    text = report(args.turns, args.out)
    (args.out / "performance.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
