"""Questions about relations: phrases that are followed first, what kind of end is asked for, who asks, what cannot be
read; on every back end."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shipped import shipped

from recordari.memory import Memory
from recordari.recall.question import QuestionError
from recordari.recall.relations import Wanted as Asked
from recordari.recall.relations import along, book_of

NOW = "2026-03-18T10:00:00+08:00"
LATER = "2026-03-20T10:00:00+08:00"
RULES = shipped()
TALK = (
    "Acme Ltd supplies Wexmoor Partners.", "Oakline Ltd supplies Acme Ltd.", "Norwood Inc supplies Acme Ltd.",
    "Oakline Ltd uses the Cloudbox subscription.", "Oakline Ltd talked about the Northwind fund.",
    "Maria Holt works at Oakline Ltd.", "Maria Holt talked about the Skyline savings plan.",
    "Tom Reed reports to Nora Flint.", "Nora Flint reports to Ada Reeve.", "Larkfield Bank is our supplier.",
    "Larkfield Bank uses the Basic package.", "张经理负责长河公司。", "张经理负责启明电子。", "长河公司在用云盘产品。",
    "启明电子使用考勤系统。", "王律师是我们的律师。", "王律师聊了云盘产品。", "周珊在用企业版套餐。",
)  # fmt: skip


@pytest.fixture
def memory(place: str) -> Iterator[Memory]:
    with Memory.open(place, ruleset=RULES, ner=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def talked() -> Iterator[Memory]:
    with Memory.open("sqlite://", ruleset=RULES, ner=False) as opened:
        for said in TALK:
            opened.observe(said, said_at=NOW, entity="client-17")
        yield opened


def ask(memory: Memory, question: str, **asked: Any) -> list[str]:
    return [each.name for each in memory.answer(question, **{"at": LATER, "entity": "client-17", **asked}).related]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which products did the suppliers of Acme Ltd talk about?", ["Northwind fund"]),
        ("Which products do the suppliers of Acme Ltd use?", ["Cloudbox subscription"]),
        ("who does the manager of Tom Reed report to?", ["Ada Reeve"]),
        ("Who is the manager of Tom Reed?", ["Nora Flint"]),
        ("who are the suppliers of the customers of Oakline Ltd", ["Norwood Inc", "Oakline Ltd"]),
        ("Which products did the people who work at Acme Ltd's suppliers talk about?", ["Skyline savings plan"]),
        ("张经理负责的客户用哪些产品？", ["云盘产品", "考勤系统"]),
        ("Acme Ltd的供应商有哪些？", ["Norwood Inc", "Oakline Ltd"]),
        ("请问使用云盘产品的客户的对接人是谁？", ["张经理"]),
        ("who are our suppliers?", ["Larkfield Bank"]),
        ("which products do our suppliers use?", ["Basic package"]),
        ("我们的律师聊过什么产品？", ["云盘产品"]),
        ("哪些客户在用企业版套餐？", ["周珊"]),
        ("哪家公司在用云盘产品？", ["长河公司"]),
    ],
)
def test_a_question_follows_the_phrases_in_it_first(question: str, answer: list[str], talked: Memory) -> None:
    assert sorted(ask(talked, question)) == sorted(answer)


def test_the_path_of_an_answer_tells_every_step_with_its_items(talked: Memory) -> None:
    (found,) = talked.answer("who does the manager of Tom Reed report to?", at=LATER).related
    assert [link.told for link in found.path] == ["Tom Reed reports to Nora Flint", "Nora Flint reports to Ada Reeve"]
    assert found.hops == 2
    assert all(talked.explain(item.id) for link in found.path for item in link.items)
    (zh, _) = talked.answer("张经理负责的客户用哪些产品？", at=LATER).related
    assert [link.relation for link in zh.path] == ["looks_after", "uses"]


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("Which products did the competitors of Acme Ltd talk about?", "the competitors of acme ltd"),
        ("张经理讨厌的客户用哪些产品？", "张经理讨厌的客户"),
        ("who does the manager of Bram Oakhill report to?", "'bram oakhill' by reports_to then reports_to"),
        ("who works at the suppliers of Norwood Inc?", "'norwood inc' by supplies then works_at"),
        ("哪些人在用云盘产品？", "what is found is no person"),
    ],
)
def test_what_the_graph_cannot_answer_is_told_and_not_guessed(question: str, note: str, talked: Memory) -> None:
    answer = talked.answer(question, at=LATER, entity="client-17")
    assert answer.related == ()
    assert any(note in each for each in answer.asked.notes), answer.asked.notes


def test_who_we_are_is_known_only_where_the_entity_is_named(talked: Memory) -> None:
    assert ask(talked, "who are our suppliers?", entity=None) == []
    assert ask(talked, "who are our suppliers?", entity="client-18") == []


@pytest.mark.parametrize(
    "question", ["营销预算是多少", "what is the budget", "who are you", "列出预算", "name the day"]
)
def test_a_question_about_no_relation_gets_no_note(question: str, talked: Memory) -> None:
    assert not any("relations" in each for each in talked.answer(question, at=LATER).asked.notes)


def test_steps_end_with_their_edges_and_what_is_restricted_joins_nothing(memory: Memory) -> None:
    for said in ("Oakline Ltd supplies Acme Ltd.", "Oakline Ltd uses the Cloudbox subscription."):
        memory.observe(said, said_at=NOW)
    question = "Which products do the suppliers of Acme Ltd use?"
    assert ask(memory, question, entity=None) == ["Cloudbox subscription"]
    number = memory.restrict("entity", "Oakline Ltd", ground="gdpr-18", actor="ines")
    assert ask(memory, question, entity=None) == []
    memory.release("restrict", number, ground="settled", actor="ines")
    memory.observe("Oakline Ltd no longer supplies Acme Ltd.", said_at=LATER)
    after = {"at": "2026-03-25T10:00:00+08:00", "entity": None}
    assert ask(memory, question, **after) == []
    assert ask(memory, question, **after, as_of=NOW) == ["Cloudbox subscription"]


def test_our_supplier_is_the_same_edge_as_who_supplies_whom_and_a_denial_ends_it(memory: Memory) -> None:
    memory.observe("Larkfield Bank is our supplier.", said_at=NOW, entity="Acme Ltd")
    memory.observe("Larkfield Bank supplies Acme Ltd.", said_at=NOW, entity="other", conversation="d")
    (edge,) = memory.related("Larkfield Bank", as_of=LATER)
    (link,) = edge.path
    assert (link.subject, link.relation, link.object) == ("Larkfield Bank", "supplies", "Acme Ltd")
    assert {item.slot for item in link.items} == {"relation.supplier", "relation.supplies"}
    memory.observe("Larkfield Bank is not our supplier any more.", said_at=LATER, entity="Acme Ltd")
    after = "2026-03-25T10:00:00+08:00"
    assert [item.slot for item in memory.related("Acme Ltd", as_of=after)[0].path[0].items] == ["relation.supplies"]
    memory.observe("我们不再和启明电子合作了。", said_at=LATER, entity="Acme Ltd")
    assert len(memory.related("Acme Ltd", as_of=after)) == 1


BODIES = ("Oakline Ltd", "Norwood Bank", "Larkfield Bank", "Wexmoor Partners")
EDGES = st.lists(st.tuples(st.sampled_from(BODIES), st.sampled_from(BODIES)), min_size=1, max_size=7)
STEPS = st.lists(st.sampled_from(["out", "in"]), min_size=1, max_size=3)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edges=EDGES, steps=STEPS, start=st.sampled_from(BODIES))
def test_steps_reach_what_going_step_by_step_reaches(
    edges: list[tuple[str, str]], steps: list[str], start: str
) -> None:
    with Memory.open("sqlite://", ruleset=RULES, ner=False) as memory:
        for subject, object_ in edges:
            memory.observe(f"{subject} supplies {object_}.", said_at=NOW)
        joined = {(a, b) for a, b in edges if a != b}
        here = {start}
        for direction in steps:
            here = {b for pair in joined for a, b in (pair if direction == "out" else pair[::-1],) if a in here}
        way = [("supplies", direction) for direction in steps]
        with memory.store.reading() as tx:
            found = along(tx, book_of(RULES), start, way, Asked(), datetime.fromisoformat(LATER))
        assert {each.name for each in found} == here
        for each in found:
            assert len(each.path) == each.hops == len(steps)


@pytest.mark.parametrize("entity", ["Acme\\q Ltd", "Acme\\1 Ltd", "Acme\\g<0> Ltd"])
def test_a_backslash_in_the_name_of_who_asks_is_a_letter_like_others(memory: Memory, entity: str) -> None:
    memory.observe("Oakline Ltd supplies us.", said_at=NOW, entity=entity)
    assert ask(memory, "我们的供应商有哪些？", entity=entity) == ["Oakline Ltd"]
    assert ask(memory, "我们的供应商有哪些？", entity="Acme Ltd") == []


@pytest.mark.parametrize(("question", "entity"), [("who supplies ***?", None), ("who supplies us?", "(*)")])
def test_what_names_nothing_leaves_the_question_to_the_other_routes(
    memory: Memory, question: str, entity: str | None
) -> None:
    memory.observe("The audit budget is $5,000.", said_at=NOW, entity=entity or "client")
    answer = memory.answer(question, at=LATER, entity=entity)
    assert answer.related == ()
    assert any("nothing is known of" in each for each in answer.asked.notes)
    with pytest.raises(QuestionError, match="the name is empty"):
        memory.related("***")
