"""`recordari worker`: the work that writes leave for later (vectors, wordings, cleaning), done beside them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from ..memory import Memory
from ..store.errors import StoreError

AT_ONCE = 500  # texts of each kind in one round: others get their turn, and an interrupted round has lost little


def work(
    store: str | None, namespace: str | None, rules: list[Path] | None, *, every: float | None, transcript: bool,
    pause: Callable[[float], None] = time.sleep,
) -> None:  # fmt: skip
    """Do what waits, and look again ``every`` so many seconds until interrupted; None: until nothing is left, once.

    What hinders a round, a place that is busy or full say, is told, and the next round tries again.
    """
    from .opening import editing

    with editing(store, namespace, rules) as memory:
        while True:
            done = 0
            try:
                for what, number in _round(memory, transcript=transcript):
                    print(f"{number} {what}", flush=True)
                    done += number
            except StoreError as hindered:
                if every is None:
                    raise
                print(hindered, file=sys.stderr)
            if not done:
                if every is None:
                    return
                pause(every)


def _round(memory: Memory, *, transcript: bool) -> Iterator[tuple[str, int]]:
    """What was done, and how much of it."""
    if not memory.store.scrub():
        from .erasure import tell_unclean

        tell_unclean()
    if memory.settings.llm_url:
        yield from _counted("sentences looked at by the LLM", len(memory.polish(limit=AT_ONCE)))
    if memory.embedder is not None:
        yield from _embedded(memory, transcript=transcript)


def _embedded(memory: Memory, *, transcript: bool) -> Iterator[tuple[str, int]]:
    found = memory.embed(limit=AT_ONCE)
    yield from _counted("items embedded", found.written)
    _complain("items", found.failed, found.why)
    if transcript:
        found = memory.embed_turns(limit=AT_ONCE)
        yield from _counted("turns embedded", found.written)
        _complain("turns", found.failed, found.why)


def _counted(what: str, number: int) -> Iterator[tuple[str, int]]:
    if number:
        yield what, number


def embed_written(memory: Memory) -> None:
    """Embed what waits after a dialogue was remembered. It is safe by now: whatever goes wrong here is told, and the
    work stays where it is."""
    from ..recall.vectors import NOT_INSTALLED

    if memory.embedder is None:
        print(NOT_INSTALLED, file=sys.stderr)
        return
    try:
        found = memory.embed()
    except StoreError as wrong:
        print(f"{wrong}. `recordari index embed` goes on", file=sys.stderr)
        return
    _complain("items", found.failed, found.why)


def _complain(what: str, failed: int, why: str) -> None:
    if failed:
        print(f"{failed} {what} could not be embedded, tried again later: {why}", file=sys.stderr)
