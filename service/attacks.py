"""`recordari audit attack`: every way we know to falsify a ledger, done to a throw-away copy, and who sees it."""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
import tempfile
import threading
import unicodedata
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ..audit.checkpoint import SigningKey
from ..audit.ledger import Ledger
from ..audit.merkle import leaf_hash
from ..audit.record import Entry
from ..audit.report import Report
from ..intake import IntakeError
from ..memory import Memory
from ..rules.ruleset import Ruleset
from ..settings import Settings
from .forgery import cut, dump, put, records, refit, resign, superuser
from .streams import emit

BEGAN = datetime(2026, 3, 18, 10, tzinfo=UTC)
SAID = (
    "我们的预算是8万元。", "今天天气真好。", "预算改成9万元。", "我的电话是13800002345。",
    "The closing date is May 6, 2026.", "我的邮箱是 jose@example.com。",
)  # fmt: skip
TWIN = "José"  # an entity that looks the same composed and decomposed

FOUND, REFUSED, WITNESS, HARMLESS, UNSEEN, MISSED = (
    "found", "refused", "seen by the witness alone", "harmless", "not to be seen", "MISSED",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Outcome:
    """One attack: what was done, what became of it, and the finding or the refusal in its own words."""

    name: str
    done: str
    outcome: str
    told: str


class Range:
    """A copy of a store in which one attack after another is tried, each from the same state."""

    def __init__(self, folder: Path, ruleset: Ruleset, namespace: str) -> None:
        self.namespace = namespace
        self.ruleset = ruleset
        self.whole = folder / "whole" / "copy.db"
        self.path = folder / "copy.db"

    def open(self, *, whole: bool = False, read_only: bool = False) -> Memory:
        """The copy as a memory, with the key and the witness that lie beside it, whatever the settings name."""
        path = self.whole if whole else self.path
        settings = Settings(
            signing_key=path.with_name("copy.db.key"), witness=path.with_name("copy.db.checkpoints"), actors=None,
            llm_url=None,
        )  # fmt: skip
        return Memory.open(
            path, ruleset=self.ruleset, namespace=self.namespace, ner=False, settings=settings, read_only=read_only
        )

    def prepare(self) -> None:
        """Say a few things, in three sittings, so that there is something to falsify and checkpoints to outwit."""
        for sitting in range(3):
            with self.open(whole=True) as memory:
                for number, text in enumerate(SAID[sitting * 2 : sitting * 2 + 2]):
                    at = BEGAN + timedelta(days=sitting, minutes=number)
                    memory.observe(text, said_at=at, entity=TWIN, conversation=f"@attack-{sitting}")

    def fresh(self) -> None:
        """Back to the state before the attack."""
        for suffix in ("", ".key", ".checkpoints"):
            shutil.copy(self.whole.with_name(f"copy.db{suffix}"), self.path.with_name(f"copy.db{suffix}"))
        for suffix in ("-wal", "-shm"):
            self.path.with_name(f"copy.db{suffix}").unlink(missing_ok=True)

    def check(self, *, witness: bool = True) -> Report:
        """Verify the copy, with its key and, unless told otherwise, the witness."""
        if not witness:
            self.path.with_name("copy.db.checkpoints").unlink()
        with self.open(read_only=True) as memory:
            return memory.verify()

    @property
    def key(self) -> SigningKey:
        """The signing key of the copy."""
        return SigningKey.open(self.path.with_name("copy.db.key"))

    def size(self) -> int:
        """Number of records."""
        with closing(sqlite3.connect(self.path)) as database:
            return len(records(database, self.namespace))

    def sizes(self) -> list[int]:
        """Sizes of the log at its checkpoints."""
        with closing(sqlite3.connect(self.path)) as database:
            rows = database.execute(
                "SELECT size FROM checkpoints WHERE namespace = ? ORDER BY number", (self.namespace,)
            )
            return [row[0] for row in rows]

    def sql(self, *statements: str) -> None:
        """Change rows as a superuser; each statement has the namespace as its parameter."""
        with superuser(self.path) as database:
            for statement in statements:
                database.execute(statement, (self.namespace,))


Attack = Callable[[Range], None]


# ---------------------------------------------------------------- one row
def flip_record(copy: Range) -> None:
    """A character of a record is changed."""
    copy.sql(
        "UPDATE records SET record = replace(record, '\"ordinal\":0', '\"ordinal\":1') WHERE namespace = ? AND seq = 1"
    )


def flip_value(copy: Range) -> None:
    """A character of a personal value is changed."""
    copy.sql(
        "UPDATE private_values SET value = '\"' || char(unicode(substr(value, 2)) + 1) || substr(value, 3) "
        "WHERE namespace = ? AND field = 'said' AND seq = 0"
    )


def flip_salt(copy: Range) -> None:
    """A digit of a salt is changed."""
    copy.sql(
        "UPDATE private_values SET salt = CASE substr(salt, 1, 1) WHEN '0' THEN '1' ELSE '0' END || substr(salt, 2) "
        "WHERE namespace = ? AND seq = 0"
    )


def delete_last(copy: Range) -> None:
    """The last record is deleted."""
    copy.sql("DELETE FROM records WHERE namespace = ? AND seq = (SELECT max(seq) FROM records)")


def delete_middle(copy: Range) -> None:
    """A record in the middle is deleted."""
    copy.sql("DELETE FROM records WHERE namespace = ? AND seq = 1")


def swap(copy: Range) -> None:
    """Two records change places, roots fitted."""
    copy.sql(
        "UPDATE records SET seq = -1 WHERE namespace = ? AND seq = 1",
        "UPDATE records SET seq = 1 WHERE namespace = ? AND seq = 2",
        "UPDATE records SET seq = 2 WHERE namespace = ? AND seq = -1",
    )
    with superuser(copy.path) as database:
        refit(database, copy.namespace)


def insert(copy: Range) -> None:
    """A record is put in between, all numbers, hashes and roots fitted."""
    with superuser(copy.path) as database:
        held = records(database, copy.namespace)
        made = {**json.loads(held[1]), "seq": len(held)}
        place = (copy.namespace, len(held), dump(made), leaf_hash(dump(made).encode()))
        database.execute("INSERT INTO records VALUES (?, ?, ?, ?)", place)
        for seq, record in enumerate([held[0], held[1], *held[1:]]):
            put(database, copy.namespace, seq, dump({**json.loads(record), "seq": seq}))
        refit(database, copy.namespace)


def forge(copy: Range) -> None:
    """A record is changed, all fitted, checkpoints signed with another key."""
    strange = SigningKey.from_seed(b"a forger's own key".ljust(32))
    with superuser(copy.path) as database:
        record = json.loads(records(database, copy.namespace)[1])
        put(database, copy.namespace, 1, dump({**record, "recorded_at": "2026-01-01T00:00:00Z"}))
        refit(database, copy.namespace)
        resign(database, copy.namespace, strange)


def erase_silently(copy: Range) -> None:
    """Values are destroyed without a decision."""
    copy.sql("DELETE FROM private_values WHERE namespace = ? AND seq = 0")


def erase_as_user(copy: Range) -> None:
    """A user of the database deletes values."""
    with closing(sqlite3.connect(copy.path)) as database:
        database.execute("DELETE FROM private_values WHERE namespace = ? AND seq = 0", (copy.namespace,))


def update_as_user(copy: Range) -> None:
    """A user of the database changes records."""
    with closing(sqlite3.connect(copy.path)) as database:
        database.execute("UPDATE records SET record = '{}' WHERE namespace = ?", (copy.namespace,))


def reuse_salt(copy: Range) -> None:
    """Two values get one salt."""
    salt = b"the same salt".ljust(32)
    entries = [Entry("read", {}, {"said": "8"}), Entry("read", {}, {"said": "8"})]
    with copy.open() as memory, memory.store.writing(copy.namespace) as tx:
        Ledger(lambda *_: salt).append(tx.log, copy.namespace, entries, recorded_at=datetime.now(UTC))


def clock_backwards(copy: Range) -> None:
    """A record is written with a time before the last one."""
    with copy.open() as memory, memory.store.writing(copy.namespace) as tx:
        Ledger().append(tx.log, copy.namespace, [Entry("read", {})], recorded_at=datetime(2001, 1, 1, tzinfo=UTC))


def duplicate_keys(copy: Range) -> None:
    """A record says its kind twice, hash and root fitted."""
    with superuser(copy.path) as database:
        record = records(database, copy.namespace)[1]
        put(database, copy.namespace, 1, record.replace('"kind":"', '"kind":"add","kind":"', 1))
        refit(database, copy.namespace)


def twin(copy: Range) -> None:
    """A name is replaced by one that looks the same (other Unicode form)."""
    other = unicodedata.normalize("NFD", TWIN)
    with superuser(copy.path) as database:
        changed = database.execute(
            "UPDATE private_values SET value = replace(value, ?, ?) WHERE namespace = ? AND field = 'entity'",
            (TWIN, other, copy.namespace),
        )
        database.execute("UPDATE turns SET body = replace(body, ?, ?)", (TWIN, other))
        if not changed.rowcount:
            raise AssertionError("nothing to be confused with another writing of it")


def huge(copy: Range) -> None:
    """A record becomes 30 million characters."""
    copy.sql("UPDATE records SET record = printf('%.*c', 30000000, 'x') WHERE namespace = ? AND seq = 1")


def huge_turn(copy: Range) -> None:
    """A turn longer than allowed is sent."""
    with copy.open() as memory:
        memory.observe("长" * (memory.settings.max_turn_chars + 1), said_at=BEGAN + timedelta(days=9))


# ---------------------------------------------------------------- the whole log
def cut_tail(copy: Range) -> None:
    """The end of a signed log is cut off with all that belongs to it."""
    with superuser(copy.path) as database:
        notes = database.execute("SELECT * FROM checkpoints").fetchall()
        cut(database, copy.namespace, copy.sizes()[-1] - 1)
        database.execute("DELETE FROM checkpoints")
        database.executemany("INSERT INTO checkpoints VALUES (?, ?, ?, ?)", notes)


def cut_to_checkpoint(copy: Range) -> None:
    """All is set back to an earlier checkpoint, later ones deleted."""
    with superuser(copy.path) as database:
        cut(database, copy.namespace, copy.sizes()[-2])


def cut_unsigned(copy: Range) -> None:
    """What no checkpoint covers yet is cut off."""
    with copy.open() as memory:
        memory.signer = None  # killed before it signed
        memory.observe("我的生日是5月6日。", said_at=BEGAN + timedelta(days=5), conversation="@attack")
    with superuser(copy.path) as database:
        cut(database, copy.namespace, copy.sizes()[-1])


def fork(copy: Range) -> None:
    """The same, and another story told from there, signed with the key."""
    cut_to_checkpoint(copy)
    shutil.copy(copy.path.with_name("copy.db.checkpoints"), copy.path.with_name("kept"))
    with copy.open() as memory:
        memory.observe("我们的预算是7万元。", said_at=BEGAN + timedelta(days=3), conversation="@attack-9")
    shutil.copy(copy.path.with_name("kept"), copy.path.with_name("copy.db.checkpoints"))  # the witness lies elsewhere


def rewrite_all(copy: Range) -> None:
    """A record is changed, all roots fitted and signed with the key."""
    with superuser(copy.path) as database:
        record = json.loads(records(database, copy.namespace)[1])
        put(database, copy.namespace, 1, dump({**record, "recorded_at": "2026-01-01T00:00:00Z"}))
        refit(database, copy.namespace)
        resign(database, copy.namespace, copy.key)


def race(copy: Range) -> None:
    """Two writers write at once."""
    wrong: list[BaseException] = []

    def write(name: str) -> None:
        try:
            with copy.open() as memory:
                for number in range(6):
                    at = BEGAN + timedelta(days=20, minutes=number)
                    memory.observe(f"我们的预算是{number + 1}万元。", said_at=at, conversation=name, entity=name)
        except BaseException as error:
            wrong.append(error)

    before = copy.size()
    writers = [threading.Thread(target=write, args=(name,)) for name in ("@one", "@two")]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
    if wrong or copy.size() < before + 12:
        raise AssertionError(f"a turn was lost: {wrong}")


class _Power(Exception):
    """The power fails."""


def crash(copy: Range) -> None:
    """The power fails between memory and log."""
    before = copy.size()
    with copy.open() as memory:

        def fails(*_: object, **__: object) -> None:
            raise _Power

        memory._ledger.append = fails  # type: ignore[method-assign, assignment]
        with suppress(_Power):
            memory.observe("我们的预算是6万元。", said_at=BEGAN + timedelta(days=30), conversation="@crash")
    if copy.size() != before:
        raise AssertionError("a record without its memory")


# Found by the verifier, with the code of the finding ("clock": a remark); seen only by the witness; refused; harmless.
SINGLE: tuple[tuple[str, Attack, str], ...] = (
    ("flip-record", flip_record, "altered"),
    ("flip-value", flip_value, "private"),
    ("flip-salt", flip_salt, "private"),
    ("delete-last", delete_last, "truncated"),
    ("delete-middle", delete_middle, "gap"),
    ("swap", swap, "moved"),
    ("insert", insert, "rewritten"),
    ("forge", forge, "note"),
    ("erase", erase_silently, "private"),
    ("reuse-salt", reuse_salt, "private"),
    ("clock-backwards", clock_backwards, "clock"),
    ("duplicate-keys", duplicate_keys, "form"),
    ("nfc-nfd", twin, "private"),
    ("huge-record", huge, "altered"),
    ("cut-tail", cut_tail, "truncated"),
)
WITNESSED: tuple[tuple[str, Attack], ...] = (
    ("old-checkpoint", cut_to_checkpoint),
    ("rewind-fork", fork),
    ("rewrite-all", rewrite_all),
)
IMPOSSIBLE: tuple[tuple[str, Attack], ...] = (
    ("update", update_as_user),
    ("delete", erase_as_user),
    ("huge-turn", huge_turn),
)
SAFE: tuple[tuple[str, Attack], ...] = (
    ("race", race),
    ("crash", crash),
)


def attacks(copy: Range) -> list[Outcome]:
    """Try them all."""
    return [
        *(_found(copy, *each) for each in SINGLE),
        *(_witnessed(copy, *each) for each in WITNESSED),
        *(_refused(copy, *each) for each in IMPOSSIBLE),
        *(_safe(copy, *each) for each in SAFE),
        _unseen(copy),
    ]


def _done(attack: Attack) -> str:
    return (attack.__doc__ or "").strip().rstrip(".")


def _found(copy: Range, name: str, attack: Attack, code: str) -> Outcome:
    copy.fresh()
    attack(copy)
    report = copy.check()
    told = [str(each) for each in report.findings if each.code == code]
    told += [each for each in report.remarks if code == "clock" and "clock" in each]
    return Outcome(
        name, _done(attack), FOUND if told else MISSED, told[0][:300] if told else "; ".join(report.lines()[-3:])
    )


def _witnessed(copy: Range, name: str, attack: Attack) -> Outcome:
    copy.fresh()
    attack(copy)
    report = copy.check()
    seen = [str(each) for each in report.findings]
    blind = copy.check(witness=False)
    outcome = MISSED if not seen else FOUND if not blind.ok else WITNESS
    return Outcome(name, _done(attack), outcome, seen[0] if seen else "verified")


def _refused(copy: Range, name: str, attack: Attack) -> Outcome:
    copy.fresh()
    try:
        attack(copy)
    except (sqlite3.DatabaseError, IntakeError) as wrong:
        return Outcome(name, _done(attack), REFUSED, str(wrong)[:300])
    return Outcome(name, _done(attack), MISSED, "it was done")


def _safe(copy: Range, name: str, attack: Attack) -> Outcome:
    copy.fresh()
    try:
        attack(copy)
    except AssertionError as wrong:
        return Outcome(name, _done(attack), MISSED, str(wrong))
    report = copy.check()
    return Outcome(name, _done(attack), HARMLESS if report.ok else MISSED, report.lines()[-1])


def _unseen(copy: Range) -> Outcome:
    """The one that nobody can see: no checkpoint speaks of what is gone."""
    copy.fresh()
    cut_unsigned(copy)
    report = copy.check()
    told = "what came after the last checkpoint: at most 256 records or a minute of writing"
    return Outcome("cut-unsigned", _done(cut_unsigned), UNSEEN if report.ok else FOUND, told)


def run(memory: Memory, *, as_json: bool) -> int:
    """Attack a copy of the memory's store; exit status 1 when anything was missed."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Range(Path(folder), memory.ruleset, memory.namespace)
        copy.whole.parent.mkdir()
        _copied(memory, copy.whole)
        copy.prepare()
        outcomes = attacks(copy)
    _show(outcomes, as_json=as_json)
    return 1 if any(each.outcome == MISSED for each in outcomes) else 0


def _copied(memory: Memory, to: Path) -> None:
    """Copy the store with its key and witness; where that cannot be, the attacks are made on an empty store."""
    from ..trust.signing import places

    key, witness = places(memory.store, memory.settings)
    readable = key is not None and key.exists() and not SigningKey.read(key)[1]
    if memory.store.backend != "sqlite" or key is None or not readable:
        print("the store is no SQLite file with its key at hand: an example is attacked in its place", file=sys.stderr)
        return
    with closing(sqlite3.connect(memory.store.place)) as source, closing(sqlite3.connect(to)) as target:
        source.backup(target)
    shutil.copy(key, to.with_name("copy.db.key"))
    if witness is not None and witness.exists():
        shutil.copy(witness, to.with_name("copy.db.checkpoints"))


def _show(outcomes: Sequence[Outcome], *, as_json: bool) -> None:
    if as_json:
        for each in outcomes:
            emit(asdict(each))
        return
    for each in outcomes:
        print(f"{each.name:<16} {each.outcome}: {each.done}\n{'':<17}{each.told}")
    seen = sum(each.outcome != MISSED for each in outcomes)
    print(f"{seen} of {len(outcomes)} attacks came out as docs/ledger.md says")
