"""The commands `recordari restrict …`; imported when one of them is asked for."""

from __future__ import annotations

from .marking import commands

app = commands(
    "restrict",
    "Keep something stored but unanswered and unused (GDPR 18); prints the number of the restriction.",
    "End a restriction by its number; prints the number of the record that ends it.",
)
