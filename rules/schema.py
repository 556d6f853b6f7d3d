"""Every kind of rule file with its model, its JSON Schema, the ids it refers to, and its mistakes in plain words."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel, ValidationError

from ..extractors.cues import CueFile
from ..extractors.grammar import GrammarFile
from ..extractors.vocabulary import VocabularyFile
from ..rulefile import CHECKED, Problem, Refused, RuleFile
from ..values import VALUE_TYPES
from .capture_file import CaptureFile
from .forgetting_file import ForgettingFile
from .gates import GateFile
from .induction_file import InductionFile
from .policy import PolicyFile
from .retention_file import RetentionFile
from .slots import SlotFile

if TYPE_CHECKING:
    from .yamltext import YamlText

# Fields that take one value in place of a list of one, by model.
ONE_OR_MANY: dict[str, tuple[str, ...]] = {
    "GateFile": ("speaker", "lexicon", "cues"),
    "SlotFile": ("value",),
    "ValueCondition": ("kind", "type", "bound"),
}
# Lists of kinds of value, which validators check.
KIND_LISTS: dict[str, tuple[str, ...]] = {
    "GateUnless": ("mentions",),
    "SlotFile": ("value",),
    "ValueCondition": ("kind",),
}
# One line plugs in a kind.
KINDS: dict[str, type[RuleFile]] = {
    "capture": CaptureFile,
    "cue": CueFile,
    "forgetting": ForgettingFile,
    "gate": GateFile,
    "grammar": GrammarFile,
    "induction": InductionFile,
    "policy": PolicyFile,
    "retention": RetentionFile,
    "slot": SlotFile,
    "vocabulary": VocabularyFile,
}

Steps = tuple[str | int, ...]
Complaint = tuple[Steps, bool, str, str, str]  # path, whether its key is meant, message, way out, id of the check
Reference = tuple[Steps, str, str]  # path, what is meant, name
_REFERENCE = re.compile(r"@([a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*)")
# What pydantic says, in the words of this house; anything else keeps pydantic's own message.
_PLAIN_WORDS = {
    "extra_forbidden": "unknown key {key!r}",
    "missing": "the key {key!r} is missing",
    "string_type": "should be text, not {given}",
    "int_type": "should be a whole number, not {given}",
    "float_type": "should be a number, not {given}",
    "bool_type": "should be true or false, not {given}",
    "list_type": "should be a list, not {given}",
    "dict_type": "should be a mapping, not {given}",
    "model_type": "should be a mapping, not {given}",
    "date_parsing": "should be a date such as 2026-03-18, not {given}",
    "date_from_datetime_parsing": "should be a date such as 2026-03-18, not {given}",
}


def json_schema(kind: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of one kind, for editors; KeyError for an unknown kind."""
    schema = KINDS[kind].model_json_schema(by_alias=True)
    for part in (schema, *schema.get("$defs", {}).values()):
        for name in KIND_LISTS.get(part.get("title", ""), ()):
            part["properties"][name]["items"]["enum"] = sorted(VALUE_TYPES)
        for name in ONE_OR_MANY.get(part.get("title", ""), ()):
            many = part["properties"][name]
            part["properties"][name] = {"anyOf": [many["items"], many]}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"recordari-{kind}.schema.json"} | schema


def located(
    source: YamlText, path: Sequence[str | int], key: bool, message: str, way_out: str = "", check: str = "wrong-value"
) -> Problem:
    """A complaint with its place in the file."""
    line, column = source.place(path, key=key)
    quoted = re.search(r"'([^']+)'|\"([^\"]+)\"", message)
    if not path and not key and quoted:  # a check of the whole file that names what it is about
        line, column = source.last(quoted[1] or quoted[2]) or (line, column)
    return Problem(source.file, line, column, message, way_out, check)


def validate(data: dict[str, Any], *, checked: bool = False) -> tuple[RuleFile | None, list[Complaint]]:
    """The rule that plain data describe, or complaints: path, whether its key is meant, message, way out, check.

    ``checked`` spares what is costly in data that have passed before.
    """
    kind = data.get("kind")
    if kind is None:
        return None, [((), False, "the key 'kind' is missing", f"One of: {', '.join(sorted(KINDS))}.", "missing-key")]
    model = KINDS.get(kind) if isinstance(kind, str) else None
    if model is None:
        return None, [(("kind",), False, f"unknown kind {kind!r}", _nearest(str(kind), sorted(KINDS)), "unknown-kind")]
    try:
        return model.model_validate(data, context=CHECKED if checked else None), []
    except ValidationError as error:
        return None, _complaints(error, model, data)


def references(data: dict[str, Any]) -> Iterator[Reference]:
    """Ids and slot names that a rule refers to: path, what is meant (``vocabulary`` or ``slot``), name."""
    kind = data.get("kind")
    if kind == "slot":
        yield from ((("labels", index), "vocabulary", str(name)) for index, name in enumerate(_listed(data, "labels")))
    if kind in ("capture", "induction") and isinstance(data.get("slot"), str):
        yield ("slot",), "slot", data["slot"]
    if kind == "forgetting":
        terms = data.get("ends")
        for index, term in enumerate(terms if isinstance(terms, list) else ()):
            for name in _listed(term, "slot"):
                yield ("ends", index, "slot"), "slot", name
    if kind == "policy":
        rows = data.get("rows")
        for index, row in enumerate(rows if isinstance(rows, list) else ()):
            for name in _listed(row.get("when") if isinstance(row, dict) else None, "slot"):
                yield ("rows", index, "when", "slot"), "slot", name
    if kind != "vocabulary":
        body = {name: part for name, part in data.items() if name not in ("tests", "title", "rationale", "changelog")}
        yield from _lexicons(body, (), at_sign=kind in ("grammar", "capture"))


def _lexicons(node: Any, path: Steps, at_sign: bool) -> Iterator[Reference]:
    if isinstance(node, dict):
        for name, child in node.items():
            if name == "lexicon":
                for given in _listed(node, "lexicon"):
                    yield (*path, name), "vocabulary", given
            else:
                yield from _lexicons(child, (*path, name), at_sign)
    elif isinstance(node, list):
        for index, child in enumerate(node):
            yield from _lexicons(child, (*path, index), at_sign)
    elif at_sign and isinstance(node, str) and "@" in node and not node.startswith("/"):
        for piece in node.split("|"):
            hit = _REFERENCE.fullmatch(piece.strip())
            if hit:
                yield path, "vocabulary", hit.group(1)


def _listed(node: Any, name: str) -> list[str]:
    found = node.get(name) if isinstance(node, dict) else None
    if isinstance(found, str):
        return [found]
    return [item for item in found if isinstance(item, str)] if isinstance(found, list) else []


def _complaints(error: ValidationError, model: type[BaseModel], data: dict[str, Any]) -> list[Complaint]:
    """One complaint a place: a union reports each of its branches, the reader wants one sentence."""
    by_place: dict[tuple[tuple[str | int, ...], bool], list[tuple[str, str, str]]] = {}
    for entry in error.errors(include_url=False):
        path = _real_path(entry["loc"], data)
        key = entry["type"] in ("extra_forbidden", "missing")
        by_place.setdefault((path, key), []).append((*_in_words(entry, model, path), _check_of(entry)))
    found: list[Complaint] = []
    for (path, key), said in by_place.items():
        messages = list(dict.fromkeys(message for message, _, _ in said))
        joined = "; ".join(messages) if key else " or ".join(messages)
        found.append((path, key, joined, next((way for _, way, _ in said if way), ""), said[0][2]))
    return found


def _check_of(entry: Any) -> str:
    """The id of the check that explains what pydantic complains of."""
    if entry["type"] == "value_error" and isinstance(entry["ctx"]["error"], Refused):
        return str(entry["ctx"]["error"].check)
    return {"extra_forbidden": "unknown-key", "missing": "missing-key"}.get(entry["type"], "wrong-value")


def _real_path(loc: Sequence[str | int], data: Any) -> tuple[str | int, ...]:
    """The steps of ``loc`` that exist in the data, plus a last one that is missing: union branches fall away."""
    path: list[str | int] = []
    node = data
    for index, step in enumerate(loc):
        listed = isinstance(node, list) and isinstance(step, int) and step < len(node)
        if listed or (isinstance(node, dict) and step in node):
            node = node[step]
        elif index == len(loc) - 1 and isinstance(node, dict) and str(step).isidentifier():
            pass
        else:
            continue
        path.append(step)
    return tuple(path)


def _in_words(entry: Any, model: type[BaseModel], path: tuple[str | int, ...]) -> tuple[str, str]:
    kind, given = entry["type"], entry.get("input")
    shown = "a mapping" if isinstance(given, dict) else "a list" if isinstance(given, list) else repr(given)
    if kind in ("extra_forbidden", "missing"):
        name = str(entry["loc"][-1])
        said = _PLAIN_WORDS[kind].format(key=name)
        if kind == "missing":
            return said, f"Add `{name}: …`."
        if given is None:
            return said, "If this is the rest of a text with a comma in it, put the text in quotes."
        return said, _nearest(name, sorted(_keys(model, path[:-1])))
    if kind == "value_error":
        return str(entry["ctx"]["error"]), ""
    if kind == "literal_error":
        expected = entry["ctx"]["expected"]
        return f"{shown} is not allowed here", f"One of {expected}."
    if kind == "string_pattern_mismatch":
        return f"{shown} has the wrong form", f"It must match {entry['ctx']['pattern']}."
    if kind not in _PLAIN_WORDS:
        return f"{entry['msg'][0].lower()}{entry['msg'][1:]}", ""
    return _PLAIN_WORDS[kind].format(given="empty" if given is None else shown), _other_reading(kind, given)


# Words that YAML 1.1 reads as true or false, and forms that it reads as numbers; YAML 1.2 reads them as text.
_SWITCHES = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}
_OTHER_NUMBER = re.compile(r"[-+]?[0-9][0-9_,]*(?::[0-9]{1,2})+|[-+]?[0-9]{1,3}(?:[_,][0-9]{3})+|0b[01]+")


def _other_reading(kind: str, given: Any) -> str:
    """The way out for a value that another version of YAML, or a person, reads in another way."""
    if kind == "string_type" and isinstance(given, int | float | bool):
        return "Put it in quotes."
    if kind == "bool_type" and isinstance(given, str) and given.lower() in _SWITCHES:
        return f"YAML 1.2 reads {given!r} as text: write {_SWITCHES[given.lower()]}."
    if kind in ("int_type", "float_type") and isinstance(given, str):
        if _OTHER_NUMBER.fullmatch(given):
            return f"YAML 1.2 reads {given!r} as text: write the number with digits alone."
        if given.strip().isdecimal():
            return "Take it out of quotes."
    return ""


def _nearest(name: str, allowed: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, allowed, n=1)
    if close:
        return f"Did you mean {close[0]!r}?"
    return f"Allowed: {', '.join(allowed)}." if allowed else ""


def _keys(model: type[BaseModel], path: Sequence[str | int]) -> set[str]:
    """Keys that the models at ``path`` know."""
    here: list[type[BaseModel]] = [model]
    for step in path:
        inner: list[type[BaseModel]] = []
        for candidate in here:
            field = _field(candidate, step)
            inner.extend(_models_in(field) if field is not None else ())
        here = inner or here  # an index or a free key stays inside the same models
    return {field.alias or name for candidate in here for name, field in candidate.model_fields.items()}


def _field(model: type[BaseModel], step: str | int) -> Any | None:
    for name, field in model.model_fields.items():
        if step in (name, field.alias):
            return field.annotation
    return None


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models_in(part)]
