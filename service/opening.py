"""Which memory a command works on: reading makes nothing, an edit needs a memory that is there, `observe` begins it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..memory import Memory
from ..settings import Settings
from ..store.engine import Store
from ..store.errors import Missing, OlderSchema, StoreError


class UnknownNamespace(LookupError):
    """Nobody has written to this namespace; names those that exist."""


def memory_of(store: str | None, namespace: str | None, rules: list[Path] | None, **options: Any) -> Memory:
    """The Memory that the options and the settings describe; made when there is none."""
    settings = Settings()
    return Memory.open(
        store or settings.store,
        namespace=namespace or settings.namespace,
        rules=rules or settings.rules,
        settings=settings,
        **options,
    )


def reading(store: str | None, namespace: str | None, rules: list[Path] | None = None) -> Memory:
    """The same for a command that only reads: nothing is made, and a place that cannot be written serves as well."""
    _check(store, namespace)
    return memory_of(store, namespace, rules, read_only=True)


def editing(store: str | None, namespace: str | None, rules: list[Path] | None) -> Memory:
    """The same for a command that changes a memory that is there; one of an older version is brought to this one."""
    _check(store, namespace, writing=True)
    return memory_of(store, namespace, rules, create=False)


def _check(store: str | None, namespace: str | None, *, writing: bool = False) -> None:
    """An error about the place or the namespace before anything slow is done."""
    settings = Settings()
    place = store or settings.store
    try:
        try:
            opened = Store.open(place, read_only=True)
        except OlderSchema:
            if not writing:
                raise
            opened = Store.open(place, create=False)
        with opened:
            known = opened.namespaces()
    except Missing as wrong:
        raise _missing(wrong, place, given=store is not None, settings=settings) from None
    wanted = namespace or settings.namespace
    if wanted not in known:
        names = ", ".join(map(repr, known[:20])) + (f" and {len(known) - 20} more" if len(known) > 20 else "")
        way_out = f"Known: {names}" if known else "Nothing has been remembered in this store yet"
        raise UnknownNamespace(f"{opened.place}: no namespace {wanted!r}. {way_out}")


def _missing(wrong: Missing, place: str, *, given: bool, settings: Settings) -> StoreError:
    """The error with the whole path, and where the path comes from when nobody gave it."""
    shown = wrong.place if "://" in place else str(Path(place).absolute())  # an address without its password
    if given:
        way_out = "Check the path; `recordari observe` makes a new one"
    elif "store" in settings.model_fields_set:
        way_out = "RECORDARI_STORE names it; `recordari observe` makes a new one"
    else:
        way_out = "It is the default: name yours with --store or RECORDARI_STORE; `recordari observe` makes a new one"
    return Missing(shown, wrong.what, way_out)
