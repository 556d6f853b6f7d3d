"""Vectors of a byte a number, those of an entity side by side; indexes that spare an erasure a reading of all rows."""

from __future__ import annotations

import math
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
    _written_anew(whole, with_rowid=False)


def downgrade() -> None:
    """Take the indexes away and write the vectors as they were, as far as whole numbers tell."""
    op.drop_index(op.f("ix_turns_namespace_principal"), "turns")
    op.drop_index("ix_decisions_asking", "decisions")
    _written_anew(floats, with_rowid=True)


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


def whole(vector: bytes) -> bytes:
    """The direction of floats of 32 bits in whole numbers of 8; what is no row of such stays as it is, for a rebuild to
    mend."""
    try:
        numbers = struct.unpack(f"<{len(vector) // 4}f", vector)
        most = max(map(abs, numbers))
        return struct.pack(f"{len(numbers)}b", *(round(number * (127 / most)) for number in numbers))
    except (struct.error, ArithmeticError, ValueError):
        return vector


def floats(vector: bytes) -> bytes:
    """Whole numbers as floats of 32 bits, of length 1."""
    numbers = struct.unpack(f"{len(vector)}b", vector)
    length = math.hypot(*numbers) or 1.0
    return struct.pack(f"<{len(numbers)}f", *(number / length for number in numbers))
