"""What a question asks: its time, its slots, its label, its range; read by the extractors and labels that read talk."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
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
from ..values import Magnitude, TimeValue
from .ranges import Range, days_of, past_days, range_of

_NEAR = 3  # characters that may stand between a time and the word that says what it means: 上周我们说的
# What a question word asks for, where that is more than the kind of its name.
_KINDS = {
    "number": frozenset({"money", "percent", "quantity"}),
    "person": frozenset({"person", "organization"}),
    "place": frozenset({"place", "address"}),
}
_ALIKE = 0.8  # of a template question must stand in a question that is to be the same


class QuestionError(IntakeError):
    """A question whose time cannot be read: it is refused, since it does not ask for everything."""


@dataclass(frozen=True)
class Asked:
    """A question as understood; ``slots`` is slot → how surely it is meant, 0 to 1."""

    text: str
    now: datetime
    language: str
    slots: Mapping[str, float]
    label: tuple[str, ...] = ()  # words left when time, slot and question words are taken off
    said: tuple[datetime | None, datetime | None] | None = None  # told between, end exclusive
    as_of: datetime | None = None
    range: Range | None = None
    history: bool = False
    words: str = ""  # what full text looks for
    notes: tuple[str, ...] = field(default=())

    @property
    def at(self) -> datetime:
        """The time at which an answer must be true."""
        return self.as_of if self.as_of is not None else self.now


class QuestionBook:
    """The word lists of questions, compiled from a rule set."""

    def __init__(self, ruleset: Ruleset) -> None:
        self.ruleset = ruleset
        self.asks = _labels(ruleset, "recall.asks")
        self.ask_words = words_pattern(word for words in self.asks.values() for word in words)
        self._kinds = {word.lower(): kind for kind, words in self.asks.items() for word in words}
        times = _labels(ruleset, "recall.times")
        self.times = {name: words_pattern(words) for name, words in times.items()}
        self.as_of_before = words_pattern(times.get("as_of", ()), "end")
        attributes = ruleset.vocabularies.get("labels.attribute")
        entries = attributes.entries() if attributes is not None else {}
        self.bounds = words_pattern(word for word, what in entries.items() if what == "bound")
        self.history = words_pattern(ruleset.words("recall.history"))
        self.slot_words = {name: words_pattern(slot.words) for name, slot in ruleset.slots.items() if slot.words}
        self.templates = [
            (name, frozenset(pieces(question)), bool(pieces(self.ask_words.sub(" ", question.lower()))))
            for name, slot in sorted(ruleset.slots.items())
            for question in (*slot.asked_as.zh, *slot.asked_as.en)
        ]
        self.ways = _ways(ruleset)
        self.settings = _words(ruleset, "recall.settings")
        self.say = _words(ruleset, "recall.say")
        file = ruleset.vocabularies.get("recall.instructions")
        self.instructions = [lazy(source, re.IGNORECASE) for source in file.patterns.values()] if file else []

    def number(self, name: str, default: float) -> float:
        """A number of ``recall.settings``."""
        return float(self.settings.get(name, default))

    def kind_asked(self, low: str) -> str | None:
        """The kind of value that the question words ask for."""
        kinds = {self._kinds[hit.group()] for hit in self.ask_words.finditer(low) if hit.group() in self._kinds}
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
    """Read a question asked at ``now``. Raises QuestionError for a time that cannot be read."""
    book = book_of(ruleset)
    text = normalize(question).text
    found = scan(text, ruleset.extraction, said_at=now, ner=False)
    for refused in found.refused:
        if refused.kind == "time":
            raise QuestionError(f"{refused.text!r} is no time: {refused.why}. Name another day")
    rest = _Rest(text)
    notes: list[str] = []
    history = bool(book.history.search(text.lower()))
    if history:
        rest.blank_all(book.history)
    said, as_of, free = _times(book, text, found, now, rest, notes)
    slots, label = _slots(book, rest, found)
    wanted: Range | None = None
    for mention in (*free, *found.mentions):
        if isinstance(mention.value, Magnitude) and wanted is None:
            wanted = range_of(mention, now)
            rest.blank(mention.start, mention.end)
        elif mention in free and as_of is None:
            start, end = days_of(mention.value, now)
            past = end is not None and end <= now and bool(label) and book.kind_asked(rest.low) != "time"
            if past:  # what was on a day, or what was true on it
                wanted = range_of(mention, now)
            if (past or _takes_no_time(slots, book)) and start is not None:
                as_of = min(end, now) - timedelta(microseconds=1) if end and start <= now else start
                notes.append(f"{mention.text}: as of {as_of.isoformat()}")
            elif wanted is None:
                wanted = range_of(mention, now)
            rest.blank(mention.start, mention.end)
    slots, label = _slots(book, rest, found)
    words = " ".join(book.ask_words.sub(" ", rest.low).split())
    return Asked(text, now, found.lang, slots, label, said, as_of, wanted, history, words, tuple(notes))


class _Rest:
    """The characters of a question that nothing has explained yet."""

    def __init__(self, text: str) -> None:
        low = text.lower()
        self.low = low if len(low) == len(text) else text

    def blank(self, start: int, end: int) -> None:
        """Take a span out; offsets stay."""
        self.low = self.low[:start] + " " * (end - start) + self.low[end:]

    def blank_all(self, pattern: re.Pattern[str]) -> None:
        """Take out all that a pattern finds."""
        for hit in list(pattern.finditer(self.low)):
            self.blank(*hit.span())


def _times(
    book: QuestionBook, text: str, found: Scan, now: datetime, rest: _Rest, notes: list[str]
) -> tuple[tuple[datetime | None, datetime | None] | None, datetime | None, list[Mention]]:
    """The days on which it was told, the day at which it was true, and the times that are neither."""
    said: tuple[datetime | None, datetime | None] | None = None
    as_of: datetime | None = None
    free: list[Mention] = []
    times = [m for m in found.mentions if isinstance(m.value, TimeValue)]
    low = rest.low
    told = [hit.span() for hit in book.times["said"].finditer(low)] if "said" in book.times else []
    for mention in times:
        before = low[: mention.start].rstrip()
        opened = book.as_of_before.search(before)
        inside = _spans(book, "as_of", low[mention.start : mention.end])
        inside += _spans(book, "until", low[mention.start : mention.end])
        after = _spans(book, "until", low[mention.end : mention.end + _NEAR])
        if opened or inside or after:
            as_of = _moment(mention, now)
            notes.append(f"as of {as_of.isoformat()}")
            rest.blank(opened.start() if opened else mention.start, mention.end + (after[-1][1] if after else 0))
        elif any(_belongs(mention, span, found.lang, low) for span in told):
            said = past_days(mention.value, now)
            if said == (None, None):
                raise QuestionError(f"{mention.text!r} names no days that can be counted. Name a day or a month")
            notes.append(f"told in {mention.text}")
            rest.blank(mention.start, mention.end)
        else:
            free.append(mention)
    taken = [(m.start - 1, m.end + 1) for m in times]
    for name in ("as_of", "opens"):
        for start, end in _spans(book, name, low):
            rest_of = low[end:].lstrip()
            if name == "as_of" and _at_start(book, "now", rest_of):
                rest.blank(start, end)
            elif not any(a <= end and start <= b for a, b in taken):
                raise QuestionError(f"{text[start:end]!r} has no time beside it that can be read. Name a day")
    if said is None:
        for start, end in _spans(book, "recent", low):
            said = (now - timedelta(days=book.number("recent_days", 30)), None)
            notes.append(f"told in the {book.number('recent_days', 30):g} days before")
            rest.blank(start, end)
    return said, as_of, free


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


def _slots(book: QuestionBook, rest: _Rest, found: Scan) -> tuple[dict[str, float], tuple[str, ...]]:
    """Slots that the question names, by their words, their template questions or the kind asked for; the label."""
    low = rest.low if found.lang == "zh" else " ".join(tokens(rest.low))  # "deadlines" names the slot, too
    hits = {
        name: max((len(hit.group()) for hit in pattern.finditer(low)), default=0)
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
    kind = book.kind_asked(rest.low)
    kinds = _KINDS.get(kind or "", frozenset({kind}))
    if not any(how >= _ALIKE for how in slots.values()):  # a slot that is named says more than "how much"
        slots |= {name: 0.5 for name, slot in sorted(book.ruleset.slots.items()) if kinds & set(slot.value)}
    bare = book.bounds.sub(" ", book.ask_words.sub(" ", low))
    for name in sorted(slots):
        if name in book.slot_words and slots[name] == 1.0:
            bare = book.slot_words[name].sub(" ", bare)
    return slots, tuple(pieces(bare))


def _takes_no_time(slots: Mapping[str, float], book: QuestionBook) -> bool:
    """True when a slot is named and none that is meant surely takes times."""
    sure = [name for name, how in slots.items() if how == max(slots.values())]
    return bool(sure) and not any("time" in book.ruleset.slots[name].value for name in sure)


def label_fit(book: QuestionBook, label: Sequence[str], qualifier: str, entity: str) -> float:
    """How well an item's label answers to the label asked for, 0 to 1; both may be none."""
    asked = frozenset(label)
    about = frozenset(pieces(entity)) & asked
    if not qualifier:
        return 1.0 if not asked - about else 0.3
    if not asked:
        return 0.5
    best = 0.0
    for way in book.ways.get(qualifier, (qualifier,)):
        said = frozenset(pieces(way))
        shared = len(said & asked)
        if shared:
            best = max(best, 2 * (shared + len(about)) / (len(said) + len(about) + len(asked)))
    return min(best, 1.0)
