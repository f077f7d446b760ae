"""Addresses in tensor memory as the machine sees them: an allocation, and lane and column counted from its start.

What `tcgen05.alloc` writes is not a number, so an address is what was read from the place that it writes to, and a
constant. An allocation of all columns starts at the first one, so its addresses are absolute.

Not followed: places that several allocations of a run write to, and addresses that are put together in another way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from ..cfg.cfg import Cfg
from ..descriptors.matrix.accumulator import COLUMNS, LANES
from ..op import Op
from .machine.symbol import Atom, Form
from .machine.trace import OFFSET_MASK, Event, Trace

ABSOLUTE = -1
"""The origin of addresses that count from the first column of tensor memory."""
_LANE_SHIFT = 16
_COLUMN_MASK = (1 << _LANE_SHIFT) - 1
_ADDRESS_BITS = 32


@dataclass(frozen=True, slots=True)
class TensorPlace:
    """A lane and a column, counted from where an allocation starts."""

    origin: int
    """Number of the allocation in its CTA, or `ABSOLUTE`."""
    lane: int
    column: int


def allocations_of(cfg: Cfg, trace: Trace) -> Mapping[int, int]:
    """Return the origin of what is read from each place in shared memory that one allocation of a run writes to."""
    events = [e for e in trace.events if cfg.instructions[e.point].operation.op is Op.TCGEN05_ALLOC]
    places = [place for event in events if (place := _slot(event)) is not None]
    if len(places) < len(events):
        return {}
    written = Counter(places)
    origins: dict[int, int] = {}
    for number, (place, event) in enumerate(zip(places, events, strict=True)):
        if written[place] == 1:
            origins[place] = ABSOLUTE if event.operands.get("columns") == COLUMNS else number
    return origins


def _slot(event: Event) -> int | None:
    address = event.operands.get("dst")
    return address & OFFSET_MASK if isinstance(address, int) else None


def place_of(address: int | Form, origins: Mapping[int, int]) -> TensorPlace | None:
    """Return the place that an address names, None when it is not known."""
    if isinstance(address, int):
        return _place(ABSOLUTE, address)
    if len(address.terms) != 1 or address.terms[0][1] != 1:
        return None
    origin = _origin(address.terms[0][0], origins)
    return None if origin is None else _place(origin, address.constant)


def _origin(atom: Atom, origins: Mapping[int, int]) -> int | None:
    """Return the origin of what was read from shared memory."""
    if atom[0] != "shared" or not isinstance(atom[1], int) or atom[2] != _ADDRESS_BITS:
        return None
    return origins.get(atom[1] & OFFSET_MASK)


def _place(origin: int, address: int) -> TensorPlace:
    """Split an address; bits above the lane are ids of scale factors."""
    return TensorPlace(origin, address >> _LANE_SHIFT & LANES - 1, address & _COLUMN_MASK)
