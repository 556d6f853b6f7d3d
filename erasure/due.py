"""What is due to be forgotten at a given time, by which rule, and what keeps an item from it; nothing is changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from fractions import Fraction
from typing import Literal

from ..model import MemoryItem
from ..rules.forgetting_file import ForgettingFile, Lasts, budget_of, grace_of, lasts_of
from ..rules.ruleset import Ruleset
from ..store import forgetting as stored
from ..store.erasing import slots_stored
from ..store.forgetting import Standing
from ..store.items import status_at
from ..store.reading import Reading
from ..store.standing import Mark, in_force
from ..values import TimeValue

Why = Literal["ended", "ttl", "session", "budget", "grace"]
_WAYS: dict[Mark, str] = {"pin": "pinned", "hold_legal": "on legal hold", "restrict": "restricted"}
_PAGE = 400  # items looked at together


@dataclass(frozen=True, slots=True)
class Due:
    """An item that is archived, or (``grace``) deleted: why, by which rule, and as of when."""

    item: MemoryItem
    why: Why
    rule: str
    at: datetime
    principal: str = ""


@dataclass(frozen=True, slots=True)
class Exempt:
    """An item that would be due and stays, and what keeps it."""

    due: Due
    because: str


@dataclass(slots=True)
class Outlook:
    """What is due at a time: to be archived, to be deleted, and what stays though it would be.

    ``more``: more is due than could be taken.
    """

    at: datetime
    archived: list[Due] = field(default_factory=list)
    deleted: list[Due] = field(default_factory=list)
    exempt: list[Exempt] = field(default_factory=list)
    more: bool = False


class Kept:
    """What keeps items from being forgotten: pins, legal holds, restrictions."""

    def __init__(self, tx: Reading) -> None:
        self._marks = [(way, mark) for kind, way in _WAYS.items() for mark in in_force(tx.log, kind)]

    def by(self, item: MemoryItem) -> str | None:
        """What keeps an item; None when nothing does."""
        said = (f"{way} by record {mark.seq} ({mark.ground})" for way, mark in self._marks if mark.covers(item))
        return next(said, None)


def outlook(tx: Reading, ruleset: Ruleset, at: datetime, limit: int) -> Outlook:
    """At most ``limit`` items that are due: first what has ended, then what is over a budget, last what is deleted.

    The order makes the end the same however it is divided: a budget counts what is left when all has ended that ends.
    """
    look = _Look(tx, ruleset, at, limit)
    for due in (look.ended(), look.over_budget(), look.past_grace()):
        if not look.found.more:
            look.take(due)
    return look.found


class _Look:
    """One look at one namespace."""

    def __init__(self, tx: Reading, ruleset: Ruleset, at: datetime, limit: int) -> None:
        self._tx, self._ruleset, self._at, self._limit = tx, ruleset, at, limit
        self._files = ruleset.of(ForgettingFile)
        self._kept = Kept(tx)
        self._slots = slots_stored(tx)
        self._told: set[str] = set()
        self.found = Outlook(at)

    def take(self, due: Iterable[Due]) -> None:
        """Note what is due until there is no more room for it."""
        found = self.found
        for each in due:
            because = self._kept.by(each.item)
            if because is not None:
                if each.item.id not in self._told:  # what is due for two reasons is told once
                    self._told.add(each.item.id)
                    found.exempt.append(Exempt(each, because))
            elif len(found.archived) + len(found.deleted) >= self._limit:
                found.more = True
                return
            else:
                (found.deleted if each.why == "grace" else found.archived).append(each)

    # ------------------------------------------------------------ what has ended
    def ended(self) -> Iterator[Due]:
        """What its own end, the time to live of its slot, or the end of its conversation has ended."""
        lasting = {slot: lasts for slot in self._slots if (lasts := self._lasts(slot)) is not None}
        before = {slot: self._at - lasts.span for slot, lasts in lasting.items()}
        fading = [slot for slot in self._slots if any(rule.slot == slot for rule in self._ruleset.inductions)]
        for page in stored.may_be_due(self._tx, self._at, before, fading, room=_PAGE):
            used = stored.last_used(self._tx, (each.item.id for each in page if each.item.version > 1))
            talks = {each.item.conversation for each in page if _session(lasting.get(each.item.slot))}
            heard = stored.last_heard(self._tx, talks)
            for each in page:
                due = self._own_end(each) or self._spent(each, lasting.get(each.item.slot), used, heard)
                if due is not None:
                    yield due

    def _lasts(self, slot: str) -> Lasts | None:
        file = self._ruleset.slots.get(slot.removeprefix("reported."))
        return lasts_of(file, self._files) if file is not None else None

    def _own_end(self, each: Standing) -> Due | None:
        item = each.item
        ends = [end for end in (item.valid_to, item.fades_at) if end is not None and end <= self._at]
        if not ends or stored.followed(self._tx, item):
            return None
        return Due(item, "ended", item.rule, min(ends), each.principal)

    def _spent(
        self, each: Standing, lasts: Lasts | None, used: dict[str, datetime], heard: dict[str, datetime]
    ) -> Due | None:
        item = each.item
        if lasts is None or status_at(item, self._at) != "current":
            return None
        since = max(_began(item), used.get(item.id, _began(item)), _over(item))
        if lasts.session:
            since = max(since, heard.get(item.conversation, since))
        if since + lasts.span > self._at:
            return None
        return Due(item, "session" if lasts.session else "ttl", lasts.rule, since + lasts.span, each.principal)

    # ------------------------------------------------------------ what is over a budget
    def over_budget(self) -> Iterator[Due]:
        """What an entity has more than its budget, the least worth keeping first; what must stay takes up room."""
        file = budget_of(self._files)
        if file is None or file.budget is None:
            return
        most = file.budget
        gone = {due.item.id for due in self.found.archived}
        for entity in stored.full(self._tx, self._at, most.items, most.bytes):
            standing = [
                each
                for each in stored.standing_of(self._tx, self._at, entity)
                if each.item.id not in gone and status_at(each.item, self._at) in {"current", "scheduled"}
            ]
            number, size = len(standing), sum(each.size for each in standing)
            for each in self._by_worth(standing, file):
                if number <= most.items and size <= most.bytes:
                    break
                yield Due(each.item, "budget", file.ref, self._at, each.principal)
                if self._kept.by(each.item) is None:
                    number, size = number - 1, size - each.size

    def _by_worth(self, standing: Sequence[Standing], file: ForgettingFile) -> list[Standing]:
        """What may go, the least worth keeping first; of equal worth the oldest first. What is to come stays."""
        used = stored.last_used(self._tx, (each.item.id for each in standing if each.item.version > 1))

        def worth(each: Standing) -> tuple[Fraction, int]:
            item = each.item
            slot = self._ruleset.slots.get(item.slot.removeprefix("reported."))
            importance = item.importance if item.importance is not None else slot.importance if slot else 0.5
            last = max(item.said_at, used.get(item.id, item.said_at))
            value = file.keep.worth(Fraction(str(importance)), self._at - last, self._at - item.said_at)
            return value, each.number

        return sorted((each for each in standing if _began(each.item) < self._at), key=worth)

    # ------------------------------------------------------------ what is deleted
    def past_grace(self) -> Iterator[Due]:
        """What was archived so long ago that the grace of its retention class is over."""
        graces = grace_of(self._files)
        spans: dict[str, tuple[timedelta, str]] = {}
        for slot in self._slots:
            file = self._ruleset.slots.get(slot.removeprefix("reported."))
            if file is not None and file.retention in graces:
                spans[slot] = graces[file.retention]
        before = {slot: self._at - span for slot, (span, _) in spans.items()}
        for item in stored.archived(self._tx, before):
            yield Due(item, "grace", spans[item.slot][1], self._at)


def _session(lasts: Lasts | None) -> bool:
    return lasts is not None and lasts.session


def _began(item: MemoryItem) -> datetime:
    return item.valid_from or item.said_at


def _over(item: MemoryItem) -> datetime:
    """When a time that was told is over everywhere on earth, if it is the value of an item; else when it began."""
    if not isinstance(item.value, TimeValue):
        return _began(item)
    try:
        day = date.fromisoformat((item.value.end or item.value.start or "")[:10])
    except ValueError:  # a duration, a recurrence, what is counted from an event
        return _began(item)
    return datetime.combine(day, time(), UTC) + timedelta(days=2)
