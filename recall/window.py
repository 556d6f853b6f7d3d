"""The short-term window: the last turns of a conversation at once, and a summary of what left it made of decisions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from ..llm_polish.template import render
from ..model import Turn
from ..store.reading import Reading
from ..store.talk import ForNow, Talk, Told, carry_on, head_of, last_act, read_talk
from .question import QuestionBook, QuestionError
from .shelves import InProcess, Shelf
from .transcript import restricted_turns


@dataclass(frozen=True, slots=True)
class Summed:
    """A sentence that stands for a turn which left the window: still true, with its item and where it was said."""

    sentence: str
    item: str
    turn_id: str
    version: int
    entity: str
    slot: str
    qualifier: str = ""


@dataclass(frozen=True, slots=True)
class Noted:
    """A sentence that holds for this conversation and is not remembered: no item, only the turn that said it."""

    sentence: str
    slot: str
    qualifier: str
    value: str
    turn_id: str
    entity: str = ""


@dataclass(frozen=True, slots=True)
class Window:
    """Turns of a conversation, oldest first; what still holds of those before them; what holds for it alone.

    ``worded`` is the summary as an LLM worded it (``Memory.summarise``), ``record`` its place in the log; empty and
    None where nobody asked for one, and from the moment that any sentence of the summary is another.
    """

    conversation: str
    turns: tuple[Turn, ...]
    summary: tuple[Summed, ...]
    for_now: tuple[Noted, ...] = ()
    worded: str = ""
    record: int | None = None

    @property
    def text(self) -> str:
        """The summary as one paragraph: as an LLM worded it, else its sentences one after the other."""
        return self.worded or " ".join(each.sentence for each in self.summary)


class Windows:
    """Windows of conversations, kept in process and, where there is one, on a shelf that other processes share.

    Each commit to the namespace, by any process, moves its version, and what was kept under another version is
    carried on by what was written since. After an act that may take something away (an erasure, a restriction)
    nothing that was kept before counts.
    """

    def __init__(self, shared: Shelf | None = None) -> None:
        self._near = InProcess()
        self._shared = shared

    def shown(self, tx: Reading, look: Look) -> tuple[Window, list[Told]]:
        """A window, and what its summary tells of."""
        conversation, book = look.conversation, look.book
        talk = self._talk(tx, conversation, int(book.number("window_kept", 40)))
        if not talk.turns:
            return Window(conversation, (), ()), []
        # A clock that is slow makes nothing unsaid.
        now = look.at if look.at is not None else max(datetime.now(UTC), *(turn.said_at for turn in talk.turns))
        turns = talk.turns
        if look.minutes is not None:
            turns = tuple(turn for turn in turns if _within(turn.said_at, now, look.minutes))
        if look.minutes is None or look.turns is not None:
            count = look.turns if look.turns is not None else int(book.number("window_turns", 10))
            turns = turns[-count:] if count > 0 else ()
        left = _left(talk, turns[0].ordinal if turns else talk.turns[-1].ordinal + 1, now)
        hours = timedelta(hours=book.number("session_hours", 12))
        window = Window(conversation, turns, tuple(map(_summed, left)), _for_now(talk, book, now, hours))
        if left and talk.worded is not None and talk.worded.rests_on == tuple(each.key for each in left):
            window = replace(window, worded=talk.worded.text, record=talk.worded.record)
        return window, left

    def forget(self, secret: bytes, acts: int) -> bool:
        """Drop what was kept of a namespace before record ``acts``; False when a shared copy could not be reached."""
        self._near.forget(secret, acts)
        return self._shared is None or self._shared.forget(secret, acts)

    def _talk(self, tx: Reading, conversation: str, kept: int) -> Talk:
        """What is kept of a conversation, brought up to the state of the database."""
        head, secret = head_of(tx)
        if not secret:
            return Talk(head, -1, True)
        known = self._near.get(secret, conversation)
        if known is not None and known.head == head:
            return known
        if known is None and self._shared is not None:  # what is here already is sooner carried on than fetched
            known = self._shared.get(secret, conversation)
            if known is not None and known.head == head:
                self._near.put(secret, conversation, known)
                return known
        acts = last_act(tx)
        if known is not None and known.acts != acts:
            self.forget(secret, acts)
            known = None
        talk = carry_on(tx, known, conversation, kept, head) if known is not None else None
        after = known.turns[-1].ordinal if known is not None and talk is not None else -1
        if talk is None:
            unseen = restricted_turns(tx) if tx.restrictions else frozenset()
            talk = read_talk(tx, conversation, kept, head, acts, unseen)
        self._near.put(secret, conversation, talk)
        if self._shared is not None:
            self._shared.put(secret, conversation, talk, after)
        return talk


@dataclass(frozen=True, slots=True)
class Look:
    """Which window is asked for: the last ``turns`` turns (default: the setting), or those of the last ``minutes``
    before ``at`` (default: the present), of at most the ``window_kept`` turns that are kept."""

    windows: Windows
    conversation: str
    book: QuestionBook
    turns: int | None = None
    minutes: float | None = None
    at: datetime | None = None

    def __post_init__(self) -> None:
        if self.minutes is not None and not self.minutes >= 0:  # NaN is not, either
            raise QuestionError(f"minutes {self.minutes}: a window reaches back 0 minutes or more. Give such a number")

    def window(self, tx: Reading) -> Window:
        """The window as it stands."""
        return self.windows.shown(tx, self)[0]

    def __call__(self, tx: Reading) -> tuple[list[Told], str]:
        """What its summary tells of, and how an LLM worded just that."""
        window, left = self.windows.shown(tx, self)
        return left, window.worded


def _within(moment: datetime, now: datetime, minutes: float) -> bool:
    """Whether a moment lies within so many minutes, of which there may be more than the calendar has."""
    return 0 <= (now - moment).total_seconds() <= minutes * 60


def _left(talk: Talk, first: int, at: datetime) -> list[Told]:
    """What was remembered before the first turn shown and still holds, in the order in which it was said."""
    left = [each for each in talk.told.values() if each.turn < first and (each.until is None or each.until > at)]
    return sorted(left, key=_place)


def _summed(told: Told) -> Summed:
    return Summed(told.sentence, told.item, told.turn_id, told.version, told.entity, told.slot, told.qualifier)


def _place(told: Told) -> tuple[int, int, str, str]:
    return told.turn, told.start, told.slot, told.qualifier


def _for_now(talk: Talk, book: QuestionBook, at: datetime, lasts: timedelta) -> tuple[Noted, ...]:
    """What was last said to hold for the conversation, by place; it is over when it was taken back, or is old."""
    standing: dict[tuple[str, ...], ForNow] = {}
    for each in talk.for_now:
        # What has a label (the language, the currency) takes the place of what had it; other wishes stand side by side.
        slot = book.ruleset.slots.get(each.slot)
        many = not each.qualifier and (slot is None or slot.cardinality == "many")
        place = (each.entity, each.slot, each.qualifier, *([each.value] if many else []))
        standing.pop(place, None)
        if not each.over and at - lasts <= each.said_at <= at:
            standing[place] = each
    return tuple(
        Noted(_worded(each, book), each.slot, each.qualifier, each.value, each.turn_id, each.entity)
        for each in standing.values()
    )


def _worded(said: ForNow, book: QuestionBook) -> str:
    from ..extractors.scan import language_of

    language = language_of(said.value)
    slot = book.ruleset.slots.get(said.slot)
    if slot is None:  # said under other rules than those of today, which have no words for it
        return said.value
    fields = {
        "entity": said.entity, "qualifier": book.ruleset.label(said.qualifier, language), "value": said.value,
        "said_at": said.said_at.date().isoformat(),
    }  # fmt: skip
    return render(slot.say.zh if language == "zh" else slot.say.en, fields)
