"""What `recordari rules backtest` does: spread the dialogues over processes, keep what is done, and tell the result."""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..audit.runtime import runtime_digest
from ..cachefolder import folder
from ..extractors.names.models import installed
from ..rehearsing import Stage, sides
from ..rules.backtest import Backtest, Dialogue
from ..rules.cache import key_of
from ..rules.compare import compare
from ..rules.load import build
from ..rules.ruleset import Ruleset
from ..rules.tally import Tally, read_rehearsed, rehearsed_fields, tally_lines
from ..settings import Settings
from .corpus import Said, corpus_digest, from_file, from_turns
from .options import FOUND, WRONG_USE

CHUNK = 64  # turns given to a process at once: a tenth of a second, so that a bar moves and a stop loses little
Chunk = list[tuple[int, Dialogue[Said]]]
Done = list[tuple[int, dict[str, Any]]]


@dataclass(frozen=True)
class Asked:
    """What is to be back-tested, and how the result is told."""

    before: str
    after: str
    corpus: str | None
    store: str | None
    namespace: str | None
    packs: bool
    ner: bool
    workers: int
    state: Path | None
    fresh: bool
    html: Path | None
    as_json: bool
    examples: int
    language: str


def backtest(asked: Asked) -> int:
    """Print what the second rule set would have decided otherwise; 1 when it breaks what labels call right."""
    from .rulesources import UnknownRules, ruleset_of

    try:
        before, after = (ruleset_of(name, asked.store, packs=asked.packs) for name in (asked.before, asked.after))
    except UnknownRules as error:
        print(error, file=sys.stderr)
        return WRONG_USE
    dialogues, bad = _dialogues(asked)
    tally = Tally(compare(before, after), corpus_digest(dialogues))
    key = key_of(before.digest, after.digest, tally.corpus, runtime_digest(installed() if asked.ner else ()))
    kept = Kept(asked.state or _place(key), key, fresh=asked.fresh, needed=asked.state is not None)
    try:
        run(before, after, dialogues, kept, workers=asked.workers, ner=asked.ner)
    except KeyboardInterrupt:
        print(
            f"stopped: {len(kept.done)} of {len(dialogues)} dialogues are done; run it again to go on", file=sys.stderr
        )
        return FOUND
    for number in range(len(dialogues)):
        tally.add(read_rehearsed(kept.done[number]))
    _tell(tally, asked)
    kept.close()
    return FOUND if bad or tally.total["broken"] else 0


def _dialogues(asked: Asked) -> tuple[list[Dialogue[Said]], int]:
    if asked.corpus is not None:
        dialogues, lines = from_file(asked.corpus, Settings().max_turn_chars)
        return dialogues, lines.bad
    from .opening import reading

    with reading(asked.store, asked.namespace) as memory, memory.store.reading(memory.namespace) as tx:
        turns = tx.turns_as_taken()
    if erased := sum(not turn.text for turn in turns):
        print(f"{erased} turns left out: their text has been erased", file=sys.stderr)
    return from_turns(turns), 0


def _place(key: str) -> Path | None:
    base = folder()
    return None if base is None else base / "backtests" / f"{key[:32]}.jsonl"


def _tell(tally: Tally, asked: Asked) -> None:
    if asked.html is not None:
        from .backtest_page import page

        asked.html.write_text(page(tally, asked.language), encoding="utf-8")
    if asked.as_json:
        print(json.dumps(tally.fields(), ensure_ascii=False))
        return
    for line in tally_lines(tally, asked.examples):
        print(line)
    if asked.html is not None:
        print(f"written: {asked.html}")


# ---------------------------------------------------------------- what is done already
class Kept:
    """The dialogues that are done, one line each in a file that the next run goes on with; removed in the end.

    The first line names the two rule sets, the corpus and the runtime: the results of others are not read. A file that
    nobody asked for (``needed``) is done without where it cannot be written.
    """

    def __init__(self, path: Path | None, key: str, *, fresh: bool, needed: bool = True) -> None:
        self.done: dict[int, dict[str, Any]] = {}
        self._path = path
        self._key = key
        if path is not None and not fresh:
            self._read(path)
        self._stream = None
        if path is not None:
            with nullcontext() if needed else suppress(OSError):
                path.parent.mkdir(parents=True, exist_ok=True)
                self._stream = path.open("w", encoding="utf-8")
            self._line({"key": key})
            for number, fields in self.done.items():
                self._line([number, fields])

    def _read(self, path: Path) -> None:
        with suppress(OSError, ValueError, KeyError, TypeError):  # a torn last line, or no such file
            lines = path.read_text(encoding="utf-8").splitlines()
            if json.loads(lines[0])["key"] != self._key:
                return
            for line in lines[1:]:
                number, fields = json.loads(line)
                read_rehearsed(fields)
                self.done[number] = fields

    def add(self, done: Done) -> None:
        """Keep the results of some dialogues."""
        for number, fields in done:
            self.done[number] = fields
            self._line([number, fields])
        if self._stream is not None:
            self._stream.flush()

    def _line(self, data: Any) -> None:
        if self._stream is not None:
            self._stream.write(json.dumps(data, ensure_ascii=True, separators=(",", ":")) + "\n")

    def close(self) -> None:
        """Everything has been told: the file is not needed any more."""
        if self._stream is not None and self._path is not None:
            self._stream.close()
            self._path.unlink(missing_ok=True)


# ---------------------------------------------------------------- processes
_backtest: Backtest[Said] | None = None  # of this process; a forked one has that of its parent


def run(
    before: Ruleset, after: Ruleset, dialogues: Sequence[Dialogue[Said]], kept: Kept, *, workers: int, ner: bool
) -> None:
    """Rehearse what is not done yet; the results do not depend on how many processes share the work."""
    waiting = [(number, each) for number, each in enumerate(dialogues) if number not in kept.done]
    if len(waiting) < len(dialogues):
        print(f"going on: {len(dialogues) - len(waiting)} of {len(dialogues)} dialogues are done", file=sys.stderr)
    if not waiting:
        return
    turns = sum(len(each.turns) for _, each in waiting)
    _prepare(before.sources, after.sources, before.digest, after.digest, ner, (before, after))
    kept.add(_work(waiting[:1]))  # what is compiled on first use is compiled once, before processes part
    gc.collect()
    gc.freeze()
    chunks = list(_chunks(waiting[1:]))
    with _spread(min(workers, len(chunks)), before, after, ner) as spread, _bar(turns) as advance:
        advance(len(waiting[0][1].turns))
        for done in spread(chunks):
            kept.add(done)
            advance(sum(fields["turns"] for _, fields in done))


def _start(*given: Any) -> None:
    """A process begins: who stops the run stops the one that shares the work out, which ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if given:
        _prepare(*given)


def _prepare(
    before: Any, after: Any, one: str, other: str, ner: bool, loaded: tuple[Ruleset, Ruleset] | None = None
) -> None:  # fmt: skip
    global _backtest
    sets = loaded or (build(before, one), build(after, other))
    _backtest = Backtest(*sides(*sets, ner=ner), Stage)
    gc.set_threshold(50_000, 20, 20)


def _work(chunk: Chunk) -> Done:
    assert _backtest is not None
    return [(number, rehearsed_fields(_backtest.rehearse(each))) for number, each in chunk]


def _chunks(waiting: Iterable[tuple[int, Dialogue[Said]]]) -> Iterator[Chunk]:
    chunk: Chunk = []
    turns = 0
    for number, each in waiting:
        chunk.append((number, each))
        turns += len(each.turns)
        if turns >= CHUNK:
            yield chunk
            chunk, turns = [], 0
    if chunk:
        yield chunk


@contextmanager
def _spread(
    workers: int, before: Ruleset, after: Ruleset, ner: bool
) -> Iterator[Callable[[Sequence[Chunk]], Iterator[Done]]]:
    """What does chunks in their order, in this process or in several."""
    if workers < 2:
        yield lambda chunks: map(_work, chunks)
        return
    forks = "fork" in multiprocessing.get_all_start_methods() and sys.platform == "linux"
    context = multiprocessing.get_context("fork" if forks else "spawn")
    given = (before.sources, after.sources, before.digest, after.digest, ner)
    with context.Pool(workers, _start, () if forks else given) as pool:
        yield lambda chunks: pool.imap(_work, chunks)


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _bar(turns: int) -> Iterator[Callable[[int], object]]:
    """A progress bar for people; nobody else pays for loading it."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TextColumn

    columns = (*Progress.get_default_columns(), MofNCompleteColumn(), TextColumn("turns"))
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("backtest", total=turns)
        yield lambda done: bar.advance(task, done)
