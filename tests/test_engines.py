"""Both rule engines: the same verdicts for any table, and nothing unsafe ever reaches durable-rules."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recordari.model import FEATURES, REASONS, Verdict
from recordari.rulefile import RuleError
from recordari.rules import durable_engine
from recordari.rules.durable_engine import (
    MOST_FIRING,
    MOST_ROWS,
    DurableEngine,
    EngineRefused,
    definition_of,
    inspect,
    more_fire_than,
    prove,
    shards_of,
)
from recordari.rules.engine import ReferenceEngine, RuleEngine, engine_for, refuse_disagreement
from recordari.rules.load import load
from recordari.rules.policy import PLAIN, NoVerdict, PolicyFile, TableRow, never_reached, table_of


def imports() -> bool:
    try:
        import durable.engine  # noqa: F401
    except ImportError:
        return False
    return True


durable = pytest.mark.skipif(not imports(), reason="durable-rules does not import here (Python 3.13 and newer)")
VALUES = {name: values or ("budget", "amount", "deadline", "none") for name, values in FEATURES.items()}


@pytest.fixture(autouse=True, scope="module")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECORDARI_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def row(when: dict[str, tuple[str, ...]], index: int = 0, action: str = "ADD", reason: str = "stated") -> TableRow:
    verdict = Verdict.model_validate({"action": action, "reason": reason, "rule": f"policy.t.row{index + 1}@1"})
    return TableRow(
        tuple(sorted((name, tuple(sorted(set(given)))) for name, given in when.items())), verdict, "t", index
    )


def table(*whens: dict[str, tuple[str, ...]]) -> tuple[TableRow, ...]:
    return tuple(row(when, index) for index, when in enumerate(whens))


def policy(**fields: Any) -> PolicyFile:
    header = {"id": "policy.t", "version": 1, "kind": "policy", "title": {"en": "t", "zh": "t"}, "owner": "o"}
    rows = [{"when": {}, "do": "IGNORE", "reason": "no_slot"}]
    return PolicyFile.model_validate(header | {"rows": rows} | fields)


BOTH = [
    pytest.param(lambda rows, digest: ReferenceEngine(rows), id="reference"),
    pytest.param(DurableEngine, id="durable", marks=durable),
]
Maker = Callable[[tuple[TableRow, ...], str], RuleEngine]


# ---------------------------------------------------------------- what every engine does
@pytest.mark.parametrize("made", BOTH)
def test_the_first_matching_row_wins(made: Maker) -> None:
    rows = table({"modality": ("question",)}, {"act": ("state", "change")}, {})
    engine = made(rows, "first")
    assert engine.judge(PLAIN | {"modality": "question"}).rule == "policy.t.row1@1"
    assert engine.judge(PLAIN).rule == "policy.t.row2@1"
    assert engine.judge(PLAIN | {"act": "correct"}).rule == "policy.t.row3@1"


@pytest.mark.parametrize("made", BOTH)
def test_a_table_without_a_matching_row_says_so(made: Maker) -> None:
    engine = made(table({"modality": ("question",)}), "none")
    with pytest.raises(NoVerdict, match=r"no policy row matches .*modality=asserted"):
        engine.judge(PLAIN)
    assert engine.judge(PLAIN | {"modality": "question"}).action == "ADD"


@pytest.mark.parametrize("made", BOTH)
def test_a_missing_feature_matches_no_row_that_asks_for_it(made: Maker) -> None:
    engine = made(table({"modality": ("asserted",)}, {}), "missing")
    without = {name: value for name, value in PLAIN.items() if name != "modality"}
    assert engine.judge(without).rule == "policy.t.row2@1"


@pytest.mark.parametrize("made", BOTH)
@pytest.mark.parametrize(
    "feature", [{"mood": "good"}, {"source": "agent"}, {"slot": "预算"}, {"slot": ""}, {"slot": "x" * 65}]
)
def test_features_outside_the_closed_vocabulary_are_refused(made: Maker, feature: dict[str, str]) -> None:
    engine = made(table({}), "closed")
    with pytest.raises(ValueError, match="feature"):
        engine.judge(PLAIN | feature)


@pytest.mark.parametrize("made", BOTH)
def test_an_unknown_slot_is_judged_like_any_other(made: Maker) -> None:
    engine = made(table({"slot": ("budget",)}, {}), "slots")
    assert engine.judge(PLAIN | {"slot": "reported.price"}).rule == "policy.t.row2@1"


# ---------------------------------------------------------------- the order of files
def test_files_come_by_priority_then_by_id() -> None:
    core, mine = policy(id="policy.core", priority=0), policy(id="policy.mine", rows=_rows("money"))
    legal = policy(id="policy.legal", priority=50, rows=_rows("time"))
    assert [row.file for row in table_of([core, legal, mine])] == ["policy.mine", "policy.legal", "policy.core"]
    assert table_of([core, legal, mine]) == table_of([mine, core, legal])


def _rows(kind: str) -> list[dict[str, Any]]:
    return [{"id": kind, "when": {"kind": kind}, "do": "ADD", "reason": "stated"}]


def test_a_verdict_names_its_row() -> None:
    rows = [*_rows("money"), {"when": {}, "do": "IGNORE", "reason": "no_slot"}]
    first, second = table_of([policy(version=7, rows=rows)])
    assert (first.verdict.rule, second.verdict.rule) == ("policy.t.money@7", "policy.t.row2@7")


def test_every_reason_code_can_be_given_by_its_action_only() -> None:
    for action, codes in REASONS.items():
        for code in codes:
            assert policy(rows=[{"when": {}, "do": action, "reason": code}]).rows[0].reason == code
    with pytest.raises(ValueError, match="'duplicate' is no reason for ADD"):
        policy(rows=[{"when": {}, "do": "ADD", "reason": "duplicate"}])


def test_a_row_hidden_by_an_earlier_one_is_found() -> None:
    rows = table({"act": ("state", "change")}, {"act": ("state",), "kind": ("money",)}, {"act": ("correct",)})
    assert [(hidden.index, by.index) for hidden, by in never_reached(rows)] == [(1, 0)]
    whole = table({"polarity": ("affirmed", "negated")}, {"act": ("state",)})
    assert len(never_reached(whole)) == 1, "a row that lists every value of a feature matches always"


# ---------------------------------------------------------------- both engines agree
names = st.sampled_from(sorted(VALUES))


@st.composite
def conditions(draw: st.DrawFn) -> dict[str, tuple[str, ...]]:
    asked = draw(st.lists(names, max_size=5, unique=True))
    return {
        name: tuple(draw(st.lists(st.sampled_from(VALUES[name]), min_size=1, max_size=5, unique=True)))
        for name in asked
    }


facts = st.fixed_dictionaries({name: st.sampled_from(values) for name, values in sorted(VALUES.items())})
_count = iter(range(10**9))


@durable
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(conditions(), min_size=1, max_size=30), st.lists(facts, min_size=1, max_size=12))
def test_both_engines_give_the_same_verdict(whens: list[dict[str, tuple[str, ...]]], given_: list[Any]) -> None:
    rows = table(*whens)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(durable_engine, "prove", lambda named: None)  # a child for each table would take minutes
        engine = DurableEngine(rows, f"agree{next(_count)}")
    reference = ReferenceEngine(rows)
    for features in [*given_, *(row.witness() for row in rows)]:
        expected = next((row.verdict for row in rows if row.matches(features)), None)
        for judge in (engine.judge, reference.judge):
            try:
                found = judge(features)
            except NoVerdict:
                found = None
            assert found == expected


@durable
def test_a_table_of_many_rows_is_cut_into_shards_that_give_the_same_verdicts() -> None:
    slots = [f"slot{number}" for number in range(300)]
    whens: list[dict[str, tuple[str, ...]]] = [{"slot": (slot,), "modality": ("asserted",)} for slot in slots]
    whens += [{"modality": ("question",)}, {}]
    rows = table(*whens)
    engine, reference = DurableEngine(rows, "many"), ReferenceEngine(rows)
    assert [len(shard) for shard in shards_of(rows)] == [200, 102]
    for slot in ("slot0", "slot199", "slot200", "slot299", "other"):
        for modality in ("asserted", "question", "joke"):
            features = PLAIN | {"slot": slot, "modality": modality}
            assert engine.judge(features) == reference.judge(features)


@durable
def test_threads_do_not_mix_their_verdicts() -> None:
    rows = table(*({"act": (act,)} for act in FEATURES["act"]))
    engine = DurableEngine(rows, "threads")
    wrong: list[str] = []

    def work(act: str) -> None:
        for _ in range(300):
            if engine.judge(PLAIN | {"act": act}) != rows[FEATURES["act"].index(act)].verdict:
                wrong.append(act)

    threads = [threading.Thread(target=work, args=(act,)) for act in FEATURES["act"]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@durable
def test_more_judgements_than_session_slots_are_no_problem() -> None:
    engine = DurableEngine(table({"modality": ("question",)}, {}), "sessions")
    for _ in range(3000):  # 1,024 live sessions are the cap of the library
        assert engine.judge(PLAIN).rule == "policy.t.row2@1"


@durable
def test_no_timer_thread_is_started() -> None:
    before = threading.active_count()
    engine = DurableEngine(table({}), "timers")
    assert engine.judge(PLAIN)
    assert threading.active_count() == before


@durable
def test_a_dropped_engine_is_freed_and_the_others_go_on() -> None:
    kept = DurableEngine(table({"act": ("end",)}, {}), "kept")
    for _ in range(50):
        engine = DurableEngine(table({"act": ("end",)}, {"act": ("state",)}), "dropped")
        assert engine.judge(PLAIN).rule == "policy.t.row2@1"
        (handle,) = engine.handles
        del engine
        gc.collect()
        with pytest.raises(kept._native.error):
            kept._native.delete_ruleset(handle)
    assert kept.judge(PLAIN).rule == "policy.t.row2@1"


# ---------------------------------------------------------------- what must not reach the C code
def one_rule(part: Any, **more: Any) -> dict[str, Any]:
    return ended({"r0": {"pri": 0, "all": [{"m": part}]} | more})


def ended(rules: dict[str, Any]) -> dict[str, Any]:
    return rules | {"nothing": {"pri": len(rules), "all": [{"m": {"always": "y"}}]}}


def test_a_rule_of_the_safe_shape_passes() -> None:
    assert inspect(one_rule({"slot": "budget"})) == []
    assert inspect(one_rule({"$and": [{"slot": "budget"}, {"$or": [{"act": "state"}, {"act": "end"}]}]})) == []


@pytest.mark.parametrize(
    "definition",
    [
        pytest.param(one_rule({"$mt": {"slot": "[一-龥]+"}}), id="a wide range in a pattern crashes"),
        pytest.param(one_rule({"slot": "预算"}), id="text that is not ASCII"),
        pytest.param(one_rule({"$gt": {"amount": 5}}), id="comparisons"),
        pytest.param(one_rule({"slot": {"$m": "c0.slot"}}), id="correlation"),
        pytest.param(one_rule({"$nex": {"exception": 1}}), id="negated existence alone hangs"),
        pytest.param(one_rule({"$ex": {"exception": 1}}), id="existence"),
        pytest.param(one_rule({"$neq": {"slot": "x"}}), id="inequality"),
        pytest.param(one_rule({"slot": 5}), id="numbers"),
        pytest.param(one_rule({"slot": None}), id="null"),
        pytest.param(one_rule({"slot": True}), id="booleans"),
        pytest.param(one_rule({"slot": "x" * 65}), id="long text"),
        pytest.param(one_rule({"slot": "a\x00b"}), id="control characters"),
        pytest.param(one_rule({"a": "x", "b": "y"}), id="two conditions in one"),
        pytest.param(ended({"r0": {"pri": 0, "all": [{"m": {"a": "x"}}, {"m": {"b": "y"}}]}}), id="two patterns"),
        pytest.param(ended({"r0": {"pri": 0, "all": [{"m": {"a": "x"}}] * 17}}), id="17 patterns"),
        pytest.param(ended({"r0": {"pri": 0, "any": [{"m": {"a": "x"}}]}}), id="any"),
        pytest.param(ended({"r0": {"pri": 0, "all": [{"m$not": {"a": "x"}}]}}), id="none()"),
        pytest.param(one_rule({"a": "x"}, count=2), id="batches"),
        pytest.param(ended({"r0": {"pri": 1, "all": [{"m": {"a": "x"}}]}}), id="priority out of order"),
        pytest.param(one_rule({"$or": [{"a": f"v{n}"} for n in range(513)]}), id="513 values never return"),
        pytest.param(
            one_rule({"$and": [{"$or": [{f"f{n}": "a"}, {f"f{n}": "b"}]} for n in range(15)]}), id="15 lists in a row"
        ),
        pytest.param(ended({f"r{n}": {"pri": n, "all": [{"m": {"a": "x"}}]} for n in range(201)}), id="201 rules"),
        pytest.param({"r0": {"pri": 0, "all": [{"m": {"a": "x"}}]}}, id="a fact that starts nothing"),
    ],
)
def test_what_crashes_or_hangs_the_library_is_refused_before_it_gets_there(definition: dict[str, Any]) -> None:
    assert inspect(definition)


def test_what_the_compiler_makes_of_a_table_passes() -> None:
    rows = table({"act": ("state", "change"), "kind": ("money",)}, {})
    assert inspect(definition_of(rows)) == []


@durable
def test_a_row_with_too_many_lists_is_refused_not_sent() -> None:
    wide = {name: values[:2] for name, values in sorted(VALUES.items()) if len(values) > 1}
    with pytest.raises(EngineRefused, match="too many conditions"):
        DurableEngine(table(wide, {}), "wide")


def test_rows_that_may_fire_together_are_counted() -> None:
    same = table(*({"act": ("state",)} for _ in range(60)))
    assert more_fire_than(same, 59)
    assert not more_fire_than(same, 60)
    apart = table(*({"slot": (f"s{n}",)} for n in range(60)))
    assert not more_fire_than(apart, 1)
    mixed = table(*({"slot": (f"s{n % 2}",), "kind": ("money",)} for n in range(60)))
    assert not more_fire_than(mixed, 30)
    assert more_fire_than(mixed, 29)


@given(st.lists(conditions(), min_size=1, max_size=12), st.lists(facts, min_size=1, max_size=10))
def test_the_count_of_rows_that_fire_together_is_never_too_low(
    whens: list[dict[str, tuple[str, ...]]], given_: list[dict[str, str]]
) -> None:
    rows = table(*whens)
    most = max(sum(row.matches(features) for row in rows) for features in given_)
    assert not most or more_fire_than(rows, most - 1)
    assert not more_fire_than(rows, len(rows))


@given(st.lists(conditions(), max_size=120))
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_shards_keep_every_row_in_order_and_within_the_limits(whens: list[dict[str, tuple[str, ...]]]) -> None:
    rows = table(*whens)
    shards = shards_of(rows)
    assert tuple(row for shard in shards for row in shard) == rows
    for shard in shards:
        assert len(shard) <= MOST_ROWS
        assert not more_fire_than(shard, MOST_FIRING)


@durable
def test_a_new_table_is_tried_in_a_child_process_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RECORDARI_CACHE", str(tmp_path))
    named = [("t", definition_of(table({"act": ("end",)})), [PLAIN | {"always": "y"}])]
    prove(named)
    assert len(list((tmp_path / "compiled").iterdir())) == 1
    monkeypatch.setattr(durable_engine, "_proved", set())
    monkeypatch.setattr(durable_engine.sys, "executable", "/does/not/exist")
    prove(named)
    monkeypatch.setenv("RECORDARI_CACHE", "")
    with pytest.raises(EngineRefused, match="no child process"):
        prove(named)


@durable
def test_a_table_that_crashes_the_child_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    crashing = one_rule({"$mt": {"slot": "[一-龥]+"}})
    with pytest.raises(EngineRefused, match="cannot compile the table: exit status -"):
        prove([("crash", crashing, [])])
    monkeypatch.setattr(durable_engine, "CHILD_SECONDS", 2)
    hanging = {f"r{n}": {"pri": n, "all": [{"m": {"$or": [{"a": f"v{n}x{k}"} for k in range(10)]}}]} for n in range(60)}
    with pytest.raises(EngineRefused, match="did not finish"):
        prove([("hang", hanging, [])])


# ---------------------------------------------------------------- choosing an engine
CORE = """\
id: policy.core
version: 1
kind: policy
title: {en: A table, zh: 表}
owner: test
rows:
  - {id: asked, when: {modality: question}, do: IGNORE, reason: question}
  - {when: {}, do: ADD, reason: stated}
tests:
  - {say: a question, gives: {modality: question, do: IGNORE, reason: question}}
"""


@pytest.fixture
def core(tmp_path: Path) -> Any:
    (tmp_path / "core.yaml").write_text(CORE, encoding="utf-8")
    return load([tmp_path], packs=False)


@durable
def test_durable_rules_judge_where_they_run_one_host_a_set(core: Any) -> None:
    engine = engine_for(core)
    assert engine.name == "durable-rules 2.0.28"
    assert engine.judge(PLAIN | {"modality": "question"}).rule == "policy.core.asked@1"
    assert engine_for(core) is engine


def test_plain_python_takes_over_where_durable_rules_do_not_import(core: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "durable", None)
    monkeypatch.setitem(sys.modules, "durable.engine", None)
    engine = engine_for(core)
    assert engine.name == "reference"
    assert "does not import on this Python" in engine.note
    with pytest.raises(ImportError):
        engine_for(core, prefer="durable")


def test_the_reference_engine_can_be_chosen(core: Any) -> None:
    assert engine_for(core, prefer="reference").name == "reference"


def test_engines_that_disagree_are_refused_at_the_line_of_the_test(core: Any) -> None:
    other = ReferenceEngine(tuple(reversed(core.table)))
    with pytest.raises(RuleError, match=r"core\.yaml:10:5: reference gives IGNORE question"):
        refuse_disagreement(core, ReferenceEngine(core.table), other)
    refuse_disagreement(core, ReferenceEngine(core.table), ReferenceEngine(core.table))
