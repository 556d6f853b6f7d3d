"""`recordari rules …`: write, check and test rule files. Each command imports what it needs when it runs."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from .options import Lang, NoPacks, Rules
from .release_commands import releases
from .trial_commands import trials

app = typer.Typer(rich_markup_mode=None)
app.add_typer(trials)
app.add_typer(releases)
words = typer.Typer(rich_markup_mode=None, help="Word lists as CSV.", no_args_is_help=True)
app.add_typer(words, name="words")

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
def schema(
    kind: Annotated[str | None, typer.Argument(help="Kind of rule file, e.g. slot.")] = None,
    folder: Annotated[
        Path | None, typer.Option("--all", help="Write the schemas of all kinds into this folder.")
    ] = None,
    lang: Lang = "en",
) -> None:
    """The JSON Schema of a kind of rule file, for editors."""
    from .rulework import schema as work

    raise typer.Exit(work(kind, folder, lang))


@app.command()
def new(
    kind: Annotated[str, typer.Argument(help="Kind of rule file, e.g. slot.")],
    name: Annotated[str, typer.Argument(metavar="ID", help="Its id, e.g. slot.retainer; also the name of the file.")],
    folder: Annotated[Path, typer.Option("--in", help="Folder of your rules.")] = Path(),
    slot: Annotated[str | None, typer.Option(help="The slot it is about; default: what follows in the id.")] = None,
) -> None:
    """A new rule file with tests; what you have to fill in says FILL-IN."""
    from .rulework import scaffold

    raise typer.Exit(scaffold(kind, name, folder, slot))


@words.command("export")
def words_export(
    name: Annotated[str, typer.Argument(metavar="ID", help="Id of a vocabulary, e.g. labels.budget.")],
    out: Annotated[Path, typer.Argument(help="CSV file to write, or - for standard output.")] = Path("-"),
    rules: Rules = None,
    no_packs: NoPacks = False,
) -> None:
    """A word list as CSV that a spreadsheet opens."""
    from .rulework import export_words

    raise typer.Exit(export_words(name, out, rules or (), packs=not no_packs))


@words.command("import")
def words_import(
    table: Annotated[Path, typer.Argument(metavar="CSV", help="CSV file with the columns part, word, means, type.")],
    file: Annotated[Path, typer.Argument(help="Vocabulary file to change, or to make.")],
) -> None:
    """Put the words of a CSV file into a vocabulary file; what changes gets the next version."""
    from .rulework import import_words

    raise typer.Exit(import_words(table, file))
