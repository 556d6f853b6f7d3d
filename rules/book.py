"""The capture rules of a rule set, compiled once: ordered rules, trigger patterns, slot words, label lexicon."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Protocol

import re2

from ..extractors.scan import Extraction, Spoken
from ..extractors.vocabulary import VocabularyFile
from ..extractors.words import Signs
from ..model import Scan, SlotTraits
from .capture_file import CaptureFile, phrase_pattern
from .gates import Gated
from .identity import NameWords, name_words
from .induction_file import InductionFile
from .labels import Lexicon, key, lexicon, words_pattern
from .prefilter import Prefilter
from .shapes import Shapes, shapes_of
from .slots import SlotFile


class RulesetLike(Protocol):
    """What capture and bind read of a rule set."""

    @property
    def digest(self) -> str:
        """The digest of the set."""
        ...

    @property
    def vocabularies(self) -> dict[str, VocabularyFile]:
        """Vocabularies by id."""
        ...

    @property
    def slots(self) -> dict[str, SlotFile]:
        """Slot files by slot name."""
        ...

    @property
    def captures(self) -> tuple[CaptureFile, ...]:
        """Capture files."""
        ...

    @property
    def inductions(self) -> tuple[InductionFile, ...]:
        """Induction files."""
        ...

    @property
    def extraction(self) -> Extraction:
        """What the extractors were compiled to."""
        ...

    def gated(self, turn: Spoken, scan: Scan) -> Gated | None:
        """What the gates say of a turn."""
        ...


@dataclass(frozen=True)
class Rule:
    """One capture rule with its patterns."""

    file: CaptureFile
    trigger: re.Pattern[str] | None
    trigger_words: frozenset[str]  # in small letters
    trigger_keys: frozenset[str]
    phrases: tuple[re.Pattern[str], ...]
    no_words: re.Pattern[str] | None
    words: re.Pattern[str] | None
    not_before: re.Pattern[str] | None
    refused: re.Pattern[str] | None
    strip: re.Pattern[str] | None
    values: Mapping[str, str]  # the words that may be its value, in small letters → what they mean; empty: any words

    @property
    def sure_phrases(self) -> list[str]:
        """The frames with their values written out: the words that a turn must have for one of them."""
        either = "(" + "|".join(sorted(self.values)) + ")"
        return [p.replace("{value}", either) if self.values else p for p in self.file.phrases]


class Binders:
    """The rules that bind mentions of one kind. Those whose trigger stands nowhere need not be tried."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rules)
        triggered = [(number, rule) for number, rule in enumerate(rules) if rule.trigger is not None]
        self._untriggered = frozenset(range(len(rules))) - {number for number, _ in triggered}
        self._numbers = tuple(number for number, _ in triggered)
        self._signs = Signs(_sign(rule.trigger_words) for _, rule in triggered)

    def possible(self, low: str, *beside: str) -> list[Rule]:
        """The rules, in their order, that a turn of small letters or words beside the mention may lead to."""
        found = set(self._untriggered)
        for text in (low, *(each for each in beside if each not in low)):
            found.update(self._numbers[sign] for sign in self._signs.within(text))
        return [self.rules[number] for number in sorted(found)]


_BLANK = r"[\s\v\p{Z}\x{85}\x{1c}-\x{1f}]+"  # what `\s+` means to the patterns of rules


def _sign(words: Iterable[str]) -> str:
    """What is in every text in which one of the words is found: they as they stand, blanks as any."""
    return "|".join(_BLANK.join(map(re2.escape, word.split(" "))) for word in sorted(words))


@dataclass(frozen=True)
class Book:
    """Everything compiled for capture and bind."""

    lex: Lexicon
    by_kind: Mapping[str, Binders]
    frames: tuple[tuple[Rule, re.Pattern[str]], ...]  # all sentence frames, rules by priority
    frame_filter: Prefilter
    slots: Mapping[str, SlotFile]
    traits: Mapping[str, SlotTraits]  # by slot; a slot of reported facts has those of the slot it reports on
    slot_words: Mapping[str, re.Pattern[str]]
    adjust: Mapping[str, str]
    adjust_pattern: re.Pattern[str]
    acquire: re.Pattern[str]
    uncounted: re.Pattern[str]
    adjust_directions: Mapping[str, str]
    adjust_direction: re.Pattern[str]
    adjust_measure: re.Pattern[str]
    adjust_by: re.Pattern[str]
    adjust_aim: re.Pattern[str]
    adjust_onto: re.Pattern[str]
    adjust_steps: Mapping[str, str]
    adjust_step: re.Pattern[str]
    adjust_factors: Mapping[str, str]
    adjust_factor: re.Pattern[str]
    ordinals: Mapping[str, str]
    ordinal_pattern: re.Pattern[str]
    demonstratives: re.Pattern[str]
    answers_no: re.Pattern[str]
    shapes: Shapes
    unchanged: re.Pattern[str]
    families: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    concepts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    slot_parts: Mapping[str, str] = field(default_factory=dict)  # slots that take only the day or the clock of a time
    label_words: Mapping[str, re.Pattern[str]] = field(default_factory=dict)  # of slots that know all their labels
    which_one: Mapping[str, str] = field(default_factory=dict)  # the question, by language
    same_entity: Mapping[str, str] = field(default_factory=dict)  # the question, and the reasons in words
    names: NameWords = field(default_factory=NameWords)
    events: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # anchor → words for the event
    event_days: frozenset[str] = frozenset()  # words that only say that an event has a day: 开售日, "launch day"
    recent_turns: int = 12
    nearer_by: int = 4
    least_scale: int = 1000  # of a figure that a bare number may stand in: k, 千
    same_scale: int = 10  # times by which a bare number and the figure before "k" may differ
    _event_labels: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)

    def event_labels(self, anchor: str, slot: str) -> tuple[str, ...]:
        """The qualifiers that a value of a slot gets under the words for an event, the longest first."""
        place = (anchor, slot)
        if place not in self._event_labels:
            own = {key(word) for word in self.slots[slot].words} if slot in self.slots else set()
            words = self.events.get(anchor, (anchor.replace("_", " "),))
            labels = {self.qualifier(slot, word): key(word) for word in words}
            named = [label for label, word in labels.items() if label or word in own]
            self._event_labels[place] = tuple(sorted(named, key=lambda label: (-len(label), label)))
        return self._event_labels[place]

    def possible_frames(self, low: str) -> Iterator[tuple[Rule, list[re.Pattern[str]]]]:
        """The sentence frames that can match a text of small letters, rule by rule."""
        possible = (self.frames[number] for number in self.frame_filter.possible(low))
        for _, group in groupby(possible, key=lambda frame: id(frame[0])):
            listed = list(group)
            yield listed[0][0], [pattern for _, pattern in listed]

    def family(self, slot: str) -> tuple[str, ...]:
        """The slots that look for each other's labels, this one first."""
        name = self.slots[slot].family if slot in self.slots else None
        others = self.families.get(name, ()) if name else ()
        return (slot, *(other for other in others if other != slot))

    def qualifier(self, slot: str, label: str) -> str:
        """The normalised qualifier of a label in a slot, by concept."""
        if slot in self.label_words:
            said = {self.known_label(slot, hit.group()) for hit in self.label_words[slot].finditer(label.lower())}
            return said.pop() if len(said) == 1 else ""  # "departure and return dates" asks for both
        plain = key(label)
        concepts = self.concepts.get(slot, {})
        if plain in concepts:
            known = concepts[plain]
            if not self._names_slot(slot, known) and self.lex.without(known, self.slot_words.get(slot)):
                return known
        rest = self.lex.without(label, self.slot_words.get(slot))
        return concepts.get(rest, rest)

    def known_label(self, slot: str, word: str) -> str:
        """The concept of a word that is a label of the slot."""
        return self.concepts.get(slot, {}).get(key(word), key(word))

    def _names_slot(self, slot: str, concept: str) -> bool:
        pattern = self.slot_words.get(slot)
        return bool(pattern and pattern.fullmatch(concept))


def book_of(ruleset: RulesetLike) -> Book:
    """The compiled book of a rule set; the last few are kept by digest."""
    known = _BOOKS.get(ruleset.digest)
    if known is not None:
        _BOOKS.move_to_end(ruleset.digest)
        return known
    book = compile_book(ruleset)
    _BOOKS[ruleset.digest] = book
    while len(_BOOKS) > 4:
        _BOOKS.popitem(last=False)
    return book


_TALK = frozenset({"patterns.talk", "patterns.dating"})
_BOOKS: OrderedDict[str, Book] = OrderedDict()


def compile_book(ruleset: RulesetLike) -> Book:
    """Compile every active capture rule and the word lists they name; raises KeyError for an unknown vocabulary."""
    vocabularies = ruleset.vocabularies
    active = sorted((f for f in ruleset.captures if f.status == "active"), key=lambda f: (-f.priority, f.id))
    rules = tuple(_compiled(file, vocabularies) for file in active)
    entries = {name: vocabulary.entries() for name, vocabulary in vocabularies.items()}

    def table(name: str) -> dict[str, str]:
        return {word.lower(): str(value) for word, value in entries.get(name, {}).items()}

    # Readers of addresses and names keep patterns of the same names in files of their own: those of talk win here.
    by_talk = sorted(vocabularies, key=lambda name: (name in _TALK, name))
    patterns = {k: v for name in by_talk for k, v in vocabularies[name].patterns.items()}
    families: dict[str, list[str]] = {}
    for slot in sorted(ruleset.slots):
        name = ruleset.slots[slot].family
        if name:
            families.setdefault(name, []).append(slot)
    return Book(
        lex=lexicon(entries, {name for slot in ruleset.slots.values() for name in slot.labels}, patterns),
        by_kind=_by_kind(rules),
        frames=tuple((rule, pattern) for rule in rules for pattern in rule.phrases),
        frame_filter=Prefilter([phrase for rule in rules for phrase in rule.sure_phrases]),
        slots=ruleset.slots,
        traits=_traits(ruleset.slots),
        slot_words={name: words_pattern(slot.words) for name, slot in sorted(ruleset.slots.items()) if slot.words},
        adjust=table("acts.adjust_verbs"),
        adjust_pattern=words_pattern(table("acts.adjust_verbs")),
        acquire=words_pattern(table("words.acquire")),
        uncounted=words_pattern(table("words.uncounted"), "end"),
        adjust_directions=table("acts.adjust_direction"),
        adjust_direction=words_pattern(table("acts.adjust_direction")),
        adjust_measure=words_pattern(table("acts.adjust_measure")),
        adjust_by=words_pattern(table("acts.adjust_measure"), "end"),
        adjust_aim=words_pattern(table("acts.adjust_aim"), "end"),
        adjust_onto=words_pattern(table("acts.adjust_onto"), "start"),
        adjust_steps=table("acts.adjust_steps"),
        adjust_step=words_pattern(table("acts.adjust_steps")),
        adjust_factors=table("acts.adjust_factors"),
        adjust_factor=words_pattern(table("acts.adjust_factors")),
        ordinals=table("acts.ordinal"),
        ordinal_pattern=words_pattern(table("acts.ordinal"), "start"),
        demonstratives=words_pattern(table("acts.demonstrative")),
        answers_no=words_pattern(table("acts.no")),
        shapes=shapes_of(vocabularies),
        unchanged=words_pattern(table("acts.unchanged"), "end"),
        concepts={name: _concepts(slot.labels, vocabularies) for name, slot in sorted(ruleset.slots.items())},
        which_one={language: str(text) for language, text in entries.get("say.which_one", {}).items()},
        same_entity={word: str(text) for word, text in entries.get("say.same_entity", {}).items()},
        names=name_words(vocabularies),
        events=_events(vocabularies),
        event_days=frozenset(map(key, table("words.event_day"))),
        slot_parts={r.file.slot: r.file.take.part for r in reversed(rules) if r.file.take.part != "whole"},
        label_words=_label_words(ruleset.slots, vocabularies),
        recent_turns=int(table("settings.bind").get("recent_turns", "12")),
        nearer_by=int(table("settings.bind").get("nearer_by", "4")),
        same_scale=int(table("settings.bind").get("same_scale", "10")),
        least_scale=int(table("settings.bind").get("least_scale", "1000")),
        families={name: tuple(slots) for name, slots in sorted(families.items())},
    )


def _events(vocabularies: Mapping[str, VocabularyFile]) -> dict[str, tuple[str, ...]]:
    """Anchor → every word for its event, in any language; of the vocabularies with an id ``anchors.*``."""
    words: dict[str, list[str]] = {}
    for name, vocabulary in sorted(vocabularies.items()):
        if name.split(".")[0] == "anchors":
            for anchor, listed in vocabulary.labels.items():
                words.setdefault(anchor, []).extend(listed)
    return {anchor: tuple(dict.fromkeys(listed)) for anchor, listed in words.items()}


def _traits(slots: Mapping[str, SlotFile]) -> dict[str, SlotTraits]:
    found: dict[str, SlotTraits] = {}
    for name, file in slots.items():
        for slot in (name, f"reported.{name}"):
            found[slot] = file.traits().model_copy(update={"slot": slot})
    return found


def _concepts(names: list[str], vocabularies: Mapping[str, VocabularyFile]) -> dict[str, str]:
    """Label → concept by the lexicons of one slot; an earlier lexicon wins."""
    found: dict[str, str] = {}
    for name in names:
        for word, concept in vocabularies[name].entries().items():
            found.setdefault(key(word), str(concept))
    return found


def _label_words(
    slots: Mapping[str, SlotFile], vocabularies: Mapping[str, VocabularyFile]
) -> dict[str, re.Pattern[str]]:
    known = {name: slot.labels for name, slot in sorted(slots.items()) if slot.qualifier == "known"}
    return {
        name: words_pattern(word for label in labels for word in vocabularies[label].entries())
        for name, labels in known.items()
    }


def _by_kind(rules: tuple[Rule, ...]) -> dict[str, Binders]:
    """The rules that bind mentions, by the kind of mention, in their order."""
    found: dict[str, list[Rule]] = {}
    for rule in rules:
        condition = rule.file.condition()
        if condition is not None and not rule.phrases:
            for kind in condition.kind:
                found.setdefault(kind, []).append(rule)
    return {kind: Binders(listed) for kind, listed in found.items()}


def _compiled(file: CaptureFile, vocabularies: Mapping[str, VocabularyFile]) -> Rule:
    words = list(file.trigger.words) if file.trigger else []
    if file.trigger and file.trigger.lexicon:
        words.extend(vocabularies[file.trigger.lexicon].entries())
    place = "end" if file.trigger and file.trigger.place == "label_end" else "any"
    no_words = [word for condition in file.when for word in condition.no_words]
    some = [word for condition in file.when for word in condition.words]
    value = file.condition()
    not_before = value.not_before if value is not None else []
    listed = vocabularies[file.take.lexicon].entries() if file.take.lexicon else {}
    values = {word.lower(): str(meant) for word, meant in sorted(listed.items())}
    return Rule(
        file=file,
        trigger=words_pattern(words, place) if words else None,
        trigger_words=frozenset(word.lower() for word in words),
        trigger_keys=frozenset(key(word) for word in words),
        phrases=tuple(phrase_pattern(p, file.take.longest, tuple(file.take.until), values) for p in file.phrases),
        no_words=words_pattern(no_words) if no_words else None,
        words=words_pattern(some) if some else None,
        not_before=words_pattern(not_before, "start") if not_before else None,
        refused=words_pattern(file.take.no_words) if file.take.no_words else None,
        strip=words_pattern(file.take.strip) if file.take.strip else None,
        values=values,
    )
