"""Tensor memory in use: who frees it when, who reads its address, and what is read before it is complete.

Property: as for `tensor_memory`: what is yielded happens on a path that some thread can take. Anything that may
synchronise (barriers, mbarriers, unknown calls) ends such a path, whatever it waits for.

Not seen: orders that several threads make together; the whole-kernel machine does that.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from ...cfg import (
    Atom,
    AtomKind,
    Linear,
    ThreadSet,
    Value,
)
from ...isa.modifier import Mod
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from .accumulator_columns import AccumulatorColumns
from .matrix_operands import TCGEN05 as MULTIPLICATIONS
from .paths import Paths, Query
from .places import Place, Places
from .register_flow import unknown_calls
from .tensor_address import (
    TensorAddress,
    half_width,
    tensor_address,
    warp_addresses,
)
from .tensor_memory import LOADS, TENSOR_MEMORY, Pair, TensorMemory

if TYPE_CHECKING:
    from ...view import KernelView

_MEETING = frozenset({Trait.BARRIER, Trait.MBARRIER, Trait.ATOMIC})
_LOADED = frozenset({Op.LD, Op.LD_NC, Op.LDU})
_SEARCHES = 24
"""Searches for multiplications that were not waited for, for each kernel: a bound on costs."""
_NEAREST = 2
"""Multiplications in front of a load to look at."""
_LANE = 1 << 16
"""One lane, in an address."""


class TensorMemoryUse:
    """Use of tensor memory in one kernel."""

    def __init__(self, view: KernelView) -> None:
        self._view = view
        self._memory = view.get(TensorMemory)
        self._columns = view.get(AccumulatorColumns)

    # ---- deallocation

    def freed_twice(self) -> Iterator[Pair]:
        """Yield two deallocations of one address on a path without an allocation between."""
        frees = self._memory.deallocations
        for then in sorted(frees):
            place = self._fixed(then)
            if place is None:
                continue
            same = frozenset(
                p for p in frees if (o := self._fixed(p)) is not None and o.linear == place.linear
            )
            computed = (
                frozenset(a.at for a, _ in place.linear.terms if a.at >= 0) if place.linear else frozenset()
            )
            found = self._path(same, then, self._memory.allocations | (same - {then}) | computed)
            if found is not None:
                yield found

    def freed_elsewhere(self) -> Iterator[tuple[int, TensorAddress]]:
        """Yield deallocations of an address that is not the start of the allocation."""
        for point in sorted(self._memory.deallocations):
            address = tensor_address(self._view, point)
            if address is not None and not address.is_absolute and (address.column or address.lane):
                yield point, address

    def freed_under_readers(self) -> Iterator[Pair]:
        """Yield a load that several warps execute, and the deallocation by one of them, with nothing between."""
        for free in sorted(self._memory.deallocations):
            for load in sorted(self._memory.of(LOADS)):
                execution = self._view.facts.execution(load)
                threads = execution.threads
                owner = self._view.facts.execution(free).threads
                if threads is None or owner is None or not execution.exact or len(threads.warps) < 2:
                    continue
                if not (threads & owner).bits or self._view.launch.threads is None:
                    continue
                found = self._path(frozenset({load}), free, self._meetings, threads.bits & owner.bits)
                if found is not None:
                    yield found
                    break

    # ---- allocation

    def allocated_again(self) -> Iterator[int]:
        """Yield allocations that a loop comes back to with nothing freed."""
        for point in sorted(self._memory.allocations):
            if self._view.cfg.loop_of(point) is None or self._memory.columns(point).low > 256:
                continue
            if self._path(frozenset({point}), point, self._memory.deallocations) is not None:
                yield point

    def read_early(self) -> Iterator[Pair]:
        """Yield (allocation, load of its address) where a thread of another warp waits for nothing before."""
        for allocation in sorted(self._memory.allocations):
            instruction = self._view.body.instructions[allocation]
            place = self._view.get(Places).of(allocation, instruction.get("dst"), ".shared")
            execution = self._view.facts.execution(allocation)
            if place is None or execution.threads is None or self._view.launch.threads is None:
                continue
            for load in self._loads_of_slot(place):
                others = self._others(load, execution.threads)
                if others and self._path(None, load, self._meetings, others) is not None:
                    yield Pair(allocation, load)

    def _loads_of_slot(self, place: Place) -> Iterator[int]:
        for point, instruction in enumerate(self._view.body.instructions):
            if instruction.operation.op in _LOADED and not self._view.facts.never_runs(point):
                other = self._view.get(Places).of(point, instruction.get("a"))
                if other is not None and other.is_same(place):
                    yield point

    def _others(self, load: int, allocating: ThreadSet) -> int:
        """Return the threads, as bits, that surely execute a load and not the allocation."""
        execution = self._view.facts.execution(load)
        threads = execution.threads
        if threads is None or not execution.exact:
            return 0
        return (threads - allocating).bits if threads.size == allocating.size else 0

    def pair_before_peer(self) -> Iterator[int]:
        """Yield allocations for a pair of CTAs that a thread gets to without having met the cluster."""
        for point in sorted(self._memory.allocations):
            if self._is_pair(point) and self._path(None, point, self._cluster_meetings) is not None:
                yield point

    def pair_freed_alone(self) -> Iterator[Pair]:
        """Yield (allocation, deallocation) for a pair of CTAs with nothing that could wait for the peer between."""
        mine = frozenset(p for p in self._memory.allocations if self._is_pair(p))
        for point in sorted(self._memory.deallocations):
            if self._is_pair(point):
                found = self._path(mine, point, self._cluster_meetings)
                if found is not None:
                    yield found

    def mixed_groups(self) -> tuple[int, int] | None:
        """Return the first tcgen05 instructions with one and with two CTAs of a group, None when there is one kind."""
        first: dict[str, int] = {}
        for point in sorted(self._memory.of(TENSOR_MEMORY)):
            group = self._view.body.instructions[point].operation.slots.get("cta_group")
            if group is not None:
                first.setdefault(group, point)
        return (min(first.values()), max(first.values())) if len(first) > 1 else None

    # ---- multiplications

    def collectors_never_filled(self) -> Iterator[tuple[int, str]]:
        """Yield uses of a collector buffer that no path has filled before: (point, buffer)."""
        uses: dict[str, list[int]] = {}
        fills: dict[str, set[int]] = {}
        for point in sorted(self._memory.of(MULTIPLICATIONS)):
            slots = self._view.body.instructions[point].operation.slots
            for slot in ("collector", "b_collector", "ws_collector"):
                buffer, _, use = slots.get(slot, "").removeprefix(".collector::").partition("::")
                if use == "fill":
                    fills.setdefault(buffer, set()).add(point)
                elif use in ("use", "lastuse"):
                    uses.setdefault(buffer, []).append(point)
        for buffer, points in sorted(uses.items()):
            for point in points:
                if self._path(None, point, frozenset(fills.get(buffer, set()))) is not None:
                    yield point, buffer

    def lost_allocations(self) -> Iterator[Pair]:
        """Yield two allocations of which the second writes over the address of the first before anybody reads it."""
        places = {
            point: place
            for point in sorted(self._memory.allocations)
            if (place := self._slot_of(point)) is not None
        }
        for then, place in places.items():
            first = frozenset(p for p, other in places.items() if other.is_same(place))
            reads = frozenset(self._loads_of_slot(place)) | self._meetings | self._memory.deallocations
            found = self._path(first, then, reads | (first - {then}))
            if found is not None:
                yield found

    def _slot_of(self, allocation: int) -> Place | None:
        destination = self._view.body.instructions[allocation].get("dst")
        place = self._view.get(Places).of(allocation, destination, ".shared")
        return None if place is None or place.at is None else place

    def stored_before_multiplication(self) -> Iterator[Pair]:
        """Yield (store, multiplication into the same columns by the same thread) with no wait for the store."""
        stores: dict[int, TensorAddress] = {}
        for point in sorted(self._memory.points[Op.TCGEN05_ST]):
            address = next((each for _, each in warp_addresses(self._view, point)), None)
            if address is not None:
                stores[point] = address
        seen: set[TensorAddress] = set()
        for word in self._columns.words if stores else ():
            d, columns = tensor_address(self._view, word.point), self._columns.of_d(word)
            if d is None or columns is None or d in seen:
                continue
            seen.add(d)
            same = frozenset(
                point
                for point, other in stores.items()
                if (other.slot, other.is_absolute) == (d.slot, d.is_absolute)
                and other.column < d.column + columns
                and d.column < other.column + half_width(self._view, point)
            )
            found = self._path(same, word.point, self._memory.store_waits)
            if found is not None:
                yield found

    def unawaited_results(self) -> Iterator[Pair]:
        """Yield (multiplication, load of its D by the same thread) with no wait on an mbarrier between.

        Waits that a guard skips count as waits: the guard may say that there is nothing to wait for.
        """
        issued = {p: place for p in sorted(self._memory.of(MULTIPLICATIONS)) if (place := self._fixed(p))}
        block_of = self._view.cfg.graph.block_of
        seen: set[tuple[int, object]] = set()
        searches = 0
        for load in sorted(self._memory.of(LOADS)) if issued else ():
            place = self._fixed(load)
            if place is None or place.linear is None or (block_of[load], _columns(place.linear)) in seen:
                continue
            seen.add((block_of[load], _columns(place.linear)))
            same = [p for p, other in issued.items() if _same_columns(other, place)]
            # A search goes on from the first point that it passes: one search for each of the nearest.
            for point in sorted(same, key=lambda p: (p > load, -p))[:_NEAREST]:
                if self._may_wait_between(point, load):
                    continue
                searches += 1
                if searches > _SEARCHES:
                    return
                found = self._path(frozenset({point}), load, self._mbarrier_waits)
                if found is not None:
                    yield found
                    break

    def _may_wait_between(self, first: int, then: int) -> bool:
        """Tell whether some way between two points passes a wait on an mbarrier, whatever its guards say."""
        reaches = self._view.cfg.reaches
        return any(reaches(first, wait) and reaches(wait, then) for wait in self._mbarrier_waits)

    # ---- parts

    @cached_property
    def _unknown(self) -> frozenset[int]:
        return unknown_calls(self._view)

    @cached_property
    def _meetings(self) -> frozenset[int]:
        """Points at which a thread may wait for another one."""
        return self._with_traits(_MEETING) | self._unknown

    @cached_property
    def _cluster_meetings(self) -> frozenset[int]:
        """Points at which a thread may wait for another CTA: barriers of the cluster, and mbarriers."""
        found = self._with_traits(frozenset({Trait.MBARRIER, Trait.ATOMIC}))
        wait = Op.BARRIER_CLUSTER_WAIT
        return found | self._unknown | self._of(frozenset({wait}))

    @cached_property
    def _mbarrier_waits(self) -> frozenset[int]:
        return self._of(frozenset({Op.MBARRIER_TEST_WAIT, Op.MBARRIER_TRY_WAIT})) | self._unknown

    def _of(self, ops: frozenset[Op]) -> frozenset[int]:
        instructions = self._view.body.instructions
        return frozenset(p for p, instruction in enumerate(instructions) if instruction.operation.op in ops)

    def _with_traits(self, traits: frozenset[Trait]) -> frozenset[int]:
        instructions = self._view.body.instructions
        return frozenset(p for p, i in enumerate(instructions) if i.operation.traits & traits)

    def _is_pair(self, point: int) -> bool:
        return self._view.body.instructions[point].operation.has(Mod.CTA_GROUP_2)

    def _fixed(self, point: int) -> Value | None:
        """Return an address in tensor memory, None when loops may change it between two points."""
        value = self._view.facts.value(point, self._view.body.instructions[point].get("taddr"))
        if value.linear is None or any(atom.kind is AtomKind.PHI for atom, _ in value.linear.terms):
            return None
        return value

    def _path(
        self, first: frozenset[int] | None, then: int, barred: frozenset[int], threads: int | None = None
    ) -> Pair | None:
        if first is not None and not first:
            return None
        query = Query(first, frozenset({then}), (barred | self._unknown) - {then}, threads=threads)
        witness = self._view.get(Paths.of).find(query)
        if witness is None:
            return None
        return Pair(-1 if witness.first is None else witness.first, witness.then)


def _same_columns(one: Value, other: Value) -> bool:
    """Tell whether two addresses differ in their lanes at most."""
    if one.linear is None or other.linear is None or _columns(one.linear) != _columns(other.linear):
        return False
    return (one.linear.constant - other.linear.constant) % _LANE == 0


def _columns(form: Linear) -> tuple[tuple[Atom, int], ...]:
    """Return the terms of an address that are no whole lanes."""
    return tuple((atom, factor) for atom, factor in form.terms if factor % _LANE)


__all__ = ["TensorMemoryUse"]
