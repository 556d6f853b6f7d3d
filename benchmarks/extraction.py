"""Measure extraction alone: texts a second, cost by stage and kind, linearity, memory and load of the rule set.

    python benchmarks/extraction.py [TEXTS] [--count 2000] [--out docs]

TEXTS is a folder of JSON lines with `text` (and `lang`, else told from the text); without it the example dialogues are
repeated. All times are processor time of this process, the least of several runs: on a busy machine wall-clock says
little. The section "Extraction" of docs/performance.md is replaced.
"""

from __future__ import annotations

import argparse
import gc
import json
import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import cycle, islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SHORT = 60  # characters of a short text
NOW = datetime(2026, 3, 18, 10, tzinfo=UTC)
HEADING = "## Extraction"
RUNS = 5


def rows_of(folder: Path) -> Iterator[tuple[str, str]]:
    """Language and text of every line of a folder."""
    from recordari.extractors.scan import language_of

    for file in sorted(folder.rglob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line) if line.strip() else {}
            text = row.get("text") if isinstance(row, dict) else None
            if isinstance(text, str) and text.strip():
                yield row.get("lang") or language_of(text), text


def short_texts(rows: Iterable[tuple[str, str]], lang: str, count: int) -> list[str]:
    """``count`` short texts of a language, spread evenly over those there are, repeated when they are fewer."""
    mine = [text for said, text in rows if said == lang and len(text) <= SHORT]
    step = max(1, len(mine) // count)
    return list(islice(cycle(mine[::step]), count)) if mine else []


def least(work: Callable[[], object], runs: int = RUNS) -> float:
    """Seconds of processor time of the quickest of several runs."""
    best = float("inf")
    for _ in range(runs):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def scanning(extraction: Any, texts: list[str]) -> Callable[[], None]:
    """Work: scan each text, nothing of the last one remembered."""
    from recordari.extractors.scan import scan

    def work() -> None:
        for text in texts:
            scan(text, extraction, said_at=NOW, ner=False)

    return work


def without_names(extraction: Any) -> Any:
    """The same rules without the readers of people and organisations."""
    from copy import copy

    from recordari.extractors.entities import Entities

    grammar = copy(extraction.grammar)
    grammar.recognizers = tuple(r for r in grammar.recognizers if not isinstance(r, Entities))
    return replace(extraction, grammar=grammar)


class Costs:
    """Processor time by stage, its inner stages taken off, measured by wrapping functions from outside."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.calls: dict[str, int] = defaultdict(int)
        self._inner = [0.0]
        self._undo: list[Callable[[], None]] = []

    def wrap(self, owner: Any, name: str, stage: str) -> None:
        """Count every call of ``owner.name`` under ``stage``; what it yields is drawn inside."""
        inner = owner[name] if isinstance(owner, dict) else getattr(owner, name)

        def timed(*args: Any, **kwargs: Any) -> Any:
            self._inner.append(0.0)
            start = time.perf_counter()
            found = inner(*args, **kwargs)
            if hasattr(found, "__next__"):
                found = list(found)
            spent = time.perf_counter() - start
            self.seconds[stage] += spent - self._inner.pop()
            self._inner[-1] += spent
            self.calls[stage] += 1
            return found

        if isinstance(owner, dict):
            owner[name] = timed
            self._undo.append(lambda: owner.__setitem__(name, inner))
        else:
            setattr(owner, name, timed)
            self._undo.append(lambda: setattr(owner, name, inner))

    def undo(self) -> None:
        """Put the functions back."""
        for back in reversed(self._undo):
            back()


def costs(extraction: Any, texts: list[str]) -> list[tuple[str, float, float]]:
    """(stage, microseconds a text, calls a text), dearest first."""
    from recordari.extractors import assertion, grammar, scan

    found = Costs()
    found.wrap(scan, "normalize", "normalise")
    for recogniser in extraction.grammar.recognizers:
        found.wrap(type(recogniser), "recognise", f"find: {type(recogniser).__name__.lower()}")
    found.wrap(extraction.grammar.matcher, "find", "find: leaves of the grammar")
    for name in extraction.grammar.sources:
        found.wrap(extraction.grammar.sources, name, f"find: {name}")
    found.wrap(grammar, "parse", "combine parts")
    for kind in sorted(grammar.FINISHERS):
        found.wrap(grammar.FINISHERS, kind, f"finish: {kind}")
    found.wrap(assertion, "find_cues", "cues and their scopes")
    found.wrap(scan, "scan", "choose, build and the rest")
    try:
        for _ in range(2):  # the first round fills what is remembered
            found.seconds.clear()
            found.calls.clear()
            for text in texts:
                scan.scan(text, extraction, said_at=NOW, ner=False)
    finally:
        found.undo()
    per = 1e6 / len(texts)
    rows = [(stage, spent * per, found.calls[stage] / len(texts)) for stage, spent in found.seconds.items()]
    return sorted(rows, key=lambda row: -row[1])


def linearity(extraction: Any, texts: list[str]) -> list[tuple[int, float]]:
    """(characters, microseconds a character) of texts of one thousand to a hundred thousand characters."""
    joined = "\n".join(islice(cycle(texts), 6000))
    found = []
    for size in (1_000, 3_000, 10_000, 30_000, 100_000):
        work = scanning(extraction, [joined[:size]])
        found.append((size, least(work, 3 if size < 50_000 else 2) / size * 1e6))
    return found


_START = """
import resource, sys, time
def now(): return time.process_time()
def megabytes():
    with open("/proc/self/statm") as file: return int(file.read().split()[1]) * resource.getpagesize() / 2**20
begin = now()
import recordari.rules.load, recordari.extractors.scan
imported, before = now(), megabytes()
extraction = recordari.rules.load.load().extraction
loaded = now()
recordari.extractors.scan.scan("预算8万元", extraction, ner=False)
recordari.extractors.scan.scan("The budget is 80,000 dollars.", extraction, ner=False)
print(imported - begin, loaded - imported, now() - loaded, megabytes() - before)
"""


def start_up(runs: int = RUNS) -> tuple[float, float, float, float]:
    """Of fresh processes: seconds to import, to load from the cache, of the first two scans; megabytes of the rules."""
    found = []
    for _ in range(runs):
        done = subprocess.run([sys.executable, "-c", _START], capture_output=True, check=True, text=True)
        found.append(tuple(map(float, done.stdout.split())))
    imported, loaded, first, memory = (min(column) for column in zip(*found, strict=True))
    return imported, loaded, first, memory


def report(folder: Path | None, count: int) -> str:
    """Run everything; the section of docs/performance.md."""
    from recordari.rules.load import load

    extraction = load().extraction
    examples = list(rows_of(ROOT / "examples"))
    rows = list(rows_of(folder)) if folder else examples
    texts = {lang: short_texts(rows, lang, count) for lang in ("zh", "en")}
    nameless = without_names(extraction)
    gc.collect()
    gc.freeze()
    table: list[tuple[str, str, str]] = []
    for lang, some in texts.items():
        for what, rules, aim in (("all kinds but names", nameless, 3000), ("with names by rules", extraction, 1500)):
            seconds = least(scanning(rules, some))
            table.append((f"{lang}, {what} (texts/s)", f"{len(some) / seconds:,.0f}", f"≥ {aim:,}"))
    said = [text for _, text in examples]
    table.append(
        ("example dialogues (ms a turn)", f"{least(scanning(extraction, said)) / len(said) * 1000:.2f}", "≤ 0.5")
    )
    imported, loaded, first, memory = start_up()
    table += [
        ("rule set loaded from the cache (s)", f"{loaded:.2f}", "≤ 0.3"),
        ("first Chinese and first English text (s)", f"{first:.2f}", ""),
        ("importing the extractors and the rules' reader (s)", f"{imported:.2f}", ""),
        ("memory of the loaded rule set, both languages (MB)", f"{memory:.0f}", "≤ 120"),
    ]
    lines = [HEADING, "", f"Made by `benchmarks/extraction.py` over {count:,} short texts a language, one process,"]
    lines += ["processor time, no model.", "", "| what | measured | aim |", "|---|---|---|"]
    lines += [f"| {a} | {b} | {c} |" for a, b, c in table]
    for lang, some in texts.items():
        lines += ["", f"Cost by stage of a {lang} text:", "", "| stage | µs a text | calls a text |", "|---|---|---|"]
        lines += [f"| {stage} | {spent:.1f} | {calls:.2f} |" for stage, spent, calls in costs(extraction, some)]
    ways = {lang: linearity(extraction, some) for lang, some in texts.items()}
    lines += ["", "Cost of long texts (µs a character):", "", "| characters | zh | en |", "|---|---|---|"]
    lines += [f"| {size:,} | {zh:.1f} | {en:.1f} |" for (size, zh), (_, en) in zip(ways["zh"], ways["en"], strict=True)]
    return "\n".join(lines) + "\n"


def placed(page: str, section: str) -> str:
    """The page with its section of this name replaced, or with the section added at its end."""
    found = re.search(rf"^{HEADING}\n.*?(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    if found is None:
        return f"{page.rstrip()}\n\n{section}"
    rest = page[found.end() :]
    return page[: found.start()] + section + (f"\n{rest}" if rest else "")


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("texts", type=Path, nargs="?", help="folder of JSON lines with `text`")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--out", type=Path, default=ROOT / "docs")
    args = parser.parse_args()
    section = report(args.texts, args.count)
    path = args.out / "performance.md"
    page = path.read_text(encoding="utf-8") if path.is_file() else "# Performance\n"
    path.write_text(placed(page, section), encoding="utf-8")
    print(section)


if __name__ == "__main__":
    main()
