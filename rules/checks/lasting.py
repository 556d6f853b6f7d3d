"""Checks of how long things are kept: classes that are there, graces that come to something, one budget."""

from __future__ import annotations

from collections.abc import Iterator

from ...rulefile import RuleFile
from ..forgetting_file import ForgettingFile
from ..retention_file import RetentionFile, classes_of
from ..ruleset import Ruleset
from ..slots import SlotFile, span_of
from .base import Found, LintCheck


class UnknownClass(LintCheck):
    """A retention class that a slot or a grace names stands in a retention file: else nothing of it is ever erased."""

    id = "unknown-class"
    severity = "warning"
    zh = "槽位或宽限写的保留类别要在某个保留文件里；否则它所指的内容会一直保留。"
    bad = "kind: forgetting\ngrace: {client-record: P30D}\n"
    good = "kind: forgetting\ngrace: {client-record-7y: P30D}\n"

    def rule(self, ruleset: Ruleset, rule: RuleFile) -> Iterator[Found]:
        spans, _ = classes_of(ruleset.of(RetentionFile))
        if not spans:  # rules that keep everything
            return
        named: list[tuple[tuple[str | int, ...], str]] = []
        if isinstance(rule, ForgettingFile):
            named = [(("grace", name), name) for name in rule.grace]
        elif isinstance(rule, SlotFile) and rule.keeps == "memory":
            named = [(("retention",), rule.retention)]
        for path, name in named:
            if name not in spans:
                yield rule.id, path, f"no retention file has a class {name!r}", f"One of: {', '.join(sorted(spans))}."


class IdleGrace(LintCheck):
    """A grace is shorter than the time of its retention class: else a sweep has erased everything before it ends."""

    id = "idle-grace"
    severity = "warning"
    zh = "宽限要短于其保留类别的期限；否则到期清扫早已删除了一切。"
    bad = "kind: forgetting\ngrace: {client-record-7y: P8Y}\n"
    good = "kind: forgetting\ngrace: {client-record-7y: P90D}\n"

    def rule(self, ruleset: Ruleset, rule: RuleFile) -> Iterator[Found]:
        if not isinstance(rule, ForgettingFile):
            return
        spans, _ = classes_of(ruleset.of(RetentionFile))
        for name, grace in rule.grace.items():
            if name in spans and span_of(grace) >= span_of(spans[name]):
                said = f"the grace {grace} is no shorter than the class, which ends after {spans[name]}"
                yield rule.id, ("grace", name), said, "Shorten it, or take the line out."


class SecondBudget(LintCheck):
    """One file sets the budget of an entity: of several the one with more items counts, and the others do nothing."""

    id = "second-budget"
    zh = "只有一个文件规定实体的限额：有几个时，以条目数多的为准，其余不起作用。"
    bad = """\
kind: forgetting
budget: {items: 500, bytes: 1000000}
---
kind: forgetting
id: forgetting.desk
budget: {items: 900, bytes: 1000000}
"""
    good = """\
kind: forgetting
budget: {items: 500, bytes: 1000000}
---
kind: forgetting
id: forgetting.desk
ends: [{type: state, after: P90D}]
"""

    def whole(self, ruleset: Ruleset) -> Iterator[Found]:
        files = [file for file in ruleset.of(ForgettingFile) if file.budget is not None]
        for file in files[1:]:
            said = f"{files[0].id} sets a budget too"
            yield file.id, ("budget",), said, "Copy that file with a higher version instead, or retire one."
