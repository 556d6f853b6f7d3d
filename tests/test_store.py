"""The store: one suite for memory, file and PostgreSQL, and what can go wrong with a place."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from recordari.audit.ledger import Ledger
from recordari.audit.record import decision_entry
from recordari.model import (
    Adjustment,
    Bound,
    Candidate,
    Decision,
    Known,
    MemoryItem,
    Outcome,
    Proposal,
    SlotTraits,
    Turn,
    Verdict,
)
from recordari.store.codec import item_body, proposal_body, read_item, read_proposal, read_turn, text_bytes, turn_body
from recordari.store.engine import Store
from recordari.store.errors import Stale, StoreError, TurnConflict
from recordari.store.items import reconcile
from recordari.store.tables import stamp, unstamp
from recordari.store.writing import Writing
from recordari.values import VALUE_TYPES, MoneyValue, TextValue, TimeValue

NS = "tenant-1"
ledger = Ledger()


def minute(number: float) -> datetime:
    return datetime(2026, 3, 18, 10, tzinfo=UTC) + timedelta(minutes=number)


def money(amount: int) -> MoneyValue:
    return MoneyValue(amount=Decimal(amount), currency="CNY")


def turn_of(
    tx: Writing, number: int, text: str = "预算8万", *, entity: str = "client", conversation: str = "c"
) -> Turn:
    return Turn(
        turn_id=f"{conversation}-{number}",
        text=text,
        said_at=minute(number),
        received_at=minute(number),
        entity=entity,
        conversation=conversation,
        ordinal=tx.next_ordinal(conversation),
    )


def outcome_of(
    turn: Turn, known: Known, amount: int, *, qualifier: str = "", ordinal: int = 0
) -> tuple[Outcome, Known]:
    """Set the budget of the turn's principal, replacing the one that is current."""
    target = next((item.id for item in known.live() if item.qualifier == qualifier), None)
    candidate = Candidate(act="change", start=0, end=4, surface="预算", rule="budget@1", language="zh")
    bound = Bound(
        candidate=candidate,
        slot="budget",
        qualifier=qualifier,
        entity=turn.entity,
        value=money(amount),
        target=target,
    )
    verdict = Verdict(
        action="SUPERSEDE" if target else "ADD", reason="update_stated" if target else "stated", rule="p@1"
    )
    new_id = f"i-{turn.turn_id}-{ordinal}"
    slot = SlotTraits(slot="budget")
    written, after = reconcile(known, bound, verdict, turn, new_id, f"{turn.entity}的预算为{amount}元。", slot)
    decision = Decision(
        turn_id=turn.turn_id,
        turn=turn.ordinal,
        ordinal=ordinal,
        action=verdict.action,
        reason=verdict.reason,
        rule=verdict.rule,
        slot="budget",
        qualifier=qualifier,
        entity=turn.entity,
        kind="money",
        canonical=bound.value.canonical if bound.value else None,
        item=new_id,
        target=target,
        features={"slot": "budget"},
    )
    return Outcome(bound=bound, decision=decision, written=written), after


def write(tx: Writing, turn: Turn, *outcomes: Outcome) -> None:
    """What memory does: the turn, its records, its outcomes."""
    tx.write_turn(turn)
    entries = [decision_entry(each.decision, each.written) for each in outcomes]
    rows = ledger.append(tx.log, NS, entries, recorded_at=turn.received_at)
    tx.write_outcomes(turn, outcomes, seqs=[row.seq for row in rows])


def say(store: Store, number: int, amount: int, *, entity: str = "client", conversation: str = "c") -> Turn:
    with store.writing(NS) as tx:
        turn = turn_of(tx, number, entity=entity, conversation=conversation)
        outcome, _ = outcome_of(turn, tx.known(entity, conversation, at=turn.received_at), amount)
        write(tx, turn, outcome)
    return turn


def amounts(items: tuple[MemoryItem, ...]) -> list[str]:
    return [item.canonical.split()[0] for item in items]


def current(items: tuple[MemoryItem, ...]) -> list[str]:
    return amounts(tuple(item for item in items if item.status == "current"))


@pytest.fixture
def store(place: str) -> Iterator[Store]:
    with Store.open(place, secret=b"s" * 32) as opened:
        yield opened


def test_a_turn_and_what_follows_from_it_come_back_as_they_were(store: Store) -> None:
    with store.writing(NS) as tx:
        turn = turn_of(tx, 0, "营销预算8万，\0 研发“5万”")
        first, known = outcome_of(turn, Known(), 80_000, qualifier="营销")
        second, _ = outcome_of(turn, known, 50_000, qualifier="研发", ordinal=1)
        write(tx, turn, first, second)
    with store.reading(NS) as tx:
        assert tx.turn(turn.turn_id) == turn
        assert tx.turns(conversation="c") == (turn,)
        assert tx.turns(principal="nobody") == ()
        assert tx.decisions(turn.turn_id) == (first.decision, second.decision)
        assert tx.decision_seqs(turn.turn_id) == (0, 1)
        assert tx.items() == (*first.written, *second.written)
        assert tx.item(first.written[0].id) == first.written[0]
        assert tx.item("nobody") is None
        assert tx.turn("nobody") is None


def test_items_are_asked_as_of_a_time_and_as_known_at_a_time(store: Store) -> None:
    for number, amount in ((0, 5), (10, 8), (20, 9)):
        say(store, number, amount)
    with store.reading(NS) as tx:
        assert amounts(tx.items()) == ["9"]
        assert current(tx.items(as_of=minute(12))) == ["8"]
        assert [item.status for item in tx.items(as_of=minute(12), history=True)] == [
            "superseded",
            "current",
            "scheduled",
        ]
        assert amounts(tx.items(known_at=minute(12))) == ["8"]
        assert amounts(tx.items(as_of=minute(25), known_at=minute(5))) == ["5"]
        assert tx.items(known_at=minute(-1)) == ()
        every = tx.items(history=True)
        assert amounts(every) == ["5", "8", "9"]
        assert [item.status for item in every] == ["superseded", "superseded", "current"]
        assert amounts(tx.place_history("client", "budget")) == ["5", "8", "9"]
        assert [each.version for each in tx.versions(every[0].id)] == [1, 2]
        assert tx.item(every[0].id, version=1).status == "current"  # type: ignore[union-attr]


def test_items_are_narrowed_by_entity_principal_and_slot(store: Store) -> None:
    say(store, 0, 5)
    say(store, 1, 7, entity="other", conversation="d")
    with store.reading(NS) as tx:
        assert amounts(tx.items(entity="other")) == ["7"]
        assert amounts(tx.items(principal="client")) == ["5"]
        assert amounts(tx.items(slot="budget")) == ["5", "7"]
        assert tx.items(slot="deadline") == ()
    with store.reading("another tenant") as tx:
        assert tx.items() == ()
        assert tx.turn("c-0") is None


def test_the_same_turn_again_gets_the_same_receipt(store: Store) -> None:
    turn = say(store, 0, 5)
    say(store, 1, 6)
    with store.writing(NS) as tx:
        again = turn.model_copy(update={"ordinal": 7, "received_at": minute(9)})
        receipt = tx.receipt_of(again)
        assert receipt is not None
        assert receipt.repeated
        assert amounts(receipt.items) == ["5"]
        assert receipt.items[0].status == "current"
        assert [each.turn_id for each in receipt.decisions] == [turn.turn_id]


def test_a_known_turn_id_with_other_content_is_refused(store: Store) -> None:
    turn = say(store, 0, 5)
    with store.writing(NS) as tx:
        assert tx.receipt_of(turn.model_copy(update={"turn_id": "new"})) is None
        for change in ({"text": "预算9万"}, {"speaker": "assistant"}, {"said_at": minute(3)}, {"entity": "x"}):
            with pytest.raises(TurnConflict, match="other content"):
                tx.receipt_of(turn.model_copy(update=change))


def test_what_is_known_survives_the_process(place: str) -> None:
    with Store.open(place) as store:
        say(store, 0, 5)
        say(store, 1, 6)
        with store.writing(NS) as tx:
            before = tx.known("client", "c")
            assert (tx.next_ordinal("c"), tx.last_received("c")) == (2, minute(1))
        if place == "sqlite://":
            return
    with Store.open(place) as store, store.writing(NS) as tx:
        assert tx.known("client", "c") == before
        assert amounts(before.items) == ["6"]
        assert amounts(before.history) == ["5"]
        assert [said.slot for said in before.recent] == ["budget", "budget"]
        assert (tx.next_ordinal("c"), tx.last_received("c")) == (2, minute(1))
        assert (tx.next_ordinal("new"), tx.last_received("new")) == (0, None)


def test_what_another_store_writes_is_known_at_once(place: str) -> None:
    if place == "sqlite://":
        pytest.skip("a memory database has one store")
    with Store.open(place) as one, Store.open(place) as two:
        for number in range(6):
            say((one, two)[number % 2], number, number)
        with one.writing(NS) as tx:
            known = tx.known("client", "c")
        assert amounts(known.items) == ["5"]
        assert amounts(known.history) == ["0", "1", "2", "3", "4"]
        assert [said.turn for said in known.recent] == list(range(6))


def test_recent_talk_is_that_of_the_last_turns_of_the_conversation(store: Store) -> None:
    for number in range(5):
        say(store, number, number)
    say(store, 9, 9, conversation="d")
    with store.writing(NS) as tx:
        assert [said.turn for said in tx.known("client", "c", last_turns=2).recent] == [3, 4]
        assert [said.turn for said in tx.known("client", "d").recent] == [0]
        assert tx.known("client", "e").recent == ()


def test_a_proposal_stays_open_until_it_is_answered(store: Store) -> None:
    with store.writing(NS) as tx:
        turn = turn_of(tx, 0, "要不要把预算定在8万？").model_copy(update={"speaker": "assistant"})
        candidate = Candidate(
            act="propose",
            slot="budget",
            value=money(8),
            old=money(5),
            adjustment=Adjustment(operator="add", by=money(3)),
            start=0,
            end=3,
            rule="r@1",
        )
        proposal = Proposal(turn=0, turn_id=turn.turn_id, candidate=candidate)
        tx.write_turn(turn)
        tx.write_proposals([proposal], turn=turn)
    store._caches.clear()
    with store.writing(NS) as tx:
        assert tx.known("client", "c").proposals == (proposal,)
        answer = turn_of(tx, 1, "可以")
        tx.write_turn(answer)
        tx.write_proposals([], answered=[proposal], turn=answer)
        assert tx.known("client", "c").proposals == ()
    store._caches.clear()
    with store.writing(NS) as tx:
        assert tx.known("client", "c").proposals == ()


def test_decisions_that_touched_an_item_are_found_from_both_sides(store: Store) -> None:
    say(store, 0, 5)
    say(store, 1, 6)
    say(store, 2, 7)
    with store.reading(NS) as tx:
        touching = tx.decisions_touching("i-c-1-0")
        assert [each.turn_id for each in touching] == ["c-1", "c-2"]
        assert tx.decisions_touching("nobody") == ()


def test_a_decision_that_ended_an_item_along_with_another_touched_it(store: Store) -> None:
    say(store, 0, 5)
    with store.writing(NS) as tx:
        turn = turn_of(tx, 1, "都取消")
        (item,) = tx.known("client", "c").items
        ended = item.model_copy(update={"version": 2, "status": "retracted", "superseded_at": minute(1)})
        decision = Decision(turn_id=turn.turn_id, turn=1, ordinal=0, action="RETRACT", reason="ended", rule="p@1")
        write(tx, turn, Outcome(decision=decision, written=(ended,)))
    with store.reading(NS) as tx:
        assert [each.action for each in tx.decisions_touching(item.id)] == ["ADD", "RETRACT"]


def test_an_error_in_the_block_undoes_all_of_it(store: Store) -> None:
    say(store, 0, 5)
    with pytest.raises(ZeroDivisionError), store.writing(NS) as tx:  # noqa: PT012
        turn = turn_of(tx, 1)
        outcome, _ = outcome_of(turn, tx.known("client", "c"), 6)
        write(tx, turn, outcome)
        raise ZeroDivisionError
    with store.writing(NS) as tx:
        assert amounts(tx.known("client", "c").items) == ["5"]
        assert tx.next_ordinal("c") == 1
        assert tx.turn("c-1") is None
        assert tx.log.size(NS) == tx.log.frontier(NS)[0] == 1
    say(store, 1, 6)


def test_an_error_in_a_part_of_a_group_undoes_that_part_alone(store: Store) -> None:
    with store.group(NS):
        say(store, 0, 5)
        with pytest.raises(ZeroDivisionError), store.writing(NS) as tx:  # noqa: PT012
            turn = turn_of(tx, 1)
            outcome, _ = outcome_of(turn, tx.known("client", "c"), 6)
            write(tx, turn, outcome)
            raise ZeroDivisionError
        say(store, 2, 7)
        with store.reading(NS) as tx:
            assert amounts(tx.items(history=True)) == ["5", "7"]
    with store.reading(NS) as tx:
        assert amounts(tx.items(history=True)) == ["5", "7"]
        assert tx.log.size(NS) == 2


def test_nothing_of_a_group_is_kept_before_it_ends(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.group(NS):  # noqa: PT012
        say(store, 0, 5)
        raise ZeroDivisionError
    with store.reading(NS) as tx:
        assert tx.items() == ()
    assert store.namespaces() == ()


def test_transactions_of_one_thread_do_not_nest(store: Store) -> None:
    with store.writing(NS):
        with pytest.raises(StoreError, match="writing to 'tenant-1' already"), store.writing(NS):
            pass
        with pytest.raises(StoreError, match="do not nest"), store.group(NS):
            pass


def test_readers_are_not_held_up_by_a_writer(place: str) -> None:
    if place == "sqlite://":
        pytest.skip("a memory database has one connection")
    with Store.open(place) as store:
        say(store, 0, 5)
        seen: list[list[str]] = []

        def read() -> None:
            with store.reading(NS) as tx:
                seen.append(amounts(tx.items()))

        with store.writing(NS) as tx:
            turn = turn_of(tx, 1)
            outcome, _ = outcome_of(turn, tx.known("client", "c"), 6)
            write(tx, turn, outcome)
            reader = threading.Thread(target=read)
            reader.start()
            reader.join(20)
            assert seen == [["5"]]
        read()
        assert seen == [["5"], ["6"]]


def test_threads_lose_no_update(store: Store) -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # threads change places in the middle of everything

    def work(thread: int) -> None:
        for number in range(10):
            say(store, number, thread * 100 + number, conversation=f"c{thread}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    sys.setswitchinterval(interval)
    with store.reading(NS) as tx:
        assert len(tx.turns()) == 30
        assert [row.seq for row in tx.log.read(NS)] == list(range(30))
        assert len(tx.items(history=True)) == 30


def test_an_edit_rests_on_the_version_that_was_seen(store: Store) -> None:
    say(store, 0, 5)
    say(store, 1, 6)
    with store.writing(NS) as tx:
        assert tx.expect_version("i-c-1-0", 1).canonical == "6 CNY"
        with pytest.raises(Stale, match="has version 2, not 1"):
            tx.expect_version("i-c-0-0", 1)
        with pytest.raises(Stale, match="is unknown"):
            tx.expect_version("nobody", 1)


def test_a_version_that_skips_one_is_refused(store: Store) -> None:
    say(store, 0, 5)
    with pytest.raises(Stale), store.writing(NS) as tx:  # noqa: PT012
        turn = turn_of(tx, 1)
        (item,) = tx.known("client", "c").items
        tx.write_turn(turn)
        tx.write_items(turn, [item.model_copy(update={"version": 3})])
    with pytest.raises(Stale, match="unknown"), store.writing(NS) as tx:  # noqa: PT012
        turn = turn_of(tx, 1)
        tx.write_turn(turn)
        tx.write_items(turn, [item.model_copy(update={"id": "new", "version": 2})])


def test_items_have_numbers_in_the_order_of_writing(store: Store) -> None:
    say(store, 0, 5)
    say(store, 1, 6)
    with store.reading(NS) as tx:
        assert tx.ordinals(("i-c-0-0", "i-c-1-0", "nobody")) == {"i-c-0-0": 1, "i-c-1-0": 3}


def test_each_namespace_has_a_secret_of_its_own() -> None:
    with Store.open() as store:
        secrets = []
        for name in ("a", "b", "a"):
            with store.writing(name) as tx:
                secrets.append(tx.secret)
        assert len(secrets[0]) == 32
        assert secrets[0] == secrets[2] != secrets[1]
        assert store.namespaces() == ("a", "b")


def test_names_that_no_database_keeps_are_refused(store: Store) -> None:
    with pytest.raises(StoreError, match="no name for a namespace"), store.writing("a\0b"):
        pass
    with pytest.raises(StoreError, match="no database keeps"), store.writing(NS) as tx:
        tx.write_turn(turn_of(tx, 0).model_copy(update={"turn_id": "a\0b"}))


def test_words_that_no_column_keeps_are_kept_in_the_item(store: Store) -> None:
    with store.writing(NS) as tx:
        turn = turn_of(tx, 0)
        outcome, _ = outcome_of(turn, Known(), 5, qualifier="a\0b\ud800")
        tx.write_turn(turn)
        tx.write_outcomes(turn, [outcome])
    with store.reading(NS) as tx:
        assert tx.items()[0].qualifier == "a\0b\ud800"


def test_half_a_surrogate_pair_in_a_turn_comes_back(store: Store) -> None:
    with store.writing(NS) as tx:
        turn = turn_of(tx, 0, "预算\ud83d8万")
        tx.write_turn(turn)
        assert tx.receipt_of(turn) is not None
        assert tx.turn(turn.turn_id) == turn


def test_text_order_of_stamps_is_time_order() -> None:
    east = timezone(timedelta(hours=8))
    moments = [
        datetime(210, 1, 1, tzinfo=UTC),
        datetime(2026, 1, 1, 7, 59, tzinfo=east),
        datetime(2026, 1, 1, tzinfo=UTC),
        datetime(2026, 1, 1, 0, 0, 0, 5, tzinfo=UTC),
        datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC),
    ]
    assert sorted(map(stamp, moments)) == list(map(stamp, moments))
    assert [unstamp(stamp(each)) for each in moments] == moments


def test_no_value_has_a_field_of_the_name_that_carries_its_kind() -> None:
    assert not [kind for kind, cls in VALUE_TYPES.items() if "kind" in cls.model_fields]


def test_nouns_survive_being_written_and_read() -> None:
    turn = Turn(turn_id="t", text="x", said_at=minute(0), received_at=minute(0), lang="zh")
    assert read_turn(turn_body(turn), text_bytes(turn.text)) == turn
    assert read_turn(turn_body(turn), None).text == ""
    outcome, _ = outcome_of(turn, Known(), 5)
    (item,) = outcome.written
    for value in (TextValue(text="\ud800"), TimeValue(type="date", edtf="2026-03-18"), money(7)):
        other = item.model_copy(update={"value": value})
        assert read_item(item_body(other)) == other
    candidate = Candidate(act="propose", slot="budget", start=0, end=1, rule="r@1")
    proposal = Proposal(turn=0, turn_id="t", candidate=candidate)
    assert read_proposal(proposal_body(proposal)) == proposal
