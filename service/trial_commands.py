"""`recordari rules test`, `try`, `diff` and `backtest`: what rules do, before anything goes live."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from .options import WRONG_USE, Lang, Namespace, NoNer, NoPacks, Rules, Store

trials = typer.Typer()

Folders = Annotated[list[Path] | None, typer.Argument(help="Folders; none: the shipped packs alone.")]


@trials.command("test")
def run_tests(
    folder: Folders = None,
    no_packs: NoPacks = False,
    rule: Annotated[str | None, typer.Option(help="Only the rule with this id.")] = None,
    own: Annotated[
        bool, typer.Option("--own", help="Only the tests of the folders, not of the shipped packs.")
    ] = False,
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Also which rules, conditions and words no test exercises.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run the inline tests of rule files; a failed one shows what happened instead, and why."""
    from .ruletrial import test

    raise typer.Exit(test(folder or [], packs=not no_packs, rule=rule, own=own, coverage=coverage, as_json=json))


@trials.command("try")
def try_out(
    say: Annotated[str, typer.Argument(help="The sentence.")],
    rules: Rules = None,
    no_packs: NoPacks = False,
    no_ner: NoNer = False,
    after: Annotated[
        list[str] | None, typer.Option("--after", help='An earlier turn, oldest first; "assistant: …" for the agent.')
    ] = None,
    at: Annotated[str | None, typer.Option("--at", help="When it is said (ISO 8601).")] = None,
    speaker: Annotated[
        Literal["user", "assistant", "tool", "document"], typer.Option("--speaker", help="Who says it.")
    ] = "user",
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """What the rules make of one sentence: mentions, cues, binding, verdicts, and every rule that nearly fired."""
    from .ruletrial import try_out as work

    raise typer.Exit(
        work(
            say, rules or [], packs=not no_packs, ner=not no_ner, after=after or [], at=at, speaker=speaker,
            as_json=json,
        )
    )  # fmt: skip


@trials.command()
def diff(
    before: Annotated[
        str, typer.Argument(help="Folder, `packs`, REVISION:folder of git, or digest kept in the store.")
    ],
    after: Annotated[str, typer.Argument(help="The same.")],
    store: Store = None,
    no_packs: NoPacks = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """What differs between two rule sets: rules added, removed and changed, field by field."""
    from .comparing import diff as work

    raise typer.Exit(work(before, after, store, packs=not no_packs, as_json=json))


@trials.command()
def backtest(
    before: Annotated[str, typer.Option("--from", help="Rules as they are: folder, `packs`, REVISION:folder, digest.")],
    after: Annotated[str, typer.Option("--to", help="Rules as they would be; the same.")],
    corpus: Annotated[
        str | None,
        typer.Option("--corpus", help="JSONL file of dialogues or turns, with labels or without; - reads in."),
    ] = None,
    store: Store = None,
    namespace: Namespace = None,
    no_packs: NoPacks = False,
    no_ner: NoNer = False,
    workers: Annotated[int | None, typer.Option("--workers", min=1, help="Processes; default: one a core.")] = None,
    state: Annotated[
        Path | None, typer.Option("--state", help="File that keeps what is done until all is (default: in the cache).")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Begin anew, whatever an earlier run has done.")] = False,
    html: Annotated[Path | None, typer.Option("--html", help="Write one page that needs nothing else.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    examples: Annotated[int, typer.Option("--examples", min=0, help="Differences to print in words.")] = 10,
    lang: Lang = "en",
) -> None:
    """What other rules would have decided over past dialogues, each difference followed to its end."""
    if corpus is None and store is None:
        typer.echo("name the dialogues with --corpus, or the memory they are in with --store", err=True)
        raise typer.Exit(WRONG_USE)
    from .backtesting import Asked, cores
    from .backtesting import backtest as work

    asked = Asked(
        before, after, corpus, store, namespace, packs=not no_packs, ner=not no_ner, workers=workers or cores(),
        state=state, fresh=fresh, html=html, as_json=json, examples=examples, language=lang,
    )  # fmt: skip
    raise typer.Exit(work(asked))
