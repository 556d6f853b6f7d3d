"""Checks of the header of a rule file, and of all the texts in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from ...rulefile import Problem, RuleFile
from ..ruleset import Ruleset
from ..slots import SlotFile
from .base import Found, LintCheck
from .private import personal


class OlderOverride(LintCheck):
    """A file of one's own that overrides a rule has a higher version than the rule below it; an older one is idle."""

    id = "older-override"
    severity = "warning"
    zh = "自己目录里改写某条规则的文件，版本要高于下层的规则；较旧的不算数。"
    bad = "# the shipped rule has come to version 5 meanwhile\nversion: 4\n"
    good = "version: 6\nchangelog: [{version: 6, note: Ours again.}]\n"

    def whole(self, ruleset: Ruleset) -> Iterator[Problem]:
        for note in ruleset.notes:
            file, _, said = note.rpartition(": ")
            yield Problem(file, 1, 1, said, "Compare the two, and raise its version above the other.")


class NoOwner(LintCheck):
    """Every rule names who answers for it: an auditor asks a person, not a file."""

    id = "no-owner"
    zh = "每条规则写明负责人：审计员要问的是人，不是文件。"
    bad = "owner: ' '\n"
    good = "owner: contract-desk\n"

    def rule(self, ruleset: Ruleset, rule: RuleFile) -> Iterator[Found]:
        if not rule.owner.strip():
            yield rule.id, ("owner",), "the owner is empty", "Name the team or person who answers for the rule."


class NoRationale(LintCheck):
    """Every rule says why it exists; without that nobody dares to change it later."""

    id = "no-rationale"
    zh = "每条规则说明为什么存在；否则以后没有人敢改。"
    bad = "rationale: ''\n"
    good = "rationale: Clients state the budget in passing, and the file must hold the last one.\n"

    def rule(self, ruleset: Ruleset, rule: RuleFile) -> Iterator[Found]:
        if not rule.rationale.strip():
            yield rule.id, ("rationale",), "the rule has no rationale", "Add `rationale:` with one sentence."


class IdMismatch(LintCheck):
    """A file is found by its rule's id: its name shares a word with the id, and a slot's id is slot.<its slot>."""

    id = "id-mismatch"
    severity = "warning"
    zh = "按 id 找得到文件：文件名与 id 至少有一个词相同；槽位文件的 id 是 slot.<槽位名>。"
    bad = "kind: slot\nid: slot.money\nslot: budget\n"
    good = "kind: slot\nid: slot.budget\nslot: budget\n"

    def rule(self, ruleset: Ruleset, rule: RuleFile) -> Iterator[Found]:
        if isinstance(rule, SlotFile) and rule.id != f"slot.{rule.slot}":
            yield rule.id, ("id",), f"the slot {rule.slot!r} has the id {rule.id!r}", f"Call it slot.{rule.slot}."
            return
        stem = PurePath(ruleset.paths[rule.id]).stem
        if not _words(stem) & _words(rule.id):
            yield rule.id, ("id",), f"the file {stem!r} shares no word with its id {rule.id!r}", "Rename the file."


def _words(name: str) -> set[str]:
    """The words of a name, one and many of a thing alike."""
    return {word.removesuffix("s") for word in re.split(r"[._-]", name)}


class UnknownRelated(LintCheck):
    """`related` names rules that exist."""

    id = "unknown-related"
    zh = "`related` 里的规则必须存在。"
    bad = "related: [slot.buget]\n"
    good = "related: [slot.budget]\n"

    def rule(self, ruleset: Ruleset, rule: RuleFile) -> Iterator[Found]:
        for index, name in enumerate(rule.related):
            if ruleset.rule(name) is None:
                yield rule.id, ("related", index), f"there is no rule {name!r}", "Correct the id or remove it."


class ReversedDays(LintCheck):
    """A rule's last day is not before its first."""

    id = "reversed-days"
    zh = "规则的最后一天不早于第一天。"
    bad = "kind: gate\neffective: {from: 2026-07-01, until: 2026-06-30}\n"
    good = "kind: gate\neffective: {from: 2026-06-30, until: 2026-07-01}\n"

    def rule(self, ruleset: Ruleset, rule: RuleFile) -> Iterator[Found]:
        days = rule.effective
        if days is not None and days.since is not None and days.until is not None and days.until < days.since:
            yield rule.id, ("effective",), "the rule ends before it begins", "Swap `from` and `until`."


class Expired(LintCheck):
    """No rule has ended before the day given with `--on`; without a day this is not looked at."""

    id = "expired"
    severity = "warning"
    zh = "在 `--on` 给出的日期，没有已过期的规则；不给日期则不检查（从不悄悄读取系统时钟）。"
    bad = "# recordari rules lint --on 2026-07-01\nkind: gate\neffective: {until: 2026-06-30}\n"
    good = "# recordari rules lint --on 2026-07-01\nkind: gate\neffective: {until: 2026-12-31}\n"

    def rule(self, ruleset: Ruleset, rule: RuleFile) -> Iterator[Found]:
        days = rule.effective
        if self.day is not None and days is not None and days.until is not None and days.until < self.day:
            said = f"the rule ended on {days.until} and no longer counts on {self.day}"
            yield rule.id, ("effective", "until"), said, "Move the day, or set `status: retired` in a new version."


class ChangeWithoutNote(LintCheck):
    """A second or later version says in its changelog what changed."""

    id = "change-without-note"
    severity = "warning"
    zh = "第二版及以后在 changelog 里写明改了什么。"
    bad = "version: 2\n"
    good = "version: 2\nchangelog: [{version: 2, note: Also takes a bare number.}]\n"

    def rule(self, ruleset: Ruleset, rule: RuleFile) -> Iterator[Found]:
        if rule.version > 1 and all(change.version != rule.version for change in rule.changelog):
            said = f"version {rule.version} has no line in `changelog`"
            yield rule.id, ("version",), said, "Say what changed and why."


class NotFilledIn(LintCheck):
    """Nothing of a new file is left to be filled in."""

    id = "not-filled-in"
    zh = "新文件里没有留着未填的内容。"
    bad = "rationale: FILL-IN why the rule exists, in one sentence\n"
    good = "rationale: Clients state the budget in passing, and the file must hold the last one.\n"

    def rule(self, ruleset: Ruleset, rule: RuleFile) -> Iterator[Problem]:
        text = ruleset.sources.get(rule.id, "")
        for hit in re.finditer(r"FILL-IN[^\n\"}\],]*", text):
            line, column = text.count("\n", 0, hit.start()) + 1, hit.start() - text.rfind("\n", 0, hit.start())
            yield Problem(ruleset.paths[rule.id], line, column, f"{hit[0]!r} is not filled in", "Write your own here.")


class AcceptsNothing(LintCheck):
    """What a rule accepts with a reason is a check that would complain of it."""

    id = "accepts-nothing"
    severity = "warning"
    zh = "`accepts` 里写的检查确有其事：否则删掉这一行。"
    bad = "accepts: {no-such-check: It is meant so.}\n"
    good = """\
trigger: {words: [价], place: label_end}
accepts: {one-character-trigger: As the last word of a label it is unmistakable.}
"""

    def rule(self, ruleset: Ruleset, rule: RuleFile) -> Iterator[Found]:
        for name in rule.accepts.keys() - self.known:
            yield rule.id, ("accepts", name), f"there is no check {name!r}", "The ids stand in docs/rule-checks.md."


class PersonalData(LintCheck):
    """No text of a rule names a real person's number or address: rules are published, copied and logged."""

    id = "personal-data"
    zh = "规则文本里没有真人的号码和地址：规则会被发布、复制、记入日志。请用保留给示例的号码。"
    bad = "rationale: Asked for by clerk@our-firm.cn.\n"
    good = "rationale: Asked for by clerk@example.com, telephone 13800001234.\n"

    def rule(self, ruleset: Ruleset, rule: RuleFile) -> Iterator[Problem]:
        text = ruleset.sources.get(rule.id, "")
        for start, what, said in personal(text):
            line, column = text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
            way_out = "Write one that is kept for examples: 555-0100, 13800001234, name@example.com."
            yield Problem(ruleset.paths[rule.id], line, column, f"{said!r} may be a real {what}", way_out)
