"""The commands `recordari audit …`; imported when one of them is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import Json, Namespace, Store

app = typer.Typer()


@app.command()
def verify(
    store: Store = None,
    namespace: Namespace = None,
    public_key: Annotated[
        str | None,
        typer.Option("--public-key", help="Public key to check signatures with: its line, PEM, or a file of either."),
    ] = None,
    witness: Annotated[
        Path | None, typer.Option("--witness", help="File of signed notes from outside (default: RECORDARI_WITNESS).")
    ] = None,
    json: Json = False,
) -> None:
    """Hold the log against itself, its checkpoints and the witness, and all that is stored against the log."""
    from .opening import reading
    from .show import show_report

    with reading(store, namespace) as memory:
        report = memory.verify(public_key=public_key, witness=witness)
        raise typer.Exit(show_report(report, as_json=json))


@app.command()
def checkpoint(store: Store = None, namespace: Namespace = None) -> None:
    """Sign the present root of the log, once it verifies, and copy it to the witness file."""
    from .auditwork import sign
    from .opening import editing

    with editing(store, namespace, None) as memory:
        raise typer.Exit(sign(memory))


@app.command()
def key(store: Store = None, namespace: Namespace = None) -> None:
    """Print the public key of the log as the line that an auditor gives to `audit verify --public-key`."""
    from .auditwork import verifier
    from .opening import reading

    with reading(store, namespace) as memory:
        print(verifier(memory))


@app.command()
def reindex(store: Store = None, namespace: Namespace = None) -> None:
    """Build the search index again from what is remembered."""
    from .opening import editing

    with editing(store, namespace, None) as memory:
        print(f"{memory.reindex()} items indexed")
