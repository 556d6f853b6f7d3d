"""docs/rule-kinds.md, made from the models of rule files: `python -m recordari.service.kindpage`."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from ..rulefile import RuleFile
from ..rules.schema import KINDS, ONE_OR_MANY

HEAD = """# Kinds of rule file

This page is made from the models that read the files (`make docs`); a test compares them. How rules are written is
explained in [rules.md](rules.md); `recordari rules schema KIND` prints the same as JSON Schema, for editors.

An unknown key is an error. *required* means that the key has no default.
"""
PLAIN = {str: "text", int: "whole number", float: "number", bool: "true or false", Any: "anything"}


def page() -> str:
    """The whole page."""
    header = set(RuleFile.model_fields)
    parts = [HEAD, "## The header of every file", "", table(RuleFile, set()), ""]
    shown: set[type[BaseModel]] = {RuleFile}
    for model in inner(RuleFile, set()):
        parts += part(model, shown)
    for kind, model in sorted(KINDS.items()):
        parts += [f"## `{kind}`", "", first_line(model), "", table(model, header), ""]
        for nested in inner(model, header):
            parts += part(nested, shown)
    return "\n".join(parts)


def part(model: type[BaseModel], shown: set[type[BaseModel]]) -> list[str]:
    """The section of a mapping inside a file; a model shown before is not shown again."""
    if model in shown:
        return []
    shown.add(model)
    return [f"### {model.__name__}", "", first_line(model), "", table(model, set()), ""]


def table(model: type[BaseModel], without: set[str]) -> str:
    """The fields of a model that are not in ``without``, in the order of the model."""
    lines = ["| field | type | default | meaning |", "|---|---|---|---|"]
    for name, field in model.model_fields.items():
        if name not in without:
            kind = spoken(field.annotation)
            if name in ONE_OR_MANY.get(model.__name__, ()):
                kind = f"{kind}, or one of them alone"
            meaning = (field.description or "").replace("|", "\\|")
            lines.append(f"| `{field.alias or name}` | {kind} | {default(field)} | {meaning} |")
    return "\n".join(lines)


def inner(model: type[BaseModel], without: set[str]) -> Iterator[type[BaseModel]]:
    """Every model below a model, each after the one that names it first."""
    for name, field in model.model_fields.items():
        if name not in without:
            for nested in models_in(field.annotation):
                yield nested
                yield from inner(nested, set())


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models that an annotation names."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from models_in(argument)


def spoken(annotation: Any) -> str:
    """A type in plain words."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return " · ".join(f"`{value}`" for value in arguments)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(spoken(one) for one in arguments if one is not type(None)))
    if origin is list:
        return f"list of {spoken(arguments[0])}"
    if origin is dict:
        return f"mapping of {spoken(arguments[0])} to {spoken(arguments[1])}"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return f"[{annotation.__name__}](#{annotation.__name__.lower()})"
    return PLAIN.get(annotation, getattr(annotation, "__name__", "anything"))


def default(field: FieldInfo) -> str:
    """What holds when the key is left out."""
    if field.is_required():
        return "*required*"
    given = field.get_default(call_default_factory=True)
    if given is None or given == "" or given == [] or given == {} or isinstance(given, BaseModel):
        return ""
    if isinstance(given, bool):
        return f"`{str(given).lower()}`"
    return f"`[{', '.join(given)}]`" if isinstance(given, list) else f"`{given}`"


def first_line(model: type[BaseModel]) -> str:
    """What a model is, in the first line of its docstring."""
    return (model.__doc__ or "").strip().partition("\n")[0].replace("``", "`")


if __name__ == "__main__":
    sys.stdout.buffer.write(page().encode("utf-8"))
