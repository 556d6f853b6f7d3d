"""Amounts by which a value changes: what they give, what they fit, and that the old value is named as their ground."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from recordari.extractors.vocabulary import VocabularyFile
from recordari.intake import read_turn
from recordari.memory import Memory
from recordari.model import Adjustment
from recordari.rules.parts import adjustable, adjusted, on_day
from recordari.values import MoneyValue, NumberValue, PercentValue, QuantityValue, TimeValue, Value

AMOUNTS = st.decimals(min_value=0, max_value=10**9, places=2)


def by(operator: str, value: Value) -> Adjustment:
    return Adjustment.model_validate({"operator": operator, "by": value})


@given(AMOUNTS, AMOUNTS)
def test_adding_and_subtracting_the_same_gives_the_first_value(first: Decimal, step: Decimal) -> None:
    start = MoneyValue(amount=first, currency="USD")
    more = adjusted(by("add", MoneyValue(amount=step, currency="USD")), start)
    assert more is not None
    back = adjusted(by("subtract", MoneyValue(amount=step, currency="USD")), more)
    assert back is not None
    assert back.same_as(start)


@given(st.dates(date(2001, 1, 1), date(2090, 1, 1)), st.integers(1, 500))
def test_days_later_and_earlier_cancel_out(day: date, count: int) -> None:
    start = TimeValue(type="date", edtf=day.isoformat(), start=day.isoformat())
    step = TimeValue(type="duration", duration=f"P{count}D")
    later = adjusted(by("later", step), start)
    assert isinstance(later, TimeValue)
    assert later.edtf == (day + timedelta(days=count)).isoformat()
    back = adjusted(by("earlier", step), later)
    assert isinstance(back, TimeValue)
    assert back.edtf == start.edtf


def test_a_share_of_money_is_a_part_and_of_a_rate_points() -> None:
    fifth = PercentValue(amount=Decimal(20))
    assert adjusted(by("subtract", fifth), MoneyValue(amount=Decimal(10000), currency="USD")) == MoneyValue(
        amount=Decimal(8000), currency="USD"
    )
    assert adjusted(by("subtract", fifth), PercentValue(amount=Decimal(50))) == PercentValue(amount=Decimal(30))


@pytest.mark.parametrize(
    ("step", "value"),
    [
        (MoneyValue(amount=Decimal(5), currency="USD"), MoneyValue(amount=Decimal(9), currency="EUR")),
        (MoneyValue(amount=Decimal(5), currency="USD"), QuantityValue(amount=Decimal(9), unit="chairs")),
        (QuantityValue(amount=Decimal(5), unit="tables"), QuantityValue(amount=Decimal(9), unit="chairs")),
        (NumberValue(amount=Decimal(5)), PercentValue(amount=Decimal(9))),
        (TimeValue(type="duration", duration="P1W"), MoneyValue(amount=Decimal(9), currency="USD")),
        (TimeValue(type="duration", duration="PT1H"), TimeValue(type="date", edtf="2026-03-18")),
        (TimeValue(type="duration", duration="P1W"), TimeValue(type="duration", duration="P12M")),
    ],
)
def test_an_amount_of_another_kind_adjusts_nothing(step: Value, value: Value) -> None:
    assert not adjustable(by("add", step), value)


def test_no_amount_falls_below_nothing() -> None:
    step = by("subtract", MoneyValue(amount=Decimal(10), currency="USD"))
    assert adjusted(step, MoneyValue(amount=Decimal(9), currency="USD")) is None


def test_a_clock_moves_to_another_day_and_a_day_has_none() -> None:
    clock = TimeValue(type="instant", edtf="2026-03-20T16:00", start="2026-03-20T16:00:00", end="2026-03-20T16:01:00")
    moved = on_day(clock, date(2026, 3, 23))
    assert moved is not None
    assert (moved.edtf, moved.start, moved.end) == ("2026-03-23T16:00", "2026-03-23T16:00:00", "2026-03-23T16:01:00")
    assert on_day(TimeValue(type="date", edtf="2026-03-20"), date(2026, 3, 23)) is None


def test_the_adjusted_item_names_the_one_it_was_derived_from() -> None:
    at = datetime.fromisoformat("2026-03-18T10:00:00+08:00")
    said = ["The advisory budget is $80,000.", "Raise the advisory budget by $10,000."]
    turns = [
        read_turn({"at": (at + timedelta(minutes=n)).isoformat(), "speaker": "user", "text": text}, 1000)
        for n, text in enumerate(said)
    ]
    with Memory.rehearsal() as memory:
        decisions, items = memory.rehearse(turns)
    (old,) = (item for item in items if item.status != "current")
    (new,) = (item for item in items if item.status == "current")
    assert (old.canonical, new.canonical, new.derived_from) == ("80000 USD", "90000 USD", (old.id,))
    assert decisions[-1].reason == "adjusted"


def test_what_could_be_meant_twice_is_asked() -> None:
    at = datetime.fromisoformat("2026-03-18T10:00:00+08:00")
    said = ["The deposit is $8,000.", "The retainer is $6,000.", "Increase it by $500."]
    turns = [
        read_turn({"at": (at + timedelta(minutes=n)).isoformat(), "speaker": "user", "text": text}, 1000)
        for n, text in enumerate(said)
    ]
    with Memory.rehearsal() as memory:
        decisions, _ = memory.rehearse(turns)
    assert (decisions[-1].action, decisions[-1].reason) == ("HOLD", "ambiguous_reference")
    assert "deposit" in (decisions[-1].question or "")
    assert "retainer" in (decisions[-1].question or "")


def _patterns(source: str) -> VocabularyFile:
    return VocabularyFile.model_validate({
        "id": "patterns.mine", "version": 1, "kind": "vocabulary", "title": {"en": "Mine", "zh": "我的"},
        "owner": "desk", "patterns": {"mine": source},
    })  # fmt: skip


def test_a_pattern_of_a_vocabulary_is_linear() -> None:
    assert _patterns(r"(?:foo|bar)\b").patterns
    with pytest.raises(ValidationError, match="mine"):
        _patterns(r"foo(?=bar)")
