"""The names of the shapes that a rule may ask of a stretch of text; ``shapes.py`` says what each of them is."""

from __future__ import annotations

from typing import Literal, get_args

Shape = Literal["person", "organization", "place", "law", "forum", "role", "thing", "product", "matter"]
SHAPES: tuple[Shape, ...] = get_args(Shape)
