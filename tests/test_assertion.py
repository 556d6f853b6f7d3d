"""How mentions and spans were meant: the table of own sentences, and the laws of precedence."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from shipped import shipped

from recordari.extractors.assertion import assertion_of
from recordari.extractors.scan import scan
from recordari.model import Assertion, Scan, Span

TABLE = [
    json.loads(line)
    for line in (Path(__file__).parent / "assertion_table.jsonl").read_text(encoding="utf-8").splitlines()
]
ACTS = {
    "correction", "change", "adjustment", "repair", "proposal", "confirmation", "rejection", "withdrawal", "ending",
    "request",
}  # fmt: skip
FLOOR = 0.95
KEYS = ("polarity", "modality", "time", "reported_by", "acts")


def heard(text: str, speaker: Any = "user") -> Scan:
    return scan(text, shipped().extraction, speaker=speaker, ner=False)


def target_of(found: Scan, text: str, words: str) -> int | Span:
    """The mention that shares most characters with the words, or the words as a span."""
    start = text.index(words)
    end = start + len(words)
    shared = {n: min(end, m.end) - max(start, m.start) for n, m in enumerate(found.mentions)}
    best = max(shared, key=lambda n: (shared[n], -n), default=None)
    return best if best is not None and shared[best] > 0 else Span(start=start, end=end)


def judged(text: str, words: str) -> tuple[Assertion, set[str]]:
    found = heard(text)
    target = target_of(found, text, words)
    if isinstance(target, int):
        acts = {cue.kind for cue in found.cues if target in cue.covers}
    else:
        acts = {c.kind for c in found.cues if c.scope and c.scope[0] <= target.start and target.end <= c.scope[1]}
    return assertion_of(found, target), {kind for kind in acts if kind in ACTS}


def marks(polarity: str, modality: str, time: str, reported_by: str | None, acts: set[str]) -> dict[str, set[str]]:
    """Per dimension what is marked; the plain statement marks nothing."""
    return {
        "polarity": {polarity} - {"affirmed"},
        "modality": {modality} - {"asserted"},
        "time": {time} - {"current"},
        "reported": {reported_by} if reported_by else set(),
        "acts": set(acts),
    }


def test_the_table_is_large_and_half_of_it_are_traps() -> None:
    assert len(TABLE) >= 200
    plain = [r for r in TABLE if not any(marks(*(r[k] for k in KEYS[:4]), set(r["acts"])).values())]
    assert len(plain) >= len(TABLE) / 3
    assert {row["id"][:2] for row in TABLE} == {"zh", "en"}


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_every_dimension_of_the_table_reaches_its_floor(lang: str) -> None:
    hits: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for row in TABLE:
        if not row["id"].startswith(lang):
            continue
        said, acts = judged(row["text"], row["target"])
        got = marks(said.polarity, said.modality, said.time, said.reported_by, acts)
        want = marks(row["polarity"], row["modality"], row["time"], row["reported_by"], set(row["acts"]))
        for name in want:
            hits[name] += 2 * len(want[name] & got[name])
            wrong[name] += len(want[name] ^ got[name])
    figures = {name: hits[name] / (hits[name] + wrong[name]) for name in hits}
    assert set(figures) == {"polarity", "modality", "time", "reported", "acts"}
    assert min(figures.values()) >= FLOOR, figures


@pytest.mark.parametrize(
    ("text", "words", "polarity"),
    [
        ("周四可以提货", "周四可以提货", "affirmed"),
        ("周四不可以提货", "周四不可以提货", "negated"),
        ("我并非不同意退款", "同意退款", "affirmed"),
        ("协议里没约定交货地", "约定交货地", "negated"),
        ("Cash withdrawals are allowed", "Cash withdrawals are allowed", "affirmed"),
        ("Cash withdrawals are not allowed", "Cash withdrawals are not allowed", "negated"),
        ("I never eat peanuts", "eat peanuts", "negated"),
        ("I eat peanuts, not almonds", "eat peanuts", "affirmed"),
    ],
)
def test_a_span_without_a_mention_has_a_polarity_too(text: str, words: str, polarity: str) -> None:
    start = text.index(words)
    assert assertion_of(heard(text), Span(start=start, end=start + len(words))).polarity == polarity


def test_a_condition_ends_with_its_clause() -> None:
    text = "如果预算不够就算了，地址还是文三路90号"
    start = text.index("文三路90号")
    assert assertion_of(heard(text), Span(start=start, end=len(text))).modality == "asserted"
    assert judged("如果预算是8万元就算了", "8万元")[0].modality == "hypothetical"


def test_a_condition_governs_its_main_clause_only_where_the_language_says_so() -> None:
    assert judged("万一堵车，面谈就改到6月11日", "6月11日")[0].modality == "hypothetical"
    assert judged("If it rains, we would meet on June 9", "June 9")[0].modality == "hypothetical"
    assert judged("If you need me, my number is $500", "$500")[0].modality == "asserted"


def test_a_request_put_as_a_question_is_a_request() -> None:
    assert judged("Can you make it $500?", "$500")[0].modality == "request"
    assert judged("Could we make it $500?", "$500")[0].modality == "question"
    assert judged("能帮我改成6万元吗", "6万元")[0].modality == "request"
    assert judged("能不能改成6万元", "6万元")[0].modality == "question"


def test_who_said_it_is_named() -> None:
    assert judged("隔壁部门经理说他们的费用是8万元", "8万元")[0].reported_by == "隔壁部门经理"
    assert judged("The other side is asking for $500", "$500")[0].reported_by == "The other side"
    assert judged("听说尾款有8万元", "8万元")[0].reported_by == "hearsay"
    assert judged("我们最多出到95万元，对方要160万元", "95万元")[0].reported_by is None


def test_the_assertion_names_the_cues_that_made_it() -> None:
    found = heard("预算不是8万元")
    said = assertion_of(found, 0)
    assert [found.cues[n].text for n in said.cues] == ["不是"]
    assert assertion_of(heard("预算是8万元"), 0).cues == ()


def test_the_assistant_asks_and_the_user_assents() -> None:
    asked = heard("那我把费用记为9万元，可以吗？", speaker="assistant")
    assert "proposal" in {cue.kind for cue in asked.cues}
    assert "confirmation" in {cue.kind for cue in heard("可以。").cues}
    assert "confirmation" not in {cue.kind for cue in heard("可以。", speaker="assistant").cues}
