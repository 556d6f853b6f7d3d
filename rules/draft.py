"""What is known of a candidate while its slot, label, value and target are being found."""

from __future__ import annotations

from typing import NamedTuple

from ..model import MemoryItem, Proposal
from ..values import Value


class Draft(NamedTuple):
    """A candidate while it is being completed."""

    slot: str | None
    qualifier: str | None
    entity: str
    value: Value | None
    target: MemoryItem | None = None
    binding: str = "none"
    derived_from: tuple[str, ...] = ()
    question: str | None = None
    valid: str = "ok"
    rivals: tuple[MemoryItem, ...] = ()
    proposal: Proposal | None = None
    closes: tuple[str, ...] = ()
    identity: str = "none"
