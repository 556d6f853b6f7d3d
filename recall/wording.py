"""Words of a question that are not what they look like: names in the shape of grammar, small talk, English endings."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from typing import Literal, NamedTuple

from ..extractors.words import lazy, linear
from ..model import Scan, Source
from ..rules.gates import Gates
from ..rules.labels import tokens
from ..rules.ruleset import Ruleset

_STEM = 3  # letters that a stem has at least
_PROPER = re.compile(r"(?<=[a-z] )[A-Z][a-z]+(?: [A-Z][a-z]+)*")
_MARKS = " \t\n?!.,;:~？！。，、；：…"


class _Asked(NamedTuple):
    """A question as gates read a turn."""

    text: str
    said_at: datetime
    speaker: Source = "user"
    lang: Literal["zh", "en"] | None = None
    timezone: str | None = None
    locale: str | None = None


class Wording:
    """What ``recall.names``, ``recall.idle``, ``recall.endings`` and the gates of small talk know, compiled."""

    def __init__(self, ruleset: Ruleset, grammar: Iterable[str]) -> None:
        files = ruleset.vocabularies
        labels = files["recall.names"].labels if "recall.names" in files else {}
        owners = sorted(labels.get("owners", ()))
        self.names = frozenset({*labels.get("names", ()), *owners})
        patterns = files["recall.names"].patterns if "recall.names" in files else {}
        self.ordinal = lazy(patterns.get("ordinal", "(?!)"), re.IGNORECASE)
        self._grammar = frozenset(grammar) | self.names
        name, behind, owner = ("|".join(words) for words in (sorted(self.names), labels.get("behind", ()), owners))
        self._capital = lazy(r"(?<![\w'-])[A-Z]{2,}(?![\w-])")
        upright = rf"(?i:(?:\b(?:{behind}) |'s )({name})\b|\b({owner})(?='s\b))|(?<=[a-z] )({name.title()})\b"
        self._upright = lazy(upright if name else "(?!)")
        nouns = "|".join(sorted({word for slot in ruleset.slots.values() for word in slot.words if word.isascii()}))
        first = rf"(?i:({name})(?:\s[^:?]{{1,40}})?:\s|({name})\s(?:{nouns})\W*$)"
        self._first = lazy(first if name else "(?!)")
        idle = files["recall.idle"].patterns.values() if "recall.idle" in files else ()
        self._idle = lazy("|".join(f"(?:{each})" for each in idle) or r"[^\s\S]", 0, linear)
        self._talk = Gates([gate for gate in ruleset.gates if gate.gives == "small_talk"], ruleset.words)
        endings = ruleset.words("recall.endings")
        odd = files["recall.odd_forms"].labels if "recall.odd_forms" in files else {}
        self._base = {form: base for base, forms in odd.items() for form in forms}
        self._odd = {base: tuple(forms) for base, forms in odd.items()}
        self._endings = tuple(sorted(endings, key=lambda each: (-len(each), each)))

    def named(self, text: str) -> list[tuple[int, int]]:
        """Where a word of grammar names something: IT, the WHO, "the may budget", Will's phone, "us: how much"."""
        found = []
        if not text.isupper():
            found = [hit.span() for hit in self._capital.finditer(text) if hit.group().lower() in self._grammar]
        first = self._first.match(text)
        hits = [*self._upright.finditer(text), *([first] if first else ())]
        found += [hit.span(hit.lastindex or 0) for hit in hits]
        return sorted({(start, end + 2 * text.startswith("'s", end)) for start, end in found})

    def proper(self, text: str) -> frozenset[str]:
        """Words with a capital within a sentence, in small letters."""
        return frozenset(" ".join(_PROPER.findall(text)).lower().split())

    def idle(self, text: str, low: str, now: datetime, found: Scan) -> bool:
        """Whether a question as a whole is small talk, or asks the world and not a memory."""
        return (
            self._idle.fullmatch(low.strip(_MARKS)) is not None
            or self._talk.judge(_Asked(text, now), found) is not None
        )  # fmt: skip

    def stems(self, words: Iterable[str]) -> frozenset[str]:
        """The stems of English words; of other scripts the words."""
        return frozenset(self.stem(word) for word in words)

    @lru_cache(maxsize=4096)  # noqa: B019 - the last few rule sets are kept anyhow
    def stem(self, word: str) -> str:
        """An English word without its ending: release, releases, released and releasing have one stem."""
        if not (word.isascii() and word.isalpha()):
            return word
        word = self._base.get(word, word)
        for ending in self._endings:
            if word.endswith(ending) and len(word) - len(ending) >= _STEM:
                word = word[: -len(ending)]
                break
        if len(word) > _STEM and (word[-1] in "eiy" or word[-1] == word[-2]):
            word = word[:-1]
        return word

    def forms(self, words: str) -> list[str]:
        """Other forms of the English words of a question: what was said of "release" may have been "releases"."""
        found: dict[str, None] = {}
        for word in tokens(words):
            if word.isascii() and word.isalpha() and (len(word) > _STEM or word in self._odd):
                base = self._base.get(word, word)
                stem = self.stem(base)
                forms = (
                    base,
                    base + "s",
                    *self._odd.get(base, ()),
                    *(stem + end for end in ("", "e", "y", "ies", "ied", *self._endings)),
                )
                found.update(dict.fromkeys(forms))
        return list(found)
