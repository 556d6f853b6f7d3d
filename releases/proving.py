"""A rule set is proved in a process of its own: whatever its compilation costs or breaks, the one that decides goes on.

Proved is all that loading proves of files (schemas, references, patterns), that everything compiles, and that both
engines agree. The cache of the user remembers it for this code, so that a set that was published on this machine is
not proved again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping

from ..rules.book import book_of
from ..rules.cache import checking
from ..rules.engine import engine_for
from ..rules.load import build
from ..rules.ruleset import Ruleset

SECONDS = 120  # a set takes one to five
CHILD = (sys.executable, "-m", __name__)
"""The command that proves a set: JSON on standard input (digest, sources), JSON on standard output (fault)."""


class Unusable(ValueError):
    """A set that must not decide; says why."""


class NoChild(RuntimeError):
    """No process of its own could be had; says why."""


def check(ruleset: Ruleset) -> None:
    """RuleError unless the set compiles to the end and both engines agree on it."""
    with checking("release", ruleset.digest):
        assert ruleset.extraction is not None
        assert ruleset.gatekeeper is not None
        assert book_of(ruleset) is not None
        engine_for(ruleset)


def prove(digest: str, sources: Mapping[str, str]) -> None:
    """Nothing for a set that can be used; Unusable for one that cannot, NoChild where that cannot be found out so."""
    with checking("release", digest) as proved:
        if not proved:
            _ask(digest, sources)


def _ask(digest: str, sources: Mapping[str, str]) -> None:
    places = os.pathsep.join(place for place in sys.path if place)
    try:
        done = subprocess.run(
            CHILD,
            input=json.dumps({"digest": digest, "sources": dict(sources)}),
            capture_output=True,
            encoding="utf-8",
            timeout=SECONDS,
            check=False,
            env={**os.environ, "PYTHONPATH": places, "PYTHONIOENCODING": "utf-8"},
        )
    except subprocess.TimeoutExpired:
        raise Unusable(f"it did not compile in {SECONDS} s") from None
    except OSError as error:
        raise NoChild(str(error)) from None
    try:
        fault = json.loads(done.stdout)["fault"]
    except (ValueError, KeyError, TypeError):
        said = done.stderr.strip().rsplit("\n", 1)[-1]
        if done.returncode < 0:
            raise Unusable(f"compiling it ended a process by signal {-done.returncode}") from None
        raise NoChild(said or f"exit status {done.returncode}") from None
    if fault is not None:
        raise Unusable(str(fault))


def told(broken: Exception) -> str:
    """A fault in one line."""
    return str(broken).splitlines()[0] if str(broken) else type(broken).__name__


def built(digest: str, sources: Mapping[str, str]) -> Ruleset:
    """The set of these texts, built and checked in this process; ValueError when they have another digest."""
    ruleset = build(sources, digest)
    if ruleset.digest != digest:
        raise ValueError("its sources have another digest")
    check(ruleset)
    return ruleset


def main() -> None:
    """Prove the set on standard input."""
    asked = json.loads(sys.stdin.buffer.read())
    fault = None
    try:
        built(asked["digest"], asked["sources"])
    except Exception as broken:  # whatever it is, it is told
        fault = told(broken)
    print(json.dumps({"fault": fault}))


if __name__ == "__main__":
    main()
