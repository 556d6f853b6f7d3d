"""Inline tests and lint: every failure at the line of its test, every check with a bad and a good file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from recordari.model import Decision, Known, MemoryItem, Turn
from recordari.rulefile import InlineTest
from recordari.rules.check import Report, check
from recordari.rules.given import known_of, moment, read_canonical, turns_of
from recordari.rules.load import load
from recordari.rules.ruleset import Ruleset
from recordari.values import MoneyValue, Value


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECORDARI_CACHE", str(tmp_path / "cache"))


HEAD = "version: 1\ntitle: {en: e, zh: z}\nowner: test\nrationale: because\n"
POLICY = (
    "id: policy.core\nkind: policy\n"
    + HEAD
    + """\
rows:
  - {when: {modality: question}, do: IGNORE, reason: question}
  - {when: {}, do: ADD, reason: stated}
"""
)
GATE = (
    "id: gate.talk\nkind: gate\n"
    + HEAD
    + """\
gives: small_talk
words: [hello, 你好, thank you]
fillers: [there, 啊]
"""
)
GRAMMAR = (
    "id: fruit.en\nkind: grammar\n"
    + HEAD
    + """\
productions:
  counted: {sequence: [number n, "apples"], type: fruit, kind: number}
"""
)
SLOT = (
    "id: slot.budget\nkind: slot\n"
    + HEAD
    + """\
slot: budget
value: [money, quantity]
say: {en: "{entity} {value}", zh: "{entity}{value}"}
asked_as: {en: [what], zh: [什么]}
"""
)
CUE = "id: cue.maybe\nkind: cue\n" + HEAD + "category: hedge\nwords: [maybe]\ndirection: forward\nuntil: [clause_end]\n"


def rules(base: Path, **files: str) -> Ruleset:
    base.mkdir(exist_ok=True)
    for name, text in files.items():
        (base / f"{name}.yaml").write_text(text, encoding="utf-8")
    return load([base], packs=False)


def run(base: Path, text: str, **more: str) -> Report:
    return check(rules(base, rule=text, **more))


def messages(report: Report) -> list[str]:
    return [str(problem) for problem in report.problems]


# ---------------------------------------------------------------- policies
def test_a_policy_test_passes_and_a_wrong_one_fails_at_its_line(tmp_path: Path) -> None:
    text = (
        POLICY
        + """\
tests:
  - {say: asked, gives: {modality: question, do: IGNORE, reason: question, row: row1}}
  - {say: said, gives: {do: ADD}}
  - {say: wrong, gives: {modality: joke, do: IGNORE}}
"""
    )
    report = run(tmp_path, text)
    assert (report.passed, report.todo, report.skipped) == (2, 0, 0)
    (message,) = messages(report)
    assert message.endswith("rule.yaml:13:5: 'wrong': expected do IGNORE, got ADD stated (policy.core.row2@1)")


def test_a_policy_test_with_unknown_features_fails(tmp_path: Path) -> None:
    report = run(tmp_path, POLICY + "tests:\n  - {say: x, gives: {mood: good, do: ADD}}\n")
    assert "unknown feature 'mood'" in messages(report)[0]


def test_a_known_gap_counts_until_it_closes(tmp_path: Path) -> None:
    text = (
        POLICY
        + """\
tests:
  - {say: open, gives: {modality: joke}, todo: IGNORE joke}
  - {say: open too, gives: {modality: joke, do: IGNORE}, todo: it is added today}
  - {say: closed, gives: {modality: question}, todo: IGNORE question}
"""
    )
    report = run(tmp_path, text)
    assert (report.passed, report.todo) == (0, 2)
    assert "'closed': the known gap is closed. Remove `todo`" in messages(report)[0]


def test_only_the_tests_of_the_rule_asked_for_run(tmp_path: Path) -> None:
    ruleset = rules(tmp_path, p=POLICY + "tests:\n  - {say: a, gives: {do: ADD}}\n", g=GATE)
    assert check(ruleset, rule="gate.talk").passed == 0
    assert check(ruleset, rule="policy.core@1").passed == 1


# ---------------------------------------------------------------- gates
def test_gate_tests_say_which_turn_is_gated(tmp_path: Path) -> None:
    text = (
        GATE
        + """\
tests:
  - {say: "Hello, there!", expect: small_talk}
  - {say: 你好啊。, expect: small_talk}
  - {say: THANK YOU, expect: small_talk}
  - {say: hello the budget is fixed, expect: none}
  - {say: hellos, expect: none}
  - {say: there, expect: none, because: a filler alone is no sign}
  - {say: hello, expect: none}
  - {say: goodbye, expect: small_talk}
"""
    )
    report = run(tmp_path, text)
    assert report.passed == 6
    assert [re.sub(r".*yaml:", "", message) for message in messages(report)] == [
        "17:5: 'hello': expected no gate, got small_talk (gate.talk@1)",
        "18:5: 'goodbye': expected small_talk, got no gate",
    ]


@pytest.mark.parametrize(
    ("more", "gated", "open_"),
    [
        ("match: start\n", "hello, the budget", "well hello"),
        ("match: end\n", "well hello", "hello, the budget"),
        ("match: anywhere\n", "so hello to all", "nothing here"),
        ("longest: 8\n", "hello", "hello hello"),
        ("unless: {words: [please]}\nmatch: anywhere\n", "hello you", "hello please"),
        ("unless: {patterns: ['[0-9]']}\nmatch: anywhere\n", "hello you", "hello 5"),
        ("speaker: [user]\npatterns: ['good (morning|day)']\n", "good day", "good night"),
    ],
)
def test_a_gate_field_narrows_what_it_holds_for(tmp_path: Path, more: str, gated: str, open_: str) -> None:
    tests = f'tests:\n  - {{say: "{gated}", expect: small_talk}}\n  - {{say: "{open_}", expect: none}}\n'
    assert messages(run(tmp_path, GATE + more + tests)) == []


def test_a_gate_counts_only_for_its_speaker_and_days(tmp_path: Path) -> None:
    text = (
        GATE
        + "speaker: assistant\neffective: {from: 2026-03-01, until: 2026-03-31}\n"
        + """\
tests:
  - {say: hello, speaker: assistant, expect: small_talk}
  - {say: hello, expect: none}
  - {say: hello, speaker: assistant, now: 2026-03-31, expect: small_talk}
  - {say: hello, speaker: assistant, now: 2026-04-01, expect: none}
"""
    )
    assert messages(run(tmp_path, text)) == []


def test_gates_are_tried_by_priority_and_use_vocabularies(tmp_path: Path) -> None:
    words = "id: words.commands\nkind: vocabulary\n" + HEAD + "words: [hello, stop]\n"
    command = GATE.replace("gate.talk", "gate.command").replace("small_talk", "one_off_command")
    command = command.replace("words: [hello, 你好, thank you]", "lexicon: words.commands\npriority: 1")
    tests = "tests:\n  - {say: stop, expect: one_off_command}\n  - {say: hello, expect: one_off_command}\n"
    assert messages(run(tmp_path, command + tests, words=words, talk=GATE)) == []


# ---------------------------------------------------------------- grammars, vocabularies, cues
def test_grammar_tests_compare_canonical_values(tmp_path: Path) -> None:
    text = (
        GRAMMAR
        + """\
tests:
  - {say: I bought 3 apples and 12 apples, expect: ["3", "12"]}
  - {say: 3 pears, expect: none}
  - {say: 4 apples, expect: none}
  - {say: 4 apples, expect: "5"}
  - {say: four pears, todo: "4"}
  - {say: 7 apples, todo: "7"}
"""
    )
    report = run(tmp_path, text)
    assert (report.passed, report.todo) == (2, 1)
    shown = "\n".join(messages(report))
    assert "12:5: '4 apples': expected nothing, found 4 (number, fruit.en.counted@1)" in shown
    assert "13:5: '4 apples': expected 5, found 4 (number, fruit.en.counted@1)" in shown
    assert "15:5: '7 apples': the known gap is closed" in shown


def test_vocabulary_tests_look_at_the_kinds_its_words_serve(tmp_path: Path) -> None:
    words = "id: words.fruit\nkind: vocabulary\n" + HEAD + "words: [apples]\n"
    grammar = GRAMMAR.replace('"apples"]', '"@words.fruit"]')
    tests = 'tests:\n  - {say: 3 apples, expect: "3"}\n  - {say: 3 plums, expect: none}\n'
    assert messages(run(tmp_path, words + tests, grammar=grammar)) == []


def test_cue_tests_compare_the_values_covered(tmp_path: Path) -> None:
    text = (
        CUE
        + """\
tests:
  - {say: maybe 3 apples, covers: ["3"]}
  - {say: 3 apples, covers: none}
  - {say: maybe 3 apples, covers: none}
"""
    )
    report = run(tmp_path, text, grammar=GRAMMAR)
    assert report.passed == 2
    assert "expected to cover nothing, covers ['3'] (hedge 'maybe')" in messages(report)[0]


# ---------------------------------------------------------------- captures and slots, through a pipeline given
def item(turn: Turn, amount: str, status: str = "current") -> MemoryItem:
    value = MoneyValue.model_validate({"amount": amount, "currency": "CNY"})
    return MemoryItem.model_validate(
        {
            "id": f"{turn.turn_id}-{amount}", "entity": "user", "slot": "budget", "value": value,
            "asserted_by": "user", "status": status, "said_at": turn.said_at, "recorded_at": turn.said_at,
            "turn_id": turn.turn_id,
        }
    )  # fmt: skip


def trial(turns: Sequence[Turn], known: Known) -> tuple[list[Decision], list[MemoryItem]]:
    """A pipeline that remembers every number said as a budget, and replaces what was known."""
    items = list(known.items)
    decisions = []
    for turn in turns:
        hit = re.search(r"\d+", turn.text)
        action, reason = ("SUPERSEDE", "update_stated") if items else ("ADD", "stated")
        if hit is None:
            action, reason = "IGNORE", "no_candidate"
        else:
            items = [old.model_copy(update={"status": "superseded"}) for old in items] + [item(turn, hit.group())]
        decisions.append(
            Decision.model_validate(
                {"turn_id": turn.turn_id, "turn": turn.ordinal, "ordinal": 0, "action": action, "reason": reason}
                | {"rule": "policy.x@1"}
            )
        )
    return decisions, items


def test_slot_and_capture_tests_run_through_the_pipeline_given(tmp_path: Path) -> None:
    text = (
        SLOT
        + """\
tests:
  - {say: budget 8, remembers: {slot: budget, value: 8 CNY}, does: ADD, reason: stated}
  - {say: budget 8, known: {budget: 5 CNY}, does: SUPERSEDE, remembers: {value: 5 CNY, status: superseded}}
  - {say: no number, remembers: none, reason: no_candidate}
  - {say: no number, after: [budget 5], remembers: none}
  - {say: budget 8, remembers: none}
  - {say: budget 8, does: HOLD}
  - {say: budget 8, remembers: {value: 9 CNY}}
  - {say: budget 8, remembers: {colour: blue}}
  - {say: budget 8, known: {"budget[研发]": eight}}
  - {say: budget 8, known: {rent: 5 CNY}}
"""
    )
    ruleset = rules(tmp_path, slot=text)
    report = check(ruleset, trial)
    assert report.passed == 4
    shown = "\n".join(messages(report))
    assert "16:5: 'budget 8': expected to remember nothing, got ADD stated (policy.x@1)" in shown
    assert "17:5: 'budget 8': expected HOLD, got ADD stated" in shown
    assert "18:5: 'budget 8': expected {'value': '9 CNY'}" in shown
    assert "19:5: 'budget 8': remembers: unknown field 'colour'" in shown
    assert "20:5: 'budget 8': known: 'eight' is no canonical form of money or quantity" in shown
    assert "21:5: 'budget 8': known: 'rent' is no slot" in shown
    assert check(ruleset).skipped == 10


# ---------------------------------------------------------------- what a test takes as given
def test_moments_without_zone_are_in_china_and_a_date_is_ten_in_the_morning() -> None:
    assert moment(None) == datetime.fromisoformat("2026-03-18T10:00:00+08:00")
    assert moment("2026-05-01").isoformat() == "2026-05-01T10:00:00+08:00"
    assert moment("2026-05-01T09:30").isoformat() == "2026-05-01T09:30:00+08:00"
    assert moment("2026-05-01T09:30Z").utcoffset() == timedelta(0)


def test_earlier_turns_come_a_minute_apart() -> None:
    turns = turns_of(InlineTest(say="c", after=["a", "b"]))
    assert [(turn.text, turn.ordinal, turn.said_at.minute) for turn in turns] == [
        ("a", 0, 58),
        ("b", 1, 59),
        ("c", 2, 0),
    ]


@pytest.mark.parametrize(
    ("kind", "canonical"),
    [
        ("money", "80000 CNY"), ("money", "80000 XXX"), ("money", "<=800000 CNY"), ("money", "5000..8000 USD"),
        ("money", "~30000..40000 CNY"), ("money", "-5.5 USD"), ("number", "8"), ("percent", "15%"),
        ("quantity", "8 套"), ("time", "2026-09-22"), ("time", "2026-09-22T15:30"), ("time", "2026-05"),
        ("time", "../2026-06-30"), ("time", "2023-05-15/2023-05-21"), ("time", "P30D"), ("time", "PT90M"),
        ("time", "RRULE:FREQ=WEEKLY;BYDAY=MO"), ("time", "<=effective_date+P30D"), ("time", "T+2bd"),
        ("time", "~2026-04-01"), ("address", "浙江省杭州市西湖区文三路90号"), ("phone", "+12025550100"),
        ("phone", "555-0100"), ("email", "li@example.com"), ("url", "https://example.com"), ("person", "Li Ming"),
        ("identifier", "HT-2026-001"), ("text", "可以放款"),
    ],
)  # fmt: skip
def test_a_canonical_form_is_read_back_to_itself(kind: str, canonical: str) -> None:
    assert read_canonical([kind], canonical).canonical == canonical


@pytest.mark.parametrize(
    ("kind", "text"), [("money", "eight CNY"), ("percent", "15"), ("number", "8 pigs"), ("time", "?")]
)
def test_what_is_no_canonical_form_is_refused(kind: str, text: str) -> None:
    with pytest.raises(ValueError, match="no canonical form"):
        read_canonical([kind], text)


def test_a_known_value_that_extraction_reads_is_held_as_extraction_gives_it(tmp_path: Path) -> None:
    slots = rules(tmp_path, slot=SLOT).slots
    exact = MoneyValue.model_validate({"amount": "5", "currency": "CNY", "period": "2026-33"})

    def parse(_text: str) -> list[Value]:
        return [exact]

    known = known_of(InlineTest(say="x", known={"budget[研发]": "5 CNY"}), slots, parse)
    assert known.items[0].value is exact
    assert known.items[0].qualifier == "研发"
    assert known.items[0].said_at == moment(None) - timedelta(days=1)
