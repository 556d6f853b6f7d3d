"""The short-term window: the last turns, the last minutes, and what is still true of the turns before."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from recordari.memory import Memory
from recordari.model import Turn
from recordari.recall.question import QuestionError
from recordari.recall.window import Window

START = datetime.fromisoformat("2026-03-18T10:00:00+08:00")


def minute(number: int) -> datetime:
    """So many minutes after the start."""
    return START + timedelta(minutes=number)


def talk(memory: Memory, texts: list[str], conversation: str = "c-1", first: int = 0, entity: str = "client") -> None:
    """Say these, a minute apart."""
    for number, text in enumerate(texts, first):
        memory.observe(text, said_at=minute(number), entity=entity, conversation=conversation)


def said(turns: tuple[Turn, ...]) -> list[str]:
    """What was said."""
    return [turn.text for turn in turns]


SMALL = ["好的", "OK", "thanks", "嗯", "明白", "hello", "收到", "谢谢", "sure", "再见"]


def test_the_last_turns_and_the_last_minutes(memory: Memory) -> None:
    talk(memory, ["预算5万元", *SMALL])
    assert said(memory.window("c-1").turns) == SMALL
    assert said(memory.window("c-1", turns=2).turns) == ["sure", "再见"]
    assert said(memory.window("c-1", minutes=1, at=minute(10)).turns) == ["sure", "再见"]
    assert said(memory.window("c-1", minutes=5, turns=2, at=minute(10)).turns) == ["sure", "再见"]
    assert memory.window("c-1", turns=0).turns == ()
    assert memory.window("c-1", minutes=5, at=minute(-1)).turns == ()
    assert memory.window("c-1", minutes=5).turns == ()  # asked today, months later
    assert memory.window("c-2").turns == ()


def test_the_last_minutes_reach_beyond_ten_turns(memory: Memory) -> None:
    for number in range(30):
        memory.observe(f"no. {number}", said_at=START + timedelta(seconds=10 * number), conversation="c-1")
    assert len(memory.window("c-1", minutes=5, at=minute(5)).turns) == 30
    assert len(memory.window("c-1", at=minute(5)).turns) == 10


def test_what_left_the_window_is_summed_up_and_what_is_in_it_is_not(memory: Memory) -> None:
    talk(memory, ["预算5万元", *SMALL[:9]])
    assert memory.window("c-1").summary == ()
    talk(memory, [SMALL[9]], first=10)
    (line,) = memory.window("c-1").summary
    assert "5万元" in line.sentence
    assert line.turn_id == "c-1:0"
    assert memory.window("c-1", turns=11).summary == ()
    assert memory.window("c-1", minutes=2, at=minute(10)).summary == (line,)
    assert memory.window("c-1").text == line.sentence


def test_a_write_is_seen_at_once_and_what_it_replaces_leaves_the_summary(memory: Memory) -> None:
    talk(memory, ["预算5万元", *SMALL])
    assert "5万元" in memory.window("c-1").summary[0].sentence
    talk(memory, ["预算改成8万元"], first=11)
    window = memory.window("c-1")
    assert window.turns[-1].text == "预算改成8万元"
    assert window.summary == ()


def test_what_another_conversation_changes_leaves_the_summary_and_what_it_adds_does_not_enter(memory: Memory) -> None:
    talk(memory, ["预算5万元", "房租3000元", *SMALL])
    assert len(memory.window("c-1").summary) == 2
    talk(memory, ["预算改成8万元", "违约金是500元"], conversation="c-2", first=20)
    assert ["3000元" in each.sentence for each in memory.window("c-1").summary] == [True]


def test_a_window_carried_on_is_the_window_read_anew(memory: Memory) -> None:
    """Whatever was kept before, the answer is that of the tables."""
    turns = [
        "预算5万元",
        "房租3000元",
        *SMALL[:4],
        "预算改成8万元",
        "The late fee is $500.",
        *SMALL,
        "房租涨到3500元",
        *SMALL,
    ]
    for number, text in enumerate(turns):
        talk(memory, [text], first=number, conversation=f"c-{number % 2}", entity="a" if number % 3 else "b")
        for conversation in ("c-0", "c-1"):
            carried = memory.window(conversation, at=minute(number))
            memory.__dict__.pop("_windows", None)
            assert memory.window(conversation, at=minute(number)) == carried, number


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
    talk(memory, ["预算5万元", *SMALL])
    assert memory.window("c-1").turns
    number = memory.restrict("conversation", "c-1", ground="gdpr-18-1-a", actor="officer")
    assert memory.window("c-1") == Window("c-1", (), ())
    talk(memory, ["嗯"], first=12)
    assert memory.window("c-1") == Window("c-1", (), ())
    memory.release("restrict", number, ground="settled", actor="officer")
    assert memory.window("c-1").turns
    assert memory.window("c-1").summary


def test_a_restricted_item_is_not_summed_up(memory: Memory) -> None:
    talk(memory, ["预算5万元", "房租3000元", *SMALL])
    (budget,) = memory.items(slot="budget")
    memory.restrict("item", budget.id, ground="gdpr-18-1-a", actor="officer")
    assert ["3000元" in each.sentence for each in memory.window("c-1").summary] == [True]


@pytest.mark.parametrize("count", [-1, 0])
def test_no_turns_are_no_turns(memory: Memory, count: int) -> None:
    talk(memory, ["预算5万元"])
    window = memory.window("c-1", turns=count)
    assert window.turns == ()
    assert window.summary


def noted(memory: Memory, at: datetime, conversation: str = "c-1") -> list[str]:
    """The values that hold for a conversation alone."""
    return [each.value for each in memory.window(conversation, at=at).for_now]


def test_what_is_said_for_the_conversation_alone_stays_in_its_window_and_out_of_memory(memory: Memory) -> None:
    talk(memory, ["For this chat, answer in French.", "本次对话请用欧元计价", "预算5万元", *SMALL])
    assert noted(memory, minute(12)) == ["answer in French", "用欧元计价"]
    assert noted(memory, minute(12), "c-2") == []
    assert [item.slot for item in memory.items(history=True, as_of=minute(20))] == ["budget"]
    assert not any("French" in hit.item.sentence for hit in memory.recall("French", at=minute(20)))
    with memory.store.reading(memory.namespace) as tx:
        assert [each.reason for each in tx.decisions("c-1:0")] == ["session_only"]
    assert "French" in memory.window("c-1", at=minute(12)).for_now[0].sentence


def test_a_value_within_it_is_not_remembered_either(memory: Memory) -> None:
    talk(memory, ["The late fee is $200.", "For this chat, the late fee is $300."])
    assert [item.canonical for item in memory.items(as_of=minute(5))] == ["200 USD"]
    assert noted(memory, minute(5)) == ["late fee is $300"]
    talk(memory, ["本次对话暂时按违约金300元算"], first=2)
    assert [item.canonical for item in memory.items(as_of=minute(5))] == ["200 USD"]


def test_what_only_names_the_conversation_is_remembered(memory: Memory) -> None:
    talk(memory, ["In this conversation we agreed that the late fee is $300.", "Should I use euros for this chat?"])
    assert [item.canonical for item in memory.items(as_of=minute(5))] == ["300 USD"]
    assert noted(memory, minute(5)) == []


def test_it_is_over_with_the_session_and_when_it_is_erased(memory: Memory) -> None:
    talk(memory, ["本次对话请用英文"])
    assert noted(memory, minute(12 * 60)) == ["用英文"]
    assert noted(memory, minute(12 * 60 + 1)) == []
    memory.erase(conversation="c-1", ground="gdpr-17-1-b", actor="officer")
    assert noted(memory, minute(5)) == []


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (["For this chat, answer in English.", "For this chat, answer in French."], ["answer in French"]),
        (["For this chat, use euros.", "For the rest of this chat, work in US dollars."], ["work in US dollars"]),
        (["For this chat, keep your answers short.", "For this chat, answer in detail."], ["answer in detail"]),
        (["本次对话请用英文。", "这次聊天改说日语吧。"], ["改说日语"]),
        (["这次聊天里就按美元算。", "本次对话统一以欧元计价。"], ["以欧元计价"]),
        (["本次对话请简短回答。", "For this chat, give me long answers."], ["give me long answers"]),
        # Wishes about different things, and those that no rule knows to be about the same, stand side by side.
        (["For this chat, answer in French.", "For this chat, use euros."], ["answer in French", "use euros"]),
        (["For this chat, use emojis.", "For this chat, do not use emojis."], ["use emojis", "do not use emojis"]),
        (["本次对话请用英文，违约金按300元算"], ["用英文", "违约金按300元算"]),
        (["本次对话按8万元算", "In this chat only, the rent is $900."], ["按8万元算", "rent is $900"]),
    ],
)
def test_a_later_wish_for_the_conversation_takes_the_place_of_an_earlier_one(
    memory: Memory, said: list[str], left: list[str]
) -> None:
    talk(memory, said)
    assert noted(memory, minute(5)) == left
    assert memory.items(history=True, as_of=minute(5)) == ()


@pytest.mark.parametrize(
    ("said", "remembered"),
    [
        ("本次对话请用英文，我的电话是13900001234", "+8613900001234"),
        ("For this chat, answer in English. The late fee is $300.", "300 USD"),
        ("The rent for this chat room is $900.", "900 USD"),
        ("这次聊天别忘了预算8万元", "80000 CNY"),
    ],
)
def test_a_fact_beside_such_a_wish_is_remembered(memory: Memory, said: str, remembered: str) -> None:
    talk(memory, [said])
    assert [item.canonical for item in memory.items(as_of=minute(5))] == [remembered]


# ---------------------------------------------------------------- several principals, restrictions, odd bounds
def test_what_somebody_said_before_the_turns_that_are_kept_is_summed_up_as_it_stands(memory: Memory) -> None:
    """Forty turns are kept; those of the first principal are not among them any more."""
    talk(memory, ["预算5万元", "房租3000元"], entity="a")
    memory.window("c-1")
    talk(memory, ["嗯"] * 41, first=2, entity="b")
    for _ in range(2):
        sentences = [each.sentence for each in memory.window("c-1").summary]
        assert ["5万元" in sentences[0], "3000元" in sentences[1], len(sentences)] == [True, True, 2]
        memory.__dict__.pop("_windows", None)
    talk(memory, ["预算改成8万元"], conversation="c-2", first=50, entity="a")
    for _ in range(2):
        assert ["3000元" in each.sentence for each in memory.window("c-1").summary] == [True]
        memory.__dict__.pop("_windows", None)


def test_a_turn_that_says_what_is_restricted_is_not_in_the_window(memory: Memory) -> None:
    talk(memory, ["预算5万元", "房租3000元"])
    talk(memory, ["预算是5万元", "你好"], conversation="c-2", first=5)
    (budget,) = memory.items(slot="budget")
    number = memory.restrict("item", budget.id, ground="gdpr-18-1-a", actor="officer")
    assert said(memory.window("c-1").turns) == ["房租3000元"]
    assert said(memory.window("c-2").turns) == ["你好"]
    memory.release("restrict", number, ground="settled", actor="officer")
    number = memory.restrict("conversation", "c-1", ground="gdpr-18-1-a", actor="officer")
    assert said(memory.window("c-2").turns) == ["你好"]
    memory.release("restrict", number, ground="settled", actor="officer")
    assert said(memory.window("c-2").turns) == ["预算是5万元", "你好"]


def test_what_somebody_restricted_wished_for_a_conversation_is_not_shown(memory: Memory) -> None:
    talk(memory, ["本次对话请用英文"], entity="a")
    talk(memory, ["本次对话按美元算"], entity="b", first=1)
    both = noted(memory, minute(2))
    assert len(both) == 2
    number = memory.restrict("entity", "a", ground="gdpr-18-1-a", actor="officer")
    assert noted(memory, minute(2)) == both[1:]
    memory.release("restrict", number, ground="settled", actor="officer")
    assert noted(memory, minute(2)) == both


@pytest.mark.parametrize("minutes", [float("nan"), -1.0, float("-inf")])
def test_minutes_that_are_none_are_refused(memory: Memory, minutes: float) -> None:
    talk(memory, ["预算5万元"])
    with pytest.raises(QuestionError, match="0 minutes or more"):
        memory.window("c-1", minutes=minutes)


@pytest.mark.parametrize(("minutes", "turns"), [(float("inf"), 2), (1e300, 2), (1e10, 2), (0.0, 1), (0.5, 1)])
def test_more_minutes_than_the_calendar_has_are_all_there_are(memory: Memory, minutes: float, turns: int) -> None:
    talk(memory, ["预算5万元", "你好"])
    assert len(memory.window("c-1", minutes=minutes, at=minute(1)).turns) == turns


def test_a_wish_under_a_slot_that_the_rules_do_not_have_any_more_is_shown_as_it_was_said(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m.db", ner=False) as memory:
        talk(memory, ["本次对话请用英文"])
    with Memory.open(tmp_path / "m.db", ner=False, packs=False) as memory:
        assert [each.sentence for each in memory.window("c-1", at=minute(1)).for_now] == ["用英文"]
