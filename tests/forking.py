"""What the processes share that crash tests kill: they fork once for each line they are given, so that rules are loaded
once for all rounds.

Prints "ready", then "pid N" of each child, whatever the child writes, and "gone" when it is gone.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable


def serve(child: Callable[[str], None]) -> None:
    """Run ``child`` with each line of standard input, in a process of its own."""
    gc.freeze()
    os.write(1, b"ready\n")
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            try:
                child(line.strip())
            finally:
                os._exit(1)
        os.write(1, f"pid {pid}\n".encode())
        os.waitpid(pid, 0)
        os.write(1, b"gone\n")
