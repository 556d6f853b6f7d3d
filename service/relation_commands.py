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
    found, ruleset = memory.related(name, **asked), memory.ruleset
    if as_json:
        for each in found:
            emit(related_fields(each))
        return
    reads = {slot.relation.name: slot.relation.reads for slot in ruleset.slots.values() if slot.relation is not None}
    for each in found:
        how = f"  {each.kind}, {_steps(each.hops)}, {each.strength} {each.confidence}"
        console.print(Text(each.name, "bold"), Text(how, "dim"), sep="")
        for link in each.path:
            words = reads[link.relation].zh if link.items[0].language == "zh" else reads[link.relation].en
            told = words.replace("{subject}", link.subject).replace("{object}", link.object)
            said = f"  ({link.confidence}; {', '.join(item.id[:12] for item in link.items)})"
            console.print(Text("   " + told), Text(said, "dim"), sep="")
    if not found:
        console.print(Text("no relation of this name is known", "dim"))


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
