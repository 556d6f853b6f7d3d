"""Checks of the inline tests of a rule."""

from __future__ import annotations

import re
from collections.abc import Iterator
from weakref import WeakKeyDictionary

from ...extractors.text import normalize
from ...rulefile import InlineTest, RuleFile
from ..capture_file import CaptureFile
from ..engine import given_features
from ..labels import words_pattern
from ..policy import PolicyFile, wrong_feature
from ..ruleset import Ruleset
from .base import Found, LintCheck

# Keys of an inline test that each kind reads; a test must have one of them, or `todo`.
READS: dict[str, tuple[str, ...]] = {
    "capture": ("remembers", "does", "reason"),
    "cue": ("covers",),
    "forgetting": (),
    "gate": ("expect",),
    "grammar": ("expect",),
    "induction": ("remembers", "does", "reason"),
    "policy": ("gives",),
    "retention": (),
    "slot": ("remembers", "does", "reason"),
    "vocabulary": ("expect",),
}
WANTED = 2  # positive and negative tests each: one example is an anecdote
# A vocabulary of the labels or words of other rules is tested by those rules; no sentence tests how long it is kept.
TESTED_ELSEWHERE = frozenset({"forgetting", "retention", "vocabulary"})


def is_negative(test: InlineTest) -> bool:
    """True when the test says that nothing should come of the sentence."""
    if test.gives is not None:
        return test.gives.get("do") == "IGNORE"
    if test.does == "IGNORE":
        return test.reason != "session_only"  # taken, and kept for its conversation
    return "none" in (test.expect, test.covers, test.remembers)


def counted(rule: RuleFile) -> list[InlineTest]:
    """The tests that check something of their kind of rule."""
    return [test for test in rule.tests if any(getattr(test, key) is not None for key in READS[rule.kind])]


class FewTests(LintCheck):
    """A rule has at least two sentences on which it acts and two on which it must not."""

    id = "few-tests"
    zh = "每条规则至少有两句应当触发、两句不得触发的测试。"
    bad = "tests:\n  - {say: 预算是8万。, remembers: {value: 80000 XXX}}\n"
    good = """\
tests:
  - {say: 预算是8万。, remembers: {value: 80000 XXX}}
  - {say: The budget is $9000., remembers: {value: 9000 USD}}
  - {say: 预算8万够吗？, remembers: none}
  - {say: The budget is not $9000., remembers: none}
"""

    def rule(self, ruleset: Ruleset, rule: RuleFile) -> Iterator[Found]:
        if rule.kind in TESTED_ELSEWHERE:
            return
        tests = counted(rule)
        negative = sum(map(is_negative, tests))
        positive = len(tests) - negative
        if positive < WANTED or negative < WANTED:
            said = f"{positive} positive and {negative} negative inline tests"
            yield rule.id, ("tests",), said, f"Write at least {WANTED} of each."


class NoNegationTest(LintCheck):
    """A rule that takes a value is tested with a sentence that denies the value: "the budget is not $9000"."""

    id = "no-negation-test"
    severity = "warning"
    zh = "取值的规则要有一句否定该值的测试：“预算不是8万”。"
    bad = """\
tests:
  - {say: 预算是8万。, remembers: {value: 80000 XXX}}
  - {say: The budget is $9000., remembers: {value: 9000 USD}}
  - {say: 预算8万够吗？, remembers: none}
  - {say: Is the budget $9000?, remembers: none}
"""
    good = FewTests.good

    def __init__(self) -> None:
        self._denials: WeakKeyDictionary[Ruleset, re.Pattern[str] | None] = WeakKeyDictionary()

    def rule(self, ruleset: Ruleset, rule: RuleFile) -> Iterator[Found]:
        if not isinstance(rule, CaptureFile) or rule.condition() is None:
            return
        if ruleset not in self._denials:
            self._denials[ruleset] = _denial(ruleset)
        denial = self._denials[ruleset]
        if denial is not None and not any(denial.search(normalize(test.say).lower) for test in rule.tests):
            way_out = "Add a test such as `{say: 预算不是8万。, remembers: none}`."
            yield rule.id, ("tests",), "no test denies the value", way_out


def _denial(ruleset: Ruleset) -> re.Pattern[str] | None:
    """The words of all cues of negation; None for a set without any."""
    words: set[str] = set()
    for file in ruleset.cues:
        if file.category == "negation":
            for spec in (file, *file.cues.values()):
                words.update(spec.words)
                words.update(ruleset.words(spec.lexicon) if spec.lexicon else ())
    return words_pattern(word for word in words if word) if words else None


class TestReadsNothing(LintCheck):
    """An inline test states something that its kind of rule can check."""

    id = "test-reads-nothing"
    zh = "每个内联测试都写出该类规则能核对的内容。"
    bad = "tests:\n  - {say: 预算是8万。, expect: 80000 XXX}\n"
    good = "tests:\n  - {say: 预算是8万。, remembers: {value: 80000 XXX}}\n"

    def rule(self, ruleset: Ruleset, rule: RuleFile) -> Iterator[Found]:
        keys = READS[rule.kind]
        for index, test in enumerate(rule.tests):
            if test.todo is None and all(getattr(test, key) is None for key in keys):
                yield rule.id, ("tests", index), f"a {rule.kind} test that checks nothing", f"Add {' or '.join(keys)}."


class WrongPolicyTest(LintCheck):
    """A policy test names features and values of the closed list, and the verdict it expects."""

    id = "wrong-policy-test"
    zh = "策略测试只用封闭列表里的特征和值，并写出预期的裁决。"
    bad = "kind: policy\ntests:\n  - {say: a joke, gives: {modality: joke}}\n"
    good = "kind: policy\ntests:\n  - {say: a joke, gives: {modality: joke, do: IGNORE}}\n"

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
