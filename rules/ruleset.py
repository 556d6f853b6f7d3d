"""A rule set: the active rule files, the digest that stands for them, and what is compiled from them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from ..extractors.cues import CueFile
from ..extractors.grammar import GrammarFile
from ..extractors.vocabulary import ADDITION, VocabularyFile
from ..model import Scan
from ..rulefile import Problem, RuleError, RuleFile
from .cache import checking
from .capture_file import CaptureFile
from .gates import Gated, GateFile, Gates
from .induction_file import InductionFile
from .labels import as_said
from .policy import PolicyFile, TableRow, table_of
from .slots import SlotFile

if TYPE_CHECKING:
    from ..extractors.scan import Extraction, Spoken
    from .yamltext import YamlText

T = TypeVar("T", bound=RuleFile)
HAN = re.compile(r"[\u3400-\u9fff]")


def content_digest(data: Mapping[str, Any]) -> str:
    """SHA-256 of one rule's parsed content. Comments, quotes and line ends do not count; the order of keys inside does,
    because it may decide (first match wins); the order of the outermost keys does not."""
    ordered = {name: data[name] for name in sorted(data)}
    return hashlib.sha256(json.dumps(ordered, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()


def set_digest(contents: Mapping[str, tuple[int, str]]) -> str:
    """SHA-256 over (id, version, content digest) of all active rules, sorted by id."""
    listed = [[name, version, digest] for name, (version, digest) in sorted(contents.items())]
    return hashlib.sha256(json.dumps(listed, separators=(",", ":")).encode()).hexdigest()


@dataclass(frozen=True, eq=False)
class Ruleset:
    """Immutable; ``sources`` (text by id) rebuild it exactly: see ``load.build``."""

    digest: str
    files: Mapping[str, RuleFile]
    sources: Mapping[str, str]
    paths: Mapping[str, str]
    contents: Mapping[str, tuple[int, str]]
    notes: tuple[str, ...] = ()

    def rule(self, ref: str) -> RuleFile | None:
        """The rule of an id, ``id@version`` or ``id.part@version`` (a row, leaf or production); None when unknown."""
        name, _, version = ref.partition("@")
        while name:
            found = self.files.get(name)
            if found is not None:
                return found if not version or str(found.version) == version else None
            name = name.rpartition(".")[0]
        return None

    def of(self, model: type[T]) -> tuple[T, ...]:
        """All active files of one model, sorted by id."""
        return tuple(file for _, file in sorted(self.files.items()) if isinstance(file, model))

    @cached_property
    def slots(self) -> dict[str, SlotFile]:
        """Slot files by slot name."""
        return {file.slot: file for file in self.of(SlotFile)}

    @cached_property
    def captures(self) -> tuple[CaptureFile, ...]:
        """Capture files."""
        return self.of(CaptureFile)

    @cached_property
    def gates(self) -> tuple[GateFile, ...]:
        """Gate files."""
        return self.of(GateFile)

    @cached_property
    def inductions(self) -> tuple[InductionFile, ...]:
        """Induction files."""
        return self.of(InductionFile)

    @cached_property
    def policies(self) -> tuple[PolicyFile, ...]:
        """Policy files."""
        return self.of(PolicyFile)

    @cached_property
    def cues(self) -> tuple[CueFile, ...]:
        """Cue files."""
        return self.of(CueFile)

    @cached_property
    def grammars(self) -> tuple[GrammarFile, ...]:
        """Grammar files."""
        return self.of(GrammarFile)

    @cached_property
    def vocabularies(self) -> dict[str, VocabularyFile]:
        """Vocabularies by id."""
        return {file.id: file for file in self.of(VocabularyFile)}

    @cached_property
    def table(self) -> tuple[TableRow, ...]:
        """The decision table, in the order in which rows are tried."""
        return table_of(self.policies)

    @cached_property
    def extraction(self) -> Extraction:
        """Everything the extractors need, compiled on first use."""
        from ..extractors.grammar import GrammarProblems
        from ..extractors.scan import Extraction

        with checking("extraction", self.digest) as checked:
            try:
                return Extraction.compile(self.grammars, self.cues, tuple(self.vocabularies.values()), checked=checked)
            except GrammarProblems as error:
                raise RuleError(
                    [self.problem(found.file.partition("@")[0], found.path, found.message) for found in error.problems]
                ) from error

    @cached_property
    def gatekeeper(self) -> Gates:
        """The gates, compiled on first use."""
        return Gates(self.gates, self.words)

    def share(self, before: Ruleset) -> None:
        """Take over what another set has compiled from the very same files; nothing of it ever changes."""
        made = vars(before).get("extraction")
        if made is not None and (self.grammars, self.cues) == (before.grammars, before.cues):
            differing = {
                name
                for name in self.vocabularies.keys() | before.vocabularies.keys()
                if self.vocabularies.get(name) != before.vocabularies.get(name)
            }
            # A file that adds to another is read as soon as it is there.
            if not differing & made.read and not any(ADDITION in name for name in differing):
                vars(self)["extraction"] = made
        made = vars(before).get("gatekeeper")
        if made is not None and self.gates == before.gates:
            named = {name for file in self.gates for name in (*file.lexicon, *file.unless.lexicon)}
            if all(self.words(name) == before.words(name) for name in named):
                vars(self)["gatekeeper"] = made

    def gated(self, turn: Spoken, scan: Scan) -> Gated | None:
        """What the gates say of a turn."""
        return self.gatekeeper.judge(turn, scan)

    def words(self, vocabulary: str) -> tuple[str, ...]:
        """The words of a vocabulary; none when it is unknown (the loader has complained)."""
        file = self.vocabularies.get(vocabulary)
        return tuple(file.entries()) if file is not None else ()

    def label(self, concept: str, language: str, text: str = "") -> str:
        """A qualifier in words of a language: the first such word of its concept, or itself when none knows it, in the
        letters that it has in ``text``."""
        return as_said(self._labels.get((concept, language), concept), text)

    @cached_property
    def _labels(self) -> dict[tuple[str, str], str]:
        shown: dict[tuple[str, str], str] = {}
        for file in self.vocabularies.values():
            for concept, words in file.labels.items():
                for word in words:
                    shown.setdefault((concept, "zh" if HAN.search(word) else "en"), word)
        return shown

    def nearest(self, name: str, kind: str) -> str:
        """A question about the id of this kind that is most like an unknown one; empty when none is."""
        import difflib

        close = difflib.get_close_matches(name, sorted(n for n, file in self.files.items() if file.kind == kind), n=1)
        return f"Did you mean {close[0]!r}?" if close else ""

    def problem(self, rule: str, path: Sequence[str | int], message: str, way_out: str = "") -> Problem:
        """Something wrong with a rule, at its place in the file; reads the file's text again to find it."""
        from .yamltext import YamlText

        file = self.paths.get(rule, rule)
        if rule not in self._texts:
            self._texts[rule] = YamlText(self.sources.get(rule, ""), file)
        line, column = self._texts[rule].place(path)
        return Problem(file, line, column, message, way_out)

    @cached_property
    def _texts(self) -> dict[str, YamlText]:
        return {}

    def refuse(self, rule: str, path: Sequence[str | int], message: str, way_out: str = "") -> RuleError:
        """The same as an error to raise."""
        return RuleError([self.problem(rule, path, message, way_out)])
