"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make all tables."""
    _turns()
    _items()
    _ledger()
    _work()


def downgrade() -> None:
    """Drop all tables; their indexes go with them."""
    for table in (
        "private_values",
        "records",
        "checkpoints",
        "rulesets",
        "runtimes",
        "search_terms",
        "search_texts",
        "outbox",
        "proposals",
        "items",
        "decisions",
        "turns",
        "namespaces",
    ):
        op.drop_table(table)


def _turns() -> None:
    """Namespaces, turns and their decisions."""
    op.create_table(
        "namespaces",
        sa.Column("name", WORDS, nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.Column("version", NUMBER, nullable=False),
        sa.Column("item_rows", NUMBER, nullable=False),
        sa.Column("frontier_size", NUMBER, nullable=False),
        sa.Column("frontier", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_namespaces")),
    )
    op.create_table(
        "turns",
        sa.Column("namespace", WORDS, nullable=False),
        sa.Column("turn_id", WORDS, nullable=False),
        sa.Column("conversation", WORDS, nullable=False),
        sa.Column("ordinal", NUMBER, nullable=False),
        sa.Column("principal", WORDS, nullable=False),
        sa.Column("speaker", WORDS, nullable=False),
        sa.Column("said_at", WORDS, nullable=False),
        sa.Column("received_at", WORDS, nullable=False),
        sa.Column("digest", WORDS, nullable=False),
        sa.Column("retention", WORDS, nullable=True),
        sa.Column("text", sa.LargeBinary(), nullable=True),
        sa.Column("body", WORDS, nullable=False),
        sa.PrimaryKeyConstraint("namespace", "turn_id", name=op.f("pk_turns")),
    )
    op.create_index(
        op.f("ix_turns_namespace_conversation_ordinal"), "turns", ["namespace", "conversation", "ordinal"], unique=True
    )
    op.create_table(
        "decisions",
        sa.Column("namespace", WORDS, nullable=False),
        sa.Column("turn_id", WORDS, nullable=False),
        sa.Column("ordinal", NUMBER, nullable=False),
        sa.Column("seq", NUMBER, nullable=True),
        sa.Column("conversation", WORDS, nullable=False),
        sa.Column("turn", NUMBER, nullable=False),
        sa.Column("speaker", WORDS, nullable=False),
        sa.Column("action", WORDS, nullable=False),
        sa.Column("reason", WORDS, nullable=False),
        sa.Column("item", WORDS, nullable=True),
        sa.Column("target", WORDS, nullable=True),
        sa.Column("body", WORDS, nullable=False),
        sa.ForeignKeyConstraint(
            ["namespace", "turn_id"], ["turns.namespace", "turns.turn_id"], name=op.f("fk_decisions_turns")
        ),
        sa.PrimaryKeyConstraint("namespace", "turn_id", "ordinal", name=op.f("pk_decisions")),
    )
    op.create_index(
        "ix_decisions_item",
        "decisions",
        ["namespace", "item"],
        unique=False,
        sqlite_where=sa.text("item IS NOT NULL"),
        postgresql_where=sa.text("item IS NOT NULL"),
    )
    op.create_index(
        op.f("ix_decisions_namespace_conversation_turn"),
        "decisions",
        ["namespace", "conversation", "turn"],
        unique=False,
    )
    op.create_index(
        "ix_decisions_target",
        "decisions",
        ["namespace", "target"],
        unique=False,
        sqlite_where=sa.text("target IS NOT NULL"),
        postgresql_where=sa.text("target IS NOT NULL"),
    )


def _items() -> None:
    """The item versions."""
    op.create_table(
        "items",
        sa.Column("namespace", WORDS, nullable=False),
        sa.Column("item_id", WORDS, nullable=False),
        sa.Column("version", NUMBER, nullable=False),
        sa.Column("row", NUMBER, nullable=False),
        sa.Column("ordinal", NUMBER, nullable=False),
        sa.Column("principal", WORDS, nullable=False),
        sa.Column("entity", WORDS, nullable=False),
        sa.Column("slot", WORDS, nullable=False),
        sa.Column("qualifier", WORDS, nullable=False),
        sa.Column("kind", WORDS, nullable=False),
        sa.Column("status", WORDS, nullable=False),
        sa.Column("valid_from", WORDS, nullable=True),
        sa.Column("valid_to", WORDS, nullable=True),
        sa.Column("superseded_at", WORDS, nullable=True),
        sa.Column("written_at", WORDS, nullable=False),
        sa.Column("replaced_at", WORDS, nullable=True),
        sa.Column("written_by", WORDS, nullable=False),
        sa.Column("decision", NUMBER, nullable=False),
        sa.Column("body", WORDS, nullable=False),
        sa.ForeignKeyConstraint(
            ["namespace", "written_by"], ["turns.namespace", "turns.turn_id"], name=op.f("fk_items_turns")
        ),
        sa.PrimaryKeyConstraint("namespace", "item_id", "version", name=op.f("pk_items")),
    )
    op.create_index(
        "ix_items_live",
        "items",
        ["namespace", "principal"],
        unique=False,
        sqlite_where=sa.text("replaced_at IS NULL"),
        postgresql_where=sa.text("replaced_at IS NULL"),
    )
    op.create_index(op.f("ix_items_namespace_entity_slot"), "items", ["namespace", "entity", "slot"], unique=False)
    op.create_index(op.f("ix_items_namespace_row"), "items", ["namespace", "row"], unique=True)
    op.create_index(op.f("ix_items_namespace_written_by"), "items", ["namespace", "written_by"], unique=False)


def _ledger() -> None:
    """The log, what lies beside it, and what its decisions refer to by digest."""
    op.create_table(
        "checkpoints",
        sa.Column("namespace", WORDS, nullable=False),
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("size", NUMBER, nullable=False),
        sa.Column("note", WORDS, nullable=False),
        sa.PrimaryKeyConstraint("namespace", "number", name=op.f("pk_checkpoints")),
    )
    op.create_table(
        "records",
        sa.Column("namespace", WORDS, nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.Column("record", WORDS, nullable=False),
        sa.Column("leaf", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("namespace", "seq", name=op.f("pk_records")),
    )
    op.create_table(
        "rulesets",
        sa.Column("digest", WORDS, nullable=False),
        sa.Column("sources", WORDS, nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_rulesets")),
    )
    op.create_table(
        "runtimes",
        sa.Column("digest", WORDS, nullable=False),
        sa.Column("versions", WORDS, nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_runtimes")),
    )
    op.create_table(
        "private_values",
        sa.Column("namespace", WORDS, nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.Column("field", WORDS, nullable=False),
        sa.Column("value", WORDS, nullable=False),
        sa.Column("salt", WORDS, nullable=False),
        sa.ForeignKeyConstraint(
            ["namespace", "seq"], ["records.namespace", "records.seq"], name=op.f("fk_private_values_records")
        ),
        sa.PrimaryKeyConstraint("namespace", "seq", "field", name=op.f("pk_private_values")),
    )


def _work() -> None:
    """Proposals that wait for an answer, work that waits for a worker, the full text."""
    op.create_table(
        "outbox",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("namespace", WORDS, nullable=False),
        sa.Column("kind", WORDS, nullable=False),
        sa.Column("item_id", WORDS, nullable=False),
        sa.Column("item_version", NUMBER, nullable=False),
        sa.Column("payload", WORDS, nullable=False),
        sa.Column("state", WORDS, nullable=False),
        sa.Column("attempts", NUMBER, nullable=False),
        sa.Column("not_before", WORDS, nullable=False),
        sa.Column("lease", WORDS, nullable=True),
        sa.Column("error", WORDS, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outbox")),
    )
    op.create_index(
        op.f("ix_outbox_namespace_kind_item_id_item_version"),
        "outbox",
        ["namespace", "kind", "item_id", "item_version"],
        unique=True,
    )
    op.create_index(
        "ix_outbox_waiting",
        "outbox",
        ["kind", "not_before"],
        unique=False,
        sqlite_where=sa.text("state = 'waiting'"),
        postgresql_where=sa.text("state = 'waiting'"),
    )
    op.create_table(
        "search_terms",
        sa.Column("namespace", WORDS, nullable=False),
        sa.Column("term", WORDS, nullable=False),
        sa.Column("entity", WORDS, nullable=False),
        sa.Column("ordinal", NUMBER, nullable=False),
        sa.Column("count", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("namespace", "term", "entity", "ordinal", name=op.f("pk_search_terms")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "proposals",
        sa.Column("namespace", WORDS, nullable=False),
        sa.Column("turn_id", WORDS, nullable=False),
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("conversation", WORDS, nullable=False),
        sa.Column("turn", NUMBER, nullable=False),
        sa.Column("answered_by", WORDS, nullable=True),
        sa.Column("body", WORDS, nullable=False),
        sa.ForeignKeyConstraint(
            ["namespace", "turn_id"], ["turns.namespace", "turns.turn_id"], name=op.f("fk_proposals_turns")
        ),
        sa.PrimaryKeyConstraint("namespace", "turn_id", "number", name=op.f("pk_proposals")),
    )
    op.create_index(
        op.f("ix_proposals_namespace_conversation_turn"),
        "proposals",
        ["namespace", "conversation", "turn"],
        unique=False,
    )
    op.create_table(
        "search_texts",
        sa.Column("namespace", WORDS, nullable=False),
        sa.Column("entity", WORDS, nullable=False),
        sa.Column("ordinal", NUMBER, nullable=False),
        sa.Column("length", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("namespace", "entity", "ordinal", name=op.f("pk_search_texts")),
        sqlite_with_rowid=False,
    )
