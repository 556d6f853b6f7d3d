"""Whom a decision is about, where it is somebody else than the turn was with: erasing them need not read all."""

from __future__ import annotations

import json
import re

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
ABOUT = "about IS NOT NULL"
_FIND = """SELECT d.namespace, d.turn_id, d.ordinal, d.body, t.principal FROM decisions d
JOIN turns t ON t.namespace = d.namespace AND t.turn_id = d.turn_id
WHERE (d.namespace, d.turn_id, d.ordinal) > (:namespace, :turn, :ordinal)
ORDER BY d.namespace, d.turn_id, d.ordinal LIMIT :most"""
_FILL = "UPDATE decisions SET about = :about WHERE namespace = :namespace AND turn_id = :turn AND ordinal = :ordinal"
_AT_ONCE = 5000
_UNSTORABLE = re.compile("[\\x00\\ud800-\\udfff]")


def upgrade() -> None:
    """Add the column, fill it from the decisions, and index it."""
    op.add_column("decisions", sa.Column("about", WORDS, nullable=True))
    fill(op.get_bind())
    where = sa.text(ABOUT)
    op.create_index(
        "ix_decisions_about", "decisions", ["namespace", "about"], sqlite_where=where, postgresql_where=where
    )  # fmt: skip


def downgrade() -> None:
    """Take both away."""
    op.drop_index("ix_decisions_about", "decisions")
    op.drop_column("decisions", "about")


def fill(connection: sa.Connection, at_once: int = _AT_ONCE) -> None:
    """Fill the column some rows at a time: any number of decisions takes the same memory."""
    last: dict[str, object] = {"namespace": "", "turn": "", "ordinal": -1}
    while page := connection.execute(sa.text(_FIND), {**last, "most": at_once}).all():
        filled = [
            {"about": entity, "namespace": namespace, "turn": turn, "ordinal": ordinal}
            for namespace, turn, ordinal, body, principal in page
            if (entity := _entity(body)) and entity != principal
        ]
        if filled:
            connection.execute(sa.text(_FILL), filled)
        last = dict(zip(("namespace", "turn", "ordinal"), page[-1], strict=False))


def _entity(body: str) -> str | None:
    """The entity that a decision names, as a column keeps it."""
    if '"entity"' not in body:
        return None
    named = json.loads(body).get("entity")
    return _UNSTORABLE.sub("\ufffd", named) if isinstance(named, str) else None
