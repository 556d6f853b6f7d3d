"""All decisions about one turn: every candidate one verdict, every mention that nothing used a reason why not."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..extractors.assertion import assertion_of
from ..model import (
    UNSAID,
    Bound,
    Candidate,
    Cue,
    Decision,
    Known,
    MemoryItem,
    Outcome,
    Proposal,
    Said,
    Scan,
    SlotTraits,
    Turn,
    Verdict,
    wish_of,
)
from ..values import TimeValue
from .anchors import Anchors, Move, counted, following
from .bind import bind
from .book import RulesetLike, book_of
from .capture import Captured, capture
from .edits import bind_edit
from .endings import bind_endings
from .induction import asked_again, faded, induced, rule_of
from .naming import renames

if TYPE_CHECKING:
    from .engine import RuleEngine

Reconcile = Callable[[Known, Bound, Verdict, Turn, str, str, SlotTraits], tuple[tuple[MemoryItem, ...], Known]]
Word = Callable[[Bound, Turn], str]
NewId = Callable[[Turn, Bound], str]

# How long a suggestion waits for an answer, in turns of the conversation.
PROPOSAL_TURNS = 8
_BY_MODALITY = {
    "question": "question", "hypothetical": "hypothetical", "joke": "joke", "quoted": "quoted", "desired": "desired",
    "hedged": "hedged", "request": "one_off_command",
}  # fmt: skip
_BY_CUE: dict[str, str] = {
    "question": "question", "hypothesis": "hypothetical", "wish": "desired", "joke": "joke", "hedge": "hedged",
    "request": "one_off_command",
}  # fmt: skip
# What the law of the house says where no policy row is asked: nothing to judge, or nothing that captures it.
LAW = "law.{}@1"


def decide(
    turn: Turn,
    scan: Scan,
    known: Known,
    ruleset: RulesetLike,
    engine: RuleEngine,
    reconcile: Reconcile,
    word: Word,
    new_id: NewId,
    runtime: str = "",
    captured: Captured | None = None,
) -> tuple[tuple[Outcome, ...], Known]:
    """Outcomes in the order of the text, each knowing what those before it did, and what is known afterwards.

    ``captured`` is what ``capture`` gave for the turn, where somebody has asked before.
    """
    desk = _Desk(turn, scan, known, ruleset, engine, reconcile, word, new_id, runtime)
    book = book_of(ruleset)
    if turn.edit is not None:  # nothing fades under the hands of who edits it
        desk.take(bind_edit(turn, turn.edit, scan, known, ruleset))
        return tuple(desk.outcomes), desk.known
    if turn.endings is not None:  # nothing else changes with what is forgotten
        for end in bind_endings(turn, turn.endings, known, book):
            desk.decide(end)
        return tuple(desk.outcomes), desk.known
    for ending in faded(turn, known, book):
        desk.take(ending)
    gone = len(desk.outcomes)
    captured = captured or capture(turn, scan, ruleset)
    for candidate in (each for found in captured.candidates for each in renames(found, turn, desk.known, book)):
        for _ in range(_answered_at_once(candidate, desk.known)):
            desk.take(bind(turn, candidate, desk.known, ruleset, captured.gate))
    for decision in leftovers(turn, scan, captured, len(desk.outcomes) > gone):
        desk.outcomes.append(Outcome(decision=decision.model_copy(update=desk.stamp())))
    return tuple(desk.outcomes), desk.known


def _answered_at_once(candidate: Candidate, known: Known) -> int:
    """How many suggestions a plain yes or no answers: all of the turn that made the latest one."""
    if candidate.form != "answer" or not known.proposals:
        return 1
    together = [p for p in known.proposals if p.turn == known.proposals[-1].turn]
    return 1 if any(p.candidate.confidence == "low" for p in together) else len(together)


@dataclass(eq=False)
class _Desk:
    """One turn while it is decided: what is known so far, and the outcomes."""

    turn: Turn
    scan: Scan
    known: Known
    ruleset: RulesetLike
    engine: RuleEngine
    reconcile: Reconcile
    word: Word
    new_id: NewId
    runtime: str
    outcomes: list[Outcome] = field(default_factory=list)

    def stamp(self) -> dict[str, Any]:
        """The place of the next decision, and the conditions under which it is taken."""
        names = {"ruleset": self.ruleset.digest, "engine": self.engine.name, "runtime": self.runtime}
        return {**names, "ordinal": len(self.outcomes)}

    def take(self, bound: Bound) -> None:
        """Decide a candidate, and then what follows from it."""
        bound = counted(bound, self.turn, self.known, self.ruleset)
        bound = asked_again(bound, self.turn, self.known, self.ruleset.inductions)
        outcome = self.decide(bound)
        self._follow(bound, outcome)
        self._induce(bound, outcome)

    def _follow(self, cause: Bound, outcome: Outcome) -> None:
        """What is counted from a date that has just been given, moved or taken back goes with it, one by one."""
        entities = sorted({item.entity for item in outcome.written if isinstance(item.value, TimeValue)})
        for entity in entities:
            done: set[str] = set()  # what a rule holds or refuses is not asked again
            while move := self._next_move(entity, done):
                done.add(move.item.id)
                self.decide(following(move, cause, self.turn, book_of(self.ruleset)))

    def _induce(self, cause: Bound, outcome: Outcome) -> None:
        """What was asked for is kept in mind, and asked for often enough it is a preference."""
        wish = wish_of(self.turn, outcome.decision)
        if wish is None or wish.reason == "induced":
            return
        self.known = self.known.model_copy(update={"wishes": (*self.known.wishes, wish)})
        rule = rule_of(self.ruleset.inductions, wish.slot, wish.reason)
        if rule is None:
            return
        book = book_of(self.ruleset)
        bound = induced(rule, wish, self.known.wishes, cause, self.turn, self.known, book)
        if bound is not None:
            made = wish_of(self.turn, self.decide(bound).decision)
            spent = (made,) if made is not None else ()
            self.known = self.known.model_copy(update={"wishes": (*self.known.wishes, *spent)})

    def _next_move(self, entity: str, done: Collection[str]) -> Move | None:
        moves = Anchors(self.known, entity, self.turn, self.ruleset).moved()
        return next((move for move in moves if move.item.id not in done), None)

    def decide(self, bound: Bound) -> Outcome:
        """One verdict, what it changes, and the decision that says so."""
        turn, candidate = self.turn, bound.candidate
        verdict = self.engine.judge(bound.features)
        written: tuple[MemoryItem, ...] = ()
        item_id: str | None = None
        after = self.known
        if verdict.action != "IGNORE":
            identity = self.new_id(turn, bound)
            sentence = self.word(bound, turn) if bound.value is not None else ""
            slot = traits(self.ruleset, bound.slot)
            written, after = self.reconcile(self.known, bound, verdict, turn, identity, sentence, slot)
            item_id = identity if any(item.id == identity for item in written) else bound.target
        decision = Decision(
            turn_id=turn.turn_id, turn=turn.ordinal, action=verdict.action, reason=verdict.reason, rule=verdict.rule,
            capture=candidate.rule, slot=bound.slot, qualifier=bound.qualifier, entity=bound.entity,
            kind=bound.features["kind"] if bound.features["kind"] != "none" else None,
            canonical=bound.value.canonical if bound.value is not None else None,
            polarity=candidate.assertion.polarity, item=item_id, target=bound.target,
            rested_on=_rested(bound), derived_from=bound.derived_from, basis=bound.evidence, start=candidate.start,
            end=candidate.end, evidence=candidate.evidence, cues=_cues(self.scan, candidate), features=bound.features,
            flags=bound.flags, question=bound.question, hints=_hints(self.scan, candidate.start, candidate.end),
            **self.stamp(),
        )  # fmt: skip
        self.known = after if bound.features["act"] in UNSAID else talked(turn, after, bound, decision)
        outcome = Outcome(bound=bound, decision=decision, written=written)
        self.outcomes.append(outcome)
        return outcome


def _rested(bound: Bound) -> tuple[str, ...]:
    named = [bound.target, *bound.closes, *bound.derived_from]
    return tuple(dict.fromkeys(each for each in named if each is not None))


def traits(ruleset: RulesetLike, slot: str | None) -> SlotTraits:
    """What the store must know of a slot; a reported slot has the traits of the slot it reports on."""
    return book_of(ruleset).traits.get(slot or "") or SlotTraits(slot=slot or "none")


def talked(turn: Turn, known: Known, bound: Bound, decision: Decision) -> Known:
    """What is known after a decision: what was talked about, and which suggestions still wait for an answer."""
    said = Said(
        turn=turn.ordinal, speaker=turn.speaker, slot=bound.slot, qualifier=bound.qualifier, entity=bound.entity,
        kind=decision.kind, action=decision.action, item=decision.item or bound.target,
    )  # fmt: skip
    open_ones = [p for p in known.proposals if turn.ordinal - p.turn <= PROPOSAL_TURNS]
    if turn.speaker == "assistant":
        if awaits_answer(bound, decision):
            completed = bound.candidate.model_copy(
                update={"slot": bound.slot, "qualifier": bound.qualifier, "value": bound.value}
            )
            proposal = Proposal(turn=turn.ordinal, turn_id=turn.turn_id, candidate=completed, answers=bound.target)
            open_ones = [p for p in open_ones if not _same_place(p, proposal)] + [proposal]
    elif turn.speaker == "user":
        if decision.features.get("binding") == "suggested" and open_ones:
            open_ones = [
                p for p in open_ones if p.candidate.slot != bound.slot or p.candidate.qualifier != bound.qualifier
            ]
        elif decision.action in {"ADD", "SUPERSEDE", "CONFIRM"}:
            open_ones = [
                p for p in open_ones if (p.candidate.slot, p.candidate.qualifier or "") != (bound.slot, bound.qualifier)
            ]
    return known.model_copy(update={"recent": (*known.recent, said), "proposals": tuple(open_ones)})


def suggested(turn: Turn, known: Known, after: Known) -> tuple[list[Proposal], list[Proposal]]:
    """The suggestions that a turn made, and those that it answered."""
    opened = [proposal for proposal in after.proposals if proposal not in known.proposals]
    answered = [
        proposal
        for proposal in known.proposals
        if proposal not in after.proposals and turn.ordinal - proposal.turn <= PROPOSAL_TURNS
    ]
    return opened, answered


def awaits_answer(bound: Bound, decision: Decision) -> bool:
    """Only a suggestion or a question awaits an answer; an echo, or a remark of the agent's, confirms nothing."""
    if bound.value is None or bound.slot is None or bound.features.get("relation") == "equal":
        return False
    if bound.features.get("gate") == "agent_reasoning":
        return False
    asked = bound.features.get("modality") == "question"
    return asked or any(cue.startswith(("proposal:", "question:")) for cue in decision.cues)


def _same_place(one: Proposal, other: Proposal) -> bool:
    return (one.candidate.slot, one.candidate.qualifier) == (other.candidate.slot, other.candidate.qualifier)


def _cues(scan: Scan, candidate: Candidate) -> tuple[str, ...]:
    counted = {*candidate.assertion.cues}
    for index, cue in enumerate(scan.cues):
        if set(cue.covers) & set(candidate.mentions) or (cue.start, cue.end) in candidate.evidence:
            counted.add(index)
    return tuple(_shown(scan.cues[index]) for index in sorted(counted))


def _shown(cue: Cue) -> str:
    return f"{cue.kind}:{cue.rule}:{cue.start}-{cue.end}"


def _hints(scan: Scan, start: int, end: int) -> tuple[str, ...]:
    return tuple(f"{h.model}:{h.label}:{h.start}-{h.end}" for h in scan.hints if h.start < end and start < h.end)


def leftovers(turn: Turn, scan: Scan, captured: Captured, decided: bool) -> Sequence[Decision]:
    """An IGNORE for every mention and refused span that no candidate used; one for a turn with nothing at all."""
    used = {index for candidate in captured.candidates for index in candidate.mentions}
    spans = [span for candidate in captured.candidates for span in candidate.evidence]
    found: list[Decision] = []
    for index, mention in enumerate(scan.mentions):
        if index in used:
            continue
        if (
            any(low <= mention.start and mention.end <= high for low, high in spans)
            and index not in captured.taken_back
        ):
            continue  # part of a label or of a sentence frame: the decision that used it shows it in its evidence
        assertion = assertion_of(scan, index)
        reason = _unused_reason(turn, captured, index, assertion.modality, assertion.polarity)
        if reason == "no_slot" and assertion.reported_by is not None:
            reason = "third_party"
        rule = captured.gate_rule if reason == captured.gate and captured.gate_rule else LAW.format(reason)
        found.append(
            Decision(
                turn_id=turn.turn_id, turn=turn.ordinal, ordinal=0, action="IGNORE", reason=reason, rule=rule,
                capture=mention.rule, kind=mention.kind, canonical=mention.canonical, start=mention.start,
                end=mention.end, evidence=((mention.start, mention.end),), polarity=assertion.polarity,
                cues=tuple(_shown(scan.cues[i]) for i in assertion.cues),
                hints=_hints(scan, mention.start, mention.end),
            )
        )  # fmt: skip
    for refused in scan.refused:
        found.append(
            Decision(
                turn_id=turn.turn_id, turn=turn.ordinal, ordinal=0, action="IGNORE", reason="unparseable_value",
                rule=LAW.format("unparseable_value"), capture=refused.rule, kind=refused.kind, start=refused.start,
                end=refused.end, evidence=((refused.start, refused.end),),
            )
        )  # fmt: skip
    if not found and not decided:
        found.append(_nothing(turn, scan, captured))
    return sorted(found, key=lambda d: (d.start, d.end))


def _unused_reason(turn: Turn, captured: Captured, index: int, modality: str, polarity: str) -> str:
    if turn.speaker == "tool":
        return "tool_output"
    if captured.gate != "none":
        return captured.gate
    if modality in _BY_MODALITY:
        return _BY_MODALITY[modality]
    if index in captured.taken_back or polarity == "negated":
        return "negated"
    return "agent_suggestion" if turn.speaker == "assistant" else "no_slot"


def _nothing(turn: Turn, scan: Scan, captured: Captured) -> Decision:
    """The one record of a turn from which nothing could be remembered."""
    reason, rule = "no_candidate", LAW.format("no_candidate")
    if turn.speaker == "tool":
        reason, rule = "tool_output", LAW.format("tool_output")
    elif captured.gate != "none":
        reason, rule = captured.gate, captured.gate_rule or LAW.format(captured.gate)
    else:
        told = [cue for kind in _BY_CUE for cue in scan.cues if cue.kind == kind]
        if told:
            reason, rule = _BY_CUE[told[0].kind], told[0].rule
    return Decision(
        turn_id=turn.turn_id, turn=turn.ordinal, ordinal=0, action="IGNORE", reason=reason, rule=rule,
        start=0, end=len(turn.text), cues=tuple(_shown(cue) for cue in scan.cues),
    )  # fmt: skip
