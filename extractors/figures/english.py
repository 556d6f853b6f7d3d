"""English number words: a hundred and five, three and a half million, two thirds; and ordinals: twenty-first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import NamedTuple

from ..recognizer import Lookup
from ..words import lazy
from .num import sizes

_TOKEN = re.compile(r"(?:[ -]|, )?([a-z]+|[0-9]{1,3}(?:\.[0-9]{1,4})?(?![0-9]))")
LONGEST = 120  # characters of number words
VOCABULARIES = ("words.number.en", "words.number.multiple.en", "words.number.rank.en", "words.number.part.en")


class Ranked(NamedTuple):
    """An ordinal read from somewhere up to ``end``; ``many``: in the plural, which only a denominator is."""

    value: Decimal
    end: int
    many: bool


def _any(words: Iterable[str]) -> str:
    """A pattern for any of the words, the longest first."""
    return "|".join(sorted((re.escape(word) for word in words), key=lambda word: (-len(word), word)))


def _divided(top: Decimal, bottom: int) -> Decimal:
    value = top / bottom
    return value.quantize(Decimal(1).scaleb(-15)).normalize() if len(str(value)) > 18 else value


def _ending(number: int) -> int:
    """Which ending a printed ordinal takes: that of its last digit (1st, 2nd, 3rd), else the common one, 0."""
    return number % 10 if number % 10 in (1, 2, 3) and number % 100 not in (11, 12, 13) else 0


class English:
    """Reads English number words; the words and their sizes come from the vocabularies ``VOCABULARIES``."""

    def __init__(self, lookup: Lookup) -> None:
        words, multiples, ranks, parts = (lookup(name) for name in VOCABULARIES)
        low, rank = sizes(words), sizes(ranks)
        self.ones = {word: size for word, size in low.items() if size < 20}
        self.tens = {word: size for word, size in low.items() if size >= 20}
        self.multiples = sizes(multiples)
        self.ranks = rank
        self.ten_ranks = frozenset(word for word, size in rank.items() if 20 <= size < 100)
        self.multiple_ranks = frozenset(word for word, size in rank.items() if size >= 100)
        self.parts = {**sizes(parts), **{word: size for word, size in rank.items() if size > 2}}
        self.article, self.and_ = frozenset(words.labels["article"]), frozenset(words.labels["and"])
        self.point = frozenset(words.labels["point"])
        self._before_two = tuple(f"{word} " for word in words.labels["between"])
        self._points = tuple(f" {word} " for word in words.labels["point"])
        self.alone, self.idle = frozenset(parts.labels["alone"]), tuple(parts.labels["idle"])
        self._idle_ends = tuple(f"{word}{many}" for word in self.idle for many in ("", "s"))
        self.no_rank_alone = frozenset(ranks.labels["alone_no"])
        self.endings = {
            word: int(name.partition("_")[2] or 0)
            for name, said in ranks.labels.items()
            for word in (said if name.startswith("ending") else ())
        }
        after = frozenset(multiples.labels["after_number"])
        with_s = frozenset(parts.labels["only_many"])
        own = {word: size for word, size in sizes(parts).items() if word not in with_s}
        self._patterns(own, with_s, after, tuple(words.labels["of"]))

    def _patterns(
        self, parts: Mapping[str, int], with_s: frozenset[str], after: frozenset[str], of: tuple[str, ...]
    ) -> None:
        """Where number words begin, and the shares and ordinals among them."""
        one, ten, article, joins, of_ = _any(self.ones), _any(self.tens), _any(self.article), _any(self.and_), _any(of)
        first = _any(word for word in self.multiples if word not in after)
        big = _any(word for word, size in self.multiples.items() if size >= 1000)
        share = _any(self.parts)
        lone = _any(word for word in self.parts if word not in parts and word not in with_s)
        self._start = lazy(
            rf"(?<![a-z])(?:(?:(?:{article}) )?(?:{one}|{ten}|{first}|{_any(parts)})"
            rf"|(?:{article}) (?:{lone}))(?![a-z])"
        )
        # "three quarters", "a fifth", "fifty-four hundredths": numerator and denominator, after "and" or alone.
        self._share_form = lazy(rf"({article}|(?:(?:{ten})(?:[ -](?:{one}))?|{one}))[ -]({share})(s?)(?![a-z])")
        self._article = lazy(rf"(?:{article}) ")
        self._and = lazy(rf" (?:{joins}) ")
        self._joined = lazy(rf"[ -](?:(?:{joins}) )?")
        self._of_scale_form = lazy(rf"(?: (?:{of_})(?: (?:{article}))?)? ({big})(?![a-z])")
        self._half = lazy(rf"(?:(?:{article}) )?({_any(parts)}) (?:(?:{article}) )?(?=(?:{first})(?![a-z]))")
        self._spaced_hyphen = lazy(rf" - ({one})(?![a-z])")  # eighty - four
        # An ordinal as one word or at the end of number words, with the plural that makes it a denominator.
        self._rank = lazy(rf"(?<![a-z])({_any(self.ranks)})(s?)(?![a-z])")
        self._printed_rank = lazy(
            rf"(?<![0-9a-z.,])([0-9]{{1,9}}|[0-9]{{1,3}}(?:,[0-9]{{3}}){{1,3}})({_any(self.endings)})(?![a-z0-9])"
        )
        self._of = tuple(f" {word} " for word in of)

    def find(self, low: str) -> Iterator[tuple[int, int, Decimal, int, bool]]:
        """Number words, the longest from each first word: start, end, value, multiplier said last, only in company."""
        at = 0
        while True:
            match = self._start.search(low, at)
            if match is None:
                return
            start, at = match.start(), match.end()
            found = self.spelled(low, start)
            if found is not None and found[1] > start:
                value, end, scale = found
                yield start, end, value, scale, False
                at = max(at, end)
                if low.endswith(self._idle_ends, start, end):  # two quarters: coins as well as a half
                    top = self.words(low, start)
                    if top is not None and top[1] < end:
                        yield start, top[1], top[0], top[2], False
                if low.endswith(self._before_two, 0, start):
                    for stop, second in self._parted(low, start, end):
                        left = self.spelled(low[start:stop], 0)
                        if left is not None and left[1] == stop - start:
                            yield start, stop, left[0], left[2], False
                            at = min(at, second)
            elif found is None and match[0] in self.alone:  # more than half: a number in company only
                yield start, at, _divided(Decimal(1), self.parts[match[0]]), 1, True

    def _parted(self, low: str, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Where "and" within number words may join two numbers: between two hundred | and | three thousand."""
        for joint in self._and.finditer(low, start, end):
            if self._start.match(low, joint.end()) is not None:
                yield joint.start(), joint.end()

    def find_ranks(self, low: str) -> Iterator[tuple[int, int, Decimal]]:
        """Ordinals: third, twenty-first, 3rd, the hundred and first."""
        for match in self._printed_rank.finditer(low):
            digits = match[1].replace(",", "")
            if self.endings[match[2]] == _ending(int(digits)):
                yield match.start(), match.end(), Decimal(digits)
        if self._rank.search(low) is None:
            return
        at = 0
        for match in self._rank.finditer(low):
            if match[2]:
                continue
            start, value = match.start(), Decimal(self.ranks[match[1]])
            for first in self._start.finditer(low, max(at, start - LONGEST), start):
                longer = self.ranked(low, first.start())
                if longer is not None and longer.end == match.end() and not longer.many:
                    start, value = first.start(), longer.value
                    break
            else:
                if match[1] in self.no_rank_alone:
                    continue  # a unit of time as often as not: the grammar says beside which words it is an ordinal
            at = match.end()
            yield start, match.end(), value

    def ranked(self, low: str, start: int) -> Ranked | None:
        """The ordinal whose number words begin at ``start``: twenty-first, one hundred and fifth, four billionth."""
        said = self.words(low, start)
        last = self._rank.match(low, start)
        if said is None:
            return None if last is None else Ranked(Decimal(self.ranks[last[1]]), last.end(), bool(last[2]))
        value, end, _ = said
        joined = self._joined.match(low, end)
        last = self._rank.match(low, joined.end()) if joined is not None else None
        if last is None:
            return None
        size = self.ranks[last[1]]
        if last[1] in self.multiple_ranks:
            return Ranked(value * size, last.end(), bool(last[2]))
        room = 100 if last[1] in self.ten_ranks else 10 if size < 10 and value % 100 and value % 100 >= 20 else 100
        if value % room or value % 1 or value < 20:
            return None
        return Ranked(value + size, last.end(), bool(last[2]))

    def spelled(self, low: str, start: int) -> tuple[Decimal, int, int] | None:
        """The number that begins at ``start``: value, end, and the multiplier said last."""
        alone = self._share(low, start)
        if alone is not None and self._counts(low, start, alone[1]):
            return self._of_scale(low, alone[0], alone[1])
        half = self._half.match(low, start)
        if half is not None:
            scale = _TOKEN.match(low, half.end())
            if scale is not None:
                factor = self.multiples[scale[1]]
                return Decimal(factor) / self.parts[half[1]], scale.end(), factor if factor >= 1000 else 1
        return self._compound_share(low, start) or self.words(low, start)

    def _counts(self, low: str, start: int, end: int) -> bool:
        """An article counts one before a part (a fifth) only where nothing else can be meant."""
        article = self._article.match(low, start)
        if article is None or low.startswith(tuple(self.alone), article.end()) or low.startswith(self._of, end):
            return True
        return low.strip() == low[start:end] and not low.startswith(self.idle, article.end())

    def _share(self, low: str, at: int) -> tuple[Decimal, int] | None:
        """A numerator and a denominator: one eighth, three quarters."""
        match = self._share_form.match(low, at)
        if match is None:
            return None
        top = sum(1 if w in self.article else self.ones.get(w, self.tens.get(w, 0)) for w in re.split("[ -]", match[1]))
        if (top > 1) != bool(match[3]):
            return None  # "two third" and "one thirds" are ordinals or slips
        if match[2] in self.idle and top >= self.parts[match[2]]:
            return None  # four quarters: of a year, or coins
        return _divided(Decimal(top), self.parts[match[2]]), match.end()

    def _compound_share(self, low: str, start: int) -> tuple[Decimal, int, int] | None:
        """one sixty-fourth, five thirty-thirds, a hundred billionths, one hundred thirty-fifths (100/35)."""
        if self._rank.search(low, start, start + LONGEST) is None:
            return None
        article = self._article.match(low, start)
        if article is not None:  # an article counts one only where nothing else can be meant
            bottom = self.ranked(low, article.end())
            if bottom is not None and not bottom.many and bottom.value > 19:
                whole = low.strip() == low[start : bottom.end]
                # a hundred trillionth is a rank
                plain = self._of_hundred(low, article.end() - 1) and bottom.value > 10**4
                if (whole or low.startswith(self._of, bottom.end)) and not plain:
                    return _divided(Decimal(1), int(bottom.value)), bottom.end, 1
        top = self.words(low, start)
        if top is None or low[top[1] : top[1] + 1] not in {" ", "-"}:
            return None
        value, end, _ = top
        bottom = self.ranked(low, end + 1)
        if bottom is None or (low[end] == "-" and value % 100 >= 20 and value > 100 and value % 10 == 0):
            # "one hundred thirty-fifths": the hyphen binds the tens to the denominator
            tens = int(value % 100)
            last = self._rank.match(low, end + 1)
            if last is None or low[end] != "-" or tens < 20 or tens % 10 or self.ranks[last[1]] > 9 or not last[2]:
                return None
            return _divided(value - tens, tens + self.ranks[last[1]]), last.end(), 1
        if (
            (value > 1) != bottom.many
            or bottom.value < 3
            or (value > 1 and bottom.value < 20 and self._share_form.match(low, start))
        ):
            return None
        return _divided(value, int(bottom.value)), bottom.end, 1

    def _of_hundred(self, low: str, at: int) -> bool:
        """The next word is a hundred."""
        word = _TOKEN.match(low, at)
        return word is not None and self.multiples.get(word[1]) == 100

    def _of_scale(self, low: str, value: Decimal, end: int) -> tuple[Decimal, int, int]:
        """Two thirds of a million, three quarters billion."""
        scale = self._of_scale_form.match(low, end)
        if scale is None:
            return value, end, 1
        factor = self.multiples[scale[1]]
        return value * factor, scale.end(), factor

    def after_point(self, text: str, at: int) -> bool:
        """The words of a decimal point stand at ``at``: 1 point 5 million."""
        return text.startswith(self._points, at)

    def words(self, low: str, start: int) -> tuple[Decimal, int, int] | None:
        """Tens, hundreds and thousands in falling order; stops where the words no longer fit."""
        total = group = Decimal(0)
        last = 10**16  # the last multiple: they must fall
        best: tuple[Decimal, int, int] | None = None
        whole: tuple[Decimal, int, int] | None = None  # up to the last multiple
        previous, at = "", start
        while at - start < LONGEST and (token := _TOKEN.match(low, at)) is not None:
            word, end = token[1], token.end()
            if word in self.and_ and previous:
                mixed = self._share(low, end + 1)
                if mixed is not None:
                    return self._mixed(low, total + group, mixed, last if group == 0 else 1)
                if previous not in self.multiples:
                    break
            elif word in self.article and not previous:
                pass
            elif word in self.point and best is not None:
                return self._after_point(low, end, total + group) or best
            elif word in self.ones or word[0].isdigit():
                size = Decimal(self.ones.get(word, 0)) if word in self.ones else Decimal(word)
                if previous in self.ones or previous[:1].isdigit() or (previous in self.tens and not 0 < size < 10):
                    break
                if word[0].isdigit() and group and self._of_hundred(low, end):
                    break  # 3 hundred and 2.12 hundred are two numbers
                group += size
            elif (
                word in self.tens
                and previous not in self.ones
                and previous not in self.tens
                and not previous[:1].isdigit()
            ):
                group += self.tens[word]
                hyphen = self._spaced_hyphen.match(low, end)
                if hyphen is not None and 0 < self.ones[hyphen[1]] < 10:  # from ninety nothing runs to five
                    word, end = hyphen[1], hyphen.end()
                    group += self.ones[word]
            elif (
                word in self.multiples
                and previous not in self.and_
                and (group or previous in self.article or previous in self.multiples)
            ):
                factor = self.multiples[word]
                if factor < 1000:
                    if group >= 100 and factor == 100:
                        return whole or best  # two hundred and | three hundred
                    group = (group or Decimal(1)) * factor
                elif factor < last:
                    total += (group or Decimal(1)) * factor
                    group, last = Decimal(0), factor
                elif group == 0 and total:  # a hundred thousand million
                    total, last = total * factor, factor
                else:
                    return whole or best  # one million and | two million: the last words begin another number
            else:
                break
            if word not in self.and_ and word not in self.article:
                best = (total + group, end, last if word in self.multiples and group == 0 else 1)
                whole = best if word in self.multiples else whole
            previous, at = word, end
        return best

    def _mixed(self, low: str, whole: Decimal, part: tuple[Decimal, int], unit: int) -> tuple[Decimal, int, int]:
        """A whole and a share: three and a half (million); a million and a half; a billion and one quarter million."""
        value, end, scale = self._of_scale(low, part[0], part[1])
        if scale > 1:
            return (whole * scale if whole < scale else whole) + value, end, scale
        return whole + part[0] * (unit if 1000 <= unit < 10**16 else 1), end, 1

    def _after_point(self, low: str, at: int, whole: Decimal) -> tuple[Decimal, int, int] | None:
        """three point one four (million)."""
        decimals, end = "", at
        while len(decimals) < 8 and (token := _TOKEN.match(low, end)) is not None:
            digit = int(token[1]) if token[1].isdigit() and not decimals else self.ones.get(token[1], 20)
            if digit > 9 and not (not decimals and digit < 20):
                break
            decimals += str(digit)
            end = token.end()
        if not decimals:
            return None
        return self._of_scale(low, whole + Decimal("0." + decimals), end)
