"""English people and organisations: capitalised names beside a label, a title or a legal form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...model import Hint
from .. import token_rules
from ..parsing.chart import Edge
from ..recognizer import Lookup
from ..words import Words, alternatives, lazy
from .found import outside_each_other

VOCABULARIES = (
    "words.person.en", "words.person.not.en", "words.organization.en", "patterns.names.en", "words.person.possessed.zh",
)  # fmt: skip
_WORD = r"[A-ZÀ-Þ][A-Za-zÀ-ɏ'’\-]*[A-Za-zÀ-ɏ]|[A-Z]\.?"  # Latin letters: Joan Dole|的
_GAP = re.compile(r"[ :]{1,2}|")
_NAME_WORD = re.compile(rf"({_WORD})|([a-z]{{2,3}}) (?=[A-Z])")
_NAME_BEFORE = re.compile(rf"(?:(?:{_WORD}) ){{0,3}}(?:{_WORD})$")
_ANY_WORD = re.compile(r"[\w'’.\-]+")
_NEXT_WORD = re.compile(r" ([A-Z][a-z]+)\b")
_BODY_WORD = re.compile(r"[\w'’.&\-]+|,")
_LONGEST_PERSON = 4
_LONGEST_BODY = 7


class EnglishNames:
    """Finds people and organisations in normalised text written in Latin letters."""

    def __init__(self, lookup: Lookup) -> None:
        person, bodies = lookup("words.person.en"), lookup("words.organization.en")
        possessed = lookup("words.person.possessed.zh")
        self.person_rule, self.body_rule = person.ref, bodies.ref
        self._self, self._label, self._acted, self._title, self._before = Words.together(
            *(person.labels[of] for of in ("self", "label", "acted", "title")), bodies.labels["before"]
        )
        self._follows = lazy(
            r"(?: |(?='))(?:"
            + "|".join(map(re.escape, sorted(person.labels["follows"], key=len, reverse=True)))
            + rf")\b|(?:{possessed.patterns['possessive']})(?:{alternatives(possessed.entries()).pattern})"
        )
        form = lookup("patterns.names.en").patterns
        self._link = lazy(rf"(?:{form['link']}|){form['before_name']}", re.IGNORECASE)
        inside = form["inside"]
        self._body_after = lazy(rf" (?:{form['article']})?((?:{_WORD})(?: (?:(?:{_WORD})|{inside})){{0,5}})")
        self._trailing = lazy(rf"(?: (?:{inside}))+$")
        self._particle = frozenset(person.labels["particle"])
        self._not = frozenset(lookup("words.person.not.en").entries())
        forms = "|".join(
            re.escape(w).replace(r"\ ", r"\.? ") + r"\.?"
            for w in sorted(bodies.labels["form"], key=lambda w: (-len(w), w))
        )
        self._form = lazy(rf"(?<=[ ,])(?:{forms})(?![\w&])", re.IGNORECASE)
        self._business = frozenset(bodies.labels["business"])
        self._leading = frozenset(bodies.labels["leading"]) | frozenset(bodies.labels["joining"])
        self._joining = frozenset(bodies.labels["joining"])

    def find(self, text: str, hints: tuple[Hint, ...] = (), tables: Mapping[str, Any] | None = None) -> Iterator[Edge]:
        """Organisations first, then people outside them."""
        found = [("organization", a, b, self.body_rule) for a, b in self._bodies(text)]
        found += [("person", a, b, self.person_rule) for a, b in self._people(text)]
        found += [("person", h.start, h.end, self.person_rule) for h in hints if self._confirms(text, h)]
        found += [(t.kind, t.start, t.end, self.person_rule) for t in self._tokens(text, tables or {})]
        return outside_each_other(text, found)

    def _tokens(self, text: str, tables: Mapping[str, Any]) -> Iterator[token_rules.Taken]:
        """What the token rules take, as far as it is a name."""
        for taken in token_rules.find(text, tables):
            if self._name_end(text, taken.start, least=1) == taken.end:
                yield taken

    # ------------------------------------------------------------------ people
    def _people(self, text: str) -> Iterator[tuple[int, int]]:
        for hit in self._title.find(text):
            if hit.group()[:1].isupper():
                start = hit.end() + 1 if text[hit.end() : hit.end() + 1] == "." else hit.end()
                start += text[start : start + 1] == " "
                end = self._name_end(text, start, least=1)
                if end:
                    yield hit.start(), end
        for pattern, least in ((self._self, 1), (self._acted, 1), (self._label, 1)):
            for hit in pattern.find(text):
                link = self._link.match(text, hit.end()) if pattern is self._label else _GAP.match(text, hit.end())
                start = link.end() if link else hit.end()
                end = self._name_end(text, start, least=least)
                if end:
                    yield start, end
        for hit in self._follows.finditer(text):
            start = self._name_begin(text, hit.start())
            least = 2 if text[hit.start()] == " " else 1  # "Rent is now due" names nobody, "Petra's phone" does
            if start < hit.start() and self._name_end(text, start, least=least) == hit.start():
                yield start, hit.start()

    def _name_end(self, text: str, start: int, *, least: int) -> int:
        """The end of one to four capitalised words at ``start``, particles and initials among them; 0 when none."""
        end, count, at = 0, 0, start
        while count < _LONGEST_PERSON:
            word = _NAME_WORD.match(text, at)
            if not word:
                break
            if word.group(2):
                if not count or word.group(2) not in self._particle:
                    break
                at = word.end()
                continue
            said = word.group(1)
            bare = re.sub(r"['’]s$", "", said)
            if bare.lower().rstrip(".") in self._not or (bare.isupper() and len(bare) > 3):
                break
            count += 1
            end = word.start() + len(bare)
            if len(bare) < len(said) or text[word.end() : word.end() + 1] != " ":
                break
            at = word.end() + 1
        if count < least or (count == 1 and end - start < 2):
            return 0
        return end

    def _name_begin(self, text: str, end: int) -> int:
        hit = _NAME_BEFORE.search(text, max(0, end - 40), end)
        if not hit:
            return end
        start = hit.start()
        while start < end:  # "Our Dana Reyes": leave off leading words that are no names
            word = _ANY_WORD.match(text, start)
            if not word or word.group().lower() not in self._not:
                break
            start = word.end() + 1
        return min(start, end)

    def _confirms(self, text: str, hint: Hint) -> bool:
        """A model's person counts when it is two to four capitalised words, none of them a not-word."""
        if hint.label != "person" or not 2 <= len(hint.text.split()) <= _LONGEST_PERSON:
            return False
        return self._name_end(text, hint.start, least=2) == hint.end

    # ------------------------------------------------------------------ organisations
    def _bodies(self, text: str) -> Iterator[tuple[int, int]]:
        for hit in self._form.finditer(text):
            if not hit.group()[:1].isupper() and not hit.group().islower():
                continue
            start = self._body_begin(text, hit.start(), formed=True)
            if start < hit.start() and hit.group()[:1].isupper():
                yield start, hit.end() - (hit.group().endswith(".") and not text[hit.end() :].lstrip()[:1].islower())
        for hit in re.finditer(r"(?<= )[A-Z][a-z]+(?:ies)?\b", text):
            following = _NEXT_WORD.match(text, hit.end())
            if following is not None and following[1].lower() in self._business:
                continue  # Greystone Capital Partners: the last of them ends the name
            if hit.group().lower() in self._business:
                start = self._body_begin(text, hit.start(), formed=False)
                if start < hit.start():
                    yield start, hit.end()
        for hit in self._before.find(text):
            body = self._body_after.match(text, hit.end())
            if body:
                said = self._trailing.sub("", body.group(1))
                if said.split()[0].lower() not in self._not:
                    yield body.start(1), body.start(1) + len(said)

    def _body_begin(self, text: str, end: int, *, formed: bool) -> int:
        """Where the capitalised run before a form begins: Hollin & Frey|LLC; leading ordinary words fall away."""
        words = list(_BODY_WORD.finditer(text, max(0, end - 80), end))
        begin, count = end, 0
        for word in reversed(words):
            said = word.group()
            between = text[word.end() : begin].strip()
            if between or count >= _LONGEST_BODY or (said.endswith(".") and len(said) > 3):
                break
            if said == ",":
                if not (formed and begin == end):
                    break
            elif said.lower() in self._joining and begin < end:
                pass
            elif not (said[:1].isupper() or said[:1].isdigit()) or (said[0].isdigit() and not said[-1].isalpha()):
                break
            begin, count = word.start(), count + 1
        while begin < end:
            word_at = _BODY_WORD.match(text, begin)
            if not word_at or not (
                word_at.group().lower() in self._leading or word_at.group() == ","
            ):  # fmt: skip
                break
            begin = word_at.end() + (text[word_at.end() : word_at.end() + 1] == " ")
        return min(begin, end)
