"""Frames: for a mention, the label beside it, whose it is, what was done to it, and whether it stands alone."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from .labels import Lexicon, Peeled, key
from .owners import LAST_NAMED, owner, subject
from .view import Place, Segment, View

__all__ = ["LAST_NAMED", "Frame", "frame", "uncued"]

_HAN = re.compile(r"[\u3400-\u9fff]")
# Characters of a clause in which a label is looked for: farther away stands no label, and time stays linear.
LONGEST = 80
_FAR = 4 * LONGEST  # how far the mentions are looked at that may stand between a label and its value
# Words of these cues are no part of a label.
_CUED = frozenset({"correction", "repair", "confirmation", "rejection", "proposal", "adjustment"})
_DATED = frozenset({"money", "percent", "quantity", "number"})


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
    copula: bool = False
    entity: str | None = None
    inherited: bool = False
    definite: bool = False
    attribute: str | None = None
    alone: bool = False  # nothing but the value and words that point at it

    @property
    def bare(self) -> bool:
        """True when no label was said."""
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
    attribute = found.attribute or before.attribute
    if not before.label:
        return replace(found, attribute=attribute)
    return replace(
        found, label=before.label, start=before.start, end=before.end, entity=found.entity or before.entity,
        inherited=True, predicate="", attribute=attribute, alone=False,
    )  # fmt: skip


def _frame(view: View, place: Place, lex: Lexicon, skip: frozenset[int]) -> Frame:
    segment = view.segment_at(place.start)
    found = _before(view, place, segment, lex, skip)
    predicate = _after(view, place, segment, lex)
    if found.text and lex.said["listed"].fullmatch(predicate):  # "the meeting is on May 3 and May 10"
        predicate = ""
    after = _noun_after(view, place, segment, predicate, not _content(found.text, lex), lex)
    if after is not None:
        found, predicate = replace(after, act=found.act, copula=found.copula), ""
    found = _no_part(view, found, place)
    raw = view.text[max(segment.start, found.start - LONGEST) : found.end] if found.text else ""
    entity, found = owner(view, found, lex, place)
    if entity is not None:  # 房东答应把修理费…: what opens the clause stood behind its subject
        inner = lex.peel(found.text)
        found = replace(inner.shifted(found.start), act=found.act, copula=found.copula)
    attribute, found = _attribute(found, lex, place)
    inherited = False
    if not _content(found.text, lex) and not (predicate and _content(predicate, lex) and not attribute):
        light = bool(found.text) or bool(predicate)
        pointing = bool(lex.said["pointing"].match(view.text[segment.start : place.start])) and not attribute
        more = _inherit(view, place, segment, lex, skip, light and not attribute, pointing)
        if more is not None:
            act = found.act if found.act != "state" else more.act
            if not entity:
                entity, more = owner(view, more, lex, place)
            part, more = _attribute(_no_part(view, more, place), lex, place)
            attribute = attribute or part
            found = replace(more, act=act, copula=found.copula)
            inherited = bool(found.text)
    if not found.text and not predicate:
        found = _inside(view, found, lex, place)
    if entity is None and place.kind not in {"person", "organization"}:
        entity = subject(view, segment, lex)
    return Frame(
        place, segment, found.text.strip(), found.start, found.end, predicate, found.act, found.copula, entity,
        inherited, bool(lex.said["definite"].search(raw.lower())), attribute, _alone(view, place, segment, lex),
    )  # fmt: skip


def _no_part(view: View, found: Peeled, place: Place) -> Peeled:
    """早上不行，改傍晚: a part of a value is no label."""
    if found.text and any(part.text == found.text for part in view.scan.parts):
        return found.emptied(place.start)
    return found


def _inside(view: View, found: Peeled, lex: Lexicon, place: Place) -> Peeled:
    """月薪约7700元: the noun gave the value its period and names it all the same."""
    hit = lex.said["noun_inside"].match(view.text, place.start, place.end)
    if hit and (hit["noun"] in lex.money_nouns or hit["noun"][1:] in lex.money_nouns):  # 月租金
        return replace(found, text=hit["noun"], start=place.start, end=hit.end("noun"))
    return found


def _alone(view: View, place: Place, segment: Segment, lex: Lexicon) -> bool:
    if place.start - segment.start > LONGEST:
        return False
    before, after = uncued(view, segment.start, place.start), uncued(view, place.end, segment.end)
    return (
        not lex.peel(before).text
        and not lex.said["sending"].search(before)
        and not lex.said["after_trail"].sub("", after).strip()
    )


def _attribute(found: Peeled, lex: Lexicon, place: Place) -> tuple[str | None, Peeled]:
    """A word that names a part of a value ("门牌", "currency") is taken off the label."""
    if not found.text:
        return None, found
    label = key(found.text)
    if lex.attributes.get(label) == "any" and place.kind in {"phone", "email", "address"}:
        return None, found.emptied(place.start)  # "my number is …" names the whole of it
    if label in lex.attributes:
        return lex.attributes[label], found.emptied(place.start)
    for word, part in lex.attributes.items():
        if part not in {"bound", "any"} and label.endswith(word) and _HAN.search(word):
            return part, found.cut(len(found.text) - len(word))
    return None, found


def _noun_after(view: View, place: Place, segment: Segment, predicate: str, light: bool, lex: Lexicon) -> Peeled | None:
    """7700元的搬运费, "a $77 ticket": the label stands after the value."""
    rest = view.text[place.end : segment.end]
    if place.kind in {"time", "phone", "email"}:
        return None
    hit = lex.said["noun_of"].match(rest)
    if hit is None and place.kind == "quantity":  # 30台电脑和5台打印机: each count has a noun of its own
        hit = lex.said["noun_counted"].match(rest)
    if hit is None and light:
        hit = lex.said["noun_for"].match(rest)  # "we pay $77 a week for parking"
    if hit is None and not _HAN.search(predicate):
        hit = lex.said["noun_after"].match(rest)
        before = view.low[max(segment.start, place.start - LONGEST) : place.start]
        if hit and not re.search(r"\b(?:an?|the)\s*$", before):
            hit = None
    if hit is None:
        return None
    return Peeled(hit["noun"], place.end + hit.start("noun"), place.end + hit.end("noun"))


def uncued(view: View, begin: int, end: int) -> str:
    """The text with blanks in the place of words that correct, propose or answer: they are no part of a label."""
    text = view.text[begin:end]
    for cue, low, high in view.cues_in(begin, end):
        if cue.kind in _CUED:
            text = text[: low - begin] + " " * (high - low) + text[high - begin :]
        elif cue.kind == "third_party":
            text = " " * (high - begin) + text[high - begin :]  # who says so is no part of it either
    for low, high in view.aside:
        if begin < high and low < end:
            low, high = max(low, begin) - begin, min(high, end) - begin
            text = text[:low] + " " * (high - low) + text[high:]
    return text


def _all_uncued(view: View, begin: int, end: int) -> str:
    """The text with blanks in the place of every cue: empty when the clause was nothing but an opener."""
    text = view.text[begin:end]
    for _, low, high in view.cues_in(begin, end):
        text = text[: low - begin] + " " * (high - low) + text[high - begin :]
    return text


def _content(words: str, lex: Lexicon) -> bool:
    return any(word not in lex.light for word in key(words).split())


def _before(view: View, place: Place, segment: Segment, lex: Lexicon, skip: frozenset[int]) -> Peeled:
    """Label, its place and the act of the words between label and value."""
    cursor, act, copula = place.start, "state", False
    near = view.within(max(segment.start, place.start - _FAR), place.start)
    walls = [p for p in near if p.wall and p.index != place.index]
    for wall in [*reversed(walls), None]:
        begin = max(wall.end if wall is not None else segment.start, cursor - LONGEST)
        begin += 2 if wall is not None and view.low.startswith("'s ", begin) else 0  # next year's budget
        joint = lex.said["joins_on"].match(view.low, begin, cursor) if wall is not None else None
        begin = joint.end() if joint else begin  # 苹果20箱和梨30箱
        if begin <= cursor:
            found = lex.peel(_cut(uncued(view, begin, cursor), lex))
            joined = lex.said["joined"].match(found.text)
            if joined:  # a sentence of its own stands before: "the tenant is X and the fee"
                rest = lex.peel(found.text[joined.end() :])
                subject_end = joined.start("verb")
                if rest.text or not found.text[:subject_end].strip():
                    found = rest.shifted(found.start + joined.end())
                else:  # "the deposit is not refundable and is $2,000": its subject is the label of the second verb too
                    found = found.cut(len(found.text[:subject_end].rstrip()))
            act = found.act if act == "state" else act
            copula = copula or found.copula
            void = lex.void_before.search(view.low[begin:cursor].rstrip()) if wall is None else None
            if void:
                found = lex.peel(view.text[begin : begin + void.start()])
            if found.text and not lex.void_after.match(found.text.lower()):
                return replace(found.shifted(begin), act=act, copula=copula)
        dates = wall is not None and wall.kind == "time" and place.kind in _DATED and copula
        if wall is None or (wall.index not in skip and not dates):  # "the rent in 2027 is $5,000": the year is no wall
            break
        cursor = wall.start
    return Peeled("", place.start, place.start, act, copula)


def _cut(region: str, lex: Lexicon) -> str:
    """Chinese 按 introduces a basis, not the label: 提成按毛利的7%算 is a commission."""
    subject_of = lex.said["subject_of"].match(region)
    if subject_of:  # 罚款为年费的7%: what stands after the verb is the basis
        return subject_of.group("subject")
    for hit in lex.said["according"].finditer(region):
        if _HAN.search(region[: hit.start()]):
            return region[: hit.start()]
        if hit.start():
            break
    return region


def _after(view: View, place: Place, segment: Segment, lex: Lexicon) -> str:
    """Words after the value up to the next value or the end of the clause."""
    last = min(segment.end, place.end + _FAR)
    walls = [p.start for p in view.within(place.end, last) if p.wall]
    text = lex.said["after_trail"].sub("", uncued(view, place.end, min([last, *walls])))
    if walls:  # 20张桌子和40把椅子: what joins the next value is no part of the noun
        text = lex.said["after_join"].sub("", text)
    return lex.said["after_lead"].sub("", text.strip()).strip()


def _inherit(
    view: View, place: Place, segment: Segment, lex: Lexicon, skip: frozenset[int], light: bool, pointing: bool
) -> Peeled | None:
    """The label of what the sentence was about before this clause; ``pointing``: the clause says "it's" of it."""
    for earlier in reversed(view.segments[: segment.index]):
        if earlier.sentence != segment.sentence:
            return None
        inside = [p for p in view.within(earlier.start, earlier.end) if p.wall]
        live = [p for p in inside if p.index not in skip]
        dated = segment.mark == ":" and place.kind in _DATED and live and all(p.kind == "time" for p in live)
        if dated:  # "Q2 budget: $77": what stands behind the quarter
            found = lex.peel(uncued(view, max(live[-1].end, earlier.end - LONGEST), earlier.end))
            return found.shifted(max(live[-1].end, earlier.end - LONGEST)) if _content(found.text, lex) else None
        if live and not light:
            return None
        if live and live[-1].kind == place.kind:
            return None  # "file by May 7, and serve by May 9": another of its kind has a label of its own
        if live:
            found = _before(view, live[0], earlier, lex, skip)
            return replace(found, act="state") if _content(found.text, lex) else None
        stop = inside[0].start if inside else earlier.end
        floor = max(earlier.start, stop - LONGEST)
        text = uncued(view, floor, stop)
        alone = not view.text[segment.start : place.start].strip()
        offered = alone and any(cue.kind == "proposal" and earlier.start <= low < stop for cue, low, _ in view.cues)
        corrected = any(
            (cue.kind in {"correction", "change"} and earlier.start <= low < stop)
            or (cue.kind == "repair" and earlier.start <= low and end == earlier.end)  # 租金错了，是5500元
            for cue, low, end in view.cues
        )
        if _HAN.search(text):  # "写反了两位": what stands after the word of correction is the slip, no label
            slips = [low for cue, low, _ in view.cues if cue.kind == "correction" and earlier.start <= low < stop]
            text = text[: max(0, min(slips) - floor)] if slips else text
        act = "state"
        moved = lex.said["moved"].search(text.rstrip())
        if moved:
            text, act = text[: moved.start()], "change"
        void = lex.void_after.search(text.lower())  # "I had the floor wrong: …"
        if void:
            act = lex.void_after_acts.get(void.group(), "correct")
            text = text[: void.start()]
        found = lex.peel(text)
        opener = not void and not lex.peel(_all_uncued(view, floor, stop)).text
        if not _content(found.text, lex) or opener:
            continue
        if void or moved or corrected or inside or pointing or offered or segment.mark == ":":
            return replace(found.shifted(floor), act=act)
        if not light:
            return None  # another matter was mentioned in between
    return None
