"""Lint: each check finds its bad example and nothing in its good one; a folder is told of everything in one run."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path

import pytest
from shipped import shipped
from typer.testing import CliRunner

from recordari.rulefile import Problem
from recordari.rules.checks.base import LintCheck, Reported
from recordari.rules.checks.private import made_up, personal
from recordari.rules.lint import CHECKS, READS, lint, lint_folders
from recordari.rules.load import load
from recordari.rules.lock import write_lock
from recordari.rules.schema import KINDS
from recordari.service.checkpage import page
from recordari.service.cli import app

ROOT = Path(__file__).resolve().parent.parent
BY_ID = {check.id: check for check in CHECKS}
LAST = 0  # the last line of a text
HEAD = "version: 1\nstatus: active\ntitle: {en: e, zh: z}\nowner: test\nrationale: because\n"
TESTS = """\
tests:
  - {say: 预算是8万。, remembers: {value: 80000 XXX}}
  - {say: The budget is $9000., remembers: {value: 9000 USD}}
  - {say: 预算8万够吗？, remembers: none}
  - {say: The budget is not $9000., remembers: none}
"""
GATED = (
    "tests: [{say: hi, expect: small_talk}, {say: hello, expect: small_talk}, "
    "{say: a, expect: none}, {say: b, expect: none}]\n"
)
GIVES = (
    "tests: [{say: a, gives: {do: ADD}}, {say: b, gives: {do: ADD}}, "
    "{say: c, gives: {do: IGNORE}}, {say: d, gives: {do: IGNORE}}]\n"
)
SAY = "say: {en: '{value}', zh: '{value}'}\nasked_as: {en: [what], zh: [什么]}\n"
BASE = {
    "capture": "kind: capture\nid: capture.budget\nslot: budget\nwhen: [{value: {kind: money}}]\n"
    "trigger: {lexicon: words.budget, place: around}\n" + HEAD + TESTS,
    "slot": "kind: slot\nid: slot.budget\nslot: budget\nvalue: money\n" + SAY + HEAD + TESTS,
    "vocabulary": "kind: vocabulary\nid: words.budget\nwords: [预算, budget]\n" + HEAD,
    "gate": "kind: gate\nid: gate.talk\ngives: small_talk\nwords: [hello]\n" + HEAD + GATED,
    "policy": "kind: policy\nid: policy.core\nrows: [{when: {}, do: ADD, reason: stated}]\n" + HEAD + GIVES,
    "grammar": "kind: grammar\nid: fruit.en\nproductions:\n  counted: {sequence: [number n, apples], kind: number}\n"
    + HEAD
    + GATED.replace("small_talk", "'5'"),
    "retention": "kind: retention\nid: retention.core\nclasses: {client-record-7y: P7Y}\n" + HEAD,
    "forgetting": "kind: forgetting\nid: forgetting.core\n" + HEAD,
    "cue": "kind: cue\nid: cue.negation\ncategory: negation\ndirection: forward\nwords: [not, 不是]\n" + HEAD
    + GATED.replace("expect: small_talk", "covers: '5'").replace("expect", "covers"),
}  # fmt: skip
BESIDE = {"words_address.yaml": "kind: vocabulary\nid: words.address.en\nwords: [street]\n" + HEAD}


def blocks(text: str) -> dict[str, str]:
    """The lines under each of the outermost keys; comments alone have the key of their sign."""
    found: dict[str, str] = {}
    key = ""
    for line in text.splitlines(keepends=True):
        begins = re.match(r"([a-z_]+|#)", line)
        key = begins[1] if begins else key
        found[key] = found.get(key, "") + line
    return found


def written(base: Path, excerpt: str) -> Path:
    """A sound folder with an excerpt over it."""
    base.mkdir()
    for text in BASE.values():
        (base / f"{blocks(text)['id'].split()[1]}.yaml").write_text(text, encoding="utf-8")
    for name, text in BESIDE.items():
        (base / name).write_text(text, encoding="utf-8")
    replaced: set[str] = set()
    for number, document in enumerate(excerpt.split("---\n")):
        own = blocks(document)
        kind = own.get("kind", "kind: capture").split()[1]
        sound = blocks(BASE.get(kind, BASE["capture"]))
        name = own.get("id", sound["id"]).split()[1]
        if name in replaced:
            name = f"{name}_{number}"
        replaced.add(name)
        (base / f"{name}.yaml").write_text("".join((sound | own).values()), encoding="utf-8")
        if number == 0 and "id" in own:  # an example that renames a rule, rather than adding one
            (base / f"{sound['id'].split()[1]}.yaml").unlink(missing_ok=True)
    return base


def found(folder: Path, on: date | None = None) -> list[Problem]:
    return lint_folders([folder], packs=False, on=on)[1]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECORDARI_CACHE", str(tmp_path / "cache"))


def test_the_sound_folder_is_sound(tmp_path: Path) -> None:
    assert found(written(tmp_path / "rules", "")) == []


FRAME = "trigger:\nwhen: []\nphrases: ['the budget is for {value}']\n"


@pytest.mark.parametrize(
    ("check", "excerpt", "apart"),
    [
        (
            "overlap-differs",
            f"{FRAME}---\nid: capture.other\nact: end\n{FRAME}",
            f"{FRAME}language: zh\n---\nid: capture.other\nlanguage: en\nact: end\n{FRAME}",
        ),
        (
            "equal-priority",
            f"{FRAME}---\nid: capture.other\n{FRAME}",
            f"{FRAME}---\nid: capture.other\npriority: 51\n{FRAME}",
        ),
        (
            "overlap-differs",
            "when: [{value: {kind: money, labelled: true}}]\n---\nid: capture.other\nact: end\n",
            "when: [{value: {kind: money, labelled: true}}]\n---\nid: capture.other\nact: end\n"
            "when: [{value: {kind: money, labelled: false}}]\n",
        ),
        (
            "unreachable-condition",
            "kind: gate\ncues: [question]\nunless: {cues: [question]}\n",
            "kind: gate\ncues: [question]\nunless: {cues: [negation]}\n",
        ),
        (
            "unreachable-condition",
            "when: [{value: {kind: person}}]\n",
            "when: [{value: {kind: [person, money]}}]\n",
        ),
        (
            "unreachable-condition",
            "when: [{value: {kind: money, type: [duration]}}]\n",
            "when: [{value: {kind: [money, time], type: [duration]}}]\n",
        ),
        (
            "unreachable-condition",
            "trigger: {words: [预算]}\nwhen: [{value: {kind: money}}, {no_words: [预算]}]\n",
            "trigger: {words: [预算]}\nwhen: [{value: {kind: money}}, {no_words: [费用]}]\n",
        ),
        (
            "engine-limits",
            f"trigger: {{words: [{'长' * 90}]}}\n",
            f"trigger: {{words: [{'长' * 70}]}}\n",
        ),
        (
            "engine-limits",
            "kind: grammar\nproductions:\n  long: {sequence: [" + "number n?, " * 14 + "apples], kind: number}\n",
            "kind: grammar\nproductions:\n  long: {sequence: [number n, apples], kind: number}\n",
        ),
        (
            "one-character-trigger",
            "kind: vocabulary\nwords: [价]\n",
            "kind: vocabulary\nwords: [价格]\n",
        ),
        ("full-width-sign", "trigger: {words: [预算、经费]}\n", "trigger: {words: [预算, 经费]}\n"),
    ],
)  # fmt: skip
def test_a_check_finds_its_siblings_too(tmp_path: Path, check: str, excerpt: str, apart: str) -> None:
    assert [p.check for p in found(written(tmp_path / "bad", excerpt)) if p.check == check] == [check]
    assert [p for p in found(written(tmp_path / "good", apart)) if p.check == check] == []


LOCKED = {"older-override", "changed-silently", "version-lowered", "deleted", "lock-behind", "not-read"}


@pytest.mark.parametrize("check", [c for c in CHECKS if c.id not in LOCKED], ids=lambda check: check.id)
def test_a_check_finds_its_bad_example_and_nothing_in_its_good_one(tmp_path: Path, check: LintCheck) -> None:
    day = date(2026, 7, 1)
    bad = [problem for problem in found(written(tmp_path / "bad", check.bad), day) if problem.check == check.id]
    assert bad
    assert {problem.severity for problem in bad} == {check.severity}
    good = [problem for problem in found(written(tmp_path / "good", check.good), day) if problem.check == check.id]
    assert good == []


def test_a_locked_folder_shows_changes_deletions_and_a_lock_behind(tmp_path: Path) -> None:
    folder = written(tmp_path / "rules", "version: 2\nchangelog: [{version: 2, note: n}]\n")
    assert write_lock(folder) == []
    assert found(folder) == []
    capture = folder / "capture.budget.yaml"
    sound = capture.read_text(encoding="utf-8")
    for check, text in {
        "changed-silently": sound.replace("because", "why not"),
        "version-lowered": sound.replace("version: 2", "version: 1"),
        "lock-behind": sound.replace("version: 2", "version: 3"),
    }.items():
        capture.write_text(text, encoding="utf-8")
        assert [problem.check for problem in found(folder)] == [check]
    capture.unlink()
    assert [problem.check for problem in found(folder)] == ["deleted"]


def test_an_override_that_has_grown_old_is_told(tmp_path: Path) -> None:
    below = written(tmp_path / "below", "version: 5\nchangelog: [{version: 5, note: n}]\n")
    above = tmp_path / "above"
    above.mkdir()
    for version, checks in ((4, ["older-override"]), (6, [])):
        text = BASE["capture"].replace("version: 1", f"version: {version}")
        note = f"changelog: [{{version: {version}, note: n}}]\n"
        (above / "capture.budget.yaml").write_text(text + note, encoding="utf-8")
        told = lint_folders([below, above], packs=False)[1]
        assert [problem.check for problem in told] == checks
        assert all(Path(problem.file).parent == above for problem in told)


def test_a_file_that_cannot_be_read_is_found_beside_the_others(tmp_path: Path) -> None:
    folder = written(tmp_path / "rules", "owner: ' '\n")
    (folder / "late.yml").write_text(BASE["gate"], encoding="utf-8")
    (folder / "gbk.yaml").write_bytes("id: 预算".encode("gbk"))
    assert sorted(problem.check for problem in found(folder)) == ["no-owner", "not-read", "not-read"]


def test_one_run_tells_of_yaml_of_keys_of_references_and_of_form(tmp_path: Path) -> None:
    folder = written(tmp_path / "rules", "owner: ' '\n")
    (folder / "open.yaml").write_text("id: words.open\nwords: [a, b\n", encoding="utf-8")
    (folder / "key.yaml").write_text(BASE["gate"].replace("gate.talk", "gate.key") + "colour: red\n", encoding="utf-8")
    lost = BASE["capture"].replace("capture.budget", "capture.lost").replace("words.budget", "words.buget")
    (folder / "lost.yaml").write_text(lost, encoding="utf-8")
    names = BASE["capture"].replace("capture.budget", "capture.names").replace("words.budget", "words.open")
    (folder / "names_open.yaml").write_text(names, encoding="utf-8")  # names a broken file: not to blame itself
    told = {problem.check: Path(problem.file).name for problem in found(folder)}
    assert told == {
        "no-owner": "capture.budget.yaml",
        "not-yaml": "open.yaml",
        "unknown-key": "key.yaml",
        "unknown-lexicon": "lost.yaml",
    }


def test_a_check_accepted_with_a_reason_does_not_count_and_an_idle_acceptance_does(tmp_path: Path) -> None:
    short = "trigger: {words: [价], place: label_end}\n"
    assert [p.check for p in found(written(tmp_path / "plain", short))] == ["one-character-trigger"]
    accepts = "accepts: {one-character-trigger: As the end of a label it is unmistakable.}\n"
    assert found(written(tmp_path / "accepted", short + accepts)) == []
    assert [p.check for p in found(written(tmp_path / "idle", accepts))] == ["accepts-nothing"]


def test_days_are_held_against_the_day_given_and_never_against_today(tmp_path: Path) -> None:
    folder = written(tmp_path / "rules", "kind: gate\neffective: {until: 2026-06-30}\n")
    assert found(folder) == []
    assert found(folder, date(2026, 6, 30)) == []
    assert [problem.check for problem in found(folder, date(2026, 7, 1))] == ["expired"]


def test_an_override_that_drops_words_of_a_shipped_list_is_told_and_no_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # the cache of this machine: parsing all packs anew shows nothing here
    rules = shipped()
    name = "words.bridge"
    text = rules.sources[name].replace(f"version: {rules.files[name].version}\n", "version: 99\n")
    (tmp_path / "bridge.yaml").write_text(re.sub(r"\bmeasure:", "no_measure:", text), encoding="utf-8")
    told = [problem for problem in lint_folders([tmp_path])[1] if problem.check == "does-not-compile"]
    assert "'measure'" in told[0].message


def test_lint_can_be_asked_about_one_rule(tmp_path: Path) -> None:
    ruleset = load([written(tmp_path / "rules", "owner: ' '\n---\nkind: gate\nowner: ' '\n")], packs=False)
    assert {Path(p.file).name for p in lint(ruleset, rule="gate.talk")} == {"gate.talk.yaml"}
    assert len(lint(ruleset)) == 2


def test_every_problem_names_a_check_that_is_explained() -> None:
    folder = ROOT / "tests" / "bad_rules"
    told = lint_folders([folder], packs=False)[1]
    assert {problem.check for problem in told} <= BY_ID.keys()
    assert {Path(problem.file).name for problem in told} >= {path.name for path in folder.glob("*.yaml")}


def test_every_check_has_an_id_of_its_own_and_says_itself_in_both_languages() -> None:
    assert len(BY_ID) == len(CHECKS) >= 15
    for check in CHECKS:
        assert type(check).__doc__ is not None, check.id
        assert re.search(r"[\u3400-\u9fff]", check.zh), check.id
        assert check.bad != check.good, check.id
    assert READS.keys() == KINDS.keys()
    assert any(isinstance(check, Reported) for check in CHECKS)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_of_checks_is_in_step_with_them(language: str) -> None:
    name = "rule-checks.md" if language == "en" else "rule-checks.zh.md"
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == page(language), "make docs"


@pytest.mark.parametrize(
    "said",
    ["clerk@our-firm.cn", "13867421539", "(617) 384-0917", "078-05-1120", "6222 0212 0812 3708", "110101199003074530"],
)  # fmt: skip
def test_what_may_belong_to_somebody_is_found(said: str) -> None:
    assert [text for _, _, text in personal(f"Ask {said}, please.")] == [said]


@pytest.mark.parametrize(
    "said",
    ["name@example.com", "a@mail.example", "13800001234", "617-555-0143", "11010519491231002X", "order 2026031800017"],
)
def test_what_is_kept_for_examples_is_not(said: str) -> None:
    assert list(personal(f"Ask {said}, please.")) == []


def test_a_made_up_number_shows_it() -> None:
    assert made_up("138 0000 2345")
    assert made_up("011-12-3456")
    assert not made_up("138 6742 1539")


def test_the_command_prints_json_and_fails_on_warnings_only_when_asked(tmp_path: Path) -> None:
    folder = written(tmp_path / "rules", "trigger: {words: [价], place: label_end}\n")
    runner = CliRunner()
    text = runner.invoke(app, ["rules", "lint", "--no-packs", str(folder)])
    assert text.exit_code == 0
    assert "warning: the trigger '价' is one character" in text.stderr
    assert "0 errors, 1 warnings" in text.stdout
    assert runner.invoke(app, ["rules", "lint", "--no-packs", "--strict", str(folder)]).exit_code == 1
    told = json.loads(runner.invoke(app, ["rules", "lint", "--no-packs", "--format", "json", str(folder)]).stdout)
    assert told["warnings"] == 1
    (problem,) = told["problems"]
    assert problem["check"] == "one-character-trigger"
    assert problem["line"] > 1


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("id： slot.x\nversion: 1\n", 1, "write ':' of the keyboard for English"),
        ("id: words.x\nwords: ［预算, 经费］\nkind： vocabulary\n", 3, "write ':' of the keyboard"),
        ("id: words.x\nwords: [预算, 经费］\n", 3, "write ']' of the keyboard"),
        ("id: slot.x\n\tversion: 1\n", 2, "Indent with spaces, not with tabs"),
        ("\ufeffid: slot.x\nkind: slt\n", 2, "Did you mean 'slot'"),
        ("id: slot.x\r\nkind: slt\r\n", 2, "Did you mean 'slot'"),
        (BASE["slot"] + "needs_approval: no\n", LAST, "YAML 1.2 reads 'no' as text: write false"),
        (BASE["slot"] + "needs_approval: Yes\n", LAST, "write true"),
        (BASE["capture"] + "priority: 12:30\n", LAST, "reads '12:30' as text: write the number with digits alone"),
        (BASE["capture"] + "priority: '60'\n", LAST, "Take it out of quotes"),
        (BASE["gate"] + "effective: {from: 2026-3-4}\n", LAST, "should be a date such as 2026-03-18, not '2026-3-4'"),
        (
            BASE["capture"].replace("value: 80000 XXX", "value: 80000"),
            12,
            "should be text, not 80000. Put it in quotes",
        ),
    ],
)
def test_a_habit_of_other_editors_and_other_yaml_gets_its_place_and_a_way_out(
    tmp_path: Path, text: str, line: int, said: str
) -> None:
    folder = written(tmp_path / "rules", "")
    (folder / "mine.yaml").write_bytes(text.encode())
    told = [str(problem) for problem in found(folder) if problem.file.endswith("mine.yaml")]
    assert any(said in one for one in told), told
    line = line or text.count("\n")
    assert any(re.search(rf"mine\.yaml:{line}:", one) for one in told if said in one), told


@pytest.mark.parametrize("value", ["2026-03-04", "12:30", "no", "0x1F kg"])
def test_a_day_a_clock_and_a_no_stay_the_text_that_was_written(tmp_path: Path, value: str) -> None:
    text = BASE["vocabulary"].replace("[预算, budget]", f"[预算, {value}]")
    (tmp_path / "words.yaml").write_text(text, encoding="utf-8")
    assert load([tmp_path], packs=False).words("words.budget")[1] == value
