"""`recordari relations`: who is joined to a name, over how many steps, how surely, and which items say so."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from ..reader import Reader
from ..recall.relations import Related
from .show import console
from .streams import emit


def show_related(memory: Reader, name: str, *, as_json: bool, **asked: Any) -> None:
    """Print what a name is joined to, each with its path; ``as_json``: a line for each, ``asked`` as of ``related``."""
    found = memory.related(name, **asked)
    for each in found:
        if as_json:
            emit(related_fields(each))
        else:
            show_path(each)
    if not found and not as_json:
        console.print(Text("no relation of this name is known", "dim"))


def show_path(each: Related) -> None:
    """Print a name that was reached, and the path to it."""
    how = f"  {each.kind}, {_steps(each.hops)}, {each.strength} {each.confidence}"
    console.print(Text(each.name, "bold"), Text(how, "dim"), sep="")
    for link in each.path:
        said = f"  ({link.confidence}; {', '.join(item.id[:12] for item in link.items)})"
        console.print(Text("   " + link.told), Text(said, "dim"), sep="")


def related_fields(each: Related) -> dict[str, Any]:
    """A name that was reached, for programs."""
    return {
        "name": each.name, "kind": each.kind, "hops": each.hops, "confidence": str(each.confidence),
        "strength": each.strength,
        "path": [
            {
                "subject": link.subject, "relation": link.relation, "object": link.object,
                "confidence": str(link.confidence), "items": [item.id for item in link.items],
                "decisions": [list(place) for place in link.decisions], "turns": list(link.turns),
            }
            for link in each.path
        ],
    }  # fmt: skip


def _steps(hops: int) -> str:
    return "1 step" if hops == 1 else f"{hops} steps"
