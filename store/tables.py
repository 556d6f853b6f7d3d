"""The tables, the same for SQLite and PostgreSQL.

Times are UTC text of fixed width, so that both back ends sort them alike; typed values are JSON text; everything
that is compared or sorted has the byte order of collation C. Every table begins with the namespace.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import ARRAY, REAL, BigInteger, ForeignKeyConstraint, Index, Integer, LargeBinary, MetaData, Text
from sqlmodel import Field, SQLModel

# Schema versions, oldest first: the alembic revisions under migrations/versions. The last one is what this code
# writes. A fresh database gets it at once; alembic is imported only to upgrade an older one.
REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008", "0009")

_NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
    "fk": "fk_%(table_name)s_%(referred_table_name)s",
}
METADATA = MetaData(naming_convention=_NAMES)

WORDS = Text().with_variant(Text(collation="C"), "postgresql")
VECTOR = LargeBinary().with_variant(ARRAY(REAL), "postgresql")  # a byte a number; an array where there is one
NUMBER = BigInteger().with_variant(Integer(), "sqlite")


@lru_cache(maxsize=512)
def stamp(moment: datetime) -> str:
    """A time as it stands in a column: UTC, microseconds always written, so that text order is time order."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def unstamp(written: str) -> datetime:
    """The time of a column."""
    return datetime.fromisoformat(written)


# A decision that asks something back: an erasure looks for those that quote what goes.
ASKING = "body LIKE '%\"question\":%'"

_UNSTORABLE = re.compile("[\\x00\\ud800-\\udfff]")


def storable(key: str) -> bool:
    """Whether every back end keeps this text: PostgreSQL has no NUL, and half a surrogate pair is no UTF-8."""
    return _UNSTORABLE.search(key) is None


def column(words: str) -> str:
    """Words of a text in a column, for look-up only: what not every back end keeps is marked; a body keeps it."""
    return _UNSTORABLE.sub("\ufffd", words)


def about(entity: str | None, principal: str | None) -> str | None:
    """What the column of that name says of a decision about ``entity`` in a turn with ``principal``."""
    return column(entity) if entity and entity != principal else None


class Row(SQLModel):
    """Base of the tables: their own metadata, apart from other SQLModel tables of the process."""

    model_config = {"defer_build": True}  # rows are written by statements; nothing validates one
    metadata = METADATA


def _partial(name: str, *columns: str, where: str) -> Index:
    """An index over some rows. The condition is put in the words of a dialect when the table is made (schema.py):
    naming dialects here would import the drivers of all of them."""
    return Index(name, *columns, info={"where": where})


def _key(**more: Any) -> Any:
    return Field(primary_key=True, sa_type=WORDS, **more)


def _words(**more: Any) -> Any:
    return Field(sa_type=WORDS, **more)


def _number(**more: Any) -> Any:
    return Field(sa_type=NUMBER, **more)


class Namespace(Row, table=True):
    """A tenant: its secret, and the counters that its one writer moves."""

    __tablename__ = "namespaces"
    name: str = _key()
    secret: bytes = Field(sa_type=LargeBinary)
    version: int = _number(default=0)  # moved by every commit: what a cache must compare
    item_rows: int = _number(default=0)  # item versions written so far
    frontier_size: int = _number(default=0)
    frontier: bytes = Field(default=b"", sa_type=LargeBinary)  # roots of 32 bytes, largest subtree first


class TurnRow(Row, table=True):
    """A turn as it arrived. ``text`` has a retention class of its own and is NULL once erased."""

    __tablename__ = "turns"
    __table_args__ = (
        Index(None, "namespace", "conversation", "ordinal", unique=True),
        Index(None, "namespace", "principal"),
    )
    namespace: str = _key()
    turn_id: str = _key()
    conversation: str = _words()
    ordinal: int = _number()
    principal: str = _words()
    speaker: str = _words()
    said_at: str = _words()
    received_at: str = _words()
    digest: str = _words()  # HMAC of the content under the secret of the namespace
    retention: str | None = _words(default=None)
    text: bytes | None = Field(default=None, sa_type=LargeBinary)  # UTF-8; bytes, since PostgreSQL text has no NUL
    body: str = _words()  # the other fields of the turn


# Everything that a look-up compares before it reads a body, so that the rows themselves are left alone.
_PLACE = ("namespace", "entity", "slot", "qualifier", "kind", "status", "replaced_at", "row")


class ItemRow(Row, table=True):
    """One version of one item; versions are only added, and the one before gets its ``replaced_at``."""

    __tablename__ = "items"
    __table_args__ = (
        Index(None, "namespace", "row", unique=True),
        _partial("ix_items_live", "namespace", "principal", where="replaced_at IS NULL"),
        Index("ix_items_place", *_PLACE),
        Index(None, "namespace", "written_by"),
        ForeignKeyConstraint(["namespace", "written_by"], ["turns.namespace", "turns.turn_id"]),
    )  # fmt: skip
    namespace: str = _key()
    item_id: str = _key()
    version: int = Field(primary_key=True, sa_type=NUMBER)
    row: int = _number()  # order of writing within the namespace
    ordinal: int = _number()  # row of the first version: the item's number, free of the secret
    principal: str = _words()  # whose conversation it came from: what a turn of theirs may rest on
    entity: str = _words()
    slot: str = _words()
    qualifier: str = _words()
    kind: str = _words()
    status: str = _words()
    valid_from: str | None = _words(default=None)
    valid_to: str | None = _words(default=None)
    superseded_at: str | None = _words(default=None)
    written_at: str = _words()  # when this version came to be known
    replaced_at: str | None = _words(default=None)  # when the next one did
    written_by: str = _words()  # turn
    decision: int = _number()  # ordinal of the decision in that turn
    body: str = _words()


class DecisionRow(Row, table=True):
    """One decision of a turn, in readable form; its record in the ledger is what proves it."""

    __tablename__ = "decisions"
    __table_args__ = (
        ForeignKeyConstraint(["namespace", "turn_id"], ["turns.namespace", "turns.turn_id"]),
        Index(None, "namespace", "conversation", "turn"),
        _partial("ix_decisions_item", "namespace", "item", where="item IS NOT NULL"),
        _partial("ix_decisions_target", "namespace", "target", where="target IS NOT NULL"),
        _partial("ix_decisions_asking", "namespace", "turn_id", "ordinal", where=ASKING),
        _partial("ix_decisions_about", "namespace", "about", where="about IS NOT NULL"),
    )  # fmt: skip
    namespace: str = _key()
    turn_id: str = _key()
    ordinal: int = Field(primary_key=True, sa_type=NUMBER)
    seq: int | None = _number(default=None)  # its record in the ledger
    conversation: str = _words()
    turn: int = _number()
    speaker: str = _words()
    action: str = _words()
    reason: str = _words()
    item: str | None = _words(default=None)
    target: str | None = _words(default=None)
    body: str = _words()
    about: str | None = _words(default=None)  # the entity, where it is another than the one the turn was with


class ProposalRow(Row, table=True):
    """An agent's suggestion; ``answered_by`` is the turn that accepted or rejected it."""

    __tablename__ = "proposals"
    __table_args__ = (
        ForeignKeyConstraint(["namespace", "turn_id"], ["turns.namespace", "turns.turn_id"]),
        Index(None, "namespace", "conversation", "turn"),
    )
    namespace: str = _key()
    turn_id: str = _key()
    number: int = Field(primary_key=True, sa_type=NUMBER)
    conversation: str = _words()
    turn: int = _number()
    answered_by: str | None = _words(default=None)
    body: str = _words()


class WishRow(Row, table=True):
    """A decision that refused what was asked for, or made a preference of it: what later wishes are counted with."""

    __tablename__ = "wishes"
    __table_args__ = (
        ForeignKeyConstraint(["namespace", "turn_id"], ["turns.namespace", "turns.turn_id"]),
        Index(None, "namespace", "principal", "seq"),
    )
    namespace: str = _key()
    seq: int = Field(primary_key=True, sa_type=NUMBER)  # of its record: the order in which they were decided
    principal: str = _words()
    turn_id: str = _words()
    ordinal: int = _number()  # of the decision in its turn


class RecordRow(Row, table=True):
    """One record of the ledger: canonical JSON as appended, never changed, and its leaf hash."""

    __tablename__ = "records"
    namespace: str = _key()
    seq: int = Field(primary_key=True, sa_type=NUMBER)
    record: str = _words()
    leaf: bytes = Field(sa_type=LargeBinary)


class PrivateRow(Row, table=True):
    """A personal value and its salt beside a record; the only part of the ledger that can be destroyed."""

    __tablename__ = "private_values"
    __table_args__ = (ForeignKeyConstraint(["namespace", "seq"], ["records.namespace", "records.seq"]),)
    namespace: str = _key()
    seq: int = Field(primary_key=True, sa_type=NUMBER)
    field: str = _key()
    value: str = _words()
    salt: str = _words()


class SubtreeRow(Row, table=True):
    """The root of a full subtree of 16, 256, 4096 or 65,536 records: proofs out of a long log need a few rows only."""

    __tablename__ = "subtrees"
    namespace: str = _key()
    level: int = Field(primary_key=True, sa_type=NUMBER)  # a subtree of 2**level records
    number: int = Field(primary_key=True, sa_type=NUMBER)  # its place among those, from the left
    hash: bytes = Field(sa_type=LargeBinary)


class ActRow(Row, table=True):
    """A record that is no decision about a turn, by kind: wordings, exports, erasures are found without a search."""

    __tablename__ = "acts"
    __table_args__ = (
        ForeignKeyConstraint(["namespace", "seq"], ["records.namespace", "records.seq"]),
        Index(None, "namespace", "kind", "seq"),
    )
    namespace: str = _key()
    seq: int = Field(primary_key=True, sa_type=NUMBER)
    kind: str = _words()


class ErasureRow(Row, table=True):
    """A personal value that a record has decided to erase: the door through which it may be deleted (guards.py)."""

    __tablename__ = "erasures"
    __table_args__ = (ForeignKeyConstraint(["namespace", "decided_by"], ["records.namespace", "records.seq"]),)
    namespace: str = _key()
    seq: int = Field(primary_key=True, sa_type=NUMBER)
    field: str = _key()
    decided_by: int = _number()


class CheckpointRow(Row, table=True):
    """A signed note over the ledger; copies belong outside the database."""

    __tablename__ = "checkpoints"
    namespace: str = _key()
    number: int = Field(primary_key=True, sa_type=NUMBER)
    size: int = _number()
    note: str = _words()


class RulesetRow(Row, table=True):
    """The sources of a rule set under its digest (one for all namespaces: the digest says it all)."""

    __tablename__ = "rulesets"
    digest: str = _key()
    sources: str = _words()


class RuntimeRow(Row, table=True):
    """The versions of code, libraries, data and models behind a runtime digest."""

    __tablename__ = "runtimes"
    digest: str = _key()
    versions: str = _words()


class WorkRow(Row, table=True):
    """Work that a write leaves for later, kept in the same transaction."""

    __tablename__ = "outbox"
    __table_args__ = (
        Index(None, "namespace", "kind", "item_id", "item_version", unique=True),
        _partial("ix_outbox_waiting", "kind", "not_before", where="state = 'waiting'"),
    )  # fmt: skip
    id: int | None = Field(default=None, primary_key=True, sa_type=NUMBER)
    namespace: str = _words()
    kind: str = _words()
    item_id: str = _words()
    item_version: int = _number()
    payload: str = _words()
    state: str = _words()  # waiting | done | failed
    attempts: int = _number(default=0)
    not_before: str = _words()  # a lease moves it forward
    lease: str | None = _words(default=None)
    error: str | None = _words(default=None)


class TermRow(Row, table=True):
    """A posting of the full text index: how often a term stands in an item's text."""

    __tablename__ = "search_terms"
    __table_args__ = {"sqlite_with_rowid": False}
    namespace: str = _key()
    term: str = _key()
    entity: str = _key()
    ordinal: int = Field(primary_key=True, sa_type=NUMBER)  # number of the item
    count: int = _number()


class TextRow(Row, table=True):
    """A text of the full text index and its number of terms: what a score is measured against."""

    __tablename__ = "search_texts"
    __table_args__ = ({"sqlite_with_rowid": False},)
    namespace: str = _key()
    entity: str = _key()
    ordinal: int = Field(primary_key=True, sa_type=NUMBER)
    length: int = _number()


class TurnTermRow(Row, table=True):
    """A posting of the index over what was said: how often a term stands in a turn."""

    __tablename__ = "turn_terms"
    __table_args__ = {"sqlite_with_rowid": False}
    namespace: str = _key()
    term: str = _key()
    principal: str = _key()
    number: int = Field(primary_key=True, sa_type=NUMBER)  # first record of the turn
    count: int = _number()


class TurnTextRow(Row, table=True):
    """A turn in that index: what it is filtered by, and its number of terms."""

    __tablename__ = "turn_texts"
    __table_args__ = (Index(None, "namespace", "turn_id", unique=True), {"sqlite_with_rowid": False})
    namespace: str = _key()
    principal: str = _key()
    number: int = Field(primary_key=True, sa_type=NUMBER)
    turn_id: str = _words()
    conversation: str = _words()
    said_at: str = _words()
    length: int = _number()


class TurnVectorRow(Row, table=True):
    """The vector of a turn and of what was said before it, by which model."""

    __tablename__ = "turn_vectors"
    __table_args__ = {"sqlite_with_rowid": False}
    namespace: str = _key()
    number: int = Field(primary_key=True, sa_type=NUMBER)
    model: str = _words()
    vector: Any = Field(sa_type=VECTOR)


class TraceRow(Row, table=True):
    """One question that was asked, and how its answer came about; no part of the log."""

    __tablename__ = "traces"
    namespace: str = _key()
    number: int = Field(primary_key=True, sa_type=NUMBER)
    written_at: str = _words()
    entity: str | None = _words(default=None)  # the one that it was asked about
    found: int = _number()  # hits; 0: a question that found nothing
    body: str = _words()


class TraceHitRow(Row, table=True):
    """An item or a turn that a trace names: what is looked up by it, and must go with it."""

    __tablename__ = "trace_hits"
    __table_args__ = (
        ForeignKeyConstraint(["namespace", "trace"], ["traces.namespace", "traces.number"]),
        Index(None, "namespace", "trace"),
        {"sqlite_with_rowid": False},
    )
    namespace: str = _key()
    target: str = _key()
    trace: int = Field(primary_key=True, sa_type=NUMBER)
    kind: str = _key()  # item | turn
    place: int = _number()  # in the answer, the first is 1; 0: only proposed
    injected: int = _number()  # 1: it stood before the model


class RelationRow(Row, table=True):
    """One piece of evidence for an edge between two names, seen from one end: derived from an item and a decision that
    wrote or confirmed it. When the edge was true and known stands in the item; every edge has a row at either end."""

    __tablename__ = "relations"
    __table_args__ = {"sqlite_with_rowid": False}
    namespace: str = _key()
    node: str = _key()
    relation: str = _key()
    direction: str = _key()  # out: from subject to object | in: back
    other: str = _key()
    item_id: str = _key()
    turn_id: str = _key()
    recorded_at: str = _words()


class VectorRow(Row, table=True):
    """The vector of an item's text: which version was embedded, by which model. Vectors of two models never mix."""

    __tablename__ = "item_vectors"
    __table_args__ = {"sqlite_with_rowid": False}
    namespace: str = _key()
    entity: str = _key()
    ordinal: int = Field(primary_key=True, sa_type=NUMBER)  # number of the item
    version: int = _number()
    model: str = _words()
    vector: Any = Field(sa_type=VECTOR)


class SchemaRow(Row, table=True):
    """The schema version, in the table where alembic looks for it."""

    __tablename__ = "alembic_version"
    version_num: str = Field(primary_key=True, max_length=32)


# The Core tables behind the classes: hot paths write and read through these.
NAMESPACES = METADATA.tables["namespaces"]
TURNS = METADATA.tables["turns"]
ITEMS = METADATA.tables["items"]
DECISIONS = METADATA.tables["decisions"]
PROPOSALS = METADATA.tables["proposals"]
WISHES = METADATA.tables["wishes"]
RECORDS = METADATA.tables["records"]
PRIVATE = METADATA.tables["private_values"]
SUBTREES = METADATA.tables["subtrees"]
ACTS = METADATA.tables["acts"]
ERASURES = METADATA.tables["erasures"]
CHECKPOINTS = METADATA.tables["checkpoints"]
RULESETS = METADATA.tables["rulesets"]
RUNTIMES = METADATA.tables["runtimes"]
OUTBOX = METADATA.tables["outbox"]
TERMS = METADATA.tables["search_terms"]
TEXTS = METADATA.tables["search_texts"]
TURN_TERMS = METADATA.tables["turn_terms"]
TURN_TEXTS = METADATA.tables["turn_texts"]
TURN_VECTORS = METADATA.tables["turn_vectors"]
TRACES = METADATA.tables["traces"]
TRACE_HITS = METADATA.tables["trace_hits"]
RELATIONS = METADATA.tables["relations"]
VECTORS = METADATA.tables["item_vectors"]
SCHEMA = METADATA.tables["alembic_version"]
