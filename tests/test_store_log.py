"""The rows of the ledger in the store: byte for byte, gapless, erasable only where they may be."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recordari.audit.ledger import Ledger
from recordari.audit.merkle import leaf_hash
from recordari.audit.record import Entry, Row
from recordari.store.engine import Store
from recordari.store.errors import StoreError

NS = "tenant-1"
NOW = datetime(2026, 3, 18, 10, tzinfo=UTC)
ledger = Ledger()


def note(store: Store, number: int) -> None:
    with store.writing(NS) as tx:
        entry = Entry("note", {"number": number}, {"canonical": "8万", "entity": "client"})
        ledger.append(tx.log, NS, [entry], recorded_at=NOW)


@pytest.fixture
def store(place: str) -> Iterator[Store]:
    with Store.open(place) as opened:
        yield opened


def test_the_log_keeps_records_byte_for_byte_and_without_gaps(store: Store) -> None:
    for number in range(4):
        note(store, number)
    with store.reading(NS) as tx:
        rows = list(tx.log.read(NS))
        assert [row.seq for row in rows] == [0, 1, 2, 3]
        assert all(leaf_hash(row.record.encode()) == row.leaf for row in rows)
        assert [row.seq for row in tx.log.read(NS, 1, 3)] == [1, 2]
        assert [row.seq for row in tx.log.records_of([3, 0])] == [0, 3]
        assert set(rows[0].private) == {"canonical", "entity"}
        size, root = ledger.root(tx.log, NS)
        assert size == tx.log.size(NS) == 4
        proof = ledger.prove(tx.log, NS, 2)
        assert proof.root == root
        with pytest.raises(StoreError, match="inside a writing transaction"):
            tx.log.append(NS, rows)
        with pytest.raises(StoreError, match="inside a writing transaction"):
            tx.log.set_frontier(NS, 0, ())
        with pytest.raises(StoreError, match="is of namespace"):
            tx.log.size("another tenant")


def test_the_log_reads_in_pages(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recordari.store.log._PAGE", 2)
    for number in range(5):
        note(store, number)
    with store.reading(NS) as tx:
        assert [row.seq for row in tx.log.read(NS)] == [0, 1, 2, 3, 4]
        assert [row.seq for row in tx.log.read(NS, 1, 4)] == [1, 2, 3]


def test_a_record_is_never_written_over(store: Store) -> None:
    note(store, 0)
    with pytest.raises(StoreError), store.writing(NS) as tx:  # noqa: PT012 - the error may come at either call
        rows = [Row(row.seq, row.record, row.leaf, row.private) for row in tx.log.read(NS)]
        tx.log.append(NS, rows)


def test_private_values_can_be_erased_while_the_proofs_hold(store: Store) -> None:
    note(store, 0)
    with store.writing(NS) as tx:
        before = ledger.root(tx.log, NS)
        ledger.erase(tx.log, NS, {0: ["canonical", "absent"]}, ground="request", actor="dpo", recorded_at=NOW)
    with store.reading(NS) as tx:
        first = next(iter(tx.log.read(NS)))
        assert set(first.private) == {"entity"}
        assert leaf_hash(first.record.encode()) == first.leaf
        assert before[0] == 1
        assert ledger.root(tx.log, NS)[0] == 2


def test_checkpoints_stand_in_the_order_in_which_they_were_signed(store: Store) -> None:
    with store.writing(NS) as tx:
        tx.log.add_checkpoint(NS, 0, "first")
        tx.log.add_checkpoint(NS, 0, "second")
    with store.reading(NS) as tx:
        assert tx.log.checkpoints(NS) == ("first", "second")


def test_rule_sets_and_runtimes_are_kept_once_under_their_digest(store: Store) -> None:
    with store.writing(NS) as tx:
        for _ in range(2):
            tx.keep_ruleset("abc", {"预算.yaml": "id: x"})
            tx.keep_runtime("def", {"python": "3.11"})
    with store.reading(NS) as tx:
        assert tx.ruleset("abc") == {"预算.yaml": "id: x"}
        assert tx.runtime("def") == {"python": "3.11"}
        assert tx.ruleset("none") is None
        assert tx.runtime("none") is None


def test_an_inspection_reads_text_that_is_no_utf8_and_whole_texts_around_it_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Store.open(path) as opened:
        for number in range(3):
            note(opened, number)
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("INSERT INTO records VALUES (?, 3, CAST(X'22FF22' AS TEXT), X'00')", (NS,))
    with Store.open(path, read_only=True) as opened:
        with opened.inspecting(NS) as tx:
            rows = list(tx.log.read(NS))
            assert rows[3].record == '"\udcff"'
            assert all(leaf_hash(row.record.encode()) == row.leaf for row in rows[:3])
            assert rows[0].private["canonical"].value == '"8万"'
            assert [row.seq for row in tx.log.read(NS, 0, 3)] == [0, 1, 2]
        with opened.reading(NS) as tx, pytest.raises(Exception, match="UTF-8"):
            list(tx.log.read(NS))
