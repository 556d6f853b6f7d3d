"""Chinese numerals, alone or mixed with Arabic digits: 一万二, 两百五, 3万5, 1.5个亿, 三四十, 八万多, 伍万."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from ...values import Bound, plain


@dataclass(frozen=True)
class Num:
    """A number as said: exact (``amount``, perhaps with a ``bound``) or between ``low`` and ``high``."""

    amount: Decimal | None = None
    low: Decimal | None = None
    high: Decimal | None = None
    bound: Bound = "="
    approx: bool = False
    scale: int = 1  # the multiplier said last: "20到30万" and "$2-5 million" lend it to the first figure
    dotted: bool = False  # 1.234 read as one thousand and more

    @property
    def canonical(self) -> str:
        """The figure as in the canonical form of a value."""
        if self.amount is not None:
            figure = plain(self.amount)
        else:
            figure = f"{'' if self.low is None else plain(self.low)}..{'' if self.high is None else plain(self.high)}"
        return f"{'~' if self.approx else ''}{'' if self.bound == '=' else self.bound}{figure}"

    @property
    def exact(self) -> Decimal | None:
        """The amount when nothing softens it."""
        return self.amount if self.bound == "=" and not self.approx else None

    def times(self, factor: Decimal) -> Num:
        """Every figure multiplied."""
        if self.amount is not None:
            return Num(self.amount * factor, None, None, self.bound, self.approx, self.scale)
        low, high = (None if x is None else x * factor for x in (self.low, self.high))
        return Num(None, low, high, self.bound, self.approx, self.scale)

    def plus(self, more: Decimal) -> Num:
        """Every figure shifted."""
        if self.amount is not None:
            return Num(self.amount + more, None, None, self.bound, self.approx, self.scale)
        low, high = (None if x is None else x + more for x in (self.low, self.high))
        return Num(None, low, high, self.bound, self.approx, self.scale)

    def lending(self, scale: int) -> Num:
        """The same figure, said with this multiplier last."""
        return Num(self.amount, self.low, self.high, self.bound, self.approx, scale)


DIGITS = {
    **{c: i for i, c in enumerate("零一二三四五六七八九")},
    **{c: i for i, c in enumerate("〇壹贰叁肆伍陆柒捌玖")},
    "○": 0, "两": 2, "貮": 2, "参": 3, "弍": 2, "弎": 3,
}  # fmt: skip
TENS = {"廿": 20, "卅": 30, "卌": 40}
SMALL = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
BIG = {"万": 10**4, "亿": 10**8, "兆": 10**12}
_UNITS = frozenset((*SMALL, *BIG))
ZERO = frozenset("零〇○")
MORE = frozenset("多余")
AFTER_DIGITS = frozenset((*SMALL, *BIG, *MORE, *"来几数点个"))  # what carries a number on behind Arabic digits
ARABIC = re.compile(r"[0-9]{1,3}(?:,[0-9]{3}){1,4}(?:\.[0-9]{1,4})?|[0-9]{1,12}(?:\.[0-9]{1,6})?")
_NUMERALS = "零〇○一二三四五六七八九两壹贰叁肆伍陆柒捌玖貮参廿卅卌十拾百佰千仟几数"
RUN = re.compile(rf"[{_NUMERALS}上]|万(?=把|八千)")
# No amount is written with so many numerals in a row; reading them would cost a little for each, and say nothing.
_ENDLESS = re.compile(rf"[{_NUMERALS}上万亿兆点多余0-9.,]{{65,}}")
# Numerals with blanks between them, as scanned tables have them: 六千 二百 四十七, 8万 3千 6百.
_SPACED = re.compile(rf"[{_NUMERALS}0-9][{_NUMERALS}万亿点0-9.]{{0,12}}(?: [{_NUMERALS}万亿点0-9.]{{1,12}}){{1,8}}")
_PERCENT_AFTER = re.compile(r" ?(?:个 ?百 ?分|%|万|亿)")
# A digit string (year, telephone number) has no unit: its characters are read one by one.
DIGIT_STRING = re.compile(r"[零〇○一二三四五六七八九壹贰叁肆伍陆柒捌玖]{2,16}")
_CAPITALS = frozenset("壹贰叁肆伍陆柒捌玖貮参拾")  # 陆 and 拾 are words too: 陆地, 拾起
_AFTER_CAPITAL = frozenset("又元圆块角分毛成折倍%份")
_CALENDAR = frozenset("月号日点年时")
_MORE_NOT = frozenset("少额数次年月")
_SOME_OF = frozenset("个块元万岁年天人名件套次条页亿号")
_LOOSELY = {"百八十": 100, "千八百": 1000, "万八千": 10000}  # said of what comes near a hundred, a thousand …
_HANDFUL = {"百": 100, "千": 1000, "万": 10**4}  # 千把人: some thousand
_HANDFUL_OF = frozenset("人块个元斤字亩")
_PER_ONE = frozenset("平个月年天日周斤公人位套间张晚次件台股份只辆亩吨瓶盒箱桶条度页")
_FEW = (Decimal(1), Decimal(10))


@dataclass(frozen=True)
class _Read:
    """A number read from somewhere up to ``end``."""

    num: Num
    end: int
    unit: int = 1  # of the last digit: what a unit left out is a tenth of


def read(text: str, at: int) -> tuple[Num, int] | None:
    """The longest number that starts at ``at``, and where it ends."""
    found = _whole(text, at)
    if found is None:
        return None
    num, end = found.num, found.end
    if text[end : end + 1] == "点" and num.amount is not None and num.bound == "=" and not num.approx:
        decimals = _decimals(text, end + 1)
        if decimals:
            exact = num.amount + Decimal("0." + decimals)
            end += 1 + len(decimals)
            scale = _big(text, end)
            if scale is not None and scale[0] > 1:
                return Num(exact * scale[0]), scale[1]
            return Num(exact), end
    return num, end


def _decimals(text: str, at: int) -> str:
    """The digits after 点."""
    out = ""
    while at < len(text) and len(out) < 8 and text[at] != "两" and (text[at] in DIGITS or "0" <= text[at] <= "9"):
        out += str(DIGITS.get(text[at], text[at]))
        at += 1
    return out


def _big(text: str, at: int) -> tuple[int, int] | None:
    """The product of the big units at ``at`` (万, 亿, 万亿, 个亿) and where they end."""
    factor, end = 1, at
    if text[end : end + 1] == "个" and text[end + 1 : end + 2] in {"亿", "万"}:
        end += 1
    elif text[end : end + 1] == " " and text[end + 1 : end + 2] in BIG:
        end += 1  # "1300 万"
    while end < len(text) and text[end] in BIG and factor < 10**16:
        factor *= BIG[text[end]]
        end += 1
    return (factor, end) if factor > 1 else None


def _whole(text: str, at: int) -> _Read | None:
    """Sections with falling big units: 五亿 零六万 二千."""
    if text[at + 1 : at + 2] == "把" and text[at + 2 : at + 3] in _HANDFUL_OF and text[at] in _HANDFUL:
        return _Read(Num(Decimal(_HANDFUL[text[at]]), approx=True), at + 2, 1)
    loosely = _LOOSELY.get(text[at : at + 3])
    if loosely is not None and text[at + 3 : at + 4] not in DIGITS:
        return _Read(Num(low=Decimal(loosely * 8 // 10), high=Decimal(loosely), approx=True), at + 3, loosely // 10)
    total = Decimal(0)
    last = 10**20
    end, start = at, at
    result: _Read | None = None
    unit = 1
    while end < len(text):
        skipped = end
        while skipped < len(text) and skipped > start and text[skipped] in ZERO and skipped - end < 2:
            skipped += 1
        section = _section(text, skipped, end == start)
        if section is None:
            break
        scale = _big(text, section.end)
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
        if (
            dated
            and skipped == end
            and result is not None
            and factor == 1
            and text[section.end : section.end + 1] in _CALENDAR
        ):
            break  # 80万3月5号: the 3 belongs to the date
        short = skipped == end and result is not None and factor == 1 and section.end - skipped == 1
        if short and unit >= 100 and _an_article(text, skipped):
            break
        if short and alone and unit >= 100 and num.amount is not None and num.amount:
            num = num.times(Decimal(unit) / 10)  # 一万二: the unit left out is the next lower one
        elif short and num.low is not None and unit >= 100:
            num = num.times(Decimal(unit) / 10)
        whole = num.times(Decimal(factor)).plus(total).lending(factor if factor > 1 else _lent(section.unit))
        result = _Read(whole, stop, factor if factor > 1 else section.unit)
        end, last, unit = stop, factor, result.unit
        if num.bound != "=" or num.approx or num.amount is None:
            break  # 十几万: nothing exact can follow
        total = result.num.amount or Decimal(0)
        if factor == 1:
            break
    return None if result is None else _softened(text, result)


def _an_article(text: str, at: int) -> bool:
    """三千一平, 一万一个月: the last 一 begins what the price is for."""
    return text[at] == "一" and text[at + 1 : at + 2] in _PER_ONE


def _lent(unit: int) -> int:
    """三到五百: hundreds and thousands are lent to the first figure, tens are not (二到五十)."""
    return unit if unit >= 100 else 1


def _softened(text: str, found: _Read) -> _Read:
    """八万多, 二百余, 三千来, 一个多亿: more than, or about."""
    at, num = found.end, found.num
    if text[at : at + 1] == "个" and text[at + 1 : at + 2] in MORE and num.exact is not None:
        scale = _big(text, at + 2)
        if scale is not None and scale[0] >= 10**8:
            return _Read(replace(num.times(Decimal(scale[0])), bound=">"), scale[1], scale[0])
    if at < len(text) and num.exact is not None and num.exact >= 10 and num.exact % 10 == 0:
        if text[at] in MORE and text[at + 1 : at + 2] not in _MORE_NOT:
            scale = _big(text, at + 1)
            end = scale[1] if scale else at + 1
            return _Read(replace(num.times(Decimal(scale[0] if scale else 1)), bound=">"), end, found.unit)
        if text[at] == "来" and (at + 1 == len(text) or text[at + 1] in _SOME_OF):
            scale = _big(text, at + 1)
            return _Read(
                replace(num.times(Decimal(scale[0] if scale else 1)), approx=True),
                scale[1] if scale else at + 1,
                found.unit,
            )
    return found


def _section(text: str, at: int, first: bool) -> _Read | None:
    """Below 万: digits with falling 千, 百, 十; or an Arabic number with an optional unit."""
    total, last, end, unit = Decimal(0), 10000, at, 1
    found: _Read | None = None
    while end < len(text):
        zero = end
        while zero < len(text) and found is not None and text[zero] in ZERO and zero - end < 2:
            zero += 1
        piece = _piece(text, zero, first and found is None)
        if piece is None:
            break
        num, stop, factor = piece
        if factor >= last or (found is not None and num.amount is not None and num.amount >= 10 and factor > 1):
            break
        if factor == 1 and found is not None and zero == end and stop - zero == 1 and unit >= 100:
            if _an_article(text, zero):
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
        soft = _few_or_more(text, end, whole, factor)
        if soft is not None:
            return soft
    return found


def _few_or_more(text: str, at: int, num: Num, unit: int) -> _Read | None:
    """After a unit: 三十几, 十多(万), 二十来(万)."""
    amount = num.amount
    if amount is None or at >= len(text):
        return None
    zero = at + 1 if text[at] in ZERO and text[at + 1 : at + 2] == "几" else at
    if text[zero] == "几" and text[zero + 1 : zero + 2] not in SMALL:  # 三百零几 stays below 310
        return _Read(Num(low=amount, high=amount + (unit if zero == at else 10), approx=True), zero + 1, 1)
    if text[at] in MORE | {"来"} and text[at + 1 : at + 2] in BIG:
        soft = Num(amount, approx=True) if text[at] == "来" else Num(amount, bound=">")
        return _Read(soft, at + 1, 1)
    return None


def _piece(text: str, at: int, first: bool) -> tuple[Num, int, int] | None:
    """A digit (or two neighbouring ones: 三四) with its small unit: (figure, end, unit)."""
    if at >= len(text):
        return None
    char = text[at]
    if char in TENS:
        return Num(Decimal(TENS[char] // 10)), at + 1, 10
    if char in SMALL:  # 十五, 百二, 千万: one of them, only at the beginning
        return (Num(Decimal(1)), at + 1, SMALL[char]) if first or SMALL[char] == 10 else None
    if char in {"几", "数"}:
        factor = SMALL.get(text[at + 1 : at + 2], 1)
        if factor == 1 and not (first and text[at + 1 : at + 2] in BIG):
            return None
        return Num(low=_FEW[0], high=_FEW[1], approx=True), at + (2 if factor > 1 else 1), factor
    if char == "上" and first and text[at + 1 : at + 2] in {"百", "千"}:
        return Num(Decimal(1), bound=">="), at + 2, SMALL[text[at + 1]]
    if char in DIGITS:
        return _digit(text, at)
    match = ARABIC.match(text, at) if first or char.isascii() else None
    if match is None or (at and text[at - 1].isascii() and (text[at - 1].isdigit() or text[at - 1] == ".")):
        return None
    end = match.end()
    factor = 1 if text[end : end + 2] == "千米" else _small(text, end)
    return Num(Decimal(match[0].replace(",", ""))), end + (1 if factor > 1 else 0), factor


def _digit(text: str, at: int) -> tuple[Num, int, int] | None:
    one = DIGITS[text[at]]
    second = DIGITS.get(text[at + 1 : at + 2])
    third = text[at + 2 : at + 3]
    if second is not None and third not in DIGITS and one > 0:
        if second == one + 1 or (one, second) == (3, 5):
            factor = SMALL.get(third, 1)
            num = Num(low=Decimal(one), high=Decimal(second))
            return num, at + (3 if factor > 1 else 2), factor
        return Num(Decimal(one)), at + 1, 1
    factor = _small(text, at + 1)
    if one == 0 and factor == 10:
        return Num(Decimal(1)), at + 2, factor  # 零十
    if text[at] == "两" and factor == 1 and at and text[at - 1] in _UNITS and text[at + 1 : at + 2] not in BIG:
        return None  # 三十两: the 两 is a weight
    return Num(Decimal(one)), at + (2 if factor > 1 else 1), factor


def _small(text: str, at: int) -> int:
    """The small unit at ``at``; 千 of 千克, 千米, 千瓦 belongs to the measure."""
    char = text[at : at + 1]
    if char == "千" and text[at + 1 : at + 2] in {"克", "瓦", "卡"}:
        return 1
    return SMALL.get(char, 1)


def endless(text: str) -> list[tuple[int, int]]:
    """Where numerals run on without end, so that nothing is read there; runs of ASCII alone are lists and tables."""
    if len(text) < 65:
        return []
    return [match.span() for match in _ENDLESS.finditer(text) if not match[0].isascii()]


def spaced(text: str) -> Iterator[tuple[int, int, Num]]:
    """Numerals written with blanks between them; only where every blank stands beside a unit and all is one number."""
    if " " not in text:
        return
    for match in _SPACED.finditer(text):
        said = match[0]
        if any(not _joins(said, at, text[match.end() : match.end() + 8]) for at, c in enumerate(said) if c == " "):
            continue
        before = text[match.start() - 1 : match.start()]
        if before.isdigit() or before in _UNITS or before in DIGITS or text[match.end() : match.end() + 1].isdigit():
            continue
        whole = said.replace(" ", "")
        tail = text[match.end() : match.end() + 4]
        found = read(whole + tail, 0)
        if found is not None and found[1] >= len(whole):
            yield match.start(), match.end() + found[1] - len(whole), found[0]


def _joins(said: str, at: int, after: str) -> bool:
    """True when the blank at ``at`` stands inside one number."""
    left, right, next_one = said[at - 1], said[at + 1], said[at + 2 : at + 3]
    if right == "点":
        return next_one in DIGITS
    if left == "点":
        return _PERCENT_AFTER.match(after) is not None
    if right in _UNITS:
        return not left.isascii() or right in BIG or any(c in _UNITS for c in said[:at])
    if left not in _UNITS:
        return False
    piece, _, rest = said[at + 1 :].partition(" ")
    return not right.isascii() or any(c in _UNITS for c in piece) or rest[:1] in _UNITS


def find(text: str, barred: Sequence[tuple[int, int]] = ()) -> Iterator[tuple[int, int, Num, bool]]:
    """Every Chinese numeral: start, end, number, and whether it stands only in company (a string of bare digits)."""
    at, skipped = 0, 0
    while True:
        match = RUN.search(text, at)
        if match is None:
            return
        start = match.start()
        while skipped < len(barred) and barred[skipped][1] <= start:
            skipped += 1
        if skipped < len(barred) and barred[skipped][0] <= start:
            at = barred[skipped][1]
            continue
        string = DIGIT_STRING.match(text, start)
        got = read(text, start)
        end = start
        if start and "0" <= text[start - 1] <= "9":
            at = start + 1  # the tail of 6千: read with its digits
            continue
        if got is not None:
            end = got[1]
            lone_capital = (
                end == start + 1
                and text[start] in _CAPITALS
                and (
                    text[end : end + 1] not in _AFTER_CAPITAL
                    and text[max(0, start - 2) : start].strip()[-1:] not in {"之", "点", "又"}
                )
            )
            if text[start:end] not in {"百", "千", "佰", "仟"} and not lone_capital:
                yield start, end, got[0], False
            point = text.find("点", start, end)
            if point > start:  # 三点五: a clock may need the parts
                inner = read(text[start:point], 0)
                if inner is not None and start + inner[1] == point:
                    yield start, point, inner[0], False
                end = point + 1
            elif start and text[start - 1] in "周期拜" and end > start + 1:
                end = start + 1  # 周五十点: the hour begins after the day
        if (
            string is not None
            and string[0][0] not in ZERO
            and string.end() > max(start + 1, end - 1)
            and string.end() - start > (0 if got is None else got[1] - start)
        ):
            value = Decimal("".join(str(DIGITS[c]) for c in string[0]))
            yield start, string.end(), Num(value), True
        at = max(end, start + 1)
