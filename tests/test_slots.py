"""Slot files: what they accept, whom they rank, what the store is told of them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError
from shipped import shipped

from recordari.rules.slots import SlotFile, span_of

BASE: dict[str, Any] = {
    "id": "slot.fee",
    "version": 1,
    "kind": "slot",
    "title": {"en": "Fee", "zh": "费用"},
    "owner": "team",
    "slot": "fee",
    "value": "money",
    "say": {"zh": "{entity}的费用为{value}。", "en": "{entity}: {value}."},
    "asked_as": {"zh": ["费用是多少"], "en": ["what is the fee"]},
}


def slot(**fields: Any) -> SlotFile:
    return SlotFile.model_validate(BASE | fields)


def test_one_kind_of_value_is_a_list_of_one() -> None:
    assert slot().value == ["money"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"value": ["cash"]},
        {"say": {"zh": "没有值", "en": "{value}"}},
        {"say": {"zh": "{value}{amount}", "en": "{value}"}},
        {"asked_as": {"zh": [], "en": ["what"]}},
        {"precedence": ["user", "user"]},
        {"flag_change": {"factor": 0.5}},
        {"ttl": "90 days"},
        {"colour": "red"},
        {"slot": "Fee"},
    ],
)
def test_a_slot_that_cannot_be_used_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        slot(**wrong)


def test_an_executed_document_outranks_recollection_only_where_the_table_says_so() -> None:
    contract = slot(precedence=["executed_document", "user", "document"])
    assert contract.rank("document", executed=True) < contract.rank("user") < contract.rank("document")
    own = slot(precedence=["user", "executed_document"])
    assert own.rank("user") < own.rank("document", executed=True)


def test_whom_no_table_names_stands_below_all() -> None:
    assert slot(precedence=["user"]).rank("tool") == 1


def test_the_store_is_told_how_long_a_value_stands_and_no_personal_data_is_none() -> None:
    traits = slot(ttl="P2W", cardinality="many").traits()
    assert (traits.ttl, traits.cardinality, traits.personal_data) == (timedelta(days=14), "many", None)
    assert slot(personal_data="contact").traits().personal_data == "contact"


def test_months_and_years_of_a_time_to_live_are_counted_in_days() -> None:
    assert [span_of(one).days for one in ("P3D", "P1W", "P1M", "P1Y")] == [3, 7, 30, 365]


def test_shipped_slot_names_never_show_their_pack() -> None:
    slots = shipped().slots
    assert {"budget", "amount", "phone", "party", "law", "jurisdiction", "maturity"} <= set(slots)
    assert not [name for name in slots if name.startswith(("core", "legal", "finance", "service"))]


def test_every_shipped_slot_says_itself_and_is_asked_in_both_languages() -> None:
    for file in shipped().slots.values():
        assert file.say.zh.endswith("。")
        assert file.say.en.endswith(".")
        assert file.asked_as.zh
        assert file.asked_as.en


@pytest.mark.parametrize("pack", ["legal", "finance"])
def test_a_pack_brings_five_slots(pack: str) -> None:
    ruleset = shipped()
    mine = [name for name, path in ruleset.paths.items() if f"/{pack}/slots/" in path]
    assert len(mine) == 5
