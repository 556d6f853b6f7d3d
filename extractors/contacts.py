"""Telephone numbers, e-mail addresses, web addresses and the parts of them that a correction may name alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from ..values import EmailValue, PhoneValue, UrlValue
from .parsing.chart import Edge
from .recognizer import Lookup, Setting, recognizer
from .text import Normalized
from .words import alternatives, lazy

# ``regions``: where a number of this shape is looked up first; ``sure``: needs no phone word before it.
_EXTENSION = r"(?:\s?(?:x|ext\.?|extension|转|分机)\s?\d{1,6})?"
_MOBILE = r"1[3-9]\d[ \-]?\d{4}[ \-]?\d{4}"


class Shape(NamedTuple):
    """A way to write a telephone number."""

    name: str
    pattern: str
    regions: tuple[str, ...]
    sure: bool


SHAPES = (
    Shape("labelled", r"[(+]{0,2} ?\d(?:[ .\-/()]{0,3}\d){6,16}", (), False),
    Shape("china_abroad", rf"\(?(?:\+|00)86\)?[ \-]?(?:{_MOBILE}|0?\d{{2,3}}[ \-]?\d{{7,8}})", (), True),
    Shape("international", r"\(?(?:\+|00(?=[ (\-]?[1-9]))[ ]?\(?\d{1,4}\)?(?:[ .\-]?\(?\d{1,5}\)?){1,7}", (), True),
    Shape("chinese_mobile", _MOBILE, ("CN",), True),
    Shape("chinese_landline", r"(?:\(0\d{2,3}\)|0\d{2,3})[ \-]{0,2}\d{3,4}[ \-]?\d{4}(?:-\d{3,5})?", ("CN",), True),
    Shape("chinese_service", r"[48]00[ \-]\d{3,4}[ \-]\d{3,4}|[48]00\d{7}", ("CN",), True),
    Shape("american", r"(?:1[ .\-]?)?(?:\(\d{3}\)\.?|\d{3}\)|\d{3}(?=[ .\-]))[ .\-]?\d{3}[ .\-]\d{4}", ("US",), True),
    Shape("bracketed", r"\(\d{1,5}\)[ .\-]?\d{2,5}(?:[ .\-]\d{2,5}){1,3}", (), True),
    Shape("grouped", r"\d{2,5}(?:[ .\-]\d{2,5}){1,5}", (), False),
    Shape("run", r"\d{3,15}", (), False),
)  # fmt: skip
_EDGE_BEFORE = r"(?<![A-Za-z0-9_$€£¥%#])(?<![0-9][./=*+,:\-])(?<![A-Za-z][./=*\-])(?<![(+])(?<!\))(?<![\s\d]-)(?<!^-)"
_EDGE_AFTER = r"(?![0-9A-Za-z_%@°])(?![./=*+:\-]\d|,\d{3}(?!\d))"
_PHONES = tuple(
    (shape, lazy(_EDGE_BEFORE + "(" + shape.pattern + ")" + _EXTENSION + _EDGE_AFTER, re.IGNORECASE))
    for shape in SHAPES
)
_TRIGGER = lazy(r"\d[\d .()\-]{1,30}\d")
_SHORT, _LONG = 7, 15  # ITU-T E.164: at most 15 digits; below 7 no country has subscriber numbers without a label
# 110, 12345: short numbers exist, but only a label makes them one.
_LEAST = {"phone": {"run": 3, "": 5}}
_PHONE_LABELS = ("phone", "call")
_NATIONAL = 8
_LABEL_REACH = 24
_CLAUSE = lazy(r"[。;!?\n]|,(?!\d)")

_EMAIL = lazy(
    r"(?<![A-Za-z0-9._%+\-@])([A-Za-z0-9_%+][A-Za-z0-9._%+\-]{0,63})@((?:[A-Za-z0-9](?:[A-Za-z0-9\-]{0,62})\.){1,6}[A-Za-z]{2,24})"
    r"(?![A-Za-z0-9\-]|\.[A-Za-z0-9])"
)
# As speech recognition writes it: mark at mail dot com. The last word keeps it from ordinary sentences.
_SPOKEN = lazy(
    r"(?<![\w@.])([A-Za-z0-9][\w.\-]{0,40})(?: at |@)((?:[A-Za-z0-9\-]{1,40} dot ){1,3}"
    r"(?:com|net|org|edu|cn|co uk|io))(?![\w@])",
    re.IGNORECASE,
)
_URL = lazy(
    r"(?<![A-Za-z0-9@])(?:(?:https?|ftps?|wss?)://(?:[^\s\u3000-\u9fff,，。；;、)\]}<>\"']|[,;](?=\S))+"
    r"|www\.(?:[A-Za-z0-9\-]+\.)+[A-Za-z]{2,24}(?::\d{1,5})?(?:[/?#](?:[^\s\u3000-\u9fff,，。；;、)\]}<>\"'])*)?)",
    re.IGNORECASE,
)
_DOMAIN = lazy(
    r"(?<![A-Za-z0-9@._\-/])((?:[A-Za-z0-9](?:[A-Za-z0-9\-]{0,62})\.){1,4})([A-Za-z]{2,24})(?::\d{1,5})?"
    r"((?:/|\?)[^\s\u3000-\u9fff,，。；;、)\]}<>\"']*)?(?![A-Za-z0-9_@]|\.[A-Za-z0-9])"
)
_URL_TAIL = lazy(r"[.,:;!?'\"]+$")
_HOST = lazy(r"^\w+://(?:[^/@]*@)?([^/:?#]+)")
_DIGIT = re.compile(r"\d")
_GROUP = lazy(r"(?<![A-Za-z0-9.,:/$€£¥\-])\d{3,8}(?![A-Za-z0-9%/:\-]|[.,]\d)")


class Contacts:
    """Finds telephone numbers, e-mail and web addresses; exposes bare domains and bare groups of digits."""

    def __init__(self, lookup: Lookup) -> None:
        words, domains, bridge = lookup("words.contact"), lookup("words.tld"), lookup("words.bridge")
        self.phone_rule, self.domain_rule = words.ref, domains.ref
        self._labels = alternatives(words.entries())
        self._concept = {word.lower(): str(concept) for word, concept in words.entries().items()}
        self._domain_talk = alternatives(words.labels.get("domain", ()))
        self._bridge = lazy(f"(?: |{alternatives(bridge.labels['bridge']).pattern})*$", re.IGNORECASE)
        self._measure = lazy(f" ?(?:{alternatives(bridge.labels['measure']).pattern})", re.IGNORECASE)
        self._plain = frozenset(domains.labels.get("plain", ()))
        self._guarded = frozenset(domains.labels.get("guarded", ()))

    def recognise(self, text: Normalized, setting: Setting) -> Iterable[Edge]:
        """Mentions of kind phone, email and url; parts ``mail_domain`` and ``digits``."""
        flat = text.text
        taken: list[tuple[int, int]] = []
        if " dot " in text.lower:
            for hit in _SPOKEN.finditer(flat):
                taken.append(hit.span())
                domain = hit.group(2).lower().replace(" dot ", ".").replace(" ", ".")
                value = EmailValue(address=f"{hit.group(1)}@{domain}")
                yield Edge("email", *hit.span(), value, self.domain_rule, weight=1, kind="email")
        if "." in flat or "://" in flat:
            for edge in (*self._emails(flat), *self._urls(flat)):
                if not _overlaps(taken, edge.start, edge.end):
                    taken.append((edge.start, edge.end))
                    yield edge
            yield from self._domains(flat, taken)
        if _DIGIT.search(flat):
            yield from self._phones(flat, setting, taken)
            for hit in _GROUP.finditer(flat):
                if not _overlaps(taken, *hit.span()):
                    yield Edge("digits", *hit.span(), hit.group(), self.phone_rule, weight=1)

    def _emails(self, flat: str) -> Iterator[Edge]:
        if "@" not in flat:
            return
        for hit in _EMAIL.finditer(flat):
            name, domain = hit.groups()
            if ".." in name or name.endswith("."):
                continue
            value = EmailValue(address=f"{name}@{domain.lower()}")
            yield Edge("email", *hit.span(), value, self.domain_rule, weight=1, kind="email")

    def _urls(self, flat: str) -> Iterator[Edge]:
        for hit in _URL.finditer(flat) if "://" in flat or "www." in flat.lower() else ():
            url = _URL_TAIL.sub("", hit.group())
            host = _HOST.match(url)
            if "://" in url and (host is None or not re.search(r"\w", host.group(1)) or ".." in host.group(1)):
                continue
            if host is not None and "." not in host.group(1) and host.group(1).lower() != "localhost":
                continue
            yield Edge(
                "url", hit.start(), hit.start() + len(url), UrlValue(url=url), self.domain_rule, weight=1, kind="url"
            )

    def _domains(self, flat: str, taken: list[tuple[int, int]]) -> Iterator[Edge]:
        """A bare domain is a web address, unless the talk is of mail domains; it is a part in any case."""
        for hit in _DOMAIN.finditer(flat):
            last, path = hit.group(2).lower(), hit.group(3)
            if _overlaps(taken, *hit.span()) or not (last in self._plain or (path and last in self._guarded)):
                continue
            if re.fullmatch(r"\d+(?:\.\d+)*\.", hit.group(1)) and last in {"am", "pm"} and len(hit.group(1)) < 3:
                continue  # 7.am is a time of day
            text = _URL_TAIL.sub("", hit.group())
            end = hit.start() + len(text)
            if not path:
                yield Edge("mail_domain", hit.start(), end, text.lower(), self.domain_rule, weight=1)
            if not self._domain_talk.search(flat, 0, hit.start()):
                taken.append((hit.start(), end))
                yield Edge("url", hit.start(), end, UrlValue(url=text), self.domain_rule, weight=1, kind="url")

    def _phones(self, flat: str, setting: Setting, taken: list[tuple[int, int]]) -> Iterator[Edge]:
        if not _TRIGGER.search(flat):
            return
        for shape, pattern in _PHONES:
            for hit in pattern.finditer(flat):
                start, end = hit.span()
                digits = sum(c.isdigit() for c in hit.group(1))
                label = self._label(flat, start)
                least = _LEAST.get(label, {}).get(shape.name, _LEAST.get(label, {}).get("", _SHORT))
                if not least <= digits <= _LONG or _overlaps(taken, start, end) or self._measure.match(flat, end):
                    continue
                if label == "other" or (
                    label not in _PHONE_LABELS and not (shape.sure and _plausible(shape, hit.group(1)))
                ):
                    continue
                if hit.group(1).count("(") < hit.group(1).count(")") and shape.name != "american":
                    continue
                taken.append((start, end))
                value = phone_value(hit.group(), shape.regions, setting)
                yield Edge("phone", start, end, value, self.phone_rule, weight=1, kind="phone")

    def _label(self, flat: str, at: int) -> str:
        """The concept of the nearest word that says what the digits are: same clause, only bridges between."""
        window = flat[max(0, at - _LABEL_REACH) : at]
        last = None
        for mark in _CLAUSE.finditer(window):
            last = mark
        if last is not None:
            window = window[last.end() :]
        for hit in reversed(list(self._labels.finditer(window))):
            if self._bridge.match(window, hit.end()):
                return self._concept[hit.group().lower()]
        return ""


def _plausible(shape: Shape, raw: str) -> bool:
    """Shapes that other numbers share need a look: an area code, not a year, not a date."""
    digits = re.sub(r"\D", "", raw)
    if shape.name == "chinese_landline":
        return (
            len(digits) in {10, 11, 12}
            and digits[1] != "0"
            and (digits[:2] in {"01", "02"} or "-" in raw or " " in raw or "(" in raw or len(digits) == 11)
        )
    if shape.name == "bracketed":
        return len(digits) >= 9
    return True


def _overlaps(taken: list[tuple[int, int]], start: int, end: int) -> bool:
    return any(start < b and a < end for a, b in taken)


def _regions(first: tuple[str, ...], setting: Setting) -> Iterator[str]:
    """Where to look a number up: its shape's country, the locale's, then the language's."""
    seen = set()
    locale = (setting.locale or "").replace("_", "-").split("-")
    of_locale = locale[-1].upper() if len(locale) > 1 and len(locale[-1]) == 2 else ""
    for region in (*first, of_locale, *(("CN", "US") if setting.lang == "zh" else ("US", "GB", "CN"))):
        if region and region not in seen:
            seen.add(region)
            yield region


def phone_value(raw: str, first: tuple[str, ...], setting: Setting) -> PhoneValue:
    """The typed number: E.164 when a country accepts it as possible, and the national digits as dialled."""
    main, _, extension = re.sub(r"(?i)\s?(?:x|ext\.?|extension|转|分机)\s?(?=\d+$)", "|", raw).partition("|")
    tail = f" x{extension}" if extension else ""
    plain = re.sub(r"[^\d+]", "", main)
    abroad = plain.startswith(("+", "00"))
    regions = tuple(_regions(first, setting))
    if re.fullmatch(_MOBILE, plain) and "CN" in regions:
        plain = "+86" + plain  # alone, 179… would be read as a carrier's prefix
        e164, country = _e164(plain, regions)
        return PhoneValue(e164=e164, national=plain.removeprefix("+86") + tail)
    e164, country = _e164("+" + plain.lstrip("+0") if abroad else plain, regions)
    digits = plain.lstrip("+")
    if abroad and country:
        digits = digits.lstrip("0")[len(country) :]
    return PhoneValue(e164=e164, national=digits + tail)


@lru_cache(maxsize=4096)
def _e164(plain: str, regions: tuple[str, ...]) -> tuple[str | None, str]:
    """(E.164 form or None, country code): the first country where it is valid, else the first where it is possible."""
    import phonenumbers

    possible: tuple[str | None, str] = (None, "")
    for region in (None,) if plain.startswith("+") else regions:
        try:
            number = phonenumbers.parse(plain, region)
        except phonenumbers.NumberParseException:
            continue
        form = (phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164), str(number.country_code))
        if phonenumbers.is_valid_number(number):
            return form
        reason = phonenumbers.is_possible_number_with_reason(number)
        # Further countries count only when the number is valid there, and a short number has no country.
        likely = region is None or (region == regions[0] and len(str(number.national_number)) >= _NATIONAL)
        if likely and reason == phonenumbers.ValidationResult.IS_POSSIBLE:
            possible = form
    return possible


@recognizer("contacts", "words.contact", "words.tld", "words.bridge")
def _contacts(lookup: Lookup) -> Contacts:
    return Contacts(lookup)
