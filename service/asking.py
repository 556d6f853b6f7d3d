"""The commands that ask: recall, relations, context, window, trace. Each imports what it needs when it runs."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from .options import Json, Namespace, Store


def recall(
    question: str,
    store: Store = None,
    namespace: Namespace = None,
    entity: Annotated[str | None, typer.Option(help="Only what is about this entity.")] = None,
    slot: Annotated[list[str] | None, typer.Option(help="Only this slot; may be repeated.")] = None,
    without: Annotated[
        list[str] | None, typer.Option("--without", help="Class of personal data not to be shown; may be repeated.")
    ] = None,
    at: Annotated[str | None, typer.Option("--at", help="When it is asked (ISO 8601; default: now).")] = None,
    as_of: Annotated[str | None, typer.Option("--as-of", help="What was true at this time (ISO 8601).")] = None,
    known_at: Annotated[
        str | None, typer.Option("--known-at", help="What we knew at this time (ISO 8601); default: all we know.")
    ] = None,
    history: Annotated[bool, typer.Option("--history", help="What was superseded or ended, too.")] = False,
    top: Annotated[int, typer.Option(min=1, max=100, help="How many at most.")] = 10,
    transcript: Annotated[
        bool, typer.Option("--transcript", help="Turns that bear on it, too: what was said, not what is remembered.")
    ] = False,
    json: Json = False,
) -> None:
    """What is remembered that answers a question; one Chinese character is enough."""
    from .opening import reading
    from .recalled import show_answer

    with reading(store, namespace) as memory:
        answer = memory.answer(
            question, entity=entity, slots=slot, without=without or (), history=history, at=at, as_of=as_of,
            known_at=known_at, top=top, transcript=transcript,
        )  # fmt: skip
        show_answer(answer, as_json=json)


def relations(
    name: str,
    store: Store = None,
    namespace: Namespace = None,
    hops: Annotated[int, typer.Option(min=1, max=3, help="Steps at most.")] = 1,
    relation: Annotated[str | None, typer.Option(help="Only this relation (works_at, supplies …).")] = None,
    as_of: Annotated[str | None, typer.Option("--as-of", help="What was true at this time (ISO 8601).")] = None,
    known_at: Annotated[str | None, typer.Option("--known-at", help="What we knew at this time (ISO 8601).")] = None,
    json: Json = False,
) -> None:
    """Whom and what a name is joined to, over one to three steps, how surely, and by which items."""
    from .opening import reading
    from .relation_commands import show_related

    with reading(store, namespace) as memory:
        show_related(memory, name, as_json=json, hops=hops, relation=relation, as_of=as_of, known_at=known_at)


def context(
    question: str,
    budget: Annotated[int, typer.Option(min=1, help="Tokens at most.")] = 2000,
    turn: Annotated[str | None, typer.Option(help="What was just said (default: the question).")] = None,
    store: Store = None,
    namespace: Namespace = None,
    entity: Annotated[str | None, typer.Option(help="Only what is about this entity.")] = None,
    at: Annotated[str | None, typer.Option("--at", help="When it is asked (ISO 8601; default: now).")] = None,
    transcript: Annotated[
        bool, typer.Option("--transcript", help="Turns that bear on it, too, above what is remembered.")
    ] = False,
    window: Annotated[
        str | None, typer.Option("--window", help="What left the window of this conversation, and holds for it, too.")
    ] = None,
    json: Json = False,
) -> None:
    """What to put before a model that answers a question: quoted sentences within a budget, the best last."""
    from .opening import reading
    from .recalled import show_context

    with reading(store, namespace) as memory:
        if window is not None:
            from .window_commands import expect

            expect(memory, window)
        found = memory.context(
            question, budget=budget, turn=turn, entity=entity, at=at, transcript=transcript, window=window
        )
        show_context(found, as_json=json)


def window(
    conversation: str,
    turns: Annotated[int | None, typer.Option(min=0, help="How many turns at most (default: the setting, 10).")] = None,
    minutes: Annotated[float | None, typer.Option(min=0, help="Only turns of the last minutes before --at.")] = None,
    at: Annotated[str | None, typer.Option("--at", help="When it is asked (ISO 8601; default: now).")] = None,
    summarise: Annotated[
        bool, typer.Option("--summarise", help="Let the configured LLM word the summary; the guard keeps the values.")
    ] = False,
    store: Store = None,
    namespace: Namespace = None,
    json: Json = False,
) -> None:
    """The last turns of a conversation, what still holds of those before, and what holds for it alone."""
    from .window_commands import show

    show(store, namespace, conversation, turns=turns, minutes=minutes, at=at, summarise=summarise, as_json=json)


def trace(
    number: Annotated[int | None, typer.Argument(metavar="[ID]", help="One trace by its number.")] = None,
    last: Annotated[int, typer.Option("--last", min=1, help="How many at most, the newest first.")] = 20,
    empty: Annotated[bool, typer.Option("--empty", help="Only questions that found nothing, and how many.")] = False,
    item: Annotated[str | None, typer.Option(help="Only questions that this item (or turn) answered.")] = None,
    hits: Annotated[bool, typer.Option("--hits", help="How often items and turns were answers.")] = False,
    by: Annotated[
        Literal["day", "month"] | None,
        typer.Option(help="How many were asked and found nothing, by day or month (UTC)."),
    ] = None,
    since: Annotated[str | None, typer.Option(help="Only those written from this time on (ISO 8601).")] = None,
    until: Annotated[str | None, typer.Option(help="Only those written before this time (ISO 8601).")] = None,
    store: Store = None,
    namespace: Namespace = None,
    json: Json = False,
) -> None:
    """What was asked, and how its answer came about; RECORDARI_TRACE says which share of the questions is kept."""
    from .trace_commands import show

    show(
        store, namespace, number=number, last=last, empty=empty, item=item, hits=hits, by=by, since=since, until=until,
        as_json=json,
    )  # fmt: skip
