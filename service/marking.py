"""`recordari hold …` and `recordari restrict …`: the same three commands over two kinds of record."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from .options import Actor, Json, Namespace, Store

if TYPE_CHECKING:
    from ..memory import Memory

Item = Annotated[str | None, typer.Option("--item", help="On this item.")]
Entity = Annotated[str | None, typer.Option("--entity", help="On everything about this entity.")]
Conversation = Annotated[str | None, typer.Option("--conversation", help="On what was said in this conversation.")]
Ground = Annotated[str, typer.Option("--ground", help="On what ground; stands in the log.")]
Number = Annotated[int, typer.Argument(help="The number that the list shows.")]


def chosen(item: str | None, entity: str | None, conversation: str | None) -> tuple[str, str]:
    """What it is on, and its id or name; ErasureError unless one is named."""
    from ..erasure.erasing import ErasureError

    named = [(on, given) for on, given in (("item", item), ("entity", entity), ("conversation", conversation)) if given]
    if len(named) != 1:
        raise ErasureError("say what it is on: --item, --entity or --conversation, one of them")
    return named[0]


def stored(memory: Memory, on: str, target: str) -> bool:
    """Whether anything is there that it is on; an item always is."""
    from ..store.erasing import items_where, turns_where
    from ..store.saying import turns_about

    with memory.store.reading(memory.namespace) as tx:
        if on == "entity":
            found = items_where(tx, entity=target) or turns_where(tx, principal=target) or turns_about(tx, target)
            return bool(found)
        return on == "item" or bool(turns_where(tx, conversation=target))


def commands(kind: str, verb: str, lifted: str) -> typer.Typer:
    """``add``, ``lift`` and ``list`` of one kind of record."""
    app = typer.Typer()

    @app.command(help=verb)
    def add(
        ground: Ground, actor: Actor, item: Item = None, entity: Entity = None, conversation: Conversation = None,
        store: Store = None, namespace: Namespace = None,
    ) -> None:  # fmt: skip
        from .opening import editing

        on, target = chosen(item, entity, conversation)
        with editing(store, namespace, None) as memory:
            act = memory.hold if kind == "hold_legal" else memory.restrict
            print(act(on, target, ground=ground, actor=actor))  # type: ignore[arg-type]
            if not stored(memory, on, target):
                told = f"nothing is stored of {on} {target!r} so far: it holds for what comes. Is it written so?"
                print(told, file=sys.stderr)

    @app.command(help=lifted)
    def lift(
        number: Number, ground: Ground, actor: Actor, store: Store = None, namespace: Namespace = None
    ) -> None:  # fmt: skip
        from .opening import editing

        with editing(store, namespace, None) as memory:
            print(memory.release(kind, number, ground=ground, actor=actor))  # type: ignore[arg-type]

    @app.command("list", help="All of them, those that were lifted too.")
    def list_(store: Store = None, namespace: Namespace = None, json: Json = False) -> None:
        from dataclasses import asdict

        from ..store.standing import standing
        from .opening import reading
        from .streams import emit

        with reading(store, namespace) as memory, memory.store.reading(memory.namespace) as tx:
            for each in standing(tx.log, kind):  # type: ignore[arg-type]
                if json:
                    emit(asdict(each))
                    continue
                state = "in force" if each.lifted is None else f"lifted by record {each.lifted}"
                print(f"{each.seq}  {each.on} {each.target or '(erased)'}  {each.ground}  {each.at}  {state}")

    return app
