"""Which engine judges: durable-rules where it runs, else plain Python; both must agree on a rule set first."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Mapping
from typing import Any, Literal, Protocol

from ..model import Verdict
from ..rulefile import Problem, RuleError
from .durable_engine import DurableEngine, EngineRefused
from .policy import PLAIN, NoVerdict
from .reference import ReferenceEngine
from .ruleset import Ruleset, set_digest

__all__ = ["DurableEngine", "EngineRefused", "ReferenceEngine", "RuleEngine", "disagreements", "engine_for"]

Preference = Literal["durable", "reference"]


class RuleEngine(Protocol):
    """What judges candidates. ``name`` stands in every decision; ``note`` says why this engine was chosen."""

    name: str
    note: str

    def judge(self, features: Mapping[str, str]) -> Verdict:
        """The verdict of the first matching row of the table.

        Features outside the closed vocabulary raise ValueError, a table without a matching row raises NoVerdict.
        The same features give the same verdict, always, on every engine.
        """
        ...


# One durable engine a process for the same policy files, as long as somebody holds it; its memory is freed with it.
_engines: weakref.WeakValueDictionary[str, DurableEngine] = weakref.WeakValueDictionary()
_lock = threading.Lock()


def engine_for(ruleset: Ruleset, prefer: Preference | None = None) -> RuleEngine:
    """The engine for a rule set; RuleError when both engines disagree on its inline policy tests.

    ``prefer="durable"`` raises where durable-rules cannot serve; without a preference plain Python takes over and
    its ``note`` says why.
    """
    reference = ReferenceEngine(ruleset.table)
    policies = set_digest({file.id: ruleset.contents[file.id] for file in ruleset.policies})
    if prefer == "reference":
        reference.note = "chosen by the settings"
        return reference
    try:
        with _lock:
            found = _engines.get(policies)
            if found is not None:
                return found
            durable = DurableEngine(ruleset.table, policies)
            refuse_disagreement(ruleset, durable, reference)
            _engines[policies] = durable
            return durable
    except (ImportError, EngineRefused) as error:
        if prefer == "durable":
            raise
        said = str(error) if isinstance(error, EngineRefused) else "durable-rules does not import on this Python"
        reference.note = f"plain Python instead of durable-rules: {said}"
        return reference


def samples(ruleset: Ruleset) -> Iterable[tuple[str, tuple[str | int, ...], dict[str, str]]]:
    """Facts both engines must agree on: every inline policy test, and one fact that each row matches."""
    for file in ruleset.policies:
        for index, test in enumerate(file.tests):
            if test.gives is not None:
                yield file.id, ("tests", index), given_features(test.gives)
    for row in ruleset.table:
        yield row.file, ("rows", row.index), row.witness()


def given_features(gives: Mapping[str, Any]) -> dict[str, str]:
    """The features of an inline policy test: what it names, else those of a plain statement."""
    return PLAIN | {name: str(value) for name, value in gives.items() if name not in ("do", "reason", "row")}


def disagreements(ruleset: Ruleset, one: RuleEngine, other: RuleEngine) -> list[Problem]:
    """Where two engines give different verdicts for the samples of a rule set."""
    problems = []
    for name, path, features in samples(ruleset):
        verdicts = [outcome(engine, features) for engine in (one, other)]
        if verdicts[0] != verdicts[1]:
            said = f"{one.name} gives {verdicts[0]}, {other.name} gives {verdicts[1]}"
            problems.append(ruleset.problem(name, path, said, "Report it; until then use the reference engine."))
    return problems


def refuse_disagreement(ruleset: Ruleset, one: RuleEngine, other: RuleEngine) -> None:
    """RuleError when the engines disagree."""
    problems = disagreements(ruleset, one, other)
    if problems:
        raise RuleError(problems)


def outcome(engine: RuleEngine, features: Mapping[str, str]) -> str:
    """A verdict, or why there is none, as one line."""
    try:
        verdict = engine.judge(features)
    except NoVerdict:
        return "no verdict"
    except ValueError as error:
        return f"error: {error}"
    return f"{verdict.action} {verdict.reason} ({verdict.rule})"
