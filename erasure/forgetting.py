"""Forgetting: what is due is archived, and deleted after its grace; pins, holds and restrictions keep it.

What ends is handed to the pipeline as a turn that nobody said, so that each end is a decision like any other (record
``expire``), explained, verified and replayed. What is deleted is erased, with a record that names the ground.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from ..model import Ending, MemoryItem, Receipt, Turn, utc
from ..rules.ruleset import Ruleset
from ..store.erasing import Plan, gather
from ..store.forgetting import with_words_of
from ..store.reading import Reading
from ..trust.actors import acting
from .due import Due, Exempt, Kept, Outlook, outlook
from .erasing import ErasureError, Grounds, House, carry_out
from .sweeping import class_of

if TYPE_CHECKING:
    from ..store.writing import Writing
    from ..trust.actors import Acting

CONVERSATION = "@forget"
"""The conversation that forgettings are turns of."""
TEXT = "forget"
Turns = Callable[["Writing"], Iterator[Turn]]
Take = Callable[[Turns, "Acting | None"], object]
"""Decides turns in one transaction, each made when those before it are written; ``check_ended`` before its commit."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was archived and deleted (``records``: of the deletions), or would be; what stays though it was due.

    ``more``: more is due than was allowed; the same again goes on.
    """

    archived: tuple[Due, ...]
    deleted: tuple[Due, ...]
    exempt: tuple[Exempt, ...]
    more: bool
    records: tuple[int, ...] = field(default=())


def forget(
    house: House, ruleset: Ruleset, take: Take, *, at: datetime, limit: int, actor: str | None, dry_run: bool
) -> Forgotten:  # fmt: skip
    """Archive and delete what is due ``at`` a time, at most ``limit`` items; ``dry_run`` only says what.

    Again at the same time it goes on where it stopped, and at last does nothing. ErasureError for a time that has not
    come yet.
    """
    if at > datetime.now(UTC):
        raise ErasureError(f"{utc(at)} has not come yet: a forgetting ends what is over, not what will be")
    with house.store.reading(house.namespace) as tx:
        found = outlook(tx, ruleset, at, limit)
    if dry_run:
        return Forgotten(tuple(found.archived), tuple(found.deleted), tuple(found.exempt), found.more)
    act = acting(house.store, house.namespace, house.settings, actor) if actor is not None else None
    archived: list[Due] = []
    if found.archived:
        take(partial(_turns, found=found, actor=actor, done=archived), act)
    deleted: list[Due] = []
    records: list[int] = []
    for name in sorted({class_of(ruleset, due.item.slot) or "" for due in found.deleted}):
        some = [due for due in found.deleted if class_of(ruleset, due.item.slot) == name]
        why = Grounds(f"forget:{name}", "forget", actor, {"at": utc(at)})
        record = carry_out(house, partial(_plan, due=some, done=deleted), why)
        records += [record] if record is not None else []
    if records:
        house.store.scrub()
    return Forgotten(tuple(archived), tuple(deleted), tuple(found.exempt), found.more, tuple(records))


def check_ended(receipts: Sequence[Receipt]) -> None:
    """ErasureError when policy does not end what a forgetting names: it would be named again for ever."""
    for decision in (each for receipt in receipts for each in receipt.decisions):
        if decision.action != "RETRACT":
            told = f"{decision.rule} answers with {decision.action} what a forgetting ends, and nothing was done"
            raise ErasureError(f"{told}. A row for act fade must give RETRACT, expired")


def _turns(tx: Writing, found: Outlook, actor: str | None, done: list[Due]) -> Iterator[Turn]:
    """A turn for each principal whose items end; what somebody has changed or kept since the look is left out."""
    kept = Kept(tx)
    by_principal = groupby(sorted(found.archived, key=_principal), _principal)
    for principal, some in by_principal:
        endings: list[Ending] = []
        for due in some:
            if _as_seen(tx.item(due.item.id), due, kept):
                endings.append(_ending(tx, due))
                done.append(due)
        if endings:
            ordinal = tx.next_ordinal(CONVERSATION)
            yield Turn(
                turn_id=f"{CONVERSATION}:{ordinal}", text=TEXT, speaker="tool", said_at=found.at, received_at=found.at,
                entity=principal, author=actor, conversation=CONVERSATION, ordinal=ordinal, lang="en",
                endings=tuple(endings),
            )  # fmt: skip


def _as_seen(now: MemoryItem | None, due: Due, kept: Kept) -> bool:
    """Whether an item is still as it was looked at, and nothing has come to keep it."""
    return now is not None and now.version == due.item.version and kept.by(now) is None


def _ending(tx: Reading, due: Due) -> Ending:
    item = due.item
    assert due.why != "grace"
    return Ending(
        turn_id=item.turn_id, start=item.start, end=item.end, slot=item.slot,
        nth=with_words_of(tx, item, due.principal).index(item.id), why=due.why, rule=due.rule, at=due.at,
    )  # fmt: skip


def _principal(due: Due) -> str:
    return due.principal


def _plan(tx: Reading, due: Sequence[Due], done: list[Due]) -> Plan:
    """What holds the items, as far as nothing keeps them now and nobody has changed them since the look; the words stay
    as long as their own class says."""
    kept = Kept(tx)
    free = [each for each in due if _as_seen(tx.item(each.item.id), each, kept)]
    done += free
    return gather(tx, [each.item.id for each in free], texts=False)
