"""Relative clauses that only say when a value was told: "the budget I gave you", 我上次报的价格. They name nothing."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

from ..extractors.words import linear
from .labels import Lexicon
from .view import View


def without_told(seen: View, lex: Lexicon) -> View:
    """The view with such clauses set aside, and without the times in them: no label, no date, no owner."""
    aside = [*_english(seen, lex), *_chinese(seen, lex)]
    if not aside:
        return seen
    times = {p.index for p in seen.places if p.kind == "time" and any(a <= p.start and p.end <= b for a, b in aside)}
    return replace(seen, aside=tuple(sorted(aside)), hidden=seen.hidden | times)


def _english(seen: View, lex: Lexicon) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    if _quick(lex.said["told_who"].pattern).search(seen.low) is None:
        return found
    for hit in lex.said["told_who"].finditer(seen.low):
        end = hit.end()
        if lex.said["told_noun"].search(seen.low, max(0, hit.start() - 60), hit.start()) is None:
            opens = not seen.low[seen.segment_at(hit.start()).start : hit.start()].strip()
            if opens and lex.said["told_that"].match(seen.low, end):  # "I told you the budget is …" states it
                found.append((hit.start(), end))
            continue
        for place in seen.places:  # "the rate we discussed last week isn't right"
            if place.kind == "time" and end <= place.start <= end + 4 and not _last(seen, place.end):
                between = seen.low[end : place.start].strip()
                end = place.end if between in {"", "on", "in", "at"} else end
        rest = lex.said["told_when"].match(seen.low, end)
        end = rest.end() if rest else end
        if lex.said["told_verdict"].match(seen.low, end):
            found.append((hit.start(), end))
    return found


def _chinese(seen: View, lex: Lexicon) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    if "的" not in seen.low or _quick(lex.said["told_zh"].pattern).search(seen.low) is None:
        return found
    for hit in lex.said["told_zh"].finditer(seen.low):
        start = hit.start()
        before = [p for p in seen.places if p.kind == "time" and p.end >= start and p.start < hit.end()]
        if hit["who"] is None and not before:
            continue
        found.append((min([start, *(p.start for p in before)]), hit.end()))
    return found


@lru_cache(maxsize=8)
def _quick(source: str) -> Any:
    """The pattern as RE2, which passes over a text that has no such clause in one go."""
    return linear(source)


def _last(seen: View, end: int) -> bool:
    """True at the end of a clause: "the meeting we agreed on June 5" tells its day."""
    return not seen.low[end : seen.segment_at(end).end].strip()
