"""Commands that test a memory that is there: whether it can be read back, and whether its indexes agree with it."""

from __future__ import annotations

from typing import Annotated

import typer

from .options import FOUND, Json, Namespace, Store

app = typer.Typer()


@app.callback()
def check() -> None:
    """Tests of a memory that is there."""


@app.command()
def readback(
    store: Store = None,
    namespace: Namespace = None,
    entity: Annotated[str | None, typer.Option(help="Only what is about this entity.")] = None,
    at: Annotated[str | None, typer.Option("--at", help="When it is asked (ISO 8601; default: now).")] = None,
    json: Json = False,
) -> None:
    """Ask for all that is remembered by the template questions of its slot: it must stand in the top 3."""
    from .opening import reading
    from .recalled import show_read_back

    with reading(store, namespace) as memory:
        results = memory.read_back(entity=entity, at=at)
        show_read_back(results, as_json=json)
    if any(not each.found or each.superseded for each in results):
        raise typer.Exit(FOUND)


@app.command()
def index(
    store: Store = None,
    namespace: Namespace = None,
    last: Annotated[int, typer.Option("--last", min=0, help="How many differences of each kind are told.")] = 20,
    json: Json = False,
) -> None:
    """Hold what is made from items and turns against them: full text, transcript, relations, traces; exit code 1 where
    they differ."""
    from .index_commands import show_differences
    from .opening import reading

    with reading(store, namespace) as memory:
        if show_differences(memory, last=last, as_json=json):
            raise typer.Exit(FOUND)
