"""The commands `recordari hold …`; imported when one of them is asked for."""

from __future__ import annotations

from .marking import commands

app = commands(
    "hold_legal",
    "Keep something from being erased or swept; prints the number of the hold.",
    "End a hold by its number; prints the number of the record that ends it.",
)
