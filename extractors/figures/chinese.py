"""Chinese numerals, alone or mixed with Arabic digits: 一万二, 两百五, 3万5, 1.5个亿, 三四十, 八万多, 伍万."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from ..vocabulary import VocabularyFile
from ..words import lazy
from .num import Num, sizes

ARABIC = re.compile(r"[0-9]{1,3}(?:,[0-9]{3}){1,4}(?:\.[0-9]{1,4})?|[0-9]{1,12}(?:\.[0-9]{1,6})?")
_FEW = (Decimal(1), Decimal(10))
_LONGEST_STRING = 16  # digits one by one, as in a telephone number
_ENDLESS = 65  # no amount is written with so many numerals in a row; reading them would cost a little for each


@dataclass(frozen=True)
class _Read:
    """A number read from somewhere up to ``end``."""

    num: Num
    end: int
    unit: int = 1  # of the last digit: what a unit left out is a tenth of


def _all(*characters: Iterable[str]) -> str:
    """The characters of several sets, as they stand within brackets of a pattern."""
    return "".join(sorted({char for some in characters for char in some}))


class Chinese:
    """Reads Chinese numerals; the characters and what they are worth come from the vocabulary ``words.number.zh``."""

    def __init__(self, words: VocabularyFile) -> None:
        worth = sizes(words, characters=True)
        label, form = {name: frozenset(said) for name, said in words.labels.items()}, words.patterns
        self.digit = {char: size for char, size in worth.items() if size < 10}
        self.tens = {char: size for char, size in worth.items() if 20 <= size < 100}
        self.small = {char: size for char, size in worth.items() if size in {10, 100, 1000}}
        self.big = {char: size for char, size in worth.items() if size >= 10**4}
        self.units = frozenset((*self.small, *self.big))
        self.zero = frozenset(char for char, size in self.digit.items() if size == 0)
        self.one = frozenset(char for char, size in self.digit.items() if size == 1)
        self.wholes = {char: size for char, size in worth.items() if 100 <= size <= 10**4}
        self.point, self.more, self.about, self.few = label["point"], label["more"], label["about"], label["few"]
        self.several, self.at_least, self.piece = label["several"], label["at_least"], label["piece"]
        self.before_big = label["before_big"]
        self.handful, self.nearly, self.pair = label["handful"], label["nearly"], label["pair"]
        self.weight, self.weekday = label["weight"], label["weekday"]
        self.capital = label["capital"] | label["variant"]
        self.formal = self.capital | self.zero | frozenset(self.big)
        # What carries a number on behind Arabic digits.
        self.after_digits = frozenset().union(
            self.units, self.more, self.about, self.few, self.several, self.point, self.piece
        )
        self._measure, self._behind_digits = (
            re.compile("|".join(sorted(label[name]))).match for name in ("measure", "measure_behind_digits")
        )
        (
            self._per_one, self._calendar, self._not_more, self._some_of, self._handful_of, self._before_capital,
            self._after_capital, self._after_blank_point, self._not_before_big, self._after_big,
        ) = (
            re.compile(form[name]).match
            for name in (
                "per_one", "calendar", "not_more", "some_of", "handful_of", "before_capital", "after_capital",
                "after_blank_point", "not_before_big", "after_big",
            )
        )  # fmt: skip
        self._patterns(label)

    def _patterns(self, label: Mapping[str, frozenset[str]]) -> None:
        """Where a numeral may begin, run on, or be read digit by digit."""
        numerals = _all(self.digit, self.tens, self.small, self.few, self.several)
        big, point = _all(self.big), _all(self.point)
        self._run = lazy(
            rf"[{numerals}{_all(self.at_least)}]|[{big}](?=[{_all(self.handful, self.more)}])"
            rf"|(?<=[{_all(self.before_big)}])[{big}]"
            rf"|(?={'|'.join(sorted(self.nearly))})"
        )
        self._run_on = lazy(rf"[{numerals}{big}{point}{_all(self.at_least, self.more)}0-9.,]{{{_ENDLESS},}}")
        # Numerals with blanks between them, as scanned tables have them: 六千 二百 四十七, 8万 3千 6百.
        inner = rf"[{numerals}{big}{point}0-9.]"
        self._spaced = lazy(rf"[{numerals}0-9]{inner}{{0,12}}(?: {inner}{{1,12}}){{1,8}}")
        # A digit string (year, telephone number) has no unit: its characters are read one by one.
        single = _all(frozenset(self.digit) - self.weight - label["variant"])
        self._string = lazy(rf"[{single}]{{2,{_LONGEST_STRING}}}")

    def read(self, text: str, at: int) -> tuple[Num, int] | None:
        """The longest number that starts at ``at``, and where it ends."""
        found = self._whole(text, at)
        if found is None:
            return None
        num, end = found.num, found.end
        if text[end : end + 1] in self.point and num.amount is not None and num.bound == "=" and not num.approx:
            decimals = self._decimals(text, end + 1)
            if decimals:
                exact = num.amount + Decimal("0." + decimals)
                end += 1 + len(decimals)
                scale = self._big(text, end)
                if scale is not None and scale[0] > 1:
                    return Num(exact * scale[0]), scale[1]
                return Num(exact), end
        return num, end

    def _decimals(self, text: str, at: int) -> str:
        """The digits after 点."""
        out = ""
        while at < len(text) and len(out) < 8 and text[at] not in self.weight:
            char = text[at]
            if char not in self.digit and not "0" <= char <= "9":
                break
            out += str(self.digit.get(char, char))
            at += 1
        return out

    def _big(self, text: str, at: int) -> tuple[int, int] | None:
        """The product of the big units at ``at`` (万, 亿, 万亿, 个亿) and where they end."""
        factor, end = 1, at
        if text[end : end + 1] in self.piece and text[end + 1 : end + 2] in self.big:
            end += 1
        elif text[end : end + 1] == " " and text[end + 1 : end + 2] in self.big:
            end += 1  # "1300 万"
        while end < len(text) and text[end] in self.big and factor < 10**16:
            factor *= self.big[text[end]]
            end += 1
        return (factor, end) if factor > 1 else None

    def _whole(self, text: str, at: int) -> _Read | None:
        """Sections with falling big units: 五亿 零六万 二千."""
        if text[at] in self.wholes and text[at + 1 : at + 2] in self.handful and self._handful_of(text, at + 2):
            return _Read(Num(Decimal(self.wholes[text[at]]), approx=True), at + 2, 1)
        loosely = self.wholes.get(text[at], 0) if text[at : at + 3] in self.nearly else 0
        if loosely and text[at + 3 : at + 4] not in self.digit:
            near = Num(low=Decimal(loosely * 8 // 10), high=Decimal(loosely), approx=True)
            scale = self._big(text, at + 3)
            if scale is not None:  # 百八十万
                return _Read(near.times(Decimal(scale[0])), scale[1], scale[0])
            return _Read(near, at + 3, loosely // 10)
        if text[at] in self.big:
            return self._bare(text, at)
        total = Decimal(0)
        last = 10**20
        end, start = at, at
        result: _Read | None = None
        unit = 1
        while end < len(text):
            skipped = end
            while skipped < len(text) and skipped > start and text[skipped] in self.zero and skipped - end < 2:
                skipped += 1
            section = self._section(text, skipped, end == start)
            if section is None:
                break
            scale = self._big(text, section.end)
            factor = scale[0] if scale else 1
            num = section.num
            if factor >= last:
                so_far = total + (num.amount or 0)
                if factor < 10**8 or last >= 10**8 or num.exact is None or scale is None:
                    break
                total, last = Decimal(0), factor  # 四千万八千三百亿: the larger unit counts all before it
                result = _Read(Num(so_far * factor, scale=factor), scale[1], factor)
                end, unit, total = scale[1], factor, so_far * factor
                continue
            stop = scale[1] if scale else section.end
            alone = num.amount is not None and num.bound == "=" and not num.approx and section.unit == 1
            dated = section.num.amount is not None and section.num.amount < 60
            if dated and skipped == end and result is not None and factor == 1 and self._calendar(text, section.end):
                break  # 80万3月5号: the 3 belongs to the date
            short = skipped == end and result is not None and factor == 1 and section.end - skipped == 1
            if short and unit >= 100 and self._an_article(text, skipped):
                break
            if short and alone and unit >= 100 and num.amount is not None and num.amount:
                num = num.times(Decimal(unit) / 10)  # 一万二: the unit left out is the next lower one
            elif short and num.low is not None and unit >= 100:
                num = num.times(Decimal(unit) / 10)
            whole = num.times(Decimal(factor)).plus(total).lending(factor if factor > 1 else self._lent(section.unit))
            result = _Read(whole, stop, factor if factor > 1 else section.unit)
            end, last, unit = stop, factor, result.unit
            if num.bound != "=" or num.approx or num.amount is None:
                break  # 十几万: nothing exact can follow
            total = result.num.amount or Decimal(0)
            if factor == 1:
                break
        return None if result is None else self._softened(text, result)

    def _bare(self, text: str, at: int) -> _Read | None:
        """A big unit with no figure before it: 近|万|人, 过|亿, 万余|元."""
        found = self._big(text, at)
        if found is None:
            return None
        size, end = found
        if text[end : end + 1] in self.more and not self._not_more(text, end + 1):
            return _Read(Num(Decimal(size), bound=">", scale=size), end + 1, size)
        return _Read(Num(Decimal(size), scale=size), end, size) if self._stands_for_one(text, at) else None

    def _stands_for_one(self, text: str, at: int) -> bool:
        """上万人, 近万元, 过亿: the big unit at ``at`` is one of it, behind such a word; not 晚上|万达, 通过|亿达."""
        if at == 0 or text[at - 1] not in self.before_big | self.at_least:
            return False
        end = at
        while end < len(text) and text[end] in self.big:
            end += 1
        return self._after_big(text, end) is not None and self._not_before_big(text[max(0, at - 2) : at - 1]) is None

    def _an_article(self, text: str, at: int) -> bool:
        """三千一平, 一万一个月: the last 一 begins what the price is for."""
        return text[at] in self.one and self._per_one(text, at + 1) is not None

    def _lent(self, unit: int) -> int:
        """三到五百: hundreds and thousands are lent to the first figure, tens are not (二到五十)."""
        return unit if unit >= 100 else 1

    def _softened(self, text: str, found: _Read) -> _Read:
        """八万多, 二百余, 三千来, 一个多亿: more than, or about."""
        at, num = found.end, found.num
        if text[at : at + 1] in self.piece and text[at + 1 : at + 2] in self.more and num.exact is not None:
            scale = self._big(text, at + 2)
            if scale is not None and scale[0] >= 10**8:
                return _Read(replace(num.times(Decimal(scale[0])), bound=">"), scale[1], scale[0])
        if at < len(text) and num.exact is not None and num.exact >= 10 and num.exact % 10 == 0:
            if text[at] in self.more and not self._not_more(text, at + 1):
                scale = self._big(text, at + 1)
                end = scale[1] if scale else at + 1
                return _Read(replace(num.times(Decimal(scale[0] if scale else 1)), bound=">"), end, found.unit)
            if text[at] in self.about and (at + 1 == len(text) or self._some_of(text, at + 1)):
                scale = self._big(text, at + 1)
                return _Read(
                    replace(num.times(Decimal(scale[0] if scale else 1)), approx=True),
                    scale[1] if scale else at + 1,
                    found.unit,
                )
        return found

    def _section(self, text: str, at: int, first: bool) -> _Read | None:
        """Below 万: digits with falling 千, 百, 十; or an Arabic number with an optional unit."""
        total, last, end, unit = Decimal(0), 10000, at, 1
        found: _Read | None = None
        while end < len(text):
            zero = end
            while zero < len(text) and found is not None and text[zero] in self.zero and zero - end < 2:
                zero += 1
            piece = self._piece(text, zero, first and found is None)
            if piece is None:
                break
            num, stop, factor = piece
            if factor >= last or (found is not None and num.amount is not None and num.amount >= 10 and factor > 1):
                break
            if factor == 1 and found is not None and zero == end and stop - zero == 1 and unit >= 100:
                if self._an_article(text, zero):
                    break
                num = num.times(Decimal(unit) / 10)  # 两百五
            elif factor == 1 and found is not None and zero == end and text[zero].isascii():
                break  # 5百23 is no number
            whole = num.times(Decimal(factor)).plus(total)
            found = _Read(whole, stop, factor if factor > 1 else 1)
            end, last, unit = stop, factor, factor
            if whole.amount is None or factor == 1:
                break
            total = whole.amount
            soft = self._few_or_more(text, end, whole, factor)
            if soft is not None:
                return soft
        return found

    def _few_or_more(self, text: str, at: int, num: Num, unit: int) -> _Read | None:
        """After a unit: 三十几, 十多(万), 二十来(万)."""
        amount = num.amount
        if amount is None or at >= len(text):
            return None
        zero = at + 1 if text[at] in self.zero and text[at + 1 : at + 2] in self.few else at
        if text[zero] in self.few and text[zero + 1 : zero + 2] not in self.small:  # 三百零几 stays below 310
            return _Read(Num(low=amount, high=amount + (unit if zero == at else 10), approx=True), zero + 1, 1)
        if (text[at] in self.more or text[at] in self.about) and text[at + 1 : at + 2] in self.big:
            soft = Num(amount, approx=True) if text[at] in self.about else Num(amount, bound=">")
            return _Read(soft, at + 1, 1)
        return None

    def _piece(self, text: str, at: int, first: bool) -> tuple[Num, int, int] | None:
        """A digit (or two neighbouring ones: 三四) with its small unit: (figure, end, unit)."""
        if at >= len(text):
            return None
        char = text[at]
        if char in self.tens:
            return Num(Decimal(self.tens[char] // 10)), at + 1, 10
        if char in self.small:  # 十五, 百二, 千万: one of them, only at the beginning
            return (Num(Decimal(1)), at + 1, self.small[char]) if first or self.small[char] == 10 else None
        if char in self.few or char in self.several:
            factor = self.small.get(text[at + 1 : at + 2], 1)
            behind = at + 2 if text[at + 1 : at + 2] in self.piece else at + 1  # 几个亿
            if factor == 1 and not (first and text[behind : behind + 1] in self.big):
                return None
            return Num(low=_FEW[0], high=_FEW[1], approx=True), at + (2 if factor > 1 else 1), factor
        if first and char in self.at_least and text[at + 1 : at + 2] in self.big and self._stands_for_one(text, at + 1):
            return Num(Decimal(1), bound=">="), at + 1, 1
        if first and char in self.at_least and self.small.get(text[at + 1 : at + 2], 0) >= 100:
            return Num(Decimal(1), bound=">="), at + 2, self.small[text[at + 1]]
        if char in self.digit:
            return self._digit(text, at)
        match = ARABIC.match(text, at) if first or char.isascii() else None
        if match is None or (at and text[at - 1].isascii() and (text[at - 1].isdigit() or text[at - 1] == ".")):
            return None
        end = match.end()
        factor = 1 if self._behind_digits(text, end) else self._small(text, end)
        return Num(Decimal(match[0].replace(",", ""))), end + (1 if factor > 1 else 0), factor

    def _digit(self, text: str, at: int) -> tuple[Num, int, int] | None:
        one = self.digit[text[at]]
        second = self.digit.get(text[at + 1 : at + 2])
        third = text[at + 2 : at + 3]
        counted = at > 0 and text[at - 1] in self.digit  # 一二三四五
        if second is not None and third not in self.digit and one > 0 and not counted:
            if second == one + 1 or text[at : at + 2] in self.pair:
                factor = self.small.get(third, 1)
                num = Num(low=Decimal(one), high=Decimal(second))
                return num, at + (3 if factor > 1 else 2), factor
            return Num(Decimal(one)), at + 1, 1
        factor = self._small(text, at + 1)
        if one == 0 and factor == 10:
            return Num(Decimal(1)), at + 2, factor  # 零十
        if (
            text[at] in self.weight
            and factor == 1
            and at
            and text[at - 1] in self.units
            and text[at + 1 : at + 2] not in self.big
        ):
            return None  # 三十两: the 两 is a weight
        return Num(Decimal(one)), at + (2 if factor > 1 else 1), factor

    def _small(self, text: str, at: int) -> int:
        """The small unit at ``at``; 千 of 千克, 千米, 千瓦 belongs to the measure."""
        factor = self.small.get(text[at : at + 1], 1)
        return 1 if factor > 1 and self._measure(text, at) else factor

    def endless(self, text: str) -> list[tuple[int, int]]:
        """Where numerals run on without end, so that nothing is read there; runs of ASCII alone are tables."""
        if len(text) < _ENDLESS:
            return []
        return [match.span() for match in self._run_on.finditer(text) if not match[0].isascii()]

    def spaced(self, text: str) -> Iterator[tuple[int, int, Num]]:
        """Numerals with blanks between them; only where every blank stands beside a unit and all is one number."""
        if " " not in text:
            return
        for match in self._spaced.finditer(text):
            said = match[0]
            if any(
                not self._joins(said, at, text[match.end() : match.end() + 8]) for at, c in enumerate(said) if c == " "
            ):
                continue
            before = text[match.start() - 1 : match.start()]
            if (
                before.isdigit()
                or before in self.units
                or before in self.digit
                or text[match.end() : match.end() + 1].isdigit()
            ):
                continue
            whole = said.replace(" ", "")
            tail = text[match.end() : match.end() + 4]
            found = self.read(whole + tail, 0)
            if found is not None and found[1] >= len(whole):
                yield match.start(), match.end() + found[1] - len(whole), found[0]

    def _joins(self, said: str, at: int, after: str) -> bool:
        """True when the blank at ``at`` stands inside one number."""
        left, right, next_one = said[at - 1], said[at + 1], said[at + 2 : at + 3]
        if right in self.point:
            return next_one in self.digit
        if left in self.point:
            return self._after_blank_point(after) is not None
        if right in self.units:
            return not left.isascii() or right in self.big or any(c in self.units for c in said[:at])
        if left not in self.units:
            return False
        piece, _, rest = said[at + 1 :].partition(" ")
        return not right.isascii() or any(c in self.units for c in piece) or rest[:1] in self.units

    def in_capitals(self, text: str, start: int, end: int) -> bool:
        """Financial capitals alone, with a unit among them: 肆佰叁拾万."""
        if text[start] not in self.capital or end - start < 2:
            return False
        said = frozenset(text[start:end])
        return said <= self.formal and not said.isdisjoint(self.units)

    def find(self, text: str, barred: Sequence[tuple[int, int]] = ()) -> Iterator[tuple[int, int, Num, bool]]:
        """Every Chinese numeral: start, end, number, and whether it stands only in company (bare digits)."""
        at, skipped = 0, 0
        while True:
            match = self._run.search(text, at)
            if match is None:
                return
            start = match.start()
            while skipped < len(barred) and barred[skipped][1] <= start:
                skipped += 1
            if skipped < len(barred) and barred[skipped][0] <= start:
                at = barred[skipped][1]
                continue
            string = self._string.match(text, start)
            got = self.read(text, start)
            end = start
            if start and "0" <= text[start - 1] <= "9":
                at = start + 1  # the tail of 6千: read with its digits
                continue
            if got is not None:
                end = got[1]
                lone_capital = (
                    end == start + 1
                    and text[start] in self.capital
                    and (
                        not self._after_capital(text, end)
                        and not self._before_capital(text[max(0, start - 2) : start].strip()[-1:])
                    )
                )
                if self.small.get(text[start:end], 0) < 100 and not lone_capital:
                    yield start, end, got[0], False
                point = next((at for at in range(start, end) if text[at] in self.point), -1)
                if point > start:  # 三点五: a clock may need the parts
                    inner = self.read(text[start:point], 0)
                    if inner is not None and start + inner[1] == point:
                        yield start, point, inner[0], False
                    end = point + 1
                elif start and text[start - 1] in self.weekday and end > start + 1:
                    end = start + 1  # 周五十点: the hour begins after the day
            if (
                string is not None
                and string[0][0] not in self.zero
                and string.end() > max(start + 1, end - 1)
                and string.end() - start > (0 if got is None else got[1] - start)
            ):
                value = Decimal("".join(str(self.digit[c]) for c in string[0]))
                yield start, string.end(), Num(value), True
            at = max(end, start + 1)
