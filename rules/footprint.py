"""Which turns a change of rules can touch at all: what it cannot touch is decided once for both rule sets.

Every claim here rests on how rules are asked, not on what they usually do:

- a scan is made from grammars, cues and the vocabularies they ask for: when these are the same, so is every scan; cues
  change nothing about mentions, so that where only cues differ both scans can be compared;
- a gate is asked through ``gated`` and nothing else: both answers can be compared;
- the decision table is asked through ``judge`` and nothing else: both verdicts can be compared;
- a frame is tried only on turns that hold the words it cannot do without (``prefilter``);
- a capture rule with a trigger fits only where a word of its trigger stands, one without only where there is a mention;
- what captures take does not depend on what is known, nor on inductions and on the fields of a slot that are read later
  (``LATER``); when a slot differs in others, nothing but scans is shared.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..extractors.text import normalize
from ..model import Scan, Turn
from .capture_file import CaptureFile
from .compare import INERT, RuleChange, compare
from .prefilter import Prefilter
from .ruleset import Ruleset

# Kinds whose every question can be looked at.
ASKED = frozenset({"capture", "cue", "gate", "policy"})
# Fields of a slot that only binding, judging, storing and wording read.
LATER = frozenset(
    {
        "title", "type", "cardinality", "equality", "precedence", "flag_change", "needs_approval", "hedge", "keeps",
        "ttl", "retention", "personal_data", "importance", "say", "asked_as",
    }
)  # fmt: skip
# What a frame is written with; a trigger word that has one of these is not looked for as a frame.
_SIGNS = frozenset("()[]{}|^$?")


@dataclass(frozen=True)
class Footprint:
    """What a change of rules reaches."""

    same_mentions: bool
    """Both sets find the same mentions and parts in every text."""
    same_scans: bool
    """They find the same cues, too."""
    same_captures: bool
    """There are turns of which both sets certainly take the same when their scans are the same, whatever they know."""
    same_decisions: bool
    """Such turns are decided alike, when both sets know the same and their tables agree."""
    gates: bool
    """A gate differs, so that both must be asked."""
    words: Prefilter
    """One pattern for each frame and each trigger of the captures that differ; an empty one is in every text."""
    wants_mention: frozenset[int]
    """Those of the patterns that need a mention beside their words."""

    def touches(self, turn: Turn, scan: Scan) -> bool:
        """False when certainly no capture rule that differs does anything in the turn."""
        found = self.words.possible(normalize(turn.text).lower)
        return any(number not in self.wants_mention or scan.mentions for number in found)


def footprint(before: Ruleset, after: Ruleset) -> Footprint:
    """What the step from one rule set to the other reaches."""
    changes = compare(before, after).changes
    kinds = {change.kind for change in changes}
    words = {change.rule for change in changes if change.kind == "vocabulary"}
    same_mentions = "grammar" not in kinds and not (words and words & (before.extraction.read | after.extraction.read))
    others = [change for change in changes if change.kind not in ASKED and change.kind != "vocabulary"]
    later = all(change.kind == "induction" or _read_later(change) for change in others)
    inert = all(change.kind == "slot" and change.inert for change in others)
    phrases: list[str] = []
    wants: set[int] = set()
    for change in changes:
        if change.kind != "capture":
            continue
        for ruleset in (before, after):
            file = ruleset.files.get(change.rule)
            if isinstance(file, CaptureFile):
                for phrase, mention in _signs(file, ruleset):
                    if mention:
                        wants.add(len(phrases))
                    phrases.append(phrase)
    parts = [sorted((f.slot, f.take.part) for f in r.captures if f.take.part != "whole") for r in (before, after)]
    same_captures = same_mentions and not words and later and parts[0] == parts[1]
    return Footprint(
        same_mentions,
        same_mentions and "cue" not in kinds,
        same_captures,
        same_captures and inert,
        "gate" in kinds,
        Prefilter(phrases),
        frozenset(wants),
    )


def _read_later(change: RuleChange) -> bool:
    return change.kind == "slot" and change.what == "changed" and change.touched <= LATER | INERT


def _signs(file: CaptureFile, ruleset: Ruleset) -> Iterable[tuple[str, bool]]:
    """Patterns of which one must match where the rule does anything, each with whether it needs a mention."""
    if file.phrases:
        yield from ((phrase, False) for phrase in file.phrases)
        return
    if file.trigger is None:
        yield "", True
        return
    # The word behind "What is …?" may be a trigger too, with no mention beside it.
    mention = file.trigger.place != "label_end"
    words = [*file.trigger.words, *(ruleset.words(file.trigger.lexicon) if file.trigger.lexicon else ())]
    for word in words:
        yield ("" if _SIGNS & set(word) else word), mention
