"""Recordari: a rule-engine-first memory for AI agents, Chinese and English. The public names, nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .intake import IntakeError
    from .memory import Memory, NotFoundError
    from .model import Decision, MemoryItem, Receipt
    from .rulefile import RuleError
    from .store.errors import StoreError

# Looked up on first use: `recordari --help` must not pay for a database driver.
_HOMES = {
    "Decision": "model", "IntakeError": "intake", "Memory": "memory", "MemoryItem": "model",
    "NotFoundError": "memory", "Receipt": "model", "RuleError": "rulefile", "StoreError": "store.errors",
}  # fmt: skip
__all__ = ["Decision", "IntakeError", "Memory", "MemoryItem", "NotFoundError", "Receipt", "RuleError", "StoreError"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
