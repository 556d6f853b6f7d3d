"""Which turns a change of rules can touch at all: what it cannot touch is decided once for both rule sets.

Every claim here rests on how rules are asked, not on what they usually do:

- a scan is made from grammars, cues and vocabularies alone: when these are the same, so is every scan;
- a gate is asked through ``gated`` and nothing else: both answers can be compared;
- the decision table is asked through ``judge`` and nothing else: both verdicts can be compared;
- a frame is tried only on turns that hold the words it cannot do without (``prefilter``);
- a capture rule with a trigger fits only where a word of its trigger stands, one without only where there is a mention;
- slots are read in many places: when one differs in more than its header, nothing is shared; nor when a rule of any
  other kind differs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..extractors.text import normalize
from ..model import Scan, Turn
from .capture_file import CaptureFile
from .compare import compare
from .prefilter import Prefilter
from .ruleset import Ruleset

# Kinds of which extraction is made, and kinds whose every question can be looked at.
READING = frozenset({"grammar", "cue", "vocabulary"})
ASKED = frozenset({"capture", "gate", "policy"})
# What a frame is written with; a trigger word that has one of these is not looked for as a frame.
_SIGNS = frozenset("()[]{}|^$?")


@dataclass(frozen=True)
class Footprint:
    """What a change of rules reaches."""

    same_scans: bool
    """Both sets find the same in every text."""
    shareable: bool
    """There are turns that both sets certainly decide alike, when they know the same."""
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
    same_scans = not kinds & READING
    whole = any(
        change.kind not in ASKED and not (change.kind == "slot" and change.inert) for change in changes
    )  # fmt: skip
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
    shareable = same_scans and not whole and parts[0] == parts[1]
    return Footprint(same_scans, shareable, "gate" in kinds, Prefilter(phrases), frozenset(wants))


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
