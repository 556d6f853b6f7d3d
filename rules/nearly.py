"""Which rules nearly did something with a turn, and the condition that stopped each: for trying rules and for tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..extractors.cues import CompiledCues
from ..extractors.scopes import Layout, mask
from ..extractors.text import normalize
from ..model import Cue, Decision, Scan, Turn
from .book import Book, Rule, book_of
from .capture import around_of, seen_by
from .fitting import misfits, unsaid
from .phrases import LONGEST, frame_end, refusal
from .policy import TableRow
from .replaced import replaced_in
from .ruleset import Ruleset
from .view import Place, View

# A table row is near when it asks for several things and lacks one: every row that asks for one is always near.
NEAR_ROW = 2


@dataclass(frozen=True, slots=True)
class Tried:
    """One rule, the characters of the turn it was tried on, and the conditions that did not hold (none: it fits)."""

    rule: str
    start: int
    end: int
    stopped_by: tuple[str, ...] = ()
    words: str = ""  # what the rule looks for and found, where it looks for words
    because: str = ""  # what stood in the way, where that can be named
    verdict: str = ""  # of a table row: what it would give

    @property
    def near(self) -> bool:
        """True when all but one condition hold."""
        return len(self.stopped_by) == 1


def captures_tried(turn: Turn, scan: Scan, ruleset: Ruleset) -> tuple[Tried, ...]:
    """Every capture rule that could take something of the turn: by the kind of a mention, or by the words of a frame.

    The rules of one mention stand in the order in which they are asked.
    """
    book = book_of(ruleset)
    seen = seen_by(turn, scan, book)
    replaced = replaced_in(seen, book)
    found: list[Tried] = []
    for place in seen.places:
        around, _ = around_of(seen, book, place, replaced)
        for rule in book.by_kind[place.kind].rules if place.kind in book.by_kind else ():
            stopped = tuple(misfits(rule, seen, book, place, around))
            found.append(_of_mention(seen, rule, place, stopped))
    return (*found, *_frames(seen, book))


def _of_mention(seen: View, rule: Rule, place: Place, stopped: tuple[str, ...]) -> Tried:
    hit = rule.trigger.search(seen.low) if rule.trigger is not None else None
    segment = seen.segment_at(place.start)
    because = _because(seen, rule, stopped, segment.sentence, segment.start, segment.end)
    words = hit.group() if hit is not None else ""
    return Tried(rule.file.ref, place.mention.start, place.mention.end, stopped, words, because)


def _because(seen: View, rule: Rule, stopped: tuple[str, ...], sentence: int, start: int, end: int) -> str:
    """The cue or the word behind a condition that stopped a rule."""
    if "when.no_cue" in stopped:
        refused = {kind for each in rule.file.when for kind in each.no_cue}
        told = [cue for cue, low, _ in seen.cues if cue.kind in refused and seen.segment_at(low).sentence == sentence]
        return ", ".join(f"{cue.kind} {cue.text!r} ({cue.rule})" for cue in told)
    if "when.no_words" in stopped and rule.no_words is not None:
        hit = rule.no_words.search(seen.low, start, end)
        return repr(hit.group()) if hit is not None else ""
    return ""


def _frames(seen: View, book: Book) -> Iterator[Tried]:
    for rule, patterns in book.possible_frames(seen.low):
        if rule.file.language not in ("any", seen.scan.lang):
            continue
        for segment in seen.segments:
            if segment.end - segment.start > LONGEST:
                continue
            for pattern in patterns:
                end = frame_end(seen, segment, pattern)
                hit = pattern.search(seen.text[segment.start : end])
                if hit is None:
                    continue
                stopped = tuple(unsaid(rule, seen, segment.sentence, segment.start, end))
                because = _because(seen, rule, stopped, segment.sentence, segment.start, end)
                refused = refusal(seen, book, rule, segment, hit)
                low, high = seen.original(segment.start + hit.start(), segment.start + hit.end())
                every = (*stopped, refused) if refused is not None else stopped
                yield Tried(rule.file.ref, low, high, every, seen.turn.text[low:high], because)
                break


def cues_tried(turn: Turn, scan: Scan, compiled: CompiledCues) -> tuple[Tried, ...]:
    """Cue words that stand in the turn and are no cue there, with the reason."""
    text = normalize(turn.text)
    masked = mask(text, scan.mentions, scan.parts)
    layout = Layout(masked.text)
    standing = [(cue.start, cue.end, cue) for cue in scan.cues]
    found: dict[tuple[int, int, str], Tried] = {}
    for unit in compiled.possible(masked.text, text.text):
        family = unit.family
        within = text.text if family.in_mentions else masked.text
        for whole, spans in unit.hits(within):
            start, end = spans.get("cue", whole)
            if start == end:
                continue
            low, high = text.span(start, end) if family.in_mentions else masked.original(start, end)
            if any(cue.rule == family.rule and (a, b) == (low, high) for a, b, cue in standing):
                continue
            if family.speakers is not None and turn.speaker not in family.speakers:
                why, because = "speakers", ""
            elif family.is_pseudo(within, start, end):
                why, because = "pseudo", ""
            elif not family.neighbours_allow(within, start, end):
                why, because = "unless", ""
            elif not family.in_mentions and not layout.stands(start, end, family.at):
                why, because = "at", family.at
            else:
                why, because = _swallowed(low, high, standing)
            if why:
                key = (low, high, family.rule)
                found.setdefault(key, Tried(family.rule, low, high, (why,), turn.text[low:high], because))
    return tuple(found.values())


def _swallowed(low: int, high: int, standing: Sequence[tuple[int, int, Cue]]) -> tuple[str, str]:
    for start, end, cue in standing:
        if start <= low and high <= end and high - low < end - start:
            return "within a longer cue", f"{cue.kind} {cue.text!r} ({cue.rule})"
    return "", ""


def gates_tried(turn: Turn, scan: Scan, ruleset: Ruleset) -> tuple[Tried, ...]:
    """Gates whose words are in the turn and that stayed open, with the condition."""
    near = ruleset.gatekeeper.nearly(turn, scan)
    return tuple(Tried(gate.ref, 0, len(turn.text), (stopped,)) for gate, stopped in near)


def rows_tried(decision: Decision, table: Sequence[TableRow]) -> tuple[Tried, ...]:
    """Rows of the decision table that stand before the one that decided and lack a single feature of several.

    Rows for another kind of speaker are left out: what he would have caused is not near.
    """
    found: list[Tried] = []
    for row in table:
        if row.verdict.rule == decision.rule:
            break
        missing = _missing(row, decision.features)
        if len(missing) == 1 and len(row.when) >= NEAR_ROW and not missing[0].startswith("source:"):
            verdict = f"{row.verdict.action} {row.verdict.reason}"
            found.append(Tried(row.verdict.rule, decision.start, decision.end, tuple(missing), verdict=verdict))
    return tuple(found)


def _missing(row: TableRow, features: Mapping[str, str]) -> list[str]:
    return [f"{name}: {' or '.join(values)}" for name, values in row.when if features.get(name) not in values]
