"""Erasing: which rows hold what is to go, and their destruction inside the writer's transaction.

A turn whose text goes loses everything that was seen in it, except items that stay; an item that goes takes with it
what was decided about it. Records, decisions and turns stay as bare facts, so that every proof and reference holds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any

from sqlalchemy import ColumnElement, Table, and_, bindparam, case, delete, func, insert, select, text, update

from ..model import MemoryItem
from . import relations, search, traces, transcript, vectors
from .codec import read_item
from .reading import Reading
from .saying import suggesting
from .scrubbing import SCRUB
from .standing import standing
from .statements import Statement
from .tables import ASKING, DECISIONS, ITEMS, OUTBOX, PRIVATE, PROPOSALS, TURNS, WISHES, stamp, storable
from .talk import WORDINGS
from .writing import Writing

_PERSONAL = ("canonical", "entity", "hints", "qualifier", "question")
_ASKED = ("hints", "question")  # of a decision about something that stays: may quote what goes
_PAGE = 400  # ids in one statement
_DECISION = (
    DECISIONS.c.turn_id, DECISIONS.c.ordinal, DECISIONS.c.seq, DECISIONS.c.item, DECISIONS.c.target, DECISIONS.c.body
)  # fmt: skip
_VERSIONS = Statement(
    select(ITEMS.c.entity, ITEMS.c.ordinal, ITEMS.c.body).where(
        ITEMS.c.namespace == bindparam("namespace"), ITEMS.c.item_id == bindparam("item")
    )
)


@dataclass(frozen=True, slots=True)
class Version:
    """An item version by its place."""

    row: int
    item: str
    number: int

    @property
    def key(self) -> str:
        """How records name it."""
        return f"{self.item}/{self.number}"


@dataclass(slots=True)
class Plan:
    """Everything that one erasure destroys, by id; never a value."""

    versions: list[Version] = field(default_factory=list)
    turns: list[str] = field(default_factory=list)  # their text goes
    names: list[str] = field(default_factory=list)  # turns whose entity and author go as well
    fields: dict[int, list[str]] = field(default_factory=dict)  # record → fields whose value and salt go
    decisions: dict[tuple[str, int], frozenset[str]] = field(default_factory=dict)  # what their rows lose
    suggestions: list[tuple[str, int]] = field(default_factory=list)
    work: int = 0  # pieces of work in the outbox
    keeps: dict[str, Any] = field(default_factory=dict)  # versions that stay, vouched for by a value that goes
    vouchers: list[tuple[int, str]] = field(default_factory=list)  # those values: record and field
    wishes: list[int] = field(default_factory=list)  # records of wishes that go
    traces: list[int] = field(default_factory=list)  # of questions that name or quote any of it
    entities: dict[str, list[int]] = field(default_factory=dict)  # entity → numbers of its items in the search index

    @property
    def empty(self) -> bool:
        """True when nothing is left to erase."""
        found = (self.versions, self.turns, self.names, self.fields, self.decisions, self.suggestions, self.traces)
        return not any(found)

    @property
    def items(self) -> list[str]:
        """The items that go."""
        return list(dict.fromkeys(version.item for version in self.versions))

    def counts(self) -> dict[str, int]:
        """How much goes, for people."""
        return {
            "items": len(self.items), "item versions": len(self.versions), "turn texts": len(self.turns),
            "personal values": sum(map(len, self.fields.values())), "decisions": len(self.decisions),
            "suggestions": len(self.suggestions), "pieces of work": self.work, "traces": len(self.traces),
        }  # fmt: skip


# ---------------------------------------------------------------- what is meant
def items_where(
    tx: Reading, *, entity: str | None = None, slot: str | None = None, qualifier: str | None = None,
    principal: str | None = None,
) -> set[str]:  # fmt: skip
    """Items any version of which is at this place, or came from conversations with a principal."""
    where = [ITEMS.c.namespace == tx.namespace]
    for name, wanted in (("entity", entity), ("slot", slot), ("qualifier", qualifier), ("principal", principal)):
        if wanted is not None:
            where.append(ITEMS.c[name] == wanted)
    if principal is not None:  # the same for all versions of an item: the index of the newest serves
        where.append(ITEMS.c.replaced_at.is_(None))
    return set(tx.connection.execute(select(ITEMS.c.item_id).where(*where)).scalars())


def turns_where(tx: Reading, *, principal: str | None = None, conversation: str | None = None) -> set[str]:
    """Turns with a principal, or of a conversation."""
    where = [TURNS.c.namespace == tx.namespace]
    if principal is not None:
        where.append(TURNS.c.principal == principal)
    if conversation is not None:
        where.append(TURNS.c.conversation == conversation)
    return set(tx.connection.execute(select(TURNS.c.turn_id).where(*where)).scalars())


def items_of(tx: Reading, turns: Iterable[str]) -> set[str]:
    """Items whose first version was said in one of these turns."""
    found: set[str] = set()
    for some in _pages(turns):
        query = select(ITEMS.c.item_id).where(_mine(ITEMS, tx), ITEMS.c.version == 1, ITEMS.c.written_by.in_(some))
        found.update(tx.connection.execute(query).scalars())
    return found


def due_items(
    tx: Reading, slots: Iterable[str], before: datetime, limit: int, held: Callable[[MemoryItem], bool]
) -> list[str]:  # fmt: skip
    """Items of some slots that were last written before a time and are not ``held``, the oldest first.

    That one has ended by itself is no news of it: it counts from the version before.
    """
    earlier = ITEMS.alias("earlier")
    written = case((ITEMS.c.status == "expired", func.coalesce(earlier.c.written_at, ITEMS.c.written_at)),
                   else_=ITEMS.c.written_at)  # fmt: skip
    query = (
        select(ITEMS.c.body)
        .join(
            earlier,
            and_(
                earlier.c.namespace == ITEMS.c.namespace, earlier.c.item_id == ITEMS.c.item_id,
                earlier.c.version == ITEMS.c.version - 1,
            ),
            isouter=True,
        )
        .where(_mine(ITEMS, tx), ITEMS.c.replaced_at.is_(None), ITEMS.c.slot.in_(list(slots)))
        .where(written < stamp(before))
        .order_by(written, ITEMS.c.row)
    )  # fmt: skip
    with tx.connection.execute(query.execution_options(yield_per=1000)) as rows:
        free = (item.id for item in map(read_item, rows.scalars()) if not held(item))
        return list(islice(free, limit))


def due_turns(tx: Reading, before: datetime, limit: int, held: set[str]) -> list[str]:
    """Turns that were received before a time, still have their text and are not ``held``, the oldest first."""
    query = (
        select(TURNS.c.turn_id)
        .where(_mine(TURNS, tx), TURNS.c.text.is_not(None), TURNS.c.received_at < stamp(before))
        .order_by(TURNS.c.received_at, TURNS.c.turn_id)
    )
    with tx.connection.execute(query.execution_options(yield_per=1000)) as rows:
        return list(islice((turn for turn in rows.scalars() if turn not in held), limit))


def slots_stored(tx: Reading) -> list[str]:
    """Slots that any item is in."""
    query = select(ITEMS.c.slot).where(_mine(ITEMS, tx), ITEMS.c.replaced_at.is_(None)).distinct()
    return sorted(tx.connection.execute(query).scalars())


def holders(tx: Reading, turns: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Turn → its principal and conversation: what a legal hold may be on."""
    found: dict[str, tuple[str, str]] = {}
    for some in _pages(turns):
        query = select(TURNS.c.turn_id, TURNS.c.principal, TURNS.c.conversation)
        for turn, principal, talk in tx.connection.execute(query.where(_mine(TURNS, tx), TURNS.c.turn_id.in_(some))):
            found[turn] = (principal, talk)
    return found


# ---------------------------------------------------------------- what holds it
def gather(
    tx: Reading, items: Iterable[str], turns: Iterable[str] = (), *, names: Iterable[str] = (), texts: bool = True,
    entity: str | None = None,
) -> Plan:  # fmt: skip
    """All rows that hold these items and the words of these turns.

    ``texts``: the turns in which an item was said, changed or named lose their text as well. ``names`` are turns that
    lose entity and author too; ``entity`` is the name that goes.
    """
    return _Gathering(tx, set(items), set(turns), set(names), texts, entity).plan


class _Gathering:
    """Finds the rows of one plan."""

    def __init__(
        self, tx: Reading, items: set[str], turns: set[str], names: set[str], texts: bool, entity: str | None
    ) -> None:
        self.tx = tx
        self.plan = Plan()
        self._gone = items
        self._said: set[str] = set()  # values as they were said
        self._fields: dict[int, set[str]] = {}
        self._strip: dict[tuple[str, int], set[str]] = {}
        sources = self._versions()
        touching = self._touching()
        if texts:
            turns |= sources | {turn for turn, *_ in touching}
            turns |= suggesting(tx, turns)
        self._decisions(touching, turns)
        self._written()
        self._turns(turns, names)
        self._wordings()
        self._names(entity)
        self._finish()
        self.plan.traces = traces.naming(
            tx.connection, tx.namespace, items=items, turns=turns, words=self._said, entity=entity
        )

    def _rows(self, query: Any, column: ColumnElement[Any], ids: Iterable[Any]) -> Iterator[Any]:
        for some in _pages(ids):
            yield from self.tx.connection.execute(query.where(column.in_(some)))

    def _versions(self) -> set[str]:
        """The versions of the items; the turns in which they were said or asked for."""
        sources: set[str] = set()
        query = select(ITEMS.c.row, ITEMS.c.item_id, ITEMS.c.version, ITEMS.c.ordinal, ITEMS.c.entity, ITEMS.c.body)
        for row, item, number, ordinal, entity, body in self._rows(
            query.where(_mine(ITEMS, self.tx)), ITEMS.c.item_id, self._gone
        ):
            self.plan.versions.append(Version(row, item, number))
            self.plan.entities.setdefault(entity, []).append(ordinal)
            fields = json.loads(body)
            sources.add(fields["turn_id"])
            self._said.update((fields.get("surface", ""), read_item(body).canonical))
            sources.update(each["turn_id"] for each in fields.get("evidence") or ())
        self.plan.versions.sort(key=lambda version: version.row)
        return sources

    def _touching(self) -> list[Any]:
        """Decisions that wrote, changed, confirmed or named one of the items."""
        found: dict[tuple[str, int], Any] = {}
        query = select(*_DECISION).where(_mine(DECISIONS, self.tx))
        for named in (DECISIONS.c.item, DECISIONS.c.target):
            for row in self._rows(query, named, self._gone):
                found[(row.turn_id, row.ordinal)] = row
        wrote = query.join(
            ITEMS,
            and_(
                ITEMS.c.namespace == DECISIONS.c.namespace, ITEMS.c.written_by == DECISIONS.c.turn_id,
                ITEMS.c.decision == DECISIONS.c.ordinal,
            ),
        )  # fmt: skip
        for row in self._rows(wrote, ITEMS.c.item_id, self._gone):
            found[(row.turn_id, row.ordinal)] = row
        return list(found.values())

    def _decisions(self, touching: list[Any], turns: set[str]) -> None:
        """What the decisions lose: those about something that goes, and in the turns all but those of what stays."""
        query = select(*_DECISION).where(_mine(DECISIONS, self.tx))
        for row in self._rows(query, DECISIONS.c.turn_id, turns):
            stays = row.item is not None and row.item not in self._gone
            self._lose(row, _ASKED if stays else _PERSONAL)
        for row in touching:
            about = row.item if row.item is not None else row.target
            self._lose(row, _PERSONAL if about in self._gone else _ASKED)
        if self._gone:  # what was asked because of one of the items may quote it
            for row in self.tx.connection.execute(query.where(text(ASKING))):
                if not self._gone.isdisjoint(json.loads(row.body).get("rested_on", ())):
                    self._lose(row, _ASKED)

    def _lose(self, row: Any, names: Sequence[str]) -> None:
        has = set(json.loads(row.body)) & set(names)
        if has:
            self._strip.setdefault((row.turn_id, row.ordinal), set()).update(has)
        if row.seq is not None:
            self._fields.setdefault(row.seq, set()).update(names)

    def _written(self) -> None:
        """Values that vouch for versions of the items, and for others that stay and must be vouched for anew."""
        keys = {version.key for version in self.plan.versions}
        query = (
            select(DECISIONS.c.turn_id, DECISIONS.c.ordinal, DECISIONS.c.seq)
            .join(
                ITEMS,
                and_(
                    ITEMS.c.namespace == DECISIONS.c.namespace, ITEMS.c.written_by == DECISIONS.c.turn_id,
                    ITEMS.c.decision == DECISIONS.c.ordinal,
                ),
            )
            .where(_mine(DECISIONS, self.tx), DECISIONS.c.seq.is_not(None))
        )  # fmt: skip
        seqs = {row.seq: (row.turn_id, row.ordinal) for row in self._rows(query, ITEMS.c.item_id, self._gone)}
        sources = [(row, "written") for row in self.tx.log.records_of(seqs)]
        for row in self.tx.log.records_of(self.tx.log.acts("erase")):  # what an earlier erasure vouched for
            if not keys.isdisjoint(json.loads(row.record)["content"].get("keeps", ())):
                sources.append((row, "keeps"))
        for row, name in sources:
            if name not in row.private:
                continue
            self._fields.setdefault(row.seq, set()).add(name)
            self.plan.vouchers.append((row.seq, name))
            versions = {f"{each['id']}/{each['version']}": each for each in json.loads(row.private[name].value)}
            self.plan.keeps |= {key: each for key, each in versions.items() if key not in keys}

    def _suggestions(self, column: ColumnElement[Any], turns: Iterable[str]) -> list[Any]:
        query = select(PROPOSALS.c.turn_id, PROPOSALS.c.number, PROPOSALS.c.answered_by)
        return list(self._rows(query.where(_mine(PROPOSALS, self.tx)), column, turns))

    def _turns(self, turns: set[str], names: set[str]) -> None:
        """Texts that are still there, what commits to them, suggestions made in them, and names that are there."""
        query = select(TURNS.c.turn_id, TURNS.c.principal, TURNS.c.text.is_not(None)).where(_mine(TURNS, self.tx))
        for turn, principal, there in self._rows(query, TURNS.c.turn_id, turns | names):
            if there and turn in turns:
                self.plan.turns.append(turn)
            if principal and turn in names:
                self.plan.names.append(turn)
        made = self._suggestions(PROPOSALS.c.turn_id, turns)
        self.plan.suggestions = sorted((turn, number) for turn, number, _ in made)
        heads = select(DECISIONS.c.turn_id, DECISIONS.c.seq).where(_mine(DECISIONS, self.tx), DECISIONS.c.ordinal == 0)
        for _, seq in self._rows(heads, DECISIONS.c.turn_id, turns):
            self._fields.setdefault(seq, set()).update(("said", "proposals"))
        for _, seq in self._rows(heads, DECISIONS.c.turn_id, {by for *_, by in made if by is not None}):
            self._fields.setdefault(seq, set()).add("answers")

    def _wordings(self) -> None:
        """What an LLM was asked and answered about the items."""
        if not self._gone:
            return
        for row in self.tx.log.records_of(self.tx.log.acts(*WORDINGS)):
            content = json.loads(row.record)["content"]
            about = {content.get("item"), *(key.rpartition("/")[0] for key in content.get("items", ()))}
            if not self._gone.isdisjoint(about):  # of a summary all goes: its words cannot be taken apart
                self._fields.setdefault(row.seq, set()).update(row.private)
        query = select(OUTBOX.c.id).where(_mine(OUTBOX, self.tx), OUTBOX.c.kind.in_(_kinds(self.tx)))
        self.plan.work = sum(1 for _ in self._rows(query, OUTBOX.c.item_id, self._gone))

    def _names(self, entity: str | None) -> None:
        """An entity's name in holds and restrictions."""
        if entity is None:
            return
        for kind in ("hold_legal", "restrict"):
            for each in standing(self.tx.log, kind):
                if each.on == "entity" and each.target == entity:
                    self._fields.setdefault(each.seq, set()).add("target")

    def _finish(self) -> None:
        """Only what is there can go: erasing again finds nothing."""
        query = select(PRIVATE.c.seq, PRIVATE.c.field).where(_mine(PRIVATE, self.tx))
        there: dict[int, list[str]] = {}
        for seq, name in self._rows(query, PRIVATE.c.seq, self._fields):
            if name in self._fields[seq]:
                there.setdefault(seq, []).append(name)
        self.plan.fields = {seq: sorted(there[seq]) for seq in sorted(there)}
        self.plan.wishes = [seq for seq, names in self._fields.items() if "canonical" in names]
        self.plan.decisions = {place: frozenset(names) for place, names in sorted(self._strip.items())}
        self.plan.turns.sort()
        self.plan.names.sort()


# ---------------------------------------------------------------- destroying it
def destroy(tx: Writing, plan: Plan, *, decided_by: int, now: datetime) -> None:
    """Destroy what a plan names, as record ``decided_by`` says; the free space is for ``Store.scrub`` to clean."""
    connection, mine = tx.connection, tx.namespace
    for seq, names in plan.fields.items():
        tx.log.erase_private(mine, seq, names, decided_by=decided_by)
    for entity, ordinals in plan.entities.items():
        vectors.remove(connection, mine, entity, set(ordinals))
    for entity, versions in _versions(tx, plan.items).items():
        search.unindex(connection, mine, entity, versions)
    work = and_(_mine(OUTBOX, tx), OUTBOX.c.kind.in_(_kinds(tx)))
    for some in _pages(plan.items):
        connection.execute(delete(ITEMS).where(_mine(ITEMS, tx), ITEMS.c.item_id.in_(some)))
        connection.execute(delete(OUTBOX).where(work, OUTBOX.c.item_id.in_(some)))
        relations.unrelate(connection, mine, some)
    for turn, number in plan.suggestions:
        at = and_(_mine(PROPOSALS, tx), PROPOSALS.c.turn_id == turn, PROPOSALS.c.number == number)
        connection.execute(delete(PROPOSALS).where(at))
    for (turn, ordinal), lost in plan.decisions.items():
        at = and_(_mine(DECISIONS, tx), DECISIONS.c.turn_id == turn, DECISIONS.c.ordinal == ordinal)
        fields = json.loads(connection.execute(select(DECISIONS.c.body).where(at)).scalar_one())
        body = _json({name: value for name, value in fields.items() if name not in lost})
        unnamed = {"about": None} if "entity" in lost else {}
        connection.execute(update(DECISIONS).where(at).values(body=body, **unnamed))
    for some in _pages(plan.wishes):
        connection.execute(delete(WISHES).where(_mine(WISHES, tx), WISHES.c.seq.in_(some)))
    traces.remove(connection, mine, plan.traces)
    nameless, wordless = set(plan.names), set(plan.turns)
    transcript.unindex(connection, mine, nameless | wordless)
    for turn in sorted(nameless | wordless):
        _bare(tx, turn, nameless=turn in nameless, wordless=turn in wordless)
    _scrub_later(tx, "", decided_by, now)
    tx.forget()


def _versions(tx: Writing, items: Iterable[str]) -> dict[str, list[tuple[int, MemoryItem]]]:
    """All versions of items with their numbers, by entity."""
    found: dict[str, list[tuple[int, MemoryItem]]] = {}
    for entity, ordinal, body in _VERSIONS.each(tx.connection, "item", items, namespace=tx.namespace):
        found.setdefault(entity, []).append((ordinal, read_item(body)))
    return found


def drop_traces(tx: Writing, numbers: Sequence[int], *, now: datetime) -> None:
    """Delete traces that are kept no longer; the free space is for ``Store.scrub`` to clean."""
    traces.remove(tx.connection, tx.namespace, numbers)
    _scrub_later(tx, f"traces {stamp(now)}", max(numbers, default=0), now)


def _scrub_later(tx: Writing, of: str, number: int, now: datetime) -> None:
    row = {
        "namespace": tx.namespace, "kind": SCRUB, "item_id": of, "item_version": number, "payload": "{}",
        "state": "waiting", "attempts": 0, "not_before": stamp(now),
    }  # fmt: skip
    tx.connection.execute(insert(OUTBOX), [row])


def _bare(tx: Writing, turn: str, *, nameless: bool, wordless: bool) -> None:
    """A turn without its text and what was taken from it, or without the names of whose it was."""
    at = and_(_mine(TURNS, tx), TURNS.c.turn_id == turn)
    fields = json.loads(tx.connection.execute(select(TURNS.c.body).where(at)).scalar_one())
    values: dict[str, Any] = {}
    if wordless:
        values = {"text": None, "digest": ""}  # the digest of a short text could be guessed by who has the secret
        if fields.get("edit"):
            fields["edit"]["qualifier"] = ""
    if nameless:
        fields["entity"] = values["principal"] = ""
        if not fields.get("edit"):  # the author of an edit is a person of the house
            fields.pop("author", None)
    tx.connection.execute(update(TURNS).where(at).values(body=_json(fields), **values))


def _kinds(tx: Reading) -> list[str]:
    """The kinds of work there are: its index begins with them."""
    found: list[str] = []
    after = select(func.min(OUTBOX.c.kind)).where(_mine(OUTBOX, tx))
    kind = tx.connection.execute(after).scalar()
    while kind is not None:
        found.append(kind)
        kind = tx.connection.execute(after.where(OUTBOX.c.kind > kind)).scalar()
    return found


def _mine(table: Table, tx: Reading) -> ColumnElement[bool]:
    return table.c.namespace == tx.namespace


def _pages(ids: Iterable[Any]) -> Iterator[list[Any]]:
    every = sorted(set(ids))
    for at in range(0, len(every), _PAGE):
        yield every[at : at + _PAGE]


def _json(fields: Any) -> str:
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return text if storable(text) else json.dumps(fields, separators=(",", ":"))  # half a surrogate pair is no UTF-8
