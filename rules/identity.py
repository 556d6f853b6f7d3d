"""Do two names name one thing? Same, other or perhaps, with the reasons: a rule of naming, never a similarity.

*Same* only where nothing but the writing differs: width, case, spaces, punctuation, the script of one word, a title, or
a declared alias. Whatever could tell two things apart (a digit, a numeral, a word, a legal form) forbids it. Then it is
*perhaps* when the rest is equal or one name holds the other, and a person is asked; *other* in all other cases. Two
different numbers are other things: a series is numbered to keep its members apart. So is the writing system: no rule
knows how somebody spells a name in another one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

from ..extractors.places.gazetteer import gazetteer
from ..extractors.text import normalize
from ..extractors.vocabulary import VocabularyFile

Answer = Literal["same", "other", "perhaps"]
# Why two names are, or may be, one thing: a closed list; the vocabulary say.same_entity words each for people.
REASONS = (
    "identical", "writing", "script", "title", "spelling", "alias", "writing_system", "numeral", "legal_form",
    "contained", "kind", "place", "order", "initial", "one_character", "one_letter", "surname", "different_words",
)  # fmt: skip
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_PIECE = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]|\d+|[^\W\d_\u3400-\u9fff\uf900-\ufaff]+|[&+@#%]")
_DOTTED = re.compile(r"\b(?:[^\W\d_]\.){2,}(?:[^\W\d_]\b)?")
_LONGEST_WORD = 12
# One changed character is a slip of the pen only in a name that is long enough to be recognised without it.
_LEAST_BODY, _LEAST_WORD = 4, 5


class Judgement(NamedTuple):
    """The answer and what it rests on."""

    answer: Answer
    reasons: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class NameWords:
    """The word lists that names are compared with; one object is itself alone, so that names read with it are kept."""

    titles: frozenset[str] = frozenset()
    han_titles: frozenset[str] = frozenset()
    gender: Mapping[str, str] = field(default_factory=dict)
    after: frozenset[str] = frozenset()
    noise: frozenset[str] = frozenset()
    forms: frozenset[str] = frozenset()
    han_forms: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    han_kinds: frozenset[str] = frozenset()
    joining: frozenset[str] = frozenset()
    joined: frozenset[str] = frozenset()
    spellings: Mapping[str, str] = field(default_factory=dict)
    numerals: Mapping[str, str] = field(default_factory=dict)
    surnames: frozenset[str] = frozenset()


def name_words(vocabularies: Mapping[str, VocabularyFile]) -> NameWords:
    """The lists out of the vocabularies of a rule set; one that is missing counts as empty."""

    def labelled(name: str, *labels: str) -> frozenset[str]:
        said = vocabularies[name].labels if name in vocabularies else {}
        return frozenset(word.lower() for label in labels for word in said.get(label, []))

    def table(name: str) -> dict[str, str]:
        entries = vocabularies[name].entries() if name in vocabularies else {}
        return {word.lower(): str(value) for word, value in entries.items()}

    legal = labelled("words.identity", "legal")
    bodies = labelled("words.organization.zh", "form", "trade")
    gender = {word: label for label in ("male", "female") for word in labelled("words.identity", label)}
    courtesy = labelled("words.identity", "male", "female", "courtesy")
    return NameWords(
        titles=labelled("words.person.en", "title") | frozenset(w for w in courtesy if w.isascii()),
        han_titles=frozenset(table("words.person.title.zh")) | frozenset(w for w in courtesy if not w.isascii()),
        gender=gender,
        after=labelled("words.identity", "after"),
        noise=labelled("words.identity", "noise"),
        forms=frozenset(word.replace(".", "") for word in labelled("words.organization.en", "form") if " " not in word),
        han_forms=legal,
        kinds=labelled("words.organization.en", "business"),
        han_kinds=bodies - legal,
        joining=labelled("words.organization.en", "joining") | labelled("words.identity", "noise"),
        joined=labelled("words.identity", "joined"),
        spellings=table("words.identity.spellings"),
        numerals=table("words.identity.numerals"),
        surnames=labelled("words.surname.zh", "single", "compound"),
    )


class _Name(NamedTuple):
    """A name taken apart; ``words`` are its tokens without titles and noise, ``stem`` those without a legal form."""

    raw: tuple[str, ...]
    words: tuple[str, ...]
    titles: tuple[str, ...]
    forms: tuple[str, ...]
    stem: tuple[str, ...]
    core: tuple[str, ...]
    places: tuple[str, ...]
    numerals: tuple[str, ...]
    written: str
    simple: str
    respelled: bool

    @property
    def key(self) -> str:
        """The words run together: spaces do not count."""
        return "".join(self.words)

    @property
    def systems(self) -> frozenset[str]:
        """The writing systems of its letters."""
        return frozenset("han" if _HAN.match(word) else "alphabetic" for word in self.words if word[0].isalpha())

    @property
    def person(self) -> bool:
        """True for what can only be a name of a person: a few characters and no word for a body."""
        return self.systems == {"han"} and len(self.words) <= _LEAST_BODY and self.core == self.words

    def bare_surname(self, words: NameWords) -> bool:
        """True for a Chinese surname alone, which many share."""
        return self.key in words.surnames


def judge(one: str, other: str, words: NameWords, aliases: Iterable[tuple[str, str]] = ()) -> Judgement:
    """The judgement of two names; symmetric. ``aliases`` are pairs of names that somebody declared to be one."""
    if one == other:
        return Judgement("same", ("identical",))
    first, second = _read(one, words), _read(other, words)
    if not first.words or not second.words:
        return Judgement("other", ("different_words",))
    for left, right in aliases:
        pair = {_read(left, words).key, _read(right, words).key}
        if pair == {first.key, second.key}:
            return Judgement("same", ("alias",))
    if first.systems and second.systems and not first.systems & second.systems:
        return Judgement("other", ("writing_system",))
    if first.key == second.key and first.numerals == second.numerals:
        return _alike(first, second, words)
    mine, theirs = Counter(first.numerals), Counter(second.numerals)
    if mine - theirs and theirs - mine and not _initials(first, second):
        return Judgement("other", ("numeral",))
    reasons = _perhaps(first, second, words)
    return Judgement("perhaps", reasons) if reasons else Judgement("other", ("different_words",))


def name_key(name: str, words: NameWords) -> str:
    """What stands for a name in a graph of names: two names with one key are always judged the same.

    Not the other way round: Hale is the same as Mr. Hale and as Ms. Hale, who are two. Nor do the scripts of one word
    meet here: which of several words was simplified, only the other name can tell.
    """
    read = _read(name, words)
    alone = read.bare_surname(words) or (len(read.words) == 1 and read.systems == {"alphabetic"})
    titles = read.titles if alone else sorted({words.gender[title] for title in read.titles if title in words.gender})
    traditional = "".join(a for a, b in zip(read.written, read.simple, strict=True) if a != b)
    return "|".join(filter(None, (read.key, ".".join(read.numerals), ".".join(titles), traditional)))


def _alike(first: _Name, second: _Name, words: NameWords) -> Judgement:
    """Equal words: the same, unless script or titles leave room for two."""
    reasons = ["writing"] if first.raw == second.raw else []
    if first.written != second.written and first.simple == second.simple:
        for a, b, simple in zip(first.written, second.written, first.simple, strict=True):
            if a != b and (simple not in (a, b) or simple in words.joined):
                return Judgement("perhaps", ("script",))
        reasons.append("script")
    if first.titles != second.titles:
        known = {words.gender.get(title) for title in (*first.titles, *second.titles)} - {None}
        short = first.bare_surname(words) or (len(first.words) == 1 and first.systems == {"alphabetic"})
        if len(known) > 1:
            return Judgement("other" if short else "perhaps", ("title",))
        courteous = all(title in words.gender for title in (*first.titles, *second.titles))
        if first.bare_surname(words) or (short and not (courteous and len({*first.titles, *second.titles}) == 1)):
            return Judgement("perhaps", ("surname", "title"))
        reasons.append("title")
    if first.respelled != second.respelled:
        reasons.append("spelling")
    return Judgement("same", tuple(reasons) or ("writing",))


def _perhaps(first: _Name, second: _Name, words: NameWords) -> tuple[str, ...]:
    """Why two unlike names may mean one thing; empty when nothing speaks for it."""
    found = []
    if first.numerals != second.numerals:
        found.append("numeral")
    if first.forms != second.forms:
        found.append("legal_form")
    if _same_stem(first, second):
        return tuple(found) or ("numeral",)
    short, long = sorted((first, second), key=lambda name: (len(name.stem), name.key))
    if _holds(short, long):
        return (*found, "contained")
    if first.core and first.core == second.core:
        return (*found, "place" if first.places != second.places else "kind")
    if Counter(w for w in first.words if w not in words.joining) == Counter(
        w for w in second.words if w not in words.joining
    ):
        return (*found, "order")
    if _initials(first, second):
        return ("initial",)
    if _one_apart(first, second):
        return (*found, "one_character" if "han" in first.systems else "one_letter")
    return ()


def _same_stem(first: _Name, second: _Name) -> bool:
    """True when nothing but numerals of one value in two spellings and legal forms is left to differ."""
    return "".join(first.stem) == "".join(second.stem) or (
        first.numerals == second.numerals and _unnumbered(first.stem) == _unnumbered(second.stem)
    )


def _unnumbered(stem: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word.partition("=")[2] or word for word in stem)


def _holds(short: _Name, long: _Name) -> bool:
    """True when the long name has all words of the short one, in order, and these say more than a kind or a place."""
    if not short.core and (not short.places or "".join(short.stem) == "".join(short.places)):
        return False
    if len(short.stem) == 1 and short.systems == {"han"}:  # one character: a surname, with or without its title
        return bool(short.titles) and long.stem[:1] == short.stem
    if short.person and long.person:  # 明 is not left out of the middle of a name
        return "".join(short.stem) in "".join(long.stem)
    rest = iter(long.stem)
    return all(word in rest for word in short.stem)


def _initials(first: _Name, second: _Name) -> bool:
    """J. Marlow and Jane Marlow: each word is the other's, or its first letter, and one whole word is shared."""
    if len(first.stem) != len(second.stem) or first.systems != {"alphabetic"} or second.systems != {"alphabetic"}:
        return False
    if any("=" in a and "=" in b and a != b for a, b in zip(first.stem, second.stem, strict=True)):
        return False  # I and II
    pairs = [(a.partition("=")[0], b.partition("=")[0]) for a, b in zip(first.stem, second.stem, strict=True)]
    whole = any(a == b and len(a) > 1 for a, b in pairs)
    return whole and all(a == b or (min(len(a), len(b)) == 1 and a[0] == b[0]) for a, b in pairs)


def _one_apart(first: _Name, second: _Name) -> bool:
    """One character of a body's name, or one letter of one word, is another or missing."""
    if first.numerals != second.numerals or first.person or second.person:
        return False
    if len(first.words) != len(second.words):
        return False
    unlike = [(a, b) for a, b in zip(first.words, second.words, strict=True) if a != b]
    if len(unlike) != 1:
        return False
    a, b = unlike[0]
    if _HAN.match(a) and _HAN.match(b):
        return len(first.words) > _LEAST_BODY and len(first.core) > 1
    return a.isalpha() and b.isalpha() and min(len(a), len(b)) >= _LEAST_WORD and _one_letter(a, b)


def _one_letter(a: str, b: str) -> bool:
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    one, other = a[start:], b[start:]
    if len(a) == len(b):
        return one[1:] == other[1:] or (one[:2] == other[1::-1] and one[2:] == other[2:])
    return one[1:] == other if len(a) > len(b) else one == other[1:]


@lru_cache(maxsize=2048)
def _read(name: str, words: NameWords) -> _Name:
    norm = normalize(_DOTTED.sub(lambda hit: hit.group().replace(".", ""), name))
    text = norm.text.casefold().replace("'", "")
    raw = tuple(_PIECE.findall(text))
    tokens = [words.spellings.get(token, token) for token in raw]
    respelled = tuple(tokens) != raw
    while len(tokens) > 1 and tokens[0] in words.noise:
        tokens = tokens[1:]
    tokens, titles = _untitled(tokens, words)
    marked, numerals = _numbered(tokens, words)
    stem, forms = _stripped(marked, words.forms, words.han_forms)
    core, places = _core(stem, words)
    letters = [at for at, char in enumerate(norm.text) if _HAN.match(char)]
    return _Name(
        raw, tuple(tokens), titles, forms, tuple(stem), core, places, numerals,
        "".join(norm.written[at] for at in letters), "".join(norm.text[at] for at in letters), respelled,
    )  # fmt: skip


def _untitled(tokens: list[str], words: NameWords) -> tuple[list[str], tuple[str, ...]]:
    """Without the titles of a person; a body keeps them (Lady Foods Ltd), and 王 of 王总 must be a surname."""
    titles: list[str] = []
    body = any(token in words.forms or token in words.kinds for token in tokens)
    while not body and len(tokens) > 1 and tokens[0] in words.titles:
        titles.append(words.spellings.get(tokens[0], tokens[0]))
        tokens = tokens[1:]
    while len(tokens) > 1 and tokens[-1] in words.after:
        tokens = tokens[:-1]
    tail = _ending(tokens, lambda run: run in words.han_titles)
    rest = tokens[: len(tokens) - tail]
    titled = tail > 1 or "".join(rest) in words.surnames  # 王工 has a title, 王小工 none
    if tail and rest and titled and len(rest) <= _LEAST_BODY and _begins_as_person(rest, words):
        titles.append("".join(tokens[len(rest) :]))
        tokens = rest
    return tokens, tuple(sorted(titles))


def _begins_as_person(tokens: list[str], words: NameWords) -> bool:
    surname = tokens[0] in words.surnames or "".join(tokens[:2]) in words.surnames
    return surname and all(_HAN.match(token) for token in tokens)


def _numbered(tokens: list[str], words: NameWords) -> tuple[list[str], tuple[str, ...]]:
    """The tokens with each numeral as ``spelling=value``, and the values in order."""
    out: list[str] = []
    values: list[str] = []
    at = 0
    while at < len(tokens):
        size = 2 if "".join(tokens[at : at + 2]) in words.numerals and _HAN.match(tokens[at]) else 1
        spelling = "".join(tokens[at : at + size])
        value = words.numerals.get(spelling)
        if spelling.isdigit():
            value = spelling.lstrip("0") or "0"
        elif len(spelling) == 1 and spelling.isalpha() and not _HAN.match(spelling):
            value = value or spelling
        if value is None:
            out.append(spelling)
        else:
            out.append(f"{spelling}={value}")
            values.append(value)
        at += size
    return out, tuple(values)


def _stripped(tokens: list[str], latin: frozenset[str], han: frozenset[str]) -> tuple[list[str], tuple[str, ...]]:
    """Without the words at the end that are in a list, and these words; one word always stays."""
    gone: list[str] = []
    while len(tokens) > 1:
        size = 1 if tokens[-1] in latin else _ending(tokens, lambda run: run in han)
        if not size or size >= len(tokens):
            break
        gone.insert(0, "".join(tokens[-size:]))
        tokens = tokens[:-size]
    return tokens, tuple(gone)


def _core(stem: list[str], words: NameWords) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What tells a body from others of its kind and place, and the places; a stem that is only those has no core."""
    if _is_place("".join(stem)):
        return (), ("".join(stem),)
    core = list(stem)
    places: list[str] = []
    changed = True
    while core and changed:
        changed = False
        tail = 1 if core[-1] in words.kinds else _ending(core, lambda run: run in words.han_kinds)
        if tail:
            core, changed = core[: len(core) - tail], True
            continue
        if not _HAN.match(stem[0]) or len(stem) <= 3:  # a person may be called like a town
            break
        behind = _ending(core, _is_place) if len(core) < len(stem) else 0
        if behind:
            places.append("".join(core[len(core) - behind :]))
            core, changed = core[: len(core) - behind], True
            continue
        before = next((n for n in range(min(_LONGEST_WORD, len(core)), 1, -1) if _is_place("".join(core[:n]))), 0)
        if before:
            places.append("".join(core[:before]))
            core, changed = core[before:], True
    return tuple(core), tuple(places)


def _is_place(run: str) -> bool:
    return len(run) > 1 and run in gazetteer().divisions


def _ending(tokens: list[str], known: Callable[[str], bool]) -> int:
    """How many single characters at the end make the longest known word."""
    for size in range(min(_LONGEST_WORD, len(tokens)), 0, -1):
        tail = tokens[-size:]
        if all(len(token) == 1 for token in tail) and _HAN.match(tail[0]) and known("".join(tail)):
            return size
    return 0
