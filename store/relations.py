"""The graph of names: edges that items say, kept beside them, and who is reached over one to several steps in SQL.

A row is one piece of evidence seen from one end of its edge. The rows say who is joined and by which decisions; whether
an edge was true and known at a time stands in the versions of its item alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, select, text

from ..model import Decision, Edge, MemoryItem, Turn
from .codec import read_decision, read_item, read_turn
from .standing import Standing
from .statements import Columns, Insert
from .tables import DECISIONS, ITEMS, RELATIONS, TURNS, column, stamp

EdgeOf = Callable[[MemoryItem, str], Edge | None]
Add = Callable[[Insert, Sequence[Columns]], None]
GIVING = frozenset({"ADD", "SUPERSEDE", "CONFIRM"})  # actions of decisions that are evidence for their item
_ADD = Insert(RELATIONS)
_PAGE = 400  # ids in one statement


@dataclass(frozen=True)
class Scope:
    """What may be walked: ``at`` the edge must have been true, by ``known_at`` known to us (None: by now)."""

    at: datetime
    relations: frozenset[str]
    known_at: datetime | None = None
    same: frozenset[str] = frozenset()  # relations between names of one thing
    both: frozenset[str] = frozenset()  # relations that hold both ways, those among them
    direction: str | None = None  # out: along the others, in: against them, None: either
    principal: str | None = None  # only what conversations with this one gave
    hidden: frozenset[str] = frozenset()  # items that may not be answered
    hidden_entities: frozenset[str] = frozenset()  # nor any item about these
    steps: tuple[tuple[str, str], ...] = ()  # relation and direction of the first step, the second …; none: any


@dataclass(frozen=True)
class Step:
    """An edge as one item says it, seen from ``node``; ``turns`` are those whose decisions are evidence for it."""

    node: str
    relation: str
    direction: str
    other: str
    item: MemoryItem
    principal: str
    turns: tuple[str, ...]


@dataclass(frozen=True)
class Reached:
    """Names by the fewest steps to them; along given relations ``layers``: those after no step, after one … ``cut``:
    there were more than were looked at."""

    depth: Mapping[str, int] = field(default_factory=dict)
    cut: bool = False
    layers: tuple[frozenset[str], ...] = ()


def relate(add: Add, namespace: str, edge: Edge, item_id: str, evidence: Iterable[tuple[str, str]]) -> None:
    """Put an edge into the graph with the turns that are evidence for it, and when each was received; ``add`` takes
    the rows."""
    add(_ADD, rows_of(namespace, edge, item_id, evidence))


def rows_of(namespace: str, edge: Edge, item_id: str, evidence: Iterable[tuple[str, str]]) -> list[tuple[str, ...]]:
    """The rows of an edge: its pieces of evidence, seen from either end."""
    back = "out" if edge.both_ways else "in"
    return [
        (namespace, node, edge.relation, direction, other, item_id, turn, at)
        for turn, at in evidence
        for node, direction, other in ((edge.subject, "out", edge.object), (edge.object, back, edge.subject))
    ]


def unrelate(connection: Connection, namespace: str, item_ids: Sequence[str]) -> None:
    """Take items out of the graph. No index serves this, since erasure is rare."""
    gone = (RELATIONS.c.namespace == namespace, RELATIONS.c.item_id.in_(item_ids))
    connection.execute(delete(RELATIONS).where(*gone))


def clear(connection: Connection, namespace: str) -> None:
    """Empty the graph, to be made again."""
    connection.execute(delete(RELATIONS).where(RELATIONS.c.namespace == namespace))


def rebuild(
    connection: Connection, add: Add, namespace: str, edge_of: EdgeOf, items: Iterable[tuple[str, str]]
) -> None:  # fmt: skip
    """Put the edges of items (body, principal) into the graph again, each with its evidence."""
    for body, principal in items:
        item = read_item(body)
        edge = edge_of(item, principal)
        if edge is not None:
            relate(add, namespace, edge, item.id, sorted(set(_evidence(connection, namespace, item.id))))


def _evidence(connection: Connection, namespace: str, item_id: str) -> Iterator[tuple[str, str]]:
    """Turns whose decisions gave or confirmed an item, and when they were received."""
    query = (
        select(TURNS.c.turn_id, TURNS.c.received_at, DECISIONS.c.body)
        .join(DECISIONS, (DECISIONS.c.namespace == TURNS.c.namespace) & (DECISIONS.c.turn_id == TURNS.c.turn_id))
        .where(DECISIONS.c.namespace == namespace, DECISIONS.c.item == item_id)
    )
    for turn, at, body in connection.execute(query):
        if gives(read_decision(body)):
            yield turn, at


def gives(decision: Decision) -> bool:
    """True for a decision that is evidence for its item."""
    return decision.item is not None and decision.action in GIVING


def turns_of(connection: Connection, namespace: str, turn_ids: Iterable[str]) -> dict[str, Turn]:
    """Turns by their ids, without their texts."""
    query = select(TURNS.c.turn_id, TURNS.c.body).where(TURNS.c.namespace == namespace)
    ordered = sorted(turn_ids)
    return {
        turn: read_turn(body, None)
        for at in range(0, len(ordered), _PAGE)
        for turn, body in connection.execute(query.where(TURNS.c.turn_id.in_(ordered[at : at + _PAGE])))
    }


def hidden_items(connection: Connection, namespace: str, restrictions: Iterable[Standing]) -> frozenset[str]:
    """Items of the graph that a restriction is on, but for those on an entity, which a column tells.

    Whose words an item has, and so its conversation, stands in its body alone: only those that may have it are read.
    """
    found = {each.target for each in restrictions if each.on == "item"}
    graph = select(RELATIONS.c.item_id).where(RELATIONS.c.namespace == namespace)
    query = select(ITEMS.c.body).where(ITEMS.c.namespace == namespace, ITEMS.c.version == 1, ITEMS.c.item_id.in_(graph))
    for each in restrictions:
        if each.on == "conversation":
            named = json.dumps(each.target, ensure_ascii=False)
            rows = connection.execute(query.where(ITEMS.c.body.contains(named, autoescape=True))).scalars()
            found.update(item.id for item in map(read_item, rows) if each.covers(item))
    return frozenset(found)


# ---------------------------------------------------------------- walking it
_STANDS = """
    i.namespace = r.namespace AND i.item_id = r.item_id AND i.status <> 'held'
    AND (i.valid_from IS NULL OR i.valid_from <= :at) AND (i.valid_to IS NULL OR i.valid_to > :at)
    AND r.recorded_at <= :known_at AND i.written_at <= :known_at
    AND (i.replaced_at IS NULL OR i.replaced_at > :known_at)
"""
_FOREVER = "9999"  # later than any time of a column


def _conditions(scope: Scope) -> tuple[str, dict[str, Any], list[Any]]:
    """What an edge must be like: SQL, its parameters, and those of them that are lists."""
    said = _STANDS
    lists: list[Any] = []
    known = _FOREVER if scope.known_at is None else stamp(scope.known_at)
    said += " AND r.relation IN :relations"
    values: dict[str, Any] = {
        "at": stamp(scope.at), "known_at": known, "relations": _listed(scope.relations | scope.same)
    }  # fmt: skip
    lists.append(bindparam("relations", expanding=True))
    if scope.direction is not None:
        said += " AND (r.direction = :direction OR r.relation IN :both)"
        values |= {"direction": scope.direction, "both": _listed(scope.both)}
        lists.append(bindparam("both", expanding=True))
    if scope.principal is not None:
        said += " AND i.principal = :principal"
        values["principal"] = scope.principal
    for name, column_, targets in (
        ("hidden", "r.item_id", scope.hidden),
        ("entities", "i.entity", frozenset(map(column, scope.hidden_entities))),
    ):
        if targets:
            said += f" AND {column_} NOT IN :{name}"
            values[name] = sorted(targets)
            lists.append(bindparam(name, expanding=True))
    return said, values, lists


def _in_order(scope: Scope) -> tuple[str, dict[str, Any]]:
    """For a walk along given relations: which of them each step may take."""
    if not scope.steps:
        return "", {}
    ways = ["r.relation IN :same"]
    values: dict[str, Any] = {}
    for depth, (relation, direction) in enumerate(scope.steps):
        along = "" if relation in scope.both else f" AND r.direction = :direction{depth}"
        ways.append(f"(w.depth = {depth} AND r.relation = :relation{depth}{along})")
        values |= {f"relation{depth}": relation} | ({f"direction{depth}": direction} if along else {})
    return f" AND ({' OR '.join(ways)})", values


def _listed(names: frozenset[str]) -> list[str]:
    """A list for SQL, which must not be empty."""
    return sorted(names) or [""]


def reach(
    connection: Connection, namespace: str, starts: Iterable[str], hops: int, scope: Scope, most: int = 1000
) -> Reached:
    """Every name within ``hops`` steps of the starts, the starts among them with 0.

    A name is walked on from once for each number of steps to it, so that a cycle ends; ``most`` bounds how many are.
    """
    said, values, lists = _conditions(scope)
    ordered, more = _in_order(scope)
    # The nearest are found first: a limit cuts off the farthest. One too many tells that there were more. A cross join
    # is how SQLite is told to keep the order of the tables, which it would guess wrongly without statistics.
    query = text(f"""
        WITH RECURSIVE walk(node, depth) AS (
            SELECT r.node, 0 FROM relations r WHERE r.namespace = :namespace AND r.node IN :starts
            UNION
            SELECT r.other, w.depth + CASE WHEN r.relation IN :same THEN 0 ELSE 1 END
            FROM walk w CROSS JOIN relations r CROSS JOIN items i
            WHERE r.namespace = :namespace AND r.node = w.node AND {said}{ordered}
            AND w.depth + CASE WHEN r.relation IN :same THEN 0 ELSE 1 END <= :hops
        )
        SELECT node, depth FROM walk LIMIT :most
    """)
    query = query.bindparams(*lists, *(bindparam(name, expanding=True) for name in ("starts", "same")))
    rows_at_most = most * (hops + 1) + 1
    given = {"starts": sorted(set(starts)), "same": _listed(scope.same), "hops": hops, "most": rows_at_most}
    rows = connection.execute(query, values | more | given | {"namespace": namespace}).all()
    if scope.steps:
        layers = [set[str]() for _ in range(hops + 1)]
        for node, steps in rows:
            layers[steps].add(node)
        return Reached(cut=len(rows) >= rows_at_most, layers=tuple(map(frozenset, layers)))
    depth: dict[str, int] = {}
    for node, steps in rows:
        depth[node] = min(steps, depth.get(node, steps))
    near = sorted(depth, key=lambda node: (depth[node], node))[:most]
    return Reached({node: depth[node] for node in near}, len(rows) >= rows_at_most or len(near) < len(depth))


def steps_between(
    connection: Connection, namespace: str, nodes: Iterable[str], among: Container[str], scope: Scope
) -> list[Step]:
    """The edges from ``nodes`` to names ``among`` these, one for each item that says it."""
    said, values, lists = _conditions(scope)
    query = text(f"""
        SELECT r.node, r.relation, r.direction, r.other, r.item_id, r.turn_id, i.principal, i.body
        FROM relations r CROSS JOIN items i
        WHERE r.namespace = :namespace AND r.node IN :nodes AND {said}
        ORDER BY r.node, r.relation, r.direction, r.other, r.item_id, r.recorded_at, r.turn_id
    """).bindparams(*lists, bindparam("nodes", expanding=True))
    found: dict[tuple[str, ...], tuple[str, str, list[str]]] = {}
    ordered = sorted(nodes)
    for at in range(0, len(ordered), _PAGE):
        given = {"namespace": namespace, "nodes": ordered[at : at + _PAGE]}
        for *place, turn, principal, body in connection.execute(query, values | given):
            if place[3] in among:
                found.setdefault(tuple(place), (principal, body, []))[2].append(turn)
    return [
        Step(node, relation, direction, other, read_item(body), principal, tuple(turns))
        for (node, relation, direction, other, _), (principal, body, turns) in found.items()
    ]
