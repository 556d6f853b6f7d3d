"""The command line for all tests: `recordari …` in a process of its own, which costs what the command does and not what
starting it does.

A process that has read the program and the shipped rules (``zygote.py``) is forked for each command. What counts when
an interpreter starts (Python's own variables, locale, time zone) cannot be told to a fork: a command with such
variables runs as the real script, and so does one that asks for it with ``real``. Coverage is measured in the forked
ones: in the others it would cost as much again and see the same lines.
"""

from __future__ import annotations

import atexit
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path

from zygote import CODES, LENGTH

RECORDARI = str(Path(sys.executable).with_name("recordari"))
AT_START = ("PYTHON", "LC_", "LANG", "TZ", "LD_")


def recordari(
    *arguments: str, stdin: str | bytes = b"", cwd: Path | str | None = None, timeout: float = 120,
    real: bool = False, **environment: str,
) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """Run one command with these variables besides those of this process; its exit code and what it printed."""
    raw = stdin.encode() if isinstance(stdin, str) else stdin
    variables = {**os.environ, **environment}
    if real or sys.platform != "linux" or _starting(variables) != _starting(os.environ):
        done = subprocess.run(
            [RECORDARI, *arguments], input=raw, capture_output=True, check=False, env=untraced() | environment, cwd=cwd,
            timeout=timeout,
        )  # fmt: skip
        code, out, error = done.returncode, done.stdout, done.stderr
    else:
        code, out, error = _zygote().run([RECORDARI, *arguments], raw, str(cwd or Path.cwd()), variables, timeout)
    return subprocess.CompletedProcess([RECORDARI, *arguments], code, out.decode("utf-8"), error.decode("utf-8"))


def untraced() -> dict[str, str]:
    """The variables of this process without those of coverage: for real processes whose code others measure as well,
    for those that are killed while they save what they measured, and for those whose speed counts."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}


def _starting(variables: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if name.startswith(AT_START)}


class Zygote:
    """The other end of ``zygote.py``."""

    def __init__(self) -> None:
        # One thread: numpy would start some for sums that no command does.
        quiet = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        self.starting = _starting(os.environ)
        # rich takes the width once, when its console is made: without one it asks whenever it prints, as a child must.
        plain = {name: value for name, value in untraced().items() if name not in ("COLUMNS", "LINES")}
        self.line, other = socket.socketpair()
        self.said = tempfile.TemporaryFile()  # noqa: SIM115 - as long as this process
        with other:
            self.process = subprocess.Popen(
                [sys.executable, "-P", str(Path(__file__).with_name("zygote.py")), str(other.fileno())],
                pass_fds=[other.fileno()], env={**plain, **quiet}, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=self.said,
            )  # fmt: skip
        self.lock = threading.Lock()
        self._number()  # it is ready

    def run(
        self, arguments: list[str], stdin: bytes, folder: str, environment: Mapping[str, str], timeout: float
    ) -> tuple[int, bytes, bytes]:
        """One command: exit code, standard output, standard error."""
        asked = json.dumps({"arguments": arguments, "folder": folder, "environment": dict(environment)}).encode()
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error:
            given.write(stdin)
            given.seek(0)
            with self.lock:
                files = [given.fileno(), out.fileno(), error.fileno()]
                socket.send_fds(self.line, [LENGTH.pack(len(asked))], files)
                self.line.sendall(asked)
                pid = self._number()
                self.line.settimeout(timeout)
                try:
                    code = self._number()
                except TimeoutError:
                    os.kill(pid, 9)
                    self.line.settimeout(None)
                    self._number()
                    raise subprocess.TimeoutExpired(arguments, timeout) from None
                self.line.settimeout(None)
            out.seek(0)
            error.seek(0)
            return code, out.read(), error.read()

    def _number(self) -> int:
        raw = self.line.recv(CODES.size, socket.MSG_WAITALL)
        if len(raw) != CODES.size:
            self.said.seek(0)
            raise RuntimeError(f"the process that runs commands ended: {self.said.read().decode()}")
        return int(CODES.unpack(raw)[0])

    def close(self) -> None:
        """Let it go."""
        self.line.close()
        self.process.wait()
        self.said.close()


_one: Zygote | None = None


def _zygote() -> Zygote:
    """The one of this process, started when the first command is run; begun anew when variables of the start differ,
    or when it is gone."""
    global _one
    if _one is not None and (_one.starting != _starting(os.environ) or _one.process.poll() is not None):
        _close()
    if _one is None:
        _one = Zygote()
    return _one


@atexit.register
def _close() -> None:
    global _one
    if _one is not None:
        _one.close()
    _one = None
