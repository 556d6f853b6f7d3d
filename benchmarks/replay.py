"""Replay on another machine: `python benchmarks/replay.py [turns] [python …]` (10,000 turns, this interpreter).

Writes turns in Chinese and English with corrections, edits of people, suggestions, erasures and restrictions. Then, for
each interpreter named, a new environment is built from the project's lock by pip, with this package from a clone under
another name, and the store is replayed there from a copy: in another folder, locale, time zone and hash seed, on the
engine that installs there. Compared are the contents of the decisions, byte by byte, by their digest. Prints a JSON
object a machine; exit status 1 when one of them differs. `--here` leaves the building out and starts this interpreter.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TURNS = 10_000
TALK = 24  # turns of a client
ERASED = 40  # every so many clients one is erased, and another loses an item
ELSEWHERE = {"LC_ALL": "C", "LANG": "C", "TZ": "Pacific/Kiritimati", "PYTHONHASHSEED": "4711", "PYTHONUTF8": "1"}
SAID = (
    ("user", "营销预算是{a}万元，签约日期是{m}月{d}日。"),
    ("user", "不对，营销预算不是{a}万，是{b}万"),
    ("user", "我的手机是1371234{n:04d}，邮箱是 box{n}@example.com"),
    ("user", "The retainer is USD {b},250, payable within {d} days of the signing date."),
    ("user", "Sorry, I meant USD {a},500."),
    ("assistant", "Shall I set the legal budget to ${b}0,000?"),
    ("user", "yes"),
    ("user", "再加两万"),
    ("user", "谢谢，今天天气真好"),
    ("user", "The hearing is on {d} May 2026 at 3pm."),
    ("user", "Push it back a week."),
    ("user", "办公预算是{a}万元"),
    ("user", "还是{b}万吧"),
    ("user", "如果能到{a}万就好了，会不会太多？"),
    ("user", "My phone number is +1 212 555 0{n:03d}, the old one is gone."),
    ("user", "地址是杭州市西湖区文三路{n}号"),
    ("user", "改到三楼"),
)


def rows(total: int, seed: int = 6) -> Iterator[dict[str, Any]]:
    """Turns of clients who talk in both languages, several at a time."""
    chance = random.Random(seed)
    talks = [0] * (total // TALK + 1)
    for number in range(total):
        client = min(len(talks) - 1, number // (4 * TALK) * 4 + chance.randrange(4))
        speaker, text = SAID[chance.randrange(len(SAID))]
        a, b, n = chance.randrange(1, 90), chance.randrange(1, 90), client % 1000
        talks[client] += 1
        yield {
            "text": text.format(a=a, b=b, d=chance.randrange(1, 28), m=chance.randrange(1, 12), n=n),
            "said_at": f"2026-03-{1 + number // 1440 % 28:02d}T{number // 60 % 24:02d}:{number % 60:02d}:00+08:00",
            "speaker": speaker, "entity": f"client-{client}", "conversation": f"c-{client}", "turn_id": f"t-{number}",
        }  # fmt: skip


def write(place: Path, total: int) -> dict[str, int]:
    """Write the turns, and between them what people do."""
    from recordari.editing import EditError
    from recordari.intake import read_turn
    from recordari.memory import Memory

    chance = random.Random(7)
    counts = {"turns": 0, "edits": 0, "erasures": 0, "restrictions": 0}
    with Memory.open(place, ner=False) as memory:
        group: list[tuple[int, Any]] = []
        for number, row in enumerate(rows(total)):
            fields = {name: value for name, value in row.items() if name != "said_at"}
            group.append((number, read_turn({**fields, "at": row["said_at"]}, 10_000)))
            if len(group) < 96 and number + 1 < total:
                continue
            counts["turns"] += len(memory.observe_group(group))
            group, client = [], row["entity"]
            items = [item for item in memory.items(entity=client) if item.status == "current"]
            for item in items[:2]:
                at = "2026-04-01T10:00:00+08:00"
                try:
                    acts = (memory.confirm, memory.reject)
                    chance.choice(acts)(item.id, actor="ines", seen_version=item.version, at=_moment(at))
                    counts["edits"] += 1
                except EditError:
                    continue
            if chance.randrange(100) < 100 * 4 * TALK * 10 // (ERASED * 96) and len(items) > 2:
                counts["erasures"] += 1
                memory.erase(items[2].id, ground="gdpr-17-1-b", actor="ines")
            if chance.randrange(8) == 0:
                counts["erasures"] += 1
                memory.erase(conversation=f"c-{chance.randrange(number // TALK + 1)}", ground="gdpr-17", actor="ines")
            if chance.randrange(12) == 0 and len(items) > 3:
                counts["restrictions"] += 1
                memory.restrict("item", items[3].id, ground="gdpr-18-1-a", actor="ines")
    return counts


def _moment(text: str) -> Any:
    from datetime import datetime

    return datetime.fromisoformat(text)


def replay(place: Path) -> dict[str, Any]:
    """Replay a store here; what came of it."""
    import platform
    import time as clock
    from collections import Counter

    import recordari
    from recordari.memory import Memory

    began = clock.monotonic()
    with Memory.open(place, ner=False, read_only=True, create=False) as memory:
        policy, extraction = memory.replay()
        engine, runtime = memory.engine.name, memory.runtime
    return {
        "python": platform.python_version(), "engine": engine, "runtime": runtime[:12],
        "package in": Path(recordari.__file__).parent.name, "TZ": os.environ.get("TZ", ""),
        "locale": os.environ.get("LC_ALL", ""), "hash seed": os.environ.get("PYTHONHASHSEED", ""),
        "policy": [policy.compared, policy.identical], "extraction": [extraction.compared, extraction.identical],
        "digest": extraction.digest, "skipped": len(extraction.skipped),
        "standings": dict(Counter(each.standing for each in extraction.differences)),
        "first": [str(each) for each in extraction.differences[:5]], "seconds": round(clock.monotonic() - began),
    }  # fmt: skip


def elsewhere(python: str, store: Path, folder: Path, *, build: bool) -> dict[str, Any]:
    """The same in a new environment."""
    folder.mkdir()
    program, clone = python, ROOT
    if build:
        clone = folder / "another name"
        run = ["git", "clone", "--quiet", str(ROOT), str(clone)]
        subprocess.run(run, check=True)
        subprocess.run([python, "-m", "venv", str(folder / "env")], check=True)
        program = str(folder / "env" / "bin" / "python")
        pip = [program, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--require-hashes", "-r", str(clone / "requirements.lock")], check=True)
        subprocess.run([*pip, "--no-deps", str(clone)], check=True)
    copy = folder / "copied.db"
    shutil.copyfile(store, copy)
    kept = {name: value for name, value in os.environ.items() if not build or name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    script = str(clone / "benchmarks" / "replay.py")
    done = subprocess.run(
        [program, script, "replay", str(copy)], cwd=folder, env={**kept, **ELSEWHERE}, check=True, capture_output=True,
        text=True, encoding="utf-8",
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> int:
    """See the first lines."""
    if sys.argv[1:2] == ["replay"]:
        print(json.dumps(replay(Path(sys.argv[2])), ensure_ascii=False))
        return 0
    build = "--here" not in sys.argv
    given = [each for each in sys.argv[1:] if each != "--here"]
    total = int(given[0]) if given else TURNS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = folder / "written.db"
        began = time.monotonic()
        print(json.dumps({**write(store, total), "seconds": round(time.monotonic() - began)}), flush=True)
        here = replay(store)
        print(json.dumps({"here": here}, ensure_ascii=False, indent=1), flush=True)
        ok = "differs" not in here["standings"]
        for number, python in enumerate(given[1:] or [sys.executable]):
            there = elsewhere(python, store, folder / f"machine-{number}", build=build)
            same = there["digest"] == here["digest"]
            print(
                json.dumps({"there": there, "byte for byte the same": same}, ensure_ascii=False, indent=1), flush=True
            )
            ok = ok and same and there["extraction"] == here["extraction"]
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
