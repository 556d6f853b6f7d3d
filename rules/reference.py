"""The decision table in plain Python: the oracle of the tests, and the engine where durable-rules cannot run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..model import Verdict
from .policy import NoVerdict, TableRow, checked


class ReferenceEngine:
    """First match wins, by bit sets: one integer per feature value holds the rows that allow it."""

    name = "reference"

    def __init__(self, table: Sequence[TableRow], note: str = "") -> None:
        self.note = note
        self._rows = tuple(table)
        everything = (1 << len(self._rows)) - 1
        self._all = everything
        names = sorted({name for row in self._rows for name, _ in row.when})
        # For each feature: rows that do not ask about it, and rows that allow each value.
        self._index: list[tuple[str, int, dict[str, int]]] = []
        for name in names:
            indifferent, allowing = 0, dict[str, int]()
            for place, row in enumerate(self._rows):
                values = dict(row.when).get(name)
                if values is None:
                    indifferent |= 1 << place
                for value in values or ():
                    allowing[value] = allowing.get(value, 0) | (1 << place)
            self._index.append((name, indifferent, {value: bits | indifferent for value, bits in allowing.items()}))

    def judge(self, features: Mapping[str, str]) -> Verdict:
        """The verdict of the first row that matches; NoVerdict when none does."""
        left = self._all
        checked(features)
        for name, indifferent, allowing in self._index:
            left &= allowing.get(features.get(name, ""), indifferent)
            if not left:
                raise NoVerdict(features)
        if not left:
            raise NoVerdict(features)
        return self._rows[(left & -left).bit_length() - 1].verdict
