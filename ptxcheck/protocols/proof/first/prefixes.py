"""Beginnings of runs: what goes wrong before threads decide by numbers from shared memory that nobody has followed.

Such numbers are symbols, and a run that decides about them may be impossible: a warp reads its task where another one
may be writing it. But up to that read the run is certain, and so is what goes wrong in it. Threads are followed up to
there and then stop (`HaltError`); a schedule of what they have done by then is the beginning of one of the kernel,
whatever comes next. Accesses that nothing orders in it race. Threads that wait in it for others wait for ever only if
no other could still go on: none has come to where it stops.

So does a run of more rounds than are followed, such as one that counts down from zero: its threads stop behind a number
of steps, each with that many of its own. Those that a stopped one was to meet again at the join of a branch go on
without it: reconvergence orders nothing, and what wants all lanes of a warp together waits in the schedule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from ....verdict import Property
from ...model.actions import Protocol, Rendezvous, Strand
from ...model.mechanisms import PROPERTY_OF
from ...model.outcome import Equation, Outcome, Step
from ...model.sync_objects import HaltPoint
from ...symex.values.symbol import FROM_SHARED, Condition
from ...symex.values.trace import Trace
from ..lockstep_lanes import without_late_lanes
from ..simulate import simulate

_WARP = 32


def decides_by_shared(path: Sequence[tuple[Condition, bool]]) -> bool:
    """Tell whether a path decides about numbers from shared memory."""
    return any(condition.form.origin & FROM_SHARED for condition, _ in path)


def stopped(protocol: Protocol, traces: Sequence[Trace]) -> Protocol:
    """Return a protocol in which threads that were followed no further never end."""
    return replace(protocol, strands=tuple(_stopped(strand, traces) for strand in protocol.strands))


def _stopped(strand: Strand, traces: Sequence[Trace]) -> Strand:
    halted = next((trace.halted for trace in traces if trace.rank == strand.cta), 0)
    if not halted >> _WARP * strand.warp & strand.lanes:
        return strand
    name = HaltPoint(strand.cta, strand.warp, strand.lanes)
    never = Rendezvous(-1, name, strand.threads, strand.threads + 1, waits=True)
    events = (*strand.events, -1) if strand.events else ()
    return replace(strand, actions=(*strand.actions, never), events=events)


def begun(
    protocol: Protocol, traces: Sequence[Trace], equations: AbstractSet[Equation], is_late: Callable[[], bool]
) -> Outcome:
    """Return what certainly goes wrong in runs that begin like that of a protocol, whose threads may have stopped.

    Nothing is known where bytes would have to be equal that are not so in the whole run (`equations`): copies may be
    missing that come behind. Raises OutOfTimeError.
    """
    outcome = without_late_lanes(protocol, simulate(protocol, is_late=is_late), is_late)
    if not {_terms(each) for each in outcome.equations} <= {_terms(each) for each in equations}:
        return replace(outcome, problems=())
    may_go_on = _may_go_on(protocol, traces, outcome.steps)
    found = tuple(
        problem
        for problem in outcome.problems
        if problem.point >= 0
        and problem.demonstrated
        and (PROPERTY_OF[problem.flaw] is Property.SLOT_SAFETY or not may_go_on)
    )
    return replace(outcome, problems=found)


def _terms(equation: Equation) -> tuple[str, str]:
    return str(equation.expected), str(equation.completed)


def _may_go_on(protocol: Protocol, traces: Sequence[Trace], steps: Sequence[Step]) -> bool:
    """Tell whether some threads have come to where they stopped, which others may wait for."""
    done = {(step.strand, step.index) for step in steps}
    for trace in traces:
        left = trace.halted
        for index, strand in enumerate(protocol.strands):
            if strand.cta != trace.rank:
                continue
            left &= ~(strand.lanes << _WARP * strand.warp)
            last = len(strand.actions) - 2
            if _is_stopped(strand) and (last < 0 or (index, last) in done):
                return True
        if left:
            return True
    return False


def _is_stopped(strand: Strand) -> bool:
    last = strand.actions[-1] if strand.actions else None
    return isinstance(last, Rendezvous) and isinstance(last.name, HaltPoint)
