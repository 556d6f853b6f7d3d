"""Clauses by punctuation (cheap), words by jieba and spaCy (imported only when a rule asks for them)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from ..cachefolder import folder

if TYPE_CHECKING:
    from spacy.language import Language

Lang = Literal["zh", "en"]

# No clause ends at a dot or comma between digits (a number), at 、 (a list) or at a colon (label and value).
_CLAUSE_END = re.compile(r"[，。；！？\n\r]|(?<!\d)[,，;!?]|[,，;!?](?!\d)|\.(?=\s|$)")
_SENTENCE_END = re.compile(r"[。！？\n\r]+[”’」』\"')）]*|[.!?]+[\"')]*(?=\s|$)")
# A dot after these ends no sentence and no clause: titles, company forms, street types, single letters.
_ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|ave|rd|blvd|ste|apt|no|inc|ltd|corp|co|jr|sr|vs|etc|approx|dept|est|hon|rev|u\.s|e\.g|i\.e|p\.o)|\b[a-z])$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word at exact characters of the text it was cut from."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Clause:
    """Characters between two marks of punctuation, without the marks."""

    start: int
    end: int


def clauses(text: str) -> tuple[Clause, ...]:
    """The clauses of a text in order; an empty stretch between two marks is none."""
    return tuple(Clause(start, end) for start, end in _pieces(text, _CLAUSE_END))


def sentences(text: str) -> tuple[Clause, ...]:
    """The sentences of a text in order, each with its outer marks left off."""
    return tuple(Clause(start, end) for start, end in _pieces(text, _SENTENCE_END))


def clause_of(text: str, position: int) -> Clause:
    """The clause a character stands in; between two clauses, the empty one at that place."""
    for clause in clauses(text):
        if clause.start <= position < clause.end:
            return clause
    return Clause(position, position)


def _pieces(text: str, mark: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    begin = 0
    for hit in mark.finditer(text):
        if hit.group() == "." and _ABBREVIATION.search(text, max(0, hit.start() - 8), hit.start()):
            continue
        if text[begin : hit.start()].strip():
            yield begin, hit.start()
        begin = hit.end()
    if text[begin:].strip():
        yield begin, len(text)


@lru_cache(maxsize=1)
def english() -> Language:
    """spaCy's own rules for English words. Costs seconds once."""
    import spacy

    return spacy.blank("en")


@lru_cache(maxsize=1)
def _chinese() -> Callable[[str], Iterator[str]]:
    """jieba's words for Chinese, with a dictionary of our own that no other code of the process can add to."""
    import logging
    import warnings
    from tempfile import TemporaryDirectory

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # jieba warns about pkg_resources; nothing of ours can answer it
        import jieba
    jieba.setLogLevel(logging.WARNING)  # it reports its loading on standard error otherwise
    made = jieba.Tokenizer()
    kept = folder()
    try:
        if kept is not None:
            kept.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        kept = None
    # Left alone it keeps its parsed dictionary in the temporary folder of all users, and trusts what lies there.
    with TemporaryDirectory() as passing:
        made.tmp_dir = str(kept if kept is not None and os.access(kept, os.W_OK) else passing)
        made.initialize()
    cut: Callable[[str], Iterator[str]] = made.cut
    return cut


def tokens(text: str, lang: Lang) -> tuple[Token, ...]:
    """The words of a text with their characters; white space is no word."""
    if not text.strip():
        return ()
    if lang == "en":
        return tuple(Token(t.idx, t.idx + len(t.text), t.text) for t in english()(text) if not t.is_space)
    found: list[Token] = []
    at = 0
    for word in _chinese()(text):
        if not word.isspace():
            found.append(Token(at, at + len(word), word))
        at += len(word)
    return tuple(found)


def words_before(text: str, position: int, lang: Lang, limit: int = 8) -> tuple[Token, ...]:
    """The words of the clause that end at or before ``position``, in the order of the text, at most ``limit``."""
    clause = next((c for c in reversed(clauses(text)) if c.start < position), None)
    if clause is None or position > clause.end + 1:
        return ()
    inside = text[clause.start : min(position, clause.end)]
    found = tokens(inside, lang)
    return tuple(Token(t.start + clause.start, t.end + clause.start, t.text) for t in found[-limit:])
