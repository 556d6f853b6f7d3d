"""Number leaves: digits in every grouping, Chinese numerals, English number words, with their scale words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from .figures.chinese import Chinese
from .figures.english import LONGEST, VOCABULARIES, English
from .figures.num import Num, sizes
from .parsing.chart import Edge, Source, source
from .text import Normalized
from .vocabulary import VocabularyFile
from .words import lazy

__all__ = ["Num", "Numbers", "digits"]

# A number as printed, in one piece; which conventions it can follow is decided by _figure.
_PRINTED = re.compile(r"[0-9]{1,30}(?:[.,' ][0-9]{1,30}){0,8}|\.[0-9]{1,10}")
_CHINESE_COMMA, _YUAN = "，", "¥"
_DIGIT = re.compile(r"[0-9]")
_LETTER = re.compile(r"[a-z]")
_DIGITS = re.compile(r"(?<![0-9])[0-9]{1,8}(?![0-9])")
_GROUPED = re.compile(r"[0-9]{1,3}(?:(?:,[0-9]{3})+|(?:,[0-9]{2})+,[0-9]{3})(?:\.[0-9]{1,10})?")
_CONTINENTAL = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]{1,10}|[0-9]{1,3}(?:\.[0-9]{3}){2,}")
_SWISS = re.compile(r"[0-9]{1,3}(?:'[0-9]{3})+(?:[.,][0-9]{1,2})?")
_SPACED = re.compile(r"[0-9]{1,3}(?: [0-9]{3})+(?:[.,][0-9]{1,2})?")
_COMMA = re.compile(r"[0-9]{1,9},[0-9]{1,2}")
_APART = re.compile(r"([0-9]{1,9}) \. ([0-9]{1,4})(?![0-9])")  # tokenised text
_PLAIN = re.compile(r"[0-9]{1,30}(?:\.[0-9]{1,30})?|\.[0-9]{1,10}")
_SAFE_DIGITS = 16  # a longer run of bare digits names something; beside a currency it counts
_SCIENTIFIC = re.compile(r"(?<![0-9.,])([0-9]{1,6}(?:\.[0-9]{1,10})?) ?[x*×·] ?10\^([+-]?[0-9]{1,2})(?![0-9.a-z])")
_POWER = re.compile(r"(?<![0-9.])([0-9]{1,6}(?:\.[0-9]{1,10})?)([eE]|\^)([+-]?[0-9]{1,2})(?![0-9.a-zA-Z])")

_DOTTED = re.compile(r"\. ?(?:[$€£¥]|[A-Z]{3}(?![A-Za-z])|[a-z])")  # 1,5 Mio. EUR; not at the end of a sentence


@source("digits")
def _digits(_: Mapping[str, VocabularyFile]) -> Source:
    """Bare runs of digits need no words."""
    return digits


def digits(normalized: Normalized) -> Iterator[Edge]:
    """Bare runs of one to eight digits, as written."""
    for match in _DIGITS.finditer(normalized.text):
        yield Edge("digits", match.start(), match.end(), match[0], "numbers.digits", 1, 1)


class Numbers:
    """Finds numbers; what number words, numerals and scales are worth stands in the vocabularies.

    Without the vocabularies of a language its number words are not read; digits always are.
    """

    def __init__(self, words: Mapping[str, VocabularyFile]) -> None:
        self.chinese = Chinese(words["words.number.zh"]) if "words.number.zh" in words else None
        self.english = English(words.__getitem__) if all(name in words for name in VOCABULARIES) else None
        scales = words.get("words.number.scale")
        self.scales = sizes(scales) if scales is not None else {}
        label = {name: frozenset(said) for name, said in scales.labels.items()} if scales is not None else {}
        none: frozenset[str] = frozenset()
        self.letter, self.touching, self.dotted = (label.get(of, none) for of in ("letter", "touching", "dotted"))
        self.unsure = self.letter | label.get("loose", none)
        either = "|".join(sorted(map(re.escape, self.scales), key=lambda word: (-len(word), word)))
        self._scale = lazy(rf" ?-?({either or '(?!)'})(?![a-z])", re.IGNORECASE)

    def find(self, normalized: Normalized) -> Iterator[Edge]:
        """Numbers of every writing; ``figure`` for those that only money or a percentage makes sure."""
        text = normalized.text
        barred: list[tuple[int, int]] = []
        if self.chinese is not None and not text.isascii():
            barred = self.chinese.endless(text)
            for start, end, num, latent in self.chinese.find(text, barred):
                yield Edge("number", start, end, num, "numbers.chinese", 1, 1, latent)
                if self.chinese.in_capitals(text, start, end):
                    yield Edge("capitals", start, end, num, "numbers.chinese", 1, 1)
            for start, end, num in self.chinese.spaced(text):
                yield Edge("number", start, end, num, "numbers.chinese", 1, 1)
        if _DIGIT.search(text) is not None:
            yield from self._printed(normalized, barred)
        if "^" in text:
            for match in _SCIENTIFIC.finditer(text):
                value = Decimal(match[1]).scaleb(int(match[2]))
                yield Edge("number", match.start(), match.end(), Num(value), "numbers.arabic", 1, 1)
        if "e" in text or "E" in text or "^" in text:
            for match in _POWER.finditer(text):
                base, power = Decimal(match[1]), int(match[3])
                value = base ** min(power, 30) if match[2] == "^" else base.scaleb(power)
                yield Edge("number", match.start(), match.end(), Num(value), "numbers.arabic", 1, 1)
        if self.english is None or _LETTER.search(normalized.lower) is None:
            return
        for start, end, value, scale, latent in self.english.find(normalized.lower):
            weight = 1 if latent else 0
            yield Edge("number", start, end, Num(value, scale=scale), "numbers.english", 1, weight, latent)
        for start, end, value in self.english.find_ranks(normalized.lower):
            yield Edge("ranked", start, end, Num(value), "numbers.ordinal", 1, 0, True)

    def _printed(self, normalized: Normalized, barred: Sequence[tuple[int, int]]) -> Iterator[Edge]:
        text, at, passed = normalized.text, 0, 0
        while True:
            match = _PRINTED.search(text, at)
            if match is None:
                return
            start, end = match.span()
            while passed < len(barred) and barred[passed][1] <= start:
                passed += 1
            if passed < len(barred) and barred[passed][0] <= start:
                at = barred[passed][1]
                continue
            before = text[start - 1 : start]
            if before == "." and text[start] == ".":  # ...4: the dots are no decimal point
                at = start + 1
                continue
            if before.isdigit() or (before == "." and text[start - 2 : start - 1].isdigit()):
                at = end
                continue  # the tail of a version or of a longer number
            said = match[0]
            if "," in said and _two_sums(normalized, start, end):
                said = said[: said.index(",")]
                end = start + len(said)
            at = end
            listed = before == "," and text[start - 2 : start - 1].isdigit()
            for size, num, safe in _figures(said):
                stop = start + size
                if text[stop : stop + 1].isdigit() or (listed and not safe):
                    continue
                yield Edge("number" if safe else "figure", start, stop, num, "numbers.arabic", 1, 1)
                yield from self._scaled(text, start, stop, num, safe)
                at = min(at, stop)
            apart = _APART.match(text, start)
            if apart is not None:
                num = Num(Decimal(f"{apart[1]}.{apart[2]}"))
                yield Edge("figure", start, apart.end(), num, "numbers.arabic", 1, 1)
                yield from self._scaled(text, start, apart.end(), num, False)
            if " " in said:  # numbers side by side: read the rest again
                at = min(at, start + said.index(" ") + 1)

    def _scaled(self, text: str, start: int, end: int, num: Num, safe: bool) -> Iterator[Edge]:
        """The number with what multiplies it: 3 million, 40k, 1.5个亿, 3万5."""
        scale = self._scale.match(text, end)
        if scale is not None:
            word = scale[1].lower()
            sure = word not in self.unsure and not (word in self.touching and scale[0][0] in " -")
            sure = sure or (word in self.letter and scale[0].strip().isupper())  # 10M is ten million, 10m may be metres
            factor = self.scales[word]
            kind = "number" if safe and sure else "figure"
            scaled = num.times(Decimal(factor)).lending(factor)
            yield Edge(kind, start, scale.end(), scaled, "numbers.arabic", 1, 1)
            if word in self.dotted and _DOTTED.match(text, scale.end()):
                yield Edge(kind, start, scale.end() + 1, scaled, "numbers.arabic", 1, 1)
        if self.english is not None:
            said = scale[1].lower() if scale is not None else ""
            begun = scale.end() if scale is not None else end
            # 4 thousand 3 hundred and 21; 3 million and a half; 1 point 5 million
            if said in self.english.multiples or self.english.after_point(text, end):
                longer = self.english.words(text[start : end + LONGEST].lower(), 0)
                if longer is not None and start + longer[1] > begun:
                    value = Num(longer[0], scale=longer[2])
                    yield Edge("number", start, start + longer[1], value, "numbers.english", 1, 1)
        after = text[end : end + 2].lstrip(" ")[:1]
        if self.chinese is not None and after in self.chinese.after_digits:
            found = self.chinese.read(text, start)
            if found is not None and found[1] > end:
                yield Edge("number", start, found[1], found[0], "numbers.chinese", 1, 1)


@source("number")
def _numbers(words: Mapping[str, VocabularyFile]) -> Source:
    """Numbers by the words of a rule set."""
    return Numbers(words).find


def _two_sums(normalized: Normalized, start: int, end: int) -> bool:
    """$20，300美元: a Chinese comma, and a currency on either side of it. ¥1，200元 names the same currency twice."""
    text = normalized.text
    comma = text.index(",", start, end)
    if (
        normalized.original[normalized.starts[comma]] != _CHINESE_COMMA
        or not "\u3400" <= text[end : end + 1] <= "\u9fff"
    ):
        return False
    sign = text[start - 1 : start]
    return bool(sign) and sign not in _YUAN and unicodedata.category(sign) == "Sc"


def _figures(printed: str) -> Iterator[tuple[int, Num, bool]]:
    """The readings of a printed number: length, value, and whether it is safe outside money."""
    if "." in printed and _PLAIN.fullmatch(printed):
        yield len(printed), Num(Decimal(printed)), True
        if re.fullmatch(r"[1-9][0-9]{0,2}\.[0-9]{3}", printed):
            yield len(printed), Num(Decimal(printed.replace(".", "")), dotted=True), False  # 1.234 € in half of Europe
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
        if rest != ".":
            safe = len(whole[0].partition(".")[0]) <= _SAFE_DIGITS
            yield whole.end(), Num(Decimal(whole[0])), safe
