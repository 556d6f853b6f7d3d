"""What the readers of both languages do with the names they found: the first to claim a character keeps it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...values import OrganizationValue, PersonValue
from ..parsing.chart import Edge

Found = tuple[str, int, int, str]
"""(kind, start, end, rule)."""


def outside_each_other(text: str, found: Iterable[Found]) -> Iterator[Edge]:
    """The names as edges, in the order given, without those that reach into an earlier one."""
    taken = bytearray(len(text) + 1)
    for kind, start, end, rule in found:
        if end <= start or any(taken[start:end]):
            continue
        taken[start:end] = b"\1" * (end - start)
        value = PersonValue(name=text[start:end]) if kind == "person" else OrganizationValue(name=text[start:end])
        # Above words of the same characters: 周日新 is no Sunday, 秋分女士 no solar term.
        yield Edge(kind, start, end, value, rule, weight=0, priority=1, kind=kind)
