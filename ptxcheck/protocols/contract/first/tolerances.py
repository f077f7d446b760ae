"""What the runs of a kernel rest on beyond the words of PTX, because released libraries do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ....verdict import Property
from ...model.actions import Protocol
from ...model.mechanisms import PROPERTY_OF
from ...model.outcome import Axiom, Flaw, Problem
from ...order.ended_lanes import ended_beside
from ...order.hardware_order import LANES_IN_STEP
from ...order.lane_order import taken_to_be_in_step
from ...order.register_budget import changed_apart
from ...order.same_instruction_stores import Stores, collisions, stored_together
from ...proof.evidence import Verification
from ...symex.slice.sliced_program import Program
from ...symex.values.trace import Assumption, Trace

_TOLERATED = {
    Flaw.EXIT_WITH_REMOTE_ACCESS: "copies and commits under way when a CTA ends find its shared memory as it was",
    Flaw.UNORDERED_INIT: "an mbarrier that is initialised after fence.mbarrier_init is visible to others all the same",
    Flaw.AWAITED_BY_ANOTHER_WARP: "a warp that waits for its wgmma waits for those of its whole warpgroup",
    Flaw.STORED_BY_ANOTHER_WARP: "wgmma sees what all warps of its warpgroup stored before they came to it",
    Flaw.FENCED_BEHIND_BARRIER: "a proxy fence behind the barrier is in time for what other warps multiply, too",
    Flaw.UNFENCED_COPY: "what cp.async brought is visible to matrix instructions without a proxy fence",
    Flaw.UNAWAITED_STORE: "a store to tensor memory is over when another warp loads that was told of it",
    Flaw.LATE_OBSERVER: "a warp that only waits, and that nobody waits for, is never two phases late",
    Flaw.MISSED_PHASE: "lanes of a warp that come to a wait together pass it together",
}
_OF = {Flaw.LATE_OBSERVER: (Property.PHASE_SAFETY, Property.DEADLOCK_FREEDOM)}
"""The properties that have to do with something tolerated, where it is not the one of its flaw alone."""
_SAME_VALUE = "threads that store to the same bytes by one instruction store one value"
_REGISTERS_OF_ROLES = "warps of a warpgroup may change their registers one by one"
_ENDED = "lanes that have ended are not waited for by the others of their warp"


class Tolerances:
    """Notes in the result of a verification what its runs rest on so."""

    def __init__(self, program: Program, result: Verification) -> None:
        self._cfg = program.cfg
        self._result = result
        self._stores = Stores(program.cfg, program.facts)
        self._stores_seen: set[int] = set()
        """Stores of which it was looked at whether threads store to the same bytes."""

    def note_strict(self, problems: Iterable[Problem]) -> None:
        """Note what PTX forbids of a run that counts."""
        problems = tuple(problems)
        for point in collisions(self._cfg, problems, self._stores.uniform):
            self._tolerate_values(point)
        for problem in problems:
            if problem.axiom is Axiom.LANES_IN_STEP:
                self._tolerate_lanes(problem.point)
                continue
            text = _TOLERATED.get(problem.flaw)
            if text is not None:
                taken = Assumption(problem.flaw.value, text, problem.point)
                for which in _OF.get(problem.flaw, (PROPERTY_OF[problem.flaw],)):
                    self._tolerate(which, taken)

    def note_registers(self, protocol: Protocol) -> None:
        """Note where warps of a warpgroup change their registers in different ways."""
        point = changed_apart(protocol.strands)
        if point is not None:
            taken = Assumption("registers-of-warpgroup", _REGISTERS_OF_ROLES, point)
            self._tolerate(Property.DEADLOCK_FREEDOM, taken)

    def note_ended(self, protocol: Protocol) -> None:
        """Note where lanes pass a barrier without others of their warp that have ended."""
        point = ended_beside(protocol.strands)
        if point is not None:
            self._tolerate(Property.DEADLOCK_FREEDOM, Assumption("ended-lanes", _ENDED, point))

    def note_lanes(self, traces: Sequence[Trace]) -> None:
        """Note that lanes of a warp are taken to run in step.

        Every run is looked at: which bytes two lanes touch goes by the rounds of the loops before.
        """
        for trace in traces:
            for store in stored_together(self._cfg, trace, self._stores, self._stores_seen):
                self._tolerate_values(store)
        if LANES_IN_STEP in self._result.tolerated.get(Property.SLOT_SAFETY, {}):
            return
        points = (taken_to_be_in_step(self._cfg, trace) for trace in traces)
        point = next((each for each in points if each is not None), None)
        if point is not None:
            self._tolerate_lanes(point)

    def _tolerate_lanes(self, point: int) -> None:
        taken = Assumption(Axiom.LANES_IN_STEP.value, LANES_IN_STEP, point)
        self._tolerate(Property.SLOT_SAFETY, taken)

    def _tolerate_values(self, point: int) -> None:
        self._tolerate(Property.SLOT_SAFETY, Assumption("same-value", _SAME_VALUE, point))

    def _tolerate(self, which: Property, taken: Assumption) -> None:
        """Note what a property rests on: where it is met first."""
        self._result.tolerated.setdefault(which, {}).setdefault(taken.text, taken)
