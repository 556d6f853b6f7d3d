"""What is asked for again and again becomes a preference with its evidence; it fades, and turns, by a decision."""

from __future__ import annotations

from decimal import Decimal

import pytest
from shipped import shipped

from recordari.intake import read_turn
from recordari.memory import Memory
from recordari.model import Decision, MemoryItem
from recordari.settings import Settings

RULES = shipped()
MEMORY = Memory.rehearsal(ruleset=RULES, ner=False)
EN = ("Book me a window seat.", "Can you get me a window seat, please?", "I'd like a window seat.")
ZH = ("帮我订靠窗的座位。", "我想要靠窗的座位。", "给我一个靠窗的座位。")


def on(*days: str) -> tuple[tuple[Decision, ...], tuple[MemoryItem, ...]]:
    """A dialogue of lines "03-18 text"; the year is 2026 unless the line says another."""
    turns = []
    for line in days:
        day, text = line.split(" ", 1)
        day = day if len(day) > 5 else f"2026-{day}"
        turns.append(read_turn({"text": text, "at": f"{day}T10:00:00+08:00"}, 10_000))
    return MEMORY.rehearse(turns)


def daily(*texts: str) -> tuple[tuple[Decision, ...], tuple[MemoryItem, ...]]:
    return on(*(f"03-{day:02} {text}" for day, text in enumerate(texts, start=1)))


def preferences(items: tuple[MemoryItem, ...]) -> list[str]:
    return [item.canonical for item in items if item.status == "current" and item.slot == "preference"]


@pytest.mark.parametrize(("said", "becomes"), [(EN, "window seat"), (ZH, "靠窗的座位")])
def test_the_same_wish_on_three_days_becomes_a_preference_with_its_evidence(
    said: tuple[str, ...], becomes: str
) -> None:
    decisions, items = daily(*said)
    assert [d.action for d in decisions] == ["IGNORE", "IGNORE", "IGNORE", "ADD"]
    assert (decisions[-1].reason, decisions[-1].rule.split("@")[0]) == ("induced", "policy.core.induced")
    (item,) = items
    assert (item.type, item.canonical, item.importance) == ("preference", becomes, Decimal("0.4"))
    assert item.evidence is not None
    assert decisions[-1].basis == item.evidence
    for text, each in zip(said, item.evidence, strict=True):
        assert text[each.start : each.end] == becomes


@pytest.mark.parametrize(
    "said",
    [
        EN[:2],
        ZH[:2],
        ("I'd like a window seat.", "I'd like a quiet room.", "Order me a flat white."),
        ("帮我订靠窗的座位。", "我想要无糖豆浆。", "给我一间安静的房间。"),
        ("Is there a window seat?", "Did you book a window seat?", "Which window seat is free?"),
        ("有靠窗的座位吗？", "靠窗的座位贵吗？", "哪个座位靠窗？"),
        ("If I had a window seat I would sleep.", "Book me a window seat.", "I'd like a window seat."),
        ("My wife would like a window seat.", "Book me a window seat.", "I'd like a window seat."),
        ("I don't want a window seat.", "Book me a window seat.", "I'd like a window seat."),
        ('He said "book me a window seat".', "Book me a window seat.", "I'd like a window seat."),
    ],
)
def test_what_was_not_asked_for_three_times_is_no_preference(said: tuple[str, ...]) -> None:
    decisions, items = daily(*said)
    assert "induced" not in [d.reason for d in decisions]
    assert preferences(items) == []


def test_who_insists_on_one_day_asks_once() -> None:
    decisions, _ = on(*(f"03-18 {text}" for text in EN))
    assert "induced" not in [d.reason for d in decisions]


def test_wishes_farther_apart_than_the_window_do_not_add_up() -> None:
    decisions, _ = on(f"01-02 {EN[0]}", f"03-20 {EN[1]}", f"06-10 {EN[2]}")
    assert "induced" not in [d.reason for d in decisions]
    decisions, _ = on(f"01-02 {EN[0]}", f"03-20 {EN[1]}", f"06-10 {EN[2]}", f"06-12 {EN[0]}")
    assert "induced" in [d.reason for d in decisions]


def test_the_wish_of_somebody_else_does_not_count() -> None:
    def told(*by: tuple[str, str]) -> list[str]:
        with Memory(MEMORY.store.open("sqlite://"), RULES, ner=False) as memory:
            reasons = []
            for day, ((entity, author), text) in enumerate(zip(by, EN, strict=True), start=1):
                receipt = memory.observe(text, said_at=f"2026-03-{day:02}T10:00:00Z", entity=entity, author=author)
                reasons += [d.reason for d in receipt.decisions]
            return reasons

    assert "induced" in told(("a", "Ana"), ("a", "Ana"), ("a", "Ana"))
    assert "induced" not in told(("a", "Ana"), ("b", "Ana"), ("a", "Ana"))
    assert "induced" not in told(("a", "Ana"), ("a", "Ben"), ("a", "Ana"))


def test_every_further_wish_is_evidence_and_weighs_more_up_to_a_limit() -> None:
    _, items = daily(*EN, *EN, *EN)
    (item,) = items
    assert (item.confirmations, item.importance) == (6, Decimal("0.7"))
    assert item.evidence is not None
    assert len(item.evidence) == 9
    _, items = daily(*EN, EN[0])
    assert items[0].importance == Decimal("0.5")


def test_a_preference_that_nobody_asked_for_any_more_fades_at_the_next_turn() -> None:
    decisions, items = on(*(f"03-0{day} {text}" for day, text in enumerate(EN, start=1)), "09-20 Good morning.")
    (faded,) = [d for d in decisions if d.action == "RETRACT"]
    assert (faded.reason, faded.turn, faded.target) == ("expired", 3, items[0].id)
    assert (items[0].status, str(items[0].valid_to)) == ("expired", "2026-08-30 10:00:00+08:00")
    assert decisions[-1].reason == "small_talk"  # the turn itself has its own decision


def test_what_was_asked_for_meanwhile_does_not_fade() -> None:
    _, items = on(*(f"03-0{day} {text}" for day, text in enumerate(EN, start=1)), f"08-10 {EN[0]}", "09-20 Hello.")
    assert preferences(items) == ["window seat"]
    assert items[0].importance == Decimal("0.4")  # the wishes of March are out of the window by then


def test_what_was_said_outright_does_not_fade() -> None:
    _, items = on(
        *(f"03-0{day} {text}" for day, text in enumerate(EN, start=1)), "03-05 I prefer window seat.", "12-20 Hello."
    )
    assert preferences(items) == ["window seat"]


@pytest.mark.parametrize(
    ("said", "turned"),
    [((*EN, "I don't want a window seat any more."), "ended"), ((*ZH, "我不要靠窗的座位了。"), "ended")],
)
def test_the_opposite_wish_ends_it_at_once(said: tuple[str, ...], turned: str) -> None:
    decisions, items = daily(*said)
    assert (decisions[-1].action, decisions[-1].reason) == ("RETRACT", turned)
    assert preferences(items) == []


def test_the_opposite_wish_leaves_what_was_stated_alone() -> None:
    _, items = daily("I prefer window seat.", "I don't want a window seat.")
    assert preferences(items) == ["window seat"]


def test_what_ended_takes_as_many_wishes_again() -> None:
    end = "I don't want a window seat any more."
    decisions, items = daily(*EN, end, EN[0], EN[1])
    assert [d.reason for d in decisions].count("induced") == 1
    assert preferences(items) == []
    _, items = daily(*EN, end, *EN)
    assert preferences(items) == ["window seat"]


def test_what_is_asked_for_against_what_was_stated_waits_for_a_person() -> None:
    decisions, items = daily("I don't like window seat.", *EN)
    assert (decisions[-1].action, decisions[-1].reason) == ("HOLD", "conflict_unresolved")
    assert [item.status for item in items if item.polarity == "affirmed"] == ["held"]


def test_what_somebody_refuses_again_and_again_is_a_preference_against_it() -> None:
    _, items = daily(*(["I don't want a window seat."] * 3))
    assert [(item.canonical, item.polarity) for item in items] == [("window seat", "negated")]


@pytest.mark.parametrize("engine", ["reference", "durable"])
def test_stores_count_explain_verify_and_replay_alike(engine: str, place: str) -> None:
    if engine == "durable":
        pytest.importorskip("durable")
    with Memory.open(place, ruleset=RULES, ner=False, engine=engine, settings=Settings()) as memory:  # type: ignore[arg-type]
        for day, text in enumerate((*EN, EN[0]), start=1):
            receipt = memory.observe(
                text, said_at=f"2026-03-{day:02}T10:00:00+08:00", entity="a", conversation=f"c-{day}"
            )
        (item,) = memory.items(entity="a")
        assert item.evidence is not None
        assert [each.turn_id for each in item.evidence] == ["c-1:0", "c-2:0", "c-3:0", "c-4:0"]
        assert [d.reason for d in receipt.decisions] == ["restated"]
        told = "\n".join(line for each in memory.explain(item.id) for line in each.lines())
        assert "induction.wish@1" in told
        memory.observe("Hello.", said_at="2027-01-02T10:00:00+08:00", entity="a")
        assert memory.items(entity="a") == ()
        assert [replayed.ok and not replayed.differences for replayed in memory.replay()] == [True, True]
        assert memory.verify().ok


def test_two_writers_count_each_others_wishes(tmp_path: object) -> None:
    path = f"{tmp_path}/two.db"
    with (
        Memory.open(path, ruleset=RULES, ner=False) as one,
        Memory.open(path, ruleset=RULES, ner=False) as two,
    ):
        reasons = [
            decision.reason
            for day, (memory, text) in enumerate(zip((one, two, one, two), (*EN, EN[0]), strict=True), start=1)
            for decision in memory.observe(text, said_at=f"2026-03-{day:02}T10:00:00Z").decisions
        ]
    assert reasons[-2:] == ["induced", "restated"]


def test_a_store_opened_again_counts_what_was_asked_for_before(place: str) -> None:
    if place == "sqlite://":
        pytest.skip("a memory database is gone when it is closed")
    for day, text in enumerate(EN, start=1):
        with Memory.open(place, ruleset=RULES, ner=False) as memory:
            receipt = memory.observe(text, said_at=f"2026-03-{day:02}T10:00:00Z")
    assert receipt.decisions[-1].reason == "induced"


def test_a_person_who_confirms_it_keeps_it_and_who_rejects_it_ends_it() -> None:
    with Memory(MEMORY.store.open("sqlite://"), RULES, ner=False) as memory:
        for day, text in enumerate(EN, start=1):
            memory.observe(text, said_at=f"2026-03-{day:02}T10:00:00Z")
        (item,) = memory.items(slot="preference")
        kept = memory.confirm(item.id, actor="Ines", seen_version=item.version).items[0]
        assert kept.fades_at is None
        gone = memory.reject(item.id, actor="Ines", seen_version=kept.version)
        assert gone.decisions[0].action == "RETRACT"
        assert memory.items(slot="preference") == ()
