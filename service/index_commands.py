"""The commands `recordari index …`: what is made from items to find them by, made anew or brought up to date."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from .options import FOUND, Namespace, Store

if TYPE_CHECKING:
    from ..reader import Reader
    from ..recall.vectors import Embedded
    from ..store.derived import Difference

app = typer.Typer()


@app.callback()
def index() -> None:
    """What items are found by."""


@app.command()
def embed(
    store: Store = None,
    namespace: Namespace = None,
    limit: Annotated[int | None, typer.Option(min=1, help="How many items at most (default: all).")] = None,
    transcript: Annotated[
        bool, typer.Option("--transcript", help="What was said, too, for `recordari recall --transcript`.")
    ] = False,
) -> None:
    """Give vectors to the items that wait for one; exit code 1 when a text could not be embedded."""
    from .opening import editing

    with editing(store, namespace, None) as memory:
        _tell(memory.embed(limit=limit))
        if transcript:
            _tell(memory.embed_turns(limit=limit), "turns")


@app.command()
def rebuild(store: Store = None, namespace: Namespace = None) -> None:
    """Make full text and, where an embedder is installed, all vectors anew: after another model, or a lost index."""
    from .opening import editing

    with editing(store, namespace, None) as memory:
        print(f"{memory.reindex()} items indexed")
        if memory.embedder is None:
            print("no vectors: install recordari[vectors] for them")
        else:
            _tell(memory.embed(anew=True))


def show_differences(memory: Reader, *, last: int, as_json: bool) -> bool:
    """Print where the indexes differ from what is stored, ``last`` of each kind, then the counts; whether they do."""
    from .streams import emit

    told: Counter[str] = Counter()

    def tell(each: Difference) -> None:
        told[each.kind] += 1
        if as_json:
            emit({"kind": each.kind, "id": each.id, "why": each.why})
        elif told[each.kind] <= last:
            print(f"{each.kind}: {each.id + ': ' if each.id else ''}{each.why}")

    found = memory.check_index(tell)
    for each in found:
        if as_json:
            emit({"kind": each.kind, "compared": each.compared, "different": each.different})
        else:
            print(f"{each.kind}: {each.compared} compared, {each.different} differ")
    if told and not as_json:
        print("build them again with `recordari audit reindex`", file=sys.stderr)
    return bool(told)


def _tell(embedded: Embedded, what: str = "items") -> None:
    print(f"{embedded.written} {what} embedded")
    if embedded.failed:
        print(f"{embedded.failed} failed, tried again later: {embedded.why}")
        raise typer.Exit(FOUND)
