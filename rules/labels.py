"""Labels: the head noun phrase beside a value, normalised, and the lexicons that know which labels mean one concept."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from ..extractors.text import normalize
from ..extractors.words import joined, lazy

_HAN = re.compile(r"[\u3400-\u9fff]")
_TOKEN = re.compile(r"[\u3400-\u9fff]+|[A-Za-z0-9][A-Za-z0-9_&+-]*(?:'[a-z]+)?")
_OPENING = " \t\"'(“‘"
_PARTICLES = re.compile(r"[的之]{2,}")  # nothing is left of them in a key
_SPACES = re.compile(r"\s\s+|[^\S ]")
_EDGE = " \t\n,;:.!?。、\"'()（）《》「」-~#@/"
# Words that never tell two labels apart; a last "a" stays ("Option A").
_DROPPED = frozenset(
    [
        "the",
        "an",
        "my",
        "our",
        "this",
        "that",
        "these",
        "those",
        "them",
        "it",
        "him",
        "us",
        "me",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "has",
        "have",
        "had",
        "now",
        "still",
    ]
)


def words_pattern(words: Iterable[str], place: str = "any") -> re.Pattern[str]:
    """A pattern for literal words, longest first; ASCII words end at word boundaries, Chinese ones need none."""
    ordered = sorted({word.lower() for word in words}, key=lambda w: (-len(w), w))
    either = joined(ordered, _edges) or r"(?!)"
    return lazy({"start": rf"(?:{either})", "end": rf"(?:{either})$", "any": rf"(?:{either})"}[place])


def _edges(word: str) -> tuple[str, str]:
    head = r"(?<![a-z0-9'])" if word[0].isascii() and word[0].isalnum() else ""
    tail = r"(?![a-z0-9]|'(?!s\b)|-[a-z])" if word[-1].isascii() and word[-1].isalnum() else ""
    return head, tail


def is_han(text: str) -> bool:
    """True when a Chinese character stands in the text."""
    return _HAN.search(text) is not None


def tokens(label: str) -> tuple[str, ...]:
    """Words of a label: runs of Chinese characters, English words without possessive, plural and article."""
    return _remembered(label) if len(label) <= _LONGEST_REMEMBERED else _tokens(label)


def _tokens(label: str) -> tuple[str, ...]:
    out = []
    found = _TOKEN.findall(normalize(label).text)
    for index, said in enumerate(found):
        word = said.lower()
        if (word in _DROPPED and not _acronym(said, label)) or (word == "a" and _article(found[index + 1 :])):
            continue
        if _HAN.match(word):
            word = word.replace("的", "").replace("之", "") if len(word) > 1 else word
        else:
            word = re.sub(r"'s$", "", word)
            if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
                word = word[:-3] + "y" if word.endswith("ies") else word[:-1]
        if word:
            out.append(word)
    return tuple(out)


def _article(following: list[str]) -> bool:
    """True for an "a" that is no name: "Option A" ends with it, A合同 goes on in Chinese."""
    after = next((word for word in following if not _PARTICLES.fullmatch(word)), None)
    return after is not None and not is_han(after)


_LONGEST_REMEMBERED = 200  # characters: labels, never whole turns
_remembered = lru_cache(maxsize=4096)(_tokens)


def _begins(low: str, at: int) -> bool:
    """True where a word may begin: no ASCII word goes on from the character before."""
    if at == 0 or not (low[at].isascii() and low[at].isalnum()):
        return True
    before = low[at - 1]
    return not (before == "'" or (before.isascii() and before.isalnum()))


def _acronym(word: str, text: str) -> bool:
    """IT and US among small letters are no pronouns."""
    return len(word) > 1 and word.isupper() and any(letter.islower() for letter in text)


def key(label: str) -> str:
    """The form in which labels are compared: folded, without articles, possessives and plural."""
    return " ".join(tokens(label))


def as_said(label: str, text: str) -> str:
    """An English label in the letters it has in a text: IT, Acme Ltd. A capital that only begins a sentence, and a text
    without small letters, tell nothing."""
    if not label.islower() or not any(letter.islower() for letter in text):
        return label
    for hit in _spelt(label).finditer(text):
        said = hit.group("label")
        opens = not text[: hit.start()].rstrip(_OPENING) or text[: hit.start()].rstrip(_OPENING)[-1] in ".!?\n;:"
        if any(letter.isupper() for letter in (said[1:] if opens else said)):
            return said
    return label


@lru_cache(maxsize=1024)
def _spelt(label: str) -> re.Pattern[str]:
    words = r"\s+".join(map(re.escape, label.split()))
    return re.compile(rf"(?<![A-Za-z0-9])(?P<label>{words})(?![A-Za-z0-9])", re.IGNORECASE)


def is_tail(short: str, long: str) -> bool:
    """True when ``short`` ends ``long``: "fee" of "parking fee", 房租 of 月房租."""
    if not short or short == long:
        return False
    if _HAN.search(short):
        return len(short) >= 2 and long.endswith(short)
    return long.endswith(" " + short)


def is_head(short: str, long: str) -> bool:
    """True when ``short`` begins ``long``: 图纸 of 图纸送, "gift" of "gift to school"."""
    if not short or short == long:
        return False
    if _HAN.search(short):
        return len(short) >= 2 and long.startswith(short)
    return long.startswith(short + " ")


@dataclass(frozen=True)
class Peeled:
    """A label, its characters, and what the words between it and its value do."""

    text: str
    start: int
    end: int
    act: str = "state"
    copula: bool = False  # a verb of stating stood there: "is", 是

    def shifted(self, by: int) -> Peeled:
        """The same label seen from farther to the left."""
        return Peeled(self.text, self.start + by, self.end + by, self.act, self.copula)

    def emptied(self, at: int) -> Peeled:
        """No label, the act kept."""
        return replace(self, text="", start=at, end=at)

    def cut(self, size: int) -> Peeled:
        """Only the first ``size`` characters."""
        return replace(self, text=self.text[:size], end=self.start + size)

    def dropped(self, size: int) -> Peeled:
        """Without the first ``size`` characters."""
        return replace(self, text=self.text[size:], start=self.start + size)


class Said(dict[str, re.Pattern[str]]):
    """Ways of saying by name, from the patterns of vocabulary files; one that no file gives is never said."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        super().__init__({name: lazy(source, re.IGNORECASE) for name, source in sorted(sources.items())})

    def __missing__(self, name: str) -> re.Pattern[str]:
        return lazy(r"[^\s\S]")  # matches nothing, in RE2 as well


@dataclass(frozen=True)
class Lexicon:
    """Every word list that label extraction uses, compiled from the vocabulary files of a rule set."""

    lead: re.Pattern[str]
    trail_acts: Mapping[str, str]
    light: frozenset[str]
    attributes: Mapping[str, str]
    attribute_words: re.Pattern[str]
    bounds: re.Pattern[str]
    money_nouns: frozenset[str]
    void_after: re.Pattern[str]
    void_after_acts: Mapping[str, str]
    void_before: re.Pattern[str]
    void_before_acts: Mapping[str, str]
    kin: re.Pattern[str]
    others: re.Pattern[str]
    pronouns: re.Pattern[str]
    own: re.Pattern[str]
    joins: re.Pattern[str]
    whole: re.Pattern[str]
    whole_end: re.Pattern[str]
    general: frozenset[str] = frozenset()  # words that name any value of a kind: "amount", 比例
    concepts: Mapping[str, str] = field(default_factory=dict)
    said: Mapping[str, re.Pattern[str]] = field(default_factory=dict)

    def concept(self, label_key: str) -> str:
        """The concept a label means, or the label itself: unknown labels are never merged by likeness."""
        return self.concepts.get(label_key, label_key)

    def ways(self, concept: str) -> tuple[str, ...]:
        """All labels that mean a concept, the concept itself first."""
        return (
            concept,
            *sorted(label for label, known in self.concepts.items() if known == concept and label != concept),
        )

    def peel(self, text: str) -> Peeled:
        """Strip copulas on the right and openers on the left."""
        start, end, act, copula = 0, len(text), "state", False
        low = text.lower()
        passive = self.said["passive"].search(low)
        if passive:  # "has been trimmed to", 议价后是
            end, act, copula = passive.start(), "change", True
        while True:
            while end > start and (
                low[end - 1] in _EDGE or self.said["done"].fullmatch(low[max(start, end - 2) : end])
            ):
                end -= 1
            hit = self._last(low, start, end)
            if hit is None or self._cuts(low, start, hit, end) or (text[hit:end] == "A" and hit > start):  # "Option A"
                break
            found = self.trail_acts.get(re.sub(r"\s+", " ", low[hit:end]), "state")
            copula = copula or found == "copula"
            act = _stronger(act, found)
            end = hit
        heading = self.said["heading"].match(low, start, end)
        start = heading.end() if heading and heading.end() < end else start
        while True:
            while start < end and low[start] in _EDGE:
                start += 1
            hit_lead = self.lead.match(low, start, end)
            if hit_lead is None or hit_lead.end() == start or self.whole.match(low, start, end):
                break
            opener = text[start : hit_lead.end()]
            if _acronym(opener, text) or (opener == "A" and is_han(text[hit_lead.end() : hit_lead.end() + 1])):
                break
            start = hit_lead.end()
        return Peeled(text[start:end], start, end, act, copula)

    def _cuts(self, low: str, start: int, at: int, end: int) -> bool:
        """True when taking off what begins at ``at`` would cut a word: the 约 of 签约."""
        begin = max(start, end - 8)
        whole = self.whole_end.search(low[begin:end])
        return whole is not None and begin + whole.start() < at

    def _last(self, low: str, start: int, end: int) -> int | None:
        """Where a word of ``trail_acts`` begins that ends at ``end``; the longest one."""
        first = max(start, end - 16)
        near = low[first:end]
        folded = _SPACES.search(near) is not None  # "is  now": blanks count as one
        for at in range(first, end):
            word = low[at:end]
            if (_SPACES.sub(" ", word) if folded else word) in self.trail_acts and _begins(low, at):
                return at
        return None

    def without(self, label: str, slot_words: re.Pattern[str] | None) -> str:
        """The qualifier of a label: its key without the words that name the slot itself."""
        rest = _blanked(self.bounds, normalize(label).text)
        if slot_words is not None:
            rest = self.said["for_what"].sub(" ", _blanked(slot_words, rest))  # "budget for marketing"
            rest = self.said["article_left"].sub(" ", rest)  # "has a budget"
        words = key(label).split() if rest.isupper() and rest.strip() else None  # "IT budget" leaves "IT" alone
        found = tuple(w for w in words if w in rest.lower().split()) if words is not None else tokens(rest)
        return " ".join(self._heavy(w) for w in found if w not in self.light)

    def light_label(self, label: str, slot_words: re.Pattern[str] | None) -> str:
        """The light verb itself, where a statement has no other label: "pay it by May 7"."""
        text = normalize(label).text
        return " ".join(tokens(_blanked(slot_words, text) if slot_words is not None else text))

    def _heavy(self, word: str) -> str:
        """定金支付 is about the 定金: a light verb at the end of a run of Chinese is taken off."""
        for size in (3, 2):
            if len(word) >= size + 2 and word[-size:] in self.light and _HAN.match(word):
                return word[:-size]
        return word


def _blanked(pattern: re.Pattern[str], text: str) -> str:
    """The text with blanks for what the pattern finds in its small letters."""
    low = text.lower()
    if len(low) != len(text):
        return pattern.sub(" ", low)
    for hit in pattern.finditer(low):
        text = text[: hit.start()] + " " * (hit.end() - hit.start()) + text[hit.end() :]
    return text


def _stronger(one: str, other: str) -> str:
    order = ("state", "change", "correct")
    return max(one, "state" if other == "copula" else other, key=order.index)


def lexicon(
    entries: Mapping[str, Mapping[str, object]], label_lexicons: Iterable[str], patterns: Mapping[str, str]
) -> Lexicon:
    """Compile from ``{vocabulary id: {word: value}}``; a vocabulary that is missing counts as empty.

    ``label_lexicons`` are the vocabularies that slots name for their labels.
    """

    def table(name: str) -> dict[str, str]:
        return {word.lower(): str(value) for word, value in entries.get(name, {}).items()}

    people = table("labels.people")
    by_group: dict[str, list[str]] = {}
    for word, group in people.items():
        by_group.setdefault(group, []).append(word)
    kin = by_group.get("kin", []) + by_group.get("circle", [])
    trail, after, before = table("labels.trail"), table("labels.void_after"), table("labels.void_before")
    concepts: dict[str, str] = {}
    for name in sorted(label_lexicons):
        for word, concept in table(name).items():
            concepts.setdefault(key(word), concept)
    return Lexicon(
        lead=words_pattern(table("labels.lead"), "start"),
        trail_acts=trail,
        light=frozenset(key(w) for w in table("labels.light")),
        attributes={key(w): v for w, v in table("labels.attribute").items()},
        attribute_words=words_pattern(w for w, v in table("labels.attribute").items() if v != "bound"),
        money_nouns=frozenset(table("words.money_noun")),
        bounds=words_pattern(w for w, v in table("labels.attribute").items() if v == "bound"),
        void_after=words_pattern(after, "start"),
        void_after_acts=after,
        void_before=words_pattern(before, "end"),
        void_before_acts=before,
        kin=words_pattern(kin, "start"),
        others=words_pattern(by_group.get("counterpart", []) + by_group.get("addressee", []), "start"),
        pronouns=words_pattern(by_group.get("pronoun", []), "start"),
        joins=words_pattern(table("labels.joins"), "start"),
        own=words_pattern(by_group.get("self", [])),
        whole=words_pattern(table("labels.whole"), "start"),
        whole_end=words_pattern(table("labels.whole"), "end"),
        general=frozenset(table("labels.general")),
        concepts=concepts,
        said=Said(patterns),
    )
