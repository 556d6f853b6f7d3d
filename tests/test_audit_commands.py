"""The `audit` commands as a house and its auditor use them, one after another."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from commands import recordari

TURNS = (
    {"text": "我们的预算是8万元。", "at": "2026-05-01T10:00:00+08:00", "turn_id": "t-0", "entity": "client-17"},
    {"text": "今天天气真好。", "at": "2026-05-01T10:01:00+08:00", "turn_id": "t-1", "entity": "client-17"},
)


def run(folder: Path, *arguments: str, code: int = 0) -> str:
    done = recordari(*arguments, cwd=folder, RECORDARI_STORE=str(folder / "m.db"), COLUMNS="100")
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stdout + done.stderr


def rows(printed: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in printed.splitlines()]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a list of actors and one signed correction."""
    folder = tmp_path_factory.mktemp("house")
    (folder / "talk.jsonl").write_text("\n".join(json.dumps(each) for each in TURNS), encoding="utf-8")
    run(folder, "observe", "talk.jsonl", "--no-ner")
    assert "private key" in run(folder, "audit", "actor", "Rosa Example", "--role", "compliance")
    item = str(rows(run(folder, "items", "--json"))[0]["id"])
    refused = run(folder, "correct", item, "9万元", "--actor", "Nobody", "--seen", "1", code=2)
    assert "'Nobody' is no actor here" in refused
    run(folder, "correct", item, "9万元", "--actor", "Rosa Example", "--seen", "1")
    return folder


def test_a_person_is_put_on_the_list_once(house: Path) -> None:
    assert "on the list already" in run(house, "audit", "actor", "Rosa Example", "--role", "x", code=2)
    assert oct((house / "actor-Rosa Example.key").stat().st_mode)[-3:] == "600"


def test_a_database_server_has_no_folder_for_the_list(house: Path) -> None:
    url = "postgresql+psycopg://nobody@localhost/none"
    assert "RECORDARI_ACTORS" in run(house, "audit", "actor", "Lin", "--role", "x", "--store", url, code=2)


def test_questions_are_answered_for_people_and_for_programs(house: Path) -> None:
    (change,) = rows(run(house, "audit", "changes", "--json"))
    assert change["author"] == "Rosa Example"
    assert str(change["signed"]).startswith("Rosa Example (")
    assert "Rosa Example" in run(house, "audit", "changes", str(change["item"]))
    kinds = [each["kind"] for each in rows(run(house, "audit", "decisions", "--json"))]
    assert kinds == ["add", "ignore", "correct"]
    assert "no such decision" in run(house, "audit", "decisions", "--rule", "policy.core@999")
    assert "no such decision" in run(house, "audit", "decisions", "--slot", "email")
    whose = run(house, "audit", "changes", str(change["target"]))  # who said it first, and who put it right
    assert "user" in whose
    assert "Rosa Example" in whose
    assert "nothing was ever held" in run(house, "audit", "holds")
    assert "no LLM was ever asked" in run(house, "audit", "wordings")
    assert rows(run(house, "audit", "resting", "policy.core.stated", "--json"))[0]["canonical"] == "80000 CNY"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("decisions", "--rule", "policy.cor"), "no rule 'policy.cor' in any rule set"),
        (("decisions", "--rule-set", "0" * 12), "no rule set '000000000000' is kept here"),
        (("decisions", "--since", "2026-13-40"), "since: '2026-13-40' is no ISO 8601 time"),
        (("decisions", "--until", "2026-05-03T10:00:00"), "until: '2026-05-03T10:00:00' has no UTC offset"),
        (("resting", "capture.nosuch@3"), "no rule 'capture.nosuch' in any rule set"),
        (("changes", "f" * 32), "no item"),
    ],
)
def test_a_question_that_names_nothing_is_no_answer(house: Path, arguments: tuple[str, ...], told: str) -> None:
    assert told in run(house, "audit", *arguments, code=2)


def test_one_record_is_proved_by_itself(house: Path) -> None:
    from recordari.audit.merkle import leaf_hash, verify_inclusion

    (proof,) = rows(run(house, "audit", "prove", "1"))
    import base64

    path = [base64.b64decode(each) for each in proof["proof"]]  # type: ignore[attr-defined]
    leaf, root = leaf_hash(str(proof["record"]).encode()), bytes.fromhex(str(proof["root"]))
    assert verify_inclusion(leaf, 1, int(str(proof["size"])), path, root)
    assert "no record 99" in run(house, "audit", "prove", "99", code=2)


def test_what_an_actor_does_with_the_log_stands_in_it_and_another_key_goes_on(house: Path) -> None:
    before = run(house, "audit", "key").strip()
    after = run(house, "audit", "rotate").strip()
    assert after != before
    for key in (before, after):
        verified = run(house, "audit", "verify", "--public-key", key, "--actors", "actors.yaml")
        assert verified.splitlines()[-1] == "verified", verified
    run(house, "audit", "verify", "--replay", "--actor", "Rosa Example")
    run(house, "audit", "export", "given", "--actor", "Rosa Example")
    assert "name a new folder" in run(house, "audit", "export", "given", code=3)
    checked = subprocess.run(
        [sys.executable, "-I", "given/check_bundle.py", "given", "--public-key", after],
        capture_output=True, encoding="utf-8", check=False, cwd=house,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout
    for kind in ("verify", "export", "key", "actors"):
        assert f"1 of kind {kind}" in checked.stdout, checked.stdout
