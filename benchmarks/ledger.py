"""How fast a long ledger is written, verified and proved from: `python benchmarks/ledger.py [records]` (a million).

The records are shaped like those of the pipeline (half of them refusals, four personal values under each that is kept)
and are appended without it, a thousand a transaction; the last part observes dialogues, for the ledger's share. Each
part runs in a process of its own, so that its peak of memory is its own. Figures are of the machine and its load.
"""

from __future__ import annotations

import gc
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

from recordari.audit.checkpoint import SigningKey
from recordari.audit.ledger import Ledger
from recordari.audit.merkle import verify_inclusion
from recordari.audit.record import Entry
from recordari.audit.verify import verify
from recordari.store.engine import Store

NAMESPACE = "long"
KEY = SigningKey.from_seed(b"benchmark" + b"\x00" * 23)
BATCH = 1000
START = datetime(2026, 1, 5, 9, tzinfo=UTC)
FEATURES = {
    "act": "state", "approval": "no", "attribution": "own", "authority": "none", "binding": "named",
    "confidence": "high", "form": "full", "gate": "none", "hedge": "ignore", "identity": "none", "kind": "money",
    "modality": "asserted", "polarity": "affirmed", "relation": "none", "slot": "budget", "source": "user",
    "time": "current", "unusual": "no", "value": "ok", "wording": "other",
}  # fmt: skip


def entry(number: int) -> Entry:
    """A record like one of the pipeline's."""
    content = {
        "action": "IGNORE", "cues": [], "derived_from": [], "end": 9, "engine": "reference", "evidence": [],
        "features": {}, "flags": [], "ordinal": 0, "polarity": "affirmed", "reason": "no_candidate",
        "rested_on": [], "rule": "gate.core@1", "ruleset": "8696b2aa7a8edb0e" * 4, "runtime": "0f30a14b270be044" * 4,
        "start": 0, "turn": number, "turn_id": f"talk-{number // 40}/{number % 40}",
    }  # fmt: skip
    said = {"said": f"{number:064x}"}
    if number % 2:
        return Entry("ignore", content, said)
    item = f"{number:032x}"
    content |= {
        "action": "ADD", "capture": "capture.budget@3", "evidence": [[3, 5], [6, 9]], "features": FEATURES,
        "item": item, "kind": "money", "reason": "stated", "rule": "policy.core.stated@5", "slot": "budget",
        "written": [f"{item}/1"],
    }  # fmt: skip
    amount = f"{80000 + number} CNY"
    version = {
        "asserted_by": "user", "entity": f"client-{number % 997}", "id": item, "kind": "money", "slot": "budget",
        "sentence": f"The budget is {amount}.", "status": "current", "turn_id": content["turn_id"], "version": 1,
        "value": {"amount": str(80000 + number), "approx": False, "bound": "=", "currency": "CNY"},
    }  # fmt: skip
    private = {"canonical": amount, "entity": f"client-{number % 997}", "written": [version]}
    return Entry("add", content, said | private)


def build(path: Path, size: int) -> dict[str, float]:
    """Append the records, with a checkpoint every 256 of the last thousand and one every hundred thousand before."""
    ledger = Ledger()
    began = time.perf_counter()
    with Store.open(path, synchronous="NORMAL") as store:
        for first in range(0, size, BATCH):
            stop = min(first + BATCH, size)
            with store.writing(NAMESPACE) as tx:
                at = START + timedelta(seconds=first)
                ledger.append(tx.log, NAMESPACE, map(entry, range(first, stop)), recorded_at=at)
                if stop % 100_000 == 0 or stop == size:
                    count, root = ledger.root(tx.log, NAMESPACE)
                    tx.log.add_checkpoint(NAMESPACE, count, KEY.checkpoint(NAMESPACE, count, root))
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "records_per_second": size / seconds, "bytes_per_record": path.stat().st_size / size}


def check(path: Path, size: int) -> dict[str, float]:
    """Verify the log: numbers, form, hashes, roots, personal values, signatures."""
    with Store.open(path, read_only=True) as store, store.inspecting(NAMESPACE) as tx:
        began = time.perf_counter()
        cpu = time.process_time()
        report = verify(tx.log, NAMESPACE, public_key=KEY.public)
        seconds, used = time.perf_counter() - began, time.process_time() - cpu
    assert report.ok, report.lines()
    assert report.signed == report.size == size
    return {
        "seconds": seconds, "records_per_second": size / seconds, "records_per_cpu_second": size / used,
        "peak_mb": peak_mb(),
    }  # fmt: skip


def prove(path: Path, size: int) -> dict[str, float]:
    """Proofs of records all over the log, each from a fresh tree, as a command would make it."""
    ledger = Ledger()
    times: list[float] = []
    with Store.open(path, read_only=True) as store, store.reading(NAMESPACE) as tx:
        for number in range(101):
            seq = (number * 7919 * 131) % size
            began = time.perf_counter()
            proof = ledger.prove(tx.log, NAMESPACE, seq)
            times.append(time.perf_counter() - began)
            assert verify_inclusion(proof.leaf, seq, size, proof.path, proof.root)
        began = time.perf_counter()
        ledger.prove_growth(tx.log, NAMESPACE, size // 3)
        growth = time.perf_counter() - began
    return {"median_ms": median(times) * 1000, "slowest_ms": max(times) * 1000, "growth_ms": growth * 1000}


def turns(path: Path, size: int) -> dict[str, float]:
    """What the ledger costs of a turn: everything that would not be done without it, while dialogues are observed."""
    from recordari import memory as pipeline
    from recordari.intake import read_turn
    from recordari.memory import Memory
    from recordari.store import log, statements

    sys.path.insert(0, str(Path(__file__).parent))
    from run import turns as dialogues

    spent = 0.0

    def timed(function: Callable[..., Any]) -> Callable[..., Any]:
        def inner(*args: Any, **kwargs: Any) -> Any:
            nonlocal spent
            began = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                spent += time.perf_counter() - began

        return inner

    rows = [read_turn(row, 10**6) for row in dialogues(min(size, 4000))]
    with Memory.open(path.with_name("turns.db"), ner=False) as memory:
        memory.observe_group([(0, rows[0])])
        assert memory.signer is not None
        memory._ledger.append = timed(memory._ledger.append)  # type: ignore[method-assign]
        memory.signer.after_commit = timed(memory.signer.after_commit)  # type: ignore[method-assign]
        for name in ("decision_entry", "turn_digest"):
            setattr(pipeline, name, timed(getattr(pipeline, name)))
        run = statements.Insert.run
        of_log = {log._ADD_RECORD, log._ADD_PRIVATE, log._ADD_SUBTREE, log._ADD_ACT}
        sent = timed(run)
        statements.Insert.run = lambda self, *args: (sent if self in of_log else run)(self, *args)  # type: ignore
        began = time.perf_counter()
        for first in range(1, len(rows), 256):
            memory.observe_group(enumerate(rows[first : first + 256]))
        whole = time.perf_counter() - began
    return {"turns_per_second": len(rows) / whole, "ledger_percent_of_turn": 100 * spent / whole}


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


PARTS = {"build": build, "verify": check, "prove": prove, "turns": turns}


def main() -> None:
    gc.set_threshold(50_000, 20, 20)  # as the command line does
    if len(sys.argv) == 4:
        part, path, size = sys.argv[1:]
        print(json.dumps(PARTS[part](Path(path), int(size))))
        return
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        for part in PARTS:
            command = [sys.executable, __file__, part, str(Path(folder) / "long.db"), str(size)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            figures = json.loads(done.stdout)
            print(f"{part}: " + ", ".join(f"{name} {value:,.2f}" for name, value in figures.items()), flush=True)


if __name__ == "__main__":
    main()
