"""A big store for measuring recall: rows that the real pipeline wrote for some entities, copied for thousands.

What a turn leaves in the tables that recall reads is copied with other entities, ids and numbers; the ledger is not.
A million items take some minutes this way instead of an hour.
"""

from __future__ import annotations

import hashlib
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from recordari.intake import read_turn
from recordari.memory import Memory
from recordari.rules.ruleset import Ruleset
from recordari.store.engine import Store

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
PATTERNS = 20  # entities whose talk goes through the pipeline
NAMESPACE = "default"
_COPIED = ("turns", "items", "decisions", "search_terms", "search_texts", "item_vectors")
_ZH = ["市场", "研发", "培训", "差旅", "法务", "广告", "办公", "招聘", "装修", "物流", "仓储", "展会"]
_EN = ["parking", "catering", "printing", "storage", "cleaning", "filing", "courier", "audit", "survey", "escrow"]
_THINGS = ["pumps", "valves", "desks", "servers", "samples", "brochures", "cables", "panels"]
_GOODS = ["打印纸", "显示器", "货架", "纸箱", "座椅", "电缆"]
_WORKS = ["一期", "二期", "厂房", "机房", "样板间", "码头", "仓库", "食堂"]
_PEOPLE = ["王敏", "李强", "赵磊", "陈静", "周洁", "孙莉"]
_LIKES = ["靠窗的座位", "清淡的菜", "上午开会", "纸质发票", "无糖绿茶"]


def talk(pattern: int) -> list[str]:
    """Some hundred sentences of one client; a few of them change what was said before."""
    n = 100 + 37 * pattern
    said = [f"{label}预算{n + at}万元" for at, label in enumerate(_ZH)]
    said += [f"The {label} fee is ${n * 10 + at}." for at, label in enumerate(_EN)]
    said += [f"The delivery of the {each} is due on August {at + 2}." for at, each in enumerate(_THINGS)]
    said += [f"订购{each}{n + at}箱" for at, each in enumerate(_GOODS)]
    said += [f"{each}工程验收日期是2026年9月{at + 1 + pattern % 10}日" for at, each in enumerate(_WORKS)]
    said += [f"{each}合同的交货期是4月{at + 5}日" for at, each in enumerate("甲乙丙丁")]
    said += [f"{label}负责人是{_PEOPLE[(at + pattern) % len(_PEOPLE)]}" for at, label in enumerate(_ZH[:6])]
    said += [f"The interest rate on the {label} loan is {at + 2}.5%." for at, label in enumerate(["bridge", "term"])]
    said += [f"The deadline for the {label} report is June {at + 3}." for at, label in enumerate(_EN)]
    said += [f"{label}费{n + at}元" for at, label in enumerate(_ZH)]
    said += [f"The {each} order costs ${n + at * 3}." for at, each in enumerate(_THINGS)]
    said += [f"我喜欢{each}" for each in _LIKES]
    said += ["我对花生过敏", f"我的电话是138001{38000 + pattern}", "公司地址是上海市浦东新区世纪大道100号"]
    said += ["The closing dinner is on May 3.", f"The credit limit is ${n * 100}.", "I prefer morning meetings."]
    said += [f"房租{n * 10}元", f"尾款{n}万元", f"The retainer is ${n * 7}."]
    return [*said, f"房租改成{n * 11}元", f"市场预算提高到{n + 60}万元", f"The parking fee is now ${n * 12}."]


@dataclass(frozen=True, slots=True)
class _Pattern:
    """The rows of one entity, by table, and the place of each item version among them."""

    name: str
    rows: dict[str, list[sqlite3.Row]]
    places: dict[int, int]


def build(path: Path, items: int, entities: int, ruleset: Ruleset, embed: Any = None) -> int:
    """Make a store of about so many item versions over so many entities; how many there are. ``embed`` is called with
    the memory of the patterns, to leave vectors in it."""
    with tempfile.TemporaryDirectory() as folder:
        seed = Path(folder) / "seed.db"
        with Memory.open(seed, ruleset=ruleset, ner=False) as memory:
            most = items // entities + 5
            for pattern in range(PATTERNS):
                said = [
                    {"text": text, "at": (START + timedelta(minutes=at)).isoformat(), "entity": _seed(pattern)}
                    | {"conversation": f"talk-{_seed(pattern)}"}
                    for at, text in enumerate(talk(pattern)[:most])
                ]
                memory.observe_group([(at, read_turn(each, 10_000)) for at, each in enumerate(said)])
            if embed is not None:
                embed(memory)
        with closing(sqlite3.connect(seed)) as source:
            source.row_factory = sqlite3.Row
            patterns = [_pattern(source, number) for number in range(PATTERNS)]
            head = source.execute("SELECT secret FROM namespaces").fetchone()["secret"]
    Store.open(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as target:
        return _copy(target, patterns, entities, head)


def client(entity: int) -> str:
    """The name of an entity of the store."""
    return f"client-{entity:05}"


def _seed(pattern: int) -> str:
    """Of the form of a client's name: so one word of its own stands in the index, its number, which no value has."""
    return client(90_000 + pattern)


def _pattern(source: sqlite3.Connection, number: int) -> _Pattern:
    entity = _seed(number)
    rows = {
        table: source.execute(f"SELECT * FROM {table} WHERE {column} = ? ORDER BY {order}", [entity]).fetchall()
        for table, column, order in _queries(source)
    }
    return _Pattern(entity, rows, {row["row"]: at for at, row in enumerate(rows["items"])})


def _queries(source: sqlite3.Connection) -> Iterator[tuple[str, str, str]]:
    there = {row["name"] for row in source.execute("SELECT name FROM sqlite_master")}
    for table in _COPIED:
        if table in there:
            column = "principal" if table in {"turns", "items"} else "entity"
            if table == "decisions":
                column = "substr(conversation, 6)"
            order = {"turns": "ordinal", "items": "row", "decisions": "turn, ordinal"}.get(table, "entity, ordinal")
            yield table, column, order


def _copy(target: sqlite3.Connection, patterns: Sequence[_Pattern], entities: int, secret: bytes) -> int:
    for pragma in ("journal_mode=OFF", "synchronous=OFF", "foreign_keys=OFF", "cache_size=-200000"):
        target.execute(f"PRAGMA {pragma}")
    indexes = target.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN "
        f"({', '.join('?' * len(_COPIED))})",
        _COPIED,
    ).fetchall()
    target.execute("BEGIN")
    for each, _ in indexes:
        target.execute(f"DROP INDEX {each}")
    for table in ("turns", "items", "decisions", "search_texts", "item_vectors"):
        if patterns[0].rows.get(table):
            _insert(target, table, patterns[0].rows[table][:1], _rows(table, patterns, entities))
    _insert(target, "search_terms", patterns[0].rows["search_terms"][:1], _terms(patterns, entities))
    for _, sql in indexes:
        target.execute(sql)
    most = max(len(each.rows["items"]) for each in patterns) * entities
    target.execute("INSERT INTO namespaces VALUES (?, ?, 1, ?, 0, x'')", [NAMESPACE, secret, most])
    target.execute("COMMIT")
    target.execute("PRAGMA journal_mode=WAL")
    return int(target.execute("SELECT count(*) FROM items").fetchone()[0])


def _insert(target: sqlite3.Connection, table: str, like: Sequence[sqlite3.Row], rows: Iterable[Sequence[Any]]) -> None:
    columns = like[0].keys()
    marks = ", ".join("?" * len(columns))
    target.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows)


def _rows(table: str, patterns: Sequence[_Pattern], entities: int) -> Iterator[list[Any]]:
    """The rows of a table in the order in which many clients' talk would have left them: one of each in turn; tables
    that are kept in the order of their key, in that order."""
    for each in patterns:
        assert len({len(each.rows[table]) for each in patterns}) == 1, f"patterns differ in {table}"
    clustered = table in {"search_texts", "item_vectors"}
    count = len(patterns[0].rows[table])
    order = (
        ((at, entity) for entity in range(entities) for at in range(count))
        if clustered
        else ((at, entity) for at in range(count) for entity in range(entities))
    )
    for at, entity in order:
        pattern = patterns[entity % len(patterns)]
        yield _renamed(pattern, pattern.rows[table][at], entity, entities)


def _renamed(pattern: _Pattern, row: sqlite3.Row, entity: int, entities: int) -> list[Any]:
    values = dict(row)
    ids = _ids(pattern)
    new: list[Any] = []
    for column, value in values.items():
        # The ordinal of a turn or a decision is its place; everywhere else it is the number of an item.
        if column == "row" or (column == "ordinal" and "speaker" not in values):
            value = _number(pattern, value, entity, entities)
        elif isinstance(value, str) and column not in {"term", "namespace"}:
            value = value.replace(pattern.name, client(entity))
            if column in {"body", "item_id", "item", "target"}:
                for old in ids.get(row["turn_id"] if "turn_id" in values else row["written_by"], ()):
                    value = value.replace(old, _id(old, entity))
        new.append(value)
    return new


_IDS: dict[str, dict[str, set[str]]] = {}


def _ids(pattern: _Pattern) -> dict[str, set[str]]:
    """Turn → ids of the items that its rows may name."""
    if pattern.name not in _IDS:
        found: dict[str, set[str]] = defaultdict(set)
        for row in pattern.rows["items"]:
            found[row["written_by"]].add(row["item_id"])
        for row in pattern.rows["decisions"]:
            found[row["turn_id"]].update(filter(None, (row["item"], row["target"])))
        _IDS[pattern.name] = found
    return _IDS[pattern.name]


def _id(old: str, entity: int) -> str:
    return hashlib.md5(f"{old}/{entity}".encode(), usedforsecurity=False).hexdigest()


def _number(pattern: _Pattern, row: int, entity: int, entities: int) -> int:
    """The number of an item version in the store: versions come in turn from every client."""
    return pattern.places[row] * entities + entity + 1


def _terms(patterns: Sequence[_Pattern], entities: int) -> Iterator[Sequence[Any]]:
    """Postings in the order of their key."""
    by: dict[str, dict[int, list[tuple[int, int]]]] = defaultdict(lambda: defaultdict(list))
    named: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for number, pattern in enumerate(patterns):
        for row in pattern.rows["search_terms"]:
            own = row["term"] == pattern.name.partition("-")[2]
            (named if own else by[row["term"]])[number].append((row["ordinal"], row["count"]))
    columns = list(patterns[0].rows["search_terms"][0].keys())
    assert columns == ["namespace", "term", "entity", "ordinal", "count"], columns
    for entity in range(entities):  # numbers stand before all words
        number = entity % len(patterns)
        for ordinal, count in named.get(number, ()):
            own = client(entity).partition("-")[2]
            yield NAMESPACE, own, client(entity), _number(patterns[number], ordinal, entity, entities), count
    for term in sorted(by):
        of = by[term]
        for entity in range(entities):
            number = entity % len(patterns)
            for ordinal, count in of.get(number, ()):
                yield NAMESPACE, term, client(entity), _number(patterns[number], ordinal, entity, entities), count
