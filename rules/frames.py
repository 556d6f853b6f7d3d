"""Frames: for a mention, the label beside it, whose it is, what was done to it, and whether it stands alone."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from .labels import Lexicon, key
from .view import BARRIERS, Place, Segment, View

_HAN = re.compile(r"[\u3400-\u9fff]")
_AFTER_LEAD = re.compile(
    r"^(?:[\s,]*(?:我们|我方|我|把|将|要|须|必须|就|再|会|由我|给我|之前|以前|前|后|的时候|i|we|to|for|is|are|will)(?![a-z]))+"
)
_AFTER_TRAIL = re.compile(
    r"(?:了|吧|啊|呢|的|哦|哈|啦|呗|左右|即可|就行|为止|please|instead|too|now|[\s,;:.!?。])+$", re.IGNORECASE
)
_OF = re.compile(r"^\s*的(?P<noun>[^,;。]{1,16})$")
_NOUN_AFTER = re.compile(
    r"^\s+(?P<noun>[a-z][a-z -]{2,24}?)(?=\[|$|\s(?:for|from|in|on|at|by|with|and|to|of)\b)", re.IGNORECASE
)
_JOINED = re.compile(r"^.*\b(?:is|are|was|were|has|have)\b.*\band\b", re.IGNORECASE)
_CUED = frozenset({"correction", "repair", "confirmation", "rejection", "proposal", "question"})
_ACCORDING = re.compile(r"(?<=.)(?:按照|按|以|照)")
_SMALL = re.compile(r"^(?:了|吧|啊|呢|[\s,])*")
LAST_NAMED = "@last"  # a pronoun: bind puts the entity named last in its place


@dataclass(frozen=True)
class Frame:
    """What stands around one mention."""

    place: Place
    segment: Segment
    label: str = ""  # as said
    start: int = 0
    end: int = 0
    predicate: str = ""
    act: str = "state"
    entity: str | None = None
    inherited: bool = False
    definite: bool = False
    attribute: str | None = None

    @property
    def bare(self) -> bool:
        """True when nothing but the value (and words that ask for no label) was said."""
        return not self.label and not self.predicate

    @property
    def words(self) -> str:
        """Label and predicate together, for values that stand before their noun."""
        return f"{self.label} {self.predicate}".strip()


def frame(view: View, place: Place, lex: Lexicon, skip: frozenset[int], old: Place | None = None) -> Frame:
    """The frame of one mention; ``skip`` are mentions that were taken back and do not bound its label.

    With no label of its own, the one of the mention it replaces (``old``) counts.
    """
    found = _frame(view, place, lex, skip)
    if found.label or old is None or old.start > place.start:
        return found
    before = _frame(view, old, lex, skip - {old.index})
    if not before.label:
        return found
    return replace(
        found, label=before.label, start=before.start, end=before.end, entity=found.entity or before.entity,
        inherited=True, predicate="",
    )  # fmt: skip


def _frame(view: View, place: Place, lex: Lexicon, skip: frozenset[int]) -> Frame:
    segment = view.segment_at(place.start)
    found = _before(view, place, segment, lex, skip)
    predicate = _after(view, place, segment, skip)
    label, start, end, act = found
    noun = _OF.match(view.text[place.end : segment.end])
    if noun and place.kind not in {"time", "phone", "email"}:
        label, start, end, predicate = noun["noun"], place.end + noun.start("noun"), place.end + noun.end("noun"), ""
    elif not _HAN.search(predicate) and place.kind != "time":
        after = _NOUN_AFTER.match(view.text[place.end : segment.end])
        if after and re.search(r"\b(?:an?|the)\s*$", view.low[segment.start : place.start]):
            label, start, end = after["noun"], place.end + after.start("noun"), place.end + after.end("noun")
            predicate = ""
    attribute = lex.attributes.get(key(label)) if label else None
    raw = view.text[segment.start : end] if label else ""
    entity, label, start = _owner(view, label, start, end, lex, place)
    inherited = False
    if attribute or not _content(label, lex):
        light = bool(label) and not attribute
        if light or (predicate and not _content(predicate, lex)) or not predicate:
            more = _inherit(view, place, segment, lex, skip, light or bool(predicate))
            if more is not None:
                label, start, end, more_act = more
                act = more_act if act == "state" else act
                inherited = bool(label)
                if not entity:
                    entity, label, start = _owner(view, label, start, end, lex, place)
                attribute = attribute or (lex.attributes.get(key(label)) if label else None)
        if attribute and lex.attributes.get(key(label)):
            label, start, end = "", place.start, place.start
    definite = bool(re.search(r"(?:\b(?:the|that|this)\s|那个|这个|那笔|这笔|该)\s*(?:\S+\s*){0,3}$", raw.lower()))
    return Frame(place, segment, label.strip(), start, end, predicate, act, entity, inherited, definite, attribute)


def uncued(view: View, begin: int, end: int) -> str:
    """The text with blanks in the place of words that correct, ask or answer: they are no part of a label."""
    text = view.text[begin:end]
    for cue, low, high in view.cues:
        if cue.kind in _CUED and begin <= low and high <= end:
            text = text[: low - begin] + " " * (high - low) + text[high - begin :]
    return text


def _content(words: str, lex: Lexicon) -> bool:
    return any(word not in lex.light for word in key(words).split())


def _before(
    view: View, place: Place, segment: Segment, lex: Lexicon, skip: frozenset[int]
) -> tuple[str, int, int, str]:
    """Label, its place and the act of the words between label and value."""
    cursor, act = place.start, "state"
    walls = [p for p in view.within(segment.start, place.start) if p.kind in BARRIERS and p.index != place.index]
    for wall in [*reversed(walls), None]:
        begin = wall.end if wall is not None else segment.start
        if begin <= cursor:
            label, low, high, found = lex.peel(_cut(uncued(view, begin, cursor)))
            joined = _JOINED.match(label)
            if joined:  # a sentence of its own stands before: "the beneficiary is X and the amount"
                label, more, high, _ = lex.peel(label[joined.end() :])
                low, high = low + joined.end() + more, low + joined.end() + high
            act = found if act == "state" else act
            void = lex.void_before.search(view.low[begin:cursor].rstrip()) if wall is None else None
            if void and void.group() in {"从", "由", "from", "不是"}:
                label, low, high, _ = lex.peel(view.text[begin : begin + void.start()])
            void = lex.void_after.match(label.lower()) if label else None
            if label and not void:
                return label, begin + low, begin + high, act
        if wall is None or wall.index not in skip:
            break
        cursor = wall.start
    return "", place.start, place.start, act


def _cut(region: str) -> str:
    """Chinese 按 introduces a basis, not the label: 许可费按净销售额的 6% is a licence fee."""
    hit = _ACCORDING.search(region)
    if hit and _HAN.search(region[: hit.start()]):
        return region[: hit.start()]
    return region


def _after(view: View, place: Place, segment: Segment, skip: frozenset[int]) -> str:
    """Words after the value up to the next value or the end of the clause."""
    walls = [p.start for p in view.within(place.end, segment.end) if p.kind in BARRIERS]
    end = min([segment.end, *walls])
    text = view.text[place.end : end]
    text = _AFTER_TRAIL.sub("", text)
    text = _AFTER_LEAD.sub("", text.lower().strip() and text.strip())
    return text.strip()


def _inherit(
    view: View, place: Place, segment: Segment, lex: Lexicon, skip: frozenset[int], light: bool
) -> tuple[str, int, int, str] | None:
    """The label of what the sentence was about before this clause."""
    act = "state"
    for earlier in reversed(view.segments[: segment.index]):
        if earlier.sentence != segment.sentence and not (segment.mark.startswith(".") and len(segment.mark) > 1):
            break
        inside = [p for p in view.within(earlier.start, earlier.end) if p.kind in BARRIERS]
        live = [p for p in inside if p.index not in skip]
        if live and not light:
            return None
        if live:
            label, low, high, _ = _before(view, live[0], earlier, lex, skip)
            return (label, low, high, act) if label and _content(label, lex) else None
        stop = inside[0].start if inside else earlier.end
        text = uncued(view, earlier.start, stop)
        corrected = any(
            cue.kind in {"correction", "change"} and earlier.start <= low < stop for cue, low, _ in view.cues
        )
        tail = re.search(r"(?:都|就|也|又)?(?:改了|变了|改一下|换了|要改|有变|相应调整)$", text.rstrip())
        if tail:
            text, act = text[: tail.start()], "change"
        void = lex.void_after.search(text.lower())
        if void:
            act = lex.void_after_acts.get(void.group(), "correct")
            text = text[: void.start()]
        label, low, high, _ = lex.peel(text)
        if label and _content(label, lex) and (void or tail or corrected or inside or segment.mark in {":", "："}):
            return label, earlier.start + low, earlier.start + high, act
        if label and not light and not void and not tail:
            return None  # another matter was mentioned in between
    return None


def _owner(view: View, label: str, start: int, end: int, lex: Lexicon, place: Place) -> tuple[str | None, str, int]:
    """(entity, label without it, its new start): kin, counterpart, pronoun, a person or a company before 的 or 's."""
    low = label.lower()
    before = view.low[max(0, start - 6) : start].rstrip()
    hit = lex.others.match(low)
    if (hit and _HAN.match(hit.group())) or (hit and re.match(r"['s\s]|$", low[hit.end() :])):
        return _rest(label, start, hit.group(), hit.end())
    hit = lex.pronouns.match(low)
    if hit:
        _, rest, at = _rest(label, start, "", hit.end())
        return LAST_NAMED, rest, at
    if re.search(r"(?:我的?|我们的?|咱|my|our)$", before):
        hit = lex.kin.match(low)
        if hit and (_HAN.match(hit.group()) or re.match(r"(?:'s|\s|$)", low[hit.end() :])):
            return _rest(label, start, label[: hit.end()], hit.end())
    for name in view.places:
        if name.kind in {"person", "organization"} and name.start == start and name.end <= end:
            rest = view.text[name.end : end]
            if re.match(r"\s*(?:的|'s)", rest) or (rest and name.mention.text != label):
                return _rest(label, start, name.mention.text, name.end - start)
    hit = re.match(r"(?P<name>[A-Z][\w&.-]*(?:\s[A-Z][\w&.-]*){0,3})'s\s+", label)
    if hit:
        return _rest(label, start, hit["name"], hit.end("name"))
    if place.kind == "quantity" and re.fullmatch(r"[A-Z][\w&.-]*(?:\s[A-Z][\w&.-]+)+", label):
        return label, "", end
    if place.kind in {"phone", "email", "address"}:
        hit = re.match(r"(?P<name>[^的]{2,12})的(?P<rest>.+)$", label)
        if hit and lex.concept(key(hit["name"])) == key(hit["name"]):
            return _rest(label, start, hit["name"], hit.end("name"))
    return None, label, start


def _rest(label: str, start: int, entity: str, cut: int) -> tuple[str | None, str, int]:
    rest = label[cut:]
    trimmed = re.sub(r"^(?:\s*(?:'s|的|方的|方))?\s*", "", rest)
    return entity or None, trimmed, start + len(label) - len(trimmed)
