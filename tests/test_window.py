"""The short-term window: the last turns, the last minutes, and what is still true of the turns before."""

from __future__ import annotations

from datetime import datetime, timedelta

from recordari.memory import Memory

START = datetime.fromisoformat("2026-03-18T10:00:00+08:00")


def talk(memory: Memory, texts: list[str], conversation: str = "c-1", first: int = 0) -> None:
    """Say these, a minute apart."""
    for number, text in enumerate(texts, first):
        memory.observe(text, said_at=START + timedelta(minutes=number), entity="client", conversation=conversation)


SMALL = ["好的", "OK", "thanks", "嗯", "明白", "hello", "收到", "谢谢", "sure", "再见"]


def test_the_last_turns_and_the_last_minutes(memory: Memory) -> None:
    talk(memory, ["预算5万元", *SMALL])
    window = memory.window("c-1")
    assert [turn.text for turn in window.turns] == SMALL
    assert [turn.text for turn in window.last(2)] == ["sure", "再见"]
    at = START + timedelta(minutes=10)
    assert [turn.text for turn in window.within(1, at)] == ["sure", "再见"]
    assert window.within(5, START - timedelta(minutes=1)) == ()
    assert memory.window("c-2").turns == ()


def test_what_left_the_window_is_summed_up_and_what_is_in_it_is_not(memory: Memory) -> None:
    talk(memory, ["预算5万元", *SMALL[:9]])
    assert memory.window("c-1").summary == ()
    talk(memory, [SMALL[9]], first=10)
    (line,) = memory.window("c-1").summary
    assert "5万元" in line.sentence
    assert line.turn_id == "c-1:0"


def test_a_write_is_seen_at_once_and_what_it_replaces_leaves_the_summary(memory: Memory) -> None:
    talk(memory, ["预算5万元", *SMALL])
    assert "5万元" in memory.window("c-1").summary[0].sentence
    talk(memory, ["预算改成8万元"], first=11)
    window = memory.window("c-1")
    assert window.turns[-1].text == "预算改成8万元"
    assert window.summary == ()


def test_an_erased_conversation_has_no_window(memory: Memory) -> None:
    talk(memory, ["预算5万元", *SMALL])
    talk(memory, ["房租3000元"], conversation="c-2", first=20)
    assert memory.window("c-1").summary
    memory.erase(conversation="c-1", ground="gdpr-17-1-b", actor="officer")
    window = memory.window("c-1")
    assert not window.summary
    assert not any(turn.text for turn in window.turns)
    assert memory.window("c-2").turns[0].text == "房租3000元"


def test_a_restricted_conversation_has_no_window(memory: Memory) -> None:
    talk(memory, ["预算5万元"])
    assert memory.window("c-1").turns
    number = memory.restrict("conversation", "c-1", ground="gdpr-18-1-a", actor="officer")
    assert memory.window("c-1").turns == ()
    memory.release("restrict", number, ground="settled", actor="officer")
    assert memory.window("c-1").turns
