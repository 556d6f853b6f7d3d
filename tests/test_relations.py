"""Relations: who is joined to whom, how surely, when, and what a question makes of it; on every back end."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML
from shipped import shipped

from recordari.memory import Memory
from recordari.recall.question import QuestionError
from recordari.rules.book import book_of
from recordari.rules.identity import judge, name_key

NOW = "2026-03-18T10:00:00+08:00"
RULES = shipped()
BODIES = ("Oakline Ltd", "Norwood Bank", "Larkfield Bank", "Wexmoor Partners", "Greystone Group")


@pytest.fixture
def memory(place: str) -> Iterator[Memory]:
    with Memory.open(place, ruleset=RULES, ner=False) as opened:
        yield opened


def say(memory: Memory, text: str, at: str = NOW, **more: Any) -> None:
    memory.observe(text, said_at=at, **more)


def names(memory: Memory, name: str, **asked: Any) -> dict[str, int]:
    return {each.name: each.hops for each in memory.related(name, **{"as_of": "2026-12-01T00:00:00Z", **asked})}


def chain(memory: Memory) -> None:
    say(memory, "Tom Reed works at Wexmoor Partners.")
    say(memory, "Oakline Ltd supplies Wexmoor Partners.")
    say(memory, "Nora Flint acts for Oakline Ltd.")
    say(memory, "Nora Flint reports to Ada Reeve.")


def test_one_two_and_three_steps_are_walked_and_no_more(memory: Memory) -> None:
    chain(memory)
    assert names(memory, "Tom Reed") == {"Wexmoor Partners": 1}
    assert names(memory, "Tom Reed", hops=2) == {"Wexmoor Partners": 1, "Oakline Ltd": 2}
    assert names(memory, "tom  REED", hops=3) == {"Wexmoor Partners": 1, "Oakline Ltd": 2, "Nora Flint": 3}
    assert names(memory, "Tom Reed", hops=3, relation="works_at") == {"Wexmoor Partners": 1}
    with pytest.raises(QuestionError, match="take 1 to 3"):
        memory.related("Tom Reed", hops=4)
    with pytest.raises(QuestionError, match="no relation 'adores'"):
        memory.related("Tom Reed", relation="adores")
    for nothing in ("", " ", "\u3000"):
        with pytest.raises(QuestionError, match="the name is empty"):
            memory.related(nothing)


def test_every_step_of_a_path_names_its_items_and_decisions(memory: Memory) -> None:
    chain(memory)
    reached = memory.related("Tom Reed", hops=3)[-1]
    told = [(link.subject, link.relation, link.object) for link in reached.path]
    assert told == [
        ("Tom Reed", "works_at", "Wexmoor Partners"),
        ("Oakline Ltd", "supplies", "Wexmoor Partners"),
        ("Nora Flint", "acts_for", "Oakline Ltd"),
    ]
    for link in reached.path:
        assert [memory.item(item.id).canonical for item in link.items] == [link.object]
        assert link.decisions
        assert memory.explain(link.items[0].id)
    assert reached.confidence == Decimal("0.216")  # three voices, each 0.6 sure


def test_confidence_grows_with_each_independent_voice_and_little_with_the_same_one(memory: Memory) -> None:
    def sure() -> Decimal:
        return memory.related("Oakline Ltd")[0].confidence

    said = "Oakline Ltd supplies Wexmoor Partners."
    say(memory, said, conversation="one")
    assert sure() == Decimal("0.6")
    say(memory, said, conversation="one")
    assert sure() == Decimal("0.624")
    say(memory, said, conversation="two")
    assert sure() == Decimal("0.737")
    say(memory, said, conversation="three", author="Ines")
    assert sure() == Decimal("0.895")
    assert memory.related("Oakline Ltd")[0].strength == "strong"
    say(memory, said, conversation="four", speaker="assistant")  # an agent is no witness
    assert sure() == Decimal("0.895")


def test_what_is_over_joins_nobody_but_joined_them_then(memory: Memory) -> None:
    say(memory, "张经理在长河公司工作。", at="2026-03-01T10:00:00+08:00")
    say(memory, "张经理跳槽到了星河科技。", at="2026-03-10T10:00:00+08:00")
    assert names(memory, "张经理") == {"星河科技": 1}
    assert names(memory, "张经理", as_of="2026-03-05T00:00:00Z") == {"长河公司": 1}
    assert names(memory, "张经理", as_of="2026-04-01T00:00:00Z", known_at="2026-03-05T00:00:00Z") == {"长河公司": 1}
    assert names(memory, "长河公司") == {}


@pytest.mark.parametrize(
    ("told", "denied", "name"),
    [
        ("启明电子给长河公司供货。", "启明电子已经不是长河公司的供应商了。", "启明电子"),
        ("张经理在长河公司工作。", "张经理已经不在长河公司工作了。", "张经理"),
        ("李律师负责星桥案。", "星桥案已经不由李律师经办了。", "李律师"),
        ("Oakline Ltd supplies Wexmoor Partners.", "Wexmoor Partners is not a customer of Oakline Ltd.", "Oakline Ltd"),
        ("Tom Reed reports to Nora Flint.", "Tom Reed doesn't report to Nora Flint any more.", "Tom Reed"),
    ],
)
def test_a_denial_ends_the_edge_from_then_on_and_the_same_of_another_pair_does_not(
    memory: Memory, told: str, denied: str, name: str
) -> None:
    say(memory, told, at="2026-03-01T10:00:00+08:00")
    (reached,) = names(memory, name)
    for other in ("Larkfield Bank does not supply Norwood Bank.", denied.replace(".", "?").replace("。", "吗？")):
        say(memory, other, at="2026-03-09T10:00:00+08:00")
    assert names(memory, name) == {reached: 1}
    say(memory, denied, at="2026-03-10T10:00:00+08:00")
    assert names(memory, name) == {}
    assert names(memory, reached) == {}
    assert names(memory, name, as_of="2026-03-05T00:00:00Z") == {reached: 1}
    assert memory.verify().ok


def test_what_somebody_else_calls_over_ends_only_what_was_reported(memory: Memory) -> None:
    say(memory, "Tom says Oakline Ltd supplies Wexmoor Partners.")
    say(memory, "Norwood Inc supplies Wexmoor Partners.")
    say(memory, "Tom says Norwood Inc no longer supplies Wexmoor Partners.")
    assert len(names(memory, "Wexmoor Partners")) == 2
    say(memory, "Tom says Oakline Ltd no longer supplies Wexmoor Partners.")
    assert names(memory, "Wexmoor Partners") == {"Norwood Inc": 1}


@pytest.mark.parametrize(
    ("said", "subject"),
    [
        ("Tom says Oakline Ltd supplies Wexmoor Partners.", "Oakline Ltd"),
        ("老王说启明电子给长河公司供货。", "启明电子"),
        ("Maria said Nora Flint acts for Wexmoor Partners.", "Nora Flint"),
        ("Oakline Ltd supplies Wexmoor Partners.", "Oakline Ltd"),
    ],
)
def test_whoever_tells_of_it_is_no_part_of_a_name(memory: Memory, said: str, subject: str) -> None:
    say(memory, said)
    assert [each.entity for each in memory.items() if "relation." in each.slot] in ([subject], [])


def test_two_of_one_surname_are_not_one_and_no_script_stands_for_another(memory: Memory) -> None:
    say(memory, "张经理在长河公司工作。")
    assert names(memory, "张伟") == {}
    assert names(memory, "张总") == {}
    assert names(memory, "Zhang") == {}


def test_a_declared_other_name_is_walked_through_without_a_step(memory: Memory) -> None:
    say(memory, "Tom Reed works at Greystone.")
    say(memory, "Greystone LLC is also known as Greystone.")
    say(memory, "Oakline Ltd supplies Greystone LLC.")
    assert names(memory, "Tom Reed", hops=2)["Oakline Ltd"] == 2


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("张经理最近聊过哪些产品？", "云盘产品"),
        ("谁聊过云盘产品？", "张经理"),
        ("谁在长河公司上班？", "张经理"),
        ("请问启明电子给谁供货呢？", "长河公司"),
        ("who works at Greystone?", "Maria Holt"),
        ("Which matters is Ms Lindqvist on?", "Harrow matter"),
        ("who is working on the Harrow matter", "Ms Lindqvist"),
    ],
)
def test_a_question_about_a_relation_is_answered_by_it(question: str, answer: str) -> None:
    with Memory.open("sqlite://", ruleset=RULES, ner=False) as memory:
        for said in (
            "张经理昨天跟我们聊了云盘产品。", "张经理在长河公司工作。", "启明电子给长河公司供货。",
            "Maria Holt works at Greystone.", "Ms Lindqvist is working on the Harrow matter.",
        ):  # fmt: skip
            say(memory, said)
        found = memory.answer(question, at="2026-03-25T10:00:00+08:00")
        assert [each.name for each in found.related] == [answer]
        assert "relation" in found.hits[0].routes


def test_lately_leaves_out_what_was_talked_about_long_ago() -> None:
    with Memory.open("sqlite://", ruleset=RULES, ner=False) as memory:
        say(memory, "张经理昨天跟我们聊了云盘产品。")
        say(memory, "张经理昨天跟我们聊了考勤系统。", at="2026-06-18T10:00:00+08:00")
        found = memory.answer("张经理最近聊过哪些产品？", at="2026-06-20T10:00:00+08:00")
        assert [each.name for each in found.related] == ["考勤系统"]


def test_other_questions_are_none_about_a_relation() -> None:
    with Memory.open("sqlite://", ruleset=RULES, ner=False) as memory:
        say(memory, "张经理在长河公司工作。")
        say(memory, "营销预算8万元。")
        for question in ("营销预算是多少？", "谁在线？", "what is the budget", "who works"):
            assert memory.answer(question).related == ()


def test_erased_and_restricted_edges_are_gone_and_a_rebuilt_graph_is_the_same(memory: Memory) -> None:
    chain(memory)
    before = names(memory, "Tom Reed", hops=3)
    memory.reindex()
    assert names(memory, "Tom Reed", hops=3) == before
    item = next(each for each in memory.items() if each.slot == "relation.supplies")
    number = memory.restrict("item", item.id, ground="gdpr-18", actor="ines")
    assert names(memory, "Tom Reed", hops=3) == {"Wexmoor Partners": 1}
    memory.release("restrict", number, ground="settled", actor="ines")
    assert names(memory, "Tom Reed", hops=3) == before
    memory.erase(item.id, ground="gdpr-17-1-b", actor="ines")
    assert names(memory, "Tom Reed", hops=3) == {"Wexmoor Partners": 1}
    memory.reindex()
    assert names(memory, "Tom Reed", hops=3) == {"Wexmoor Partners": 1}


def test_a_graph_of_many_pages_is_rebuilt_whole(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    from recordari.store import writing

    monkeypatch.setattr(writing, "_PAGE", 1)
    chain(memory)
    before = names(memory, "Tom Reed", hops=3)
    at = "2026-05-18T10:00:00+08:00"
    found = memory.recall("Wexmoor", transcript=True, at=at)
    assert memory.reindex() == len(memory.items(history=True))
    assert names(memory, "Tom Reed", hops=3) == before
    assert memory.recall("Wexmoor", transcript=True, at=at) == found


EDGES = st.lists(st.tuples(st.sampled_from(BODIES), st.sampled_from(BODIES)), min_size=1, max_size=8)


def nearest(edges: list[tuple[str, str]], start: str, hops: int) -> dict[str, int]:
    """Steps to each name, by breadth first search over a plain list."""
    found, edge = {start: 0}, {start}
    for step in range(1, hops + 1):
        edge = {b for pair in edges for a, b in (pair, pair[::-1]) if a in edge and b not in found}
        found |= dict.fromkeys(edge, step)
    return {name: steps for name, steps in found.items() if steps}


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edges=EDGES, hops=st.integers(1, 3), start=st.sampled_from(BODIES))
def test_a_walk_finds_every_name_once_by_the_fewest_steps_in_any_graph(
    edges: list[tuple[str, str]], hops: int, start: str
) -> None:
    with Memory.open("sqlite://", ruleset=RULES, ner=False) as memory:
        for subject, object_ in edges:
            say(memory, f"{subject} supplies {object_}.")
        joined = [(a, b) for a, b in edges if a != b]
        assert {name.rstrip("."): n for name, n in names(memory, start, hops=hops).items()} == nearest(
            joined, start, hops
        )
        for each in memory.related(start, hops=hops):
            assert len(each.path) == each.hops <= hops  # no cycle: a path of the fewest steps passes nobody twice


def test_names_with_one_key_are_one_name_for_whoever_judges_them() -> None:
    words = book_of(RULES).names
    pairs = YAML(typ="safe").load((Path(__file__).parent / "name_pairs.yaml").read_text(encoding="utf-8"))
    found: set[str] = set()

    def gather(given: object) -> None:
        if isinstance(given, str):
            found.add(given)
        for each in given.values() if isinstance(given, dict) else given if isinstance(given, list) else ():
            gather(each)

    gather(pairs)
    merged = [(a, b) for a, b in combinations(sorted(found), 2) if name_key(a, words) == name_key(b, words)]
    assert merged
    assert [pair for pair in merged if judge(*pair, words).answer != "same"] == []


@pytest.mark.parametrize("on", ["item", "entity", "conversation"])
def test_a_restriction_of_any_kind_takes_its_edges_out_of_a_walk_and_no_other(
    memory: Memory, on: Literal["item", "entity", "conversation"]
) -> None:
    say(memory, "Oakline Ltd supplies Wexmoor Partners.")  # in the conversation that has no name of its own
    say(memory, "Norwood Bank supplies Wexmoor Partners.", conversation="b")
    edge = next(each for each in memory.items() if each.conversation == "default")
    target = {"item": edge.id, "entity": "Oakline Ltd", "conversation": "default"}[on]
    number = memory.restrict(on, target, ground="gdpr-18", actor="ines")
    assert names(memory, "Wexmoor Partners") == {"Norwood Bank": 1}
    memory.release("restrict", number, ground="settled", actor="ines")
    assert names(memory, "Wexmoor Partners") == {"Norwood Bank": 1, "Oakline Ltd": 1}
