"""Units that a heading gives to the figures below it: 单位:万元 above a table, "(in thousands of US dollars)"."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

_YEAR = re.compile(r"(?:19|20)[0-9]{2}")
_PROSE = re.compile(r"[。!?;]|[a-z0-9]\. [A-Z]|(?:\b[a-z]{1,20} ){6}")
_ROW = 300  # characters of a row at most; what runs on longer is prose


class Heading(NamedTuple):
    """From ``start`` on figures count ``scale`` units of ``currency``; ``clash`` names two units that contradict."""

    start: int
    scale: Decimal
    currency: str
    clash: str


class _Words(NamedTuple):
    """The table ``unit_headings``, compiled."""

    table: Mapping[str, Any]
    pattern: re.Pattern[str]
    units: Mapping[str, tuple[Decimal, str]]


_compiled: dict[int, _Words] = {}  # by identity of the table: every rule set has one


def heading_of(text: str, start: int, end: int, tables: Mapping[str, Any]) -> Heading | None:
    """The heading that the figure at ``start:end`` stands under; None in prose, for years and for row numbers."""
    table = tables.get("unit_headings")
    if not table or "\n" not in text:
        return None
    headings = _headings(text, _words(table))
    place = bisect_right(headings, start, key=lambda heading: heading.start) - 1
    if place < 0:
        return None
    first = text.rfind("\n", max(0, start - _ROW), start) + 1
    last = text.find("\n", end, end + _ROW)
    last = last if last >= 0 else len(text)
    if first <= headings[place].start or last - first > _ROW or _PROSE.search(text, first, last):
        return None
    figure = text[start:end]
    if _YEAR.fullmatch(figure) or (start == first and figure.isdigit() and len(figure) < 3):
        return None  # a year, or the number of the row
    return headings[place]


def _words(table: Mapping[str, Any]) -> int:
    """The key of the compiled table."""
    known = _compiled.get(id(table))
    if known is None or known.table is not table:
        units = {str(name).lower(): (Decimal(scale), str(unit)) for name, (scale, unit) in table["units"].items()}
        choice = "|".join(re.escape(name) for name in sorted(units, key=len, reverse=True))
        pattern = re.compile(rf"(?:{table['lead']})({choice})(?![a-z])", re.IGNORECASE)
        if len(_compiled) >= 16:
            _compiled.clear()
        _compiled[id(table)] = _Words(table, pattern, units)
        _headings.cache_clear()
    return id(table)


@lru_cache(maxsize=64)
def _headings(text: str, table: int) -> tuple[Heading, ...]:
    """All headings of a text, each in force from the end of its line."""
    words = _compiled[table]
    found: list[Heading] = []
    for match in words.pattern.finditer(text):
        scale, currency = words.units[match[1].lower()]
        stop = text.find("\n", match.end())
        start = stop if stop >= 0 else len(text)
        clash = ""
        if found and found[-1].start == start:
            before = found.pop()
            if before.clash or (before.scale, before.currency) != (scale, currency):
                clash = f"two units in one heading: {before.scale} {before.currency} and {scale} {currency}"
        found.append(Heading(start, scale, currency, clash))
    return tuple(found)
