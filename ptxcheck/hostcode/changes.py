"""Which variables a piece of host code may change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from ptxcheck.hostcode.code import (
    AddressOf,
    Assign,
    Call,
    Cast,
    Declare,
    Expr,
    Function,
    Item,
    Keyword,
    Lambda,
    Member,
    Name,
    Opaque,
    Stmt,
)
from ptxcheck.hostcode.names import CUDA_FUNCTION, LAUNCHERS

READERS = frozenset(
    """size data begin end cbegin cend empty at front back get c_str data_ptr value ndim dim sizes strides stride
    numel element_size is_contiguous dtype shape device const_data_ptr item""".split()  # noqa: SIM905
)
"""Methods that leave their object as it is."""
HARMLESS = frozenset(
    """printf fprintf min max ceil_div ceildiv cdiv round_up div_up divUp to_string forward move get make_tuple
    pair format len int str range isinstance print tuple list""".split()  # noqa: SIM905
)
"""Functions that change none of their arguments."""


def walk(node: Any) -> Iterator[Any]:
    """Yield a node of host code and all nodes in it, bodies of lambdas included."""
    pending = [node]
    while pending:
        one = pending.pop()
        yield one
        if isinstance(one, Function):
            pending.extend(one.body)
        elif is_dataclass(one) and not isinstance(one, type):
            for field in fields(one):
                value = getattr(one, field.name)
                pending.extend(value if isinstance(value, tuple) else (value,))
        elif isinstance(one, tuple):
            pending.extend(one)


def path_of(expr: Expr) -> str | None:
    """Return the variable that an expression names: `a`, or `a.b` for a member."""
    if isinstance(expr, Name):
        return expr.id
    if isinstance(expr, Member):
        inner = path_of(expr.object)
        return None if inner is None else f"{inner}.{expr.name}"
    return None


def variable_of(expr: Expr) -> str | None:
    """Return the variable in which an lvalue lies: `a` of `a[i]`, `a.b` of `a.b[0]`."""
    while isinstance(expr, (Item, Cast, AddressOf)):
        expr = expr.operand if isinstance(expr, (Cast, AddressOf)) else expr.object
    return path_of(expr)


def element_path(path: str, position: int) -> str:
    """Return the path of an element of an array of structures; the first one has that of the array."""
    return path if position == 0 else f"{path}.[{position}]"


def root_of(expr: Expr) -> str | None:
    """Return the variable that an lvalue is a part of: `a` of `a[i].b`."""
    while isinstance(expr, (Item, Cast, AddressOf, Member)):
        expr = expr.operand if isinstance(expr, (Cast, AddressOf)) else expr.object
    return path_of(expr)


def callee_name(expr: Expr) -> str | None:
    """Return the last name of what is called."""
    if isinstance(expr, Name):
        return expr.id
    return expr.name if isinstance(expr, Member) else None


def passed(call: Call, by_name: bool) -> Iterator[str]:
    """Yield the variables that an unknown function may change: what it gets the address of, or by name."""
    name = callee_name(call.callee)
    by_name = by_name and not (name is not None and CUDA_FUNCTION.match(name))
    if call.launch or name in LAUNCHERS:
        return
    if isinstance(call.callee, Member) and name not in READERS:
        owner = variable_of(call.callee.object)
        if owner is not None:
            yield owner
    for argument in call.arguments:
        plain = argument
        while isinstance(plain, (Cast, Keyword)):
            plain = plain.operand if isinstance(plain, Cast) else plain.value
        is_taken = isinstance(plain, AddressOf)
        if is_taken or (by_name and name not in HARMLESS and isinstance(plain, (Name, Item, Member))):
            found = variable_of(plain)
            if found is not None:
                yield found
        elif (
            isinstance(plain, Call)
            and isinstance(plain.callee, Member)
            and plain.callee.name in ("data", "begin")
        ):
            found = variable_of(plain.callee.object)
            if found is not None and name not in HARMLESS:
                yield found


def changed(code: Iterable[Stmt] | Expr, by_name: bool) -> set[str]:
    """Return the variables that some statements, or the calls in an expression, may change or declare."""
    found: set[str] = set()
    for node in walk(tuple(code) if not is_dataclass(code) else code):
        match node:
            case Assign(target=target):
                name = variable_of(target) or root_of(target)
                if name is not None:
                    found.add(name)
            case Declare(name=declared):
                found.add(declared)
            case Call():
                found.update(passed(node, by_name))
            case Opaque(names=names):
                found.update(names)
            case _:
                pass
    return found


def assigned_in_lambdas(body: Iterable[Stmt], by_name: bool) -> set[str]:
    """Return the variables that functions without a name in `body` may change."""
    found: set[str] = set()
    for node in walk(tuple(body)):
        if isinstance(node, Lambda):
            found |= changed(node.function.body, by_name) - {p.name for p in node.function.parameters}
    return found
