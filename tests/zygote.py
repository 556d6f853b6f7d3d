"""The process that runs the command line for the tests: it has read the program and its rules, and forks a child for
each command. Started by ``commands.py``, one for each process of pytest.

A request is one line of JSON (arguments, environment, folder) with three open files: standard input, output and error.
The answer is the child's process id, and its exit code when it is gone.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import inspect
import io
import json
import os
import pkgutil
import signal
import socket
import struct
import sys
import threading
import traceback
from typing import Any, NoReturn

LENGTH = struct.Struct("!I")
# What commands import only when they need it and that costs most, besides the program itself.
LIBRARIES = (
    "cryptography.hazmat.primitives.serialization", "difflib", "durable.engine", "email.parser", "importlib.metadata",
    "rich._emoji_codes", "typer._adapters", "typer._click._textwrap", "typer._click.decorators",
)  # fmt: skip
APART = ("tests", "benchmarks", "examples", "setup")
# Both languages, and what makes the compiler of each part of the rules begin.
TALK = (
    "The marketing budget is $9,000 until 30 June 2026.", "No, make it USD 12,500 instead.",
    "我们的预算是8万元，最晚6月30日。", "预算改成9万元。", "如果不行就算了。", "What is the budget?", "谢谢",
)  # fmt: skip
KEPT: list[Any] = []
CODES = struct.Struct("!i")


def warm() -> None:
    """Import the program, compile the shipped rules and read a talk with them, so that children find it all made.

    Nothing that is kept of this depends on variables, a folder or a clock; ``test_commands.py`` looks after that.
    """
    sys.path.insert(0, os.path.dirname(__file__))
    from shipped import share, shipped

    sys.path.pop(0)  # the path of a command has no folder of tests
    import recordari
    from recordari.memory import Memory

    # `later` commands import their modules by name when they are asked for.
    for module in pkgutil.walk_packages(recordari.__path__, "recordari."):
        if module.name.split(".")[1] not in APART and "migrations" not in module.name:
            importlib.import_module(module.name)
    for name in LIBRARIES:
        importlib.import_module(name)
    talk = Memory.rehearsal(ruleset=shipped(), ner=False)
    for place, text in enumerate(TALK):
        talk.observe(text, said_at=f"2026-01-01T10:{place:02}:00+08:00", entity="client")
    KEPT.append(talk)
    inspect.stack()  # coverage asks for it when it starts, and the first time every module is looked at
    share()


def stream(number: int, mode: str) -> io.TextIOWrapper:
    """A standard stream as the interpreter opens it for a file or a pipe."""
    raw = io.FileIO(number, mode, closefd=False)
    buffered = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
    given = sys.__stderr__ if number == 2 else sys.__stdout__ if number == 1 else sys.__stdin__
    assert given is not None
    return io.TextIOWrapper(
        buffered, encoding=given.encoding, errors=given.errors, write_through=False, line_buffering=number == 2
    )


def command(asked: dict[str, Any], files: list[int]) -> int:
    """Run one command in this process, which is its own; its exit code."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["folder"])
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__ = (
        stream(0, "r"), stream(1, "w"), stream(2, "w"),
    )  # fmt: skip
    sys.argv = asked["arguments"]
    if "COVERAGE_PROCESS_CONFIG" in os.environ:
        import coverage

        coverage.process_startup(force=True)
    from recordari.service.cli import main

    code = 0
    try:
        main()
    except SystemExit as ended:
        if isinstance(ended.code, int):
            code = ended.code
        elif ended.code is not None:
            print(ended.code, file=sys.stderr)
            code = 1
    except BaseException:
        traceback.print_exc()
        code = 1
    # What the interpreter does when it ends; coverage saves what it saw.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for out in (sys.stdout, sys.stderr):
        out.flush()
    return code


def child(asked: dict[str, Any], files: list[int]) -> NoReturn:
    """Run one command and end at once: nothing of the process it was forked from is to be put away."""
    code = 120
    try:
        code = command(asked, files)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code & 0xFF)


def serve(line: socket.socket) -> None:
    """Answer requests until nobody is there to make one."""
    gc.collect()
    gc.freeze()
    while True:
        head, files, _, _ = socket.recv_fds(line, LENGTH.size, 3)
        if not head:
            return
        (left,) = LENGTH.unpack(head)
        raw = b""
        while len(raw) < left:
            raw += line.recv(left - len(raw))
        assert len(os.listdir("/proc/self/task")) == 1, "a process with threads must not be forked"
        pid = os.fork()
        if pid == 0:
            line.close()
            child(json.loads(raw), files)
        for file in files:
            os.close(file)
        line.sendall(CODES.pack(pid))
        line.sendall(CODES.pack(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])))


if __name__ == "__main__":
    warm()
    with socket.socket(fileno=int(sys.argv[1])) as given:
        given.sendall(CODES.pack(os.getpid()))
        serve(given)
