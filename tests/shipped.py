"""The shipped rules, loaded and compiled once for all test modules of a process: nothing of a rule set ever changes."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from recordari.rules import load as loading
from recordari.rules.parsed import Parsed, Read
from recordari.rules.ruleset import Ruleset


@lru_cache(maxsize=1)
def shipped() -> Ruleset:
    """The one rule set of the shipped packs that tests share; a copy in each module would be 40 MB and a second."""
    found = loading.load()
    assert found.extraction
    assert found.gatekeeper
    return found


def layered(folders: Sequence[Path | str]) -> Ruleset:
    """The rule set of the shipped packs and these folders, which takes over what is compiled of the very same files.

    That such a set is the same as one compiled alone is a test of its own (``test_serving.py``).
    """
    found = loading.load(folders)
    found.share(shipped())
    return found


def share() -> Callable[[], None]:
    """From here on every rule set that this process reads takes over from the shipped one what the very same files
    give: rules, and what is compiled of them. Gives what ends it.

    For tests of what is done with rules. Those of reading, checking and compiling them read them anew each time.
    """
    whole, known = shipped(), _valid()
    fields = {field.name for field in dataclasses.fields(whole)}
    collected, validate, parse = loading._collected, loading.validate, loading.parse
    said = {name: repr(data) for name, data in known.items()}
    texts = {whole.sources[name]: data for name, data in known.items()}

    def validated(data: Any, *, checked: bool = False) -> Any:
        name = data.get("id") if isinstance(data, dict) else None
        if isinstance(name, str) and name in known and said[name] == repr(data):  # `==` takes true for 1
            return whole.files[name], []
        return validate(data, checked=checked)

    def sharing(*given: Any, **named: Any) -> Any:
        found = collected(*given, **named)
        if (found.digest, found.sources) == (whole.digest, whole.sources):
            made = {name: value for name, value in vars(whole).items() if name not in fields and name != "_texts"}
            vars(found).update(made)
        else:
            found.share(whole)
        return found

    def read(reads: Iterable[Read], trusting: bool) -> Iterator[tuple[Read, Parsed]]:
        if trusting:
            yield from parse(reads, trusting)
            return
        for each in reads:  # who trusts no cache parses the packs for ten seconds
            yield (each, Parsed.of(texts[each.text])) if each.text in texts else next(parse([each], trusting))

    def end() -> None:
        loading.validate, loading._collected, loading.parse = validate, collected, parse

    loading.validate, loading._collected, loading.parse = validated, sharing, read
    return end


@lru_cache(maxsize=1)
def _valid() -> dict[str, Any]:
    """The plain data of the shipped rules, by id."""
    whole, found = shipped(), {}
    validate = loading.validate

    def noted(data: Any, *, checked: bool = False) -> Any:
        rule, complaints = validate(data, checked=checked)
        if rule is not None and rule == whole.files.get(rule.id):
            found[rule.id] = copy.deepcopy(data)
        return rule, complaints

    loading.validate = noted
    try:
        loading.load()
    finally:
        loading.validate = validate
    return found
