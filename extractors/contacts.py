"""Telephone numbers, e-mail addresses, web addresses and the parts of them that a correction may name alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..values import EmailValue, UrlValue
from .parsing.chart import Edge
from .phones import Phones
from .recognizer import Lookup, Setting, recognizer
from .text import Normalized
from .words import alternatives, joined, lazy

_URL_TAIL = lazy(r"[.,:;!?'\"]+$")
_HOST = lazy(r"^\w+://(?:[^/@]*@)?([^/:?#]+)")
_DIGIT = re.compile(r"\d")
_DIGITS = re.compile(r"\d+(?:\.\d+)*\.")
_GROUP = lazy(r"(?<![A-Za-z0-9.,:/$€£¥\-])\d{3,8}(?![A-Za-z0-9%/:\-]|[.,]\d)")


class Contacts:
    """Finds telephone numbers, e-mail and web addresses; exposes bare domains and bare groups of digits."""

    def __init__(self, lookup: Lookup) -> None:
        words, domains, web = lookup("words.contact"), lookup("words.tld"), lookup("patterns.web")
        self.phones = Phones(lookup)
        self.domain_rule = domains.ref
        self._domain_talk = alternatives(words.labels.get("domain", ()))
        self._plain = frozenset(domains.labels.get("plain", ()))
        self._guarded = frozenset(domains.labels.get("guarded", ()))
        self._hosts = frozenset(web.labels["host"])
        form = web.patterns
        self._email = lazy(
            rf"(?<![A-Za-z0-9._%+\-@])(?:{form['email']})(?![A-Za-z0-9\-]|\.[A-Za-z0-9])", re.IGNORECASE | re.ASCII
        )
        self._url = lazy(rf"(?<![A-Za-z0-9@])(?:{form['url']})", re.IGNORECASE | re.ASCII)
        self._domain = lazy(
            rf"(?<![A-Za-z0-9@._\-/])(?:{form['domain']})(?![A-Za-z0-9_@]|\.[A-Za-z0-9])", re.IGNORECASE | re.ASCII
        )
        at, dot, last = (_any_of(web.labels[name]) for name in ("at", "dot", "last"))
        name, domain = form["spoken_name"], form["spoken_domain"]
        self._dots = tuple(web.labels["dot"])
        self._dot = lazy(dot)
        self._spoken = lazy(
            rf"(?<![\w@.])({name})(?:{at})((?:{domain}(?:{dot})){{1,3}}(?:{last}))(?![A-Za-z0-9_@])",
            re.IGNORECASE | re.ASCII,
        )

    def recognise(self, text: Normalized, setting: Setting) -> Iterable[Edge]:
        """Mentions of kind phone, email and url; parts ``mail_domain`` and ``digits``."""
        flat = text.text
        taken: list[tuple[int, int]] = []
        if any(dot in text.lower for dot in self._dots):
            for hit in self._spoken.finditer(flat):
                taken.append(hit.span())
                domain = self._dot.sub(".", hit.group(2).lower()).replace(" ", ".")
                value = EmailValue(address=f"{hit.group(1)}@{domain}")
                yield Edge("email", *hit.span(), value, self.domain_rule, weight=1, kind="email")
        if "." in flat or "://" in flat:
            for edge in (*self._emails(flat), *self._urls(flat)):
                if not _overlaps(taken, edge.start, edge.end):
                    taken.append((edge.start, edge.end))
                    yield edge
            yield from self._domains(flat, taken)
        yield from self.phones.find(text, setting, taken)
        if _DIGIT.search(flat):
            for hit in _GROUP.finditer(flat):
                if not _overlaps(taken, *hit.span()):
                    yield Edge("digits", *hit.span(), hit.group(), self.phones.rule, weight=1)

    def _emails(self, flat: str) -> Iterator[Edge]:
        if "@" not in flat:
            return
        for hit in self._email.finditer(flat):
            name, domain = hit.groups()
            if ".." in name or name.endswith("."):
                continue
            value = EmailValue(address=f"{name}@{domain.lower()}")
            yield Edge("email", *hit.span(), value, self.domain_rule, weight=1, kind="email")

    def _urls(self, flat: str) -> Iterator[Edge]:
        for hit in self._url.finditer(flat) if "://" in flat or "www." in flat.lower() else ():
            url = _URL_TAIL.sub("", hit.group())
            host = _HOST.match(url)
            if "://" in url and (host is None or not re.search(r"\w", host.group(1)) or ".." in host.group(1)):
                continue
            if host is not None and "." not in host.group(1) and host.group(1).lower() not in self._hosts:
                continue
            yield Edge(
                "url", hit.start(), hit.start() + len(url), UrlValue(url=url), self.domain_rule, weight=1, kind="url"
            )

    def _domains(self, flat: str, taken: list[tuple[int, int]]) -> Iterator[Edge]:
        """A bare domain is a web address, unless the talk is of mail domains; it is a part in any case."""
        for hit in self._domain.finditer(flat):
            last, path = hit.group(2).lower(), hit.group(3)
            if _overlaps(taken, *hit.span()) or not (last in self._plain or (path and last in self._guarded)):
                continue
            if not path and len(hit.group(1)) < 3 and _DIGITS.fullmatch(hit.group(1)):
                continue  # 7.am is a time of day
            text = _URL_TAIL.sub("", hit.group())
            end = hit.start() + len(text)
            if not path:
                yield Edge("mail_domain", hit.start(), end, text.lower(), self.domain_rule, weight=1)
            if not self._domain_talk.search(flat, 0, hit.start()):
                taken.append((hit.start(), end))
                yield Edge("url", hit.start(), end, UrlValue(url=text), self.domain_rule, weight=1, kind="url")


def _any_of(words: Iterable[str]) -> str:
    return joined(sorted(words, key=lambda w: (-len(w), w)), lambda _: ("", ""))


def _overlaps(taken: list[tuple[int, int]], start: int, end: int) -> bool:
    return any(start < b and a < end for a, b in taken)


@recognizer(
    "contacts", "words.contact", "words.tld", "words.bridge", "patterns.phone", "patterns.web", "words.phone.digits"
)
def _contacts(lookup: Lookup) -> Contacts:
    return Contacts(lookup)
