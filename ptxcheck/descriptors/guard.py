"""A folded condition as source text: Python as it stands, and C++ over signed 64-bit integers."""

from __future__ import annotations

import ast
from copy import deepcopy

from ptxcheck.descriptors.ranges import Symbols


def named(node: ast.expr, symbols: Symbols) -> ast.expr:
    """Return a copy of a folded condition with the symbols' own names."""
    copy = ast.parse(ast.unparse(_Rename(symbols).visit(deepcopy(node))), mode="eval")
    return copy.body


class _Rename(ast.NodeTransformer):
    """Puts the text of each symbol, which may be an expression, in the place of its key."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Return the symbol's name."""
        known = self._symbols.get(node.id)
        return ast.parse(known.name, mode="eval").body if known else node


SIGNS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "/",
    ast.Mod: "%",
}
"""C++ rounds a quotient towards zero: no difference here, where what is divided is not negative."""


def cpp_of(node: ast.expr) -> str:
    """Return an expression of the constraint language as C++."""
    match node:
        case ast.BoolOp(op=op, values=parts):
            joint = " && " if isinstance(op, ast.And) else " || "
            return joint.join(f"({cpp_of(part)})" for part in parts)
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            sides = [left, *comparators]
            links = zip(ops, sides, comparators, strict=False)
            return " && ".join(_link(op, a, b) for op, a, b in links)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return f"({cpp_of(test)} ? {cpp_of(body)} : {cpp_of(orelse)})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return f"!({cpp_of(operand)})"
        case ast.BinOp(left=left, op=op, right=right):
            return f"({cpp_of(left)} {OPERATORS[type(op)]} {cpp_of(right)})"
        case ast.Constant(value=bool() as known):
            return "true" if known else "false"
        case ast.Constant(value=int() as number):
            return f"{number}LL" if abs(number) >= 1 << 31 else str(number)
    return ast.unparse(node)


def _link(op: ast.cmpop, left: ast.expr, right: ast.expr) -> str:
    if isinstance(op, (ast.In, ast.NotIn)):
        assert isinstance(right, ast.Tuple)
        found = " || ".join(f"{cpp_of(left)} == {cpp_of(member)}" for member in right.elts)
        return f"({found})" if isinstance(op, ast.In) else f"!({found})"
    return f"{cpp_of(left)} {SIGNS[type(op)]} {cpp_of(right)}"
