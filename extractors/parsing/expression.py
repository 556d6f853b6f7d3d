"""The value expressions of rule files, ``nth(d, n, within=m)``: a tiny closed language over registered functions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from typing import Any, TypeVar

Compiled = Callable[[Mapping[str, Any]], Any]
Call = TypeVar("Call", bound=Callable[..., Any])


@dataclass(frozen=True)
class Function:
    """A registered function and the part type that it gives ("" when it depends on its arguments)."""

    name: str
    call: Callable[..., Any]
    gives: str


FUNCTIONS: dict[str, Function] = {}


def function(name: str, gives: str = "") -> Callable[[Call], Call]:
    """Register a pure function for value expressions. Returning None means "these parts do not fit together"."""

    def register(call: Call) -> Call:
        known = FUNCTIONS.get(name)
        if known is not None and known.call.__module__ != call.__module__:
            raise ValueError(f"function {name!r} is registered by {known.call.__module__} already")
        FUNCTIONS[name] = Function(name, call, gives)
        return call

    return register


@dataclass(frozen=True)
class Expression:
    """A compiled expression: ``run(variables)``, the names that it reads and the type of its outermost function."""

    source: str
    run: Compiled
    names: frozenset[str]
    gives: str


class ExpressionError(ValueError):
    """An expression outside the language; the message says what is not allowed."""


def compile_expression(source: str) -> Expression:
    """Compile calls, names, constants, signs and lists; anything else is an ExpressionError.

    A call within a call that gives None makes the whole None: no function is handed parts that do not fit together.
    """
    try:
        tree = ast.parse(source.strip(), mode="eval").body
    except SyntaxError as error:
        raise ExpressionError(f"cannot read the expression {source!r}: {error.msg}") from None
    names: set[str] = set()
    nested = source.count("(") > 1  # or a list: to undo the whole does no harm there
    run = _whole(_compile(tree, names)) if nested else _compile(tree, names)
    gives = FUNCTIONS[tree.func.id].gives if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) else ""
    return Expression(source, run, frozenset(names), gives)


class _DoNotFit(Exception):
    """An inner call gave None."""


def _whole(run: Compiled) -> Compiled:
    """The outermost node: what does not fit inside gives None here."""

    def outermost(variables: Mapping[str, Any]) -> Any:
        try:
            return run(variables)
        except _DoNotFit:
            return None

    return outermost


def _inner(node: ast.expr, names: set[str]) -> Compiled:
    """A closure for an argument; a call that gives None ends the whole expression."""
    run = _compile(node, names)
    if not isinstance(node, ast.Call):
        return run

    def fitting(variables: Mapping[str, Any]) -> Any:
        value = run(variables)
        if value is None:
            raise _DoNotFit
        return value

    return fitting


def _compile(node: ast.expr, names: set[str]) -> Compiled:
    """A closure for one node; adds the variables that it reads to ``names``."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int | bool | float | None):
        constant = Decimal(repr(node.value)) if isinstance(node.value, float) else node.value
        return lambda _: constant
    if isinstance(node, ast.Name):
        name = node.id
        names.add(name)
        return lambda variables: variables.get(name)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        inner = _inner(node.operand, names)
        if isinstance(node.op, ast.USub):
            return lambda variables: -inner(variables)
        return inner
    if isinstance(node, ast.List | ast.Tuple):
        items = [_inner(item, names) for item in node.elts]
        return lambda variables: tuple(item(variables) for item in items)
    if isinstance(node, ast.Call):
        return _compile_call(node, names)
    raise ExpressionError(f"{ast.unparse(node)!r} is not allowed in a value; write calls, names and constants")


def _compile_call(node: ast.Call, names: set[str]) -> Compiled:
    """A closure for a call of a registered function."""
    if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS:
        said = ast.unparse(node.func)
        close = ", ".join(get_close_matches(said, sorted(FUNCTIONS), 3)) or "none like it"
        raise ExpressionError(f"unknown function {said!r}; known: {close}")
    call = FUNCTIONS[node.func.id].call
    arguments = [_inner(argument, names) for argument in node.args]
    keywords: list[tuple[str, Compiled]] = []
    for keyword in node.keywords:
        if keyword.arg is None:
            raise ExpressionError("** is not allowed in a value")
        keywords.append((keyword.arg, _inner(keyword.value, names)))
    if not keywords and len(arguments) == 1:
        only = arguments[0]
        return lambda variables: call(only(variables))
    if not keywords and len(arguments) == 2:
        first, second = arguments
        return lambda variables: call(first(variables), second(variables))
    if not keywords and len(arguments) == 3:
        first, second, third = arguments
        return lambda variables: call(first(variables), second(variables), third(variables))
    return lambda variables: call(*(a(variables) for a in arguments), **{k: v(variables) for k, v in keywords})
