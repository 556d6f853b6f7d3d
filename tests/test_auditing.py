"""docs/auditing.md: an auditor's ten questions, answered from a bundle alone and, with the same result, by commands."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from recordari.audit.ledger import Ledger
from recordari.audit.record import Entry
from recordari.evidence import questions
from recordari.evidence.bundle import export
from recordari.memory import Memory
from recordari.rules.load import load
from recordari.rules.ruleset import Ruleset
from recordari.trust.actors import add_actor, key_file

pytestmark = pytest.mark.usefixtures("sharing")  # see conftest.py

ROOT = Path(__file__).parent.parent
TURNS = (
    ("user", "我们的预算是8万元。", "2026-05-01T10:00:00+08:00"),
    ("user", "今天天气真好。", "2026-05-01T10:01:00+08:00"),
    ("user", "预算改成9万元。", "2026-05-10T10:00:00+08:00"),
    ("user", "我的电话是13800002345。", "2026-05-11T10:00:00+08:00"),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, ruleset: Ruleset) -> Path:
    """A store in which every question has an answer, and its bundle."""
    folder = tmp_path_factory.mktemp("audit")
    add_actor(folder / "actors.yaml", "ines", "compliance", key_file(folder / "actors.yaml", "ines"))
    ruleset = careful(folder, ruleset)
    with Memory.open(folder / "m.db", ruleset=ruleset, ner=False) as memory:
        for number, (speaker, text, at) in enumerate(TURNS):
            place = {"entity": "client-17", "conversation": "c", "turn_id": f"t-{number}"}
            memory.observe(text, said_at=at, speaker=speaker, **place)
        ((held, _),) = memory.review()
        budget = memory.items(slot="budget")[0]
        at = datetime(2026, 5, 12, 2, tzinfo=UTC)
        memory.correct(budget.id, "10万元", actor="ines", seen_version=budget.version, at=at)
        memory.reject(held.id, actor="ines", seen_version=1, at=at)
        with memory.store.writing("default") as tx:
            content = {"item": budget.id, "outcome": "refused", "why": "value_changed", "model": "m"}
            words = {"template": "The budget is 90000.", "answer": "The budget is 80000."}
            Ledger().append(tx.log, "default", [Entry("rewrite_refused", content, words)], recorded_at=at)
    with Memory.open(folder / "m.db", ruleset=ruleset, ner=False, read_only=True) as memory:
        export(memory, folder / "bundle")
    return folder


def careful(folder: Path, ruleset: Ruleset) -> Ruleset:
    """The shipped rules, but a telephone number waits for a person."""
    text = ruleset.sources["slot.phone"]
    version = ruleset.files["slot.phone"].version
    text = text.replace(f"\nversion: {version}\n", f"\nversion: {version + 1}\nneeds_approval: true\n")
    (folder / "rules").mkdir()
    (folder / "rules" / "slot.phone.yaml").write_text(text, encoding="utf-8")
    return load([folder / "rules"])


Ask = Callable[..., list[str]]


@pytest.fixture(scope="module")
def ask(made: Path) -> Ask:
    """Asks the page: part, filters, open the rows or not; the rows it shows, in English."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("the page is read with node")

    def asked(part: str, *, opened: bool = False, **filters: str) -> list[str]:
        wanted = {name.replace("_", " "): value for name, value in filters.items()}
        command = [node, str(ROOT / "tests" / "page_reader.js"), str(made / "bundle" / "report.html")]
        done = subprocess.run(
            [*command, json.dumps([[part, wanted, opened]])], capture_output=True, encoding="utf-8", check=False
        )
        assert done.returncode == 0, done.stderr
        (rows,) = json.loads(done.stdout)
        return [str(row) for row in rows]

    return asked


@pytest.fixture(scope="module")
def memory(made: Path) -> Any:
    ruleset = load([made / "rules"])
    with Memory.open(made / "m.db", ruleset=ruleset, ner=False, read_only=True) as opened:
        yield opened


def test_what_stands_is_shown_first_and_every_version_when_asked(ask: Ask, memory: Memory) -> None:
    standing = ask(REMEMBERED, slot="budget")
    assert [row for row in standing if "superseded" in row] == []
    assert any("100000 CNY" in row for row in standing)
    every = ask(REMEMBERED, slot="budget", show="every version 所有版本")
    assert len(every) > len(standing)
    assert any("80000 CNY" in row and "until 2026-05-10" in row for row in every)


def test_a_decision_shows_its_cue_in_words_and_the_row_that_decided(ask: Ask) -> None:
    (_, opened) = ask(DECISIONS, contains="9万", kind="supersede", opened=True)
    assert "change: 改成 2-4 cue.zh.change@" in opened
    assert opened.count("- {id: changed,") == 2  # by itself, and in the whole table
    assert "earlier value | 80000 CNY" in opened


def test_what_was_said_changes_things_as_people_do(ask: Ask, memory: Memory) -> None:
    rows = ask("Who changed what", contains="90000")
    assert any("user | " in row and "80000 CNY" in row for row in rows)
    assert all("ines" in row for row in ask("Who changed what", by="people 人员"))
    (old,) = {each.id for each in memory.items(slot="budget", history=True) if each.canonical == "80000 CNY"}
    assert [(each["who"], each["kind"]) for each in questions.changes(memory, old)] == [
        ("user", "add"),
        ("user", "supersede"),
    ]


def test_a_rule_whose_cue_counted_is_found_like_one_that_decided(ask: Ask, memory: Memory) -> None:
    found = questions.decisions(memory, rule="cue.zh.change")
    assert [each["kind"] for each in found] == ["supersede"]
    assert len(ask(DECISIONS, rule_since="cue.zh.change@1")) == 1
    assert ask(DECISIONS, rule_since="cue.zh.change@999") == []
    assert questions.decisions(memory, rule="cue.zh.chang") == []
    assert {item.canonical for item, _ in questions.resting_on(memory, "cue.zh.change")} >= {"90000 CNY"}


def test_a_rule_set_leads_to_the_items_that_rest_on_it(ask: Ask, memory: Memory) -> None:
    digest = memory.ruleset.digest[:12]
    (row,) = ask("Rule sets", contains=digest)
    assert row.startswith(digest)
    assert ask("Rule sets", taken_back="yes 是") == []
    assert len(ask(REMEMBERED, rests_on_rule=digest)) == len(questions.resting_on(memory, digest))
    assert ask(REMEMBERED, rests_on_rule="0" * 12) == []


REMEMBERED, DECISIONS = "What is remembered", "Decisions, refusals included"


def test_1_what_is_remembered_about_somebody(ask: Ask, memory: Memory) -> None:
    rows = ask(REMEMBERED, about="client-17", known_on="2026-12-31", status="current")
    assert len(rows) == len(memory.items(entity="client-17", as_of="2026-12-31T00:00:00Z")) >= 1
    assert any("100000 CNY" in row for row in rows)
    assert ask(REMEMBERED, contains="nobody-99") == []


def test_2_why(ask: Ask, memory: Memory) -> None:
    opened = "\n".join(ask(REMEMBERED, contains="100000", opened=True))
    for shown in ("id: policy.core", "signed by | ines", "earlier value | 90000 CNY"):
        assert shown in opened, shown
    item = memory.items(slot="budget", as_of="2026-12-31T00:00:00Z")
    assert memory.explain(next(each.id for each in item if each.canonical == "100000 CNY"))


def test_3_why_a_sentence_was_not_remembered(ask: Ask, memory: Memory) -> None:
    opened = "\n".join(ask(DECISIONS, contains="天气", kind="ignore", opened=True))
    assert "small_talk" in opened
    assert "why | " in opened
    assert "small_talk" in "\n".join(memory.why_not("t-1").lines())


def test_4_who_changed_it(ask: Ask, memory: Memory) -> None:
    rows = ask("Who changed what", contains="100000")
    assert len(rows) == 1
    assert "ines" in rows[0]
    assert [(each["author"], each["kind"]) for each in questions.changes(memory)] == [
        ("ines", "correct"),
        ("ines", "reject"),
    ]
    corrected = questions.changes(memory)[0]["item"]
    assert len(questions.changes(memory, corrected)) == 1


def test_5_what_was_known_on_a_day(ask: Ask, memory: Memory) -> None:
    rows = ask(REMEMBERED, slot="budget", known_on="2026-05-03")
    assert [("80000 CNY" in row, "90000" in row) for row in rows] == [(True, False)]
    known = memory.items(slot="budget", known_at="2026-05-03T00:00:00Z")
    assert [each.canonical for each in known] == ["80000 CNY"]


def test_6_what_was_true_on_a_day(ask: Ask, memory: Memory) -> None:
    true_then = [each.canonical for each in memory.items(slot="budget", as_of="2026-05-03T12:00:00Z", history=True)
                 if each.status == "current" and each.qualifier == ""]  # fmt: skip
    rows = [row for row in ask(REMEMBERED, slot="budget", true_on="2026-05-03") if "[" not in row]
    assert true_then == ["80000 CNY"]
    assert len(rows) == 1
    assert "80000 CNY" in rows[0]


def test_7_decisions_of_a_rule_since_a_version(ask: Ask, memory: Memory, ruleset: Ruleset) -> None:
    version = ruleset.files["policy.core"].version
    for since, some in ((version, True), (version + 1, False)):
        rows = ask(DECISIONS, rule_since=f"policy.core@{since}")
        found = questions.decisions(memory, rule=f"policy.core@{since}")
        assert len(rows) == len(found)
        assert bool(found) is some
    assert len(questions.decisions(memory, rule="policy.core.stated")) == 1
    assert questions.decisions(memory, rule="policy.cor") == []
    ignored = questions.decisions(memory, kind="ignore")
    assert {each["kind"] for each in ignored} == {"ignore"}
    assert questions.decisions(memory, until="2001-01-01") == []


def test_8_holds_and_who_decided_them(ask: Ask, memory: Memory) -> None:
    rows = ask("Holds")
    held = questions.holds(memory)
    assert len(rows) == len(held) >= 1
    assert held[0]["outcome"] == "reject"
    assert held[0]["who"] == "ines"
    assert held[0]["signed"].startswith("ines (")
    assert "reject | ines" in rows[0]


def test_9_wordings_by_an_llm_and_what_was_refused(ask: Ask, memory: Memory) -> None:
    (row,) = ask("Wordings by an LLM", outcome="refused")
    assert "value_changed" in row
    (found,) = questions.wordings(memory)
    assert (found["outcome"], found["answer"]) == ("refused", "The budget is 80000.")


def test_10_which_items_rest_on_a_rule(ask: Ask, memory: Memory) -> None:
    resting = questions.resting_on(memory, "policy.core.stated")
    rows = ask(REMEMBERED, rests_on_rule="policy.core.stated")
    assert {item.canonical for item, _ in resting} == {"80000 CNY"}
    assert all(any(item.canonical in row for row in rows) for item, _ in resting)
    digest = memory.ruleset.digest
    assert len(questions.resting_on(memory, digest[:12])) > len(resting)
    assert questions.resting_on(memory, "policy.core.stated@999") == []
    assert questions.resting_on(memory, "0" * 12) == []


def test_the_page_names_parts_filters_and_commands_that_exist(made: Path) -> None:
    walk = (ROOT / "docs" / "auditing.md").read_text(encoding="utf-8")
    page = (made / "bundle" / "report.html").read_text(encoding="utf-8")
    commands = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    parts = set(re.findall(r"[Pp]art \*([^*]+)\*", walk))
    assert len(parts) == 7
    for part in parts:
        assert f'en: "{part}' in page, part
    for name in ("about", "known on", "true on", "contains", "kind", "rests on rule", "show", "by", "rule set"):
        assert f"`{name}`" in walk
        assert f'"{name}"' in page, name
    for command in re.findall(r"`recordari ((?:audit )?[a-z-]+)", walk):
        assert f"## `recordari {command}`" in commands, command


def test_the_chinese_page_says_the_same_and_names_what_the_page_shows(made: Path) -> None:
    english, chinese = (
        (ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("auditing.md", "auditing.zh.md")
    )
    page = (made / "bundle" / "report.html").read_text(encoding="utf-8")
    commands = re.compile(r"`(recordari (?:audit )?[a-z-]+)")
    assert sorted(commands.findall(english)) == sorted(commands.findall(chinese))
    for mark in (r"^## ", r"^\d+\. \*\*", r"^\| .* \|$", r"^```", r"^- "):
        found = [len(re.findall(mark, text, re.MULTILINE)) for text in (english, chinese)]
        assert found[0] == found[1] > 0, mark
    assert re.findall(r"```\n.*?```", english, re.DOTALL) == re.findall(r"```\n.*?```", chinese, re.DOTALL)
    for part in ("记住了什么", "谁改了什么", "暂缓", "大模型的措辞", "规则集", "其他记录"):
        assert f'zh: "{part}"' in page, part
        assert f"“{part}”" in chinese, part
    for name in ("关于", "包含", "种类", "当时已知", "当时成立", "显示", "依据规则", "被收回", "规则自某版本"):
        assert f'"{name}' in page, name
        assert f"`{name}`" in chinese, name
