"""Vectors in half precision, those of an entity side by side; indexes that spare an erasure the reading of all rows."""

from __future__ import annotations

import struct
from collections.abc import Callable

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

ASKING = "body LIKE '%\"question\":%'"
# table → its columns beside the vector, those of its key first
KEPT = {
    "item_vectors": (("namespace", "entity", "ordinal"), ("version", "model")),
    "turn_vectors": (("namespace", "number"), ("model",)),
}
_NUMBERS = {"ordinal", "version", "number"}


def upgrade() -> None:
    """Write the vectors of an SQLite file anew; PostgreSQL keeps arrays, which are as they were."""
    where = sa.text(ASKING)
    op.create_index(
        "ix_decisions_asking", "decisions", ["namespace", "turn_id", "ordinal"], sqlite_where=where,
        postgresql_where=where,
    )  # fmt: skip
    op.create_index(op.f("ix_turns_namespace_principal"), "turns", ["namespace", "principal"])
    _written_anew(halved, with_rowid=False)


def downgrade() -> None:
    """Take the indexes away and write the vectors as they were, as far as half precision tells."""
    op.drop_index(op.f("ix_turns_namespace_principal"), "turns")
    op.drop_index("ix_decisions_asking", "decisions")
    _written_anew(doubled, with_rowid=True)


def _written_anew(change: Callable[[bytes], bytes], *, with_rowid: bool) -> None:
    connection = op.get_bind()
    if connection.dialect.name != "sqlite":
        return
    driver = connection.connection.dbapi_connection
    assert driver is not None
    driver.create_function("changed", 1, change, deterministic=True)
    for table, (key, more) in KEPT.items():
        op.rename_table(table, "former")
        op.create_table(
            table,
            *(
                sa.Column(name, sa.Integer() if name in _NUMBERS else sa.Text(), nullable=False)
                for name in (*key, *more)
            ),
            sa.Column("vector", sa.LargeBinary(), nullable=False),
            sa.PrimaryKeyConstraint(*key, name=op.f(f"pk_{table}")),
            sqlite_with_rowid=with_rowid,
        )
        names = ", ".join((*key, *more))
        op.execute(
            f"INSERT INTO {table} ({names}, vector) SELECT {names}, changed(vector) FROM former "
            f"ORDER BY {', '.join(key)}"
        )
        op.drop_table("former")


def halved(vector: bytes) -> bytes:
    """Numbers of 32 bits in 16; what is no row of numbers stays as it is, for a rebuild to mend."""
    return _as(vector, "f", "e")


def doubled(vector: bytes) -> bytes:
    """Numbers of 16 bits in 32."""
    return _as(vector, "e", "f")


def _as(vector: bytes, before: str, after: str) -> bytes:
    try:
        count = len(vector) // struct.calcsize(before)
        return struct.pack(f"<{count}{after}", *struct.unpack(f"<{count}{before}", vector))
    except (struct.error, OverflowError):
        return vector
