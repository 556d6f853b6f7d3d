"""Turns grammar files into one matcher and one network, collecting everything that is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any

import re2

from ..grammar import BUILT_IN, FINISHERS, Grammar, GrammarFile, GrammarProblem, GrammarProblems, Leaf, Near, Production
from ..text import lowered, spelled
from ..vocabulary import VocabularyFile
from .chart import Item, Reduction, Test
from .expression import Compiled, Expression, ExpressionError, compile_expression
from .leaves import CLASSES, MAX_REPEAT, Pattern, Side, Word, context_test, longest_run

_TYPED = re.compile(r"^([a-z_][a-z0-9_]*(?:\|[a-z_][a-z0-9_]*)*)(?: ([a-z_][a-z0-9_]*))?(\?)?$")
# Words that no connector has: an unknown type with a one-letter variable, an underscore, a question mark.
_MEANT = re.compile(r"^[a-z0-9|]+ [a-z]\??$|[a-z]_[a-z]|[a-z]\?")

_REGEX = re.compile(r"^(~?)/(.+)/$", re.DOTALL)


def _listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


class Compiler:
    """One compilation; its problems name the file and the path inside it."""

    def __init__(self, vocabularies: Mapping[str, VocabularyFile], checked: bool = False) -> None:
        self.vocabularies = vocabularies
        self.checked = checked  # these files have been compiled before without a problem
        self.problems: list[GrammarProblem] = []
        self.grammar = Grammar()
        self.types: set[str] = set()
        self._literals: set[str] = set()
        self._expressions: dict[str, Expression] = {}  # half of them are said more than once

    def compile(self, files: Iterable[GrammarFile]) -> Grammar:
        """The compiled grammar of the files that are not retired or drafts."""
        active = [f for f in files if f.status == "active"]
        expressions = self._types_of(active)
        exposed: set[str] = set()
        for file in active:
            for name, leaf in file.leaves.items():
                self._leaf(file, name, leaf)
            for name, production in file.productions.items():
                self._production(file, name, production, expressions.get((file.id, name)))
            for part in file.expose:
                if part not in self.types:
                    self._problem(file, ("expose",), f"no leaf or production gives the type {part!r}")
            exposed.update(file.expose)
            for name, table in file.tables.items():  # files may share a table: each adds its own entries
                known = self.grammar.tables.get(name)
                adds = isinstance(known, dict) and isinstance(table, dict)
                self.grammar.tables[name] = {**(known or {}), **table} if adds else table
        if self.problems:
            raise GrammarProblems(self.problems)
        self.grammar.exposed = self.grammar.network.exposed = frozenset(exposed)
        self.grammar.network.close()
        self.grammar.matcher.close()
        return self.grammar

    def _problem(self, file: GrammarFile, path: tuple[str, ...], message: str) -> None:
        self.problems.append(GrammarProblem(file.id, path, message))

    def _expression(self, file: GrammarFile, path: tuple[str, ...], source: str) -> Expression | None:
        known = self._expressions.get(source)
        if known is not None:
            return known
        try:
            made = self._expressions[source] = compile_expression(source)
            return made
        except ExpressionError as error:
            self._problem(file, path, str(error))
            return None

    def _types_of(self, files: list[GrammarFile]) -> dict[tuple[str, str], tuple[str, Expression | None]]:
        """The type of every leaf and production, which items need before any of them can be read."""
        self.types = set(BUILT_IN)
        out: dict[tuple[str, str], tuple[str, Expression | None]] = {}
        for file in files:
            for name, leaf in file.leaves.items():
                self.types.add(leaf.type or name)
            for name, production in file.productions.items():
                value = production.value
                made = self._expression(file, ("productions", name, "value"), value) if value is not None else None
                of = production.type or (made.gives if made is not None else "") or name
                self.types.add(of)
                out[(file.id, name)] = (of, made)
        return out

    # ------------------------------------------------------------------ leaves
    def _leaf(self, file: GrammarFile, name: str, leaf: Leaf) -> None:
        path = ("leaves", name)
        made = self._expression(file, (*path, "value"), leaf.value)
        if made is None or not self._finishes(file, path, leaf.kind):
            return
        latent = {lowered(w) for w in leaf.latent} if isinstance(leaf.latent, list) else set()
        allowed = self._contexts(file, path, leaf.unless, leaf.when)
        base = Word(
            leaf.type or name, None, file.named(name), leaf.latent is True, leaf.priority, leaf.kind,
            leaf.boundary == "word", allowed,
        )  # fmt: skip
        for text, value in self._words(file, path, leaf):
            written = spelled(text)
            meaning = made.run(_variables(value))
            if meaning is None:
                self._problem(file, (*path, "words"), f"{text!r} has no value by {leaf.value!r}")
                continue
            word = base._replace(value=meaning, latent=base.latent or written.lower() in latent)
            glued = leaf.boundary == "none"
            self.grammar.matcher.add_word(written, word, cased=leaf.case, glued=glued)
        for source in _listed(leaf.pattern):
            if self._safe(file, (*path, "pattern"), source):
                self.grammar.matcher.patterns.append(Pattern(source, leaf.case, _reader(made.run), base))

    def _words(self, file: GrammarFile, path: tuple[str, ...], leaf: Leaf) -> list[tuple[str, Any]]:
        pairs: list[tuple[str, Any]] = []
        if isinstance(leaf.words, dict):
            pairs.extend(leaf.words.items())
        else:
            pairs.extend((word, word) for word in leaf.words)
        for of in _listed(leaf.lexicon):
            if of in self.vocabularies:
                pairs.extend(self.vocabularies[of].entries().items())
            else:
                self._problem(file, (*path, "lexicon"), f"no vocabulary {of!r}")
        if any(not word.strip() for word, _ in pairs):
            self._problem(file, (*path, "words"), "an empty word would match everywhere")
            return []
        return pairs

    def _safe(self, file: GrammarFile, path: tuple[str, ...], source: str) -> bool:
        """A pattern must be bounded, compile under re and under re2."""
        if self.checked:
            return True
        try:
            run = longest_run(source)
            re2.compile(source)
        except (ValueError, re.error, re2.error) as error:
            self._problem(file, path, f"{source!r}: {error}")
            return False
        if run > MAX_REPEAT:
            self._problem(file, path, f"{source!r} may repeat {run} times; at most {MAX_REPEAT} are allowed")
            return False
        return True

    def _finishes(self, file: GrammarFile, path: tuple[str, ...], kind: str | None) -> bool:
        if kind is not None and kind not in FINISHERS:
            self._problem(file, (*path, "kind"), f"no finisher is registered for {kind!r}")
            return False
        return True

    # ------------------------------------------------------------------ contexts
    def _contexts(
        self, file: GrammarFile, path: tuple[str, ...], unless: Near | None, when: Near | None
    ) -> Test | None:
        tests: list[Test] = []
        for near, wanted in ((unless, False), (when, True)):
            if near is None:
                continue
            where = (*path, "when" if wanted else "unless")
            before = self._side(file, where, near.before, 0)
            after = self._side(file, where, near.after, 1)
            test = context_test(before, after, near.within, wanted)
            if test is not None:
                tests.append(test)
        if len(tests) == 2:
            first, second = tests
            return lambda text, start, end: first(text, start, end) and second(text, start, end)
        return tests[0] if tests else None

    def _side(self, file: GrammarFile, path: tuple[str, ...], entries: list[str], side: int) -> Side:
        """The words and patterns of one side: classes, vocabularies, /regexes/, ~/tight ones/ and words."""
        found = Side([], [])
        for entry in entries:
            if entry in CLASSES:
                found.patterns.append(_tight(CLASSES[entry][side], side))
            elif entry.startswith("@") and len(entry) > 1:
                vocabulary = self.vocabularies.get(entry[1:])
                if vocabulary is None:
                    self._problem(file, path, f"no vocabulary {entry[1:]!r}")
                else:
                    found.words.extend(lowered(word) for word in vocabulary.entries())
            elif (written := _REGEX.match(entry)) is not None:
                if self._safe(file, path, written[2]):
                    found.patterns.append(_tight(written[2], side) if written[1] else f"(?:{written[2]})")
            else:
                found.words.append(lowered(entry))
        return found

    # ------------------------------------------------------------------ productions
    def _production(
        self, file: GrammarFile, name: str, production: Production, typed: tuple[str, Expression | None] | None
    ) -> None:
        path = ("productions", name)
        of, made = typed or (name, None)
        if production.value is not None and made is None:
            return
        allowed = self._contexts(file, path, production.unless, production.when)
        if not self._finishes(file, path, production.kind):
            return
        for row in production.sequences():
            items = [self._item(file, (*path, "sequence"), text) for text in row]
            variables = [item.variable for item in items if item is not None and item.variable]
            if None in items:
                continue
            run = self._run(file, path, made, variables)
            if all(item.optional for item in items if item is not None):
                self._problem(file, (*path, "sequence"), "every item may be absent")
            elif run is not None:
                reduction = Reduction(
                    of, file.named(name), run, production.kind, production.latent, production.priority, allowed
                )
                self.grammar.network.add(tuple(item for item in items if item is not None), reduction)

    def _run(
        self, file: GrammarFile, path: tuple[str, ...], made: Expression | None, variables: list[str]
    ) -> Compiled | None:
        """The value of a sequence; a sequence with one variable may leave it out."""
        if made is None:
            if len(variables) != 1:
                self._problem(file, path, "a value is needed unless the sequence binds exactly one variable")
                return None
            only = variables[0]
            return lambda bound: bound.get(only)
        if len(set(variables)) < len(variables):
            self._problem(file, (*path, "sequence"), "a variable is bound twice")
        return made.run

    def _item(self, file: GrammarFile, path: tuple[str, ...], text: str) -> Item | None:
        typed = _TYPED.match(text)
        if typed and all(name in self.types for name in typed[1].split("|")):
            return Item(frozenset(typed[1].split("|")), typed[2] or "", bool(typed[3]))
        symbols: set[str] = set()
        optional = False
        for choice in (text[1:] if text.startswith("=") and len(text) > 1 else text).split("|"):
            if choice.startswith("@") and len(choice) > 1:
                symbols |= self._vocabulary_literal(file, path, choice[1:])
            elif choice.strip():
                symbols.add(self._literal(choice.strip()))
            else:
                optional = True
        if not symbols:
            self._problem(file, path, f"{text!r} names nothing")
            return None
        if _MEANT.search(text) and not text.startswith("="):
            self._problem(file, path, f"{text!r}: no leaf or production gives this type")
            return None
        return Item(frozenset(symbols), "", optional)

    def _literal(self, text: str) -> str:
        """The symbol of a connecting word, which becomes a leaf of its own."""
        written = lowered(text)
        symbol = f"={written}"
        if symbol not in self._literals:
            self._literals.add(symbol)
            word = Word(symbol, written, "connector", False, 0, None, False, None)
            self.grammar.matcher.add_word(written, word, cased=False, glued=False)
        return symbol

    def _vocabulary_literal(self, file: GrammarFile, path: tuple[str, ...], of: str) -> set[str]:
        """The symbol shared by all words of a vocabulary."""
        vocabulary = self.vocabularies.get(of)
        if vocabulary is None:
            self._problem(file, path, f"no vocabulary {of!r}")
            return set()
        symbol = f"=@{of}"
        if symbol not in self._literals:
            self._literals.add(symbol)
            for text in sorted(vocabulary.entries()):
                written = lowered(text)
                word = Word(symbol, written, "connector", False, 0, None, False, None)
                self.grammar.matcher.add_word(written, word, cased=False, glued=False)
        return {symbol}


def _tight(pattern: str, side: int) -> str:
    """The pattern, touching the span without a space."""
    return f"(?:{pattern})(?!\\s)" if side == 0 else f"(?<!\\s)(?:{pattern})"


def _variables(value: Any) -> dict[str, Any]:
    """``it`` and, for a list value, ``g1``, ``g2`` …"""
    if isinstance(value, list):
        return {"it": tuple(value), **{f"g{i}": item for i, item in enumerate(value, 1)}}
    return {"it": Decimal(str(value)) if isinstance(value, float) else value}


def _reader(run: Compiled) -> Callable[[re.Match[str]], Any]:
    """Match → value: ``it`` is the only group or the whole match, groups are ``g1`` … and their names."""

    names: tuple[str, ...] | None = None

    def read(match: re.Match[str]) -> Any:
        nonlocal names
        groups = match.groups()
        if names is None or len(names) != len(groups):
            names = tuple(f"g{i}" for i in range(1, len(groups) + 1))
        bound: dict[str, Any] = dict(zip(names, groups, strict=True))
        if match.re.groupindex:
            bound.update(match.groupdict())
        bound["it"] = groups[0] if len(groups) == 1 and groups[0] is not None else match[0]
        return run(bound)

    return read
