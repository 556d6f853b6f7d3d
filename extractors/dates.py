"""Dates and times: importing this module registers the functions and the finisher that time grammars need."""

from __future__ import annotations

from .time.chinese import lunar_of
from .time.fields import formal, numeric_date
from .time.finish import finish
from .time.forms import intersect, span
from .time.shifts import nth, shift

__all__ = ["finish", "formal", "intersect", "lunar_of", "nth", "numeric_date", "shift", "span"]
