"""Back-tests: both rule sets over the same dialogues, each with a memory of its own; work is shared only where safe."""

from __future__ import annotations

import functools
import hashlib
import json
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import shipped
from commands import RECORDARI, recordari, untraced
from ruamel.yaml import YAML

from recordari.extractors.scan import Extraction, scan
from recordari.intake import Incoming, read_turn
from recordari.memory import Memory
from recordari.model import Decision
from recordari.rehearsing import Stage, sides
from recordari.rules.backtest import Backtest, Dialogue, Rehearsed, matched
from recordari.rules.compare import compare
from recordari.rules.expected import Expected
from recordari.rules.footprint import footprint
from recordari.rules.ruleset import Ruleset
from recordari.rules.tally import Tally, difference_lines, mark_of, read_rehearsed, rehearsed_fields
from recordari.service.backtest_page import page
from recordari.service.backtesting import Kept
from recordari.service.corpus import Said, corpus_digest, from_file, from_turns

ROOT = Path(__file__).resolve().parent.parent
START = datetime.fromisoformat("2026-03-18T10:00:00+08:00")


def turns(*texts: str, speakers: str = "") -> tuple[Incoming, ...]:
    whose = {"a": "assistant", "u": "user"}
    return tuple(
        read_turn(
            {
                "at": (START + timedelta(minutes=number)).isoformat(), "text": text,
                "speaker": whose[speakers[number]] if speakers else "user",
            },
            1000,
        )
        for number, text in enumerate(texts)
    )  # fmt: skip


def written_dialogues() -> Iterator[Dialogue[Said]]:
    """The dialogues that other tests of this folder use, and the examples."""
    for file in sorted((ROOT / "tests" / "dialogues").glob("*.yaml")):
        for one in YAML(typ="safe").load(file.read_text(encoding="utf-8")):
            said = [each if isinstance(each, dict) else {"user": each} for each in one["turns"]]
            rows = [
                {
                    "at": each.get("at", (START + timedelta(minutes=2 * number)).isoformat()),
                    **next({"speaker": who, "text": text} for who, text in each.items() if who != "at"),
                }
                for number, each in enumerate(said)
            ]
            yield Dialogue(one["id"], tuple(read_turn(row, 1000) for row in rows))
    for file in sorted((ROOT / "examples").glob("*.jsonl")):
        yield from from_file(str(file), 10_000)[0]


@pytest.fixture(scope="module", autouse=True)
def tidy() -> Iterator[None]:
    yield
    shutil.rmtree(_LAYERS, ignore_errors=True)
    layered.cache_clear()


@pytest.fixture(scope="module")
def corpus() -> list[Dialogue[Said]]:
    """A twelfth of them, of every file some: the ways in which dialogues go repeat themselves; and some small talk."""
    return [*list(written_dialogues())[::12], Dialogue("talk", turns("你好！", "谢谢！", "预算8万元。", "好的，谢谢"))]


_LAYERS = Path(tempfile.mkdtemp(prefix="recordari-layers-"))


@functools.cache
def layered(texts: tuple[tuple[str, str], ...]) -> Ruleset:
    """The shipped rules with these files over them."""
    place = _LAYERS / hashlib.sha256(repr(texts).encode()).hexdigest()[:16]
    place.mkdir()
    for name, text in texts:
        (place / f"{name}.yaml").write_text(text, encoding="utf-8")
    return shipped.layered([place])


def raised(ruleset: Ruleset, name: str) -> str:
    """The text of a rule with a higher version."""
    version = ruleset.files[name].version
    return ruleset.sources[name].replace(f"version: {version}\n", f"version: {version + 1}\n", 1)


def changed(ruleset: Ruleset, name: str, edit: Callable[[str], str]) -> Ruleset:
    """The rule set with one rule edited and its version raised."""
    return layered(((name, edit(raised(ruleset, name))),))


def without(ruleset: Ruleset, *names: str) -> Ruleset:
    """The rule set with some rules retired."""
    texts = {name: raised(ruleset, name) for name in names}
    assert all("status: active" in text for text in texts.values())
    return layered(tuple((n, text.replace("status: active", "status: retired", 1)) for n, text in texts.items()))


def rehearsed(before: Ruleset, after: Ruleset, dialogues: list[Dialogue[Said]], share: bool = True) -> list[Rehearsed]:
    backtest: Backtest[Said] = Backtest(*sides(before, after, ner=False), Stage, share=share)
    return [backtest.rehearse(each) for each in dialogues]


def one(before: Ruleset, after: Ruleset, *texts: str, expect: dict[str, Any] | None = None) -> Rehearsed:
    (found,) = rehearsed(before, after, [Dialogue("d", turns(*texts), Expected.read(expect or {}))])
    return found


def plain(decision: Decision) -> dict[str, Any]:
    return decision.model_dump(exclude={"runtime", "engine"})


# ---------------------------------------------------------------- the stage
def test_a_stage_without_a_database_decides_as_a_rehearsal_does(ruleset: Ruleset, corpus: list[Dialogue[Said]]) -> None:
    side, _, _ = sides(ruleset, ruleset, ner=False)
    for dialogue in corpus:
        stage = Stage()
        found: list[Decision] = []
        for said in dialogue.turns:
            turn = stage.turn(said)
            known = stage.known(turn)
            outcomes, after = side.decide(turn, side.read(turn), known, None)
            stage.take(turn, outcomes, known, after)
            found += [outcome.decision for outcome in outcomes]
        said_again = [each for each in dialogue.turns if isinstance(each, Incoming)]
        decisions, items = Memory.rehearsal(ruleset=ruleset, ner=False, engine="reference").rehearse(said_again)
        assert list(map(plain, found)) == list(map(plain, decisions)), dialogue.id
        assert {(i.id, i.status) for i in stage.items(turn)} <= {(i.id, i.status) for i in items}, dialogue.id


def test_a_copy_of_a_stage_goes_on_by_itself(ruleset: Ruleset) -> None:
    side, _, _ = sides(ruleset, ruleset, ner=False)
    stage = Stage()

    def take(into: Stage, text: str) -> int:
        turn = into.turn(turns(text)[0])
        known = into.known(turn)
        outcomes, after = side.decide(turn, side.read(turn), known, None)
        into.take(turn, outcomes, known, after)
        return len(into.known(turn).live())

    assert take(stage, "The retainer is $9,000.") == 1
    other = stage.copy()
    assert take(other, "The filing fee is $300.") == 2
    assert len(stage.known(stage.turn(turns("Hello.")[0])).live()) == 1


# ---------------------------------------------------------------- sharing
CHANGES: dict[str, Callable[[Ruleset], Ruleset]] = {
    "nothing": lambda r: r,
    "a capture is asked later": lambda r: changed(
        r, "capture.budget", lambda t: re.sub(r"priority: \d+", "priority: 5", t)
    ),
    "captures are gone": lambda r: without(r, "capture.deadline", "capture.lives.en", "capture.phone"),
    "a row decides otherwise": lambda r: changed(
        r, "policy.core", lambda t: re.sub(r"do: SUPERSEDE,(\s+)reason: update_stated", r"do: ADD,\1reason: stated", t)
    ),
    "a gate is gone": lambda r: without(r, "gate.zh.small_talk"),
    "a slot wants approval": lambda r: changed(
        r, "slot.amount", lambda t: t.replace("\nneeds_approval: false", "") + "\nneeds_approval: true\n"
    ),
    "a slot has other words": lambda r: changed(
        r, "slot.amount", lambda t: re.sub(r"\nwords: .*", "\nwords: [fee, retainer, 费, 款]", t)
    ),
    "a cue is gone": lambda r: without(r, "cue.en.hypothesis"),
    "a trigger lost its words": lambda r: changed(r, "words.budget", lambda t: t.replace(", budget]", ", outlay]")),
    "a slot of one's own": lambda r: shipped.layered([ROOT / "examples" / "insurance-rules"]),
    "only the words about a rule differ": lambda r: changed(r, "policy.core", lambda t: t + "\n# other\n"),
}


@pytest.mark.parametrize("name", list(CHANGES))
def test_shared_work_gives_what_deciding_everything_twice_gives(
    name: str, ruleset: Ruleset, corpus: list[Dialogue[Said]]
) -> None:
    after = CHANGES[name](ruleset)
    shared, twice = rehearsed(ruleset, after, corpus), rehearsed(ruleset, after, corpus, share=False)
    assert shared == twice
    differ = sum(len(each.differences) for each in twice)
    assert (differ == 0) == (name in ("nothing", "a slot of one's own", "only the words about a rule differ"))


@pytest.mark.parametrize(
    ("name", "scans", "captures", "decisions"),
    [
        ("nothing", True, True, True),
        ("a capture is asked later", True, True, True),
        ("captures are gone", True, True, True),
        ("a row decides otherwise", True, True, True),
        ("a gate is gone", True, True, True),
        ("only the words about a rule differ", True, True, True),
        ("a slot wants approval", True, True, False),
        ("a slot has other words", True, False, False),
        ("a slot of one's own", True, False, False),
        ("a trigger lost its words", True, False, False),
        ("a cue is gone", False, True, True),
    ],
)
def test_a_change_reaches_scans_captures_and_decisions_or_only_some(
    name: str, scans: bool, captures: bool, decisions: bool, ruleset: Ruleset
) -> None:
    reach = footprint(ruleset, CHANGES[name](ruleset))
    assert (reach.same_scans, reach.same_captures, reach.same_decisions) == (scans, captures, decisions)


def test_scans_are_the_same_without_the_vocabularies_that_reading_does_not_ask_for(
    ruleset: Ruleset, corpus: list[Dialogue[Said]]
) -> None:
    words = ruleset.vocabularies
    read = ruleset.extraction.read
    assert "words.budget" not in read
    assert {"words.contact", "words.person.en"} <= read < set(words)
    less = Extraction.compile(ruleset.grammars, ruleset.cues, [words[name] for name in sorted(read)], checked=True)
    for dialogue in corpus:
        for said in dialogue.turns:
            one = scan(said.text, ruleset.extraction, said_at=START, ner=False)
            assert scan(said.text, less, said_at=START, ner=False) == one


# ---------------------------------------------------------------- what differs
def test_what_follows_from_a_difference_is_followed(ruleset: Ruleset) -> None:
    after = without(ruleset, "capture.budget")
    found = one(ruleset, after, "The marketing budget is $9,000.", "Hello.", "Raise the marketing budget to $10,000.")
    assert [(each.turn, each.follows) for each in found.differences] == [(0, False), (2, True)]
    assert [each.before["slot"] for each in found.differences if each.before] == ["budget", "budget"]
    assert found.differences[1].after is not None
    assert found.differences[1].after["slot"] != "budget"


def test_a_dialogue_that_the_change_does_not_concern_is_identical(ruleset: Ruleset) -> None:
    found = one(ruleset, without(ruleset, "capture.budget"), "The retainer is $9,000.", "Make it $10,000.")
    assert found.differences == []
    assert sum(found.identical.values()) == 2


def test_decisions_are_matched_by_their_words_and_an_empty_record_says_nothing_beside_others() -> None:
    def decision(start: int, action: str = "ADD", slot: str | None = "amount") -> dict[str, Any]:
        value = None if slot is None else "1 USD"
        return {"start": start, "end": start + 2, "action": action, "slot": slot, "qualifier": "", "canonical": value}

    nothing = decision(0, "IGNORE", None)
    assert matched([nothing], [decision(4)]) == [(None, decision(4))]
    assert matched([nothing], [nothing]) == [(nothing, nothing)]
    two = [decision(4), decision(9)]
    assert matched(two, [decision(9)]) == [(decision(4), None), (decision(9), decision(9))]
    assert matched([decision(4)], [decision(4, slot="budget")]) == [(decision(4), decision(4, slot="budget"))]


def test_labels_tell_what_a_change_mends_and_what_it_breaks(ruleset: Ruleset) -> None:
    less = without(ruleset, "capture.budget")
    asked = {"turns": {"0": [{"action": "ADD", "slot": "budget", "canonical": ["9000 USD", "9000 XXX"]}]}}
    said = "The marketing budget is $9,000."
    (broken,) = one(ruleset, less, said, expect=asked).differences
    (mended,) = one(less, ruleset, said, expect=asked).differences
    assert (mark_of(broken), mark_of(mended)) == ("broken", "mended")
    assert [line.rpartition(" ")[2] for line in difference_lines(broken)][1:] == ["[right]", "[wrong]"]
    (unsaid,) = one(ruleset, less, said).differences
    assert mark_of(unsaid) is None
    assert not any(line.endswith("]") for line in difference_lines(unsaid))


def test_labels_of_the_end_mark_the_differences_on_the_way(ruleset: Ruleset) -> None:
    asked = {"current": [{"slot": "budget", "canonical": "10000 USD"}], "not_current": [{"canonical": "9000 USD"}]}
    texts = ("The marketing budget is $9,000.", "Raise the marketing budget to $10,000.")
    found = one(ruleset, without(ruleset, "capture.budget"), *texts, expect=asked)
    assert (found.labelled, found.right_before, found.right_after) == (1, 1, 0)
    assert {mark_of(each) for each in found.differences} == {"broken"}


@pytest.mark.parametrize(
    "given",
    [
        {"turns": {"x": []}},
        {"turns": {"0": [{"colour": "red"}]}},
        {"actions": {"0": ["KEEP"]}},
        {"current": {"slot": "budget"}},
        {"current": [{"slot": 7}]},
        [],
    ],
)
def test_labels_that_cannot_be_held_are_refused(given: Any) -> None:
    with pytest.raises(ValueError, match="expect"):
        Expected.read(given)


# ---------------------------------------------------------------- telling and keeping
def tally(before: Ruleset, after: Ruleset, dialogues: list[Dialogue[Said]]) -> Tally:
    made = Tally(compare(before, after), corpus_digest(dialogues))
    for each in rehearsed(before, after, dialogues):
        made.add(each)
    return made


def test_a_tally_counts_by_slot_and_rule_and_survives_being_kept(ruleset: Ruleset) -> None:
    less = without(ruleset, "capture.budget")
    dialogues: list[Dialogue[Said]] = [Dialogue("d", turns("The marketing budget is $9,000.", "The retainer is $70."))]
    made = tally(ruleset, less, dialogues)
    assert (made.total["changed"], made.total["identical"]) == (1, 1)
    assert made.by_slot["budget"]["changed"] == made.by_slot["amount"]["changed"] == 1
    assert made.by_rule["capture.budget"]["changed"] == 1
    (found,) = rehearsed(ruleset, less, dialogues)
    assert read_rehearsed(json.loads(json.dumps(rehearsed_fields(found)))) == found


def test_the_order_of_the_dialogues_changes_no_count(ruleset: Ruleset, corpus: list[Dialogue[Said]]) -> None:
    less = without(ruleset, "capture.budget")
    one_way, other_way = tally(ruleset, less, corpus), tally(ruleset, less, corpus[::-1])
    assert one_way.total["changed"]
    assert (one_way.total, one_way.by_slot, one_way.by_rule) == (other_way.total, other_way.by_slot, other_way.by_rule)
    assert sorted(map(repr, one_way.differences)) == sorted(map(repr, other_way.differences))


def test_the_page_needs_nothing_from_elsewhere_and_escapes_what_was_said(ruleset: Ruleset) -> None:
    nasty = 'The <script>alert(1)</script> budget is $9,000 & "more".'
    made = tally(ruleset, without(ruleset, "capture.budget"), [Dialogue("<b>d</b>", turns(nasty))])
    for language in ("en", "zh"):
        text = page(made, language)
        assert made.differences
        assert "<script" not in text
        assert "<b>d</b>" not in text
        assert "&lt;script&gt;" in text
        assert not re.search(r"(?:src|href)\s*=|https?://|@import|url\(", text)
        assert f'<html lang="{language}">' in text
        assert "规则变更回测" in text
        assert "Back-test of a rule change" in text


def test_turns_that_share_a_principal_or_a_conversation_stay_together(tmp_path: Path) -> None:
    rows = [
        {"entity": "a", "conversation": "1"}, {"entity": "b", "conversation": "2"},
        {"entity": "a", "conversation": "3"}, {"entity": "c", "conversation": "2"},
    ]  # fmt: skip
    file = tmp_path / "turns.jsonl"
    lines = [json.dumps({"at": START.isoformat(), "text": f"Hello {n}.", **row}) for n, row in enumerate(rows)]
    file.write_text("\n".join([*lines, "{"]), encoding="utf-8")
    dialogues, told = from_file(str(file), 1000)
    assert told.bad == 1
    assert [[turn.text for turn in each.turns] for each in dialogues] == [
        ["Hello 0.", "Hello 2."], ["Hello 1.", "Hello 3."],
    ]  # fmt: skip


# ---------------------------------------------------------------- the command line
def corpus_file(place: Path, copies: int = 6) -> Path:
    texts = ["The marketing budget is $9,000.", "Thanks!", "Raise the marketing budget to $10,000."]
    rows = [
        {
            "id": f"d{n}", "note": "kept by others",
            "turns": [{"at": START.isoformat(), "speaker": "user", "text": text} for text in texts],
            "expect": {"current": [{"canonical": "10000 USD"}]},
        }
        for n in range(copies)
    ]  # fmt: skip
    file = place / "corpus.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return file


def later_budget(place: Path, ruleset: Ruleset) -> Path:
    """A folder whose rule of budgets is asked after that of any amount."""
    after = changed(ruleset, "capture.budget", lambda text: re.sub(r"priority: \d+", "priority: 5", text))
    (place / "rules").mkdir()
    (place / "rules" / "budget.yaml").write_text(after.sources["capture.budget"], encoding="utf-8")
    return place / "rules"


def backtest(*arguments: str) -> subprocess.CompletedProcess[str]:
    return recordari("rules", "backtest", "--no-ner", *arguments)


def test_the_command_gives_the_same_with_one_process_and_with_two(tmp_path: Path, ruleset: Ruleset) -> None:
    given = (
        "--from",
        "packs",
        "--to",
        str(later_budget(tmp_path, ruleset)),
        "--corpus",
        str(corpus_file(tmp_path, 24)),
    )
    html = tmp_path / "page.html"
    one_process = backtest(*given, "--json", "--workers", "1")
    two = backtest(*given, "--json", "--workers", "2", "--html", str(html))
    assert one_process.returncode == 0, one_process.stderr
    assert one_process.stdout == two.stdout
    assert one_process.stderr == two.stderr == ""  # no bar where nobody looks
    data = json.loads(two.stdout)
    assert (data["dialogues"], data["turns"], data["decisions"]["changed"]) == (24, 72, 48)
    assert (data["labels"]["right_before"], data["labels"]["right_after"]) == (24, 24)
    assert html.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path: Path, ruleset: Ruleset) -> None:
    state = tmp_path / "state.jsonl"
    given = (
        "--from", "packs", "--to", str(later_budget(tmp_path, ruleset)), "--corpus", str(corpus_file(tmp_path, 200)),
        "--state", str(state), "--json", "--workers", "1",
    )  # fmt: skip
    running = subprocess.Popen(
        [RECORDARI, "rules", "backtest", "--no-ner", *given],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=untraced(),
    )
    waited = time.monotonic() + 60
    while (not state.exists() or state.read_text(encoding="utf-8").count("\n") < 30) and time.monotonic() < waited:
        assert running.poll() is None, running.communicate()[1]
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    out, said = running.communicate(timeout=60)
    assert (running.returncode, out) == (1, "")
    assert "run it again to go on" in said
    with state.open("a", encoding="utf-8") as stream:
        stream.write("[3, {")  # a machine that lost its power leaves half a line
    again = backtest(*given)
    assert again.returncode == 0, again.stderr
    assert "going on: " in again.stderr
    assert not state.exists()
    fresh = backtest(*given)
    assert "going on" not in fresh.stderr
    assert fresh.stdout == again.stdout


def test_a_place_for_what_is_done_that_cannot_be_written_stops_only_who_asked_for_it(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder", encoding="utf-8")
    Kept(blocked / "state.jsonl", "key", fresh=False, needed=False).close()
    with pytest.raises(OSError, match="file"):
        Kept(blocked / "state.jsonl", "key", fresh=False)


def test_what_another_corpus_left_behind_is_not_taken(tmp_path: Path, ruleset: Ruleset) -> None:
    state = tmp_path / "state.jsonl"
    state.write_text('{"key": "other"}\n[0, {}]\n', encoding="utf-8")
    done = backtest(
        "--from", "packs", "--to", str(later_budget(tmp_path, ruleset)), "--corpus", str(corpus_file(tmp_path)),
        "--state", str(state), "--examples", "2",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "6 dialogues, 18 turns" in done.stdout
    assert "10 more" in done.stdout


def test_the_turns_of_a_store_are_rehearsed_with_the_edits_of_people(tmp_path: Path, ruleset: Ruleset) -> None:
    place = tmp_path / "kept.db"
    with Memory.open(place, ner=False, ruleset=ruleset) as memory:
        told = memory.observe("The marketing budget is $9,000.", said_at=START, entity="client")
        memory.correct(told.items[0].id, "$9,500", actor="clerk", seen_version=1)
        memory.observe("The retainer is $70.", said_at=START + timedelta(minutes=3), entity="client")
        with memory.store.reading(memory.namespace) as tx:
            taken = tx.turns_as_taken()
    assert [turn.edit is not None for turn in taken] == [False, True, False]
    (dialogue,) = from_turns(taken)
    (same,) = rehearsed(ruleset, ruleset, [dialogue])
    assert same.differences == []
    (less,) = rehearsed(ruleset, without(ruleset, "capture.budget", "capture.amount"), [dialogue])
    assert {each.what for each in less.differences} <= {"changed", "removed"}
    done = backtest("--from", "packs", "--to", str(later_budget(tmp_path, ruleset)), "--store", str(place), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["turns"] == 3


def test_a_change_that_breaks_what_is_labelled_right_fails(tmp_path: Path, ruleset: Ruleset) -> None:
    rows = {
        "id": "d", "turns": [{"at": START.isoformat(), "speaker": "user", "text": "The marketing budget is $9,000."}],
        "expect": {"current": [{"slot": "budget"}]},
    }  # fmt: skip
    file = tmp_path / "labelled.jsonl"
    file.write_text(json.dumps(rows), encoding="utf-8")
    done = backtest("--from", "packs", "--to", str(later_budget(tmp_path, ruleset)), "--corpus", str(file))
    assert done.returncode == 1, done.stderr
    assert "0 mended, 1 broken" in done.stdout
    assert backtest("--from", "packs", "--to", "packs", "--corpus", str(file)).returncode == 0
    assert backtest("--from", "packs", "--to", "packs").returncode == 2
