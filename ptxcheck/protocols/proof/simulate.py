"""One schedule of a protocol, with the checks that make it speak for all others.

Property: when `simulate` finds no problem, every schedule of the protocol (any interleaving of strands and any
moment of completion of asynchronous work) runs to its end, lets each wait observe the same phase, and lets each
arrival and each byte count in the same phase; and in each of them conflicting accesses of shared memory are ordered
(unless `memory_doubts` says otherwise).

Argument: the induction is in `phases` and `counted_barriers`, that of accesses in `memory`; what orders events is in
`clock`. The schedule lets asynchronous work complete at once; that it may do so later is in the clocks.

Not covered: where the order argument fails, a problem is not `demonstrated`: `search` looks for a schedule that goes
wrong. Bytes are linear forms. A phase that completes with symbolic bytes gives an equation that the host must meet.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np

from ..model.actions import (
    OBJECT_BYTES,
    Access,
    Action,
    Arrive,
    AsyncArrive,
    Barrier,
    Commit,
    CopyFault,
    Expect,
    Fence,
    Init,
    Inval,
    Protocol,
    Proxy,
    Registers,
    Rendezvous,
    Span,
    TensorAccess,
    TensorWait,
    Transfer,
    Wait,
    WaitGroup,
)
from ..model.equations import check_equations, sizes_by_equations
from ..model.outcome import (
    Doubt,
    Equation,
    Flaw,
    Outcome,
    Problem,
    SharedByte,
    Step,
)
from ..model.record import Record
from ..order.actor import Actor
from ..order.clock import (
    CLUSTER_ROWS,
    MEMORY_ROWS,
    NARROW_ROWS,
    READS,
    Clock,
    Components,
    Row,
    execution_only,
    relaxed,
    stamped,
)
from ..order.conflicts import Touch
from ..order.copy_extents import most_bytes
from ..order.counted_barriers import Meeting, Meetings
from ..order.deadlock import Explainer
from ..order.exits import Exits
from ..order.extents import MATRIX_PIPELINES, Part, open_sizes, parts_of
from ..order.late_copies import LateCopies
from ..order.launch_requests import LaunchRequests
from ..order.mbarrier_lifetimes import Lifetimes
from ..order.mbarrier_state import Mbarrier
from ..order.memory import Memory
from ..order.phases import Phases
from ..order.pipelines import Pipelines
from ..order.register_budget import RegisterPool
from ..order.tensor_order import TensorOrder
from ..symex.values.trace import OutOfTimeError

COPIES = "bulk"
"""The pipeline of copies out of shared memory."""
_FORBIDDEN = {
    CopyFault.ADDRESS: Flaw.MISALIGNED_COPY,
    CopyFault.SIZE: Flaw.SIZE_OF_COPY,
    CopyFault.SIGNAL: Flaw.FOREIGN_SIGNAL,
    CopyFault.OWN_CTA: Flaw.COPY_TO_OWN_CTA,
}
_STEPS_BETWEEN = 256
"""Steps after which it is asked whether there is time left."""
_DONE = -2
"""What an action returns that takes part in no phase."""


@dataclass(slots=True)
class _Runner:
    index: int
    clock: Clock
    released: Clock
    """What a relaxed arrival publishes: what the last release fence covered."""
    acquirable: Clock
    """What relaxed waits have seen, for the next acquire fence."""
    at: int = 0
    waiting: bool = False
    """True inside a rendezvous that it has arrived at."""
    blocked: Mbarrier | Meeting | None = None
    """What it waits for."""
    state: tuple[object, ...] = ()
    """How that was when it looked last."""
    ended: bool = False


def simulate(
    protocol: Protocol, clocks: list[Clock] | None = None, *, is_late: Callable[[], bool] = lambda: False
) -> Outcome:
    """Run one schedule and check that it speaks for all. `clocks` gets what is known after each step.

    Raises OutOfTimeError.
    """
    return _Simulation(protocol, clocks, is_late).run()


def scheduled_steps(protocol: Protocol, clocks: list[Clock] | None = None) -> tuple[Step, ...]:
    """Return the steps of the schedule that `simulate` runs, with nothing said of what they touch."""
    return _Simulation(protocol, clocks, looks_at_memory=False).steps()


def _note_blocked(runner: _Runner, by: Mbarrier | Meeting | None) -> None:
    """Note what a strand waits for: it need not look again while nothing happens there."""
    runner.blocked, runner.state = by, () if by is None else by.state


def _note_faults(record: Record, strand: int, copy: Transfer) -> None:
    """Note what PTX forbids of a copy itself."""
    place = next((span for span in (*copy.writes, *copy.reads) if span.start >= 0), None)
    where = None if place is None else SharedByte(place.cta, place.start)
    for fault, text in copy.faults:
        record.add(_FORBIDDEN[fault], strand, copy.point, where, -1, text, happened=True)


class _Simulation:
    def __init__(
        self,
        protocol: Protocol,
        clocks: list[Clock] | None,
        is_late: Callable[[], bool] = lambda: False,
        *,
        looks_at_memory: bool = True,
    ) -> None:
        self._protocol = protocol
        self._is_late = is_late
        self._looks_at_memory = looks_at_memory
        self._clocks = clocks
        self._components = Components(protocol)
        self._record = Record()
        self._lifetimes = Lifetimes(self._components, self._record)
        self._phases = Phases(self._components, self._record, self._lifetimes)
        self._meetings = Meetings(protocol, self._record)
        self._pipelines = Pipelines(protocol, self._components)
        self._memory = Memory(protocol, self._record, self._components.shared_work, is_late)
        self._tensor = TensorOrder(protocol, self._record)
        self._parts: dict[int, tuple[Part, ...]] = {}
        """What each action touches, by its identity: the same actions come again and again."""
        self._exits = Exits(protocol)
        self._registers = RegisterPool(protocol)
        self._launches = LaunchRequests(protocol)
        self._acquires_proxies = any(
            isinstance(action, Fence) and action.of_others
            for strand in protocol.strands
            for action in strand.actions
        )
        """Some strand has the other half of the proxy fences that only release."""
        self._late = LateCopies(protocol)
        zero = self._components.zero
        self._runners = [_Runner(i, zero(), zero(), zero()) for i in range(len(protocol.strands))]

    def steps(self) -> tuple[Step, ...]:
        """Run all strands as far as they come."""
        self._move_all()
        while symbolic := self._phases.balanced_by_host():
            self._phases.settle(self._first_to_end(symbolic))
            self._move_all()
        return tuple(self._record.steps)

    def run(self) -> Outcome:
        steps = self.steps()
        positions = [runner.at for runner in self._runners]
        Explainer(self._protocol, positions, self._phases, self._meetings).report(self._record)
        self._phases.check_rest()
        self._registers.check(self._record)
        self._launches.check(self._record)
        equations = tuple(self._phases.equations.values())
        check_equations(equations, self._record)
        doubts, provisos = self._memory.check(
            sizes_by_equations(self._protocol, equations),
            lambda: most_bytes(self._protocol, equations, MATRIX_PIPELINES),
        )
        provisos += self._tensor.check()
        provisos += open_sizes(action for strand in self._protocol.strands for action in strand.actions)
        exit_doubts: tuple[Doubt, ...] = ()
        if all(at == len(s.actions) for at, s in zip(positions, self._protocol.strands, strict=True)):
            exit_doubts = self._exits.check([runner.clock for runner in self._runners], self._record)
            self._tensor.check_end()
        record = self._record
        return Outcome(
            tuple(record.problems), equations, steps, tuple(record.strict), doubts, provisos, exit_doubts
        )

    def _first_to_end(self, symbolic: frozenset[Barrier]) -> AbstractSet[Barrier]:
        """Return which of the phases end that the host balances."""
        waiting = [runner for runner in self._runners if isinstance(runner.blocked, Mbarrier)]
        awaited = [name for name in symbolic if any(self._phases.live[name] is r.blocked for r in waiting)]
        return self._late.first_to_end(symbolic, [runner.at for runner in self._runners], awaited)

    def _move_all(self) -> None:
        moved = True
        while moved:
            moved = False
            for runner in self._runners:
                had_ended = runner.ended
                while self._advance(runner):
                    moved = True
                moved |= runner.ended and not had_ended  # others may wait for all that have not ended

    def _advance(self, runner: _Runner) -> bool:
        """Do the next action of a strand; False when it is blocked or done."""
        actions = self._protocol.strands[runner.index].actions
        if runner.at >= len(actions):
            if not runner.ended:
                runner.ended = True
                self._meetings.end(runner.index, runner.clock)
            return False
        if runner.blocked is not None and runner.blocked.state == runner.state:
            return False
        phase = self._do(runner, actions[runner.at])
        if phase is None:
            return False
        runner.at += 1
        runner.clock = stamped(runner.clock, runner.index, runner.at)
        self._record.steps.append(Step(runner.index, runner.at - 1, phase if phase > _DONE else None))
        if not len(self._record.steps) % _STEPS_BETWEEN and self._is_late():
            raise OutOfTimeError
        if self._clocks is not None:
            self._clocks.append(runner.clock)
        return True

    def _do(self, runner: _Runner, action: Action) -> int | None:
        """Perform an action. None: blocked; else the phase that it observed or took part in, or `_DONE`."""
        actor = Actor(self._components, runner.index, runner.at + 1, runner.clock, runner.released)
        if isinstance(action, Access):
            self._touch(runner, actor, action, runner.index, runner.index, runner.at + 1)
            return _DONE
        if isinstance(action, TensorAccess):
            self._access_tensor_memory(runner, action)
            return _DONE
        match action:
            case Transfer():
                phase = self._transfer(runner, actor, action)
                return _DONE if phase is None else phase
            case Wait():
                return self._wait(runner, actor, action)
            case Rendezvous():
                return self._meet(runner, actor, action)
            case WaitGroup():
                known = self._pipelines.wait(actor, action)
                if known is None:
                    return None
                runner.clock = known
            case Registers():
                return _DONE if self._registers.move(actor, action) else None
            case TensorWait():
                runner.clock = self._pipelines.after(actor, action.pipeline, action.pending)
            case Commit():
                self._pipelines.commit(actor, action.pipeline)
            case Fence():
                self._fence(runner, actor, action)
            case _:
                phase = self._on_mbarrier(runner, actor, action)
                return _DONE if phase is None else phase
        return _DONE

    def _on_mbarrier(
        self,
        runner: _Runner,
        actor: Actor,
        action: Init | Inval | Arrive | Expect | AsyncArrive,
    ) -> int | None:
        """Perform an action on mbarriers that never blocks; return the phase that it takes part in."""
        match action:
            case Init() | Inval():
                self._write_object(runner, actor, action)
                return None
            case AsyncArrive():
                done = self._pipelines.done_so_far(runner.index, action.pipeline)
                over = self._phases.completed_by(action.barrier, self._phases.present(action.barrier))
                self._exits.note_later(actor, action, self._components.bytes_of(action.barrier), over)
                return self._phases.arrive_later(actor, action, done)
            case Arrive():
                self._exits.note(actor, action, action.barrier.cta)
                return self._phases.arrive(actor, action)
            case Expect():
                self._exits.note(actor, action, action.barrier.cta)
                return self._phases.expect(actor, action)

    def _write_object(self, runner: _Runner, actor: Actor, action: Init | Inval) -> None:
        """Initialise or invalidate an mbarrier, which writes its bytes."""
        if isinstance(action, Init):
            self._lifetimes.init(actor, action)
        else:
            self._lifetimes.invalidate(actor, action.barrier, action.point)
        place = (Span(action.barrier.cta, action.barrier.offset, OBJECT_BYTES),)
        self._memory.add(
            Touch(
                actor.strand, runner.at, action.point, place, True, Proxy.GENERIC, False, runner.index,
                runner.at + 1, actor.clock,
            )
        )  # fmt: skip

    def _transfer(self, runner: _Runner, actor: Actor, action: Transfer) -> int | None:
        """Start work, and complete it. Its touches are over when its bytes, or its group, are known to be."""
        if action.asks:
            self._launches.ask(actor, action)
        _note_faults(self._record, runner.index, action)
        component = reads = runner.index
        over, phase = runner.at + 1, None
        if action.pipeline:
            over = self._pipelines.issue(runner.index, action.pipeline)
            component = self._components.work_of(action.pipeline, runner.index) or component
            reads = self._components.work_of(action.pipeline + READS, runner.index) or reads
        for name, amount in action.completes:
            ends = self._phases.completed_by(name, self._phases.present(name))
            phase = self._phases.transfer(actor, action, name, amount)
            place = self._components.bytes_of(name)
            if phase is not None and place is not None:
                component, over = place, ends
                reads = place if not action.pipeline else reads
        self._touch(runner, actor, action, component, reads, over)
        return phase

    def _touch(
        self,
        runner: _Runner,
        actor: Actor,
        action: Access | Transfer,
        component: int,
        reads: int,
        over: int,
    ) -> None:
        if not self._looks_at_memory:
            return
        if not isinstance(action, Access) or action.certain:
            self._lifetimes.touch(actor, action.point, (*action.reads, *action.writes))
        parts = self._parts.get(id(action))
        if parts is None:
            parts = self._parts[id(action)] = parts_of(action)
        if not parts:
            return
        if isinstance(action, Access):
            if action.refused:
                self._launches.hear(actor, action.point)
            is_copy, proxy, certain, fenced = False, Proxy.GENERIC, action.certain, False
        else:
            is_copy = bool(action.completes) or action.pipeline == COPIES
            proxy, certain, fenced = action.proxy, True, action.after_fenced_reads
        for part in parts:
            touch = Touch(
                actor.strand, runner.at, action.point, part.spans, part.writes, proxy, action.combines,
                component if part.writes else reads, over, actor.clock, certain, fenced, part.is_exact,
            )  # fmt: skip
            self._memory.add(touch)
            self._exits.touch(touch, part.ctas, is_copy=is_copy)

    def _access_tensor_memory(self, runner: _Runner, action: TensorAccess) -> None:
        component, over = runner.index, runner.at + 1
        if action.pipeline:
            component = self._components.work_of(action.pipeline, runner.index) or component
            over = self._pipelines.issue(runner.index, action.pipeline)
        self._tensor.add(runner.index, runner.at, action, runner.clock, component, over)

    def _wait(self, runner: _Runner, actor: Actor, action: Wait) -> int | None:
        observed = self._phases.wait(actor, action)
        _note_blocked(runner, self._phases.live.get(action.barrier) if observed is None else None)
        if observed is None:
            return None
        phase, published = observed
        if published is not None:
            runner.acquirable = np.maximum(runner.acquirable, published)
            seen = published if action.acquires else relaxed(published, runner.clock)
            if not action.acquires or not action.wide:
                seen = seen.copy()
                seen[Row.WIDE] = runner.clock[Row.WIDE]
                seen[Row.RELEASED] = published[Row.RELEASED]
            if not action.acquires:  # that copies are complete is seen by who acquires it
                work = slice(len(self._runners), None)
                seen[Row.IN_ORDER, work] = runner.clock[Row.IN_ORDER, work]
            runner.clock = np.maximum(runner.clock, seen)
        return phase

    def _meet(self, runner: _Runner, actor: Actor, action: Rendezvous) -> int | None:
        if action.arrives and not runner.waiting:
            self._meetings.arrive(actor, action)
        if action.waits:
            published = self._meetings.passed(actor, action)
            runner.waiting = published is None
            _note_blocked(runner, self._meetings.by_name[action.name] if published is None else None)
            if published is None:
                return None
            seen = published if action.orders else execution_only(published, runner.clock)
            runner.clock = np.maximum(runner.clock, seen)
        generation = self._meetings.joined(runner.index, action.name)
        return _DONE if generation is None else generation

    def _fence(self, runner: _Runner, actor: Actor, action: Fence) -> None:
        if action.tensor is not None:
            self._tensor.fence(runner.index, runner.at, action.tensor, runner.clock)
            return
        clock = runner.clock.copy()
        if action.acquires:
            seen = np.maximum(clock, runner.acquirable)
            rows = MEMORY_ROWS if action.wide else NARROW_ROWS
            clock[rows] = seen[rows]
        if action.proxy and not action.of_others and (not action.to_others or self._acquires_proxies):
            clock[Row.CROSSED] = np.maximum(clock[Row.CROSSED], clock[Row.VISIBLE])
            clock[Row.FENCED, runner.index] = runner.at
            place = self._components.work_of("cp.async", runner.index)
            if place is not None:
                clock[Row.FENCED, place] = clock[Row.VISIBLE, place]
        runner.clock = clock
        if action.releases:
            published = stamped(clock, runner.index, runner.at + 1)
            if action.wide:
                self._components.publish(published, runner.index)
            else:
                published[CLUSTER_ROWS] = runner.released[CLUSTER_ROWS]
            runner.released = published
        elif action.inits:
            self._lifetimes.fence_inits(runner.index)
            runner.released = runner.released.copy()
            runner.released[Row.INITIALISED] = actor.stamp[Row.INITIALISED]


__all__ = ["Equation", "Flaw", "Outcome", "Problem", "Step", "simulate"]
