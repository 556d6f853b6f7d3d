"""What a page of SQLite keeps of rows that moved away is overwritten, and nothing else in the file is touched."""

from __future__ import annotations

import random
import sqlite3
import struct
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from recordari.memory import Memory
from recordari.rules.ruleset import Ruleset
from recordari.store import scrubbing
from recordari.store.engine import Store
from recordari.store.gaps import Unclear, clean

GONE = range(0, 4000, 40)


def word(number: int) -> str:
    return f"xylophone{number:05}"


def filled(path: Path) -> None:
    """Rows whose pages were split many times, some of them deleted."""
    order = list(range(4000))
    random.Random(5).shuffle(order)
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.execute("PRAGMA journal_mode=WAL")
        raw.execute("PRAGMA secure_delete=ON")
        raw.execute("CREATE TABLE keyed (a TEXT, b INTEGER, c TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID")
        raw.execute("CREATE TABLE plain (id INTEGER PRIMARY KEY, c TEXT)")
        raw.execute("CREATE INDEX ix_plain ON plain (c)")
        raw.execute("BEGIN")
        for number in order:
            more = "y" * (9000 if number % 500 == 1 else number % 90)  # some are longer than a page
            raw.execute("INSERT INTO keyed VALUES (?, ?, ?)", (f"{number % 7}", number, word(number) + more))
            raw.execute("INSERT INTO plain VALUES (?, ?)", (order[number], word(number) + more))
        raw.execute("COMMIT")
        raw.execute("BEGIN")
        for number in GONE:
            raw.execute("DELETE FROM keyed WHERE a = ? AND b = ?", (f"{number % 7}", number))
            raw.execute("DELETE FROM plain WHERE id = ?", (order[number],))
        raw.execute("COMMIT")
        assert raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0


def contents(path: Path) -> list[list[tuple[object, ...]]]:
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return [raw.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall() for table in ("keyed", "plain")]


def left_in(path: Path) -> list[int]:
    data = path.read_bytes()
    return [number for number in GONE if word(number).encode() in data]


def test_copies_of_deleted_rows_between_the_cells_go_and_every_row_stays(tmp_path: Path) -> None:
    path = tmp_path / "some.db"
    filled(path)
    before = contents(path)
    assert left_in(path)  # secure_delete alone does not reach them
    size = path.stat().st_size
    assert clean(str(path)) > 0
    assert left_in(path) == []
    assert contents(path) == before
    assert path.stat().st_size == size
    assert clean(str(path)) == 0  # there is nothing left to do


def test_a_page_that_cannot_be_understood_is_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "some.db"
    filled(path)
    data = bytearray(path.read_bytes())
    page = next(at for at in range(4096, len(data), 4096) if data[at] in {10, 13} and data[at + 3 : at + 5] != b"\0\0")
    struct.pack_into(">H", data, page + 5, 4096)  # as if its cells began where they end
    path.write_bytes(data)
    with pytest.raises(Unclear, match="has cells where it says that it has none"):
        clean(str(path))
    assert path.read_bytes()[page : page + 4096] == bytes(data[page : page + 4096])


@pytest.mark.parametrize("data", [b"", b"no database", b"SQLite format 3\0" + bytes(84), bytes(8192)])
def test_what_is_no_file_of_pages_is_not_touched(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "some.db"
    path.write_bytes(data)
    with pytest.raises(Unclear):
        clean(str(path))
    assert path.read_bytes() == data


# ---------------------------------------------------------------- in a store
SAID = [f"The {thing} fee is ${number}." for number, thing in enumerate(["parking", "storage", "courier"] * 12, 4100)]
GROUND = {"ground": "gdpr-17-1-b", "actor": "ines"}


def tell(memory: Memory, entity: str) -> None:
    for number, text in enumerate(SAID):
        at = f"2026-03-18T10:{number:02}:00+08:00"
        memory.observe(text.replace("fee", f"{entity} fee"), said_at=at, entity=entity, conversation=str(len(entity)))


def test_no_connection_writes_back_what_was_overwritten(tmp_path: Path, ruleset: Ruleset) -> None:
    path = tmp_path / "m.db"
    with Memory.open(path, ruleset=ruleset, ner=False) as memory, Store.open(path) as other:
        for entity in ("amberwick", "zinnia", "amberwick two"):
            tell(memory, entity)
        with other._engine.connect() as connection, connection.begin():  # every page lies in its memory
            for table in ("items", "decisions", "turns", "search_terms", "turn_terms", "private_values"):
                connection.exec_driver_sql(f"SELECT * FROM {table}").all()
        assert memory.erase(entity="zinnia", **GROUND).scrubbed
        assert b"zinnia" not in path.read_bytes()
        for store in (memory.store, other):
            with store.writing("default") as tx:
                for table in ("items", "decisions", "turns"):
                    tx.connection.exec_driver_sql(f"UPDATE {table} SET body = body || ' '")
                for table in ("search_terms", "turn_terms"):
                    tx.connection.exec_driver_sql(f"UPDATE {table} SET count = count + 1")
    assert b"amberwick" in path.read_bytes()
    assert b"zinnia" not in path.read_bytes()
    assert not path.with_name("m.db-wal").exists()


@pytest.mark.parametrize("python", ["", "/no/such/program", None])
def test_where_the_program_cannot_be_run_the_file_is_written_anew(
    tmp_path: Path, ruleset: Ruleset, monkeypatch: pytest.MonkeyPatch, python: str | None
) -> None:
    path = tmp_path / "m.db"
    with Memory.open(path, ruleset=ruleset, ner=False) as memory:
        tell(memory, "amberwick")
        tell(memory, "zinnia")
        if python is None:
            monkeypatch.setattr(scrubbing.gaps, "__file__", str(tmp_path / "none.py"))
        else:
            monkeypatch.setattr(sys, "executable", python)
        assert memory.erase(entity="zinnia", **GROUND).scrubbed
        assert b"zinnia" not in path.read_bytes()
        assert memory.items(entity="amberwick")
        assert memory.verify().ok


def test_cleaning_waits_for_readers_no_longer_than_writers_can_bear(
    tmp_path: Path, ruleset: Ruleset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who waits for readers keeps all writers out, and every opening of the place would wait anew."""
    monkeypatch.setattr(scrubbing, "READERS", 50)
    place = tmp_path / "m.db"
    with Memory.open(place, ruleset=ruleset, ner=False) as memory:
        memory.observe("The legal budget is $60,000.", said_at="2026-03-18T10:00:00+08:00", entity="client")
        with closing(sqlite3.connect(place, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM items").fetchone()
            began = time.monotonic()
            assert not memory.erase(entity="client", ground="gdpr-17-1-b", actor="ines").scrubbed
            Memory.open(place, ruleset=ruleset, ner=False).close()
            assert time.monotonic() - began < 20  # the patience of a writer is 30 seconds
        with memory.store.writing(memory.namespace) as tx:
            assert tx.connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 30_000
        assert memory.store.scrub()
        assert not memory.store.unclean
