"""Who acts signs: known actors' edits carry signatures that anybody can check, and nobody else's are taken."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from recordari.audit.checkpoint import KeyFileError, SigningKey, vkey
from recordari.audit.report import Report
from recordari.memory import Memory
from recordari.rules.ruleset import Ruleset
from recordari.service.forgery import superuser
from recordari.settings import Settings
from recordari.trust.actors import Actor, ActorError, add_actor, key_file, read_actors
from recordari.trust.signing import rotate

AT = "2026-03-18T10:00:00+08:00"


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    path = tmp_path / "actors.yaml"
    for name, role in (("ines", "compliance"), ("王芳", "法务")):
        add_actor(path, name, role, key_file(path, name))
    return path


@pytest.fixture
def memory(tmp_path: Path, ruleset: Ruleset) -> Iterator[Memory]:
    with Memory.open(tmp_path / "m.db", ruleset=ruleset, ner=False) as opened:
        opened.observe("我们的预算是8万元。", said_at=AT, entity="client-17")
        yield opened


def confirm(memory: Memory, actor: str) -> None:
    item = memory.items()[0]
    memory.confirm(item.id, actor=actor, seen_version=item.version)


def records(memory: Memory) -> list[dict[str, object]]:
    with memory.store.reading(memory.namespace) as tx:
        return [json.loads(row.record) for row in tx.log.read(memory.namespace)]


def codes(report: Report) -> set[str]:
    return {finding.code for finding in report.findings}


def test_without_a_list_whoever_is_named_is_recorded_as_unsigned(memory: Memory) -> None:
    confirm(memory, "anybody")
    assert [each["kind"] for each in records(memory)] == ["add", "confirm"]
    assert "signed" not in records(memory)[1]
    report = memory.verify()
    assert report.ok, report.lines()
    assert report.counts["acts of people, unsigned"] == 1


def test_a_known_actor_signs_and_the_log_learns_the_list_first(memory: Memory, listed: Path) -> None:
    confirm(memory, "ines")
    confirm(memory, "王芳")
    assert [each["kind"] for each in records(memory)] == ["add", "actors", "confirm", "confirm"]
    actors = {each.name: each.key for each in read_actors(listed)}
    assert [each["signed"]["key"] for each in records(memory)[2:]] == [actors["ines"], actors["王芳"]]  # type: ignore[index]
    report = memory.verify(actors=listed)
    assert report.ok, report.lines()
    assert report.counts["signatures of actors"] == 3
    assert "ines" not in json.dumps(records(memory))  # names are personal


def test_who_is_not_on_the_list_is_refused_and_nothing_is_changed(memory: Memory, listed: Path) -> None:
    with pytest.raises(
        ActorError, match=r"'mallory' is no actor here\. Known: 'ines', '王芳'; `recordari audit actor`"
    ):
        confirm(memory, "mallory")
    assert len(records(memory)) == 1


def test_an_actor_without_the_key_or_with_anothers_is_refused(memory: Memory, listed: Path) -> None:
    key_file(listed, "ines").unlink()
    with pytest.raises(ActorError, match="RECORDARI_ACTOR_KEY names the file"):
        confirm(memory, "ines")
    key_file(listed, "王芳").rename(key_file(listed, "ines"))
    with pytest.raises(ActorError, match="not the key that"):
        confirm(memory, "ines")
    key_file(listed, "ines").chmod(0o644)
    with pytest.raises(KeyFileError, match="chmod 600"):
        confirm(memory, "ines")


def test_the_list_cannot_be_got_rid_of_by_taking_the_file_away(memory: Memory, listed: Path) -> None:
    confirm(memory, "ines")
    listed.unlink()
    with pytest.raises(ActorError, match="record 1 of 'default' says that there is one"):
        confirm(memory, "anybody")


def test_a_key_elsewhere_is_named_by_the_settings(memory: Memory, listed: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "stick" / "ines.pem"
    elsewhere.parent.mkdir()
    key_file(listed, "ines").rename(elsewhere)
    memory.settings = Settings(actor_key=elsewhere)
    confirm(memory, "ines")
    assert memory.verify().ok


def test_a_changed_list_is_told_again_and_a_stranger_who_changes_it_is_remarked(memory: Memory, listed: Path) -> None:
    confirm(memory, "ines")
    add_actor(listed, "omar", "audit", key_file(listed, "omar"))
    confirm(memory, "omar")
    assert [each["kind"] for each in records(memory)] == ["add", "actors", "confirm", "actors", "confirm"]
    remarks = memory.verify().remarks
    assert any("changed in records 3 by one who was on no list before" in each for each in remarks)
    confirm(memory, "王芳")
    assert len(records(memory)) == 6


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda record: record["signed"].update(signature="A" * 86 + "=="), "signature"),
        (lambda record: record["content"].update(slot="rent"), "signature"),
        (lambda record: record["signed"].update(key="0" * 32), "actor"),
        (lambda record: record.pop("signed"), "actor"),
    ],
)
def test_a_signature_that_is_wrong_or_gone_is_a_finding(
    memory: Memory, listed: Path, tmp_path: Path, change: object, code: str
) -> None:
    confirm(memory, "ines")
    record = records(memory)[2]
    change(record)  # type: ignore[operator]
    text = json.dumps(record, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    with superuser(tmp_path / "m.db") as database:
        database.execute("UPDATE records SET record = ? WHERE seq = 2", (text,))
    assert code in codes(memory.verify())


def test_a_key_of_no_list_from_outside_is_remarked(memory: Memory, listed: Path, tmp_path: Path) -> None:
    confirm(memory, "ines")
    other = tmp_path / "other.yaml"
    add_actor(other, "ines", "compliance", tmp_path / "other.key")
    assert any("is not on the list of actors that was given" in each for each in memory.verify(actors=other).remarks)
    assert not any("list of actors" in each for each in memory.verify(actors=listed).remarks)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("actors: [", r":2:1: .*Correct the YAML"),
        ("people: []", r":1:1: a list of actors is needed"),
        ("actors:\n  - name: a\n    role: b\n", r":2:5: an actor has name, role and key"),
        ("actors:\n  - {name: a, role: b, key: YQ==}\n", r":2:5: the key of 'a' is no Ed25519 public key"),
        ("actors:\n  - {name: a/b, role: b, key: YQ==}\n", r":2:5: .*no slash"),
        ("actors:\n  - 7\n", r": an actor has name, role and key"),
    ],
)
def test_a_list_that_cannot_be_used_says_where_and_why(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "actors.yaml"
    path.write_text(text + "\n", encoding="utf-8")
    with pytest.raises(ActorError, match=told):
        read_actors(path)


def test_two_people_with_one_name_or_one_key_are_refused(listed: Path) -> None:
    with pytest.raises(ActorError, match="on the list already"):
        add_actor(listed, "ines", "other", key_file(listed, "x"))
    with pytest.raises(ActorError, match="another actor's"):
        add_actor(listed, "zoe", "other", key_file(listed, "ines"))
    assert [each.name for each in read_actors(listed)] == ["ines", "王芳"]
    assert isinstance(read_actors(listed)[0], Actor)


# ---------------------------------------------------------------- another key for the log
def key_of_log(path: Path) -> str:
    return vkey("recordari/default", SigningKey.read(path)[0].public)


def test_a_rotated_key_is_vouched_for_by_the_one_before_and_the_other_way_round(
    tmp_path: Path, ruleset: Ruleset
) -> None:
    path = tmp_path / "m.db"
    with Memory.open(path, ruleset=ruleset, ner=False) as memory:
        memory.observe("我们的预算是8万元。", said_at=AT)
    old = key_of_log(tmp_path / "m.db.key")
    with Memory.open(path, ruleset=ruleset, ner=False) as memory:
        (line,) = rotate(memory.store, memory.settings)
        assert line == key_of_log(tmp_path / "m.db.key") != old
        memory.observe("预算改成9万元。", said_at="2026-03-19T10:00:00+08:00")  # this process had the old key
    for given in (old, line):
        with Memory.open(path, ruleset=ruleset, ner=False, read_only=True) as memory:
            report = memory.verify(public_key=given)
        assert report.ok, report.lines()
        assert report.signed == report.size == 3
        assert any("2 keys signed this log" in each for each in report.remarks)
    strange = vkey("recordari/default", SigningKey.from_seed(b"x" * 32).public)
    with Memory.open(path, ruleset=ruleset, ner=False, read_only=True) as memory:
        assert codes(memory.verify(public_key=strange)) == {"note"}


def test_a_key_that_was_replaced_signs_nothing_any_more(tmp_path: Path, ruleset: Ruleset) -> None:
    path = tmp_path / "m.db"
    with Memory.open(path, ruleset=ruleset, ner=False) as memory:
        memory.observe("我们的预算是8万元。", said_at=AT)
    stolen = SigningKey.open(tmp_path / "m.db.key")
    with Memory.open(path, ruleset=ruleset, ner=False) as memory:
        rotate(memory.store, memory.settings)
        memory.observe("预算改成9万元。", said_at="2026-03-19T10:00:00+08:00")
        memory.signer = None
        report = memory.verify()
        with memory.store.writing("default") as tx:
            tx.log.add_checkpoint("default", report.size, stolen.checkpoint("default", report.size, report.root))
        wrong = memory.verify()
    assert any("had been replaced before" in str(each) for each in wrong.findings), wrong.lines()


def test_a_change_of_the_key_that_was_interrupted_is_finished_by_doing_it_again(
    tmp_path: Path, ruleset: Ruleset, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.db"
    for namespace in ("default", "other"):
        with Memory.open(path, ruleset=ruleset, ner=False, namespace=namespace) as memory:
            memory.observe("我们的预算是8万元。", said_at=AT)
    with Memory.open(path, ruleset=ruleset, ner=False) as memory:
        with monkeypatch.context() as broken:
            broken.setattr("recordari.trust.signing.os.replace", lambda *_: (_ for _ in ()).throw(OSError("power")))
            with pytest.raises(OSError, match="power"):
                rotate(memory.store, memory.settings)
        lines = rotate(memory.store, memory.settings)
    assert len(lines) == 2
    assert not (tmp_path / "m.db.key.next").exists()
    for namespace in ("default", "other"):
        with Memory.open(path, ruleset=ruleset, ner=False, namespace=namespace, read_only=True) as memory:
            report = memory.verify()
        assert report.ok, report.lines()
        assert report.counts["of kind key"] == 1
        assert report.signed == report.size == 2
