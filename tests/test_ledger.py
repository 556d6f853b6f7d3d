"""The ledger and its verifier: appending, erasing, checkpoints, and every kind of tampering we can think of."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordari.audit.checkpoint import (
    SigningKey,
    read_checkpoint,
    read_vkey,
    split_notes,
)
from recordari.audit.ledger import Ledger, LedgerError, MemoryLog
from recordari.audit.merkle import leaf_hash, verify_consistency, verify_inclusion
from recordari.audit.record import Entry, Private, Row, canonical, decision_entry, derived_salts
from recordari.audit.verify import Report, verify
from recordari.model import Decision, MemoryItem
from recordari.values import MoneyValue

NAMESPACE = "matter-17"
NOON = datetime(2026, 3, 18, 12, 0, tzinfo=UTC)
KEY = SigningKey.from_seed(bytes(range(32)))
LEDGER = Ledger(derived_salts(b"a secret of this test"))


def item(number: int, amount: str = "80000") -> MemoryItem:
    return MemoryItem(
        id=f"i-{number}",
        entity="client-17",
        slot="budget",
        value=MoneyValue(amount=amount, currency="CNY"),
        asserted_by="user",
        said_at=NOON,
        recorded_at=NOON,
        turn_id=f"t-{number}",
    )


def decision(number: int, **fields: object) -> Decision:
    base = Decision(
        turn_id=f"t-{number}",
        turn=number,
        ordinal=0,
        action="ADD",
        reason="stated",
        rule="policy.core@5",
        slot="budget",
        kind="money",
        canonical="80000 CNY",
        entity="client-17",
        item=f"i-{number}",
    )
    return base.model_copy(update=fields)


def filled(count: int) -> MemoryLog:
    log = MemoryLog()
    for number in range(count):
        entry = decision_entry(decision(number), [item(number)])
        LEDGER.append(log, NAMESPACE, [entry], recorded_at=NOON + timedelta(minutes=number))
    return log


def sign(log: MemoryLog) -> str:
    size, root = LEDGER.root(log, NAMESPACE)
    note = KEY.checkpoint(NAMESPACE, size, root)
    log.add_checkpoint(NAMESPACE, size, note)
    return note


def check(log: MemoryLog, witness: list[str] | None = None, items: list[MemoryItem] | None = None) -> Report:
    return verify(
        log,
        NAMESPACE,
        witness=witness,
        public_key=KEY.public,
        items=None if items is None else lambda: items,
    )


def codes(report: Report) -> list[tuple[int, str]]:
    return [(finding.seq, finding.code) for finding in report.findings]


def rows(log: MemoryLog) -> list[Row]:
    return log._rows[NAMESPACE]


def test_numbers_run_without_gaps_over_several_appends() -> None:
    log = MemoryLog()
    entries = [Entry("note", {"n": number}) for number in range(5)]
    LEDGER.append(log, NAMESPACE, entries[:2], recorded_at=NOON)
    LEDGER.append(log, NAMESPACE, [], recorded_at=NOON)
    LEDGER.append(log, NAMESPACE, entries[2:], recorded_at=NOON)
    assert [row.seq for row in log.read(NAMESPACE)] == [0, 1, 2, 3, 4]
    assert [record.content["n"] for record, _ in LEDGER.records(log, NAMESPACE)] == [0, 1, 2, 3, 4]


def test_namespaces_have_logs_of_their_own() -> None:
    log = filled(2)
    LEDGER.append(log, "matter-18", [Entry("note", {})], recorded_at=NOON)
    assert log.size(NAMESPACE) == 2
    assert log.size("matter-18") == 1


@given(st.integers(1, 40), st.data())
def test_every_record_and_every_growth_can_be_proved(count: int, data: st.DataObject) -> None:
    log = filled(count)
    size, root = LEDGER.root(log, NAMESPACE)
    seq, old = data.draw(st.integers(0, count - 1)), data.draw(st.integers(1, count))
    proof = LEDGER.prove(log, NAMESPACE, seq)
    record = rows(log)[seq].record
    assert verify_inclusion(leaf_hash(record.encode()), seq, size, proof.path, root)
    before = LEDGER.prove(log, NAMESPACE, 0, old).root
    assert verify_consistency(old, size, before, root, LEDGER.prove_growth(log, NAMESPACE, old))


def test_an_untouched_log_verifies_and_says_how_much_was_checked() -> None:
    log = filled(5)
    witness = [sign(log)]
    report = check(log, witness, [item(number) for number in range(5)])
    assert report.ok, report.lines()
    assert report.counts["records"] == 5
    assert report.counts["personal values"] == 15
    assert report.counts["item versions"] == 5
    assert report.counts["checkpoints"] == report.counts["witness notes"] == 1
    assert report.lines()[-1] == "verified"


def test_an_empty_log_verifies() -> None:
    assert check(MemoryLog(), []).ok


def alter_record(log: MemoryLog) -> None:
    row = rows(log)[2]
    rows(log)[2] = replace(row, record=row.record.replace('"stated"', '"historical"'))


def alter_record_and_leaf(log: MemoryLog) -> None:
    alter_record(log)
    row = rows(log)[2]
    rows(log)[2] = replace(row, leaf=leaf_hash(row.record.encode()))


def drop_a_record(log: MemoryLog) -> None:
    del rows(log)[2]


def swap_two_records(log: MemoryLog) -> None:
    kept = rows(log)
    first, second = kept[2], kept[3]
    kept[2], kept[3] = replace(second, seq=2), replace(first, seq=3)


def cut_the_tail(log: MemoryLog) -> None:
    del rows(log)[3:]
    log.set_frontier(NAMESPACE, 3, _frontier(log))


def change_a_value(log: MemoryLog) -> None:
    row = rows(log)[2]
    rows(log)[2] = replace(row, private={**row.private, "canonical": Private('"90000 CNY"', "00" * 32)})


def change_a_salt(log: MemoryLog) -> None:
    row = rows(log)[2]
    rows(log)[2] = replace(row, private={**row.private, "canonical": Private('"80000 CNY"', "zz")})


def lose_a_value(log: MemoryLog) -> None:
    log.erase_private(NAMESPACE, 2, ["entity"], decided_by=2)


def slip_in_a_value(log: MemoryLog) -> None:
    row = rows(log)[2]
    rows(log)[2] = replace(row, private={**row.private, "question": Private('"?"', "00" * 32)})


def write_it_in_another_form(log: MemoryLog) -> None:
    row = rows(log)[2]
    record = json.dumps(json.loads(row.record))
    rows(log)[2] = Row(row.seq, record, leaf_hash(record.encode()), row.private)


def damage_the_json(log: MemoryLog) -> None:
    row = rows(log)[2]
    rows(log)[2] = replace(row, record=row.record[:-5])


def damage_the_frontier(log: MemoryLog) -> None:
    log.set_frontier(NAMESPACE, 5, [leaf_hash(b"x"), leaf_hash(b"y")])


def move_to_another_log(log: MemoryLog) -> None:
    row = rows(log)[2]
    record = row.record.replace(NAMESPACE, "matter-18")
    rows(log)[2] = Row(row.seq, record, leaf_hash(record.encode()), row.private)


def _frontier(log: MemoryLog) -> tuple[bytes, ...]:
    from recordari.audit.merkle import Frontier

    return Frontier().extend(row.leaf for row in rows(log)).nodes


ATTACKS: list[tuple[Callable[[MemoryLog], None], tuple[int, str]]] = [
    (alter_record, (2, "altered")),
    (alter_record_and_leaf, (-1, "frontier")),
    (drop_a_record, (2, "gap")),
    (swap_two_records, (2, "moved")),
    (cut_the_tail, (3, "truncated")),
    (change_a_value, (2, "private")),
    (change_a_salt, (2, "private")),
    (lose_a_value, (2, "private")),
    (slip_in_a_value, (2, "private")),
    (write_it_in_another_form, (2, "form")),
    (damage_the_json, (2, "form")),
    (damage_the_frontier, (-1, "frontier")),
    (move_to_another_log, (2, "moved")),
]


@pytest.mark.parametrize(("attack", "expected"), ATTACKS, ids=[attack.__name__ for attack, _ in ATTACKS])
def test_tampering_is_found_at_its_place(attack: Callable[[MemoryLog], None], expected: tuple[int, str]) -> None:
    log = filled(5)
    witness = [sign(log)]
    attack(log)
    report = check(log, witness)
    assert expected in codes(report), report.lines()
    assert not report.ok


def test_who_rewrites_all_hashes_is_still_found_by_the_checkpoint() -> None:
    log = filled(5)
    sign(log)
    alter_record_and_leaf(log)
    log.set_frontier(NAMESPACE, 5, _frontier(log))
    assert codes(check(log)) == [(-1, "rewritten")]


def test_who_also_holds_the_key_is_found_by_the_witness_only() -> None:
    log = filled(5)
    witness = [sign(log)]
    forged = MemoryLog()
    for number in range(5):
        LEDGER.append(forged, NAMESPACE, [decision_entry(decision(number, canonical="1 CNY"))], recorded_at=NOON)
    sign(forged)
    blind = check(forged)
    assert blind.ok
    assert any("witness" in remark for remark in blind.remarks)
    assert codes(check(forged, witness)) == [(-1, "checkpoint"), (-1, "rewritten")]


def test_without_a_public_key_the_report_says_that_signatures_are_unchecked() -> None:
    log = filled(2)
    sign(log)
    report = verify(log, NAMESPACE, witness=[])
    assert report.ok
    assert any("signatures" in remark for remark in report.remarks)


def test_a_checkpoint_of_a_strange_key_is_a_finding() -> None:
    log = filled(2)
    size, root = LEDGER.root(log, NAMESPACE)
    log.add_checkpoint(NAMESPACE, size, SigningKey.from_seed(b"x" * 32).checkpoint(NAMESPACE, size, root))
    assert codes(check(log)) == [(-1, "note")]


def test_a_witness_of_several_logs_counts_only_for_its_own() -> None:
    log = filled(2)
    other = KEY.checkpoint("matter-18", 900, leaf_hash(b"another log"))
    assert check(log, [other, sign(log)]).ok


def test_after_an_erasure_every_proof_holds_and_the_report_names_the_ground() -> None:
    log = filled(5)
    witness = [sign(log)]
    LEDGER.erase(
        log, NAMESPACE, {2: ["canonical", "entity", "written"]}, ground="gdpr-17-1-b", actor="dpo", recorded_at=NOON
    )
    report = check(log, witness)
    assert report.ok, report.lines()
    assert [str(erased) for erased in report.erased] == [
        f"record 2: {name} was erased by decision 5 on ground gdpr-17-1-b"
        for name in ("canonical", "entity", "written")
    ]
    assert "80000" not in "".join(each.value for each in rows(log)[2].private.values())


def test_an_erasure_that_left_the_value_behind_is_found() -> None:
    log = filled(3)
    kept = rows(log)[1]
    LEDGER.erase(log, NAMESPACE, {1: ["entity"]}, ground="g", actor="dpo", recorded_at=NOON)
    rows(log)[1] = kept
    assert codes(check(log)) == [(1, "private")]


def test_an_erasure_of_another_field_does_not_excuse_a_lost_value() -> None:
    log = filled(3)
    LEDGER.erase(log, NAMESPACE, {1: ["entity"]}, ground="g", actor="dpo", recorded_at=NOON)
    log.erase_private(NAMESPACE, 1, ["canonical"], decided_by=1)
    assert codes(check(log)) == [(1, "private")]


def test_what_is_beyond_the_log_cannot_be_erased() -> None:
    with pytest.raises(LedgerError, match="ends at 2"):
        LEDGER.erase(filled(3), NAMESPACE, {3: ["entity"]}, ground="g", actor="dpo", recorded_at=NOON)


def test_an_item_that_no_decision_wrote_is_found() -> None:
    report = check(filled(1), items=[item(0), item(7)])
    assert [finding.code for finding in report.findings] == ["item"]
    assert "i-7" in report.findings[0].message


def test_an_item_that_was_changed_by_hand_is_found() -> None:
    report = check(filled(2), items=[item(0), item(1, "90000")])
    assert codes(report) == [(1, "item")]
    assert "value differ" in report.findings[0].message


def reworded(log: MemoryLog, answer: str, outcome: str = "accepted") -> None:
    entry = Entry("rewrite", {"item": "i-0", "outcome": outcome}, {"answer": answer})
    LEDGER.append(log, NAMESPACE, [entry], recorded_at=NOON)


NEXT = item(0).model_copy(update={"version": 2, "sentence": "The budget is 80,000."})


def test_a_version_that_an_accepted_rewriting_worded_is_no_finding() -> None:
    log = filled(1)
    reworded(log, "The budget is 80,000.")
    assert check(log, items=[item(0), NEXT]).ok


def test_after_the_answer_is_erased_its_version_still_verifies() -> None:
    log = filled(1)
    reworded(log, "The budget is 80,000.")
    LEDGER.erase(log, NAMESPACE, {1: ["answer"]}, ground="g", actor="dpo", recorded_at=NOON)
    assert check(log, items=[item(0), NEXT]).ok


@pytest.mark.parametrize(("answer", "outcome"), [("Something else.", "accepted"), ("The budget is 80,000.", "refused")])
def test_a_wording_that_no_accepted_rewriting_gave_is_found(answer: str, outcome: str) -> None:
    log = filled(1)
    reworded(log, answer, outcome)
    assert codes(check(log, items=[item(0), NEXT])) == [(-1, "item")]


def test_a_rewriting_is_no_cover_for_another_value() -> None:
    log = filled(1)
    reworded(log, "The budget is 80,000.")
    forged = NEXT.model_copy(update={"value": MoneyValue(amount="90000", currency="CNY")})
    assert codes(check(log, items=[item(0), forged])) == [(-1, "item")]


def test_a_sentence_changed_by_hand_is_found() -> None:
    report = check(filled(1), items=[item(0).model_copy(update={"sentence": "The budget is 80,000."})])
    assert codes(report) == [(0, "item")]


def test_an_item_that_was_deleted_is_found() -> None:
    assert codes(check(filled(2), items=[item(0)])) == [(1, "item")]


def test_a_deleted_item_that_only_a_bare_decision_names_is_found() -> None:
    log = MemoryLog()
    LEDGER.append(log, NAMESPACE, [decision_entry(decision(0), [item(0)])], recorded_at=NOON)
    LEDGER.append(log, NAMESPACE, [decision_entry(decision(0, turn_id="t-1"))], recorded_at=NOON)
    assert check(log, items=[item(0)]).ok
    assert codes(check(log, items=[])) == [(0, "item"), (1, "item")]


def test_an_item_that_a_decision_names_and_none_wrote_is_found() -> None:
    log = MemoryLog()
    LEDGER.append(log, NAMESPACE, [decision_entry(decision(0))], recorded_at=NOON)
    assert codes(check(log, items=[item(0)])) == [(-1, "item")]


def test_nothing_is_written_on_after_a_damaged_frontier() -> None:
    log = filled(3)
    log.set_frontier(NAMESPACE, 2, [leaf_hash(b"x")])
    with pytest.raises(LedgerError, match="verify it"):
        LEDGER.append(log, NAMESPACE, [Entry("note", {})], recorded_at=NOON)
    log.set_frontier(NAMESPACE, 3, [leaf_hash(b"x")])
    with pytest.raises(LedgerError, match="damaged"):
        LEDGER.root(log, NAMESPACE)


def test_a_number_cannot_be_used_twice() -> None:
    log = filled(1)
    with pytest.raises(LedgerError, match="cannot follow"):
        log.append(NAMESPACE, [rows(log)[0]])


def test_a_note_cut_off_by_a_crash_is_a_finding_not_a_crash(tmp_path: Path) -> None:
    log = filled(3)
    note = sign(log)
    kept = split_notes(note + note[:40])
    assert kept == (note, note[:40])
    assert codes(check(log, list(kept))) == [(-1, "note")]


def test_a_record_with_a_wrong_number_of_its_own_is_found() -> None:
    log = filled(2)
    row = rows(log)[1]
    record = canonical({**json.loads(row.record), "seq": 7})
    rows(log)[1] = Row(1, record, leaf_hash(record.encode()), row.private)
    log.set_frontier(NAMESPACE, 2, _frontier(log))
    assert (1, "moved") in codes(check(log))


@pytest.mark.parametrize(
    "entry",
    [
        Entry("erase", {}),
        Entry("erase", {"ground": "g", "fields": [1]}),
        Entry("add", {"written": 3}),
        Entry("add", {"written": ["i/1"]}, {"written": ["not a version"]}),
    ],
)
def test_a_well_hashed_record_without_sense_is_a_finding_not_a_crash(entry: Entry) -> None:
    log = filled(1)
    LEDGER.append(log, NAMESPACE, [entry], recorded_at=NOON)
    assert codes(check(log, items=[item(0)])) == [(1, "form")]


def test_the_example_in_the_documentation_can_be_checked_by_hand() -> None:
    page = Path(__file__).parent.parent.joinpath("docs", "ledger.md").read_text(encoding="utf-8")
    record, leaf, beside, note, line = (
        block.split("\n", 1)[1] for block in page.split("## The record")[0].split("```")[1::2]
    )
    assert leaf_hash(record.rstrip("\n").encode()).hex() == leaf.strip()
    checkpoint = read_checkpoint(note, *read_vkey(line))
    assert (checkpoint.size, checkpoint.root.hex()) == (1, leaf.strip())
    hashes = json.loads(record)["private"]
    values = [json.loads(each) for each in beside.splitlines()]
    assert {name: Private(value, salt).commitment(name) for _, name, value, salt in values} == hashes
