"""The columns beside an item's body: what they repeat is held against the body by verification."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from recordari.memory import Memory

pytestmark = pytest.mark.usefixtures("sharing")  # see conftest.py

SAID = ("我们的预算是8万元。", "预算改成10万元。")


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A store with a value and the one that replaced it."""
    path = tmp_path / "m.db"
    with Memory.open(path, ner=False) as memory:
        for minute, text in enumerate(SAID):
            memory.observe(text, said_at=f"2026-03-18T10:{minute:02d}:00+08:00")
    return path


def wrong(path: Path) -> list[str]:
    with Memory.open(path, ner=False) as memory:
        return [finding.message for finding in memory.verify().findings if finding.code == "column"]


def test_columns_as_they_were_written_are_in_order(written: Path) -> None:
    assert wrong(written) == []


@pytest.mark.parametrize(
    ("column", "change"),
    [
        ("status", "'current' WHERE status <> 'current'"),
        ("entity", "'nobody'"),
        ("slot", "'price'"),
        ("qualifier", "'other'"),
        ("valid_to", "NULL WHERE valid_to IS NOT NULL"),
        ("superseded_at", "NULL WHERE superseded_at IS NOT NULL"),
        ("replaced_at", "'2026-01-01T00:00:00.000000Z' WHERE replaced_at IS NULL"),
        ("replaced_at", "NULL WHERE replaced_at IS NOT NULL"),
        ("written_at", "'2026-01-01T00:00:00.000000Z'"),
    ],
)
def test_a_column_changed_behind_its_back_is_found(written: Path, column: str, change: str) -> None:
    with closing(sqlite3.connect(written)) as database:
        assert database.execute(f"UPDATE items SET {column} = {change}").rowcount > 0
        database.commit()
    found = wrong(written)
    assert found
    assert all(column in message for message in found)
