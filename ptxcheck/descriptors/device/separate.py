"""Whether the blocks of a grid write different maps: the address as a polynomial in block indices and grid size.

Property: `spacing` returns a number only where the address is a base that is the same for the grid plus that
number times the linear index of the block, as integers. Products that exceed their registers are not considered:
no grid is that large.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...cfg import Atom, AtomKind, Linear
from ...ir import Operand
from ...opcodes.op import Op
from .place import Key

if TYPE_CHECKING:
    from ...view import KernelView

Monomial = tuple[str, ...]
Polynomial = Mapping[Monomial, int]

LINEAR_INDEX: frozenset[Monomial] = frozenset(
    {
        ("%ctaid.x",),
        ("%ctaid.y", "%nctaid.x"),
        ("%ctaid.z", "%nctaid.x", "%nctaid.y"),
    }
)
"""x + y·nx + z·nx·ny, as sorted products."""
_DEPTH = 12
_MAX_TERMS = 32


def spacing(view: KernelView, key: Key) -> int | None:
    """Return the bytes from the map of one block to that of the next; None when that is not shown."""
    total: dict[Monomial, int] = {}
    for atom, factor in ((a, f) for term in key.base if isinstance(term, tuple) for a, f in (term,)):
        part = _of_atom(view, atom, _DEPTH)
        if part is None:
            return None
        for monomial, count in part.items():
            total[monomial] = total.get(monomial, 0) + factor * count
    varying = {m: n for m, n in total.items() if n and any(name.startswith("%") for name in m)}
    steps = set(varying.values())
    if frozenset(varying) != LINEAR_INDEX or len(steps) != 1:
        return None
    return abs(steps.pop())


def _of_form(view: KernelView, form: Linear | None, depth: int) -> Polynomial | None:
    if form is None or depth == 0:
        return None
    total: dict[Monomial, int] = {(): form.constant}
    for atom, factor in form.terms:
        part = _of_atom(view, atom, depth)
        if part is None:
            return None
        for monomial, count in part.items():
            total[monomial] = total.get(monomial, 0) + factor * count
    return total if len(total) <= _MAX_TERMS else None


def _of_atom(view: KernelView, atom: Atom, depth: int) -> Polynomial | None:
    match atom.kind:
        case AtomKind.SPECIAL:
            return {(atom.name,): 1} if atom.name.startswith(("%ctaid", "%nctaid")) else None
        case AtomKind.PARAMETER | AtomKind.ADDRESS:
            return {(f"{atom.name}+{atom.at}",): 1}
        case AtomKind.DEFINITION if atom.at >= 0:
            return _computed(view, atom.at, depth - 1)
    return None


def _computed(view: KernelView, point: int, depth: int) -> Polynomial | None:
    instruction = view.cfg.instructions[point]
    operands = instruction.operands
    if instruction.guard is not None or depth <= 0:
        return None
    match instruction.operation.op:
        case Op.MUL if len(operands) == 3:
            return _product(view, point, operands[1], operands[2], depth)
        case Op.MAD if len(operands) == 4:
            product = _product(view, point, operands[1], operands[2], depth)
            return _sum(product, _operand(view, point, operands[3], depth))
        case Op.CVT | Op.MOV if len(operands) == 2:
            return _operand(view, point, operands[1], depth)
        case Op.ADD if len(operands) == 3:
            return _sum(*(_operand(view, point, each, depth) for each in operands[1:]))
    return None


def _operand(view: KernelView, point: int, operand: Operand, depth: int) -> Polynomial | None:
    return _of_form(view, view.facts.value(point, operand).linear, depth)


def _sum(a: Polynomial | None, b: Polynomial | None) -> Polynomial | None:
    if a is None or b is None:
        return None
    return {m: a.get(m, 0) + b.get(m, 0) for m in a.keys() | b.keys()}


def _product(view: KernelView, point: int, a: Operand, b: Operand, depth: int) -> Polynomial | None:
    first, second = _operand(view, point, a, depth), _operand(view, point, b, depth)
    if first is None or second is None or len(first) * len(second) > _MAX_TERMS:
        return None
    total: dict[Monomial, int] = {}
    for m, i in first.items():
        for n, j in second.items():
            joint = tuple(sorted((*m, *n)))
            total[joint] = total.get(joint, 0) + i * j
    return {m: n for m, n in total.items() if n}
