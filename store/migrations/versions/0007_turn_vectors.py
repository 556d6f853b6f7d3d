"""Vectors of turns, for those who want what was said to be found by what it means."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
VECTOR = sa.LargeBinary().with_variant(sa.ARRAY(sa.REAL), "postgresql")


def upgrade() -> None:
    """Make the table, empty: `recordari index embed --transcript` fills it."""
    op.create_table(
        "turn_vectors",
        sa.Column("namespace", WORDS, nullable=False),
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("model", WORDS, nullable=False),
        sa.Column("vector", VECTOR, nullable=False),
        sa.PrimaryKeyConstraint("namespace", "number", name=op.f("pk_turn_vectors")),
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("turn_vectors")
