"""How results look on a terminal: rich tables and marked sentences, or JSON lines for programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from ..audit.report import Report
from ..intake import Incoming
from ..model import Decision, MemoryItem, Receipt, Refused, Scan
from ..releases.acts import STOPPED, WITHDRAWN
from .batch import item_fields
from .streams import emit

console = Console()
WIDE = 110  # columns of a terminal that a table of items needs

# One colour a family of kinds, the same everywhere.
COLOURS = {
    "time": "cyan", "money": "green", "number": "green", "percent": "green", "quantity": "green",
    "address": "magenta", "place": "magenta", "person": "yellow", "organization": "yellow",
    "phone": "blue", "email": "blue", "url": "blue", "identifier": "blue", "text": "white",
}  # fmt: skip
ACTIONS = {
    "ADD": "bold green", "SUPERSEDE": "bold yellow", "CONFIRM": "green", "RETRACT": "bold red",
    "HOLD": "bold magenta", "IGNORE": "dim",
}  # fmt: skip


def marked(text: str, scan: Scan, refused: Sequence[Refused] = ()) -> Text:
    """The sentence with its mentions coloured, its cues underlined and refused spans struck out."""
    line = Text(text)
    for mention in scan.mentions:
        line.stylize(f"bold {COLOURS[mention.kind]}", mention.start, mention.end)
    for cue in scan.cues:
        line.stylize("underline", cue.start, cue.end)
    for one in refused or scan.refused:
        line.stylize("strike red", one.start, one.end)
    return line


def decision_line(decision: Decision, principal: str | None = None) -> Text:
    """One decision in one line: action, reason, whose when it is not the principal's, place and value."""
    line = Text("    ")
    line.append(f"{decision.action:<9}", ACTIONS[decision.action])
    line.append(f" {decision.reason:<21}", "dim" if decision.action == "IGNORE" else "")
    if principal is not None and decision.entity not in {None, principal}:
        line.append(f" {decision.entity}:", "italic")
    if decision.slot:
        where = decision.slot + (f"[{decision.qualifier}]" if decision.qualifier else "")
        line.append(f" {where}", "bold")
    if decision.canonical:
        line.append(f" {decision.canonical}", COLOURS.get(decision.kind or "text", "white"))
    if decision.polarity == "negated":
        line.append(" (negated)", "red")
    line.append(f"  {decision.rule}", "dim")
    if decision.question:
        line.append(f"\n              ? {decision.question}", "magenta")
    return line


def day(moment: datetime | None) -> str:
    """A time for a table: the minute is enough."""
    return moment.isoformat(sep=" ", timespec="minutes") if moment else ""


def items_table(items: Iterable[MemoryItem], title: str, *, history: bool = False) -> RenderableType:
    """Items as a table; ``history`` adds the period in which each version was true. On a narrow terminal each item
    has a line and its sentence one below: columns of ten characters cannot be read."""
    narrow = console.width < WIDE
    names = ("item", "v", "entity", "slot", "value", "status", *(("from", "to") if history else ()), "sentence")
    table = Table(title=title, title_justify="left", header_style="bold", expand=False)
    for name in names:
        table.add_column(name, overflow="fold", no_wrap=name == "item")
    lines = [Text(title, "italic")]
    for item in items:
        # Text, not str: rich would read "[legal fee]" as markup and swallow it.
        place = Text(item.slot + (f"[{item.qualifier}]" if item.qualifier else ""))
        value = Text(item.canonical, COLOURS[item.kind])
        if item.polarity == "negated":
            value.append(" (negated)", "red")
        period = (day(item.valid_from), day(item.valid_to)) if history else ()
        cells = (item.id[:12], str(item.version), Text(item.entity), place, value, item.status, *period)
        table.add_row(*cells, Text(item.sentence))
        lines.append(Text("  ").join(cell if isinstance(cell, Text) else Text(cell, "dim") for cell in cells))
        lines.append(Text(f"    {item.sentence}"))
    return Group(*lines) if narrow else table


def show_items(items: Sequence[MemoryItem], *, as_json: bool = False, title: str = "Remembered") -> None:
    """Print items."""
    if as_json:
        for item in items:
            emit({**item_fields(item), "version": item.version})
        return
    past = any(item.status not in {"current", "held"} for item in items)
    console.print(items_table(items, title, history=past) if items else Text("nothing is remembered", "dim"))


def show_review(waiting: Sequence[tuple[MemoryItem, Decision]], *, as_json: bool = False) -> None:
    """Print what waits for a person, with what each edit must name: the item and the version seen."""
    if as_json:
        for item, decision in waiting:
            why = {"reason": decision.reason, "question": decision.question, "flags": decision.flags}
            emit({**item_fields(item), "version": item.version, **why})
        return
    if not waiting:
        console.print(Text("nothing waits for a person", "dim"))
    for item, decision in waiting:
        console.print(Text.assemble((f"{item.id[:12]} v{item.version}", "bold"), f"  {item.entity}: {item.sentence}"))
        console.print(Text(f"    said by {item.asserted_by}, {day(item.said_at)}: {item.surface}", "dim"))
        console.print(decision_line(decision))
        wrote = {WITHDRAWN: "a release that was rolled back", STOPPED: "a rule that was stopped"}
        for flag in (each for each in wrote if each in decision.flags):
            console.print(Text(f"    {wrote[flag]} wrote it: confirm, correct or reject it", "magenta"))


def show_edit(receipt: Receipt, *, as_json: bool = False) -> None:
    """Print what an edit did."""
    if as_json:
        for item in receipt.items:
            emit({**item_fields(item), "version": item.version})
        return
    for decision in receipt.decisions:
        console.print(decision_line(decision))
    console.print(items_table(receipt.items, receipt.turn_id))


def show_explanation(explanation: Any, *, as_json: bool = False) -> None:
    """Print an explanation."""
    parts = explanation if isinstance(explanation, tuple) else (explanation,)
    for part in parts:
        if as_json:
            emit(asdict(part))
        else:
            for line in part.lines():
                console.print(line, markup=False, highlight=False)


def show_report(report: Report, *, as_json: bool = False) -> int:
    """Print a verification; its exit code."""
    if as_json:
        emit(report.fields())
    else:
        for line in report.lines():
            console.print(line, markup=False, highlight=False, soft_wrap=True)  # keys and hashes stay whole
    return 0 if report.ok else 1


def show_polished(outcomes: Sequence[tuple[str, str, str]]) -> None:
    """Print what became of each sentence: item, outcome, sentence."""
    if not outcomes:
        console.print(Text("no sentence waits to be reworded", "dim"))
        return
    table = Table(header_style="bold")
    for name in ("item", "outcome", "sentence"):
        table.add_column(name, overflow="fold")
    for row in outcomes:
        table.add_row(*map(Text, row))
    console.print(table)


def show_receipt(turn: Incoming, scan: Scan, receipt: Receipt) -> None:
    """A turn and what became of it."""
    line = Text(f"{turn.speaker:>9}  ", "bold" if turn.speaker == "user" else "dim")
    line.append_text(marked(turn.text, scan))
    console.print(line)
    for decision in receipt.decisions:
        console.print(decision_line(decision, turn.entity))
