"""The rules of a house under which much is forgotten, and things said that it forgets."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from shipped import layered

from recordari.rules.ruleset import Ruleset

ACTOR = "ines"
HEAD = "version: {version}\nkind: {kind}\ntitle: {{en: House, zh: 内部}}\nowner: records\nrationale: House rules.\n"
HOUSE = """\
ends:
  - {type: state, after: session, silence: P1D}
  - {slot: event, after: P30D}
  - {slot: preference, after: P90D}
budget: {items: 4, bytes: 100000}
keep: {importance: 2, use: 1, age: 1, use_halves: P90D, age_halves: P1Y}
grace: {client-record-7y: P30D}
"""
SAID = (
    "The ticket status is open.", "The hearing is on April 6, 2026.", "I prefer window seats.", "营销预算8万元。",
    "研发预算5万元。", "差旅预算2万元。", "The late fee is $50.", "The rent is $2,000 until June 1, 2025.",
)  # fmt: skip


def at(day: str) -> datetime:
    """The beginning of a day."""
    return datetime.fromisoformat(f"{day}T00:00:00+00:00")


def house(folder: Path, text: str = HOUSE, **more: str) -> Ruleset:
    """The shipped rules with another forgetting file, and whatever else."""
    files = {"forgetting.core": HEAD.format(version=9, kind="forgetting") + text}
    files |= {name: each for name, each in more.items() if each}
    folder.mkdir(exist_ok=True)
    for name, each in files.items():
        (folder / f"{name}.yaml").write_text(f"id: {name}\n{each}", encoding="utf-8")
    return layered([folder])
