"""What the instructions of a kernel are to the machine: events, accesses, or neither.

Property: an instruction outside `Kernel.events` and `Kernel.accesses` synchronises nothing, ends no thread and touches
no shared memory; of an event, only what `Kernel.needed` names says what it synchronises.

Argument: events are told by the traits of the instruction table, and calls by what their function does, where that is
in the module; an access may be told twice, never left out (`access_kinds`).

Not covered: what inline calls of unknown functions do; they are events that nobody follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from ....cfg.addresses import Pointer
from ....cfg.calls import summarise
from ....cfg.cfg import Cfg
from ....cfg.definitions import Definitions, Name
from ....cfg.facts import Facts
from ....cfg.optypes import type_width
from ....cfg.system_functions import SYSTEM_FUNCTIONS
from ....cfg.uniform import Uniformity
from ....ir import (
    Address,
    Instruction,
    Module,
    Operand,
    Pair,
    Register,
    Vector,
    registers_of,
)
from ....isa.modifier import Mod
from ....launch import Launch
from ....opcodes.op import Op
from ....opcodes.spec import Direction, OperandSpec, Trait
from ...typestate.member_mask import member_mask
from .accesses import AccessKind, access_kinds
from .dynamic_arrays import Start, array_start
from .global_rewrites import Rewrites
from .rejoined_lanes import apart

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
_ALL_LANES = 0xFFFFFFFF
_WIDEST = 64
"""Bits of the widest register that holds a number."""


class Kernel:
    """Events and accesses of a kernel, and what is known of their operands in every run."""

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
        self.facts = Facts(cfg, module, launch)
        self.accesses: Mapping[int, AccessKind] = access_kinds(cfg, self.facts.constant) if accesses else {}
        self.definitions = Definitions(cfg)
        self.rewrites = Rewrites(cfg, self.facts)
        self._decides_copies = decides_copies
        self._calls = summarise(cfg, module)
        self._followed: dict[int, tuple[tuple[OperandSpec, Operand], ...]] = {}
        self._pointers: dict[int, Pointer | None] = {}
        self._arrays: dict[int, Start | None] = {}
        self.events = frozenset(
            p for p, i in enumerate(cfg.instructions) if cfg.connected(p) and self._is_event(p, i)
        )

    def _is_event(self, point: int, instruction: Instruction) -> bool:
        operation = instruction.operation
        if Trait.CALL in operation.traits:
            return self.call_may_act(point)
        return bool(operation.traits & _EVENTS) and operation.op not in NO_EVENTS

    def call_may_act(self, point: int) -> bool:
        """Tell whether a call may synchronise, access shared memory or end threads.

        All may but those of system functions, and of functions that surely do nothing of it.
        """
        summary = self._calls.get(point)
        return summary is None or not (summary.callee in SYSTEM_FUNCTIONS or summary.computes)

    @cached_property
    def acting_blocks(self) -> frozenset[int]:
        """Blocks with an event."""
        return frozenset(self.cfg.graph.block_of[point] for point in self.events)

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
    def leaving(self) -> frozenset[int]:
        """Branches and ends of threads."""
        return frozenset(
            point
            for point, instruction in enumerate(self.cfg.instructions)
            if {Trait.BRANCH, Trait.TERMINATOR} & instruction.operation.traits
        )

    @cached_property
    def hears_one_answer(self) -> bool:
        """Tell whether each answer of `clusterlaunchcontrol.try_cancel` goes to all CTAs of the cluster."""
        operations = [instruction.operation for instruction in self.cfg.instructions]
        asks = [each for each in operations if each.op is Op.CLUSTERLAUNCHCONTROL_TRY_CANCEL]
        return bool(asks) and all(each.has(Mod.MULTICAST_CLUSTER_ALL) for each in asks)

    # -- warp-collectives

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
    def open_masks(self) -> Mapping[int, Operand]:
        """The operands of those masks that are no constants."""
        instructions = self.cfg.instructions
        return {
            point: operand
            for point, mask in self.member_masks.items()
            if mask is None and (operand := member_mask(instructions[point])) is not None
        }

    @cached_property
    def lanes_apart(self) -> frozenset[int]:
        """Points at which lanes of a warp that took different sides of a branch may still be apart."""

        def differs(block: int) -> bool:
            return self.facts.branch_uniformity(block) is Uniformity.DIVERGENT

        def meets(point: int) -> bool:
            instruction = self.cfg.instructions[point]
            is_aligned_barrier = {Trait.BARRIER, Trait.ALIGNED} <= instruction.operation.traits
            names_all = is_aligned_barrier or self.member_masks.get(point) == _ALL_LANES
            return names_all and instruction.guard is None

        return apart(self.cfg, differs, meets)

    @cached_property
    def collectives(self) -> Mapping[int, int]:
        """One warp-collective of each block that has any."""
        return {self.cfg.graph.block_of[point]: point for point in self.member_masks}

    # -- operands

    def followed_at(self, point: int) -> Sequence[tuple[OperandSpec, Operand]]:
        """Return the operands of an event that say what it synchronises or accesses."""
        found = self._followed.get(point)
        if found is None:
            found = self._followed[point] = tuple(_followed(self.cfg.instructions[point]))
        return found

    def needed(self, point: int) -> Iterable[Name]:
        """Return the names that matter of what an instruction reads: of an event, not the data."""
        instruction = self.cfg.instructions[point]
        if point not in self.events:
            return self.definitions.read_at(point)
        wanted = dict.fromkeys(
            register for _, operand in self.followed_at(point) for register in registers_of(operand)
        )
        if instruction.guard is not None:
            wanted[instruction.guard.register] = None
        return [self.definitions.before(point, register) for register in wanted]

    def width_of(self, register: Register) -> int:
        """Return the bits of a register, the most that there are where its type is not known."""
        body = self.cfg.function.body
        declared = None if body is None else body.register_types.get(register)
        return _WIDEST if declared is None else type_width(declared)

    def uniform(self, point: int, register: Register) -> Uniformity:
        """Return the largest groups of threads that read one number in a register at a point."""
        return self.facts.uniform(point, register)

    def is_warp_uniform(self, block: int, register: Register) -> bool:
        """Tell whether all lanes of a warp hold one number in a register when they come to a block."""
        points = range(0) if block == self.cfg.exit else self.cfg.blocks[block].points
        return bool(points) and self.facts.uniform(points[0], register) <= Uniformity.WARP

    # -- places

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

    def pointer(self, point: int) -> Pointer | None:
        """Return where an access of shared memory points to in every run."""
        if point not in self._pointers:
            self._pointers[point] = self.facts.address(point, self.accesses[point].operand)
        return self._pointers[point]

    def place(self, point: int) -> Pointer | None:
        """Return where an ordinary access of shared memory points to, None when that is not known."""
        instruction = self.cfg.instructions[point]
        if not instruction.operation.slots.get("space", "").startswith(".shared"):
            return None
        address = next((each for each in instruction.operands if isinstance(each, Address)), None)
        return self.facts.address(point, address)

    def array_start(self, point: int) -> Start | None:
        """Return where the array starts that an access of shared memory is into."""
        if point not in self._arrays:
            self._arrays[point] = array_start(self.facts, self.pointer(point))
        return self._arrays[point]


def _followed(instruction: Instruction) -> Iterator[tuple[OperandSpec, Operand]]:
    """Yield the operands of an event that say what it synchronises or accesses, data left out."""
    for spec, operand in zip(instruction.operation.operand_specs, instruction.operands, strict=False):
        if spec.name in _PAYLOAD or isinstance(operand, Vector):
            continue
        if spec.direction is Direction.WRITE and not isinstance(operand, Address):
            continue
        if spec.name == "src" and not instruction.operation.slots.get("src_space", "").startswith(".shared"):
            continue
        if isinstance(operand, Address):
            extra = tuple(each for each in operand.extra if not isinstance(each, Vector))
            yield spec, Address(operand.base, operand.offset, extra)
        elif not isinstance(operand, Pair):
            yield spec, operand


__all__ = ["NO_EVENTS", "Kernel"]
