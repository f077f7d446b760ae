"""What a condition says about symbols, what is forgotten, and states that meet."""

from __future__ import annotations

import ast
from math import gcd, lcm

from ptxcheck.descriptors.ranges import Range, Symbol
from ptxcheck.hostcode import code as c
from ptxcheck.hostcode.machine import Machine, State
from ptxcheck.hostcode.types import UNKNOWN
from ptxcheck.hostcode.values import (
    ANYTHING,
    Array,
    Closure,
    Entry,
    Integer,
    Kernel,
    Value,
    as_test,
    bounds,
    is_large,
    is_true,
    joined_steps,
)


class Branches(Machine):
    """What a condition says about symbols, what is forgotten, and states that meet."""

    def _test(self, expr: c.Expr, state: State) -> ast.expr | None:
        value = self._value(expr, state)
        return as_test(value, state.known)

    def _assume(self, test: ast.expr, state: State, holds: bool) -> bool:
        """Narrow the symbols by a condition; False when no value is left."""
        decided = is_true(test, state.known)
        if decided is not None:
            return decided is holds
        match test:
            case ast.BoolOp(op=op, values=parts):
                if isinstance(op, ast.And) is holds:
                    return all(self._assume(part, state, holds) for part in parts)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return _narrow(left, type(op), right, state.known, holds)
        return True

    def _joined(
        self, a: State, b: State, test: ast.expr | None, values: list[tuple[Value, Value]]
    ) -> tuple[State, list[Value]]:
        """Return one state for two that meet, and values that belong to one of them each."""
        known = dict(a.known)
        for key, symbol in b.known.items():
            known[key] = _hull(known[key], symbol) if key in known else symbol
        if test is None or is_large(test):
            test = ast.Compare(
                left=self._symbols.fresh(known, "", Range(0, 1, 1)),
                ops=[ast.NotEq()],
                comparators=[ast.Constant(value=0)],
            )
        result = State({}, known)
        for name in a.variables.keys() | b.variables.keys():
            left, right = a.variables.get(name, ANYTHING), b.variables.get(name, ANYTHING)
            result.variables[name] = left if left is right else self._either(left, right, test, known)
        return result, [self._either(left, right, test, known) for left, right in values]

    def _either(self, a: Value, b: Value, test: ast.expr, known: dict[str, Symbol]) -> Value:
        if isinstance(a, Integer) and isinstance(b, Integer):
            type_ = a.type if a.type == b.type else UNKNOWN
            steps = joined_steps(a, b)
            if ast.dump(a.term) == ast.dump(b.term):
                return Integer(a.term, type_, steps, a.unit)
            term: ast.expr = ast.IfExp(test=test, body=a.term, orelse=b.term)
            if is_large(term):
                x, y = bounds(a, known), bounds(b, known)
                span = Range(min(x.low, y.low), max(x.high, y.high), gcd(x.step, y.step))
                term = self._symbols.fresh(known, "", span)
            return Integer(term, type_, steps, a.unit if a.unit == b.unit else None)
        if isinstance(a, Array) and isinstance(b, Array):
            if len(a.items) != len(b.items) or a.rest != b.rest:
                return ANYTHING
            pairs = zip(a.items, b.items, strict=True)
            return Array(tuple(self._either(x, y, test, known) for x, y in pairs), a.rest, a.span)
        return a if a == b else ANYTHING

    def _havoc(self, names: set[str], state: State) -> None:
        """Forget what some variables hold, not of which type they are."""
        for name in names:
            held = state.variables.get(name)
            if isinstance(held, Integer):
                state.variables[name] = self._unknown(name, held.type, state)
            elif name in state.variables and not isinstance(held, (Entry, Closure, Kernel)):
                state.variables[name] = ANYTHING
            state.forget_members(name)


def _hull(a: Symbol, b: Symbol) -> Symbol:
    if a == b:
        return a
    return Symbol(a.name, min(a.low, b.low), max(a.high, b.high), gcd(a.multiple_of, b.multiple_of))


def _narrow(
    left: ast.expr, op: type[ast.cmpop], right: ast.expr, known: dict[str, Symbol], holds: bool
) -> bool:
    """Narrow a symbol that is compared with a number; False when no value is left."""
    if not holds:
        op = _OPPOSITE[op]
    if isinstance(left, ast.Constant) and isinstance(right, ast.Name):
        left, right, op = right, left, _MIRRORED[op]
    if not isinstance(right, ast.Constant) or not isinstance(right.value, int):
        return True
    bound = int(right.value)
    multiple = 1
    match left:
        case ast.BinOp(left=inner, op=ast.Mod(), right=ast.Constant(value=int() as divisor)):
            if bound == 0 and op is ast.Eq:
                multiple, left = divisor, inner
        case _:
            pass
    if not isinstance(left, ast.Name) or left.id not in known:
        return True
    symbol = known[left.id]
    low, high = symbol.low, symbol.high
    if multiple == 1:
        low = max(low, bound + (op is ast.Gt)) if op in (ast.Gt, ast.GtE, ast.Eq) else low
        high = min(high, bound - (op is ast.Lt)) if op in (ast.Lt, ast.LtE, ast.Eq) else high
        if op is ast.NotEq:
            low, high = low + (low == bound), high - (high == bound)
    try:
        known[left.id] = Symbol(symbol.name, low, high, lcm(symbol.multiple_of, max(multiple, 1)))
    except ValueError:
        return False
    return True


_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
}
_MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.Eq,
    ast.NotEq: ast.NotEq,
    ast.Lt: ast.Gt,
    ast.GtE: ast.LtE,
    ast.Gt: ast.Lt,
    ast.LtE: ast.GtE,
}
