"""Forgetting files: when what is remembered ends by itself, how much is kept of an entity, and what is deleted then."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from fractions import Fraction
from typing import Literal, NamedTuple

from pydantic import Field, model_validator

from ..codes import MemoryType
from ..rulefile import Model, Refused, RuleFile
from .slots import SlotFile, span_of

_SPAN = r"^P[1-9]\d*[DWMY]$"
_DAY = 24 * 3600


class Term(Model):
    """How long the values of a slot, or of a type of memory, stand."""

    slot: str | None = Field(
        None, pattern=r"^[a-z][a-z0-9_]*(\.[a-z0-9_]+)*$", description="This slot; or name a type."
    )
    type: MemoryType | None = Field(None, description="All slots of this type that nothing nearer names.")
    after: str = Field(
        pattern=r"^(session|P[1-9]\d*[DWMY])$",
        description="ISO 8601 duration, days to years, since it was last said, or over; or session: with its "
        "conversation.",
    )
    silence: str = Field(
        "P1D", pattern=_SPAN, description="For session: a conversation is over when nothing was said in it so long."
    )

    @model_validator(mode="after")
    def _one(self) -> Term:
        if (self.slot is None) == (self.type is None):
            raise Refused("a term names a slot or a type, one of them", "wrong-value")
        return self

    @property
    def span(self) -> timedelta:
        """How long at least."""
        return span_of(self.silence if self.after == "session" else self.after)


class Budget(Model):
    """How much is kept of one entity at most; what is over goes, the least worth keeping first."""

    items: int = Field(ge=1, description="Items that stand.")
    bytes: int = Field(ge=1000, description="Bytes of them as they are stored, UTF-8.")


class Keep(Model):
    """What an item is worth: importance × use × age, each to the power of its weight."""

    importance: int = Field(1, ge=0, le=4, description="Weight of its importance, its own or its slot's; 0: none.")
    use: int = Field(1, ge=0, le=4, description="Weight of when it was last said, said again, confirmed or changed.")
    age: int = Field(1, ge=0, le=4, description="Weight of when it was said first.")
    use_halves: str = Field("P90D", pattern=_SPAN, description="Not used for so long, it is worth half.")
    age_halves: str = Field("P1Y", pattern=_SPAN, description="So old, it is worth half; twice as old, a third.")

    def worth(self, importance: Fraction, idle: timedelta, age: timedelta) -> Fraction:
        """What an item of this importance is worth that was not used, and is known, for so long; exact."""
        used = _halved(self.use_halves, idle) ** self.use
        return importance**self.importance * used * _halved(self.age_halves, age) ** self.age


def _halved(span: str, passed: timedelta) -> Fraction:
    """1 at once, a half after the span, a third after twice the span."""
    half = int(span_of(span).total_seconds())
    return Fraction(half, half + max(0, int(passed.total_seconds())))


class ForgettingFile(RuleFile):
    """When what is remembered ends by itself, how much is kept of one entity, and what is deleted then."""

    kind: Literal["forgetting"] = Field(description="forgetting")
    ends: list[Term] = Field(
        default_factory=list,
        description="How long values stand. A slot's own ttl comes first, then a row for the slot, then one for its "
        "type; of several the longest.",
    )
    budget: Budget | None = Field(None, description="How much is kept of one entity; none: however much there is.")
    keep: Keep = Field(Keep(), description="Which of what is over a budget goes first.")
    grace: dict[str, str] = Field(
        default_factory=dict,
        description="Retention class → ISO 8601 duration: what has ended is deleted so long after it was archived. A "
        "class that is not named keeps it as long as its retention says.",
    )

    @model_validator(mode="after")
    def _spans(self) -> ForgettingFile:
        for name, span in self.grace.items():
            try:
                length = span_of(span)
            except (ValueError, KeyError, IndexError):
                length = timedelta()
            if length < timedelta(days=1):
                raise Refused(f"{name!r}: {span!r} is no time of a day (P1D) or more", "wrong-value")
        named = [each.slot or each.type for each in self.ends]
        if len(set(named)) != len(named):
            raise Refused("ends names a slot or a type twice", "wrong-value")
        return self


class Lasts(NamedTuple):
    """How long the values of a slot stand: since they were last said, or (``session``) since their conversation was."""

    span: timedelta
    session: bool
    rule: str


def lasts_of(slot: SlotFile, files: Iterable[ForgettingFile]) -> Lasts | None:
    """How long the values of a slot stand; None: until they are changed."""
    if slot.ttl is not None:
        return Lasts(span_of(slot.ttl), False, slot.ref)
    rows = [(term, file.ref) for file in files for term in file.ends]
    for near in (
        [each for each in rows if each[0].slot == slot.slot],
        [each for each in rows if each[0].type == slot.type],
    ):
        if near:
            term, rule = max(near, key=lambda each: each[0].span)
            return Lasts(term.span, term.after == "session", rule)
    return None


def grace_of(files: Iterable[ForgettingFile]) -> Mapping[str, tuple[timedelta, str]]:
    """Retention class → how long after it was archived something is deleted, and the rule; the longer time counts."""
    found: dict[str, tuple[timedelta, str]] = {}
    for file in files:
        for name, span in file.grace.items():
            found[name] = max(found.get(name, (timedelta(), "")), (span_of(span), file.ref))
    return found


def budget_of(files: Sequence[ForgettingFile]) -> ForgettingFile | None:
    """The file that sets the budget; lint tells of a second one, of which the one with more items counts."""
    return max((file for file in files if file.budget), key=_room, default=None)


def _room(file: ForgettingFile) -> tuple[int, int, str]:
    assert file.budget is not None
    return file.budget.items, file.budget.bytes, file.id
