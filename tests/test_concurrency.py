"""Many processes write to shared entities: no update is lost, none is doubled, the log has no gap."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from commands import untraced
from shipped import shipped

from recordari.audit.ledger import Ledger
from recordari.audit.merkle import root_of
from recordari.memory import Memory
from recordari.store.engine import Store
from recordari.store.items import is_void

pytestmark = pytest.mark.usefixtures("sharing")  # see conftest.py

PROCESSES, TURNS, CLIENTS = 4, 50, 3
WRITER = Path(__file__).with_name("store_writer.py")


@pytest.mark.parametrize("backend", ["file", "postgresql"])
def test_processes_lose_no_update(backend: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    place = str(tmp_path / "m.db")
    if backend == "postgresql":
        place = request.getfixturevalue("new_postgresql")()
    command = [sys.executable, str(WRITER), place, str(TURNS), str(CLIENTS)]
    writers = [
        subprocess.Popen(
            [*command, str(number)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=untraced()
        )
        for number in range(PROCESSES)
    ]
    for writer in writers:
        said, _ = writer.communicate(timeout=900)
        assert writer.returncode == 0, said
    with Store.open(place) as store, store.reading("ns") as tx:
        turns = tx.turns()
        assert len({turn.turn_id for turn in turns}) == len(turns) == PROCESSES * TURNS
        rows = list(tx.log.read("ns"))
        assert [row.seq for row in rows] == list(range(PROCESSES * TURNS))
        assert Ledger().root(tx.log, "ns") == (len(rows), root_of(row.leaf for row in rows))
        items = tx.items(history=True)
        assert len({item.id for item in items}) == PROCESSES * TURNS
        for client in range(CLIENTS):
            place_items = [item for item in items if item.entity == f"client-{client}"]
            assert sum(item.superseded_at is None for item in place_items) == 1
            # Each turn added one to the amount it found: the sum says whether any was written over.
            assert max(int(item.canonical.split()[0]) for item in place_items) == len(place_items)
            spans = sorted((item.valid_from, item.valid_to) for item in place_items if not is_void(item))
            assert all(before[1] == after[0] for before, after in pairwise(spans))
        assert store.check() == ()


def test_eight_processes_correct_the_same_budgets_through_the_whole_pipeline(tmp_path: Path) -> None:
    # They take turns at the lock from the first to the last: what more turns would add is time.
    place, processes, turns, clients = str(tmp_path / "m.db"), 8, 60, 10
    Memory.open(place, ruleset=shipped(), ner=False).close()
    given = (place, str(turns), str(clients), str(processes))
    done = subprocess.run(
        [sys.executable, str(WRITER.with_name("memory_writer.py")), *given], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, env=untraced(), check=False, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    with Memory.open(place, ruleset=shipped(), ner=False) as memory:
        assert len(memory.turn_ids()) == processes * turns
        report = memory.verify()
        assert report.ok, report.lines()
        items = memory.items(history=True)
        # No process wrote all its turns in one go: between its first and its last there are some of others.
        with memory.store.reading(memory.namespace) as tx:
            order = [turn.turn_id.partition("-")[0] for turn in tx.turns_as_taken()]
        assert all(len(set(order[order.index(n) : len(order) - order[::-1].index(n)])) > 1 for n in set(order)), order
        # Nothing lost, nothing doubled: each turn's value stands once, current or in history.
        assert sorted(int(item.canonical.split()[0]) for item in items) == [1000 + n for n in range(processes * turns)]
        for client in range(clients):
            mine = [item for item in items if item.entity == f"client-{client}"]
            last = max(mine, key=lambda item: item.said_at)
            assert [item.id for item in mine if item.status == "current"] == [last.id]
            spans = sorted((item.valid_from, item.valid_to) for item in mine if not is_void(item))
            assert all(before[1] is not None and before[1] <= after[0] for before, after in pairwise(spans))
        # Decided again in the order of the log, each decision comes out the same: it rested on what was committed.
        _, extraction = memory.replay()
        assert extraction.ok, extraction.lines()
        assert extraction.identical == extraction.compared == processes * turns


def test_processes_that_make_the_same_database_at_once_agree(tmp_path: Path) -> None:
    program = f"from recordari.store.engine import Store; Store.open({str(tmp_path / 'm.db')!r}).close()"
    openers = [
        subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True, env=untraced())
        for _ in range(4)
    ]
    for opener in openers:
        _, said = opener.communicate(timeout=120)
        assert opener.returncode == 0, said
