"""docs/commands.md, made from the command line itself: `python -m recordari.service.helppage`."""

from __future__ import annotations

import sys
from typing import Any

from typer.main import get_command

from .cli import app

HEAD = """# Commands

This page is made from the command line's own help (`make docs`); a test compares them.

Exit codes: 0 done; 1 a check found something; 2 wrong use; 3 unreadable or corrupt input.
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for name, command in sorted(get_command(app).commands.items()):  # type: ignore[attr-defined]
        for path, one in sorted(leaves(name, command)):
            parts.append(section(path, one))
    return "\n".join(parts)


def leaves(name: str, command: Any) -> list[tuple[str, Any]]:
    """The commands under a name: itself, or those of its group."""
    if not hasattr(command, "commands"):
        return [(name, command)]
    return [
        leaf for sub in command.list_commands(None) for leaf in leaves(f"{name} {sub}", command.get_command(None, sub))
    ]


def section(path: str, command: Any) -> str:
    """One command: what it does, its arguments and options."""
    lines = [f"## `recordari {path}`", "", " ".join((command.help or "").split()), ""]
    rows = []
    for parameter in command.params:
        if parameter.name == "help":
            continue
        named = ", ".join(f"`{option}`" for option in parameter.opts) if parameter.param_type_name == "option" else ""
        rows.append(f"| {named or f'`{parameter.name.upper()}`'} | {(getattr(parameter, 'help', '') or '').strip()} |")
    if rows:
        lines += ["| argument or option | meaning |", "|---|---|", *rows, ""]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.buffer.write(page().encode("utf-8"))
