"""Tensor-map operands that are addresses of variables or kernel parameters of this module.

Property: `raw_parameters` follows copies and additions alone, so that no conversion of the address is missed:
an operand it reports holds a parameter-space address. `misplaced` reports an operand that is no multiple of
64 whatever the place of its variable, or whose parameter stands at an odd place of the parameter block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...ir import (
    TYPE_BYTES,
    Address,
    Function,
    Register,
    Symbol,
    SymbolOffset,
    Variable,
)
from ...opcodes.op import Op

if TYPE_CHECKING:
    from ...view import KernelView

ALIGNMENT = 64
_MAX_STEPS = 16


@dataclass(frozen=True, slots=True)
class Operand:
    """The tensor map of one instruction."""

    point: int
    address: Address


def operands(view: KernelView) -> Iterator[Operand]:
    """Yield the tensor-map operands of tensor copies and prefetches."""
    for point, instruction in enumerate(view.cfg.instructions):
        address = instruction.get("tensor_map")
        if isinstance(address, Address) and not view.facts.never_runs(point):
            yield Operand(point, address)


def raw_parameters(view: KernelView) -> Iterator[tuple[int, str, int]]:
    """Yield the point, parameter and `mov` of each operand that is a parameter-space address."""
    if not view.function.is_entry:
        return
    parameters = {parameter.name for parameter in view.function.parameters}
    for operand in operands(view):
        found = _moved_symbol(view, operand)
        if found is not None and found[0] in parameters:
            yield operand.point, *found


def _moved_symbol(view: KernelView, operand: Operand) -> tuple[str, int] | None:
    """Return the symbol that a register was moved from, and where; conversions end the search."""
    point, register = operand.point, operand.address.base
    for _ in range(_MAX_STEPS):
        if not isinstance(register, Register):
            return None
        sources = view.facts.definitions(point, register)
        if len(sources) != 1:
            return None
        point = sources[0]
        instruction = view.cfg.instructions[point]
        if instruction.guard is not None or instruction.operation.op not in (Op.MOV, Op.ADD):
            return None
        source = instruction.operands[1]
        if isinstance(source, Symbol | SymbolOffset):
            return (source if isinstance(source, Symbol) else source.symbol).name, point
        register = source if isinstance(source, Register) else None
    return None


def misplaced(view: KernelView) -> Iterator[tuple[int, str]]:
    """Yield each operand that is not a multiple of 64, with the reason."""
    places = parameter_offsets(view.function) if view.function.is_entry else {}
    for operand in operands(view):
        if view.facts.is_multiple(operand.point, operand.address, ALIGNMENT) is False:
            value = view.facts.value(operand.point, operand.address)
            modulus = value.modulus or ALIGNMENT
            yield operand.point, f"the address is {value.residue % modulus} modulo {modulus}"
            continue
        pointer = view.facts.address(operand.point, operand.address)
        if pointer is None or pointer.symbol not in places or not pointer.is_variable:
            continue
        offset = pointer.offset.signed
        start = places[pointer.symbol]
        if offset is not None and (start + offset) % ALIGNMENT:
            yield operand.point, f"it is {start + offset} bytes into the parameters, in '{pointer.symbol}'"


def parameter_offsets(function: Function) -> dict[str, int]:
    """Return where each kernel parameter starts; those behind one of unknown size are left out."""
    found: dict[str, int] = {}
    at = 0
    for parameter in function.parameters:
        align = parameter.align or _natural(parameter)
        at = (at + align - 1) // align * align
        found[parameter.name] = at
        if parameter.size is None:
            break
        at += parameter.size
    return found


def _natural(variable: Variable) -> int:
    return TYPE_BYTES.get(variable.type, 1) * (int(variable.vector[2:]) if variable.vector else 1)


__all__ = ["ALIGNMENT", "misplaced", "operands", "parameter_offsets", "raw_parameters"]
