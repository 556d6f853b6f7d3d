"""What differs between two rule sets: rules added, removed and changed, field by field, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..rulefile import RuleFile
from .ruleset import Ruleset

What = Literal["added", "removed", "changed"]
# Fields that no decision reads: a rule that differs in nothing else decides alike.
INERT = frozenset({"version", "title", "owner", "rationale", "references", "related", "tests", "changelog"})
LONGEST = 100  # characters of a value that are shown in a line


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One place in a rule: what stood there and what stands there now. Of lists only the members that differ."""

    path: str
    before: tuple[Any, ...]
    after: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class RuleChange:
    """One rule that one of the sets has, or that both have in another form."""

    what: What
    rule: str
    kind: str
    before: str | None  # id@version
    after: str | None
    fields: tuple[FieldChange, ...] = ()

    @property
    def touched(self) -> frozenset[str]:
        """The outermost fields that differ."""
        return frozenset(field.path.partition(".")[0].partition(" ")[0] for field in self.fields)

    @property
    def inert(self) -> bool:
        """True when nothing differs that a decision reads; questions to people name a slot by its title."""
        return self.what == "changed" and self.touched <= (INERT - {"title"} if self.kind == "slot" else INERT)


@dataclass(frozen=True, slots=True)
class Comparison:
    """All differences between two rule sets, by rule id."""

    before: str
    after: str
    changes: tuple[RuleChange, ...]
    same: int

    def of(self, what: What) -> tuple[RuleChange, ...]:
        """The changes of one sort."""
        return tuple(change for change in self.changes if change.what == what)


def compare(before: Ruleset, after: Ruleset) -> Comparison:
    """What ``after`` adds, leaves out and changes."""
    changes: list[RuleChange] = []
    same = 0
    for name in sorted({*before.files, *after.files}):
        old, new = before.files.get(name), after.files.get(name)
        if old is not None and new is not None:
            if before.contents[name] == after.contents[name]:
                same += 1
                continue
            fields = tuple(_fields(_data(old), _data(new)))
            changes.append(RuleChange("changed", name, new.kind, old.ref, new.ref, fields))
        elif new is not None:
            changes.append(RuleChange("added", name, new.kind, None, new.ref))
        elif old is not None:
            changes.append(RuleChange("removed", name, old.kind, old.ref, None))
    return Comparison(before.digest, after.digest, tuple(changes), same)


def _data(file: RuleFile) -> dict[str, Any]:
    return file.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def _fields(old: Any, new: Any, path: str = "") -> Iterator[FieldChange]:
    if old == new:
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted({*old, *new}, key=str):
            inner = f"{path}.{key}" if path else str(key)
            if key not in old:
                yield FieldChange(inner, (), _members(new[key]))
            elif key not in new:
                yield FieldChange(inner, _members(old[key]), ())
            else:
                yield from _fields(old[key], new[key], inner)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _lists(old, new, path)
    else:
        yield FieldChange(path, (old,), (new,))


def _lists(old: list[Any], new: list[Any], path: str) -> Iterator[FieldChange]:
    """Lists are told by the members that came and went; the same members in another order by the whole."""
    kept = Counter(map(_key, old)) & Counter(map(_key, new))
    gone, come = _without(old, kept), _without(new, kept)
    if len(gone) == len(come) == 1 and isinstance(gone[0], Mapping) and isinstance(come[0], Mapping):
        # One member was changed: say what in it.
        yield from _fields(gone[0], come[0], f"{path}.{new.index(come[0]) + 1}")
    elif gone or come:
        yield FieldChange(path, tuple(gone), tuple(come))
    else:
        yield FieldChange(f"{path} (order)", tuple(old), tuple(new))


def _without(listed: list[Any], kept: Counter[Hashable]) -> list[Any]:
    left = Counter(kept)
    rest = []
    for each in listed:
        if left[_key(each)] > 0:
            left[_key(each)] -= 1
        else:
            rest.append(each)
    return rest


def _key(value: Any) -> Hashable:
    if isinstance(value, Mapping):
        return ("{}", *((str(key), _key(inner)) for key, inner in sorted(value.items())))
    if isinstance(value, list):
        return ("[]", *map(_key, value))
    return (type(value).__name__, value)


def _members(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list) else (value,)


# ---------------------------------------------------------------- telling
def comparison_lines(comparison: Comparison) -> Iterator[str]:
    """The comparison for people: ``+`` added, ``-`` removed, ``~`` changed, fields below."""
    counts = ", ".join(f"{len(comparison.of(what))} {what}" for what in ("added", "removed", "changed"))
    yield f"{comparison.before[:12]} -> {comparison.after[:12]}: {counts}, {comparison.same} the same"
    for change in comparison.changes:
        if change.what == "added":
            yield f"+ {change.after} ({change.kind})"
        elif change.what == "removed":
            yield f"- {change.before} ({change.kind})"
        else:
            note = ", no decision reads what differs" if change.inert else ""
            yield f"~ {change.before} -> {change.after} ({change.kind}{note})"
            for field in change.fields:
                if field.path != "version":
                    yield from _field_lines(field)


def _field_lines(field: FieldChange) -> Iterator[str]:
    if len(field.before) == len(field.after) == 1:
        yield f"    {field.path}: {shown(field.before[0])} -> {shown(field.after[0])}"
        return
    for value in field.before:
        yield f"    {field.path}: - {shown(value)}"
    for value in field.after:
        yield f"    {field.path}: + {shown(value)}"


def shown(value: Any) -> str:
    """A value of a rule file in one short line, as YAML would write it inline."""
    text = _inline(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_inline(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(map(_inline, value)) + "]"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value).replace("\n", "\\n")


def comparison_fields(comparison: Comparison) -> dict[str, Any]:
    """The same as JSON data."""
    return {
        "before": comparison.before,
        "after": comparison.after,
        "same": comparison.same,
        "changes": [
            {
                "what": change.what, "rule": change.rule, "kind": change.kind, "before": change.before,
                "after": change.after, "inert": change.inert,
                "fields": [
                    {"path": field.path, "before": list(field.before), "after": list(field.after)}
                    for field in change.fields
                ],
            }
            for change in comparison.changes
        ],
    }  # fmt: skip
