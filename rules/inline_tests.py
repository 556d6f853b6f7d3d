"""Runs the inline tests of rules: every failure at the line of the test, with a trace of why.

``trial`` runs whole turns: it is given by whoever owns the pipeline, so that rules stay below it. Its contract:
``trial(turns, known) -> (decisions, items)``: in a throw-away store that begins with the items of ``known``, the turns
are observed in order; it returns all decisions of all turns and all items, replaced ones included, as of the last turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from ..extractors.scan import scan
from ..model import Cue, Decision, MemoryItem, Mention, Scan, Turn
from ..rulefile import InlineTest, Problem, RuleFile
from .engine import ReferenceEngine, RuleEngine, given_features, outcome
from .given import known_of, turns_of
from .lint import READS
from .policy import NoVerdict
from .ruleset import Ruleset
from .tracing import ALIVE, Ran, trace
from .trying import Trial

Watch = Callable[[Ran], None]


@dataclass(frozen=True, order=True)
class Failure:
    """An inline test that does not hold."""

    problem: Problem
    rule: str
    index: int
    say: str
    trace: tuple[str, ...] = ()

    def fields(self) -> dict[str, Any]:
        """As JSON data."""
        at = self.problem
        return {
            "file": at.file, "line": at.line, "column": at.column, "rule": self.rule, "test": self.index,
            "say": self.say, "message": at.message, "trace": list(self.trace),
        }  # fmt: skip


@dataclass
class Report:
    """What the inline tests of a rule set came to."""

    failures: list[Failure] = field(default_factory=list)
    passed: int = 0
    todo: int = 0
    skipped: int = 0

    @property
    def problems(self) -> list[Problem]:
        """Every failure at its place."""
        return [failure.problem for failure in self.failures]


def check(
    ruleset: Ruleset,
    trial: Trial | None = None,
    *,
    rule: str | None = None,
    rules: frozenset[str] | None = None,
    engine: RuleEngine | None = None,
    watch: Watch | None = None,
) -> Report:
    """Run the inline tests of all rules, of those in ``rules``, or of one; ``watch`` sees what each came to.

    Without ``trial`` the tests of captures and slots are skipped.
    """
    runner = _Runner(ruleset, trial, engine or ReferenceEngine(ruleset.table), watch)
    report = Report()
    for name, file in ruleset.files.items():
        if (rule is not None and rule not in (name, file.ref)) or (rules is not None and name not in rules):
            continue
        for index, test in enumerate(file.tests):
            runner.one(file, index, test, report)
    report.failures.sort()
    return report


class _Runner:
    def __init__(self, ruleset: Ruleset, trial: Trial | None, engine: RuleEngine, watch: Watch | None) -> None:
        self.ruleset = ruleset
        self.trial = trial
        self.engine = engine
        self.watch = watch
        self._ran: Ran | None = None
        self._kinds: dict[str, frozenset[str]] = {}
        self._by_kind: Mapping[str, Callable[[RuleFile, InlineTest], Iterator[str]]] = {
            "capture": self._pipeline,
            "cue": self._cue,
            "gate": self._gate,
            "grammar": self._mentions,
            "induction": self._pipeline,
            "policy": self._policy,
            "slot": self._pipeline,
            "vocabulary": self._mentions,
        }

    def one(self, file: RuleFile, index: int, test: InlineTest, report: Report) -> None:
        """Run one test and enter it into the report."""
        if file.kind in ("capture", "induction", "slot") and self.trial is None:
            report.skipped += 1
            return
        self._ran = None
        try:
            wrong = list(self._by_kind[file.kind](file, test))
            # With `todo` a stated expectation is the gap itself; without one, `todo` says what is hoped for.
            closed = not wrong if states(file, test) else self._gives(file, test, test.todo or "")
        except ValueError as error:
            wrong, closed = [str(error)], False
        except Exception as error:  # one sentence that breaks the extractors must not hide the other tests
            wrong, closed = [f"the test itself broke: {type(error).__name__}: {error}"], False
        if test.todo is not None:
            wrong = ["the known gap is closed. Remove `todo` and keep what it expects"] if closed else []
            report.todo += not closed
        else:
            report.passed += not wrong
        ran, told = self._last(), tuple[str, ...]()
        if ran is not None and self.watch is not None:
            self.watch(ran)
        if ran is not None and wrong and test.todo is None:
            told = tuple(trace(ran, self.ruleset))
        for message in wrong:
            problem = self.ruleset.problem(file.id, ("tests", index), f"{_short(test.say)}: {message}")
            report.failures.append(Failure(problem, file.ref, index, test.say, told))

    def _last(self) -> Ran | None:
        """What the last test came to; None when it never got so far."""
        return self._ran

    def _gives(self, file: RuleFile, test: InlineTest, wanted: str) -> bool:
        """True when a test gives what its ``todo`` hopes for."""
        whole = dict.fromkeys(("capture", "induction", "slot"), "remembers")  # run through the whole pipeline
        known_as = {"cue": "covers", "policy": "gives", **whole}
        key = known_as.get(file.kind, "expect")
        hoped: Any = wanted
        if key == "remembers" and wanted != "none":
            hoped = {"value": wanted}
        if key == "gives":
            action, _, reason = wanted.partition(" ")
            hoped = {**(test.gives or {}), "do": action} | ({"reason": reason} if reason else {})
        cleared = dict.fromkeys(("expect", "covers", "remembers", "does", "reason", "gives"))
        return not list(self._by_kind[file.kind](file, test.model_copy(update={**cleared, key: hoped})))

    def _scan(self, turn: Turn) -> Scan:
        return scan(turn.text, self.ruleset.extraction, said_at=turn.said_at, speaker=turn.speaker, ner=False)

    def _read(self, file: RuleFile, test: InlineTest) -> tuple[Turn, Scan]:
        turn = turns_of(test)[-1]
        found = self._scan(turn)
        self._ran = Ran(file, test, turn, found)
        return turn, found

    # Grammars and vocabularies: what is found in the sentence.

    def _mentions(self, file: RuleFile, test: InlineTest) -> Iterator[str]:
        if test.expect is None:
            return
        mentions = self._read(file, test)[1].mentions
        if test.expect == "none":
            stray = [mention for mention in mentions if self._counts(file, mention)]
            if stray:
                yield f"expected nothing, found {_listed(stray)}"
            return
        found = [mention.canonical for mention in mentions]
        for wanted in _wanted(test.expect):
            if wanted in found:
                found.remove(wanted)
            else:
                yield f"expected {wanted}, found {_listed(mentions)}"

    def _counts(self, file: RuleFile, mention: Mention) -> bool:
        """Whether a mention contradicts ``expect: none`` of this file: its own rules, or the kinds its words serve."""
        if file.kind == "grammar":
            return _of(mention.rule, file)
        if file.id not in self._kinds:
            served: set[str] = set()
            for test in file.tests:
                if test.expect not in (None, "none"):
                    wanted = set(_wanted(test.expect or ""))
                    found = self._scan(turns_of(test)[-1]).mentions
                    served.update(hit.kind for hit in found if hit.canonical in wanted)
            self._kinds[file.id] = frozenset(served)
        return mention.kind in self._kinds[file.id]

    # Cues: which mentions they cover.

    def _cue(self, file: RuleFile, test: InlineTest) -> Iterator[str]:
        if test.covers is None:
            return
        _, found = self._read(file, test)
        own = [cue for cue in found.cues if _of(cue.rule, file)]
        covered = sorted({index for cue in own for index in cue.covers})
        values = sorted(found.mentions[index].canonical for index in covered)
        wanted = [] if test.covers == "none" else sorted(_wanted(test.covers))
        if values != wanted:
            yield f"expected to cover {wanted or 'nothing'}, covers {values or 'nothing'} ({_cues(own)})"

    # Gates and policies.

    def _gate(self, file: RuleFile, test: InlineTest) -> Iterator[str]:
        if test.expect is None:
            return
        turn, found = self._read(file, test)
        gated = self.ruleset.gated(turn, found)
        said = "no gate" if gated is None else f"{gated.gate} ({gated.rule})"
        if test.expect == "none":
            if gated is not None and gated.rule == file.ref:
                yield f"expected no gate, got {said}"
        elif gated is None or gated.gate != test.expect:
            yield f"expected {test.expect}, got {said}"

    def _policy(self, file: RuleFile, test: InlineTest) -> Iterator[str]:
        if test.gives is None:
            return
        features = given_features(test.gives)
        self._ran = Ran(file, test, features=features)
        try:
            verdict = self.engine.judge(features)
        except NoVerdict as error:
            yield str(error)
            return
        self._ran = Ran(file, test, features=features, row=verdict.rule)
        row = verdict.rule.partition("@")[0]
        wanted = {"do": verdict.action, "reason": verdict.reason, "row": row.rpartition(".")[2]}
        for key, given in wanted.items():
            if key in test.gives and test.gives[key] != given:
                yield f"expected {key} {test.gives[key]}, got {outcome(self.engine, features)}"
                return

    # Captures, slots and inductions: the whole pipeline.

    def _pipeline(self, file: RuleFile, test: InlineTest) -> Iterator[str]:
        if self.trial is None:
            return
        days = timedelta(days=1)  # what counts towards a habit is said one turn a day
        turns = turns_of(test, days) if file.kind == "induction" else turns_of(test)
        known = known_of(test, self.ruleset.slots, self._values)
        decisions, items = self.trial(turns, known)
        last = [decision for decision in decisions if decision.turn_id == turns[-1].turn_id]
        self._ran = Ran(file, test, turns[-1], None, tuple(last), tuple(items))
        written = [item for item in items if item.turn_id == turns[-1].turn_id and item.status in ALIVE]
        got = f"got {_decided(last)}; remembers {_items(items)}"
        if test.remembers == "none" and written:
            yield f"expected to remember nothing, {got}"
        if isinstance(test.remembers, dict) and not any(_fits(item, test.remembers) for item in items):
            yield f"expected {test.remembers}, {got}"
        if test.does is None and test.reason is None:
            return
        for decision in last:
            if test.does in (None, decision.action) and test.reason in (None, decision.reason):
                return
        yield f"expected {' '.join(filter(None, (test.does, test.reason)))}, {got}"

    def _values(self, text: str) -> list[Any]:
        return [mention.value for mention in scan(text, self.ruleset.extraction, ner=False).mentions]


def states(file: RuleFile, test: InlineTest) -> bool:
    """True when a test says what it expects, besides what it hopes for in ``todo``."""
    if file.kind == "policy":
        return test.gives is not None and "do" in test.gives
    return any(getattr(test, key) is not None for key in READS[file.kind])


def _fits(item: MemoryItem, wanted: Mapping[str, str]) -> bool:
    """Whether an item has all the fields named; a living one unless ``status`` says otherwise."""
    fields = {
        "slot": item.slot, "qualifier": item.qualifier, "value": item.canonical, "canonical": item.canonical,
        "entity": item.entity, "kind": item.kind, "type": item.type, "polarity": item.polarity, "source": item.source,
        "asserted_by": item.asserted_by, "status": item.status, "sentence": item.sentence,
    }  # fmt: skip
    unknown = sorted(wanted.keys() - fields.keys())
    if unknown:
        raise ValueError(f"remembers: unknown field {unknown[0]!r}; one of {', '.join(fields)}")
    if "status" not in wanted and item.status not in ALIVE:
        return False
    return all(fields[name] == value for name, value in wanted.items())


def _wanted(given: str | list[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _of(rule: str, file: RuleFile) -> bool:
    name = rule.partition("@")[0]
    return name == file.id or name.startswith(f"{file.id}.")


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:57]}…")


def _listed(mentions: Sequence[Mention]) -> str:
    return ", ".join(f"{mention.canonical} ({mention.kind}, {mention.rule})" for mention in mentions) or "nothing"


def _cues(cues: Sequence[Cue]) -> str:
    return ", ".join(f"{cue.kind} {cue.text!r}" for cue in cues) or "no cue of this file"


def _decided(decisions: Sequence[Decision]) -> str:
    return ", ".join(f"{found.action} {found.reason} ({found.rule})" for found in decisions) or "no decision"


def _items(items: Sequence[MemoryItem]) -> str:
    shown = [f"{item.slot}[{item.qualifier}] {item.canonical} {item.status}" for item in items]
    return ", ".join(shown) or "nothing"
