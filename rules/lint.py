"""Runs the lint checks over a rule set, and over folders that are still being written."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from ..rulefile import Problem
from .checks import captures, examples, header, lasting, reading, tables, words
from .checks.base import Found, LintCheck
from .checks.examples import READS, is_negative
from .load import survey
from .lock import LOCK, check_lock
from .ruleset import Ruleset

__all__ = ["CHECKS", "READS", "LintCheck", "is_negative", "lint", "lint_folders"]

PACKS = Path(__file__).resolve().parent / "packs"

# In the order of docs/rule-checks.md.
CHECKS: tuple[LintCheck, ...] = (
    reading.NotRead(), reading.NotYaml(), reading.UnknownKind(), reading.UnknownKey(), reading.MissingKey(),
    reading.WrongValue(), reading.TemplateField(), reading.PatternNotLinear(), reading.UnknownSlot(),
    reading.UnknownLexicon(), words.UnknownBase(), header.UnknownRelated(),
    reading.IdReused(), header.IdMismatch(), reading.ChangedSilently(), reading.VersionLowered(), reading.Deleted(),
    reading.LockBehind(), header.OlderOverride(), header.ChangeWithoutNote(),
    header.NotFilledIn(), header.NoOwner(), header.NoRationale(),
    header.PersonalData(), header.AcceptsNothing(),
    reading.DaysWithoutEffect(), header.ReversedDays(), header.Expired(),
    examples.FewTests(), examples.NoNegationTest(), examples.TestReadsNothing(), examples.WrongPolicyTest(),
    captures.EqualPriority(), captures.OverlapDiffers(), captures.ShadowedTrigger(), captures.UnreachableCondition(),
    words.OneCharacterTrigger(), words.FullWidthSign(), words.LostZeros(),
    tables.NoCatchAll(), tables.NeverReached(), tables.DoesNotCompile(), tables.EngineLimits(),
    lasting.UnknownClass(), lasting.IdleGrace(), lasting.SecondBudget(),
)  # fmt: skip
KNOWN = frozenset(check.id for check in CHECKS)


def lint(
    ruleset: Ruleset, checks: Sequence[LintCheck] = CHECKS, *, rule: str | None = None, on: date | None = None
) -> list[Problem]:
    """Everything the checks find in a set that loads, sorted by place, but what a rule `accepts` with a reason.

    ``on``: the day for which rules are looked at.
    """
    problems: list[Problem] = []
    accepted: set[tuple[str, str]] = set()
    by_path = {path: name for name, path in ruleset.paths.items()}
    for given in checks:
        check = copy.copy(given)
        check.day, check.known = on, KNOWN
        found: list[Found | Problem] = list(check.whole(ruleset))
        for file in ruleset.files.values():
            found.extend(check.rule(ruleset, file))
        for each in found:
            name = by_path.get(each.file) if isinstance(each, Problem) else each[0]
            if rule not in (None, name):
                continue
            if name is not None and name in ruleset.files and check.id in ruleset.files[name].accepts:
                accepted.add((name, check.id))
                continue
            placed = each if isinstance(each, Problem) else ruleset.problem(*each)
            problems.append(replace(placed, check=placed.check or check.id, severity=check.severity))
    made = {check.id for check in checks}
    for name, file in ruleset.files.items():
        for check_id in file.accepts.keys() & made if rule in (None, name) else ():
            if (name, check_id) not in accepted:
                said = f"{check_id} finds nothing here"
                placed = ruleset.problem(name, ("accepts", check_id), said, "Remove the line.")
                problems.append(replace(placed, check=header.AcceptsNothing.id, severity="warning"))
    return sorted(problems)


def lint_folders(
    folders: Sequence[Path], *, packs: bool = True, on: date | None = None
) -> tuple[Ruleset, list[Problem]]:
    """Everything wrong with folders, in one run: what cannot be read, what refers to nothing, what the checks find.

    Files that cannot be used do not keep the others from being checked. A lock that a folder has is held against it.
    """
    ruleset, problems = survey(folders, packs)
    problems += lint(ruleset, on=on)
    for folder in (*((PACKS,) if packs else ()), *folders):
        if (folder / LOCK).is_file():  # rules of one's own need no lock; a lock that is there must be right
            problems += [found for found in check_lock(folder) if found not in problems]
    return ruleset, sorted(set(problems))
