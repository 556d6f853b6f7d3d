"""The short-term window on the command line: the last turns, what still holds of those before, what holds for now."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from rich.text import Text

from ..memory import Memory, NotFoundError
from ..polishing import Summarised
from ..recall.context import quoted
from ..recall.window import Window
from ..store.talk import conversations
from .show import console
from .streams import emit

NAMED = 20  # conversations that an error names


class UnknownConversation(NotFoundError):
    """Nothing was said in this conversation; names some of those that exist."""

    def __init__(self, conversation: str, known: Sequence[str]) -> None:
        names = ", ".join(map(repr, known[:NAMED])) + (" and more" if len(known) > NAMED else "")
        LookupError.__init__(self, f"no conversation {conversation!r}. The last that somebody spoke in: {names}")


def show(
    store: str | None, namespace: str | None, conversation: str, *, as_json: bool, summarise: bool, **asked: Any
) -> None:  # fmt: skip
    """Print a window; ``summarise``: let the LLM word its summary first. NotFoundError for an unknown conversation."""
    from .opening import editing, reading

    if not summarise:
        with reading(store, namespace) as memory:
            _show(_window(memory, conversation, asked), None, as_json=as_json)
        return
    with editing(store, namespace, None) as memory:
        _window(memory, conversation, asked)
        done = memory.summarise(conversation, **asked)
        _show(_window(memory, conversation, asked), done, as_json=as_json)


def expect(memory: Memory, conversation: str) -> None:
    """UnknownConversation for one in which nothing was ever said."""
    with memory.store.reading(memory.namespace) as tx:
        if not conversations(tx, 1, conversation):
            raise UnknownConversation(conversation, conversations(tx, NAMED + 1))


def _window(memory: Memory, conversation: str, asked: dict[str, Any]) -> Window:
    expect(memory, conversation)
    return memory.window(conversation, **asked)


def _show(window: Window, done: Summarised | None, *, as_json: bool) -> None:
    if as_json:
        emit(window_fields(window) | ({"asked": _outcome(done)} if done is not None else {}))
        return
    if window.worded:
        console.print(Text(f"Before (worded by an LLM, record {window.record}):", "bold"))
        console.print(Text(quoted(window.worded)))
    elif window.summary:
        console.print(Text("Before:", "bold"))
    for line in window.summary if not window.worded else ():
        console.print(Text(quoted(line.sentence)), Text(f"  {line.item[:12]}", "dim"), sep="")
    if window.for_now:
        console.print(Text("For this conversation alone:", "bold"))
    for noted in window.for_now:
        console.print(Text(quoted(noted.sentence)), Text(f"  turn {noted.turn_id}", "dim"), sep="")
    if window.turns:
        console.print(Text("Said:", "bold"))
    for turn in window.turns:
        who = turn.author or turn.speaker
        console.print(
            Text(f"{turn.said_at:%Y-%m-%d %H:%M}  {who}: ", "dim"),
            Text(quoted(turn.text) if turn.text else "(erased)"),
            sep="",
        )
    if not (window.turns or window.summary or window.for_now):
        console.print(Text("nothing to show: what is restricted is not, and no turn is as recent as was asked", "dim"))
    if done is not None and done.outcome != "accepted":
        told = {"kept": "worded before, and as it was", "nothing": "nothing has left the window"}
        why = told.get(done.outcome) or f"not worded: {done.why} (record {done.record}). The templates stand"
        print(why, file=sys.stderr)


def _outcome(done: Summarised) -> dict[str, Any]:
    return {"outcome": done.outcome, "why": done.why, "record": done.record}


def window_fields(window: Window) -> dict[str, Any]:
    """A window for programs."""
    return {
        "conversation": window.conversation,
        "turns": [
            {"turn_id": turn.turn_id, "speaker": turn.speaker, "author": turn.author, "entity": turn.entity,
             "said_at": turn.said_at.isoformat(), "text": turn.text}
            for turn in window.turns
        ],
        "text": window.text,
        "worded": bool(window.worded),
        "record": window.record,
        "summary": [
            {"sentence": line.sentence, "item": line.item, "version": line.version, "turn_id": line.turn_id}
            for line in window.summary
        ],
        "for_now": [
            {"sentence": noted.sentence, "slot": noted.slot, "qualifier": noted.qualifier, "value": noted.value,
             "turn_id": noted.turn_id}
            for noted in window.for_now
        ],
    }  # fmt: skip
