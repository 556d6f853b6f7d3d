"""Numbers that name something: identity cards, accounts, contracts, cases, orders, clauses, IP addresses, GUIDs."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from ..values import IdentifierValue
from .parsing.chart import Edge
from .recognizer import Lookup, Setting, recognizer
from .text import Normalized
from .words import Signs, Words, alternatives, lazy

_AFTER = r"(?![A-Za-z0-9@%])(?![-/.]\d)"
_LOOSE = (r"(?<![0-9A-Za-z])", r"(?![0-9A-Za-z])")
_TIGHT = (r"(?<![\w/&])(?<![0-9A-Za-z][\-.@])(?<!@)(?<![0-9]:)", r"(?![\w#@\-])(?!\.[\w])(?!:[\w:])")
_DIGIT = re.compile(r"\d")


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
    digits = [int(c) for c in reversed(code) if c.isdigit()]
    return bool(digits) and sum(d if i % 2 == 0 else sum(divmod(2 * d, 10)) for i, d in enumerate(digits)) % 10 == 0


def iban(code: str) -> bool:
    """ISO 13616: mod 97 over the rearranged code."""
    plain = code.replace(" ", "")
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", plain):
        return False
    return int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1


def mod11_10(code: str) -> bool:
    """ISO 7064 MOD 11,10, pure: tax and national numbers of several countries."""
    product = 10
    digits = [int(c) for c in code if c.isdigit()]
    for digit in digits[:-1]:
        product = ((product + digit) % 10 or 10) * 2 % 11
    return bool(digits) and (product + digits[-1]) % 10 == 1


def ipv4(code: str) -> bool:
    """Four numbers below 256."""
    return all(int(part) < 256 for part in code.split("."))


def ipv6(code: str) -> bool:
    """RFC 4291, with at least two colons."""
    if code.count(":") < 2:
        return False
    try:
        ipaddress.IPv6Address(code)
    except ValueError:
        return False
    return True


# The checks that a rule file may name.
CHECKS: dict[str, Callable[[str], bool]] = {
    "gb11643": identity_card, "gb32100": credit_code, "luhn": luhn, "mod97": iban, "mod11_10": mod11_10,
    "ipv4": ipv4, "ipv6": ipv6,
}  # fmt: skip


class Bare(NamedTuple):
    """A code that is one without a label, because its form or its check digit says so."""

    scheme: str
    pattern: re.Pattern[str]
    check: Callable[[str], bool] | None


class Identifiers:
    """Finds labelled codes, clauses and codes that are recognised by their form."""

    def __init__(self, lookup: Lookup) -> None:
        strong, weak, clause = lookup("words.identifier"), lookup("words.identifier.weak"), lookup("words.clause")
        forms, code = lookup("patterns.identifier"), lookup("patterns.identifier.code")
        self.rule, self.weak_rule, self.clause_rule, self.form_rule = strong.ref, weak.ref, clause.ref, forms.ref
        self._strong = {word.lower(): str(scheme) for word, scheme in strong.entries().items()}
        self._weak = {word.lower(): str(scheme) for word, scheme in weak.entries().items()}
        self._label = Words({*self._strong, *self._weak})
        bridge = lookup("words.bridge")
        between, measure = (alternatives(bridge.labels[of]).pattern for of in ("bridge", "measure"))
        self._follows = lazy(
            f"(?i:(?: ?(?:{between})){{0,4}}) ?({code.patterns['code']}){_AFTER}(?i:(?! ?(?:{measure})))"
        )  # fmt: skip
        self._count = lazy(code.patterns["count"], re.IGNORECASE)
        limits = code.words if isinstance(code.words, dict) else {}
        self._digits, self._with_letters = int(limits["digits"]), int(limits["with_letters"])
        unless = alternatives(code.labels["not_after"]).pattern
        self._clause_word = alternatives(clause.entries())
        self._clause = lazy(
            rf"(?:{self._clause_word.pattern}) (?:{code.patterns['clause_lead']})?({code.patterns['clause']})"
            rf"(?![A-Za-z0-9]|[.,]\d| (?:{unless}))",
            re.IGNORECASE,
        )
        checks = forms.words if isinstance(forms.words, dict) else {}
        _known_checks(forms.id, checks)
        tight = frozenset(forms.labels.get("tight", ()))
        self._bare = tuple(
            Bare(
                name.partition(".")[0],
                _edged(source, forms.labels.get(name, ()), _TIGHT if name in tight else _LOOSE),
                CHECKS[str(checks[name])] if name in checks else None,
            )
            for name, source in forms.patterns.items()
        )
        self._signs = Signs(f"(?i){source}" for source in forms.patterns.values())

    def recognise(self, text: Normalized, setting: Setting) -> Iterable[Edge]:
        """Mentions of kind identifier."""
        flat = text.text
        taken = bytearray(len(flat) + 1)
        for scheme, start, end, rule in (*self._formed(flat), *self._labelled(flat), *self._clauses(flat)):
            if not any(taken[start:end]):
                taken[start:end] = b"\1" * (end - start)
                value = IdentifierValue(scheme=scheme, value=flat[start:end])
                # Ahead of telephone numbers and dates of the same length: the label or the check digit is evidence.
                yield Edge("identifier", start, end, value, rule, weight=0, priority=1, kind="identifier")

    def _formed(self, flat: str) -> Iterator[tuple[str, int, int, str]]:
        for number in self._signs.within(flat):
            bare = self._bare[number]
            group = 1 if bare.pattern.groups else 0
            for hit in bare.pattern.finditer(flat):
                if bare.check is None or bare.check(hit.group(group)):
                    yield bare.scheme, *hit.span(group), self.form_rule

    def _labelled(self, flat: str) -> Iterator[tuple[str, int, int, str]]:
        if not _DIGIT.search(flat):
            return
        for hit in self._label.find(flat):
            label = hit.group().lower()
            code = self._follows.match(flat, hit.end())
            if code is None or not _DIGIT.search(code.group(1)):
                continue
            start, end = code.span(1)
            if label in self._strong:
                yield self._strong[label], start, end, self.rule
            elif self._is_code(code.group(1)):
                yield self._weak[label], start, end, self.weak_rule

    def _is_code(self, code: str) -> bool:
        """More than a count or a year: enough digits, leading zeros, or letters and digits together."""
        digits = sum(c.isdigit() for c in code)
        letters = any(c.isalpha() for c in code)
        mixed = digits >= self._with_letters and letters and not self._count.fullmatch(code)
        return digits >= self._digits or mixed or (digits >= self._with_letters and code.startswith("0"))

    def _clauses(self, flat: str) -> Iterator[tuple[str, int, int, str]]:
        for hit in self._clause.finditer(flat) if self._clause_word.search(flat) else ():
            number = hit.group(1)
            if number.isalpha() and not (number.isupper() and hit.group()[0].isupper()):
                continue  # "part a" is no clause, "Exhibit A" is one
            yield "clause", *hit.span(), self.clause_rule


def _known_checks(file: str, checks: Mapping[str, object]) -> None:
    """Complain about checks that do not exist, with the file and the name."""
    from .grammar import GrammarProblem, GrammarProblems

    said = ", ".join(sorted(CHECKS))
    wrong = [
        GrammarProblem(file, ("words", name), f"unknown check {check!r}; there are {said}")
        for name, check in checks.items()
        if str(check) not in CHECKS
    ]
    if wrong:
        raise GrammarProblems(wrong)


def _edged(source: str, not_after: Iterable[str], edges: tuple[str, str]) -> re.Pattern[str]:
    """A form with what may not touch it; Han characters may, since Chinese has no blanks."""
    unless = "|".join(map(re.escape, not_after))
    return lazy(
        f"{edges[0]}(?:{source}){edges[1]}" + (f"(?!{unless})" if unless else ""), re.IGNORECASE | re.ASCII
    )  # fmt: skip


@recognizer(
    "identifiers", "words.identifier", "words.identifier.weak", "words.clause", "words.bridge", "patterns.identifier",
    "patterns.identifier.code",
)  # fmt: skip
def _identifiers(lookup: Lookup) -> Identifiers:
    return Identifiers(lookup)
