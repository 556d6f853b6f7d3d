"""The closed vocabularies: who speaks, acts, actions, reason codes, and the features that policy looks at."""

from __future__ import annotations

from typing import Literal, get_args

Speaker = Literal["user", "assistant", "tool", "document"]
"""Who speaks in a dialogue."""
Source = Literal["user", "assistant", "tool", "document", "person"]
"""Where a turn comes from: a dialogue, or a person who edits what is remembered."""
Action = Literal["ADD", "SUPERSEDE", "CONFIRM", "RETRACT", "HOLD", "IGNORE"]
Act = Literal[
    "state", "change", "correct", "adjust", "propose", "confirm", "reject", "retract", "end", "wish",
    "unwish", "follow", "induce", "fade",
]  # fmt: skip
UNSAID: frozenset[Act] = frozenset({"follow", "induce", "fade"})
"""Acts that nobody said: what follows from what was said, or from the time that has passed."""
Polarity = Literal["affirmed", "negated"]
Modality = Literal["asserted", "hypothetical", "question", "desired", "hedged", "joke", "quoted", "request"]
MemoryType = Literal["fact", "preference", "event", "state", "skill"]
ItemStatus = Literal["current", "scheduled", "superseded", "retracted", "held", "expired"]
CueKind = Literal[
    "negation", "hypothesis", "question", "wish", "hedge", "joke", "quotation", "third_party", "past", "plan",
    "correction", "change", "adjustment", "repair", "proposal", "confirmation", "rejection", "withdrawal", "ending",
    "request",
]  # fmt: skip

# The closed list of reason codes, by action; docs/reason-codes.md explains each (a test compares).
REASONS: dict[Action, tuple[str, ...]] = {
    "IGNORE": (
        "no_candidate", "small_talk", "one_off_command", "question", "hypothetical", "desired", "hedged", "joke",
        "quoted", "third_party", "negated", "agent_suggestion", "suggestion_rejected", "tool_output",
        "agent_reasoning", "ambiguous_reference", "ambiguous_value", "unparseable_value", "no_slot",
        "low_confidence", "rolled_back_rule", "session_only",
    ),
    "CONFIRM": ("duplicate", "restated", "user_confirmed"),
    "ADD": ("stated", "confirmed_suggestion", "induced", "historical", "reported"),
    "SUPERSEDE": (
        "correction_explicit", "correction_elliptical", "adjusted", "anchor_moved", "update_stated", "more_precise",
        "user_over_agent", "condition_met",
    ),
    "RETRACT": ("withdrawn", "ended", "expired"),
    "HOLD": (
        "ambiguous_reference", "needs_approval", "unusual_change", "conflict_unresolved", "untrusted_source",
        "possible_same_entity",
    ),
}  # fmt: skip

# The closed vocabulary of a policy row: feature → values. ``slot`` is open (slot files name it). ASCII only:
# these strings are all that the rule engine ever sees.
FEATURES: dict[str, tuple[str, ...]] = {
    "slot": (),
    "kind": (
        "time", "money", "number", "percent", "quantity", "address", "place", "person", "organization", "phone",
        "email", "url", "identifier", "text", "none",
    ),
    "act": get_args(Act),
    "form": ("full", "part", "adjustment", "answer", "bare"),  # bare: a value alone ("还是8万吧")
    "polarity": get_args(Polarity),
    "modality": get_args(Modality),
    "time": ("current", "future", "past"),
    "source": ("user", "assistant", "tool", "document", "person"),
    "attribution": ("own", "reported"),  # reported: the speaker says that somebody else said it
    "authority": ("none", "higher", "equal", "lower"),  # of this source against that of the known item
    "relation": ("none", "equal", "narrower", "broader", "differs", "older"),
    "wording": ("same", "other"),  # of an equal value: the same words, or others
    "identity": ("none", "same", "perhaps"),  # of a name in other words than the known one: what rules of naming say
    "binding": ("named", "matched", "recent", "suggested", "ambiguous", "none"),
    "value": ("ok", "ambiguous", "unparseable", "missing"),
    "confidence": ("high", "medium", "low"),
    "gate": ("none", "small_talk", "one_off_command", "tool_output", "agent_reasoning"),
    "hedge": ("hold", "ignore"),  # what the slot does with a hedged value
    "approval": ("yes", "no"),
    "unusual": ("yes", "no"),
    "keeps": ("memory", "session"),  # where the slot keeps what is said: for good, or for the conversation alone
}  # fmt: skip
