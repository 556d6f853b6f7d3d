"""Bad input of every kind: one clear line with its place and a way out, the exit code of the house, no loss."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import untraced
from shipped import shipped
from typer.testing import CliRunner

from recordari.intake import IntakeError, read_lines, read_turn
from recordari.memory import Memory, NotFoundError
from recordari.service import batch, cli, faults
from recordari.settings import Settings, SettingsError
from recordari.store.errors import Damaged, Full, NewerSchema, NotADatabase, ReadOnly, StoreError

pytestmark = pytest.mark.usefixtures("sharing")  # see conftest.py

RECORDARI = str(Path(sys.executable).with_name("recordari"))
AT = "2026-03-18T10:00:00+08:00"
GOOD = {"at": AT, "text": "预算8万元"}


def line(text: str = "预算8万元", **more: Any) -> bytes:
    return json.dumps({"at": AT, "text": text, **more}, ensure_ascii=False).encode()


def many(number: int) -> bytes:
    return b"".join(line(f"预算{n + 1}万元", turn_id=f"t{n}") + b"\n" for n in range(number))


# ---------------------------------------------------------------- lines
@pytest.mark.parametrize(
    ("raw", "place", "told"),
    [
        (b"{broken", 2, "not JSON"),
        (b'  {"a": }', 9, "not JSON"),
        (b'{"a": 1', 8, "not JSON"),
        (b"\x00\x00", 1, "not JSON"),
        (b'{"a": NaN}', 1, "NaN is no number"),
        (b'{"a": -Infinity}', 1, "-Infinity is no number"),
        (b'{"a": ' + b"9" * 5000 + b"}", 1, "too many digits"),
        (b'{"a": 1, "a": 2}', 1, "'a' given twice"),
        (b'{"d": {"b": 1, "b": 1}}', 1, "'b' given twice"),
        (b'{"a": ' * 100_000, 1, "nested too deeply"),
        (b"[" * 100_000, 1, "nested too deeply"),
        ('{"a": "预算"}'.encode("gbk"), 9, "not UTF-8"),
        ("预算".encode() + b"\xff", 3, "not UTF-8"),
        (b'{"a": "\xed\xa0\xbd"}', 8, "not UTF-8"),
    ],
)
def test_a_line_that_cannot_be_read_is_told_with_its_column(raw: bytes, place: int, told: str) -> None:
    first, (number, data, error), last = read_lines(iter([b"{}\n", raw + b"\n", b"{}\n"]))
    assert (number, data) == (2, None)
    column, _, message = error.partition(": ")
    assert int(column) == place
    assert told in message
    assert ". " in message  # what is wrong, and how to put it right
    assert first[1] == last[1] == {}


def test_carriage_returns_and_byte_order_marks_are_no_fault() -> None:
    raw = b'\xef\xbb\xbf{"a": 1}\r\n\r\n\xef\xbb\xbf{"b": 2}\r\n'
    assert [(number, data, error) for number, data, error in read_lines(io.BytesIO(raw))] == [
        (1, {"a": 1}, ""),
        (3, {"b": 2}, ""),
    ]


def test_null_is_a_value_that_was_read_and_no_turn() -> None:
    ((_, data, error),) = read_lines(iter([b"null\n"]))
    assert (data, error) == (None, "")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_a_file_in_utf_16_is_told_to_be_converted(encoding: str) -> None:
    text = "\ufeff" * (encoding != "utf-16") + "".join(f'{{"a": {n}}}\n' for n in range(5))
    ((number, _, error),) = read_lines(io.BytesIO(text.encode(encoding)))
    assert (number, error) == (1, "1: the file is UTF-16. Convert it to UTF-8")


# ---------------------------------------------------------------- turns
@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"at": 1773800000}, "at: a time is text, not int. Write e.g."),
        ({"at": "1773800000"}, "at: not an ISO 8601 time. Write e.g."),
        ({"at": True}, "at: a time is text, not bool"),
        ({"at": "2026-03-18"}, "at: the time has no UTC offset"),
        ({"at": "2026-03-18T25:00:00+08:00"}, "at: no such time"),
        ({"at": "2026-03-18T10:00:00+99:00"}, "at: no such time"),
        ({"at": "9999-12-31T23:59:59-12:00"}, "at: "),
        ({"received_at": "2026-03-18T10:00:00"}, "received_at: the time has no UTC offset"),
        ({"received_at": 5}, "received_at: a time is text"),
        ({"entity": "\udc00"}, "entity: lone surrogate"),
        ({"\udc00": 1}, "lone surrogate"),
        ({"turn_id": "x" * 201}, "turn_id: "),
        ({"timezone": "../../etc/passwd"}, "unknown time zone"),
        ({"timezone": "a\x00b"}, "unknown time zone"),
        ({"locale": "!!"}, "is no locale. Use a BCP 47 tag"),
        ({"locale": "\udc00"}, "is no locale"),
        ({"lang": "fr"}, "lang: "),
        ({"document": {"status": "signed"}}, "document.status: "),
        ({"document": {"status": "draft", "date": "last week"}}, "no ISO 8601 date"),
        ({"document": {"colour": 1}}, "document.colour: unknown field"),
        ({"document": [[[[]]]]}, "document: "),
    ],
)
def test_a_field_that_cannot_be_meant_is_refused_by_its_name(change: dict[str, Any], told: str) -> None:
    with pytest.raises(IntakeError) as caught:
        read_turn(GOOD | change, 100)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [{"locale": "zh-Hans-CN"}, {"locale": "en_GB"}, {"document": {"status": "draft", "date": "2026-03-18"}}],
)
def test_a_field_that_can_be_meant_is_taken(change: dict[str, Any]) -> None:
    assert read_turn(GOOD | change, 100)


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with Memory.rehearsal(ner=False) as one:
        yield one


def test_the_python_api_refuses_what_the_command_line_refuses(memory: Memory) -> None:
    with pytest.raises(IntakeError, match="UTC offset"):
        memory.observe("预算8万元", said_at="2026-03-18T10:00:00")
    with pytest.raises(IntakeError, match="empty"):
        memory.observe(" ", said_at=AT)
    with pytest.raises(IntakeError, match="unknown field"):
        memory.observe("预算8万元", said_at=AT, colour="red")
    with pytest.raises(IntakeError, match="10,000,000 characters"):
        memory.observe("8" * 10_000_000, said_at=AT)
    with pytest.raises(IntakeError, match="ISO 8601"):
        memory.items(as_of="yesterday")
    with pytest.raises(NotFoundError):
        memory.explain("ffff")
    with pytest.raises(NotFoundError):
        memory.history("ffff")
    with pytest.raises(NotFoundError):
        memory.why_not("ffff")
    assert memory.turn_ids() == ()


# ---------------------------------------------------------------- commands, in this process
def command(*arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command that ended as users see it end."""
    done = CliRunner().invoke(cli.app, list(arguments), input=stdin)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        assert isinstance(done.exception, Exception)
        captured = io.StringIO()
        kept, sys.stderr = sys.stderr, captured
        try:
            code = faults.told(done.exception)
        finally:
            sys.stderr = kept
        return code, done.stdout, captured.getvalue()
    return done.exit_code, done.stdout, done.stderr


def test_observe_does_every_good_line_and_tells_every_bad_one(tmp_path: Path) -> None:
    bad = [b"{", b"null", line(at="2026-03-18T10:00:00"), line(""), line("a\x07"), line(colour=1)]
    bad += [b'{"at": "%s", "text": "\\ud83d"}' % AT.encode(), "预算".encode("gbk"), b'{"id": "\\udc00", "turns": []}']
    stdin = b"\n".join(one for number, each in enumerate(bad) for one in (line(f"预算{number + 1}万元"), each))
    code, out, err = command("observe", "-", "--store", str(tmp_path / "m.db"), stdin=stdin)
    assert code == 1
    assert [json.loads(row)["line"] for row in out.splitlines()] == [2 * n + 1 for n in range(len(bad))]
    assert [row.split(":")[:2] for row in err.splitlines()] == [["<stdin>", str(2 * n + 2)] for n in range(len(bad))]


def test_a_fault_of_our_own_costs_only_the_turn_that_trips_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory.open(tmp_path / "m.db", ner=False) as one:
        hear = Memory.hear

        def tripping(self: Memory, turns: Any) -> Any:
            if any(incoming.text == "trip" for incoming in turns):
                raise ZeroDivisionError("boom")
            return hear(self, turns)

        monkeypatch.setattr(Memory, "hear", tripping)
        file = tmp_path / "in.jsonl"
        file.write_bytes(many(3) + line("trip", turn_id="bad") + b"\n" + line(turn_id="last"))
        assert batch.observe_lines(str(file), one) == 1
        assert "bad" not in one.turn_ids()
        assert len(one.turn_ids()) == 4
        assert one.verify().ok


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("extract", "{tmp}"), 3, "Is a directory"),
        (("rehearse", "{tmp}/none.jsonl"), 3, "none.jsonl: No such file"),
        (("observe", "{tmp}", "--store", "{tmp}/x.db"), 3, "Is a directory"),
        (("observe", "--rules", "{tmp}/none", "--store", "{tmp}/x.db"), 3, "no such folder"),
        (("rehearse", "--rules", "{tmp}/rules"), 3, "bad.yaml:1:"),
        (("rules", "lint", "{tmp}/rules"), 1, "bad.yaml:1:"),
        (("rules", "lock", "{tmp}/none"), 3, "no such folder"),
        (("rules", "test", "--rule", "nonsense"), 2, "no rule 'nonsense'"),
        (("rules", "schema", "nonsense"), 2, "unknown kind"),
        (("items", "--store", "{tmp}"), 3, "a folder"),
        (("items", "--store", "oracle://x/y"), 3, "oracle is not served"),
        (("items", "--store", "{tmp}/known.db", "--entity", "\udcff"), 2, "not UTF-8"),
        (("items", "--store", "{tmp}/known.db", "--known-at", "2026-13-01"), 2, "no ISO 8601 time"),
        (("history", "ffff", "--store", "{tmp}/known.db"), 2, "no item 'ffff'"),
    ],
)
def test_wrong_use_has_its_exit_code_and_one_line(
    arguments: tuple[str, ...], code: int, told: str, tmp_path: Path
) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "bad.yaml").write_text("just text", encoding="utf-8")
    if any("known.db" in each for each in arguments):
        assert command("observe", "--store", f"{tmp_path}/known.db", "--no-ner", stdin=line())[0] == 0
    found, _, err = command(*(each.replace("{tmp}", str(tmp_path)) for each in arguments))
    assert found == code
    assert told in err
    assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [("MAX_TURN_CHARS", "abc"), ("MAX_TURN_CHARS", "0"), ("LLM_TIMEOUT", "-1"), ("NAMESPACE", ""), ("STORE", "")],
)
def test_a_malformed_setting_is_named(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"RECORDARI_{name}", value)
    with pytest.raises(SettingsError, match=f"^RECORDARI_{name}: .*Correct or unset the variable$"):
        Settings()
    code, _, err = command("items")
    assert (code, len(err.splitlines())) == (2, 1)


def test_folders_of_rules_are_separated_as_in_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECORDARI_RULES", os.pathsep.join(("one", "two")))
    assert Settings().rules == (Path("one"), Path("two"))


# ---------------------------------------------------------------- databases
@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("filled") / "m.db"
    with Memory.open(path, ner=False) as one:
        one.observe("预算8万元", said_at=AT, turn_id="t")
    return path


@pytest.fixture(scope="module")
def ruleset() -> Any:
    return shipped()


@pytest.mark.parametrize(("share", "error"), [(0.001, Damaged), (0.5, Damaged)])
def test_a_truncated_database_is_called_damaged(
    share: float, error: type[StoreError], filled: Path, tmp_path: Path, ruleset: Any
) -> None:
    raw = filled.read_bytes()
    path = tmp_path / "cut.db"
    path.write_bytes(raw[: max(3000, int(len(raw) * share))])
    with pytest.raises(error, match=r"cut\.db: .*Restore a backup"), Memory.open(path, ruleset=ruleset) as one:
        one.items()


def test_a_newer_schema_and_a_database_of_something_else_are_refused_untouched(
    filled: Path, tmp_path: Path, ruleset: Any
) -> None:
    newer, other = tmp_path / "newer.db", tmp_path / "other.db"
    shutil.copy(filled, newer)
    for path, statement in (
        (newer, "UPDATE alembic_version SET version_num = '9999'"),
        (other, "CREATE TABLE notes (text)"),
    ):
        connection = sqlite3.connect(path)
        connection.execute(statement)
        connection.commit()
        connection.close()
    before = newer.read_bytes(), other.read_bytes()
    with pytest.raises(NewerSchema, match="Upgrade Recordari"):
        Memory.open(newer, ruleset=ruleset)
    with pytest.raises(NotADatabase, match="something else"):
        Memory.open(other, ruleset=ruleset)
    assert (newer.read_bytes(), other.read_bytes()) == before


def as_nobody(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """A command of a user who may not write here."""
    become = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups") if os.geteuid() == 0 else ()
    cache = Path(options["cwd"]).parent / "cache"
    cache.mkdir(mode=0o777, exist_ok=True)
    cache.chmod(0o777)
    # The other user may not write the coverage data either, and coverage would say so on standard error.
    environment = {**untraced(), "RECORDARI_CACHE": str(cache)}
    return subprocess.run(
        [*become, RECORDARI, *arguments], capture_output=True, text=True, check=False, env=environment, **options
    )


def test_a_read_only_database_in_a_read_only_folder_can_be_read_and_not_written(filled: Path, tmp_path: Path) -> None:
    folder = tmp_path / "ro"
    folder.mkdir()
    shutil.copy(filled, folder / "m.db")
    (folder / "m.db").chmod(0o444)
    for each in (*reversed(tmp_path.parents[:-2]), tmp_path):
        if os.geteuid() == 0 and each.stat().st_mode & 0o055 != 0o055 and each.owner() == "root":
            each.chmod(each.stat().st_mode | 0o055)
    folder.chmod(0o555)
    try:
        if os.geteuid() == 0 and not shutil.which("setpriv"):
            pytest.skip("root writes everywhere, and cannot become somebody else here")
        if as_nobody("--help", cwd=folder).returncode != 0:
            pytest.skip("another user cannot start Recordari here")
        before = (folder / "m.db").read_bytes()
        read = as_nobody("items", "--json", "--store", str(folder / "m.db"), cwd=folder)
        assert read.returncode == 0, read.stderr
        assert json.loads(read.stdout)["canonical"] == "80000 CNY"
        assert as_nobody("audit", "verify", "--store", str(folder / "m.db"), cwd=folder).returncode == 0
        written = as_nobody("observe", "--store", str(folder / "m.db"), cwd=folder, input="")
        assert written.returncode == 3
        assert "cannot be written" in written.stderr
        new = as_nobody("observe", "--store", str(folder / "new.db"), cwd=folder, input="")
        assert new.returncode == 3
        assert len(new.stderr.splitlines()) == 1
        assert (folder / "m.db").read_bytes() == before
    finally:
        folder.chmod(0o755)


def test_what_was_opened_for_reading_takes_no_turn(filled: Path, ruleset: Any) -> None:
    with Memory.open(filled, ruleset=ruleset, ner=False, read_only=True) as one:
        assert one.items()
        with pytest.raises(ReadOnly):
            one.observe("预算9万元", said_at=AT)


def fill(disk: Path, acknowledged: list[str], ruleset: Any) -> None:
    """Write until there is no room left, of which most is taken at once."""
    with Memory.open(disk / "m.db", ruleset=ruleset, ner=False) as one:
        for number in range(2_000):
            acknowledged.append(one.observe(f"预算{number + 1}万元", said_at=AT).turn_id)
            if number == 3:
                room = os.statvfs(disk)
                (disk / "filler").write_bytes(b"x" * max(0, room.f_bavail * room.f_frsize - 200_000))


def test_a_full_disk_loses_nothing_that_was_acknowledged(tmp_path: Path, ruleset: Any) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)], capture_output=True, check=False
    ) if shutil.which("mount") else None  # fmt: skip
    if mounted is None or mounted.returncode != 0:
        pytest.skip("no small disk can be mounted here")
    try:
        acknowledged: list[str] = []
        with pytest.raises(Full, match="free space"):
            fill(disk, acknowledged, ruleset)
        assert acknowledged
        (disk / "filler").unlink()
        with Memory.open(disk / "m.db", ruleset=ruleset, ner=False) as one:
            assert set(one.turn_ids()) == set(acknowledged)
            assert one.verify().ok
            one.observe("预算改成9万元", said_at=AT)
    finally:
        subprocess.run(["umount", "-l", str(disk)], capture_output=True, check=False)


# ---------------------------------------------------------------- processes
def test_two_processes_at_once_lose_nothing(tmp_path: Path) -> None:
    store = tmp_path / "m.db"
    files = []
    for name in ("a", "b"):
        file = tmp_path / f"{name}.jsonl"
        file.write_bytes(b"".join(line(f"预算{n + 1}万元", turn_id=f"{name}{n}") + b"\n" for n in range(70)))
        files.append(file)
    running = [
        subprocess.Popen(
            [RECORDARI, "observe", str(file), "--store", str(store)], stdout=subprocess.PIPE, text=True, env=untraced()
        )
        for file in files
    ]
    outputs = [one.communicate()[0] for one in running]
    assert [one.returncode for one in running] == [0, 0]
    assert [len(output.splitlines()) for output in outputs] == [70, 70]
    with Memory.open(store, ner=False) as one:
        assert len(one.turn_ids()) == 140
        assert one.verify().ok


def test_an_interrupt_ends_observe_without_a_traceback_and_keeps_what_was_acknowledged(tmp_path: Path) -> None:
    file, store = tmp_path / "in.jsonl", tmp_path / "m.db"
    file.write_bytes(many(3_000))
    running = subprocess.Popen(
        [RECORDARI, "observe", str(file), "--store", str(store)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=untraced(), bufsize=0,  # else `communicate` misses what `readline` has read ahead
    )  # fmt: skip
    assert running.stdout is not None
    first = running.stdout.readline()
    running.send_signal(signal.SIGINT)
    out, err = running.communicate()
    assert running.returncode == 130
    assert b"Traceback" not in err
    acknowledged = {json.loads(row)["turn_id"] for row in (first + out).splitlines() if row.endswith(b"}")}
    with Memory.open(store, ner=False) as one:
        assert acknowledged <= set(one.turn_ids())
        assert len(one.turn_ids()) < 3_000
        assert one.verify().ok


def test_a_reader_that_has_seen_enough_ends_the_command_quietly(tmp_path: Path) -> None:
    file, store = tmp_path / "in.jsonl", tmp_path / "m.db"
    file.write_bytes(many(1_000))
    running = subprocess.Popen(
        [RECORDARI, "observe", str(file), "--store", str(store)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=untraced(),
    )
    assert running.stdout is not None
    assert running.stderr is not None
    running.stdout.readline()
    running.stdout.close()
    err = running.stderr.read()
    running.stderr.close()
    assert running.wait() in (0, 1)
    assert err == b""
    with Memory.open(store, ner=False) as one:
        assert one.verify().ok
