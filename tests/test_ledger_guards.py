"""The database itself refuses to change or delete what is in the ledger; erasing has one door, and it is narrow."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine

from recordari.audit.checkpoint import SigningKey
from recordari.audit.ledger import Ledger, MemoryLog
from recordari.audit.merkle import root_of, verify_consistency, verify_inclusion
from recordari.audit.record import Entry
from recordari.audit.subtrees import Subtrees
from recordari.audit.verify import verify
from recordari.service.forgery import superuser
from recordari.store import guards
from recordari.store.engine import Store
from recordari.store.errors import StoreError
from recordari.store.schema import create, upgrade

NAMESPACE = "matter-17"
NOON = datetime(2026, 3, 18, 12, tzinfo=UTC)
LEDGER = Ledger()


def fill(store: Store, number: int = 3) -> None:
    with store.writing(NAMESPACE) as tx:
        entries = [Entry("note", {"number": each}, {"name": f"p-{each}"}) for each in range(number)]
        LEDGER.append(tx.log, NAMESPACE, entries, recorded_at=NOON)
        tx.log.add_checkpoint(
            NAMESPACE, number, SigningKey.from_seed(b"k" * 32).checkpoint(NAMESPACE, number, b"r" * 32)
        )


@pytest.fixture
def store(place: str) -> Iterator[Store]:
    with Store.open(place) as opened:
        fill(opened)
        yield opened


def run(store: Store, statement: str) -> int:
    with store.writing(NAMESPACE) as tx:
        connection: Connection = tx.connection
        return int(connection.exec_driver_sql(statement).rowcount)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE records SET record = '{}' WHERE seq = 1",
        "DELETE FROM records WHERE seq = 2",
        "UPDATE private_values SET value = '1'",
        "DELETE FROM private_values WHERE seq = 1",
        "UPDATE checkpoints SET size = 1",
        "DELETE FROM checkpoints",
    ],
)
def test_a_record_a_checkpoint_and_a_value_cannot_be_changed_or_deleted(store: Store, statement: str) -> None:
    with pytest.raises(StoreError, match=r"is never (changed|deleted)"):
        run(store, statement)
    with store.reading(NAMESPACE) as tx:
        assert tx.log.size(NAMESPACE) == 3


def test_other_tables_can_be_changed(store: Store) -> None:
    assert run(store, "UPDATE namespaces SET version = version + 1") == 1


def test_truncate_is_refused_too(new_postgresql: Callable[[], str]) -> None:
    with Store.open(new_postgresql()) as store:
        fill(store)
        with pytest.raises(StoreError, match="is never deleted"):
            run(store, "TRUNCATE private_values, records, erasures, acts")


def test_an_insert_that_replaces_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Store.open(path) as store:
        fill(store)
    with closing(sqlite3.connect(path)) as database, pytest.raises(sqlite3.IntegrityError, match="is never replaced"):
        database.execute("INSERT OR REPLACE INTO records VALUES ('matter-17', 1, '{}', x'00')")


def test_a_value_goes_through_the_door_that_a_record_opened_and_no_other(store: Store) -> None:
    with store.writing(NAMESPACE) as tx:
        row = LEDGER.erase(tx.log, NAMESPACE, {1: ["name"]}, ground="gdpr-17-1-b", actor="dpo", recorded_at=NOON)
    with store.reading(NAMESPACE) as tx:
        left = {row.seq: set(row.private) for row in tx.log.read(NAMESPACE)}
    assert left == {0: {"name"}, 1: set(), 2: {"name"}, row.seq: {"actor"}}
    with pytest.raises(StoreError, match="is never deleted"):
        run(store, "DELETE FROM private_values WHERE seq = 2")
    with pytest.raises(StoreError, match="is never deleted"):
        run(store, "DELETE FROM erasures")


def test_a_guard_that_is_gone_is_a_finding(store: Store) -> None:
    with store.inspecting(NAMESPACE) as tx:
        assert tx.foreign_parts() == ()
    on = " ON records" if store.backend == "postgresql" else ""
    run(store, f"DROP TRIGGER keep_records_update{on}")
    with store.inspecting(NAMESPACE) as tx:
        assert tx.foreign_parts() == ("no trigger keep_records_update as we made it: the ledger could be changed",)


def test_a_guard_of_another_wording_is_a_finding(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Store.open(path) as store:
        fill(store)
    with closing(sqlite3.connect(path)) as database:
        database.execute("DROP TRIGGER keep_records_update")
        database.execute("CREATE TRIGGER keep_records_update BEFORE UPDATE ON records BEGIN SELECT 1; END")
        database.commit()
    with Store.open(path) as store, store.inspecting(NAMESPACE) as tx:
        assert len(tx.foreign_parts()) == 1
    assert "keep_records_update" in guards.sqlite_triggers()


# ---------------------------------------------------------------- proofs out of a long log
@pytest.mark.parametrize("size", [1, 255, 256, 257, 1000, 66_000])
def test_proofs_out_of_kept_subtrees_are_those_of_the_leaves(size: int) -> None:
    log = MemoryLog()
    LEDGER.append(log, NAMESPACE, (Entry("note", {"n": each}) for each in range(size)), recorded_at=NOON)
    leaves = [row.leaf for row in log.read(NAMESPACE)]
    whole = root_of(leaves)
    assert Subtrees(log, NAMESPACE).root_between(0, size) == whole == LEDGER.root(log, NAMESPACE)[1]
    for seq in {0, size // 3, size - 1}:
        proof = LEDGER.prove(log, NAMESPACE, seq)
        assert proof.root == whole
        assert verify_inclusion(leaves[seq], seq, size, proof.path, whole)
        assert not verify_inclusion(leaves[seq][::-1], seq, size, proof.path, whole)
    for old in {1, (size + 1) // 2, size}:
        growth = LEDGER.prove_growth(log, NAMESPACE, old)
        assert verify_consistency(old, size, root_of(leaves[:old]), whole, growth)
    log._subtrees.clear()  # written by an older version, which kept none
    assert LEDGER.prove(log, NAMESPACE, size // 3).root == whole


def test_a_kept_subtree_that_is_wrong_is_a_finding(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Store.open(path) as store, store.writing(NAMESPACE) as tx:
        LEDGER.append(tx.log, NAMESPACE, [Entry("note", {"n": each}) for each in range(300)], recorded_at=NOON)
    for statement, findings in (("SELECT 1", set()), ("UPDATE subtrees SET hash = x'00'", {"frontier"})):
        with superuser(path) as database:
            database.execute(statement)
        with Store.open(path) as store, store.reading(NAMESPACE) as tx:
            assert {each.code for each in verify(tx.log, NAMESPACE).findings} == findings


# ---------------------------------------------------------------- older stores
def test_an_older_database_gets_the_guards_and_its_acts(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    record = '{"content":{"outcome":"refused"},"format":1,"kind":"polish","namespace":"matter-17","private":{},"seq":0}'
    with create_engine(f"sqlite:///{path}").begin() as connection:
        upgrade(connection, "0001")
        connection.exec_driver_sql(
            "INSERT INTO records (namespace, seq, record, leaf) VALUES (?, 0, ?, x'00')", (NAMESPACE, record)
        )
    with Store.open(path) as store, store.inspecting(NAMESPACE) as tx:
        assert tx.foreign_parts() == ()
        assert tx.log.acts("rewrite") == (0,)
        assert tx.log.acts("erase") == ()


def test_a_migrated_database_has_the_triggers_of_a_new_one() -> None:
    def triggers(connection: Connection) -> dict[str, str]:
        rows = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        return {row[0]: row[1] for row in rows}

    with create_engine("sqlite://").begin() as made, create_engine("sqlite://").begin() as migrated:
        create(made)
        upgrade(migrated)
        assert triggers(made) == triggers(migrated) == dict(guards.sqlite_triggers())
