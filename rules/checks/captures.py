"""Checks of capture rules against each other and against their slots."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping

from ...rulefile import RuleFile
from ..capture_file import CaptureFile, Condition, ValueCondition
from ..gates import GateFile
from ..ruleset import Ruleset
from .base import Found, LintCheck

_PLACES_WITHIN: Mapping[str, frozenset[str]] = {  # where a trigger of one place is found by a rule of another
    "label": frozenset({"label", "around", "clause", "sentence"}),
    "label_end": frozenset({"label_end", "label", "around", "clause", "sentence"}),
    "predicate": frozenset({"predicate", "around", "clause", "sentence"}),
    "around": frozenset({"around", "clause", "sentence"}),
    "clause": frozenset({"clause", "sentence"}),
    "sentence": frozenset({"sentence"}),
}


def triggers(ruleset: Ruleset, rule: CaptureFile) -> frozenset[str]:
    """The words of a rule's trigger in small letters; none for a rule without one."""
    if rule.trigger is None:
        return frozenset()
    lexicon = ruleset.words(rule.trigger.lexicon) if rule.trigger.lexicon else ()
    return frozenset(word.lower() for word in (*rule.trigger.words, *lexicon))


def _binders(ruleset: Ruleset) -> list[tuple[CaptureFile, ValueCondition]]:
    """The rules that bind a mention, in the order in which they are tried."""
    found = []
    for rule in sorted(ruleset.captures, key=lambda rule: (-rule.priority, rule.id)):
        condition = rule.condition()
        if condition is not None and not rule.phrases:
            found.append((rule, condition))
    return found


def _meet(one: CaptureFile, other: CaptureFile, value: ValueCondition, of_other: ValueCondition) -> bool:
    """False when a condition keeps two rules apart, so that no mention is taken by both."""
    if not _speak_together(one, other):
        return False
    if one.take.part != other.take.part:
        return False  # the day and the clock of one time go to different slots
    if value.labelled is not None and of_other.labelled is not None and value.labelled != of_other.labelled:
        return False
    for asked, by_other in ((value.type, of_other.type), (value.bound, of_other.bound)):
        if asked and by_other and set(map(str, asked)).isdisjoint(map(str, by_other)):
            return False
    return True


def _speak_together(one: CaptureFile, other: CaptureFile) -> bool:
    """False when two rules never look at the same sentence: other languages, speakers, cues or words."""
    if "any" not in (one.language, other.language) and one.language != other.language:
        return False
    return not (_excluded(one, other) or _excluded(other, one))


def _excluded(one: CaptureFile, other: CaptureFile) -> bool:
    """True when what one rule asks for, the other forbids."""
    for asked in one.when:
        for forbidden in other.when:
            if asked.cue and set(asked.cue) <= set(forbidden.no_cue):
                return True
            if asked.words and set(asked.words) <= set(forbidden.no_words):
                return True
            if asked.speaker and forbidden.speaker and set(asked.speaker).isdisjoint(forbidden.speaker):
                return True
    return False


def _outcome(rule: CaptureFile) -> tuple[str, str, str]:
    return rule.slot, rule.act, rule.take.qualifier


class _AtOnePriority(LintCheck, ABC):
    """Base: pairs of rules of one priority that a mention may meet together."""

    def collisions(self, ruleset: Ruleset) -> Iterator[tuple[CaptureFile, CaptureFile, str]]:
        """A rule, the first one before it that it collides with, and the word that both hang on ("" for none)."""
        seen: dict[tuple[int, str, str], list[tuple[CaptureFile, ValueCondition]]] = {}
        for rule, value in _binders(ruleset):
            words = triggers(ruleset, rule) or {""}
            places = [(rule.priority, kind, word) for kind in value.kind for word in sorted(words)]
            hit = next(
                (
                    (earlier, word)
                    for key in places
                    for earlier, other in seen.get(key, ())
                    for word in (key[2],)
                    if _meet(rule, earlier, value, other) and self.counts(rule, earlier)
                ),
                None,
            )
            if hit is not None:
                yield rule, hit[0], hit[1]
            for key in places:
                if len(listed := seen.setdefault(key, [])) < _ENOUGH:
                    listed.append((rule, value))
        yield from self._frames(ruleset)

    def _frames(self, ruleset: Ruleset) -> Iterator[tuple[CaptureFile, CaptureFile, str]]:
        """The same for sentence frames that two rules share to the letter."""
        seen: dict[tuple[int, str], list[CaptureFile]] = {}
        for rule in sorted(ruleset.captures, key=lambda rule: (-rule.priority, rule.id)):
            for phrase in rule.phrases:
                listed = seen.setdefault((rule.priority, phrase), [])
                hit = next((e for e in listed if _speak_together(rule, e) and self.counts(rule, e)), None)
                if hit is not None:
                    yield rule, hit, phrase
                    break
                listed.append(rule)

    @abstractmethod
    def counts(self, rule: CaptureFile, earlier: CaptureFile) -> bool:
        """Whether this pair is what the check is about."""


_ENOUGH = 20  # rules on one word that a further one is held against


class EqualPriority(_AtOnePriority):
    """Two rules of one slot that the same words lead to differ in priority, so that one of them is meant to win."""

    id = "equal-priority"
    zh = "同一槽位里由同样的词触发的两条规则，优先级不同，才知道谁该赢。"
    bad = """\
priority: 60
trigger: {words: [预算], place: around}
---
id: capture.budget_other
priority: 60
trigger: {words: [预算, 经费], place: around}
"""
    good = bad.replace("_other\npriority: 60", "_other\npriority: 61")

    def counts(self, rule: CaptureFile, earlier: CaptureFile) -> bool:
        return _outcome(rule) == _outcome(earlier)

    def whole(self, ruleset: Ruleset) -> Iterator[Found]:
        for rule, earlier, word in self.collisions(ruleset):
            said = f"{earlier.id} has priority {rule.priority} too and takes the same values"
            yield rule.id, ("priority",), said + (f" beside {word!r}" if word else ""), "Give one of them another."


class OverlapDiffers(_AtOnePriority):
    """Two rules that the same words lead to, and that do different things, differ in priority."""

    id = "overlap-differs"
    zh = "由同样的词触发而结果不同的两条规则，优先级必须不同。"
    bad = """\
priority: 60
trigger: {words: [预算], place: around}
---
id: capture.fee
slot: fee
priority: 60
trigger: {words: [预算, 费用], place: around}
---
kind: slot
id: slot.fee
slot: fee
"""
    good = bad.replace("fee\npriority: 60", "fee\npriority: 59")

    def counts(self, rule: CaptureFile, earlier: CaptureFile) -> bool:
        return _outcome(rule) != _outcome(earlier)

    def whole(self, ruleset: Ruleset) -> Iterator[Found]:
        for rule, earlier, word in self.collisions(ruleset):
            said = f"{earlier.id} ({earlier.slot}) has priority {rule.priority} too and meets the same values"
            yield rule.id, ("priority",), said + (f" beside {word!r}" if word else ""), "Raise the one that should win."


class ShadowedTrigger(LintCheck):
    """A rule is not wholly hidden by one of higher priority that takes the same values beside the same words."""

    id = "shadowed-trigger"
    severity = "warning"  # a folder of one's own may hide a shipped rule on purpose
    zh = "规则不会被优先级更高、触发词更全的规则完全遮住。"
    bad = """\
priority: 60
trigger: {words: [研发预算], place: label}
---
id: capture.budget_any
priority: 70
trigger: {words: [研发预算, 预算], place: around}
"""
    good = """\
priority: 80
trigger: {words: [研发预算], place: label}
---
id: capture.budget_any
priority: 70
trigger: {words: [研发预算, 预算], place: around}
"""

    def whole(self, ruleset: Ruleset) -> Iterator[Found]:
        plain: list[tuple[CaptureFile, frozenset[str]]] = []
        by_word: dict[str, list[int]] = {}
        for rule, value in _binders(ruleset):
            words = triggers(ruleset, rule)
            near = sorted({number for word in sorted(words)[:1] or [""] for number in by_word.get(word, ())})
            for number in near or by_word.get("", []):
                earlier, of_earlier = plain[number]
                if earlier.priority > rule.priority and _hides(earlier, rule, of_earlier, words, value):
                    yield rule.id, ("trigger",), f"{earlier.id} comes first and takes all that this rule could", (
                        f"Raise its priority above {earlier.priority}, or remove it."
                    )  # fmt: skip
                    break
            if _unconditional(rule, value):
                for word in words or {""}:
                    by_word.setdefault(word, []).append(len(plain))
                plain.append((rule, words))


def _unconditional(rule: CaptureFile, value: ValueCondition) -> bool:
    """True for a rule that asks for nothing but its trigger and a kind of value."""
    bare = ValueCondition(kind=value.kind)
    return all(c in (Condition(value=value), Condition()) for c in rule.when) and value == bare


def _hides(
    first: CaptureFile, rule: CaptureFile, words: frozenset[str], own: frozenset[str], value: ValueCondition
) -> bool:
    taken = first.condition()
    if taken is None or not set(value.kind) <= set(taken.kind) or value.within > taken.within:
        return False
    if first.language not in ("any", rule.language) or first.take.part != rule.take.part:
        return False
    if first.trigger is None:
        return True
    if rule.trigger is None or not own <= words:
        return False
    return first.trigger.place in _PLACES_WITHIN[rule.trigger.place]


class UnreachableCondition(LintCheck):
    """No condition of a rule excludes another one of it, or the slot that it fills."""

    id = "unreachable-condition"
    zh = "规则的条件不互相排斥，也不与它填的槽位矛盾。"
    bad = "when: [{value: {kind: money}}, {cue: [question]}, {no_cue: [question]}]\n"
    good = "when: [{value: {kind: money}}, {cue: [question]}, {no_cue: [negation]}]\n"

    def rule(self, ruleset: Ruleset, rule: RuleFile) -> Iterator[Found]:
        if isinstance(rule, GateFile):
            yield from self._gate(rule)
        if not isinstance(rule, CaptureFile):
            return
        for index, condition in enumerate(rule.when):
            for other in rule.when:
                if condition.cue and set(condition.cue) <= set(other.no_cue):
                    said = f"the cue {condition.cue[0]!r} is asked for and forbidden"
                    yield rule.id, ("when", index, "cue"), said, "Remove one of them."
                if condition.words and set(condition.words) <= set(other.no_words):
                    said = f"the word {condition.words[0]!r} is asked for and forbidden"
                    yield rule.id, ("when", index, "words"), said, "Remove one of them."
                if condition.speaker and other.speaker and set(condition.speaker).isdisjoint(other.speaker):
                    yield rule.id, ("when", index, "speaker"), "no speaker meets both conditions", "Keep one of them."
            if condition.value is not None:
                yield from self._value(ruleset, rule, index, condition.value)
        refused = {word.lower() for condition in rule.when for word in condition.no_words}
        for index, word in enumerate(rule.trigger.words if rule.trigger else ()):
            if word.lower() in refused:
                said = f"the trigger {word!r} is forbidden by `no_words`"
                yield rule.id, ("trigger", "words", index), said, "Remove it from one of the two."

    def _gate(self, rule: GateFile) -> Iterator[Found]:
        if rule.cues and set(rule.cues) <= set(rule.unless.cues):
            yield (
                rule.id,
                ("unless", "cues"),
                f"the cue {rule.cues[0]!r} is asked for and forbidden",
                "Remove one of them.",
            )
        for index, word in enumerate(rule.words):
            if word in rule.unless.words:
                yield rule.id, ("words", index), f"the word {word!r} is asked for and forbidden", "Remove one of them."
        if isinstance(rule.mentions, list) and rule.mentions and set(rule.mentions) <= set(rule.unless.mentions):
            said = f"a mention of {rule.mentions[0]} is allowed and forbidden"
            yield rule.id, ("unless", "mentions"), said, "Remove one of them."

    def _value(self, ruleset: Ruleset, rule: CaptureFile, index: int, value: ValueCondition) -> Iterator[Found]:
        path = ("when", index, "value")
        if (value.type or value.open_end) and "time" not in value.kind:
            yield rule.id, path, "a type of time is asked of a value that is no time", "Add `time` to its kinds."
        if value.labelled is False and (value.label_words or (rule.trigger and rule.trigger.place == "label")):
            yield rule.id, (*path, "labelled"), "a label is asked for and forbidden", "Remove `labelled: false`."
        slot = ruleset.slots.get(rule.slot)
        if slot is not None and rule.take.value == "value" and rule.take.part == "whole":
            takes = set(slot.value) | ({"number"} if {"money", "quantity"} & set(slot.value) else set())
            if takes.isdisjoint(value.kind):
                said = f"the slot {rule.slot!r} takes {' and '.join(slot.value)}, the rule gives {value.kind[0]}"
                yield rule.id, (*path, "kind"), said, "Correct the kind, or the slot."
