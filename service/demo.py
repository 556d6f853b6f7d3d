"""`recordari demo`: real dialogues become memory, with refusals, history, explanations and the proof."""

from __future__ import annotations

import json
import tempfile
from importlib.resources import files
from pathlib import Path

from rich.rule import Rule
from rich.text import Text

from ..intake import read_turn
from ..memory import Memory
from ..model import Receipt
from ..settings import Settings
from . import show

DIALOGUES = ("legal-zh", "finance-en", "service-mixed")


def example(name: str) -> list[str]:
    """The lines of an example dialogue, from the package or the tree it was installed from."""
    return (files("recordari") / "examples" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()


def run(keep: Path | None, *, quick: bool) -> int:
    """Run the demo; exit code 0 when the log verifies."""
    with tempfile.TemporaryDirectory() as folder:
        path = keep or Path(folder) / "demo.db"
        with Memory.open(str(path), namespace="demo", settings=Settings()) as memory:
            show.console.print(Text(f"Rules {memory.ruleset.digest[:12]}, engine {memory.engine.name}", "dim"))
            receipts = [receipt for name in DIALOGUES[: 1 if quick else None] for receipt in play(memory, name)]
            questions(memory, receipts)
            memory.checkpoint()
            return show.show_report(memory.verify())


def play(memory: Memory, name: str) -> list[Receipt]:
    """Observe one dialogue, showing each turn."""
    console = show.console
    console.print(Rule(name, align="left"))
    receipts = []
    turns = [read_turn(json.loads(line), memory.settings.max_turn_chars) for line in example(name)]
    for turn in turns:
        receipt = memory.take(turn)
        show.show_receipt(turn, memory.scan(turn), receipt)
        receipts.append(receipt)
    items = memory.items(principal=turns[0].entity)
    console.print(show.items_table(items, f"Remembered after {name}"))
    return receipts


def questions(memory: Memory, receipts: list[Receipt]) -> None:
    """The history of a corrected item, one explanation and one refusal."""
    console = show.console
    changed = next(
        (d for r in receipts for d in r.decisions if d.action == "SUPERSEDE" and d.item and d.reason != "adjusted"),
        None,
    )
    if changed is not None and changed.item is not None:
        console.print(Rule("history of a corrected item", align="left"))
        console.print(show.items_table(memory.history(changed.item), "History", history=True))
        console.print(Rule("explain", align="left"))
        show.show_explanation(memory.explain(changed.item))
    refused = next((r for r in receipts if any(d.reason == "hypothetical" for d in r.decisions)), None)
    if refused is not None:
        console.print(Rule("why not", align="left"))
        show.show_explanation(memory.why_not(refused.turn_id))
    console.print(Rule("audit verify", align="left"))
