"""`recordari erase`: says what would go, asks, erases, hands out the certificate; after a restore, erases again."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from ..erasure.certificates import CertificateError, all_of
from ..erasure.erasing import Erased, House, Target
from ..memory import Memory
from .opening import editing, reading
from .streams import emit


@dataclass(frozen=True, slots=True)
class Asked:
    """How an erasure was asked for."""

    ground: str
    actor: str
    dry_run: bool = False
    yes: bool = False
    certificate: Path | None = None
    exports: Sequence[Path] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Again:
    """Certificates, or a store, whose erasures are to be applied again."""

    certificates: Sequence[Path]
    source: str | None
    public_key: str | None

    def __bool__(self) -> bool:
        return bool(self.certificates) or self.source is not None


def run(
    store: str | None, namespace: str | None, target: Target, asked: Asked, again: Again, *, as_json: bool
) -> int:  # fmt: skip
    """Erase what is meant, or again; the exit status."""
    if again:
        return _again(store, namespace, asked, again, as_json=as_json)
    target.check()
    with reading(store, namespace) as memory:
        would = _preview(memory, target)
    _show(would, as_json=as_json and asked.dry_run, alone=asked.dry_run)
    if asked.dry_run:
        return 0
    if not asked.yes and not would.nothing and not _agreed():
        print("nothing was erased", file=sys.stderr)
        return 2
    with editing(store, namespace, None) as memory:
        ids = {name: getattr(target, name) for name in ("entity", "slot", "qualifier", "conversation")}
        done = memory.erase(*target.items, **ids, ground=asked.ground, actor=asked.actor)
        _told(done)
        if done.record is not None:
            text = json.dumps(memory.certificate(done.record), ensure_ascii=False)
            if asked.certificate is not None:
                asked.certificate.write_text(text + "\n", encoding="utf-8")
            else:
                print(text)
        for folder in asked.exports:
            remake(memory, folder)
    return 0


def _preview(memory: Memory, target: Target) -> Erased:
    return memory.erase(
        *target.items, entity=target.entity, slot=target.slot, qualifier=target.qualifier,
        conversation=target.conversation, ground="-", actor="-", dry_run=True,
    )  # fmt: skip


def _again(store: str | None, namespace: str | None, asked: Asked, again: Again, *, as_json: bool) -> int:
    texts = [path.read_text(encoding="utf-8") for path in again.certificates]
    if again.source is not None:
        with reading(again.source, namespace) as other:
            texts += all_of(House(other.store, other.namespace, other.settings))
    with editing(store, namespace, None) as memory:
        try:
            done = memory.reapply(texts, actor=asked.actor, public_key=again.public_key)
        except CertificateError as wrong:
            raise CertificateError(f"{_named(again, texts, wrong)}. Nothing was erased") from None
        for each in done:
            _show(each, as_json=as_json)
            _told(each)
        for folder in asked.exports:
            remake(memory, folder)
    return 0


def _named(again: Again, texts: Sequence[str], wrong: CertificateError) -> str:
    files = ", ".join(map(str, again.certificates)) or again.source
    return f"{files}: {wrong}" if len(texts) == 1 else f"one of {files}: {wrong}"


def _agreed() -> bool:
    print("This cannot be undone. Erase? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes", "是"}


def _show(found: Erased, *, as_json: bool, alone: bool = True) -> None:
    """Counts and ids; never a value."""
    if as_json:
        emit(
            {
                "scope": found.scope, "counts": dict(found.counts), "items": list(found.items),
                "turns": list(found.turns), "record": found.record,
            }
        )  # fmt: skip
        return
    lines = sys.stdout if alone else sys.stderr  # else a certificate is what standard output is for
    if found.nothing:
        print("nothing is there to be erased", file=lines)
        return
    verb = "would go" if found.record is None else "gone"
    counted = ", ".join(f"{number} {what}" for what, number in found.counts.items() if number)
    print(f"{verb}: {counted}", file=lines)
    for what, ids in (("items", found.items), ("turns", found.turns)):
        if ids:
            print(f"  {what}: {' '.join(ids)}", file=lines)


def _told(done: Erased) -> None:
    if done.record is not None:
        print(f"erased by record {done.record}", file=sys.stderr)
    if not done.scrubbed:
        tell_unclean()


def tell_unclean() -> None:
    """Say that what was erased has left old pages behind."""
    told = "old pages are still in the file: somebody is reading it, or there is no room to write it anew"
    print(f"{told}. The next command that writes tries again", file=sys.stderr)


def show_swept(
    memory: Memory, at: str | None, limit: int, actor: str | None, *, dry_run: bool, as_json: bool
) -> None:  # fmt: skip
    """Sweep and say what went of each class, and what no class covers."""
    from ..erasure.sweeping import unclassed
    from ..intake import moment_of

    moment = moment_of(at, "--at") or datetime.now(UTC)
    for each in memory.sweep(at=moment, limit=limit, actor=actor, dry_run=dry_run):
        if as_json:
            emit(asdict(each))
            continue
        by = f", record {each.record}" if each.record is not None else ""
        more = "; more is due, run it again" if each.more else ""
        what = f"{each.items} items, {each.turns} turns" + (f", {each.traces} traces" if each.traces else "")
        print(f"{each.retention}: {what} {'due' if dry_run else 'erased'}{by}{more}")
    if not dry_run and memory.store.unclean:
        tell_unclean()
    if left := unclassed(House(memory.store, memory.namespace, memory.settings), memory.ruleset):
        print(f"no retention class covers {', '.join(left)}: what is there stays", file=sys.stderr)


def remake(memory: Memory, folder: Path) -> None:
    """Export a bundle anew in the place of one that still has what was erased."""
    from ..evidence.bundle import export

    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        ours = manifest["namespace"] == memory.namespace
    except (OSError, ValueError, KeyError, TypeError):
        ours = False
    if not ours:
        raise FileNotFoundError(2, f"no bundle of {memory.namespace!r}", str(folder))
    fresh = folder.with_name(folder.name + ".new")
    export(memory, fresh)
    shutil.rmtree(folder)
    fresh.rename(folder)
    print(f"{folder}: exported anew", file=sys.stderr)
