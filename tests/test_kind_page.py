"""The page on the kinds of rule file: in step with the models, and no field of them without a description."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel, Field

from recordari.rulefile import RuleFile
from recordari.rules.schema import KINDS, json_schema
from recordari.service.described import Language
from recordari.service.kindpage import inner, page, spoken, table

ROOT = Path(__file__).resolve().parent.parent
MODELS = sorted(
    {model for kind in KINDS.values() for model in (kind, *inner(kind, set()))}, key=lambda model: model.__name__
)


@pytest.mark.parametrize(("language", "name"), [("en", "rule-kinds.md"), ("zh", "rule-kinds.zh.md")])
def test_the_page_on_the_kinds_is_in_step_with_the_models(language: Language, name: str) -> None:
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == page(language), "make docs"


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_field_of_a_rule_file_has_a_description(model: type[BaseModel]) -> None:
    assert [name for name, field in model.model_fields.items() if not field.description] == []


def test_every_kind_and_every_model_in_it_has_one_heading() -> None:
    lines = page("en").splitlines()
    for kind in KINDS:
        assert lines.count(f"## `{kind}`") == 1
    for model in set(MODELS) - set(KINDS.values()):
        assert lines.count(f"### {model.__name__}") == 1


def test_a_field_of_the_header_stands_in_no_table_of_a_kind() -> None:
    _, _, kinds = page("en").partition("## `capture`")
    for name in set(RuleFile.model_fields) - {"kind", "id"}:  # a value has a kind, a row of a table an id
        assert f"\n| `{name}` |" not in kinds


def test_the_page_and_the_json_schema_know_the_same_fields() -> None:
    text = page("en")
    for kind in KINDS:
        for name in json_schema(kind)["properties"]:
            assert f"\n| `{name}` |" in text, (kind, name)


def test_a_table_says_what_is_required_and_what_holds_otherwise() -> None:
    class Sample(BaseModel):
        must: int = Field(description="Must be there.")
        may: bool = Field(False, description="a|b")
        other: list[str] | None = Field(None, alias="from", description="Under its alias.")

    assert table(Sample, set(), "en").splitlines()[2:] == [
        "| `must` | whole number | *required* | Must be there. |",
        "| `may` | true or false | `false` | a\\|b |",
        "| `from` | list of text |  | Under its alias. |",
    ]
    assert "must" not in table(Sample, {"must"}, "en")


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (str | None, "text"),
        (dict[str, list[str]], "mapping of text to list of text"),
        (bool | list[str], "true or false or list of text"),
        (RuleFile, "[RuleFile](#rulefile)"),
    ],
)
def test_a_type_is_said_in_plain_words(annotation: object, words: str) -> None:
    assert spoken(annotation, "en") == words
