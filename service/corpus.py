"""Where the dialogues of a back-test come from: a JSONL file of dialogues or turns, or the turns that a store keeps."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from ..intake import Incoming, IntakeError, read_turn
from ..model import Turn, dump
from ..rules.backtest import Dialogue
from ..rules.expected import Expected
from .batch import dialogue
from .streams import Lines, opened

Said = Incoming | Turn
T = TypeVar("T", Incoming, Turn)


def from_file(path: str, limit: int) -> tuple[list[Dialogue[Said]], Lines]:
    """The dialogues of a file, as ``rehearse`` and ``observe`` take them; bad lines are reported and left out.

    A dialogue may have labels under ``expect``; its other fields are left to others.
    """
    found: list[Dialogue[Said]] = []
    single: list[Incoming] = []
    with opened(path) as (stream, name):
        lines = Lines(name)
        for data in lines.read(stream):
            try:
                if isinstance(data, dict) and "turns" in data:
                    found.append(_dialogue(data, limit))
                else:
                    single.append(read_turn(data, limit))
            except IntakeError as error:
                lines.report(lines.number, str(error))
    return [*found, *_joined(single)], lines


def _dialogue(data: dict[str, Any], limit: int) -> Dialogue[Said]:
    id_, turns = dialogue({"id": data.get("id"), "turns": data["turns"]}, limit)
    try:
        return Dialogue(id_, tuple(turns), Expected.read(data.get("expect", {})))
    except ValueError as error:
        raise IntakeError(str(error)) from None


def from_turns(turns: Sequence[Turn]) -> list[Dialogue[Said]]:
    """The turns of a store, those that share a memory together; erased ones are left out."""
    return _joined([turn for turn in turns if turn.text])


def _joined(turns: Sequence[T]) -> list[Dialogue[Said]]:
    """Turns that share a principal or a conversation rest on one memory and stay together, in their order."""
    leader: dict[str, str] = {}

    def lead(name: str) -> str:
        while leader.setdefault(name, name) != name:
            leader[name] = leader[leader[name]]
            name = leader[name]
        return name

    for turn in turns:
        leader[lead(f"c {turn.conversation}")] = lead(f"e {turn.entity}")
    groups: dict[str, list[Said]] = {}
    for turn in turns:
        groups.setdefault(lead(f"e {turn.entity}"), []).append(turn)
    return [Dialogue(_name(group), tuple(group)) for group in groups.values()]


def _name(group: Sequence[Said]) -> str:
    names = dict.fromkeys(turn.conversation for turn in group)
    return ", ".join(names) if len(names) <= 3 else f"{next(iter(names))} and {len(names) - 1} more"


def corpus_digest(dialogues: Iterable[Dialogue[Said]]) -> str:
    """SHA-256 over everything of the dialogues that a back-test reads."""
    digest = hashlib.sha256()
    for each in dialogues:
        labels = {
            "turns": {str(n): [dict(w) for w in wanted] for n, wanted in each.expect.turns.items()},
            "actions": {str(n): list(wanted) for n, wanted in each.expect.actions.items()},
            "current": [dict(w) for w in each.expect.current],
            "not_current": [dict(w) for w in each.expect.not_current],
        }
        line = {"id": each.id, "turns": [dump(turn) for turn in each.turns], "expect": labels}
        digest.update(json.dumps(line, ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode() + b"\n")
    return digest.hexdigest()
