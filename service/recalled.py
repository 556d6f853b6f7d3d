"""How an answer looks: each hit with the terms of its score and its routes; what it was read as and widened by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.text import Text

from ..recall.context import Context, quoted
from ..recall.rank import Hit, Recalled
from ..recall.readback import ReadBack
from ..recall.transcript import TurnHit
from .batch import item_fields
from .relation_commands import related_fields, show_path
from .show import console
from .streams import emit


def show_answer(answer: Recalled, *, as_json: bool = False) -> None:
    """Print an answer; ``as_json``: a line for each hit, then one for the account."""
    if as_json:
        for hit in answer.hits:
            emit({**score_fields(hit), **item_fields(hit.item)})
        for said in answer.turns:
            emit(turn_fields(said))
        emit({"account": account(answer)})
        return
    for note in answer.asked.notes:
        console.print(Text(note, "dim"))
    for each in answer.related:
        show_path(each)
    if answer.expanded:
        console.print(Text("nothing had these words; found by: " + ", ".join(answer.expanded), "dim"))
    for hit in answer.hits:
        status = "" if hit.item.status == "current" else f"  ({hit.item.status})"
        terms = f"similarity {hit.similarity:.2f} + importance {hit.importance:.2f} + recency {hit.recency:.2f}"
        routes = ", ".join(f"{name} {found.rank}" for name, found in hit.routes.items())
        console.print(Text(f"{hit.score:.3f}  ", "dim"), Text(hit.item.sentence + status), sep="")
        console.print(Text(f"       {terms}; {routes}; {hit.item.id[:12]}", "dim"))
    if not answer.hits:
        out = ", ".join(f"{count} by {name}" for name, count in answer.left_out.items())
        console.print(Text("nothing found" + (f" ({out} left out)" if out else ""), "dim"))
        for route, why in answer.unserved.items():
            console.print(Text(f"not asked: {route}: {why}", "dim"))
    if answer.turns:
        console.print(Text("Said, not remembered (source: transcript):", "bold"))
    for said in answer.turns:
        turn = said.turn
        routes = ", ".join(f"{name} {found.rank}" for name, found in said.routes.items())
        who = turn.author or turn.speaker
        console.print(Text(f"{turn.said_at:%Y-%m-%d %H:%M}  {who}: ", "dim"), Text(quoted(turn.text)), sep="")
        console.print(Text(f"       {routes}; turn {turn.turn_id}", "dim"))


def turn_fields(said: TurnHit) -> dict[str, Any]:
    """A turn of an answer, for programs; ``source`` tells it from what is remembered."""
    turn = said.turn
    return {
        "source": said.source, "score": f"{said.score:.4f}",
        "routes": {name: {"rank": found.rank} for name, found in said.routes.items()}, "turn_id": turn.turn_id,
        "entity": turn.entity, "conversation": turn.conversation, "speaker": turn.speaker, "author": turn.author,
        "said_at": turn.said_at.isoformat(), "text": turn.text,
    }  # fmt: skip


def score_fields(hit: Hit) -> dict[str, Any]:
    """The score of a hit, its terms, and its place in every route that found it."""
    terms = ("score", "similarity", "importance", "recency")
    routes = {name: {"rank": found.rank, "closeness": f"{found.closeness:.4f}"} for name, found in hit.routes.items()}
    return {term: f"{getattr(hit, term):.4f}" for term in terms} | {"routes": routes}


def account(answer: Recalled) -> dict[str, Any]:
    """How the question was read, for programs."""
    asked = answer.asked
    return {
        "now": asked.now.isoformat(),
        "as_of": asked.as_of.isoformat() if asked.as_of else None,
        "known_at": asked.known_at.isoformat() if asked.known_at else None,
        "said": [each.isoformat() if each else None for each in asked.said] if asked.said else None,
        "slots": sorted(asked.slots, key=lambda name: (-asked.slots[name], name)),
        "label": list(asked.label),
        "range": asked.range.words if asked.range else None,
        "history": asked.history,
        "notes": list(asked.notes),
        "expanded": list(answer.expanded),
        "left_out": dict(answer.left_out),
        "unserved": dict(answer.unserved),
        "related": [related_fields(each) for each in answer.related],
    }


def show_context(context: Context, *, as_json: bool = False) -> None:
    """Print a context: the block alone, ready to be put before a model; ``as_json`` with its account."""
    if not as_json:
        console.print(context.text, markup=False, highlight=False, soft_wrap=True)
        return
    emit(
        {
            "text": context.text,
            "tokens": context.tokens,
            "budget": context.budget,
            "lines": [
                {"text": line.text, "item": line.item, "version": line.version, "decision": line.decision,
                 "marked": line.marked}
                for line in context.lines
            ],
            "left_out": [
                {"item": each.item, "slot": each.slot, "qualifier": each.qualifier, "why": each.why}
                for each in context.left_out
            ],
            "said": list(context.said),
            "window": [
                {"text": each.text, "items": list(each.items), "turn_id": each.turn_id, "record": each.record}
                for each in context.recent
            ],
            "account": account(context.answer),
        }
    )  # fmt: skip


def show_read_back(results: Sequence[ReadBack], *, as_json: bool = False) -> None:
    """Print the questions that do not find their item, then how many do."""
    for each in results:
        if as_json:
            emit(
                {"item": each.item.id, "question": each.question, "place": each.place, "found": each.found,
                 "why": each.why, "superseded": each.superseded}
            )  # fmt: skip
        elif not each.found or each.superseded:
            why = each.why if not each.found else "answered with what no longer holds"
            console.print(Text(f"{each.item.id[:12]}  {each.question}: {why}"))
    if not as_json:
        found = sum(each.found for each in results)
        console.print(Text(f"{found} of {len(results)} questions find their item in the top 3", "dim"))
