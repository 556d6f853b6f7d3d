"""Rewriting over HTTP: every way in which an endpoint can misbehave leaves the template sentence standing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from shipped import shipped

from recordari.audit.record import Entry, canonical
from recordari.extractors.scan import Extraction, scan
from recordari.llm_polish.guard import Key, parsed
from recordari.llm_polish.rewrite import PROMPT, Endpoint, Failed, Polished, Rewritten, polish, rewrite

EN = "The marketing budget of Acme is $80,000."
ZH = "Acme的营销预算为8万元。"
SAID_EN = "Put the marketing budget at $80,000"
SAID_ZH = "营销预算8万"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    script = Path(__file__).with_name("polish_server.py")
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        yield f"http://127.0.0.1:{port}/v1"
        process.terminate()


@pytest.fixture(scope="module")
def extraction() -> Extraction:
    return shipped().extraction


def ask(url: str, model: str, timeout: float = 5.0) -> Rewritten | Failed:
    return rewrite(EN, "en", Endpoint(url, model, timeout=timeout))


def test_a_good_answer_comes_back_with_the_name_the_model_gives_itself(url: str) -> None:
    assert ask(url, "good") == Rewritten("Acme has a marketing budget of $80,000.", "good-1.0")


def test_the_request_is_deterministic_and_carries_the_key_and_the_sentence_alone(url: str) -> None:
    answer = rewrite(ZH, "zh", Endpoint(url + "/", "request", key="k-1", seed=11))
    assert isinstance(answer, Rewritten)
    sent = json.loads(answer.text)
    assert sent["temperature"] == 0
    assert sent["seed"] == 11
    assert sent["stream"] is False
    assert sent["key"] == "Bearer k-1"
    assert sent["messages"] == [{"role": "system", "content": PROMPT["zh"]}, {"role": "user", "content": ZH}]


def test_without_a_key_no_authorization_is_sent(url: str) -> None:
    answer = ask(url, "request")
    assert isinstance(answer, Rewritten)
    assert json.loads(answer.text)["key"] is None


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("hangs", "timeout"),
        ("drips", "timeout"),
        ("drops", "unreachable"),
        ("half", "unreachable"),
        ("huge", "too_large"),
        ("moved", "bad_status"),
        ("status", "bad_status"),
        ("html", "bad_answer"),
        ("deep", "bad_answer"),
        ("shapeless", "bad_answer"),
        ("number", "bad_answer"),
        ("surrogate", "bad_answer"),
    ],
)
def test_trouble_on_the_line_is_a_value_not_an_exception(url: str, model: str, why: str) -> None:
    answer = ask(url, model, timeout=0.4 if why == "timeout" else 5.0)
    assert isinstance(answer, Failed), answer
    assert answer.why == why


@pytest.mark.parametrize("base", ["http://127.0.0.1:9", "nonsense", "http://[", "ftp://example.com"])
def test_an_endpoint_that_is_not_there_is_a_value_too(base: str) -> None:
    answer = rewrite(EN, "en", Endpoint(base, "good", timeout=1.0))
    assert isinstance(answer, Failed)
    assert answer.why == "unreachable"


def polished(url: str, model: str, extraction: Extraction, timeout: float = 5.0) -> Polished:
    chinese = model.endswith("-zh")
    words = {
        word
        for language in ("zh", "en")
        for word in extraction.vocabulary(f"polish.function_words.{language}").entries()
    }

    def parse(sentence: str) -> frozenset[Key]:
        return parsed(scan(sentence, extraction, ner=False), ())

    return polish(
        ZH if chinese else EN,
        SAID_ZH if chinese else SAID_EN,
        language="zh" if chinese else "en",
        endpoint=Endpoint(url, model, timeout=timeout),
        parse=parse,
        function_words=words,
        keep=("Acme", "营销" if chinese else "marketing"),
        item="i-1",
    )


@pytest.mark.parametrize("model", ["good", "good-zh", "echo", "echo-zh"])
def test_a_rewriting_that_says_the_same_stands(url: str, model: str, extraction: Extraction) -> None:
    result = polished(url, model, extraction)
    assert result.accepted, result
    assert result.sentence == result.private["answer"]
    assert result.content["why"] is None


REFUSALS = [
    ("drifting", "new_numbers"),
    ("drifting-zh", "new_numbers"),
    ("unit", "value_changed"),
    ("vague", "new_words"),
    ("bound", "new_words"),
    ("negated", "new_words"),
    ("negated-zh", "new_words"),
    ("hypothetical", "new_words"),
    ("question", "odd_characters"),
    ("embellished", "new_words"),
    ("extra", "new_words"),
    ("renamed", "new_words"),
    ("nameless", "name_missing"),
    ("relabelled", "name_missing"),
    ("injected", "new_words"),
    ("other-language", "new_words"),
    ("homoglyph", "new_words"),
    ("invisible", "odd_characters"),
    ("markup", "odd_characters"),
    ("chatty", "several_lines"),
    ("long", "too_long"),
    ("empty", "empty"),
    ("blank", "empty"),
]


@pytest.mark.parametrize(("model", "why"), REFUSALS)
def test_a_rewriting_that_says_anything_else_is_refused(url: str, model: str, why: str, extraction: Extraction) -> None:
    result = polished(url, model, extraction)
    assert (result.content["outcome"], result.content["why"]) == ("refused", why), result
    assert result.sentence in (EN, ZH)


def test_a_silent_endpoint_leaves_the_template_and_a_record(url: str, extraction: Extraction) -> None:
    result = polished(url, "hangs", extraction, timeout=0.2)
    assert result.sentence == EN
    assert (result.content["outcome"], result.content["why"]) == ("failed", "timeout")
    assert not result.accepted


@pytest.mark.parametrize("model", ["good", "negated", "hangs"])
def test_every_call_is_a_ledger_entry_whose_words_lie_beside_it(url: str, model: str, extraction: Extraction) -> None:
    result = polished(url, model, extraction, timeout=0.5)
    entry = Entry("rewrite", result.content, result.private)
    record = canonical(dict(entry.content))
    assert '"temperature":0' in record
    assert "80,000" not in record
    assert canonical(dict(entry.private))
    assert len(result.content["prompt"]) == 64
