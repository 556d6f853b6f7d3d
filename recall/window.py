"""The short-term window: the last turns of a conversation at once, and a summary of what left it made of decisions."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta

from ..model import Turn
from ..store.lookup import last_turns, version_of
from ..store.reading import Reading

SIZE = 10  # turns
_KEPT = 256  # conversations kept in process


@dataclass(frozen=True, slots=True)
class Summed:
    """A sentence that stands for a turn which left the window: still true, with its item and where it was said."""

    sentence: str
    item: str
    turn_id: str


@dataclass(frozen=True, slots=True)
class Window:
    """The last turns of a conversation, oldest first, and what is still true of those before them."""

    conversation: str
    turns: tuple[Turn, ...]
    summary: tuple[Summed, ...]

    def last(self, count: int) -> tuple[Turn, ...]:
        """The last turns, at most as many as the window holds."""
        return self.turns[-count:] if count > 0 else ()

    def within(self, minutes: float, at: datetime) -> tuple[Turn, ...]:
        """Turns said in the last minutes before ``at``, and at it."""
        return tuple(turn for turn in self.turns if at - timedelta(minutes=minutes) <= turn.said_at <= at)


class Windows:
    """Windows kept in process. Each write to the namespace, by any process, moves its version, and what was kept
    under another version is read anew: an erased turn or a restricted conversation is gone with the same commit."""

    def __init__(self, size: int = SIZE) -> None:
        self.size = size
        self._kept: OrderedDict[tuple[str, str], tuple[int, Window]] = OrderedDict()

    def of(self, tx: Reading, conversation: str) -> Window:
        """The window of a conversation as it stands."""
        version = version_of(tx.connection, tx.namespace)
        place = (tx.namespace, conversation)
        known = self._kept.get(place)
        if known is not None and known[0] == version:
            self._kept.move_to_end(place)
            return known[1]
        window = self._read(tx, conversation)
        self._kept[place] = (version, window)
        self._kept.move_to_end(place)
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return window

    def _read(self, tx: Reading, conversation: str) -> Window:
        turns = tuple(
            turn
            for turn in last_turns(tx.connection, tx.namespace, conversation, self.size)
            if not any(
                each.target
                == (turn.entity if each.on == "entity" else turn.conversation if each.on != "item" else None)
                for each in tx.restrictions
            )
        )
        if not turns:
            return Window(conversation, (), ())
        first, last = turns[0].ordinal, max(turn.said_at for turn in turns)
        items = {
            item.id: item
            for principal in dict.fromkeys(turn.entity for turn in turns)
            for item in tx.items(principal=principal, as_of=last)
            if item.conversation == conversation and item.turn < first and item.status != "held"
        }
        told = sorted(items.values(), key=lambda item: (item.turn, item.start, item.slot, item.qualifier))
        return Window(conversation, turns, tuple(Summed(item.sentence, item.id, item.turn_id) for item in told))
