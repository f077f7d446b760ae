"""What the machine took for granted in a run, and the run itself does not show."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from ....verdict import AssumptionKind, Reason
from ...model.actions import Protocol
from ...proof.evidence import Verification
from ...symex.slice.sliced_program import Program
from ...symex.values.trace import Assumption
from .attempt import Attempt
from .handed_numbers import always_seen, handed_on, replaced
from .handed_turns import Turns, turns_of


class Granted:
    """Looks in runs with ordinary accesses for what they show, and notes in the result where they show the contrary."""

    def __init__(self, program: Program, result: Verification) -> None:
        self._program = program
        self._result = result
        self.has_cuts = False
        """Numbers that may have more bits than a register were run only where they have not."""

    def of(self, attempt: Attempt, *, is_in_order: bool) -> list[Assumption]:
        """Return what stays taken for granted of a run; only one that is in order can show the contrary."""
        protocol, traces = attempt.protocol, attempt.traces
        noted = [assumption for trace in traces for assumption in trace.assumptions]
        self._note_cuts(noted)
        for each in noted:
            if each.kind is AssumptionKind.UNDEFINED:
                self._result.note_reason(each.text, each.point)
        taken = [assumption for assumption in noted if assumption.kind is not AssumptionKind.CUT]
        if not self._program.accesses:
            return taken
        seen = set[AssumptionKind]()
        rings = [assumption.point for assumption in taken if assumption.kind is AssumptionKind.SHARED_RING]
        turns = turns_of(protocol, traces, self._program.stores.ring) if rings else Turns.OPEN
        if turns is Turns.KEPT:
            seen.add(AssumptionKind.SHARED_RING)
        elif turns is Turns.BROKEN and is_in_order:
            self._result.note_reason(
                "what is read here from a ring in shared memory was written in another turn", rings[0]
            )
        read = {assumption.point for assumption in taken if assumption.kind is AssumptionKind.SHARED_TABLE}
        shown = self._handed_on(protocol, read, is_in_order=is_in_order) if read else frozenset()
        return [
            assumption
            for assumption in taken
            if assumption.kind not in seen
            and not (assumption.kind is AssumptionKind.SHARED_TABLE and assumption.point in shown)
        ]

    def _note_cuts(self, noted: Iterable[Assumption]) -> None:
        for each in noted:
            bound = Reason(each.text, each.point)
            if each.kind is AssumptionKind.CUT and bound not in self._result.bounds:
                self._result.bounds.append(bound)
                self.has_cuts = True

    def _handed_on(self, protocol: Protocol, loads: AbstractSet[int], *, is_in_order: bool) -> frozenset[int]:
        """Return loads that a run shows to read a table as it was stored."""
        stores = self._program.stores.table | self._program.stores.spread
        shown = handed_on(protocol, loads, stores)
        # What an earlier run has not shown is taken for granted, whatever this one shows.
        asked = {
            load
            for load in loads - shown
            if (AssumptionKind.SHARED_TABLE, load, "") not in self._result.assumptions
        }
        if not asked or not is_in_order:
            return shown
        seen = always_seen(protocol, asked, stores)
        for load in sorted(replaced(protocol, asked - seen, stores) if asked - seen else ()):
            self._result.note_reason(
                "what is read here was last written by something that is not followed", load
            )
        return shown | seen
