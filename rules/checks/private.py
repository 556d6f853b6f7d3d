"""Numbers and addresses in a text that may belong to somebody: of the right form, and not plainly made up."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ...extractors.identifiers import iban, identity_card, luhn

# Kept for examples by RFC 2606 and RFC 6761.
_KEPT_DOMAIN = re.compile(r"(?:^|[.@-])example(?:[.-]|$)|\.(?:test|invalid|local|localhost)$", re.IGNORECASE)
_EMAIL = re.compile(r"[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,5}[A-Za-z]{2,24}")
# The sample of GB 11643 itself.
_SAMPLES = frozenset({"11010519491231002X"})
_AFTER = r"(?![0-9A-Za-z])"
_BEFORE = r"(?<![0-9A-Za-z.])"


def _mobile(said: str) -> bool:
    return True


def _american(said: str) -> bool:
    return re.sub(r"\D", "", said)[3:6] != "555"  # 555 is kept for fiction


def _security_number(said: str) -> bool:
    area, group, serial = said.split("-")
    return area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"


def _card(said: str) -> bool:
    return luhn(re.sub(r"\D", "", said))


# What, its form, and whether something of this form is one.
_FORMS: tuple[tuple[str, re.Pattern[str], Callable[[str], bool]], ...] = (
    ("mobile number", re.compile(rf"{_BEFORE}1[3-9]\d[ -]?\d{{4}}[ -]?\d{{4}}{_AFTER}"), _mobile),
    ("telephone number", re.compile(rf"{_BEFORE}\(?[2-9]\d\d\)?[-. ]\d{{3}}[-. ]\d{{4}}{_AFTER}"), _american),
    ("social security number", re.compile(rf"{_BEFORE}\d{{3}}-\d\d-\d{{4}}{_AFTER}"), _security_number),
    ("identity card number", re.compile(rf"{_BEFORE}[1-9]\d{{16}}[0-9Xx]{_AFTER}"), identity_card),
    ("card number", re.compile(rf"{_BEFORE}[3-6]\d{{3}}(?:[ -]?\d{{4}}){{2}}[ -]?\d{{3,7}}{_AFTER}"), _card),
    ("account number", re.compile(rf"{_BEFORE}[A-Z]{{2}}\d\d(?: ?[A-Z0-9]{{4}}){{2,7}}(?: ?[A-Z0-9]{{1,3}})?"), iban),
)  # fmt: skip


def personal(text: str) -> Iterator[tuple[int, str, str]]:
    """Where something stands in a text that may be somebody's, what it is, and its characters."""
    for hit in _EMAIL.finditer(text):
        if not _KEPT_DOMAIN.search(hit[0].partition("@")[2]):
            yield hit.start(), "address", hit[0]
    for what, form, is_one in _FORMS:
        for hit in form.finditer(text):
            if is_one(hit[0]) and not made_up(hit[0]):
                yield hit.start(), what, hit[0]


def made_up(number: str) -> bool:
    """True for a number that shows it: four equal digits in a row, four that count up, 555, a sample."""
    digits = re.sub(r"\D", "", number)
    if "555" in digits or number in _SAMPLES:
        return True
    windows = [digits[at : at + 4] for at in range(len(digits) - 3)]
    return any(len(set(four)) == 1 or four in "0123456789" for four in windows)
