"""Reads a canonical record and tells whether it is canonical, without writing it out again: a verifier's hot loop."""

from __future__ import annotations

import json
from typing import Any

from pydantic_core import from_json

from .record import LARGEST_INTEGER, canonical

# A space between two tokens stands beside a bracket, a comma or a colon; inside a text it may, too: then look closely.
_SPACED = (", ", ": ", "{ ", "[ ", " }", " ]", " :", " ,")
_MOST_SHAPES = 4096
_sorted: set[tuple[str, ...]] = set()  # sequences of keys that were found in order


class _Doubt(Exception):
    """Not to be told by a quick look."""


def read_strictly(text: str) -> tuple[Any, bool]:
    """What a JSON text holds, and whether the text is its canonical form. ValueError when it is no JSON, RecordError
    when it holds what no record may."""
    if not ("\\" in text or ":-0" in text or ",-0" in text or "[-0" in text or _spaced(text)):
        try:
            fields = from_json(text, cache_strings="keys")
            # A key is a text before a colon; of two with one name only one was read.
            if type(fields) is dict and text.count('":') == _keys(fields):
                return fields, True
        except (TypeError, ValueError, _Doubt):
            pass
    fields = json.loads(text)
    return fields, canonical(fields) == text


def _spaced(text: str) -> bool:
    """Whether there may be white space between tokens."""
    if "\n" in text or "\t" in text or "\r" in text or text[:1] == " " or text[-1:] == " ":
        return True
    return " " in text and any(each in text for each in _SPACED)


def _keys(fields: dict[str, Any]) -> int:
    """The number of keys in it, at every depth; _Doubt for keys out of order and for what no record may hold."""
    keys = tuple(fields)
    if keys not in _sorted:
        if list(keys) != sorted(keys) or not all(key.isascii() and key.isprintable() and key for key in keys):
            raise _Doubt
        if len(_sorted) < _MOST_SHAPES:
            _sorted.add(keys)
    number = len(keys)
    for value in fields.values():
        kind = type(value)
        if kind is str or kind is bool or value is None:
            continue
        if kind is int:
            if not -LARGEST_INTEGER <= value <= LARGEST_INTEGER:
                raise _Doubt
        elif kind is dict:
            try:
                "".join(value.values())  # all of them texts, as in features and hashes: no need to look at each
            except TypeError:
                number += _keys(value)
            else:
                number += len(value) if tuple(value) in _sorted else _keys(value)
        elif kind is list:
            if value:
                number += _keys_within(value)
        else:
            raise _Doubt
    return number


def _keys_within(values: list[Any]) -> int:
    number = 0
    for value in values:
        kind = type(value)
        if kind is str or kind is bool or value is None:
            continue
        if kind is int:
            if not -LARGEST_INTEGER <= value <= LARGEST_INTEGER:
                raise _Doubt
        elif kind is dict:
            number += _keys(value)
        elif kind is list:
            number += _keys_within(value)
        else:
            raise _Doubt
    return number
