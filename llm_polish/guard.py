"""Accepts a rewritten sentence only if it says exactly what the template says and adds no word of its own."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ..model import Candidate, Scan

# A rewriting joins or smooths; one that is twice as long as the template and two dozen characters more explains or
# embellishes. A refused rewriting costs nothing, the template stands.
GROWTH = 2
SLACK = 24
# Traditional and simplified forms, kana and so on are other words here; only Latin letters are folded.
_LATIN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]+")
# Marks of a sentence. Anything else (markup, code, emoji, arrows) must stand in the template or in what was said.
_MARKS = frozenset(" .,:;!'\"()-–—%$€£¥’‘“”，。；：！（）、")

# Whether a name is seen, and as what, depends on the words around it ("of Acme", "Acme has"); what counts is that it
# stands there and that no cue falls on it.
NAMES = frozenset({"person", "place", "organization"})

Why = Literal[
    "empty", "several_lines", "too_long", "odd_characters", "new_words", "new_numbers", "name_missing",
    "unverifiable", "value_changed", "words_missing", "scattered", "mixed",
]  # fmt: skip


class Key(NamedTuple):
    """One thing a sentence says, in a form that compares exactly."""

    what: str
    value: str
    how: str

    @property
    def label(self) -> tuple[str, str, str, str]:
        """Slot, label, entity and kind of a candidate; four empty strings for a mention."""
        kind, _, label = self.what.partition(" ")
        return tuple(json.loads(label)) if kind == "candidate" else ("", "", "", "")

    @property
    def slot(self) -> str | None:
        """The slot of a candidate; None for a mention."""
        return self.label[0] or None


@dataclass(frozen=True, slots=True)
class Accepted:
    """The rewritten sentence may stand."""

    sentence: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The template stands; why, and what was found."""

    why: Why
    detail: str


def parsed(scan: Scan, candidates: Sequence[Candidate]) -> frozenset[Key]:
    """What scan and capture found in a sentence: each mention with the cues on it, each candidate with its assertion.

    Offsets and wording are left out; whole values, bounds, slots, labels, polarity and modality are in.
    """
    keys = set()
    for index, mention in enumerate(scan.mentions):
        cues = " ".join(sorted({cue.kind for cue in scan.cues if index in cue.covers}))
        if mention.kind in NAMES:
            keys.add(Key("name", mention.canonical, cues))
        else:
            keys.add(Key(f"mention {mention.kind}", _json(mention.value.key()), cues))
    for candidate in candidates:
        value = _json(candidate.value.key()) if candidate.value is not None else ""
        said = candidate.assertion
        how = (candidate.act, said.polarity, said.modality, said.time, said.reported_by or "")
        label = (candidate.slot or "?", candidate.qualifier or "", candidate.entity or "", candidate.kind or "")
        keys.add(Key(f"candidate {_json(label)}", value, _json(how)))
    return frozenset(keys)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def guard(
    rewritten: str,
    template_sentence: str,
    said: str,
    parse: Callable[[str], frozenset[Key]],
    *,
    function_words: Collection[str] = (),
    keep: Collection[str] = (),
) -> Accepted | Refused:
    """Compare a rewriting with the template sentence it was made from.

    ``said`` are the words of the turn; ``parse`` reads a sentence with the very scan and capture that made the item;
    ``function_words`` come from a rule file; ``keep`` are names that must stand as they are (entity, label).
    """
    refusal = shape(rewritten, GROWTH * len(template_sentence) + SLACK)
    if refusal is None:
        refusal = words(rewritten, (template_sentence, said), function_words)
    if refusal is None:
        missing = sorted(name for name in keep if name and folded(name) not in folded(rewritten))
        refusal = Refused("name_missing", ", ".join(missing)) if missing else None
    return refusal or meaning(rewritten, template_sentence, parse)


def shape(rewritten: str, allowed: int) -> Refused | None:
    """The refusal of what is empty, has several lines or more than ``allowed`` characters."""
    if not rewritten.strip():
        return Refused("empty", "nothing came back")
    if "\n" in rewritten.strip() or "\r" in rewritten.strip():
        return Refused("several_lines", f"{len(rewritten.splitlines())} lines")
    if len(rewritten) > allowed:
        return Refused("too_long", f"{len(rewritten)} characters; {allowed} are allowed")
    return None


def folded(text: str) -> str:
    """Text as it is compared: one width of letters, no capitals."""
    return unicodedata.normalize("NFKC", text).casefold()


def words(rewritten: str, sources: Sequence[str], function_words: Collection[str]) -> Refused | None:
    """No content that stands in none of the sources; a negation or a condition is content."""
    text, known = folded(rewritten), [folded(source) for source in sources]
    small = {folded(word) for word in function_words}
    latin = {word for source in (*known, *small) for word, _ in latin_words(source)}
    strange = sorted({word for word, _ in latin_words(text) if word not in latin})
    strange += [run.group(0) for run in HAN.finditer(text) if not _covered(text, run.span(), known, small)]
    strange += _repeated(text, known, small)
    if strange:
        return Refused("new_words", ", ".join(strange))
    known_figures = {figure for source in known for figure, _ in figures(source)}
    strange = sorted({figure for figure, _ in figures(text) if figure not in known_figures})
    if strange:
        return Refused("new_numbers", ", ".join(strange))
    seen = set("".join(known))
    odd = sorted({char for char in text if not (char.isalnum() or char in _MARKS or char in seen)})
    return Refused("odd_characters", " ".join(f"U+{ord(char):04X}" for char in odd)) if odd else None


def latin_words(text: str) -> Iterator[tuple[str, int]]:
    """Words of alphabetic scripts at their places; a genitive or a plural is the same word, a hyphen joins two."""
    for found in _LATIN.finditer(HAN.sub(lambda run: " " * len(run.group()), text)):
        for part in re.finditer(r"[^-]+", found.group()):
            stem = re.sub(r"['’]s?$", "", part.group())
            whole = stem[:-1] if len(stem) > 3 and stem.endswith("s") and not stem.endswith("ss") else stem
            yield whole, found.start() + part.start()


def figures(text: str) -> Iterator[tuple[str, int]]:
    """Figures at their places, without the commas between thousands."""
    for found in _NUMBER.finditer(text):
        yield found.group().replace(",", ""), found.start()


def _covered(text: str, span: tuple[int, int], sources: Sequence[str], small: Collection[str]) -> bool:
    """True when a run of Chinese falls into function words and pieces of two or more characters of the sources.

    A single character of a source counts only if it stands alone there or behind the same figure (18日), so that no
    new word can be put together from the letters of old ones.
    """
    first, last = span
    alone = {piece for source in sources for piece in HAN.findall(source) if len(piece) == 1}
    reached = {first}
    for end in range(first + 1, last + 1):
        for start in range(end - 1, first - 1, -1):
            piece = text[start:end]
            behind = text[start - 1 : end] if start == first and text[start - 1 : start].isdigit() else ""
            fits = piece in small or piece in alone or bool(behind and any(behind in source for source in sources))
            fits = fits or (len(piece) > 1 and any(piece in source for source in sources))
            if start in reached and fits:
                reached.add(end)
                break
    return last in reached


def _repeated(text: str, sources: Sequence[str], small: Collection[str]) -> list[str]:
    """Chinese letters that stand more often than in any source: 李明 must not become 李明明."""
    spare = set("".join(small))
    counts = Counter(char for char in text if HAN.match(char) and char not in spare)
    known = [Counter(source) for source in sources]
    return sorted(char for char, count in counts.items() if count > max(each[char] for each in known))


def meaning(rewritten: str, template_sentence: str, parse: Callable[[str], frozenset[Key]]) -> Accepted | Refused:
    """Compare what the rules read in a rewriting and in what it was made from."""
    expected = parse(template_sentence)
    if not expected:
        return Refused("unverifiable", "no rule reads anything in the template sentence, so nothing can be compared")
    found = parse(rewritten)
    lost = sorted(key for key in expected - found if not _stands(key, rewritten, found))
    new = sorted(key for key in found - expected if not _stands(key, template_sentence, expected))
    if lost or new:
        return Refused("value_changed", "; ".join([f"- {_shown(k)}" for k in lost] + [f"+ {_shown(k)}" for k in new]))
    return Accepted(rewritten.strip())


def _stands(key: Key, sentence: str, keys: frozenset[Key]) -> bool:
    """True for a plain name that stands in the other sentence too, unseen there or seen without any cue on it."""
    if key.what != "name" or key.how or folded(key.value) not in folded(sentence):
        return False
    return not any(other.what == "name" and other.value == key.value and other.how for other in keys)


def _shown(key: Key) -> str:
    return " ".join(part for part in key if part)
