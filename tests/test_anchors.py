"""Values that are counted from an event follow it: dated, moved, corrected, open again, each time by a decision."""

from __future__ import annotations

from pathlib import Path

import pytest
from shipped import shipped

from recordari.intake import read_turn
from recordari.memory import Memory
from recordari.model import Decision, MemoryItem
from recordari.settings import Settings

pytestmark = pytest.mark.usefixtures("sharing")  # see conftest.py

RULES = shipped()
MEMORY = Memory.rehearsal(ruleset=RULES, ner=False)


def rehearse(*said: str, memory: Memory = MEMORY) -> tuple[tuple[Decision, ...], tuple[MemoryItem, ...]]:
    at = (f"2026-03-{18 + day:02}T10:00:00+08:00" for day in range(len(said)))
    return memory.rehearse([read_turn({"text": text, "at": when}, 10_000) for text, when in zip(said, at, strict=True)])


def current(items: tuple[MemoryItem, ...]) -> list[str]:
    return [item.canonical for item in items if item.status == "current"]


def followed(decisions: tuple[Decision, ...]) -> list[str | None]:
    return [decision.canonical for decision in decisions if decision.reason == "anchor_moved"]


LAUNCH = "The launch is on 3 June 2026."
KIT = "The press kit deadline is 7 days before the launch."
SIGNING = "签约日期是2026年4月2日。"
BALANCE = "尾款付款期限是签约后30天内。"


@pytest.mark.parametrize(
    ("said", "moved"),
    [
        ((LAUNCH, KIT, "The launch has moved to 10 June 2026."), "2026-06-03"),
        ((SIGNING, BALANCE, "签约日期改到4月9日。"), "../2026-05-09"),
        (("The closing is on 30 April 2026.", "The deposit is due 2 business days after closing.",
          "Closing slipped to 8 May 2026."), "2026-05-12"),
        (("系统上线时间是2026年9月1日。", "培训的截止日期是上线前10天。", "系统上线时间推迟到9月15日。"), "2026-09-05"),
        (("The effective date is 1 May 2026.", "Payment is due within 30 days of the Effective Date.",
          "Correction: the effective date is 15 May 2026."), "../2026-06-14"),
        (("The lease expires on 31 December 2026.", "Renewal notice must be given at least 60 days before expiry.",
          "The lease now expires on 31 January 2027."), "../2026-12-02"),
        (("新品开售日定在10月12日。", "备货要在开售前7天到仓。", "开售日推迟到10月20日。"), "2026-10-13"),
    ],
)  # fmt: skip
def test_a_value_follows_its_event_when_it_moves(said: tuple[str, ...], moved: str) -> None:
    decisions, items = rehearse(*said)
    assert followed(decisions) == [moved]
    assert moved in current(items)
    (decision,) = [each for each in decisions if each.reason == "anchor_moved"]
    new = next(item for item in items if item.id == decision.item)
    event = next(each for each in decisions if each.turn == 2 and each.reason != "anchor_moved")
    assert (decision.action, decision.turn) == ("SUPERSEDE", 2)
    assert new.derived_from == decision.derived_from == (event.item,)
    assert (new.turn, new.surface) == (1, said[1].strip("。."))  # the words stay where they were said


@pytest.mark.parametrize(
    "said",
    [
        (LAUNCH, KIT, "The budget is $5,000."),
        (LAUNCH, KIT, "Has the launch moved to 10 June 2026?"),
        (LAUNCH, KIT, "If the launch moved to 10 June 2026, we would have more time."),
        (LAUNCH, "The press kit deadline is 27 May 2026.", "The launch has moved to 10 June 2026."),
        (LAUNCH, KIT, "The opening night is on 10 June 2026."),
        (SIGNING, BALANCE, "签约日期会不会改到4月9日？"),
        (SIGNING, "尾款付款期限是2026年5月2日。", "签约日期改到4月9日。"),
        (SIGNING, BALANCE, "交付日期改到4月9日。"),
    ],
)
def test_nothing_follows_what_did_not_move_or_is_another_event(said: tuple[str, ...]) -> None:
    decisions, _ = rehearse(*said)
    assert followed(decisions) == []


def test_the_event_of_another_matter_moves_nothing() -> None:
    said = (
        "The Phoenix launch is on 3 June 2026.", "The Atlas launch is on 20 August 2026.",
        "The Phoenix press kit is due 7 days before the launch.", "The Atlas launch has moved to 1 September 2026.",
    )  # fmt: skip
    decisions, items = rehearse(*said)
    assert followed(decisions) == []
    assert "2026-05-27" in current(items)
    moved, _ = rehearse(*said, "The Phoenix launch has moved to 10 June 2026.")
    assert followed(moved) == ["2026-06-03"]


def test_of_two_events_that_could_be_meant_none_is_taken() -> None:
    _, items = rehearse(
        "The Phoenix launch is on 3 June 2026.", "The Atlas launch is on 20 August 2026.", KIT
    )  # fmt: skip
    assert "launch-P7D" in current(items)


def test_the_event_of_another_entity_moves_nothing() -> None:
    with Memory(MEMORY.store.open("sqlite://"), RULES, ner=False) as memory:
        for entity, text in (
            ("a", LAUNCH),
            ("a", KIT),
            ("b", "The launch is on 1 July 2026."),
            ("b", "The launch has moved to 8 July 2026."),
        ):
            memory.observe(text, said_at="2026-03-18T10:00:00+08:00", entity=entity, conversation=entity)
        assert [item.canonical for item in memory.items(entity="a")] == ["2026-06-03", "2026-05-27"]


@pytest.mark.parametrize(
    ("said", "dated"),
    [((KIT, LAUNCH), "2026-05-27"), ((BALANCE, SIGNING), "../2026-05-02")],
)
def test_a_value_is_dated_when_its_event_gets_its_first_date(said: tuple[str, ...], dated: str) -> None:
    decisions, items = rehearse(*said)
    assert followed(decisions) == [dated]
    assert [item.status for item in items if item.canonical == dated] == ["current"]


@pytest.mark.parametrize(
    ("said", "open_again"),
    [
        ((LAUNCH, KIT, "Forget the launch date."), "launch-P7D"),
        ((SIGNING, BALANCE, "刚才说的签约日期作废。"), "<=signing_date+P30D"),
    ],
)
def test_a_value_is_open_again_when_its_event_is_taken_back(said: tuple[str, ...], open_again: str) -> None:
    decisions, items = rehearse(*said)
    assert any(decision.action == "RETRACT" for decision in decisions)
    assert followed(decisions) == [open_again]
    assert open_again in current(items)


def test_the_sentence_names_the_event_as_it_was_said() -> None:
    _, items = rehearse("系统上线时间是2026年9月1日。", "培训的截止日期是上线前10天。", "上线取消了。")
    sentences = [item.sentence for item in items if item.slot == "deadline"]
    assert all("上线前10天" in sentence for sentence in sentences)
    assert "2026年8月22日（上线前10天）" in sentences[0]
    assert "2026年" not in sentences[-1].split("（")[0]


def test_a_suggestion_that_is_accepted_moves_what_is_counted_from_it() -> None:
    said = [
        (LAUNCH, "user"),
        (KIT, "user"),
        ("Shall we move the launch to 10 June 2026?", "assistant"),
        ("Yes.", "user"),
    ]
    turns = [
        read_turn({"text": text, "speaker": speaker, "at": f"2026-03-{18 + day}T10:00:00+08:00"}, 10_000)
        for day, (text, speaker) in enumerate(said)
    ]
    decisions, _ = MEMORY.rehearse(turns)
    assert [(d.turn, d.canonical) for d in decisions if d.reason == "anchor_moved"] == [(3, "2026-06-03")]
    before, _ = MEMORY.rehearse(turns[:3])
    assert followed(before) == []


def test_a_chain_of_counted_values_follows_link_by_link() -> None:
    decisions, items = rehearse(
        "交付日期是2026年8月1日。", "验收日期是交付后10天。", "尾款在验收后5个工作日内支付。", "交付日期改成8月11日。"
    )
    assert followed(decisions) == ["2026-08-21", "../2026-08-28"]
    (acceptance, balance) = [each for each in decisions if each.reason == "anchor_moved"]
    assert balance.derived_from == (acceptance.item,)
    assert "2026-08-21" in current(items)


def test_values_counted_from_each_other_stay_open() -> None:
    decisions, items = rehearse(
        "The launch is 10 days after the closing.",
        "The closing is on 1 June 2026.",
        "Closing is 5 days before the launch.",
    )
    assert len(decisions) < 8
    assert sorted(current(items)) == ["closing+P10D", "launch-P5D"]


def test_a_day_said_outright_cuts_the_tie() -> None:
    decisions, items = rehearse(
        LAUNCH, KIT, "The press kit deadline is now 20 May 2026.", "The launch has moved to 10 June 2026."
    )
    assert followed(decisions) == []
    assert "2026-05-20" in current(items)


def test_what_was_moved_by_an_amount_is_counted_no_longer() -> None:
    decisions, items = rehearse(
        LAUNCH, KIT, "Push the press kit deadline back by two days.", "The launch has moved to 10 June 2026."
    )
    assert followed(decisions) == []
    assert "2026-05-29" in current(items)


@pytest.mark.parametrize(
    "again", ["The press kit deadline is 7 days before the launch.", "The press kit deadline is 27 May 2026."]
)
def test_the_same_said_again_confirms_and_the_tie_stays(again: str) -> None:
    decisions, _ = rehearse(LAUNCH, KIT, again, "The launch has moved to 10 June 2026.")
    assert decisions[2].action == "CONFIRM"
    assert followed(decisions) == ["2026-06-03"]


def test_an_elliptical_change_means_the_event_and_not_what_followed_it() -> None:
    talk = ("Thanks a lot.", "How are you?", "Good morning.", "Nice weather today.")
    decisions, items = rehearse(LAUNCH, KIT, *talk, "The launch has moved to 10 June 2026.", "No, make it 12 June.")
    assert "2026-06-12" in current(items)
    assert followed(decisions) == ["2026-06-03", "2026-06-05"]


def test_a_corrected_event_was_never_true_of_what_is_counted_from_it() -> None:
    _, items = rehearse(LAUNCH, KIT, "Sorry, I meant the launch is on 10 June 2026.")
    (old,) = [item for item in items if item.canonical == "2026-05-27"]
    assert old.valid_from == old.valid_to


@pytest.mark.parametrize("engine", ["reference", "durable"])
def test_history_explanation_and_replay_tell_of_the_move(engine: str, place: str) -> None:
    pytest.importorskip("durable") if engine == "durable" else None
    with Memory.open(place, ruleset=RULES, ner=False, engine=engine, settings=Settings()) as memory:  # type: ignore[arg-type]
        for number, text in enumerate((LAUNCH, KIT, "The launch has moved to 10 June 2026.")):
            receipt = memory.observe(text, said_at=f"2026-03-{18 + number}T10:00:00+08:00")
        kit = next(item for item in receipt.items if item.slot == "deadline" and item.status == "current")
        assert [item.canonical for item in memory.history(kit.id)] == ["2026-05-27", "2026-06-03"]
        told = "\n".join(line for each in memory.explain(kit.id) for line in each.lines())
        print(told)
        assert "anchor_moved" in told
        assert [replayed.ok and not replayed.differences for replayed in memory.replay()] == [True, True]
        assert memory.verify().ok


def test_a_person_who_corrects_the_event_moves_what_is_counted_from_it(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m.db", ruleset=RULES, ner=False) as memory:
        for text in (LAUNCH, KIT):
            memory.observe(text, said_at="2026-03-18T10:00:00+08:00")
        launch = memory.items(slot="event")[0]
        receipt = memory.correct(launch.id, "10 June 2026", actor="Ines", seen_version=launch.version)
        assert [d.reason for d in receipt.decisions] == ["correction_explicit", "anchor_moved"]
        kit = memory.items(slot="deadline")[0]
        assert (kit.canonical, kit.asserted_by) == ("2026-06-03", "user")
        # What followed can be edited like anything else.
        again = memory.correct(kit.id, "1 June 2026", actor="Ines", seen_version=kit.version)
        assert again.items[-1].canonical == "2026-06-01"
        assert all(replayed.ok for replayed in memory.replay())


def test_a_row_of_ones_own_lets_a_person_look_before_a_deadline_moves(tmp_path: Path) -> None:
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "policy.ours.yaml").write_text(
        "id: policy.ours\nversion: 1\nkind: policy\ntitle: {en: Ours, zh: 我们的}\nowner: us\nrows:\n"
        "  - {when: {act: follow, slot: deadline}, do: HOLD, reason: needs_approval}\n",
        encoding="utf-8",
    )
    with Memory.open(tmp_path / "m.db", rules=rules, ner=False) as memory:
        for number, text in enumerate((LAUNCH, KIT, "The launch has moved to 10 June 2026.")):
            memory.observe(text, said_at=f"2026-03-{18 + number}T10:00:00+08:00")
        ((held, decision),) = memory.review()
        assert (held.canonical, decision.reason) == ("2026-06-03", "needs_approval")
        assert [item.canonical for item in memory.items(slot="deadline") if item.status == "current"] == ["2026-05-27"]
        memory.approve(held.id, actor="Ines", seen_version=held.version)
        assert [item.canonical for item in memory.items(slot="deadline")] == ["2026-06-03"]
        assert memory.verify().ok
