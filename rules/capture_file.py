"""Capture files: which mention, or which stretch of text, fills which slot, and what names its label and its owner."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

import re2
from pydantic import Field, ValidationInfo, field_validator, model_validator

from ..extractors.words import lazy, linear, unreadable
from ..model import Act, CueKind, Speaker
from ..rulefile import Language, Model, Refused, RuleFile, passed_before
from ..values import VALUE_TYPES, Bound, TimeType
from .shape_names import Shape

PLACEHOLDERS = ("value", "old", "label", "entity", "topic", "any")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


class Trigger(Model):
    """Words that must stand beside the value."""

    words: list[str] = Field(default_factory=list, description="The words themselves; Latin ones match whole words.")
    lexicon: str | None = Field(None, description="Id of a vocabulary whose words count too.")
    place: Literal["label", "label_end", "predicate", "around", "clause", "sentence"] = Field(
        "label",
        description="label: words before the value; label_end: its last word; predicate: words after it; "
        "around: label or predicate.",
    )


class ValueCondition(Model):
    """What the mention must be like."""

    kind: list[str] = Field(min_length=1, description="Kinds of value it may have.")
    type: list[TimeType] = Field(default_factory=list, description="For times: only these types.")
    bound: list[Bound] = Field(default_factory=list, description="Only values with one of these bounds.")
    open_end: bool = Field(False, description="For times: bounded ones (../X, X/..) only.")
    copula: bool = Field(False, description="Only where a verb of stating (is, 是) stands before the value.")
    labelled: bool | None = Field(None, description="True: only with a label; false: only without one.")
    label_words: int | None = Field(None, ge=1, description="Only with a label of at most so many words.")
    not_before: list[str] = Field(
        default_factory=list, description='Not where one of these words follows the value at once ("5% wider").'
    )
    within: int = Field(40, ge=1, description="Most characters between trigger and value.")

    @field_validator("kind", "type", "bound", mode="before")
    @classmethod
    def _lists(cls, value: object) -> object:
        return [value] if isinstance(value, str) else value

    @field_validator("kind")
    @classmethod
    def _known(cls, value: list[str]) -> list[str]:
        for kind in value:
            if kind not in VALUE_TYPES:
                raise ValueError(f"unknown value kind {kind!r}; one of {', '.join(sorted(VALUE_TYPES))}")
        return value


class Condition(Model):
    """One condition; all of a rule's conditions must hold."""

    value: ValueCondition | None = Field(None, description="What the mention must be like.")
    speaker: list[Speaker] = Field(default_factory=list, description="Only turns of these speakers; empty: all.")
    cue: list[CueKind] = Field(default_factory=list, description="A cue of one of these kinds stands in the sentence.")
    no_cue: list[CueKind] = Field(default_factory=list, description="No cue of these kinds stands in the sentence.")
    words: list[str] = Field(default_factory=list, description="One of these words stands in the clause.")
    no_words: list[str] = Field(default_factory=list, description="None of these words stands in the clause.")


class Take(Model):
    """What of the match goes where."""

    value: Literal["value", "clause"] = Field("value", description="clause: the whole frame is the value.")
    qualifier: str = Field(
        "label",
        description="label, words_before(trigger), words_before(value), trigger, topic, counted, none, or fixed:word.",
    )
    part: Literal["whole", "day", "last_day", "clock"] = Field(
        "whole", description="Of a time only its (first) day, its last day or its clock; other rules may take the rest."
    )
    entity: Literal["possessor", "principal", "named"] = Field(
        "possessor",
        description="possessor: whom the words name (kin, pronoun, a name before 的 or 's), else the principal; "
        "named: the same, and the frame holds only for the name of a person or body.",
    )
    text_kind: Literal["text", "person", "organization", "place", "name"] = Field(
        "text", description="Kind of a value taken as text; name: organization by its suffix, else person."
    )
    polarity: Literal["affirmed", "negated"] | None = Field(None, description="For frames that deny by themselves.")
    until: list[str] = Field(default_factory=list, description="Words that end a text span.")
    strip: list[str] = Field(default_factory=list, description="Words taken off both ends of a text span.")
    shape: list[Shape] = Field(
        default_factory=list, description="Shapes of which a text span must have one: person, organization, place …"
    )
    no_words: list[str] = Field(default_factory=list, description="A text span holds none of these words.")
    like: str | None = Field(None, description="Pattern that a text span must match wholly.")
    longest: int = Field(60, ge=1, description="Most characters of a text span.")
    lexicon: str | None = Field(
        None, description="Id of a vocabulary: {value} is one of its words, and the concept they mean is remembered."
    )

    @field_validator("qualifier")
    @classmethod
    def _readable(cls, value: str) -> str:
        known = {"label", "words_before(trigger)", "words_before(value)", "trigger", "topic", "counted", "none"}
        if value not in known and not value.startswith("fixed:"):
            raise ValueError(f"qualifier {value!r}: one of {', '.join(sorted(known))} or fixed:<word>")
        return value


class CaptureFile(RuleFile):
    """One capture rule: ``when`` binds a mention beside a label, ``phrases`` take what stands in a sentence frame."""

    kind: Literal["capture"] = Field(description="capture")
    slot: str = Field(
        pattern=r"^[a-z][a-z0-9_]*(\.[a-z0-9_]+)*$", description="The slot it fills; none: the one that is corrected."
    )
    language: Language = Field("any", description="Only turns in this language.")
    priority: int = Field(50, ge=0, le=100, description="Among rules for one mention the highest wins.")
    trigger: Trigger | None = Field(None, description="Words without which the rule does not hold.")
    when: list[Condition] = Field(default_factory=list, description="Conditions; all must hold.")
    phrases: list[str] = Field(
        default_factory=list,
        description="Sentence frames: words, {value} {old} {label} {entity} {topic} {any}, [optional], (a|b), (a|b)?, "
        "^ for the start of a clause, $ for its end.",
    )
    act: Act = Field("state", description="What the frame does to the value: state, change, end …")
    take: Take = Field(Take(), description="What of the match is the value, the label and the owner.")

    @model_validator(mode="after")
    def _whole(self, info: ValidationInfo) -> CaptureFile:
        if passed_before(info):
            return self
        if not self.phrases and not any(c.value for c in self.when):
            raise ValueError("a capture needs phrases, or a condition `value`")
        for phrase in self.phrases:
            names = _PLACEHOLDER.findall(phrase)
            unknown = sorted(set(names) - set(PLACEHOLDERS))
            if unknown:
                raise ValueError(f"phrase {phrase!r}: unknown placeholder {unknown[0]!r}; one of {PLACEHOLDERS}")
            if len(names) != len(set(names)):
                raise ValueError(f"phrase {phrase!r} names a placeholder twice")
            if "value" not in names and "topic" not in names:
                raise ValueError(f"phrase {phrase!r} takes nothing: it needs {{value}} or {{topic}}")
            try:
                re.compile(phrase_pattern(phrase, 60, ()).pattern, re.IGNORECASE)
            except re.error as error:
                raise ValueError(f"phrase {phrase!r} cannot be read: {error}") from None
        if self.take.like:
            try:
                linear(self.take.like)
            except re2.error as error:
                raise Refused(f"pattern {self.take.like!r}: {unreadable(error)}", "pattern-not-linear") from None
        return self

    def condition(self) -> ValueCondition | None:
        """The condition on the mention, if the rule has one."""
        return next((c.value for c in self.when if c.value is not None), None)


def phrase_pattern(phrase: str, longest: int, until: tuple[str, ...], values: Iterable[str] = ()) -> re.Pattern[str]:
    """Compile a sentence frame; every placeholder stays within one clause and within ``longest`` characters.

    ``values`` are the words that ``{value}`` may be; none: any.
    """
    listed = "|".join(_literal(word) for word in sorted(values, key=lambda word: (-len(word), word)))
    anchored = phrase.startswith("^")
    closed = phrase.endswith("$")
    body = phrase[1 if anchored else 0 : len(phrase) - (1 if closed else 0)]
    out: list[str] = []
    for piece in re.split(r"(\{\w+\}|\)\?|[\[\]()|])", body):
        if not piece:
            continue
        if listed and piece == "{value}":
            out.append(f"(?P<value>{listed})")
        elif name := _PLACEHOLDER.fullmatch(piece):
            out.append(rf"(?P<{name.group(1)}>[^\n]{{1,{longest}}}?)")
        elif piece == "[":
            out.append("(?:")
        elif piece == "]":
            out.append(")?")
        elif piece == "(":
            out.append("(?:")
        elif piece in {")", ")?", "|"}:
            out.append(piece)
        else:
            out.append(_literal(piece))
    ends = [r"\s*$"]
    if until:
        ends.extend(rf"\s*{_literal(word)}" for word in until)
    tail = rf"(?={'|'.join(ends)})" if closed or body.endswith("}") else ""
    return lazy((r"^\s*" if anchored else "") + "".join(out) + tail, re.IGNORECASE)


def _literal(words: str) -> str:
    body = re.sub(r"(\\ |\s)+", r"\\s*" if not words.strip() else r"\\s+", re.escape(words))
    if words[0].isascii() and words[0].isalnum():
        body = r"(?<![A-Za-z0-9])" + body
    if words[-1].isascii() and words[-1].isalnum():
        body += r"(?![A-Za-z0-9])"
    return body
