"""What is no whole value: parts (only the currency, only the floor), answers, and withdrawals that name a label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..extractors.assertion import assertion_of
from ..model import Act, Assertion, Candidate, Part, Patch, Span
from .book import Book
from .frames import uncued
from .labels import key
from .view import Segment, View

# Parts that may replace a piece of a value, and the kinds of value that have such a piece.
ALIASES = {"currency_word": "currency", "domain": "mail_domain", "day": "day_of_month"}
PATCHES: dict[str, tuple[str, ...]] = {
    "currency": ("money",),
    "unit": ("quantity",),
    "year": ("time",), "month": ("time",), "day_of_month": ("time",), "day": ("time",), "weekday": ("time",),
    "clock": ("time",), "part_of_day": ("time",), "daypart": ("time",), "hour": ("time",),
    "floor": ("address",), "room": ("address",), "house_number": ("address",), "unit_number": ("address",),
    "mail_domain": ("email",), "domain": ("email",),
    "digits": ("phone", "identifier"),
}  # fmt: skip


def fragments(seen: View, book: Book, found: Sequence[Candidate], used: frozenset[int]) -> Iterator[Candidate]:
    """Partial candidates of a turn, beside those that were found already."""
    yield from _parts(seen, book, found)
    yield from _unchanged(seen, book, found)
    if seen.turn.speaker == "assistant" and not found:
        yield from _asked(seen, book)
    yield from _withdrawals(seen, book, found, used)
    if not found:
        yield from _answers(seen, book)


def _parts(seen: View, book: Book, found: Sequence[Candidate]) -> Iterator[Candidate]:
    """A part counts where the sentence corrects or changes something; the one taken back is the old one."""
    by_type: dict[str, list[Part]] = {}
    for part in (*seen.scan.parts, *_units(seen, book)):
        kind = ALIASES.get(part.type, part.type)
        if kind in PATCHES and not _inside(seen, part, found):
            by_type.setdefault(kind, []).append(part)
    for kind in sorted(by_type):
        group = sorted(by_type[kind], key=lambda p: (p.start, p.end))
        new = [p for p in group if not _old_part(seen, book, p)]
        old = [p for p in group if p not in new]
        new = [p for p in new if _alone(seen, book, p)]
        if not new:
            continue
        part = new[-1]
        act = _part_act(seen, book, part, old)
        if act is None:
            continue
        low = min([part.start, *(p.start for p in old)])
        yield Candidate(
            act=act, form="part", kind=PATCHES[kind][0],
            patch=Patch(part=kind, value=part.value, old=old[-1].value if old else None),
            assertion=assertion_of(seen.scan, Span(start=part.start, end=part.end)),
            start=part.start, end=part.end, surface=seen.turn.text[low : part.end],
            evidence=tuple(sorted({(p.start, p.end) for p in (*old, part)})), rule=part.rule,
            language="zh" if seen.scan.lang == "zh" else "en",
        )  # fmt: skip


def _units(seen: View, book: Book) -> Iterator[Part]:
    """ "Unit 14, not Unit 4": the unit of an address that is said without the rest of it."""
    for hit in book.lex.said["unit_said"].finditer(seen.low):
        low, high = seen.original(*hit.span())
        yield Part(
            type="unit_number", start=low, end=high, text=seen.turn.text[low:high], value=hit["number"],
            rule="patterns.talk.unit_said",
        )  # fmt: skip


def _alone(seen: View, book: Book, part: Part) -> bool:
    """Nothing else is said beside the part but words that point at a value or take one back."""
    start, end = seen.norm.inside(part.start, part.end)
    segment = seen.segment_at(start)
    label = book.lex.peel(uncued(seen, segment.start, start)).text
    for other in seen.scan.parts:
        label = label.replace(other.text, "")
    known = not label or key(label) in book.lex.attributes
    known = known or any(words.fullmatch(label.lower()) for words in book.slot_words.values())
    after = book.lex.said["part_filler"].sub("", seen.low[end : segment.end])
    return known and len(after) <= 1


def _inside(seen: View, part: Part, found: Sequence[Candidate]) -> bool:
    if any(m.start <= part.start and part.end <= m.end for m in seen.scan.mentions):
        return True
    return any(low <= part.start and part.end <= high for c in found for low, high in c.evidence)


def _old_part(seen: View, book: Book, part: Part) -> bool:
    start, end = seen.norm.inside(part.start, part.end)
    segment = seen.segment_at(start)
    before = seen.low[segment.start : start].rstrip()
    after = seen.low[end : min(segment.end, end + 10)]
    if book.lex.void_after.match(after.lstrip()):
        return True
    if book.lex.said["part_old_before"].search(before):
        return True
    return bool(book.lex.said["part_old_after"].match(after))


def _part_act(seen: View, book: Book, part: Part, old: list[Part]) -> Act | None:
    start, _ = seen.norm.inside(part.start, part.end)
    segment = seen.segment_at(start)
    low, high = seen.sentence_span(segment.sentence)
    kinds = {cue.kind for cue, begin, _ in seen.cues if low <= begin <= high}
    if old:
        return "correct" if not {"change"} & kinds or "correction" in kinds else "change"
    if kinds & {"correction", "repair"}:
        return "correct"
    if "change" in kinds:
        return "change"
    act = book.lex.peel(seen.text[segment.start : start]).act
    if act == "correct":
        return "correct"
    return "change" if act == "change" else None


def _withdrawals(seen: View, book: Book, found: Sequence[Candidate], used: frozenset[int]) -> Iterator[Candidate]:
    """ "Forget about the parking fee": the label is in the words, bind looks for it among what is live."""
    for cue, start, _ in seen.cues:
        if cue.kind not in {"withdrawal", "ending"}:
            continue
        if any(index in used for index in cue.covers):
            continue
        segment = seen.segment_at(start)
        low, high = seen.original(segment.start, segment.end)
        if any(low <= c.start < high for c in found):
            continue
        named = book.lex.peel(seen.text[segment.start : segment.end].replace(cue.text, "")).text
        begin, end = seen.original(*seen.sentence_span(segment.sentence))
        if not named and any(c.value is not None and begin <= c.start < end for c in found):
            continue  # "I changed my mind, make it 60,000": what follows takes its place
        yield _whole(seen, segment, "retract" if cue.kind == "withdrawal" else "end", cue.rule, (cue.start, cue.end))
        return


def _unchanged(seen: View, book: Book, found: Sequence[Candidate]) -> Iterator[Candidate]:
    """年费照旧, "the fee stays as it is": said again, without its value."""
    for segment in seen.segments:
        text = seen.low[segment.start : segment.end]
        text = book.lex.said["particles_end"].sub("", text)
        hit = book.unchanged.search(text)
        low, high = seen.original(segment.start, segment.end)
        if hit is None or any(low <= c.start < high for c in found) or seen.within(segment.start, segment.end):
            continue
        if book.lex.peel(text[: hit.start()]).text:
            whole = _whole(seen, segment, "confirm", "law.unchanged@1", (low, high))
            yield whole.model_copy(update={"assertion": Assertion()})  # 不变 denies the change, not the value


def _asked(seen: View, book: Book) -> Iterator[Candidate]:
    """The agent asks for a value ("What is the budget?"): the next turn may answer with nothing else."""
    for segment in seen.segments:
        text = seen.low[segment.start : segment.end]
        marked = seen.text[segment.end : segment.end + 1] in {"?", "？"} or book.lex.said["asks"].search(text)
        if not marked or len(text) > 80:
            continue
        hits = [
            (hit.end() - hit.start(), name, hit)
            for name, words in sorted(book.slot_words.items())
            for hit in words.finditer(text)
        ]
        if not hits:
            named = _asked_noun(book, text)
            if named is not None:
                whole = _whole(seen, segment, "propose", "law.asked@1", seen.original(segment.start, segment.end))
                yield whole.model_copy(update={"slot": named[0], "qualifier": named[1]})
                return
            continue
        _, slot, hit = max(hits, key=lambda found: found[0])
        label = text if slot in book.label_words else book.lex.said["asks"].sub(" ", text[: hit.end()])
        label = book.lex.peel(label).text
        whole = _whole(seen, segment, "propose", "law.asked@1", seen.original(segment.start, segment.end))
        yield whole.model_copy(update={"slot": slot, "qualifier": book.qualifier(slot, label)})
        return


def _asked_noun(book: Book, text: str) -> tuple[str, str] | None:
    """Slot and label that a question names by a word that triggers a rule: "What is the final payment?"."""
    label = book.lex.peel(book.lex.said["asks"].sub(" ", text)).text.strip()
    for binders in book.by_kind.values():
        for rule in binders.possible(label.lower()):
            place = rule.file.trigger.place if rule.file.trigger is not None else ""
            if rule.trigger is not None and place == "label_end" and rule.trigger.search(label.lower()):
                return rule.file.slot, book.qualifier(rule.file.slot, label)
    return None


def _answers(seen: View, book: Book) -> Iterator[Candidate]:
    """Yes, no, leave it: only bind knows whether something awaits an answer."""
    for cue, start, _ in seen.cues:
        if cue.kind in {"confirmation", "rejection"}:
            segment = seen.segment_at(start)
            act: Act = "confirm" if cue.kind == "confirmation" else "reject"
            yield _whole(seen, segment, act, cue.rule, (cue.start, cue.end), form="answer")
            return
    low = seen.low
    hit = book.answers_no.match(low.strip())
    if hit and hit.end() >= len(low.strip(" 。.!！,，")) - 2 and seen.segments:
        yield _whole(seen, seen.segments[0], "reject", "law.answer@1", (0, len(seen.turn.text)), form="answer")


def _whole(
    seen: View, segment: Segment, act: Act, rule: str, evidence: tuple[int, int], form: str = "bare"
) -> Candidate:
    low, high = seen.original(segment.start, segment.end)
    return Candidate.model_validate({
        "act": act, "form": form, "start": low, "end": high, "surface": seen.turn.text[low:high],
        "evidence": (evidence,), "rule": rule, "language": seen.scan.lang,
        "assertion": assertion_of(seen.scan, Span(start=low, end=high)),
    })  # fmt: skip
