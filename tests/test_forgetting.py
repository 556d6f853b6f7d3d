"""Forgetting: what has ended or is over a budget is archived at a given time, deleted later, and provably so."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from forgettable import ACTOR, HEAD, HOUSE, SAID, at, house

from recordari.audit.check_bundle import main as check_bundle
from recordari.erasure.erasing import ErasureError
from recordari.erasure.forgetting import Forgotten
from recordari.evidence.bundle import export
from recordari.evidence.questions import decisions
from recordari.memory import Memory
from recordari.model import MemoryItem
from recordari.rules.forgetting_file import Keep
from recordari.rules.ruleset import Ruleset
from recordari.store.errors import Stale
from recordari.trust.actors import ActorError, add_actor, key_file

pytestmark = pytest.mark.usefixtures("sharing")  # see conftest.py


@pytest.fixture
def small(place: str, own_rules: Ruleset) -> Any:
    """A memory over each kind of store, under the rules of the house."""
    with Memory.open(place, ruleset=own_rules, ner=False) as opened:
        yield opened


def say(memory: Memory, text: str, day: str = "2025-01-02", talk: str = "c", entity: str = "acme") -> None:
    memory.observe(text, said_at=f"{day}T10:00:00+08:00", conversation=talk, entity=entity)


def one(memory: Memory, slot: str, label: str = "") -> MemoryItem:
    (found,) = [each for each in memory.items(history=True) if each.slot == slot and label in each.qualifier]
    return found


def names(done: Forgotten) -> list[tuple[str, str]]:
    return [(due.item.slot, due.why) for due in done.archived]


def proved(memory: Memory, folder: Path | None = None) -> None:
    """The log verifies, everything is decided again the same way, and a bundle passes the single-file verifier."""
    report = memory.verify()
    assert report.ok, report.lines()
    for layer in memory.replay():
        assert layer.ok, layer.lines()
    if folder is not None:
        export(memory, folder)
        assert check_bundle([str(folder)]) == 0


# ---------------------------------------------------------------- what ends
def test_a_state_ends_with_its_conversation_and_not_before(small: Memory, tmp_path: Path) -> None:
    say(small, "The ticket status is open.")
    say(small, "你好！", day="2025-01-03")  # the talk goes on
    assert names(small.forget(at=at("2025-01-03"))) == []
    done = small.forget(at=at("2025-01-05"))
    assert names(done) == [("status", "session")]
    assert done.archived[0].at == datetime.fromisoformat("2025-01-04T10:00:00+08:00")  # a day after the last word
    item = one(small, "status")
    assert (item.status, item.superseded_at, item.version) == ("expired", at("2025-01-05"), 2)
    assert small.items() == ()
    assert small.recall("ticket status") == ()
    assert small.answer("which forget?", transcript=True).turns == ()  # nobody said that
    assert "open" not in small.context("ticket status").text
    assert [each.status for each in small.items(as_of="2025-01-03T12:00:00+08:00")] == ["current"]
    proved(small, tmp_path / "bundle")


def test_a_state_said_again_elsewhere_stands_as_long_as_that_was_heard(small: Memory) -> None:
    say(small, "The ticket status is open.")
    say(small, "The ticket status is open.", day="2025-01-06", talk="d")
    assert names(small.forget(at=at("2025-01-06"))) == []
    assert names(small.forget(at=at("2025-01-08"))) == [("status", "session")]


def test_what_is_said_again_in_time_lives_on(small: Memory) -> None:
    say(small, "I prefer window seats.")
    say(small, "I prefer window seats.", day="2025-03-30")
    assert names(small.forget(at=at("2025-04-15"))) == []  # 90 days after the first time, 16 after the last
    assert names(small.forget(at=at("2025-06-30"))) == [("preference", "ttl")]
    proved(small)


def test_an_event_does_not_run_out_before_it_has_taken_place(small: Memory) -> None:
    say(small, "The hearing is on April 6, 2026.")
    assert names(small.forget(at=at("2026-04-10"))) == []
    assert names(small.forget(at=at("2026-05-20"))) == [("event", "ttl")]
    proved(small)


def test_the_time_to_live_of_a_slot_comes_before_that_of_its_type(tmp_path: Path, ruleset: Ruleset) -> None:
    slot = (
        ruleset.sources["slot.event"]
        .replace("version: 1\n", "version: 2\n", 1)
        .replace("importance:", "ttl: P7D\nimportance:")
    )
    slot = slot.replace("id: slot.event\n", "")
    own = house(tmp_path / "r", **{"slot.event": slot})
    assert own.slots["event"].ttl == "P7D"
    with Memory.open("sqlite://", ruleset=own, ner=False) as memory:
        say(memory, "The hearing is on April 6, 2025.")
        assert names(memory.forget(at=at("2025-04-13"))) == []
        done = memory.forget(at=at("2025-04-16"))
        assert [(due.why, due.rule) for due in done.archived] == [("ttl", "slot.event@2")]


def test_what_named_its_own_end_is_archived_then_and_a_value_that_was_replaced_is_not(small: Memory) -> None:
    say(small, "The rent is $2,000 until June 1, 2025.")
    say(small, "The late fee is $50.")
    say(small, "The late fee is now $60.", day="2025-02-02")
    assert names(small.forget(at=at("2025-05-30"))) == []
    assert names(small.forget(at=at("2025-07-01"))) == [("amount", "ended")]
    assert one(small, "amount", "rent").status == "expired"
    assert [each.canonical for each in small.items(slot="amount")] == ["60 USD"]
    proved(small)


def test_what_was_induced_fades_at_a_forgetting_too(ruleset: Ruleset) -> None:
    with Memory.open("sqlite://", ruleset=ruleset, ner=False) as memory:
        for day in ("2025-01-01", "2025-01-08", "2025-01-15"):
            say(memory, "I'd like a window seat.", day=day)
        (item,) = memory.items()
        assert item.fades_at is not None
        assert names(memory.forget(at=item.fades_at - timedelta(days=1))) == []
        done = memory.forget(at=item.fades_at + timedelta(days=3))
        assert [(due.why, due.at) for due in done.archived] == [("ended", item.fades_at)]
        proved(memory)


def test_what_waits_for_a_person_is_not_forgotten(tmp_path: Path, ruleset: Ruleset) -> None:
    slot = ruleset.sources["slot.event"].replace("version: 1\n", "version: 2\n", 1)
    slot = slot.replace("id: slot.event\n", "").replace("personal_data:", "needs_approval: true\npersonal_data:")
    own = house(tmp_path / "r", **{"slot.event": slot})
    with Memory.open("sqlite://", ruleset=own, ner=False) as memory:
        say(memory, "The hearing is on April 6, 2025.")
        assert [each.status for each in memory.items()] == ["held"]
        assert memory.forget(at=at("2026-04-16")) == Forgotten((), (), (), False)


def test_facts_that_no_rule_ends_stand(small: Memory) -> None:
    say(small, "营销预算8万元。")
    assert names(small.forget(at=at("2026-11-01"))) == []
    assert [each.status for each in small.items()] == ["current"]


def test_what_was_archived_can_be_said_anew(small: Memory) -> None:
    say(small, "I prefer window seats.")
    small.forget(at=at("2025-06-30"))
    say(small, "I prefer window seats.", day="2025-08-01")
    assert sorted(each.status for each in small.items(history=True)) == ["current", "expired"]
    proved(small)


def test_a_value_counted_from_an_archived_event_is_left_as_it_stands(small: Memory) -> None:
    say(small, "The hearing is on April 6, 2025.")
    say(small, "The deadline is 7 days before the hearing.", day="2025-01-03")
    before = one(small, "deadline")
    small.forget(at=at("2025-06-01"))
    say(small, "The late fee is $50.", day="2025-06-02")
    assert one(small, "event").status == "expired"
    assert one(small, "deadline") == before
    proved(small)


# ---------------------------------------------------------------- budgets
def test_over_a_budget_the_least_worth_keeping_goes_first(small: Memory) -> None:
    for number, text in enumerate(("营销预算8万元。", "研发预算5万元。", "差旅预算2万元。", "培训预算1万元。")):
        say(small, text, day=f"2025-01-0{number + 1}")
    say(small, "The late fee is $50.", day="2025-01-05")  # newer, and matters less
    say(small, "营销预算8万元。", day="2025-03-01")  # the oldest, used again
    assert names(small.forget(at=at("2025-01-01"))) == []
    done = small.forget(at=at("2025-06-01"))
    assert [(due.item.slot, due.why, due.rule, due.at) for due in done.archived] == [
        ("amount", "budget", "forgetting.core@9", at("2025-06-01"))
    ]
    say(small, "设备预算3万元。", day="2025-06-02")
    done = small.forget(at=at("2025-06-03"))
    assert [due.item.qualifier for due in done.archived] == ["research"]  # not the one that was said again
    assert len(small.items()) == 4
    proved(small)


def test_each_entity_has_a_budget_of_its_own(small: Memory) -> None:
    for entity in ("acme", "宋玉"):
        for text in SAID[3:7]:
            say(small, text, entity=entity, talk=entity)
    assert names(small.forget(at=at("2025-02-01"))) == []
    say(small, "培训预算1万元。", entity="宋玉", talk="宋玉")
    done = small.forget(at=at("2025-02-01"))
    assert [due.item.entity for due in done.archived] == ["宋玉"]


def test_a_budget_counts_bytes_too(tmp_path: Path) -> None:
    own = house(tmp_path / "r", HOUSE.replace("items: 4, bytes: 100000", "items: 90, bytes: 1600"))
    with Memory.open("sqlite://", ruleset=own, ner=False) as memory:
        for text in SAID[3:7]:
            say(memory, text)
        done = memory.forget(at=at("2025-02-01"))
        assert 0 < len(done.archived) < 4
        with memory.store.reading(memory.namespace) as tx:
            from recordari.store.forgetting import standing_of

            assert sum(each.size for each in standing_of(tx, at("2025-02-01"), "acme")) <= 1600


def test_what_is_to_come_is_not_what_a_budget_lets_go(small: Memory) -> None:
    for text in SAID[3:7]:
        say(small, text)
    say(small, "From December 2025 the rent is $900.")
    done = small.forget(at=at("2025-02-01"))
    assert len(done.archived) == 1
    assert [each.status for each in small.items(as_of=at("2025-02-01")) if each.qualifier == "rent"] == ["scheduled"]


@pytest.mark.parametrize(
    ("keep", "better", "worse"),
    [
        ({}, ("0.9", 0, 0), ("0.5", 0, 0)),
        ({}, ("0.5", 10, 400), ("0.5", 200, 400)),
        ({}, ("0.5", 10, 10), ("0.5", 10, 400)),
        ({"importance": 0}, ("0.1", 10, 10), ("0.9", 11, 10)),
        ({"use": 0}, ("0.5", 900, 10), ("0.5", 1, 11)),
        ({"age": 0, "importance": 4}, ("0.9", 300, 900), ("0.6", 100, 10)),
    ],
)
def test_worth_is_importance_times_use_times_age_to_the_weights_of_the_file(
    keep: dict[str, int], better: tuple[str, int, int], worse: tuple[str, int, int]
) -> None:
    def worth(importance: str, idle: int, age: int) -> Fraction:
        return Keep(**keep).worth(Fraction(importance), timedelta(days=idle), timedelta(days=age))  # type: ignore[arg-type]

    assert worth(*better) > worth(*worse)


def test_worth_halves_where_the_file_says() -> None:
    keep = Keep()
    assert keep.worth(Fraction(1), timedelta(days=90), timedelta()) == Fraction(1, 2)
    assert keep.worth(Fraction(1), timedelta(), timedelta(days=730)) == Fraction(1, 3)
    assert keep.worth(Fraction(1), timedelta(days=-5), timedelta()) == 1  # used after the time it is asked for


# ---------------------------------------------------------------- what is exempt
def test_pinned_held_and_restricted_items_stay_and_are_told(small: Memory) -> None:
    for text in ("The ticket status is open.", "The order status is now delivered.", "I prefer window seats."):
        say(small, text)
    pin = small.pin(one(small, "status", "ticket").id, actor=ACTOR, ground="asked for every week")
    hold = small.hold("item", one(small, "status", "order").id, ground="case 7", actor=ACTOR)
    hidden = one(small, "preference").id
    restriction = small.restrict("item", hidden, ground="gdpr-18-1-a", actor=ACTOR)
    done = small.forget(at=at("2025-06-30"))
    assert done.archived == ()
    assert {each.because for each in done.exempt} == {
        f"pinned by record {pin} (asked for every week)", f"on legal hold by record {hold} (case 7)",
        f"restricted by record {restriction} (gdpr-18-1-a)",
    }  # fmt: skip
    small.unpin(one(small, "status", "ticket").id, actor=ACTOR)
    small.release("hold_legal", hold, ground="closed", actor=ACTOR)
    small.release("restrict", restriction, ground="settled", actor=ACTOR)
    assert sorted(names(small.forget(at=at("2025-06-30")))) == [
        ("preference", "ttl"), ("status", "session"), ("status", "session"),
    ]  # fmt: skip
    assert small.verify().ok


def test_a_pin_takes_up_room_and_another_goes(small: Memory) -> None:
    for text in SAID[3:7]:
        say(small, text)
    say(small, "培训预算1万元。")
    fee = one(small, "amount").id  # what would go
    small.pin(fee, actor=ACTOR)
    done = small.forget(at=at("2025-06-01"))
    assert [each.due.item.id for each in done.exempt] == [fee]
    assert [due.item.slot for due in done.archived] == ["budget"]
    assert len(small.items()) == 4


def test_a_pin_is_no_hold_and_what_is_not_pinned_cannot_be_unpinned(small: Memory) -> None:
    say(small, "I prefer window seats.")
    item = one(small, "preference").id
    with pytest.raises(ErasureError, match="not pinned"):
        small.unpin(item, actor=ACTOR)
    with pytest.raises(ErasureError, match="no item"):
        small.pin("f" * 32, actor=ACTOR)
    small.pin(item[:12], actor=ACTOR)
    small.erase(item, ground="gdpr-17-1-b", actor=ACTOR)
    assert small.items(history=True) == ()
    proved(small)


def test_where_actors_are_listed_a_pin_is_signed_or_refused(tmp_path: Path, own_rules: Ruleset) -> None:
    add_actor(tmp_path / "actors.yaml", ACTOR, "records", key_file(tmp_path / "actors.yaml", ACTOR))
    with Memory.open(tmp_path / "m.db", ruleset=own_rules, ner=False) as memory:
        say(memory, "I prefer window seats.")
        say(memory, "The ticket status is open.")
        with pytest.raises(ActorError):
            memory.pin(one(memory, "preference").id, actor="somebody")
        memory.pin(one(memory, "preference").id, actor=ACTOR)
        with pytest.raises(ActorError):
            memory.forget(at=at("2025-06-30"), actor="somebody")
        assert names(memory.forget(at=at("2025-06-30"), actor=ACTOR)) == [("status", "session")]
        report = memory.verify()
        assert report.ok, report.lines()
        assert report.counts["signatures of actors"] == 3  # the list, the pin, the end
        proved(memory, tmp_path / "bundle")


# ---------------------------------------------------------------- how it is done
def test_a_dry_run_says_the_same_and_changes_nothing(small: Memory) -> None:
    for text in SAID:
        say(small, text)
    small.pin(one(small, "preference").id, actor=ACTOR)
    size = small.verify().size
    would = small.forget(at=at("2026-11-01"), dry_run=True)
    assert small.verify().size == size
    assert small.forget(at=at("2026-11-01")) == would
    assert [each.due.why for each in would.exempt] == ["ttl"]  # it is over the budget as well, and told once
    assert sorted(due.why for due in would.archived) == ["budget", "ended", "session", "ttl"]


def test_it_is_bounded_and_goes_on_where_it_stopped(small: Memory) -> None:
    for text in SAID:
        say(small, text)
    rounds: list[int] = []
    while (done := small.forget(at=at("2026-11-01"), limit=1)).archived:
        rounds.append(len(done.archived))
        assert done.more == (len(rounds) < 4)
    assert rounds == [1, 1, 1, 1]
    assert small.forget(at=at("2026-11-01")).more is False
    proved(small)


def test_a_time_that_has_not_come_is_refused(small: Memory) -> None:
    with pytest.raises(ErasureError, match="not come yet"):
        small.forget(at=datetime.now(UTC) + timedelta(days=1))


def test_a_policy_that_ends_nothing_is_an_error_and_nothing_is_written(tmp_path: Path) -> None:
    refusing = HEAD.format(version=1, kind="policy")
    refusing += "priority: 90\nrows: [{when: {act: fade, slot: status}, do: IGNORE, reason: no_slot}]\n"
    with Memory.open("sqlite://", ruleset=house(tmp_path / "r", **{"policy.house": refusing}), ner=False) as memory:
        say(memory, "The ticket status is open.")
        size = memory.verify().size
        with pytest.raises(ErasureError, match="policy"):
            memory.forget(at=at("2025-06-30"))
        assert memory.verify().size == size
        assert [each.status for each in memory.items()] == ["current"]


def test_an_earlier_time_ends_nothing_that_was_said_later(small: Memory) -> None:
    say(small, "I prefer window seats.", day="2025-06-01")
    for text in SAID[3:7]:
        say(small, text, day="2025-06-01")
    assert small.forget(at=at("2025-01-01")) == Forgotten((), (), (), False)


def test_what_changed_since_the_look_is_left_to_the_next_time(small: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    say(small, "I prefer window seats.")
    say(small, "The ticket status is open.")
    take = small._take_all

    def taken(*given: Any) -> Any:  # somebody speaks, and somebody pins, before the transaction begins
        say(small, "I prefer window seats.", day="2025-06-29")
        small.pin(one(small, "status").id, actor=ACTOR)
        return take(*given)

    monkeypatch.setattr(small, "_take_all", taken)
    assert small.forget(at=at("2025-06-30")).archived == ()
    assert {each.status for each in small.items()} == {"current"}
    assert small.verify().ok


def test_each_end_is_a_decision_that_is_explained_and_found(small: Memory) -> None:
    say(small, "The ticket status is open.")
    small.forget(at=at("2025-06-30"))
    told = [line for each in small.explain(one(small, "status").id) for line in each.lines()]
    assert any("RETRACT expired" in line for line in told)
    assert any("forgetting.core@9" in line for line in told)
    assert any("forgotten_session" in line for line in told)
    (found,) = decisions(small, rule="forgetting.core", kind="expire")
    assert (found["reason"], found["target"]) == ("expired", one(small, "status").id)
    assert small.history(one(small, "status").id)[0].status == "expired"


def test_an_archived_item_is_no_longer_edited(small: Memory) -> None:
    from recordari.editing import EditError

    say(small, "I prefer window seats.")
    small.forget(at=at("2025-06-30"))
    item = one(small, "preference")
    with pytest.raises((EditError, Stale)):
        small.confirm(item.id, actor=ACTOR, seen_version=item.version)


def test_an_item_that_ended_can_be_erased_and_all_the_rest_is_proved(small: Memory, tmp_path: Path) -> None:
    for text in SAID:
        say(small, text)
    small.forget(at=at("2026-11-01"))
    small.erase(one(small, "event").id, ground="gdpr-17-1-b", actor=ACTOR)
    assert {each.slot for each in small.items(history=True)} == {"amount", "budget", "preference", "status"}
    proved(small, tmp_path / "bundle")


# ---------------------------------------------------------------- deleting
def test_what_was_archived_is_deleted_after_its_grace_and_not_before(small: Memory, tmp_path: Path) -> None:
    say(small, "The ticket status is open.")
    say(small, "营销预算8万元。")
    small.forget(at=at("2025-06-01"))
    assert small.forget(at=at("2025-06-30")) == Forgotten((), (), (), False)
    done = small.forget(at=at("2025-07-02"))
    assert [(due.item.slot, due.why, due.rule) for due in done.deleted] == [("status", "grace", "forgetting.core@9")]
    assert [each.slot for each in small.items(history=True)] == ["budget"]
    report = small.verify()
    assert {each.ground for each in report.erased} == {"forget:client-record-7y"}
    assert done.records == (small.certificate(done.records[0])["seq"],)
    assert small.forget(at=at("2025-07-02")) == Forgotten((), (), (), False)
    proved(small, tmp_path / "bundle")


def test_a_pin_or_a_hold_keeps_what_was_archived(small: Memory) -> None:
    say(small, "The ticket status is open.")
    say(small, "The order status is now delivered.")
    small.forget(at=at("2025-06-01"))
    small.pin(one(small, "status", "ticket").id, actor=ACTOR)
    number = small.hold("entity", "acme", ground="case 7", actor=ACTOR)
    done = small.forget(at=at("2025-07-02"))
    assert done.deleted == ()
    assert len(done.exempt) == 2
    small.release("hold_legal", number, ground="closed", actor=ACTOR)
    done = small.forget(at=at("2025-07-02"))
    assert [due.item.qualifier for due in done.deleted] == ["order"]


def test_under_the_shipped_rules_nothing_is_deleted_before_its_retention_ends(memory: Memory) -> None:
    say(memory, "The ticket status is open.")
    assert names(memory.forget(at=at("2025-07-02"))) == [("status", "ttl")]
    assert memory.forget(at=at("2026-11-01")) == Forgotten((), (), (), False)


def test_archiving_does_not_make_a_retention_class_begin_anew(small: Memory) -> None:
    say(small, "The ticket status is open.", day="2018-01-02")
    small.forget(at=at("2025-06-20"))  # the day before its seventh year is long over
    assert [(each.retention, each.items) for each in small.sweep(at=at("2025-06-21"))] == [
        ("advice-5y", 0), ("client-record-7y", 1),
    ]  # fmt: skip
    assert small.items(history=True) == ()
    assert small.verify().ok
