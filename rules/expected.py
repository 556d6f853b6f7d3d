"""What a dialogue of a corpus should give, where somebody has said so: labels against which rule sets are held.

``turns``: by number of the turn, every decision that remembers something (none: ``[]``), as fields that it must have.
``actions``: by number, actions of which one must be among the decisions of the turn.
``current`` and ``not_current``: items that hold, or do not hold, after the last turn, as fields.
Where several values of a field are right, it has a list of them; ``contains`` asks for a part of the canonical value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from ..model import Action, MemoryItem

Fields = Mapping[str, Any]
Wanted = Mapping[str, tuple[str, ...]]  # field → the values that are right
KEYS = ("turns", "actions", "current", "not_current")
CONTAINS = "contains"
OF_DECISION = ("action", "reason", "slot", "qualifier", "entity", "canonical", CONTAINS, "polarity", "kind")
OF_ITEM = ("slot", "qualifier", "entity", "canonical", CONTAINS, "polarity", "kind", "asserted_by")


@dataclass(frozen=True)
class Expected:
    """The labels of one dialogue; empty where there are none."""

    turns: Mapping[int, tuple[Wanted, ...]] = field(default_factory=dict)
    actions: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    current: tuple[Wanted, ...] = ()
    not_current: tuple[Wanted, ...] = ()

    @staticmethod
    def read(data: Any) -> Expected:
        """Labels from JSON data; keys that are not known are left to others. ValueError for what cannot be held."""
        if not isinstance(data, Mapping):
            raise ValueError(f"expect is an object with {', '.join(KEYS)}")
        return Expected(
            {_number(n): tuple(_fields(each, OF_DECISION) for each in _list(v)) for n, v in _map(data, "turns")},
            {_number(n): tuple(_action(each) for each in _list(v)) for n, v in _map(data, "actions")},
            tuple(_fields(each, OF_ITEM) for each in _list(data.get("current", []))),
            tuple(_fields(each, OF_ITEM) for each in _list(data.get("not_current", []))),
        )

    def has(self, turn: int) -> bool:
        """True when there is a label for the turn."""
        return turn in self.turns or turn in self.actions

    def right(self, turn: int, decisions: Sequence[Fields]) -> bool:
        """Whether the decisions of a turn are what its labels ask."""
        if turn in self.actions and not {each["action"] for each in decisions} & set(self.actions[turn]):
            return False
        if turn not in self.turns:
            return True
        left = [each for each in decisions if each["action"] != "IGNORE"]
        for wanted in self.turns[turn]:
            hit = next((each for each in left if _has(each, wanted)), None)
            if hit is None:
                return False
            left.remove(hit)
        return not left

    def right_one(self, turn: int, decisions: Sequence[Fields], decision: Fields | None) -> bool:
        """Whether one decision is right: asked for, or it remembers nothing and what is asked for is there."""
        if decision is None or decision["action"] == "IGNORE" or turn not in self.turns:
            return self.right(turn, decisions)
        return any(_has(decision, wanted) for wanted in self.turns[turn])

    def right_after(self, items: Iterable[MemoryItem]) -> bool | None:
        """Whether the right things hold after the last turn; None without such labels."""
        if not self.current and not self.not_current:
            return None
        names = [name for name in OF_ITEM if name != CONTAINS]
        held = [{name: getattr(i, name) for name in names} for i in items if i.status in ("current", "scheduled")]
        there = all(any(_has(item, wanted) for item in held) for wanted in self.current)
        return there and not any(_has(item, wanted) for item in held for wanted in self.not_current)


def _has(fields: Fields, wanted: Wanted) -> bool:
    return all(
        any(value in (fields["canonical"] or "") for value in values) if name == CONTAINS else fields[name] in values
        for name, values in wanted.items()
    )


def _map(data: Mapping[str, Any], key: str) -> Iterable[tuple[str, Any]]:
    given = data.get(key, {})
    if not isinstance(given, Mapping):
        raise ValueError(f"expect.{key} is an object: number of the turn → list")
    return given.items()


def _list(given: Any) -> list[Any]:
    if not isinstance(given, list):
        raise ValueError(f"expect: {given!r} should be a list")
    return given


def _number(given: str) -> int:
    if not given.isdecimal():
        raise ValueError(f"expect: {given!r} is no number of a turn")
    return int(given)


def _action(given: Any) -> str:
    if given not in get_args(Action):
        raise ValueError(f"expect: unknown action {given!r}; one of {', '.join(get_args(Action))}")
    return str(given)


def _fields(given: Any, known: Sequence[str]) -> Wanted:
    if not isinstance(given, Mapping) or not given:
        raise ValueError(f"expect: {given!r} should be an object of fields")
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise ValueError(f"expect: unknown field {unknown[0]!r}; one of {', '.join(known)}")
    wanted = {name: tuple(value) if isinstance(value, list) else (value,) for name, value in given.items()}
    if not all(isinstance(value, str) for values in wanted.values() for value in values):
        raise ValueError(f"expect: {given!r}: each field is a text, or a list of texts")
    return wanted
