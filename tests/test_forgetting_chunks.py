"""Forgetting in chunks of any size ends the same, twice at one time does nothing, and what is kept never goes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from forgettable import ACTOR, SAID, at
from hypothesis import given, settings
from hypothesis import strategies as st

from recordari.memory import Memory
from recordari.rules.ruleset import Ruleset

TALK = st.lists(
    st.tuples(st.integers(0, len(SAID) - 1), st.integers(0, 500), st.sampled_from(["a", "b"])), min_size=1, max_size=14
)


def told(memory: Memory, talk: list[tuple[int, int, str]], kept: set[int]) -> None:
    """Say it, and pin or hold some of it."""
    for number, (which, day, entity) in enumerate(sorted(talk, key=lambda each: each[1])):
        said_at = at("2025-01-01") + timedelta(days=day, minutes=number)
        memory.observe(SAID[which], said_at=said_at, conversation=f"{entity}{day % 3}", entity=entity)
    for number, item in enumerate(memory.items(history=True)):
        if number in kept:
            if number % 2:
                memory.pin(item.id, actor=ACTOR)
            else:
                memory.hold("item", item.id, ground="case 7", actor=ACTOR)


def state(memory: Memory) -> list[tuple[Any, ...]]:
    return [
        (each.entity, each.slot, each.qualifier, each.canonical, each.status, each.valid_to, each.superseded_at)
        for each in memory.items(history=True, as_of=at("2026-11-28"))
    ]


@settings(max_examples=25, deadline=None)
@given(
    talk=TALK, kept=st.sets(st.integers(0, 9), max_size=3), days=st.lists(st.integers(1, 690), min_size=1, max_size=3),
    chunks=st.lists(st.integers(1, 4), min_size=1, max_size=4),
)  # fmt: skip
def test_in_chunks_of_any_size_the_end_is_the_same_and_what_is_kept_never_goes(
    own_rules: Ruleset, talk: list[tuple[int, int, str]], kept: set[int], days: list[int], chunks: list[int]
) -> None:
    with (
        Memory.open("sqlite://", ruleset=own_rules, ner=False) as whole,
        Memory.open("sqlite://", ruleset=own_rules, ner=False) as parts,
    ):
        for memory in (whole, parts):
            told(memory, talk, kept)
        stays = {
            each.id: each
            for memory in (whole, parts)
            for number, each in enumerate(memory.items(history=True))
            if number in kept
        }
        for day in sorted(days):
            moment = at("2025-01-01") + timedelta(days=day)
            whole.forget(at=moment, limit=10_000)
            turn = 0
            while (done := parts.forget(at=moment, limit=chunks[turn % len(chunks)])).more:
                assert len(done.archived) + len(done.deleted) == chunks[turn % len(chunks)]
                turn += 1
            assert state(whole) == state(parts)
            size = whole.verify().size
            again = whole.forget(at=moment)
            assert (again.archived, again.deleted, again.more) == ((), (), False)
            assert whole.verify().size == size
        for memory in (whole, parts):
            report = memory.verify()
            assert report.ok, report.lines()
            assert all(layer.ok for layer in memory.replay())
        left = {each.id: each for memory in (whole, parts) for each in memory.items(history=True)}
        assert {item_id: left[item_id].version for item_id in stays} == {
            each.id: each.version for each in stays.values()
        }
