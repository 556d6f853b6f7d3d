"""Errors on the command line: one clear line with its place and the way out, and an exit code."""

from __future__ import annotations

import os
import sys

from .options import FOUND, UNREADABLE, WRONG_USE


def told(error: Exception) -> int:
    """Print an error in one line with its place and the way out; its exit code."""
    from ..editing import EditError
    from ..intake import IntakeError, fault
    from ..rulefile import RuleError
    from ..settings import SettingsError

    if isinstance(error, BrokenPipeError):  # whoever read our output has seen enough
        # The interpreter flushes once more when it ends, and must not fail at it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FOUND
    if isinstance(error, UnicodeEncodeError) and "surrogates" in error.reason:
        print("an argument is not UTF-8. Set the terminal to UTF-8", file=sys.stderr)
        return WRONG_USE
    from ..audit.checkpoint import NoteError
    from ..erasure.certificates import CertificateError
    from ..erasure.erasing import ErasureError
    from ..trust.actors import ActorError
    from .opening import UnknownNamespace

    refused = IntakeError | SettingsError | EditError | ActorError | NoteError | UnknownNamespace
    if isinstance(error, refused | ErasureError | CertificateError):
        print(error, file=sys.stderr)
        return WRONG_USE
    if isinstance(error, RuleError):
        print(error, file=sys.stderr)
        return UNREADABLE
    if isinstance(error, OSError):
        place = error.filename if error.filename is not None else "input or output"
        line = f"{place}: {error.strerror}. Check the path, its rights and the room left" if error.strerror else error
        print(line, file=sys.stderr)
        return UNREADABLE
    from ..memory import NotFoundError
    from ..store.errors import Stale, StoreError, Unstorable

    if isinstance(error, NotFoundError | Stale | Unstorable):
        print(error, file=sys.stderr)
        return WRONG_USE
    from ..audit.ledger import LedgerError

    print(error if isinstance(error, StoreError | LedgerError) else fault(error), file=sys.stderr)
    return UNREADABLE
