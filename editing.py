"""Checks on what people do to items before and after it is decided: the wrong kind of edit is an error, no decision."""

from __future__ import annotations

from typing import Literal

from .model import Decision, MemoryItem

Does = Literal["correct", "confirm", "reject", "approve"]

EDITS = "@edits"
"""The conversation that edits are turns of."""


class EditError(ValueError):
    """An edit that cannot be made of an item; says why, and what can."""


def check_edit(does: Does, item: MemoryItem, text: str, actor: str) -> None:
    """EditError when this cannot be done to the item."""
    if not actor.strip():
        raise EditError("who does it? Give the actor a name")
    if does == "correct" and not text.strip():
        raise EditError(f"item {item.id!r}: a correction needs a value. To take the item back, reject it")
    if does == "approve" and item.status != "held":
        raise EditError(f"item {item.id!r} is {item.status}, not held: there is nothing to approve")
    if does == "confirm" and item.status == "held":
        raise EditError(f"item {item.id!r} is held. Approve it or reject it")
    if item.superseded_at is not None:
        raise EditError(f"item {item.id!r} is {item.status}: only what stands now can be edited. See its history")


def check_read(decision: Decision, item: MemoryItem, text: str) -> None:
    """EditError when the value that was written could not be read; nothing is stored then."""
    if decision.action == "IGNORE":
        raise EditError(f"{text!r} is read as no {item.kind} for {item.slot}. Write it as in {item.surface!r}")
