"""Units that a heading gives to the figures below it: 单位:万元 above a table, "(in thousands of US dollars)"."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

_YEAR = re.compile(r"(?:19|20)[0-9]{2}")
_PROSE = re.compile(r"[。!?;]|[a-z0-9]\. [A-Z]|(?:\b[a-z]{1,20} ){6}")
_ROW = 300  # characters of a row at most; what runs on longer is prose
_BESIDE = re.compile(r"[^0-9]{0,12}")  # between two statements of one heading; a figure ends it


class Heading(NamedTuple):
    """From ``start`` on figures count ``scale`` units of ``currency`` ("" when not said).

    ``clash`` names two units that contradict each other. ``end`` is where the heading itself ends, and ``part`` is set
    for half of a heading: a currency without a scale (币种:美元) or a scale without a currency (in thousands).
    """

    start: int
    scale: Decimal
    currency: str
    clash: str = ""
    end: int = 0
    part: bool = False


class _Words(NamedTuple):
    """The table ``unit_headings``, compiled."""

    table: Mapping[str, Any]
    pattern: re.Pattern[str]
    countless: re.Pattern[str]
    units: Mapping[str, tuple[Decimal, str]]
    meanings: Mapping[str, Sequence[str]]


_compiled: dict[int, _Words] = {}  # by identity of the table: every rule set has one


def heading_of(text: str, start: int, end: int, tables: Mapping[str, Any]) -> Heading | None:
    """The heading that the figure at ``start:end`` stands under.

    None in prose, for years, row numbers and rows of what is no money (headcount, 每股收益).
    """
    table = tables.get("unit_headings")
    if not table or "\n" not in text:
        return None
    key = _words(table, tables.get("currency_meanings", {}))
    headings = _headings(text, key)
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
    if len(figure) < 3 and text[start - 1 : start] == "(" and text[end : end + 1] == ")":
        return None  # (3): the number of a note
    return None if _compiled[key].countless.search(text, first, start) else headings[place]


def agreed(one: str, other: str, meanings: Mapping[str, Sequence[str]]) -> str | None:
    """The currency that two statements agree on, the clearer one; None when they contradict each other."""
    first, second = (set(meanings.get(unit, (unit,))) for unit in (one, other))
    shared = first & second
    if not shared:
        return None
    return shared.pop() if len(shared) == 1 else f"{one}/{other}"  # $5元: a dollar of Hong Kong, of Taiwan …


def _words(table: Mapping[str, Any], meanings: Mapping[str, Sequence[str]]) -> int:
    """The key of the compiled table."""
    known = _compiled.get(id(table))
    if known is None or known.table is not table:
        units = {str(name).lower(): (Decimal(scale), str(unit)) for name, (scale, unit) in table["units"].items()}
        choice = "|".join(re.escape(name) for name in sorted(units, key=len, reverse=True))
        pattern = re.compile(
            rf"(?:(?P<only>{table['currency_lead']})|{table['lead']})(?P<unit>{choice})(?![a-z]| ?[0-9])"
            rf"(?:(?:{table['either']})(?P<other>{choice})(?![a-z]))?",
            re.IGNORECASE,
        )
        countless = re.compile("|".join(re.escape(word) for word in table["countless"]), re.IGNORECASE)
        if len(_compiled) >= 16:
            _compiled.clear()
        _compiled[id(table)] = _Words(table, pattern, countless, units, meanings)
        _headings.cache_clear()
    return id(table)


@lru_cache(maxsize=64)
def _headings(text: str, table: int) -> tuple[Heading, ...]:
    """All headings of a text, each in force from the end of its line; statements side by side make one heading."""
    words = _compiled[table]
    found: list[Heading] = []
    for match in words.pattern.finditer(text):
        stop = text.find("\n", match.end())
        start = stop if stop >= 0 else len(text)
        for name in ("unit", "other"):
            if match[name] is None:
                continue
            scale, currency = words.units[match[name].lower()]
            part = not currency or (match["only"] is not None and scale == 1)
            now = Heading(start, scale, currency, "", match.end(), part)
            before = found[-1] if found else None
            if before is None or not (start == before.start or _BESIDE.fullmatch(text, before.end, match.start())):
                found.append(now)
            else:
                found[-1] = _together(before, now, words.meanings)
    return tuple(found)


def _together(one: Heading, other: Heading, meanings: Mapping[str, Sequence[str]]) -> Heading:
    """单位:万元 币种:人民币 is one unit; 单位:万元 and 单位:美元 are two."""
    said = one.currency and other.currency
    currency = agreed(one.currency, other.currency, meanings) if said else one.currency or other.currency
    alike = one.scale == other.scale or ((one.part or other.part) and 1 in (one.scale, other.scale))
    clash = one.clash
    if not clash and (currency is None or not alike):
        units = " and ".join(f"{each.scale} {each.currency}".strip() for each in (one, other))
        clash = f"two units in one heading: {units}"
    return Heading(other.start, max(one.scale, other.scale), currency or "", clash, other.end, one.part and other.part)
