"""Reconciliation: what each verdict does to the versions of a place, and the law that they never overlap."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recordari.model import Action, Bound, Candidate, Known, MemoryItem, SlotTraits, Turn, Verdict
from recordari.store.items import as_of, is_void, reconcile, status_at
from recordari.values import MoneyValue

ONE = SlotTraits(slot="budget")
MANY = SlotTraits(slot="phone", cardinality="many")


def day(number: float) -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=number)


def money(amount: int) -> MoneyValue:
    return MoneyValue(amount=Decimal(amount), currency="CNY")


class Story:
    """A principal's memory, told verdict by verdict."""

    def __init__(self, slot: SlotTraits = ONE) -> None:
        self.known = Known()
        self.slot = slot
        self.count = 0
        self.all: dict[str, MemoryItem] = {}

    def tell(
        self,
        action: Action,
        amount: int | None = None,
        *,
        said: float,
        received: float | None = None,
        act: str = "state",
        reason: str = "stated",
        target: str | None = None,
        closes: tuple[str, ...] = (),
        since: float | None = None,
        until: float | None = None,
        qualifier: str = "",
    ) -> str:
        self.count += 1
        name = f"i{self.count}"
        turn = Turn(turn_id=f"t{self.count}", text="…", said_at=day(said), received_at=day(received or said))
        bound = Bound(
            candidate=Candidate(act=act, start=0, end=1, rule="r@1"),  # type: ignore[arg-type]
            slot=self.slot.slot,
            qualifier=qualifier,
            value=money(amount) if amount is not None else None,
            target=target,
            closes=closes,
            valid_from=day(since) if since is not None else None,
            valid_to=day(until) if until is not None else None,
        )
        verdict = Verdict(action=action, reason=reason, rule="p@1")
        written, self.known = reconcile(self.known, bound, verdict, turn, name, f"It is {amount}.", self.slot)
        self.all.update((item.id, item) for item in written)
        self.written = written
        return name

    def current(self, at: float) -> list[str]:
        items = as_of(self.all.values(), day(at))
        return [item.canonical.split()[0] for item in items if item.status == "current"]

    def status(self, name: str, at: float) -> str:
        return next(item.status for item in as_of(self.all.values(), day(at)) if item.id == name)


def test_an_added_value_is_current_from_when_it_was_said() -> None:
    story = Story()
    first = story.tell("ADD", 5, said=1)
    assert story.current(1) == ["5"]
    assert story.status(first, 0) == "scheduled"
    assert story.all[first].recorded_at == day(1)


def test_a_change_closes_the_old_value_when_it_was_said_and_keeps_it() -> None:
    story = Story()
    old = story.tell("ADD", 5, said=1)
    new = story.tell("SUPERSEDE", 8, said=3, act="change", target=old)
    assert story.current(2) == ["5"]
    assert story.current(3) == ["8"]
    assert story.all[old].status == "superseded"
    assert (story.all[old].valid_to, story.all[old].superseded_at) == (day(3), day(3))
    assert (story.all[old].version, story.all[new].version) == (2, 1)
    assert [item.id for item in story.known.items] == [new]
    assert [item.id for item in story.known.history] == [old]


def test_a_correction_voids_the_old_value_and_takes_its_whole_time() -> None:
    story = Story()
    old = story.tell("ADD", 5, said=1)
    new = story.tell("SUPERSEDE", 8, said=3, act="correct", reason="correction_explicit", target=old)
    assert story.current(2) == ["8"]
    assert is_void(story.all[old])
    assert story.status(old, 2) == "superseded"
    assert story.all[new].valid_from == day(1)
    assert story.known.history == ()


def test_a_value_from_july_stands_beside_the_one_of_today() -> None:
    story = Story()
    now = story.tell("ADD", 5, said=1)
    later = story.tell("ADD", 8, said=3, since=10)
    assert story.current(4) == ["5"]
    assert story.status(later, 4) == "scheduled"
    assert story.current(10) == ["8"]
    assert story.status(now, 10) == "superseded"
    assert [item.id for item in story.known.live()] == [now, later]


def test_a_change_of_today_leaves_what_is_scheduled() -> None:
    story = Story()
    now = story.tell("ADD", 5, said=1)
    story.tell("SUPERSEDE", 8, said=3, since=10, act="change", target=now)
    story.tell("SUPERSEDE", 6, said=4, act="change", target=now)
    assert (story.current(4), story.current(10)) == (["6"], ["8"])


def test_a_scheduled_value_can_be_replaced_before_it_begins() -> None:
    story = Story()
    story.tell("ADD", 5, said=1)
    later = story.tell("ADD", 8, said=3, since=10)
    story.tell("SUPERSEDE", 9, said=4, act="change", target=later)
    assert (story.current(9), story.current(10)) == (["5"], ["9"])
    assert story.status(later, 11) == "superseded"


def test_a_scheduled_value_that_is_called_off_lets_the_present_one_go_on() -> None:
    story = Story()
    story.tell("ADD", 5, said=1)
    later = story.tell("ADD", 8, said=3, since=10)
    story.tell("RETRACT", said=4, act="retract", reason="withdrawn", target=later)
    assert story.current(20) == ["5"]
    assert story.status(later, 20) == "retracted"


def test_a_scheduled_value_can_be_put_off() -> None:
    story = Story()
    story.tell("ADD", 5, said=1)
    later = story.tell("ADD", 8, said=3, since=10)
    story.tell("SUPERSEDE", 8, said=4, since=12, act="correct", target=later)
    assert (story.current(11), story.current(12)) == (["5"], ["8"])


def test_two_values_scheduled_for_the_same_day_leave_the_later_words() -> None:
    story = Story()
    story.tell("ADD", 5, said=1)
    story.tell("ADD", 8, said=3, since=10)
    story.tell("ADD", 9, said=4, since=10)
    assert (story.current(9), story.current(10)) == (["5"], ["9"])


def test_a_late_old_document_enters_history_before_what_superseded_it() -> None:
    story = Story()
    now = story.tell("ADD", 8, said=5)
    old = story.tell("ADD", 5, said=2, received=9, reason="historical", target=now)
    assert story.status(old, 9) == "superseded"
    assert (story.current(3), story.current(6), story.current(9)) == (["5"], ["8"], ["8"])
    assert [item.id for item in story.known.items] == [now]


def test_a_late_old_document_does_not_resurrect_a_corrected_budget() -> None:
    story = Story()
    wrong = story.tell("ADD", 5, said=1)
    right = story.tell("SUPERSEDE", 8, said=4, act="correct", target=wrong)
    late = story.tell("ADD", 5, said=2, received=9, reason="historical", target=right)
    assert is_void(story.all[late])
    assert (story.current(3), story.current(9)) == (["8"], ["8"])


def test_a_late_old_document_does_not_resurrect_a_withdrawn_budget() -> None:
    story = Story()
    first = story.tell("ADD", 5, said=2)
    story.tell("RETRACT", said=4, act="retract", reason="withdrawn", target=first)
    story.tell("ADD", 6, said=1, received=9)
    story.tell("ADD", 7, said=3, received=9)
    assert (story.current(1), story.current(2), story.current(3), story.current(9)) == (["6"], ["5"], ["7"], [])


def test_a_late_document_lands_between_what_was_said_before_and_after_it() -> None:
    story = Story()
    first = story.tell("ADD", 5, said=1)
    second = story.tell("SUPERSEDE", 8, said=6, act="change", target=first)
    story.tell("ADD", 6, said=3, received=9, reason="historical", target=second)
    assert [story.current(at)[0] for at in (2, 4, 7)] == ["5", "6", "8"]


def test_an_older_document_that_outranks_replaces_the_value_from_its_start() -> None:
    story = Story()
    said = story.tell("ADD", 5, said=5)
    story.tell("SUPERSEDE", 8, said=2, received=9, reason="user_over_agent", target=said)
    assert story.current(9) == ["8"]
    assert story.current(6) == ["8"]


def test_a_claim_about_the_past_alone_leaves_the_present_value() -> None:
    story = Story()
    story.tell("ADD", 8, said=5)
    old = story.tell("ADD", 5, said=9, since=1, until=4)
    assert (story.current(2), story.current(9)) == (["5"], ["8"])
    assert story.status(old, 9) == "expired"


def test_a_value_true_for_long_replaces_what_was_thought_meanwhile() -> None:
    story = Story()
    first = story.tell("ADD", 5, said=5)
    story.tell("SUPERSEDE", 8, said=9, since=2, act="change", target=first)
    assert (story.current(3), story.current(6), story.current(9)) == (["8"], ["8"], ["8"])


def test_saying_it_again_confirms_and_doubles_nothing() -> None:
    story = Story()
    first = story.tell("ADD", 5, said=1)
    story.tell("CONFIRM", 5, said=2, reason="duplicate", target=first)
    assert story.all[first].confirmations == 1
    assert len(story.all) == 1


def test_a_confirmation_of_something_unknown_writes_nothing() -> None:
    story = Story()
    story.tell("CONFIRM", 5, said=2, reason="duplicate", target="nobody")
    assert story.written == ()


def test_a_withdrawn_value_is_retracted_from_when_that_was_said() -> None:
    story = Story()
    first = story.tell("ADD", 5, said=1)
    story.tell("RETRACT", said=3, act="retract", reason="withdrawn", target=first)
    assert (story.current(2), story.current(3)) == (["5"], [])
    assert story.status(first, 3) == "retracted"
    assert story.known.items == ()


def test_an_ending_announced_ahead_leaves_the_value_current_until_then() -> None:
    story = Story()
    first = story.tell("ADD", 5, said=1)
    story.tell("RETRACT", said=3, act="end", reason="ended", target=first, until=7)
    assert (story.current(6), story.current(7)) == (["5"], [])
    assert story.status(first, 7) == "expired"


def test_a_withdrawal_without_a_target_takes_the_current_value_of_the_place_only() -> None:
    story = Story()
    story.tell("ADD", 5, said=1)
    other = story.tell("ADD", 6, said=1, qualifier="IT")
    story.tell("RETRACT", said=3, act="retract", reason="withdrawn")
    assert story.current(4) == ["6"]
    assert story.status(other, 4) == "current"


def test_a_value_past_its_time_to_live_expires_only_when_swept() -> None:
    story = Story(ONE.model_copy(update={"ttl": timedelta(days=3)}))
    first = story.tell("ADD", 5, said=1)
    assert story.current(30) == ["5"]
    story.tell("RETRACT", said=31, reason="expired", target=first)
    assert (story.current(3), story.current(30)) == (["5"], [])
    assert story.status(first, 30) == "expired"


def test_a_held_value_stands_apart_and_is_not_current() -> None:
    story = Story()
    story.tell("ADD", 5, said=1)
    held = story.tell("HOLD", 50, said=2, reason="needs_approval")
    assert story.current(3) == ["5"]
    assert story.status(held, 3) == "held"
    assert [item.id for item in story.known.live()] == ["i1"]


def test_an_approved_hold_becomes_a_value_of_its_own() -> None:
    story = Story()
    first = story.tell("ADD", 5, said=1)
    held = story.tell("HOLD", 50, said=2, reason="needs_approval", target=first)
    story.tell("SUPERSEDE", 50, said=3, act="change", target=first, closes=(held,))
    assert story.current(3) == ["50"]
    assert story.status(held, 3) == "superseded"


def test_a_rejected_hold_is_retracted() -> None:
    story = Story()
    held = story.tell("HOLD", 50, said=2, reason="needs_approval")
    story.tell("RETRACT", said=3, reason="withdrawn", target=held)
    assert story.status(held, 3) == "retracted"
    assert story.known.items == ()


def test_a_hold_without_a_value_or_an_ignore_writes_nothing() -> None:
    story = Story()
    story.tell("HOLD", said=2, reason="ambiguous_reference")
    assert story.written == ()
    story.tell("IGNORE", 5, said=3, reason="question")
    assert story.written == ()
    assert story.known == Known()


def test_a_corrected_member_of_a_multi_valued_slot_leaves_the_others() -> None:
    story = Story(MANY)
    story.tell("ADD", 1, said=1)
    wrong = story.tell("ADD", 2, said=1)
    story.tell("SUPERSEDE", 3, said=2, act="correct", target=wrong)
    assert sorted(story.current(2)) == ["1", "3"]


def test_an_older_member_of_a_multi_valued_slot_is_not_brought_back() -> None:
    story = Story(MANY)
    new = story.tell("ADD", 2, said=5)
    story.tell("ADD", 1, said=2, received=9, reason="historical", target=new)
    assert story.current(9) == ["2"]


def test_further_named_values_end_with_the_target() -> None:
    story = Story(MANY)
    first, second = story.tell("ADD", 1, said=1), story.tell("ADD", 2, said=1)
    story.tell("SUPERSEDE", 3, said=2, act="change", target=first, closes=(second,))
    assert story.current(2) == ["3"]


def test_an_id_is_never_used_twice() -> None:
    story = Story()
    story.tell("ADD", 5, said=1)
    story.count = 0
    with pytest.raises(ValueError, match="exists already"):
        story.tell("ADD", 6, said=2)


moments = st.integers(0, 12)
steps = st.lists(
    st.fixed_dictionaries(
        {
            "action": st.sampled_from(["ADD", "ADD", "SUPERSEDE", "SUPERSEDE", "RETRACT", "CONFIRM", "HOLD", "IGNORE"]),
            "act": st.sampled_from(["state", "change", "correct"]),
            "said": moments,
            "late": st.integers(0, 6),
            "since": st.none() | st.integers(0, 20),
            "length": st.none() | st.integers(0, 6),
            "historical": st.booleans(),
            "pick": st.integers(0, 7),
        }
    ),
    max_size=12,
)


@settings(max_examples=150, deadline=None)
@given(steps)
def test_versions_of_a_single_valued_place_never_overlap(told: list[dict[str, object]]) -> None:
    story = Story()
    received = 0
    for number, step in enumerate(told):
        said, since, length = int(str(step["said"])), step["since"], step["length"]
        received = max(received, said + int(str(step["late"])))
        ids = [item.id for item in story.known.items]
        target = ids[int(str(step["pick"])) % len(ids)] if ids else None
        action = step["action"]
        if action == "ADD" and not step["historical"]:
            target = None
        start = said if since is None else int(str(since))
        story.tell(
            action,  # type: ignore[arg-type]
            number,
            said=said,
            received=received,
            act=str(step["act"]),
            reason="historical" if action == "ADD" and step["historical"] else "stated",
            target=target,
            since=start if since is not None else None,
            until=start + int(str(length)) if length is not None else None,
        )
        true_once = [item for item in story.all.values() if item.status != "held" and not is_void(item)]
        spans = sorted((item.valid_from, item.valid_to or day(10_000)) for item in true_once if item.valid_from)
        assert all(first[1] <= second[0] for first, second in pairwise(spans))
        assert all(start < end for start, end in spans)
        for at in range(0, 24, 3):
            assert sum(status_at(item, day(at)) == "current" for item in story.all.values()) <= 1
        unsuperseded = {item.id for item in story.all.values() if item.superseded_at is None}
        assert {item.id for item in story.known.items} == unsuperseded


@given(steps)
@settings(max_examples=50, deadline=None)
def test_what_is_known_holds_every_version_that_was_ever_true(told: list[dict[str, object]]) -> None:
    story = Story()
    for number, step in enumerate(told):
        ids = [item.id for item in story.known.items]
        target = ids[-1] if ids else None
        action = "SUPERSEDE" if target else "ADD"
        story.tell(action, number, said=int(str(step["said"])), received=20, act=str(step["act"]), target=target)  # type: ignore[arg-type]
    kept = {item.id for item in (*story.known.items, *story.known.history)}
    assert kept == {item.id for item in story.all.values() if not is_void(item)}
    assert len([item for item in story.all.values() if status_at(item, day(21)) == "current"]) == (1 if told else 0)
