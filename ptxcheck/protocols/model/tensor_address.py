"""Addresses in tensor memory as the machine sees them: an allocation, and lane and column counted from its start.

What `tcgen05.alloc` writes is not a number, so an address is what was read from the place that it writes to, and a
constant. An allocation of all columns starts at the first one, so its addresses are absolute.

Not followed: places that several allocations of a run write to, and addresses that are put together in another way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from ...cfg.cfg import Cfg
from ...descriptors.matrix.accumulator import COLUMNS, LANES
from ...opcodes.op import Op
from ..symex.values.symbol import Atom, Form
from ..symex.values.trace import OFFSET_MASK, Event, Trace

ABSOLUTE = -1
"""The origin of addresses that count from the first column of tensor memory."""
_LANE_SHIFT = 16
_COLUMN_MASK = (1 << _LANE_SHIFT) - 1
_ADDRESS_BITS = 32


@dataclass(frozen=True, slots=True)
class TensorPlace:
    """A lane and a column, counted from where an allocation starts."""

    allocation: Allocation
    lane: int
    column: int

    @property
    def origin(self) -> int:
        """Return what the column counts from."""
        return self.allocation.origin


@dataclass(frozen=True, slots=True)
class Allocation:
    """One allocation of a run: what addresses in it count from, and its columns."""

    origin: int
    columns: int


ALL_COLUMNS = Allocation(ABSOLUTE, COLUMNS)


def allocations_of(cfg: Cfg, trace: Trace) -> Mapping[int, Allocation]:
    """Return what is read from each place in shared memory that one allocation of a run writes to."""
    events = [e for e in trace.events if cfg.instructions[e.point].operation.op is Op.TCGEN05_ALLOC]
    places = [place for event in events if (place := _slot(event)) is not None]
    if len(places) < len(events):
        return {}
    written = Counter(places)
    found: dict[int, Allocation] = {}
    for number, (place, event) in enumerate(zip(places, events, strict=True)):
        columns = event.operands.get("columns")
        if written[place] == 1:
            known = columns if isinstance(columns, int) else COLUMNS
            found[place] = ALL_COLUMNS if columns == COLUMNS else Allocation(number, known)
    return found


def _slot(event: Event) -> int | None:
    address = event.operands.get("dst")
    return address & OFFSET_MASK if isinstance(address, int) else None


def place_of(address: int | Form, allocations: Mapping[int, Allocation]) -> TensorPlace | None:
    """Return the place that an address names, None when it is not known."""
    if isinstance(address, int):
        return _place(ALL_COLUMNS, address)
    if len(address.terms) != 1 or address.terms[0][1] != 1:
        return None
    allocation = _allocation(address.terms[0][0], allocations)
    return None if allocation is None else _place(allocation, address.constant)


def _allocation(atom: Atom, allocations: Mapping[int, Allocation]) -> Allocation | None:
    """Return the allocation whose address was read from shared memory."""
    if atom[0] != "shared" or not isinstance(atom[1], int) or atom[2] != _ADDRESS_BITS:
        return None
    return allocations.get(atom[1] & OFFSET_MASK)


def _place(allocation: Allocation, address: int) -> TensorPlace:
    """Split an address; bits above the lane are ids of scale factors."""
    return TensorPlace(allocation, address >> _LANE_SHIFT & LANES - 1, address & _COLUMN_MASK)
