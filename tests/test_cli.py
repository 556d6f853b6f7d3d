"""The command line through its real entry point, as a user or an outside check runs it.

Each kind of command runs here once at least as the installed script in a fresh interpreter (``real=True``): what
forked children cannot prove, the script itself, its encodings and what it imports when, stands on these.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest
from commands import RECORDARI, untraced
from commands import recordari as run

from recordari.service.forgery import superuser

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def turn(text: str, minute: int = 0, **more: Any) -> dict[str, Any]:
    return {"at": f"2026-03-18T10:{minute:02d}:00+08:00", "speaker": "user", "text": text, **more}


def test_extract_prints_mentions_with_offsets_into_the_original_text() -> None:
    text = "预算是８万元，最晚6月30日。"
    request = {
        "id": "1",
        "text": text,
        "lang": None,
        "said_at": "2026-03-18T10:00:00",
        "timezone": None,
        "locale": None,
    }
    done = run("extract", stdin=json.dumps(request), real=True)
    assert done.returncode == 0, done.stderr
    (out,) = rows(done.stdout)
    assert out["id"] == "1"
    assert [m["start"] for m in out["mentions"]] == sorted(m["start"] for m in out["mentions"])
    for mention in out["mentions"]:
        assert text[mention["start"] : mention["end"]] == mention["text"]
        assert set(mention) == {"kind", "start", "end", "text", "value", "canonical", "rule"}
        assert "@" in mention["rule"]
    money = next(m for m in out["mentions"] if m["kind"] == "money")
    assert (money["canonical"], money["value"]["amount"], money["value"]["currency"]) == ("80000 CNY", "80000", "CNY")


def test_extract_reports_a_bad_line_with_its_number_and_does_the_rest() -> None:
    lines = [
        b'{"id": "a", "text": "$5"}',
        b"{broken",
        b"\xff\xfe",
        b'{"id": "b", "text": "x", "colour": 1}',
        b'{"id": "c", "text": "$6"}',
    ]
    done = run("extract", stdin=b"\n".join(lines))
    assert done.returncode == 1
    assert [row["id"] for row in rows(done.stdout)] == ["a", "c"]
    for number, told in ((2, "not JSON"), (3, "not UTF-8"), (4, "colour: unknown field")):
        assert any(line.startswith(f"<stdin>:{number}:") and told in line for line in done.stderr.splitlines())


def test_rehearse_prints_decisions_and_items_and_reports_bad_turns() -> None:
    good = {"id": "d1", "turns": [turn("预算是8万元。"), turn("预算改成10万元。", 2), turn("谢谢", 4)]}
    bad = {"id": "d2", "turns": [turn("a"), {"text": "no time"}]}
    done = run("rehearse", stdin="\n".join(map(json.dumps, (good, bad))))
    assert done.returncode == 1
    assert "<stdin>:2:1: turns.1: at: required field is missing" in done.stderr
    (out,) = rows(done.stdout)
    by_turn = {index: [d for d in out["decisions"] if d["turn"] == index] for index in range(3)}
    assert all(by_turn.values())
    assert [d["action"] for d in by_turn[1]] == ["SUPERSEDE"]
    assert {d["action"] for d in by_turn[2]} == {"IGNORE"}
    assert {(i["status"], i["canonical"]) for i in out["items"]} == {
        ("current", "100000 CNY"),
        ("superseded", "80000 CNY"),
    }


def test_rehearse_is_byte_identical_under_other_hash_seeds_time_zones_and_locales() -> None:
    dialogues = []
    for file in sorted(EXAMPLES.glob("*.jsonl")):
        turns = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        dialogues.append(json.dumps({"id": file.stem, "turns": turns}, ensure_ascii=False))
    stdin = "\n".join(dialogues)
    outputs = set()
    for seed, zone, locale in (
        ("0", "UTC", "C"),
        ("1", "Asia/Shanghai", "C.UTF-8"),
        ("4242", "America/New_York", "POSIX"),
    ):
        done = run("rehearse", stdin=stdin, PYTHONHASHSEED=seed, TZ=zone, LC_ALL=locale, LANG=locale)
        assert done.returncode == 0, done.stderr
        outputs.add(done.stdout)
    assert len(outputs) == 1
    assert len(outputs.pop().splitlines()) == 3


def test_both_engines_rehearse_the_examples_alike() -> None:
    file = EXAMPLES / "legal-zh.jsonl"
    turns = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    stdin = json.dumps({"id": "x", "turns": turns}, ensure_ascii=False)
    reference = run("rehearse", "--engine", "reference", stdin=stdin)
    best = run("rehearse", stdin=stdin)
    assert reference.returncode == best.returncode == 0, reference.stderr + best.stderr
    assert reference.stdout == best.stdout


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli") / "matter.db"
    done = run("observe", str(EXAMPLES / "legal-zh.jsonl"), "--store", str(path), real=True)
    assert done.returncode == 0, done.stderr
    receipts = rows(done.stdout)
    assert len(receipts) == len((EXAMPLES / "legal-zh.jsonl").read_text(encoding="utf-8").splitlines())
    assert all(receipt["decisions"] for receipt in receipts)
    return path


def test_observed_items_can_be_listed_recalled_explained_and_verified(store: Path) -> None:
    at = ("--store", str(store))
    items = rows(run("items", "--json", *at, real=True).stdout)
    assert any(item["slot"] == "phone" for item in items)
    past = rows(run("items", "--json", "--history", *at).stdout)
    assert len(past) > len(items)
    early = rows(run("items", "--json", "--known-at", "2026-03-18T09:31:00+08:00", *at).stdout)
    assert len(early) < len(items)
    hits = rows(run("recall", "预算", "--json", *at, real=True).stdout)
    assert hits
    assert "预算" in hits[0]["sentence"]
    explained = run("explain", hits[0]["id"], *at, real=True)
    assert explained.returncode == 0, explained.stderr
    assert "@" in explained.stdout
    history = rows(run("history", hits[0]["id"], "--json", *at, real=True).stdout)
    assert len(history) >= 2
    verified = run("audit", "verify", *at, real=True)
    assert verified.returncode == 0, verified.stdout
    replayed = run("replay", *at, real=True)
    assert replayed.returncode == 0, replayed.stdout
    for command in (("items",), ("items", "--history"), ("recall", "电话")):
        assert run(*command, *at).returncode == 0


def test_why_not_gives_the_reason_of_a_refusal(store: Path) -> None:
    texts = [
        json.loads(line)["text"] for line in (EXAMPLES / "legal-zh.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    number = next(index for index, text in enumerate(texts) if text.startswith("如果对方要求"))
    done = run("why-not", f"案件咨询-17:{number}", "--store", str(store), real=True)
    assert done.returncode == 0, done.stderr
    assert "hypothetical" in done.stdout


def test_a_changed_record_is_found_by_verify(store: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    with sqlite3.connect(store) as source, sqlite3.connect(copy) as target:
        source.backup(target)
    for connection in (source, target):
        connection.close()
    with superuser(copy) as database:
        database.execute("UPDATE records SET record = replace(record, 'IGNORE', 'HOLD') WHERE seq = 3")
        database.execute("UPDATE records SET record = replace(record, 'ADD', 'CONFIRM') WHERE seq = 3")
    for suffix in (".key", ".checkpoints"):
        beside = tmp_path / f"copy.db{suffix}"
        beside.write_bytes((store.parent / f"matter.db{suffix}").read_bytes())
        beside.chmod(0o600)  # a key that others may read is refused
    done = run("audit", "verify", "--store", str(copy))
    assert done.returncode == 1
    assert "record 3" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("items", "--store", "no-such-folder/x.db"), 3, "no folder"),
        (("observe", "no-such-file.jsonl"), 3, "no-such-file.jsonl"),
        (("extract", "--rules", "no-such-rules"), 3, "no such folder"),
        (("explain", "ffff"), 2, "no item 'ffff'"),
        (("why-not", "nobody:1"), 2, "no turn 'nobody:1'"),
        (("items", "--as-of", "yesterday"), 2, "no ISO 8601 time"),
        (("items", "--as-of", "2026-03-18"), 2, "no UTC offset"),
        (("audit", "verify", "--public-key", "nobody"), 2, "nobody: no such file, and no public key"),
        (("recall", ""), 2, "the question is empty"),
        (("context", " "), 2, "the question is empty"),
        (("relations", ""), 2, "the name is empty"),
        (("trace", "--item", "nope"), 2, "no item 'nope'"),
        (("trace", "7"), 2, "no trace 7"),
        (("frobnicate",), 2, "frobnicate"),
    ],
)
def test_wrong_use_and_unreadable_input_have_their_exit_codes(
    arguments: tuple[str, ...], code: int, told: str, store: Path
) -> None:
    done = run(*arguments, RECORDARI_STORE=str(store), real=arguments == ("frobnicate",))
    assert done.returncode == code, done.stderr
    assert told in done.stderr
    assert "Traceback" not in done.stderr


READING = (
    ("audit", "verify"), ("audit", "key"), ("items",), ("replay",), ("explain", "ffff"), ("history", "ffff"),
    ("recall", "x"), ("why-not", "t"), ("review",),
)  # fmt: skip
EDITING = (
    ("audit", "checkpoint"), ("audit", "reindex"), ("polish",), ("correct", "ffff", "8", "--actor", "i", "--seen", "1"),
    ("confirm", "ffff", "--actor", "i", "--seen", "1"), ("reject", "ffff", "--actor", "i", "--seen", "1"),
    ("approve", "ffff", "--actor", "i", "--seen", "1"),
)  # fmt: skip


@pytest.mark.parametrize("arguments", READING + EDITING, ids=" ".join)
def test_a_mistyped_store_is_an_error_with_its_path_and_nothing_is_made(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    wrong = tmp_path / "mater.db"
    done = run(*arguments, "--store", str(wrong))
    assert done.returncode == 3, done.stdout + done.stderr
    assert f"{wrong}: no such file" in done.stderr
    assert "recordari observe" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [("audit", "verify"), ("items",), ("audit", "checkpoint")], ids=" ".join)
def test_a_mistyped_namespace_is_an_error_that_names_the_known_ones(arguments: tuple[str, ...], store: Path) -> None:
    done = run(*arguments, "--store", str(store), "--namespace", "defualt")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "no namespace 'defualt'. Known: 'default'" in done.stderr


def test_without_a_store_the_error_names_the_default_file(tmp_path: Path) -> None:
    done = subprocess.run(
        [RECORDARI, "items"], capture_output=True, check=False, cwd=tmp_path, encoding="utf-8",
        env={name: value for name, value in untraced().items() if name != "RECORDARI_STORE"},
    )  # fmt: skip
    assert done.returncode == 3
    assert f"{tmp_path / 'recordari.db'}: no such file" in done.stderr
    assert "--store or RECORDARI_STORE" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_auditor_verifies_with_the_printed_key_and_a_checkpoint_says_what_it_covers(
    store: Path, tmp_path: Path
) -> None:
    line = run("audit", "key", "--store", str(store)).stdout.strip()
    assert line.startswith("recordari/default+")
    copy = tmp_path / "m.db"
    copy.write_bytes(store.read_bytes())
    blind = run("audit", "verify", "--store", str(copy))
    assert blind.returncode == 0
    assert "the key is recordari/default+" in blind.stdout.replace("\n", " ")
    told = run("audit", "verify", "--store", str(copy), "--public-key", line, "--json")
    assert json.loads(told.stdout)["lines"][-1] == "verified"
    assert [each.name for each in tmp_path.iterdir()] == ["m.db"]  # no key, no log beside it


def test_explanations_come_in_chinese_when_asked(store: Path) -> None:
    (item,) = rows(run("items", "--slot", "phone", "--json", "--store", str(store)).stdout)[:1]
    assert "原话" in run("explain", item["id"], "--lang", "zh", "--store", str(store)).stdout
    assert "What was said" in run("explain", item["id"], "--store", str(store)).stdout
    assert run("explain", item["id"], "--lang", "fr", "--store", str(store)).returncode == 2


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    path.write_text("these are my notes, not a database\n" * 100, encoding="utf-8")
    before = path.read_bytes()
    done = run("observe", "--store", str(path), stdin=json.dumps(turn("预算8万元")))
    assert done.returncode == 3
    assert "notes.db" in done.stderr
    assert path.read_bytes() == before


def test_a_read_only_database_gives_a_clear_error(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        # Root writes through permissions; an immutable name is the nearest: a folder in place of the file.
        path = tmp_path / "folder.db"
        path.mkdir()
        told = "a folder"
    else:
        path = tmp_path / "ro.db"
        run("observe", "--store", str(path), stdin=json.dumps(turn("预算8万元")))
        path.chmod(0o444)
        told = "read"
    done = run("observe", "--store", str(path), stdin=json.dumps(turn("预算9万元")))
    assert done.returncode == 3
    assert told in done.stderr


def test_the_same_turn_twice_is_remembered_once_and_other_content_under_its_id_is_an_error(tmp_path: Path) -> None:
    at = ("--store", str(tmp_path / "x.db"))
    first = json.dumps(turn("预算8万元", turn_id="t1"))
    other = json.dumps(turn("预算9万元", turn_id="t1"))
    assert run("observe", *at, stdin=first).returncode == 0
    again = run("observe", *at, stdin=f"{first}\n{other}\n")
    assert again.returncode == 1
    (receipt,) = rows(again.stdout)
    assert receipt["repeated"] is True
    assert "<stdin>:2:1:" in again.stderr
    assert "other content" in again.stderr
    assert [i["canonical"] for i in rows(run("items", "--json", *at).stdout)] in (["80000 CNY"], ["80000 XXX"])


def test_a_turn_of_ten_megabytes_is_refused_and_the_others_are_kept(tmp_path: Path) -> None:
    at = ("--store", str(tmp_path / "x.db"))
    big = json.dumps(turn("8" * 10_000_000))
    done = run("observe", *at, stdin=f"{big}\n{json.dumps(turn('预算8万元'))}\n")
    assert done.returncode == 1
    assert "10,000,000 characters" in done.stderr
    assert len(rows(done.stdout)) == 1


@pytest.mark.parametrize("real", [False, True])
def test_the_demo_ends_with_a_verified_log(real: bool) -> None:
    done = run("demo", "--quick", COLUMNS="160", real=real)
    assert done.returncode == 0, done.stderr
    assert "SUPERSEDE" in done.stdout
    assert "verified" in done.stdout


def test_rule_commands_find_nothing_wrong_with_the_shipped_packs_and_print_schemas() -> None:
    schema = run("rules", "schema", "slot", real=True)
    assert schema.returncode == 0
    assert json.loads(schema.stdout)["properties"]["slot"]
    assert run("rules", "schema", "nonsense", real=True).returncode == 2
