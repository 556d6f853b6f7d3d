"""Units that a heading gives to the figures below it: 单位:万元 above a table, "(in thousands of US dollars)"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

_YEAR = re.compile(r"(?:19|20)[0-9]{2}")
_PROSE = re.compile(r"[。!?;]|[a-z0-9]\. [A-Z]|(?:\b[a-z]{1,20} ){6}")


class Heading(NamedTuple):
    """From ``start`` on figures count ``scale`` units of ``currency``; ``clash`` names two units that contradict."""

    start: int
    scale: Decimal
    currency: str
    clash: str


def heading_of(text: str, start: int, end: int, tables: Mapping[str, Any]) -> Heading | None:
    """The heading that the figure at ``start:end`` stands under; None in prose, for years and for row numbers."""
    table = tables.get("unit_headings")
    if not table or "\n" not in text:
        return None
    lead, units = str(table["lead"]), tuple((str(k), str(v[0]), str(v[1])) for k, v in table["units"].items())
    above = [heading for heading in _headings(text, lead, units) if heading.start <= start]
    if not above:
        return None
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    line = text[first : last if last >= 0 else len(text)]
    if first < above[-1].start or _PROSE.search(line) or _YEAR.fullmatch(text[start:end]):
        return None
    if start == first and text[start:end].isdigit() and len(text[start:end]) < 3:
        return None  # the number of the row
    return above[-1]


@lru_cache(maxsize=64)
def _headings(text: str, lead: str, units: tuple[tuple[str, str, str], ...]) -> tuple[Heading, ...]:
    """All headings of a text, each in force from the end of its line."""
    names = {name.lower(): (Decimal(scale), currency) for name, scale, currency in units}
    choice = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    found: list[Heading] = []
    for match in re.finditer(rf"(?:{lead})({choice})(?![a-z])", text, re.IGNORECASE):
        scale, currency = names[match[1].lower()]
        stop = text.find("\n", match.end())
        start = stop if stop >= 0 else len(text)
        clash = ""
        if found and found[-1].start == start and (found[-1].scale, found[-1].currency) != (scale, currency):
            clash = f"two units in one heading: {found[-1].scale} {found[-1].currency} and {scale} {currency}"
        found.append(Heading(start, scale, currency, clash))
    return tuple(found)
