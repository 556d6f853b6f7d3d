"""Vectors of items; single Chinese characters as terms of their own; an index that has all that a look-up compares."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
VECTOR = sa.LargeBinary().with_variant(sa.ARRAY(sa.REAL), "postgresql")

# Terms of two Chinese characters; in byte order their first character lies in one of these blocks.
BLOCKS = (("\u3400", "\u4dc0"), ("\u4e00", "\ua000"), ("\uf900", "\ufb00"), ("\U00020000", "\U00040000"))
_IN_BLOCK = " OR ".join(f"(term >= '{low}' AND term < '{high}')" for low, high in BLOCKS)
PAIRS = f"length(term) = 2 AND ({_IN_BLOCK})"


def upgrade() -> None:
    """Make the table, empty: `recordari index rebuild` fills it. Terms are made from those that are there."""
    op.create_table(
        "item_vectors",
        sa.Column("namespace", WORDS, nullable=False),
        sa.Column("entity", WORDS, nullable=False),
        sa.Column("ordinal", NUMBER, nullable=False),
        sa.Column("version", NUMBER, nullable=False),
        sa.Column("model", WORDS, nullable=False),
        sa.Column("vector", VECTOR, nullable=False),
        sa.PrimaryKeyConstraint("namespace", "entity", "ordinal", name=op.f("pk_item_vectors")),
    )
    op.drop_index(op.f("ix_items_namespace_entity_slot"), "items")
    op.create_index(
        "ix_items_place", "items", ["namespace", "entity", "slot", "qualifier", "kind", "status", "replaced_at", "row"]
    )
    connection = op.get_bind()
    added = "SELECT namespace, entity, ordinal, sum(count) FROM search_terms WHERE {} GROUP BY 1, 2, 3"
    more = [tuple(row) for row in connection.execute(sa.text(added.format(PAIRS)))]
    connection.execute(
        sa.text(
            "INSERT INTO search_terms (namespace, term, entity, ordinal, count) "
            "SELECT namespace, substr(term, 1, 1), entity, ordinal, CAST(sum(count) AS BIGINT) FROM search_terms "
            f"WHERE {PAIRS} GROUP BY 1, 2, 3, 4 "
            "ON CONFLICT (namespace, term, entity, ordinal) DO UPDATE SET count = search_terms.count + excluded.count"
        )
    )
    longer = "UPDATE search_texts SET length = length + :more WHERE namespace = :of AND entity = :by AND ordinal = :at"
    if more:
        rows = [{"of": of, "by": by, "at": at, "more": int(count)} for of, by, at, count in more]
        connection.execute(sa.text(longer), rows)


def downgrade() -> None:
    """Drop the table and the index; the terms stay, `recordari audit reindex` of the older version makes its own."""
    op.drop_table("item_vectors")
    op.drop_index("ix_items_place", "items")
    op.create_index(op.f("ix_items_namespace_entity_slot"), "items", ["namespace", "entity", "slot"])
