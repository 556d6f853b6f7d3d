"""Which decisions refused a wish, by principal: what an induced preference is counted from."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the table, empty: what was refused before nobody had looked at as a wish."""
    op.create_table(
        "wishes",
        sa.Column("namespace", WORDS, nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.Column("principal", WORDS, nullable=False),
        sa.Column("turn_id", WORDS, nullable=False),
        sa.Column("ordinal", NUMBER, nullable=False),
        sa.ForeignKeyConstraint(
            ["namespace", "turn_id"], ["turns.namespace", "turns.turn_id"], name=op.f("fk_wishes_turns")
        ),
        sa.PrimaryKeyConstraint("namespace", "seq", name=op.f("pk_wishes")),
    )
    op.create_index(
        op.f("ix_wishes_namespace_principal_seq"), "wishes", ["namespace", "principal", "seq"], unique=False
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("wishes")
