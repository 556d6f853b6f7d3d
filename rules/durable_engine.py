"""The decision table on durable-rules: only the part of that library that is known to be safe, checked before it runs.

A judgement is one FACT of short ASCII strings under a fresh session id, deleted again in ``finally``. A fact starts
every rule that matches it, in the order of ``pri``; the first one started is the verdict, the others are dropped with
the session. So no callback of ours ever runs inside the library, where an exception would be swallowed. What must
never reach its C code (patterns, comparisons, large tables, see docs/rules-engine.md) is refused by ``inspect``, and
a table new to this machine is compiled in a child process first.
"""

from __future__ import annotations

import copy
import json
import platform
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import metadata
from itertools import count
from typing import Any

from ..model import Verdict
from . import cache
from .policy import LONGEST_VALUE, NoVerdict, TableRow, checked

# Limits of durable-rules 2.0.28 with room to spare (measured, see docs/rules-engine.md).
MOST_ROWS = 200  # a shard; creation slows down and MAX_ACTIONS is 4096
MOST_FIRING = 48  # rules one fact may start; 65 is an error, 520 a hang
MOST_VALUES = 480  # distinct feature=value pairs a shard; with 513 values creation never returns
MOST_EXPRESSION = 26  # single conditions + 2 per list in one row; the parser has 32 places
CHILD_SECONDS = 30  # creation takes milliseconds or never returns
MOST_KNOWN = 4096  # verdicts kept; a dialogue has a few hundred combinations of features
COUNT_STEPS = 2_000  # work limit of the count of rows that may fire together
# Every fact carries this flag, and every ruleset ends with a rule that asks for nothing else. Deleting a session in
# which no action was started frees memory that was never set (state.c leaves `context` uninitialised) and crashes.
ALWAYS = "always"
NOTHING = "nothing"

Definition = dict[str, dict[str, Any]]


class EngineRefused(RuntimeError):
    """A table that durable-rules cannot be trusted with."""


def shards_of(table: Sequence[TableRow]) -> list[tuple[TableRow, ...]]:
    """The table cut into consecutive pieces, each within the limits of one ruleset; earlier pieces are asked first."""
    shards: list[tuple[TableRow, ...]] = []
    start = 0
    while start < len(table):
        low, high = 1, min(MOST_ROWS, len(table) - start)
        while low < high:  # the largest piece that fits; fitting is monotone
            middle = (low + high + 1) // 2
            low, high = (middle, high) if _fits(table[start : start + middle]) else (low, middle - 1)
        shards.append(tuple(table[start : start + low]))
        start += low
    return shards


def _fits(rows: Sequence[TableRow]) -> bool:
    pairs = {(name, value) for row in rows for name, values in row.when for value in values}
    return len(pairs) <= MOST_VALUES and not more_fire_than(rows, MOST_FIRING)


def more_fire_than(rows: Sequence[TableRow], limit: int) -> bool:
    """True when one fact may match more than ``limit`` of the rows (or when that cannot be ruled out cheaply)."""
    masks = _masks(rows)
    left = [COUNT_STEPS]

    def more(rows_left: int, names: tuple[str, ...]) -> bool:
        if rows_left.bit_count() <= limit:
            return False
        left[0] -= 1
        if not names or left[0] < 0:
            return True
        # Split by the feature whose most crowded value is the least crowded.
        crowds = {name: max((rows_left & mask).bit_count() for mask in masks[name]) for name in names}
        best = min(names, key=lambda name: (crowds[name], name))
        rest = tuple(name for name in names if name != best)
        return any(more(rows_left & mask, rest) for mask in masks[best])

    return more((1 << len(rows)) - 1, tuple(masks))


def _masks(rows: Sequence[TableRow]) -> dict[str, list[int]]:
    """For each feature asked about: one bit set of rows per value it may have (and for any other value)."""
    masks: dict[str, list[int]] = {}
    for name in sorted({name for row in rows for name, _ in row.when}):
        asked = [(1 << place, dict(row.when).get(name)) for place, row in enumerate(rows)]
        values = sorted({value for _, given in asked for value in given or ()})
        masks[name] = [sum(bit for bit, given in asked if given is None or value in given) for value in (*values, None)]
    return masks


def definition_of(rows: Sequence[TableRow]) -> Definition:
    """A shard in the JSON of durable-rules, without its ``run`` callbacks."""
    definition: Definition = {}
    for place, row in enumerate(rows):
        parts: list[dict[str, Any]] = [{ALWAYS: "y"}]
        for name, values in row.when:
            alternatives = [{name: value} for value in values]
            parts.append(alternatives[0] if len(alternatives) == 1 else {"$or": alternatives})
        definition[f"r{place}"] = {"pri": place, "all": [{"m": {"$and": parts} if len(parts) > 1 else parts[0]}]}
    definition[NOTHING] = {"pri": len(rows), "all": [{"m": {ALWAYS: "y"}}]}
    return definition


def inspect(definition: Definition) -> list[str]:
    """Why this definition must not reach durable-rules; empty when it holds nothing but the safe shape."""
    wrong: list[str] = []
    pairs: set[tuple[str, str]] = set()
    if len(definition) > MOST_ROWS + 1:
        wrong.append(f"{len(definition)} rules in one ruleset, at most {MOST_ROWS}")
    if not definition or list(definition.values())[-1].get("all") != [{"m": {ALWAYS: "y"}}]:
        wrong.append("the last rule must match every fact: a session in which nothing started cannot be deleted")
    for place, (name, rule) in enumerate(definition.items()):
        if set(rule) != {"pri", "all"} or rule["pri"] != place:
            wrong.append(f"{name}: only `pri` (in order) and `all` are allowed")
            continue
        if not isinstance(rule["all"], list) or len(rule["all"]) != 1 or set(rule["all"][0]) != {"m"}:
            wrong.append(f"{name}: exactly one pattern, never correlated ones")
            continue
        pattern = rule["all"][0]["m"]
        parts = pattern["$and"] if isinstance(pattern, dict) and set(pattern) == {"$and"} else [pattern]
        weight = 0
        for part in parts:
            options = part["$or"] if isinstance(part, dict) and set(part) == {"$or"} else [part]
            weight += 1 if len(options) == 1 else 2
            for option in options:
                complaint = _unsafe_condition(option)
                if complaint:
                    wrong.append(f"{name}: {complaint}")
                else:
                    pairs.update(option.items())
        if weight > MOST_EXPRESSION:
            wrong.append(f"{name}: too many conditions ({weight}, at most {MOST_EXPRESSION}); split the row")
    if len(pairs) > MOST_VALUES + 1:
        wrong.append(f"{len(pairs)} distinct conditions, at most {MOST_VALUES}")
    return wrong


def _unsafe_condition(option: Any) -> str | None:
    if not isinstance(option, dict) or len(option) != 1:
        return f"{option!r} is not one feature and its value"
    ((name, value),) = option.items()
    if not name.isascii() or not name.isidentifier():
        return f"{name!r} is no feature (operators and patterns are not allowed)"
    if not isinstance(value, str) or not value.isascii() or not value.isprintable() or len(value) > LONGEST_VALUE:
        return f"the value {value!r} of {name!r} is no short ASCII string"
    return None


# What the child runs: it knows nothing of this package, only the library and the JSON on its standard input.
_CHILD = """
import json, sys
from durable.engine import Host
class Quiet(Host):
    def _run(self): pass
host = Quiet()
for name, definition, probes in json.load(sys.stdin):
    started = []
    for rule in definition.values():
        rule["run"] = lambda c: None
    host.register_rulesets({name: definition})
    ruleset = host.get_ruleset(name)
    for number, fact in enumerate(probes):
        host.assert_fact(name, dict(fact, sid=str(number)))
        ruleset.delete_state(str(number))
sys.stdout.write("compiled")
"""


def prove(named: Sequence[tuple[str, Definition, list[dict[str, str]]]]) -> None:
    """Compile in a child process and start every rule once; remembered, so that only a new table costs the time."""
    text = json.dumps(named, sort_keys=False)
    key = cache.key_of(text, _CHILD, version(), sys.version, platform.platform())
    if key in _proved or cache.read("compiled", key) is True:
        return
    try:
        done = subprocess.run(
            [sys.executable, "-c", _CHILD],
            input=text,
            capture_output=True,
            text=True,
            timeout=CHILD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise EngineRefused(f"durable-rules did not finish compiling the table in {CHILD_SECONDS} s") from error
    except OSError as error:
        raise EngineRefused(f"no child process to try the table in: {error}") from error
    if done.returncode != 0 or done.stdout != "compiled":
        last = done.stderr.strip().rsplit("\n", 1)[-1] or f"exit status {done.returncode}"
        raise EngineRefused(f"durable-rules cannot compile the table: {last}")
    _proved.add(key)
    cache.write("compiled", key, True)


_proved: set[str] = set()


@lru_cache(maxsize=1)
def version() -> str:
    """The installed version of durable-rules."""
    return metadata.version("durable-rules")


class _Shard:
    """One ruleset inside the host."""

    def __init__(self, host: Any, name: str, rows: tuple[TableRow, ...], definition: Definition) -> None:
        runnable = copy.deepcopy(definition)  # the library changes what it is given
        for rule in runnable.values():
            rule["run"] = _never_runs
        host.register_rulesets({name: runnable})
        self.ruleset = host.get_ruleset(name)
        self.verdicts = {f"r{place}": row.verdict for place, row in enumerate(rows)}
        self.features = tuple(sorted({name for row in rows for name, _ in row.when}))


def _never_runs(_closure: Any) -> None:
    raise AssertionError("a judgement reads which rule starts and never runs it")


class DurableEngine:
    """The table on durable-rules; raises ImportError where it cannot be imported, EngineRefused for an unsafe table."""

    def __init__(self, table: Sequence[TableRow], digest: str, note: str = "") -> None:
        from durable import engine as durable

        self.name = f"durable-rules {version()}"
        self.note = note
        self._native = durable.durable_rules_engine
        pieces = shards_of(table)
        definitions = [definition_of(piece) for piece in pieces]
        wrong = [complaint for definition in definitions for complaint in inspect(definition)]
        if wrong:
            raise EngineRefused("; ".join(wrong))
        names = [f"recordari_{digest[:16]}_{number}" for number in range(len(pieces))]
        probes = [[_fact(row.witness(), _named(piece)) for row in piece] for piece in pieces]
        prove(list(zip(names, definitions, probes, strict=True)))
        self._host = _quiet_host(durable.Host)
        self._shards = [_Shard(self._host, *each) for each in zip(names, pieces, definitions, strict=True)]
        self._sid = count(1)
        self._lock = threading.Lock()
        self._broken = ""
        self._known: dict[tuple[tuple[str, str], ...], Verdict] = {}
        # The library frees a ruleset only when told to; a dropped engine would leak a third of a megabyte.
        weakref.finalize(self, _delete, self._native, self.handles).atexit = False

    def judge(self, features: Mapping[str, str]) -> Verdict:
        """The verdict of the first row that matches; NoVerdict when none does.

        A verdict depends on nothing but the features, whose values are a closed vocabulary: each is asked for once.
        """
        asked = tuple(features.items())
        verdict = self._known.get(asked)
        if verdict is None or self._broken:
            verdict = self._ask(checked(features))
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[asked] = verdict
        return verdict

    def _ask(self, features: Mapping[str, str]) -> Verdict:
        """The verdict, from the library."""
        with self._lock:
            for shard in self._shards:
                rule = self._first(shard, _fact(features, shard.features))
                if rule is not None:
                    return shard.verdicts[rule]
        raise NoVerdict(features)

    @property
    def handles(self) -> tuple[int, ...]:
        """The library's handles of the rulesets, freed with the engine."""
        return tuple(shard.ruleset._handle for shard in self._shards)

    def _first(self, shard: _Shard, fact: dict[str, str]) -> str | None:
        """The name of the row that the fact starts first, or None when no row of this shard matches."""
        if self._broken:
            raise EngineRefused(self._broken)
        sid = str(next(self._sid))
        fact["sid"] = sid
        try:
            state_offset = shard.ruleset.assert_fact(fact)
            started = self._native.start_action_for_state(shard.ruleset._handle, state_offset)
            state, message = started[0], json.loads(started[1])
        except Exception as error:
            # Nothing is known of the session now, and deleting it may crash: the engine is given up instead.
            self._broken = f"durable-rules failed and is not used any more: {type(error).__name__}: {error}"
            raise EngineRefused(self._broken) from error
        shard.ruleset.delete_state(sid)
        if "exception" in state:
            raise EngineRefused(f"durable-rules reports: {state}")
        rule = str(next(iter(message)))
        return None if rule == NOTHING else rule


def _delete(native: Any, handles: Sequence[int]) -> None:
    for handle in handles:
        native.delete_ruleset(handle)


def _named(rows: Sequence[TableRow]) -> tuple[str, ...]:
    return tuple(sorted({name for row in rows for name, _ in row.when}))


def _fact(features: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """Only the features that some row asks about: the shorter the message, the faster."""
    fact = {name: features[name] for name in names if name in features}
    fact[ALWAYS] = "y"
    return fact


def _quiet_host(base: Any) -> Any:
    """A host without the two timer threads, which crash beside the fact path."""

    def _run(self: Any) -> None:
        return None

    return type("QuietHost", (base,), {"_run": _run})()
