"""Decision records: canonical JSON, salted personal fields, reading back."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from recordari.audit.record import (
    LARGEST_INTEGER,
    Entry,
    Private,
    RecordError,
    canonical,
    commitment,
    decision_entry,
    derived_salts,
    item_fields,
    random_salts,
    read_item,
    read_record,
    sealed,
)
from recordari.model import Decision, MemoryItem
from recordari.values import MoneyValue

SALTS = derived_salts(b"a secret of this test")
NOON = datetime(2026, 3, 18, 12, 0, tzinfo=UTC)
DECISION = Decision(
    turn_id="t-1",
    turn=0,
    ordinal=0,
    action="ADD",
    reason="stated",
    rule="policy.core@5",
    capture="budget.zh.stated@3",
    slot="budget",
    qualifier="营销",
    entity="李明",
    kind="money",
    canonical="80000 CNY",
    item="i-1",
    start=2,
    end=7,
    evidence=((0, 2), (2, 7)),
    features={"slot": "budget", "act": "state"},
)
ITEM = MemoryItem(
    id="i-1",
    entity="李明",
    slot="budget",
    qualifier="营销",
    value=MoneyValue(amount="80000", currency="CNY"),
    asserted_by="user",
    said_at=NOON,
    recorded_at=NOON,
    turn_id="t-1",
)

keys = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), min_size=1, max_size=8)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
scalars = st.none() | st.booleans() | st.integers(-LARGEST_INTEGER, LARGEST_INTEGER) | texts
documents = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4))


def seal(entry: Entry, seq: int = 0, moment: datetime = NOON) -> tuple[str, dict[str, Private]]:
    return sealed(entry, namespace="matter-17", seq=seq, recorded_at=moment, salts=SALTS)


@given(documents)
def test_the_canonical_text_is_that_of_rfc_8785(document: Any) -> None:
    assert canonical(document).encode() == rfc8785.dumps(document)
    assert json.loads(canonical(document)) == document


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ({"rate": 0.1}, r"\$\.rate: float"),
        ([1, [2.0]], r"\$\[1\]\[0\]: float"),
        ({"预算": "8万"}, "printable ASCII"),
        ({1: "x"}, "printable ASCII"),
        ({"n": 2**53}, "beyond"),
        ({"t": "\ud83d"}, "surrogate"),
        ({"when": NOON}, "datetime"),
    ],
)
def test_what_has_no_canonical_form_is_refused_with_its_place(bad: Any, says: str) -> None:
    with pytest.raises(RecordError, match=says):
        canonical(bad)


def test_no_personal_value_stands_in_a_decision_record() -> None:
    record, private = seal(decision_entry(DECISION, [ITEM]))
    for word in ("营销", "李明", "80000"):
        assert word not in record
    assert set(private) == {"canonical", "entity", "qualifier", "written"}
    assert "budget.zh.stated@3" in record


def test_an_absent_personal_field_leaves_no_hash_behind() -> None:
    record, private = seal(decision_entry(DECISION.model_copy(update={"qualifier": "", "entity": None})))
    assert set(private) == {"canonical"}
    assert set(read_record(record).hashes) == {"canonical"}


def test_a_decision_comes_back_whole_from_its_record_and_private_values() -> None:
    record, private = seal(decision_entry(DECISION, [ITEM]))
    assert read_record(record).decision(private) == DECISION


def test_an_erased_decision_comes_back_without_what_was_personal() -> None:
    record, _ = seal(decision_entry(DECISION))
    bare = read_record(record).decision({})
    assert (bare.canonical, bare.entity, bare.qualifier) == (None, None, "")
    assert (bare.action, bare.rule, bare.features) == (DECISION.action, DECISION.rule, DECISION.features)


def test_a_record_that_is_no_decision_is_not_read_as_one() -> None:
    record, private = seal(Entry("erase", {"ground": "art-17", "fields": []}))
    with pytest.raises(KeyError, match="erase"):
        read_record(record).decision(private)


def test_a_record_of_another_format_is_refused() -> None:
    record, _ = seal(Entry("erase", {}))
    with pytest.raises(RecordError, match="format 2"):
        read_record(record.replace('"format":1', '"format":2'))


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format":1}', "not json"])
def test_what_is_no_record_is_refused(text: str) -> None:
    with pytest.raises(RecordError):
        read_record(text)


def test_one_moment_has_one_form_whatever_zone_it_was_given_in() -> None:
    shanghai = NOON.astimezone(timezone(timedelta(hours=8)))
    assert seal(Entry("note", {}), moment=shanghai) == seal(Entry("note", {}))
    assert '"recorded_at":"2026-03-18T12:00:00Z"' in seal(Entry("note", {}))[0]


def test_the_same_value_has_another_hash_in_another_record_or_field() -> None:
    def hashed(seq: int, name: str) -> str:
        return seal(Entry("note", {}, {name: "138 0000 0000"}), seq)[1][name].commitment(name)

    assert len({hashed(0, "canonical"), hashed(1, "canonical"), hashed(0, "entity")}) == 3


def test_a_value_moved_to_another_field_no_longer_fits_its_hash() -> None:
    salt = b"s" * 32
    assert commitment("entity", salt, '"x"') != commitment("qualifier", salt, '"x"')


def test_salts_from_the_system_differ_and_salts_from_a_secret_repeat() -> None:
    assert random_salts("n", 0, "entity") != random_salts("n", 0, "entity")
    assert SALTS("n", 0, "entity") == derived_salts(b"a secret of this test")("n", 0, "entity")
    assert SALTS("n", 0, "entity") != derived_salts(b"another secret")("n", 0, "entity")
    assert SALTS("n", 1, "1") != SALTS("n", 11, "")


def test_an_item_version_has_one_form_whatever_zone_its_times_were_given_in() -> None:
    shanghai = timezone(timedelta(hours=8))
    moved = ITEM.model_copy(update={"said_at": NOON.astimezone(shanghai), "valid_from": NOON.astimezone(shanghai)})
    assert item_fields(moved) == item_fields(ITEM.model_copy(update={"valid_from": NOON}))
    assert item_fields(moved)["said_at"] == "2026-03-18T12:00:00Z"
    assert read_item(item_fields(moved)) == moved


def test_a_short_salt_is_refused() -> None:
    with pytest.raises(RecordError, match="32 are needed"):
        commitment("entity", b"short", '"x"')


@pytest.mark.parametrize(
    ("fields", "does", "kind"),
    [
        ({"action": "IGNORE", "reason": "small_talk"}, None, "ignore"),
        ({"action": "SUPERSEDE", "reason": "update_stated"}, None, "supersede"),
        ({"action": "HOLD", "reason": "needs_approval"}, None, "hold"),
        ({"action": "RETRACT", "reason": "withdrawn"}, None, "retract"),
        ({"action": "RETRACT", "reason": "expired"}, None, "expire"),
        ({"action": "ADD", "reason": "stated"}, "approve", "approve"),
        ({"action": "SUPERSEDE", "reason": "correction_explicit"}, "correct", "correct"),
        ({"action": "RETRACT", "reason": "withdrawn"}, "reject", "reject"),
        ({"action": "RETRACT", "reason": "withdrawn", "ordinal": 1}, "reject", "retract"),
    ],
)
def test_a_record_has_the_kind_of_what_was_decided_or_of_what_a_person_did(
    fields: dict[str, object], does: str | None, kind: str
) -> None:
    from recordari.audit.record import DECISIONS

    made = Decision.model_validate({"turn_id": "t", "turn": 0, "ordinal": 0, "rule": "r@1", **fields})
    assert decision_entry(made, does=does).kind == kind
    assert kind in DECISIONS


@pytest.mark.parametrize(("former", "kind"), [("decision", "decision"), ("erasure", "erase"), ("polish", "rewrite")])
def test_what_the_first_stores_called_a_kind_is_still_read(former: str, kind: str) -> None:
    text, _ = sealed(Entry(former, {}), namespace="n", seq=0, recorded_at=NOON, salts=random_salts)
    assert read_record(text).kind == kind
    assert read_record(text).decides is (former == "decision")
