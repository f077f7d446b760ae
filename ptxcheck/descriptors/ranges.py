"""What an integer expression over symbols can be: an interval and a congruence, and what they decide.

Property: the result holds for every value of the symbols. Order: a range is below another that contains it
and whose step divides its own. Where the domain has no answer (division by a symbol) the result is None.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd


@dataclass(frozen=True, slots=True)
class Symbol:
    """An unknown integer in [`low`, `high`], a multiple of `multiple_of`; `name` is its text in a guard.

    The name may be any expression that Python and C++ read alike, such as `2 * ld`. Two fields whose symbols
    have the same name hold the same number.
    """

    name: str
    low: int
    high: int
    multiple_of: int = 1

    def __post_init__(self) -> None:
        """Require a number to be possible."""
        if self.multiple_of < 1 or self.first > self.last:
            raise ValueError(f"no number is possible for {self.name}")

    @property
    def first(self) -> int:
        """Return the least value."""
        return -(-self.low // self.multiple_of) * self.multiple_of

    @property
    def last(self) -> int:
        """Return the greatest value."""
        return self.high // self.multiple_of * self.multiple_of


Symbols = Mapping[str, Symbol]
"""Symbols by the field that they stand for: `dim[0]`, `stride[1]`, `address`, `channels` and so on."""


@dataclass(frozen=True, slots=True)
class Range:
    """Integers from `low` to `high` that are multiples of `step`; a step of 0 is the number zero alone."""

    low: int
    high: int
    step: int


def _exact(number: int) -> Range:
    return Range(number, number, abs(number))


def range_of(node: ast.expr, symbols: Symbols) -> Range | None:
    """Return what an integer expression can be, or None where the domain has no answer."""
    match node:
        case ast.Constant(value=int() as number):
            return _exact(number)
        case ast.Name(id=name) if name in symbols:
            known = symbols[name]
            return Range(known.first, known.last, known.multiple_of)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = range_of(operand, symbols)
            return None if inner is None else Range(-inner.high, -inner.low, inner.step)
        case ast.BinOp(left=left, op=op, right=right):
            a, b = range_of(left, symbols), range_of(right, symbols)
            return None if a is None or b is None else _arithmetic(op, a, b)
        case ast.IfExp(body=body, orelse=orelse):
            a, b = range_of(body, symbols), range_of(orelse, symbols)
            return None if a is None or b is None else _join(a, b)
    return None


def _join(a: Range, b: Range) -> Range:
    return Range(min(a.low, b.low), max(a.high, b.high), gcd(a.step, b.step))


def _arithmetic(op: ast.operator, a: Range, b: Range) -> Range | None:
    constant = b.low == b.high
    match op:
        case ast.Add():
            return Range(a.low + b.low, a.high + b.high, gcd(a.step, b.step))
        case ast.Sub():
            return Range(a.low - b.high, a.high - b.low, gcd(a.step, b.step))
        case ast.Mult():
            corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
            return Range(min(corners), max(corners), a.step * b.step)
        case ast.FloorDiv() if constant and b.low > 0:
            return Range(a.low // b.low, a.high // b.low, a.step // b.low if a.step % b.low == 0 else 1)
        case ast.Mod() if constant and b.low > 0:
            return _modulo(a, b.low)
    return None


def _modulo(a: Range, divisor: int) -> Range:
    if a.low == a.high:
        return _exact(a.low % divisor)
    if a.low >= 0 and a.high < divisor:
        return a
    step = gcd(a.step, divisor)
    if a.step % divisor == 0:
        return _exact(0)
    return Range(0, divisor - step, step)


def truth(node: ast.expr, symbols: Symbols) -> bool | None:
    """Return whether a condition holds for all values of the symbols, for none, or cannot be told."""
    match node:
        case ast.Constant(value=known):
            return bool(known)
        case ast.BoolOp(op=op, values=parts):
            absorbing = isinstance(op, ast.Or)
            answers = [truth(part, symbols) for part in parts]
            if absorbing in answers:
                return absorbing
            return None if None in answers else not absorbing
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            sides = [left, *comparators]
            links = [_compare(op, a, b, symbols) for op, a, b in zip(ops, sides, comparators, strict=False)]
            if False in links:
                return False
            return None if None in links else True
    return None


def _compare(op: ast.cmpop, left: ast.expr, right: ast.expr, symbols: Symbols) -> bool | None:
    a, b = range_of(left, symbols), range_of(right, symbols)
    if a is None or b is None:
        return None
    match op:
        case ast.LtE():
            return True if a.high <= b.low else False if a.low > b.high else None
        case ast.Lt():
            return True if a.high < b.low else False if a.low >= b.high else None
        case ast.GtE():
            return _compare(ast.LtE(), right, left, symbols)
        case ast.Gt():
            return _compare(ast.Lt(), right, left, symbols)
        case ast.Eq():
            return _equal(a, b)
        case ast.NotEq():
            equal = _equal(a, b)
            return None if equal is None else not equal
    return None


def _equal(a: Range, b: Range) -> bool | None:
    if a.low == a.high == b.low == b.high:
        return True
    if a.high < b.low or b.high < a.low:
        return False
    if b.low == b.high and a.step and b.low % a.step:
        return False
    return None
