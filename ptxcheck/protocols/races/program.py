"""The instructions of a kernel made ready for runs of single threads: what is alike in all runs is found once.

Property: a run of the steps makes the same accesses and meetings, at the same addresses, as one of all instructions,
and `Program.results` are what `semantics` gives for an instruction and these terms of what it reads.

Argument: a backward slice: steps are what meets, what accesses, and what writes a register that a guard, a branch, an
address, or (where they are asked for) a stored value is computed from. Terms are objects of one pool, each once, so
that equal terms are one key; what an instruction leaves is a function of them where it is pure, and of the number of
meetings before where it loads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ...cfg import EdgeKind, Name
from ...cfg.addresses import PARAMETER_SPACES
from ...cfg.definitions import part_of
from ...cfg.optypes import typing_of
from ...cfg.special import special_name
from ...ir import Address, Component, Instruction, Negated, Operand, Pair, Register, Vector
from ...isa.lookup import CALL_PARAMETERS
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ...terms.bitvectors import Bits
from .accesses import Access
from .kernel import Kernel

_LOADS = frozenset({Op.LD, Op.LD_NC})
_OWN = frozenset({".local", CALL_PARAMETERS})
"""Spaces in which one address is another place for each thread."""
_MOST_RESULTS = 100_000

Leaf = Register | str
"""What a thread reads: a register, or a special register by its name."""
Key = tuple[int, int, tuple[Bits, ...]]
"""A step (its complement for the bytes that it accesses), the number of meetings before, and what it reads."""


@dataclass(frozen=True, slots=True)
class Written:
    """A register that an instruction defines."""

    place: int
    register: Register
    part: int
    """Which element of the destination it is."""


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction with what its execution asks for, registers as places in a list."""

    point: int
    instruction: Instruction
    width: int
    """Of what it leaves in a register."""
    guard: int | None
    negated: bool
    meets_block: bool
    meets_warp: bool
    access: Access | None
    accessed: tuple[int, ...]
    """What the address and the stored value are made of."""
    sources: tuple[int, ...]
    written: tuple[Written, ...]
    parameters: tuple[Name, ...] | None
    """Where it loads a parameter: the names of what it loads."""
    repeats: bool
    """Whether it leaves the same wherever it reads the same, and, if it loads, at the same number of meetings."""
    loads: bool


class Program:
    """The steps of each block of a kernel, and results of steps that were computed."""

    def __init__(
        self,
        kernel: Kernel,
        accesses: Mapping[int, Access],
        meetings: frozenset[int],
        warp_meetings: frozenset[int],
        *,
        with_values: bool,
    ) -> None:
        self.kernel = kernel
        self._accesses = accesses
        self._meetings = meetings
        self._warp_meetings = warp_meetings
        self._with_values = with_values
        self._places: dict[Leaf, int] = {}
        self._leaves: list[Leaf] = []
        self._steps: dict[int, tuple[Step, ...]] = {}
        self.results: dict[Key, tuple[Bits, ...]] = {}
        """What steps left, and what they accessed."""

    def steps(self, block: int) -> tuple[Step, ...]:
        """Return the steps of a block that matter."""
        found = self._steps.get(block)
        if found is None:
            points = self.kernel.cfg.blocks[block].points
            steps = (self._step(point) for point in points)
            found = self._steps[block] = tuple(step for step in steps if step is not None)
        return found

    def stored(self, access: Access) -> Operand | None:
        """Return what a write stores, if values are asked for."""
        return access.value if self._with_values else None

    def place(self, leaf: Leaf) -> int:
        """Return where runs keep what a register holds."""
        found = self._places.get(leaf)
        if found is None:
            found = self._places[leaf] = len(self._leaves)
            self._leaves.append(leaf)
        return found

    def leaf(self, place: int) -> Leaf:
        """Return what a place stands for."""
        return self._leaves[place]

    def place_of(self, register: Register) -> int:
        """Return where runs keep what a register, special or not, holds."""
        return self.place(special_name(register) or register)

    def note(self, key: Key, results: tuple[Bits, ...]) -> None:
        """Keep what was computed."""
        if len(self.results) >= _MOST_RESULTS:
            self.results.clear()
        self.results[key] = results

    def _step(self, point: int) -> Step | None:
        instruction = self.kernel.cfg.instructions[point]
        operation, guard = instruction.operation, instruction.guard
        if Trait.BRANCH in operation.traits:
            return None
        registers = tuple(each for each in dict.fromkeys(instruction.writes()) if each in self._needed)
        if not (registers or self._is_event(point)):
            return None
        space = operation.slots.get("space", "")
        loads_parameter = operation.op is Op.LD and space in PARAMETER_SPACES
        access = self._accesses.get(point)
        return Step(
            point,
            instruction,
            width_of(instruction),
            None if guard is None else self.place_of(guard.register),
            guard is not None and guard.negated,
            point in self._meetings,
            point in self._meetings or point in self._warp_meetings,
            access,
            () if access is None else self._places_of(*self._accessed(access)),
            self._places_of(*instruction.operands[1:]) if registers else (),
            tuple(
                Written(self.place_of(each), each, part_of(instruction.operands[0], each))
                for each in registers
            ),
            tuple(Name(each, point) for each in registers) if loads_parameter else None,
            Trait.PURE in operation.traits or (operation.op in _LOADS and space not in _OWN),
            Trait.LOAD in operation.traits,
        )

    @cached_property
    def _needed(self) -> frozenset[Leaf]:
        """The registers that decide where a thread goes and what it accesses."""
        cfg = self.kernel.cfg
        needed: set[Leaf] = set()
        for block in cfg.order:
            for edge in cfg.edges_from(block):
                if edge.guard is not None:
                    needed.add(edge.guard.register)
                if edge.kind is EdgeKind.INDIRECT:
                    needed.update(_leaves(cfg.instructions[cfg.blocks[block].last].operands[0]))
        for point in filter(self._is_event, range(len(cfg.instructions))):
            access = self._accesses.get(point)
            accessed = () if access is None else self._accessed(access)
            needed.update(_read(cfg.instructions[point], accessed))
        size = -1
        while size != len(needed):
            size = len(needed)
            for instruction in cfg.instructions:
                if not needed.isdisjoint(instruction.writes()):
                    needed.update(_read(instruction, instruction.operands[1:]))
        return frozenset(needed)

    def _is_event(self, point: int) -> bool:
        return point in self._accesses or point in self._meetings or point in self._warp_meetings

    def _accessed(self, access: Access) -> tuple[Operand | None, ...]:
        return access.address, self.stored(access)

    def _places_of(self, *operands: Operand | None) -> tuple[int, ...]:
        leaves = dict.fromkeys(leaf for operand in operands for leaf in _leaves(operand))
        return tuple(self.place(leaf) for leaf in leaves)


def _read(instruction: Instruction, operands: Sequence[Operand | None]) -> Iterator[Leaf]:
    if instruction.guard is not None:
        yield instruction.guard.register
    for operand in operands:
        yield from _leaves(operand)


def _leaves(operand: Operand | None) -> Iterator[Leaf]:
    match operand:
        case Register():
            yield special_name(operand) or operand
        case Component():
            name = special_name(operand)
            if name is not None:
                yield name
        case Negated(operand=inner):
            yield from _leaves(inner)
        case Pair(first=first, second=second):
            yield from _leaves(first)
            yield from _leaves(second)
        case Vector(elements=elements):
            for each in elements:
                yield from _leaves(each)
        case Address(base=base, extra=extra):
            yield from _leaves(base)
            for each in extra:
                yield from _leaves(each)
        case _:
            return


def width_of(instruction: Instruction) -> int:
    """Return the width of what an instruction leaves in a register."""
    types = typing_of(instruction.operation)
    width = max(32, types.width) if types.width > 1 else 1
    return 2 * width if types.has(".wide") else width
