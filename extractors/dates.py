"""Dates and times: importing this module registers the functions and the finisher that time grammars need."""

from __future__ import annotations

from .time_chinese import lunar_of
from .time_fields import formal, numeric_date
from .time_finish import finish
from .time_forms import intersect, span
from .time_periods import nth, shift

__all__ = ["finish", "formal", "intersect", "lunar_of", "nth", "numeric_date", "shift", "span"]
