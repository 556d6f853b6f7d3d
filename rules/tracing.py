"""Why an inline test failed: which condition stopped the rule, which cue changed the meaning, what came instead."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..extractors.scan import scan
from ..model import Decision, MemoryItem, Scan, Turn
from ..rulefile import InlineTest, RuleFile
from .capture_file import CaptureFile
from .nearly import Tried, captures_tried, cues_tried, gates_tried
from .policy import TableRow
from .ruleset import Ruleset
from .trying import cue_line, decision_lines, tried_line

ALIVE = frozenset({"current", "scheduled"})
SHOWN = 3  # rows of the table that come close


@dataclass(frozen=True)
class Ran:
    """What an inline test came to: the last turn and its scan, or for a policy the features and the row."""

    file: RuleFile
    test: InlineTest
    turn: Turn | None = None
    scan: Scan | None = None
    decisions: tuple[Decision, ...] = ()
    items: tuple[MemoryItem, ...] = ()
    features: Mapping[str, str] = field(default_factory=dict)
    row: str | None = None


def read_again(ran: Ran, ruleset: Ruleset) -> Scan:
    """What the extractors find in the last turn of a test."""
    assert ran.turn is not None
    if ran.scan is not None:
        return ran.scan
    return scan(ran.turn.text, ruleset.extraction, said_at=ran.turn.said_at, speaker=ran.turn.speaker, ner=False)


def trace(ran: Ran, ruleset: Ruleset) -> Iterator[str]:
    """Lines for the author of the rule, each one fact."""
    tell: dict[str, Callable[[Ran, Ruleset], Iterator[str]]] = {
        "policy": _policy, "gate": _gate, "cue": _cue, "capture": _pipeline, "slot": _pipeline,
    }  # fmt: skip
    yield from tell.get(ran.file.kind, _mentions)(ran, ruleset)


def _mentions(ran: Ran, ruleset: Ruleset) -> Iterator[str]:
    found = read_again(ran, ruleset)
    for each in found.mentions:
        yield f"{each.start}-{each.end} {each.text!r} was read as {each.kind} {each.canonical} by {each.rule}"
    for refused in found.refused:
        yield f"{refused.start}-{refused.end} {refused.text!r} was refused by {refused.rule}: {refused.why}"
    for part in found.parts:
        yield f"{part.start}-{part.end} {part.text!r} stayed a part: {part.type} {part.value} ({part.rule})"
    if not (found.mentions or found.refused or found.parts):
        yield "no rule read anything in it"


def _cue(ran: Ran, ruleset: Ruleset) -> Iterator[str]:
    assert ran.turn is not None
    found = read_again(ran, ruleset)
    for cue in found.cues:
        yield cue_line(cue, found)
    tried = cues_tried(ran.turn, found, ruleset.extraction.cues)
    yield from (tried_line(each, ran.turn) for each in tried if each.rule == ran.file.ref)
    if not found.mentions:
        yield "there is no mention that a cue could cover"


def _gate(ran: Ran, ruleset: Ruleset) -> Iterator[str]:
    assert ran.turn is not None
    found = read_again(ran, ruleset)
    own = [each for each in gates_tried(ran.turn, found, ruleset) if each.rule == ran.file.ref]
    gated = ruleset.gated(ran.turn, found)
    if own:
        yield from (tried_line(each, ran.turn) for each in own)
    elif gated is None or gated.rule != ran.file.ref:
        yield f"{ran.file.ref}: none of its words or patterns is where it must be"
    yield f"mentions: {', '.join(f'{m.kind} {m.canonical}' for m in found.mentions) or 'none'}"
    yield f"cues: {', '.join(f'{cue.kind} {cue.text!r}' for cue in found.cues) or 'none'}"


def _policy(ran: Ran, ruleset: Ruleset) -> Iterator[str]:
    wanted = ran.test.gives or {}
    yield f"decided by {ran.row}" if ran.row else "no row matches"

    def gives(row: TableRow) -> bool:
        verdict = row.verdict
        name = verdict.rule.partition("@")[0].rpartition(".")[2]
        said = {"do": verdict.action, "reason": verdict.reason, "row": name}
        return all(wanted.get(key, value) == value for key, value in said.items())

    near: list[tuple[int, str]] = []
    for row in ruleset.table:
        if not gives(row):
            continue
        missing = [
            f"{k}={' or '.join(v)} (is {ran.features.get(k)})" for k, v in row.when if ran.features.get(k) not in v
        ]
        near.append((len(missing), f"{row.verdict.rule} would give it: {' and '.join(missing) or 'but stands below'}"))
    yield from (line for _, line in sorted(near, key=lambda each: each[0])[:SHOWN])


def _pipeline(ran: Ran, ruleset: Ruleset) -> Iterator[str]:
    assert ran.turn is not None
    found = read_again(ran, ruleset)
    for decision in ran.decisions:
        yield from decision_lines(decision, ran.items)
    for cue in found.cues:
        yield f"cue {cue_line(cue, found)}"
    tried = captures_tried(ran.turn, found, ruleset)
    if isinstance(ran.file, CaptureFile):
        yield from _own(ran, ran.turn, found, tried)
        return
    slots = {file.ref: file.slot for file in ruleset.captures}
    wanted = str(ran.file.id).removeprefix("slot.")
    for each in tried:
        if slots.get(each.rule) == wanted and len(each.stopped_by) <= 1:
            yield tried_line(each, ran.turn) if each.stopped_by else f"{each.rule} fits {each.start}-{each.end}"


def _own(ran: Ran, turn: Turn, found: Scan, tried: Sequence[Tried]) -> Iterator[str]:
    assert isinstance(ran.file, CaptureFile)
    own = [each for each in tried if each.rule == ran.file.ref]
    took = {decision.capture for decision in ran.decisions}
    for each in own:
        if each.stopped_by:
            yield tried_line(each, turn)
        elif each.rule not in took:
            first = [other.rule for other in tried if not other.stopped_by and other.start == each.start]
            yield f"{each.rule} fits {each.start}-{each.end}, but {first[0]} is asked first"
    if own:
        return
    condition = ran.file.condition()
    if ran.file.phrases:
        yield f"{ran.file.ref}: none of its frames matches"
    elif condition is not None:
        kinds = ", ".join(f"{m.kind} {m.canonical}" for m in found.mentions) or "nothing"
        yield f"{ran.file.ref} asks for {' or '.join(condition.kind)}; found {kinds}"
