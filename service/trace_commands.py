"""`recordari trace`: what was asked, how its answer came about, how often an item was an answer, what found nothing."""

from __future__ import annotations

import sys
from typing import Any

import typer
from rich.text import Text

from ..recall.context import quoted
from ..store.traces import LARGEST, Trace, Unit
from .options import WRONG_USE
from .show import console
from .streams import emit

NONE = "no traces are kept. RECORDARI_TRACE=1 keeps one of each question, 0.1 of one in ten"


def show(
    store: str | None,
    namespace: str | None,
    *,
    number: int | None,
    last: int,
    empty: bool,
    item: str | None,
    hits: bool,
    by: Unit | None,
    since: str | None,
    until: str | None,
    as_json: bool,
) -> None:
    """Print traces, or with ``hits`` the counts of items and turns, ``by`` day or month those of questions; exit code 2
    for a trace or an item that is not there."""
    from .opening import reading

    last = min(last, LARGEST)
    with reading(store, namespace) as memory:
        if hits:
            for each in memory.trace_hits(top=last):
                fields = {"kind": each.kind, "id": each.id, "answers": each.answers, "injected": each.injected}
                if as_json:
                    emit(fields)
                else:
                    print(f"{each.answers:6} answers, {each.injected:6} before a model: {each.kind} {each.id}")
            return
        if by is not None:
            for told in memory.trace_periods(by, since=since, until=until):
                if as_json:
                    emit({"period": told.period, "traced": told.traced, "found_nothing": told.empty})
                else:
                    print(f"{told.period}: {told.empty} of {told.traced} traced questions found nothing")
            return
        possible = number is None or 1 <= number <= LARGEST
        asked: dict[str, Any] = {
            "number": number, "item": item, "empty": empty, "since": since, "until": until, "last": last
        }  # fmt: skip
        found = memory.traces(**asked) if possible else ()
        kept, missed = memory.trace_counts(since=since, until=until)
    if number is not None and not found:
        print(f"no trace {number}. `recordari trace` lists those that are kept", file=sys.stderr)
        raise typer.Exit(WRONG_USE)
    for trace in found:
        if as_json:
            emit(fields_of(trace))
        elif number is not None:
            _whole(trace)
        else:
            _line(trace)
    if not as_json and number is None:
        of_a_time = since is not None or until is not None
        none = "no traces of that time are kept" if of_a_time else NONE
        console.print(Text(f"{missed} of {kept} traced questions found nothing" if kept else none, "dim"))


def fields_of(trace: Trace) -> dict[str, Any]:
    """A trace for programs."""
    return {
        "trace": trace.number, "written_at": trace.written_at.isoformat(), "entity": trace.entity,
        "found": trace.found, **trace.body,
    }  # fmt: skip


def _line(trace: Trace) -> None:
    about = f" ({quoted(trace.entity)})" if trace.entity is not None else ""
    shown = trace.body.get("context")
    told = f"{trace.found} found" + (f", {len(shown['lines'])} before a model" if shown else "")
    when = f"{trace.number:6}  {trace.written_at:%Y-%m-%d %H:%M}  "
    console.print(Text(when, "dim"), Text(quoted(trace.body["question"])), Text(f"{about}: {told}", "dim"), sep="")


def _whole(trace: Trace) -> None:
    """All of one trace, for people."""
    _line(trace)
    body = trace.body
    for name, value in (*body["read"].items(), *body["filters"].items(), *body["unserved"].items()):
        if value:
            told = ", ".join(f"{key} {each}" for key, each in value.items()) if isinstance(value, dict) else value
            console.print(Text(f"  {name}: {told}"), soft_wrap=True)
    for route, proposed in body["routes"].items():
        told = ", ".join(f"{rank} {id_[:12]}" for rank, id_, _ in proposed)
        console.print(Text(f"  route {route} proposed: {told}"), soft_wrap=True)
    for place, hit in enumerate(body["hits"], 1):
        terms = " + ".join(f"{term} {hit[term]:.3f}" for term in ("similarity", "importance", "recency", "reranked"))
        item = f"item {hit['item'][:12]} version {hit['version']}"
        console.print(Text(f"  {place}. {item}: {hit['score']:.3f} = {terms}"), soft_wrap=True)
    for place, said in enumerate(body["turns"], 1):
        routes = ", ".join(f"{name} {rank}" for name, rank in said["routes"].items())
        console.print(Text(f"  {place}. turn {said['turn']}: {said['score']:.3f}, {routes} (transcript)"))
    if (context := body.get("context")) is not None:
        lines = ", ".join(f"{line['item'][:12]} version {line['version']}" for line in context["lines"]) or "nothing"
        console.print(
            Text(f"  before a model, {context['tokens']} of {context['budget']} tokens: {lines}"), soft_wrap=True
        )
        if context["turns"]:
            console.print(Text("  quoted from the transcript: turns " + ", ".join(context["turns"])), soft_wrap=True)
        for each in context["left_out"]:
            console.print(Text(f"  left out: {each['item'][:12]}: {each['why']}"))
