"""The outbox: work is left with the write, taken under a lease, and marked exactly once."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from recordari.store.engine import Store
from recordari.store.outbox import Work

NOW = datetime(2026, 3, 18, 10, tzinfo=UTC)
LEASE = timedelta(minutes=5)


@pytest.fixture
def store(place: str) -> Iterator[Store]:
    with Store.open(place) as opened:
        yield opened


def leave(store: Store, *items: str, version: int = 1) -> None:
    with store.writing("a") as tx:
        for item in items:
            tx.outbox.put("wording", item, version, {"item": item}, not_before=NOW)


def take(store: Store, holder: str = "w1", *, after: timedelta = timedelta(), limit: int = 10) -> tuple[Work, ...]:
    with store.writing("a") as tx:
        return tx.outbox.take("wording", now=NOW + after, lease=LEASE, holder=holder, limit=limit)


def counts(store: Store) -> dict[str, int]:
    with store.reading("a") as tx:
        return tx.outbox.counts()


def test_work_is_taken_in_order_and_by_one_worker_only(store: Store) -> None:
    leave(store, "i1", "i2", "i3")
    assert [work.item_id for work in take(store, limit=2)] == ["i1", "i2"]
    assert [work.item_id for work in take(store, "w2")] == ["i3"]
    assert take(store, "w3") == ()


def test_work_is_left_once_for_each_version_of_an_item(store: Store) -> None:
    leave(store, "i1", "i1")
    leave(store, "i1")
    leave(store, "i1", version=2)
    assert [work.item_version for work in take(store)] == [1, 2]


def test_work_is_not_taken_before_its_time_or_of_another_kind(store: Store) -> None:
    leave(store, "i1")
    assert take(store, after=timedelta(seconds=-1)) == ()
    with store.writing("a") as tx:
        assert tx.outbox.take("embedding", now=NOW, lease=LEASE, holder="w") == ()
    with store.writing("b") as tx:
        assert tx.outbox.take("wording", now=NOW, lease=LEASE, holder="w") == ()


def test_work_is_marked_done_exactly_once(store: Store) -> None:
    leave(store, "i1")
    (work,) = take(store)
    assert work.payload == {"item": "i1"}
    with store.writing("a") as tx:
        assert tx.outbox.done(work)
        assert not tx.outbox.done(work)
    assert take(store, after=LEASE * 2) == ()
    assert counts(store) == {"done": 1}


def test_a_dead_workers_lease_runs_out_and_its_late_answer_does_not_count(store: Store) -> None:
    leave(store, "i1")
    (first,) = take(store)
    (second,) = take(store, after=LEASE)
    assert second.attempts == 2
    with store.writing("a") as tx:
        assert not tx.outbox.done(first)
        assert not tx.outbox.failed(first, "late", again_at=None)
        assert tx.outbox.done(second)


def test_failed_work_comes_again_or_is_given_up(store: Store) -> None:
    leave(store, "i1", "i2")
    first, second = take(store)
    with store.writing("a") as tx:
        assert tx.outbox.failed(first, "no answer", again_at=NOW + timedelta(minutes=1))
        assert tx.outbox.failed(second, "no such model", again_at=None)
    assert take(store) == ()
    assert [work.item_id for work in take(store, after=timedelta(minutes=1))] == ["i1"]
    assert counts(store) == {"waiting": 1, "failed": 1}


def test_work_of_a_write_that_was_undone_is_gone_with_it(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.writing("a") as tx:  # noqa: PT012
        tx.outbox.put("wording", "i1", 1, {}, not_before=NOW)
        raise ZeroDivisionError
    assert take(store) == ()
