"""What arrives: good turns pass, bad ones are refused with their place and a way out."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordari.intake import IntakeError, read_lines, read_turn

GOOD = {"at": "2026-03-18T10:00:00+08:00", "text": "预算8万元", "speaker": "user"}


def test_a_turn_with_an_offset_is_taken_as_it_is() -> None:
    turn = read_turn(GOOD, 100)
    assert turn.text == "预算8万元"
    assert turn.at.utcoffset() is not None
    assert (turn.entity, turn.conversation) == ("user", "default")


def test_said_at_is_accepted_for_at_but_not_beside_it() -> None:
    plain = {"said_at": GOOD["at"], "text": "hi"}
    assert read_turn(plain, 100).at == read_turn(GOOD, 100).at
    with pytest.raises(IntakeError, match="not both"):
        read_turn(GOOD | {"said_at": GOOD["at"]}, 100)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"at": "2026-03-18T10:00:00"}, "at: the time has no UTC offset"),
        ({"at": "2026-02-31T10:00:00+08:00"}, "at: "),
        ({"at": "0001-01-01T00:00:00+00:00"}, "outside 1900-2199"),
        ({"at": None}, "at: "),
        ({"colour": "red"}, "colour: unknown field"),
        ({"speaker": "boss"}, "speaker: "),
        ({"text": ""}, "text is empty"),
        ({"text": " \n\t "}, "text is empty"),
        ({"text": "x" * 101}, "101 characters, more than 100"),
        ({"text": "a\x00b"}, "U\\+0000 at character 1"),
        ({"text": "ab\x1b[31m"}, "U\\+001B at character 2"),
        ({"text": "ok \ud83d"}, "lone surrogate at character 3"),
        ({"text": 7}, "text: "),
        ({"turn_id": ""}, "turn_id: "),
        ({"entity": "a\x00"}, "entity: "),
        ({"timezone": "Mars/Olympus"}, "unknown time zone"),
    ],
)
def test_a_bad_turn_is_refused_with_its_field_and_the_reason(change: dict[str, object], told: str) -> None:
    with pytest.raises(IntakeError, match=told):
        read_turn(GOOD | change, 100)


def test_all_problems_of_a_turn_are_told_at_once() -> None:
    with pytest.raises(IntakeError) as caught:
        read_turn({"text": "x", "colour": 1}, 100)
    assert "at: required field is missing" in str(caught.value)
    assert "colour" in str(caught.value)


@pytest.mark.parametrize("data", [None, 3, "text", [GOOD]])
def test_what_is_no_object_is_no_turn(data: object) -> None:
    with pytest.raises(IntakeError, match="JSON object"):
        read_turn(data, 100)


def test_tabs_line_ends_and_emoji_are_ordinary_text() -> None:
    text = "预算\t8万元\r\n谢谢😀"
    assert read_turn(GOOD | {"text": text}, 100).text == text


def test_one_bad_line_does_not_stop_the_others() -> None:
    stream = io.BytesIO(b'\xef\xbb\xbf{"a": 1}\n\nnot json\n\xff\xfe\n{"b": 2}\n')
    found = list(read_lines(iter(stream)))
    assert [(number, data) for number, data, error in found if not error] == [(1, {"a": 1}), (5, {"b": 2})]
    errors = {number: error for number, _, error in found if error}
    assert errors[3].startswith("1: not JSON")
    assert errors[4].startswith("1: not UTF-8")


def test_deep_nesting_is_an_error_and_no_crash() -> None:
    ((_, data, error),) = read_lines(iter([b"[" * 200_000]))
    assert data is None
    assert error


@given(st.binary(max_size=200))
def test_no_bytes_whatever_crash_the_reader(raw: bytes) -> None:
    for _, data, error in read_lines(iter(raw.splitlines(keepends=True))):
        assert (data is None) or not error
