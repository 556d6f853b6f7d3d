"""The nouns of Recordari: turns, mentions, cues, candidates, verdicts, decisions and memory items, all frozen."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, SerializeAsAny

from .codes import FEATURES as FEATURES
from .codes import REASONS as REASONS
from .codes import UNSAID as UNSAID
from .codes import Act as Act
from .codes import Action as Action
from .codes import CueKind as CueKind
from .codes import ItemStatus as ItemStatus
from .codes import MemoryType as MemoryType
from .codes import Modality as Modality
from .codes import Polarity as Polarity
from .codes import Source as Source
from .codes import Speaker as Speaker
from .values import Amount, Value


class Model(BaseModel):
    """Base of the frozen nouns."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Span(Model):
    """Character offsets into the original text, end exclusive."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)

    def overlaps(self, other: Span) -> bool:
        """True when both share a character."""
        return self.start < other.end and other.start < self.end


class Document(Model):
    """What a document turn is: an executed one outranks recollection for contract terms."""

    status: Literal["draft", "executed"] = "draft"
    date: str | None = None


class Edit(Model):
    """What a person does to one item. The item is named by where it was said, which no secret changes: a replay
    under another secret finds it again."""

    does: Literal["correct", "confirm", "reject", "approve"]
    turn_id: str = Field(description="Turn, span and place of the item's first version.")
    start: int
    end: int
    slot: str
    qualifier: str = ""
    seen_version: int = Field(ge=1, description="The version the person looked at.")
    since: AwareDatetime | None = Field(None, description="A change that holds from then on; None: never was true.")

    def names(self, item: MemoryItem) -> bool:
        """True for the item that is meant."""
        place = (item.turn_id, item.start, item.end, item.slot, item.qualifier)
        return place == (self.turn_id, self.start, self.end, self.slot, self.qualifier)


class Ending(Model):
    """An item that a forgetting ends, named by where it was said: no id, so that a replay finds it too."""

    turn_id: str = Field(description="Turn, span and slot of the words that the item has.")
    start: int
    end: int
    slot: str
    nth: int = Field(0, ge=0, description="Which of several that stand and have the same words, oldest first.")
    why: Literal["ended", "ttl", "session", "budget"]
    rule: str = Field(description="The rule that says so, id@version.")
    at: AwareDatetime = Field(description="When it ended.")

    def names(self, item: MemoryItem) -> bool:
        """True for the items that may be meant."""
        return (item.turn_id, item.start, item.end, item.slot) == (self.turn_id, self.start, self.end, self.slot)


class Turn(Model):
    """One utterance as it arrived, one edit of a person with its value or note as text, or one forgetting."""

    turn_id: str
    text: str
    speaker: Source = "user"
    said_at: AwareDatetime = Field(description="When it was said or written; relative words count from here.")
    received_at: AwareDatetime = Field(description="When we learnt it.")
    entity: str = Field("user", description="The principal the conversation is about: a client, a matter.")
    author: str | None = None
    conversation: str = "default"
    ordinal: int = Field(0, ge=0, description="0-based place in the conversation.")
    lang: Literal["zh", "en"] | None = None
    timezone: str | None = None
    locale: str | None = None
    document: Document | None = None
    edit: Edit | None = None
    endings: tuple[Ending, ...] | None = Field(None, description="What a forgetting ends; nobody said it.")


class Mention(Model):
    """A typed, normalised value at exact characters of the original text."""

    start: int
    end: int
    text: str
    value: SerializeAsAny[Value]
    rule: str

    @property
    def kind(self) -> str:
        return type(self.value).kind

    @property
    def canonical(self) -> str:
        return self.value.canonical

    @property
    def span(self) -> Span:
        return Span(start=self.start, end=self.end)


class Cue(Model):
    """A word or pattern that changes how mentions count; ``covers`` are indices of mentions."""

    kind: CueKind
    start: int
    end: int
    text: str
    rule: str
    covers: tuple[int, ...] = ()
    reparandum: tuple[int, int] | None = Field(None, description="A repair: the span that was replaced.")
    repair: tuple[int, int] | None = Field(None, description="A repair: the span that replaces it.")
    scope: tuple[int, int] | None = Field(None, description="The characters the cue governs.")
    who: str | None = Field(None, description="Third party: who is said to have said it.")


class Part(Model):
    """A typed fragment that is no mention by itself: a currency, a year, a floor, a mail domain, "yes"."""

    type: str
    start: int
    end: int
    text: str
    value: str
    rule: str


class Refused(Model):
    """A span that looks like a value and is none (31 April), kept so that its refusal can be logged."""

    kind: str
    start: int
    end: int
    text: str
    why: str
    rule: str


class Hint(Model):
    """What a NER model said about a span: recorded as input, confirmed or dropped by rules."""

    label: str
    start: int
    end: int
    text: str
    model: str


class Scan(Model):
    """Everything the extractors found in one turn."""

    lang: Literal["zh", "en"]
    mentions: tuple[Mention, ...] = ()
    cues: tuple[Cue, ...] = ()
    parts: tuple[Part, ...] = ()
    refused: tuple[Refused, ...] = ()
    hints: tuple[Hint, ...] = ()


class Assertion(Model):
    """How a mention was said; ``cues`` are the indices of the cues that made it so."""

    polarity: Polarity = "affirmed"
    modality: Modality = "asserted"
    time: Literal["current", "future", "past"] = "current"
    reported_by: str | None = Field(None, description="Who is said to have said it; None when the speaker did.")
    cues: tuple[int, ...] = ()


class Patch(Model):
    """An open part of a value: only the currency, the year, the floor … replaces that part of the bound value."""

    part: str
    value: str
    old: str | None = Field(None, description='The part replaced, when it was said ("不是12楼，是15楼").')


class Adjustment(Model):
    """An amount by which a bound value changes: add, subtract, multiply, earlier, later."""

    operator: Literal["add", "subtract", "multiply", "later", "earlier"]
    by: SerializeAsAny[Value] | None = None
    factor: Decimal | None = None


class Candidate(Model):
    """What one turn may add to memory; slot, qualifier, entity and value may be open until bind completes them."""

    act: Act = "state"
    form: Literal["full", "part", "adjustment", "answer", "bare"] = "full"
    slot: str | None = None
    qualifier: str | None = Field(None, description='"" when the value has none; None when it is still open.')
    entity: str | None = Field(None, description="None: the principal of the turn.")
    kind: str | None = None
    value: SerializeAsAny[Value] | None = None
    old: SerializeAsAny[Value] | None = Field(None, description="The value said to be replaced.")
    patch: Patch | None = None
    adjustment: Adjustment | None = None
    assertion: Assertion = Assertion()
    start: int
    end: int
    surface: str = ""
    evidence: tuple[tuple[int, int], ...] = Field((), description="Spans the capture used: trigger, label, value.")
    mentions: tuple[int, ...] = Field((), description="Indices of the mentions it used.")
    rule: str
    confidence: Literal["high", "medium", "low"] = "high"
    language: Literal["zh", "en"] = "en"
    valid_from: AwareDatetime | None = Field(None, description="When it becomes true, where its clause says so.")
    valid_to: AwareDatetime | None = Field(None, description="When it ends, exclusive, where its clause says so.")


class Evidence(Model):
    """One time that something was asked for: the place of the words, which stay where they were said."""

    turn_id: str
    start: int
    end: int
    conversation: str
    said_at: AwareDatetime


class Wish(Model):
    """Something that was asked for and not remembered; of reason ``induced``: that became a preference."""

    entity: str
    slot: str
    qualifier: str = ""
    kind: str
    canonical: str
    polarity: Polarity = "affirmed"
    reason: str
    by: str = Field(description="Who asked: the author, or else the speaker.")
    said: Evidence


class SlotTraits(Model):
    """What the store must know of a slot; a slot file produces it."""

    slot: str
    type: MemoryType = "fact"
    cardinality: Literal["one", "many"] = "one"
    ttl: timedelta | None = Field(None, description="How long a value stands unless said again; swept, never assumed.")
    retention: str | None = Field(None, description="Retention class of the items of the slot.")
    personal_data: str | None = Field(None, description="Class of personal data, None when it is none.")


class Verdict(Model):
    """What policy says about a candidate."""

    action: Action
    reason: str
    rule: str


class MemoryItem(Model):
    """One version of one remembered thing.

    ``valid_from``/``valid_to``: true in the world; ``recorded_at``/``superseded_at``: known to us.
    """

    id: str
    version: int = Field(1, ge=1)
    entity: str
    type: MemoryType = "fact"
    slot: str
    qualifier: str = ""
    value: SerializeAsAny[Value]
    polarity: Polarity = "affirmed"
    asserted_by: str
    source: Literal["user", "assistant", "tool", "document", "person"] = "user"
    status: ItemStatus = "current"
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    said_at: datetime
    recorded_at: datetime
    superseded_at: datetime | None = None
    sentence: str = ""
    surface: str = ""
    turn_id: str
    turn: int = 0
    start: int = 0
    end: int = 0
    rule: str = ""
    derived_from: tuple[str, ...] = Field((), description="Ids of the item versions it was computed from.")
    confirmations: int = 0
    evidence: tuple[Evidence, ...] | None = Field(None, description="An induced item: the times it was asked for.")
    importance: Amount | None = Field(None, description="0 to 1, by the count of its evidence; None: as its slot says.")
    fades_at: datetime | None = Field(None, description="When it ends unless it is asked for again; None: never.")
    conversation: str = "default"
    language: Literal["zh", "en"] = "en"

    @property
    def kind(self) -> str:
        return type(self.value).kind

    @property
    def canonical(self) -> str:
        return self.value.canonical

    @property
    def place(self) -> tuple[str, str, str]:
        """(entity, slot, qualifier): where a single-valued slot holds one current value."""
        return (self.entity, self.slot, self.qualifier)


class Edge(NamedTuple):
    """A relation between two names, as an item says it; the names are keys (``rules.identity.name_key``)."""

    relation: str
    subject: str
    object: str
    both_ways: bool


class Said(Model):
    """What an earlier turn of this conversation talked about: the ground on which bind resolves "make it Friday"."""

    turn: int
    speaker: Source
    slot: str | None
    qualifier: str | None
    entity: str | None
    kind: str | None
    action: Action
    item: str | None = None


class Proposal(Model):
    """An agent's suggestion that still awaits an answer."""

    turn: int
    turn_id: str
    candidate: Candidate
    answers: str | None = Field(None, description="Item it would replace.")


class Known(Model):
    """What decisions about one turn may rest on: unsuperseded and held items, recent talk, open proposals."""

    items: tuple[MemoryItem, ...] = ()
    recent: tuple[Said, ...] = Field((), description="Oldest first, the last k turns of the conversation.")
    proposals: tuple[Proposal, ...] = ()
    history: tuple[MemoryItem, ...] = Field(
        (), description="Superseded and ended versions that were true once: what a late turn must fit in with."
    )
    wishes: tuple[Wish, ...] = Field((), description="What the principal asked for before, oldest first.")

    def live(self) -> tuple[MemoryItem, ...]:
        """Items that are current or scheduled."""
        return tuple(item for item in self.items if item.status in {"current", "scheduled"})


class Bound(Model):
    """A candidate completed by bind, with the features policy judges."""

    candidate: Candidate
    slot: str | None = None
    qualifier: str = ""
    entity: str = "user"
    value: SerializeAsAny[Value] | None = None
    target: str | None = Field(None, description="Id of the known item it repeats, changes, corrects or withdraws.")
    closes: tuple[str, ...] = Field((), description="Further items that end with it (old named values, members).")
    derived_from: tuple[str, ...] = ()
    valid_from: AwareDatetime | None = Field(None, description="When it becomes true; None: when it was said.")
    valid_to: AwareDatetime | None = Field(None, description="When it ends, exclusive; None: open, or now for an end.")
    as_said: str | None = Field(None, description="Item whose words these are, for what nobody said anew.")
    evidence: tuple[Evidence, ...] | None = Field(None, description="Of what was asked for again and again.")
    importance: Amount | None = None
    fades_at: AwareDatetime | None = Field(None, description="When it ends unless it is asked for again.")
    question: str | None = Field(None, description="What to ask a person when it could not be bound.")
    flags: tuple[str, ...] = ()
    features: dict[str, str] = Field(default_factory=dict)


class Decision(Model):
    """One entry of the log: what was decided about one candidate, mention or turn, and everything it rested on."""

    turn_id: str
    turn: int
    ordinal: int = Field(description="0-based place among the decisions of the turn.")
    action: Action
    reason: str
    rule: str = Field(description="The policy rule (or gate, or law) that gave the verdict, id@version.")
    capture: str | None = Field(None, description="The capture (or extraction) rule that made the candidate.")
    slot: str | None = None
    qualifier: str = ""
    entity: str | None = None
    kind: str | None = None
    canonical: str | None = None
    polarity: Polarity = "affirmed"
    item: str | None = Field(None, description="The item version written or confirmed, or held.")
    target: str | None = Field(None, description="The item version it replaced, confirmed or withdrew.")
    rested_on: tuple[str, ...] = Field((), description="Ids of item versions the decision read.")
    derived_from: tuple[str, ...] = ()
    basis: tuple[Evidence, ...] | None = Field(None, description="The earlier turns that it was induced from.")
    start: int = 0
    end: int = 0
    evidence: tuple[tuple[int, int], ...] = ()
    cues: tuple[str, ...] = Field((), description="kind:rule:start-end of each cue that counted.")
    features: dict[str, str] = Field(default_factory=dict)
    flags: tuple[str, ...] = ()
    question: str | None = None
    hints: tuple[str, ...] = ()
    ruleset: str = ""
    runtime: str = ""
    engine: str = ""
    bucket: int | None = Field(None, description="While a canary runs: the place of the principal entity, of 10,000.")
    threshold: int | None = Field(None, description="The canary has the buckets below it.")


class Outcome(Model):
    """A decision and the item versions it writes: ``after`` of each pair is new or changed, ``before`` what it was."""

    bound: Bound | None = None
    decision: Decision
    written: tuple[MemoryItem, ...] = Field((), description="New or changed versions, to be stored as they stand.")


class Receipt(Model):
    """What the caller of observe gets back after the commit."""

    turn_id: str
    decisions: tuple[Decision, ...] = ()
    items: tuple[MemoryItem, ...] = Field((), description="Items written or changed by this turn.")
    repeated: bool = Field(False, description="The turn was known already and nothing was written.")
    unread: tuple[str, ...] = Field(
        (), description="With the read-back test on: each question that does not find what was written, and why."
    )


def wish_of(turn: Turn, decision: Decision) -> Wish | None:
    """The wish that a decision refused, or made a preference of; None for anything else."""
    refused = decision.action == "IGNORE" and decision.features.get("attribution") == "own"
    if turn.speaker != "user" or not (refused or decision.reason == "induced"):
        return None
    if decision.slot is None or decision.kind is None or not decision.canonical or decision.entity is None:
        return None
    said = Evidence(
        turn_id=turn.turn_id, start=decision.start, end=decision.end, conversation=turn.conversation,
        said_at=turn.said_at,
    )  # fmt: skip
    return Wish(
        entity=decision.entity, slot=decision.slot, qualifier=decision.qualifier, kind=decision.kind,
        canonical=decision.canonical, polarity=decision.polarity, reason=decision.reason,
        by=turn.author or turn.speaker, said=said,
    )  # fmt: skip


@lru_cache(maxsize=512)
def utc(moment: datetime) -> str:
    """ISO 8601 in UTC with seconds (and microseconds when there are any): the form stored and hashed."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def dump(model: BaseModel) -> dict[str, Any]:
    """JSON-ready fields of a noun, without the absent ones."""
    return model.model_dump(mode="json", exclude_none=True)
