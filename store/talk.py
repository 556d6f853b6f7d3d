"""What the short-term window of a conversation is made of: its last turns, and what was remembered from it.

Read at once, or carried on from an earlier reading by what was written since: turns and item versions are only added.
"""

from __future__ import annotations

import json
from collections.abc import Container
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import bindparam, func, literal_column, select

from ..model import MemoryItem, Turn
from .codec import read_item, read_turn
from .items import is_void
from .reading import Reading
from .statements import Statement
from .tables import ACTS, DECISIONS, ITEMS, NAMESPACES, TURNS, column, unstamp

SESSION = "session_only"
"""Reason of a decision about what holds for its conversation and is not remembered."""

WORDINGS = ("rewrite", "rewrite_refused", "summary", "summary_refused")
"""Kinds of records that tell what an LLM answered, and take nothing away."""

LOOKED_AT = 50  # of the summaries of a namespace the last so many are read where a conversation is read anew

_HEAD = Statement(
    select(NAMESPACES.c.version, NAMESPACES.c.item_rows, NAMESPACES.c.secret).where(
        NAMESPACES.c.name == bindparam("namespace")
    )
)
# Wordings add item versions like any write, or a summary; every other act may take away what had been said.
_LAST_ACT = Statement(
    select(ACTS.c.seq)
    .where(
        ACTS.c.namespace == bindparam("namespace"),
        ACTS.c.kind.not_in([literal_column(f"'{kind}'") for kind in WORDINGS]),
    )
    .order_by(ACTS.c.seq.desc())
    .limit(literal_column("1"))
    .offset(literal_column("0"))  # see log.py
)
_SUMMARIES = Statement(
    select(ACTS.c.seq)
    .where(
        ACTS.c.namespace == bindparam("namespace"), ACTS.c.kind == literal_column("'summary'"),
        ACTS.c.seq > bindparam("after"),
    )
    .order_by(ACTS.c.seq.desc())
    .limit(bindparam("count"))
    .offset(literal_column("0"))
)  # fmt: skip
_TURNS = select(TURNS.c.body, TURNS.c.text).where(
    TURNS.c.namespace == bindparam("namespace"), TURNS.c.conversation == bindparam("conversation")
)
_LAST = Statement(_TURNS.order_by(TURNS.c.ordinal.desc()).limit(bindparam("count")).offset(literal_column("0")))
_SINCE = Statement(_TURNS.where(TURNS.c.ordinal > bindparam("after")).order_by(TURNS.c.ordinal))
_ITEMS = Statement(
    select(ITEMS.c.item_id, ITEMS.c.body)
    .where(ITEMS.c.namespace == bindparam("namespace"), ITEMS.c.principal == bindparam("principal"))
    .where(ITEMS.c.replaced_at.is_(None))
    .order_by(ITEMS.c.row)
)
_ITEMS_SINCE = Statement(
    select(ITEMS.c.item_id, ITEMS.c.body)
    .where(ITEMS.c.namespace == bindparam("namespace"), ITEMS.c.row > bindparam("row"))
    .where(ITEMS.c.principal == bindparam("principal"))
    .order_by(ITEMS.c.row)
)
_PRINCIPALS = Statement(
    select(TURNS.c.principal)
    .where(TURNS.c.namespace == bindparam("namespace"), TURNS.c.conversation == bindparam("conversation"))
    .distinct()
)
_SESSION = Statement(
    select(DECISIONS.c.turn_id, TURNS.c.principal, TURNS.c.said_at, DECISIONS.c.body)
    .where(DECISIONS.c.namespace == bindparam("namespace"), DECISIONS.c.conversation == bindparam("conversation"))
    .where(DECISIONS.c.turn > bindparam("after"), DECISIONS.c.reason == literal_column(f"'{SESSION}'"))
    .where(*(TURNS.c[name] == DECISIONS.c[name] for name in ("namespace", "turn_id")))
    .order_by(DECISIONS.c.turn, DECISIONS.c.ordinal)
)


class Told(NamedTuple):
    """What was remembered from a turn, as its sentence; ``until``: when it ceases to hold, None for not yet."""

    item: str
    version: int
    entity: str
    sentence: str
    turn_id: str
    turn: int
    start: int
    slot: str
    qualifier: str
    until: datetime | None

    @property
    def key(self) -> str:
        """How records name the item version."""
        return f"{self.item}/{self.version}"


class ForNow(NamedTuple):
    """What was said to hold for the conversation alone; ``over``: that it holds no more."""

    turn_id: str
    said_at: datetime
    entity: str
    slot: str
    qualifier: str
    value: str
    over: bool


class Worded(NamedTuple):
    """What an LLM made of sentences, as the log has it: its record, the item versions (item/version) that they tell of,
    in order, and the paragraph."""

    record: int
    rests_on: tuple[str, ...]
    text: str


class Head(NamedTuple):
    """How far a namespace has been written: moved by every commit, and the item versions so far."""

    version: int
    rows: int


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation at one state of its namespace, the last ``kept`` turns of it."""

    head: Head
    acts: int  # number of the last record that may have taken something away
    plain: bool  # nothing is restricted: what comes next can be added without asking
    turns: tuple[Turn, ...] = ()
    told: dict[str, Told] = field(default_factory=dict)
    for_now: tuple[ForNow, ...] = ()
    summaries: int = -1  # number of the last summary by an LLM in the namespace
    worded: Worded | None = None  # the last one of this conversation, while all that it tells of stands
    principals: tuple[str, ...] = ()  # all with whom anything was said in it, those of turns that are not kept too


def head_of(tx: Reading) -> tuple[Head, bytes]:
    """The state of a namespace and its secret, in one query; (0, 0) and none before the first commit."""
    found = _HEAD.first(tx.connection, namespace=tx.namespace)
    return (Head(found[0], found[1]), bytes(found[2])) if found is not None else (Head(0, 0), b"")


def last_act(tx: Reading) -> int:
    """The number of the last record that may have taken something away, -1 for none."""
    found = _LAST_ACT.first(tx.connection, namespace=tx.namespace)
    return -1 if found is None else int(found[0])


def conversations(tx: Reading, count: int, only: str | None = None) -> list[str]:
    """At most so many conversations, the one spoken in last first; ``only``: this one, if there is such."""
    last = func.max(TURNS.c.received_at)
    query = select(TURNS.c.conversation).where(TURNS.c.namespace == tx.namespace)
    if only is not None:
        query = query.where(TURNS.c.conversation == only)
    query = query.group_by(TURNS.c.conversation).order_by(last.desc(), TURNS.c.conversation).limit(count)
    return list(tx.connection.execute(query).scalars())


def read_talk(
    tx: Reading, conversation: str, kept: int, head: Head, acts: int, unseen: Container[str] = frozenset()
) -> Talk:
    """A conversation as it stands, from the tables; what is restricted is not in it, nor are the ``unseen`` turns."""
    asked = {"namespace": tx.namespace, "conversation": conversation}
    hidden = {(each.on, each.target) for each in tx.restrictions}
    if ("conversation", conversation) in hidden:
        return Talk(head, acts, False)
    rows = _LAST.all(tx.connection, **asked, count=kept)
    turns = [read_turn(body, text) for body, text in reversed(rows)]
    shown = tuple(t for t in turns if ("entity", t.entity) not in hidden and t.turn_id not in unseen)
    every = sorted(principal for (principal,) in _PRINCIPALS.all(tx.connection, **asked))
    principals = tuple(each for each in every if ("entity", each) not in hidden)
    told: dict[str, Told] = {}
    for principal in principals:
        found = _ITEMS.all(tx.connection, namespace=tx.namespace, principal=principal)
        _take(told, found, conversation)
    for item in [each for each in told if hidden and _restricted(tx, each)]:
        del told[item]
    later = (
        _for_now(turn_id, said_at, body)
        for turn_id, principal, said_at, body in _SESSION.all(tx.connection, **asked, after=-1)
        if principal in principals and turn_id not in unseen
    )
    talk = Talk(
        head, acts, not hidden, shown, told, tuple(each for each in later if each is not None), principals=principals
    )  # fmt: skip
    return _with_summary(tx, talk, conversation)


def carry_on(tx: Reading, talk: Talk, conversation: str, kept: int, head: Head) -> Talk | None:
    """The same with what was written since; None when that is not enough and it must be read anew."""
    if not talk.plain or not talk.turns or head.version < talk.head.version:
        return None
    asked = {"namespace": tx.namespace, "conversation": conversation, "after": talk.turns[-1].ordinal}
    new = [read_turn(body, text) for body, text in _SINCE.all(tx.connection, **asked)]
    if any(column(turn.entity) not in talk.principals for turn in new):
        return None
    told, for_now = talk.told, talk.for_now
    if head.rows > talk.head.rows:
        told = dict(told)
        for principal in talk.principals:
            since = {"namespace": tx.namespace, "principal": principal, "row": talk.head.rows}
            _take(told, _ITEMS_SINCE.all(tx.connection, **since), conversation)
    if new:
        later = (_for_now(turn, at, body) for turn, _, at, body in _SESSION.all(tx.connection, **asked))
        for_now = (*for_now, *(each for each in later if each is not None))
    more = replace(talk, head=head, turns=(*talk.turns, *new)[-kept:], told=told, for_now=for_now)
    return _with_summary(tx, more, conversation)


def _with_summary(tx: Reading, talk: Talk, conversation: str) -> Talk:
    """With the last summary of the conversation that an LLM worded, unless anything that it tells of has changed."""
    rows = _SUMMARIES.all(tx.connection, namespace=tx.namespace, after=talk.summaries, count=LOOKED_AT)
    worded = talk.worded
    for row in tx.log.records_of(seq for (seq,) in rows) if rows else ():
        content = json.loads(row.record)["content"]
        if content["conversation"] == conversation:
            answer = row.private.get("answer")  # none once it was erased
            worded = Worded(row.seq, tuple(content["items"]), json.loads(answer.value)) if answer is not None else None
    if worded is not None and not {each.key for each in talk.told.values()}.issuperset(worded.rests_on):
        worded = None
    return replace(talk, summaries=rows[0][0] if rows else talk.summaries, worded=worded)


def _take(told: dict[str, Told], found: list[tuple[str, str]], conversation: str) -> None:
    """The newest versions of what this conversation gave; what is held for a person or never was true gives nothing."""
    for item_id, body in found:
        told.pop(item_id, None)
        item = read_item(body)
        if item.conversation == conversation and item.status != "held" and not is_void(item):
            told[item_id] = _told(item)


def _told(item: MemoryItem) -> Told:
    return Told(
        item.id, item.version, item.entity, item.sentence, item.turn_id, item.turn, item.start, item.slot,
        item.qualifier, item.valid_to,
    )  # fmt: skip


def _restricted(tx: Reading, item_id: str) -> bool:
    item = tx.item(item_id)
    return item is None or any(each.covers(item) for each in tx.restrictions)


def _for_now(turn_id: str, said_at: str, body: str) -> ForNow | None:
    """None once the value has been erased."""
    fields = json.loads(body)
    if not fields.get("canonical") or not fields.get("slot"):
        return None
    over = fields.get("features", {}).get("act") in {"retract", "end"}  # a denial ("use no emojis") has its own words
    return ForNow(
        turn_id, unstamp(said_at), fields.get("entity") or "", fields["slot"], fields.get("qualifier", ""),
        fields["canonical"], over,
    )  # fmt: skip
