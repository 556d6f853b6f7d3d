"""kill -9 at random points of writing, signing and erasing: `python benchmarks/crash.py [kills] [store] [seed]`.

A writer observes turns, signs checkpoints and erases conversations, telling each thing that it has done; it is killed
at a random moment, 500 times by default. After every kill the store is opened as the next process would open it: what
was acknowledged must be there, what was said to be erased must be gone to the last byte of an SQLite file, what was
said to be signed must be signed, and `verify` must pass. ``store`` is a file or a `postgresql+psycopg://` address; by
default an SQLite file in a temporary folder. Prints one JSON object; exit status 1 when anything is amiss.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from recordari.memory import Memory
from recordari.rules.load import load
from recordari.rules.ruleset import Ruleset
from recordari.settings import Settings

KILLS = 500
FRESH = 50  # kills after which another namespace begins, so that a verification stays short
LONGEST = 1.2  # seconds that a writer lives at most
IN_A_CONVERSATION = 6  # turns; every other conversation is erased at its end
MOST = 20  # conversations of one writer: 500 writers have names and numbers of their own
TURNS = (
    "预算{n}万元",
    "手机号是1371234{n:04d}",
    "不对，预算是{n}5万元",
    "The retainer is USD {n},250.",
    "My email is box{n:04d}@example.com, no longer the old one.",
    "谢谢",
)


# ---------------------------------------------------------------- the writer that is killed
def write(place: str, namespace: str, round_: int, ruleset: Ruleset, settings: Settings) -> None:
    """Observe, sign and erase until killed; every act is told before it begins and when it is done."""

    def tell(*words: object) -> None:
        os.write(1, (" ".join(map(str, words)) + "\n").encode())

    memory = Memory.open(place, namespace=namespace, ruleset=ruleset, ner=False, settings=settings)
    for number in range(MOST * IN_A_CONVERSATION):
        own = (round_ * MOST + number // IN_A_CONVERSATION) % 10_000
        talk, turn = f"c{own}", f"t{round_}-{number}"
        text = TURNS[number % IN_A_CONVERSATION].format(n=own)
        at = f"2026-03-18T10:{number // 60 % 60:02d}:{number % 60:02d}+08:00"
        tell("does", "observe")
        memory.observe(text, entity=f"client-{own:04d}", said_at=at, conversation=talk, turn_id=turn)
        tell("observed", turn)
        if number % 7 == 3:
            tell("does", "sign")
            tell("signed", memory.checkpoint().split("\n")[1])
        if number % (2 * IN_A_CONVERSATION) == 2 * IN_A_CONVERSATION - 1:
            tell("does", "erase")
            memory.erase(conversation=talk, ground="gdpr-17-1-b", actor="ines")
            tell("erased", talk)
    time.sleep(LONGEST)  # the names of the next writer begin here


def serve(place: str) -> None:
    """Fork a writer for each line "NAMESPACE ROUND" of standard input: rules are loaded once for all of them."""
    ruleset = load()
    with Memory.rehearsal(ruleset=ruleset, ner=False) as warm:  # what is compiled lazily is compiled here
        for text in TURNS:
            warm.observe(text.format(n=1), said_at="2026-03-18T10:00:00+08:00")
    settings = Settings()
    gc.freeze()
    os.write(1, b"ready\n")
    for line in sys.stdin:
        namespace, round_ = line.split()
        pid = os.fork()
        if pid == 0:
            try:
                write(place, namespace, int(round_), ruleset, settings)
            finally:
                os._exit(1)  # whatever happened, never a second reader of standard input
        os.write(1, f"pid {pid}\n".encode())
        os.waitpid(pid, 0)
        os.write(1, b"gone\n")


# ---------------------------------------------------------------- what must hold after a kill
@dataclass(slots=True)
class Told:
    """What the writers of one namespace acknowledged."""

    observed: set[str] = field(default_factory=set)
    erased: set[str] = field(default_factory=set)
    signed: int = 0
    flying: str = "opening"  # what the last one was at when it was killed

    def take(self, line: str) -> None:
        """One line of a writer."""
        word, what = line.split()
        self.flying = what if word == "does" else "between"
        if word == "observed":
            self.observed.add(what)
        elif word == "erased":
            self.erased.add(what)
        elif word == "signed":
            self.signed = int(what)


def amiss(memory: Memory, told: Told, bytes_of: Callable[[], bytes]) -> tuple[list[str], int]:
    """What does not hold in a store whose writer was killed, and how long its log is."""
    faults: list[str] = []
    if lost := told.observed - set(memory.turn_ids()):
        faults.append(f"acknowledged and lost: {sorted(lost)}")
    data = bytes_of()
    with memory.store.reading(memory.namespace) as tx:
        notes = [int(note.split("\n")[1]) for note in tx.log.checkpoints(memory.namespace)]
        for talk in sorted(told.erased):
            own = int(talk[1:])
            left = [word for word in (f"1371234{own:04d}", f"box{own:04d}@") if word.encode() in data]
            if left or any(turn.text for turn in tx.turns(conversation=talk)):
                faults.append(f"erased and still there: {talk} {left}")
    if told.signed > max(notes, default=0):
        faults.append(f"said to be signed up to {told.signed}, signed up to {max(notes, default=0)}")
    report = memory.verify()
    if not report.ok:
        faults += report.lines()
    return faults, report.size


def storm(place: str, kills: int, seed: int) -> dict[str, object]:
    """Kill ``kills`` writers; what was seen."""
    chance, ruleset, folder = random.Random(seed), load(), Path(place).parent

    def bytes_of() -> bytes:
        return b"" if "://" in place else b"".join(each.read_bytes() for each in sorted(folder.iterdir()))

    command = [sys.executable, __file__, "serve", place]
    writer = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
    assert writer.stdin is not None
    assert writer.stdout is not None
    killed: Counter[str] = Counter()
    faults: list[str] = []
    told, observed, erased, records = Told(), 0, 0, 0
    began = time.monotonic()
    try:
        assert writer.stdout.readline() == "ready\n"
        for round_ in range(kills):
            namespace = f"storm-{seed}-{round_ // FRESH}"
            if round_ % FRESH == 0:
                told = Told()
            told.flying = "opening"
            writer.stdin.write(f"{namespace} {round_}\n")
            pid = int(writer.stdout.readline().split()[1])
            time.sleep(chance.random() * LONGEST)
            os.kill(pid, signal.SIGKILL)
            before = len(told.observed), len(told.erased)
            while (line := writer.stdout.readline()) != "gone\n":
                told.take(line)
            killed[told.flying] += 1
            observed += len(told.observed) - before[0]
            erased += len(told.erased) - before[1]
            with Memory.open(place, namespace=namespace, ruleset=ruleset, ner=False) as memory:
                found, size = amiss(memory, told, bytes_of)
            faults += [f"kill {round_}: {each}" for each in found]
            if (round_ + 1) % FRESH == 0 or round_ + 1 == kills:
                records += size
    finally:
        with contextlib.suppress(BrokenPipeError):
            writer.stdin.close()
        writer.kill()
        writer.wait()
        writer.stdout.close()
    return {
        "kills": kills, "killed while": dict(sorted(killed.items())), "turns acknowledged": observed,
        "conversations erased": erased, "records": records, "seconds": round(time.monotonic() - began),
        "amiss": faults,
    }  # fmt: skip


def main() -> None:
    """See the first lines."""
    if sys.argv[1:2] == ["serve"]:
        serve(sys.argv[2])
        return
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else KILLS
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 17
    with tempfile.TemporaryDirectory() as folder:
        place = sys.argv[2] if len(sys.argv) > 2 else str(Path(folder) / "crash.db")
        seen = storm(place, kills, seed)
    print(json.dumps(seen, ensure_ascii=False, indent=1))
    sys.exit(bool(seen["amiss"]))


if __name__ == "__main__":
    main()
