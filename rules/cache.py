"""A cache of things computed from rule files: parsed data and proofs that a table compiles; never needed, only faster.

Entries are JSON, named by a digest of everything they were computed from, and repeat that digest inside: an entry whose
key differs is ignored. An unreadable or unwritable folder only costs time. ``RECORDARI_CACHE`` moves the folder, and
set to the empty string switches the cache off.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..cachefolder import folder

HERE = Path(__file__).parent
CHECKS = "checked"
MOST_CHECKS = 64


def key_of(*parts: str | bytes) -> str:
    """One SHA-256 over parts, each preceded by its length so that none can run into the next."""
    digest = hashlib.sha256()
    for part in parts:
        raw = part.encode() if isinstance(part, str) else part
        digest.update(len(raw).to_bytes(8, "big"))
        digest.update(raw)
    return digest.hexdigest()


@lru_cache(maxsize=8)
def code_version(*names: str) -> str:
    """A digest of our own modules of these names: an entry written by other code is never read."""
    return key_of(*((HERE / name).read_bytes() for name in names))


def read(shelf: str, key: str) -> Any | None:
    """The entry, or None when there is none that can be trusted."""
    base = folder()
    if base is None:
        return None
    try:
        entry = json.loads((base / shelf / f"{key}.json").read_bytes())
    except (OSError, ValueError):
        return None
    if not isinstance(entry, dict) or entry.get("key") != key:
        return None
    return entry.get("data")


def write(shelf: str, key: str, data: Any) -> None:
    """Keep an entry; written beside and renamed, so that no reader sees half of it."""
    base = folder()
    if base is None:
        return
    with suppress(OSError):
        (base / shelf).mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=base / shelf, prefix=".new-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                json.dump({"key": key, "data": data}, stream, ensure_ascii=False, separators=(",", ":"))
            os.replace(name, base / shelf / f"{key}.json")
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise


def trim(shelf: str, most: int) -> None:
    """Keep only the newest entries of a shelf whose entries replace each other."""
    base = folder()
    if base is None:
        return
    with suppress(OSError):
        entries = sorted((base / shelf).glob("*.json"), key=lambda entry: (entry.stat().st_mtime, entry.name))
        for entry in entries[:-most]:
            entry.unlink()


def remembered(shelf: str, key: str, compute: Callable[[], Any]) -> Any:
    """The entry under ``key``, computed and kept when it is missing."""
    found = read(shelf, key)
    if found is None:
        found = compute()
        write(shelf, key, found)
    return found


@contextmanager
def checking(what: str, *parts: str) -> Iterator[bool]:
    """True when this block has once ended without an error for these parts and this code; remembers that it did.

    Nothing but time hangs on the answer: it spares proofs that the same data have passed.
    """
    key = key_of(what, _package(), *parts)
    passed = read(CHECKS, key) is True
    yield passed
    if not passed:
        write(CHECKS, key, True)
        trim(CHECKS, MOST_CHECKS)


@lru_cache(maxsize=1)
def _package() -> str:
    """A digest of every module that reads or compiles rules: what one version has let pass, another may refuse."""
    base = HERE.parent
    modules = [base / "rulefile.py", base / "values.py", *HERE.glob("*.py"), *(base / "extractors").glob("*.py")]
    return key_of(*(module.read_bytes() for module in sorted(modules)))
