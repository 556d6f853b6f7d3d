"""`recordari rules publish`, `promote`, `override`, `rollback`, `status`: what decides for whom, without a restart."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from .options import WRONG_USE, Actor, Json, Namespace, NoPacks, Store

releases = typer.Typer()

Why = Annotated[str, typer.Option("--why", help="The reason; stands in the log.")]


@releases.command()
def publish(
    rules: Annotated[str, typer.Argument(help="Folder, `packs`, REVISION:folder of git, or digest kept in the store.")],
    actor: Actor,
    why: Why,
    store: Store = None,
    namespace: Namespace = None,
    no_packs: NoPacks = False,
    skip_tests: Annotated[
        bool, typer.Option("--skip-tests", help="Run no inline tests; a gate that asks for them stays shut.")
    ] = False,
    own: Annotated[
        bool, typer.Option("--own", help="Run the tests of the folders only: theirs may contradict the shipped ones.")
    ] = False,
    json: Json = False,
) -> None:
    """Make a rule set the candidate of a memory, checked and stored under its digest; nothing decides by it yet."""
    from .releasework import publish as work

    tests: Literal["all", "own", "none"] = "none" if skip_tests else "own" if own else "all"
    raise typer.Exit(work(rules, store, namespace, actor, why, packs=not no_packs, tests=tests, as_json=json))


@releases.command()
def promote(
    actor: Actor,
    why: Why,
    to: Annotated[Literal["shadow", "canary", "stable"], typer.Option("--to", help="The next step.")],
    percent: Annotated[
        float | None, typer.Option("--percent", help="With canary: how many of a hundred entities, to two decimals.")
    ] = None,
    candidate: Annotated[
        str | None,
        typer.Option("--candidate", help="Only if this is the candidate, by the first characters of its digest."),
    ] = None,
    gates: Annotated[
        Path | None,
        typer.Option("--gates", help="File that says what must have been shown (default: the shipped one)."),
    ] = None,
    store: Store = None,
    namespace: Namespace = None,
    json: Json = False,
) -> None:
    """Take the candidate on: beside the stable set, to some of the entities, or to all; its gate must be open."""
    from .releasework import promote as work

    share = None if percent is None else round(percent * 100)
    if percent is not None and abs(percent * 100 - round(percent * 100)) > 1e-6:
        typer.echo(f"--percent {percent}: two decimals at most", err=True)
        raise typer.Exit(WRONG_USE)
    raise typer.Exit(work(to, share, candidate, gates, store, namespace, actor, why, as_json=json))


@releases.command()
def override(
    rule: Annotated[str, typer.Argument(help="Id of the rule to stop.")],
    actor: Actor,
    why: Why,
    store: Store = None,
    namespace: Namespace = None,
    json: Json = False,
) -> None:
    """Stop one rule at once, for everybody, without touching a file."""
    from .releasework import override as work

    raise typer.Exit(work(rule, store, namespace, actor, why, as_json=json))


@releases.command()
def rollback(
    digest: Annotated[str, typer.Argument(help="A set that was stable, by the first characters of its digest.")],
    actor: Actor,
    why: Why,
    store: Store = None,
    namespace: Namespace = None,
    json: Json = False,
) -> None:
    """Let an earlier set decide for all again; what the withdrawn ones wrote is listed and waits for review."""
    from .releasework import rollback as work

    raise typer.Exit(work(digest, store, namespace, actor, why, as_json=json))


@releases.command()
def status(
    store: Store = None,
    namespace: Namespace = None,
    samples: Annotated[int, typer.Option("--samples", min=0, help="Differences of the shadow to show.")] = 5,
    json: Json = False,
) -> None:
    """What decides for whom, how the candidate did in the shadow, every step so far, and what waits for review."""
    from .releasework import status as work

    raise typer.Exit(work(store, namespace, samples, as_json=json))
