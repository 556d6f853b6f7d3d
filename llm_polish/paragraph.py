"""Accepts a paragraph made of template sentences only if it says each of them, whole, and nothing else."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from .guard import HAN, SLACK, Accepted, Key, Refused, figures, folded, latin_words, meaning, shape, words

Parse = Callable[[str], frozenset[Key]]
Split = Callable[[str], Sequence[str]]


class Stated(NamedTuple):
    """A template sentence: whom it is about, and the slot of which it tells."""

    text: str
    entity: str
    slot: str


class _Read(NamedTuple):
    """A sentence with what the rules read in it and the words that must not be lost."""

    stated: Stated
    keys: frozenset[Key]
    words: frozenset[str]


def guard_paragraph(
    paragraph: str, sentences: Sequence[Stated], parse: Parse, split: Split, *, function_words: Collection[str] = ()
) -> Accepted | Refused:
    """Compare a paragraph with the template sentences that it was made from.

    ``split`` cuts it into its own sentences. Each of those says one template sentence, or several of the same entity
    that are told one after the other. A sentence in which the rules do not find its slot again stands as it is.
    """
    given = list({each.text: each for each in sentences}.values())
    texts = "\n".join(each.text for each in given)
    refusal = shape(paragraph, len(" ".join(each.text for each in sentences)) + SLACK) or words(
        paragraph, (texts,), function_words
    )
    if refusal is not None:
        return refusal
    small = sorted((folded(word) for word in function_words), key=lambda word: (-len(word), word))
    open_, rest = _stand(paragraph, given)
    told = [_Read(each, parse(each.text), _words_of(each.text, small)) for each in open_]
    for each in told:
        if missing := sorted(each.words - set(_places(folded(rest), each.words))):
            return Refused("words_missing", f"{', '.join(missing)} of: {each.stated.text}")
        if not any(key.slot == each.stated.slot for key in each.keys):
            return Refused("unverifiable", f"not read back, and not copied word for word: {each.stated.text}")
    said: list[_Read] = []
    for piece in split(rest):
        if any(char.isalnum() for char in piece):
            group = _fitting(piece, told)
            refusal = _judged(piece, group, parse, small)
            if refusal is not None:
                return refusal
            said += group
    left = [each.stated.text for each in told if each not in said]
    return Refused("scattered", left[0]) if left else Accepted(paragraph.strip())


def _stand(paragraph: str, given: Sequence[Stated]) -> tuple[list[Stated], str]:
    """The sentences that do not stand in the paragraph word for word, and the paragraph without those that do."""
    open_: list[Stated] = []
    rest = paragraph
    for each in sorted(given, key=lambda each: (-len(each.text), each.text)):
        body = re.escape(each.text.strip().rstrip("。."))
        # Not within a word and not before more of a figure: "$3" does not stand in "$3.50".
        rest, found = re.subn(rf"(?<!\w){body}(?!\w|[.,:]\d)", "\n", rest)
        if not found:
            open_.append(each)
    return open_, rest


def _fitting(piece: str, told: Sequence[_Read]) -> list[_Read]:
    """The sentences all of whose words stand in a piece of the paragraph."""
    text = folded(piece)
    return [
        each for each in told if each.words <= set(_places(text, each.words)) and folded(each.stated.entity) in text
    ]


def _judged(piece: str, group: Sequence[_Read], parse: Parse, small: Sequence[str]) -> Refused | None:
    """Why a piece of the paragraph is not what its sentences say together."""
    if not group:
        return Refused("scattered", f"says no template sentence, or not a whole one: {piece}")
    source = "\n".join(each.stated.text for each in group)
    refusal = words(piece, (source,), small)
    if refusal is not None:
        return Refused("mixed", f"{refusal.detail} of another sentence in: {piece}")
    if len({folded(each.stated.entity) for each in group}) > 1 or _interleaved(folded(piece), group):
        return Refused("mixed", f"words of several sentences among each other: {piece}")
    name = _words_of(group[0].stated.entity, ())
    if saved := _saved(folded(piece), group, name):
        return Refused("words_missing", f"{', '.join(saved)} said once for several sentences in: {piece}")
    slots = frozenset(each.stated.slot for each in group)
    silent = {*small, *name}
    together = _compared((key for each in group for key in each.keys), slots, silent)
    outcome = meaning(piece, source, lambda text: together if text == source else _compared(parse(text), slots, silent))
    return outcome if isinstance(outcome, Refused) else None


def _saved(text: str, group: Sequence[_Read], name: Collection[str]) -> list[str]:
    """Words that stand less often than the sentences have them: one "not" may not serve two. A name and figures, those
    of the day of saying above all, may be shared; the values are compared anyhow."""
    needed = Counter(word for each in group for word in each.words if word not in name and not word[0].isdigit())
    places = _places(text, needed)
    return sorted(word for word, count in needed.items() if len(places.get(word, ())) < count)


def _compared(keys: Iterable[Key], slots: Collection[str], silent: Collection[str]) -> frozenset[Key]:
    """The mentions, and the candidates of ``slots``, their labels without the name of whom it is about.

    Which words the rules take for a label depends on where the name stands; that its words and those of the label stand
    by their value is looked at already.
    """
    found = set()
    for key in keys:
        if key.slot is None:
            found.add(key)
        elif key.slot in slots:
            slot, label, _, kind = key.label
            said = " ".join(word for word in folded(label).split() if word not in silent)
            found.add(Key(f"candidate {slot} {said} {kind}", key.value, key.how))
    return frozenset(found)


def _interleaved(text: str, group: Sequence[_Read]) -> bool:
    """True when what only one of two sentences says does not stand apart from what only the other says.

    So no value, date or denial can change places with that of a neighbour, whether a rule sees it or not.
    """
    for one, other in combinations(group, 2):
        mine, theirs = _own(one.words, other.words), _own(other.words, one.words)
        if not mine and not theirs:
            return True  # the same words in another order: nothing tells which is which
        if not mine or not theirs:
            continue
        places = [[at for found in _places(text, some).values() for at in found] for some in (mine, theirs)]
        if not (max(places[0]) < min(places[1]) or max(places[1]) < min(places[0])):
            return True
    return False


def _own(words_: frozenset[str], others: frozenset[str]) -> frozenset[str]:
    return frozenset(
        word for word in words_ if word not in others and not (HAN.match(word) and any(word in each for each in others))
    )


def _words_of(text: str, small: Sequence[str]) -> frozenset[str]:
    """The words and figures of a sentence without those that say nothing; of Chinese, what is left between those."""
    plain = folded(text)
    latin = {word for each in small for word, _ in latin_words(each)}
    found = {word for word, _ in latin_words(plain) if word not in latin} | {figure for figure, _ in figures(plain)}
    return frozenset(found | set(_chinese(plain, small)))


def _chinese(text: str, small: Sequence[str]) -> Iterator[str]:
    for run in HAN.findall(text):
        rest = run
        for word in small:
            rest = rest.replace(word, " ")
        yield from rest.split()


def _places(text: str, wanted: Collection[str]) -> dict[str, list[int]]:
    """Where words stand in a text; without those that do not."""
    found: dict[str, list[int]] = {}
    for word, at in (*latin_words(text), *figures(text)):
        if word in wanted:
            found.setdefault(word, []).append(at)
    for word in wanted:
        if HAN.match(word):
            for hit in re.finditer(re.escape(word), text):
                found.setdefault(word, []).append(hit.start())
    return found
