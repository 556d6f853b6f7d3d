"""docs/rule-kinds.md and its Chinese twin, made from the models: `python -m recordari.service.kindpage en`."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from importlib.resources import files
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from ..model import FEATURES
from ..rulefile import RuleFile
from ..rules.schema import KINDS, ONE_OR_MANY
from .described import Language, feature_words, field_words, inner, meanings, model_words, page_words

LONG = 10  # so many values and more have a section of their own
_SECTIONS = {"state": "acts", "negation": "cues", "time": "kinds"}  # by the first value of the group


def page(language: Language) -> str:
    """The whole page."""
    header = set(RuleFile.model_fields)
    texts = page_words(language)
    head = (files(__package__) / f"kindpage.{language}.md").read_text(encoding="utf-8")
    parts = [head, texts["header"], "", table(RuleFile, set(), language), ""]
    shown: set[type[BaseModel]] = {RuleFile}
    for model in inner(RuleFile, set()):
        parts += part(model, shown, language)
    for kind, model in sorted(KINDS.items()):
        parts += [f"## `{kind}`", "", model_words(model, language), "", table(model, header, language), ""]
        for nested in inner(model, header):
            parts += part(nested, shown, language)
    parts += [texts["features"], "", texts["feature"], "|---|---|---|"]
    for name, values in FEATURES.items():
        said = _said(meanings(values, name), language) if values else ""
        parts.append(f"| `{name}` | {feature_words(name, language)} | {said} |")
    parts += ["", texts["values"], ""]
    for values in _long_groups():
        parts += [f"### {texts[_SECTIONS[values[0]]]}", ""]
        parts += [f"- {line}" for line in _lines(meanings(values), language)]
        parts.append("")
    return "\n".join(parts)


def _long_groups() -> list[tuple[str, ...]]:
    """The groups of values that have a section of their own, as the models name them."""
    models = dict.fromkeys(model for kind in KINDS.values() for model in (kind, *inner(kind, set())))
    found = (group for model in models for field in model.model_fields.values() for group in literals(field.annotation))
    return list(dict.fromkeys(group for group in found if len(group) >= LONG))


def part(model: type[BaseModel], shown: set[type[BaseModel]], language: Language) -> list[str]:
    """The section of a mapping inside a file; a model shown before is not shown again."""
    if model in shown:
        return []
    shown.add(model)
    return [f"### {model.__name__}", "", model_words(model, language), "", table(model, set(), language), ""]


def table(model: type[BaseModel], without: set[str], language: Language) -> str:
    """The fields of a model that are not in ``without``, in the order of the model."""
    texts = page_words(language)
    lines = [texts["table"], "|---|---|---|---|"]
    for name, field in model.model_fields.items():
        if name not in without:
            kind = spoken(field.annotation, language)
            if name in ONE_OR_MANY.get(model.__name__, ()):
                kind = f"{kind}{texts['alone']}"
            meaning = field_words(model, name, language).replace("|", "\\|")
            short = [group for group in literals(field.annotation) if 1 < len(group) < LONG]
            told = "".join(f"<br>{_said(meanings(group), language)}" for group in short)
            lines.append(f"| `{field.alias or name}` | {kind} | {default(field, language)} | {meaning}{told} |")
    return "\n".join(lines)


def _lines(said: Any, language: Language) -> list[str]:
    return [f"`{value}`{page_words(language)['colon']}{words[language == 'zh']}" for value, words in said.items()]


def _said(said: Any, language: Language) -> str:
    return "<br>".join(_lines(said, language)).replace("|", "\\|")


def literals(annotation: Any) -> Iterator[tuple[str, ...]]:
    """The groups of values that an annotation allows."""
    if get_origin(annotation) is Literal:
        yield get_args(annotation)
        return
    for argument in get_args(annotation):
        yield from literals(argument)


def spoken(annotation: Any, language: Language) -> str:
    """A type in plain words."""
    texts = page_words(language)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        if len(arguments) >= LONG:
            title = texts[_SECTIONS[arguments[0]]]
            return texts["see"].format(title, title.replace(" ", "-"))
        return " · ".join(f"`{value}`" for value in arguments)
    if origin in (Union, types.UnionType):
        return texts["or"].join(dict.fromkeys(spoken(one, language) for one in arguments if one is not type(None)))
    if origin is list:
        return texts["list"].format(spoken(arguments[0], language))
    if origin is dict:
        return texts["map"].format(spoken(arguments[0], language), spoken(arguments[1], language))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return f"[{annotation.__name__}](#{annotation.__name__.lower()})"
    return texts.get("any" if annotation is Any else getattr(annotation, "__name__", "any"), texts["any"])


def default(field: FieldInfo, language: Language) -> str:
    """What holds when the key is left out."""
    if field.is_required():
        return page_words(language)["required"]
    given = field.get_default(call_default_factory=True)
    if given is None or given == "" or given == [] or given == {} or isinstance(given, BaseModel):
        return ""
    if isinstance(given, bool):
        return f"`{str(given).lower()}`"
    return f"`[{', '.join(given)}]`" if isinstance(given, list) else f"`{given}`"


if __name__ == "__main__":
    sys.stdout.buffer.write(page("zh" if sys.argv[1:] == ["zh"] else "en").encode("utf-8"))
