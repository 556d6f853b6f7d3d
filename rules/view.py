"""One turn as capture sees it: normalised text, segments between marks, mentions at normalised offsets."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ..extractors.scan import Spoken
from ..extractors.text import Normalized, normalize
from ..model import Cue, Mention, Scan
from ..values import TimeValue, Value

_MARK = re.compile(r"[;。!?\n…]|(?<!\d),|,(?!\d)|\.{2,}|(?<!\d):|:(?!\d)|\.(?=\s|$)| -{1,2} |--")
_ENDS = re.compile(r"[。!?\n…]|\.")
# Mentions that close the label region of the next one; numbers and names are part of labels ("Option 1", "Dale's").
BARRIERS = frozenset({"money", "percent", "quantity", "time", "phone", "email", "url", "address"})


@dataclass(frozen=True)
class Segment:
    """Characters between two marks; ``sentence`` counts sentences, ``mark`` is the mark before it."""

    index: int
    start: int
    end: int
    sentence: int
    mark: str


@dataclass(frozen=True)
class Place:
    """A mention at normalised offsets."""

    index: int
    start: int
    end: int
    mention: Mention

    @cached_property
    def kind(self) -> str:
        """The kind of its value."""
        return self.mention.kind

    @cached_property
    def wall(self) -> bool:
        """True for a value that bounds the label of the next one; "now" is none, it only dates what is said."""
        return self.kind in BARRIERS and not self.now and not self.loose

    @cached_property
    def loose(self) -> bool:
        """True for a part of the day in words ("the dinner is on Friday"): it may be the label of what follows."""
        edtf = str(getattr(self.mention.value, "edtf", None) or "")
        return edtf.startswith("T") and "/" in edtf and not re.search(r"\d", self.mention.text)

    @cached_property
    def now(self) -> bool:
        """True for 现在, "right now": a time that says nothing but when it is said."""
        value = self.mention.value
        return isinstance(value, TimeValue) and value.type == "instant" and value.grain == "second"


MOST_NESTED = 4  # mentions that may begin inside one another: a town, its county and its country


@dataclass(frozen=True)
class View:
    """A turn, its scan, and the normalised text that capture reads."""

    turn: Spoken
    scan: Scan
    norm: Normalized
    hidden: frozenset[int] = frozenset()  # mentions that are part of a word: the four of 后四位
    abbreviation: re.Pattern[str] | None = None  # words that end in a full stop and no sentence with them
    joint: re.Pattern[str] | None = None  # a word that joins two clauses, each with a subject and a verb of its own
    aside: tuple[tuple[int, int], ...] = ()  # clauses that name nothing: "the budget I gave you"
    moved: Mapping[int, Value] = field(default_factory=dict)  # mentions that were ranges "from A to B": what they were

    @cached_property
    def text(self) -> str:
        """The normalised text."""
        return self.norm.text

    @cached_property
    def low(self) -> str:
        """The normalised text in lower case, same offsets."""
        return self.norm.lower

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """All mentions in the order of the text."""
        mentions = [(i, m) for i, m in enumerate(self.scan.mentions) if i not in self.hidden]
        found = [Place(i, *self.norm.inside(m.start, m.end), m) for i, m in mentions]
        return tuple(sorted(found, key=lambda p: (p.start, -p.end, p.index)))

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """Stretches between marks, empty ones left out; a mark inside a mention does not count."""
        out: list[Segment] = []
        held = bytearray(len(self.text))
        for place in self.places:
            held[place.start : place.end] = b"\x01" * (place.end - place.start)
        begin, sentence, mark = 0, 0, ""
        for start, end in self._marks():
            if any(held[start:end]):
                continue
            short = self.abbreviation if self.text[start:end] == "." else None
            if short is not None and short.search(self.text, max(0, start - 6), start):
                continue
            if self.text[begin:start].strip():
                out.append(Segment(len(out), begin, start, sentence, mark))
            mark = self.text[start:end].strip()
            if _ENDS.match(mark):
                sentence += 1
            begin = end
        if self.text[begin:].strip():
            out.append(Segment(len(out), begin, len(self.text), sentence, mark))
        return tuple(out)

    def _marks(self) -> list[tuple[int, int]]:
        marks = [hit.span() for hit in _MARK.finditer(self.text)]
        if self.joint is not None:
            marks += [hit.span("joint") for hit in self.joint.finditer(self.low)]
        return sorted(marks)

    @cached_property
    def _starts(self) -> list[int]:
        return [segment.start for segment in self.segments]

    @cached_property
    def _place_starts(self) -> list[int]:
        return [place.start for place in self.places]

    def segment_at(self, position: int) -> Segment:
        """The segment a character stands in (the last one before it, when it stands on a mark)."""
        if not self.segments:
            return Segment(0, 0, len(self.text), 0, "")
        return self.segments[max(0, bisect_right(self._starts, position) - 1)]

    def within(self, start: int, end: int) -> tuple[Place, ...]:
        """Mentions that lie wholly between two offsets."""
        low = bisect_left(self._place_starts, start)
        high = bisect_right(self._place_starts, end)
        return tuple(p for p in self.places[low:high] if p.end <= end)

    def covers(self, start: int, end: int, kinds: Container[str]) -> bool:
        """True when a mention of one of these kinds reaches over all of a stretch."""
        last = bisect_right(self._place_starts, start)
        near = self.places[max(0, last - MOST_NESTED) : last]
        return any(p.kind in kinds and end <= p.end for p in near)

    def after(self, place: Place) -> Iterator[Place]:
        """The mentions that begin behind another one, nearest first."""
        for at in range(bisect_left(self._place_starts, place.end), len(self.places)):
            yield self.places[at]

    def position(self, place: Place) -> int:
        """Which of the mentions it is, in the order of the text."""
        return self._positions[place.index]

    def of_mention(self, index: int) -> Place | None:
        """The place of a mention of the scan; None for one that is part of a word."""
        at = self._positions.get(index)
        return None if at is None else self.places[at]

    @cached_property
    def _positions(self) -> dict[int, int]:
        return {place.index: at for at, place in enumerate(self.places)}

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Original offsets of normalised characters; an empty stretch stays empty."""
        if end <= start:
            where = self.norm.span(start, start + 1)[0] if start < len(self.text) else len(self.norm.original)
            return where, where
        return self.norm.span(start, end)

    @cached_property
    def cues(self) -> tuple[tuple[Cue, int, int], ...]:
        """Cues with their normalised offsets, in the order of the text."""
        found = [(cue, *self.norm.inside(cue.start, cue.end)) for cue in self.scan.cues]
        return tuple(sorted(found, key=lambda item: (item[1], item[2], item[0].rule)))

    def cues_in(self, start: int, end: int) -> tuple[tuple[Cue, int, int], ...]:
        """The cues that lie wholly between two offsets."""
        low = bisect_left(self._cue_starts, start)
        high = bisect_right(self._cue_starts, end)
        return tuple(found for found in self.cues[low:high] if found[2] <= end)

    @cached_property
    def _cue_starts(self) -> list[int]:
        return [start for _, start, _ in self.cues]

    @cached_property
    def _told(self) -> dict[int, set[str]]:
        found: dict[int, set[str]] = {}
        for cue, start, _ in self.cues:
            found.setdefault(self.segment_at(start).sentence, set()).add(cue.kind)
        return found

    def cue_kinds(self, sentence: int) -> set[str]:
        """The kinds of cue that stand in a sentence."""
        return self._told.get(sentence, set())

    def sentence_span(self, sentence: int) -> tuple[int, int]:
        """First and last character of a sentence."""
        return self._sentences.get(sentence, (0, len(self.text)))

    @cached_property
    def _sentences(self) -> dict[int, tuple[int, int]]:
        found: dict[int, tuple[int, int]] = {}
        for segment in self.segments:
            start, _ = found.get(segment.sentence, (segment.start, 0))
            found[segment.sentence] = (start, segment.end)
        return found


def view(
    turn: Spoken, scan: Scan, abbreviation: re.Pattern[str] | None = None, joint: re.Pattern[str] | None = None
) -> View:
    """The view of one turn; ``abbreviation`` finds words after which a full stop ends no sentence, ``joint`` words that
    join two clauses (its group of that name)."""
    return View(turn, scan, normalize(turn.text), abbreviation=abbreviation, joint=joint)
