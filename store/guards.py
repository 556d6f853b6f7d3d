"""Triggers that keep the ledger as it was written: the database itself refuses to change or delete a record.

They stop slips and programs of others, not whoever may change the schema; the verifier misses a trigger that is gone.
The one door: a personal value may be deleted once a row of ``erasures`` names it and the record that decided so.
"""

from __future__ import annotations

from collections.abc import Mapping

# table → (what it keeps, may rows go once they are named in ``erasures``)
KEPT: Mapping[str, tuple[str, bool]] = {
    "records": ("a record of the ledger", False),
    "checkpoints": ("a checkpoint of the ledger", False),
    "erasures": ("an erasure", False),
    "private_values": ("a personal value of the ledger", True),
}
_NAMED = (
    "EXISTS (SELECT 1 FROM erasures e WHERE e.namespace = OLD.namespace AND e.seq = OLD.seq AND e.field = OLD.field)"
)
_SAME = {
    "records": "r.namespace = NEW.namespace AND r.seq = NEW.seq",
    "checkpoints": "r.namespace = NEW.namespace AND r.number = NEW.number",
    "erasures": "r.namespace = NEW.namespace AND r.seq = NEW.seq AND r.field = NEW.field",
    "private_values": "r.namespace = NEW.namespace AND r.seq = NEW.seq AND r.field = NEW.field",
}


def _name(table: str, what: str) -> str:
    return f"keep_{table}_{what}"


def sqlite_triggers() -> Mapping[str, str]:
    """Name → statement. An insert that replaces a row fires no delete trigger, hence one of its own."""
    made: dict[str, str] = {}
    for table, (what, door) in KEPT.items():
        for act, told in (("UPDATE", "changed"), ("DELETE", "deleted")):
            when = f" WHEN NOT {_NAMED}" if door and act == "DELETE" else ""
            name = _name(table, act.lower())
            made[name] = (
                f"CREATE TRIGGER {name} BEFORE {act} ON {table}{when} "
                f"BEGIN SELECT RAISE(ABORT, '{what} is never {told}'); END"
            )
        name = _name(table, "insert")
        made[name] = (
            f"CREATE TRIGGER {name} BEFORE INSERT ON {table} "
            f"WHEN EXISTS (SELECT 1 FROM {table} r WHERE {_SAME[table]}) "
            f"BEGIN SELECT RAISE(ABORT, '{what} is never replaced'); END"
        )
    return made


def postgresql_triggers() -> Mapping[str, str]:
    """Name → statement; ``keep_ledger`` is the function that refuses. TRUNCATE is refused as well."""
    made: dict[str, str] = {}
    for table, (what, door) in KEPT.items():
        for act, told in (("UPDATE", "changed"), ("DELETE", "deleted"), ("TRUNCATE", "deleted")):
            # A condition of a trigger may not ask another table: the door is a function of its own.
            function = "keep_ledger_value" if door and act == "DELETE" else "keep_ledger"
            each = "STATEMENT" if act == "TRUNCATE" else "ROW"
            name = _name(table, act.lower())
            made[name] = (
                f"CREATE TRIGGER {name} BEFORE {act} ON {table} FOR EACH {each} "
                f"EXECUTE FUNCTION {function}('{what} is never {told}')"
            )
    return made


POSTGRESQL_FUNCTIONS = (
    "CREATE FUNCTION keep_ledger() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION USING MESSAGE = TG_ARGV[0], ERRCODE = 'integrity_constraint_violation'; END $$",
    "CREATE FUNCTION keep_ledger_value() RETURNS trigger LANGUAGE plpgsql AS "
    f"$$ BEGIN IF {_NAMED} THEN RETURN OLD; END IF; "
    "RAISE EXCEPTION USING MESSAGE = TG_ARGV[0], ERRCODE = 'integrity_constraint_violation'; END $$",
)


def missing(found: Mapping[str, str], dialect: str) -> tuple[str, ...]:
    """Our triggers that are not there, or not as we made them; ``found``: name → statement (SQLite), name → "" else."""
    wanted = sqlite_triggers() if dialect == "sqlite" else dict.fromkeys(postgresql_triggers(), "")
    return tuple(name for name, statement in wanted.items() if found.get(name) != statement)


def statements(dialect: str) -> tuple[str, ...]:
    """All of it, for a fresh database and for the migration that brings it to an older one."""
    if dialect == "sqlite":
        return tuple(sqlite_triggers().values())
    return (*POSTGRESQL_FUNCTIONS, *postgresql_triggers().values())
