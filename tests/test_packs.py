"""The shipped rules: every inline test holds through the whole pipeline, and the decision table is sound."""

from __future__ import annotations

import pytest

from recordari.memory import Memory
from recordari.rules.check import check
from recordari.rules.engine import ReferenceEngine, disagreements, engine_for
from recordari.rules.lint import CHECKS, lint
from recordari.rules.load import load
from recordari.rules.ruleset import Ruleset

# Checks of form (rationale, number of tests, file names) are for `recordari rules lint`; these are about meaning.
SOUND = {"no-catch-all", "never-reached", "wrong-policy-test", "unknown-related", "reversed-days", "does-not-compile"}


@pytest.fixture(scope="module")
def shipped() -> Ruleset:
    return load()


def test_every_inline_test_of_the_shipped_rules_holds(shipped: Ruleset) -> None:
    report = check(shipped, Memory.rehearsal(ruleset=shipped).trial)
    assert [str(problem) for problem in report.problems] == []
    assert report.passed
    assert not report.skipped


def test_the_shipped_decision_table_is_sound(shipped: Ruleset) -> None:
    checks = [each for each in CHECKS if each.id in SOUND]
    assert len(checks) == len(SOUND)
    assert [str(problem) for problem in lint(shipped, checks)] == []


def test_both_engines_agree_on_the_shipped_table(shipped: Ruleset) -> None:
    assert disagreements(shipped, engine_for(shipped), ReferenceEngine(shipped.table)) == []
