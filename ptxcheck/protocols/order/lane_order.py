"""Accesses of shared memory by lanes of one warp that only running in step keeps in order.

Property: where `taken_to_be_in_step` names no access, accesses of lanes of one warp to the same bytes, one of them a
write and not both atomic, have a meeting of these lanes between them.

Argument: lanes that take part in the same synchronisation are one strand, whose accesses count as ordered. For the
lanes among themselves that is so where they meet in between: at a barrier, at an instruction that wants the warp
together, or at an mbarrier at which all of them have arrived and for which they wait. Since sm_70 nothing else orders
them (PTX ISA, "bar.warp.sync"). What a lane copies, by `cp.async` or in bulk, it touches when it starts that, and again
when it has waited for it (`lane_copies`).

An access that may not happen, as by a predicate that is not followed, counts as one of all lanes that may make it.

Not covered: accesses at places that are not known, and lanes that meet by way of other warps at two mbarriers, which
are taken not to have met. Lanes on two sides of a branch are not in step (`partings`): they are strands of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...cfg.cfg import Cfg
from ...isa.modifier import Mod
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ..symex.slice.polling import POLLS
from ..symex.values.register_file import lanes_of
from ..symex.values.symbol import Form, Value
from ..symex.values.trace import SHARED_WINDOW, Access, Event, Trace
from .lane_copies import COPIES, LaneCopies
from .lane_touches import WARP, LaneTouches, Truths, Way

_TOGETHER = frozenset({Trait.BARRIER, Trait.COLLECTIVE, Trait.ALIGNED})
_ARRIVALS = frozenset({Op.MBARRIER_ARRIVE, Op.MBARRIER_ARRIVE_DROP})


def taken_to_be_in_step(cfg: Cfg, trace: Trace) -> int | None:
    """Return the first access of bytes that another lane of the warp has touched since they met, None if there is none.

    One of the two writes, and not both are atomic. Accesses at places that are not known are left out.
    """
    touched = LaneTouches(trace.shape.threads, trace.rank)
    copies = LaneCopies(touched)
    arrivals = _Arrivals(touched)
    for event in trace.events:
        operation = cfg.instructions[event.point].operation
        lanes = lanes_of(event.threads, trace.shape.threads)
        is_together = bool(operation.traits & _TOGETHER)
        if event.access is not None and _conflicts(touched, event, event.access, is_together=is_together):
            return event.point
        if is_together:
            arrivals.meet(lanes)
        elif operation.op in _ARRIVALS:
            if not operation.has(Mod.RELAXED):
                arrivals.note(event.operands.get("addr"), lanes)
        elif operation.op in POLLS:
            arrivals.wait(event.operands.get("addr"), lanes)
            copies.wait(event)
        elif operation.op in COPIES and copies.conflict(operation, event):
            return event.point
    return None


def _conflicts(touched: LaneTouches, event: Event, access: Access, *, is_together: bool) -> bool:
    """Tell whether an access meets one of another lane; then note it. One that may not happen counts as well.

    What lanes of a warp access together, as by `ldmatrix`, is a row for each address, which other lanes get a part of.
    """
    lanes = lanes_of(event.threads, touched.threads)
    own = np.flatnonzero(lanes & (np.arange(touched.threads) % WARP < access.lanes))
    places = touched.places(access.address, access.size, own)
    if places is None:
        return False
    way = Way.ATOMIC if access.reads and access.writes else Way.WRITE if access.writes else Way.READ
    found = touched.meets(places, own, way)
    if is_together:
        found = found or touched.meets(places, own ^ 1, way)
    touched.note(places, own, way)
    return found


@dataclass(slots=True)
class _Arrivals:
    """At which mbarriers threads have arrived, telling of what they did before, since they met others."""

    touched: LaneTouches
    _at: dict[int, Truths] = field(init=False, default_factory=dict)

    def note(self, address: Value | None, lanes: Truths) -> None:
        for barrier, own in self._barriers(address, lanes):
            known = self._at.get(barrier)
            self._at[barrier] = own if known is None else known | own

    def wait(self, address: Value | None, lanes: Truths) -> None:
        """Note that threads wait at mbarriers: lanes of a warp that have all arrived at one of them meet there."""
        met = np.zeros_like(lanes)
        for barrier, own in self._barriers(address, lanes):
            arrived = self._at.get(barrier)
            if arrived is None:
                continue
            for first in range(0, self.touched.threads, WARP):
                warp = slice(first, first + WARP)
                met[warp] |= own[warp] & bool(arrived[warp][own[warp]].all())
        if met.any():
            self.meet(met)

    def meet(self, lanes: Truths) -> None:
        """Note that lanes have met, in each warp."""
        self.touched.meet(lanes)
        for barrier, arrived in self._at.items():
            self._at[barrier] = arrived & ~lanes

    def _barriers(self, address: Value | None, lanes: Truths) -> list[tuple[int, Truths]]:
        """Return the mbarriers that threads name, each with the threads that do; none where it is not known."""
        if address is None or isinstance(address, Form):
            return []
        if isinstance(address, int):
            return [(address & ~SHARED_WINDOW, lanes)]
        return [
            (int(each) & ~SHARED_WINDOW, lanes & (address == each))
            for each in np.unique(address[lanes]).tolist()
        ]
