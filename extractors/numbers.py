"""Number leaves: digits in every grouping convention, Chinese numerals, English number words, with their scale words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

from . import chinese_numerals
from .chart import Edge, source
from .chinese_numerals import Num
from .text import Normalized

__all__ = ["Num", "digits", "english", "numbers"]

# A number as printed, in one piece; which conventions it can follow is decided by _figure.
_PRINTED = re.compile(r"[0-9]{1,16}(?:[.,' ][0-9]{1,16}){0,8}|\.[0-9]{1,10}")
_DIGITS = re.compile(r"(?<![0-9])[0-9]{1,8}(?![0-9])")
_GROUPED = re.compile(r"[0-9]{1,3}(?:(?:,[0-9]{3})+|(?:,[0-9]{2})+,[0-9]{3})(?:\.[0-9]{1,10})?")
_CONTINENTAL = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]{1,10}|[0-9]{1,3}(?:\.[0-9]{3}){2,}")
_SWISS = re.compile(r"[0-9]{1,3}(?:'[0-9]{3})+(?:[.,][0-9]{1,2})?")
_SPACED = re.compile(r"[0-9]{1,3}(?: [0-9]{3})+(?:[.,][0-9]{1,2})?")
_COMMA = re.compile(r"[0-9]{1,9},[0-9]{1,2}")
_PLAIN = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,15})?|\.[0-9]{1,10}")
_INT_SPACED = re.compile(r"[0-9]{1,3}(?: [0-9]{3})+")

# Scales that can follow digits. The first table is safe anywhere; letters of the second also mean metres, minutes,
# millimetres or bytes, and count only where a production asks for a ``figure`` (money).
_SCALES = {
    "hundred": 100, "thousand": 1000, "thousands": 1000, "million": 10**6, "millions": 10**6, "mln": 10**6,
    "mio": 10**6, "billion": 10**9, "billions": 10**9, "bln": 10**9, "bn": 10**9, "trillion": 10**12, "tn": 10**12,
    "k": 1000, "lakh": 10**5, "lakhs": 10**5, "lac": 10**5, "lacs": 10**5, "crore": 10**7, "crores": 10**7,
    "dozen": 12, "dozens": 12,
}  # fmt: skip
_LOOSE = {"m": 10**6, "mm": 10**6, "mn": 10**6, "mil": 10**6, "mill": 10**6, "b": 10**9, "g": 10**9, "cr": 10**7,
          "t": 10**12, "grand": 1000, "thou": 1000}  # fmt: skip
_SCALE = re.compile(
    r" ?-?(" + "|".join(sorted((*_SCALES, *_LOOSE), key=len, reverse=True)) + r")(?![a-z])", re.IGNORECASE
)

_ONES = {w: i for i, w in enumerate(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen".split())} | {"naught": 0, "nought": 0, "nil": 0}  # fmt: skip
_TENS = {w: i * 10 for i, w in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)} | {
    "fourty": 40
}
_MULTIPLES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12,
              "lakh": 10**5, "crore": 10**7, "dozen": 12, "dozens": 12, "score": 20}  # fmt: skip
_FRACTIONS = {"half": Decimal("0.5"), "quarter": Decimal("0.25"), "quarters": Decimal("0.25")}
_WORD = "|".join(sorted({*_ONES, *_TENS, *_MULTIPLES, "half", "quarter", "quarters"}, key=len, reverse=True))
# The first word starts the run; "and", "a", "point" and hyphens may stand inside.
_WORDS = re.compile(
    rf"(?<![a-z])(?:(?:an?|half an?) )?(?:{_WORD})(?:(?:[ -]| and (?:an? )?| point |, )(?:{_WORD}))*(?![a-z])"
)
_HEAD = re.compile(rf"(?<![a-z])(?:{_WORD})(?![a-z])")


@source("digits")
def digits(normalized: Normalized) -> Iterator[Edge]:
    """Bare runs of one to eight digits, as written."""
    for match in _DIGITS.finditer(normalized.text):
        yield Edge("digits", match.start(), match.end(), match[0], "numbers.digits", 1, 1)


@source("number")
def numbers(normalized: Normalized) -> Iterator[Edge]:
    """Numbers of every writing; ``figure`` for those that only money or a percentage makes sure."""
    text = normalized.text
    if not text.isascii():
        for start, end, num, latent in chinese_numerals.find(text):
            yield Edge("number", start, end, num, "numbers.chinese", 1, 1, latent)
    yield from _printed(text)
    if _HEAD.search(normalized.lower):
        yield from english(normalized.lower)


def _printed(text: str) -> Iterator[Edge]:
    at = 0
    while True:
        match = _PRINTED.search(text, at)
        if match is None:
            return
        start, end = match.span()
        before = text[start - 1 : start]
        if before.isdigit() or (before == "." and text[start].isdigit() and text[start - 2 : start - 1].isdigit()):
            at = end
            continue  # the tail of a version or of a longer number
        at = end
        listed = before == "," and text[start - 2 : start - 1].isdigit()
        for size, num, safe in _figures(match[0]):
            stop = start + size
            if text[stop : stop + 1].isdigit() or (listed and not safe):
                continue
            yield Edge("number" if safe else "figure", start, stop, num, "numbers.arabic", 1, 1)
            yield from _scaled(text, start, stop, num, safe)
            at = min(at, stop)
        if " " in match[0]:  # numbers side by side: read the rest again
            at = min(at, start + match[0].index(" ") + 1)


def _scaled(text: str, start: int, end: int, num: Num, safe: bool) -> Iterator[Edge]:
    """The number with what multiplies it: 3 million, 40k, 1.5个亿, 3万5."""
    scale = _SCALE.match(text, end)
    if scale is not None:
        word = scale[1].lower()
        sure = word in _SCALES and not (word == "k" and scale[0][0] in " -")
        factor = _SCALES.get(word) or _LOOSE[word]
        capital = scale[0] in {"M", "B", "MM"}  # 10M is ten million, 10m may be ten metres
        kind = "number" if safe and (sure or capital) else "figure"
        scaled = replace(num.times(Decimal(factor)), scale=factor)
        yield Edge(kind, start, scale.end(), scaled, "numbers.arabic", 1, 1)
    if not text.isascii():
        found = chinese_numerals.read(text, start)
        if found is not None and found[1] > end:
            yield Edge("number", start, found[1], found[0], "numbers.chinese", 1, 1)


def _figures(printed: str) -> Iterator[tuple[int, Num, bool]]:
    """The readings of a printed number: length, value, and whether it is safe outside money."""
    if "." in printed and _PLAIN.fullmatch(printed):
        yield len(printed), Num(Decimal(printed)), True
        if re.fullmatch(r"[1-9][0-9]{0,2}\.[0-9]{3}", printed):
            yield len(printed), Num(Decimal(printed.replace(".", ""))), False  # 1.234 € in half of Europe
        return
    for regex, thousands, decimal in (
        (_GROUPED, ",", "."), (_CONTINENTAL, ".", ","), (_SWISS, "'", "."), (_SPACED, " ", "."),
    ):  # fmt: skip
        match = regex.match(printed)
        if match is not None and not printed[match.end() : match.end() + 1].isdigit():
            plain = match[0].replace(thousands, "")
            plain = plain.replace(",", ".") if decimal == "," or regex in (_SWISS, _SPACED) else plain
            if match.end() == len(printed) or printed[match.end()] in ", ":
                yield match.end(), Num(Decimal(plain)), regex is not _SPACED or match[0].count(" ") > 1
                if regex is not _SPACED:
                    return
    comma = _COMMA.match(printed)
    if comma is not None and comma.end() == len(printed):
        yield comma.end(), Num(Decimal(comma[0].replace(",", "."))), False
    whole = _PLAIN.match(printed)
    if whole is not None:
        rest = printed[whole.end() : whole.end() + 1]
        if rest != "." and len(whole[0]) <= 16:
            yield whole.end(), Num(Decimal(whole[0])), True


def english(low: str) -> Iterator[Edge]:
    """Number words: every run, and its longest readable beginning."""
    at = 0
    while True:
        match = _WORDS.search(low, at)
        if match is None:
            return
        found = spelled(low, match.start(), match.end())
        if found is None:
            at = match.end()
            continue
        value, end = found
        said = low[match.start() : end]
        last = said.split()[-1].split("-")[-1]
        scale = _MULTIPLES.get(last, 1)
        num = Num(value, scale=scale if scale >= 1000 else 1)
        yield Edge("number", match.start(), end, num, "numbers.english", 1, 0, said in _MULTIPLES)
        at = max(end, match.start() + 1)


_TOKEN = re.compile(r"(?:[ -]|, )?(and|point|[a-z]+)")


def spelled(low: str, start: int, stop: int) -> tuple[Decimal, int] | None:
    """The value of number words from ``start``, and where the readable beginning ends."""
    total = group = Decimal(0)
    last = 10**15  # the last multiple: they must fall
    best: tuple[Decimal, int] | None = None
    previous = ""
    at = start
    while at < stop:
        token = _TOKEN.match(low, at)
        if token is None:
            break
        word, end = token[1], token.end()
        if word == "and":
            if previous not in {*_ONES, *_TENS, *_MULTIPLES}:
                break
        elif word in {"a", "an"}:
            if previous not in {"", "and", "half"}:
                break
        elif word == "point":
            return _after_point(low, end, stop, total + group) or best
        elif word in _ONES:
            if previous in _ONES or (previous in _TENS and not 0 < _ONES[word] < 10):
                break
            group += _ONES[word]
        elif word in _TENS:
            if previous in _ONES or previous in _TENS:
                break
            group += _TENS[word]
        elif word in _FRACTIONS:
            if previous == "" and group == 0:
                group, total = _FRACTIONS[word], Decimal(0)
            elif previous in {"and", "a"}:
                group += _FRACTIONS[word]
            else:
                break
        elif word in _MULTIPLES:
            factor = _MULTIPLES[word]
            if factor >= last and factor != 100:
                break
            if previous == "and":
                break
            if factor == 100 or factor in (12, 20):
                group = (group or Decimal(1)) * factor
            else:
                total += (group or Decimal(1)) * factor
                group, last = Decimal(0), factor
        else:
            break
        if word not in {"and", "a", "an"}:
            best = (total + group, end)
        previous, at = word, end
    return best


def _after_point(low: str, at: int, stop: int, whole: Decimal) -> tuple[Decimal, int] | None:
    """three point one four (million)."""
    decimals, end = "", at
    while end < stop and (token := _TOKEN.match(low, end)) is not None and token[1] in _ONES and _ONES[token[1]] < 10:
        decimals += str(_ONES[token[1]])
        end = token.end()
    if not decimals:
        return None
    value = whole + Decimal("0." + decimals)
    scale = _TOKEN.match(low, end)
    if scale is not None and scale.end() <= stop and _MULTIPLES.get(scale[1], 0) >= 100:
        return value * _MULTIPLES[scale[1]], scale.end()
    return value, end
