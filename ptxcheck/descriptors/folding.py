"""Rewrite a constraint over a map with symbols until only symbols are unknown in it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ptxcheck.descriptors.expression import Scope, value
from ptxcheck.descriptors.ranges import Symbols, truth


@dataclass(frozen=True, slots=True)
class Fold:
    """Rewrites an expression until only symbols are unknown in it."""

    scope: Scope
    symbols: Symbols
    i: int | None
    terms: Mapping[str, ast.expr] | None = None
    """What each unknown field is, over the keys of `symbols`; without it each symbol is the field of its key."""

    def _term(self, key: str) -> ast.expr | None:
        if self.terms is not None:
            return self.terms.get(key)
        return ast.Name(id=key, ctx=ast.Load()) if key in self.symbols else None

    def fold(self, node: ast.expr) -> ast.expr:
        """Return `node` with every part that reads no symbol replaced by its value."""
        term = self._term(self._key(node))
        if term is not None:
            return term
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
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self._function(name, [self.fold(argument) for argument in arguments])
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
                return any(replace(self, i=i)._reads_symbol(part.args[0]) for i in ranks)
            elif isinstance(part, (ast.Name, ast.Subscript)) and self._term(self._key(part)) is not None:
                return True
        return False

    def _logic(self, op: ast.boolop, parts: list[ast.expr]) -> ast.expr:
        absorbing = isinstance(op, ast.Or)
        left = [part for part in parts if truth(part, self.symbols) is not (not absorbing)]
        if any(truth(part, self.symbols) is absorbing for part in left):
            return ast.Constant(value=absorbing)
        if not left:
            return ast.Constant(value=not absorbing)
        return left[0] if len(left) == 1 else ast.BoolOp(op=op, values=left)

    def _choice(self, test: ast.expr, body: ast.expr, orelse: ast.expr) -> ast.expr:
        known = truth(test, self.symbols)
        if known is None:
            return ast.IfExp(test=test, body=self.fold(body), orelse=self.fold(orelse))
        return self.fold(body if known else orelse)

    def _product(self, factor: ast.expr) -> ast.expr:
        known = 1
        unknown: list[ast.expr] = []
        for i in range(self.scope.fields["rank"]):
            folded = replace(self, i=i).fold(factor)
            if isinstance(folded, ast.Constant) and isinstance(folded.value, int):
                known *= folded.value
            else:
                unknown.append(folded)
        total: ast.expr = ast.Constant(value=known)
        for part in unknown:
            total = ast.BinOp(left=total, op=ast.Mult(), right=part)
        return total

    def _function(self, name: str, arguments: list[ast.expr]) -> ast.expr:
        """Return a call in terms of arithmetic and choices."""
        if name == "i32":
            return _parsed("(x + 2147483648) % 4294967296 - 2147483648", x=arguments[0])
        if name == "max":
            first, second = arguments
            larger = _parsed("x >= y", x=first, y=second)
            decided = truth(larger, self.symbols)
            if decided is not None:
                return first if decided else second
            return ast.IfExp(test=larger, body=first, orelse=second)
        return self._table(name, arguments[0])

    def _table(self, name: str, key: ast.expr) -> ast.expr:
        """Return a table as nested choices, over the entries that the key can be."""
        table = self.scope.tables[name]
        chosen: ast.expr = ast.Constant(value=table.default)
        for entry, number in table.entries:
            test = _parsed(f"x == {entry}", x=key)
            if truth(test, self.symbols) is not False:
                chosen = ast.IfExp(test=test, body=ast.Constant(value=number), orelse=chosen)
        return chosen

    def _member(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Tuple):
            return ast.Tuple(elts=[self.fold(part) for part in node.elts], ctx=ast.Load())
        return self.fold(node)


class _Substitute(ast.NodeTransformer):
    def __init__(self, parts: dict[str, ast.expr]) -> None:
        self._parts = parts

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._parts.get(node.id, node)


def _parsed(text: str, **parts: ast.expr) -> ast.expr:
    """Return the tree of `text` with the named parts in the place of their names."""
    tree: ast.expr = _Substitute(parts).visit(ast.parse(text, mode="eval").body)
    return tree


def _plain(number: object) -> int | bool:
    if isinstance(number, (bool, np.bool_)):
        return bool(number)
    assert isinstance(number, (int, np.integer))
    return int(number)
