"""Lint checks of rule files: one small class each, with an id, a severity and a docstring that is its documentation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import ClassVar, Literal

from ..rulefile import InlineTest, Problem, RuleError, RuleFile
from .engine import given_features
from .policy import PolicyFile, never_reached, wrong_feature
from .ruleset import Ruleset
from .slots import SlotFile

Severity = Literal["error", "warning"]
Found = tuple[str, tuple[str | int, ...], str, str]  # rule id, path, message, way out

# Keys of an inline test that each kind reads; a test must have one of them, or `todo`.
READS: dict[str, tuple[str, ...]] = {
    "capture": ("remembers", "does", "reason"),
    "cue": ("covers",),
    "gate": ("expect",),
    "grammar": ("expect",),
    "policy": ("gives",),
    "slot": ("remembers", "does", "reason"),
    "vocabulary": ("expect",),
}
WANTED = 2  # positive and negative tests each: one example is an anecdote
# A vocabulary of the labels or words of other rules is tested by those rules.
TESTED_ELSEWHERE = frozenset({"vocabulary"})


def is_negative(test: InlineTest) -> bool:
    """True when the test says that nothing should come of the sentence."""
    if test.gives is not None:
        return test.gives.get("do") == "IGNORE"
    return "none" in (test.expect, test.covers, test.remembers) or test.does == "IGNORE"


class LintCheck:
    """Base of the checks."""

    id: ClassVar[str]
    severity: ClassVar[Severity] = "error"

    def rule(self, ruleset: Ruleset, rule: RuleFile) -> Iterator[Found]:
        """What is wrong with one rule."""
        yield from ()

    def whole(self, ruleset: Ruleset) -> Iterator[Found | Problem]:
        """What is wrong with the set as a whole."""
        yield from ()


class NoOwner(LintCheck):
    """Every rule names who answers for it: an auditor asks a person, not a file."""

    id = "no-owner"

    def rule(self, ruleset: Ruleset, rule: RuleFile) -> Iterator[Found]:
        if not rule.owner.strip():
            yield rule.id, ("owner",), "the owner is empty", "Name the team or person who answers for the rule."


class NoRationale(LintCheck):
    """Every rule says why it exists; without that nobody dares to change it later."""

    id = "no-rationale"

    def rule(self, ruleset: Ruleset, rule: RuleFile) -> Iterator[Found]:
        if not rule.rationale.strip():
            yield rule.id, (), "the rule has no rationale", "Add `rationale:` with one sentence."


class FewTests(LintCheck):
    """A rule has at least two sentences on which it acts and two on which it must not."""

    id = "few-tests"

    def rule(self, ruleset: Ruleset, rule: RuleFile) -> Iterator[Found]:
        if rule.kind in TESTED_ELSEWHERE:
            return
        counted = [test for test in rule.tests if any(getattr(test, key) is not None for key in READS[rule.kind])]
        negative = sum(map(is_negative, counted))
        positive = len(counted) - negative
        if positive < WANTED or negative < WANTED:
            said = f"{positive} positive and {negative} negative inline tests"
            yield rule.id, ("tests",), said, f"Write at least {WANTED} of each."


class TestReadsNothing(LintCheck):
    """An inline test states something that its kind of rule can check."""

    id = "test-reads-nothing"

    def rule(self, ruleset: Ruleset, rule: RuleFile) -> Iterator[Found]:
        keys = READS[rule.kind]
        for index, test in enumerate(rule.tests):
            if test.todo is None and all(getattr(test, key) is None for key in keys):
                yield rule.id, ("tests", index), f"a {rule.kind} test that checks nothing", f"Add {' or '.join(keys)}."


class IdMismatch(LintCheck):
    """A file is found by its rule's id: its name shares a word with the id, and a slot's id is slot.<its slot>."""

    id = "id-mismatch"
    severity = "warning"

    def rule(self, ruleset: Ruleset, rule: RuleFile) -> Iterator[Found]:
        if isinstance(rule, SlotFile) and rule.id != f"slot.{rule.slot}":
            yield rule.id, ("id",), f"the slot {rule.slot!r} has the id {rule.id!r}", f"Call it slot.{rule.slot}."
            return
        stem = PurePath(ruleset.paths[rule.id]).stem
        if not set(re.split(r"[._-]", stem)) & set(re.split(r"[._]", rule.id)):
            yield rule.id, ("id",), f"the file {stem!r} shares no word with its id {rule.id!r}", "Rename the file."


class UnknownRelated(LintCheck):
    """`related` names rules that exist."""

    id = "unknown-related"

    def rule(self, ruleset: Ruleset, rule: RuleFile) -> Iterator[Found]:
        for index, name in enumerate(rule.related):
            if ruleset.rule(name) is None:
                yield rule.id, ("related", index), f"there is no rule {name!r}", "Correct the id or remove it."


class ReversedDays(LintCheck):
    """A rule's last day is not before its first."""

    id = "reversed-days"

    def rule(self, ruleset: Ruleset, rule: RuleFile) -> Iterator[Found]:
        days = rule.effective
        if days is not None and days.since is not None and days.until is not None and days.until < days.since:
            yield rule.id, ("effective",), "the rule ends before it begins", "Swap `from` and `until`."


class ChangeWithoutNote(LintCheck):
    """A second or later version says in its changelog what changed."""

    id = "change-without-note"
    severity = "warning"

    def rule(self, ruleset: Ruleset, rule: RuleFile) -> Iterator[Found]:
        if rule.version > 1 and all(change.version != rule.version for change in rule.changelog):
            said = f"version {rule.version} has no line in `changelog`"
            yield rule.id, ("version",), said, "Say what changed and why."


class WrongPolicyTest(LintCheck):
    """A policy test names features and values of the closed list, and the verdict it expects."""

    id = "wrong-policy-test"

    def rule(self, ruleset: Ruleset, rule: RuleFile) -> Iterator[Found]:
        if not isinstance(rule, PolicyFile):
            return
        for index, test in enumerate(rule.tests):
            if test.gives is None:
                continue
            if "do" not in test.gives:
                yield rule.id, ("tests", index, "gives"), "the test names no verdict", "Add `do: ACTION`."
            for name, value in given_features(test.gives).items():
                complaint = wrong_feature(name, [value])
                if complaint:
                    yield rule.id, ("tests", index, "gives", name), complaint, ""


class NoCatchAll(LintCheck):
    """The last row of the whole decision table matches always: every candidate gets a verdict."""

    id = "no-catch-all"

    def whole(self, ruleset: Ruleset) -> Iterator[Found]:
        if ruleset.table and not ruleset.table[-1].always:
            last = ruleset.table[-1]
            said = "the decision table has no row that always matches"
            yield last.file, ("rows", last.index), said, "End it with `{when: {}, do: IGNORE, reason: no_slot}`."


class NeverReached(LintCheck):
    """No policy row is wholly hidden by one row before it."""

    id = "never-reached"

    def whole(self, ruleset: Ruleset) -> Iterator[Found]:
        for row, earlier in never_reached(ruleset.table):
            said = f"{row.verdict.rule} never decides: {earlier.verdict.rule} comes first and always matches too"
            yield row.file, ("rows", row.index), said, "Move it up, or remove it."


class DoesNotCompile(LintCheck):
    """Grammars and cues compile: their functions, types and patterns exist."""

    id = "does-not-compile"

    def whole(self, ruleset: Ruleset) -> Iterator[Found | Problem]:
        try:
            _ = ruleset.extraction
        except RuleError as error:
            yield from error.problems


CHECKS: tuple[LintCheck, ...] = (
    NoOwner(), NoRationale(), FewTests(), TestReadsNothing(), IdMismatch(), UnknownRelated(), ReversedDays(),
    ChangeWithoutNote(), WrongPolicyTest(), NoCatchAll(), NeverReached(), DoesNotCompile(),
)  # fmt: skip


def lint(ruleset: Ruleset, checks: Sequence[LintCheck] = CHECKS, *, rule: str | None = None) -> list[Problem]:
    """Everything the checks find, sorted by place; each message ends with the id of its check."""
    problems: list[Problem] = []
    for check in checks:
        found: list[Found | Problem] = list(check.whole(ruleset))
        for file in ruleset.files.values():
            found.extend(check.rule(ruleset, file))
        for each in found:
            if isinstance(each, Problem):
                if rule is None or each.file == ruleset.paths.get(rule):
                    problems.append(replace(each, message=f"{each.message} [{check.id}]"))
            elif rule is None or each[0] == rule:
                name, path, message, way_out = each
                problems.append(ruleset.problem(name, path, f"{message} [{check.id}]", way_out))
    return sorted(problems)
