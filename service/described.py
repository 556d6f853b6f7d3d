"""JSON Schemas in which every field and every value says what it means, in English or Chinese, for editors.

The English of a field stands in its model; the rest in ``kind_words.yaml`` and, for reason codes, with the audit.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel

from ..audit.reasons import reasons
from ..model import FEATURES
from ..rules.schema import KINDS, json_schema

Language = Literal["en", "zh"]
Said = Mapping[str, tuple[str, str]]  # value → what it means in English and Chinese
LINE = "# yaml-language-server: $schema="
OWN_SCHEMAS = ".schemas"  # in a folder that `recordari init` made; hidden folders hold no rules
SCHEMAS = Path(__file__).resolve().parent.parent / "rules" / "schemas"


@cache
def _words() -> dict[str, Any]:
    from ruamel.yaml import YAML

    text = (files(__package__) / "kind_words.yaml").read_text(encoding="utf-8")
    return dict(YAML(typ="safe", pure=True).load(text))


def meanings(values: Sequence[str], feature: str | None = None) -> Said:
    """What each of the values of a field means; KeyError when kind_words.yaml does not say it.

    ``feature``: they are values of this feature of the decision table.
    """
    if set(values) == set(_codes()):
        return _codes()
    own = {name: said for name, said in _words()["features"][feature].items() if name != "is"} if feature else {}
    open_ = {value for value in values if value not in own}
    groups = sorted((group for group in _words()["values"] if open_ <= set(group)), key=len)  # the closest one
    if not groups and open_:
        raise KeyError(f"kind_words.yaml: {sorted(open_)}")
    return {value: tuple(own[value] if value in own else groups[0][value]) for value in values}


def _codes() -> Said:
    """A code under two actions has two meanings: both are told."""
    said: dict[str, tuple[str, str]] = {}
    for reason in reasons().values():
        en, zh = said.get(reason.code, ("", ""))
        said[reason.code] = (" / ".join(filter(None, (en, reason.en))), " / ".join(filter(None, (zh, reason.zh))))
    return said


def field_words(model: type[BaseModel], name: str, language: Language) -> str:
    """What a field means; KeyError when the Chinese of it is missing."""
    if language == "en":
        return model.model_fields[name].description or ""
    fields = _words()["fields"]
    for base in model.__mro__:
        if f"{base.__name__}.{name}" in fields:
            return str(fields[f"{base.__name__}.{name}"])
    raise KeyError(f"kind_words.yaml: {model.__name__}.{name}")


def model_words(model: type[BaseModel], language: Language) -> str:
    """What a mapping of a rule file is, in one line."""
    if language == "zh":
        return str(_words()["models"][model.__name__])
    return (model.__doc__ or "").strip().partition("\n")[0].replace("``", "`")


def feature_words(feature: str, language: Language) -> str:
    """What a feature of the decision table is."""
    return str(_words()["features"][feature]["is"][language == "zh"])


@cache
def page_words(language: Language) -> Mapping[str, str]:
    """The words around the models on the page of kinds."""
    return {str(name): str(said[language == "zh"]) for name, said in _words()["page"].items()}


def schema(kind: str, language: Language = "en") -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a kind of rule file with all its words; KeyError for an unknown kind."""
    made = json_schema(kind)
    models = {model.__name__: model for model in _models(KINDS[kind])}
    for name, part in ((KINDS[kind].__name__, made), *made.get("$defs", {}).items()):
        model = models.get(name)
        if model is not None:
            part["description"] = model_words(model, language)
            for field, info in model.model_fields.items():
                shown = part["properties"].get(info.alias or field)
                if shown is not None:
                    shown["description"] = field_words(model, field, language)
        _describe(part, language)
    return made


def _models(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    yield model
    yield from inner(model, set())


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


def _describe(node: Any, language: Language, feature: str | None = None) -> None:
    """Give every enumeration below a node the meaning of its values, beside them as editors read it."""
    if isinstance(node, list):
        for child in node:
            _describe(child, language, feature)
    if not isinstance(node, dict):
        return
    if isinstance(node.get("enum"), list):
        said = meanings(node["enum"], feature)
        node["enumDescriptions"] = [said[value][language == "zh"] for value in node["enum"]]
    properties = node.get("properties")
    if isinstance(properties, dict) and set(properties) == set(FEATURES):
        for name, child in properties.items():
            _describe(child, language, name)
            child["description"] = feature_words(name, language)
        return
    for child in node.values():
        _describe(child, language, feature)


def text(kind: str, language: Language = "en") -> str:
    """The schema as a file says it."""
    return json.dumps(schema(kind, language), ensure_ascii=False, indent=1) + "\n"


def write_all(folder: Path, language: Language = "en") -> list[Path]:
    """Write the schema of every kind into a folder; the files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for kind in sorted(KINDS):
        path = folder / f"{kind}.schema.json"
        path.write_text(text(kind, language), encoding="utf-8")
        written.append(path)
    return written


def first_line(kind: str, folder: Path) -> str:
    """The line by which an editor finds the schema from a rule file in ``folder``: one of its own, else the shipped."""
    place = folder.resolve()
    own = (above / OWN_SCHEMAS for above in (place, *place.parents))
    schemas = next((each for each in own if each.is_dir()), SCHEMAS)
    return f"{LINE}{Path(os.path.relpath(schemas, place)).as_posix()}/{kind}.schema.json"


def lead(folder: Path) -> None:
    """Give every rule file of a folder that has none its first line."""
    for path in sorted(folder.rglob("*.yaml")):
        said = path.read_text(encoding="utf-8")
        kind = re.search(r"^kind: (\w+)$", said, re.MULTILINE)
        if kind is not None and not said.startswith(LINE):
            path.write_text(f"{first_line(kind[1], path.parent)}\n{said}", encoding="utf-8")


if __name__ == "__main__":
    write_all(SCHEMAS)
    lead(SCHEMAS.parent / "packs")
