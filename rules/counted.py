"""Numbers that count something: "ordered 40 chairs" is a quantity, its unit what is counted."""

from __future__ import annotations

import re
from dataclasses import replace

from ..model import Mention
from ..values import NumberValue, QuantityValue
from .book import Book
from .frames import LONGEST
from .view import Place, View

_NOUN = re.compile(r"\s+(?P<noun>(?:[a-z-]+\s)?[a-z]{3,}s)\b(?=\s*(?:$|[^\w\s]|\w+\b))")


def counted(seen: View, book: Book) -> View:
    """The view with such numbers read as quantities; their span takes the noun in."""
    changed: dict[int, Mention] = {}
    for place in seen.places:
        noun = _noun(seen, book, place)
        if noun is None:
            continue
        mention, (unit, end) = place.mention, noun
        value = mention.value
        assert isinstance(value, NumberValue)
        fields = {n: getattr(value, n) for n in ("amount", "min", "max", "bound", "approx") if getattr(value, n)}
        close = seen.norm.span(place.start, end)[1]
        changed[place.index] = mention.model_copy(
            update={
                "kind": "quantity", "value": QuantityValue(**fields, unit=unit), "end": close,
                "text": seen.norm.original[mention.start : close],
            }
        )  # fmt: skip
    if not changed:
        return seen
    mentions = tuple(changed.get(index, mention) for index, mention in enumerate(seen.scan.mentions))
    return replace(seen, scan=seen.scan.model_copy(update={"mentions": mentions}))


def _noun(seen: View, book: Book, place: Place) -> tuple[str, int] | None:
    """The counted noun and where it ends, when a verb of getting or of adjusting stands before the number."""
    if place.kind != "number" or not isinstance(place.mention.value, NumberValue) or place.mention.value.unit:
        return None
    segment = seen.segment_at(place.start)
    hit = _NOUN.match(seen.low, place.end, segment.end)
    if hit is None or book.uncounted.search(hit["noun"]):
        return None
    before = seen.low[max(segment.start, place.start - LONGEST) : place.start]
    if not book.acquire.search(before) and not book.adjust_pattern.search(before):
        return None
    if any(other.start < hit.end() for other in seen.within(place.end, hit.end() + LONGEST)):
        return None
    words = hit["noun"].split()
    if len(words) > 1 and book.uncounted.search(words[0]):
        return None
    return hit["noun"], hit.end("noun")
