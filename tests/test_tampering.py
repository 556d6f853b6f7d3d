"""Every kind of tampering we can think of, done with raw SQL to a real store: the verifier names it, and goes on."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from shipped import shipped

from recordari.audit.checkpoint import SigningKey, vkey
from recordari.audit.ledger import Ledger
from recordari.audit.merkle import Frontier, leaf_hash
from recordari.audit.verify import Report
from recordari.memory import Memory, NotFoundError
from recordari.rules.ruleset import Ruleset
from recordari.service.forgery import superuser
from recordari.store.errors import Damaged

pytestmark = pytest.mark.usefixtures("sharing")  # see conftest.py

ACTOR = "ines"
SAID = (
    ("user", "我们的预算是8万元。"),
    ("user", "今天天气真好。"),
    ("assistant", "把预算改成9万元，可以吗？"),
    ("user", "可以"),
    ("assistant", "签约日期定在2026年5月6日，怎么样？"),
    ("user", "我的电话是13800002345。"),
)


@pytest.fixture(scope="module")
def ruleset() -> Ruleset:
    return shipped()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, ruleset: Ruleset) -> Path:
    """A signed store with values, refusals, suggestions, an answer and an edit."""
    path = tmp_path_factory.mktemp("whole") / "m.db"
    with Memory.open(path, ruleset=ruleset, ner=False) as memory:
        for minute, (speaker, text) in enumerate(SAID):
            at = f"2026-03-18T10:{minute:02d}:00+08:00"
            memory.observe(text, said_at=at, speaker=speaker, conversation="c", turn_id=f"t-{minute}")
        phone = memory.items(slot="phone")[0]
        memory.confirm(phone.id, actor=ACTOR, seen_version=phone.version)
    return path


@pytest.fixture
def path(whole: Path, tmp_path: Path) -> Path:
    """A copy of it to be spoilt."""
    for suffix in ("", ".key", ".checkpoints"):
        shutil.copy(whole.with_name(whole.name + suffix), tmp_path / f"m.db{suffix}")
    return tmp_path / "m.db"


@pytest.fixture
def reading(path: Path, ruleset: Ruleset) -> Iterator[Callable[[], Memory]]:
    """Opens the copy for reading."""
    opened: list[Memory] = []

    def open_() -> Memory:
        opened.append(Memory.open(path, ruleset=ruleset, ner=False, read_only=True))
        return opened[-1]

    yield open_
    for each in opened:
        each.close()


def sql(path: Path, *statements: str) -> None:
    with superuser(path) as database:
        for statement in statements:
            assert database.execute(statement).rowcount > 0, statement
        database.commit()


def codes(report: Report) -> set[str]:
    return {finding.code for finding in report.findings}


def test_a_store_that_nobody_touched_verifies_with_everything_it_holds(reading: Callable[[], Memory]) -> None:
    report = reading().verify()
    assert report.ok, report.lines()
    assert report.remarks == ()
    assert report.unsigned == ""
    assert report.lines()[-1] == "verified"
    assert report.counts["turns"] == len(SAID) + 1
    assert report.counts["suggestions"] >= 1
    assert report.counts["decisions in memory"] == report.counts["decisions"] == report.size


# SQL that changes a store behind the back of its log, and the code of the finding that must name it.
TABLE = Path(__file__).with_name("tampering.jsonl").read_text(encoding="utf-8").splitlines()
ROWS = [(row["statement"], row["finding"]) for row in map(json.loads, TABLE)]


@pytest.mark.parametrize(("statement", "code"), ROWS, ids=[statement[:70] for statement, _ in ROWS])
def test_what_is_changed_behind_the_back_of_the_log_is_a_finding(
    path: Path, reading: Callable[[], Memory], statement: str, code: str
) -> None:
    sql(path, statement)
    report = reading().verify()
    assert code in codes(report), report.lines()
    assert "damaged" not in codes(report), report.lines()
    assert report.counts["records"] >= len(SAID)  # the rest is checked all the same


@pytest.mark.parametrize(
    "part",
    [
        "CREATE TRIGGER sly AFTER INSERT ON items BEGIN UPDATE items SET slot = 'x'; END",
        "CREATE VIEW sly AS SELECT 1",
    ],
)
def test_a_trigger_or_a_view_in_the_file_is_a_finding(path: Path, reading: Callable[[], Memory], part: str) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute(part)
        database.commit()
    report = reading().verify()
    assert codes(report) == {"file"}
    assert "sly" in report.findings[0].message


def test_a_row_that_cannot_be_read_is_named_as_damage_by_every_reader(
    path: Path, reading: Callable[[], Memory]
) -> None:
    sql(path, "UPDATE items SET body = '{'")
    with pytest.raises(Damaged, match=r"m\.db: a row cannot be read .*audit verify"):
        reading().items()


# ---------------------------------------------------------------- forging without the key
def forge(path: Path, turn: str | None = None) -> None:
    """Append a decision that nobody took, with its rows, and move the frontier: what needs the database alone."""
    with superuser(path) as database:
        rows = database.execute("SELECT record FROM records ORDER BY seq").fetchall()
        record = json.loads(rows[0][0])
        record["seq"] = len(rows)
        if turn is not None:
            record["content"]["turn_id"] = turn
        text = json.dumps(record, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        leaf = leaf_hash(text.encode())
        database.execute("INSERT INTO records VALUES ('default', ?, ?, ?)", (len(rows), text, leaf))
        database.execute(
            "INSERT INTO private_values SELECT namespace, ?, field, value, salt FROM private_values WHERE seq = 0",
            (len(rows),),
        )
        leaves = (leaf_hash(each[0].encode()) for each in rows)
        frontier = Frontier().extend(leaves).append(leaf)
        database.execute(
            "UPDATE namespaces SET frontier_size = ?, frontier = ?", (frontier.size, b"".join(frontier.nodes))
        )
        database.commit()


def test_a_record_appended_without_the_key_is_said_to_be_unsigned(path: Path, reading: Callable[[], Memory]) -> None:
    size = reading().verify().size
    forge(path, "t-99")
    report = reading().verify()
    assert report.signed == size
    assert report.unsigned == str(size)
    assert f"records {size} are not covered by any checkpoint" in report.lines()[-1]


def test_a_forged_decision_of_a_known_turn_is_a_finding_of_replay_and_of_verify(
    path: Path, reading: Callable[[], Memory]
) -> None:
    forge(path)
    assert "decision" in codes(reading().verify())
    policy, extraction = reading().replay()
    assert policy.ok
    assert not extraction.ok
    assert "was decided in record 0 already" in "\n".join(extraction.lines())


def test_replay_of_an_untouched_store_is_identical(reading: Callable[[], Memory]) -> None:
    policy, extraction = reading().replay()
    assert policy.ok, policy.lines()
    assert extraction.ok, extraction.lines()
    assert extraction.identical == extraction.compared == len(SAID) + 1 or extraction.compared > len(SAID)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE records SET record = '{' WHERE seq = 2",
        "UPDATE records SET record = CAST(record AS BLOB) WHERE seq = 2",
        "UPDATE turns SET body = '{' WHERE turn_id = 't-1'",
    ],
)
def test_replay_tells_what_it_cannot_read_and_goes_on(
    path: Path, reading: Callable[[], Memory], statement: str
) -> None:
    sql(path, statement)
    _, extraction = reading().replay()
    assert extraction.compared >= 3
    assert not extraction.ok or "BLOB" in statement


def test_the_signer_says_which_records_it_had_not_written(path: Path, ruleset: Ruleset) -> None:
    forge(path, "t-99")
    with Memory.open(path, ruleset=ruleset, ner=False) as memory:
        size = memory.verify().size
        memory.observe("我的邮箱是a@example.com。", said_at="2026-03-19T10:00:00+08:00", conversation="d")
    with Memory.open(path, ruleset=ruleset, ner=False, read_only=True) as memory:
        report = memory.verify()
    assert report.unsigned == ""
    assert any(f"records {size - 1} were signed by a process" in remark for remark in report.remarks), report.lines()


def test_the_checkpoint_command_signs_what_verifies_and_says_what_it_had_not_seen_written(
    path: Path, ruleset: Ruleset, capsys: pytest.CaptureFixture[str]
) -> None:
    from recordari.service.auditwork import sign

    with Memory.open(path, ruleset=ruleset, ner=False) as memory:
        memory.signer = None  # a process that was killed before it signed
        memory.observe("谢谢", said_at="2026-03-19T10:00:00+08:00", conversation="d")
    with Memory.open(path, ruleset=ruleset, ner=False) as memory:
        size = memory.verify().size
        assert sign(memory) == 0
        printed = capsys.readouterr()
        assert f"\nunseen {size - 1} {size}\n" in printed.out
        assert f"{size} records signed; records {size - 1} were not written by this command" in printed.err
        sql(path, "UPDATE decisions SET reason = 'joke' WHERE turn_id = 't-1'")
        assert sign(memory) == 1
        printed = capsys.readouterr()
        assert "recordari/default" not in printed.out
        assert "nothing was signed" in printed.err


def test_who_signs_what_it_has_written_says_nothing(path: Path, ruleset: Ruleset) -> None:
    for day in (19, 20):
        with Memory.open(path, ruleset=ruleset, ner=False) as memory:
            memory.observe("谢谢", said_at=f"2026-03-{day}T10:00:00+08:00", conversation="d")
    with Memory.open(path, ruleset=ruleset, ner=False, read_only=True) as memory:
        report = memory.verify()
    assert report.ok
    assert report.remarks == ()


# ---------------------------------------------------------------- checkpoints and witness
def cut(path: Path) -> None:
    """Cut off the last record, the rows that belong to it, and set the frontier accordingly."""
    with superuser(path) as database:
        rows = database.execute("SELECT record FROM records ORDER BY seq").fetchall()[:-1]
        frontier = Frontier().extend(leaf_hash(row[0].encode()) for row in rows)
        database.execute("DELETE FROM records WHERE seq = ?", (len(rows),))
        database.execute("DELETE FROM private_values WHERE seq = ?", (len(rows),))
        database.execute("DELETE FROM decisions WHERE seq = ?", (len(rows),))
        database.execute("DELETE FROM turns WHERE speaker = 'person'")
        database.execute("DELETE FROM items WHERE row = (SELECT max(row) FROM items)")
        database.execute("UPDATE items SET replaced_at = NULL WHERE item_id = (SELECT item_id FROM items "
                         "ORDER BY row DESC LIMIT 1)")  # fmt: skip
        database.execute("UPDATE namespaces SET item_rows = (SELECT max(row) FROM items)")
        database.execute(
            "UPDATE namespaces SET frontier_size = ?, frontier = ?", (frontier.size, b"".join(frontier.nodes))
        )
        database.commit()


def test_a_cut_tail_is_found_by_the_checkpoint_or_by_the_witness(path: Path, reading: Callable[[], Memory]) -> None:
    cut(path)
    assert "truncated" in codes(reading().verify())
    sql(path, "DELETE FROM checkpoints")
    assert "truncated" in codes(reading().verify())


def test_a_cut_tail_without_any_checkpoint_is_at_least_said_to_rest_on_nothing(
    path: Path, reading: Callable[[], Memory]
) -> None:
    cut(path)
    sql(path, "DELETE FROM checkpoints")
    path.with_name("m.db.checkpoints").unlink()
    report = reading().verify()
    assert report.ok, report.lines()  # nothing is left that could show it
    assert any("no checkpoint" in remark for remark in report.remarks)
    assert "are not covered by any checkpoint" in report.lines()[-1]


def test_a_witness_that_is_gone_or_shorter_is_remarked(path: Path, ruleset: Ruleset) -> None:
    with Memory.open(path, ruleset=ruleset, ner=False) as memory:
        memory.observe("谢谢", said_at="2026-03-19T10:00:00+08:00", conversation="d")
    kept = path.with_name("m.db.checkpoints").read_text(encoding="utf-8")
    with Memory.open(path, ruleset=ruleset, ner=False, read_only=True) as memory:
        assert memory.verify().remarks == ()
        path.with_name("m.db.checkpoints").write_text(kept[: kept.index("\nrecordari/", 10) + 1], encoding="utf-8")
        assert any("lacks 1 of 2 checkpoints" in remark for remark in memory.verify().remarks)
        path.with_name("m.db.checkpoints").unlink()
        assert any("missing" in remark for remark in memory.verify().remarks)
        assert memory.verify().ok


# ---------------------------------------------------------------- the public key alone
def test_an_auditor_needs_the_public_key_only(path: Path, reading: Callable[[], Memory], tmp_path: Path) -> None:
    line = vkey("recordari/default", SigningKey.open(path.with_name("m.db.key")).public)
    path.with_name("m.db.key").unlink()
    blind = reading().verify()
    assert blind.ok
    assert blind.signed == 0
    assert any("+".join(line.split("+")[:2]) in remark for remark in blind.remarks), blind.remarks
    letter = tmp_path / "letter.txt"
    letter.write_text(line + "\n", encoding="utf-8")
    for given in (line, str(letter)):
        report = reading().verify(public_key=given)
        assert report.ok
        assert report.signed == report.size
        assert report.remarks == ()
    assert not path.with_name("m.db.key").exists()


def test_the_key_of_another_log_or_nobodys_is_refused_or_found(path: Path, reading: Callable[[], Memory]) -> None:
    from recordari.audit.checkpoint import NoteError

    strange = SigningKey.from_seed(b"x" * 32)
    with pytest.raises(NoteError, match="is of recordari/other"):
        reading().verify(public_key=vkey("recordari/other", strange.public))
    with pytest.raises(NoteError, match="no such file, and no public key"):
        reading().verify(public_key="letter.txt")
    report = reading().verify(public_key=vkey("recordari/default", strange.public))
    assert codes(report) == {"note"}
    assert report.signed == 0


def test_a_witness_that_is_named_must_be_there_and_may_be_any_file(path: Path, reading: Callable[[], Memory]) -> None:
    with pytest.raises(FileNotFoundError, match="witness"):
        reading().verify(witness=path.with_name("mail.txt"))
    mail = path.with_name("mail.txt")
    mail.write_bytes(path.with_name("m.db.checkpoints").read_bytes())
    path.with_name("m.db.checkpoints").unlink()
    assert reading().verify(witness=mail).remarks == ()
    mail.write_bytes(b"\xff\xfe no note\n")
    assert "note" in codes(reading().verify(witness=mail))


def test_a_key_file_that_others_can_read_does_not_keep_anybody_from_reading(
    path: Path, reading: Callable[[], Memory]
) -> None:
    path.with_name("m.db.key").chmod(0o644)
    report = reading().verify()
    assert report.ok
    assert report.signed == report.size
    assert any("can be read by others" in remark for remark in report.remarks)
    assert reading().items()


# ---------------------------------------------------------------- erasing
def test_a_turn_that_is_erased_with_its_commitment_verifies_and_one_erased_by_hand_does_not(
    path: Path, ruleset: Ruleset
) -> None:
    with Memory.open(path, ruleset=ruleset, ner=False) as memory:
        with memory.store.writing("default") as tx:
            seq = tx.decision_seqs("t-1")[0]
            Ledger().erase(
                tx.log, "default", {seq: ["said"]}, ground="gdpr-17", actor="dpo", recorded_at=tx.turns()[0].said_at
            )
        report = memory.verify()
        assert any("said is gone from the record, but turn t-1 still has it" in str(f) for f in report.findings)
        sql(path, "UPDATE turns SET text = NULL WHERE turn_id = 't-1'")
        report = memory.verify()
        assert report.ok, report.lines()
        assert [each.name for each in report.erased] == ["said"]


def test_turns_of_an_older_version_are_not_called_wrong_but_remarked(path: Path, ruleset: Ruleset) -> None:
    other = path.with_name("old.db")
    with Memory.open(other, ruleset=ruleset, ner=False) as memory:
        memory._ledger = Without()
        memory.observe("我们的预算是8万元。", said_at="2026-03-18T10:00:00+08:00")
        report = memory.verify()
    assert report.ok, report.lines()
    assert any("1 turns were written by an older version" in remark for remark in report.remarks)


class Without(Ledger):
    """Writes records as they were before turns were committed to."""

    def append(self, log, namespace, entries, *, recorded_at):  # type: ignore[no-untyped-def]
        for entry in entries:
            entry.private.pop("said", None)
            yield_ = super().append(log, namespace, [entry], recorded_at=recorded_at)
        return yield_


# ---------------------------------------------------------------- explaining what was tampered with
def test_an_item_that_was_slipped_in_is_not_told_the_story_of_another(
    path: Path, reading: Callable[[], Memory]
) -> None:
    forged = "f" * 32
    sql(
        path,
        "INSERT INTO items SELECT namespace, item_id || 'x', version, row + 100, ordinal, principal, entity, slot, "
        "qualifier, kind, status, valid_from, valid_to, superseded_at, written_at, NULL, written_by, decision, "
        f"replace(body, item_id, '{forged}') FROM items WHERE row = 1",
        f"UPDATE items SET item_id = '{forged}' WHERE item_id LIKE '%x'",
    )
    memory = reading()
    assert memory.explain(forged) == ()
    assert "item" in codes(memory.verify())
    with pytest.raises(NotFoundError):
        memory.explain("e" * 32)


def test_a_decision_that_was_changed_in_memory_is_not_told_as_the_truth(
    path: Path, reading: Callable[[], Memory]
) -> None:
    assert reading().why_not("t-1").step("doubt") is None
    sql(path, "UPDATE decisions SET body = replace(body, '\"IGNORE\"', '\"HOLD\"'), action = 'HOLD' "
              "WHERE turn_id = 't-1'")  # fmt: skip
    assert reading().why_not("t-1").step("doubt") is not None


def test_a_confirmed_suggestion_is_explained_with_the_suggestion(reading: Callable[[], Memory]) -> None:
    memory = reading()
    (budget,) = memory.items(slot="budget")
    told = ["\n".join(one.lines()) for one in memory.explain(budget.id)]
    assert any("What it answers" in one and "把预算改成9万元" in one for one in told), told
    chinese = ["\n".join(one.lines()) for one in memory.explain(budget.id, language="zh")]
    assert any("所回应的建议" in one for one in chinese)
    (phone,) = memory.items(slot="phone")
    assert all(one.step("answers") is None for one in memory.explain(phone.id))


def test_a_wiped_index_is_built_again(path: Path, ruleset: Ruleset) -> None:
    sql(path, "DELETE FROM search_terms", "DELETE FROM search_texts")
    with Memory.open(path, ruleset=ruleset, ner=False) as memory:
        assert memory.recall("预算")  # by its slot, which needs no index
        assert memory.recall("CNY") == ()
        assert "search" in codes(memory.verify())
        assert memory.reindex() == len(memory.items(history=True))
        assert memory.verify().ok
        assert memory.recall("CNY")
