"""Races of shared memory under the profile of the hardware: those of the PTX ISA, less what an axiom removes.

Property: `HardwareOrder.race` returns a race for every pair that `races` finds wrong, with the axiom that removes it,
if one does: the first row of `axioms.MEMORY`.

Argument: see `axioms`. Threads that surely store different numbers to one place are never excused. Bytes that were an
mbarrier hold nothing that an access behind it could miss.

Not covered: that a relaxed or narrower arrival publishes a read, which is taken to be enough even for strict races.
"""

from __future__ import annotations

from dataclasses import replace

from ..model.actions import Init, Inval, Protocol
from ..model.outcome import Flaw
from . import lanes_in_step
from .axioms import MEMORY, Conflict
from .conflicts import Told, Touch, is_executed_before
from .races import Race, Races


class HardwareOrder:
    """Tells what is wrong between accesses of one protocol, and which axiom removes it."""

    def __init__(self, protocol: Protocol, races: Races) -> None:
        self._protocol = protocol
        self._races = races

    def race(self, earlier: Touch, later: Touch) -> Race | None:
        """Return what is wrong between two conflicting touches, with its axiom if it is strict."""
        found = self._races.race(earlier, later)
        if found is None or (self._was_object(earlier) and is_executed_before(earlier, later)):
            return None
        if found.flaw is Flaw.WRITES_COLLIDE and self._races.store_different(earlier, later):
            return found
        conflict = Conflict(self._protocol, self._races, found, earlier, later)
        row = next((row for row in MEMORY if row.removes(conflict)), None)
        if row is None:
            return found
        return replace(found, flaw=row.flaw or found.flaw, detail=row.detail or found.detail, axiom=row.axiom)

    def _was_object(self, touch: Touch) -> bool:
        """Tell whether bytes were an mbarrier that was initialised or invalidated: nobody reads what that wrote."""
        return isinstance(self._protocol.strands[touch.strand].actions[touch.index], Init | Inval)

    def let_pass(self, earlier: Touch, later: Touch) -> Told:
        """Return what a pair is taken for of which what is wrong is let pass."""
        if is_executed_before(earlier, later):
            return Told.FINE
        pair = self._protocol, earlier, later
        in_step = lanes_in_step.orders(*pair) or lanes_in_step.copy_together(*pair)
        return Told.IN_STEP if in_step else Told.PASSED

    def is_ahead(self, access: Touch, other: Touch) -> bool:
        """Tell whether another lane of the warp comes to something before an access, where lanes run in step."""
        return lanes_in_step.is_ahead(self._protocol, access, other)
