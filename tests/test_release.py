"""Which rule set is in force for whom: buckets as published, monotone and even; what acts leave in force."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordari.rules.release import (
    BUCKETS,
    NOBODY,
    InForce,
    Step,
    bucket,
    in_force_at,
    stables,
    stage_began,
    withdrawn,
)

OLD, NEW, LATER = "a" * 64, "b" * 64, "c" * 64
NAMES = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1, max_size=40)

# Published in docs/releases.md: another implementation gives the same numbers.
VECTORS = [
    (OLD, "default", "client-1", 471),
    (OLD, "default", "client-2", 8306),
    (NEW, "default", "client-1", 4379),
    (NEW, "firm-a", "client-1", 2450),
    (NEW, "default", "周女士", 6326),
    (NEW, "default", "Matter 2026/17", 676),
]


@pytest.mark.parametrize(("salt", "namespace", "entity", "place"), VECTORS)
def test_published_buckets_are_given(salt: str, namespace: str, entity: str, place: int) -> None:
    assert bucket(salt, namespace, entity) == place


def test_salt_namespace_and_entity_do_not_run_together() -> None:
    assert bucket(OLD, "ab", "c") != bucket(OLD, "a", "bc")
    assert bucket(OLD, "ab", "c") == bucket(OLD, "ab", "c")


@given(NAMES, NAMES, st.lists(st.integers(0, BUCKETS), min_size=1, max_size=6))
def test_who_is_in_stays_in_while_the_share_rises(namespace: str, entity: str, shares: list[int]) -> None:
    inside = [
        InForce(OLD, NEW, "canary", share, NEW).pick(namespace, entity) for share in sorted(shares)
    ]  # fmt: skip
    chosen = [pick.digest == NEW for pick in inside if pick is not None]
    assert len(chosen) == len(shares)
    assert chosen == sorted(chosen)


@given(NAMES.filter(lambda name: name != NOBODY), st.integers(0, BUCKETS))
def test_an_entity_is_in_exactly_when_its_bucket_is_below_the_threshold(entity: str, share: int) -> None:
    pick = InForce(OLD, NEW, "canary", share, NEW).pick("firm", entity)
    assert pick is not None
    assert pick.bucket == bucket(NEW, "firm", entity)
    assert pick.threshold == share
    assert (pick.digest == NEW) == (bucket(NEW, "firm", entity) < share)


def test_buckets_of_100_000_entities_are_even() -> None:
    cells = [0] * 100
    for number in range(100_000):
        cells[bucket(NEW, "firm", f"client-{number}") // 100] += 1
    expected = 1_000
    chi_square = sum((count - expected) ** 2 / expected for count in cells)
    assert 61.1 < chi_square < 148.2  # 99 degrees of freedom: one in a thousand lies beyond either end


def test_a_ten_per_cent_canary_takes_about_a_tenth_and_another_salt_takes_others() -> None:
    names = [f"client-{number}" for number in range(10_000)]
    one = {name for name in names if bucket(NEW, "firm", name) < 1_000}
    other = {name for name in names if bucket(LATER, "firm", name) < 1_000}
    assert 900 < len(one) < 1_100
    assert len(one & other) < 150


def test_a_turn_of_nobody_is_in_no_canary_and_nothing_is_in_force_before_the_first_act() -> None:
    everybody = InForce(OLD, NEW, "canary", BUCKETS, NEW)
    nobody, somebody = everybody.pick("firm", NOBODY), everybody.pick("firm", "client-1")
    assert nobody is not None
    assert somebody is not None
    assert (nobody.digest, nobody.bucket) == (OLD, None)
    assert somebody.digest == NEW
    assert InForce().pick("firm", "client-1") is None


def test_a_shadow_decides_for_nobody() -> None:
    shadowed = InForce(OLD, NEW, "shadow", 0, NEW)
    pick = shadowed.pick("firm", "client-1")
    assert pick is not None
    assert (pick.digest, pick.bucket, shadowed.shadow) == (OLD, None, NEW)
    assert InForce(OLD, NEW, "canary", 500, NEW).shadow is None


def test_what_is_in_force_reads_back_from_a_record() -> None:
    for state in (InForce(), InForce(OLD), InForce(OLD, NEW, "canary", 500, NEW)):
        assert InForce.read({"releases": state.fields()}) == state


STEPS = [
    Step(10, "rule_publish", InForce(OLD, NEW, "published", 0, NEW)),
    Step(20, "rule_promote", InForce(OLD, NEW, "shadow", 0, NEW)),
    Step(30, "rule_promote", InForce(OLD, NEW, "canary", 1_000, NEW)),
    Step(40, "rule_promote", InForce(OLD, NEW, "canary", 5_000, NEW)),
    Step(50, "rule_promote", InForce(NEW)),
]


def test_a_decision_is_explained_by_the_act_before_it() -> None:
    assert in_force_at(STEPS, 9) == InForce()
    assert in_force_at(STEPS, 39).threshold == 1_000
    assert in_force_at(STEPS, 41).threshold == 5_000
    assert in_force_at(STEPS, 99).stable == NEW
    assert list(stables(STEPS)) == [OLD, NEW]


def test_a_stage_begins_with_the_act_that_set_it() -> None:
    assert stage_began(STEPS[:2]) == 20
    assert stage_began(STEPS[:4]) == 30
    assert stage_began([]) == 0


def test_what_decided_since_is_withdrawn_and_nothing_else() -> None:
    assert withdrawn(STEPS, OLD) == (NEW,)
    assert withdrawn(STEPS[:4], OLD) == (NEW,)
    assert withdrawn(STEPS[:2], OLD) == ()  # a shadow wrote nothing
    assert withdrawn(STEPS, NEW) == ()
    assert withdrawn(STEPS, LATER) == ()


def test_what_an_earlier_rollback_withdrew_is_not_withdrawn_again() -> None:
    again = [
        *STEPS[:4],
        Step(50, "rule_rollback", InForce(OLD)),
        Step(60, "rule_publish", InForce(OLD, LATER, "published", 0, LATER)),
        Step(70, "rule_promote", InForce(OLD, LATER, "canary", 100, LATER)),
    ]
    assert withdrawn(again, OLD) == (LATER,)
