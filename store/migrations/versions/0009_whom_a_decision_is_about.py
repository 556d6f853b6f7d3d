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
JOIN turns t ON t.namespace = d.namespace AND t.turn_id = d.turn_id"""
_FILL = "UPDATE decisions SET about = :about WHERE namespace = :namespace AND turn_id = :turn AND ordinal = :ordinal"
_AT_ONCE = 5000
_UNSTORABLE = re.compile("[\\x00\\ud800-\\udfff]")


def upgrade() -> None:
    """Add the column, fill it from the decisions, and index it."""
    op.add_column("decisions", sa.Column("about", WORDS, nullable=True))
    connection = op.get_bind()
    filled = []
    for page in connection.execute(sa.text(_FIND).execution_options(yield_per=_AT_ONCE)).partitions():
        for namespace, turn, ordinal, body, principal in page:
            entity = _entity(body)
            if entity and entity != principal:
                filled.append({"about": entity, "namespace": namespace, "turn": turn, "ordinal": ordinal})
    if filled:
        connection.execute(sa.text(_FILL), filled)
    where = sa.text(ABOUT)
    op.create_index(
        "ix_decisions_about", "decisions", ["namespace", "about"], sqlite_where=where, postgresql_where=where
    )  # fmt: skip


def downgrade() -> None:
    """Take both away."""
    op.drop_index("ix_decisions_about", "decisions")
    op.drop_column("decisions", "about")


def _entity(body: str) -> str | None:
    """The entity that a decision names, as a column keeps it."""
    if '"entity"' not in body:
        return None
    named = json.loads(body).get("entity")
    return _UNSTORABLE.sub("\ufffd", named) if isinstance(named, str) else None
