"""What the tables hold, row by row, for the verifier: what cannot be read or contradicts itself is told, not raised.

The columns beside a body repeat it so that they can be asked for; here each is held against the body. Whether a body
is what was decided is for the ledger to say (audit/holdings.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    ColumnElement,
    FromClause,
    RowMapping,
    Select,
    and_,
    bindparam,
    case,
    exists,
    func,
    literal_column,
    select,
)

from ..model import MemoryItem, Turn
from . import derived, guards
from .codec import content_digest, item_columns, proposal_digest, read_item, read_proposal, read_turn
from .reading import Reading
from .statements import Statement
from .tables import (
    CHECKPOINTS,
    DECISIONS,
    ITEMS,
    NAMESPACES,
    PRIVATE,
    PROPOSALS,
    RECORDS,
    RULESETS,
    RUNTIMES,
    TURNS,
    about,
    stamp,
)

_HAS_ITEM = Statement(
    select(ITEMS.c.version).where(ITEMS.c.namespace == bindparam("namespace"), ITEMS.c.item_id == bindparam("item"))
)
_COLUMNS = ("action", "reason", "item", "target", "turn_id", "ordinal", "turn")  # of a decision, repeated by its body


@dataclass(frozen=True, slots=True)
class KeptTurn:
    """A turn as stored; ``turn`` is None when it cannot be read, its text empty when ``erased``."""

    turn_id: str
    turn: Turn | None
    erased: bool
    keyed: bool  # its digest is that of its content under the secret of the namespace
    wrong: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KeptDecision:
    """A decision as stored, and with the first of a turn the turn; ``known`` says whether there is one."""

    seq: int | None
    turn_id: str
    ordinal: int
    fields: Mapping[str, Any] | None
    known: bool
    turn: KeptTurn | None
    wrong: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KeptItem:
    """An item version as stored, with what says by whom and in which order it was written."""

    item_id: str
    version: int
    item: MemoryItem | None
    row: int
    ordinal: int
    principal: str
    written_by: str
    decision: int
    wrong: tuple[str, ...]
    before: MemoryItem | None  # of a version that no decision wrote: the one before it
    first: tuple[int | None, str | None]  # row and principal of the first version


@dataclass(frozen=True, slots=True)
class KeptProposal:
    """A suggestion as stored: its digest and the turn that answered it."""

    turn_id: str
    number: int
    digest: str
    answered_by: str | None
    wrong: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KeptCheckpoint:
    """A checkpoint as stored."""

    number: int
    size: int
    note: str


class Inspection(Reading):
    """A consistent view of one namespace that survives whatever stands in it."""

    def decisions_kept(self) -> Iterator[KeptDecision]:
        """All decisions in the order of their records; those without one first or last."""
        first = DECISIONS.c.ordinal == 0
        said = (case((first, TURNS.c.body)), case((first, TURNS.c.text)), case((first, TURNS.c.digest)))
        names = ("turn_id", "conversation", "ordinal", "principal", "speaker", "said_at", "received_at")
        query = (
            select(
                DECISIONS,
                *(TURNS.c[name].label(f"of_{name}") for name in names),
                *(each.label(name) for each, name in zip(said, ("said_body", "said_text", "said_digest"), strict=True)),
            )
            .join_from(
                DECISIONS,
                TURNS,
                and_(TURNS.c.namespace == DECISIONS.c.namespace, TURNS.c.turn_id == DECISIONS.c.turn_id),
                isouter=True,
            )
            .where(DECISIONS.c.namespace == self.namespace)
            .order_by(DECISIONS.c.seq, DECISIONS.c.turn_id, DECISIONS.c.ordinal)
        )
        for row in self._rows(query):
            fields, wrong = _object(row["body"])
            if fields is not None:
                wrong += tuple(f"column {name} differs" for name in _COLUMNS if row[name] != fields.get(name))
            known = row["of_turn_id"] is not None
            if known:
                pairs = (("conversation", "of_conversation"), ("speaker", "of_speaker"), ("turn", "of_ordinal"))
                wrong += tuple(f"column {name} differs from its turn" for name, of in pairs if row[name] != row[of])
                entity = fields.get("entity") if fields is not None else None
                if isinstance(entity, str | None) and row["about"] != about(entity, row["of_principal"]):
                    wrong += ("column about differs",)
            turn = self._turn(row) if known and row["ordinal"] == 0 else None
            seq = row["seq"] if isinstance(row["seq"], int) else None
            yield KeptDecision(seq, row["turn_id"], row["ordinal"], fields, known, turn, wrong)

    def undecided_turns(self) -> tuple[str, ...]:
        """Turns that no decision is about."""
        decided = exists().where(DECISIONS.c.namespace == TURNS.c.namespace, DECISIONS.c.turn_id == TURNS.c.turn_id)
        query = select(TURNS.c.turn_id).where(TURNS.c.namespace == self.namespace, ~decided)
        return tuple(self.connection.execute(query.order_by(TURNS.c.turn_id)).scalars())

    def items_kept(self) -> Iterator[KeptItem]:
        """All item versions, in the order in which they say they were written."""
        later, first, before, turn, replaced = (
            ITEMS.alias("later"), ITEMS.alias("first"), ITEMS.alias("before"), TURNS.alias("turn"), TURNS.alias("next"),
        )  # fmt: skip

        def version(of: FromClause, number: ColumnElement[Any]) -> ColumnElement[bool]:
            mine = and_(of.c.namespace == ITEMS.c.namespace, of.c.item_id == ITEMS.c.item_id)
            return and_(mine, of.c.version == number)

        query = (
            select(
                ITEMS,
                turn.c.received_at.label("received"),
                turn.c.principal.label("of_principal"),
                replaced.c.received_at.label("replaced"),
                first.c.row.label("first_row"),
                first.c.principal.label("first_principal"),
                before.c.body.label("body_before"),
            )
            .join(turn, and_(turn.c.namespace == ITEMS.c.namespace, turn.c.turn_id == ITEMS.c.written_by), isouter=True)
            .join(later, version(later, ITEMS.c.version + 1), isouter=True)
            .join(
                replaced, and_(replaced.c.namespace == later.c.namespace, replaced.c.turn_id == later.c.written_by),
                isouter=True,
            )
            .join(first, version(first, literal_column("1")), isouter=True)
            .join(before, and_(ITEMS.c.decision < 0, version(before, ITEMS.c.version - 1)), isouter=True)
            .where(ITEMS.c.namespace == self.namespace)
            .order_by(ITEMS.c.row)
        )  # fmt: skip
        for row in self._rows(query):
            wrong: list[str] = []
            item: MemoryItem | None = None
            before_it: MemoryItem | None = None
            try:
                item = read_item(row["body"])
                wanted = {**item_columns(item), "written_at": row["received"], "replaced_at": row["replaced"]}
                if row["version"] == 1:
                    wanted["principal"] = row["of_principal"]
                differ = sorted(name for name, value in wanted.items() if row[name] != value)
                wrong += [f"column {name} is not as it was written" for name in differ]
                if not isinstance(row["body"], str):
                    wrong.append("its body is not stored as text")
                before_it = read_item(row["body_before"]) if row["body_before"] is not None else None
            except Exception as error:  # whatever a hand put there
                wrong.append(f"its body cannot be read ({_short(error)})")
            yield KeptItem(
                *(row["item_id"], row["version"], item, row["row"], row["ordinal"], row["principal"]),
                *(row["written_by"], row["decision"], tuple(wrong), before_it),
                (row["first_row"], row["first_principal"]),
            )

    def has_item(self, item_id: str) -> bool:
        """Whether there is any version of an item."""
        return _HAS_ITEM.first(self.connection, namespace=self.namespace, item=item_id) is not None

    def _rows(self, query: Select[Any]) -> Iterator[RowMapping]:
        """The rows of a query of any length, a thousand at a time."""
        yield from self.connection.execute(query.execution_options(yield_per=1000)).mappings()

    def proposals_kept(self) -> Iterator[KeptProposal]:
        """All suggestions, in the order in which each turn made them."""
        said = and_(TURNS.c.namespace == PROPOSALS.c.namespace, TURNS.c.turn_id == PROPOSALS.c.turn_id)
        query = select(PROPOSALS, TURNS.c.conversation.label("talk")).join_from(PROPOSALS, TURNS, said, isouter=True)
        query = query.where(PROPOSALS.c.namespace == self.namespace).order_by(PROPOSALS.c.turn_id, PROPOSALS.c.number)
        for row in self.connection.execute(query).mappings():
            wrong: tuple[str, ...] = ()
            try:
                proposal = read_proposal(row["body"])
                wanted = {
                    "turn_id": proposal.turn_id, "turn": proposal.turn, "conversation": row["talk"],
                }  # fmt: skip
                wrong = tuple(f"column {name} differs" for name, value in wanted.items() if row[name] != value)
            except Exception as error:  # whatever a hand put there
                wrong = (f"its body cannot be read ({_short(error)})",)
            digest = proposal_digest(row["body"]) if isinstance(row["body"], str) else ""
            yield KeptProposal(row["turn_id"], row["number"], digest, row["answered_by"], wrong)

    def checkpoints_kept(self) -> tuple[KeptCheckpoint, ...]:
        """All checkpoints, by their number."""
        query = select(CHECKPOINTS.c.number, CHECKPOINTS.c.size, CHECKPOINTS.c.note)
        query = query.where(CHECKPOINTS.c.namespace == self.namespace).order_by(CHECKPOINTS.c.number)
        return tuple(KeptCheckpoint(*row) for row in self.connection.execute(query))

    def stray_values(self) -> tuple[tuple[int, str], ...]:
        """Personal values (record, field) beside which no record stands."""
        beside = exists().where(RECORDS.c.namespace == PRIVATE.c.namespace, RECORDS.c.seq == PRIVATE.c.seq)
        query = select(PRIVATE.c.seq, PRIVATE.c.field).where(PRIVATE.c.namespace == self.namespace, ~beside)
        rows = self.connection.execute(query.order_by(PRIVATE.c.seq, PRIVATE.c.field))
        return tuple((row[0], row[1]) for row in rows)

    def reused_salts(self) -> tuple[tuple[int, str], ...]:
        """Values (record, field) whose salt another value has as well: equal values would show as equal hashes. Found
        by sorting in the database, not here; the first hundred."""
        mine = PRIVATE.c.namespace == self.namespace
        twice = select(PRIVATE.c.salt).where(mine).group_by(PRIVATE.c.salt).having(func.count() > 1).limit(100)
        query = select(PRIVATE.c.seq, PRIVATE.c.field).where(mine, PRIVATE.c.salt.in_(twice))
        return tuple((seq, name) for seq, name in self.connection.execute(query.order_by(PRIVATE.c.seq).limit(100)))

    def foreign_parts(self) -> tuple[str, ...]:
        """What does not belong into the database, or is missing there: triggers and views that are not ours (either
        can change what is written or read), and guards of the ledger that are gone."""
        sqlite = self.connection.dialect.name == "sqlite"
        if sqlite:
            query = "SELECT type, name, sql FROM sqlite_master WHERE type IN ('trigger', 'view') ORDER BY 1, 2"
        else:
            query = (
                "SELECT 'trigger', t.tgname, '' FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid "
                "WHERE NOT t.tgisinternal AND t.tgenabled <> 'D' AND c.relnamespace = current_schema()::regnamespace"
            )
        found = [tuple(row) for row in self.connection.exec_driver_sql(query)]
        triggers = {name: statement for kind, name, statement in found if kind == "trigger"}
        gone = guards.missing(triggers, self.connection.dialect.name)
        ours = guards.sqlite_triggers() if sqlite else guards.postgresql_triggers()
        strange = [f"a {kind} {name}, which nobody of ours made" for kind, name, _ in found if name not in ours]
        return (*strange, *(f"no trigger {name} as we made it: the ledger could be changed" for name in gone))

    def item_rows(self) -> int:
        """How many item versions the namespace counted."""
        query = select(NAMESPACES.c.item_rows).where(NAMESPACES.c.name == self.namespace)
        return self.connection.execute(query).scalar() or 0

    def rulesets_kept(self) -> tuple[str, ...]:
        """The digests of the rule sets that are stored, those of other namespaces too."""
        return tuple(self.connection.execute(select(RULESETS.c.digest).order_by(RULESETS.c.digest)).scalars())

    def runtimes_kept(self) -> tuple[str, ...]:
        """The digests of the runtimes that are stored, those of other namespaces too."""
        return tuple(self.connection.execute(select(RUNTIMES.c.digest).order_by(RUNTIMES.c.digest)).scalars())

    def misindexed(self) -> int:
        """How many items the search index does not hold as they are, and entries of items that are not there."""
        return sum(bool(why) for _, why in derived.items(self._rows, self.namespace))

    def _turn(self, row: RowMapping) -> KeptTurn:
        """The turn that stands beside its first decision."""
        turn: Turn | None = None
        wrong: list[str] = []
        keyed = True
        try:
            text = row["said_text"]
            turn = read_turn(row["said_body"], text if text is None or isinstance(text, bytes) else bytes(text))
            wanted = {
                "conversation": turn.conversation, "ordinal": turn.ordinal, "principal": turn.entity,
                "speaker": turn.speaker, "said_at": stamp(turn.said_at), "received_at": stamp(turn.received_at),
            }  # fmt: skip
            wrong += [f"column {name} differs" for name, value in wanted.items() if row[f"of_{name}"] != value]
            if turn.turn_id != row["of_turn_id"]:
                wrong.append("column turn_id differs")
            keyed = text is None or content_digest(turn, self.secret) == row["said_digest"]
        except Exception as error:  # whatever a hand put there
            wrong.append(f"it cannot be read ({_short(error)})")
        return KeptTurn(row["turn_id"], turn, row["said_text"] is None, keyed, tuple(wrong))


def _object(body: Any) -> tuple[Mapping[str, Any] | None, tuple[str, ...]]:
    """The fields of a JSON body, or what is wrong with it."""
    try:
        fields = json.loads(body)
    except Exception as error:  # whatever a hand put there
        return None, (f"its body cannot be read ({_short(error)})",)
    if not isinstance(fields, dict):
        return None, ("its body is no object",)
    return fields, () if isinstance(body, str) else ("its body is not stored as text",)


def _short(error: Exception) -> str:
    """The first line of an error."""
    return f"{type(error).__name__}: {str(error).splitlines()[0][:120] if str(error) else ''}"
