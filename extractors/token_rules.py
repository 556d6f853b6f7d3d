"""Names by spaCy token patterns from a rule file, for lists and appositions; spaCy loads when a trigger occurs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..rulefile import Model
from .segment import english

if TYPE_CHECKING:
    from spacy.matcher import Matcher

TABLE = "token_rules.en"


class TokenRule(Model):
    """One pattern: ``take`` are the places of the pattern that are names, each a run of words."""

    name: str
    kind: str
    trigger: str
    pattern: list[dict[str, Any]]
    take: list[int]


class Taken(NamedTuple):
    """A name at characters of the text, by the rule that took it."""

    kind: str
    start: int
    end: int
    rule: str


class TokenRules:
    """The compiled rules of one table."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rules = tuple(TokenRule.model_validate(row) for row in rows)
        self.triggers = tuple(re.compile(rule.trigger, re.IGNORECASE) for rule in self.rules)
        self._matchers: dict[str, Matcher] = {}

    def find(self, text: str) -> Iterator[Taken]:
        """The names that the rules take from a text; spaCy is only asked when a trigger occurs."""
        wanted = [rule for rule, trigger in zip(self.rules, self.triggers, strict=True) if trigger.search(text)]
        if not wanted:
            return
        document = english()(text)
        for rule in wanted:
            best: dict[int, tuple[int, list[int]]] = {}
            matches: list[Any] = self._matcher(rule)(document, with_alignments=True)
            for _, start, end, places in matches:
                if end not in best or start < best[end][0]:  # of two with the same end the longer names more
                    best[end] = (start, places)
            for start, places in sorted(best.values()):
                for place in rule.take:
                    words = [start + i for i, at in enumerate(places) if at == place]
                    if words:
                        last = document[words[-1]]
                        yield Taken(rule.kind, document[words[0]].idx, last.idx + len(last.text), rule.name)

    def _matcher(self, rule: TokenRule) -> Matcher:
        from spacy.matcher import Matcher

        if rule.name not in self._matchers:
            matcher = Matcher(english().vocab)
            matcher.add(rule.name, [rule.pattern], greedy="LONGEST")
            self._matchers[rule.name] = matcher
        return self._matchers[rule.name]


_COMPILED: dict[int, tuple[list[dict[str, Any]], TokenRules]] = {}


def find(text: str, tables: Mapping[str, Any]) -> Iterator[Taken]:
    """The names that the token rules of a rule set take from a text."""
    rows = tables.get(TABLE)
    if not rows:
        return
    known = _COMPILED.get(id(rows))
    if known is None or known[0] is not rows:  # the table is held, so that its id stays its own
        known = _COMPILED[id(rows)] = (rows, TokenRules(rows))
    yield from known[1].find(text)
