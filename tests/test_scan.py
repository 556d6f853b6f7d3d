"""The single door: all kinds together in one pass, and which of them a stretch of text belongs to."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shipped import shipped

from recordari.extractors.scan import Extraction, language_of, scan, scan_all
from recordari.intake import read_turn
from recordari.model import Scan

NOW = datetime(2026, 3, 18, 10, 0, tzinfo=ZoneInfo("Asia/Shanghai"))


@lru_cache(maxsize=1)
def extraction() -> Extraction:
    return shipped().extraction


def read(text: str) -> Scan:
    return scan(text, extraction(), said_at=NOW, timezone="Asia/Shanghai")


def kinds(text: str) -> list[str]:
    return [f"{m.kind} {m.canonical}" for m in read(text).mentions]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("营销预算8万，6月30日前付清", ["money 80000 XXX", "time ../2026-06-30"]),
        ("预算80万 4月5号截止", ["money 800000 XXX", "time ../2026-04-05"]),
        ("首付三成，3月5日到账", ["percent 30%", "time 2026-03-05"]),
        ("see you next Friday at 5pm for $30", ["time 2026-03-27T17:00", "money 30 USD"]),
        ("the meeting is at 10:30", ["time T10:30"]),
        ("we need 30 days", ["time P30D"]),
        ("send li@example.com 8 copies", ["email li@example.com", "quantity 8 copies"]),
    ],
)
def test_kinds_share_a_sentence_without_eating_each_other(text: str, expected: list[str]) -> None:
    assert kinds(text) == expected


@pytest.mark.parametrize("text", ["138 0000 2345", "call 13800002345"])
def test_a_phone_protects_its_digits(text: str) -> None:
    assert [m.split()[0] for m in kinds(text)] == ["phone"]


def test_a_date_that_does_not_exist_is_refused_and_leaves_no_number() -> None:
    found = read("payment is due on 31 April 2026")
    assert [r.kind for r in found.refused] == ["time"]
    assert [m for m in found.mentions if m.kind == "number"] == []


def test_small_talk_has_no_mention() -> None:
    assert kinds("好的，谢谢！") == []
    assert kinds("Sounds good, thanks a lot.") == []


def test_an_empty_text_is_an_empty_scan() -> None:
    assert read("").mentions == ()
    assert read(" \n ").mentions == ()


def test_the_language_is_that_of_the_script() -> None:
    assert language_of("budget 改成 8万") == "zh"
    assert language_of("the budget is 80k") == "en"


def test_a_vocabulary_can_be_asked_for_by_its_id() -> None:
    assert "预算" in extraction().vocabulary("words.money_labels").entries()
    with pytest.raises(KeyError):
        extraction().vocabulary("words.none")


def test_the_same_text_always_gives_the_same_scan() -> None:
    text = "甲方应于2026年6月30日前支付人民币伍万元整（¥50,000），at least 20% by Friday"
    assert len({read(text).model_dump_json() for _ in range(3)}) == 1


@pytest.mark.parametrize("bunch", [1, 60, 10_000])
def test_turns_scanned_together_give_what_each_gives_alone(bunch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recordari.extractors.scan.BUNCH", bunch)
    said = ["预算80万 4月5号截止", ".", "No, it isn't $30.", "see you next Friday at 5pm for $30", "預算80萬，不是60萬"]
    turns = [read_turn({"text": text, "at": NOW.isoformat(), "timezone": "Asia/Shanghai"}, 100) for text in said]
    assert scan_all(turns, extraction()) == [read(turn.text) for turn in turns]


@pytest.mark.parametrize(
    "text",
    ["周一到" * 60, "7" * 10_000, "1,234," * 1_000, "a " * 3_000, "$1 to " * 500, "二十三" * 1_000, "((((" * 2_000],
)
def test_a_hostile_text_is_read_with_bounded_work(text: str) -> None:
    assert len(read(text).mentions) <= len(text)


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="预算8万$元%月日3号到 to at may5.,，￥①㎡\ud800🏠Fri不超过", max_size=30))
def test_every_mention_part_and_refused_span_is_its_own_text(text: str) -> None:
    found = read(text)
    for piece in (*found.mentions, *found.parts, *found.refused, *found.cues):
        assert piece.text == text[piece.start : piece.end]
    ends = [(m.start, m.end) for m in found.mentions]
    assert all(a[1] <= b[0] for a, b in pairwise(ends))
