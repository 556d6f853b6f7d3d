"""One turn under a rule set laid open: what was found, what was decided on which features, what nearly happened."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..model import Cue, Decision, Known, MemoryItem, Mention, Scan, Turn
from .nearly import Tried, captures_tried, cues_tried, gates_tried, rows_tried
from .policy import PLAIN
from .ruleset import Ruleset

Trial = Callable[[Sequence[Turn], Known], tuple[Sequence[Decision], Sequence[MemoryItem]]]
# Stopped by these alone a rule was not near: every rule of a kind would be, in every turn.
FAR = frozenset({"language", "trigger"})


@dataclass(frozen=True)
class Tryout:
    """What came of the last of some turns."""

    turn: Turn
    scan: Scan
    gate: str
    decisions: tuple[Decision, ...]
    items: tuple[MemoryItem, ...]
    nearly: tuple[Tried, ...]


def try_turns(turns: Sequence[Turn], ruleset: Ruleset, trial: Trial, read: Callable[[Turn], Scan]) -> Tryout:
    """Observe the turns in a throw-away memory and lay the last one open.

    ``trial`` is the pipeline (see ``inline_tests``), ``read`` what the extractors find in a turn.
    """
    last = turns[-1]
    found = read(last)
    decisions, items = trial(turns, Known())
    own = tuple(decision for decision in decisions if decision.turn_id == last.turn_id)
    gated = ruleset.gated(last, found)
    gate = f"{gated.gate} ({gated.rule})" if gated is not None else "none"
    return Tryout(last, found, gate, own, tuple(items), nearly(last, found, own, ruleset))


def nearly(turn: Turn, scan: Scan, decisions: Sequence[Decision], ruleset: Ruleset) -> tuple[Tried, ...]:
    """The rules that almost did something: all but one condition held, or another rule was asked first."""
    near: list[Tried] = []
    taken = {(decision.capture, decision.start, decision.end) for decision in decisions}
    for tried in captures_tried(turn, scan, ruleset):
        if not tried.stopped_by:
            if (tried.rule, tried.start, tried.end) not in taken and not _did(tried, decisions):
                near.append(tried)
        elif tried.near and (tried.stopped_by[0] not in FAR or (tried.words and tried.stopped_by[0] == "trigger")):
            near.append(tried)
    near += cues_tried(turn, scan, ruleset.extraction.cues)
    near += gates_tried(turn, scan, ruleset)
    for decision in decisions:
        if decision.features:
            near += rows_tried(decision, ruleset.table)
    return tuple(dict.fromkeys(near))


def _did(tried: Tried, decisions: Sequence[Decision]) -> bool:
    """A frame is tried on all its words, and what it takes is a part of them."""
    return any(d.capture == tried.rule and tried.start <= d.start and d.end <= tried.end for d in decisions)


# ---------------------------------------------------------------- for people
def tryout_lines(tryout: Tryout) -> Iterator[str]:
    """The whole of it, in sections."""
    turn = tryout.turn
    yield f"turn       {turn.text!r}, {tryout.scan.lang}, said by the {turn.speaker} at {turn.said_at.isoformat()}"
    yield from _section("mentions", [_mention(each) for each in tryout.scan.mentions])
    parts = [f"{p.start}-{p.end} {p.text!r}: {p.type} {p.value} ({p.rule})" for p in tryout.scan.parts]
    yield from _section("parts", parts) if parts else ()
    refused = [f"{r.start}-{r.end} {r.text!r} is no {r.kind}: {r.why} ({r.rule})" for r in tryout.scan.refused]
    yield from _section("refused", refused) if refused else ()
    yield from _section("cues", [cue_line(cue, tryout.scan) for cue in tryout.scan.cues])
    yield f"gate       {tryout.gate}"
    lines = [line for decision in tryout.decisions for line in decision_lines(decision, tryout.items)]
    yield from _section("decisions", lines)
    items = [item_line(item) for item in tryout.items]
    yield from _section("remembers", items)
    yield from _section("nearly", [tried_line(tried, turn) for tried in tryout.nearly])


def _section(name: str, lines: Sequence[str]) -> Iterator[str]:
    for number, line in enumerate(lines or ["none"]):
        yield f"{name if number == 0 else '':<10} {line}"


def _mention(mention: Mention) -> str:
    return f"{mention.start}-{mention.end} {mention.text!r}: {mention.kind} {mention.canonical} ({mention.rule})"


def cue_line(cue: Cue, scan: Scan) -> str:
    """A cue with its words, its reach and what it covers."""
    covers = ", ".join(scan.mentions[index].canonical for index in cue.covers) or "nothing"
    reach = f" over {cue.scope[0]}-{cue.scope[1]}" if cue.scope is not None else ""
    return f"{cue.start}-{cue.end} {cue.text!r}: {cue.kind}{reach}, covers {covers} ({cue.rule})"


def decision_lines(decision: Decision, items: Sequence[MemoryItem] = ()) -> Iterator[str]:
    """A decision, what made it a candidate, how it was bound, and the features that were not those of a statement."""
    what = f"{decision.slot or 'no slot'}{f'[{decision.qualifier}]' if decision.qualifier else ''}"
    value = decision.canonical or "no value"
    yield f"{decision.action} {decision.reason} by {decision.rule}: {what} {value}"
    yield f"  taken from {decision.start}-{decision.end} by {decision.capture or 'no rule'}"
    if not decision.features:
        return
    told = dict(decision.features)
    yield (
        f"  about {decision.entity}; binding {told.get('binding')}, relation {told.get('relation')}"
        + _target(decision, items)
    )
    unusual = [f"{name}={value}" for name, value in told.items() if name != "slot" and PLAIN.get(name) != value]
    yield f"  features: {', '.join(unusual) or 'those of a plain statement'}"
    if decision.cues:
        yield f"  cues: {', '.join(decision.cues)}"
    if decision.question:
        yield f"  asks: {decision.question}"
    if decision.flags:
        yield f"  flags: {', '.join(decision.flags)}"


def _target(decision: Decision, items: Sequence[MemoryItem]) -> str:
    known = {item.id: item for item in items}
    item = known.get(decision.target or "")
    return f" to {item.slot}[{item.qualifier}] {item.canonical}" if item is not None else ""


def item_line(item: MemoryItem) -> str:
    """An item in one line, with its sentence."""
    return f"{item.slot}[{item.qualifier}] {item.canonical} {item.status}: {item.sentence}"


def tried_line(tried: Tried, turn: Turn) -> str:
    """One rule that nearly did something."""
    words = turn.text[tried.start : tried.end]
    place = f"{tried.start}-{tried.end} {words!r}" if (tried.start, tried.end) != (0, len(turn.text)) else "the turn"
    if not tried.stopped_by:
        return f"{tried.rule} on {place}: fits, but another rule was asked first"
    stop = " and ".join(tried.stopped_by)
    if tried.verdict:
        return f"{tried.rule} on {place}: would give {tried.verdict} for {stop}"
    said = f"{tried.rule} on {place}: stopped by {stop}"
    if tried.because:
        return f"{said} ({tried.because})"
    return f"{said} ({tried.words!r} stands elsewhere)" if tried.stopped_by == ("trigger",) and tried.words else said


# ---------------------------------------------------------------- for programs
def tryout_fields(tryout: Tryout) -> dict[str, Any]:
    """The same as JSON data; a decision has its features, an item its sentence."""
    return {
        "turn": tryout.turn.model_dump(mode="json", exclude_none=True),
        "lang": tryout.scan.lang,
        "mentions": [each.model_dump(mode="json") | {"canonical": each.canonical} for each in tryout.scan.mentions],
        "cues": [each.model_dump(mode="json", exclude_none=True) for each in tryout.scan.cues],
        "parts": [each.model_dump(mode="json") for each in tryout.scan.parts],
        "refused": [each.model_dump(mode="json") for each in tryout.scan.refused],
        "gate": tryout.gate,
        "decisions": [each.model_dump(mode="json", exclude_none=True) for each in tryout.decisions],
        "items": [each.model_dump(mode="json", exclude_none=True) for each in tryout.items],
        "nearly": [tried_fields(each) for each in tryout.nearly],
    }


def tried_fields(tried: Tried) -> dict[str, Any]:
    """One rule that nearly did something, as JSON data."""
    return {
        "rule": tried.rule, "start": tried.start, "end": tried.end, "stopped_by": list(tried.stopped_by),
        "words": tried.words, "because": tried.because, "verdict": tried.verdict,
    }  # fmt: skip
