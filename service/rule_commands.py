"""`recordari rules …`: write, check and test rule files. Each command imports what it needs when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

rules = typer.Typer(help="Rule files: lint, test, schema.", no_args_is_help=True)

Rules = Annotated[
    list[Path] | None,
    typer.Option("--rules", help="Folder of rule files layered over the shipped packs; may be repeated."),
]
NoPacks = Annotated[bool, typer.Option("--no-packs", help="Leave the shipped packs out.")]
Folders = Annotated[list[Path] | None, typer.Argument(help="Folders; none: the shipped packs alone.")]


@rules.command()
def lint(folder: Folders = None, no_packs: NoPacks = False) -> None:
    """Everything wrong with rule files, in one run, each with its place."""
    from .rulework import lint as work

    raise typer.Exit(work(folder or [], packs=not no_packs))


@rules.command("test")
def run_tests(
    folder: Folders = None,
    no_packs: NoPacks = False,
    rule: Annotated[str | None, typer.Option(help="Only the rule with this id.")] = None,
) -> None:
    """Run the inline tests of rule files."""
    from .rulework import test as work

    raise typer.Exit(work(folder or [], packs=not no_packs, rule=rule))


@rules.command()
def lock(folder: Annotated[Path, typer.Argument(help="Folder whose rules.lock.json to write.")]) -> None:
    """Record id, version and digest of every rule of a folder; refuses a change without a version bump."""
    from .rulework import lock as work

    raise typer.Exit(work(folder))


@rules.command()
def schema(kind: Annotated[str, typer.Argument(help="Kind of rule file, e.g. slot.")]) -> None:
    """The JSON Schema of a kind of rule file, for editors."""
    from .rulework import schema as work

    raise typer.Exit(work(kind))
