"""Grammar files: leaves and productions, how they are compiled into one chart grammar, and what it finds.

The manual for authors of grammar files
=======================================
A grammar file (``kind: grammar``) has ``leaves`` (words → a typed part) and ``productions`` (neighbouring parts → a
larger part). All files of all languages run in ONE chart, so types are shared: a ``month`` leaf of one file can be read
by a production of another. Text is matched in normalised form (text.py): simplified characters, half-width signs
(write ``,`` for ，and ``:`` for ：), single spaces, en dashes as ``-``, straight quotes; case-blind unless ``case``.

Leaves
------
::

    leaves:
      weekday: {words: {monday: 1, mon: 1}, value: weekday(it)}         # map: ``it`` is the value; list: the word
      shift:   {words: {下下: [week, 2]}, value: shift(g1, g2)}         # a list value is g1, g2 …
      month:   {lexicon: words.months.en, value: month(it), latent: [may, march]}
      isodate: {pattern: '([0-9]{4})-([0-9]{2})-([0-9]{2})', value: ymd(g1, g2, g3), type: date}

``type`` is the leaf's name unless given; several leaves may share a type. Exactly one or more of ``words``,
``lexicon`` (ids of vocabularies) and ``pattern`` (one or a list). In a pattern ``it`` is the only group, else the whole
match; groups are ``g1`` … or their names. Patterns must compile under re2 as well: no look-around, and every repeat
has an upper limit (``{1,20}``, never ``+`` or ``*``).

``boundary``: ``auto`` (default: a letter may not touch a letter, a digit not a digit: ``5pm`` is fine), ``word``
(digits may not touch letters either) or ``none``. ``latent: true`` or a list of words: the part exists only where a
production of two or more items asks for it ("may", "sat", a bare hour); a lone latent part never becomes a mention.
``case: true``: match case (US, May). ``kind``: the leaf alone may become a mention of that kind.

``unless`` / ``when``: ``{before: […], after: […], within: n}``. Entries are words, ``@vocabulary.id``, ``/regex/``, or
a class: digit, letter, han, numeral, decimal, start, end. Without ``within`` the entry must touch the span: words and
regexes with one space at most between, classes and ``~/regex/`` without any. With it, the entry may stand anywhere in
the same clause within n characters. ``unless`` forbids the part when either side matches, ``when`` demands a match on
every side that it names. Both work on leaves and on productions.

Built-in leaves: ``number`` (numbers.py: Arabic digits in every grouping, Chinese numerals incl. 一万二, 两百五, 3万5,
1.5个亿, capitals, English number words), value ``Num`` with ``amount`` (and ``bound``) or ``low``/``high``, ``approx``,
``scale``; words and their sizes stand in the vocabularies ``words.number.…``; ``figure``: the same where only money or
a percentage makes the reading sure (45 000; 12,90; 10 m);
``digits``: a bare run of 1-8 ASCII digits as a string (years, hours, house numbers). ``ranked``: an English ordinal
(third, 21st, one hundred and fifth) as a latent ``Num``. ``capitals``: a number in financial capitals (伍佰). Further
built-in leaves are registered with ``@source("name")`` (chart.py). Since types are shared, a new type must not have the
name of another family's type unless its values are of the same class.

Productions
-----------
::

    productions:
      nth_weekday: {sequence: [ordinal n, weekday d, "of|in", month m], value: nth(d, n, within=m)}
      at_clock:    {sequence: [date a, "at|,|", clock b], value: intersect(a, b), kind: time}

An item is ``type``, ``type variable``, ``type|type variable`` (any of these types), each with ``?`` at its end when it
may be absent (its variable is then None), or literal connectors ``"at|on the|"`` (an empty alternative: may be absent).
``@vocabulary.id`` among the alternatives stands for its words. An item is read as types when all its names are types
of the set; write ``"=time"`` for a literal word that is also a type. ``sequence`` may be a list of alternative
sequences. A single space may stand between items.

``value`` calls registered functions: ``@function("nth", gives="time")`` (expression.py); a function that returns None
says "does not fit", and the production does not hold. Without ``value`` the only variable is passed on.
``type`` defaults to what the outermost function ``gives``, else to the production's name. ``kind`` makes a mention of
the part by the *finisher* of the kind: ``@finisher("time") def finish(value, context, place)`` returns a typed Value,
``Refusal(why)`` (the span is kept as refused: 31 April), or None (no mention). ``latent: true`` keeps the part latent.
``tables`` are plain data that finishers read by name from ``context.tables`` (holidays, policies by language); several
files may add entries to one table.
``expose``: types that come out as ``Part`` where no mention covers them.

Which reading wins
------------------
For one span and type: fewest leaves, then most specific (words before patterns before built-in numbers), firm before
latent, higher ``priority``, rule id. One value per span and type: ambiguity belongs inside the value. Mentions: the
longest span first, whatever its kind; ties as above. At most 14 leaves a mention.

Rules are reported as ``fileid.leaf_or_production@version``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from pydantic import Field, model_validator

from ..model import Hint, Mention, Part, Refused, Speaker
from ..rulefile import Language, Model, RuleFile
from ..values import Kind, Value
from .parsing.chart import SOURCES, Edge, Network, Source, parse
from .parsing.expression import FUNCTIONS, function
from .parsing.leaves import Matcher
from .recognizer import Recognizer
from .text import Normalized, normalize
from .vocabulary import VocabularyFile, with_additions

__all__ = [
    "BUILT_IN", "FINISHERS", "FUNCTIONS", "Context", "Found", "Grammar", "GrammarFile", "GrammarProblem",
    "GrammarProblems", "Leaf", "Near", "Place", "Production", "Refusal", "finisher", "function",
]  # fmt: skip

Scalar = str | int | bool | float | None
BUILT_IN = {
    "number",
    "figure",
    "digits",
    "ranked",
    "capitals",
}  # part types of built-in leaves; a module with a further source adds its own here


class Near(Model):
    """What must not (``unless``) or must (``when``) stand beside a span."""

    before: list[str] = Field(default_factory=list, description="Words, @vocabulary, /regex/ or classes before it.")
    after: list[str] = Field(default_factory=list, description="The same, after it.")
    within: int | None = Field(None, ge=1, le=60, description="Anywhere in the clause within n characters.")


class Leaf(Model):
    """Words or patterns that give one typed part."""

    type: str | None = Field(None, description="Part type; the leaf's name when left out.")
    words: list[str] | dict[str, Scalar | list[Scalar]] = Field(default_factory=list, description="Or word → value.")
    lexicon: str | list[str] = Field(default_factory=list, description="Ids of vocabularies.")
    pattern: str | list[str] = Field(default_factory=list, description="RE2 patterns; every repeat has an upper limit.")
    value: str = Field("it", description="Expression for the part's value: it, g1 …, calls of functions.")
    latent: bool | list[str] = Field(False, description="True, or which words: only as part of something larger.")
    case: bool = Field(False, description="True: upper and lower case differ.")
    boundary: Literal["auto", "word", "none"] = Field("auto", description="What may not touch it on either side.")
    unless: Near | None = Field(None, description="No part beside any of these.")
    when: Near | None = Field(None, description="A part only beside these.")
    priority: int = Field(0, description="Among equal readings the highest wins.")
    kind: Kind | None = Field(None, description="Alone it is a mention of this kind.")

    @model_validator(mode="after")
    def _finds_something(self) -> Leaf:
        if not (self.words or self.lexicon or self.pattern):
            raise ValueError("a leaf needs words, a lexicon or a pattern")
        return self


class Production(Model):
    """Neighbouring parts that make a larger one."""

    sequence: list[str] | list[list[str]] = Field(min_length=1, description="Types and words in order; or several.")
    value: str | None = Field(None, description="Expression over the variables; none: the only one is passed on.")
    type: str | None = Field(None, description="Part type; none: what the function gives, else the name.")
    kind: Kind | None = Field(None, description="It is a mention of this kind.")
    latent: bool | None = Field(None, description="True: only as part of something larger.")
    unless: Near | None = Field(None, description="Does not hold beside any of these.")
    when: Near | None = Field(None, description="Holds only beside these.")
    priority: int = Field(0, description="Among equal readings the highest wins.")

    def sequences(self) -> list[list[str]]:
        """The alternative sequences."""
        return [[item for item in self.sequence if isinstance(item, str)]] if isinstance(self.sequence[0], str) else [
            row for row in self.sequence if isinstance(row, list)
        ]  # fmt: skip


class GrammarFile(RuleFile):
    """A family of extraction rules; see the manual at the top of this module."""

    kind: Literal["grammar"] = Field(description="grammar")
    language: Language = Field("any", description="Language of the words; all files work in one chart.")
    leaves: dict[str, Leaf] = Field(default_factory=dict, description="Words and patterns that give parts, by name.")
    productions: dict[str, Production] = Field(default_factory=dict, description="Parts that make a larger, by name.")
    expose: list[str] = Field(default_factory=list, description="Part types given out where no mention covers them.")
    tables: dict[str, Any] = Field(default_factory=dict, description="Plain data for finishers (holidays, policies).")

    def named(self, name: str) -> str:
        """The id under which a leaf or production is reported."""
        return f"{self.id}.{name}@{self.version}"


@dataclass(frozen=True)
class Context:
    """What a finisher may know besides the value."""

    said_at: datetime | None = None
    timezone: str | None = None
    locale: str | None = None
    lang: Literal["zh", "en"] = "en"
    speaker: Speaker = "user"
    tables: Mapping[str, Any] = field(default_factory=dict)
    ner: bool = True
    hints: tuple[Hint, ...] = ()  # of a model, in normalised offsets


@dataclass(frozen=True)
class Place:
    """Where a finished part stands: normalised offsets, and its text in both forms."""

    normalized: Normalized
    start: int
    end: int

    @property
    def text(self) -> str:
        """The normalised characters."""
        return self.normalized.text[self.start : self.end]

    @property
    def original(self) -> str:
        """The characters as written."""
        start, end = self.normalized.span(self.start, self.end)
        return self.normalized.original[start:end]


@dataclass(frozen=True)
class Refusal:
    """A finisher's word that the span looks like a value and is none."""

    why: str


Finisher = Callable[[Any, Context, Place], Value | Refusal | None]
FINISHERS: dict[str, Finisher] = {}


# A kind → how a part is completed by its neighbour in a list, given the words between them: 9月10号和20号.
Lister = Callable[[Any, Any, str, Context], tuple[Any, Any] | None]
LISTERS: dict[str, Lister] = {}


def lister(kind: Kind) -> Callable[[Lister], Lister]:
    """Register what lets neighbours in a list complete each other; it gives both parts, or None where they are none."""

    def register(share: Lister) -> Lister:
        LISTERS[kind] = share
        return share

    return register


def finisher(kind: Kind) -> Callable[[Finisher], Finisher]:
    """Register what turns a part into the typed value of ``kind``."""

    def register(finish: Finisher) -> Finisher:
        FINISHERS[kind] = finish
        return finish

    return register


@dataclass(frozen=True, order=True)
class GrammarProblem:
    """One thing wrong with a grammar file; ``path`` leads to it: ("leaves", "month", "pattern")."""

    file: str
    path: tuple[str, ...]
    message: str

    def __str__(self) -> str:
        return f"{self.file}: {'.'.join(self.path)}: {self.message}"


class GrammarProblems(ValueError):
    """A grammar that cannot be compiled, with every problem found."""

    def __init__(self, problems: Iterable[GrammarProblem]) -> None:
        self.problems = sorted(problems)
        super().__init__("\n".join(map(str, self.problems)))


@dataclass(frozen=True)
class Found:
    """What a grammar found in one text."""

    mentions: tuple[Mention, ...] = ()
    parts: tuple[Part, ...] = ()
    refused: tuple[Refused, ...] = ()


def shown(value: Any) -> str:
    """A part's value as a string: its canonical form when it has one."""
    return str(getattr(value, "canonical", value))


# At equal span and rank the kind that says more wins: an identifier over a number, a time over an amount.
_KINDS: tuple[str, ...] = (
    "url", "email", "identifier", "phone", "address", "time", "money", "percent", "quantity", "organization",
    "person", "place", "number", "text",
)  # fmt: skip


_ORDER = {kind: place for place, kind in enumerate(_KINDS)}


class Grammar:
    """Compiled grammar files; immutable after ``compile``."""

    def __init__(self) -> None:
        self.matcher = Matcher()
        self.network = Network()
        self.exposed: frozenset[str] = frozenset()
        self.tables: dict[str, Any] = {}
        self.recognizers: tuple[Recognizer, ...] = ()
        self.sources: dict[str, Source] = {}

    @classmethod
    def compile(
        cls,
        files: Iterable[GrammarFile],
        vocabularies: Mapping[str, VocabularyFile] | None = None,
        recognizers: Iterable[Recognizer] = (),
        checked: bool = False,
    ) -> Grammar:
        """Compile the active files; raises GrammarProblems with everything that is wrong."""
        from .parsing.compiler import Compiler

        grammar = Compiler(vocabularies or {}, checked).compile(sorted(files, key=lambda f: f.id))
        grammar.recognizers = tuple(recognizers)
        words = with_additions(vocabularies or {})
        grammar.sources = {name: build(words) for name, build in sorted(SOURCES.items())}
        return grammar

    def edges_of(self, text: str) -> list[Edge]:
        """Every part found in a text, leaves included."""
        return self._edges([normalize(text)], [[]])[0]

    def find(self, text: str | Normalized, context: Context | None = None) -> Found:
        """Mentions, exposed parts and refused spans of one text, in the order of the text."""
        given = context or Context()
        context = given if given.tables is self.tables else replace(given, tables={**self.tables, **given.tables})
        return self.find_all([normalize(text) if isinstance(text, str) else text], [context])[0]

    def find_all(self, texts: Sequence[Normalized], contexts: Sequence[Context]) -> list[Found]:
        """The same for several texts, a step for all of them and then the next."""
        recognised: list[list[Edge]] = [[] for _ in texts]
        for recognizer in self.recognizers:
            for text, context, some in zip(texts, contexts, recognised, strict=True):
                some.extend(recognizer.recognise(text, context))
        every = self._edges(texts, recognised)
        return [self._found(*one) for one in zip(texts, contexts, recognised, every, strict=True)]

    def _edges(self, texts: Sequence[Normalized], recognised: Sequence[list[Edge]]) -> list[list[Edge]]:
        """Every part found in each text, leaves and recognised edges included."""
        leaves = [[*self.matcher.find(text), *some] for text, some in zip(texts, recognised, strict=True)]
        for find in self.sources.values():
            for text, some in zip(texts, leaves, strict=True):
                some.extend(find(text))
        network = self.network
        return [parse(some, text.text, network) if some else [] for text, some in zip(texts, leaves, strict=True)]

    def _found(self, normalized: Normalized, context: Context, recognised: list[Edge], edges: list[Edge]) -> Found:
        mentions, refused, taken = _select(edges, normalized, context)
        exact = {(m.start, m.end) for m in mentions}
        parts = self._parts(edges, recognised, normalized, taken, exact)
        return Found(tuple(mentions), tuple(parts), tuple(refused))

    def _parts(
        self,
        edges: list[Edge],
        recognised: list[Edge],
        normalized: Normalized,
        taken: bytearray,
        exact: set[tuple[int, int]],
    ) -> list[Part]:
        """Exposed parts where no mention stands: of each type the longest first.

        A recogniser's part also stands beside a mention of the very same characters: "8818" is a number and may be the
        tail of a telephone number, "example.org" an address of the web and may be the domain of a mail address.
        """
        out: list[tuple[int, int, str, Part]] = []
        covered: dict[str, bytearray] = {}
        exposed = self.exposed | {e.type for e in recognised if e.kind is None}
        twins = {(e.type, e.start, e.end) for e in recognised if e.kind is None}
        offered = {(e.type, e.start, e.end): e for e in (*edges, *(e for e in recognised if e.kind is None))}
        mine = [e for e in offered.values() if e.type in exposed and not e.latent and _free(e, normalized.text)]
        for edge in sorted(mine, key=lambda e: (e.start - e.end, e.rank, e.start)):
            own = covered.setdefault(edge.type, bytearray(taken))
            start, end = normalized.span(edge.start, edge.end)
            twin = (start, end) in exact and (edge.type, edge.start, edge.end) in twins
            if any(own[edge.start : edge.end]) and not twin:
                continue
            own[edge.start : edge.end] = b"\1" * (edge.end - edge.start)
            said = normalized.original[start:end]
            part = Part(type=edge.type, start=start, end=end, text=said, value=shown(edge.value), rule=edge.rule)
            out.append((start, end, edge.type, part))
        return [part for *_, part in sorted(out, key=lambda p: p[:3])]


def _free(edge: Edge, text: str) -> bool:
    """False for a piece of a longer word or code: the 34 of "T34" is no number."""
    for at in (edge.start, edge.end):
        if at > 0:
            pair = text[at - 1 : at + 1]
            if pair.isascii() and pair.isalnum() and len(pair) == 2:
                return False
    return True


def _select(
    edges: list[Edge], normalized: Normalized, context: Context
) -> tuple[list[Mention], list[Refused], bytearray]:
    """All kinds compete for the characters together: longest first, then rank, then the kind that says more."""
    text = normalized.text
    offers = [e for e in edges if e.kind is not None and not e.latent and _free(e, text)]
    if len(offers) > 1:
        offers.sort(key=lambda e: (e.start - e.end, e.rank[:4], _ORDER[e.kind or "text"], e.start, e.rule))
    taken = bytearray(len(text))
    mentions: list[Mention] = []
    refused: list[Refused] = []
    chosen: dict[int, Edge] = {}
    for edge in offers:
        if taken.find(1, edge.start, edge.end) >= 0:
            continue
        kind = edge.kind or "text"
        value = edge.value  # a recogniser's edge carries its finished value
        if not isinstance(value, Value):
            value = FINISHERS[kind](value, context, Place(normalized, edge.start, edge.end))
        if value is None:
            continue
        taken[edge.start : edge.end] = b"\1" * (edge.end - edge.start)
        start, end = normalized.span(edge.start, edge.end)
        said = normalized.original[start:end]
        if isinstance(value, Refusal):
            refused.append(Refused(kind=kind, start=start, end=end, text=said, why=value.why, rule=edge.rule))
        else:
            mentions.append(Mention(start=start, end=end, text=said, value=value, rule=edge.rule))
            chosen[start] = edge
    mentions.sort(key=lambda m: (m.start, m.end))
    _share(mentions, chosen, normalized, context)
    refused.sort(key=lambda r: (r.start, r.end))
    return mentions, refused, taken


def _share(mentions: list[Mention], chosen: dict[int, Edge], normalized: Normalized, context: Context) -> None:
    """What one member of a list leaves open it takes from its neighbour; ``mentions`` is changed in place."""
    count = len(mentions)
    for at in (*range(1, count), *range(count - 1, 0, -1)):  # onwards and back: the 10th, 20th and 30th of May
        one, two = chosen[mentions[at - 1].start], chosen[mentions[at].start]
        share = LISTERS.get(one.kind or "text") if one.kind == two.kind else None
        between = normalized.text[one.end : two.start]
        shared = share(one.value, two.value, between, context) if share is not None else None
        for place, edge, value in zip((at - 1, at), (one, two), shared or (), strict=False):
            if value == edge.value:
                continue
            made = FINISHERS[edge.kind or "text"](value, context, Place(normalized, edge.start, edge.end))
            if isinstance(made, Value):
                mentions[place] = mentions[place].model_copy(update={"value": made})
                chosen[mentions[place].start] = edge._replace(value=value)
