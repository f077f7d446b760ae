"""Generic addresses and offsets of shared memory, each used where the other is wanted.

Property: each place in `misused` takes an address from a register, and the text computes that address from a
shared variable, in the kind that is not wanted there.

Argument: the name of a variable stands for its offset in shared memory, and only `cvta.shared` and `cvta.to.shared`
turn the kinds into each other. An instruction wants the space that it names, and a generic address if it could name
one and does not. Of a generic address in 32 bits nothing is said: its low half is the offset. An address that a loop
moves is of the kind that it has on all ways into the loop.

Not covered: addresses that come from memory, or that are converted on some paths only; local memory; `isspacep`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ...cfg.addresses import base_of
from ...cfg.definitions import Name
from ...cfg.linear import Atom, AtomKind
from ...ir import Address, Instruction, Operand, Register
from ...opcodes.op import Op
from ...opcodes.spec import OperandKind, OperandSpec, Trait

if TYPE_CHECKING:
    from ...view import KernelView

_ACCESSING = frozenset({Trait.LOAD, Trait.STORE, Trait.ATOMIC, Trait.MBARRIER})
_MAPPING = frozenset({Op.MAPA, Op.GETCTARANK})
_TAKING_REGISTERS = _MAPPING | {Op.CVTA}
_WHOLE = 64
"""Bits of a generic address."""


class AddressKind(Enum):
    """How an address of shared memory is written."""

    OFFSET = ""
    GENERIC = "generic"


_KINDS = {kind.value: kind for kind in AddressKind}


@dataclass(frozen=True, slots=True)
class Misuse:
    """A place where an address of one kind stands for the other."""

    point: int
    kind: AddressKind
    """What it is."""
    name: str
    """Name of the variable."""


def misused(view: KernelView) -> tuple[Misuse, ...]:
    """Return each place where an address of a kind stands for the other."""
    makes_generic = any(
        each.operation.op is Op.CVTA and not each.operation.has(".to") for each in view.cfg.instructions
    )
    return tuple(
        Misuse(point, base[0], base[1])
        for point, instruction in enumerate(view.cfg.instructions)
        for operand, wanted in _wanted(instruction)
        if (makes_generic or wanted is AddressKind.GENERIC)
        and not view.facts.never_runs(point)
        and (base := _base(view, point, operand)) is not None
        and base[0] is not wanted
    )


def takes_generic(instruction: Instruction) -> bool:
    """Tell whether an instruction takes an address of generic space, as it names no other."""
    operation = instruction.operation
    form = operation.form
    return form is not None and "space" not in operation.slots and any(s.name == "space" for s in form.slots)


def takes_offset(instruction: Instruction, spec: OperandSpec) -> bool:
    """Tell whether an operand is an address in shared memory by the space that is written."""
    space = spec.space if spec.space.startswith(".") else instruction.operation.slots.get(spec.space, "")
    return space.startswith(".shared")


def _base(view: KernelView, point: int, operand: Operand) -> tuple[AddressKind, str] | None:
    """Return the kind of a whole address, and the shared variable that it is computed from."""
    pointer = view.facts.address(point, operand)
    if pointer is None or pointer.base is None or pointer.offset.width < _WHOLE:
        return None
    found = set(_starts(view, pointer.base, set()))
    kinds = {_KINDS.get(base.window) if _is_shared(base) else None for base in found}
    kind = kinds.pop() if len(kinds) == 1 else None
    return None if kind is None else (kind, min(base.name for base in found))


def _starts(view: KernelView, base: Atom, seen: set[Atom]) -> Iterator[Atom]:
    """Yield what an address counts from, and of one that loops or branches change what it counted from before."""
    if base.kind is not AtomKind.PHI:
        yield base
    elif base not in seen:
        seen.add(base)
        for _, name in view.facts.merged(Name(Register(base.name, base.scope), -2 - base.at)):
            value = view.facts.value_of(name)
            before = None if value is None or value.linear is None else base_of(value.linear)
            if before is None:
                yield base
            else:
                yield from _starts(view, before, seen)


def _is_shared(base: Atom) -> bool:
    return base.kind is AtomKind.ADDRESS and base.space == ".shared"


def _wanted(instruction: Instruction) -> Iterator[tuple[Operand, AddressKind]]:
    """Yield each address that an instruction takes from a register, and the kind that it takes it for."""
    operation = instruction.operation
    if operation.op not in _TAKING_REGISTERS and Address not in map(type, instruction.operands):
        return
    space = operation.slots.get("space", "")
    source = instruction.get("a")
    if operation.op is Op.CVTA and space.startswith(".shared") and isinstance(source, Register):
        yield source, AddressKind.GENERIC if operation.has(".to") else AddressKind.OFFSET
    elif operation.op in _MAPPING and isinstance(source, Register):
        yield source, AddressKind.OFFSET if space else AddressKind.GENERIC
    is_generic = bool(operation.traits & _ACCESSING) and takes_generic(instruction)
    for spec in operation.operand_specs:
        operand = instruction.get(spec.name)
        if (
            spec.kind is not OperandKind.ADDRESS
            or not isinstance(operand, Address)
            or not isinstance(operand.base, Register)
        ):
            continue
        if takes_offset(instruction, spec):
            yield operand, AddressKind.OFFSET
        elif is_generic:
            yield operand, AddressKind.GENERIC
