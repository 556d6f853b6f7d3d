"""Where rule files lie, the shipped packs and folders of one's own: their texts, and what cannot be read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from ..rulefile import Problem
from .parsed import PACKS, Read


def read_packs(problems: list[Problem]) -> Iterator[Read]:
    """The shipped rule files."""
    yield from _walk(files(__package__) / "packs", "packs", problems)


def _walk(folder: Traversable, shown: str, problems: list[Problem]) -> Iterator[Read]:
    if not folder.is_dir():
        return
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        name = f"{shown}/{entry.name}"
        if entry.is_dir():
            yield from _walk(entry, name, problems)
        elif entry.name.endswith(".yaml"):
            yield from _decoded(PACKS, name, entry.read_bytes(), problems)


def read_folder(folder: Path, problems: list[Problem], layer: int = 1) -> Iterator[Read]:
    """All rule files under a folder (or the one file named), hidden ones left out, sorted by path."""
    if folder.is_file():
        paths = [folder]
    elif folder.is_dir():
        paths = list(_rule_paths(folder, problems))
        if not paths:
            problems.append(
                Problem(str(folder), 1, 1, "no rule file in this folder", "Rule files end in .yaml.", "not-read")
            )
    else:
        problems.append(Problem(str(folder), 1, 1, "no such folder", "Check the path given as rules.", "not-read"))
        return
    for path in paths:
        try:
            raw = path.read_bytes()
        except OSError as error:
            said = f"cannot be read: {error.strerror or error}"
            problems.append(Problem(str(path), 1, 1, said, "Check that it exists and may be read.", "not-read"))
            continue
        yield from _decoded(layer, str(path), raw, problems)


def _rule_paths(folder: Path, problems: list[Problem]) -> Iterator[Path]:
    def unreadable(error: OSError) -> None:
        said = f"cannot be read: {error.strerror or error}"
        problems.append(
            Problem(str(error.filename or folder), 1, 1, said, "Check the permissions of the folder.", "not-read")
        )

    found: list[Path] = []
    for where, below, names in os.walk(folder, onerror=unreadable):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in names:
            path = Path(where) / name
            if name.startswith("."):
                continue
            if path.suffix == ".yaml":
                found.append(path)
            elif path.suffix.lower() in (".yml", ".yaml"):
                said = f"the file ends in {path.suffix} and would be overlooked"
                problems.append(Problem(str(path), 1, 1, said, "Rename it so that it ends in .yaml.", "not-read"))
    return iter(sorted(found))


def _decoded(layer: int, shown: str, raw: bytes, problems: list[Problem]) -> Iterator[Read]:
    """The text with plain line ends and without a byte order mark; a problem when it is not UTF-8."""
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        problems.append(Problem(shown, 1, 1, "the file is UTF-16, not UTF-8", "Save it as UTF-8.", "not-read"))
        return
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = raw[: error.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        said = f"the byte 0x{raw[error.start]:02x} is not UTF-8"
        way_out = "Save the file as UTF-8 (a Chinese editor may use GBK)."
        problems.append(Problem(shown, line, column, said, way_out, "not-read"))
        return
    yield Read(layer, shown, text.replace("\r\n", "\n").replace("\r", "\n"))
