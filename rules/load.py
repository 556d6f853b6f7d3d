"""Folders of rule files → one Ruleset: read, validate, layer, check references, digest.

All problems of all files are collected and reported at once.

Layers: the shipped packs, then each folder in the order given. Of several versions of one id the highest active or
retired one counts, wherever it lies; ``retired`` takes the rule out; a draft never counts. Two files with the same id
and version must say the same.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from ..rulefile import Problem, RuleError, RuleFile
from .cache import checking
from .folders import read_folder, read_packs
from .parsed import SOURCES, Parsed, Read, parse
from .policy import PolicyFile, table_of
from .ruleset import Ruleset, set_digest
from .schema import located, references, validate
from .slots import SlotFile

# Kinds whose rules are asked on which day they count; a day on any other would be a promise that nobody keeps.
DATED = frozenset({"gate"})


@dataclass(frozen=True, eq=False)
class _Rule:
    read: Read
    rule: RuleFile
    parsed: Parsed

    @property
    def digest(self) -> str:
        """The digest of its content."""
        return self.parsed.digest


def load(folders: Sequence[Path | str] = (), packs: bool = True) -> Ruleset:
    """The rule set of the shipped packs (unless left out) and these folders; RuleError lists all that is wrong."""
    problems: list[Problem] = []
    reads = list(read_packs(problems)) if packs else []
    for number, folder in enumerate(folders, start=1):
        reads.extend(read_folder(Path(folder), problems, layer=number))
    return _ruleset(reads, problems, trusting=True)


def survey(folders: Sequence[Path | str] = (), packs: bool = True) -> tuple[Ruleset, list[Problem]]:
    """The set of those files that can be used, and all that is wrong with the others; nothing is raised.

    For looking at a folder that is being written: a file that names a broken one is left out with it, unremarked.
    """
    problems: list[Problem] = []
    reads = list(read_packs(problems)) if packs else []
    for number, folder in enumerate(folders, start=1):
        reads.extend(read_folder(Path(folder), problems, layer=number))
    ruleset = _collected(list(parse(reads, trusting=True)), problems, checked=False)
    return ruleset, sorted(set(problems))


def build(sources: Mapping[str, str], digest: str | None = None) -> Ruleset:
    """The rule set of these texts by id, as stored beside decisions.

    Parsed afresh, unless its ``digest`` is known: then the cache may serve, because what it gives is digested again
    and anything but the very same content is thrown away.
    """
    reads = [Read(SOURCES, f"{name}.yaml", text) for name, text in sorted(sources.items())]
    if digest is not None:
        with suppress(RuleError):
            found = _ruleset(reads, [], trusting=True)
            if found.digest == digest:
                return found
    return _ruleset(reads, [], trusting=False)


def following(before: Ruleset, sources: Mapping[str, str], digest: str) -> Ruleset:
    """The same for a set that was proved elsewhere, made from another: only the texts that differ are read, and what
    was compiled from files that both have is shared. Nothing is proved here but the digest; ValueError for another."""
    same = {name for name, text in sources.items() if before.sources.get(name) == text}
    reads = [Read(SOURCES, f"{name}.yaml", text) for name, text in sorted(sources.items()) if name not in same]
    problems: list[Problem] = []
    fresh = _collected(list(parse(reads, trusting=True)), problems, checked=True)
    if problems:
        raise RuleError(problems)
    contents = {name: before.contents[name] for name in same} | dict(fresh.contents)
    files = {name: before.files[name] for name in same} | dict(fresh.files)
    if set(files) != set(sources) or set_digest(contents) != digest:
        raise ValueError("its sources have another digest")
    found = Ruleset(
        digest=digest,
        files=dict(sorted(files.items())),
        sources=dict(sources),
        paths={name: f"{name}.yaml" for name in sources},
        contents=contents,
    )
    found.share(before)
    return found


def digest_of(sources: Mapping[str, str]) -> str:
    """The digest of stored texts by their content alone: those of another version of this program count, too."""
    reads = [Read(SOURCES, f"{name}.yaml", text) for name, text in sorted(sources.items())]
    rules = [(parsed.data, parsed.digest) for _, parsed in parse(reads, trusting=True)]
    return set_digest({data["id"]: (data["version"], digest) for data, digest in rules if data is not None})


def _ruleset(reads: Iterable[Read], problems: list[Problem], trusting: bool) -> Ruleset:
    parsed_reads = list(parse(reads, trusting))
    said = (f"{read.layer} {read.shown} {parsed.digest}" for read, parsed in parsed_reads)
    with checking("files", *said) if trusting else nullcontext(False) as checked:
        return _checked(parsed_reads, problems, checked)


def _checked(parsed_reads: Sequence[tuple[Read, Parsed]], problems: list[Problem], checked: bool) -> Ruleset:
    """The rule set of parsed files, all sound; ``checked``: they have passed together before, with this code."""
    ruleset = _collected(parsed_reads, problems, checked)
    if problems:
        raise RuleError(list(dict.fromkeys(problems)))
    return ruleset


def _collected(parsed_reads: Sequence[tuple[Read, Parsed]], problems: list[Problem], checked: bool) -> Ruleset:
    """The rule set of the sound ones among parsed files; what is wrong with the others is added to ``problems``."""
    rules: list[_Rule] = []
    broken: set[str] = set()
    for read, parsed in parsed_reads:
        if not isinstance(parsed.data, dict):
            problems.extend(read.source.problems)
            broken |= _meant_ids(read)
            continue
        rule, complaints = validate(parsed.data, checked=checked)
        problems.extend(located(read.source, *complaint) for complaint in complaints)
        if rule is not None and rule.effective is not None and rule.kind not in DATED:
            said = f"`effective` has no effect on a {rule.kind}"
            way_out = "Publish a release with the rule on its first day, and one without it after its last."
            problems.append(located(read.source, ("effective",), True, said, way_out, "days-without-effect"))
        if rule is None:
            broken |= _meant_ids(read)
        else:
            rules.append(_Rule(read, rule, parsed))
    notes: list[str] = []
    active = _layered(rules, problems, notes)
    if not checked:
        _check_references(active, broken, problems)
        _check_table(active, problems)
    contents = {name: (found.rule.version, found.digest) for name, found in active.items()}
    return Ruleset(
        digest=set_digest(contents),
        files={name: found.rule for name, found in active.items()},
        sources={name: found.read.text for name, found in active.items()},
        paths={name: found.read.shown for name, found in active.items()},
        contents=contents,
        notes=tuple(notes),
    )


def _meant_ids(read: Read) -> set[str]:
    """The id that a broken file means to have, and its slot: what names them is not to blame."""
    return {line.partition(":")[2].strip(" \"'") for line in read.text.split("\n") if line.startswith(("id:", "slot:"))}


def _layered(rules: Sequence[_Rule], problems: list[Problem], notes: list[str]) -> dict[str, _Rule]:
    """The rule that counts for each id, sorted by id."""
    by_id: dict[str, list[_Rule]] = {}
    for found in rules:
        by_id.setdefault(found.rule.id, []).append(found)
    active: dict[str, _Rule] = {}
    for name, versions in sorted(by_id.items()):
        _check_same_version(versions, problems)
        first = versions[0]
        for other in versions[1:]:
            if other.rule.kind != first.rule.kind:
                said = f"{name!r} is a {first.rule.kind} in {first.read.shown} and a {other.rule.kind} here"
                problems.append(
                    located(other.read.source, ("kind",), False, said, "Give it an id of its own.", "id-reused")
                )
        counting = [found for found in versions if found.rule.status != "draft"]
        if not counting:
            continue
        best = max(counting, key=lambda found: found.rule.version)
        for found in counting:
            if found.read.layer > best.read.layer and found.rule.version < best.rule.version:  # equal ones are the same
                notes.append(f"{found.read.shown}: {found.rule.ref} is older than {best.rule.ref} and does not count")
        if best.rule.status == "active":
            active[name] = best
    return active


def _check_same_version(versions: Sequence[_Rule], problems: list[Problem]) -> None:
    seen: dict[int, _Rule] = {}
    for found in versions:
        first = seen.setdefault(found.rule.version, found)
        if first.digest != found.digest:
            said = f"{found.rule.ref} also stands in {first.read.shown} and says something else"
            way_out = "Raise `version` to override it, or use an id of your own."
            problems.append(located(found.read.source, ("version",), False, said, way_out, "id-reused"))


def _check_references(active: dict[str, _Rule], broken: set[str], problems: list[Problem]) -> None:
    """Complain of names that nothing has, and take the rules that name them out."""
    slots: dict[str, _Rule] = {}
    for found in active.values():
        if isinstance(found.rule, SlotFile):
            first = slots.setdefault(found.rule.slot, found)
            if first is not found:
                said = f"the slot {found.rule.slot!r} is also defined by {first.rule.ref}"
                problems.append(
                    located(found.read.source, ("slot",), False, said, "One slot has one file.", "id-reused")
                )
    missing = set(broken)
    while True:
        vocabularies = {name for name, found in active.items() if found.rule.kind == "vocabulary"}
        named = {found.rule.slot for found in active.values() if isinstance(found.rule, SlotFile)}
        known = {"vocabulary": vocabularies, "slot": named | {"none"}}
        gone: list[str] = []
        for found in active.values():
            for path, what, name in references(found.parsed.data):
                if name in known[what]:
                    continue
                if name not in missing:
                    made = f"recordari rules new {what} {'slot.' if what == 'slot' else ''}{name}"
                    way_out = _similar(name, known[what]) or f"Correct the name, or add its file: {made}."
                    check = {"slot": "unknown-slot", "vocabulary": "unknown-lexicon"}[what]
                    said = f"unknown {what} {name!r}"
                    problems.append(located(found.read.source, path, False, said, way_out, check))
                gone.append(found.rule.id)
        if not gone:
            return
        for name in gone:  # what names these in turn is not to blame
            out = active.pop(name, None)
            missing |= {name, out.rule.slot} if out is not None and isinstance(out.rule, SlotFile) else {name}


def _similar(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.75)
    return f"Did you mean {close[0]!r}?" if close else ""


def _check_table(active: Mapping[str, _Rule], problems: list[Problem]) -> None:
    """Row names must not collide with ids, and nothing may stand below a catch-all."""
    policies = [found.rule for found in active.values() if isinstance(found.rule, PolicyFile)]
    for file in policies:
        for index in range(len(file.rows)):
            name = file.row_name(index).partition("@")[0]
            if name in active:
                said = f"this row would be called {name!r}, which is the id of another rule"
                problems.append(
                    located(active[file.id].read.source, ("rows", index), False, said, "Rename the row.", "id-reused")
                )
    table = table_of(policies)
    for place, row in enumerate(table[:-1]):
        if row.always:
            said = f"this row matches always and hides the {len(table) - place - 1} rows after it"
            way_out = "Only the last row of the last policy file (lowest priority) may have an empty `when`."
            problems.append(
                located(active[row.file].read.source, ("rows", row.index), False, said, way_out, "never-reached")
            )
            break
