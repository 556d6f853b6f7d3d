"""Overwrites what is left between the cells of an SQLite file's pages: a program of its own, run by scrubbing.py.

    python gaps.py FILE   # with nobody able to write to it: prints how many pages it cleaned

With ``secure_delete`` SQLite overwrites a row that is deleted, where it stands. But a page that was split or merged
keeps copies of the rows that moved to another page, in the space that no row of its own takes; a later deletion does
not know of them. That space is told by the head of the page, so every page is looked at and the space filled with
zeros: one reading of the file, where VACUUM writes it twice.

A process of its own, since closing a file ends all locks that its process has on it, SQLite's among them. It imports
nothing of Recordari and loads in some milliseconds.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Iterator

_MAGIC = b"SQLite format 3\0"
_INTERIOR, _TREE = frozenset((2, 5)), frozenset((2, 5, 10, 13))
# A page of another kind begins with the number of a page, whose first byte is 0 or 1 in a file of fewer pages.
_MOST_PAGES = 1 << 25
_AT_ONCE = 1 << 22  # bytes
_EMPTY = bytes(1 << 16)


class Unclear(ValueError):
    """A file that is not as its format says: nothing in it is touched."""


def clean(path: str) -> int:
    """Fill the space between the cells of all pages with zeros; on how many pages there was something else. Unclear
    where a page cannot be understood: those before it are clean, it and those after it as they were."""
    # Unbuffered and in binary, also where a system tells text files apart.
    file = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
    try:
        cleaned = 0
        for at, length in _gaps(file):
            os.lseek(file, at, os.SEEK_SET)
            if os.write(file, _EMPTY[:length]) != length:
                raise OSError(f"{path}: not all was written")
            cleaned += 1
        if cleaned:
            os.fsync(file)
        return cleaned
    finally:
        os.close(file)


def _gaps(file: int) -> Iterator[tuple[int, int]]:
    """Place and length of each gap that has anything but zeros."""
    head = os.read(file, 100)
    if len(head) < 100 or head[:16] != _MAGIC:
        raise Unclear("no SQLite file")
    (size,) = struct.unpack_from(">H", head, 16)
    size, whole = 1 << 16 if size == 1 else size, os.fstat(file).st_size
    # Bytes kept back at the end of a page may hold a checksum over all of it.
    if size < 512 or size & (size - 1) or whole % size or head[52:56] != bytes(4) or head[20]:
        raise Unclear("no file of pages of one size, without automatic vacuum or bytes kept back")
    if whole // size >= _MOST_PAGES:
        raise Unclear("too many pages")
    at = 0
    while at < whole:
        os.lseek(file, at, os.SEEK_SET)
        data = os.read(file, _AT_ONCE)
        data = data[: len(data) // size * size]
        if not data:
            raise Unclear("it ends before its end")
        for page in range(0, len(data), size):
            begins = page + 100 if at + page == 0 else page  # the head of the file stands before the first page's
            kind = data[begins]
            if kind not in _TREE:
                continue
            cells, first = struct.unpack_from(">HH", data, begins + 3)
            low = begins + (12 if kind in _INTERIOR else 8) + 2 * cells
            high = page + (first or 1 << 16)
            if not low <= high <= page + size:
                raise Unclear(f"page {(at + page) // size + 1} has no cells where it says")
            if data[low:high] == _EMPTY[: high - low]:
                continue
            places = struct.unpack_from(f">{cells}H", data, low - 2 * cells)
            if any(page + place < high for place in places):
                raise Unclear(f"page {(at + page) // size + 1} has cells where it says that it has none")
            yield at + low, high - low
        at += len(data)


if __name__ == "__main__":
    try:
        sys.stdout.write(f"{clean(sys.argv[1])}\n")
    except (Unclear, OSError, IndexError, struct.error) as wrong:
        sys.exit(f"{type(wrong).__name__}: {wrong}")
