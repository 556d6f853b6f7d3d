"""`recordari erase`, `hold`, `restrict` as a person types them; certificates, and what a restore does with them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from recordari.memory import Memory
from recordari.rules.ruleset import Ruleset
from recordari.service.cli import app
from recordari.service.faults import told

pytestmark = pytest.mark.usefixtures("sharing")  # see conftest.py

WHO = ("--actor", "ines")
WHY = ("--ground", "gdpr-17-1-b")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory, ruleset: Ruleset) -> Path:
    """A store with two clients."""
    path = tmp_path_factory.mktemp("kept") / "m.db"
    with Memory.open(path, ruleset=ruleset, ner=False) as memory:
        for number, (entity, text) in enumerate(
            (("宋玉", "我的电话是13712348765。"), ("Marlow", "My budget is $64,000."))
        ):
            memory.observe(text, said_at=f"2026-03-18T10:0{number}:00+08:00", conversation=f"c-{number}", entity=entity)
    return path


@pytest.fixture
def store(kept: Path, tmp_path: Path) -> Path:
    """A copy to erase from."""
    for each in kept.parent.iterdir():
        shutil.copy(each, tmp_path)
    return tmp_path / kept.name


def run(store: Path, *arguments: str, answer: str = "") -> tuple[int, str, str]:
    """Exit status, standard output, standard error."""
    done = CliRunner().invoke(app, [*arguments, "--store", str(store)], input=answer)
    status, error = done.exit_code, done.stderr
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        status, error = told(done.exception), f"{error}{done.exception}"  # type: ignore[arg-type]
    return status, done.stdout, error


def items(store: Path) -> set[str]:
    _, printed, _ = run(store, "items", "--history", "--json")
    return {json.loads(line)["entity"] for line in printed.splitlines()}


def certificate(store: Path, entity: str = "宋玉") -> dict[str, Any]:
    status, printed, error = run(store, "erase", "--entity", entity, *WHO, *WHY, "--yes")
    assert status == 0, error
    return json.loads(printed)  # type: ignore[no-any-return]


def test_a_dry_run_prints_counts_and_ids_and_no_value(store: Path) -> None:
    status, printed, _ = run(store, "erase", "--entity", "宋玉", "--dry-run")
    assert status == 0
    assert "1 items" in printed
    assert "c-0:0" in printed
    assert "13712348765" not in printed
    assert items(store) == {"宋玉", "Marlow"}


def test_without_a_yes_nothing_is_erased(store: Path) -> None:
    status, _, error = run(store, "erase", "--entity", "宋玉", *WHO, *WHY, answer="n\n")
    assert status == 2
    assert "nothing was erased" in error
    assert items(store) == {"宋玉", "Marlow"}


def test_a_yes_erases_and_prints_the_certificate(store: Path) -> None:
    status, printed, _ = run(store, "erase", "--entity", "宋玉", *WHO, *WHY, answer="y\n")
    assert status == 0
    assert items(store) == {"Marlow"}
    shown = json.loads(printed)
    assert (shown["scope"], shown["ground"], shown["turns"]) == ("entity", "gdpr-17-1-b", ["c-0:0"])
    assert shown["checkpoint"]
    assert not any(word in printed for word in ("13712348765", "宋玉", "\\u5b8b"))


def test_an_item_erased_twice_is_no_error_and_one_that_never_was_is(store: Path) -> None:
    shown = certificate(store)
    (item,) = shown["items"]
    status, printed, error = run(store, "erase", item, *WHO, *WHY, "--yes")
    assert (status, printed) == (0, "")
    assert "nothing is there" in error
    status, _, error = run(store, "erase", "f" * 32, *WHO, *WHY, "--yes")
    assert status == 2
    assert "no item" in error


def test_a_hold_is_added_listed_and_lifted(store: Path) -> None:
    _, number, _ = run(store, "hold", "add", "--entity", "宋玉", "--ground", "case 7", *WHO)
    status, _, error = run(store, "erase", "--entity", "宋玉", *WHO, *WHY, "--yes")
    assert status == 2
    assert f"{number.strip()} (on entity, case 7)" in error
    _, listed, _ = run(store, "hold", "list")
    assert "in force" in listed
    assert run(store, "hold", "lift", number.strip(), "--ground", "closed", *WHO)[0] == 0
    _, listed, _ = run(store, "hold", "list", "--json")
    assert json.loads(listed)["lifted"] is not None
    certificate(store)
    assert "(erased)" in run(store, "hold", "list")[1]  # the name went with the entity


def test_a_hold_names_one_thing(store: Path) -> None:
    status, _, error = run(store, "hold", "add", "--ground", "case 7", *WHO)
    assert status == 2
    assert "--conversation" in error


def test_what_is_restricted_is_not_shown(store: Path) -> None:
    _, number, _ = run(store, "restrict", "add", "--entity", "宋玉", "--ground", "gdpr-18-1-a", *WHO)
    assert items(store) == {"Marlow"}
    run(store, "restrict", "lift", number.strip(), "--ground", "checked", *WHO)
    assert items(store) == {"宋玉", "Marlow"}


def test_a_bundle_exported_before_is_made_anew(store: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(store, "audit", "export", str(out))
    assert "13712348765" in (out / "records.jsonl").read_text(encoding="utf-8")
    run(store, "erase", "--entity", "宋玉", *WHO, *WHY, "--yes", "--export", str(out))
    texts = [path.read_bytes() for path in out.rglob("*") if path.is_file() and path.parent.name != "rulesets"]
    assert texts
    assert not any(word.encode() in text for text in texts for word in ("13712348765", "宋玉"))


# ---------------------------------------------------------------- after a restore
@pytest.fixture
def backup(store: Path, tmp_path: Path) -> Path:
    """The store as it was before anything was erased."""
    folder = tmp_path / "backup"
    folder.mkdir()
    for name in (store.name, f"{store.name}.key"):
        shutil.copy(store.with_name(name), folder / name)
    return folder / store.name


def test_after_a_restore_a_certificate_erases_again(store: Path, backup: Path, tmp_path: Path) -> None:
    shown = certificate(store)
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(shown), encoding="utf-8")
    assert items(backup) == {"宋玉", "Marlow"}
    for _ in range(2):  # twice is harmless
        status, _, error = run(backup, "erase", "--reapply", str(path), *WHO)
        assert status == 0, error
    assert items(backup) == {"Marlow"}
    data = backup.read_bytes()
    assert not any(word.encode() in data for word in ("13712348765", "宋玉"))
    status, printed, _ = run(backup, "audit", "verify")
    assert status == 0, printed


def test_after_a_restore_a_store_gives_all_its_erasures(store: Path, backup: Path) -> None:
    certificate(store)
    certificate(store, "Marlow")
    status, _, error = run(backup, "erase", "--from", str(store), *WHO)
    assert status == 0, error
    assert items(backup) == set()


def change_ids(shown: dict[str, Any]) -> None:
    shown["record"] = shown["record"].replace("c-0:0", "c-1:0")


def drop_note(shown: dict[str, Any]) -> None:
    shown["checkpoint"] = None


@pytest.mark.parametrize("spoil", [change_ids, drop_note])
def test_a_certificate_that_does_not_prove_itself_erases_nothing(
    store: Path, backup: Path, tmp_path: Path, spoil: Any
) -> None:
    shown = certificate(store)
    spoil(shown)
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(shown), encoding="utf-8")
    status, _, error = run(backup, "erase", "--reapply", str(path), *WHO)
    assert status == 2
    assert "Nothing was erased" in error
    assert items(backup) == {"宋玉", "Marlow"}


def test_a_hold_younger_than_the_erasure_forbids_applying_it_again(store: Path, backup: Path, tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(certificate(store)), encoding="utf-8")
    run(backup, "hold", "add", "--conversation", "c-0", "--ground", "case 9", *WHO)
    status, _, error = run(backup, "erase", "--reapply", str(path), *WHO)
    assert status == 2
    assert "younger" in error
    assert items(backup) == {"宋玉", "Marlow"}


@pytest.mark.parametrize("command", ["hold", "restrict"])
@pytest.mark.parametrize(("on", "known", "unknown"), [("--entity", "宋玉", "宋钰"), ("--conversation", "c-0", "c0")])
def test_what_nothing_is_stored_of_is_told(store: Path, command: str, on: str, known: str, unknown: str) -> None:
    status, number, error = run(store, command, "add", on, unknown, "--ground", "case 7", *WHO)
    assert (status, number.strip().isdigit()) == (0, True)
    assert f"nothing is stored of {on[2:]} {unknown!r} so far" in error
    assert "nothing is stored" not in run(store, command, "add", on, known, "--ground", "case 7", *WHO)[2]
