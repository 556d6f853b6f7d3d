"""How answers to an auditor's questions are shown: a table for people, one JSON object a line for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.table import Table
from rich.text import Text

from ..model import MemoryItem
from .batch import item_fields
from .show import WIDE, console
from .streams import emit


def show_rows(
    rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], *, as_json: bool, nothing: str
) -> None:  # fmt: skip
    """Print rows; ``columns``: heading → field, several fields separated by spaces in one cell."""
    if as_json:
        for row in rows:
            emit(dict(row))
        return
    if not rows:
        console.print(Text(nothing, "dim"))
        return
    table = Table(header_style="bold", expand=False)
    for name in columns:
        table.add_column(name, overflow="fold")
    lines: list[Text] = []
    for row in rows:
        cells = [
            " ".join(filter(None, (_shown(each, row.get(each)) for each in fields.split())))
            for fields in columns.values()
        ]
        table.add_row(*map(Text, cells))
        named = [f"{name} {cell}" for name, cell in zip(columns, cells, strict=True) if cell]
        lines.append(Text(", ".join(named)))
    if console.width >= WIDE:
        console.print(table)
    else:  # a narrow terminal has no room for columns
        console.print(*lines, sep="\n")


def show_decisions(rows: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    """Print decisions."""
    columns = {
        "record": "seq", "when": "at", "kind": "kind", "reason": "reason", "about": "entity slot qualifier",
        "value": "polarity value", "rule": "rule", "turn": "turn", "item": "item",
    }  # fmt: skip
    show_rows(rows, columns, as_json=as_json, nothing="no such decision")


def show_holds(rows: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    """Print what was held."""
    columns = {
        "record": "seq", "when": "at", "about": "entity slot qualifier", "value": "polarity value", "why": "reason",
        "outcome": "outcome", "who": "who", "signed": "signed", "decided": "decided_at", "item": "item",
    }  # fmt: skip
    show_rows(rows, columns, as_json=as_json, nothing="nothing was ever held")


def show_changes(rows: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    """Print what people did."""
    columns = {
        "record": "seq", "when": "at", "who": "who", "did": "kind", "why": "reason", "about": "entity slot qualifier",
        "value": "polarity value", "earlier value": "earlier_value", "signed": "signed", "item": "item",
    }  # fmt: skip
    show_rows(rows, columns, as_json=as_json, nothing="nobody changed anything")


def show_wordings(rows: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    """Print rewritings."""
    columns = {
        "record": "seq", "when": "at", "item": "item items", "outcome": "outcome", "why": "why", "template": "template",
        "answer": "answer", "model": "model",
    }  # fmt: skip
    show_rows(rows, columns, as_json=as_json, nothing="no LLM was ever asked for a wording")


def show_resting(found: Sequence[tuple[MemoryItem, Sequence[Mapping[str, Any]]]], *, as_json: bool) -> None:
    """Print items with the decisions by which they rest on something."""
    rows = [
        {**item_fields(item), "version": item.version, "decisions": [told["seq"] for told in decided]}
        for item, decided in found
    ]
    columns = {
        "item": "id", "v": "version", "about": "entity slot qualifier", "value": "polarity canonical",
        "status": "status", "records": "decisions", "sentence": "sentence",
    }  # fmt: skip
    show_rows(rows, columns, as_json=as_json, nothing="no item rests on it")


def show_replay(layers: Sequence[Any], *, as_json: bool) -> int:
    """Print what came out of replay, recorded and replayed side by side; the exit code."""
    for layer in layers:
        if as_json:
            fields = {"layer": layer.layer, "ok": layer.ok, "compared": layer.compared, "identical": layer.identical}
            skipped = {str(seq): why for seq, why in layer.skipped.items()}
            emit({**fields, "skipped": skipped, "differences": [asdict(each) for each in layer.differences]})
            continue
        for line in layer.lines()[: -len(layer.differences) or None]:
            console.print(line, markup=False, highlight=False)
        _side_by_side(layer.differences)
    return 0 if all(layer.ok for layer in layers) else 1


def _side_by_side(differences: Sequence[Any]) -> None:
    if not differences:
        return
    table = Table(header_style="bold", expand=True)
    for name, ratio in (("record", None), ("field", None), ("recorded", 1), ("replayed", 1), ("standing", None)):
        table.add_column(name, overflow="fold", ratio=ratio)
    last = -1
    for each in differences:
        place = str(each.seq) if each.seq != last else ""
        last = each.seq
        cells = (place, each.name, _value(each.recorded), _value(each.replayed), each.standing)
        table.add_row(*map(Text, cells))
    console.print(table)


def _value(value: Any) -> str:
    return value if isinstance(value, str) else "-" if value is None else repr(value)


def _shown(name: str, value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    text = "" if value is None else str(value)
    if name == "polarity":
        return "¬" if text == "negated" else ""
    if name == "qualifier":
        return f"[{text}]" if text else ""
    if name in {"at", "decided_at"}:
        return text[:16].replace("T", " ")
    return text[:12] if name in {"item", "target", "id"} else text
