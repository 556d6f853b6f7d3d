"""English number words: a hundred and five, three and a half million, two thirds; and ordinals: twenty-first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

ONES = {
    "zero": 0, "naught": 0, "nought": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15,
    "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19,
}  # fmt: skip
TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fourty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
        "ninety": 90}  # fmt: skip
MULTIPLES = {"hundred": 100, "hundreds": 100, "thousand": 1000, "million": 10**6, "billion": 10**9,
             "trillion": 10**12, "lakh": 10**5, "lakhs": 10**5, "crore": 10**7, "crores": 10**7, "dozen": 12,
             "dozens": 12, "doz": 12, "score": 20}  # fmt: skip
_UNIT_RANKS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "nineth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13, "fourteenth": 14, "fifteenth": 15,
    "sixteenth": 16, "seventeenth": 17, "eighteenth": 18, "nineteenth": 19,
}  # fmt: skip
_TEN_RANKS = {"twentieth": 20, "thirtieth": 30, "fortieth": 40, "fiftieth": 50, "sixtieth": 60, "seventieth": 70,
              "eightieth": 80, "ninetieth": 90}  # fmt: skip
_MULTIPLE_RANKS = {"hundredth": 100, "thousandth": 1000, "millionth": 10**6, "billionth": 10**9,
                   "trillionth": 10**12}  # fmt: skip
_RANKS = {**_UNIT_RANKS, **_TEN_RANKS, **_MULTIPLE_RANKS}
_PARTS = {"half": 2, "halve": 2, "quarter": 4, **{word: size for word, size in _RANKS.items() if size > 2}}
_ONE = "|".join(sorted(ONES, key=len, reverse=True))
_TEN = "|".join(TENS)
_START = re.compile(
    rf"(?<![a-z])(?:(?:an? )?(?:{_ONE}|{_TEN}|hundred|thousand|million|billion|dozen|half|quarter)"
    rf"|an? (?:{'|'.join(word for word in _PARTS if word.endswith(('th', 'rd')))}))(?![a-z])"
)
# "three quarters", "a fifth", "fifty-four hundredths": numerator and denominator, after "and" or alone.
_SHARE = re.compile(rf"(an?|(?:(?:{_TEN})(?:[ -](?:{_ONE}))?|{_ONE}))[ -]({'|'.join(_PARTS)})(s?)(?![a-z])")
_ARTICLE = re.compile(r"an? ")
_JOINED = re.compile(r"[ -](?:and )?")
_OF_SCALE = re.compile(r"(?: of an?)? (thousand|million|billion|trillion)(?![a-z])")
_HALF = re.compile(r"(?:a )?(half|quarter) (?:an? )?(?=(?:hundred|thousand|million|billion|dozen)(?![a-z]))")
_TOKEN = re.compile(r"(?:[ -]|, )?([a-z]+|[0-9]{1,3}(?:\.[0-9]{1,4})?(?![0-9]))")
_SPACED_HYPHEN = re.compile(rf" - ({_ONE})(?![a-z])")  # eighty - four
# An ordinal as one word or at the end of number words, with the plural that makes it a denominator.
_RANK = re.compile(rf"(?<![a-z])({'|'.join(sorted(_RANKS, key=len, reverse=True))})(s?)(?![a-z])")
_PRINTED_RANK = re.compile(r"(?<![0-9a-z.,])([0-9]{1,9}|[0-9]{1,3}(?:,[0-9]{3}){1,3})(st|nd|rd|th)(?![a-z0-9])")
LONGEST = 120  # characters of number words


class Ranked(NamedTuple):
    """An ordinal read from somewhere up to ``end``; ``many``: in the plural, which only a denominator is."""

    value: Decimal
    end: int
    many: bool


def find(low: str) -> Iterator[tuple[int, int, Decimal, int, bool]]:
    """Number words, the longest from each first word: start, end, value, multiplier said last, only in company."""
    at = 0
    while True:
        match = _START.search(low, at)
        if match is None:
            return
        start, at = match.start(), match.end()
        found = spelled(low, start)
        if found is not None and found[1] > start:
            value, end, scale = found
            yield start, end, value, scale, False
            at = max(at, end)
        elif found is None and match[0] == "half":  # more than half: a number in company only
            yield start, at, Decimal("0.5"), 1, True


def find_ranks(low: str) -> Iterator[tuple[int, int, Decimal]]:
    """Ordinals: third, twenty-first, 3rd, the hundred and first."""
    for match in _PRINTED_RANK.finditer(low):
        digits = match[1].replace(",", "")
        if match[2] == _suffix(int(digits)):
            yield match.start(), match.end(), Decimal(digits)
    if _RANK.search(low) is None:
        return
    at = 0
    for match in _RANK.finditer(low):
        if match[2]:
            continue
        start, value = match.start(), Decimal(_RANKS[match[1]])
        for first in _START.finditer(low, max(at, start - LONGEST), start):
            longer = ranked(low, first.start())
            if longer is not None and longer.end == match.end() and not longer.many:
                start, value = first.start(), longer.value
                break
        else:
            if match[1] == "second":
                continue  # a unit of time as often as not: the grammar says beside which words it is an ordinal
        at = match.end()
        yield start, match.end(), value


def _suffix(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def ranked(low: str, start: int) -> Ranked | None:
    """The ordinal whose number words begin at ``start``: twenty-first, one hundred and fifth, four billionth."""
    said = words(low, start)
    last = _RANK.match(low, start)
    if said is None:
        return None if last is None else Ranked(Decimal(_RANKS[last[1]]), last.end(), bool(last[2]))
    value, end, _ = said
    joined = _JOINED.match(low, end)
    last = _RANK.match(low, joined.end()) if joined is not None else None
    if last is None:
        return None
    size = _RANKS[last[1]]
    if last[1] in _MULTIPLE_RANKS:
        return Ranked(value * size, last.end(), bool(last[2]))
    room = 100 if last[1] in _TEN_RANKS else 10 if size < 10 and value % 100 and value % 100 >= 20 else 100
    if value % room or value % 1 or value < 20:
        return None
    return Ranked(value + size, last.end(), bool(last[2]))


def spelled(low: str, start: int) -> tuple[Decimal, int, int] | None:
    """The number that begins at ``start``: value, end, and the multiplier said last."""
    alone = _share(low, start)
    if alone is not None and (
        low[start] != "a" or low.startswith("a half", start) or low.startswith(" of ", alone[1])
        or (low.strip() == low[start : alone[1]] and not low.startswith("quarter", start + 2))
    ):  # fmt: skip
        return _of_scale(low, alone[0], alone[1])
    half = _HALF.match(low, start)
    if half is not None:
        scale = _TOKEN.match(low, half.end())
        if scale is not None:
            factor = MULTIPLES[scale[1]]
            return Decimal(factor) / _PARTS[half[1]], scale.end(), factor if factor >= 1000 else 1
    return _compound_share(low, start) or words(low, start)


def _share(low: str, at: int) -> tuple[Decimal, int] | None:
    """A numerator and a denominator: one eighth, three quarters."""
    match = _SHARE.match(low, at)
    if match is None:
        return None
    top = sum(1 if w in {"a", "an"} else ONES.get(w, TENS.get(w, 0)) for w in re.split("[ -]", match[1]))
    if (top > 1) != bool(match[3]):
        return None  # "two third" and "one thirds" are ordinals or slips
    return _divided(Decimal(top), _PARTS[match[2]]), match.end()


def _compound_share(low: str, start: int) -> tuple[Decimal, int, int] | None:
    """one sixty-fourth, five thirty-thirds, a hundred billionths, one hundred thirty-fifths (100/35)."""
    if _RANK.search(low, start, start + LONGEST) is None:
        return None
    article = _ARTICLE.match(low, start)
    if article is not None:  # an article counts one only where nothing else can be meant
        bottom = ranked(low, article.end())
        if bottom is not None and not bottom.many and bottom.value > 19:
            whole = low.strip() == low[start : bottom.end]
            plain = low.startswith("hundred", article.end()) and bottom.value > 10**4  # a hundred trillionth is a rank
            if (whole or low.startswith(" of ", bottom.end)) and not plain:
                return _divided(Decimal(1), int(bottom.value)), bottom.end, 1
    top = words(low, start)
    if top is None or low[top[1] : top[1] + 1] not in {" ", "-"}:
        return None
    value, end, _ = top
    bottom = ranked(low, end + 1)
    if bottom is None or (low[end] == "-" and value % 100 >= 20 and value > 100 and value % 10 == 0):
        # "one hundred thirty-fifths": the hyphen binds the tens to the denominator
        tens = int(value % 100)
        last = _RANK.match(low, end + 1)
        if last is None or low[end] != "-" or tens < 20 or tens % 10 or _RANKS[last[1]] > 9 or not last[2]:
            return None
        return _divided(value - tens, tens + _RANKS[last[1]]), last.end(), 1
    if (value > 1) != bottom.many or bottom.value < 3 or (value > 1 and bottom.value < 20 and _SHARE.match(low, start)):
        return None
    return _divided(value, int(bottom.value)), bottom.end, 1


def _divided(top: Decimal, bottom: int) -> Decimal:
    value = top / bottom
    return value.quantize(Decimal(1).scaleb(-15)).normalize() if len(str(value)) > 18 else value


def _of_scale(low: str, value: Decimal, end: int) -> tuple[Decimal, int, int]:
    """Two thirds of a million, three quarters billion."""
    scale = _OF_SCALE.match(low, end)
    if scale is None:
        return value, end, 1
    factor = MULTIPLES[scale[1]]
    return value * factor, scale.end(), factor


def words(low: str, start: int) -> tuple[Decimal, int, int] | None:
    """Tens, hundreds and thousands in falling order; stops where the words no longer fit."""
    total = group = Decimal(0)
    last = 10**16  # the last multiple: they must fall
    best: tuple[Decimal, int, int] | None = None
    previous, at = "", start
    while at - start < LONGEST and (token := _TOKEN.match(low, at)) is not None:
        word, end = token[1], token.end()
        if word == "and" and previous:
            mixed = _share(low, end + 1)
            if mixed is not None:
                return _mixed(low, total + group, mixed, last if group == 0 else 1)
            if previous not in MULTIPLES:
                break
        elif word in {"a", "an"} and not previous:
            pass
        elif word == "point" and best is not None:
            return _after_point(low, end, total + group) or best
        elif word in ONES or word[0].isdigit():
            size = Decimal(ONES.get(word, 0)) if word in ONES else Decimal(word)
            if previous in ONES or previous[:1].isdigit() or (previous in TENS and not 0 < size < 10):
                break
            after = _TOKEN.match(low, end)
            if word[0].isdigit() and group and after is not None and after[1] == "hundred":
                break  # 3 hundred and 2.12 hundred are two numbers
            group += size
        elif word in TENS and previous not in ONES and previous not in TENS and not previous[:1].isdigit():
            group += TENS[word]
            hyphen = _SPACED_HYPHEN.match(low, end)
            if hyphen is not None and 0 < ONES[hyphen[1]] < 10:  # from ninety nothing runs to five
                word, end = hyphen[1], hyphen.end()
                group += ONES[word]
        elif word in MULTIPLES and previous != "and" and (group or previous in {"a", "an", *MULTIPLES}):
            factor = MULTIPLES[word]
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
            best = (total + group, end, last if word in MULTIPLES and group == 0 else 1)
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
    while len(decimals) < 8 and (token := _TOKEN.match(low, end)) is not None:
        digit = int(token[1]) if token[1].isdigit() and not decimals else ONES.get(token[1], 20)
        if digit > 9 and not (not decimals and digit < 20):
            break
        decimals += str(digit)
        end = token.end()
    if not decimals:
        return None
    return _of_scale(low, whole + Decimal("0." + decimals), end)
