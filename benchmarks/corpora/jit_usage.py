"""How the source of a Triton kernel uses its parameters, read by a program, so that no person has to read the kernel.

`usage_of(function)` tells for each parameter whether it is the base of an address, a condition, an extent of a block
or compared with texts; `Flow.sources` tells which parameters a piece of the source depends on, to find out which of
them a compiler's error may be about.
"""
# mypy: ignore-errors

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

ADDRESSED = {"load": 0, "store": 0, "make_block_ptr": 0, "make_tensor_descriptor": 0}
"""Operations of `triton.language` and the argument that is an address; so are those of `atomic_…`."""
SHAPED = {
    "zeros",
    "full",
    "arange",
    "broadcast_to",
    "reshape",
    "view",
    "make_block_ptr",
    "make_tensor_descriptor",
}
_DEPTH = 6


@dataclass(slots=True)
class Usage:
    """What is known of the parameters of one function, by name."""

    pointers: set[str] = field(default_factory=set)
    conditions: set[str] = field(default_factory=set)
    extents: set[str] = field(default_factory=set)
    descriptors: set[str] = field(default_factory=set)
    texts: dict[str, list[str]] = field(default_factory=dict)
    called: set[int] = field(default_factory=set)
    """Identities of the functions that it calls."""
    has_dot: bool = False
    returns: bool = False


class Flow:
    """Where the values of local names come from, whatever the order."""

    def __init__(self, tree: ast.FunctionDef, parameters: set[str]) -> None:
        self.parameters = parameters
        self.definitions: dict[str, list[ast.expr]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self._define(target, node.value)
            elif isinstance(node, ast.AnnAssign | ast.AugAssign) and node.value is not None:
                self._define(node.target, node.value)
            elif isinstance(node, ast.For):
                self._define(node.target, node.iter)

    def _define(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.definitions.setdefault(target.id, []).append(value)
        elif isinstance(target, ast.Tuple):
            parts = value.elts if isinstance(value, ast.Tuple) else [value] * len(target.elts)
            for each, part in zip(target.elts, parts, strict=False):
                self._define(each, part)

    def sources(self, node: ast.AST, depth: int = 2) -> list[str]:
        """Parameters that a piece of the source names, or that names in it come from; the nearest first."""
        found: dict[str, None] = {}
        names = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
        found.update(dict.fromkeys(name for name in names if name in self.parameters))
        if depth:
            for name in names:
                for value in self.definitions.get(name, ()):
                    found.update(dict.fromkeys(self.sources(value, depth - 1)))
        return list(found)

    def bases(self, node: ast.AST, depth: int = _DEPTH) -> set[str]:
        """Parameters that may be the base of an address: what a sum begins with."""
        if not depth:
            return set()
        if isinstance(node, ast.Name):
            own = {node.id} & self.parameters
            return own.union(*(self.bases(value, depth - 1) for value in self.definitions.get(node.id, ())))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            return self.bases(node.left, depth) or self.bases(node.right, depth)
        if isinstance(node, ast.IfExp):
            return self.bases(node.body, depth) | self.bases(node.orelse, depth)
        if isinstance(node, ast.Subscript):
            return self.bases(node.value, depth)
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr == "to":
                return self.bases(node.func.value, depth)
            name = _operation(node)
            if name in ("multiple_of", "max_contiguous", "cast", "advance", "make_block_ptr") and node.args:
                return self.bases(node.args[0], depth)
            if name == "make_block_ptr":
                return set().union(
                    *(self.bases(each.value, depth) for each in node.keywords if each.arg == "base")
                )
        return set()


def usage_of(function, known: dict[int, Usage]) -> Usage:
    """Read one jitted function, and those that it calls."""
    if id(function) in known:
        return known[id(function)]
    known[id(function)] = usage = Usage()
    tree = function.parse().body[0]
    flow = Flow(tree, set(function.arg_names))
    scope = function.get_capture_scope()
    for node in ast.walk(tree):
        if isinstance(node, ast.Return) and node.value is not None:
            usage.returns = True
        elif isinstance(node, ast.If | ast.IfExp | ast.While):
            _note_condition(node.test, usage, flow.parameters)
        elif isinstance(node, ast.Compare):
            _note_texts(node, usage, flow.parameters)
        elif isinstance(node, ast.Call):
            _note_call(node, usage, flow, scope, known)
    return usage


def _operation(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _note_condition(test: ast.expr, usage: Usage, parameters: set[str]) -> None:
    if isinstance(test, ast.BoolOp):
        for each in test.values:
            _note_condition(each, usage, parameters)
    elif isinstance(test, ast.UnaryOp):
        _note_condition(test.operand, usage, parameters)
    elif isinstance(test, ast.BinOp) and isinstance(test.op, ast.BitAnd | ast.BitOr):
        _note_condition(test.left, usage, parameters)
        _note_condition(test.right, usage, parameters)
    elif isinstance(test, ast.Name) and test.id in parameters:
        usage.conditions.add(test.id)


def _note_texts(node: ast.Compare, usage: Usage, parameters: set[str]) -> None:
    if isinstance(node.left, ast.Name) and node.left.id in parameters:
        for each in node.comparators:
            values = each.elts if isinstance(each, ast.Tuple | ast.List) else [each]
            for value in values:
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    usage.texts.setdefault(node.left.id, []).append(value.value)


def _note_call(node: ast.Call, usage: Usage, flow: Flow, scope, known: dict[int, Usage]) -> None:
    name = _operation(node)
    if name.startswith(("dot", "wgmma")):
        usage.has_dot = True
    callee = _callee(node, scope)
    if callee is not None:
        _note_inner(node, callee, usage, flow, known)
        return
    if name in ADDRESSED or name.startswith("atomic_"):
        _note_address(node, name, usage, flow)
    if name in SHAPED:
        for each in [*node.args, *(keyword.value for keyword in node.keywords)]:
            parts = each.elts if isinstance(each, ast.Tuple | ast.List) else [each]
            names = {part.id for part in parts if isinstance(part, ast.Name)}
            usage.extents |= names & flow.parameters


def _note_inner(node: ast.Call, callee, usage: Usage, flow: Flow, known: dict[int, Usage]) -> None:
    """What a called function does with its parameters holds for the arguments."""
    inner = usage_of(callee, known)
    usage.called |= {id(callee)} | inner.called
    usage.has_dot |= inner.has_dot
    given = dict(zip(callee.arg_names, node.args, strict=False))
    given |= {each.arg: each.value for each in node.keywords if each.arg}
    for parameter, value in given.items():
        if parameter in inner.pointers:
            usage.pointers |= flow.bases(value)
        if parameter in inner.descriptors:
            usage.descriptors |= flow.bases(value)
        if isinstance(value, ast.Name) and value.id in flow.parameters:
            if parameter in inner.conditions:
                usage.conditions.add(value.id)
            if parameter in inner.texts:
                usage.texts.setdefault(value.id, []).extend(inner.texts[parameter])
            if parameter in inner.extents:
                usage.extents.add(value.id)


def _note_address(node: ast.Call, name: str, usage: Usage, flow: Flow) -> None:
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    is_method = owner is not None and getattr(owner, "id", "") not in ("tl", "language", "triton")
    if is_method and name in ("load", "store"):
        usage.descriptors |= flow.bases(owner)
    elif node.args:
        usage.pointers |= flow.bases(node.args[0])
    for each in node.keywords:
        if each.arg in ("pointer", "base"):
            usage.pointers |= flow.bases(each.value)


def _callee(node: ast.Call, scope):
    """The jitted function that is called, if it is one of a library's own."""
    found = None
    if isinstance(node.func, ast.Name):
        found = scope.get(node.func.id)
    elif isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
        found = getattr(scope.get(node.func.value.id), node.func.attr, None)
    while found is not None and not (hasattr(found, "arg_names") and hasattr(found, "parse")):
        found = getattr(found, "fn", None)
    return None if found is None or re.match(r"triton\.", found.__module__ or "") else found


__all__ = ["Flow", "Usage", "usage_of"]
