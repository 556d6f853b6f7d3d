"""The schema: made at once, or by migrations, it is the same; what is newer or not ours is refused untouched."""

from __future__ import annotations

import math
import sqlite3
import struct
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, inspect

from recordari.store.engine import Store
from recordari.store.errors import CannotOpen, NewerSchema, NotADatabase, OlderSchema
from recordari.store.schema import alembic_config, create, prepare, upgrade, version_of
from recordari.store.tables import METADATA, REVISIONS


def shape(connection: Connection) -> dict[str, object]:
    """Everything that makes a schema: columns, keys, indexes, references."""
    found = inspect(connection)
    return {
        name: (
            [(each["name"], str(each["type"]), each["nullable"]) for each in found.get_columns(name)],
            found.get_pk_constraint(name)["constrained_columns"],
            sorted(
                (str(each["name"]), tuple(each["column_names"]), each["unique"]) for each in found.get_indexes(name)
            ),
            sorted(
                (tuple(each["constrained_columns"]), each["referred_table"]) for each in found.get_foreign_keys(name)
            ),
        )
        for name in sorted(found.get_table_names())
        if name != "alembic_version"
    }


def test_migrations_lead_to_the_same_schema_as_the_tables() -> None:
    with create_engine("sqlite://").begin() as made, create_engine("sqlite://").begin() as migrated:
        create(made)
        upgrade(migrated)
        assert shape(made) == shape(migrated)
        assert version_of(made, "here") == version_of(migrated, "here") == REVISIONS[-1]
        assert set(shape(made)) == set(METADATA.tables) - {"alembic_version"}


def test_partial_indexes_and_row_ids_are_the_same_too() -> None:
    def partial(connection: Connection) -> list[str]:
        rows = connection.exec_driver_sql("SELECT sql FROM sqlite_master WHERE sql LIKE '%WHERE%' ORDER BY name")
        without = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE sql LIKE '%WITHOUT ROWID%'")
        return [*rows.scalars(), *sorted(without.scalars())]

    with create_engine("sqlite://").begin() as made, create_engine("sqlite://").begin() as migrated:
        create(made)
        upgrade(migrated)
        assert partial(made) == partial(migrated)
        assert "search_terms" in partial(made)


def test_the_code_knows_every_revision_in_order() -> None:
    from alembic.script import ScriptDirectory

    with create_engine("sqlite://").begin() as connection:
        script = ScriptDirectory.from_config(alembic_config(connection))
        assert tuple(each.revision for each in reversed(list(script.walk_revisions()))) == REVISIONS


def test_the_first_migration_can_be_taken_back() -> None:
    from alembic import command

    with create_engine("sqlite://").begin() as connection:
        upgrade(connection)
        command.downgrade(alembic_config(connection), "base")
        assert shape(connection) == {}


def test_no_migration_is_due_after_the_last_one() -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    with create_engine("sqlite://").begin() as connection:
        upgrade(connection)
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []


def test_a_fresh_store_does_not_load_alembic() -> None:
    program = (
        "import sys; from recordari.store.engine import Store; Store.open('sqlite://').close();"
        "sys.exit('alembic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_database_of_a_newer_schema_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    Store.open(path).close()
    with sqlite3.connect(path) as raw:
        raw.execute("UPDATE alembic_version SET version_num = '9999'")
    raw.close()
    with pytest.raises(NewerSchema, match=r"new\.db: .*'9999' is newer.*Upgrade Recordari"):
        Store.open(path)


def test_reading_a_database_of_an_older_schema_says_so_whatever_stands_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    Store.open(path).close()
    raw = sqlite3.connect(path)
    raw.execute("UPDATE alembic_version SET version_num = ?", (REVISIONS[-2],))
    raw.commit()
    assert path.with_name("old.db-wal").exists()  # as long as somebody has it open
    with pytest.raises(OlderSchema, match=r"is older than this version. `recordari audit checkpoint` brings it"):
        Store.open(path, read_only=True)
    raw.close()


def test_a_database_of_something_else_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as raw:
        raw.execute("CREATE TABLE orders (id INTEGER)")
    raw.close()
    before = path.read_bytes()
    with pytest.raises(NotADatabase, match="database of something else"):
        Store.open(path)
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear Sir or Madam, " * 100)
    with pytest.raises(NotADatabase, match=r"letter\.txt: not a SQLite database"):
        Store.open(path)
    assert path.read_text().startswith("Dear Sir")


def test_an_empty_file_becomes_a_database(tmp_path: Path) -> None:
    path = tmp_path / "empty.db"
    path.touch()
    with Store.open(path) as store:
        assert store.namespaces() == ()


def test_an_empty_database_has_no_memory_to_read(tmp_path: Path) -> None:
    path = tmp_path / "empty.db"
    path.touch()
    with pytest.raises(CannotOpen, match="no memory in it yet"):
        Store.open(path, read_only=True)


def test_preparing_twice_changes_nothing() -> None:
    with create_engine("sqlite://").begin() as connection:
        prepare(connection, "here")
        before = shape(connection)
        prepare(connection, "here")
        assert shape(connection) == before


def test_a_command_that_changes_an_older_memory_brings_it_to_this_version(tmp_path: Path) -> None:
    from recordari.service.opening import UnknownNamespace, editing, reading

    path = tmp_path / "old.db"
    with create_engine(f"sqlite:///{path}").begin() as connection:
        upgrade(connection, REVISIONS[-2])
    with pytest.raises(OlderSchema):
        reading(str(path), "default")
    with pytest.raises(UnknownNamespace):  # it was opened
        editing(str(path), "default", None)
    with Store.open(path, read_only=True) as store:
        assert store.namespaces() == ()


@pytest.mark.parametrize("version", ["0001", "0003", "0004"])
def test_what_an_older_memory_was_told_is_found_by_the_indexes_that_came_since(tmp_path: Path, version: str) -> None:
    from alembic import command

    from recordari.memory import Memory

    path = tmp_path / "old.db"
    with Memory.open(path, ner=False) as memory:
        memory.observe("I work at Acme Ltd.", said_at="2026-03-01T10:00:00+08:00", entity="Tom Reed")
    with Memory.open(path, ner=False, namespace="other") as memory:
        memory.observe("I work at Harrow Mills Ltd.", said_at="2026-03-01T10:00:00+08:00", entity="Ann Lee")
    with create_engine(f"sqlite:///{path}").begin() as connection:
        command.downgrade(alembic_config(connection), version)
    for namespace, name, place in (("default", "Tom Reed", "Acme Ltd"), ("other", "Ann Lee", "Harrow Mills Ltd")):
        with Memory.open(path, ner=False, namespace=namespace) as memory:
            assert [hit.turn.text for hit in memory.answer("Where is the work?", transcript=True).turns]
            assert [each.name for each in memory.related(name)] == [place]
            with memory.store.reading(namespace) as tx:
                assert tx.outbox.counts().get("waiting", 0) <= 1  # a vector, where there is an embedder


def test_terms_of_an_older_store_become_those_of_a_new_one(tmp_path: Path) -> None:
    """Pairs and the last character of a run were the terms before; now every character is one."""
    from recordari.memory import Memory

    path = tmp_path / "old.db"
    with Memory.open(path, ner=False) as memory:
        memory.observe("市场部市场预算5万元", said_at="2026-03-18T10:00:00+08:00")
        memory.observe("The parking fee is $5.", said_at="2026-03-18T10:01:00+08:00")
    tables = ("search_terms", "search_texts")
    with closing(sqlite3.connect(path)) as raw:
        new = [sorted(raw.execute(f"SELECT * FROM {table}")) for table in tables]
        lengths = "UPDATE search_texts SET length = length - ? WHERE ordinal = ?"
        for ordinal, count in raw.execute(f"SELECT ordinal, sum(count) FROM search_terms WHERE {_PAIRS} GROUP BY 1"):
            raw.execute(lengths, (count, ordinal))
        for ordinal, term, count in raw.execute(f"SELECT ordinal, term, count FROM search_terms WHERE {_PAIRS}"):
            change = "UPDATE search_terms SET count = count - ? WHERE ordinal = ? AND term = ?"
            raw.execute(change, (count, ordinal, term[0]))
        raw.execute("DELETE FROM search_terms WHERE count = 0")
        raw.execute("UPDATE alembic_version SET version_num = '0005'")
        raw.execute("DROP TABLE item_vectors")
        raw.execute("DROP TABLE turn_vectors")
        for each in ("ix_items_place", "ix_decisions_asking", "ix_turns_namespace_principal", "ix_decisions_about"):
            raw.execute(f"DROP INDEX {each}")
        raw.execute("ALTER TABLE decisions DROP COLUMN about")
        raw.execute("CREATE INDEX ix_items_namespace_entity_slot ON items (namespace, entity, slot)")
        raw.commit()
        assert sorted(raw.execute("SELECT * FROM search_terms")) != new[0]
    with Memory.open(path, ner=False) as memory:
        assert memory.verify().ok
    with closing(sqlite3.connect(path)) as raw:
        assert [sorted(raw.execute(f"SELECT * FROM {table}")) for table in tables] == new


def test_vectors_of_an_older_store_are_kept_as_whole_numbers_side_by_side(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    numbers = [0.6, -0.8, 0.0001, 1.0]
    whole, odd = struct.pack("<4f", *numbers), b"\x00\xff\x01"
    with create_engine(f"sqlite:///{path}").begin() as connection:
        upgrade(connection, "0007")
    with closing(sqlite3.connect(path)) as raw:
        for at, (entity, ordinal, vector) in enumerate([("b", 3, whole), ("a", 1, whole), ("a", 2, odd)]):
            raw.execute("INSERT INTO item_vectors VALUES ('n', ?, ?, 1, 'm/1', ?)", (entity, ordinal, vector))
            raw.execute("INSERT INTO turn_vectors VALUES ('n', ?, 'm/1', ?)", (at, vector))
        raw.commit()
    with create_engine(f"sqlite:///{path}").begin() as connection:
        upgrade(connection)
    with closing(sqlite3.connect(path)) as raw:
        rows = raw.execute("SELECT entity, ordinal, version, model, vector FROM item_vectors").fetchall()
        turns = raw.execute("SELECT number, vector FROM turn_vectors").fetchall()
    assert [row[:4] for row in rows] == [("a", 1, 1, "m/1"), ("a", 2, 1, "m/1"), ("b", 3, 1, "m/1")]
    assert struct.unpack("4b", rows[0][4]) == (76, -102, 0, 127)
    assert rows[1][4] == odd  # what is damaged is for a rebuild to mend
    assert [vector for _, vector in turns] == [rows[0][4], rows[0][4], odd]
    from alembic import command

    with create_engine(f"sqlite:///{path}").begin() as connection:
        command.downgrade(alembic_config(connection), "0007")
    with closing(sqlite3.connect(path)) as raw:
        (vector,) = raw.execute("SELECT vector FROM item_vectors WHERE entity = 'b'").fetchone()
    length = math.hypot(*numbers)
    assert struct.unpack("<4f", vector) == pytest.approx([each / length for each in numbers], abs=5e-3)


_PAIRS = "length(term) = 2 AND term >= '一' AND term < '龦'"


def test_an_older_store_comes_to_know_whom_its_decisions_are_about(tmp_path: Path) -> None:
    from alembic import command

    from recordari.memory import Memory

    path = tmp_path / "old.db"
    with Memory.open(path, ner=False) as memory:
        memory.observe("张伟的电话是13800000001", said_at="2026-03-18T10:00:00+08:00", entity="Ann Lee")
        memory.observe("My phone number is 13800000002.", said_at="2026-03-18T10:01:00+08:00", entity="Ann Lee")
    with create_engine(f"sqlite:///{path}").begin() as connection:
        command.downgrade(alembic_config(connection), "0008")
    with Memory.open(path, ner=False) as memory:
        with memory.store.reading() as tx:
            named = tx.connection.exec_driver_sql("SELECT DISTINCT about FROM decisions WHERE about IS NOT NULL").all()
            assert [tuple(row) for row in named] == [("张伟",)]
        assert memory.verify().ok
        assert memory.erase(entity="张伟", ground="request", actor="Ms Chen").turns == ("default:0",)
    assert "张伟".encode() not in path.read_bytes()


@pytest.mark.parametrize("at_once", [1, 2, 3, 100])
def test_whom_decisions_are_about_is_filled_in_by_pages_of_any_size(place: str, at_once: int) -> None:
    from importlib import import_module

    from recordari.memory import Memory

    migration = import_module("recordari.store.migrations.versions.0009_whom_a_decision_is_about")
    with Memory.open(place, ner=False) as memory:
        for number, name in enumerate(("张伟", "李娜", "王芳")):
            memory.observe(f"{name}的电话是1380000000{number}", said_at="2026-03-18T10:00:00+08:00", entity="Ann Lee")
            memory.observe("My phone number is 13800000009.", said_at="2026-03-18T10:01:00+08:00", entity="Ann Lee")
        with memory.store.writing(memory.namespace) as tx:
            query = "SELECT turn_id, ordinal, about FROM decisions ORDER BY 1, 2"
            before = tx.connection.exec_driver_sql(query).all()
            assert {row[2] for row in before} == {None, "张伟", "李娜", "王芳"}
            tx.connection.exec_driver_sql("UPDATE decisions SET about = NULL")
            migration.fill(tx.connection, at_once)
            assert tx.connection.exec_driver_sql(query).all() == before
