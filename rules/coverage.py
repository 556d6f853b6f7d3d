"""What the inline tests of a rule set exercise: rules that did something, conditions that stopped one, words said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..extractors.cues import CueFile
from ..extractors.text import normalize
from ..extractors.vocabulary import VocabularyFile
from ..model import Scan
from ..rulefile import RuleFile
from .capture_file import CaptureFile
from .gates import GateFile
from .nearly import captures_tried, cues_tried, gates_tried
from .policy import PolicyFile
from .ruleset import Ruleset
from .tracing import Ran, read_again

_TOKEN = re.compile(r"[a-z0-9]+(?:['-][a-z0-9]+)*")
SHOWN = 6  # words of a rule that are named in the text; JSON has them all


@dataclass(frozen=True)
class Covered:
    """One rule: whether a test saw it act, and which of its conditions and words none did."""

    rule: str
    kind: str
    file: str
    exercised: bool
    conditions: tuple[str, ...]
    idle_conditions: tuple[str, ...]
    words: int
    idle_words: tuple[str, ...]


@dataclass
class Coverage:
    """Gathers what tests came to: give ``watch`` to ``inline_tests.check``, then ask ``rules``.

    A condition counts once it alone stopped its rule, or for a table row or a frame once it decided: only then would
    a test fail without it. A word counts once a sentence of a test has it.
    """

    ruleset: Ruleset
    _acted: set[str] = field(default_factory=set)
    _stopped: set[tuple[str, str]] = field(default_factory=set)
    _said: set[str] = field(default_factory=set)

    def watch(self, ran: Ran) -> None:
        """Take in one test."""
        if ran.row is not None:
            self._acted.add(_plain(ran.row))
        if ran.turn is None:
            return
        found = read_again(ran, self.ruleset)
        self._said.update(normalize(text).lower for text in (*ran.test.after, ran.test.say))
        self._acted.update(map(_plain, _acting(found)))
        gated = self.ruleset.gated(ran.turn, found)
        if gated is not None:
            self._acted.add(_plain(gated.rule))
        for decision in ran.decisions:
            self._acted.add(_plain(decision.rule))
            self._acted.add(_plain(decision.capture or ""))
            if decision.slot is not None:
                self._acted.add(f"slot.{decision.slot.removeprefix('reported.')}")
        tried = (
            *captures_tried(ran.turn, found, self.ruleset),
            *cues_tried(ran.turn, found, self.ruleset.extraction.cues),
            *gates_tried(ran.turn, found, self.ruleset),
        )
        self._stopped.update((_plain(each.rule), each.stopped_by[0]) for each in tried if each.near)

    def rules(self, only: Iterable[str] | None = None) -> Iterator[Covered]:
        """What was and was not exercised, rule by rule; all rules, or those named."""
        names = self.ruleset.files if only is None else only
        text = "\n".join(sorted(self._said))
        tokens = frozenset(_TOKEN.findall(text))
        for name in names:
            file = self.ruleset.files[name]
            words = list(dict.fromkeys(_words(file)))
            idle_words = tuple(word for word in words if not _occurs(word.lower(), text, tokens))
            conditions = tuple(dict.fromkeys(_conditions(file)))
            if isinstance(file, PolicyFile):
                idle = tuple(each for each in conditions if f"{name}.{each}" not in self._acted)
            else:
                idle = tuple(each for each in conditions if (name, each) not in self._stopped)
            acted = self._has_acted(file) or (file.kind == "vocabulary" and len(idle_words) < len(words))
            yield Covered(
                file.ref, file.kind, self.ruleset.paths[name], acted, conditions, idle, len(words), idle_words
            )

    def _has_acted(self, file: RuleFile) -> bool:
        slot = getattr(file, "slot", None) if file.kind == "slot" else None
        own = {file.id} | ({f"slot.{slot}"} if slot else set())
        if own & self._acted:
            return True
        return any(name.startswith(f"{file.id}.") for name in self._acted)


def _acting(scan: Scan) -> Iterator[str]:
    yield from (each.rule for each in scan.mentions)
    yield from (each.rule for each in scan.cues)
    yield from (each.rule for each in scan.parts)
    yield from (each.rule for each in scan.refused)


def _plain(ref: str) -> str:
    """A rule's or row's name without its version."""
    return ref.partition("@")[0]


def _conditions(file: RuleFile) -> Iterator[str]:
    """The conditions of a rule, by the names under which they stop it; of a table its rows."""
    if isinstance(file, PolicyFile):
        yield from (_plain(file.row_name(index)).removeprefix(f"{file.id}.") for index in range(len(file.rows)))
    elif isinstance(file, CaptureFile):
        yield from _of_capture(file)
    elif isinstance(file, GateFile):
        gate = {
            "speaker": file.speaker, "longest": file.longest, "mentions": file.mentions != "any", "cues": file.cues,
            "unless.mentions": file.unless.mentions, "unless.cues": file.unless.cues,
            "unless.words": file.unless.words or file.unless.lexicon or file.unless.patterns,
        }  # fmt: skip
        yield from (name for name, given in gate.items() if given)
    elif isinstance(file, CueFile):
        specs = [file.family(None), *(file.family(name) for name in file.cues)]
        if any(spec.unless for spec in specs):
            yield "unless"
        if any(spec.pseudo or spec.pseudo_patterns for spec in specs):
            yield "pseudo"
        if any(spec.at not in (None, "anywhere") for spec in specs):
            yield "at"
        if any(spec.speakers for spec in specs):
            yield "speakers"


def _of_capture(file: CaptureFile) -> Iterator[str]:
    if file.trigger is not None:
        yield "trigger"
    for each in file.when:
        if each.value is not None:
            for name in ("type", "bound", "open_end", "copula", "label_words", "not_before"):
                if getattr(each.value, name):
                    yield f"when.value.{name}"
            if each.value.labelled is not None:
                yield "when.value.labelled"
        for name in ("speaker", "cue", "no_cue", "words", "no_words"):
            if getattr(each, name):
                yield f"when.{name}"
    for name in ("shape", "no_words", "like"):
        if getattr(file.take, name) and (file.phrases or name == "shape"):
            yield f"take.{name}"
    if file.take.part != "whole":
        yield "take.part"


def _words(file: RuleFile) -> Iterator[str]:
    if isinstance(file, VocabularyFile):
        yield from file.entries()
    elif isinstance(file, CaptureFile):
        if file.trigger is not None:
            yield from file.trigger.words
    elif isinstance(file, CueFile):
        yield from file.words
        for spec in file.cues.values():
            yield from spec.words
    elif isinstance(file, GateFile):
        yield from file.words


def _occurs(word: str, text: str, tokens: frozenset[str]) -> bool:
    return word in tokens if _TOKEN.fullmatch(word) else word in text


# ---------------------------------------------------------------- telling
def coverage_lines(rules: Iterable[Covered]) -> Iterator[str]:
    """Totals by kind, then what no test exercises."""
    listed = list(rules)
    for kind in sorted({each.kind for each in listed}):
        own = [each for each in listed if each.kind == kind]
        conditions, idle = sum(len(e.conditions) for e in own), sum(len(e.idle_conditions) for e in own)
        words, unsaid = sum(e.words for e in own), sum(len(e.idle_words) for e in own)
        counts = [f"rules {sum(e.exercised for e in own)}/{len(own)}"]
        if conditions:
            counts.append(f"{'rows' if kind == 'policy' else 'conditions'} {conditions - idle}/{conditions}")
        if words:
            counts.append(f"words {words - unsaid}/{words}")
        yield f"{kind:<11} {', '.join(counts)}"
    for each in listed:
        if not each.exercised:
            yield f"{each.file}: no test sees {each.rule} act"
            continue
        if each.idle_conditions:
            what = "decided by no test" if each.kind == "policy" else "never the one that stopped it"
            yield f"{each.file}: {each.rule}: {what}: {', '.join(each.idle_conditions)}"
        if each.idle_words:
            more = f" and {len(each.idle_words) - SHOWN} more" if len(each.idle_words) > SHOWN else ""
            yield f"{each.file}: {each.rule}: in no test: {', '.join(each.idle_words[:SHOWN])}{more}"


def coverage_fields(rules: Iterable[Covered]) -> list[dict[str, Any]]:
    """The same as JSON data, with every word."""
    return [
        {
            "rule": each.rule, "kind": each.kind, "file": each.file, "exercised": each.exercised,
            "conditions": list(each.conditions), "idle_conditions": list(each.idle_conditions),
            "words": each.words, "idle_words": list(each.idle_words),
        }
        for each in rules
    ]  # fmt: skip
