"""Alembic's way in: runs the migrations on the connection that the store hands over, in its transaction."""

from __future__ import annotations

from alembic import context

given = context.config.attributes
if "connection" not in given:
    raise SystemExit("Open the database with recordari: it upgrades the schema by itself.")
context.configure(
    connection=given["connection"],
    target_metadata=given["metadata"],
    render_as_batch=given["connection"].dialect.name == "sqlite",
)
context.run_migrations()
