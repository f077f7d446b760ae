"""Stores to shared memory whose numbers the machine keeps, as synchronisation may depend on what is read there.

Property: a load of shared memory in the slice reads what a kept store wrote, or nothing is known of what it reads.

Argument: kept are stores to constant places, stores in which each lane has a place of a variable that is read at
constant places, and stores to places of a ring; places are compared by variable and bounded offset.

Not covered: generic addresses, copies and atomics; that they leave these bytes alone is an assumption of the run that
reads (`shared-table`, `shared-ring`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from ....cfg.addresses import Pointer
from ....ir import Address, Instruction, Symbol
from ....opcodes.op import Op
from ....opcodes.spec import Trait
from .broadcasts import Broadcasts, broadcasts
from .dependences import Dependences
from .kernel import Kernel
from .overlapping_places import stores_meeting
from .synchronising_loops import SynchronisingLoops

_WRITES = frozenset({Op.ST, Op.STMATRIX, Op.ATOM, Op.RED})
"""Ordinary writes of shared memory."""


class KeptStores:
    """The stores of one kernel, by what they write for."""

    def __init__(
        self,
        kernel: Kernel,
        dependences: Dependences,
        loops: SynchronisingLoops,
        sizes: Mapping[tuple[str, int], int],
    ) -> None:
        self._kernel = kernel
        self._cfg = kernel.cfg
        self._dependences = dependences
        self._loops = loops
        self._sizes = sizes

    @cached_property
    def all(self) -> frozenset[int]:
        """Stores whose numbers the machine keeps for who reads them."""
        return self.table | self.spread | self.ring

    @cached_property
    def table(self) -> frozenset[int]:
        """Stores to constant places."""
        return frozenset(
            point for point in self._stores if _has_constant_place(self._cfg.instructions[point])
        )

    @cached_property
    def _stores(self) -> tuple[int, ...]:
        """Ordinary stores, but those to words that an allocation of tensor memory writes, too."""
        instructions = self._cfg.instructions
        stores = [
            point
            for point, instruction in enumerate(instructions)
            if instruction.operation.op is Op.ST and self._cfg.connected(point)
        ]
        allocations = (p for p, each in enumerate(instructions) if each.operation.op is Op.TCGEN05_ALLOC)
        written = [place for point in allocations if (place := self._kernel.place(point)) is not None]
        shared = stores_meeting(written, ((point, self._kernel.place(point)) for point in stores), {})
        return tuple(point for point in stores if point not in shared)

    @cached_property
    def ring(self) -> frozenset[int]:
        """Stores to places of a ring that synchronisation depends on."""
        read = [place for place in self._places_read.values() if place.offset.constant is None]
        return self._stores_to(read, {}) | self._turning

    @cached_property
    def ring_loads(self) -> frozenset[int]:
        """What every thread that comes there reads of places where rings may be."""
        if not self.ring:
            return frozenset()
        return frozenset(point for point in self._places_read if self._cfg.instructions[point].guard is None)

    @cached_property
    def spread(self) -> frozenset[int]:
        """Stores in which each lane has a place of its own, to a variable that is read at constant places."""
        read = [place for place in self._places_read.values() if place.offset.constant is not None]
        return self._stores_to(read, self._sizes) - self.ring

    @cached_property
    def are_read(self) -> bool:
        """Tell whether synchronisation may depend on what is loaded from shared memory."""
        return any(
            _loads_from_shared(self._cfg.instructions[point]) for point in self._dependences.of(frozenset())
        )

    @cached_property
    def broadcasts(self) -> Broadcasts:
        """What `st.async` tells all CTAs of a cluster."""
        writes = {
            point: self._kernel.place(point)
            for point, instruction in enumerate(self._cfg.instructions)
            if instruction.operation.op in _WRITES and self._cfg.connected(point)
        }
        return broadcasts(self._cfg, self._kernel.facts, self._places_read, writes)

    @cached_property
    def _turning(self) -> frozenset[int]:
        """Stores to constant places, and what is read there, round by round of loops that synchronise: rings of one."""
        read = [place for point, place in self._places_read.items() if self._is_turning(point)]
        stores = ((point, self._kernel.place(point)) for point in self.table if self._is_turning(point))
        return stores_meeting(read, stores, {})

    def _is_turning(self, point: int) -> bool:
        """Tell whether a point is in a loop that synchronises in each round."""
        return bool(self._loops.around(self._cfg.graph.block_of[point]))

    @cached_property
    def _places_read(self) -> Mapping[int, Pointer]:
        """Where shared memory is read by what synchronisation and places of accesses depend on, by point."""
        loads = (p for p in self._dependences.of(self.table) if _loads_from_shared(self._cfg.instructions[p]))
        return {p: place for p in sorted(loads) if (place := self._kernel.place(p))}

    def _stores_to(self, read: Sequence[Pointer], sizes: Mapping[tuple[str, int], int]) -> frozenset[int]:
        """Return the stores to computed places that write where some loads read."""
        if not read:
            return frozenset()
        stores = (point for point in self._stores if point not in self.table)
        return stores_meeting(read, ((point, self._kernel.place(point)) for point in stores), sizes)


def _loads_from_shared(instruction: Instruction) -> bool:
    space = instruction.operation.slots.get("space", "")
    return Trait.LOAD in instruction.operation.traits and (not space or space.startswith(".shared"))


def _has_constant_place(instruction: Instruction) -> bool:
    target = instruction.operands[0]
    shared = instruction.operation.slots.get("space", "").startswith(".shared")
    return shared and isinstance(target, Address) and isinstance(target.base, Symbol)
