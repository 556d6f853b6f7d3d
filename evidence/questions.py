"""What an auditor asks of a whole log: decisions of a rule, holds, what people changed, LLM wordings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..audit.record import Private, Record, read_record
from ..audit.story import REWRITES, Story
from ..model import MemoryItem, dump
from ..reader import Reader
from ..store.reading import Reading


def _told(
    tx: Reading, story: Story, wanted: Callable[[str], bool] = lambda text: True
) -> Iterator[tuple[Record, dict[str, Any]]]:
    """The records in readable form whose text is wanted; lists of actors are always read."""
    for row in tx.log.read(tx.namespace):
        if not (wanted(row.record) or '"kind":"actors"' in row.record):
            continue
        private = {name: Private(each.value, each.salt) for name, each in row.private.items()}
        record = read_record(row.record)
        yield record, story.read(record, private)


def _story(tx: Reading) -> Story:
    def turn_of(turn_id: str) -> Mapping[str, Any]:
        turn = tx.turn(turn_id)
        return {} if turn is None else dump(turn)

    return Story(turn_of)


def same_rule(ref: str | None, name: str, since: int | None = None) -> bool:
    """Whether ``id@version`` is this rule or a part of it, of this version or a later one."""
    if ref is None:
        return False
    given, _, version = ref.partition("@")
    if given != name and not given.startswith(name + "."):
        return False
    return since is None or (version.isdigit() and int(version) >= since)


def decisions(
    memory: Reader,
    *,
    rule: str | None = None,
    kind: str | None = None,
    reason: str | None = None,
    since: str | None = None,
    until: str | None = None,
) -> list[dict[str, Any]]:
    """Decisions, refusals included, oldest first. ``rule`` is an id, or ``id@3``: of version 3 and later ones;
    ``since`` and ``until`` are days or times in UTC as records have them, both inclusive."""
    name, _, version = (rule or "").partition("@")
    first = int(version) if version.isdigit() else None
    with memory.store.reading(memory.namespace) as tx:
        return [
            told
            for record, told in _told(tx, _story(tx), lambda text: name in text)
            if record.decides
            and (rule is None or any(same_rule(told[by], name, first) for by in ("rule", "capture")))
            and (kind is None or told["kind"] == kind)
            and (reason is None or told["reason"] == reason)
            and (since is None or told["at"] >= since)
            and (until is None or told["at"][: len(until)] <= until)
        ]


def holds(memory: Reader) -> list[dict[str, Any]]:
    """Everything that ever waited for a person, and who decided it how; what still waits has outcome ``waiting``."""
    with memory.store.reading(memory.namespace) as tx:
        story = _story(tx)
        for _ in _told(tx, story):
            pass
        return sorted(story.holds.values(), key=lambda each: int(each["seq"]))


def changes(memory: Reader, item_id: str | None = None) -> list[dict[str, Any]]:
    """What people did, oldest first: to one item, or to all. ``signed`` names the actor whose signature is there."""
    item = memory.item(item_id).id if item_id is not None else None
    with memory.store.reading(memory.namespace) as tx:
        return [
            told
            for record, told in _told(tx, _story(tx), lambda text: '"source":"person"' in text)
            if record.by_person and (item is None or item in {told["item"], told["target"], *told["written"]})
        ]


def wordings(memory: Reader) -> list[dict[str, Any]]:
    """Every rewriting that an LLM was asked for, with what was refused and why."""
    with memory.store.reading(memory.namespace) as tx:
        story = _story(tx)
        found: list[dict[str, Any]] = []
        for row in tx.log.records_of(tx.log.acts(*REWRITES)):
            private = {name: Private(each.value, each.salt) for name, each in row.private.items()}
            found.append(story.read(read_record(row.record), private))
        return found


def resting_on(memory: Reader, ground: str) -> list[tuple[MemoryItem, list[dict[str, Any]]]]:
    """Items as they stand now whose value a rule (``id`` or ``id@version``: exactly that) or a rule set (the beginning
    of its digest) decided, each with those decisions: what to look at when a rule is taken back."""
    name, _, version = ground.partition("@")
    grounds: dict[str, list[dict[str, Any]]] = {}
    with memory.store.reading(memory.namespace) as tx:
        for record, told in _told(tx, _story(tx), lambda text: name in text):
            if not record.decides:
                continue
            refs = [ref for ref in (told["rule"], told["capture"]) if ref is not None and same_rule(ref, name)]
            ruled = any(not version or ref.partition("@")[2] == version for ref in refs)
            if ruled or (len(ground) >= 8 and told["ruleset"].startswith(ground)):
                for item in {told["item"], *told["written"]} - {None}:
                    grounds.setdefault(str(item), []).append(told)
        found = ((tx.item(item), told) for item, told in grounds.items())
        return [(item, told) for item, told in found if item is not None]
