"""What an auditor asks of a whole log: decisions of a rule, holds, what people changed, LLM wordings."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Any

from ..audit.record import Private, Record, read_record
from ..audit.story import REWRITES, Story, cue_rules
from ..intake import IntakeError, moment_of
from ..model import MemoryItem, dump, utc
from ..reader import NotFoundError, Reader
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


def rules_of(told: Mapping[str, Any]) -> list[str]:
    """The rules that a decision names: what captured, what decided, whose cues counted."""
    return [*filter(None, (told["rule"], told["capture"])), *cue_rules(told["cues"])]


def is_digest(ground: str) -> bool:
    """Whether this is the digest of a rule set, or the beginning of one."""
    return re.fullmatch("[0-9a-f]{8,64}", ground) is not None


def check_ground(memory: Reader, ground: str) -> None:
    """IntakeError when no rule set of the store is or has this: a mistyped name must not look like an answer."""
    name = ground.partition("@")[0]
    with memory.store.inspecting(memory.namespace) as tx:
        digests = tx.rulesets_kept()
        if is_digest(ground):
            if not any(each.startswith(ground) for each in digests):
                raise IntakeError(f"no rule set {ground!r} is kept here. `recordari rules status` names those in force")
            return
        files = {file for digest in digests for file in tx.ruleset(digest) or ()}
    if not name.startswith("law.") and not any(same_rule(name, file) for file in files):
        raise IntakeError(f"no rule {name!r} in any rule set that is kept here. `recordari explain` names rules")


def _bound(given: str | None, name: str) -> str | None:
    """A day as it stands, a time in UTC as records have it."""
    if given is None:
        return None
    try:
        return date.fromisoformat(given).isoformat()
    except ValueError:
        moment = moment_of(given, name)
        return None if moment is None else utc(moment)


def decisions(
    memory: Reader,
    *,
    rule: str | None = None,
    kind: str | None = None,
    reason: str | None = None,
    slot: str | None = None,
    ruleset: str | None = None,
    since: str | None = None,
    until: str | None = None,
) -> list[dict[str, Any]]:
    """Decisions, refusals included, oldest first. ``rule`` is an id, or ``id@3``: of version 3 and later ones; it may
    have captured, decided or given a cue. ``ruleset`` is the beginning of a digest; ``since`` and ``until`` are days in
    UTC or times with an offset, both inclusive: IntakeError for what is none."""
    name, _, version = (rule or "").partition("@")
    first = int(version) if version.isdigit() else None
    since, until = _bound(since, "since"), _bound(until, "until")
    with memory.store.reading(memory.namespace) as tx:
        return [
            told
            for record, told in _told(tx, _story(tx), lambda text: name in text)
            if record.decides
            and (rule is None or any(same_rule(each, name, first) for each in rules_of(told)))
            and (kind is None or told["kind"] == kind)
            and (reason is None or told["reason"] == reason)
            and (slot is None or told["slot"] == slot)
            and (ruleset is None or told["ruleset"].startswith(ruleset))
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
    """Without an item: what people did. With one: every decision that wrote it or changed it, whoever spoke, and its
    erasure. Oldest first; ``who`` is the person or the speaker, ``signed`` the actor whose signature is there."""
    if item_id is None:
        return _changes(memory, lambda text: '"source":"person"' in text, None)
    try:
        item = memory.item(item_id).id
    except NotFoundError:
        item = item_id  # erased, perhaps: its id stays in the log
        if found := _changes(memory, lambda text: item in text, item):
            return found
        raise
    return _changes(memory, lambda text: item in text, item)


def _changes(memory: Reader, wanted: Callable[[str], bool], item: str | None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    with memory.store.reading(memory.namespace) as tx:
        for record, told in _told(tx, _story(tx), wanted):
            if not record.decides:
                if item is not None and record.kind == "erase":
                    content = json.loads(told["content"])
                    if item in (each[1] for each in content.get("versions", ())):
                        found.append({**told, "item": item, "reason": content["ground"], "by_person": True})
                continue
            if item is None and not record.by_person:
                continue
            if item is not None and item not in {told["item"], told["target"], *told["written"]}:
                continue
            if item is not None and told["action"] == "IGNORE":
                continue
            turn = tx.turn(told["turn"])
            old = tx.item(told["target"]) if told["target"] is not None else None
            found.append(
                {
                    **told, "who": told["author"] or (turn.speaker if turn is not None else None),
                    "earlier_value": old.canonical if old is not None else None,
                }
            )  # fmt: skip
    return found


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
            refs = [ref for ref in rules_of(told) if same_rule(ref, name)]
            ruled = any(not version or ref.partition("@")[2] == version for ref in refs)
            if ruled or (is_digest(ground) and told["ruleset"].startswith(ground)):
                for item in {told["item"], *told["written"]} - {None}:
                    grounds.setdefault(str(item), []).append(told)
        found = ((tx.item(item), told) for item, told in grounds.items())
        return [(item, told) for item, told in found if item is not None]
