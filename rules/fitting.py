"""Whether a capture rule takes a mention, and if not, which of its conditions stopped it."""

from __future__ import annotations

from collections.abc import Iterator

from ..values import Value
from .book import Book, Rule
from .frames import LONGEST, Frame
from .labels import Lexicon, is_han, key, tokens
from .parts import part_of
from .view import Place, View


def fits(rule: Rule, seen: View, book: Book, place: Place, around: Frame) -> bool:
    """True when every condition of the rule holds for a mention and what stands around it."""
    return next(misfits(rule, seen, book, place, around), None) is None


def misfits(rule: Rule, seen: View, book: Book, place: Place, around: Frame) -> Iterator[str]:
    """Every condition that does not hold, named as the rule file names it; cheap ones first."""
    file = rule.file
    condition = file.condition()
    if condition is None or place.kind not in condition.kind:
        yield "when.value.kind"
        return  # the others ask about a value of that kind
    if file.language != "any" and file.language != seen.scan.lang:
        yield "language"
    value = place.mention.value
    if condition.type and getattr(value, "type", None) not in condition.type:
        yield "when.value.type"
    if condition.bound and getattr(value, "bound", "=") not in condition.bound:
        yield "when.value.bound"
    if condition.open_end and not _open_ended(value):
        yield "when.value.open_end"
    if condition.copula and not around.copula and around.act == "state":
        yield "when.value.copula"
    if place.kind == "quantity" and not around.predicate and len(around.label) == 1:
        yield "a label of one character"  # 分两期: one character is no label
    of = book.lex.said["of"].match(seen.text[place.end :]) is not None and not around.copula
    segment = around.segment
    day = place.kind == "time" and "T" not in str(getattr(value, "edtf", None) or "")
    if day and book.lex.said["farewell"].search(seen.low[segment.start : segment.end].strip()):
        yield "a farewell"  # "have a great weekend", 明天见
    if place.kind == "time" and of and any(p.wall for p in seen.within(place.end, segment.end)):
        yield "the time belongs to a noun"  # 前年的年费
    if place.kind == "time" and not around.label and _period_of_amount(seen, book.lex, place, around):
        yield "one period of a row of amounts"
    if condition.label_words is not None and len(key(around.label).split()) > condition.label_words:
        yield "when.value.label_words"
    if file.take.part != "whole" and part_of(value, file.take.part) is None:
        yield "take.part"
    clock = file.take.part == "whole" and str(getattr(value, "edtf", None) or "").startswith("T")
    if clock and rule.trigger is None and not around.copula and around.act == "state":
        yield "a clock without a day"  # "wake me at seven", and nothing that states it, is an errand
    if condition.labelled is not None and condition.labelled == around.bare:
        yield "when.value.labelled"
    yield from unsaid(rule, seen, segment.sentence, segment.start, segment.end)
    shapes = file.take.shape
    if shapes and not book.shapes.fits(seen, shapes, place.start, place.start, place.end):
        yield "take.shape"
    if rule.not_before and rule.not_before.match(seen.low[place.end : segment.end].lstrip()):
        yield "when.value.not_before"
    if rule.trigger is not None and not _triggered(rule, seen, place, around, condition.within):
        yield "trigger"


def _period_of_amount(seen: View, lex: Lexicon, place: Place, around: Frame) -> bool:
    """True for the years, quarters or months of a row of amounts: 2026年预算300万，2027年350万.

    They are no dates of one thing that would replace each other; a period that stands alone is kept as a date.
    """
    near = seen.within(max(0, place.start - 2 * LONGEST), place.end + 2 * LONGEST)
    if not _coarse(place) or not any(_coarse(other) for other in near if other.index != place.index):
        return False
    stop = around.segment.end
    stop += 2 if seen.text.startswith(":", stop) else 0  # "Q2 budget: $40,000"
    behind = seen.within(place.end, min(stop, place.end + LONGEST) + LONGEST)
    amount = next((p for p in behind if p.start <= stop and p.kind in _AMOUNTS), None)
    if amount is None:
        return False
    between = seen.low[place.end : amount.start]
    nouns = set(tokens(between)) & lex.money_nouns
    return not between.strip() or bool(nouns) or any(n in between for n in lex.money_nouns if is_han(n))


def _coarse(place: Place) -> bool:
    return getattr(place.mention.value, "grain", None) in {"year", "quarter", "month"}


_AMOUNTS = frozenset({"money", "number", "percent"})


def unsaid(rule: Rule, seen: View, sentence: int, start: int, end: int) -> Iterator[str]:
    """What the turn, the sentence and the clause between two characters lack, or have and must not."""
    if rule.no_words and rule.no_words.search(seen.low, start, end):
        yield "when.no_words"
    if rule.words and not rule.words.search(seen.low, start, end):
        yield "when.words"
    cues = seen.cue_kinds(sentence)
    for each in rule.file.when:
        if each.speaker and seen.turn.speaker not in each.speaker:
            yield "when.speaker"
        if each.cue and not cues & set(each.cue):
            yield "when.cue"
        if cues & set(each.no_cue):
            yield "when.no_cue"


def _triggered(rule: Rule, seen: View, place: Place, around: Frame, within: int) -> bool:
    assert rule.trigger is not None
    assert rule.file.trigger is not None
    where = rule.file.trigger.place
    if where == "label":
        if rule.trigger.search(around.label.lower()):
            return True
        # Peeling may take a word off (最后一天), the value may swallow one (罚款上限7万元): look there too.
        walls = [p.end for p in seen.within(around.segment.start, place.start) if p.wall]
        raw = seen.low[max([around.segment.start, place.start - within, *walls]) : place.end]
        return not around.inherited and rule.trigger.search(raw) is not None
    if where == "label_end":
        return rule.trigger.search(around.label.lower()) is not None
    if where == "predicate":
        return rule.trigger.search(around.predicate.lower()) is not None
    if where == "around":
        # The raw clause side before the value too: peeling takes off words like "due on".
        walls = [p.end for p in seen.within(around.segment.start, place.start) if p.wall or p.kind == "number"]
        own = walls if around.label and not around.inherited else []  # "the budget is X and the fee is Y"
        raw = seen.low[max([around.segment.start, place.start - within, *own]) : place.start]
        return any(rule.trigger.search(part) for part in (around.label.lower(), around.predicate.lower(), raw))
    if where == "clause":
        return rule.trigger.search(seen.low, around.segment.start, around.segment.end) is not None
    low, high = seen.sentence_span(around.segment.sentence)
    return rule.trigger.search(seen.low, low, high) is not None


def _open_ended(value: Value) -> bool:
    edtf = getattr(value, "edtf", None) or ""
    return edtf.startswith("../") or edtf.endswith("/..") or getattr(value, "bound", "=") != "="
