"""A number as said: exact, bounded, approximate, or between two."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from ...values import Bound, plain
from ..vocabulary import VocabularyFile


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


def sizes(words: VocabularyFile, *, characters: bool = False) -> dict[str, int]:
    """Word → whole number of a vocabulary; raises GrammarProblems for other values and for longer words than asked."""
    from ..grammar import GrammarProblem, GrammarProblems

    listed = words.words if isinstance(words.words, dict) else {word: word for word in words.words}
    wrong = [
        GrammarProblem(words.id, ("words", word), f"{word!r} must have a whole number for its value")
        for word, size in listed.items()
        if isinstance(size, bool | str)
    ]
    if characters:
        said = "a numeral is read by its characters: give each character its value"
        wrong += [GrammarProblem(words.id, ("words", w), f"{w!r}: {said}") for w in listed if len(w) != 1]
    if wrong:
        raise GrammarProblems(wrong)
    return {word: int(size) for word, size in listed.items()}
