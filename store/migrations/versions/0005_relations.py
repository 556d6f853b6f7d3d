"""Edges between names: what a question follows over several steps."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the table, empty: `Memory.reindex` puts the items of before into it."""
    key = ("namespace", "node", "relation", "direction", "other", "item_id", "turn_id")
    op.create_table(
        "relations",
        *(sa.Column(name, WORDS, nullable=False) for name in (*key, "recorded_at")),
        sa.PrimaryKeyConstraint(*key, name=op.f("pk_relations")),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("relations")
