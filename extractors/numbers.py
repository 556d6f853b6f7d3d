"""Number leaves: digits in every grouping, Chinese numerals, English number words, with their scale words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from .figures import chinese
from .figures.chinese import Num
from .parsing.chart import Edge, source
from .text import Normalized

__all__ = ["Num", "digits", "english", "numbers"]

# A number as printed, in one piece; which conventions it can follow is decided by _figure.
_PRINTED = re.compile(r"[0-9]{1,16}(?:[.,' ][0-9]{1,16}){0,8}|\.[0-9]{1,10}")
_DIGIT = re.compile(r"[0-9]")
_DIGITS = re.compile(r"(?<![0-9])[0-9]{1,8}(?![0-9])")
_GROUPED = re.compile(r"[0-9]{1,3}(?:(?:,[0-9]{3})+|(?:,[0-9]{2})+,[0-9]{3})(?:\.[0-9]{1,10})?")
_CONTINENTAL = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]{1,10}|[0-9]{1,3}(?:\.[0-9]{3}){2,}")
_SWISS = re.compile(r"[0-9]{1,3}(?:'[0-9]{3})+(?:[.,][0-9]{1,2})?")
_SPACED = re.compile(r"[0-9]{1,3}(?: [0-9]{3})+(?:[.,][0-9]{1,2})?")
_COMMA = re.compile(r"[0-9]{1,9},[0-9]{1,2}")
_PLAIN = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,15})?|\.[0-9]{1,10}")
_POWER = re.compile(r"(?<![0-9.])([0-9]{1,6}(?:\.[0-9]{1,10})?)(e|\^)([+-]?[0-9]{1,2})(?![0-9.a-z])")

# Scales that can follow digits. The first table is safe anywhere; letters of the second also mean metres, minutes,
# millimetres or bytes, and count only where a production asks for a ``figure`` (money).
_SCALES = {
    "hundred": 100, "thousand": 1000, "thousands": 1000, "million": 10**6, "millions": 10**6, "mln": 10**6,
    "mio": 10**6, "billion": 10**9, "billions": 10**9, "bln": 10**9, "bn": 10**9, "trillion": 10**12, "tn": 10**12,
    "k": 1000, "lakh": 10**5, "lakhs": 10**5, "lac": 10**5, "lacs": 10**5, "crore": 10**7, "crores": 10**7,
    "dozen": 12, "dozens": 12,
}  # fmt: skip
_LOOSE = {"m": 10**6, "mm": 10**6, "mn": 10**6, "mil": 10**6, "mill": 10**6, "b": 10**9, "g": 10**9, "cr": 10**7,
          "t": 10**12, "thou": 1000}  # fmt: skip
_SCALE = re.compile(
    r" ?-?(" + "|".join(sorted((*_SCALES, *_LOOSE), key=len, reverse=True)) + r")(?![a-z])", re.IGNORECASE
)

_ONES = {
    "zero": 0, "naught": 0, "nought": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15,
    "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19,
}  # fmt: skip
_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fourty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
         "ninety": 90}  # fmt: skip
_MULTIPLES = {"hundred": 100, "hundreds": 100, "thousand": 1000, "million": 10**6, "billion": 10**9,
              "trillion": 10**12, "lakh": 10**5, "lakhs": 10**5, "crore": 10**7, "crores": 10**7, "dozen": 12,
              "dozens": 12, "score": 20}  # fmt: skip
_PARTS = {"half": 2, "halve": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
          "eighth": 8, "ninth": 9, "tenth": 10, "twelfth": 12, "twentieth": 20, "hundredth": 100,
          "thousandth": 1000, "millionth": 10**6}  # fmt: skip
_ONE = "|".join(sorted(_ONES, key=len, reverse=True))
_TEN = "|".join(_TENS)
_START = re.compile(
    rf"(?<![a-z])(?:an? )?(?:{_ONE}|{_TEN}|hundred|thousand|million|billion|dozen|half|quarter)(?![a-z])"
)
# "three quarters", "a fifth", "fifty-four hundredths": numerator and denominator, after "and" or alone.
_SHARE = re.compile(rf"(an?|(?:(?:{_TEN})(?:[ -](?:{_ONE}))?|{_ONE}))[ -]({'|'.join(_PARTS)})(s?)(?![a-z])")
_OF_SCALE = re.compile(r"(?: of an?)? (thousand|million|billion|trillion)(?![a-z])")
_TOKEN = re.compile(r"(?:[ -]|, )?([a-z]+|[0-9]{1,3}(?:\.[0-9]{1,4})?(?![0-9]))")
_LONGEST = 120  # characters of number words


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
        for start, end, num, latent in chinese.find(text):
            yield Edge("number", start, end, num, "numbers.chinese", 1, 1, latent)
    if _DIGIT.search(text) is not None:
        yield from _printed(text)
    if "e" in text or "^" in text:
        for match in _POWER.finditer(text):
            base, power = Decimal(match[1]), int(match[3])
            value = base.scaleb(power) if match[2] == "e" else base ** min(power, 30)
            yield Edge("number", match.start(), match.end(), Num(value), "numbers.arabic", 1, 1)
    yield from english(normalized.lower)


def _printed(text: str) -> Iterator[Edge]:
    at = 0
    while True:
        match = _PRINTED.search(text, at)
        if match is None:
            return
        start, end = match.span()
        before = text[start - 1 : start]
        if (
            before.isdigit()
            or (before == "." and text[start] == ".")
            or (before == "." and text[start - 2 : start - 1].isdigit())
        ):
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
        scaled = num.times(Decimal(factor)).lending(factor)
        yield Edge(kind, start, scale.end(), scaled, "numbers.arabic", 1, 1)
        if word in _MULTIPLES:  # 4 thousand 3 hundred and 21; 3 million and a half
            longer = _words(text[: end + _LONGEST].lower(), start)
            if longer is not None and longer[1] > scale.end():
                yield Edge("number", start, longer[1], Num(longer[0]), "numbers.english", 1, 1)
    if not text.isascii():
        found = chinese.read(text, start)
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
    """Number words: the longest readable number from each first word."""
    at = 0
    while True:
        match = _START.search(low, at)
        if match is None:
            return
        found = spelled(low, match.start())
        at = match.end()
        if found is not None:
            value, end, scale = found
            if end > match.start():
                yield Edge("number", match.start(), end, Num(value, scale=scale), "numbers.english", 1, 0)
                at = max(at, end)
        elif match[0] == "half":  # more than half: a number in company only
            yield Edge("number", match.start(), at, Num(Decimal("0.5")), "numbers.english", 1, 1, True)


def spelled(low: str, start: int) -> tuple[Decimal, int, int] | None:
    """The number that begins at ``start``: value, end, and the multiplier said last."""
    alone = _share(low, start)
    if alone is not None and (low[start] != "a" or low.startswith("a half", start)
                              or low.startswith(" of ", alone[1])):  # fmt: skip
        return _of_scale(low, alone[0], alone[1])
    half = re.compile(r"(?:a )?(half|quarter) (?:an? )?(?=(?:hundred|thousand|million|billion|dozen)(?![a-z]))").match(
        low, start
    )
    if half is not None:
        scale = _TOKEN.match(low, half.end())
        if scale is not None:
            factor = _MULTIPLES[scale[1]]
            return Decimal(factor) / _PARTS[half[1]], scale.end(), factor if factor >= 1000 else 1
    return _words(low, start)


def _share(low: str, at: int) -> tuple[Decimal, int] | None:
    """A numerator and a denominator: one eighth, three quarters."""
    match = _SHARE.match(low, at)
    if match is None:
        return None
    words = re.split("[ -]", match[1])
    top = sum(1 if w in {"a", "an"} else _ONES.get(w, _TENS.get(w, 0)) for w in words)
    if (top > 1) != bool(match[3]):
        return None  # "two third" and "one thirds" are ordinals or slips
    return _divided(Decimal(top), _PARTS[match[2]]), match.end()


def _divided(top: Decimal, bottom: int) -> Decimal:
    value = top / bottom
    return value.quantize(Decimal(1).scaleb(-15)).normalize() if len(str(value)) > 18 else value


def _of_scale(low: str, value: Decimal, end: int) -> tuple[Decimal, int, int]:
    """Two thirds of a million, three quarters billion."""
    scale = _OF_SCALE.match(low, end)
    if scale is None:
        return value, end, 1
    factor = _MULTIPLES[scale[1]]
    return value * factor, scale.end(), factor


def _words(low: str, start: int) -> tuple[Decimal, int, int] | None:
    """Tens, hundreds and thousands in falling order; stops where the words no longer fit."""
    total = group = Decimal(0)
    last = 10**16  # the last multiple: they must fall
    best: tuple[Decimal, int, int] | None = None
    previous, at = "", start
    while at - start < _LONGEST and (token := _TOKEN.match(low, at)) is not None:
        word, end = token[1], token.end()
        if word == "and" and previous:
            mixed = _share(low, end + 1)
            if mixed is not None:
                return _mixed(low, total + group, mixed, last if group == 0 else 1)
            if previous not in _MULTIPLES:
                break
        elif word in {"a", "an"} and not previous:
            pass
        elif word == "point" and best is not None:
            return _after_point(low, end, total + group) or best
        elif word in _ONES or word[0].isdigit():
            size = Decimal(_ONES.get(word, 0)) if word in _ONES else Decimal(word)
            if previous in _ONES or previous[:1].isdigit() or (previous in _TENS and not 0 < size < 10):
                break
            after = _TOKEN.match(low, end)
            if word[0].isdigit() and group and after is not None and after[1] == "hundred":
                break  # 3 hundred and 2.12 hundred are two numbers
            group += size
        elif word in _TENS and previous not in _ONES and previous not in _TENS and not previous[:1].isdigit():
            group += _TENS[word]
        elif word in _MULTIPLES and previous != "and" and (group or previous in {"a", "an", *_MULTIPLES}):
            factor = _MULTIPLES[word]
            if factor in (100, 12, 20):
                if group >= 100 and factor == 100:
                    break
                group = (group or Decimal(1)) * factor
            elif factor < last:
                total += (group or Decimal(1)) * factor
                group, last = Decimal(0), factor
            elif group == 0 and total:  # a hundred thousand million
                total, last = total * factor, factor
            else:
                break
        else:
            break
        if word not in {"and", "a", "an"}:
            best = (total + group, end, last if word in _MULTIPLES and group == 0 else 1)
        previous, at = word, end
    return best


def _mixed(low: str, whole: Decimal, part: tuple[Decimal, int], unit: int) -> tuple[Decimal, int, int]:
    """A whole and a share: three and a half (million); a million and a half; a billion and three quarters million."""
    value, end, scale = _of_scale(low, part[0], part[1])
    if scale > 1:
        return (whole * scale if whole < scale else whole) + value, end, scale
    return whole + part[0] * (unit if 1000 <= unit < 10**16 else 1), end, 1


def _after_point(low: str, at: int, whole: Decimal) -> tuple[Decimal, int, int] | None:
    """three point one four (million)."""
    decimals, end = "", at
    while len(decimals) < 8 and (token := _TOKEN.match(low, end)) is not None and _ONES.get(token[1], 20) < 20:
        decimals += str(_ONES[token[1]])
        end = token.end()
    if not decimals:
        return None
    return _of_scale(low, whole + Decimal("0." + decimals), end)
