"""Which arrays of global memory an instruction reads and writes: what its addresses count from.

Property: `GlobalAccess.arrays` names every array that an address may be in, if addresses are made as compilers make
them: a pointer, and sums of offsets. An array is what one pointer of the host points to (a parameter), what a pointer
in another array points to, what a tensor map describes, or a variable of the module. `ANYWHERE` is among them, or none
is, where an address may be in others.

Argument: definitions are followed backwards through sums, copies, conversions of address spaces, choices and merges;
what is multiplied, shifted or narrower than a pointer is an offset. Other numbers of 64 bits may be pointers to
anywhere, and so may pointers in an array that the kernel writes.

Not covered: two pointers of the host into the same memory, which are taken for two arrays; what tensor maps describe
that the kernel changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from ...cfg import AtomKind, Name
from ...cfg.linear import Atom, Linear
from ...cfg.optypes import typing_of
from ...ir import Address, Instruction, Operand, Register, Symbol, SymbolOffset, Vector
from ...isa.modifier import Mod
from ...opcodes.op import Op
from ...opcodes.spec import OperandKind, OperandSpec, Trait

if TYPE_CHECKING:
    from ...view import KernelView

_FOLLOWED = frozenset({Op.ADD, Op.SUB, Op.MOV, Op.CVTA, Op.SELP, Op.AND, Op.OR, Op.BFI, Op.CVT})
_OFFSETS = frozenset(
    {Op.MUL, Op.SHL, Op.SHR, Op.NEG, Op.NOT, Op.REM, Op.DIV, Op.BFE, Op.MIN, Op.MAX, Op.ABS, Op.CNOT}
)
"""What makes no pointer, though its result may have as many bits."""
_LOADS = frozenset({Op.LD, Op.LD_NC})
_STRONG = (Mod.VOLATILE, Mod.RELAXED, Mod.ACQUIRE, Mod.RELEASE, Mod.MMIO, ".cv")
_ACCESSING = frozenset(
    {Trait.LOAD, Trait.STORE, Trait.ATOMIC, Trait.ASYNC_PROXY_READ, Trait.ASYNC_PROXY_WRITE}
)
_GLOBAL = frozenset({"", Mod.GLOBAL})
_OTHER_SPACES = frozenset({".shared", ".local"})
_ENVIRONMENT = "%envreg"
"""Registers of the driver: where a cooperative launch has the words of its grid barrier."""
_POINTER_BITS = 64
_MOST_FOLLOWED = 3


@dataclass(frozen=True, slots=True, order=True)
class Array:
    """A variable or parameter, `at` bytes into it, and how many pointers or maps lead from there to the array."""

    name: str
    at: int = 0
    followed: int = 0

    def __str__(self) -> str:
        place = f"{self.name}+{self.at}" if self.at else self.name
        return f"{'*' * (self.followed - 1)}{place}"

    @property
    def beyond(self) -> Array:
        """What a pointer or a tensor map that is found here leads to."""
        return Array(self.name, self.at, self.followed + 1)


_GRID_BARRIER = Array("the grid barrier", followed=1)
ANYWHERE = Array("memory by a pointer that is not known")
"""Stands for any array."""


@dataclass(frozen=True, slots=True)
class GlobalAccess:
    """What an instruction does with one address of global memory."""

    point: int
    operand: Address
    arrays: frozenset[Array]
    reads: bool
    writes: bool
    is_atomic: bool
    is_strong: bool
    """Atomic, volatile, relaxed or stronger: it may see what other threads do meanwhile."""
    is_narrow: bool
    """Of the scope of a CTA or a cluster alone."""
    is_asynchronous: bool
    map_at: Linear | None = None
    """Where in global memory the tensor map is by which it is made."""

    @property
    def is_known(self) -> bool:
        """Tell whether the address is surely in one of the arrays."""
        return bool(self.arrays) and ANYWHERE not in self.arrays

    def may_meet(self, other: GlobalAccess) -> bool:
        """Tell whether both may be of one array."""
        if self.is_known and other.is_known and self.arrays.isdisjoint(other.arrays):
            return False
        mine, its = self.map_at, other.map_at
        return mine is None or its is None or mine.terms != its.terms or mine.constant == its.constant


class GlobalArrays:
    """The accesses of global memory of one kernel."""

    def __init__(self, view: KernelView) -> None:
        self._view = view
        self._behind: dict[Name, frozenset[Array]] = {}

    @cached_property
    def accesses(self) -> tuple[GlobalAccess, ...]:
        """All accesses, in the order of the text; instructions that never run have none."""
        found = [
            access
            for point, instruction in enumerate(self._view.body.instructions)
            if not _ACCESSING.isdisjoint(instruction.operation.traits)
            and not self._view.facts.never_runs(point)
            for access in self._of(point, instruction)
        ]
        written = {array for access in found if access.writes for array in access.arrays}
        return tuple(_with_published(access, written) for access in found)

    def _of(self, point: int, instruction: Instruction) -> Iterator[GlobalAccess]:
        traits, slots = instruction.operation.traits, instruction.operation.slots
        is_asynchronous = Trait.ASYNC in traits
        is_atomic = Trait.ATOMIC in traits
        for spec in instruction.operation.operand_specs:
            operand = instruction.get(spec.name)
            if spec.kind is not OperandKind.ADDRESS or not isinstance(operand, Address):
                continue
            reads, writes = _effect(instruction, spec)
            arrays = self._arrays(point, spec, operand) if reads or writes else None
            if arrays is not None:
                is_strong = is_atomic or any(instruction.operation.has(each) for each in _STRONG)
                is_narrow = slots.get("scope", "") in (Mod.CTA, Mod.CLUSTER)
                map_at = None
                if spec.name == "tensor_map":
                    map_at = self._view.facts.value(point, operand.base).linear
                yield GlobalAccess(
                    point,
                    operand,
                    arrays,
                    reads,
                    writes,
                    is_atomic,
                    is_strong,
                    is_narrow,
                    is_asynchronous,
                    map_at,
                )

    def _arrays(self, point: int, spec: OperandSpec, operand: Address) -> frozenset[Array] | None:
        """Return the arrays of an address; None when it is not one of global memory."""
        slots = self._view.body.instructions[point].operation.slots
        space = spec.space if spec.space.startswith(".") else slots.get(spec.space, "")
        if space not in _GLOBAL:
            return None
        pointer = self._view.facts.address(point, operand)
        if pointer is not None and pointer.base is not None and pointer.base.space in _OTHER_SPACES:
            return None
        found = self._operand(point, operand.base)
        is_elsewhere = any(each.name == _ELSEWHERE for each in found)
        kept = frozenset(each for each in found if each.name != _ELSEWHERE)
        if is_elsewhere and not kept:
            return None
        return frozenset(each.beyond for each in kept) if spec.name == "tensor_map" else kept

    def _operand(self, point: int, operand: Operand | None) -> frozenset[Array]:
        match operand:
            case Register():
                return self._name(self._view.facts.name(point, operand))
            case Symbol() | SymbolOffset():
                return self._symbol(point, operand)
            case _:
                return frozenset()

    def _symbol(self, point: int, operand: Symbol | SymbolOffset) -> frozenset[Array]:
        pointer = self._view.facts.address(point, operand)
        if pointer is None or pointer.base is None or pointer.base.kind is not AtomKind.ADDRESS:
            return frozenset()
        if pointer.base.space in _OTHER_SPACES:
            return frozenset({Array(_ELSEWHERE)})
        return frozenset({Array(self._short(pointer.base.name), pointer.offset.constant or 0)})

    def _name(self, start: Name) -> frozenset[Array]:
        """Return the arrays behind a definition: what all that it is made of counts from."""
        known = self._behind.get(start)
        if known is not None:
            return known
        found: set[Array] = set()
        seen = {start}
        work = [start]
        while work:
            for each in self._sources(work.pop(), found):
                if each not in seen:
                    seen.add(each)
                    work.append(each)
        self._behind[start] = frozenset(found)
        return self._behind[start]

    def _sources(self, name: Name, found: set[Array]) -> Iterator[Name]:
        """Yield what a definition is made of; note the arrays where it ends."""
        if name.phi_block is not None:
            yield from (source for _, source in self._view.facts.merged(name))
            return
        if name.site < 0:
            if name.register.name.startswith(_ENVIRONMENT):
                found.add(_GRID_BARRIER)
            return
        instruction = self._view.body.instructions[name.site]
        op = instruction.operation.op
        if instruction.guard is not None:
            yield self._view.facts.name(name.site, name.register)
        if op in _LOADS:
            found.update(self._loaded(name, instruction))
        elif op is Op.MAD:
            yield from self._parts(name.site, instruction.operands[-1:], found)
        elif op in _FOLLOWED:
            yield from self._parts(name.site, instruction.operands[1:], found)
        elif op not in _OFFSETS and typing_of(instruction.operation).width == _POINTER_BITS:
            found.add(ANYWHERE)

    def _parts(self, point: int, operands: Sequence[Operand], found: set[Array]) -> Iterator[Name]:
        for operand in operands:
            if isinstance(operand, Register):
                yield self._view.facts.name(point, operand)
            elif isinstance(operand, (Symbol, SymbolOffset)):
                found.update(self._symbol(point, operand))
            elif isinstance(operand, Vector):
                yield from self._parts(point, operand.elements, found)

    def _loaded(self, name: Name, instruction: Instruction) -> Iterator[Array]:
        """Yield what a loaded pointer points to."""
        parameter = self.parameter(name)
        if parameter is not None:
            if parameter.width == _POINTER_BITS:
                yield self.behind_parameter(parameter)
            return
        address = instruction.get("a")
        if typing_of(instruction.operation).width != _POINTER_BITS or not isinstance(address, Address):
            return
        behind = self._operand(name.site, address.base)
        if instruction.operation.slots.get("space", "") not in _GLOBAL or not behind:
            yield ANYWHERE
        for each in behind:
            is_followed = each.followed < _MOST_FOLLOWED and each not in (ANYWHERE, Array(_ELSEWHERE))
            yield each.beyond if is_followed else ANYWHERE

    def parameter(self, name: Name) -> Atom | None:
        """Return the parameter that a definition loads; None for any other."""
        value = self._view.facts.value_of(name)
        if value is None or value.linear is None or len(value.linear.terms) != 1:
            return None
        ((atom, _),) = value.linear.terms
        return atom if atom.kind is AtomKind.PARAMETER else None

    def behind_parameter(self, parameter: Atom) -> Array:
        """Return what a pointer in a parameter leads to."""
        return Array(self._short(parameter.name), parameter.at, 1)

    def _short(self, name: str) -> str:
        """Return a name without that of the kernel, which nvcc and Triton put in front of the numbers of parameters."""
        return name.removeprefix(f"{self._view.function.name}_")


def _with_published(access: GlobalAccess, written: set[Array]) -> GlobalAccess:
    """Return an access whose pointer may be one that the kernel itself has stored as one to anywhere."""
    stored = access.map_at is None and any(
        Array(each.name, each.at, each.followed - 1) in written for each in access.arrays if each.followed > 1
    )
    return replace(access, arrays=access.arrays | {ANYWHERE}) if stored else access


_ELSEWHERE = "(no global memory)"


def _effect(instruction: Instruction, spec: OperandSpec) -> tuple[bool, bool]:
    """Return whether the memory at an operand is read and written."""
    traits, slots = instruction.operation.traits, instruction.operation.slots
    if Trait.ATOMIC in traits:
        return True, True
    if Trait.ASYNC not in traits:
        return Trait.LOAD in traits, Trait.STORE in traits
    stores = slots.get("dst_space") == Mod.GLOBAL
    match spec.name:
        case "dst":
            return False, stores
        case "src":
            return slots.get("src_space") == Mod.GLOBAL, False
        case "tensor_map":
            return not stores, stores
        case _:
            return False, False
