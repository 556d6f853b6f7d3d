"""Numbers that name something: identity cards, accounts, contracts, cases, orders, clauses, IP addresses, GUIDs."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ..values import IdentifierValue
from .parsing.chart import Edge
from .recognizer import Lookup, Setting, recognizer
from .text import Normalized
from .words import Words, alternatives, lazy

_HAN = r"[\u4e00-\u9fff]"
_CODE = (
    r"((?:\(\d{4}\)|〔\d{4}〕|\d{4}年)?(?:"
    + _HAN
    + r"{1,6}(?:\d{1,4}"
    + _HAN
    + r"{1,4})?)?(?:字?第)\d{1,6}号(?:之[一二三四五六七八九十\d]+)?"
    r"|[A-Z]{2}\d{2}(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,4})?|\d{4}(?: \d{4}){2,4}(?: \d{1,3})?"
    r"|[A-Za-z0-9]{1,24}(?:[\-/_.:·][A-Za-z0-9]{1,20}){0,6})"
)
_AFTER = r"(?![A-Za-z0-9@%])(?![-/.]\d)"
_LAW_CASE = lazy(rf"\(\d{{4}}\){_HAN}{{1,4}}\d{{0,4}}{_HAN}{{1,5}}(?:字第)?\d{{1,6}}号(?:之[一二三四五六七八九十\d]+)?")
_DOCUMENT = lazy(rf"(?:{_HAN}{{1,8}})?(?:〔\d{{4}}〕|\[\d{{4}}\])第?\d{{1,5}}号|\d{{4}}年第\d{{1,5}}号(?!楼|院)")
_ARTICLE = lazy(
    r"第[一二三四五六七八九十百零〇\d]{1,6}条(?:第[一二三四五六七八九十\d]{1,4}款)?(?:第?[(（]?[一二三四五六七八九十\d]{1,4}[)）]?项)?"
    r"|第[一二三四五六七八九十\d]{1,4}款(?:第[(]?[一二三四五六七八九十\d]{1,4}[)]?项)?|附件[一二三四五六七八九十\d]{1,3}(?![年月日个份])"
)
_CLAUSE_NUMBER = (
    r" (?:No\.? ?)?((?:\d{1,3}(?:\.\d{1,3}){0,4}|[IVXLC]{1,6}|[A-Z](?:-\d{1,2})?)(?:\([A-Za-z0-9]{1,4}\)){0,4})"
    r"(?![A-Za-z0-9]|[.,]\d| (?:people|days|months|years|percent))"
)
_GUID = lazy(
    r"(?<![0-9A-Za-z-])(?:urn:uuid:|[Xx]'|\{)?(?:[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|[0-9A-Fa-f]{32})['}]?(?![0-9A-Za-z-])"
)
_IPV4 = lazy(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w]|\.\d)", re.ASCII)
_IPV6 = lazy(r"(?<![0-9A-Za-z:.])[0-9A-Fa-f:]{2,39}(?![0-9A-Za-z:])")
_IBAN = lazy(r"(?<![0-9A-Za-z])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![0-9A-Za-z])")
_HANDLE = lazy(
    r"(?<![\w.@/])@[A-Za-z]\w{1,29}(?![\w@]|\.[A-Za-z])|(?<=\b[A-Z][a-z])@[A-Z]\w{3,29}(?![\w@]|\.[A-Za-z])", re.ASCII
)
_HASHTAG = lazy(r"(?<![\w/#&])#[A-Za-z]\w{1,40}(?![\w#])", re.ASCII)


def identity_card(code: str) -> bool:
    """GB 11643: eighteen characters, the last a check digit over the first seventeen."""
    if not re.fullmatch(r"[1-9]\d{16}[\dXx]", code):
        return False
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    return "10X98765432"[sum(int(c) * w for c, w in zip(code[:17], weights, strict=True)) % 11] == code[17].upper()


def credit_code(code: str) -> bool:
    """GB 32100: eighteen characters of an alphabet without I, O, S, V, Z, the last a check character."""
    alphabet = "0123456789ABCDEFGHJKLMNPQRTUWXY"
    if not re.fullmatch(rf"[1-9A-Y][{alphabet}]\d{{6}}[{alphabet}]{{10}}", code):
        return False
    total = sum(alphabet.index(c) * pow(3, i, 31) for i, c in enumerate(code[:17]))
    return alphabet[(31 - total % 31) % 31] == code[17]


def luhn(code: str) -> bool:
    """ISO 7812: the check digit of bank cards."""
    digits = [int(c) for c in reversed(code)]
    return sum(d if i % 2 == 0 else sum(divmod(2 * d, 10)) for i, d in enumerate(digits)) % 10 == 0


def iban(code: str) -> bool:
    """ISO 13616: mod 97 over the rearranged code."""
    plain = code.replace(" ", "")
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", plain):
        return False
    return int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1


_MARKS = lazy(r"[0-9@#:]|第|附件|(?i:clause|section|article|exhibit|annex|schedule|appendix)")  # no identifier without


class Bare(NamedTuple):
    """A code that is one without a label, because its form or its check digit says so."""

    scheme: str
    pattern: re.Pattern[str]
    check: Callable[[str], bool]


def _ipv4(code: str) -> bool:
    return all(int(part) < 256 for part in code.split("."))


def _ipv6(code: str) -> bool:
    if code.count(":") < 2:
        return False
    try:
        ipaddress.IPv6Address(code)
    except ValueError:
        return False
    return True


def _always(code: str) -> bool:
    return True


BARE = (
    Bare("identity_card", lazy(r"(?<![0-9A-Za-z])[1-9]\d{16}[\dXx](?![0-9A-Za-z])"), identity_card),
    Bare("credit_code", lazy(r"(?<![0-9A-Za-z])[1-9A-Y][0-9A-HJ-NP-RTUW-Y]{17}(?![0-9A-Za-z])"), credit_code),
    Bare("iban", _IBAN, iban),
    Bare("ssn", lazy(r"(?<![0-9A-Za-z-])\d{3}-\d{2}-\d{4}(?![0-9A-Za-z-])"), _always),
    Bare("case", _LAW_CASE, _always),
    Bare("notice", _DOCUMENT, _always),
    Bare("clause", _ARTICLE, _always),
    Bare("guid", _GUID, _always),
    Bare("ip", _IPV4, _ipv4),
    Bare("ip", _IPV6, _ipv6),
    Bare("handle", _HANDLE, _always),
    Bare("hashtag", _HASHTAG, _always),
)  # fmt: skip


class Identifiers:
    """Finds labelled codes, clauses and codes that are recognised by their form."""

    def __init__(self, lookup: Lookup) -> None:
        strong, weak, clause = lookup("words.identifier"), lookup("words.identifier.weak"), lookup("words.clause")
        self.rule, self.weak_rule, self.clause_rule = strong.ref, weak.ref, clause.ref
        self._strong = {word.lower(): str(scheme) for word, scheme in strong.entries().items()}
        self._weak = {word.lower(): str(scheme) for word, scheme in weak.entries().items()}
        self._label = Words({*self._strong, *self._weak})
        bridge = lookup("words.bridge")
        between, measure = (alternatives(bridge.labels[of]).pattern for of in ("bridge", "measure"))
        self._follows = lazy(f"(?i:(?: ?(?:{between})){{0,4}}) ?{_CODE}{_AFTER}(?i:(?! ?(?:{measure})))")
        self._clause = lazy(f"(?:{alternatives(clause.entries()).pattern}){_CLAUSE_NUMBER}", re.IGNORECASE)

    def recognise(self, text: Normalized, setting: Setting) -> Iterable[Edge]:
        """Mentions of kind identifier."""
        flat = text.text
        if not _MARKS.search(flat):
            return
        taken = bytearray(len(flat) + 1)
        for scheme, start, end, rule in (*self._bare(flat), *self._labelled(flat), *self._clauses(flat)):
            if not any(taken[start:end]):
                taken[start:end] = b"\1" * (end - start)
                value = IdentifierValue(scheme=scheme, value=flat[start:end])
                # Ahead of telephone numbers and dates of the same length: the label or the check digit is evidence.
                yield Edge("identifier", start, end, value, rule, weight=0, priority=1, kind="identifier")

    def _bare(self, flat: str) -> Iterator[tuple[str, int, int, str]]:
        for bare in BARE:
            for hit in bare.pattern.finditer(flat):
                if bare.check(hit.group()):
                    yield bare.scheme, *hit.span(), self.rule

    def _labelled(self, flat: str) -> Iterator[tuple[str, int, int, str]]:
        for hit in self._label.find(flat):
            label = hit.group().lower()
            code = self._follows.match(flat, hit.end())
            if code is None or not re.search(r"\d", code.group(1)):
                continue
            start, end = code.span(1)
            if label in self._strong:
                yield self._strong[label], start, end, self.rule
            elif self._is_code(code.group(1)):
                yield self._weak[label], start, end, self.weak_rule

    def _is_code(self, code: str) -> bool:
        """More than a count or a year: five digits, leading zeros, or letters and digits together."""
        digits = sum(c.isdigit() for c in code)
        mixed = (
            digits >= 2
            and any(c.isalpha() for c in code)
            and not re.fullmatch(r"\d+(?:st|nd|rd|th|k|m|am|pm)", code.lower())
        )
        return digits >= 5 or mixed or (digits >= 2 and code.startswith("0"))

    def _clauses(self, flat: str) -> Iterator[tuple[str, int, int, str]]:
        for hit in self._clause.finditer(flat):
            number = hit.group(1)
            if number.isalpha() and not (number.isupper() and hit.group()[0].isupper()):
                continue  # "part a" is no clause, "Exhibit A" is one
            yield "clause", *hit.span(), self.clause_rule


@recognizer("identifiers", "words.identifier", "words.identifier.weak", "words.clause", "words.bridge")
def _identifiers(lookup: Lookup) -> Identifiers:
    return Identifiers(lookup)
