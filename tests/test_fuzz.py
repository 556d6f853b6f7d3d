"""Laws that hold for any text: exact offsets, no exception, the same twice, linear time, and a sound memory."""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shipped import shipped

from recordari.extractors.scan import scan
from recordari.intake import Incoming
from recordari.memory import Memory
from recordari.model import Decision, MemoryItem, Scan
from recordari.rules.ruleset import Ruleset

SAID = datetime(2026, 3, 18, 10, tzinfo=UTC)
FRAGMENTS = tuple(
    """
8万元|三百二十万|1,234.56|$5k|USD|50%|百分之五|3月18日|2026年|2月30日|明天下午三点|周一到周五|每周三
春节|03/04/2026|三天后|2026-03-18T10:00|10:30|next Friday|from 9am to 5pm|in two weeks
北京市朝阳区幸福路88号|12楼|13800000123|+1 415 555 0132|12 Example Road, London NW1 6XE
alice@example.com|https://example.com/a?b=1|张三|李律师|Mr. John Smith|预算|律师费|budget|retainer
deadline|住址|电话|如果|不是|是|不对|改成|提高到|降到|再加|减|changed to|no, make it|instead of|not
never|可能|maybe|他说|开玩笑|吗？|取消|算了|cancel|forget it|好的|yes|对|不用了|建议|I suggest|作废
截止|委托人|利率|风险等级|C3|每月|per month|左右|大约|at least|不超过|以上|以内|到|至|-|~|“|”|(|)
（|）|，|。|；|,|.|;|!| |\t|　|第|号|元|块|万|亿|k|m|美元|½|①|Ⅳ|㎡|²|٣|0|1|00|999999999999999
""".strip("\n")
    .replace("\n", "|")
    .split("|")
)
ODD = ["\u0301", "\u200d", "\ufe0f", "😀", "👩‍👩‍👧", "🇨🇳", "\u202e", "\ufeff", "ﷺ", "ﬃ", "İ", "ß", "㍿", "㋿", "𝟗"]
PIECES = st.one_of(
    st.sampled_from(FRAGMENTS),
    st.sampled_from(FRAGMENTS),
    st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=4),
    st.text("一二三四五六七八九十百千万亿年月日号点元块不是的了到0123456789abcxyz ,.:/-%$¥€£'", max_size=5),
    st.sampled_from(ODD),
)
TEXTS = st.lists(PIECES, min_size=1, max_size=12).map("".join).filter(str.strip)
TURNS = st.tuples(
    TEXTS,
    st.sampled_from(["user", "user", "user", "assistant", "tool", "document"]),
    st.integers(-5000, 5000),
    st.sampled_from(["user", "client-1"]),
)
# The same examples everywhere: a longer search is one number away, and what it finds becomes a test of its own.
bounded = settings(
    deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow], print_blob=False
)


@pytest.fixture(scope="module")
def ruleset() -> Ruleset:
    return shipped()


@pytest.fixture(scope="module")
def engines(ruleset: Ruleset) -> tuple[Memory, Memory]:
    return (
        Memory.rehearsal(ruleset=ruleset, engine="durable", ner=False),
        Memory.rehearsal(ruleset=ruleset, engine="reference", ner=False),
    )


def spans(found: Scan) -> list[Any]:
    return [*found.mentions, *found.cues, *found.parts, *found.refused, *found.hints]


@given(text=TEXTS, lang=st.sampled_from([None, "zh", "en"]))
@settings(bounded, max_examples=150)
def test_whatever_is_said_is_scanned_alike_twice_with_exact_offsets(ruleset: Ruleset, text: str, lang: Any) -> None:
    found = scan(text, ruleset.extraction, said_at=SAID, lang=lang)
    for one in spans(found):
        assert 0 <= one.start < one.end <= len(text)
        assert text[one.start : one.end] == one.text, one
    ends = 0
    for mention in found.mentions:
        assert mention.start >= ends, "mentions stand in the order of the text and do not overlap"
        ends = mention.end
    for cue in found.cues:
        assert all(0 <= index < len(found.mentions) for index in cue.covers)
    assert scan(text, ruleset.extraction, said_at=SAID, lang=lang) == found


def without_engine(decisions: Sequence[Decision]) -> list[Decision]:
    return [decision.model_copy(update={"engine": ""}) for decision in decisions]


def check_memory(
    ruleset: Ruleset, turns: Sequence[Incoming], decisions: Sequence[Decision], items: Sequence[MemoryItem]
) -> None:
    assert {decision.turn for decision in decisions} == set(range(len(turns)))
    ids = {item.id for item in items}
    assert all(decision.item in ids for decision in decisions if decision.item is not None)
    places = set()
    for item in items:
        if item.valid_from is not None and item.valid_to is not None:
            assert item.valid_from <= item.valid_to
        slot = ruleset.slots.get(item.slot.removeprefix("reported."))
        if item.status == "current" and slot is not None and slot.cardinality == "one":
            # A third party that two clients name alike is two parties: each client's memory is its own.
            place = (turns[item.turn].entity, *item.place)
            assert place not in places, f"two current values of {place}"
            places.add(place)


@given(said=st.lists(TURNS, min_size=1, max_size=5))
@settings(bounded, max_examples=60)
def test_any_dialogue_leaves_a_sound_memory_and_both_engines_agree(
    ruleset: Ruleset, engines: tuple[Memory, Memory], said: list[tuple[str, Any, int, str]]
) -> None:
    turns = [
        Incoming(
            text=text, at=SAID + timedelta(minutes=2 * number, hours=hours), speaker=speaker, entity=entity,
            conversation="c",
        )
        for number, (text, speaker, hours, entity) in enumerate(said)
    ]  # fmt: skip
    durable, reference = engines
    decisions, items = durable.rehearse(turns)
    check_memory(ruleset, turns, decisions, items)
    others, same = reference.rehearse(turns)
    assert without_engine(decisions) == without_engine(others)
    assert items == same


NASTY = [
    "周一到", "1,234.", "不是5万是", "from 1 to ", "(((", "0123456789", "一二三四五", "北京市", "海南", "A", "a@",
    "请问", "北京市朝阳区幸福路88号，", "如果", "NO.", "-", "“", "张三", "March ", "10:", "http://a.", "\u0301",
]  # fmt: skip


def cost(text: str, ruleset: Ruleset) -> float:
    """CPU time of a scan: neither the load of the machine nor the garbage of other tests counts."""
    gc.collect()
    gc.disable()
    try:
        begun = time.process_time()
        scan(text, ruleset.extraction, said_at=SAID, ner=False)
        return time.process_time() - begun
    finally:
        gc.enable()


@pytest.mark.parametrize("fragment", NASTY)
def test_four_times_the_text_takes_at_most_eight_times_the_work(ruleset: Ruleset, fragment: str) -> None:
    """A quadratic step takes sixteen times the work; what is too quick to be measured is measured at greater length."""
    length = 3_000
    while True:
        text = fragment * (length // len(fragment))
        short = min(cost(text, ruleset) for _ in range(2))
        if short > 0.05 or 4 * length >= 100_000:
            break
        length *= 2
    long = cost(text * 4, ruleset)
    assert long <= 8 * short + 0.2, f"{fragment!r}: {short:.3f} s for {len(text)} characters, {long:.3f} s for 4 times"


def test_a_number_of_ten_thousand_digits_is_no_fault(ruleset: Ruleset) -> None:
    for text in (
        "9" * 10_000,
        "9" * 10_000 + "万元",
        "$" + "9," * 5_000,
        "九" * 10_000 + "元",
        "0." + "1" * 10_000 + "%",
    ):
        found = scan(text, ruleset.extraction, said_at=SAID)
        assert all(text[one.start : one.end] == one.text for one in spans(found))
