"""`recordari rules …`: write, check and test rule files. Each command imports what it needs when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import NoPacks

app = typer.Typer()

Folders = Annotated[list[Path] | None, typer.Argument(help="Folders; none: the shipped packs alone.")]


@app.command()
def lint(folder: Folders = None, no_packs: NoPacks = False) -> None:
    """Everything wrong with rule files, in one run, each with its place."""
    from .rulework import lint as work

    raise typer.Exit(work(folder or [], packs=not no_packs))


@app.command("test")
def run_tests(
    folder: Folders = None,
    no_packs: NoPacks = False,
    rule: Annotated[str | None, typer.Option(help="Only the rule with this id.")] = None,
) -> None:
    """Run the inline tests of rule files."""
    from .rulework import test as work

    raise typer.Exit(work(folder or [], packs=not no_packs, rule=rule))


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
