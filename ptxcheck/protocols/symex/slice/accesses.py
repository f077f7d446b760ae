"""Which instructions access shared memory as ordinary loads, stores and atomics, and how.

Property: every instruction that may be an ordinary access of shared memory has a kind; what it touches is no more
than `AccessKind.at` says of its address.

Argument: traits of the instruction table tell loads, stores and atomics; a generic address is left out only where it
is a pointer of the host or lies outside the shared window.

Not covered: pointers of the host that point into shared memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ....cfg.cfg import Cfg
from ....ir import (
    Address,
    Instruction,
    Operand,
    Register,
    Symbol,
)
from ....opcodes.op import Op
from ....opcodes.spec import OperandKind, Operation, Trait
from ...typestate.shared_access import ROW_BYTES, access_bytes, address_lanes
from ..values.kinds import Kind
from ..values.substitution import is_number_of
from ..values.symbol import VARYING, Atom, Form, Value
from ..values.trace import OFFSETS, PARAM_WINDOW, SHARED_WINDOW, Access
from .fragments import Fragment, fragment_of

Constant: TypeAlias = Callable[[int, Operand | None], int | None]
_ACCESSING = frozenset({Trait.LOAD, Trait.STORE, Trait.ATOMIC})
_LEFT_OUT = frozenset({Trait.ASYNC, Trait.MBARRIER, Trait.TENSOR_MEMORY})
_MATRIX = frozenset({Op.LDMATRIX, Op.STMATRIX})
"""Bits of a generic address of shared memory that are not the window; unsigned, as lanes are."""
_POINTER_BYTES = 8
_STRONG = (".acquire", ".relaxed", ".volatile", ".mmio", ".cv")


@dataclass(frozen=True, slots=True)
class AccessKind:
    """The part of an access that its text gives."""

    operand: Address
    space: str
    reads: bool
    writes: bool
    size: int
    lanes: int
    fragment: Fragment | None = None
    """The lines of a `wmma` matrix, of which the address is the first."""

    def at(self, address: Value, threads: int) -> Access | None:
        """Return the access at an address in so many threads, None when it is not of shared memory."""
        known: Value | None
        if isinstance(address, Form):
            if not self.space and is_pointer(address):
                return None
            known = address if self._is_of_variables(address) else None
        elif self.space:
            known = address
        elif isinstance(address, int):
            if not address & SHARED_WINDOW or address & PARAM_WINDOW:
                return None
            known = address & OFFSETS
        else:
            if not bool((address & SHARED_WINDOW).any()):
                return None
            known = np.bitwise_and(address, np.uint64(OFFSETS))
        size = self.size
        if self.fragment is not None and not isinstance(known, Form):
            known, size = self.fragment.places(known, threads)
        return Access(self.reads, self.writes, known, size, self.lanes)

    def _is_of_variables(self, address: Form) -> bool:
        """Tell whether an address is a number for each thread, in shared memory, once variables are numbers."""
        return (
            bool(address.origin & VARYING)
            and self.fragment is None
            and (bool(self.space) or bool(address.constant & SHARED_WINDOW))
            and is_number_of(address, Kind.VARIABLE)
        )


def is_strong(operation: Operation) -> bool:
    """Tell whether a load sees what others store meanwhile, so that two of them may differ."""
    return any(operation.has(each) for each in _STRONG)


def is_pointer(address: Form) -> bool:
    """Tell whether a symbol is a pointer and an offset that is never into shared memory.

    Such pointers are 64-bit parameters, global variables, and what was loaded from global or constant memory: they are
    the host's, or another kernel's.
    """
    return _has_pointer(address.terms)


def _has_pointer(terms: Iterable[tuple[Atom, int]]) -> bool:
    return any(factor == 1 and _is_outside(name) for name, factor in terms)


def _is_outside(name: Atom) -> bool:
    match name.kind:
        case Kind.ADD | Kind.SUB if name[3] == 8 * _POINTER_BYTES:  # an offset of each lane
            parts = name[1:3] if name.kind is Kind.ADD else name[1:2]
            return any(isinstance(part, Atom) and _is_outside(part) for part in parts)
        case Kind.SELP:  # null, or one of several pointers
            chosen = [part for part in name[2:4] if part != 0]
            return bool(chosen) and all(isinstance(part, Atom) and _is_outside(part) for part in chosen)
        case Kind.SUM:
            return _has_pointer(name[1])  # type: ignore[arg-type]
        case Kind.PARAM:
            return name[3] == _POINTER_BYTES
        case Kind.LOAD:
            return name[2:] == (8 * _POINTER_BYTES,)
        case kind:
            return kind is Kind.SYMBOL


def access_kinds(cfg: Cfg, constant: Constant) -> dict[int, AccessKind]:
    """Return every instruction that may be an ordinary access of shared memory, by point.

    `constant` gives the number that an operand is in every run, None when there is none.
    """
    found: dict[int, AccessKind] = {}
    for point, instruction in enumerate(cfg.instructions):
        traits = instruction.operation.traits
        if traits & _ACCESSING and not traits & _LEFT_OUT:
            kind = _kind(point, instruction, constant)
            if kind is not None:
                found[point] = kind
    return found


def _kind(point: int, instruction: Instruction, constant: Constant) -> AccessKind | None:
    operation = instruction.operation
    space = operation.slots.get("space", "")
    if space and not space.startswith(".shared"):
        return None
    address = next(
        (
            operand
            for spec, operand in zip(operation.operand_specs, instruction.operands, strict=True)
            if spec.kind is OperandKind.ADDRESS and isinstance(operand, Address)
        ),
        None,
    )
    if address is None or not isinstance(address.base, Register | Symbol | None):
        return None
    traits = operation.traits
    both = Trait.ATOMIC in traits
    size = ROW_BYTES if operation.op in _MATRIX else access_bytes(instruction)
    if operation.op is Op.ST_BULK:
        known = constant(point, instruction.get("size"))
        if known == 0:
            return None
        size = known or 0
    fragment = fragment_of(instruction, constant(point, instruction.get("stride")))
    return AccessKind(
        address,
        space,
        both or Trait.LOAD in traits,
        both or Trait.STORE in traits,
        size,
        address_lanes(instruction) if fragment is None else fragment.lines,
        fragment,
    )
