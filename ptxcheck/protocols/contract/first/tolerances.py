"""What the runs of a kernel rest on beyond the words of PTX, because released libraries do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ....verdict import AssumptionKind, Property
from ...model.actions import Protocol
from ...model.axiom import Axiom
from ...model.mechanisms import PROPERTY_OF
from ...model.outcome import Problem
from ...order.axioms import ENDED_LANES, LANES_IN_STEP, LANES_POLL_ALIKE, REGISTERS_OF_WARPGROUP
from ...order.ended_lanes import ended_beside
from ...order.lane_order import taken_to_be_in_step
from ...order.register_budget import changed_apart
from ...order.same_instruction_stores import Stores, collisions, stored_together
from ...proof.evidence import Verification
from ...proof.open_waits import open_waits
from ...symex.slice.sliced_program import Program
from ...symex.values.thread_sets import holds_two_lanes
from ...symex.values.trace import Assumption, Trace


class Tolerances:
    """Notes in the result of a verification what its runs rest on so."""

    def __init__(self, program: Program, result: Verification) -> None:
        self._program = program
        self._cfg = program.cfg
        self._result = result
        self._stores = Stores(program.cfg, program.facts)
        self._stores_seen: set[int] = set()
        """Stores of which it was looked at whether threads store to the same bytes."""

    def note_strict(self, problems: Iterable[Problem]) -> None:
        """Note what PTX forbids of a run that counts."""
        problems = tuple(problems)
        for problem in collisions(self._cfg, problems, self._stores.uniform):
            if problem.axiom is not None:
                self.take(problem.axiom, problem.point, PROPERTY_OF[problem.flaw])
        for problem in problems:
            if problem.axiom is not None and problem.axiom.is_stated:
                self.take(problem.axiom, problem.point, PROPERTY_OF[problem.flaw])

    def note_registers(self, protocol: Protocol) -> None:
        """Note where warps of a warpgroup change their registers in different ways."""
        point = changed_apart(protocol.strands)
        if point is not None:
            self.take(REGISTERS_OF_WARPGROUP, point)

    def note_ended(self, protocol: Protocol) -> None:
        """Note where lanes pass a barrier without others of their warp that have ended."""
        point = ended_beside(protocol.strands)
        if point is not None:
            self.take(ENDED_LANES, point)

    def note_polls(self, protocol: Protocol, traces: Sequence[Trace]) -> None:
        """Note where lanes that poll by one instruction would part if only some of them found the phase complete."""
        points = self._program.polls_of_lanes
        for cta, event in open_waits(protocol, points) if points else ():
            poll = traces[cta].events[event]
            if event in traces[cta].peeks and holds_two_lanes(poll.threads):
                self.take(LANES_POLL_ALIKE, poll.point)

    def note_lanes(self, traces: Sequence[Trace]) -> None:
        """Note that lanes of a warp are taken to run in step.

        Every run is looked at: which bytes two lanes touch goes by the rounds of the loops before.
        """
        for trace in traces:
            for axiom, store in stored_together(self._cfg, trace, self._stores, self._stores_seen):
                self.take(axiom, store, Property.SLOT_SAFETY)
        if LANES_IN_STEP.text in self._result.tolerated.get(Property.SLOT_SAFETY, {}):
            return
        points = (taken_to_be_in_step(self._cfg, trace) for trace in traces)
        point = next((each for each in points if each is not None), None)
        if point is not None:
            self.take(LANES_IN_STEP, point)

    def take(self, axiom: Axiom, point: int, *properties: Property) -> None:
        """Note what properties rest on: where it is met first. Those of the axiom, if it names any."""
        taken = Assumption(AssumptionKind.AXIOM, axiom.text, point)
        for which in axiom.properties or properties:
            self._result.tolerated.setdefault(which, {}).setdefault(taken.text, taken)
