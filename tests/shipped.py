"""The shipped rules, loaded and compiled once for all test modules of a process: nothing of a rule set ever changes."""

from __future__ import annotations

from functools import lru_cache

from recordari.rules.load import load
from recordari.rules.ruleset import Ruleset


@lru_cache(maxsize=1)
def shipped() -> Ruleset:
    """The one rule set of the shipped packs that tests share; a copy in each module would be 40 MB and a second."""
    return load()
