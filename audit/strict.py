"""Reads a canonical record and tells whether it is canonical, without writing it out again: a verifier's hot loop.

The canonical text of a value is its shortest but for escapes: white space, a key twice, -0 and escapes that need not be
only make it longer. So a text without escapes whose length is that of the canonical text is it, when keys are in order.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic_core import from_json

from .record import LARGEST_INTEGER, canonical

_MOST_FRAMES = 4096
_frames: dict[tuple[str, ...], tuple[int, int]] = {}  # keys found in order → what the object has beside its values


class _Doubt(Exception):
    """Not to be told by a quick look."""


def read_strictly(text: str) -> tuple[Any, bool]:
    """What a JSON text holds, and whether the text is its canonical form. ValueError when it is no JSON, RecordError
    when it holds what no record may."""
    if "\\" not in text:
        try:
            fields = from_json(text, cache_strings="keys")
            if type(fields) is dict and _length(fields) == len(text):
                return fields, True
        except (TypeError, ValueError, _Doubt):
            pass
    fields = json.loads(text)
    return fields, canonical(fields) == text


def _length(fields: dict[str, Any]) -> int:
    """How long its canonical text is; _Doubt for keys out of order and for what no record may hold."""
    keys = tuple(fields)
    length = (_frames.get(keys) or _frame(keys))[0]
    for value in fields.values():
        kind = type(value)
        if kind is str:
            length += len(value) + 2
        elif kind is list:
            length += _length_of_all(value) if value else 2
        elif kind is int and 0 <= value <= 9:
            length += 1
        elif kind is dict:
            try:
                texts = "".join(value.values())  # all of them texts, as in features and hashes: no look at each
            except TypeError:
                length += _length(value)
            else:
                keys = tuple(value)
                length += len(texts) + (_frames.get(keys) or _frame(keys))[1]
        else:
            length += _length_of(value)
    return length


def _length_of_all(values: list[Any]) -> int:
    length = len(values) + 1  # brackets and commas
    for value in values:
        kind = type(value)
        if kind is str:
            length += len(value) + 2
        elif kind is list:
            length += _length_of_all(value) if value else 2
        elif kind is dict:
            length += _length(value)
        else:
            length += _length_of(value)
    return length


def _length_of(value: object) -> int:
    """Of a number or a name; a float has none."""
    if type(value) is int:
        if -LARGEST_INTEGER <= value <= LARGEST_INTEGER:
            return len(str(value))
    elif value is True or value is None:
        return 4
    elif value is False:
        return 5
    raise _Doubt


def _frame(keys: tuple[str, ...]) -> tuple[int, int]:
    """The length of an object with these keys beside its values, and beside its texts when all values are texts."""
    if list(keys) != sorted(keys) or not all(key.isascii() and key.isprintable() and key for key in keys):
        raise _Doubt
    length = 2 + max(0, len(keys) - 1) + sum(len(key) + 3 for key in keys)
    frame = length, length + 2 * len(keys)
    if len(_frames) < _MOST_FRAMES:
        _frames[keys] = frame
    return frame
