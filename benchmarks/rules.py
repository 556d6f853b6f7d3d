"""What many rules cost: lint and loading of 1,000 rules, and throughput with 1,000 capture rules against 100.

    python benchmarks/rules.py [--turns 1500] [--rules 1000]

Rules are generated: every second one binds a value beside words of its own, the others take what stands in a sentence
frame of their own; Chinese and English by turns, each for one of twenty slots. The two speeds are measured by turns in
one process, so that a loaded machine slows both; what counts is their ratio.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

HEAD = """version: 1
status: active
title: {{en: Generated {n}, zh: 生成的第{n}条}}
owner: benchmark
rationale: Measures what one more rule costs.
"""
SLOTS = 20
SLOT = """id: slot.made_{n}
kind: slot
slot: made_{n}
value: [{kind}]
words: [made {n}]
say: {{en: "{{entity}}: {{qualifier}} is {{value}}.", zh: "{{entity}}的{{qualifier}}为{{value}}。"}}
asked_as: {{en: [what is it], zh: [是什么]}}
tests:
  - {{say: "The {en} is $9,000.", remembers: {{value: 9000 USD}}}}
  - {{say: "{zh}是8万元。", remembers: {{value: 80000 CNY}}}}
  - {{say: "Is the {en} $9,000?", remembers: none}}
  - {{say: "{zh}不是8万元。", remembers: none}}
"""
BOUND = """id: capture.made_{n}
kind: capture
slot: made_{slot}
language: any
priority: {priority}
trigger: {{words: [{zh}, {en}], place: around}}
when:
  - value: {{kind: [money]}}
  - no_words: [about, roughly]
tests:
  - {{say: "The {en} is $9,000.", remembers: {{value: 9000 USD}}}}
  - {{say: "{zh}是8万元。", remembers: {{value: 80000 CNY}}}}
  - {{say: "Is the {en} $9,000?", remembers: none}}
  - {{say: "{zh}不是8万元。", remembers: none}}
"""
FRAMED = """id: capture.made_{n}
kind: capture
slot: made_{slot}
language: {language}
priority: {priority}
phrases: ["{phrase}"]
take: {{until: [但是, but], qualifier: "fixed:{n}"}}
tests:
  - {{say: "{said}", remembers: {{value: {value}}}}}
  - {{say: "{said_too}", remembers: {{value: {value}}}}}
  - {{say: "Nothing of the kind.", remembers: none}}
  - {{say: "没有这回事，{said}？", remembers: none}}
"""
ZH = "云山河川林海石松竹梅兰菊桃杏枫柏桐槐榆柳"
EN = (
    "alder birch cedar dogwood elm fir gum hazel ivy juniper kapok larch maple nutmeg oak pine quince rowan spruce teak"
)


class Seconds(NamedTuple):
    """By the clock, and of processor time: others may share the machine."""

    wall: float
    busy: float


def words(n: int) -> tuple[str, str]:
    """A Chinese and an English name that only rule ``n`` knows."""
    first, second, third = n % 20, n // 20 % 20, n // 400 % 20
    trees = EN.split()
    return f"{ZH[first]}{ZH[second]}{ZH[third]}项", f"{trees[first]} {trees[second]} {trees[third]} item"


def write_rules(folder: Path, captures: int) -> None:
    """A folder with so many capture rules and the slots that they fill."""
    folder.mkdir()
    for n in range(SLOTS):
        zh, en = words(10_000 + n)
        text = SLOT.format(n=n, kind="text" if n % 2 else "money", zh=zh, en=en) + HEAD.format(n=n)
        (folder / f"slot.made_{n}.yaml").write_text(text, encoding="utf-8")
    for n in range(captures):
        zh, en = words(n)
        slot, priority = n % SLOTS, 45 + n % 31
        if n % 2 == 0:
            text = BOUND.format(n=n, slot=slot, priority=priority, zh=zh, en=en)
        elif n % 4 == 1:
            said = {"said": f"{zh}归苏叶保管", "said_too": f"现在{zh}归苏叶保管", "value": "苏叶"}
            text = FRAMED.format(
                n=n, slot=slot, priority=priority, language="zh", phrase=f"{zh}归{{value}}保管", **said
            )
        else:
            said = {"said": f"The {en} is kept by Ada Rowe", "said_too": f"Now the {en} is kept by Ada Rowe"}
            phrase = f"the {en} is (kept|held) by {{value}}"
            text = FRAMED.format(
                n=n, slot=slot, priority=priority, language="en", phrase=phrase, value="Ada Rowe", **said
            )
        (folder / f"capture.made_{n}.yaml").write_text(text + HEAD.format(n=n), encoding="utf-8")


def fresh(code: str, folder: Path, cache: Path) -> Seconds:
    """How long a statement takes in a process of its own, imports apart."""
    setup = (
        "import sys, time; from pathlib import Path; from recordari.rules.load import load; "
        "from recordari.rules.lint import lint_folders; folder = Path(sys.argv[1]); "
        "start, busy = time.perf_counter(), time.process_time(); "
    )
    environment = os.environ | {"RECORDARI_CACHE": str(cache)}
    command = [
        sys.executable,
        "-c",
        f"{setup}{code}; print(time.perf_counter() - start, time.process_time() - busy)",
        str(folder),
    ]
    out = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
    return Seconds(*map(float, out.split()))


def seconds_of(work: Path, rules: int) -> dict[str, Seconds]:
    """Lint and loading of a folder with so many rules, with an empty cache and with a full one."""
    folder = work / "lint"
    write_rules(folder, rules - SLOTS)
    cache = work / "cache"
    found = {"lint, nothing cached": fresh("lint_folders([folder], packs=False)", folder, cache)}
    found["lint, one file changed"] = _after_a_change(folder, cache)
    fresh("load([folder], packs=False)", folder, cache)
    found["load from the cache"] = min(fresh("load([folder], packs=False)", folder, cache) for _ in range(3))
    return found


def _after_a_change(folder: Path, cache: Path) -> Seconds:
    path = folder / "capture.made_0.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("version: 1", "version: 2"), encoding="utf-8")
    return fresh("lint_folders([folder], packs=False)", folder, cache)


def throughputs(work: Path, turns: int, few: int, many: int) -> dict[int, float]:
    """Turns a second with ``few`` and with ``many`` active capture rules, those of the packs included."""
    from run import turns as rows_of

    from recordari.intake import read_turn
    from recordari.memory import Memory
    from recordari.rules.load import load

    rows = [read_turn(row, 10**6) for row in rows_of(turns)]
    shipped = len(load().captures)
    memories: dict[int, Memory] = {}
    for size in (few, many):
        folder = work / f"rules-{size}"
        write_rules(folder, max(0, size - shipped))
        memories[size] = Memory.open("sqlite://", ruleset=load([folder]), ner=False)
        memories[size].observe_group(list(enumerate(rows[:64])))  # compiles
    gc.collect()
    gc.freeze()
    spent: dict[int, list[float]] = {size: [] for size in memories}
    step = 50
    for at in range(64, len(rows), step):
        group = list(enumerate(rows[at : at + step]))
        for size, memory in memories.items():
            spent[size].append(_timed(lambda memory=memory, group=group: memory.observe_group(group)) / len(group))
    for memory in memories.values():
        memory.close()
    return {size: 1 / statistics.median(each) for size, each in spent.items()}


def _timed(work: Callable[[], object]) -> float:
    start = time.process_time()  # of this process: others may share the machine
    work()
    return time.process_time() - start


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=1500, help="turns a rule set decides")
    parser.add_argument("--rules", type=int, default=1000, help="rules to lint and load")
    given = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).parent))
    with tempfile.TemporaryDirectory() as folder:
        for what, seconds in seconds_of(Path(folder), given.rules).items():
            print(f"{what}: {given.rules} rules in {seconds.wall:.2f} s, {seconds.busy:.2f} s of processor time")
        speeds = throughputs(Path(folder), given.turns, 100, given.rules)
        for size, speed in speeds.items():
            print(f"{size} capture rules: {speed:.0f} turns/s of processor time")
        print(f"ratio: {speeds[given.rules] / speeds[100]:.2f}")


if __name__ == "__main__":
    main()
