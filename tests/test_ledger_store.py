"""The ledger over the real database: what it keeps, and what raw SQL behind its back cannot hide."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recordari.audit.checkpoint import SigningKey
from recordari.audit.ledger import Ledger, LogStore
from recordari.audit.record import Entry, decision_entry, derived_salts
from recordari.audit.verify import Report, verify
from recordari.model import Decision
from recordari.service.forgery import superuser
from recordari.store.engine import Store

NAMESPACE = "matter-17"
NOON = datetime(2026, 3, 18, 12, 0, tzinfo=UTC)
KEY = SigningKey.from_seed(bytes(range(32)))
LEDGER = Ledger(derived_salts(b"a secret of this test"))


def decision(number: int) -> Decision:
    return Decision(
        turn_id=f"t-{number}", turn=number, ordinal=0, action="IGNORE", reason="no_slot", rule="law.no_slot@1",
        kind="money", canonical=f"{number} CNY", entity="李明",
    )  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A database with a log of five decisions in two transactions, a checkpoint, and nothing else."""
    path = tmp_path / "matter.db"
    with Store.open(path) as store:
        for numbers in ((0, 1, 2), (3, 4)):
            with store.writing(NAMESPACE) as tx:
                for number in numbers:
                    moment = NOON + timedelta(minutes=number)
                    LEDGER.append(tx.log, NAMESPACE, [decision_entry(decision(number))], recorded_at=moment)
        with store.writing(NAMESPACE) as tx:
            size, root = LEDGER.root(tx.log, NAMESPACE)
            tx.log.add_checkpoint(NAMESPACE, size, KEY.checkpoint(NAMESPACE, size, root))
    return path


def check(path: Path) -> Report:
    with Store.open(path) as store, store.reading(NAMESPACE) as tx:
        log: LogStore = tx.log
        return verify(log, NAMESPACE, witness=tx.log.checkpoints(NAMESPACE), public_key=KEY.public)


def behind_its_back(path: Path, statement: str) -> None:
    with superuser(path) as database:
        assert database.execute(statement).rowcount > 0, statement
        database.commit()


def codes(report: Report) -> set[tuple[int, str]]:
    return {(finding.seq, finding.code) for finding in report.findings}


def test_a_log_in_the_database_verifies_after_it_was_closed(file: Path) -> None:
    report = check(file)
    assert report.ok, report.lines()
    assert report.size == 5
    assert report.counts["personal values"] == 10


def test_a_database_and_plain_memory_have_the_same_root(file: Path) -> None:
    from recordari.audit.ledger import MemoryLog

    plain = MemoryLog()
    for number in range(5):
        entry = decision_entry(decision(number))
        LEDGER.append(plain, NAMESPACE, [entry], recorded_at=NOON + timedelta(minutes=number))
    assert check(file).root == LEDGER.root(plain, NAMESPACE)[1]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("UPDATE records SET record = replace(record, 'no_slot', 'joke') WHERE seq = 2", (2, "altered")),
        ("DELETE FROM records WHERE seq = 2", (2, "gap")),
        ("DELETE FROM records WHERE seq > 2", (3, "truncated")),
        ("UPDATE private_values SET value = '\"9 CNY\"' WHERE seq = 2 AND field = 'canonical'", (2, "private")),
        ("DELETE FROM private_values WHERE seq = 2 AND field = 'entity'", (2, "private")),
        ("UPDATE checkpoints SET note = replace(note, '5', '4')", (-1, "note")),
    ],
)
def test_raw_sql_leaves_a_trace(file: Path, statement: str, expected: tuple[int, str]) -> None:
    behind_its_back(file, statement)
    assert expected in codes(check(file))


def test_an_erasure_leaves_no_value_in_the_file(file: Path) -> None:
    with Store.open(file) as store, store.writing(NAMESPACE) as tx:
        places = {number: ["canonical", "entity"] for number in range(5)}
        LEDGER.erase(tx.log, NAMESPACE, places, ground="gdpr-17-1-b", actor="dpo", recorded_at=NOON)
    report = check(file)
    assert report.ok, report.lines()
    assert len(report.erased) == 10
    with closing(sqlite3.connect(file)) as database:
        values = {row[0] for row in database.execute("SELECT value FROM private_values")}
    assert values == {'"dpo"'}


class Halfway(Exception):
    """Something went wrong after the append."""


def append_and_fail(store: Store) -> None:
    with store.writing(NAMESPACE) as tx:
        LEDGER.append(tx.log, NAMESPACE, [Entry("note", {})], recorded_at=NOON)
        raise Halfway


def test_an_append_that_fails_leaves_the_log_as_it_was(file: Path) -> None:
    with Store.open(file) as store:
        with pytest.raises(Halfway):
            append_and_fail(store)
        with store.writing(NAMESPACE) as tx:
            (row,) = LEDGER.append(tx.log, NAMESPACE, [Entry("note", {})], recorded_at=NOON)
    assert row.seq == 5
    report = check(file)
    assert report.ok, report.lines()
    assert report.size == 6
