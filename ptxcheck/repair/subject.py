"""What a repair is about: a finding, the instruction that it points at, and the run that shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ..explain.barrier_history import Held, held_after
from ..explain.barrier_names import barriers_of
from ..explain.violations import Violation, whole_kernel
from ..finding import Finding
from ..ir import Instruction
from ..protocols.model.actions import Barrier
from ..protocols.proof.simulate import scheduled_steps
from ..view import KernelView

_FAMILIES = frozenset({"MB", "TX", "NB", "CL", "PX", "BG", "CA", "WG"})


@dataclass(frozen=True)
class Subject:
    """A finding in one kernel. `point` is -1 for a finding that is not at an instruction."""

    view: KernelView
    finding: Finding
    point: int
    related: tuple[int, ...]
    """Points of the related places, those that are instructions."""

    @property
    def instruction(self) -> Instruction | None:
        """Return the instruction that the finding points at."""
        return None if self.point < 0 else self.view.body.instructions[self.point]

    @cached_property
    def violations(self) -> tuple[Violation, ...]:
        """Every violation that whole-kernel verification found in this kernel."""
        whole = self.view.get(whole_kernel)
        return () if whole is None else whole.violations

    @cached_property
    def violation(self) -> Violation | None:
        """The violation that whole-kernel verification found there, None for a finding of another kind."""
        return next((v for v in self.violations if v.problem.point == self.point), None)

    @cached_property
    def around(self) -> tuple[int, ...]:
        """Points that the finding is about, and those that do something with its mbarrier."""
        points = (self.point, *self.related, *self.barrier_points)
        return tuple(dict.fromkeys(point for point in points if point >= 0))

    @property
    def is_about_synchronisation(self) -> bool:
        """Tell whether the finding is about how threads and asynchronous work synchronise."""
        return self.finding.counterexample is not None or self.finding.rule[:2] in _FAMILIES

    @cached_property
    def barrier(self) -> Barrier | None:
        """The mbarrier that the violation is about."""
        if self.violation is None or not isinstance(self.violation.problem.barrier, Barrier):
            return None
        return self.violation.problem.barrier

    @cached_property
    def barrier_points(self) -> tuple[int, ...]:
        """Points that do something with that mbarrier, in any run of the violation, in order."""
        if self.violation is None or self.barrier is None:
            return ()
        strands = self.violation.run.protocol.strands
        return tuple(sorted({a.point for s in strands for a in s.actions if self.barrier in barriers_of(a)}))

    @cached_property
    def states(self) -> Mapping[Barrier, Held]:
        """State of every live mbarrier where the run is stuck or ends."""
        if self.violation is None:
            return {}
        protocol = self.violation.run.protocol
        return held_after(protocol, scheduled_steps(protocol))

    @property
    def held(self) -> Held | None:
        """State there of the mbarrier that the violation is about."""
        return None if self.barrier is None else self.states.get(self.barrier)

    @cached_property
    def stuck(self) -> tuple[tuple[Barrier, Held], ...]:
        """That mbarrier, then those in the middle of a phase, with their states: one of them holds up the others."""
        own = () if self.barrier is None or self.held is None else ((self.barrier, self.held),)
        others = [
            (barrier, held)
            for barrier, held in self.states.items()
            if barrier != self.barrier and (0 < held.pending < held.count or held.expected != held.completed)
        ]
        return (*own, *sorted(others, key=lambda each: each[0]))


def subject_of(view: KernelView, finding: Finding) -> Subject:
    """Return the subject of a finding in the kernel of a view."""
    places = {instruction.start: point for point, instruction in enumerate(view.body.instructions)}
    related = (places.get(each.location.span.start, -1) for each in finding.related)
    return Subject(
        view,
        finding,
        places.get(finding.location.span.start, -1),
        tuple(dict.fromkeys(point for point in related if point >= 0)),
    )
