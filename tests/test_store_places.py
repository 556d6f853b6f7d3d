"""Places of stores: what can be opened, and what is said when a place is wrong, full, busy, damaged or read-only."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recordari.model import Turn
from recordari.store.engine import Store
from recordari.store.errors import Busy, CannotOpen, Damaged, Full, Missing, ReadOnly, StoreError

NS = "tenant-1"
LONG = "预算8万。" * 100


def say(store: Store, number: int, text: str = LONG) -> None:
    with store.writing(NS) as tx:
        at = datetime(2026, 3, 18, 10, tzinfo=UTC) + timedelta(minutes=number)
        turn = Turn(turn_id=f"c-{number}", text=text, said_at=at, received_at=at, ordinal=tx.next_ordinal("default"))
        tx.write_turn(turn)


def told_of(store: Store) -> list[str]:
    with store.reading(NS) as tx:
        return [turn.turn_id for turn in tx.turns()]


def test_a_place_must_exist_and_be_a_file(tmp_path: Path) -> None:
    with pytest.raises(CannotOpen, match="a folder, not a file"):
        Store.open(tmp_path)
    with pytest.raises(CannotOpen, match="there is no folder"):
        Store.open(tmp_path / "no" / "m.db")
    with pytest.raises(CannotOpen, match="no such file"):
        Store.open(tmp_path / "m.db", read_only=True)
    with pytest.raises(CannotOpen, match="mysql is not served"):
        Store.open("mysql://example.com/x")
    with pytest.raises(CannotOpen, match="no address"):
        Store.open("://")


def test_a_server_that_does_not_answer_is_named_without_its_password() -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(CannotOpen) as caught:
        Store.open("postgresql+psycopg://me:secret@127.0.0.1:1/x")
    assert "127.0.0.1:1" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("spelling", ["{}", "sqlite:///{}"])
def test_a_file_is_opened_by_path_or_address(tmp_path: Path, spelling: str) -> None:
    path = tmp_path / "预算 %20#?.db" if spelling == "{}" else tmp_path / "m.db"
    with Store.open(spelling.format(path)) as store:
        say(store, 0)
        assert store.check() == ()
    assert path.exists()
    with Store.open(path, read_only=True) as store:
        assert told_of(store) == ["c-0"]


def test_a_store_opened_for_reading_is_not_written_to(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Store.open(path) as store:
        say(store, 0)
    with Store.open(path, read_only=True) as store:
        assert store.namespaces() == (NS,)
        with pytest.raises(ReadOnly, match=r"m\.db: opened for reading only"), store.writing(NS):
            pass


READER = """
import sys
from recordari.store.engine import Store
try:
    with Store.open(sys.argv[1], read_only=True) as store, store.reading("tenant-1") as tx:
        print([turn.turn_id for turn in tx.turns()])
except Exception as error:
    print(type(error).__name__, error)
"""


def on_a_read_only_mount(path: Path) -> str:
    """What a reader prints of a store on a mount that nobody can write to."""
    folder = path.parent
    script = f'mount --bind "{folder}" "{folder}" && mount -o remount,ro,bind "{folder}" && exec "$0" -c "$1" "{path}"'
    command = ("unshare", "-m", "sh", "-c", script, sys.executable, READER)
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        pytest.skip("there is no unshare here")
    if done.returncode != 0:
        pytest.skip(f"nothing can be mounted here: {done.stderr}")
    return done.stdout


def test_a_store_on_a_read_only_mount_is_read(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Store.open(path) as store:
        say(store, 0)
    assert on_a_read_only_mount(path) == "['c-0']\n"
    assert [each.name for each in tmp_path.iterdir()] == ["m.db"]


def test_a_write_ahead_file_on_a_read_only_mount_is_named(tmp_path: Path) -> None:
    path, copy = tmp_path / "m.db", tmp_path / "copy" / "m.db"
    copy.parent.mkdir()
    with Store.open(path) as store:
        say(store, 0)
        for suffix in ("", "-wal"):
            shutil.copy(f"{path}{suffix}", f"{copy}{suffix}")
    told = on_a_read_only_mount(copy)
    assert told.startswith("CannotOpen")
    assert "m.db-wal, which cannot be read here" in told
    with Store.open(copy, read_only=True) as store:  # where it can be written, the log is read
        assert told_of(store) == ["c-0"]


def test_reading_leaves_nothing_beside_the_file_and_an_empty_file_as_it_is(tmp_path: Path) -> None:
    path, empty = tmp_path / "m.db", tmp_path / "empty.db"
    with Store.open(path) as store:
        say(store, 0)
    empty.touch()
    before = path.read_bytes()
    with Store.open(path, read_only=True) as store:
        assert told_of(store) == ["c-0"]
    for options in ({"read_only": True}, {"create": False}):
        with pytest.raises(Missing, match="no memory in it yet"):
            Store.open(empty, **options)
        with pytest.raises(Missing, match="no such file"):
            Store.open(tmp_path / "none.db", **options)
    assert path.read_bytes() == before
    assert empty.read_bytes() == b""
    assert sorted(each.name for each in tmp_path.iterdir()) == ["empty.db", "m.db"]


def test_a_full_disk_loses_the_turn_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Store.open(path) as store:
        say(store, 0)
        with store._engine.connect() as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")
        with pytest.raises(Full, match=r"m\.db: the disk .* is full.*free space"):  # noqa: PT012
            for number in range(1, 50):
                say(store, number)
        with store._engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA max_page_count=1000000")
        kept = told_of(store)
        assert kept == [f"c-{number}" for number in range(len(kept))]
        say(store, len(kept))
        assert told_of(store) == [*kept, f"c-{len(kept)}"]


def test_a_full_disk_in_a_group_undoes_the_group_and_says_so(tmp_path: Path) -> None:
    with Store.open(tmp_path / "m.db") as store:
        say(store, 0)
        with store._engine.connect() as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")
        with pytest.raises(Full), store.group(NS):  # noqa: PT012
            for number in range(1, 60):
                say(store, number)
        assert told_of(store) == ["c-0"]
        full = 0
        with pytest.raises(StoreError, match="undid the whole group"), store.group(NS):  # noqa: PT012
            for number in range(1, 60):
                try:
                    say(store, number)
                    told_of(store)  # who asks has everything sent that waits
                except Full:
                    full += 1
                except StoreError as error:
                    assert "undid the whole group" in str(error)  # noqa: PT017
        assert full == 1
        assert told_of(store) == ["c-0"]


def test_a_writer_that_waits_too_long_says_so(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    one, two = Store.open(path), Store.open(path, busy_timeout=0.05)
    with one, two, one.writing(NS), pytest.raises(Busy, match="another writer holds"), two.writing(NS):
        pass


def test_a_damaged_file_is_reported_as_such(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Store.open(path) as store:
        for number in range(30):
            say(store, number)
    whole = bytearray(path.read_bytes())
    whole[8192:] = b"\xff" * (len(whole) - 8192)
    path.write_bytes(whole)
    with (
        pytest.raises(Damaged, match=r"m\.db: the database file is damaged"),
        Store.open(path) as store,
    ):
        told_of(store)


def test_write_ahead_logging_and_full_sync_are_the_default(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Store.open(path) as store, store._engine.connect() as connection:
        wanted = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "secure_delete": 1}
        for name, value in wanted.items():
            assert connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() == value
    with sqlite3.connect(path) as raw:
        assert raw.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    raw.close()
