"""Checks of the decision table, and of what the engines can carry."""

from __future__ import annotations

from collections.abc import Iterator

from ...extractors.grammar import GrammarFile
from ...extractors.parsing.chart import MAX_LEAVES
from ...rulefile import Problem, RuleError, RuleFile
from ..capture_file import CaptureFile
from ..durable_engine import MOST_EXPRESSION
from ..frames import LONGEST as LONGEST_LABEL
from ..phrases import LONGEST as LONGEST_CLAUSE
from ..policy import PolicyFile, never_reached
from ..ruleset import Ruleset
from .base import Found, LintCheck


class NoCatchAll(LintCheck):
    """The last row of the whole decision table matches always: every candidate gets a verdict."""

    id = "no-catch-all"
    zh = "整张决策表的最后一行总是成立：每个候选都有裁决。"
    bad = "kind: policy\nrows:\n  - {when: {modality: question}, do: IGNORE, reason: question}\n"
    good = """\
kind: policy
rows:
  - {when: {modality: question}, do: IGNORE, reason: question}
  - {when: {}, do: ADD, reason: stated}
"""

    def whole(self, ruleset: Ruleset) -> Iterator[Found]:
        if ruleset.table and not ruleset.table[-1].always:
            last = ruleset.table[-1]
            said = "the decision table has no row that always matches"
            yield last.file, ("rows", last.index), said, "End it with `{when: {}, do: IGNORE, reason: no_slot}`."


class NeverReached(LintCheck):
    """No policy row is wholly hidden by one row before it."""

    id = "never-reached"
    zh = "没有哪一行策略被它前面的一行完全遮住。"
    bad = """\
kind: policy
rows:
  - {when: {modality: question}, do: IGNORE, reason: question}
  - {when: {modality: question, act: change}, do: HOLD, reason: needs_approval}
  - {when: {}, do: ADD, reason: stated}
"""
    good = """\
kind: policy
rows:
  - {when: {modality: question, act: change}, do: HOLD, reason: needs_approval}
  - {when: {modality: question}, do: IGNORE, reason: question}
  - {when: {}, do: ADD, reason: stated}
"""

    def whole(self, ruleset: Ruleset) -> Iterator[Found]:
        for row, earlier in never_reached(ruleset.table):
            said = f"{row.verdict.rule} never decides: {earlier.verdict.rule} comes first and always matches too"
            yield row.file, ("rows", row.index), said, "Move it up, or remove it."


class DoesNotCompile(LintCheck):
    """Grammars and cues compile: their functions, types and patterns exist."""

    id = "does-not-compile"
    zh = "文法和线索能够编译：函数、类型和正则式都存在。"
    bad = "kind: grammar\nproductions:\n  counted: {sequence: [number n, apples], value: juggle(n), kind: number}\n"
    good = "kind: grammar\nproductions:\n  counted: {sequence: [number n, apples], kind: number}\n"

    def whole(self, ruleset: Ruleset) -> Iterator[Found | Problem]:
        try:
            _ = ruleset.extraction
        except RuleError as error:
            yield from error.problems
        except KeyError as error:  # readers name the labels and patterns of shipped vocabularies
            said = f"the words or pattern {error} that the readers of texts need are in no vocabulary"
            way_out = (
                "A file that overrides a shipped vocabulary keeps all of its labels and patterns; or add with `.more`."
            )
            yield Problem("rules", 1, 1, said, way_out)


class EngineLimits(LintCheck):
    """A rule stays within what the engines can carry, so that no part of it is silently never tried."""

    id = "engine-limits"
    zh = "规则不超出引擎的限度，免得有一部分悄悄地从不执行。"
    bad = "trigger: {words: [预算], place: around}\ntake: {longest: 900}\n"
    good = "trigger: {words: [预算], place: around}\ntake: {longest: 120}\n"

    def rule(self, ruleset: Ruleset, rule: RuleFile) -> Iterator[Found]:
        if isinstance(rule, CaptureFile):
            if rule.take.longest > LONGEST_CLAUSE:
                said = f"a value of {rule.take.longest} characters is never taken: clauses are read up to "
                yield rule.id, ("take", "longest"), f"{said}{LONGEST_CLAUSE}", f"At most {LONGEST_CLAUSE}."
            for index, word in enumerate(rule.trigger.words if rule.trigger else ()):
                if len(word) > LONGEST_LABEL:
                    said = f"a trigger of {len(word)} characters is never found"
                    yield rule.id, ("trigger", "words", index), said, f"At most {LONGEST_LABEL}."
        if isinstance(rule, PolicyFile):
            for index, row in enumerate(rule.rows):
                weight = sum(1 if len(values) == 1 else 2 for values in row.when.values())
                if weight > MOST_EXPRESSION:
                    said = f"the row weighs {weight} conditions, durable-rules takes {MOST_EXPRESSION}"
                    yield rule.id, ("rows", index), said, "Split the row in two."
        if isinstance(rule, GrammarFile):
            for name, production in rule.productions.items():
                for listed in production.sequences():
                    if len(listed) > MAX_LEAVES:
                        said = f"a sequence of {len(listed)} parts never completes: a mention has at most {MAX_LEAVES}"
                        yield rule.id, ("productions", name), said, "Make a part of the middle of it."
