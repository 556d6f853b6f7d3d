"""Checks of the words that rules hang on."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import Any

from ...extractors.cues import CueFile
from ...extractors.vocabulary import ADDITION, VocabularyFile
from ...rulefile import RuleFile
from ..capture_file import CaptureFile
from ..gates import GateFile
from ..ruleset import Ruleset
from .base import Found, LintCheck

Place = tuple[tuple[str | int, ...], str]


def own_words(rule: RuleFile) -> Iterator[Place]:
    """The words that stand in a rule itself, each with its path."""
    if isinstance(rule, CaptureFile):
        yield from _listed(("trigger", "words"), rule.trigger.words if rule.trigger else ())
        for index, condition in enumerate(rule.when):
            yield from _listed(("when", index, "words"), condition.words)
            yield from _listed(("when", index, "no_words"), condition.no_words)
    elif isinstance(rule, VocabularyFile):
        yield from _listed(("words",), rule.words if isinstance(rule.words, list) else ())
        yield from (((("words", word)), word) for word in rule.words if isinstance(rule.words, dict))
        for concept, words in rule.labels.items():
            yield from _listed(("labels", concept), words)
    elif isinstance(rule, GateFile):
        yield from _listed(("words",), rule.words)
    elif isinstance(rule, CueFile):
        yield from _listed(("words",), rule.words)
        for name, spec in rule.cues.items():
            yield from _listed(("cues", name, "words"), spec.words)


def _listed(path: tuple[str | int, ...], words: Any) -> Iterator[Place]:
    yield from (((*path, index), word) for index, word in enumerate(words))


class OneCharacterTrigger(LintCheck):
    """A trigger has at least two characters: one alone stands inside too many other words."""

    id = "one-character-trigger"
    severity = "warning"
    zh = "触发词至少两个字符：单字会出现在太多别的词里。"
    bad = "trigger: {words: [费], place: around}\n"
    good = "trigger: {words: [费用, 经费], place: around}\n"

    def rule(self, ruleset: Ruleset, rule: RuleFile) -> Iterator[Found]:
        if isinstance(rule, CaptureFile) and rule.trigger:
            for index, word in enumerate(rule.trigger.words):
                if len(word.strip()) < 2:
                    yield rule.id, ("trigger", "words", index), f"the trigger {word!r} is one character", _LONGER
            lexicon = ruleset.words(rule.trigger.lexicon) if rule.trigger.lexicon else ()
            if short := ", ".join(repr(word) for word in lexicon if len(word.strip()) < 2):
                said = f"triggers of {rule.trigger.lexicon} are one character: {short}"
                yield rule.id, ("trigger", "lexicon"), said, _LONGER
        if isinstance(rule, GateFile) and rule.match == "anywhere":
            for index, word in enumerate(rule.words):
                if len(word.strip()) < 2:
                    said = f"the word {word!r} is one character and counts anywhere in the turn"
                    yield rule.id, ("words", index), said, "Write longer words, or `match: whole`."


_LONGER = "Write the words that it stands in, or a sentence frame (`phrases`)."


class FullWidthSign(LintCheck):
    """Words are parted by the half-width comma; a full-width sign inside one makes a single word of two."""

    id = "full-width-sign"
    zh = "词与词之间用半角逗号；全角标点会把两个词并成一个词。"
    bad = "kind: vocabulary\nwords: [预算，经费，额度]\n"
    good = "kind: vocabulary\nwords: [预算, 经费, 额度]\n"

    def rule(self, ruleset: Ruleset, rule: RuleFile) -> Iterator[Found]:
        for path, word in own_words(rule):
            hit = re.search(r"[，、；：“”‘’｜]", word)
            if hit and len(word) > 1:
                said = f"the word {word!r} holds the full-width sign {hit[0]!r}"
                yield rule.id, path, said, "Part words with `, `; a sign of a text itself is written half-width."
            if unseen := re.search("[\u00ad\u200b-\u200f\u2060\ufeff]", word):
                said = f"the word {word!r} holds the invisible character U+{ord(unseen[0]):04X}"
                yield rule.id, path, said, "Type the word anew; it was copied with a character that nobody sees."


class LostZeros(LintCheck):
    """A number with leading zeros is text: `0571` without quotes is read as 571."""

    id = "lost-zeros"
    zh = "带前导零的数字是文本：不加引号的 `0571` 会读成 571。"
    bad = "kind: vocabulary\nwords: {杭州: 0571}\n"
    good = "kind: vocabulary\nwords: {杭州: '0571'}\n"

    def rule(self, ruleset: Ruleset, rule: RuleFile) -> Iterator[Found]:
        if isinstance(rule, VocabularyFile) and isinstance(rule.words, dict):
            text = ruleset.sources.get(rule.id, "")
            for word, value in rule.words.items():
                if type(value) is int and re.search(
                    rf"(?m){re.escape(word)}[\"']?: +[-+]?0+{value}\s*(?:[,}}#]|$)", text
                ):
                    yield (
                        rule.id,
                        ("words", word),
                        f"{word!r} is read as the number {value}, without its zeros",
                        _QUOTES,
                    )


_QUOTES = "Put it in quotes."


class UnknownBase(LintCheck):
    """A vocabulary `<id>.more` adds to a vocabulary that exists."""

    id = "unknown-base"
    zh = "词表 `<id>.more` 所补充的词表必须存在。"
    bad = "kind: vocabulary\nid: words.adress.en.more.acme\n"
    good = "kind: vocabulary\nid: words.address.en.more.acme\n"

    def rule(self, ruleset: Ruleset, rule: RuleFile) -> Iterator[Found]:
        base, mark, rest = rule.id.partition(ADDITION)
        adds = mark and (not rest or rest.startswith(".")) and isinstance(rule, VocabularyFile)
        if adds and base not in ruleset.vocabularies:
            said = f"there is no vocabulary {base!r} to add to"
            known = [name for name in ruleset.vocabularies if ADDITION not in name]
            close = difflib.get_close_matches(base, sorted(known), n=1)
            yield rule.id, ("id",), said, f"Did you mean {close[0]!r}?" if close else "Correct the id."
