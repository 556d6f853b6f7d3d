"""`recordari rules …`: write, check and test rule files. Each command imports what it needs when it runs."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from .options import NoPacks
from .trial_commands import trials

app = typer.Typer()
app.add_typer(trials)

Folders = Annotated[list[Path] | None, typer.Argument(help="Folders; none: the shipped packs alone.")]


@app.command()
def lint(
    folder: Folders = None,
    no_packs: NoPacks = False,
    on: Annotated[
        datetime | None,
        typer.Option("--on", formats=["%Y-%m-%d"], help="Look for rules that have ended before this day."),
    ] = None,
    form: Annotated[Literal["text", "json"], typer.Option("--format", help="How to print what is found.")] = "text",
    strict: Annotated[bool, typer.Option("--strict", help="Fail on warnings too.")] = False,
) -> None:
    """Everything wrong with rule files, in one run, each with its place."""
    from .rulework import lint as work

    day = on.date() if on is not None else None
    raise typer.Exit(work(folder or [], packs=not no_packs, on=day, as_json=form == "json", strict=strict))


@app.command()
def lock(folder: Annotated[Path, typer.Argument(help="Folder whose rules.lock.json to write.")]) -> None:
    """Record id, version and digest of every rule of a folder; refuses a change without a version bump."""
    from .rulework import lock as work

    raise typer.Exit(work(folder))


@app.command()
def schema(kind: Annotated[str, typer.Argument(help="Kind of rule file, e.g. slot.")]) -> None:
    """The JSON Schema of a kind of rule file, for editors."""
    from .rulework import schema as work

    raise typer.Exit(work(kind))
