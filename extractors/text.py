"""Normalised text that remembers where every character stood in the original."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property, lru_cache

# Characters that print nothing; they only break words apart.
_INVISIBLE = frozenset("\u00ad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\ufeff\ufe0e\ufe0f")
_SUPERSCRIPT = frozenset("⁰¹²³⁴⁵⁶⁷⁸⁹")
# What NFKC leaves apart although writers use it as one sign.
_SAME = {
    **dict.fromkeys("‐‑‒–−﹣", "-"),
    **dict.fromkeys("〜∼", "~"),
    **dict.fromkeys("‘’‛′", "'"),
    **dict.fromkeys("“”„″", '"'),
    "⁄": "/",
}
_BLANKS = re.compile(r"[ \n][ \n]")
_LINE_ENDS = frozenset("\r\n\v\f\x85\u2028\u2029")
_ODD = "\uffff"  # stands for a character that does not become exactly one: such a text takes the slow way


@dataclass(frozen=True)
class Normalized:
    """NFKC, simplified characters, single spaces; ``span`` leads back to the exact characters of ``original``.

    Runs of blanks are one space, runs holding a line end are one ``\\n``. Full-width signs are half-width (，is ","),
    en dashes and minus signs are ``-``, curly quotes straight. Names and free text should be taken from ``original``.
    """

    original: str
    text: str
    starts: tuple[int, ...] | range
    ends: tuple[int, ...] | range

    @cached_property
    def lower(self) -> str:
        """``text`` in lower case, character by character, so that offsets stay (İ has a two-character lower case)."""
        return _lower(self.text)

    @cached_property
    def written(self) -> str:
        """``text`` with its Chinese characters as the writer chose them, at the same offsets."""
        text, original = self.text, self.original
        if text == original:
            return text
        if isinstance(self.starts, range):
            pairs = zip(text, original, strict=True)
            return "".join(said if "\u3400" <= said <= "\u9fff" else char for char, said in pairs)
        out = []
        for char, start, end in zip(text, self.starts, self.ends, strict=True):
            said = original[start:end]
            out.append(said if len(said) == 1 and "\u3400" <= said <= "\u9fff" else char)
        return "".join(out)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Offsets into the original of the normalised characters ``start:end`` (not empty)."""
        return self.starts[start], self.ends[end - 1]

    def inside(self, start: int, end: int) -> tuple[int, int]:
        """Normalised offsets of the original characters ``start:end``."""
        if isinstance(self.starts, range):
            return start, end
        first = next((i for i, place in enumerate(self.ends) if place > start), len(self.text))
        last = first
        while last < len(self.text) and self.starts[last] < end:
            last += 1
        return first, last


@lru_cache(maxsize=1)
def _simplified() -> dict[int, int]:
    """Traditional → simplified, one character for one; read from OpenCC once, when the first Han character is met."""
    from opencc import OpenCC

    characters = [chr(code) for code in range(0x3400, 0xA000)]
    converted = OpenCC("t2s").convert("\n".join(characters)).split("\n")  # alone on its line: no phrase is converted
    return {ord(a): ord(b) for a, b in zip(characters, converted, strict=True) if a != b and len(b) == 1}


def _one(chunk: str, before: str) -> str:
    """The normalised form of a character with its combining marks."""
    if chunk in _SAME:
        return _SAME[chunk]
    if chunk in _INVISIBLE:
        return ""
    if "\ud800" <= chunk <= "\udfff":
        return "\ufffd"  # a lone surrogate cannot be encoded, and no pattern needs it
    if before.isdigit() and chunk in _SUPERSCRIPT:
        return "^" + unicodedata.normalize("NFKC", chunk)  # 10² is not 102
    form = unicodedata.normalize("NFKC", chunk)
    if "⁄" in form:  # 3½ is 3 1/2, not 31/2
        form = (" " if before.isdigit() else "") + form.replace("⁄", "/")
    return "".join(_SAME.get(c, c) for c in form)


def _pieces(text: str) -> list[tuple[str, int, int]]:
    """(normalised characters, original start, original end), without regard to blanks."""
    found: list[tuple[str, int, int]] = []
    size, at, before = len(text), 0, ""
    while at < size:
        end = at + 1
        while end < size and text[end] > "\u02ff" and unicodedata.combining(text[end]):
            end += 1
        form = text[at] if end == at + 1 and text[at] < "\x80" else _one(text[at:end], before)
        if form:
            found.append((form, at, end))
            before = form[-1]
        at = end
    return found


class _Signs(dict[int, int]):
    """Code → code of characters that become exactly one character whatever stands beside them; the rest are odd."""

    def __missing__(self, code: int) -> int:
        char = chr(code)
        if char.isspace():
            form = "\n" if char in _LINE_ENDS else " "
        elif unicodedata.combining(char) or char in _SUPERSCRIPT:
            form = _ODD
        else:
            form = _one(char, "")
            form = form if len(form) == 1 and form != "\ufffd" and not unicodedata.combining(form) else _ODD
        self[code] = simple = _simplified().get(ord(form), ord(form)) if form >= "\u3400" else ord(form)
        return simple


_SIGNS = _Signs()


def normalize(text: str) -> Normalized:
    """Normalise one turn's text; linear in its length. A turn and its labels are asked for many times over."""
    return _remembered(text) if len(text) <= _LONGEST_REMEMBERED else _normalize(text)


def _lower(text: str) -> str:
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def lowered(text: str) -> str:
    """The normalised characters in lower case."""
    return _lower(spelled(text))


def spelled(text: str) -> str:
    """The normalised characters alone, for the many words of rule files."""
    if text.isascii() and text.isprintable() and "  " not in text:
        return text
    same = text.translate(_SIGNS)
    return same if _ODD not in same and not _BLANKS.search(same) else _normalize(text).text


def _normalize(text: str) -> Normalized:
    same = text.translate(_SIGNS)
    if _ODD not in same and not _BLANKS.search(same):
        return Normalized(text, same, range(len(text)), range(1, len(text) + 1))
    out: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for form, start, end in _pieces(text):
        for char in form:
            if char.isspace():
                blank = "\n" if char in _LINE_ENDS else " "
                if out and out[-1] in " \n":
                    out[-1] = "\n" if blank == "\n" else out[-1]
                    ends[-1] = end
                    continue
                char = blank
            out.append(char)
            starts.append(start)
            ends.append(end)
    joined = "".join(out)
    if not joined.isascii():
        joined = joined.translate(_simplified())
    return Normalized(text, joined, tuple(starts), tuple(ends))


_LONGEST_REMEMBERED = 500  # characters, so that what is remembered stays below a few MB
_remembered = lru_cache(maxsize=512)(_normalize)
