"""Bounds of addresses in tensor memory: which allocation an address is in, and the columns and lanes that it may name.

Property: an address of a `Bounded` operand is, in every run, the start of its allocation (or zero, where there is none)
plus a lane and a column that are within the bounds; the lane is that of `lanes` in each warp. An allocation's start is
what a thread reads from the place that `tcgen05.alloc` writes to, if nothing else writes there: `rests_on_slot`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ...cfg import (
    AtomKind,
    Linear,
    Name,
    ThreadSet,
    Uniformity,
    Value,
)
from ...cfg.linear import Atom, plus
from ...ir import Register
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from .must_alias import ThreadOffsets
from .places import Place, Places
from .shared_access import find_shared_accesses
from .tensor_memory import TensorMemory

if TYPE_CHECKING:
    from ...view import KernelView

SLOT = "nothing but the allocation writes to where its address is kept"
"""What is taken for granted where `rests_on_slot`."""
_WARP = 32
_LANE_SHIFT = 16
_COLUMN_MASK = (1 << _LANE_SHIFT) - 1
_ADDRESS_BITS = 32
_ALL_COLUMNS = 512
_ID_BITS = 0b11 << 30
"""Where the address of scale factors has their id."""
_WITH_ID = frozenset({"scale_a", "scale_b"})
_LOADS = frozenset({Op.LD, Op.LDU})
_WRITING = frozenset({Trait.STORE, Trait.ATOMIC, Trait.ASYNC})


@dataclass(frozen=True, slots=True)
class Bounded:
    """What is known of an address."""

    columns: int
    """Columns of the allocation that it is in."""
    last_column: int
    """Greatest column that it can be, counted from the start of the allocation."""
    lane_bits: int
    """Bits that its lane can have."""
    rests_on_slot: bool
    """It holds if nothing but the allocation writes to where its start is kept."""


Slot = tuple[tuple[str, int], int]
"""A place in shared memory: variable and offset."""


class Origin(NamedTuple):
    """The allocation that an address starts."""

    columns: int
    is_sure: bool
    """Nothing but the allocation can be in its slot."""
    slot: Slot | None
    """Where its start is read from; None for column 0 of a kernel that allocates all columns."""


class Extent(NamedTuple):
    """An operand of an instruction, and how many columns it has at most."""

    name: str
    columns: int


class TensorBounds:
    """Addresses of tensor memory in one kernel."""

    def __init__(self, view: KernelView) -> None:
        self._view = view
        self._slots = [
            (point, place)
            for point in sorted(view.get(TensorMemory).allocations)
            if (place := view.get(Places).of(point, view.body.instructions[point].get("dst"), ".shared"))
            is not None
        ]
        self._starts: dict[int, tuple[int, bool] | None] = {}

    def of(self, point: int, name: str = "taddr") -> Bounded | None:
        """Return the bounds of an address operand, None when it is in no allocation as far as is followed."""
        value = self._view.facts.value(point, self._view.body.instructions[point].get(name))
        start = self._start(value)
        if start is None:
            if not self._all_columns():
                return None
            found, form, columns = value, value.linear, _ALL_COLUMNS
        else:
            assert value.linear is not None
            form, columns = value.linear.without(start[0]), start[1]
            found = self._view.facts.of_linear(form, _ADDRESS_BITS)
        column = found.maybe & _COLUMN_MASK
        if found.high <= _COLUMN_MASK:
            column = min(column, found.high)
        by_thread = None if form is None else self._by_thread(point, form)
        if by_thread is not None:
            offsets, rest = by_thread
            column = min(column, max(offset & _COLUMN_MASK for offset in offsets.values()) + rest)
        lanes = (found.maybe & ~(_ID_BITS if name in _WITH_ID else 0)) >> _LANE_SHIFT
        return Bounded(columns, column, lanes, start is not None and not start[2])

    def are_apart(self, point: int, first: Extent, then: Extent) -> bool:
        """Tell whether two operands of an instruction surely share no column, each inside its allocation."""
        here, there = (self._behind_start(point, extent.name) for extent in (first, then))
        if here is None or there is None or here[0] != there[0]:
            return False
        distance = plus(there[1], here[1], _LANE_SHIFT, -1)
        if distance is None:
            return False
        low = high = distance.constant
        for atom, factor in distance.terms:
            numbers = self._view.facts.of_linear(Linear(((atom, 1),), 0), _ADDRESS_BITS)
            ends = factor * numbers.low, factor * numbers.high
            low, high = low + min(ends), high + max(ends)
        whole = (low - first.columns) >> _LANE_SHIFT << _LANE_SHIFT
        return low - whole >= first.columns and high - whole <= _COLUMN_MASK + 1 - then.columns

    def _behind_start(self, point: int, name: str) -> tuple[object, Linear] | None:
        """Return which allocation an address is in, as a key, and what is added to its start."""
        value = self._view.facts.value(point, self._view.body.instructions[point].get(name))
        if value.constant is not None:
            value = value._replace(linear=Linear((), value.constant))
        start = self._start(value)
        if value.linear is None or (start is None and not self._all_columns()):
            return None
        if start is None:
            return "all columns", value.linear
        behind = value.linear.without(start[0])
        place = self._view.get(Places).of(start[0].at, self._view.body.instructions[start[0].at].get("a"))
        makers = [point for point, slot in self._slots if place is not None and slot.is_same(place)]
        if self._all_columns():
            return "all columns", behind
        return (makers[0] if len(makers) == 1 else start[0]), behind

    def lanes(self, point: int) -> Mapping[int, int] | None:
        """Return the lane that each warp which may execute a load or store names; None when not known."""
        operand = self._view.body.instructions[point].get("taddr")
        if self._view.facts.uniform(point, operand) > Uniformity.WARP:
            return None
        value = self._view.facts.value(point, operand)
        start = self._start(value)
        form = value.linear if start is None or value.linear is None else value.linear.without(start[0])
        if value.constant is not None:
            form = Linear((), value.constant)
        found = None if form is None else self._by_thread(point, form)
        if found is None:
            return None
        return {thread // _WARP: offset >> _LANE_SHIFT & 0xFFFF for thread, offset in found[0].items()}

    def _by_thread(self, point: int, form: Linear) -> tuple[Mapping[int, int], int] | None:
        """Return what is added to a start in one thread of each warp that may come to a point, and the most columns
        that other terms add, which are no lanes.
        """
        count, threads = self._view.launch.threads, self._view.facts.execution(point).threads
        if count is None:
            return None
        firsts = range(0, count, _WARP) if threads is None else [warp * _WARP for warp in threads.warps]
        offsets = dict.fromkeys(firsts, form.constant)
        rest: list[tuple[Atom, int]] = []
        for term in form.terms:
            own = self._view.get(ThreadOffsets).of_form(Linear((term,), 0))
            if own is None:
                rest.append(term)
            else:
                offsets = {first: offset + int(own[first]) for first, offset in offsets.items()}
        others = self._view.facts.of_linear(Linear(tuple(rest), 0), _ADDRESS_BITS)
        return None if others.high > _COLUMN_MASK or not offsets else (offsets, others.high)

    # ---- allocations

    def allocation_of(self, point: int) -> Origin | None:
        """Return the allocation that starts at an address."""
        operand = self._view.body.instructions[point].get("taddr")
        found = self._starts_at(self._view.facts.value(point, operand))
        if found is not None or not isinstance(operand, Register):
            return found
        threads = self._view.facts.execution(point).threads
        values = None if threads is None else self._merged_for(self._view.facts.name(point, operand), threads)
        starts = {self._starts_at(value) for value in values or ()}
        return starts.pop() if len(starts) == 1 else None

    def slot_of(self, allocation: int) -> Slot | None:
        """Return where an allocation writes its start, None when that is not one place."""
        place = next((place for point, place in self._slots if point == allocation), None)
        return None if place is None or place.at is None else (place.symbol, place.at)

    def _starts_at(self, value: Value) -> Origin | None:
        if value.constant == 0 and self._all_columns():
            return Origin(_ALL_COLUMNS, True, None)
        start = self._start(value)
        if start is None or value.linear is None:
            return None
        rest = self._view.facts.of_linear(value.linear.without(start[0]), _ADDRESS_BITS)
        place = self._view.get(Places).of(start[0].at, self._view.body.instructions[start[0].at].get("a"))
        if rest.constant != 0 or place is None or place.at is None:
            return None
        return Origin(*start[1:], (place.symbol, place.at))

    def _merged_for(self, name: Name, threads: ThreadSet) -> list[Value] | None:
        """Return what some threads may find in a register that is merged: by the edges that one of them may take."""
        cfg, facts = self._view.cfg, self._view.facts
        work, seen, found = [name], set[Name](), list[Value]()
        while work:
            current = work.pop()
            if current in seen:
                continue
            seen.add(current)
            if current.phi_block is not None:
                for edge, other in facts.merged(current):
                    comes = facts.execution(cfg.blocks[edge.source].start).threads
                    if comes is None or (comes & threads).bits:
                        work.append(other)
                continue
            value = facts.value_of(current)
            if value is None:
                return None
            found.append(value)
        return found

    def _all_columns(self) -> bool:
        memory = self._view.get(TensorMemory)
        sizes = {memory.columns(point).constant for point in memory.allocations}
        return sizes == {_ALL_COLUMNS}

    def _start(self, value: Value) -> tuple[Atom, int, bool] | None:
        """Return the term of an address that an allocation wrote, its columns, and whether that is sure."""
        for atom, factor in () if value.linear is None else value.linear.terms:
            if factor == 1 and atom.kind is AtomKind.DEFINITION and atom.at >= 0:
                found = self.allocated_at(atom.at)
                if found is not None:
                    return atom, *found
        return None

    def allocated_at(self, load: int) -> tuple[int, bool] | None:
        """Return the columns of the allocation whose start a load reads, and whether nothing else can be there."""
        if load not in self._starts:
            self._starts[load] = self._read_at(load)
        return self._starts[load]

    def _read_at(self, load: int) -> tuple[int, bool] | None:
        """Return the columns of the allocation whose start a load reads, and whether nothing else can be there."""
        instruction = self._view.body.instructions[load]
        if instruction.operation.op not in _LOADS or instruction.guard is not None:
            return None
        place = self._view.get(Places).of(load, instruction.get("a"))
        if place is None or place.at is None:
            return None
        sizes = {
            self._view.get(TensorMemory).columns(p).constant for p, slot in self._slots if slot.is_same(place)
        }
        size = None if None in sizes or not sizes else min(each for each in sizes if each is not None)
        if size is None:
            return None
        writers = tuple(self._writers(place, load))
        return None if any(sure for sure in writers) else (size, not writers)

    def _writers(self, place: Place, load: int) -> Iterator[bool]:
        """Yield for each access that may write to a place before a load whether it surely writes there."""
        for access in self._view.get(find_shared_accesses):
            operation = self._view.body.instructions[access.point].operation
            is_later = self._view.cfg.reaches(load, access.point) and not self._view.cfg.reaches(
                access.point, load
            )
            if is_later or not operation.traits & _WRITING:
                continue
            if access.place is None:
                yield False
            elif access.place.may_overlap(place, access.size, 4):
                yield access.place.at is not None


__all__ = ["SLOT", "Bounded", "Extent", "Origin", "Slot", "TensorBounds"]
