"""Amounts of anything: what bounds, ranges, approximations, signs and units do to numbers, sums and percentages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from ...values import Bound, MoneyValue, NumberValue, PercentValue, QuantityValue
from ..grammar import Context, Place, Refusal, finisher
from ..parsing.expression import function
from .headers import heading_of
from .num import Num

_HUNDRED = Decimal(100)
_QUOTES = frozenset("\"'「」『』《》")
_LONGEST_NUMBER = 16
ORDINAL, RATIO = "ordinal", "ratio"  # units of numbers that count nothing


@dataclass(frozen=True)
class Measure:
    """A number of something: currency units, per cent, pieces; ``unit`` is a currency code or sign, or a word."""

    num: Num
    sort: str
    unit: str | None = None
    per: str | None = None
    base: str | None = None

    @property
    def canonical(self) -> str:
        """Figure and unit."""
        return f"{self.num.canonical} {self.unit or ''}".strip()


def num_of(value: Num | Measure) -> Num:
    """The figure of either."""
    return value if isinstance(value, Num) else value.num


def with_num(value: Num | Measure, num: Num) -> Num | Measure:
    """The same thing with another figure."""
    return num if isinstance(value, Num) else replace(value, num=num)


@function("bounded")
def bounded(bound: Bound, value: Num | Measure) -> Num | Measure | None:
    """At most, at least …; a range or a bounded value takes no second bound."""
    num = num_of(value)
    if num.amount is None or num.bound != "=":
        return None
    return with_num(value, replace(num, bound=bound))


@function("about")
def about(value: Num | Measure) -> Num | Measure | None:
    """Roughly; said once."""
    num = num_of(value)
    return with_num(value, replace(num, approx=True)) if not num.approx else value


@function("negative")
def negative(value: Num | Measure) -> Num | Measure | None:
    """Below zero; a range keeps its order."""
    num = num_of(value)
    if num.amount is None or num.amount < 0:
        return None
    return with_num(value, replace(num, amount=-num.amount))


@function("between")
def between(low: Num | Measure, high: Num | Measure) -> Num | Measure | None:
    """From one to the other; each lends the other what it left out: unit, currency, scale."""
    left, right = num_of(low), num_of(high)
    if isinstance(low, Measure) and isinstance(high, Measure) and not _alike(low, high):
        return None
    if left.amount is None or right.amount is None or left.bound != "=" or right.bound != "=":
        return None
    first = left.amount
    lends = right.scale > 1 if left.scale == 1 else left.scale < 10_000 <= right.scale  # 八百到九百亿
    if lends and first * right.scale < right.amount:
        first *= right.scale
    if first >= right.amount:
        return None
    num = Num(low=first, high=right.amount, approx=left.approx or right.approx)
    carrier = high if isinstance(high, Measure) else low
    if isinstance(carrier, Measure) and isinstance(low, Measure) and isinstance(high, Measure):
        carrier = replace(carrier, unit=high.unit or low.unit, per=high.per or low.per)
    return with_num(carrier, num)


def _alike(one: Measure, other: Measure) -> bool:
    """Amounts of the same thing; a unit left out is no difference."""
    return one.sort == other.sort and (None in (one.unit, other.unit) or one.unit == other.unit)


@function("loosely", gives="number")
def loosely(few: Decimal, scale: int) -> Num:
    """A couple of thousand, several hundred, hundreds of: about so many, never exact."""
    size = Decimal(scale)
    return Num(size * few, approx=True) if few == 2 else Num(low=size * few, high=size * 10, approx=True)


@function("odd", gives="number")
def odd(number: Num) -> Num | None:
    """Fifty-odd, 20-something: from the round figure to the next."""
    exact = number.exact
    if exact is None or exact < 20 or exact % 10:
        return None
    return Num(low=exact, high=exact + (10 if exact % 100 else exact / 10), approx=True)


@function("odd_scaled", gives="number")
def odd_scaled(number: Num, scale: int) -> Num | None:
    """Thirty-odd thousand: from thirty to forty thousand."""
    range_ = odd(number)
    return None if range_ is None else range_.times(Decimal(scale)).lending(scale)


@function("give_or_take")
def give_or_take(value: Num | Measure, by: Num | Measure | None = None) -> Num | Measure | None:
    """5%±1% → 4..6 %; ±5% → -5..5 %."""
    centre, margin = num_of(value), num_of(value if by is None else by)
    if centre.exact is None or margin.exact is None or margin.exact <= 0:
        return None
    middle = Decimal(0) if by is None else centre.exact
    return with_num(value, Num(low=middle - margin.exact, high=middle + margin.exact))


@function("between_bounds")
def between_bounds(one: Num | Measure, other: Num | Measure) -> Num | Measure | None:
    """At least 20 and at most 30 → 20..30."""
    a, b = num_of(one), num_of(other)
    if a.amount is None or b.amount is None or "=" in (a.bound, b.bound) or a.bound[0] == b.bound[0]:
        return None
    low, high = (a, b) if a.bound[0] == ">" else (b, a)
    if low.amount is None or high.amount is None or low.amount >= high.amount:
        return None
    return with_num(one, Num(low=low.amount, high=high.amount, approx=a.approx or b.approx))


@function("count", gives="number")
def count(number: int | Decimal) -> Num:
    """A plain figure as a number."""
    return Num(Decimal(number))


@function("times_scale", gives="number")
def times_scale(number: Num, scale: int) -> Num | None:
    """500 (in thousands): the scale stands beside the figure; one scale is enough."""
    return number.times(Decimal(scale)).lending(scale) if number.scale == 1 else None


@function("plus_half", gives="number")
def plus_half(number: Num) -> Num | None:
    """一个半 → 1.5."""
    exact = number.exact
    return Num(exact + Decimal("0.5")) if exact is not None and exact % 1 == 0 else None


@function("fraction", gives="number")
def fraction(numerator: Num, denominator: Num, whole: Num | None = None) -> Num | None:
    """Two thirds; 三分之二; one and three quarters."""
    if numerator.exact is None or not denominator.exact or (whole is not None and whole.exact is None):
        return None
    share = numerator.exact / denominator.exact
    share = share.quantize(Decimal(1).scaleb(-15)) if len(str(share)) > 18 else share
    return Num(share + (whole.exact or Decimal(0) if whole is not None else Decimal(0)))


@function("ratio", gives="number")
def ratio(numerator: Num, denominator: Num) -> Num | None:
    """3/4, 16/5; but 2022/23 is a season and 24/7 all the time."""
    whole = [n.exact for n in (numerator, denominator) if n.exact is not None and n.exact % 1 == 0 and n.exact < 1000]
    return fraction(numerator, denominator) if len(whole) == 2 and whole != [24, 7] else None


@function("proportion", gives="number")
def proportion(part: Num, whole: Num) -> Num | None:
    """Three out of eight, 3 in 10: a part of a whole, never the other way round."""
    a, b = part.exact, whole.exact
    if a is None or b is None or not 0 < a < b or a % 1 or b % 1:
        return None
    return fraction(part, whole)


@function("ordinal", gives="rank")
def ordinal(number: Num) -> Measure | None:
    """Third, 第三: a place in a row. Marked by its unit, so that nothing takes it for an amount."""
    whole = number.amount is not None and number.amount % 1 == 0 and number.amount >= 0
    return Measure(number, "rank", ORDINAL) if whole and number.bound == "=" and not number.approx else None


@function("for_one", gives="priced")
def for_one(number: Num, per: str) -> Measure | None:
    """三千一平, 5000一个月: so many for one, of what is not said."""
    size = number.amount if number.amount is not None else number.high
    return Measure(number, "each", None, per) if size is not None and size >= 100 else None


@function("to_one", gives="odds")
def to_one(first: Num, second: Num) -> Measure | None:
    """A ratio of 3 to 2: the quotient, marked by its unit."""
    if first.exact is None or not second.exact:
        return None
    quotient = fraction(first, second)
    return None if quotient is None else Measure(quotient, "odds", RATIO)


@function("share", gives="rate")
def share(number: Num, of: int = 100, base: str | None = None) -> Measure:
    """Per cent (of 100), per mille (of 1000) …: kept as per cent."""
    return Measure(number.times(_HUNDRED / Decimal(of)), "percent", "%", base=base)


@function("small_share", gives="rate")
def small_share(number: Num, of: int) -> Measure | None:
    """佣金万三, 万2.5: so many of ten thousand; below ten."""
    return share(number, of) if number.exact is not None and 0 < number.exact < 10 else None


@function("tenths", gives="rate")
def tenths(number: Num, half: Any = None) -> Measure | None:
    """三成 → 30 %, 三成半 → 35 %, 7.5折 → 75 %, 85折 → 85 %."""
    num = number
    if num.amount is not None and (num.amount > 100 or num.amount <= 0 or num.bound != "="):
        return None
    if half is not None:
        num = num.plus(Decimal("0.5"))
    small = num.amount is None or num.amount <= 10
    return Measure(num.times(Decimal(10)) if small else num, "percent", "%")


@function("and_tenth", gives="number")
def and_tenth(number: Num, digit: Num) -> Num | None:
    """一分五 → 1.5: the digit behind a unit counts its tenths."""
    size = digit.exact
    return None if number.exact is None or size is None or not 0 < size < 10 or size % 1 else number.plus(size / 10)


@function("tenths_and", gives="rate")
def tenths_and(number: Num, digit: Num) -> Measure | None:
    """七成六 → 76 %."""
    whole = and_tenth(number, digit)
    return None if whole is None else tenths(whole)


@function("points", gives="quantity")
def points(number: Num, unit: str) -> Measure | None:
    """3000点: an index; up to 24 it is a time of day."""
    size = number.amount if number.amount is not None else number.high
    return Measure(number, "quantity", unit) if size is not None and size > 24 else None


@function("plus_half_unit")
def plus_half_unit(value: Measure) -> Measure | None:
    """三斤半 → 3.5 斤."""
    exact = value.num.exact
    if exact is None or exact % 1:
        return None
    return replace(value, num=Num(exact + Decimal("0.5")))


@function("dozens", gives="number")
def dozens(number: Num) -> Num:
    """十打 → 120."""
    return number.times(Decimal(12))


@function("margin", gives="rate")
def margin(base: str, sign: str, rate: Measure) -> Measure | None:
    """LPR+35bp: a margin over a benchmark."""
    if rate.base is not None:
        return None
    signed = rate if sign == "+" else negative(rate)
    return replace(signed, base=base) if isinstance(signed, Measure) else None


@function("rate_per", gives="rate")
def rate_per(rate: Measure, per: str) -> Measure | None:
    """5 % a year."""
    return replace(rate, per=per) if rate.per is None else None


@function("quantity", gives="quantity")
def quantity(number: Num, unit: str) -> Measure | None:
    """A number of pieces; the unit as said."""
    return Measure(number, "quantity", unit)


@function("per_unit")
def per_unit(value: Measure, per: str) -> Measure | None:
    """Something a month, a share, a person."""
    return replace(value, per=per) if value.per is None else None


def fields(num: Num) -> dict[str, Any]:
    """The figure as fields of a typed value."""
    if num.amount is not None:
        return {"amount": num.amount, "bound": num.bound, "approx": num.approx}
    return {"min": num.low, "max": num.high, "bound": num.bound, "approx": num.approx}


@finisher("number")
def finish_number(
    value: Num | Measure | str, context: Context, place: Place
) -> NumberValue | MoneyValue | Refusal | None:
    """A bare number; set phrases are refused; one Chinese digit alone (一下) and units alone (千万别) say nothing."""
    if isinstance(value, str):
        return Refusal("a set phrase")
    if isinstance(value, Measure):
        return None if _no_rank(place) else NumberValue(**fields(value.num), unit=value.unit, per=value.per)
    alone = place.text == place.normalized.text.strip(" \n.。!！")
    if value.amount == 1 and not alone and place.text.lower().split()[-1] in context.tables.get("pronouns", ()):
        return None  # which one, that one, some one
    if place.text[0] == "0" and place.text[1:2].isdigit():
        return None  # 09 is part of a date or a code
    if len(place.text) > _LONGEST_NUMBER and place.text.isdigit():
        return None  # so many digits name something
    if not place.text.isascii() and not alone and _says_nothing(place, context):
        return None
    if alone and place.text.lstrip("0123456789., ") in context.tables.get("measure_letters", ()):
        return None  # 10 m: ten metres, ten million, ten minutes
    heading = heading_of(place.normalized.text, place.start, place.end, context.tables)
    if heading is None:
        return NumberValue(**fields(value))
    if heading.clash:
        return Refusal(heading.clash)
    value = value.times(heading.scale) if value.scale == 1 else value
    if _bracketed(place) and value.amount is not None:  # accounts write what is below zero in brackets
        value = replace(value, amount=-value.amount)
    if not heading.currency:
        return NumberValue(**fields(value))
    return MoneyValue(**fields(value), currency=decided(heading.currency, context))


def _bracketed(place: Place) -> bool:
    """(3,400): a figure in brackets; (3) is the number of a note."""
    text = place.normalized.text
    return (
        place.end - place.start >= 3
        and text[place.start - 1 : place.start] == "("
        and text[place.end : place.end + 1] == ")"
    )


def decided(currency: str, context: Context) -> str | None:
    """What an ambiguous sign ($, ¥, £, kr) stands for here; None when the table ``currency_policy`` does not say."""
    if len(currency) == 3 and currency.isupper():
        return currency
    choices: Mapping[str, str] = context.tables.get("currency_policy", {}).get(currency, {})
    region = (context.locale or "").replace("_", "-").split("-")[-1]
    for key in (context.locale or "", region, context.lang, "any"):
        if key and key in choices:
            return choices[key]
    return None


def _says_nothing(place: Place, context: Context) -> bool:
    """千万 in 千万别, 一 in 一下."""
    return not set(place.text) - set(context.tables.get("bare_units", ())) or (
        len(place.text) == 1 and not _said_as_digit(place, context)
    )


def _said_as_digit(place: Place, context: Context) -> bool:
    """结果是六, 不是七: one Chinese digit after a word that asks for a number, and nothing counted behind it."""
    text, table = place.normalized.text, context.tables.get("lone_digits", {})
    rest = text[place.end : place.end + 4]
    if text[place.start - 1 : place.start] in _QUOTES and rest[:1] in _QUOTES and rest[:1]:
        return True
    return text.endswith(tuple(table.get("after", ())), 0, place.start) and (
        not rest.strip() or rest.startswith(tuple(table.get("before", ())))
    )


def _no_rank(place: Place) -> bool:
    """First Meridian, Ninth Ward inside a sentence are names; "First, we wait" opens a list of reasons."""
    said, after = place.original, place.normalized.text[place.end : place.end + 2]
    if place.start == 0 and after[:1] == "," and said.isalpha():
        return True
    return place.start > 0 and said[:1].isupper() and after[:1] == " " and after[1:].isupper()


@finisher("percent")
def finish_percent(value: Measure, context: Context, place: Place) -> PercentValue:
    """A percentage, with its base and period."""
    del context, place
    return PercentValue(**fields(value.num), base=value.base, per=value.per)


@finisher("quantity")
def finish_quantity(value: Measure, context: Context, place: Place) -> QuantityValue | None:
    """A number of units; 一个 and its like are an article, not a count (table ``articles``), unless nothing follows."""
    if place.text in context.tables.get("articles", ()) and place.text != place.normalized.text.strip(" \n.。!！"):
        return None
    return QuantityValue(**fields(value.num), unit=value.unit, per=value.per, base=value.base)
