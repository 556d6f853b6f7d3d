"""Tables for spreadsheets: opened by a double click, and no cell is ever taken for a formula."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

# A cell that begins with one of these is computed by a spreadsheet: what somebody said must not run there.
_BEGINS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "|", "%")


def cell(value: Any) -> str:
    """A value as text; an apostrophe keeps it text where a spreadsheet would compute."""
    text = "" if value is None else str(value)
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")  # half a surrogate pair has no UTF-8
    return f"'{text}" if text.lstrip(" \u00a0\u3000").startswith(_BEGINS) else text


def write_csv(path: Path, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table in UTF-8 with the mark by which Excel knows it, CRLF at line ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow(names)
        writer.writerows([cell(each) for each in row] for row in rows)
