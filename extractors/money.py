"""Money: a number and what says which currency, on either side, with its smaller coins and what it is paid for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from ..values import MoneyValue
from .figures.amounts import Measure, fields
from .figures.chinese import Num
from .grammar import Context, Place, finisher
from .parsing.expression import function


@function("sum", gives="sum")
def money(number: Num, currency: str | None = None) -> Measure:
    """A number of currency units; the currency is a code or, where only policy can tell, a sign ($, ¥, £, kr)."""
    return Measure(number, "money", currency)


@function("sum_both", gives="sum")
def money_both(before: str, number: Num, after: str) -> Measure | None:
    """ "US$5 USD", "人民币5元": two statements that must not contradict each other; the clearer one wins."""
    for clear, other in ((before, after), (after, before)):
        if len(clear) == 3 and clear.isupper():
            known = len(other) == 3 and other.isupper()
            return Measure(number, "money", clear) if not known or other == clear else None
    return Measure(number, "money", before)


@function("coins", gives="coins")
def coins(number: Num, coin: tuple[str, Any]) -> Measure | None:
    """5 角, 50 cents: counted in the main unit."""
    currency, worth = coin
    return Measure(number.times(Decimal(str(worth))), "money", currency)


@function("coins_and", gives="coins")
def coins_and(number: Num, digit: Num) -> Measure | None:
    """七毛八 → 0.78."""
    a, b = number.exact, digit.exact
    if a is None or b is None or a % 1 or b % 1 or not (0 < a < 10 and 0 < b < 10):
        return None
    return Measure(Num((a * 10 + b) / 100), "money", "元")


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
def finish_money(value: Measure, context: Context, place: Place) -> MoneyValue | None:
    """The currency of a sign is decided by the table ``currency_policy``: locale first, then language."""
    del place
    currency = value.unit
    if currency is not None and not (len(currency) == 3 and currency.isupper()):
        currency = _decided(currency, context)
    return MoneyValue(**fields(value.num), currency=currency, per=value.per, base=value.base)


def _decided(sign: str, context: Context) -> str | None:
    """What an ambiguous sign stands for here; None when the policy does not say."""
    policy: Mapping[str, Any] = context.tables.get("currency_policy", {})
    choices: Mapping[str, str] = policy.get(sign, {})
    region = (context.locale or "").replace("_", "-").split("-")[-1]
    for key in (context.locale or "", region, context.lang, "any"):
        if key and key in choices:
            return choices[key]
    return None
