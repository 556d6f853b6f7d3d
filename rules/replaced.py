"""Values taken back within a turn: which mention stands for which, and what has no successor."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..extractors.assertion import assertion_of
from ..model import Act, Assertion, Candidate
from .book import Book
from .view import Place, View


@dataclass(frozen=True)
class Replaced:
    """Which mentions were taken back within the turn, what stands for them, and how."""

    by: dict[int, int]
    acts: dict[int, Act]
    alone: dict[int, Act]
    ways: frozenset[int] = frozenset()  # amounts of a change whose end is said as well

    @property
    def indices(self) -> frozenset[int]:
        """All mentions taken back, replaced or not."""
        return frozenset(self.by) | frozenset(self.alone) | self.ways

    def old_of(self, index: int) -> int | None:
        """The mention that this one replaces."""
        return next((old for old, new in sorted(self.by.items()) if new == index), None)


def replaced_in(seen: View, book: Book) -> Replaced:
    """Pairs of old and new value within the turn: by repair cues, and by words that void a value."""
    by: dict[int, int] = {}
    acts: dict[int, Act] = {}
    alone: dict[int, Act] = {}
    ways: set[int] = set()
    repaired = _repaired(seen)
    for place in seen.places:
        if place.index in repaired:
            by[place.index] = repaired[place.index]
            acts[place.index] = "change" if _told_as_change(seen, place.index) else "correct"
            continue
        if _is_way(seen, book, place):
            ways.add(place.index)
            continue
        act = _voided(seen, book, place)
        if act is None:
            continue
        partner = _partner(seen, book, place)
        if partner is not None:
            by[place.index] = partner.index
            acts[place.index] = act if act in {"change", "correct"} else "change"
        elif act in {"retract", "end"}:
            alone[place.index] = act
    for old in [o for o, n in by.items() if n in by and by[n] == o]:
        del by[old]
    return Replaced(by, acts, alone, frozenset(ways))


def _is_way(seen: View, book: Book, place: Place) -> bool:
    """ "Fell $7 million to $77 million": the first is the way, the second is where it ends."""
    gap = seen.low[place.end : _next_start(seen, place)]
    return bool(
        book.lex.said["step_to"].fullmatch(gap)
        and book.lex.said["step_taken"].search(seen.low[max(0, place.start - 24) : place.start].rstrip())
    )


def _repaired(seen: View) -> dict[int, int]:
    """Old mention → the first one that a repair puts in its place."""
    found: dict[int, int] = {}
    mentions = seen.scan.mentions
    for cue in seen.scan.cues:
        if cue.kind != "repair" or cue.reparandum is None or cue.repair is None:
            continue
        old = [n for n in cue.covers if cue.reparandum[0] <= mentions[n].start and mentions[n].end <= cue.reparandum[1]]
        new = [n for n in cue.covers if cue.repair[0] <= mentions[n].start and mentions[n].end <= cue.repair[1]]
        for index in old:
            if new and new[0] != index:
                found.setdefault(index, new[0])
    return found


def _told_as_change(seen: View, index: int) -> bool:
    return assertion_of(seen.scan, index).time == "past" and assertion_of(seen.scan, index).polarity == "affirmed"


def _voided(seen: View, book: Book, place: Place) -> Act | None:
    segment = seen.segment_at(place.start)
    after = seen.low[place.end : min(segment.end, place.end + 14)]
    hit = book.lex.said["before_void"].match(after)
    start = 0
    for start in {0, hit.end() if hit else 0, *range(1, 4)}:
        found = book.lex.void_after.match(after, start)
        if found and not (start and book.lex.said["verb_inside"].search(after[:start])):
            return _act_name(book.lex.void_after_acts[found.group()])
    gap = seen.low[place.end : _next_start(seen, place)]
    before = seen.low[max(segment.start, place.start - 24) : place.start].rstrip()
    if book.lex.said["instead"].match(gap):
        return "change" if _partner(seen, book, place) is not None else None
    found = book.lex.void_before.search(before)
    if found and not book.lex.said["from"].fullmatch(found.group()):
        return _act_name(book.lex.void_before_acts[re.sub(r"\s+", " ", found.group())])
    if found and place.kind in {"money", "percent", "quantity", "number"}:
        return "change" if _partner(seen, book, place) is not None else None
    return None


def _next_start(seen: View, place: Place) -> int:
    """Where the next mention of the same kind begins."""
    return next((p.start for p in seen.after(place) if _same_kind(p.kind, place.kind)), place.end)


def _act_name(value: str) -> Act:
    known: dict[str, Act] = {"change": "change", "correct": "correct", "retract": "retract", "end": "end"}
    return known[value]


def _partner(seen: View, book: Book, place: Place) -> Place | None:
    """The value that stands for a voided one: the next of its kind in the sentence, else the one before it."""
    low, high = seen.sentence_span(seen.segment_at(place.start).sentence)
    same = [
        p
        for p in seen.within(low, high)
        if p.index != place.index
        and _same_kind(p.kind, place.kind)
        and not p.mention.value.same_as(place.mention.value)
    ]
    later = [p for p in same if p.start >= place.end]
    earlier = [p for p in same if p.end <= place.start]
    if later:
        return later[0]
    return earlier[-1] if earlier else None


def _same_kind(one: str, other: str) -> bool:
    return one == other or {one, other} in ({"money", "number"}, {"number", "quantity"}, {"address", "place"})


def withdrawn(seen: View, index: int, act: Act) -> Candidate:
    """A value that was called void with nothing in its place ("那个号码停用了")."""
    mention = seen.scan.mentions[index]
    segment = seen.segment_at(next(p.start for p in seen.places if p.index == index))
    low, high = seen.original(segment.start, segment.end)
    return Candidate(
        act=act, form="bare", kind=mention.kind, old=mention.value, start=mention.start, end=mention.end,
        surface=seen.turn.text[low:high].strip(), evidence=((mention.start, mention.end),), mentions=(index,),
        rule="law.withdrawn@1", language="zh" if seen.scan.lang == "zh" else "en",
        assertion=Assertion(),
    )  # fmt: skip
