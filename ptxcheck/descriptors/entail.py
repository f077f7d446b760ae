"""What ranges cannot tell about a conjunction of conditions: by trying values, else by the solver.

Few values are tried one by one, which is exact for any condition. Of more, some are tried: one that makes all
conditions true, or one false, is an answer. The rest goes to integer linear arithmetic, if a condition is a
conjunction of comparisons of sums, quotients and remainders; another condition stays open.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence
from math import prod

from ptxcheck.descriptors.expression import Scope, value
from ptxcheck.descriptors.ranges import Symbol, Symbols
from ptxcheck.terms.integers import (
    Claim,
    Quotient,
    Remainder,
    Sum,
    Term,
    Variable,
)
from ptxcheck.terms.smt import Obligations

TRIED = 4096
"""Most combinations of values that are tried one by one."""
SAMPLES = (-(1 << 64), 0, 1, 3, 16, 64, 128, 256, 4096, 1 << 20)
"""Values that sizes, boxes and strides have, and the least of each symbol."""


def satisfiable(conditions: Sequence[ast.expr], symbols: Symbols) -> bool | None:
    """Whether some values of the symbols make all conditions true; None if that was not decided."""
    symbols = _read(conditions, symbols)
    if count(symbols) <= TRIED:
        return any(all(_holds(c, fields) for c in conditions) for fields in _assignments(symbols))
    if any(all(_holds(c, fields) for c in conditions) for fields in _samples(symbols)):
        return True
    claims = [_claims(condition, symbols) for condition in conditions]
    known = [claim for part in claims if part is not None for claim in part]
    answer = _solver(symbols).possible(known)
    whole = all(part is not None for part in claims)
    return answer if whole or answer is False else None


def valid(condition: ast.expr, symbols: Symbols) -> bool:
    """Whether every value of the symbols is known to make the condition true."""
    symbols = _read([condition], symbols)
    if count(symbols) <= TRIED:
        return all(_holds(condition, fields) for fields in _assignments(symbols))
    if not all(_holds(condition, fields) for fields in _samples(symbols)):
        return False
    claims = _claims(condition, symbols)
    if claims is None:
        return False
    solver = _solver(symbols)
    return all(map(solver.is_valid, claims))


def _read(conditions: Sequence[ast.expr], symbols: Symbols) -> Symbols:
    """Return the symbols that the conditions read."""
    names = {node.id for c in conditions for node in ast.walk(c) if isinstance(node, ast.Name)}
    return {key: symbol for key, symbol in symbols.items() if key in names}


def _samples(symbols: Symbols) -> Iterator[dict[str, int]]:
    """Yield some of the assignments: each symbol near its least, greatest or a round value."""
    for wanted in SAMPLES:
        by_name = {s.name: _near(s, wanted) for s in _distinct(symbols)}
        yield {key: by_name[symbol.name] for key, symbol in symbols.items()}
    yield {key: symbol.last for key, symbol in symbols.items()}


def _near(symbol: Symbol, wanted: int) -> int:
    """Return a value of the symbol not far above `wanted`, or its least or greatest."""
    above = -(-wanted // symbol.multiple_of) * symbol.multiple_of
    return min(max(above, symbol.first), symbol.last)


def count(symbols: Symbols) -> int:
    """Return how many combinations of values the symbols have."""
    return prod((s.last - s.first) // s.multiple_of + 1 for s in _distinct(symbols))


def _distinct(symbols: Symbols) -> list[Symbol]:
    return list({symbol.name: symbol for symbol in symbols.values()}.values())


def _assignments(symbols: Symbols) -> list[dict[str, int]]:
    distinct = _distinct(symbols)
    values = [range(s.first, s.last + 1, s.multiple_of) for s in distinct]
    found = []
    for numbers in itertools.product(*values):
        by_name = {symbol.name: number for symbol, number in zip(distinct, numbers, strict=True)}
        found.append({key: by_name[symbol.name] for key, symbol in symbols.items()})
    return found


def _holds(condition: ast.expr, fields: dict[str, int]) -> bool:
    try:
        return bool(value(condition, Scope(fields, {}, {})))
    except ZeroDivisionError:
        return False


def _solver(symbols: Symbols) -> Obligations:
    solver = Obligations()
    for symbol in _distinct(symbols):
        if symbol.multiple_of > 1:
            solver.assume(Claim("eq", Remainder(_variable(symbol), symbol.multiple_of), 0))
    return solver


def _variable(symbol: Symbol) -> Variable:
    return Variable(symbol.name, symbol.first, symbol.last)


def _claims(condition: ast.expr, symbols: Symbols) -> list[Claim] | None:
    """Return a condition as claims that hold together, or None where it is no such conjunction."""
    match condition:
        case ast.BoolOp(op=ast.And(), values=parts):
            each = [_claims(part, symbols) for part in parts]
            return None if None in each else [claim for part in each if part for claim in part]
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            sides = [left, *comparators]
            links = [_claim(op, a, b, symbols) for op, a, b in zip(ops, sides, comparators, strict=False)]
            return None if None in links else [link for link in links if link is not None]
    return None


def _claim(op: ast.cmpop, left: ast.expr, right: ast.expr, symbols: Symbols) -> Claim | None:
    a, b = _term(left, symbols), _term(right, symbols)
    if a is None or b is None:
        return None
    difference = Sum(((1, a), (-1, b)), 0)
    match op:
        case ast.Lt():
            return Claim("lt", difference, 0)
        case ast.LtE():
            return Claim("lt", difference, 1)
        case ast.Gt():
            return Claim("lt", difference, 1, holds=False)
        case ast.GtE():
            return Claim("lt", difference, 0, holds=False)
        case ast.Eq():
            return Claim("eq", difference, 0)
        case ast.NotEq():
            return Claim("eq", difference, 0, holds=False)
    return None


def _term(node: ast.expr, symbols: Symbols) -> Term | None:
    """Return a linear term, with floor division and remainder by positive numbers."""
    match node:
        case ast.Constant(value=int() as number):
            return Sum((), number)
        case ast.Name(id=key):
            return _variable(symbols[key])
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _scaled(operand, -1, symbols)
        case ast.BinOp(left=ast.Constant(value=int() as factor), op=ast.Mult(), right=other):
            return _scaled(other, factor, symbols)
        case ast.BinOp(left=left, op=op, right=ast.Constant(value=int() as number)):
            return _with_number(left, op, number, symbols)
        case ast.BinOp(left=left, op=(ast.Add() | ast.Sub()) as op, right=right):
            a, b = _term(left, symbols), _term(right, symbols)
            sign = 1 if isinstance(op, ast.Add) else -1
            return None if a is None or b is None else Sum(((1, a), (sign, b)), 0)
    return None


def _with_number(node: ast.expr, op: ast.operator, number: int, symbols: Symbols) -> Term | None:
    inner = _term(node, symbols)
    if inner is None:
        return None
    match op:
        case ast.Add():
            return Sum(((1, inner),), number)
        case ast.Sub():
            return Sum(((1, inner),), -number)
        case ast.Mult():
            return Sum(((number, inner),), 0)
        case ast.FloorDiv() if number > 0:
            return Quotient(inner, number)
        case ast.Mod() if number > 0:
            return Remainder(inner, number)
    return None


def _scaled(node: ast.expr, factor: int, symbols: Symbols) -> Term | None:
    inner = _term(node, symbols)
    return None if inner is None else Sum(((factor, inner),), 0)
