"""`recordari forget`, `pin`, `unpin`: what is archived and deleted, by which rule, and what stays though it was due."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from ..erasure.due import Due
from ..erasure.forgetting import Forgotten
from ..intake import moment_of
from ..memory import Memory
from ..model import utc
from .erasure import tell_unclean
from .streams import emit

_WHY = {
    "ended": "its end has come", "ttl": "not said again for as long as it stands", "session": "its talk is over",
    "budget": "more than is kept of its entity", "grace": "archived long enough",
}  # fmt: skip


def show_forgotten(
    memory: Memory, at: str | None, limit: int, actor: str | None, *, dry_run: bool, as_json: bool
) -> None:  # fmt: skip
    """Forget what is due and say what; ``at`` is by default the present, and is told."""
    moment = moment_of(at, "--at") or datetime.now(UTC)
    done = memory.forget(at=moment, limit=limit, actor=actor, dry_run=dry_run)
    if done.records and memory.store.unclean:
        tell_unclean()
    if as_json:
        _emit(done, moment, dry_run=dry_run)
        return
    would = "would be " if dry_run else ""
    for verb, some in (("archived", done.archived), ("deleted", done.deleted)):
        print(f"{len(some)} {would}{verb}")
        for due in some:
            print(f"  {_told(due)}")
    if done.exempt:
        print(f"{len(done.exempt)} due and kept")
        for kept in done.exempt:
            print(f"  {_told(kept.due)}; {kept.because}")
    print(f"as of {utc(moment)}" + ("; more is due, run it again with this --at" if done.more else ""))


def _told(due: Due) -> str:
    item = due.item
    label = f"[{item.qualifier}]" if item.qualifier else ""
    return f"{item.id[:12]}  {item.entity}  {item.slot}{label}: {_WHY[due.why]}, {utc(due.at)}, {due.rule}"


def _emit(done: Forgotten, moment: datetime, *, dry_run: bool) -> None:
    kept = [(each.due, {"because": each.because}) for each in done.exempt]
    for does, some in (
        ("archive", [(due, {}) for due in done.archived]), ("delete", [(due, {}) for due in done.deleted]),
        ("keep", kept),
    ):  # fmt: skip
        for due, more in some:
            emit({"does": does, **_fields(due), **more})
    emit(
        {
            "at": utc(moment), "dry_run": dry_run, "archived": len(done.archived), "deleted": len(done.deleted),
            "kept": len(done.exempt), "more": done.more, "records": list(done.records),
        }
    )  # fmt: skip


def _fields(due: Due) -> dict[str, Any]:
    item = due.item
    return {
        "item": item.id, "entity": item.entity, "slot": item.slot, "qualifier": item.qualifier, "why": due.why,
        "rule": due.rule, "as_of": utc(due.at),
    }  # fmt: skip
