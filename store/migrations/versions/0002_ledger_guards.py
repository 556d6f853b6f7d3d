"""Triggers that keep the ledger, the door for erasing, and subtrees for short proofs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from recordari.store.guards import statements

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the two tables and the triggers. Subtrees of records that are there already are computed when asked for."""
    op.create_table(
        "subtrees",
        sa.Column("namespace", WORDS, nullable=False),
        sa.Column("level", NUMBER, nullable=False),
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("namespace", "level", "number", name=op.f("pk_subtrees")),
    )
    op.create_table(
        "erasures",
        sa.Column("namespace", WORDS, nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.Column("field", WORDS, nullable=False),
        sa.Column("decided_by", NUMBER, nullable=False),
        sa.ForeignKeyConstraint(
            ["namespace", "decided_by"], ["records.namespace", "records.seq"], name=op.f("fk_erasures_records")
        ),
        sa.PrimaryKeyConstraint("namespace", "seq", "field", name=op.f("pk_erasures")),
    )
    op.create_table(
        "acts",
        sa.Column("namespace", WORDS, nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.Column("kind", WORDS, nullable=False),
        sa.ForeignKeyConstraint(
            ["namespace", "seq"], ["records.namespace", "records.seq"], name=op.f("fk_acts_records")
        ),
        sa.PrimaryKeyConstraint("namespace", "seq", name=op.f("pk_acts")),
    )
    op.create_index(op.f("ix_acts_namespace_kind_seq"), "acts", ["namespace", "kind", "seq"], unique=False)
    records = sa.table("records", sa.column("namespace"), sa.column("seq"), sa.column("record"))
    acts = sa.table("acts", sa.column("namespace"), sa.column("seq"), sa.column("kind"))
    for former, kind in (("erasure", "erase"), ("polish", "rewrite")):
        found = records.c.record.like(f'%"format":1,"kind":"{former}","namespace":%')
        chosen = sa.select(records.c.namespace, records.c.seq, sa.literal(kind)).where(found)
        op.get_bind().execute(sa.insert(acts).from_select(["namespace", "seq", "kind"], chosen))
    for statement in statements(op.get_bind().dialect.name):
        op.get_bind().exec_driver_sql(statement)


def downgrade() -> None:
    """Drop them."""
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("DROP FUNCTION keep_ledger() CASCADE")
        connection.exec_driver_sql("DROP FUNCTION keep_ledger_value() CASCADE")
    else:
        names = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'keep_%'"
        for name in connection.exec_driver_sql(names).scalars().all():
            connection.exec_driver_sql(f"DROP TRIGGER {name}")
    op.drop_table("acts")
    op.drop_table("erasures")
    op.drop_table("subtrees")
