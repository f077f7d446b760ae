"""Regions: the code between a branch and its join, and what it may do and write.

Property: where `Region.acts` is false, threads record no event in the region that must be counted, and end nowhere in
it; every register of the slice that it may write is in `written`.

Argument: blocks and ends are those of `branch_sides`; writes are collected over all instructions of the slice in them.

Not covered: memory, but for the stores whose numbers the machine keeps (`keeps`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_

from ....cfg.cfg import Cfg
from ....cfg.optypes import typing_of
from ....ir import Instruction, Register
from ....isa.modifier import Mod
from ....opcodes.op import Op
from ....opcodes.spec import Trait
from ..values.symbol import FROM_GLOBAL, FROM_SHARED
from .branch_sides import between, join_of
from .kernel import Kernel
from .live_registers import read_from
from .loop_ends import Ends, ends_of
from .loop_outline import Outline, outline
from .polling import POLLS
from .steady_definitions import steady_points
from .thread_counted_loops import is_counted

_OF_GRID = frozenset({"%ctaid", "%nctaid", "%clusterid", "%nclusterid", "%gridid"})
"""Special registers that the launch shape of one cluster does not give."""


@dataclass(frozen=True, slots=True)
class Region:
    """The blocks between a branch and the place where its sides meet again."""

    blocks: frozenset[int]
    acts: bool
    """An event may be recorded in it, or a thread may end while others go on."""
    cyclic: bool
    written: tuple[Register, ...]
    """Registers that relevant instructions in it write."""
    keeps: tuple[int, ...] = ()
    """Stores in it whose numbers the machine keeps."""
    copies: bool = False
    """It has events, but they are copies of threads alone, which may happen or not: nobody counts them."""
    predicates: frozenset[Register] = frozenset()
    """Those of the registers that relevant instructions write which are predicates."""
    places: bool = False
    """It computes the address of an access in it."""
    counted: bool = True
    """Its loops, if any, can be run: the branch is in none of them, and theirs go by the number of the thread."""


class Regions:
    """The regions of one kernel by the block of their branch, with what is known of each without running it."""

    def __init__(
        self, kernel: Kernel, sliced: frozenset[int], kept: frozenset[int], wanted: frozenset[Register]
    ) -> None:
        self._kernel = kernel
        self._cfg = kernel.cfg
        self._points = sliced
        self._kept = kept
        self._wanted = wanted
        self._known: dict[int, Region] = {}
        self._steady: dict[Region, tuple[int, ...]] = {}
        self._outlines: dict[int, Outline | None] = {}
        self._ends: dict[tuple[int, Register], Ends | None] = {}
        self._memory: dict[int, int] = {}
        self._read_into: dict[int, tuple[Register, ...]] = {}

    def of(self, block: int) -> Region:
        """Return the region of the branch at the end of a block."""
        found = self._known.get(block)
        if found is None:
            found = self._known[block] = self._find(block)
        return found

    def join(self, block: int) -> int:
        """Return the block where the sides of a branch meet."""
        return join_of(self._cfg, block)

    def is_in_round(self, block: int) -> bool:
        """Tell whether no thread begins a further round of a loop around the join before it comes there."""
        blocks = self.of(block).blocks
        return not any(loop.header in blocks for loop in self._cfg.loops_around(self.join(block)))

    def collective_in(self, region: Region) -> int | None:
        """Return a warp-collective in a region, None where there is none."""
        collectives = self._kernel.collectives
        return next((collectives[block] for block in sorted(collectives.keys() & region.blocks)), None)

    def steady(self, region: Region) -> tuple[int, ...]:
        """Return definitions in a region that give the same number whenever they run."""
        found = self._steady.get(region)
        if found is None:
            found = self._steady[region] = steady_points(self._cfg, self.steps, region.blocks)
        return found

    def outline(self, block: int) -> Outline | None:
        """Return the shape of the code behind the branch at the end of a block."""
        if block not in self._outlines:
            region, join = self.of(block), self.join(block)
            results = frozenset(region.written) & self._read_from[join]
            nodes = block, *sorted(region.blocks), join
            self._outlines[block] = outline(self._cfg, self._points, nodes, results)
        return self._outlines[block]

    def ends_of(self, block: int, register: Register) -> Ends | None:
        """Return how a register tells which way the region of a branch ended."""
        key = block, register
        if key not in self._ends:
            definitions, join = self._kernel.definitions, self.join(block)
            self._ends[key] = ends_of(self._cfg, definitions, join, self.of(block).blocks, register)
        return self._ends[key]

    def memory_read(self, block: int) -> int:
        """Return which memory is read in the region of a branch: bits `FROM_SHARED`, `FROM_GLOBAL`."""
        if block not in self._memory:
            points = (point for each in self.of(block).blocks for point in self.steps[each])
            kinds = {_memory_of(self._cfg.instructions[point]) for point in points if point in self._points}
            self._memory[block] = reduce(or_, kinds, 0)
        return self._memory[block]

    def read_into(self, block: int) -> tuple[Register, ...]:
        """Return the registers that the region of a branch may read before it writes them, in order."""
        if block not in self._read_into:
            inside = (point for each in self.of(block).blocks for point in self.steps[each])
            read = {r for point in inside for r in self._cfg.instructions[point].reads()}
            live = (self._read_from[target] for target in self._cfg.successors[block])
            self._read_into[block] = tuple(sorted(read.intersection(frozenset[Register]().union(*live))))
        return self._read_into[block]

    @cached_property
    def steps(self) -> tuple[tuple[int, ...], ...]:
        """The points of each block that are to be executed."""
        run = self._points.union(self._kernel.accesses, self._kernel.open_masks)
        return tuple(tuple(p for p in block.points if p in run) for block in self._cfg.blocks)

    @cached_property
    def _read_from(self) -> Sequence[frozenset[Register]]:
        return read_from(self._kernel, self._points, self.steps)

    @cached_property
    def open_branches(self) -> frozenset[int]:
        """Points of acting branches whose guard may depend on what the host or global memory gives.

        By names of registers alone, so rather too many than too few; polls succeed. What the machine loads from shared
        memory is either a number, such as a task from a dispatch table, or a symbol, and then its uses are seen.
        """
        cfg, registers = self._cfg, _open_registers(self._cfg)
        return frozenset(
            block.last
            for block in cfg.blocks
            if block.points
            and Trait.BRANCH in cfg.instructions[block.last].operation.traits
            and (guard := cfg.instructions[block.last].guard) is not None
            and guard.register in registers
            and self.of(block.index).acts
        )

    def _find(self, block: int) -> Region:
        kernel, inside = self._kernel, between(self._cfg, block)
        seen, cyclic = inside.blocks, inside.cyclic
        points = [point for each in sorted(seen) for point in self._cfg.blocks[each].points]
        written = {
            register
            for point in points
            if point in self._points
            for register in self._cfg.instructions[point].writes()
        }
        events = kernel.events.intersection(points)
        copies = bool(events) and not cyclic and events <= kernel.thread_copies
        acts = (bool(events) and not copies) or inside.ends
        keeps = tuple(point for point in points if point in self._kept)
        counted = not cyclic or (
            block not in seen and not acts and is_counted(self._cfg, kernel.definitions, seen)
        )
        registers = tuple(sorted(written & self._wanted))
        predicates = frozenset(each for each in registers if self._is_predicate(each))
        places = any(
            point in kernel.accesses and kernel.accesses[point].operand.base in registers for point in points
        )
        return Region(seen, acts, cyclic, registers, keeps, copies, predicates, places, counted)

    def _is_predicate(self, register: Register) -> bool:
        sites = self._kernel.definitions.sites.get(register, ())
        return bool(sites) and all(_writes_predicate(self._cfg.instructions[point]) for point in sites)


def _open_registers(cfg: Cfg) -> frozenset[Register]:
    """Return registers that may depend on what the host or global memory gives."""
    found: set[Register] = set()
    changed = True
    while changed:
        changed = False
        for instruction in cfg.instructions:
            if instruction.operation.op in POLLS:
                continue
            read = set(instruction.reads())
            is_open = _loads_from_outside(instruction) or any(each.name in _OF_GRID for each in read)
            if is_open or not read.isdisjoint(found):
                fresh = set(instruction.writes()) - found
                changed |= bool(fresh)
                found |= fresh
    return frozenset(found)


def _memory_of(instruction: Instruction) -> int:
    """Return which memory that changes a load may read."""
    space = instruction.operation.slots.get("space", "")
    if Trait.LOAD not in instruction.operation.traits or space.startswith((".param", ".const", ".local")):
        return 0
    if space.startswith(".shared"):
        return FROM_SHARED
    return FROM_GLOBAL if space else FROM_GLOBAL | FROM_SHARED


def _loads_from_outside(instruction: Instruction) -> bool:
    operation = instruction.operation
    return (
        Trait.LOAD in operation.traits
        and Mod.SHARED not in operation.modifiers
        and Mod.SHARED_CTA not in operation.modifiers
    )


def _writes_predicate(instruction: Instruction) -> bool:
    """Tell whether what an instruction computes is a predicate."""
    return instruction.operation.op is Op.SETP or typing_of(instruction.operation).width == 1
