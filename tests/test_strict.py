"""The quick look at a record's form says what writing it out again would say, of canonical texts and of others."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from recordari.audit.record import RecordError, canonical
from recordari.audit.strict import read_strictly

KEYS = st.text('abcdefghijklmnopqrstuvwxyz_ :"\\,', min_size=1, max_size=4)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


PATIENT = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)  # the first draw loads its tables


@PATIENT
@given(st.dictionaries(KEYS, VALUES, max_size=6))
def test_what_is_canonical_is_read_as_it_is(fields: dict[str, object]) -> None:
    text = canonical(fields)
    assert read_strictly(text) == (json.loads(text), True)


@PATIENT
@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=6))
@example({"a": {"b": "c", "d": "e"}})
def test_another_writing_of_the_same_is_not_canonical(fields: dict[str, object]) -> None:
    text = canonical(fields)
    for other in (
        json.dumps(fields, ensure_ascii=False, sort_keys=True),
        json.dumps(fields, ensure_ascii=False, separators=(",", ":"), sort_keys=True) + "\n",
        json.dumps(dict(sorted(fields.items(), reverse=True)), ensure_ascii=False, separators=(",", ":")),
    ):
        assert read_strictly(other)[1] is (other == text)


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1,"a":1}',
        '{"b":{"a":1,"a":2}}',
        '{"a":[{"x":"1","x":"1"}]}',
        '{"b":1,"a":2}',
        '{"a":{"d":"1","c":"2"}}',
        '{"a": 1}',
        '{"a":1 ,"b":2}',
        '{"a":[1, 2]}',
        ' {"a":1}',
        '{"a":1}\n',
        '{"a":\t1}',
        '{"a":"\\u0041"}',
        '{"a":"\\/"}',
        '{"a":-0}',
        "[1,-0]",
    ],
)
def test_a_text_of_another_form_is_told(text: str) -> None:
    assert read_strictly(text)[1] is False


@pytest.mark.parametrize("text", ['{"a":1.5}', '{"a":1e3}', '{"a":9007199254740993}', '{"é":1}', '{"":1}', '{"a":NaN}'])
def test_what_no_record_may_hold_is_refused(text: str) -> None:
    with pytest.raises(RecordError):
        read_strictly(text)


@pytest.mark.parametrize("text", ["{", '{"a":1}}', "", '{"a":01}'])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"Expecting|Extra"):
        read_strictly(text)


def test_words_in_any_script_and_commas_between_them_are_no_other_form() -> None:
    text = canonical({"engine": "durable-rules 2.0.28", "note": "rent, then: 預算 8万", "turn": "2026-01-05"})
    assert read_strictly(text)[1] is True


@PATIENT
@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=6), st.data())
def test_one_character_more_anywhere_is_told_as_writing_it_out_again_tells_it(
    fields: dict[str, object], data: st.DataObject
) -> None:
    text = canonical(fields)
    at = data.draw(st.integers(0, len(text)))
    other = (
        text[:at] + data.draw(st.sampled_from([" ", "-", "0", ",", '"', "\n", ".0", "e1", '"a":1,', "é"])) + text[at:]
    )
    try:
        there = json.loads(other)
        expected = there, canonical(there) == other
    except ValueError:
        with pytest.raises(ValueError):  # noqa: PT011 - as json says it
            read_strictly(other)
    else:
        assert read_strictly(other) == expected
