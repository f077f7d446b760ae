"""Arithmetic of host code on terms: C++'s conversions and wrapping, Python's unbounded integers.

Property: see `values.py`. Overflow of signed integers, which C++ leaves undefined, is taken not to happen.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from math import gcd

from ptxcheck.descriptors.ranges import Range, Symbol
from ptxcheck.hostcode.types import BOOL, UNKNOWN, Type
from ptxcheck.hostcode.values import (
    Integer,
    Step,
    Symbols,
    as_test,
    bounds,
    fits,
    from_test,
    is_large,
    is_true,
    joined_steps,
    number,
    promoted,
    type_range,
)

_PLAIN: dict[str, type[ast.operator]] = {"+": ast.Add, "-": ast.Sub, "*": ast.Mult}
_COMPARED: dict[str, type[ast.cmpop]] = {
    "==": ast.Eq,
    "!=": ast.NotEq,
    "<": ast.Lt,
    "<=": ast.LtE,
    ">": ast.Gt,
    ">=": ast.GtE,
}
_NUMBERS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}
LARGEST_SHIFT = 63


class Arithmetic:
    """Computes with numbers of one program; new symbols go into the `known` of the caller."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols

    def convert(self, value: Integer, type_: Type, known: dict[str, Symbol], text: str) -> Integer:
        """Return a number converted to a type."""
        if not type_.is_integer:
            return Integer(value.term, type_, value.steps, value.unit)
        if type_ == BOOL:
            test = as_test(value, known)
            return from_test(test, value.steps) if test is not None else value
        return self._wrapped(value.term, type_, known, value.steps, text)

    def _wrapped(
        self,
        term: ast.expr,
        type_: Type,
        known: dict[str, Symbol],
        steps: tuple[Step, ...],
        text: str,
    ) -> Integer:
        span = bounds(Integer(term, UNKNOWN), known)
        whole = type_ if not type_.values else Type(type_.name, 32, True)
        if not fits(whole, span):
            term = _modulo(term, whole)
        if is_large(term):
            term = self._symbols.fresh(known, text, _within(bounds(Integer(term, type_), known), type_))
        return Integer(term, type_, steps)

    def binary(self, op: str, a: Integer, b: Integer, known: dict[str, Symbol], text: str) -> Integer:
        """Return `a op b`."""
        if op in ("&&", "||"):
            return self._logic(op, a, b, known, text)
        steps = joined_steps(a, b)
        if op in _COMPARED:
            return self._comparison(op, a, b, known, steps, text)
        pointer = a.unit if a.unit is not None else b.unit
        if pointer is not None:
            return self._pointer(op, a, b, known, text)
        type_ = a.type if op in ("<<", ">>") else promoted(a.type, b.type)
        term = self._term(op, a, b, known)
        if term is None:
            span = self._loose(op, a, b, known, type_)
            return Integer(self._symbols.fresh(known, text, span), type_, steps)
        if type_.is_integer and not type_.signed:
            return self._wrapped(term, type_, known, steps, text)
        if is_large(term):
            span = _within(bounds(Integer(term, type_), known), type_)
            term = self._symbols.fresh(known, text, span)
        return Integer(_folded(term), type_, steps)

    def _comparison(
        self,
        op: str,
        a: Integer,
        b: Integer,
        known: dict[str, Symbol],
        steps: tuple[Step, ...],
        text: str,
    ) -> Integer:
        common = promoted(a.type, b.type)
        left, right = a, b
        if common.is_integer and not common.signed:
            left, right = (self._wrapped(v.term, common, known, v.steps, text) for v in (a, b))
        test: ast.expr = ast.Compare(left=left.term, ops=[_COMPARED[op]()], comparators=[right.term])
        decided = is_true(test, known)
        if decided is None and is_large(test):
            return Integer(self._symbols.fresh(known, text, Range(0, 1, 1)), BOOL, steps)
        return from_test(test if decided is None else ast.Constant(value=decided), steps)

    def _logic(self, op: str, a: Integer, b: Integer, known: dict[str, Symbol], text: str) -> Integer:
        left, right = as_test(a, known), as_test(b, known)
        assert left is not None
        assert right is not None
        join: ast.boolop = ast.And() if op == "&&" else ast.Or()
        test: ast.expr = ast.BoolOp(op=join, values=[left, right])
        decided = is_true(test, known)
        if decided is not None:
            test = ast.Constant(value=decided)
        elif is_large(test):
            return Integer(self._symbols.fresh(known, text, Range(0, 1, 1)), BOOL, joined_steps(a, b))
        return from_test(test, joined_steps(a, b))

    def _pointer(self, op: str, a: Integer, b: Integer, known: dict[str, Symbol], text: str) -> Integer:
        """Return a pointer moved by whole elements."""
        base, offset = (a, b) if a.unit is not None else (b, a)
        span = bounds(offset, known)
        if op not in ("+", "-") or base is b or not base.unit:
            return self._symbols.of_type(known, text, base.type, joined_steps(a, b))
        moved = ast.BinOp(left=offset.term, op=ast.Mult(), right=ast.Constant(value=base.unit))
        term = _folded(ast.BinOp(left=base.term, op=_PLAIN[op](), right=_folded(moved)))
        if is_large(term) or span.low < 0:
            return self._symbols.of_type(known, text, base.type, joined_steps(a, b))
        return Integer(term, base.type, joined_steps(a, b), base.unit)

    def _term(self, op: str, a: Integer, b: Integer, known: dict[str, Symbol]) -> ast.expr | None:
        x, y = a.constant, b.constant
        left, right = bounds(a, known), bounds(b, known)
        if op in _PLAIN:
            return _folded(ast.BinOp(left=_plain(a.term), op=_PLAIN[op](), right=_plain(b.term)))
        if x is not None and y is not None:
            return _of_numbers(op, x, y)
        if y is None or left.low < 0:
            return None
        sign = _power(op, y)
        if sign is not None:
            return _folded(ast.BinOp(left=_plain(a.term), op=sign[0], right=ast.Constant(value=sign[1])))
        if op == "&" and y < 0 and (-y) & (-y - 1) == 0:
            low = ast.BinOp(left=_plain(a.term), op=ast.Mod(), right=ast.Constant(value=-y))
            return ast.BinOp(left=_plain(a.term), op=ast.Sub(), right=low)
        del right
        return None

    def _loose(self, op: str, a: Integer, b: Integer, known: dict[str, Symbol], type_: Type) -> Range:
        """Return a range for what has no term."""
        left, right = bounds(a, known), bounds(b, known)
        whole = type_range(type_)
        if left.low < 0 or right.low < 0:
            return whole
        if op in ("/", ">>"):
            return Range(0, left.high, 1)
        if op == "%":
            return Range(0, min(left.high, max(right.high - 1, 0)), gcd(left.step, right.step) or 1)
        if op == "&":
            return Range(0, min(left.high, right.high), 1)
        return whole

    def negated(self, value: Integer, known: dict[str, Symbol]) -> Integer:
        """Return `!value`."""
        test = as_test(value, known)
        assert test is not None
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            flipped = _OPPOSITE[type(test.ops[0])]()
            opposite: ast.expr = ast.Compare(left=test.left, ops=[flipped], comparators=test.comparators)
        elif isinstance(test, ast.BoolOp):
            parts = [self.negated(from_test(part), known).term for part in test.values]
            opposite = ast.BoolOp(op=ast.Or() if isinstance(test.op, ast.And) else ast.And(), values=parts)
        else:
            decided = is_true(test, known)
            if decided is None:
                return Integer(self._symbols.fresh(known, "", Range(0, 1, 1)), BOOL, value.steps)
            opposite = ast.Constant(value=not decided)
        return from_test(opposite, value.steps)

    def least(self, values: list[Integer], known: dict[str, Symbol], text: str) -> Integer:
        """Return the minimum."""
        return self._extreme(values, known, text, min)

    def greatest(self, values: list[Integer], known: dict[str, Symbol], text: str) -> Integer:
        """Return the maximum."""
        return self._extreme(values, known, text, max)

    def _extreme(
        self,
        values: list[Integer],
        known: dict[str, Symbol],
        text: str,
        pick: Callable[[list[int]], int],
    ) -> Integer:
        numbers = [value.constant for value in values]
        steps, type_ = joined_steps(*values), values[0].type
        certain = [one for one in numbers if one is not None]
        if len(certain) == len(values):
            return number(pick(certain), type_, steps)
        spans = [bounds(value, known) for value in values]
        span = Range(
            pick([s.low for s in spans]), pick([s.high for s in spans]), gcd(*(s.step for s in spans))
        )
        return Integer(self._symbols.fresh(known, text, span), type_, steps)


_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
}


def _plain(term: ast.expr) -> ast.expr:
    """Return a condition as a number that arithmetic can use."""
    if isinstance(term, (ast.Compare, ast.BoolOp)):
        return ast.IfExp(test=term, body=ast.Constant(value=1), orelse=ast.Constant(value=0))
    return term


def _of_numbers(op: str, x: int, y: int) -> ast.expr | None:
    if op in _NUMBERS:
        return ast.Constant(value=_NUMBERS[op](x, y))
    if op in ("<<", ">>"):
        if not 0 <= y <= LARGEST_SHIFT:
            return None
        return ast.Constant(value=x << y if op == "<<" else x >> y)
    if y == 0:
        return None
    if op == "//":
        return ast.Constant(value=x // y)
    if op == "%%":
        return ast.Constant(value=x % y)
    quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    return ast.Constant(value=quotient if op == "/" else x - quotient * y)


def _power(op: str, y: int) -> tuple[ast.operator, int] | None:
    """Return an operation with a number as the floor division, remainder or product that it is."""
    if op in ("/", "//") and y > 0:
        return ast.FloorDiv(), y
    if op in ("%", "%%") and y > 0:
        return ast.Mod(), y
    if op == ">>" and 0 <= y <= LARGEST_SHIFT:
        return ast.FloorDiv(), 1 << y
    if op == "<<" and 0 <= y <= LARGEST_SHIFT:
        return ast.Mult(), 1 << y
    if op == "&" and y >= 0 and y & (y + 1) == 0:
        return ast.Mod(), y + 1
    return None


def _modulo(term: ast.expr, type_: Type) -> ast.expr:
    size = ast.Constant(value=1 << type_.bits)
    if not type_.signed:
        return _folded(ast.BinOp(left=term, op=ast.Mod(), right=size))
    half = ast.Constant(value=1 << (type_.bits - 1))
    moved = _folded(
        ast.BinOp(left=_folded(ast.BinOp(left=term, op=ast.Add(), right=half)), op=ast.Mod(), right=size)
    )
    return _folded(ast.BinOp(left=moved, op=ast.Sub(), right=half))


def _folded(term: ast.expr) -> ast.expr:
    """Return a sum, product or remainder of two numbers as one, and drop what changes nothing."""
    if not isinstance(term, ast.BinOp):
        return term
    x = term.left.value if isinstance(term.left, ast.Constant) else None
    y = term.right.value if isinstance(term.right, ast.Constant) else None
    if isinstance(x, int) and isinstance(y, int):
        if isinstance(term.op, ast.Mod):
            return ast.Constant(value=x % y)
        if isinstance(term.op, ast.FloorDiv):
            return ast.Constant(value=x // y)
        signs = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
        return ast.Constant(value=_NUMBERS[signs[type(term.op)]](x, y))
    if isinstance(term.op, ast.Mult) and 0 in (x, y):
        return ast.Constant(value=0)
    if (isinstance(term.op, (ast.Mult, ast.FloorDiv)) and y == 1) or (
        isinstance(term.op, (ast.Add, ast.Sub)) and y == 0
    ):
        return term.left
    if isinstance(term.op, ast.Mult) and x == 1:
        return term.right
    return term


def _within(span: Range, type_: Type) -> Range:
    """Return a range cut to a type."""
    whole = type_range(type_)
    low, high = max(span.low, whole.low), min(span.high, whole.high)
    if low > high:
        return whole
    return Range(low, high, max(span.step, 1))
