"""Slots that a release changes, held against stored items: only what no longer fits is named, with what settles it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recordari.memory import Memory
from recordari.model import MemoryItem
from recordari.rules.ruleset import Ruleset
from recordari.rules.slotchange import misfits

AT = "2026-03-18T10:00:00+08:00"


@pytest.fixture(scope="module")
def items(ruleset: Ruleset) -> tuple[MemoryItem, ...]:
    with Memory.open("sqlite://", ruleset=ruleset, ner=False) as memory:
        memory.observe("The legal budget is $60,000.", said_at=AT, entity="client-1")
        memory.observe("Our total budget is $90,000.", said_at=AT, entity="client-2")
        return memory.items(slot="budget")


def changed(ruleset: Ruleset, **fields: object) -> Ruleset:
    """The set with other fields of the slot budget."""
    slot = ruleset.slots["budget"].model_copy(update=fields)
    return replace(ruleset, files={**ruleset.files, "slot.budget": slot})


def named(ruleset: Ruleset, after: Ruleset, items: tuple[MemoryItem, ...]) -> list[str]:
    return [each.item.entity for each in misfits(ruleset, after, items)]


def test_a_slot_that_no_longer_takes_a_kind_names_all_its_items(
    ruleset: Ruleset, items: tuple[MemoryItem, ...]
) -> None:
    assert named(ruleset, changed(ruleset, value=["number"]), items) == ["client-1", "client-2"]
    assert named(ruleset, changed(ruleset, value=["number", "money"]), items) == []


def test_a_slot_without_labels_names_only_items_that_have_one(ruleset: Ruleset, items: tuple[MemoryItem, ...]) -> None:
    assert [item.qualifier for item in items] == ["legal", ""]
    assert named(ruleset, changed(ruleset, qualifier="none"), items) == ["client-1"]


def test_a_slot_that_is_gone_names_all_and_one_that_stays_names_none(
    ruleset: Ruleset, items: tuple[MemoryItem, ...]
) -> None:
    without = replace(ruleset, files={name: file for name, file in ruleset.files.items() if name != "slot.budget"})
    assert named(ruleset, without, items) == ["client-1", "client-2"]
    assert named(without, without, items) == []  # nothing of either defines it
    assert named(ruleset, changed(ruleset, importance=0.1), items) == []


def test_of_several_values_where_one_is_allowed_the_newest_stays(
    ruleset: Ruleset, items: tuple[MemoryItem, ...]
) -> None:
    many = changed(ruleset, cardinality="many")
    first = items[0]
    later = first.model_copy(update={"id": "f" * 32, "said_at": first.said_at.replace(year=2027)})
    found = list(misfits(many, ruleset, (later, first)))
    assert [each.item.id for each in found] == [first.id]
    assert found[0].proposal().startswith(f"recordari reject {first.id} --seen 1 --note ")
    assert list(misfits(many, many, (later, first))) == []


def test_what_was_replaced_is_history_and_fits(ruleset: Ruleset, items: tuple[MemoryItem, ...]) -> None:
    old = tuple(item.model_copy(update={"status": "superseded"}) for item in items)
    assert named(ruleset, changed(ruleset, value=["number"]), old) == []
