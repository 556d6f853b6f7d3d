"""What a throw-away memory knows between turns, kept without a database: for deciding long histories again.

``Stage`` gives a turn exactly what the store would give it, and takes what was decided, so that the decisions are those
of ``Memory.rehearse`` (a test compares them).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .extractors.scan import scan, with_cues_of
from .intake import Incoming, received
from .memory import LAST_TURNS, REHEARSAL_SECRET, Memory
from .model import Known, MemoryItem, Outcome, Scan, Turn, wish_of
from .rules.backtest import Side, Watching
from .rules.capture import Captured
from .rules.decide import suggested
from .rules.endings import with_known_endings
from .rules.engine import ReferenceEngine, RuleEngine
from .rules.ruleset import Ruleset
from .store.items import as_of
from .store.known import Conversation, Principal, said_in


def sides(before: Ruleset, after: Ruleset, *, ner: bool) -> tuple[Side, Side, Watching]:
    """Two rule sets ready to decide, and the engine of the first, which also asks the table of the second.

    The reference engine judges: it gives the verdicts of durable-rules, and faster.
    """
    watching = Watching(ReferenceEngine(before.table), ReferenceEngine(after.table))
    return _side(before, watching, ner), _side(after, watching.after, ner), watching


def _side(ruleset: Ruleset, engine: RuleEngine, ner: bool) -> Side:
    memory = Memory.rehearsal(ruleset=ruleset, ner=ner, engine="reference")
    memory.engine = engine

    def decide(turn: Turn, found: Scan, known: Known, captured: Captured | None) -> tuple[tuple[Outcome, ...], Known]:
        if turn.edit is not None and not any(turn.edit.names(item) for item in known.items):
            return (), known  # a person edited what these rules did not remember
        if turn.endings is not None and not (turn := with_known_endings(turn, known)).endings:
            return (), known  # nor is it forgotten
        return memory.decide(turn, found, known, REHEARSAL_SECRET, captured)

    def read(turn: Turn) -> Scan:
        return scan(
            turn.text, ruleset.extraction, said_at=turn.said_at, lang=turn.lang, timezone=turn.timezone,
            locale=turn.locale, speaker=turn.speaker, ner=ner,
        )  # fmt: skip

    def recue(turn: Turn, found: Scan) -> Scan:
        return with_cues_of(ruleset.extraction, found, turn.text, turn.speaker)

    return Side(ruleset, read, recue, decide)


class Stage:
    """The principals and conversations of one dialogue."""

    def __init__(self) -> None:
        self._principals: dict[str, Principal] = {}
        self._talks: dict[str, Conversation] = {}
        self._ordinal = 0

    def copy(self) -> Stage:
        """A stage that goes on from here by itself."""
        other = Stage()
        other._principals = {
            name: Principal(dict(each.ordinals), dict(each.live), dict(each.history), each.wishes)
            for name, each in self._principals.items()
        }
        other._talks = {
            name: replace(each, recent=list(each.recent), proposals=list(each.proposals))
            for name, each in self._talks.items()
        }
        other._ordinal = self._ordinal
        return other

    def turn(self, said: Incoming | Turn) -> Turn:
        """The turn with its place in the conversation; one that was stored before keeps its own."""
        if isinstance(said, Turn):
            return said
        talk = self._talks.setdefault(said.conversation, Conversation())
        return Turn(
            turn_id=said.turn_id or f"{said.conversation}:{talk.next_ordinal}", text=said.text, speaker=said.speaker,
            said_at=said.at, received_at=received(said, talk.last_received), entity=said.entity, author=said.author,
            conversation=said.conversation, ordinal=talk.next_ordinal, lang=said.lang, timezone=said.timezone,
            locale=said.locale, document=said.document,
        )  # fmt: skip

    def known(self, turn: Turn) -> Known:
        """What decisions about the turn may rest on."""
        principal = self._principals.setdefault(turn.entity, Principal())
        items, history = principal.at(max(turn.said_at, turn.received_at))
        talk = self._talks.setdefault(turn.conversation, Conversation())
        first = talk.next_ordinal - LAST_TURNS
        return Known(
            items=items, history=history, wishes=principal.wishes,
            recent=tuple(said for said in talk.recent if said.turn >= first),
            proposals=tuple(each for each in talk.proposals if each.turn >= first),
        )  # fmt: skip

    def take(self, turn: Turn, outcomes: Sequence[Outcome], known: Known, after: Known) -> None:
        """Keep what was decided about a turn."""
        talk = self._talks.setdefault(turn.conversation, Conversation())
        talk.next_ordinal = max(talk.next_ordinal, turn.ordinal + 1)
        last = talk.last_received
        talk.last_received = turn.received_at if last is None else max(last, turn.received_at)
        talk.forget_before(turn.ordinal)
        talk.recent.extend(said_in(turn, [outcome.decision for outcome in outcomes]))
        principal = self._principals.setdefault(turn.entity, Principal())
        for outcome in outcomes:
            if (wish := wish_of(turn, outcome.decision)) is not None:
                principal.wished(wish)
        for outcome in outcomes:
            for item in outcome.written:
                ordinal = principal.ordinals.get(item.id)
                if ordinal is None:
                    ordinal, self._ordinal = self._ordinal, self._ordinal + 1
                principal.put(item, ordinal)
        opened, answered = suggested(turn, known, after)
        talk.proposals += opened
        if answered:
            talk.proposals = [each for each in talk.proposals if each not in answered]

    def items(self, turn: Turn) -> tuple[MemoryItem, ...]:
        """All items, replaced ones too, with the status they have at a turn."""
        # What never was true is left out: it is nobody's answer to what holds.
        every = [item for each in self._principals.values() for item in (*each.live.values(), *each.history.values())]
        return as_of(every, max(turn.said_at, turn.received_at))
