"""Whose a value is: kin, a counterpart, a pronoun, a person or a company before 的 or 's, the subject of the clause."""

from __future__ import annotations

import re
from dataclasses import replace

from .labels import Lexicon, Peeled, key
from .view import Place, Segment, View

_HAN = re.compile(r"[\u3400-\u9fff]")
_NAMED = frozenset({"person", "organization"})
LAST_NAMED = "@last"  # a pronoun: bind puts the entity named last in its place
_NAME = r"[A-Z][\w&.-]*(?:\s[A-Z][\w&.-]*){0,3}"
_OWNED = re.compile(rf"(?P<name>{_NAME})'s\s+")


def owner(view: View, found: Peeled, lex: Lexicon, place: Place) -> tuple[str | None, Peeled]:
    """(entity, label without it); the entity is None when it is the principal."""
    label, start, end = found.text, found.start, found.end
    low = label.lower()
    before = view.low[max(0, start - 6) : start].rstrip()
    renamed = lex.said["renamed"].match(label)
    if renamed:  # 海澄科技(原名海蓝科技)的电话
        return renamed["name"].strip(), _rest(lex, found, renamed.end())
    hit = lex.others.match(low)
    if hit and (_HAN.match(hit.group()) or re.match(r"['s\s]|$", low[hit.end() :])):
        named = next(
            (p for p in view.within(start, end) if _NAMED & {p.kind} and _after_kin(view, p, hit, start)), None
        )
        if named is not None and named.end < end:  # "our client NAME has a budget of …"
            return named.mention.text, _rest(lex, found, named.end - start)
        return hit.group(), _rest(lex, found, hit.end())
    hit = lex.pronouns.match(low)
    if hit:
        return LAST_NAMED, _rest(lex, found, hit.end())
    if lex.said["mine_before"].search(before):
        hit = lex.kin.match(low)
        if hit and hit.end() == len(low) and place.kind in {"person", "organization"}:
            return None, found  # "my driver is NAME" names the driver
        named = next((p for p in view.places if p.kind in _NAMED and _after_kin(view, p, hit, start)), None)
        if named is not None and hit is not None and named.end <= end:  # "my aunt NAME can be called on"
            return named.mention.text, _rest(lex, found, named.end - start)
        if hit and (_HAN.match(hit.group()) or re.match(r"(?:'s|\s|$)", low[hit.end() :])):
            return label[: hit.end()], _rest(lex, found, hit.end())
    for name in view.within(start, end):
        if name.kind in {"person", "organization"} and name.start == start:
            rest = view.text[name.end : end]
            joint = lex.joins.match(rest.lower().lstrip())
            if joint:  # "I'm NAME and my number is …"
                cut = name.end - start + len(rest) - len(rest.lstrip()) + joint.end()
                inner = lex.peel(found.text[cut:])
                return None, replace(inner.shifted(start + cut), act=found.act, copula=found.copula)
            words = [w for w in key(rest).split() if w not in lex.light]
            if lex.said["possessive"].match(rest) or words:
                return name.mention.text, _rest(lex, found, name.end - start)
    owned = _OWNED.match(label)
    if owned:
        return owned["name"], _rest(lex, found, owned.end("name"))
    if place.kind == "quantity" and re.fullmatch(r"[A-Z][\w&.-]*(?:\s[A-Z][\w&.-]+)+", label):
        return label, found.emptied(end)
    if place.kind in {"phone", "email", "address"}:
        owned = lex.said["owner_of"].match(label)
        if owned and lex.concept(key(owned["name"])) == key(owned["name"]):
            return owned["name"], _rest(lex, found, owned.end("name"))
    return None, found


def _after_kin(view: View, place: Place, kin: re.Match[str] | None, start: int) -> bool:
    """True for a person named right behind what they are to the speaker."""
    return (
        kin is not None and place.start >= start + kin.end() and not view.low[start + kin.end() : place.start].strip()
    )


def _rest(lex: Lexicon, found: Peeled, cut: int) -> Peeled:
    rest = found.text[cut:]
    trimmed = lex.said["owner_end"].sub("", rest)
    return found.dropped(len(found.text) - len(trimmed))


def subject(view: View, segment: Segment, lex: Lexicon) -> str | None:
    """The subject of a clause when it is somebody else: "my aunt lives at …", 我舅舅在…."""
    text = view.text[segment.start : min(segment.end, segment.start + 80)].strip()
    mine = lex.said["subject_kin"].match(text.lower())
    if mine:
        rest = text[mine.end() :]
        kin = lex.kin.match(rest.lower())
        if kin and (_HAN.match(kin.group()) or re.match(r"\s", rest[kin.end() :])):
            after = rest[kin.end() :]
            named = lex.said["apposition"].match(after)
            if named:
                return named["name"] or named["zh"]
            if lex.said["priced_noun"].match(after.lower()):
                return None
            return rest[: kin.end()]
    other = re.match(r"(?:the\s+)?", text, re.IGNORECASE)
    at = other.end() if other else 0
    for pattern in (lex.others, lex.kin):
        role = pattern.match(text.lower(), at)
        verb_s = re.match(r"\s+[a-z]+s\b", text.lower()[role.end() :]) if role else None
        if role and verb_s and not lex.said["being"].match(text.lower()[role.end() + verb_s.end() :]):
            return text[at : role.end()].lower()  # "tenant wants a lower rent"
    verb = lex.said["subject_verb"].match(text)
    if verb is None or lex.said["put_off"].match(text[verb.end() :]):  # "Closing moved to May 3" moves a date
        return None
    return None if lex.said["none_named"].fullmatch(verb["name"].lower()) else verb["name"]


def spoken_of(view: View, segment: Segment, lex: Lexicon) -> str | None:
    """Somebody else that the sentence is about, for a clause without a subject: 我舅舅在厂里上班，住在县城."""
    if lex.own.search(view.low, segment.start, segment.end):
        return None
    for earlier in reversed(view.segments[: segment.index]):
        if earlier.sentence != segment.sentence or (found := subject(view, earlier, lex)) is not None:
            return found if earlier.sentence == segment.sentence else None
        if lex.own.search(view.low, earlier.start, earlier.end):
            return None
    return None
