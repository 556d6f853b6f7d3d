"""A rollout from end to end, and what it costs: `python benchmarks/rollout.py [turns] [reloads]` (5,120 and 200).

The drill works through the command line: one writer process (`recordari observe`), never started anew, takes all turns
while others publish, shadow, take a canary to 10 and 50 per cent, to all, and roll back. Then every decision is held
against what was in force at its place in the log. Figures are of the machine and its load.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from recordari.erasure.erasing import House
from recordari.memory import Memory
from recordari.releases import releasing
from recordari.rules.load import build, digest_of, following, load
from recordari.rules.promotion import Gates
from recordari.rules.release import InForce, in_force_at
from recordari.rules.ruleset import Ruleset
from recordari.service.batch import GROUP
from recordari.store.engine import Store

RECORDARI = str(Path(sys.executable).with_name("recordari"))
CLIENTS = 200
GATES = "canary: {decisions: 100, disagreement: 5000, second_actor: true}\nstable: {second_actor: true}\n"
RULE = """id: capture.wager
version: 1
kind: capture
status: active
title: {{en: Wager, zh: 赌注}}
owner: benchmark
rationale: A word that no shipped rule knows.
slot: budget
language: any
priority: 70
trigger: {{words: [{word}], place: around}}
when:
  - value: {{kind: [money, number]}}
"""
SAID = (
    "Our legal budget is ${n}00.", "Good morning, how are you?", "营销预算提高到{n}万元。",
    "The hearing is on May {d}.", "那就这样吧，谢谢。", "Please call me at +1 202 555 01{d:02d}.",
    "The wager is ${n}.", "What is the weather like?", "我们下周{w}再聊。", "The retainer is ${n},000 a month.",
)  # fmt: skip


def turns(count: int) -> Iterator[dict[str, Any]]:
    """Turns of many clients, one in ten with the word of the new rule."""
    for number in range(count):
        client = f"client-{number * 7 % CLIENTS}"
        text = SAID[(number // CLIENTS + number) % len(SAID)].format(
            n=number % 90 + 10, d=number % 28 + 1, w="一二三四五"[number % 5]
        )
        yield {
            "at": f"2026-03-{number // 1440 % 28 + 1:02d}T{number // 60 % 24:02d}:{number % 60:02d}:00+08:00",
            "speaker": "user", "text": text, "entity": client, "conversation": client, "turn_id": f"t-{number}",
        }  # fmt: skip


@dataclass
class Drilled:
    """What a drill came to."""

    turns: int = 0
    decisions: int = 0
    unexplained: int = 0
    by: Counter[str] = field(default_factory=Counter)  # stage and set → decisions
    batches: dict[str, list[float]] = field(default_factory=dict)  # stage → seconds of each batch
    phantoms: int = 0
    review: int = 0
    flipped: int = 0


def drill(place: Path, count: int) -> Drilled:
    """The rollout over ``count`` turns (whole groups of `observe`), in a folder of its own."""
    rules = place / "rules"
    rules.mkdir()
    (rules / "wager.yaml").write_text(RULE.format(word="wager"), encoding="utf-8")
    (place / "gates.yaml").write_text(GATES, encoding="utf-8")
    store = str(place / "m.db")

    def step(*arguments: str, actor: str = "ines") -> dict[str, Any]:
        given = (*arguments, "--store", store, "--json", "--actor", actor, "--why", "drill")
        done = subprocess.run([RECORDARI, "rules", *given], capture_output=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(given)}: {done.stderr.decode()}")
        return dict(json.loads(done.stdout))

    gates = ("--gates", str(place / "gates.yaml"))
    first: dict[str, Any] = {}
    stages: list[tuple[str, Callable[[], Any]]] = [
        ("before", lambda: None),
        ("published", lambda: first.update(step("publish", str(rules), "--skip-tests"))),
        ("shadow", lambda: step("promote", "--to", "shadow", *gates)),
        ("canary 10 %", lambda: step("promote", "--to", "canary", "--percent", "10", *gates, actor="otto")),
        ("canary 50 %", lambda: step("promote", "--to", "canary", "--percent", "50", *gates, actor="otto")),
        ("stable", lambda: step("promote", "--to", "stable", *gates, actor="otto")),
        ("rolled back", lambda: step("rollback", first["stable"][:12])),
    ]
    found = Drilled(turns=count)
    batches = count // GROUP
    lines = turns(count)
    command = [RECORDARI, "observe", "-", "--store", store, "--no-ner"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdin is not None
        assert writer.stdout is not None
        for number, (stage, act) in enumerate(stages):
            act()
            mine = batches * (number + 1) // len(stages) - batches * number // len(stages)
            for _ in range(mine):
                began = time.perf_counter()
                for _ in range(GROUP):
                    writer.stdin.write(json.dumps(next(lines)).encode() + b"\n")
                writer.stdin.flush()
                for _ in range(GROUP):
                    if not writer.stdout.readline():
                        raise RuntimeError(f"the writer ended in stage {stage!r}")
                found.batches.setdefault(stage, []).append(time.perf_counter() - began)
        writer.stdin.close()
        if writer.wait():
            raise RuntimeError("the writer ended with an error")
    _account(store, found)
    return found


def _account(store: str, found: Drilled) -> None:
    """Hold every decision against what was in force at its place in the log."""
    last: dict[str, bool] = {}
    with Store.open(store, read_only=True) as opened, opened.reading("default") as tx:
        steps = releasing.steps_of(tx.log)
        salt = next(step.after.salt for step in steps if step.after.salt)
        for turn in tx.turns_as_taken():
            for decision, seq in zip(tx.decisions(turn.turn_id), tx.decision_seqs(turn.turn_id), strict=True):
                state = in_force_at(steps, seq)
                pick = state.pick("default", turn.entity)
                right = pick is None or (
                    (decision.ruleset, decision.bucket, decision.threshold)
                    == (pick.digest, pick.bucket, pick.threshold)
                )
                found.decisions += 1
                found.unexplained += not right
                inside = decision.ruleset == salt
                found.by[f"{_shown(state)}: {'new' if inside else 'old'}"] += 1
                if state.stage == "canary":
                    found.flipped += last.get(turn.entity, False) and not inside
                    last[turn.entity] = inside
        found.phantoms = len(tx.log.acts("phantom"))
        found.review = len(releasing.flagged(tx))


def _shown(state: InForce) -> str:
    return f"{state.stage} {state.threshold // 100} %" if state.stage == "canary" else str(state.stage)


# ---------------------------------------------------------------- what it costs
def _house(memory: Memory) -> House:
    return House(memory.store, memory.namespace, memory.settings, memory.signer)


def _with(ruleset: Ruleset, text: str) -> Ruleset:
    sources = {**ruleset.sources, "capture.wager": text}
    return following(ruleset, sources, digest_of(sources))  # to publish is another process's work


def shadow_cost(count: int = 1_500) -> dict[str, float]:
    """Processor time of a turn with a candidate in the shadow, over that of one without: a rule that differs, and a
    grammar that does (every turn is scanned and decided twice)."""
    shipped = load()
    grammar = shipped.grammars[0].id
    text = shipped.sources[grammar]
    version = shipped.files[grammar].version
    worst = {**shipped.sources, grammar: text.replace(f"version: {version}", f"version: {version + 1}", 1)}
    sets = {
        "one rule": _with(shipped, RULE.format(word="wager")),
        "a grammar": build(worst, digest_of(worst)),
    }
    plain = _cost(shipped, None, count)
    return {name: _cost(shipped, other, count) / plain for name, other in sets.items()}


def _cost(ruleset: Ruleset, candidate: Ruleset | None, count: int) -> float:
    """Median processor seconds of a batch of 100 turns."""
    spent: list[float] = []
    with tempfile.TemporaryDirectory() as place, Memory.open(Path(place) / "m.db", ruleset=ruleset, ner=False) as one:
        given = list(turns(count))
        one.observe(**_as_said(given[0]))
        if candidate is not None:
            deed = releasing.Deed("ines", "measure")
            releasing.publish(_house(one), deed, candidate, {})
            releasing.promote(_house(one), deed, "shadow", Gates())
            one.observe(**_as_said(given[1]))
        began = time.process_time()
        for number, turn in enumerate(given[2:], 1):
            one.observe(**_as_said(turn))
            if number % 100 == 0:
                spent.append(time.process_time() - began)
                began = time.process_time()
    return median(spent)


def _as_said(turn: dict[str, Any]) -> dict[str, Any]:
    return {**{name: value for name, value in turn.items() if name != "at"}, "said_at": turn["at"]}


def reloads(count: int) -> dict[str, float]:
    """``count`` releases through one process: how long turns take around them, and what memory they leave."""
    shipped = load()
    assert shipped.extraction is not None  # what all the sets share is compiled once
    usual: list[float] = []
    first: list[float] = []
    compiling: list[float] = []
    deed = releasing.Deed("ines", "measure")
    with tempfile.TemporaryDirectory() as place, Memory.open(Path(place) / "m.db", ruleset=shipped, ner=False) as one:
        given = turns(10**9)
        for _ in range(200):
            usual.append(_took(one, next(given)))
        gc.collect()
        gc.freeze()  # as `recordari observe` does after its first group
        start = 0.0
        for number in range(count):
            if number == 10:  # what the first few leave for good is not a leak
                gc.collect()
                start = _resident()
            other = _with(shipped, RULE.format(word=f"wager{'abcdefghij'[number % 10]}{number // 10}"))
            releasing.publish(_house(one), deed, other, {})
            compiling.append(_took(one, next(given)))
            while any(thread.is_alive() for thread in one.serving._coming.values()):
                compiling.append(_took(one, next(given)))
            releasing.promote(_house(one), deed, "stable", Gates())
            first.append(_took(one, next(given)))
            usual.append(_took(one, next(given)))
            del other
        gc.collect()
        grown = _resident() - start
    return {
        "usual turn, p50 ms": _ms(usual, 0.5), "usual turn, p99 ms": _ms(usual, 0.99),
        "turn while a set is compiled, p50 ms": _ms(compiling, 0.5),
        "turn while a set is compiled, p99 ms": _ms(compiling, 0.99),
        "first turn of a release, p50 ms": _ms(first, 0.5), "first turn of a release, p99 ms": _ms(first, 0.99),
        "memory grown after 10 reloads, MB": round(grown, 1),
    }  # fmt: skip


def _took(memory: Memory, turn: dict[str, Any]) -> float:
    began = time.perf_counter()
    memory.observe(**_as_said(turn))
    return time.perf_counter() - began


def _ms(seconds: list[float], share: float) -> float:
    ordered = sorted(seconds)
    return round(1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))], 1)


def _resident() -> float:
    """Megabytes of this process in memory now; where the system does not say, the most it ever had."""
    stat = Path("/proc/self/statm")
    if stat.exists():
        return int(stat.read_text().split()[1]) * resource.getpagesize() / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20 * GROUP
    again = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as place:
        found = drill(Path(place), count // GROUP * GROUP)
    print(f"drill: {found.turns} turns, {found.decisions} decisions, {found.unexplained} not explained by the log")
    print(f"    {found.flipped} decisions after their entity had left a rising canary, {found.phantoms} phantoms")
    print(f"    {found.review} items wait for review after the rollback")
    for stage, number in sorted(found.by.items()):
        print(f"    {stage}: {number}")
    for stage, seconds in found.batches.items():
        print(f"    {stage}: {GROUP / median(seconds):.0f} turns/s")
    for name, ratio in shadow_cost().items():
        print(f"shadow, {name} differs: {ratio:.2f} x the processor time of a turn")
    for name, value in reloads(again).items():
        print(f"{again} reloads, {name}: {value}")


if __name__ == "__main__":
    main()
