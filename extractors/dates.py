"""Dates and times: importing this module registers the functions and the finisher that time grammars need."""

from __future__ import annotations

from dataclasses import replace
from functools import wraps
from typing import Any

from .parsing.expression import FUNCTIONS
from .time.chinese import lunar_of
from .time.fields import formal, numeric_date
from .time.finish import finish
from .time.forms import intersect, span
from .time.nodes import Invalid
from .time.shifts import nth, shift


def _kept_invalid(call: Any) -> Any:
    """A function that hands on what cannot exist: of a 31 April nothing can be counted, it is refused as a whole."""

    @wraps(call)
    def guarded(*parts: Any, **named: Any) -> Any:
        for part in parts:
            if isinstance(part, Invalid):
                return part
        return call(*parts, **named)

    return guarded


for _name, _function in list(FUNCTIONS.items()):
    if _function.call.__module__.startswith(f"{__package__}.time."):
        FUNCTIONS[_name] = replace(_function, call=_kept_invalid(_function.call))

__all__ = ["finish", "formal", "intersect", "lunar_of", "nth", "numeric_date", "shift", "span"]
