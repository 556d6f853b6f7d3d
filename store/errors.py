"""What can go wrong with a store, each with the place and the way out.

StoreError
├── CannotOpen         no such place, no right to it, or a server that does not answer
│   ├── Missing        there is no memory at this place, and none was to be made
│   ├── NotADatabase   the file is something else, or encrypted
│   ├── NewerSchema    written by a newer Recordari
│   └── OlderSchema    written by an older one, and opened for reading only
├── ReadOnly           the place cannot be written to
├── Full               disk or quota is full; nothing of the transaction was kept
├── Busy               another writer holds the place for longer than the timeout
├── Damaged            the file or an index of it is broken
├── Unstorable         a name is not UTF-8, or has NUL in it
├── TurnConflict       a known turn_id arrives with other content
└── Stale              an edit rests on a version that has been changed meanwhile
"""

from __future__ import annotations

from sqlalchemy import exc


class StoreError(RuntimeError):
    """Base of all errors of the store: what is wrong, where, and what to do."""

    def __init__(self, place: str, what: str, way_out: str = "") -> None:
        self.place = place
        self.what = what
        self.way_out = way_out
        super().__init__(f"{place}: {what}" + (f". {way_out}" if way_out else ""))


class CannotOpen(StoreError):
    """The place does not exist, may not be entered, or does not answer."""


class Missing(CannotOpen):
    """There is no memory at the place, and whoever opened it did not want a new one."""


class NotADatabase(CannotOpen):
    """The file is no SQLite database."""


class NewerSchema(CannotOpen):
    """The database was written by a newer version of Recordari."""


class OlderSchema(CannotOpen):
    """The database was written by an older version of Recordari and may not be brought to this one: read-only."""


class ReadOnly(StoreError):
    """The place cannot be written to."""


class Full(StoreError):
    """No room left; the transaction was rolled back as a whole."""


class Busy(StoreError):
    """Another writer did not finish in time."""


class Damaged(StoreError):
    """The database file is broken."""


class Unstorable(StoreError):
    """A name has NUL or half of a surrogate pair in it: nothing is stored under such a one."""

    def __init__(self, place: str) -> None:
        super().__init__(place, "a name or an id is not UTF-8, or has NUL in it: no database keeps it", "Correct it")


class TurnConflict(StoreError):
    """The same turn_id with other content: either the id or the text is wrong, so nothing is written."""


class Stale(StoreError):
    """The version that an edit rests on is no longer the newest."""


# SQLite names its errors; PostgreSQL numbers them (SQLSTATE). Longest prefix first.
_BY_CODE: tuple[tuple[str, type[StoreError], str, str], ...] = (
    ("SQLITE_NOTADB", NotADatabase, "not a SQLite database", "Give the path of a Recordari database or of a new file"),
    ("SQLITE_FULL", Full, "the disk or its quota is full", "Nothing of it was kept: free space and send it again"),
    ("SQLITE_READONLY", ReadOnly, "the database cannot be written", "Check the rights of the file and of its folder"),
    ("SQLITE_CANTOPEN", CannotOpen, "cannot be opened", "Check that the folder exists and may be written"),
    ("SQLITE_BUSY", Busy, "another writer holds the database", "Send it again, or raise the busy timeout"),
    ("SQLITE_LOCKED", Busy, "another writer holds a table", "Send it again"),
    ("SQLITE_CORRUPT", Damaged, "the database file is damaged", "Restore a backup; `recordari audit verify` checks it"),
    ("SQLITE_IOERR", StoreError, "the disk reports an error", "Nothing of this turn was kept: check the disk"),
    ("25006", ReadOnly, "the server accepts no writes here", "Connect to the primary server"),
    ("42501", ReadOnly, "the role lacks the right", "Grant it the rights on the schema"),
    ("53", Full, "the server is out of room or connections", "Nothing of this turn was kept: send it again later"),
    ("55P03", Busy, "another writer holds the namespace", "Send it again, or raise the busy timeout"),
    ("40", Busy, "the transaction lost against another one", "Send it again"),
    ("57", Busy, "the server is stopping or the call was cancelled", "Send it again"),
    ("08", CannotOpen, "the server does not answer", "Check address, port and network"),
    ("28", CannotOpen, "the server refuses the user", "Check user and password"),
    ("3D", CannotOpen, "the server has no such database", "Create it first"),
    ("XX", Damaged, "the server reports a damaged database", "Restore a backup"),
)  # fmt: skip


def as_store_error(place: str, wrong: Exception) -> StoreError:
    """The error of this house for one of the driver."""
    original = wrong.orig if isinstance(wrong, exc.DBAPIError) else wrong
    code = getattr(original, "sqlite_errorname", None) or getattr(original, "sqlstate", None) or ""
    detail = " ".join(str(original).split())
    if "NUL (0x00)" in detail:  # psycopg's own words; it has no code for them
        return Unstorable(place)
    for prefix, kind, what, way_out in _BY_CODE:
        if code.startswith(prefix):
            return kind(place, f"{what} ({detail})", way_out)
    if isinstance(wrong, exc.OperationalError) and not code:  # a driver that got no connection knows no code
        return CannotOpen(place, detail, "Check the address, and that the server runs")
    return StoreError(place, detail)
