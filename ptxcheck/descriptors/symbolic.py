"""Legality of a tensor map of which some fields are symbols: always, never, or legal if a condition holds.

A symbol stands for one integer field and knows its range and what it is a multiple of. Each constraint is evaluated
on ranges and congruences first. What stays open is folded, every known part replaced by its value, and becomes one
clause of the condition, printed as a guard in C++ or Python. Property: sound for every value of every symbol within
its range; incomplete, since an open clause may still be always true when symbols are correlated.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from math import gcd

from ptxcheck.descriptors.constraints import Constraint, Layer, Platform, applicable
from ptxcheck.descriptors.expression import Scope, value
from ptxcheck.descriptors.legality import indices, map_scope
from ptxcheck.descriptors.tensor_map import TensorMap


class Legality(Enum):
    """Whether the driver encodes the map."""

    ALWAYS = "always"
    NEVER = "never"
    CONDITIONAL = "conditional"


@dataclass(frozen=True, slots=True)
class Symbol:
    """An unknown integer in [`low`, `high`] that is a multiple of `multiple_of`; `name` is its text in a guard."""

    name: str
    low: int
    high: int
    multiple_of: int = 1


@dataclass(frozen=True, slots=True)
class Clause:
    """What must hold for one constraint, over the symbols alone."""

    constraint: Constraint
    index: int | None
    condition: ast.expr

    @property
    def python(self) -> str:
        """Return the clause as Python."""
        return ast.unparse(self.condition)

    @property
    def cpp(self) -> str:
        """Return the clause as C++ over signed 64-bit integers."""
        return _cpp(self.condition)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer, with the clauses that decide it: what must hold, or the constraints that never do."""

    legality: Legality
    clauses: tuple[Clause, ...] = ()

    @property
    def python_guard(self) -> str:
        """Return the condition as a Python expression."""
        return " and ".join(f"({text})" for text in dict.fromkeys(c.python for c in self.clauses)) or "True"

    @property
    def cpp_guard(self) -> str:
        """Return the condition as a C++ expression."""
        return " && ".join(f"({text})" for text in dict.fromkeys(c.cpp for c in self.clauses)) or "true"


def decide(tensor_map: TensorMap, symbols: Mapping[str, Symbol], platform: Platform | None = None) -> Verdict:
    """Return whether the driver encodes `tensor_map` with `symbols` in place of the fields that they are keyed by.

    Keys are the constraint language's: `dim[0]`, `stride[1]`, `box[0]`, `address`, `channels`, and so on.
    """
    scope = map_scope(tensor_map)
    open_clauses: list[Clause] = []
    for constraint in applicable(tensor_map.kind, platform or Platform(), Layer.DRIVER):
        for i in indices(constraint, tensor_map.rank):
            folded = _Fold(scope, symbols, i).fold(constraint.expression)
            truth = _truth(folded, symbols)
            clause = Clause(constraint, i, _named(folded, symbols))
            if truth is False:
                return Verdict(Legality.NEVER, (clause,))
            if truth is None:
                open_clauses.append(clause)
    if not open_clauses:
        return Verdict(Legality.ALWAYS)
    return Verdict(Legality.CONDITIONAL, tuple(open_clauses))


@dataclass(frozen=True, slots=True)
class _Fold:
    """Rewrites an expression until only symbols are unknown in it."""

    scope: Scope
    symbols: Mapping[str, Symbol]
    i: int | None

    def fold(self, node: ast.expr) -> ast.expr:
        """Return `node` with every part that reads no symbol replaced by its value."""
        key = self._key(node)
        if key in self.symbols:
            return ast.Name(id=key, ctx=ast.Load())
        if not self._reads_symbol(node):
            return ast.Constant(value=_plain(value(node, self.scope, self.i)))
        match node:
            case ast.Name(id=name) if name in self.scope.lets:
                return self.fold(self.scope.lets[name])
            case ast.BoolOp(op=op, values=parts):
                return self._logic(op, [self.fold(part) for part in parts])
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._choice(self.fold(test), body, orelse)
            case ast.Call(func=ast.Name(id="product"), args=[factor]):
                return self._product(factor)
            case ast.Call(func=ast.Name() as function, args=arguments):
                return ast.Call(func=function, args=[self.fold(a) for a in arguments], keywords=[])
            case ast.BinOp(left=left, op=op, right=right):
                return ast.BinOp(left=self.fold(left), op=op, right=self.fold(right))
            case ast.UnaryOp(op=op, operand=operand):
                return ast.UnaryOp(op=op, operand=self.fold(operand))
            case ast.Compare(left=left, ops=ops, comparators=rest):
                return ast.Compare(left=self.fold(left), ops=ops, comparators=[self._member(c) for c in rest])
        raise ValueError(f"{ast.unparse(node)} cannot be folded")

    def _key(self, node: ast.expr) -> str:
        """Return the name of the field that a node reads, or an empty one."""
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            return f"{node.value.id}[{value(node.slice, self.scope, self.i)}]"
        return ""

    def _reads_symbol(self, node: ast.expr) -> bool:
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and part.id in self.scope.lets:
                if self._reads_symbol(self.scope.lets[part.id]):
                    return True
            elif isinstance(part, ast.Call) and ast.unparse(part.func) == "product":
                ranks = range(self.scope.fields["rank"])
                return any(_Fold(self.scope, self.symbols, i)._reads_symbol(part.args[0]) for i in ranks)
            elif isinstance(part, (ast.Name, ast.Subscript)) and self._key(part) in self.symbols:
                return True
        return False

    def _logic(self, op: ast.boolop, parts: list[ast.expr]) -> ast.expr:
        absorbing = isinstance(op, ast.Or)
        left = [part for part in parts if _truth(part, self.symbols) is not (not absorbing)]
        if any(_truth(part, self.symbols) is absorbing for part in left):
            return ast.Constant(value=absorbing)
        if not left:
            return ast.Constant(value=not absorbing)
        return left[0] if len(left) == 1 else ast.BoolOp(op=op, values=left)

    def _choice(self, test: ast.expr, body: ast.expr, orelse: ast.expr) -> ast.expr:
        truth = _truth(test, self.symbols)
        if truth is None:
            return ast.IfExp(test=test, body=self.fold(body), orelse=self.fold(orelse))
        return self.fold(body if truth else orelse)

    def _product(self, factor: ast.expr) -> ast.expr:
        known, unknown = 1, []
        for i in range(self.scope.fields["rank"]):
            folded = _Fold(self.scope, self.symbols, i).fold(factor)
            if isinstance(folded, ast.Constant):
                known *= folded.value  # type: ignore[operator]
            else:
                unknown.append(folded)
        total: ast.expr = ast.Constant(value=known)
        for part in unknown:
            total = ast.BinOp(left=total, op=ast.Mult(), right=part)
        return total

    def _member(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Tuple):
            return ast.Tuple(elts=[self.fold(part) for part in node.elts], ctx=ast.Load())
        return self.fold(node)


@dataclass(frozen=True, slots=True)
class Range:
    """Integers from `low` to `high` that are multiples of `step`; a step of 0 is the number zero alone."""

    low: int
    high: int
    step: int


def _plain(number: object) -> int | bool:
    return bool(number) if isinstance(number, bool) or type(number).__name__ == "bool" else int(number)  # type: ignore[call-overload,no-any-return]


def _exact(number: int) -> Range:
    return Range(number, number, abs(number))


def _range(node: ast.expr, symbols: Mapping[str, Symbol]) -> Range | None:
    """Return what an integer expression can be, or None where the domain has no answer."""
    match node:
        case ast.Constant(value=int() as number):
            return _exact(number)
        case ast.Name(id=name) if name in symbols:
            known = symbols[name]
            step = known.multiple_of
            return Range(-(-known.low // step) * step, known.high // step * step, step)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _range(operand, symbols)
            return None if inner is None else Range(-inner.high, -inner.low, inner.step)
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _range(left, symbols), _range(right, symbols)
            return None if a is None or b is None else _arithmetic(op, a, b)
        case ast.Call(func=ast.Name(id="max"), args=[first, second]):
            a, b = _range(first, symbols), _range(second, symbols)
            return None if a is None or b is None else Range(max(a.low, b.low), max(a.high, b.high), 1)
    return None


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
    step = gcd(a.step, divisor)
    if a.step % divisor == 0:
        return _exact(0)
    return Range(0, divisor - step, step)


def _truth(node: ast.expr, symbols: Mapping[str, Symbol]) -> bool | None:
    """Return whether a condition holds for all values of the symbols, for none, or cannot be told."""
    match node:
        case ast.Constant(value=known):
            return bool(known)
        case ast.BoolOp(op=op, values=parts):
            absorbing = isinstance(op, ast.Or)
            answers = [_truth(part, symbols) for part in parts]
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


def _compare(op: ast.cmpop, left: ast.expr, right: ast.expr, symbols: Mapping[str, Symbol]) -> bool | None:
    a, b = _range(left, symbols), _range(right, symbols)
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


def _named(node: ast.expr, symbols: Mapping[str, Symbol]) -> ast.expr:
    """Return a copy of a folded condition with the symbols' own names."""
    copy = ast.parse(ast.unparse(_Rename(symbols).visit(node)), mode="eval")
    return copy.body


class _Rename(ast.NodeTransformer):
    """Puts the text of each symbol in the place of its key."""

    def __init__(self, symbols: Mapping[str, Symbol]) -> None:
        self._symbols = symbols

    def visit_Name(self, node: ast.Name) -> ast.Name:  # noqa: N802
        """Return the symbol's name."""
        known = self._symbols.get(node.id)
        return ast.Name(id=known.name, ctx=node.ctx) if known else node


CPP_OPERATORS = {"and": "&&", "or": "||", "//": "/"}


def _cpp(node: ast.expr) -> str:
    """Return an expression of the constraint language as C++."""
    match node:
        case ast.BoolOp(op=op, values=parts):
            joint = " && " if isinstance(op, ast.And) else " || "
            return joint.join(f"({_cpp(part)})" for part in parts)
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            sides = [left, *comparators]
            return " && ".join(_cpp_link(op, a, b) for op, a, b in zip(ops, sides, comparators, strict=False))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return f"({_cpp(test)} ? {_cpp(body)} : {_cpp(orelse)})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return f"!({_cpp(operand)})"
        case ast.BinOp(left=left, op=ast.FloorDiv(), right=right):
            return f"({_cpp(left)} / {_cpp(right)})"
        case ast.BinOp(left=left, op=op, right=right):
            sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Mod: "%"}[type(op)]
            return f"({_cpp(left)} {sign} {_cpp(right)})"
        case ast.Constant(value=int() as number) if not isinstance(number, bool):
            return f"{number}LL" if abs(number) >= 1 << 31 else str(number)
    return ast.unparse(node).replace("True", "true").replace("False", "false")


def _cpp_link(op: ast.cmpop, left: ast.expr, right: ast.expr) -> str:
    if isinstance(op, (ast.In, ast.NotIn)):
        assert isinstance(right, ast.Tuple)
        found = " || ".join(f"{_cpp(left)} == {_cpp(member)}" for member in right.elts)
        return f"({found})" if isinstance(op, ast.In) else f"!({found})"
    signs: dict[type[ast.cmpop], str] = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">"}
    return f"{_cpp(left)} {signs.get(type(op), '>=')} {_cpp(right)}"
