"""An export is checked and read without Recordari: by the verifier in it, by a browser, by a spreadsheet."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest

from recordari.audit.checkpoint import SigningKey, vkey
from recordari.audit.csvfile import cell
from recordari.audit.ledger import Ledger
from recordari.audit.record import Entry
from recordari.evidence.bundle import all_proofs, export
from recordari.memory import Memory
from recordari.rules.ruleset import Ruleset
from recordari.trust.actors import add_actor, key_file

SAID = (
    ("user", "我们的预算是8万元。", "2026-05-01T10:00:00+08:00"),
    ("user", "今天天气真好。", "2026-05-01T10:01:00+08:00"),
    ("assistant", "把预算改成9万元，可以吗？", "2026-05-02T10:00:00+08:00"),
    ("user", "可以", "2026-05-02T10:01:00+08:00"),
    ("user", "=SUM(A1) 我的邮箱是 a@example.com </script><b>", "2026-05-04T10:00:00+08:00"),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, ruleset: Ruleset) -> Path:
    """A store with values, refusals, a suggestion, a signed correction and a refused wording; its export beside it."""
    folder = tmp_path_factory.mktemp("matter")
    listed = folder / "actors.yaml"
    add_actor(listed, "ines", "compliance", key_file(listed, "ines"))
    with Memory.open(folder / "m.db", ruleset=ruleset, ner=False) as memory:
        for number, (speaker, text, at) in enumerate(SAID):
            memory.observe(
                text, said_at=at, speaker=speaker, entity="client-17", conversation="c", turn_id=f"t-{number}"
            )
        budget = memory.items(slot="budget")[0]
        memory.correct(budget.id, "10万元", actor="ines", seen_version=budget.version)
        with memory.store.writing("default") as tx:
            content = {"item": budget.id, "outcome": "refused", "why": "value_changed", "model": "m"}
            words = {"template": "The budget is 90000.", "answer": "The budget is 80000."}
            Ledger().append(
                tx.log, "default", [Entry("rewrite_refused", content, words)], recorded_at=datetime.now(UTC)
            )  # fmt: skip
    with Memory.open(folder / "m.db", ruleset=ruleset, ner=False, read_only=True) as memory:
        assert memory.verify().ok, memory.verify().lines()
        export(memory, folder / "bundle")
    return folder


@pytest.fixture
def bundle(made: Path, tmp_path: Path) -> Path:
    """A copy to be spoilt."""
    shutil.copytree(made / "bundle", tmp_path / "bundle")
    return tmp_path / "bundle"


def check(bundle: Path, *options: str, python: tuple[str, ...] = ("-I",)) -> tuple[int, list[str]]:
    """Run the verifier of the bundle as an auditor does; exit status and lines."""
    command = [sys.executable, *python, str(bundle / "check_bundle.py"), str(bundle), *options]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    return done.returncode, (done.stdout + done.stderr).splitlines()


def key(made: Path) -> str:
    return vkey("recordari/default", SigningKey.read(made / "m.db.key")[0].public)


def test_the_verifier_in_the_bundle_finds_everything_right(made: Path) -> None:
    given = ("--public-key", key(made), "--witness", str(made / "m.db.checkpoints"))
    status, lines = check(made / "bundle", *given, "--actors", str(made / "actors.yaml"))
    assert status == 0, lines
    assert lines[-1] == "verified"
    assert not any(line.startswith("remark") for line in lines), lines
    for counted in ("2 signatures of actors", "signed manifest", "rule sets", "proofs", "item versions", "turns"):
        assert counted in lines[1], lines


def test_without_cryptography_it_says_that_signatures_were_not_checked(made: Path) -> None:
    status, lines = check(made / "bundle", "--public-key", key(made), python=("-I", "-S"))
    assert status == 0, lines
    assert lines[-1] == "verified; signatures were NOT checked (install `cryptography`)"


def test_it_answers_in_json_too(made: Path) -> None:
    status, lines = check(made / "bundle", "--json")
    assert status == 0
    assert json.loads(lines[0])["ok"] is True


def test_a_strange_key_a_missing_folder_and_wrong_use_have_their_own_exit_codes(made: Path, tmp_path: Path) -> None:
    strange = SigningKey.from_seed(b"x" * 32).public
    assert check(made / "bundle", "--public-key", vkey("recordari/default", strange))[0] == 1
    assert check(made / "bundle", "--public-key", vkey("recordari/other", strange))[0] == 2
    assert check(made / "bundle", "--public-key", "a+b+c")[0] == 2
    (tmp_path / "check_bundle.py").write_bytes((made / "bundle" / "check_bundle.py").read_bytes())
    assert check(tmp_path)[0] == 3
    assert check(made / "bundle", "--witness", str(tmp_path / "none"))[0] == 3


def test_who_signed_is_held_against_a_list_from_outside(made: Path, tmp_path: Path) -> None:
    add_actor(tmp_path / "actors.yaml", "otto", "counsel", key_file(tmp_path / "actors.yaml", "otto"))
    status, lines = check(made / "bundle", "--actors", str(tmp_path / "actors.yaml"))
    assert status == 0
    assert sum("is not on the list of actors that was given" in line for line in lines) == 1, lines
    assert any("no list of actors was given" in line for line in check(made / "bundle")[1])
    (tmp_path / "empty.yaml").write_text("actors: []\n", encoding="utf-8")
    assert check(made / "bundle", "--actors", str(tmp_path / "empty.yaml"))[0] == 2


def test_a_page_that_nobody_signed_is_a_finding_when_the_house_has_a_key(made: Path, bundle: Path) -> None:
    (bundle / "manifest.note").unlink()
    rewritten(bundle, "report.html", "80000 CNY", "90000 CNY")
    status, lines = check(bundle, "--public-key", key(made))
    assert status == 1
    assert "wrong: manifest.note: it is missing: nobody vouches for report.html, pages/ and csv/" in lines
    assert lines[-1] == "1 finding"
    assert check(bundle)[0] == 0  # without a key from outside nothing can be said of it
    assert any("the manifest is not signed" in line for line in check(bundle)[1])


def rewritten(bundle: Path, name: str, old: str, new: str, *, manifest: bool = True) -> None:
    """Change a file, and the manifest as well, so that the file fits it."""
    import hashlib

    path = bundle / name
    text = path.read_text(encoding="utf-8")
    assert old in text, old
    path.write_text(text.replace(old, new, 1), encoding="utf-8", newline="\n")
    if manifest:
        listed = json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))
        listed["files"][name]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
        (bundle / "manifest.json").write_text(
            json.dumps(listed, ensure_ascii=False, sort_keys=True, separators=(",", ":")), encoding="utf-8"
        )


@pytest.mark.parametrize(
    ("name", "old", "new", "told"),
    [
        ("records.jsonl", '"stated', '"denied', "not the one"),
        ("records.jsonl", "80000", "80001", "is not the one it commits to"),
        ("records.jsonl", '\\"action\\"', '\\"Action\\"', "lead to the root"),
        ("turns.jsonl", "8万", "7万", "turn t-0 is not as it was when it was decided"),
        ("items.jsonl", '"amount":"80000"', '"amount":"70000"', "is not as this decision wrote it"),
        ("checkpoints.txt", "recordari/default\n", "recordari/default\n1", "note"),
        ("decisions.jsonl", "stated", "denied", "manifest"),
    ],
)
def test_what_is_changed_in_a_bundle_is_found(
    made: Path, bundle: Path, name: str, old: str, new: str, told: str
) -> None:
    rewritten(bundle, name, old, new, manifest=name != "records.jsonl" or "80000" not in old)
    status, lines = check(bundle, "--public-key", key(made))
    assert status == 1, lines
    assert any(told in line for line in lines if line.startswith("wrong")), lines


def test_a_file_that_is_gone_or_cut_is_found(made: Path, bundle: Path) -> None:
    lines = (bundle / "records.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (bundle / "records.jsonl").write_text("".join(lines[:-1]), encoding="utf-8", newline="\n")
    (bundle / "csv" / "items.csv").unlink()
    status, told = check(bundle, "--public-key", key(made))
    assert status == 1
    assert any("csv/items.csv: the file is missing" in line for line in told)
    assert any("records are left" in line or "are left" in line for line in told), told


def test_a_folder_that_is_not_empty_is_not_written_into(made: Path, ruleset: Ruleset) -> None:
    with (
        Memory.open(made / "m.db", ruleset=ruleset, ner=False, read_only=True) as memory,
        pytest.raises(FileExistsError, match="name a new folder"),
    ):
        export(memory, made / "bundle")


# ---------------------------------------------------------------- for people
class Page(HTMLParser):
    """The outline of a page: tags, addresses it would load, and the data in it."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loads: list[str] = []
        self.data = ""
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        named = dict(attrs)
        self.loads += [str(value) for name, value in attrs if name in ("src", "href", "xlink:href")]
        self._inside = named.get("id") or tag

    def handle_data(self, data: str) -> None:
        if self._inside == "data":
            self.data += data


def test_the_page_loads_nothing_has_charts_and_holds_what_was_said_as_data(made: Path) -> None:
    text = (made / "bundle" / "report.html").read_text(encoding="utf-8")
    page = Page()
    page.feed(text)
    assert page.loads == []
    assert "http" not in text.replace("http://www.w3.org", "")
    assert page.tags.count("svg") == 7
    data = json.loads(page.data.split("</script>")[0])
    assert data["turns"]["t-4"]["text"] == SAID[4][1]
    assert "<b>" not in text
    assert {each["outcome"] for each in data["wordings"]} == {"refused"}
    assert [each["author"] for each in data["decisions"] if each["by_person"]] == ["ines"]
    assert all(f"{each['ruleset']} {each['rule']}" in data["rules"] for each in data["decisions"] if each["slot"])


def test_tables_open_in_a_spreadsheet_and_compute_nothing(made: Path) -> None:
    raw = (made / "bundle" / "csv" / "turns.csv").read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf")
    assert b"\r\n" in raw
    with (made / "bundle" / "csv" / "turns.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[4]["text"] == "'" + SAID[4][1]
    assert rows[0]["text"] == SAID[0][1]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\t=1", " =1", "＝1", "\u3000=1", "|calc", "%0A"])
def test_a_cell_that_would_be_computed_becomes_a_text(text: str) -> None:
    assert cell(text) == "'" + text


@pytest.mark.parametrize("text", ["80000 CNY", "8万", "a=b", "", "2026-05-01"])
def test_other_cells_stand_as_they_are(text: str) -> None:
    assert cell(text) == text


def test_all_proofs_are_those_that_are_asked_for_one_by_one() -> None:
    from recordari.audit.merkle import inclusion_proof, leaf_hash

    for size in (1, 2, 7, 64, 100):
        leaves = [leaf_hash(bytes([each])) for each in range(size)]
        assert list(all_proofs(leaves)) == [inclusion_proof(leaves, each) for each in range(size)]


@pytest.mark.parametrize("line", ["[]", "7", "{", '{"record": 7}', '{"record": "{}", "private": []}', "[" * 5000])
@pytest.mark.parametrize("name", ["records.jsonl", "turns.jsonl", "items.jsonl"])
def test_a_line_of_another_form_is_a_finding_not_a_crash(
    bundle: Path, name: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from recordari.audit.check_bundle import main

    path = bundle / name
    path.write_text(line + "\n" + path.read_text(encoding="utf-8"), encoding="utf-8", newline="\n")
    assert main([str(bundle)]) == 1
    assert "wrong: " in capsys.readouterr().out


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"bundle": 2, "namespace": "n", "size": 0}', "\xff"])
def test_a_folder_with_a_strange_manifest_is_no_bundle(tmp_path: Path, text: str) -> None:
    from recordari.audit.check_bundle import main

    (tmp_path / "manifest.json").write_text(text, encoding="latin-1")
    assert main([str(tmp_path)]) == 3


def test_what_was_erased_is_not_in_a_bundle_and_its_ground_is(
    tmp_path: Path, ruleset: Ruleset, capsys: pytest.CaptureFixture[str]
) -> None:
    from recordari.audit.check_bundle import main

    with Memory.open(tmp_path / "m.db", ruleset=ruleset, ner=False) as memory:
        memory.observe(SAID[0][1], said_at=SAID[0][2], entity="client-17", turn_id="t-0")
        memory.observe("我的电话是13700004173。", said_at=SAID[1][2], entity="client-17", turn_id="t-1")
        (phone,) = memory.items(slot="phone")
        export(memory, tmp_path / "before")
        memory.erase(phone.id, ground="gdpr-17-1-b", actor="dpo")
        export(memory, tmp_path / "after")
    assert main([str(tmp_path / "after")]) == 0
    assert "on ground gdpr-17-1-b" in capsys.readouterr().out
    whole = b"".join(each.read_bytes() for each in (tmp_path / "after").rglob("*") if each.is_file())
    assert b"13700004173" not in whole
    shutil.copy(tmp_path / "before" / "items.jsonl", tmp_path / "after" / "items.jsonl")
    assert main([str(tmp_path / "after")]) == 1
    assert "was erased by decision" in capsys.readouterr().out


def test_every_kind_of_store_can_be_exported(
    memory: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from recordari.audit.check_bundle import main

    memory.observe(SAID[0][1], said_at=SAID[0][2], entity="client-17")
    manifest = export(memory, tmp_path / "bundle", proofs=False)
    assert manifest["size"] == 1
    assert main([str(tmp_path / "bundle")]) == 0
    printed = capsys.readouterr().out
    assert "1 turns" in printed
    signed = (tmp_path / "bundle" / "manifest.note").exists()
    assert signed is ("signed manifest" in printed)


def test_what_one_page_cannot_hold_is_reached_from_it(
    made: Path, tmp_path: Path, ruleset: Ruleset, monkeypatch: pytest.MonkeyPatch
) -> None:
    from recordari.evidence import pages

    monkeypatch.setattr(pages, "MOST", 2)
    with Memory.open(made / "m.db", ruleset=ruleset, ner=False, read_only=True) as memory:
        export(memory, tmp_path / "small")
    first = Page()
    text = (tmp_path / "small" / "report.html").read_text(encoding="utf-8")
    first.feed(text)
    data = json.loads(first.data.split("</script>")[0])
    assert "only the latest 2 of each" in text
    assert len(data["decisions"]) == 2
    seen = [each["seq"] for each in data["decisions"]]
    for listed in data["pages"]:
        page = Page()
        page.feed((tmp_path / "small" / listed["name"]).read_text(encoding="utf-8"))
        part = json.loads(page.data.split("</script>")[0])
        rows = part.get("decisions", [])
        assert all(listed["first"] <= each["seq"] <= listed["last"] for each in rows)
        assert all(each["turn"] in part["turns"] for each in rows)
        assert all(each["earlier"] for each in rows if each["target"])
        seen += [each["seq"] for each in rows]
    lines = (tmp_path / "small" / "decisions.jsonl").read_text(encoding="utf-8").splitlines()
    assert sorted(seen) == [json.loads(line)["seq"] for line in lines]  # each once
    assert check(tmp_path / "small", "--public-key", key(made))[0] == 0
    assert "only the latest" not in (made / "bundle" / "report.html").read_text(encoding="utf-8")
    assert not (made / "bundle" / "pages").exists()


def test_columns_of_days_leave_no_day_out() -> None:
    from recordari.audit.charts import days

    drawn = days({"2026-01-30": {"add": 1}, "2026-02-02": {"add": 2}}, ("add",))
    assert [f'<rect x="{30 + 40 * each}.0"' in drawn for each in range(4)] == [True, False, False, True]
    drawn = days({"2025-01-30": {"add": 1}, "2026-02-02": {"add": 2}}, ("add",))  # longer: months
    assert "2025-01: 1 add" in drawn
    assert "2025-01-30" not in drawn
    assert "<rect" not in days({}, ("add",))
