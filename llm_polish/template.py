"""The template sentence of an item: always available, says nothing but the item's own fields."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from string import Formatter

# What a slot file's template may name. ``value`` is the only one that must be there and must not be empty.
FIELDS = ("entity", "qualifier", "said_at", "value")

_BRACKETS = re.compile(r"\s*(?:（[^（）]*）|\([^()]*\))")
_PLACE = re.compile(r"\{(\w+)\}")
# What belongs to the word before it and falls with it: the Chinese 的, the English genitive.
_GLUE = re.compile(r"的|['’]s\b")
_HAN_RUN = re.compile(r"[\u3400-\u9fff]+")
_OPEN = re.compile(r"(?:^|[\s，。；：、,;:（(])$")


class TemplateError(ValueError):
    """A template that cannot be filled; says which field is wrong and which are legal."""


@lru_cache(maxsize=1024)  # templates come from rule files: there are a few hundred, asked for every sentence
def fields_of(template: str) -> tuple[str, ...]:
    """The fields that a template names, in order; TemplateError for any that is not legal, or for odd braces."""
    names: list[str] = []
    try:
        for _, name, spec, conversion in Formatter().parse(template):
            if name is None:
                continue
            if spec or conversion:
                raise TemplateError(f"{{{name}}} takes no format: write it plainly; legal are {_legal()}")
            names.append(name)
    except ValueError as wrong:
        if isinstance(wrong, TemplateError):
            raise
        raise TemplateError(f"braces do not match in {template!r}: {wrong}") from wrong
    for name in names:
        if name not in FIELDS:
            raise TemplateError(f"unknown field {{{name}}}; legal are {_legal()}")
    if "value" not in names:
        raise TemplateError("a template names {value}; without it the sentence says nothing")
    return tuple(names)


def _legal() -> str:
    return ", ".join(f"{{{name}}}" for name in FIELDS)


def render(template: str, fields: Mapping[str, str]) -> str:
    """The sentence. An empty field goes with what hangs on it: 的, 's, a bracket that holds nothing else."""
    for name in fields:
        if name not in FIELDS:
            raise TemplateError(f"unknown field {name!r}; legal are {_legal()}")
    named = fields_of(template)
    filled = {name: " ".join(fields.get(name, "").split()) for name in named}
    if not filled["value"]:
        raise TemplateError("the value is empty; a sentence without it says nothing")

    def bracket(match: re.Match[str]) -> str:
        inside = _PLACE.findall(match.group(0))
        return "" if inside and not any(filled[name] for name in inside) else match.group(0)

    text = _BRACKETS.sub(bracket, template)
    sentence = ""
    rest = 0
    for match in _PLACE.finditer(text):
        if match.start() < rest:
            continue
        sentence += text[rest : match.start()]
        rest = match.end()
        value = filled[match.group(1)]
        sentence += value
        if value:
            rest += _said_again(value, text[rest:])
            continue
        glue = _GLUE.match(text, rest)
        if glue and _OPEN.search(sentence):
            rest = glue.end()
        if sentence.endswith(" ") or not sentence:  # one of the two spaces around the empty field
            rest += len(text[rest:]) - len(text[rest:].lstrip(" "))
    return _capital((sentence + text[rest:]).strip(), filled)


def _said_again(value: str, following: str) -> int:
    """How much repeats the end of a value: "interest rate" + " rate is", 押金金额 + 金额为, 活动的 + 的."""
    word = re.match(r"\s+([A-Za-z]+)\b", following)
    if word is not None:
        return word.end() if re.search(rf"\b{word[1]}$", value, re.IGNORECASE) else 0
    for size in range(min(4, len(value), len(following)), 0, -1):
        head = following[:size]
        if _HAN_RUN.fullmatch(head) and value.endswith(head) and (size > 1 or head == "的"):
            return size
    return 0


def _capital(sentence: str, filled: Mapping[str, str]) -> str:
    """An English sentence whose first word fell away begins with a capital again; a name keeps its own letters."""
    first = sentence[:1]
    if not first.isascii() or not first.islower() or any(v and sentence.startswith(v) for v in filled.values()):
        return sentence
    return first.upper() + sentence[1:]
