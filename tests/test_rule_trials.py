"""Trying rules: why an inline test failed, what tests cover, one sentence laid open, two rule sets side by side."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from commands import recordari
from shipped import shipped

from recordari.extractors.scan import scan
from recordari.memory import Memory
from recordari.model import Scan, Turn
from recordari.rulefile import InlineTest
from recordari.rules.compare import compare, comparison_fields, comparison_lines
from recordari.rules.coverage import Coverage, coverage_lines
from recordari.rules.given import turns_of
from recordari.rules.inline_tests import Report, check
from recordari.rules.load import load
from recordari.rules.ruleset import Ruleset
from recordari.rules.trying import Tryout, try_turns, tryout_lines

pytestmark = pytest.mark.usefixtures("sharing")  # see conftest.py

HEAD = "version: 1\nstatus: active\ntitle: {en: e, zh: z}\nowner: test\nrationale: because\n"
SLOT = (
    "id: slot.stipend\nkind: slot\n"
    + HEAD
    + """\
slot: stipend
type: fact
value: [money]
cardinality: one
qualifier: none
words: [stipend, 津贴]
say: {zh: "津贴{value}", en: "stipend {value}"}
asked_as: {zh: [津贴多少], en: [what is the stipend]}
"""
)
CAPTURE = (
    "id: capture.stipend\nkind: capture\n"
    + HEAD
    + """\
slot: stipend
language: any
priority: 90
trigger: {words: [stipend, 津贴, bursary], place: around}
when:
  - value: {kind: [money, number]}
  - no_words: [last year]
"""
)


def folder(place: Path, *tests: str, capture: str = CAPTURE) -> Path:
    listed = "".join(f"  - {test}\n" for test in tests)
    place.mkdir(exist_ok=True)
    (place / "slot_stipend.yaml").write_text(SLOT, encoding="utf-8")
    (place / "stipend.yaml").write_text(capture + (f"tests:\n{listed}" if tests else ""), encoding="utf-8")
    return place


def ran(place: Path, rule: str = "capture.stipend") -> Report:
    ruleset = load([place])
    return check(ruleset, Memory.rehearsal(ruleset=ruleset, ner=False).trial, rule=rule)


def told(report: Report) -> str:
    (failure,) = report.failures
    return "\n".join((failure.problem.message, *failure.trace))


def tried(ruleset: Ruleset, *texts: str) -> Tryout:
    def read(turn: Turn) -> Scan:
        return scan(turn.text, ruleset.extraction, said_at=turn.said_at, speaker=turn.speaker, ner=False)

    turns = turns_of(InlineTest(say=texts[-1], after=list(texts[:-1])))
    return try_turns(turns, ruleset, Memory.rehearsal(ruleset=ruleset, ner=False).trial, read)


# ---------------------------------------------------------------- why a test failed
def test_a_failed_test_names_the_condition_that_stopped_its_rule_and_the_word_behind_it(tmp_path: Path) -> None:
    test = '{say: "The stipend was $900 last year.", remembers: {slot: stipend, value: 900 USD}}'
    said = told(ran(folder(tmp_path / "mine", test)))
    assert "stopped by when.no_words ('last year')" in said
    assert "by capture.amount@" in said  # what came instead


def test_a_failed_test_names_the_cue_that_changed_the_meaning(tmp_path: Path) -> None:
    test = '{say: "If the stipend is $900, call me.", remembers: {slot: stipend, value: 900 USD}}'
    said = told(ran(folder(tmp_path / "mine", test)))
    assert "IGNORE hypothetical by policy.core.hypothetical" in said
    assert "modality=hypothetical" in said
    assert "'If': hypothesis" in said
    assert "stopped by" not in said  # the rule itself did what it should


def test_a_failed_test_tells_which_rule_was_asked_first(tmp_path: Path) -> None:
    low = CAPTURE.replace("priority: 90", "priority: 0")
    test = '{say: "The stipend budget is $900.", remembers: {slot: stipend}}'
    said = told(ran(folder(tmp_path / "mine", test, capture=low)))
    assert "capture.stipend@1 fits" in said
    assert "is asked first" in said


def test_a_test_that_holds_has_no_trace_and_an_unwanted_memory_fails(tmp_path: Path) -> None:
    good = '{say: "The stipend is $900.", remembers: {slot: stipend, value: 900 USD}}'
    bad = '{say: "津贴是900元。", remembers: none}'
    report = ran(folder(tmp_path / "mine", good, bad))
    assert report.passed == 1
    assert "expected to remember nothing" in told(report)


def test_a_known_gap_fails_once_it_is_closed_and_only_then(tmp_path: Path) -> None:
    closed = '{say: "The stipend is $900.", todo: 900 USD}'
    open_ = '{say: "The stipend is nine hundred smackers.", todo: 900 USD}'
    report = ran(folder(tmp_path / "mine", closed, open_))
    assert report.todo == 1
    assert "the known gap is closed" in told(report)


def test_failed_cue_gate_and_policy_tests_tell_what_stood_in_the_way(tmp_path: Path) -> None:
    place = tmp_path / "mine"
    place.mkdir()
    rules = shipped()
    for name, test in {
        "cue.zh.negation": '{say: "不过预算8万", covers: [80000 XXX]}',
        "gate.zh.small_talk": '{say: "谢谢，预算8万元", expect: small_talk}',
        "policy.core": "{say: wrong, gives: {modality: question, do: ADD, reason: stated}}",
    }.items():
        version, source = rules.files[name].version, rules.sources[name]
        text = source.replace(f"version: {version}\n", "version: 99\n", 1)
        (place / f"{name}.yaml").write_text(text.replace("\ntests:\n", f"\ntests:\n  - {test}\n", 1), encoding="utf-8")
    ruleset = load([place])
    report = check(ruleset, None, rules=frozenset({"cue.zh.negation", "gate.zh.small_talk", "policy.core"}))
    traces = {failure.rule.partition("@")[0]: "\n".join(failure.trace) for failure in report.failures}
    assert len(traces) == len(report.failures) == 3
    assert "stopped by pseudo" in traces["cue.zh.negation"]
    assert "money 80000 CNY" in traces["gate.zh.small_talk"]
    assert "modality=asserted (is question)" in traces["policy.core"] or "would give it" in traces["policy.core"]


# ---------------------------------------------------------------- coverage
def test_coverage_tells_rules_conditions_and_words_that_no_test_exercises(tmp_path: Path) -> None:
    said = '{say: "The stipend is $900.", remembers: {slot: stipend}}'
    place = folder(tmp_path / "mine", said)
    ruleset = load([place])
    trial = Memory.rehearsal(ruleset=ruleset, ner=False).trial

    def covered(*more: str) -> Any:
        folder(place, said, *more)
        again = load([place])
        gathered = Coverage(again)
        check(again, trial if again is ruleset else Memory.rehearsal(ruleset=again, ner=False).trial,
              rules=frozenset({"capture.stipend", "slot.stipend"}), watch=gathered.watch)  # fmt: skip
        (one,) = gathered.rules(["capture.stipend"])
        return one

    before = covered()
    assert before.exercised
    assert before.idle_conditions == ("trigger", "when.no_words")
    assert before.idle_words == ("津贴", "bursary")
    after = covered(
        '{say: "The stipend was $900 last year.", remembers: {slot: amount}}',
        '{say: "The bursary stands. The fee is $70.", remembers: {slot: amount}}',
    )
    assert "when.no_words" not in after.idle_conditions
    assert after.idle_words == ("津贴",)
    assert any("in no test: 津贴" in line for line in coverage_lines([after]))


def test_a_rule_without_any_test_is_told_as_never_seen(tmp_path: Path) -> None:
    ruleset = load([folder(tmp_path / "mine")])
    gathered = Coverage(ruleset)
    check(ruleset, Memory.rehearsal(ruleset=ruleset, ner=False).trial, rules=frozenset({"capture.stipend"}),
          watch=gathered.watch)  # fmt: skip
    (line, *_) = [line for line in coverage_lines(gathered.rules(["capture.stipend"])) if "capture.stipend" in line]
    assert "no test sees capture.stipend@1 act" in line


# ---------------------------------------------------------------- trying a sentence
def test_a_tryout_shows_mentions_cues_binding_verdict_and_what_nearly_fired(ruleset: Ruleset) -> None:
    tryout = tried(ruleset, "预算5万元", "预算提高到8万元")
    said = "\n".join(tryout_lines(tryout))
    assert "money 80000 CNY" in said
    assert "提高到" in said
    assert "change" in said
    assert "SUPERSEDE update_stated by policy.core." in said
    assert "relation differs to budget[] 50000 CNY" in said
    assert any(not each.stopped_by and each.rule.startswith("capture.amount@") for each in tryout.nearly)


def test_a_sentence_that_no_rule_concerns_has_nothing_near(ruleset: Ruleset) -> None:
    tryout = tried(ruleset, "窗外很安静")
    assert [each for each in tryout.nearly if each.rule.startswith("capture.")] == []
    assert {decision.action for decision in tryout.decisions} == {"IGNORE"}


def test_a_cue_word_that_is_no_cue_is_told_with_the_reason(ruleset: Ruleset) -> None:
    nearly = tried(ruleset, "不过预算还是8万元").nearly
    assert any(each.stopped_by == ("pseudo",) and each.words == "不" for each in nearly)
    assert not any(each.stopped_by == ("pseudo",) for each in tried(ruleset, "预算不是8万元").nearly)


# ---------------------------------------------------------------- comparing
def test_a_comparison_tells_what_was_added_removed_and_changed_field_by_field(tmp_path: Path, ruleset: Ruleset) -> None:
    one = load([folder(tmp_path / "one")])
    changed = CAPTURE.replace("version: 1", "version: 2").replace("bursary", "grant").replace("90", "80")
    two = load([folder(tmp_path / "two", capture=changed)])
    (change,) = compare(one, two).changes
    assert {(field.path, field.before, field.after) for field in change.fields} == {
        ("version", (1,), (2,)), ("priority", (90,), (80,)), ("trigger.words", ("bursary",), ("grant",)),
    }  # fmt: skip
    assert not change.inert
    assert [each.rule for each in compare(ruleset, one).of("added")] == ["capture.stipend", "slot.stipend"]
    assert [each.rule for each in compare(one, ruleset).of("removed")] == ["capture.stipend", "slot.stipend"]
    assert compare(one, one).changes == ()
    assert any(line == "    priority: 90 -> 80" for line in comparison_lines(compare(one, two)))
    assert comparison_fields(compare(one, two))["changes"][0]["what"] == "changed"


def test_a_change_of_words_about_the_rule_is_told_as_one_that_no_decision_reads(tmp_path: Path) -> None:
    one = load([folder(tmp_path / "one")])
    told_better = CAPTURE.replace("version: 1", "version: 2").replace("because", "students ask for it")
    (change,) = compare(one, load([folder(tmp_path / "two", capture=told_better)])).changes
    assert change.inert


# ---------------------------------------------------------------- the command line
def test_the_test_command_runs_the_tests_of_a_folder_alone_and_prints_json(tmp_path: Path) -> None:
    good = '{say: "The stipend is $900.", remembers: {slot: stipend}}'
    bad = '{say: "The stipend was $900 last year.", remembers: {slot: stipend}}'
    place = folder(tmp_path / "mine", good, bad)
    done = recordari("rules", "test", str(place), "--own", "--coverage", "--json")
    assert done.returncode == 1, done.stderr
    data = json.loads(done.stdout)
    assert (data["passed"], data["failed"]) == (1, 1)
    (failure,) = data["failures"]
    assert (failure["rule"], failure["line"] > 1) == ("capture.stipend@1", True)
    assert any("when.no_words" in line for line in failure["trace"])
    assert {each["rule"] for each in data["coverage"]} == {"capture.stipend@1", "slot.stipend@1"}


def test_the_try_command_takes_earlier_turns_a_time_and_rules_of_ones_own(tmp_path: Path) -> None:
    place = folder(tmp_path / "mine")
    done = recordari("rules", "try", "改成下周五", "--after", "交房日期是6月3日", "--after", "assistant: 好的", "--at",
               "2026-04-01T09:00:00+08:00", "--rules", str(place), "--json", "--no-ner")  # fmt: skip
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert [m["canonical"] for m in data["mentions"]] == ["2026-04-10"]
    assert data["decisions"][0]["action"] == "SUPERSEDE"
    assert recordari("rules", "try", "  ").returncode == 2


def test_the_diff_command_reads_folders_git_revisions_and_digests_of_a_store(tmp_path: Path) -> None:
    place = folder(tmp_path / "mine")
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b.example", "-C", str(tmp_path))
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "mine"], check=True)
    subprocess.run([*git, "commit", "-qm", "one"], check=True)
    folder(place, capture=CAPTURE.replace("version: 1", "version: 2").replace("90", "80"))

    def diff(*arguments: str) -> subprocess.CompletedProcess[str]:
        return recordari("rules", "diff", *arguments, cwd=tmp_path)

    done = diff("HEAD:mine", "mine")
    assert (done.returncode, "priority: 90 -> 80" in done.stdout) == (0, True), done.stderr
    store = tmp_path / "kept.db"
    with Memory.open(store, rules=place, ner=False) as memory:
        memory.observe("The stipend is $900.", said_at="2026-03-18T10:00:00+08:00")
        digest = memory.ruleset.digest
    done = diff(digest[:10], "mine", "--store", str(store), "--json")
    assert json.loads(done.stdout)["changes"] == [], done.stderr
    for name in ("nowhere", "HEAD:nowhere", "--upload-pack=x:mine", "abcdef123456"):
        done = diff("--store", str(store), "--", name, "mine")
        assert (done.returncode, name.partition(":")[0] in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize("name", ["stipend.yaml", "slot_stipend.yaml"])
def test_own_tests_of_a_single_file_can_be_run(tmp_path: Path, name: str) -> None:
    place = folder(tmp_path / "mine", '{say: "The stipend is $900.", remembers: {slot: stipend}}')
    done = recordari(
        "rules", "test", str(place), "--own", "--rule", "capture.stipend" if "slot" not in name else "slot.stipend"
    )
    assert done.returncode == 0, done.stderr
