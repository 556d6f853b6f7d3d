"""What a question asks: its time, its slots, its label, its range; read by the extractors and labels that read talk."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache

from ..extractors.scan import scan
from ..extractors.text import normalize
from ..extractors.words import lazy
from ..intake import IntakeError
from ..model import Mention, Scan
from ..rules.labels import is_han, key, tokens, words_pattern
from ..rules.ruleset import Ruleset
from ..values import Magnitude, TimeValue, Value
from .ranges import Range, days_of, past_days, range_of
from .wording import Wording

_NEAR = 3  # characters that may stand between a time and the word that says what it means: 上周我们说的
# What a question word asks for, where that is more than the kind of its name.
_TELLING = frozenset({"time", "length", "place"})  # whose question words no other kind of value answers
_NUMBERS = frozenset({"money", "percent", "quantity"})
_KINDS = {
    "number": _NUMBERS,
    "length": frozenset({"time"}),
    "person": frozenset({"person", "organization"}),
    "place": frozenset({"place", "address"}),
}
_ALIKE = 0.8  # of a template question must stand in a question that is to be the same
GUESSED = 0.5  # how surely a slot is meant of which only the kind of value was asked for


class QuestionError(IntakeError):
    """A question that cannot be read: it is empty, or names no time that there is. It does not ask for everything."""


@dataclass(frozen=True)
class Asked:
    """A question as understood; ``slots`` is slot → how surely it is meant, 0 to 1."""

    text: str
    now: datetime
    language: str
    slots: Mapping[str, float]
    label: tuple[str, ...] = ()  # words left when time, slot and question words are taken off
    said: tuple[datetime | None, datetime | None] | None = None  # told between, end exclusive
    as_of: datetime | None = None  # the day on which it must have been true
    known_at: datetime | None = None  # what we knew then: later corrections do not count
    range: Range | None = None
    history: bool = False
    words: str = ""  # what full text looks for
    notes: tuple[str, ...] = field(default=())
    rest: str = ""  # in small letters, blanks where its times and ranges stood
    timed: tuple[str, ...] = ()  # words of its times, which may be a label instead: "on Fridays"
    idle: bool = False  # small talk, or asked of the world: only what has its words is an answer
    kind: str = ""  # of value that its question words ask for, where no slot that has such values is named
    proper: frozenset[str] = frozenset()  # words of the label that are written as names are: Newton

    @property
    def at(self) -> datetime:
        """The time at which an answer must be true."""
        return self.as_of if self.as_of is not None else self.known

    @property
    def known(self) -> datetime:
        """The time by which an answer must have been told."""
        return self.known_at if self.known_at is not None else self.now


class QuestionBook:
    """The word lists of questions, compiled from a rule set."""

    def __init__(self, ruleset: Ruleset) -> None:
        self.ruleset = ruleset
        self.asks = _labels(ruleset, "recall.asks")
        asks = words_pattern(word for words in self.asks.values() for word in words)
        self.ask_words = lazy(rf"{asks.pattern}(?:'s\b)?")  # "what's" is "what"
        self._kinds = {word.lower(): kind for kind, words in self.asks.items() for word in words}
        self.length_words = words_pattern(self.asks.get("length", ()))
        self.wording = Wording(ruleset, self._kinds)
        times = _labels(ruleset, "recall.times")
        self.times = {name: words_pattern(words) for name, words in times.items()}
        self.as_of_before = words_pattern(times.get("as_of", ()), "end")
        attributes = ruleset.vocabularies.get("labels.attribute")
        entries = attributes.entries() if attributes is not None else {}
        self.bounds = words_pattern(word for word, what in entries.items() if what == "bound")
        self.history = _history(ruleset)
        self.slot_words = {name: words_pattern(slot.words) for name, slot in ruleset.slots.items() if slot.words}
        self.templates = [
            (name, frozenset(pieces(question)), bool(pieces(self.ask_words.sub(" ", question.lower()))))
            for name, slot in sorted(ruleset.slots.items())
            for question in (*slot.asked_as.zh, *slot.asked_as.en)
        ]
        self.ways = _ways(ruleset)
        self.way_texts = {concept: "\n".join(ways) for concept, ways in self.ways.items()}
        self._ways = {concept: [(way, frozenset(pieces(way))) for way in ways] for concept, ways in self.ways.items()}
        self.settings = _words(ruleset, "recall.settings")
        self.say = _words(ruleset, "recall.say")
        file = ruleset.vocabularies.get("recall.instructions")
        self.instructions = [lazy(source, re.IGNORECASE) for source in file.patterns.values()] if file else []

    def number(self, name: str, default: float) -> float:
        """A number of ``recall.settings``."""
        return float(self.settings.get(name, default))

    def ways_of(self, label: str) -> Sequence[tuple[str, frozenset[str]]]:
        """The labels that mean the same as one, each with its words."""
        # Words that are dropped elsewhere ("it") may be all that a label has.
        return self._ways.get(label) or [
            (label, frozenset(pieces(label)) | self.wording.names.intersection(label.split()))
        ]

    def kind_asked(self, low: str) -> str | None:
        """The kind of value that the question words ask for."""
        hits = [hit.group().removesuffix("'s") for hit in self.ask_words.finditer(low)]
        kinds = {self._kinds[word] for word in hits if word in self._kinds}
        asked = sorted(kinds - {"any"})
        return asked[0] if len(asked) == 1 else None


def pieces(text: str) -> list[str]:
    """What two texts are compared by: words, and pairs of neighbouring Chinese characters."""
    found: list[str] = []
    for token in tokens(text):
        if is_han(token) and len(token) > 1:
            found += [token[at : at + 2] for at in range(len(token) - 1)]
        else:
            found.append(token)
    return found


def _labels(ruleset: Ruleset, name: str) -> dict[str, list[str]]:
    file = ruleset.vocabularies.get(name)
    return {concept: list(words) for concept, words in file.labels.items()} if file is not None else {}


def _words(ruleset: Ruleset, name: str) -> dict[str, str]:
    file = ruleset.vocabularies.get(name)
    return {word: str(value) for word, value in file.entries().items()} if file is not None else {}


def _history(ruleset: Ruleset) -> tuple[re.Pattern[str], ...]:
    """Words and patterns that ask for what was before."""
    file = ruleset.vocabularies.get("recall.history")
    patterns = [lazy(source, re.IGNORECASE) for source in file.patterns.values()] if file is not None else []
    return (words_pattern(ruleset.words("recall.history")), *patterns)


def _ways(ruleset: Ruleset) -> dict[str, tuple[str, ...]]:
    """Concept → every label that means it, of the lexicons that slots name."""
    found: dict[str, dict[str, None]] = {}
    for name in sorted({name for slot in ruleset.slots.values() for name in slot.labels}):
        for concept, words in ruleset.vocabularies[name].labels.items():
            found.setdefault(key(concept), {}).update(dict.fromkeys([key(concept), *map(key, words)]))
    return {concept: tuple(words) for concept, words in found.items()}


@lru_cache(maxsize=4)
def book_of(ruleset: Ruleset) -> QuestionBook:
    """The compiled book of a rule set; the last few are kept."""
    return QuestionBook(ruleset)


def understand(question: str, now: datetime, ruleset: Ruleset) -> Asked:
    """Read a question asked at ``now``. Raises QuestionError for an empty one, or a time that cannot be read."""
    if not question.strip():
        raise QuestionError("the question is empty. Ask for something; `recordari items` lists all that is remembered")
    book = book_of(ruleset)
    text = normalize(question).text
    found = scan(text, ruleset.extraction, said_at=now, ner=False)
    for refused in found.refused:
        if refused.kind == "time":
            raise QuestionError(f"{refused.text!r} is no time: {refused.why}. Name another day")
    rest = _Rest(text)
    when = _Times(book, text, found, now, rest)
    when.read()
    as_of, notes, free = when.as_of, when.notes, when.free
    history = any(pattern.search(when.timeless) for pattern in book.history)
    for pattern in book.history:
        rest.blank_all(pattern)
    rest.name(book.wording.named(text))
    slots, label, kind = _slots(book, rest, found)
    if free:  # a day may look like the word of a slot: 17号
        slots, _, kind = _slots(book, rest.without(free), found)
    before, timed = rest.low, dict[str, None]()
    wanted: Range | None = None
    for mention in (*free, *found.mentions):
        if book.wording.ordinal.fullmatch(mention.text):  # the second is no two
            continue
        if isinstance(mention.value, Magnitude) and wanted is None:
            wanted = range_of(mention, now)
            rest.blank(mention.start, mention.end)
        elif mention in free and as_of is None:
            start, end = days_of(mention.value, now)
            then = mention in when.during and start is not None and start <= now and bool(slots or label)
            past = end is not None and end <= now and bool(label) and book.kind_asked(rest.low) != "time"
            if past:  # what was on a day, or what was true on it
                wanted = range_of(mention, now)
            if (then or past or _takes_no_time(slots, book)) and start is not None:
                as_of = min(end, now) - timedelta(microseconds=1) if end and start <= now else start
                notes.append(f"{mention.text}: as of {as_of.isoformat()}")
            elif wanted is None:
                wanted = range_of(mention, now)
            timed |= dict.fromkeys(pieces(mention.text))
            rest.blank(mention.start, mention.end)
    if rest.low != before:
        slots, label, kind = _slots(book, rest, found)
    idle = book.wording.idle(text, text.lower(), now, found)
    if idle:  # the weather of today is no value that lies in today
        as_of, wanted = when.as_of, None
        notes.append("asks nothing of a memory: only what has its words is an answer")
    said = [*book.ask_words.sub(" ", rest.plain).split(), *rest.names]
    words = " ".join(word for word in said if not idle or any(map(str.isalpha, word)))
    return Asked(
        text, now, found.lang, slots, label, when.said, as_of, when.known_at, wanted, history, words, tuple(notes),
        rest.low, tuple(timed), idle, kind, book.wording.proper(text).intersection(label),
    )  # fmt: skip


class _Rest:
    """The characters of a question that nothing has explained yet."""

    def __init__(self, text: str) -> None:
        low = text.lower()
        self.low = low if len(low) == len(text) else text
        self.names: tuple[str, ...] = ()  # words that would be taken for grammar
        self._named: Sequence[tuple[int, int]] = ()

    @property
    def plain(self) -> str:
        """The characters without the names among them."""
        low = self.low
        for start, end in self._named:
            low = low[:start] + " " * (end - start) + low[end:]
        return low

    def without(self, mentions: Iterable[Mention]) -> _Rest:
        """The same without some mentions."""
        other = copy(self)
        for mention in mentions:
            other.blank(mention.start, mention.end)
        return other

    def name(self, spans: Sequence[tuple[int, int]]) -> None:
        """Take the words of some spans for names."""
        self._named = spans
        self.names = tuple(dict.fromkeys(self.low[start:end].removesuffix("'s") for start, end in spans))

    def blank(self, start: int, end: int) -> None:
        """Take a span out; offsets stay."""
        self.low = self.low[:start] + " " * (end - start) + self.low[end:]

    def blank_all(self, pattern: re.Pattern[str]) -> None:
        """Take out all that a pattern finds."""
        for hit in list(pattern.finditer(self.low)):
            self.blank(*hit.span())


class _Times:
    """What the times of a question mean: told then, true then, known then, or none of these."""

    def __init__(self, book: QuestionBook, text: str, found: Scan, now: datetime, rest: _Rest) -> None:
        self._book, self._text, self._lang, self._now, self._rest = book, text, found.lang, now, rest
        self._times = [m for m in found.mentions if isinstance(m.value, TimeValue)]
        self.said: tuple[datetime | None, datetime | None] | None = None
        self.as_of: datetime | None = None
        self.known_at: datetime | None = None
        self.free: list[Mention] = []
        self.during: list[Mention] = []  # of the free ones, those that say "at that time"
        self.notes: list[str] = []
        self.timeless = ""  # the question without its times

    def read(self) -> None:
        """Give every time of the question its meaning. QuestionError for a word that needs a time and has none."""
        low = self._rest.low
        told = _spans(self._book, "said", low)
        known = self._known(low)
        for mention in self._times:
            if mention is known:
                self.known_at = min(_moment(mention, self._now), self._now)
                self.notes.append(f"as known at {self.known_at.isoformat()}")
                opened = self._book.as_of_before.search(low[: mention.start].rstrip())
                self._rest.blank(opened.start() if opened else mention.start, mention.end)
            elif not (self._true_on(mention, low) or self._told_on(mention, low, told)):
                self.free.append(mention)
                inside = _spans(self._book, "during", low[mention.start : mention.end])
                if inside or _at_start(self._book, "during", low[mention.end :].lstrip()):
                    self.during.append(mention)
        self._alone(low)
        for name in ("known", "knew", "during"):
            if name in self._book.times and (name != "during" or self.during):
                self._rest.blank_all(self._book.times[name])
        timeless = _Rest(self._text)
        for mention in self._times:
            timeless.blank(mention.start, mention.end)
        self.timeless = timeless.low

    def _known(self, low: str) -> Mention | None:
        """The time at which we knew: the one nearest to the word for it."""
        words = [*_spans(self._book, "known", low), *(knew := _spans(self._book, "knew", low))]
        if words and self._times:
            start, end = words[0]
            return min(self._times, key=lambda each: max(each.start - end, start - each.end))
        if knew:
            raise QuestionError(f"{low[slice(*knew[0])]!r}: when? No time that can be read stands beside it")
        return None

    def _true_on(self, mention: Mention, low: str) -> bool:
        """Whether the time is the day on which the answer was true, by the words beside it."""
        opened = self._book.as_of_before.search(low[: mention.start].rstrip())
        inside = _spans(self._book, "as_of", low[mention.start : mention.end])
        inside += _spans(self._book, "until", low[mention.start : mention.end])
        after = _spans(self._book, "until", low[mention.end : mention.end + _NEAR])
        if not (opened or inside or after):
            return False
        self.as_of = _moment(mention, self._now)
        self.notes.append(f"as of {self.as_of.isoformat()}")
        self._rest.blank(opened.start() if opened else mention.start, mention.end + (after[-1][1] if after else 0))
        return True

    def _told_on(self, mention: Mention, low: str, told: Sequence[tuple[int, int]]) -> bool:
        """Whether the time is when it was told; what was told by a day is what was known on it."""
        if not any(_belongs(mention, span, self._lang, low) for span in told):
            return False
        start, end = past_days(mention.value, self._now)
        if (start, end) == (None, None):
            raise QuestionError(f"{mention.text!r} names no days that can be counted. Name a day or a month")
        if start is None and end is not None:
            self.known_at = min(end - timedelta(microseconds=1), self._now)
            self.notes.append(f"as known at {self.known_at.isoformat()}")
        else:
            self.said = start, end
            self.notes.append(f"told in {mention.text}")
        self._rest.blank(mention.start, mention.end)
        return True

    def _alone(self, low: str) -> None:
        """Words that need a time: an error where none stands beside them, but for "as of now" and "recently"."""
        taken = [(m.start - 1, m.end + 1) for m in self._times]
        for name in ("as_of", "opens"):
            for start, end in _spans(self._book, name, low):
                if name == "as_of" and _at_start(self._book, "now", low[end:].lstrip()):
                    self._rest.blank(start, end)
                elif not any(a <= end and start <= b for a, b in taken):
                    said = self._text[start:end]
                    raise QuestionError(f"{said!r} has no time beside it that can be read. Name a day")
        if self.said is None:
            for start, end in _spans(self._book, "recent", low):
                days = self._book.number("recent_days", 30)
                self.said = (self._now - timedelta(days=days), None)
                self.notes.append(f"told in the {days:g} days before")
                self._rest.blank(start, end)


def _spans(book: QuestionBook, name: str, low: str) -> list[tuple[int, int]]:
    return [hit.span() for hit in book.times[name].finditer(low)] if name in book.times else []


def _at_start(book: QuestionBook, name: str, low: str) -> bool:
    return any(start == 0 for start, _ in _spans(book, name, low))


def _belongs(mention: Mention, said: tuple[int, int], language: str, low: str) -> bool:
    """True when the word of saying is about this time: right behind it in Chinese, in its clause in English."""
    start, end = said
    if language == "zh":
        return 0 <= start - mention.end <= _NEAR or 0 <= mention.start - end <= 1
    between = low[min(end, mention.end) : max(start, mention.start)]
    return re.search(r"[,;?!]", between) is None


def _moment(mention: Mention, now: datetime) -> datetime:
    """The last moment of the time named; the present when it is not over yet."""
    start, end = days_of(mention.value, now, nearest=True)
    if end is None and start is None:
        raise QuestionError(f"{mention.text!r} is no day of the calendar. Name a day or a month")
    last = end - timedelta(microseconds=1) if end is not None else now
    return now if (start is None or start <= now) and last > now else last


def _slots(book: QuestionBook, rest: _Rest, found: Scan) -> tuple[dict[str, float], tuple[str, ...], str]:
    """Slots that the question names, by their words, their template questions or the kind asked for; its label; the
    kind where the slots were guessed by it."""
    plain, chinese = rest.plain, found.lang == "zh"
    low = plain if chinese else " ".join(tokens(plain))  # "deadlines" names the slot, too
    other = book.length_words.sub(" ", low)  # 多长时间 names no 时间
    hits = {
        name: max((len(hit.group()) for hit in pattern.finditer(other)), default=0)
        for name, pattern in book.slot_words.items()
    }
    longest = max(hits.values(), default=0)
    slots = {name: size / longest for name, size in hits.items() if size}
    here = frozenset(pieces(low))
    for name, template, telling in book.templates:
        share = len(template & here) / len(template) if template else 0.0
        # 有什么 is a question of its own; within a longer one it says nothing of the slot.
        if (share >= _ALIKE) if telling else (template == here):
            slots[name] = max(slots.get(name, 0.0), share)
    kind = book.kind_asked(plain) or ""
    guessed = _of_kind(book, kind, slots)
    slots, kind = guessed or slots, kind if guessed else ""
    bare = book.ask_words.sub(" ", plain)
    bare = book.bounds.sub(" ", bare if chinese else " ".join(tokens(bare)))
    for name in sorted(slots):
        if name in book.slot_words and slots[name] == 1.0:
            bare = book.slot_words[name].sub(" ", bare)
    return slots, (*pieces(bare), *rest.names), kind


def _of_kind(book: QuestionBook, kind: str, slots: Mapping[str, float]) -> dict[str, float] | None:
    """The slots with those guessed by the kind of value asked for, where none is named that has such values; else None.
    A slot that is named says more than "how much", but no amount answers "how long"."""
    kinds = _KINDS.get(kind, frozenset({kind}))
    takes = [name for name, slot in sorted(book.ruleset.slots.items()) if kinds & set(slot.value)]
    sure = [name for name, how in slots.items() if how >= _ALIKE]
    if not takes or (sure and (kind not in _TELLING or not set(takes).isdisjoint(sure))):
        return None
    named = {name: how * GUESSED for name, how in slots.items()} if sure else slots
    return {**named, **dict.fromkeys(takes, GUESSED)}


def answers(kind: str, value: Value) -> bool:
    """Whether a value can be what question words of a kind ask for; what was told in words may be anything."""
    if kind == "length":
        return value.kind == "text" or (isinstance(value, TimeValue) and value.type == "duration")
    return value.kind in _KINDS.get(kind, _NUMBERS if kind == "money" else {kind}) or value.kind == "text"


def _takes_no_time(slots: Mapping[str, float], book: QuestionBook) -> bool:
    """True when a slot is named and none that is meant surely takes times."""
    sure = [name for name, how in slots.items() if how == max(slots.values())]
    return bool(sure) and not any("time" in book.ruleset.slots[name].value for name in sure)


def label_fit(book: QuestionBook, label: Sequence[str], qualifier: str, entity: str, said: str = "") -> float:
    """How well an item's label answers to the label asked for, 0 to 1; both may be none. A Chinese label that stands
    in the question as ``said`` is the one asked for, whatever words of grammar its characters are: 成都, 申请费."""
    if not label:
        return 0.5 if qualifier else 1.0
    if qualifier and not any(probe in book.way_texts.get(qualifier, qualifier) for probe in probes(tuple(label))):
        return 0.0
    asked = frozenset(label)
    about = _pieces_of_name(entity) & asked
    if not qualifier:
        return 1.0 if not asked - about else 0.3
    best, stems = 0.0, 0.0
    for way, words in book.ways_of(qualifier):
        meant = asked
        if way in said and is_han(way):
            meant = words | {piece for piece in asked if piece not in way}
        shared = len(words & meant)
        if shared:
            best = max(best, 2 * (shared + len(about)) / (len(words) + len(about) + len(meant)))
        elif not best and (shared := len(book.wording.stems(words) & _stems_of(book.wording, tuple(label)))):
            stems = max(stems, book.number("by_stem", 0.8) * 2 * shared / (len(words) + len(asked)))
    return min(best or stems, 1.0)


@lru_cache(maxsize=1)
def _pieces_of_name(entity: str) -> frozenset[str]:
    """Of the entity that a question is asked about, for each of its labels."""
    return frozenset(pieces(entity))


@lru_cache(maxsize=1)
def _stems_of(wording: Wording, label: tuple[str, ...]) -> frozenset[str]:
    return wording.stems(label)


@lru_cache(maxsize=2)
def probes(label: tuple[str, ...]) -> tuple[str, ...]:
    """How the pieces of a label begin: a label in which none of these stands cannot have them, and most are told apart
    by that without being taken to pieces."""
    return tuple(dict.fromkeys(piece[:1] if is_han(piece) else piece[:2] for piece in label))
