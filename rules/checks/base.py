"""What a lint check is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import ClassVar

from ...rulefile import Problem, RuleFile, Severity
from ..ruleset import Ruleset

Found = tuple[str, tuple[str | int, ...], str, str]  # rule id, path, message, way out


class LintCheck:
    """Base of the checks. The docstring says in English what a file should be like, ``zh`` in Chinese.

    ``bad`` and ``good`` are excerpts of YAML, several files parted by ``---``. Each stands over a sound file of its
    kind, named by its first key ``kind`` (a capture when it has none).
    """

    id: ClassVar[str]
    severity: ClassVar[Severity] = "error"
    zh: ClassVar[str]
    bad: ClassVar[str]
    good: ClassVar[str]
    day: date | None = None  # the day for which rules are looked at; none: days are not looked at
    known: frozenset[str] = frozenset()  # the ids of all checks

    def rule(self, ruleset: Ruleset, rule: RuleFile) -> Iterator[Found | Problem]:
        """What is wrong with one rule."""
        yield from ()

    def whole(self, ruleset: Ruleset) -> Iterator[Found | Problem]:
        """What is wrong with the set as a whole."""
        yield from ()


class Reported(LintCheck):
    """A check that is made while files are read and held against their lock; here is only its explanation."""
