"""The small expression language of the constraint data, and its value on integers or columns of integers.

An expression is Python's arithmetic, comparison, logic and conditional over the fields of a tensor map. It is
parsed once into Python's own syntax tree, checked against the few node types below, and then read by whoever
needs it: `value` here for numbers and NumPy columns, `symbolic.py` for symbols.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, reduce
from typing import Any

import numpy as np
import numpy.typing as npt

NOT_IN_LANGUAGE = "not an expression of the constraint language"

IntColumn = npt.NDArray[np.int64]
BoolColumn = npt.NDArray[np.bool_]
Value = Any
"""An int, a bool, an IntColumn or a BoolColumn: one expression on one map or on a table of maps."""

ALLOWED = (
    ast.Expression,
    ast.Constant,
    ast.Name,
    ast.Load,
    ast.Subscript,
    ast.Call,
    ast.BinOp,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Compare,
    ast.IfExp,
    ast.Tuple,
    ast.operator,
    ast.unaryop,
    ast.boolop,
    ast.cmpop,
)

ARITHMETIC: dict[type[ast.operator], Callable[[Value, Value], Value]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
COMPARISON: dict[type[ast.cmpop], Callable[[Value, Value], Value]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


@dataclass(frozen=True, slots=True)
class Table:
    """A function given by its values; `default` elsewhere."""

    entries: tuple[tuple[int, int], ...]
    default: int

    def __call__(self, key: Value) -> Value:
        """Return the entry at `key`, or the column of entries at a column of keys."""
        if not isinstance(key, np.ndarray):
            return dict(self.entries).get(int(key), self.default)
        size = max(k for k, _ in self.entries) + 2
        dense = np.full(size, self.default, dtype=np.int64)
        dense[[k for k, _ in self.entries]] = [v for _, v in self.entries]
        return dense[np.where((key < 0) | (key >= size), size - 1, key)]


@dataclass(frozen=True, slots=True)
class Scope:
    """What the names of an expression mean: fields of the map, named expressions and tables."""

    fields: Mapping[str, Value]
    lets: Mapping[str, ast.expr]
    tables: Mapping[str, Table]


@cache
def parse(text: str) -> ast.expr:
    """Return the syntax tree of an expression; raise ValueError where it leaves the language."""
    tree = ast.parse(text, mode="eval")
    for node in ast.walk(tree):
        if not isinstance(node, ALLOWED):
            raise ValueError(f"{type(node).__name__} is {NOT_IN_LANGUAGE}: {text}")
    return tree.body


def value(node: ast.expr, scope: Scope, i: int | None = None) -> Value:
    """Return the value of `node` in `scope`, with the index `i` where the constraint has one."""
    match node:
        case ast.Constant(value=int() as number):
            return number
        case ast.Name(id="i") if i is not None:
            return i
        case ast.Name(id=name) if name in scope.lets:
            return value(scope.lets[name], scope, i)
        case ast.Name(id=name):
            return scope.fields[name]
        case ast.Subscript(value=ast.Name(id=name), slice=index):
            return scope.fields[name][value(index, scope, i)]
        case ast.BinOp(left=left, op=op, right=right):
            return ARITHMETIC[type(op)](value(left, scope, i), value(right, scope, i))
        case ast.UnaryOp(op=op, operand=operand):
            return _unary(op, value(operand, scope, i))
        case ast.BoolOp(op=op, values=parts):
            return _logic(op, [value(part, scope, i) for part in parts])
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _choose(value(test, scope, i), body, orelse, scope, i)
        case ast.Compare():
            return _compare(node, scope, i)
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _call(name, arguments, scope, i)
    raise ValueError(f"{ast.unparse(node)} is {NOT_IN_LANGUAGE}")


def _unary(op: ast.unaryop, operand: Value) -> Value:
    if isinstance(op, ast.USub):
        return -operand
    return np.logical_not(operand)


def _logic(op: ast.boolop, parts: list[Value]) -> Value:
    join: Callable[[Value, Value], Value] = operator.and_ if isinstance(op, ast.And) else operator.or_
    return reduce(join, parts)


def _choose(test: Value, body: ast.expr, orelse: ast.expr, scope: Scope, i: int | None) -> Value:
    if not isinstance(test, np.ndarray):
        return value(body if test else orelse, scope, i)
    return np.where(test, value(body, scope, i), value(orelse, scope, i))


def _compare(node: ast.Compare, scope: Scope, i: int | None) -> Value:
    left = value(node.left, scope, i)
    links: list[Value] = []
    for op, comparator in zip(node.ops, node.comparators, strict=True):
        if isinstance(op, (ast.In, ast.NotIn)):
            assert isinstance(comparator, ast.Tuple)
            found = reduce(operator.or_, [left == value(member, scope, i) for member in comparator.elts])
            links.append(found if isinstance(op, ast.In) else np.logical_not(found))
            continue
        right = value(comparator, scope, i)
        links.append(COMPARISON[type(op)](left, right))
        left = right
    return reduce(operator.and_, links)


def _call(name: str, arguments: list[ast.expr], scope: Scope, i: int | None) -> Value:
    if name == "product":
        return _product(arguments[0], scope)
    values = [value(argument, scope, i) for argument in arguments]
    if name == "max":
        columns = any(isinstance(part, np.ndarray) for part in values)
        return reduce(np.maximum, values) if columns else max(values)
    if name == "i32":
        return (values[0] + 2**31) % 2**32 - 2**31
    return scope.tables[name](values[0])


def _product(factor: ast.expr, scope: Scope) -> Value:
    """Return the product of `factor` over the dimensions of the map."""
    rank = scope.fields["rank"]
    if not isinstance(rank, np.ndarray):
        return reduce(operator.mul, [value(factor, scope, i) for i in range(rank)], 1)
    total: Value = np.ones(len(rank), dtype=np.int64)
    for i in range(5):
        total = total * np.where(rank > i, value(factor, scope, i), 1)
    return total
