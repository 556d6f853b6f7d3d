"""Alembic migrations of the store, from the first schema on."""
