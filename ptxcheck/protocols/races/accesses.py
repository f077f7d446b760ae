"""Accesses of shared memory by ordinary instructions: what they do, to how many bytes, and how strongly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ...cfg import AtomKind
from ...ir import Address, Instruction, Operand
from ...opcodes.op import Op
from ...opcodes.spec import OperandKind, Trait
from ..typestate.address_kinds import misused
from ..typestate.global_arrays import Array
from ..typestate.shared_access import access_bytes, address_lanes

if TYPE_CHECKING:
    from ...view import KernelView

_ACCESSING = frozenset({Trait.LOAD, Trait.STORE, Trait.ATOMIC})
_MATRIX = frozenset({Op.LDMATRIX, Op.STMATRIX})
_WHOLE_TILES = frozenset({Op.WMMA_LOAD, Op.WMMA_STORE})
_ROW_BYTES = 16
_WEAK = frozenset({"", ".weak"})


class Action(Enum):
    """What an access does."""

    READ = "read"
    WRITE = "write"
    ATOMIC = "atomic operation"

    @property
    def article(self) -> str:
        """Return the article of the word."""
        return "an" if self is Action.ATOMIC else "a"


@dataclass(frozen=True, slots=True)
class Access:
    """One instruction that may access shared memory, or an array of global memory."""

    point: int
    action: Action
    address: Operand
    size: int
    """Bytes; for matrix instructions those of one row."""
    strong: bool
    """Volatile, relaxed or stronger: two such accesses are no data race (PTX ISA 8.7)."""
    lanes: int = 32
    value: Operand | None = None
    """What a write stores."""
    array: Array | None = None
    """The array of global memory that it is in; None for shared memory."""

    @property
    def address_bits(self) -> int:
        return 32 if self.array is None else 64

    def conflicts(self, other: Access) -> bool:
        """Tell whether the two race where they meet."""
        if self.array != other.array:
            return False
        if self.array is not None:
            # Two writes may be of one value, and plain reads beside atomic operations are meant.
            return {self.action, other.action} == {Action.READ, Action.WRITE}
        if self.action is Action.READ and other.action is Action.READ:
            return False
        return not (self.action is Action.ATOMIC and other.action is Action.ATOMIC)


@dataclass(frozen=True, slots=True)
class Accesses:
    """The accesses of a kernel, and the points of those whose bytes are not known."""

    known: tuple[Access, ...]
    unknown: tuple[int, ...]


def accesses_of(view: KernelView) -> Accesses:
    """Return the accesses of a kernel that may be of shared memory."""
    known: list[Access] = []
    unknown: list[int] = []
    misplaced = {each.point for each in view.get(misused)}
    for point, instruction in enumerate(view.body.instructions):
        traits, op = instruction.operation.traits, instruction.operation.op
        if Trait.ANYTHING in traits:
            unknown.append(point)
        if (
            not traits & _ACCESSING
            or view.facts.never_runs(point)
            or not (point in misplaced or _is_shared(view, point, instruction))
        ):
            continue
        access = None if op in _WHOLE_TILES or point in misplaced else access_of(point, instruction)
        if access is None:
            unknown.append(point)
        else:
            known.append(access)
    return Accesses(tuple(known), tuple(unknown))


def access_of(point: int, instruction: Instruction) -> Access | None:
    """Return what an instruction accesses; None where its bytes are not known."""
    slots, op = instruction.operation.slots, instruction.operation.op
    size = _ROW_BYTES if op in _MATRIX else access_bytes(instruction)
    address = next(_addresses(instruction), None)
    if address is None or not size or size & (size - 1):
        return None
    if Trait.ATOMIC in instruction.operation.traits:
        action = Action.ATOMIC
    else:
        action = Action.WRITE if Trait.STORE in instruction.operation.traits else Action.READ
    value = instruction.get("b") if action is Action.WRITE else None
    strong = slots.get("sem", "") not in _WEAK or action is Action.ATOMIC
    return Access(point, action, address, size, strong, address_lanes(instruction), value)


def _addresses(instruction: Instruction) -> Iterator[Operand]:
    for spec in instruction.operation.operand_specs:
        operand = instruction.get(spec.name)
        if spec.kind is OperandKind.ADDRESS and isinstance(operand, Address):
            yield operand


def _is_shared(view: KernelView, point: int, instruction: Instruction) -> bool:
    space = instruction.operation.slots.get("space", "")
    if space:
        return space.startswith(".shared")
    operand = next(_addresses(instruction), None)
    pointer = None if operand is None else view.facts.address(point, operand)
    if pointer is None or pointer.base is None:
        return view.get(_has_generic_addresses)
    if pointer.base.kind is AtomKind.ADDRESS:
        return pointer.base.space == ".shared"
    return pointer.base.kind is not AtomKind.PARAMETER and view.get(_has_generic_addresses)


def _has_generic_addresses(view: KernelView) -> bool:
    """Tell whether a kernel makes generic addresses of shared memory."""
    return any(
        instruction.operation.op is Op.CVTA
        and instruction.operation.slots.get("space", "").startswith(".shared")
        and not instruction.operation.has(".to")
        for instruction in view.body.instructions
    )
