"""The attack suite of the command line: each attack has a name, is done to a copy, and comes out as the docs say."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from recordari.memory import Memory
from recordari.rules.ruleset import Ruleset
from recordari.service import attacks
from recordari.service.attacks import FOUND, HARMLESS, MISSED, REFUSED, UNSEEN, WITNESS, Outcome, run

DOCS = Path(__file__).parent.parent / "docs" / "ledger.md"
EXPECTED = {
    **dict.fromkeys((name for name, *_ in attacks.SINGLE), FOUND),
    **dict.fromkeys((name for name, *_ in attacks.WITNESSED), WITNESS),
    **dict.fromkeys((name for name, *_ in attacks.IMPOSSIBLE), REFUSED),
    **dict.fromkeys((name for name, *_ in attacks.SAFE), HARMLESS),
    "cut-unsigned": UNSEEN,
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory, ruleset: Ruleset) -> dict[str, Outcome]:
    folder = tmp_path_factory.mktemp("attacks")
    copy = attacks.Range(folder, ruleset, "matter-17")
    copy.whole.parent.mkdir()
    copy.prepare()
    return {each.name: each for each in attacks.attacks(copy)}


@pytest.mark.parametrize(("name", "outcome"), EXPECTED.items())
def test_an_attack_comes_out_as_expected(outcomes: dict[str, Outcome], name: str, outcome: str) -> None:
    assert outcomes[name].outcome == outcome, outcomes[name]
    assert outcomes[name].told


def test_every_attack_is_in_the_documentation(outcomes: dict[str, Outcome]) -> None:
    page = DOCS.read_text(encoding="utf-8")
    assert set(outcomes) == set(EXPECTED)
    assert [name for name in outcomes if f"| `{name}` |" not in page] == []


def test_the_attacks_leave_the_store_alone_and_tell_what_became_of_each(
    tmp_path: Path, ruleset: Ruleset, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.db"
    with Memory.open(path, ruleset=ruleset, ner=False) as memory:
        memory.observe("我们的预算是8万元。", said_at="2026-01-05T10:00:00+08:00")
    before = {each.name: hashlib.sha256(each.read_bytes()).hexdigest() for each in tmp_path.iterdir()}
    with Memory.open(path, ruleset=ruleset, ner=False, read_only=True) as memory:
        assert run(memory, as_json=True) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {each["name"] for each in told} == set(EXPECTED)
    assert before == {each.name: hashlib.sha256(each.read_bytes()).hexdigest() for each in tmp_path.iterdir()}


def test_an_attack_that_nobody_sees_is_called_missed(tmp_path: Path, ruleset: Ruleset) -> None:
    copy = attacks.Range(tmp_path, ruleset, "matter-17")
    copy.whole.parent.mkdir()
    copy.prepare()
    assert attacks._found(copy, "nothing", lambda _: None, "altered").outcome == MISSED
    assert attacks._refused(copy, "nothing", lambda _: None).outcome == MISSED
