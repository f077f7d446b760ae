"""What the machine runs of a kernel: the part that its synchronising instructions depend on, made ready once.

Property: changing an instruction outside `Program.points` in a way that keeps the control flow graph does not
change which events a thread records, in which order, and with which operands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_
from typing import TYPE_CHECKING

from ....cfg.addresses import Pointer
from ....cfg.calls import summarise
from ....cfg.cfg import Cfg
from ....cfg.definitions import Definitions, Name
from ....cfg.facts import Facts
from ....cfg.graph import EdgeKind
from ....cfg.loops import Loop
from ....cfg.optypes import type_width, typing_of
from ....cfg.slice import closure
from ....cfg.uniform import Uniformity
from ....ir import (
    Address,
    Instruction,
    Module,
    Operand,
    Pair,
    Register,
    Symbol,
    Vector,
    registers_of,
)
from ....isa.modifier import Mod
from ....launch import Launch
from ....opcodes.op import Op
from ....opcodes.spec import Direction, OperandSpec, Trait
from ...typestate.member_mask import member_mask
from ..interpreter.accesses import AccessKind, access_kinds
from ..interpreter.broadcasts import Broadcasts, broadcasts
from ..interpreter.dynamic_arrays import Start, array_start
from ..interpreter.layout import declared_sizes
from ..interpreter.mailbox_rings import stores_meeting
from ..interpreter.polling import POLLS, Polling
from ..values.symbol import FROM_GLOBAL, FROM_SHARED
from .loop_constants import steady_points
from .loop_ends import Ends, ends_of
from .loop_outline import Outline, outline
from .thread_counted_loops import is_counted

if TYPE_CHECKING:
    from ..interpreter.register_instructions import Step

_EVENTS = frozenset(
    {
        Trait.MBARRIER, Trait.BARRIER, Trait.WAIT, Trait.COMMIT, Trait.ASYNC, Trait.FENCE, Trait.TENSOR_MEMORY,
        Trait.WARPGROUP, Trait.ANYTHING,
    }
)  # fmt: skip
NO_EVENTS = frozenset(
    {
        Op.CP_ASYNC_BULK_PREFETCH, Op.CP_ASYNC_BULK_PREFETCH_TENSOR, Op.APPLYPRIORITY_ASYNC_BULK,
        Op.MBARRIER_PENDING_COUNT,
    }
)  # fmt: skip
"""Asynchronous by trait, but without an effect on barriers, groups or shared memory."""
_PAYLOAD = frozenset({"coords", "im2col", "policy", "src_size", "b", "c", "left", "right"})
"""Operands of events that carry data, and nothing that says what is synchronised."""
_WIDEST = 64
"""Bits of the widest register that holds a number."""
_OF_GRID = frozenset({"%ctaid", "%nctaid", "%clusterid", "%nclusterid", "%gridid"})
"""Special registers that the launch shape of one cluster does not give."""
_WRITES = frozenset({Op.ST, Op.STMATRIX, Op.ATOM, Op.RED})
"""Ordinary writes of shared memory."""
_HARMLESS = frozenset({"vprintf", "__assertfail", "malloc", "free", "__trap"})
"""Functions of the system: they synchronise no threads of the CTA."""


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
    counted: bool = True
    """Its loops, if any, can be run: the branch is in none of them, and theirs go by the number of the thread."""


def _loads_from_shared(instruction: Instruction) -> bool:
    space = instruction.operation.slots.get("space", "")
    return Trait.LOAD in instruction.operation.traits and (not space or space.startswith(".shared"))


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


class Program:
    """The relevant instructions of a kernel by block, and the regions of its branches."""

    def __init__(
        self,
        cfg: Cfg,
        module: Module,
        launch: Launch,
        *,
        accesses: bool = False,
        decides_copies: bool = False,
    ) -> None:
        self.cfg = cfg
        self._decides_copies = decides_copies
        self.facts = Facts(cfg, module, launch)
        self.accesses: Mapping[int, AccessKind] = access_kinds(cfg, self.facts.constant) if accesses else {}
        self.definitions = Definitions(cfg)
        self._calls = summarise(cfg, module)
        self._sizes = declared_sizes(cfg.function, module)
        self._regions: dict[int, Region] = {}
        self._steady: dict[Region, tuple[int, ...]] = {}
        self._turning: dict[int, bool] = {}
        self._followed: dict[int, tuple[tuple[OperandSpec, Operand], ...]] = {}
        self.made: dict[int, Step] = {}
        """How to run each instruction that was run."""
        self._pointers: dict[int, Pointer | None] = {}
        self._arrays: dict[int, Start | None] = {}
        self._memory: dict[int, int] = {}
        self._ends: dict[tuple[int, Register], Ends | None] = {}
        self._outlines: dict[int, Outline | None] = {}
        self.results_behind: dict[object, Mapping[Register, tuple[object, ...]]] = {}
        """What names the results of loops (see `same_loops`), by where they are and what they start with."""
        self._results: dict[object, tuple[int, str, int]] = {}
        self._results_of: dict[tuple[int, Register], list[tuple[int, str, int]]] = {}
        self.events = frozenset(
            p for p, i in enumerate(cfg.instructions) if cfg.connected(p) and self._is_event(p, i)
        )

    def width_of(self, register: Register) -> int:
        """Return the bits of a register, the most that there are where its type is not known."""
        body = self.cfg.function.body
        declared = None if body is None else body.register_types.get(register)
        return _WIDEST if declared is None else type_width(declared)

    def pointer(self, point: int) -> Pointer | None:
        """Return where an access of shared memory points to in every run."""
        if point not in self._pointers:
            self._pointers[point] = self.facts.address(point, self.accesses[point].operand)
        return self._pointers[point]

    def array_start(self, point: int) -> Start | None:
        """Return where the array starts that an access of shared memory is into."""
        if point not in self._arrays:
            self._arrays[point] = array_start(self.facts, self.pointer(point))
        return self._arrays[point]

    def _is_event(self, point: int, instruction: Instruction) -> bool:
        operation = instruction.operation
        if Trait.CALL in operation.traits:
            return self.call_may_act(point)
        return bool(operation.traits & _EVENTS) and operation.op not in NO_EVENTS

    @cached_property
    def local_variables(self) -> frozenset[str]:
        """Names of the variables that each thread has for itself."""
        body = self.cfg.function.body
        variables = () if body is None else body.variables
        return frozenset(each.name for each in variables if each.space == ".local")

    def may_be_local(self, point: int) -> bool:
        """Tell whether a load may be from memory of the thread: stores to that are not followed."""
        operation = self.cfg.instructions[point].operation
        space = operation.slots.get("space", "")
        return Trait.LOAD in operation.traits and (
            space == ".local" or (not space and bool(self.local_variables))
        )

    def call_may_act(self, point: int) -> bool:
        """Tell whether a call may synchronise, access shared memory or end threads.

        All may but those of system functions, and of functions that surely do nothing of it.
        """
        summary = self._calls.get(point)
        return summary is None or not (summary.callee in _HARMLESS or summary.computes)

    @cached_property
    def table_stores(self) -> frozenset[int]:
        """Stores to constant places in shared memory."""
        return frozenset(
            point
            for point, instruction in enumerate(self.cfg.instructions)
            if instruction.operation.op is Op.ST
            and self.cfg.connected(point)
            and _has_constant_place(instruction)
        )

    @cached_property
    def points(self) -> frozenset[int]:
        """Events, ends of threads, and what they depend on."""
        return self._closed(self.kept_stores)

    @cached_property
    def kept_stores(self) -> frozenset[int]:
        """Stores to shared memory whose numbers the machine keeps for who reads them."""
        return self.table_stores | self.spread_stores | self.ring_stores

    @cached_property
    def ring_stores(self) -> frozenset[int]:
        """Stores to places of a ring that synchronisation depends on."""
        read = [place for place in self._places_read.values() if place.offset.constant is None]
        return self._stores_to(read, {}) | self._turning_stores

    @cached_property
    def ring_loads(self) -> frozenset[int]:
        """What every thread that comes there reads of places where rings may be."""
        if not self.ring_stores:
            return frozenset()
        return frozenset(point for point in self._places_read if self.cfg.instructions[point].guard is None)

    @cached_property
    def _turning_stores(self) -> frozenset[int]:
        """Stores to constant places, and what is read there, round by round of loops that synchronise: rings of one."""
        read = [place for point, place in self._places_read.items() if self._is_turning(point)]
        stores = ((point, self.place(point)) for point in self.table_stores if self._is_turning(point))
        return stores_meeting(read, stores, {})

    def _is_turning(self, point: int) -> bool:
        """Tell whether a point is in a loop that synchronises in each round."""
        return bool(self.acting_loops(self.cfg.graph.block_of[point]))

    @cached_property
    def spread_stores(self) -> frozenset[int]:
        """Stores in which each lane has a place of its own, to a variable that is read at constant places."""
        read = [place for place in self._places_read.values() if place.offset.constant is not None]
        return self._stores_to(read, self._sizes) - self.ring_stores

    @cached_property
    def _places_read(self) -> Mapping[int, Pointer]:
        """Where shared memory is read by what synchronisation and places of accesses depend on, by point."""
        loads = (p for p in self._closed(self.table_stores) if _loads_from_shared(self.cfg.instructions[p]))
        return {p: place for p in sorted(loads) if (place := self.place(p))}

    def _stores_to(self, read: Sequence[Pointer], sizes: Mapping[tuple[str, int], int]) -> frozenset[int]:
        """Return the stores to computed places that write where some loads read."""
        if not read:
            return frozenset()
        stores = (
            point
            for point, instruction in enumerate(self.cfg.instructions)
            if instruction.operation.op is Op.ST
            and self.cfg.connected(point)
            and point not in self.table_stores
        )
        return stores_meeting(read, ((point, self.place(point)) for point in stores), sizes)

    def place(self, point: int) -> Pointer | None:
        """Return where an ordinary access of shared memory points to, None when that is not known."""
        instruction = self.cfg.instructions[point]
        if not instruction.operation.slots.get("space", "").startswith(".shared"):
            return None
        address = next((each for each in instruction.operands if isinstance(each, Address)), None)
        return self.facts.address(point, address)

    @cached_property
    def reads_tables(self) -> bool:
        """Tell whether synchronisation may depend on what is loaded from shared memory."""
        return any(_loads_from_shared(self.cfg.instructions[point]) for point in self._closed(frozenset()))

    @cached_property
    def broadcasts(self) -> Broadcasts:
        """What `st.async` tells all CTAs of a cluster."""
        writes = {
            point: self.place(point)
            for point, instruction in enumerate(self.cfg.instructions)
            if instruction.operation.op in _WRITES and self.cfg.connected(point)
        }
        return broadcasts(self.cfg, self.facts, self._places_read, writes)

    @cached_property
    def hears_one_answer(self) -> bool:
        """Tell whether each answer of `clusterlaunchcontrol.try_cancel` goes to all CTAs of the cluster."""
        operations = [instruction.operation for instruction in self.cfg.instructions]
        asks = [each for each in operations if each.op is Op.CLUSTERLAUNCHCONTROL_TRY_CANCEL]
        return bool(asks) and all(each.has(Mod.MULTICAST_CLUSTER_ALL) for each in asks)

    def _closed(self, stores: frozenset[int]) -> frozenset[int]:
        cfg = self.cfg
        ends = (
            p
            for p, i in enumerate(cfg.instructions)
            if Trait.TERMINATOR in i.operation.traits and cfg.connected(p)
        )
        more = (
            self.definitions.before(point, register)
            for point, kind in self.accesses.items()
            if cfg.connected(point)
            for register in registers_of(kind.operand)
        )
        roots = [*self.events, *ends, *stores, *self._branches_to_accesses, *self._ways_to_meetings]
        return closure(cfg, self.definitions, roots, self.needed, more)

    @cached_property
    def _branches_to_accesses(self) -> tuple[int, ...]:
        """Branches on the number of the thread alone, with an access on one side, and no loop: cheap to run."""
        cfg = self.cfg
        accessing = {cfg.graph.block_of[point] for point in self.accesses}
        found = []
        for block in cfg.blocks if accessing else ():
            guard = cfg.instructions[block.last].guard if block.points else None
            if guard is None or Trait.BRANCH not in cfg.instructions[block.last].operation.traits:
                continue
            inside, cyclic, _ = self._between(block.index)
            name = self.definitions.before(block.last, guard.register)
            if not cyclic and inside & accessing and self.facts.by_thread(name) is not None:
                found.append(block.last)
        return tuple(found)

    @cached_property
    def _ways_to_meetings(self) -> frozenset[int]:
        """What decides who comes to a warp-collective that lanes of a warp may come to without others.

        That is the collective itself where its guard differs between lanes, and the branches around it if one does.
        """
        found: set[int] = set()
        for point in self.member_masks:
            if self._parts_lanes(point):
                found.add(point)
            around = self._branches_around(point)
            if any(map(self._parts_lanes, around)):
                found |= around
        return frozenset(found)

    def _parts_lanes(self, point: int) -> bool:
        guard = self.cfg.instructions[point].guard
        return guard is not None and self.uniform(point, guard.register) > Uniformity.WARP

    def _branches_around(self, point: int) -> set[int]:
        """Return the branches that decide, one by the other, whether a point is come to."""
        cfg = self.cfg
        found: set[int] = set()
        waiting = [cfg.graph.block_of[point]]
        while waiting:
            fresh = {cfg.blocks[each.branch].last for each in cfg.control[waiting.pop()]} - found
            found |= fresh
            waiting.extend(cfg.graph.block_of[each] for each in fresh)
        return found

    def meets(self, region: Region) -> int | None:
        """Return a warp-collective in a region, None where there is none."""
        return next((self._meetings[block] for block in sorted(self._meetings.keys() & region.blocks)), None)

    @cached_property
    def _meetings(self) -> Mapping[int, int]:
        """One warp-collective of each block that has any."""
        return {self.cfg.graph.block_of[point]: point for point in self.member_masks}

    def needed(self, point: int) -> Iterable[Name]:
        """Return the names that matter of what an instruction reads: of an event, not the data."""
        instruction = self.cfg.instructions[point]
        if point not in self.events:
            return self.definitions.read_at(point)
        wanted = dict.fromkeys(
            register for _, operand in followed(instruction) for register in registers_of(operand)
        )
        if instruction.guard is not None:
            wanted[instruction.guard.register] = None
        return [self.definitions.before(point, register) for register in wanted]

    @cached_property
    def wanted(self) -> frozenset[Register]:
        """Registers that some relevant instruction reads."""
        found: set[Register] = set()
        for point in self.points:
            if point in self.events:
                found.update(name.register for name in self.needed(point))
            else:
                found.update(self.cfg.instructions[point].reads())
        for kind in self.accesses.values():
            found.update(registers_of(kind.operand))
        return frozenset(found)

    def read_from(self, block: int) -> frozenset[Register]:
        """Return registers that relevant instructions read, from the start of a block on, before they write them."""
        return self._read_from[block]

    @cached_property
    def _read_from(self) -> Sequence[frozenset[Register]]:
        cfg = self.cfg
        effects = [self._read_and_written(block) for block in range(len(cfg.blocks))]
        found: list[frozenset[Register]] = [frozenset()] * (len(cfg.blocks) + 1)
        waiting = list(range(len(cfg.blocks)))
        while waiting:
            block = waiting.pop()
            read, written = effects[block]
            later = frozenset[Register]().union(*(found[each] for each in cfg.successors[block]))
            now = read | (later - written)
            if now != found[block]:
                found[block] = now
                waiting.extend(cfg.predecessors[block])
        return found

    def _read_and_written(self, block: int) -> tuple[frozenset[Register], frozenset[Register]]:
        """Return what a block reads before it writes it, and what it surely writes."""
        read, written = set[Register](), set[Register]()
        for point in self.steps[block]:
            instruction = self.cfg.instructions[point]
            names = set(instruction.reads())
            kind = self.accesses.get(point)
            if point not in self.points and kind is not None:
                names = set(registers_of(kind.operand))
                names |= {instruction.guard.register} if instruction.guard is not None else set()
            read |= names - written
            if point in self.points and instruction.guard is None:
                written |= set(instruction.writes())
        return frozenset(read), frozenset(written)

    @cached_property
    def steps(self) -> tuple[tuple[int, ...], ...]:
        """The points of each block that are to be executed."""
        return tuple(
            tuple(p for p in block.points if p in self.points or p in self.accesses)
            for block in self.cfg.blocks
        )

    @cached_property
    def member_masks(self) -> Mapping[int, int | None]:
        """The mask of each instruction for which lanes of a warp wait for each other, None where it is no constant."""
        return {
            point: self.facts.constant(point, mask)
            for point, instruction in enumerate(self.cfg.instructions)
            if Trait.COLLECTIVE in instruction.operation.traits and self.cfg.connected(point)
            and (mask := member_mask(instruction)) is not None
        }  # fmt: skip

    @cached_property
    def leaving(self) -> frozenset[int]:
        """Branches and ends of threads."""
        return frozenset(
            point
            for point, instruction in enumerate(self.cfg.instructions)
            if {Trait.BRANCH, Trait.TERMINATOR} & instruction.operation.traits
        )

    def followed_at(self, point: int) -> Sequence[tuple[OperandSpec, Operand]]:
        """Return the operands of an event that say what it synchronises or accesses."""
        found = self._followed.get(point)
        if found is None:
            found = self._followed[point] = tuple(followed(self.cfg.instructions[point]))
        return found

    @cached_property
    def headers(self) -> Mapping[int, frozenset[int]]:
        """Header of each loop, with the blocks of the loop."""
        return {loop.header: loop.blocks for loop in self.cfg.loops}

    @cached_property
    def _acting(self) -> frozenset[int]:
        return frozenset(self.cfg.graph.block_of[point] for point in self.events)

    def agrees_in_warps(self, block: int, register: Register) -> bool:
        """Tell whether all lanes of a warp hold one number in a register when they come to a block."""
        points = range(0) if block == self.cfg.exit else self.cfg.blocks[block].points
        return bool(points) and self.facts.uniform(points[0], register) <= Uniformity.WARP

    def uniform(self, point: int, register: Register) -> Uniformity:
        """Return the largest groups of threads that read one number in a register at a point."""
        return self.facts.uniform(point, register)

    def join(self, block: int) -> int:
        """Return the block where the sides of a branch meet: its immediate post-dominator."""
        parent = self.cfg.postdominators.parent[block]
        return self.cfg.exit if parent is None else parent

    @cached_property
    def open_branches(self) -> frozenset[int]:
        """Points of acting branches whose guard may depend on what the host or global memory gives.

        By names of registers alone, so rather too many than too few; polls succeed. What the machine loads from shared
        memory is either a number, such as a task from a dispatch table, or a symbol, and then its uses are seen.
        """
        open_registers: set[Register] = set()
        changed = True
        while changed:
            changed = False
            for instruction in self.cfg.instructions:
                if instruction.operation.op in POLLS:
                    continue
                read = set(instruction.reads())
                if _loads_from_outside(instruction) or any(r.name in _OF_GRID for r in read):
                    fresh = True
                else:
                    fresh = not read.isdisjoint(open_registers)
                if fresh:
                    new = set(instruction.writes()) - open_registers
                    changed |= bool(new)
                    open_registers |= new
        return frozenset(
            block.last
            for block in self.cfg.blocks
            if block.points
            and Trait.BRANCH in self.cfg.instructions[block.last].operation.traits
            and (guard := self.cfg.instructions[block.last].guard) is not None
            and guard.register in open_registers
            and self.region(block.index).acts
        )

    def region(self, block: int) -> Region:
        """Return the region of the branch at the end of a block."""
        found = self._regions.get(block)
        if found is None:
            found = self._regions[block] = self._find_region(block)
        return found

    def steady(self, region: Region) -> tuple[int, ...]:
        """Return definitions in a region that give the same number whenever they run."""
        found = self._steady.get(region)
        if found is None:
            found = self._steady[region] = steady_points(self, region)
        return found

    def outline(self, block: int) -> Outline | None:
        """Return the shape of the code behind the branch at the end of a block."""
        if block not in self._outlines:
            self._outlines[block] = outline(self, block)
        return self._outlines[block]

    def memory_read(self, block: int) -> int:
        """Return which memory is read in the region of a branch: bits `FROM_SHARED`, `FROM_GLOBAL`."""
        if block not in self._memory:
            points = (point for each in self.region(block).blocks for point in self.steps[each])
            kinds = {_memory_of(self.cfg.instructions[point]) for point in points if point in self.points}
            self._memory[block] = reduce(or_, kinds, 0)
        return self._memory[block]

    def ends_of(self, block: int, register: Register) -> Ends | None:
        """Return how a register tells which way the region of a branch ended."""
        key = block, register
        if key not in self._ends:
            self._ends[key] = ends_of(self, block, self.region(block), register)
        return self._ends[key]

    def loop_result(self, block: int, register: Register, key: object) -> tuple[int, str, int]:
        """Return the name of what a loop leaves in a register: the same for equal keys, in all runs of the kernel."""
        name = self._results.get(key)
        if name is None:
            own = self._results_of.setdefault((block, register), [])
            name = self._results[key] = block, register.name, len(own)
            own.append(name)
        return name

    def _find_region(self, block: int) -> Region:
        seen, cyclic, ends = self._between(block)
        written = {
            register
            for each in seen
            for point in self.cfg.blocks[each].points
            if point in self.points
            for register in self.cfg.instructions[point].writes()
        }
        events = {
            point for each in seen & self._acting for point in self.cfg.blocks[each].points
        } & self.events
        copies = bool(events) and not cyclic and events <= self.thread_copies
        acts = (bool(events) and not copies) or ends
        keeps = tuple(
            p for each in sorted(seen) for p in self.cfg.blocks[each].points if p in self.kept_stores
        )
        counted = not cyclic or (block not in seen and not acts and is_counted(self, seen))
        registers = tuple(sorted(written & self.wanted))
        predicates = frozenset(each for each in registers if self._is_predicate(each))
        return Region(frozenset(seen), acts, cyclic, registers, keeps, copies, predicates, counted)

    def _is_predicate(self, register: Register) -> bool:
        sites = self.definitions.sites.get(register, ())
        return bool(sites) and all(_writes_predicate(self.cfg.instructions[point]) for point in sites)

    def _between(self, block: int) -> tuple[set[int], bool, bool]:
        """Return the blocks between a branch and its join, whether they have a loop, and whether threads end there."""
        cfg, join = self.cfg, self.join(block)
        seen: set[int] = set()
        waiting = list(cfg.successors[block])
        ends = False
        while waiting:
            each = waiting.pop()
            if each == join or each in seen:
                continue
            if each == cfg.exit:
                ends = True
                continue
            seen.add(each)
            waiting.extend(s for s in self._onward(each))
        cyclic = block in seen or any(loop.header in seen for loop in cfg.loops if loop.blocks <= seen)
        return seen, cyclic or any(seen & each for each in cfg.irreducible), ends

    def _onward(self, block: int) -> Iterable[int]:
        """Return the blocks that follow, aborts of the grid left out."""
        return (edge.target for edge in self.cfg.graph.outgoing[block] if edge.kind is not EdgeKind.TRAP)

    def is_doomed(self, block: int) -> bool:
        """Tell whether every path from a block aborts the grid before anything is synchronised."""
        return block in self._doomed

    @cached_property
    def _doomed(self) -> frozenset[int]:
        cfg = self.cfg
        live: set[int] = {cfg.exit, *self._acting}
        waiting = list(live)
        for block in range(len(cfg.blocks)):
            targets = list(self._onward(block))
            if not targets and not cfg.graph.outgoing[block]:
                live.add(block)
                waiting.append(block)
        while waiting:
            target = waiting.pop()
            for edge in cfg.graph.incoming[target]:
                if edge.kind is not EdgeKind.TRAP and edge.source not in live:
                    live.add(edge.source)
                    waiting.append(edge.source)
        aborting = {edge.source for edge in cfg.graph.incoming[cfg.exit] if edge.kind is EdgeKind.TRAP}
        waiting = list(aborting)
        while waiting:
            for edge in cfg.graph.incoming[waiting.pop()]:
                if edge.source not in aborting:
                    aborting.add(edge.source)
                    waiting.append(edge.source)
        return frozenset(aborting) - live

    def acting_loops(self, block: int) -> tuple[Loop, ...]:
        """Return the loops around a block in which something is synchronised, outermost first."""
        return tuple(loop for loop in reversed(self.cfg.loops_around(block)) if self._turns(loop))

    @cached_property
    def outer_loops(self) -> frozenset[int]:
        """Headers of loops with another acting loop inside."""
        return frozenset(
            loop.header
            for inner in self.cfg.loops
            for loop in self.acting_loops(inner.header)[:-1]
            if self._turns(inner)
        )

    def _turns(self, loop: Loop) -> bool:
        """Tell whether a loop synchronises in each round, and does not just poll."""
        known = self._turning.get(loop.index)
        if known is None:
            known = bool(loop.blocks & self._acting) and not self._polls(loop)
            self._turning[loop.index] = known
        return known

    def _polls(self, loop: Loop) -> bool:
        """Tell whether what a poll answers decides every exit of a loop."""
        exits = {source for source, _ in loop.exits}
        return bool(exits) and all(
            self._depends_on_poll(self.cfg.blocks[block].last, loop) for block in exits
        )

    @cached_property
    def thread_copies(self) -> frozenset[int]:
        """Copies by single threads that may be made or not: nothing is counted by them.

        That one is left out changes no count, as groups and arrivals are of all before. With `decides_copies` there
        are none: each is made or not.
        """
        if self._decides_copies:
            return frozenset()
        return frozenset(p for p in self.events if self.cfg.instructions[p].operation.op is Op.CP_ASYNC)

    @cached_property
    def peeks(self) -> frozenset[int]:
        """Polls that are not repeated until they succeed: when one fails, the thread may go on to something else."""
        polls = (p for p in self.events if self.cfg.instructions[p].operation.op in POLLS)
        return frozenset(point for point in polls if not self._is_repeated(point))

    def _is_repeated(self, point: int) -> bool:
        home = self.cfg.graph.block_of[point]
        events = frozenset(self.cfg.blocks[home].points) & self.events
        if len(events) > 1:
            only_polls = all(self.cfg.instructions[each].operation.op in POLLS for each in events)
            return only_polls and Polling(self.cfg, self.definitions).ends_with_all(home, events)
        polling = Polling(self.cfg, self.definitions)
        busy = self._acting | {self.cfg.graph.block_of[access] for access in self.accesses}
        waiting, seen = [home], set[int]()
        while waiting:
            for edge in polling.after_failure(waiting.pop(), point):
                target = edge.target
                if target == home or edge.kind is EdgeKind.TRAP or self.is_doomed(target):
                    continue
                if target == self.cfg.exit or target in busy:
                    return False
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
        return True

    def _depends_on_poll(self, point: int, loop: Loop) -> bool:
        waiting, seen = [point], {point}
        while waiting:
            each = waiting.pop()
            if self.cfg.instructions[each].operation.op in POLLS:
                return True
            for name in self.definitions.read_at(each):
                for site in self.definitions.instructions_behind(name):
                    if site not in seen and self.cfg.graph.block_of[site] in loop.blocks:
                        seen.add(site)
                        waiting.append(site)
        return False


def _writes_predicate(instruction: Instruction) -> bool:
    """Tell whether what an instruction computes is a predicate."""
    return instruction.operation.op is Op.SETP or typing_of(instruction.operation).width == 1


def _has_constant_place(instruction: Instruction) -> bool:
    target = instruction.operands[0]
    shared = instruction.operation.slots.get("space", "").startswith(".shared")
    return shared and isinstance(target, Address) and isinstance(target.base, Symbol)


def followed(instruction: Instruction) -> Iterable[tuple[OperandSpec, Operand]]:
    """Yield the operands of an event that say what it synchronises or accesses, data left out."""
    for spec, operand in zip(instruction.operation.operand_specs, instruction.operands, strict=False):
        if spec.name in _PAYLOAD or isinstance(operand, Vector):
            continue
        if spec.direction is Direction.WRITE and not isinstance(operand, Address):
            continue
        if spec.name == "src" and not instruction.operation.slots.get("src_space", "").startswith(".shared"):
            continue
        if isinstance(operand, Address):
            yield (
                spec,
                Address(
                    operand.base, operand.offset, tuple(e for e in operand.extra if not isinstance(e, Vector))
                ),
            )
        elif not isinstance(operand, Pair):
            yield spec, operand
