"""rules.lock.json: which version of every rule says what, so that no rule changes or vanishes without a trace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..rulefile import Problem
from .folders import read_folder, read_packs
from .parsed import Read, write_shipped
from .ruleset import content_digest

LOCK = "rules.lock.json"
HERE = Path(__file__).resolve().parent


def check_lock(folder: Path) -> list[Problem]:
    """Rules of a folder that differ from its lock: changed without a new version, deleted, added, or lowered."""
    path = folder / LOCK
    try:
        locked = _read_lock(path)
    except (OSError, ValueError) as error:
        said = f"no readable lock: {error}"
        return [Problem(str(path), 1, 1, said, "Write it with `recordari rules lock`.", "lock-behind")]
    problems: list[Problem] = []
    found = _entries(folder, problems)
    for name, (read, version, digest) in found.items():
        entry = locked.get(name)
        if entry is None:
            problems.append(_at(read, "id", f"{name} is not in {LOCK}", "Write the lock again.", "lock-behind"))
        elif version < entry["version"]:
            said = f"{name} has version {version}, the lock has {entry['version']} already"
            problems.append(_at(read, "version", said, "Versions only grow.", "version-lowered"))
        elif version == entry["version"] and digest != entry["sha256"]:
            said = f"{name} changed and still has version {version}"
            problems.append(
                _at(
                    read, "version", said, f"Set `version: {version + 1}` and write the lock again.", "changed-silently"
                )
            )
        elif version > entry["version"]:
            said = f"{name} has version {version}, the lock still {entry['version']}"
            problems.append(_at(read, "version", said, "Write the lock again.", "lock-behind"))
    problems.extend(_deleted(path, locked, found))
    return sorted(problems)


def write_lock(folder: Path) -> list[Problem]:
    """Write the lock of a folder; what would hide a silent change or a deletion is refused and returned.

    For the shipped packs their parsed form is written beside the lock, so that a first start is fast.
    """
    path = folder / LOCK
    problems: list[Problem] = []
    found = _entries(folder, problems)
    if path.exists():
        try:
            locked = _read_lock(path)
        except (OSError, ValueError) as error:
            return [
                Problem(
                    str(path), 1, 1, f"no readable lock: {error}", "Restore it from version control.", "lock-behind"
                )
            ]
        for name, (read, version, digest) in found.items():
            entry = locked.get(name)
            if entry is not None and (version < entry["version"]):
                said = f"{name} has version {version}, the lock has {entry['version']} already"
                problems.append(_at(read, "version", said, "Versions only grow.", "version-lowered"))
            elif entry is not None and version == entry["version"] and digest != entry["sha256"]:
                said = f"{name} changed and still has version {version}"
                problems.append(_at(read, "version", said, f"Set `version: {version + 1}`.", "changed-silently"))
        problems.extend(_deleted(path, locked, found))
    if problems:
        return sorted(problems)
    entries = {name: {"version": version, "sha256": digest} for name, (_, version, digest) in sorted(found.items())}
    path.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
    if folder.resolve() == HERE / "packs":
        write_shipped(read_packs([]), folder)
    return []


def _read_lock(path: Path) -> dict[str, dict[str, Any]]:
    locked = json.loads(path.read_bytes())
    for name, entry in locked.items():
        if not isinstance(entry["version"], int) or not isinstance(entry["sha256"], str):
            raise ValueError(f"entry {name!r} has no version and sha256")
    return dict(locked)


def _entries(folder: Path, problems: list[Problem]) -> dict[str, tuple[Read, int, str]]:
    """id → file, highest version, content digest; retired and draft rules are part of the lock."""
    entries: dict[str, tuple[Read, int, str]] = {}
    for read in read_folder(folder, problems):
        data = read.data(trusting=True)
        if (
            not isinstance(data, dict)
            or not isinstance(data.get("id"), str)
            or not isinstance(data.get("version"), int)
        ):
            problems.extend(read.source.problems or [Problem(read.shown, 1, 1, "no id and version", "Add them.")])
            continue
        name, version = data["id"], data["version"]
        if name not in entries or entries[name][1] < version:
            entries[name] = (read, version, content_digest(data))
    return dict(sorted(entries.items()))


def _deleted(path: Path, locked: dict[str, Any], found: dict[str, Any]) -> list[Problem]:
    lines = path.read_text(encoding="utf-8").split("\n")
    problems = []
    for name in sorted(locked.keys() - found.keys()):
        line = next((number for number, row in enumerate(lines, start=1) if f'"{name}"' in row), 1)
        said = f"{name} was deleted; decisions still name it"
        way_out = "Keep the file with `status: retired` and a new version."
        problems.append(Problem(str(path), line, 1, said, way_out, "deleted"))
    return problems


def _at(read: Read, key: str, message: str, way_out: str, check: str) -> Problem:
    line, column = read.source.place((key,))
    return Problem(read.shown, line, column, message, way_out, check)
