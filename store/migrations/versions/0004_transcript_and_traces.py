"""The full text index over what was said, and the traces of what was asked."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the tables, empty: `Memory.reindex` puts what was said before into the index."""
    op.create_table(
        "turn_terms",
        sa.Column("namespace", WORDS, nullable=False),
        sa.Column("term", WORDS, nullable=False),
        sa.Column("principal", WORDS, nullable=False),
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("count", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("namespace", "term", "principal", "number", name=op.f("pk_turn_terms")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "turn_texts",
        sa.Column("namespace", WORDS, nullable=False),
        sa.Column("principal", WORDS, nullable=False),
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("turn_id", WORDS, nullable=False),
        sa.Column("conversation", WORDS, nullable=False),
        sa.Column("said_at", WORDS, nullable=False),
        sa.Column("length", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("namespace", "principal", "number", name=op.f("pk_turn_texts")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_turn_texts_namespace_turn_id"), "turn_texts", ["namespace", "turn_id"], unique=True)
    op.create_table(
        "traces",
        sa.Column("namespace", WORDS, nullable=False),
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("written_at", WORDS, nullable=False),
        sa.Column("entity", WORDS, nullable=True),
        sa.Column("found", NUMBER, nullable=False),
        sa.Column("body", WORDS, nullable=False),
        sa.PrimaryKeyConstraint("namespace", "number", name=op.f("pk_traces")),
    )
    op.create_table(
        "trace_hits",
        sa.Column("namespace", WORDS, nullable=False),
        sa.Column("target", WORDS, nullable=False),
        sa.Column("trace", NUMBER, nullable=False),
        sa.Column("kind", WORDS, nullable=False),
        sa.Column("place", NUMBER, nullable=False),
        sa.Column("injected", NUMBER, nullable=False),
        sa.ForeignKeyConstraint(
            ["namespace", "trace"], ["traces.namespace", "traces.number"], name=op.f("fk_trace_hits_traces")
        ),
        sa.PrimaryKeyConstraint("namespace", "target", "trace", "kind", name=op.f("pk_trace_hits")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_trace_hits_namespace_trace"), "trace_hits", ["namespace", "trace"], unique=False)


def downgrade() -> None:
    """Drop them."""
    for table in ("trace_hits", "traces", "turn_texts", "turn_terms"):
        op.drop_table(table)
