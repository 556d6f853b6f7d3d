"""Opens a store and hands out its transactions: one writer a namespace at a time, readers never held up.

Errors are those of ``errors.py``: they say what is wrong, where, and what to do.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, select, text
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from .errors import Busy, CannotOpen, Damaged, Missing, ReadOnly, StoreError, Unstorable, as_store_error
from .inspection import Inspection
from .known import Cache
from .reading import Reading, View
from .schema import prepare
from .scrubbing import Copy
from .tables import NAMESPACES, storable
from .transaction import Transaction
from .writing import Writing

Synchronous = Literal["FULL", "NORMAL", "OFF"]
_WRITER = "recordari_writer"  # execution option: this transaction will write
_SCHEMA_LOCK = 0x5EC0DA21  # PostgreSQL advisory lock while the schema is made; any fixed number does


class _PerThread(threading.local):
    """Must have no slots: those of a ``threading.local`` are shared between threads."""

    held: Transaction | None = None


class Store:
    """A database of namespaces. Safe to share between threads; every process opens its own."""

    def __init__(self, engine: Engine, place: str, *, read_only: bool = False, secret: bytes | None = None) -> None:
        self._engine = engine
        self.place = place
        self.read_only = read_only
        self._secret = secret
        self._caches: dict[str, Cache] = {}
        self._thread = _PerThread()
        self.copies: tuple[Copy, ...] = ()  # where an erasure has to reach beyond the database
        # SQLite has one writer a file: waiting here is fair and immediate, its own busy handler polls.
        self._writer = threading.RLock() if engine.dialect.name == "sqlite" else contextlib.nullcontext()
        # A memory database is one connection, which can do one thing at a time.
        self._alone = isinstance(engine.pool, StaticPool)

    @classmethod
    def open(
        cls,
        place: str | Path = "sqlite://",
        *,
        read_only: bool = False,
        create: bool = True,
        synchronous: Synchronous = "FULL",
        busy_timeout: float = 30.0,
        secret: bytes | None = None,
    ) -> Store:
        """Open ``matter.db``, ``sqlite:///matter.db``, ``sqlite://`` (memory) or ``postgresql+psycopg://…``.

        A new or empty database gets its tables, unless ``create`` is false (Missing); an older one is upgraded.
        ``read_only`` makes and changes nothing and serves a file or a folder that cannot be written, too.
        ``secret`` fixes the secret of new namespaces (rehearsals); by default each gets one from the operating system.
        """
        url = _url(place)
        name = url.database if url.get_backend_name() == "sqlite" else url.render_as_string(hide_password=True)
        shown = name or "memory"
        if url.get_backend_name() != "sqlite":
            ways = [_postgresql(url, shown, read_only, busy_timeout)]
        else:
            addresses = _addresses(url, shown, read_only, create)
            ways = [_sqlite(each, read_only, synchronous, busy_timeout) for each in addresses]
        for number, engine in enumerate(ways, 1):
            store = cls(engine, shown, read_only=read_only, secret=secret)
            try:
                store._prepare(create=create)
            except (ReadOnly, CannotOpen) as wrong:
                engine.dispose()
                if number < len(ways) and not isinstance(wrong, Missing):
                    continue
                if read_only and type(wrong) is CannotOpen and (told := _logged_ahead(shown)) is not None:
                    raise told from wrong
                raise
            except BaseException:
                engine.dispose()
                raise
            else:
                break
        return store

    def again(self, *, busy_timeout: float) -> Store | None:
        """Another store over the same database, for writing of what nobody mourns: it waits less, and for no disk. None
        for a memory database, which has one connection."""
        if self._alone:
            return None
        url = self._engine.url
        place = self.place if self.backend == "sqlite" else url.render_as_string(hide_password=False)
        return Store.open(place, create=False, synchronous="NORMAL", busy_timeout=busy_timeout)

    @property
    def backend(self) -> str:
        """``sqlite`` or ``postgresql``."""
        return self._engine.dialect.name

    @contextlib.contextmanager
    def writing(self, namespace: str = "default") -> Iterator[Writing]:
        """The writing transaction of a namespace: everything in the block is committed together, or nothing.

        Inside ``group`` the block is a part of the group's transaction: its error undoes the block alone.
        """
        held = self._thread.held
        if held is not None:
            if held.namespace != namespace or held.open is not None:
                raise StoreError(self.place, f"this thread is writing to {held.namespace!r} already", "End that first")
            if held.broken:
                raise _undone(self.place)
            with self._errors(), held.part(self.place, nested=True) as tx:
                yield tx
            return
        with self._outer(namespace) as alone, alone.part(self.place, nested=False) as tx:
            yield tx

    @contextlib.contextmanager
    def group(self, namespace: str = "default") -> Iterator[None]:
        """One transaction around several ``writing`` blocks: nothing of it is kept before the group ends."""
        with self._outer(namespace):
            yield

    @contextlib.contextmanager
    def _outer(self, namespace: str) -> Iterator[Transaction]:
        if self.read_only:
            raise ReadOnly(self.place, "opened for reading only", "Open it without read_only")
        if not namespace or not storable(namespace):
            raise StoreError(self.place, f"{namespace!r} is no name for a namespace", "Choose another")
        if self._thread.held is not None:
            raise StoreError(self.place, "groups do not nest", "End the open one first")
        with self._writer, self._errors():
            try:
                with self._engine.connect() as plain:
                    connection = plain.execution_options(**{_WRITER: True})
                    with connection.begin():
                        self._lock(connection, namespace)
                        held = Transaction(connection, namespace, self._secret, self._caches.pop(namespace, None))
                        self._thread.held = held
                        yield held
                        if held.broken:
                            raise _undone(self.place)
                        held.finish()
                if held.cache is not None:
                    self._caches[namespace] = held.cache
            finally:
                self._thread.held = None

    @contextlib.contextmanager
    def reading(self, namespace: str = "default") -> Iterator[Reading]:
        """A consistent view of a namespace; inside ``writing`` or ``group`` it sees what was written so far."""
        held = self._thread.held
        if held is not None:
            with self._errors():
                yield Reading(View(lambda: held.connection, namespace), self.place)
            return
        with self._transaction() as connection:
            yield Reading(View(lambda: connection, namespace), self.place)

    @contextlib.contextmanager
    def inspecting(self, namespace: str = "default") -> Iterator[Inspection]:
        """A consistent view for the verifier, to whom text that is no UTF-8 is a finding, not an error."""
        with self._transaction() as connection:
            driver: Any = connection.connection.dbapi_connection
            if self.backend == "sqlite":
                driver.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")
            try:
                yield Inspection(View(lambda: connection, namespace), self.place)
            finally:
                if self.backend == "sqlite":
                    driver.text_factory = str

    def namespaces(self) -> tuple[str, ...]:
        """The namespaces that have been written to."""
        with self._transaction() as connection:
            return tuple(connection.execute(select(NAMESPACES.c.name).order_by(NAMESPACES.c.name)).scalars())

    def check(self) -> tuple[str, ...]:
        """What the database engine finds wrong with its own file; empty when all is well."""
        if self.backend != "sqlite":
            return ()
        with self._transaction() as connection:
            found = tuple(connection.exec_driver_sql("PRAGMA integrity_check").scalars())
        return () if found == ("ok",) else found

    def scrub(self) -> bool:
        """Clean the places where erased data still lies (free pages, the write-ahead log, dead rows), where an erasure
        left them so. False when it cannot be done now, because somebody else is reading or there is no room: what was
        erased stays erased, and its old pages until this is done again."""
        from .scrubbing import scrub

        try:
            with self._writer, self._errors():
                return scrub(self._engine, self.copies)
        except StoreError:
            return False

    @property
    def unclean(self) -> bool:
        """Whether what was erased still waits for its cleaning, which could not be done yet."""
        from .scrubbing import waits

        with self._errors():
            return waits(self._engine)

    def close(self) -> None:
        """Close all connections. The last one to leave an SQLite database folds its write-ahead log in."""
        self._engine.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[Connection]:
        """A reading transaction."""
        with (
            self._writer if self._alone else contextlib.nullcontext(),
            self._errors(),
            self._engine.connect() as connection,
            connection.begin(),
        ):
            yield connection

    def _lock(self, connection: Connection, namespace: str) -> None:
        """PostgreSQL: the lock of the namespace, until the transaction ends. SQLite took the whole file at BEGIN."""
        if self.backend == "postgresql":
            number = int.from_bytes(hashlib.sha256(namespace.encode()).digest()[:8], "big", signed=True)
            connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": number})

    def _prepare(self, *, create: bool) -> None:
        with self._errors():
            with self._engine.connect() as plain:
                connection = plain if self.read_only else plain.execution_options(**{_WRITER: True})
                with connection.begin():
                    if self.backend == "postgresql" and not self.read_only:
                        connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _SCHEMA_LOCK})
                    prepare(connection, self.place, read_only=self.read_only, new=create)
            if self.backend == "sqlite" and not (self._alone or self.read_only):
                self._write_ahead()

    def _write_ahead(self) -> None:
        """Switch the file to write-ahead logging, which lasts; several first openers take turns."""
        for pause in (0.0, 0.01, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0):
            time.sleep(pause)
            raw = self._engine.raw_connection()
            try:
                with contextlib.suppress(Exception):
                    if raw.cursor().execute("PRAGMA journal_mode=WAL").fetchone() == ("wal",):
                        return
            finally:
                raw.close()
        raise Busy(self.place, "another process keeps the database from write-ahead logging", "Open it again")

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as wrong:
            raise as_store_error(self.place, wrong) from wrong
        except UnicodeEncodeError as wrong:  # half of a surrogate pair, on its way to the driver
            raise Unstorable(self.place) from wrong
        except (json.JSONDecodeError, ValidationError) as wrong:  # a row that no writer of ours left like this
            told = str(wrong).splitlines()[0]
            way_out = "`recordari audit verify` says where; restore a backup"
            raise Damaged(self.place, f"a row cannot be read ({told})", way_out) from wrong
        except Exception as wrong:
            if hasattr(wrong, "sqlite_errorname") or hasattr(wrong, "sqlstate"):  # straight from the driver
                raise as_store_error(self.place, wrong) from wrong
            raise


def _logged_ahead(place: str) -> StoreError | None:
    """The error for a file with a write-ahead log where no log can be read, because nothing can be written."""
    if not Path(place + "-wal").exists():
        return None
    way_out = "Close whoever writes to it, or copy both files into a folder that can be written"
    return CannotOpen(place, f"what was written last stands in {place}-wal, which cannot be read here", way_out)


def _undone(place: str) -> StoreError:
    return StoreError(place, "an earlier error undid the whole group", "Nothing of it was kept: send it again")


def _url(place: str | Path) -> URL:
    """A path or an URL as an URL."""
    shown = str(place)
    if isinstance(place, Path) or "://" not in shown:
        if shown == ":memory:":
            return URL.create("sqlite")
        return URL.create("sqlite", database=shown)
    try:
        url = make_url(shown)
    except ArgumentError as wrong:
        raise CannotOpen(
            shown, "no address of a database", "Give a path, sqlite:///… or postgresql+psycopg://…"
        ) from wrong
    if url.drivername in {"postgresql", "postgres"}:
        url = url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() not in {"sqlite", "postgresql"}:
        raise CannotOpen(shown, f"{url.drivername} is not served", "Use SQLite or PostgreSQL")
    return url


def _addresses(url: URL, place: str, read_only: bool, create: bool) -> list[URL]:
    """The ways to open a file, the best first.

    Who only reads opens it like a writer all the same, so that a write-ahead log is read and folded in; where nothing
    can be written the file is opened as it stands, which is all there is when it has no write-ahead file.
    """
    if not url.database or url.database == ":memory:":
        return [url]
    path = Path(url.database)
    _check_path(path, place, must_exist=read_only or not create)
    if not read_only:
        return [url]
    path = path.absolute()
    queries = [{"mode": "rw"}, {"mode": "ro"}]
    log = path.with_name(path.name + "-wal")
    if not log.exists() or log.stat().st_size == 0:
        queries.append({"mode": "ro", "immutable": "1"})
    address = path.as_uri()
    return [URL.create("sqlite", database=address, query={**each, "uri": "true"}) for each in queries]


def _sqlite(url: URL, read_only: bool, synchronous: Synchronous, busy_timeout: float) -> Engine:
    arguments: dict[str, Any] = {"timeout": busy_timeout, "isolation_level": None, "check_same_thread": False}
    options: dict[str, Any] = {}
    if not url.database or url.database == ":memory:":
        options["poolclass"] = StaticPool
    engine = create_engine(url, connect_args=arguments, **options)

    @event.listens_for(engine, "connect")
    def prepare_connection(connection: Any, _: object) -> None:
        cursor = connection.cursor()
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.execute("PRAGMA cache_size=-32768")  # KB: the inner pages of a store of some GB, read once
        cursor.execute("PRAGMA secure_delete=ON")  # what is deleted is overwritten: erasure reaches the file
        cursor.execute("PRAGMA query_only=ON" if read_only else f"PRAGMA synchronous={synchronous}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(_WRITER, False)
        driver: Any = connection.connection.dbapi_connection
        driver.execute("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _check_path(path: Path, place: str, *, must_exist: bool) -> None:
    if path.is_dir():
        raise CannotOpen(place, "a folder, not a file", "Name a file in it")
    if not path.parent.is_dir():
        raise CannotOpen(place, f"there is no folder {path.parent}", "Make it first")
    if must_exist and not path.exists():
        raise Missing(place, "no such file", "Check the path")


def _postgresql(url: URL, place: str, read_only: bool, busy_timeout: float) -> Engine:
    try:
        engine = create_engine(url, pool_pre_ping=True)
    except ImportError as wrong:
        raise CannotOpen(place, f"the driver is missing ({wrong})", "Install recordari[postgres]") from wrong

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        if connection.get_execution_options().get(_WRITER, False):
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = {int(busy_timeout * 1000)}")
        else:  # one snapshot for all queries of a reader
            mode = "READ ONLY" if read_only else "READ WRITE"
            connection.exec_driver_sql(f"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ {mode}")

    return engine
