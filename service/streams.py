"""JSON lines in and out: one bad line is reported with its place and never stops the run."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from ..intake import read_lines

STDIN = "-"


@dataclass
class Lines:
    """The lines of one input; ``bad`` counts those that were reported."""

    name: str
    bad: int = 0
    number: int = field(default=0, init=False)

    def report(self, number: int, message: str, column: int | None = None) -> None:
        """Print ``file:line:column: what is wrong. way out`` to standard error."""
        self.bad += 1
        place = f"{self.name}:{number}:{column or 1}"
        line = f"{place}: {message}".encode("utf-8", "backslashreplace").decode("utf-8")
        print(line, file=sys.stderr)

    def read(self, stream: Iterable[bytes]) -> Iterator[Any]:
        """Each parsed JSON line; the line's number stands in ``number`` meanwhile."""
        for number, data, error in read_lines(iter(stream)):
            self.number = number
            if error:
                column, _, message = error.partition(": ")
                self.report(number, message, int(column))
            else:
                yield data


@contextmanager
def opened(path: str) -> Iterator[tuple[BinaryIO, str]]:
    """The byte stream of a file, or of standard input for ``-``, and its name for messages."""
    if path == STDIN:
        yield sys.stdin.buffer, "<stdin>"
        return
    with Path(path).open("rb") as stream:
        yield stream, path


def emit(data: Any) -> None:
    """One JSON line on standard output, UTF-8 whatever the locale says, flushed so that it counts as acknowledged."""
    text = json.dumps(data, ensure_ascii=False, separators=(", ", ": "))
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")


def each(path: str, work: Callable[[Any, Lines], None]) -> Lines:
    """Run ``work`` over every good line of a file."""
    with opened(path) as (stream, name):
        lines = Lines(name)
        for data in lines.read(stream):
            work(data, lines)
        sys.stdout.flush()
        return lines
