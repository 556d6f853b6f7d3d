"""Names by spaCy token patterns from a rule file, for lists and appositions; spaCy loads when a trigger occurs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ..rulefile import Model
from .segment import pipeline

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


def find(text: str, tables: Mapping[str, Any]) -> Iterator[Taken]:
    """The names that the token rules of the rule set take from a text."""
    rows = tables.get(TABLE)
    if not rows:
        return
    rules = _rules(_key(rows))
    wanted = [rule for rule in rules if _trigger(rule.trigger).search(text)]
    if not wanted:
        return
    document = pipeline("en")(text)
    for rule in wanted:
        best: dict[int, tuple[int, int, list[int]]] = {}
        matches: list[Any] = _matcher(rule.name, _key(rows))(document, with_alignments=True)
        for _, start, end, places in matches:
            known = best.get(end)
            if known is None or start < known[0]:  # of two matches with the same end the longer names more
                best[end] = (start, end, places)
        for start, _, places in sorted(best.values()):
            for place in rule.take:
                words = [start + i for i, at in enumerate(places) if at == place]
                if words:
                    last = document[words[-1]]
                    yield Taken(rule.kind, document[words[0]].idx, last.idx + len(last.text), rule.name)


def _key(rows: list[dict[str, Any]]) -> str:
    import json

    return json.dumps(rows, sort_keys=True, default=str)


@lru_cache(maxsize=4)
def _rules(key: str) -> tuple[TokenRule, ...]:
    import json

    return tuple(TokenRule.model_validate(row) for row in json.loads(key))


@lru_cache(maxsize=64)
def _trigger(source: str) -> re.Pattern[str]:
    return re.compile(source, re.IGNORECASE)


@lru_cache(maxsize=64)
def _matcher(name: str, key: str) -> Matcher:
    from spacy.matcher import Matcher

    rule = next(rule for rule in _rules(key) if rule.name == name)
    matcher = Matcher(pipeline("en").vocab)
    matcher.add(rule.name, [rule.pattern], greedy="LONGEST")
    return matcher
