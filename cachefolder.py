"""Where files may be kept that only save time: one folder of the user's own, never a shared temporary one."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path


def folder() -> Path | None:
    """Where entries lie; None when the cache is switched off."""
    chosen = os.environ.get("RECORDARI_CACHE")
    if chosen is not None:
        return Path(chosen) if chosen else None
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
        return Path(base) / "recordari" if base else None
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "recordari"
    base = os.environ.get("XDG_CACHE_HOME")
    with suppress(RuntimeError):  # no home folder
        return (Path(base) if base else Path.home() / ".cache") / "recordari"
    return None
