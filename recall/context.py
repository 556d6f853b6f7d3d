"""What stands before the model: the sentences that a question needs, quoted, within a budget, each with its account."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from ..extractors.text import normalize
from ..model import Decision, Known, MemoryItem, Turn
from .question import QuestionBook, QuestionError
from .rank import Filters, Hit, Recalled

if TYPE_CHECKING:
    from .window import Noted, Summed, Window

Counter = Callable[[str], int]
Why = Literal["budget", "contradicts", "not needed"]
_WIDE = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_HAN_GAP = re.compile(r"(?<=[\u3400-\u9fff]) (?=[\u3400-\u9fff])")
_WORD = re.compile(r"[^\W_]+|[^\w\s]|_")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a context: the item, the version and the decision (turn, ordinal) behind it."""

    text: str
    item: str
    version: int
    decision: tuple[str, int] | None
    marked: bool = False  # its text looks like an instruction


@dataclass(frozen=True, slots=True)
class Recent:
    """One line from the window of a conversation: the item versions (item/version) that it tells of, none for what
    holds for the conversation alone; its turn, or the record of the summary that an LLM worded."""

    text: str
    items: tuple[str, ...]
    turn_id: str | None = None
    record: int | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An item that was found and is not shown."""

    item: str
    slot: str
    qualifier: str
    why: Why


@dataclass(frozen=True)
class Context:
    """A text block and its account; ``tokens`` never exceeds ``budget``."""

    text: str
    tokens: int
    budget: int
    lines: tuple[Line, ...]
    left_out: tuple[LeftOut, ...]
    answer: Recalled
    said: tuple[str, ...] = ()  # ids of the turns quoted from the transcript, above what is remembered
    recent: tuple[Recent, ...] = ()  # from the window of the conversation, between the two


def count_tokens(text: str) -> int:
    """An estimate that errs upwards: a Chinese character or a sign is one token, of a word every four letters are."""
    wide = len(_WIDE.findall(text))
    return wide + sum(math.ceil(len(word) / 4) for word in _WORD.findall(_WIDE.sub(" ", text)))


def assemble(
    answer: Recalled,
    book: QuestionBook,
    budget: int,
    *,
    contradicted: Iterable[str] = (),
    decisions: Mapping[str, tuple[str, int]] | None = None,
    count: Counter = count_tokens,
    window: Window | None = None,
) -> Context:
    """The block of an answer: best hits first into the budget, printed last; a line that does not fit is left out.

    ``contradicted`` are ids of items that the current turn contradicts; ``count`` counts the tokens of a text. What
    left a ``window``, and what holds for its conversation alone, stands above, as far as the budget goes.
    """
    count = _checked(count)
    say = _Say(book, answer.asked.language)
    against = frozenset(contradicted)
    left_out = [_left(hit.item, "contradicts") for hit in answer.hits if hit.item.id in against]
    if window is not None:
        named = {each.item for each in left_out}
        left_out += [
            LeftOut(each.item, each.slot, each.qualifier, "contradicts")
            for each in window.summary
            if each.item in against - named and _allowed(each, answer.filters, book)
        ]
    rest = [hit for hit in answer.hits if hit.item.id not in against]
    least = book.number("context_share", 0.4) * max((hit.similarity for hit in rest), default=0.0)
    note = say.contradicted(left_out)
    opening = [say.heading, *([note] if note else [])]
    if note and count("\n".join(opening)) > budget:
        opening = [say.heading]
    chosen: list[tuple[Hit, Line]] = []
    for hit in rest:
        if hit.similarity < least:
            left_out.append(_left(hit.item, "not needed"))
            continue
        line = say.line(hit.item, (decisions or {}).get(hit.item.id))
        # The whole block is counted anew: not every counter adds up.
        if count(_block(opening, [line, *(each for _, each in reversed(chosen))])) > budget:
            left_out.append(_left(hit.item, "budget"))
            continue
        chosen.append((hit, line))
    lines = tuple(line for _, line in reversed(chosen))
    text = _block(opening, lines) if lines else (note if note and count(note) <= budget else "")
    recent: tuple[Recent, ...] = ()
    if window is not None:
        known = against | {line.item for line in lines}
        text, recent = _with_window(text, window, known, answer.filters, say, budget, count)
    silent = {hit.item.turn_id for hit in answer.hits if hit.item.id in against}
    turns = [hit.turn for hit in answer.turns if hit.turn.turn_id not in silent]
    text, said = _with_transcript(text, turns[: int(book.number("turn.shown", 5))], say, budget, count)
    return Context(text, count(text) if text else 0, budget, lines, tuple(left_out), answer, said, recent)


def _checked(count: Counter) -> Counter:
    """A counter whose answers are held against a budget: what is no number, or below 0, would fit into any."""

    def counted(text: str) -> int:
        tokens = count(text)
        if not tokens >= 0:
            raise QuestionError(f"the counter gave {tokens!r} tokens for a text. Give one that counts from 0")
        return tokens

    return counted


def _with_window(
    text: str, window: Window, known: frozenset[str], filters: Filters, say: _Say, budget: int, count: Counter
) -> tuple[str, tuple[Recent, ...]]:
    """The block with the lines of a window above it, the latest first into the budget; ``known`` are items that stand
    below already, or that the current turn contradicts."""

    def block(lines: Iterable[Recent]) -> str:
        return "\n".join([say.window_heading, *(line.text for line in lines), *([text] if text else [])])

    def fitting(lines: Sequence[Recent], behind: Sequence[Recent]) -> list[Recent]:
        chosen: list[Recent] = []
        for line in reversed(lines):
            if count(block([line, *chosen, *behind])) <= budget:
                chosen.insert(0, line)
        return chosen

    noted = [each for each in window.for_now if _allowed(each, filters, say.book)]
    summed = [each for each in window.summary if each.item not in known and _allowed(each, filters, say.book)]
    chosen = fitting([Recent(say.quote(each.sentence), (), each.turn_id) for each in noted], [])
    sentences = [Recent(say.quote(each.sentence), (f"{each.item}/{each.version}",), each.turn_id) for each in summed]
    if window.worded and len(summed) == len(window.summary):
        items = tuple(item for line in sentences for item in line.items)
        whole = Recent(say.quote(window.worded), items, record=window.record)
        sentences = [whole] if fitting([whole], chosen) else sentences
    chosen = [*fitting(sentences, chosen), *chosen]
    return (block(chosen), tuple(chosen)) if chosen else (text, ())


def _allowed(each: Summed | Noted, filters: Filters, book: QuestionBook) -> bool:
    """True for what the filters of the question let through."""
    slot = book.ruleset.slots.get(each.slot.removeprefix("reported."))
    if slot is not None and slot.personal_data in filters.without:
        return False
    return filters.entity in (None, each.entity) and (filters.slots is None or each.slot in filters.slots)


def _with_transcript(
    text: str, turns: Iterable[Turn], say: _Say, budget: int, count: Counter
) -> tuple[str, tuple[str, ...]]:
    """The block with turns above it, under a heading of their own, as far as the budget goes; of each the id."""
    quotes: list[str] = []
    ids: list[str] = []
    for turn in turns:
        more = "\n".join([say.said_heading, *reversed([*quotes, say.turn(turn)]), *([text] if text else [])])
        if count(more) <= budget:
            quotes.append(say.turn(turn))
            ids.append(turn.turn_id)
    block = [say.said_heading, *reversed(quotes)] if quotes else []
    return "\n".join([*block, *([text] if text else [])]), tuple(ids)


Trial = Callable[[Sequence[Turn], Known], tuple[tuple[Decision, ...], tuple[MemoryItem, ...]]]


def contradicted_by(turn: str, items: Iterable[MemoryItem], now: datetime, trial: Trial) -> frozenset[str]:
    """Ids of items that no longer held if the turn were remembered: the pipeline decides it, and nothing is stored."""
    items = tuple({each.id: each for each in items if each.status in {"current", "scheduled"}}.values())
    gone: set[str] = set()
    for entity in dict.fromkeys(item.entity for item in items):
        said = Turn(turn_id="context", text=turn, said_at=now, received_at=now, entity=entity, conversation="context")
        decisions, after = trial([said], Known(items=tuple(item for item in items if item.entity == entity)))
        gone |= {each.target for each in decisions if each.action in {"SUPERSEDE", "RETRACT"} and each.target}
        gone |= {item.id for item in after if item.status in {"superseded", "retracted"}}
    return frozenset(gone)


def _block(opening: Iterable[str], lines: Iterable[Line]) -> str:
    return "\n".join([*opening, *(line.text for line in lines)])


def _left(item: MemoryItem, why: Why) -> LeftOut:
    return LeftOut(item.id, item.slot, item.qualifier, why)


class _Say:
    """The words around remembered text, in the language of the question."""

    def __init__(self, book: QuestionBook, language: str) -> None:
        self._words = book.say
        self._language = language
        self._instructions = book.instructions
        self.book = book
        self.heading = self._text("heading")
        self.said_heading = self._text("transcript")
        self.window_heading = self._text("window")

    def _text(self, name: str, **fields: str) -> str:
        return self._words.get(f"{name}.{self._language}", "").format(**fields)

    def line(self, item: MemoryItem, decision: tuple[str, int] | None) -> Line:
        """A sentence as quoted data: on one line, its quotes escaped, with its day."""
        said = item.sentence or item.canonical
        marked = self.looks_ordered(said)
        day = item.said_at.date().isoformat()
        text = f"- {self._text('marked')} " if marked else "- "
        text += quoted(said)
        if day not in said:
            text += f" ({self._text('dated', date=day)})"
        if item.status != "current":
            text += f" ({item.status})"
        return Line(text, item.id, item.version, decision, marked)

    def quote(self, sentence: str) -> str:
        """A sentence that says its day itself, as quoted data."""
        return (
            f"- {self._text('marked')} {quoted(sentence)}" if self.looks_ordered(sentence) else f"- {quoted(sentence)}"
        )

    def turn(self, turn: Turn) -> str:
        """What somebody said, as quoted data: on one line, with who and when."""
        mark = f"{self._text('marked')} " if self.looks_ordered(turn.text) else ""
        who = quoted(turn.author) if turn.author else turn.speaker
        return f"- {mark}{quoted(turn.text)} ({who}, {self._text('dated', date=turn.said_at.date().isoformat())})"

    def looks_ordered(self, said: str) -> bool:
        """True for text that looks like an instruction, however it is written: in wide letters, in the other script,
        with invisible characters or spaces in between."""
        for text in {
            visible(said),
            visible(said, between=" "),
        }:  # what does not show may stand within words or for a space
            plain = _HAN_GAP.sub("", " ".join(normalize(text).lower.split()))
            if any(pattern.search(plain) for pattern in self._instructions):
                return True
        return False

    def contradicted(self, left_out: Iterable[LeftOut]) -> str:
        """The line that names what the current turn contradicts; empty when that is nothing."""
        places = [
            each.slot
            + (f" {quoted(self.book.ruleset.label(each.qualifier, self._language))}" if each.qualifier else "")
            for each in left_out
        ]
        return self._text("contradicted", places=", ".join(dict.fromkeys(places))) if places else ""


def quoted(text: str) -> str:
    """Text in quotes that it cannot leave: one line, quotes escaped, invisible characters out."""
    return json.dumps(" ".join(visible(text).split()), ensure_ascii=False)


def visible(text: str, between: str = "") -> str:
    """Text without what does not show: marks of direction, zero-width characters, tags, halves of pairs."""
    return "".join(between if unicodedata.category(char) in {"Cf", "Cs", "Co"} else char for char in text)
