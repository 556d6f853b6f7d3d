"""Slot files: what may be remembered, how long, who outranks whom, and how it is said and asked."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Literal

from pydantic import Field, field_validator, model_validator

from ..model import MemoryType, SlotTraits
from ..rulefile import Model, Refused, RuleFile
from ..values import VALUE_TYPES

# Who may speak for a fact, in the words of a precedence table.
Authority = Literal["person", "executed_document", "user", "document", "tool", "agent"]
# What may stand at the end of a relation.
RelationEnd = Literal["person", "organization", "name", "product", "matter"]
DEFAULT_PRECEDENCE: tuple[Authority, ...] = ("person", "executed_document", "user", "document", "tool", "agent")


class FlagChange(Model):
    """A change that is worth a flag: by this factor or more, within this time since the last version."""

    factor: float = Field(gt=1, description="1.5: half as much again, or a third less.")
    within: str | None = Field(None, description="ISO 8601 duration; none: however long ago.", pattern=r"^P\d+[DWMY]$")
    hold: bool = Field(False, description="True: an unusual change waits for a person instead of being flagged.")


class SlotSay(Model):
    """The template sentence in both languages; placeholders entity, qualifier, value, said_at."""

    zh: str = Field(description="Chinese sentence; {value} is required.")
    en: str = Field(description="English sentence; {value} is required.")


class SlotQuestions(Model):
    """Questions a user would ask to read the slot back."""

    zh: list[str] = Field(min_length=1, description="In Chinese.")
    en: list[str] = Field(min_length=1, description="In English.")


class RelationWords(Model):
    """How one step along a relation reads, from the subject to the object or back."""

    zh: str = Field(description="In Chinese, with {subject} and {object}.")
    en: str = Field(description="In English, with {subject} and {object}.")


class RelationQuestions(Model):
    """Sentence frames of questions; {name} is whom or what is asked about, the rest as in phrases of captures."""

    zh: list[str] = Field(default_factory=list, description="In Chinese.")
    en: list[str] = Field(default_factory=list, description="In English.")


class RelationNames(Model):
    """Phrases that stand for one end of a relation by the other, {name}: the suppliers of {name}."""

    zh: list[str] = Field(default_factory=list, description="In Chinese.")
    en: list[str] = Field(default_factory=list, description="In English.")


class SlotRelation(Model):
    """What makes each item of a slot an edge from whom it is about to the name it gives."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$", description="Name of the relation, from subject to object.")
    subject: RelationEnd = Field(description="What stands at its beginning.")
    object: RelationEnd = Field(description="What stands at its end.")
    reads: RelationWords = Field(description="The edge in words.")
    symmetric: bool = Field(False, description="True: it holds both ways (is a partner of).")
    transitive: bool = Field(
        False, description="True: a question follows it over several steps (a part of a part is a part)."
    )
    same: bool = Field(False, description="True: both names mean one thing; to go along it is no step.")
    inverse: bool = Field(
        False,
        description="True: told from its end: the value is the subject, and whom it is about the object (our supplier "
        "is X). Another slot has the relation itself.",
    )
    objects: RelationQuestions = Field(
        RelationQuestions(), description="Questions about a subject that ask for objects."
    )
    subjects: RelationQuestions = Field(
        RelationQuestions(), description="Questions about an object that ask for subjects."
    )

    ends_also: list[str] = Field(
        default_factory=list,
        description="Slots of which whoever says that it is over ends the one that is known, where none of its own is "
        "(we no longer work with X: X is no supplier any more).",
    )
    named_objects: RelationNames = Field(
        RelationNames(), description="Phrases for the objects of a subject {name}, to be asked about in turn."
    )
    named_subjects: RelationNames = Field(
        RelationNames(), description="Phrases for the subjects of an object {name}, to be asked about in turn."
    )

    @model_validator(mode="after")
    def _asks(self) -> SlotRelation:
        for words in (self.reads.zh, self.reads.en):
            if sorted(re.findall(r"\{(\w+)\}", words)) != ["object", "subject"]:
                raise ValueError(f"{words!r}: needs {{subject}} and {{object}}, once each")
        said = (self.objects, self.subjects, self.named_objects, self.named_subjects)
        for frame in (frame for words in said for frame in (*words.zh, *words.en)):
            names = re.findall(r"\{(\w+)\}", frame)
            if names.count("name") != 1 or set(names) - {"name", "any"} or len(names) != len(set(names)):
                raise ValueError(f"{frame!r}: needs {{name}} once, and knows {{any}}")
        return self


class SlotFile(RuleFile):
    """One slot of memory."""

    kind: Literal["slot"] = Field(description="slot")
    slot: str = Field(pattern=r"^[a-z][a-z0-9_]*(\.[a-z0-9_]+)*$", description="Its name; the id is slot.<name>.")
    type: MemoryType = Field("fact", description="Type of the items it keeps.")
    value: list[str] = Field(min_length=1, description="Kinds of value it takes, the usual one first.")
    cardinality: Literal["one", "many"] = Field(
        "one", description="one: a new value replaces the old one of its label; many: values stand side by side."
    )
    qualifier: Literal["label", "known", "none", "script"] = Field(
        "label",
        description="label: labels tell two values apart; known: only those of its lexicons do, others are none; "
        "script: the writing system does (names).",
    )
    unlabelled: str = Field("", description="For known labels: the concept that is meant where none is said.")
    family: str | None = Field(
        None, description="Slots of one family look for each other's labels: date, deadline, event."
    )
    words: list[str] = Field(default_factory=list, description="Words that name the slot itself and are no qualifier.")
    equality: Literal["value", "topic"] = Field("value", description="topic: one label and one polarity are one fact.")
    labels: list[str] = Field(default_factory=list, description="Label lexicons (vocabulary ids) of its qualifiers.")
    importance: float = Field(
        0.5,
        ge=0,
        le=1,
        description="How much it matters, 0 to 1: to the order of answers, and to what is forgotten first.",
    )
    ttl: str | None = Field(
        None,
        description="ISO 8601 duration, days to years: how long a value stands unless said again; none: as forgetting "
        "files say.",
        pattern=r"^P\d+[DWMY]$",
    )
    retention: str = Field(
        "client-record-7y", description="Retention class; for whoever erases, nothing expires by it."
    )
    personal_data: Literal["none", "contact", "identity", "financial", "location", "legal", "preference", "health"] = (
        Field("none", description="Category of personal data; for the record of processing.")
    )
    precedence: list[Authority] = Field(
        default_factory=lambda: list(DEFAULT_PRECEDENCE),
        description="Who outranks whom, the highest first; who is not named stands below all.",
    )
    flag_change: FlagChange | None = Field(None, description="Which change of a number is unusual.")
    needs_approval: bool = Field(False, description="True: what is new or changed waits for a person.")
    keeps: Literal["memory", "session"] = Field(
        "memory", description="session: stands in the short-term window of its conversation and is never remembered."
    )
    hedge: Literal["hold", "ignore"] = Field("ignore", description="What becomes of a value said with doubt.")
    say: SlotSay = Field(description="The sentence that states an item.")
    asked_as: SlotQuestions = Field(description="Questions that its items answer.")
    relation: SlotRelation | None = Field(
        None, description="Set: each item is a relation between two names, which a question may follow."
    )

    @field_validator("value", mode="before")
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        return [value] if isinstance(value, str) else value

    @field_validator("value")
    @classmethod
    def _known_kinds(cls, value: list[str]) -> list[str]:
        for kind in value:
            if kind not in VALUE_TYPES:
                raise ValueError(f"unknown value kind {kind!r}; one of {', '.join(sorted(VALUE_TYPES))}")
        return value

    @model_validator(mode="after")
    def _templates_read(self) -> SlotFile:
        for text in (self.say.zh, self.say.en):
            unknown = set(re.findall(r"\{(\w+)\}", text)) - {"entity", "qualifier", "value", "said_at"}
            if unknown or "{value}" not in text or re.search(r"[｛｝]", text):
                if re.search(r"[｛｝]", text):
                    raise Refused(f"template {text!r}: fields stand between {{ and }}, not ｛ and ｝", "template-field")
                said = f"template {text!r}: needs {{value}}, knows entity, qualifier, value, said_at"
                raise Refused(said, "template-field")
        if self.keeps == "session" and (self.needs_approval or self.hedge == "hold"):
            raise ValueError("keeps: session leaves nothing for a person to approve; take needs_approval and hedge out")
        if len(set(self.precedence)) != len(self.precedence):
            raise ValueError("precedence names somebody twice")
        return self

    def rank(self, source: str, executed: bool = False) -> int:
        """Place in the precedence table, 0 the highest; somebody it does not name stands below all."""
        role = {"assistant": "agent", "document": "executed_document" if executed else "document"}.get(source, source)
        return self.precedence.index(role) if role in self.precedence else len(self.precedence)

    def traits(self) -> SlotTraits:
        """What the store must know of the slot."""
        return SlotTraits(
            slot=self.slot, type=self.type, cardinality=self.cardinality, ttl=span_of(self.ttl) if self.ttl else None,
            retention=self.retention, personal_data=None if self.personal_data == "none" else self.personal_data,
        )  # fmt: skip


def span_of(duration: str) -> timedelta:
    """A length of time in days; a month counts 30, a year 365, since no calendar date is meant."""
    return timedelta(days=int(duration[1:-1]) * {"D": 1, "W": 7, "M": 30, "Y": 365}[duration[-1]])
