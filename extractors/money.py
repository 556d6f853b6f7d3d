"""Money: a number and what says which currency, on either side, with its smaller coins and what it is paid for."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

from ..values import MoneyValue
from .figures.amounts import Measure, decided, fields
from .figures.headers import agreed, heading_of
from .figures.num import Num
from .grammar import Context, Place, Refusal, finisher
from .parsing.expression import function

_CLASH = " ≠ "  # between two units that contradict each other


@function("sum", gives="sum")
def money(number: Num, currency: str | None = None) -> Measure:
    """A number of currency units; the currency is a code or, where only policy can tell, a sign ($, ¥, £, kr)."""
    return Measure(number, "money", currency)


@function("sum_both", gives="sum")
def money_both(before: str, number: Num, after: str) -> Measure:
    """ "US$5 USD", "人民币5元": two statements; whether they agree is for the finisher, which knows the policy."""
    return Measure(number, "money", before if before == after else f"{before}{_CLASH}{after}")


@function("in_unit", gives="sum")
def in_unit(number: Num, unit: Measure) -> Measure | None:
    """收入(万元):1,200 and "Revenue ($m): 120": the unit stands before its figure, in brackets."""
    if number.scale > 1 and unit.num.amount != 1:
        return Measure(number, "money", f"{unit.canonical}{_CLASH}{number.canonical}")
    return Measure(number.times(unit.num.amount or Decimal(1)), "money", unit.unit)


@function("in_unit_said", gives="sum")
def in_unit_said(unit: Measure, value: Measure) -> Measure | None:
    """(USD): $500 agrees with itself; (万元): 300元 and (USD): 500 EUR do not."""
    if unit.num.amount != 1 and value.num.scale == 1:
        return replace(value, unit=f"{unit.canonical}{_CLASH}{value.unit}")
    return replace(value, unit=unit.unit if unit.unit == value.unit else f"{unit.unit}{_CLASH}{value.unit}")


@function("counted_in", gives="money_unit")
def counted_in(currency: str, scale: int | None = None) -> Measure:
    """万元, $m, USD: what figures count."""
    return Measure(Num(Decimal(scale or 1)), "unit", currency)


@function("coins", gives="coins")
def coins(number: Num, coin: tuple[str, Any]) -> Measure | None:
    """5 角, 50 cents: counted in the main unit."""
    currency, worth = coin
    return Measure(number.times(Decimal(str(worth))), "money", currency)


@function("coins_and", gives="coins")
def coins_and(number: Num, digit: Num, currency: str) -> Measure | None:
    """七毛八 → 0.78."""
    a, b = number.exact, digit.exact
    if a is None or b is None or a % 1 or b % 1 or not (0 < a < 10 and 0 < b < 10):
        return None
    return Measure(Num((a * 10 + b) / 100), "money", currency)


@function("coins_together", gives="coins")
def coins_together(one: Measure, other: Measure) -> Measure | None:
    """A dime and two quarters: coins of one currency."""
    a, b = one.num.exact, other.num.exact
    return None if a is None or b is None or one.unit != other.unit else replace(one, num=Num(a + b))


@function("few_coins")
def few_coins(value: Measure) -> Measure | None:
    """五分 alone: less than one of the main unit; 一百二十分 are the points of a mark."""
    return value if value.num.exact is not None and value.num.exact < 1 else None


@function("add_coins")
def add_coins(whole: Measure, part: Measure) -> Measure | None:
    """3 dollars 50 cents, 237元2角, 2角5分: the smaller coin after the larger."""
    a, b = whole.num.exact, part.num.exact
    if a is None or b is None or whole.per is not None:
        return None
    if b >= Decimal(1) or (a % 1 and (a % 1) * 100 % 10):  # nothing comes after cents
        return None
    if a < 1 and b * 10 > 1:  # 分 after 角 only
        return None
    return replace(whole, num=Num(a + b))


@function("add_digits", gives="sum")
def add_digits(whole: Measure | None, digits: Num) -> Measure | None:
    """20 rupees 43, 3块零4: the last figure counts hundredths."""
    return _with_digits(whole, digits, Decimal(100))


@function("add_tenths", gives="sum")
def add_tenths(whole: Measure | None, digits: Num) -> Measure | None:
    """3块5: the last figure counts tenths; 3块25 hundredths."""
    size = digits.exact
    return _with_digits(whole, digits, Decimal(10 if size is not None and size < 10 else 100))


def _with_digits(whole: Measure | None, digits: Num, parts: Decimal) -> Measure | None:
    if whole is None:
        return None
    a, b = whole.num.exact, digits.exact
    if a is None or b is None or a % 1 or b % 1 or not 0 < b < 100 or whole.num.scale >= 10000 or digits.scale > 1:
        return None
    return replace(whole, num=Num(a + b / parts))


@function("add_hundredths", gives="sum")
def add_hundredths(whole: Measure | None, digits: Num) -> Measure | None:
    """20 rupees 43: two figures after the unit."""
    size = digits.exact
    return _with_digits(whole, digits, Decimal(100)) if size is not None and size >= 10 else None


@function("scaled", gives="sum")
def scaled(value: Measure | None, factor: int) -> Measure | None:
    """75 USD million."""
    if value is None or value.num.scale > 1:
        return None
    return replace(value, num=replace(value.num.times(Decimal(factor)), scale=factor))


@function("scaled_sum", gives="sum")
def scaled_sum(number: Num, code: tuple[int, str]) -> Measure | None:
    """40 MUSD: a scale and a code in one word."""
    return scaled(money(number, code[1]), code[0])


@function("as_said", gives="sum")
def as_said(value: Measure) -> Measure | None:
    """伍万元整: nothing follows."""
    return value


@function("labelled", gives="sum")
def labelled(number: Num | None) -> Measure | None:
    """A number beside a money label (预算8万): money of a currency not said. Small counts stay numbers."""
    if number is None:
        return None
    size = number.amount if number.amount is not None else number.high
    if size is None or (abs(size) < 100 and number.scale == 1):
        return None
    return Measure(number, "money", None)


@finisher("money")
def finish_money(value: Measure, context: Context, place: Place) -> MoneyValue | Refusal | None:
    """The currency of a sign is decided by the table ``currency_policy``: locale first, then language.

    A sum without currency takes the one of the heading it stands under.
    """
    currency, num = value.unit, value.num
    if currency is not None and _CLASH in currency:
        one, _, other = currency.partition(_CLASH)
        both = agreed(one, other, context.tables.get("currency_meanings", {}))
        if both is None:
            return Refusal(f"two units: {one} and {other}")
        currency = both
    if currency is None:
        heading = heading_of(place.normalized.text, place.start, place.end, context.tables)
        if heading is not None:
            if heading.clash:
                return Refusal(heading.clash)
            num, currency = num.times(heading.scale) if num.scale == 1 else num, heading.currency or None
    if currency is not None:
        currency = decided(currency, context)
    if num.dotted and num.amount is not None and currency in context.tables.get("three_decimals", ()):
        num = replace(num, amount=num.amount / 1000)  # 12.345 KWD has fils, no thousands
    return MoneyValue(**fields(num), currency=currency, per=value.per, base=value.base)
