"""One schedule of a protocol, with the checks that make it speak for all others.

Property: when `simulate` finds no problem, every schedule of the protocol (any interleaving of strands and any
moment of completion of asynchronous work) runs to its end, lets each wait observe the same phase, and lets each
arrival and each byte count in the same phase.

The argument, by induction over the phases of each barrier: an arrival that counts in phase k happens after phase
k-1 completed (`early arrival`), and so does the issue of each transfer whose bytes count in phase k
(`early transfer`); expected bytes are announced before an arrival of the same phase (`late expect`), so the phase
cannot complete without them; and the phase after the one that a wait names completes only after that wait
(`missed phase`), so a parity means one phase. Then what completes a phase is the same set of arrivals and bytes in
every schedule. Happens-before is program order, completed phase → wait, rendezvous, and group → its wait.

Bytes are linear forms. A phase that completes with symbolic bytes gives an equation that the host must meet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
import numpy.typing as npt

from .actions import (
    Action,
    Amount,
    Arrive,
    AsyncArrive,
    Barrier,
    Commit,
    Expect,
    Init,
    Inval,
    Protocol,
    Rendezvous,
    Transfer,
    Wait,
    WaitGroup,
)
from .machine.symbol import Form, plus

Clock = npt.NDArray[np.int32]
"""For each strand, how many of its actions are known to have happened; then, for each mbarrier, how many of its
phases with asynchronous work are known to have completed."""

_MAX_COUNT = (1 << 20) - 1


class Flaw(Enum):
    """What can be wrong with a protocol."""

    DEADLOCK = "deadlock"
    EARLY_ARRIVAL = "early-arrival"
    EARLY_TRANSFER = "early-transfer"
    LATE_EXPECT = "late-expect"
    MISSED_PHASE = "missed-phase"
    EARLY_WAIT = "early-wait"
    TX_MISMATCH = "tx-mismatch"
    TX_RANGE = "tx-range"
    OVER_ARRIVAL = "over-arrival"
    UNINITIALISED = "uninitialised"
    DOUBLE_INIT = "double-init"
    UNORDERED_INIT = "unordered-init"
    COUNT_MISMATCH = "count-mismatch"


@dataclass(frozen=True, slots=True)
class Problem:
    """One flaw: where, at which barrier and phase, and the points that matter."""

    flaw: Flaw
    strand: int
    point: int
    barrier: Barrier | tuple[object, ...] | None
    phase: int
    detail: str
    related: tuple[tuple[int, int], ...] = ()
    """Strand and point of other actions."""


@dataclass(frozen=True, slots=True)
class Equation:
    """Bytes expected in a phase must equal the bytes that complete."""

    barrier: Barrier
    expected: Amount
    completed: Amount


@dataclass(frozen=True, slots=True)
class Step:
    """One action done, in the order of the schedule."""

    strand: int
    index: int
    phase: int | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one schedule showed. `problems` is empty when the protocol keeps its contract."""

    problems: tuple[Problem, ...]
    equations: tuple[Equation, ...]
    steps: tuple[Step, ...]


@dataclass(slots=True)
class _Contribution:
    strand: int
    point: int
    clock: Clock


@dataclass(slots=True)
class _Phase:
    """What has happened in the phase that a barrier is in."""

    arrivals: list[_Contribution] = field(default_factory=list)
    expects: list[_Contribution] = field(default_factory=list)
    transfers: list[_Contribution] = field(default_factory=list)
    expected: Amount = 0
    completed: Amount = 0


@dataclass(slots=True)
class _Mbarrier:
    count: int
    pending: int
    born: Clock
    phase: int = 0
    now: _Phase = field(default_factory=_Phase)
    completions: list[Clock] = field(default_factory=list)
    tokens: dict[tuple[int, int], int] = field(default_factory=dict)
    waits: dict[int, list[_Contribution]] = field(default_factory=dict)


@dataclass(slots=True)
class _Meeting:
    needed: int
    arrived: int = 0
    generation: int = 0
    clock: Clock | None = None
    contributions: list[_Contribution] = field(default_factory=list)
    done: list[Clock] = field(default_factory=list)


@dataclass(slots=True)
class _Runner:
    index: int
    at: int = 0
    clock: Clock = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    joined: dict[tuple[object, ...], int] = field(default_factory=dict)
    waiting: bool = False
    """True inside a rendezvous that it has arrived at."""


def simulate(protocol: Protocol) -> Outcome:
    """Run one schedule and check that it speaks for all."""
    return _Simulation(protocol).run()


class _Simulation:
    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol
        strands = len(protocol.strands)
        names = {a.barrier for s in protocol.strands for a in s.actions if isinstance(a, Init)}
        self._place = {name: strands + index for index, name in enumerate(sorted(names))}
        size = strands + len(names)
        self._runners = [_Runner(i, clock=np.zeros(size, dtype=np.int32)) for i in range(strands)]
        self._barriers: dict[Barrier, _Mbarrier] = {}
        self._meetings: dict[tuple[object, ...], _Meeting] = {}
        self._problems: list[Problem] = []
        self._equations: dict[tuple[Barrier, str, str], Equation] = {}
        self._steps: list[Step] = []

    def run(self) -> Outcome:
        moved = True
        while moved:
            moved = False
            for runner in self._runners:
                while self._advance(runner):
                    moved = True
            if not moved:
                moved = self._give_up_polls()
        self._report_stuck()
        self._report_unexpected_bytes()
        return Outcome(tuple(self._problems), tuple(self._equations.values()), tuple(self._steps))

    # -- scheduling

    def _actions(self, runner: _Runner) -> tuple[Action, ...]:
        return self._protocol.strands[runner.index].actions

    def _advance(self, runner: _Runner) -> bool:
        """Do the next action of a strand; False when it is blocked or done."""
        actions = self._actions(runner)
        if runner.at >= len(actions):
            return False
        action = actions[runner.at]
        phase = self._do(runner, action)
        if phase is None:
            return False
        runner.at += 1
        runner.clock = runner.clock.copy()
        runner.clock[runner.index] = runner.at
        self._steps.append(Step(runner.index, runner.at - 1, phase if phase >= -1 else None))
        return True

    def _do(self, runner: _Runner, action: Action) -> int | None:
        """Perform an action. None: blocked; -2: done; else the phase that it observed or took part in."""
        match action:
            case Init():
                return self._init(runner, action)
            case Arrive():
                return self._arrive(runner, action)
            case Expect():
                barrier = self._live(runner, action.barrier, action.point)
                if barrier is not None:
                    self._expect(runner, action.barrier, barrier, action.amount, action.point, alone=True)
                return -2
            case Transfer():
                self._transfer(runner, action)
                return -2
            case AsyncArrive():
                return self._arrive(runner, Arrive(action.point, action.barrier, action.count))
            case Wait():
                return self._wait(runner, action)
            case Rendezvous():
                return self._meet(runner, action)
            case Inval():
                self._barriers.pop(action.barrier, None)
                return -2
            case Commit() | WaitGroup():
                return -2

    def _give_up_polls(self) -> bool:
        """Nobody can move: let one poll that was not yet given up return false."""
        for runner in self._runners:
            actions = self._actions(runner)
            if runner.at < len(actions):
                action = actions[runner.at]
                if isinstance(action, Wait) and action.polls:
                    runner.at += 1
                    self._steps.append(Step(runner.index, runner.at - 1, None))
                    return True
        return False

    # -- mbarriers

    def _init(self, runner: _Runner, action: Init) -> int:
        if action.barrier in self._barriers:
            self._problem(
                Flaw.DOUBLE_INIT, runner, action.point, action.barrier, "initialised while it is live"
            )
        self._barriers[action.barrier] = _Mbarrier(action.count, action.count, self._stamp(runner))
        return 0

    def _stamp(self, runner: _Runner) -> Clock:
        """Return the clock of the action that a strand is doing now."""
        clock = runner.clock.copy()
        clock[runner.index] = runner.at + 1
        return clock

    def _live(self, runner: _Runner, name: Barrier, point: int) -> _Mbarrier | None:
        barrier = self._barriers.get(name)
        if barrier is None:
            self._problem(Flaw.UNINITIALISED, runner, point, name, "used before it is initialised")
            return None
        if not _before(barrier.born, runner.clock) and not np.array_equal(barrier.born, runner.clock):
            self._problem(
                Flaw.UNORDERED_INIT, runner, point, name, "nothing orders this use after the initialisation"
            )
        return barrier

    def _arrive(self, runner: _Runner, action: Arrive) -> int:
        barrier = self._live(runner, action.barrier, action.point)
        if barrier is None:
            return -2
        self._after_previous(runner, action.barrier, barrier, action.point, Flaw.EARLY_ARRIVAL)
        phase = barrier.phase
        if action.expect != 0:
            self._expect(runner, action.barrier, barrier, action.expect, action.point, alone=False)
        if action.token >= 0:
            barrier.tokens[(runner.index, action.token)] = phase
        barrier.now.arrivals.append(_Contribution(runner.index, action.point, self._stamp(runner)))
        barrier.pending -= action.count
        if action.drop:
            barrier.count -= action.count
        if barrier.pending < 0:
            self._problem(
                Flaw.OVER_ARRIVAL, runner, action.point, action.barrier,
                f"arrivals of the phase exceed the expected count {barrier.count}", barrier,
            )  # fmt: skip
        self._complete_if_done(action.barrier, barrier)
        return phase

    def _after_previous(
        self, runner: _Runner, name: Barrier, barrier: _Mbarrier, point: int, flaw: Flaw
    ) -> None:
        """Check that what counts in phase k happens after phase k-1 completed."""
        if barrier.phase == 0:
            return
        if not _before(barrier.completions[-1], runner.clock):
            what = "arrival" if flaw is Flaw.EARLY_ARRIVAL else "transfer"
            self._problem(
                flaw, runner, point, name,
                f"nothing orders this {what} after the completion of phase {barrier.phase - 1}: in another "
                f"schedule it counts in that phase", barrier,
            )  # fmt: skip

    def _expect(
        self, runner: _Runner, name: Barrier, barrier: _Mbarrier, amount: Amount, point: int, *, alone: bool
    ) -> None:
        if alone:
            self._after_previous(runner, name, barrier, point, Flaw.EARLY_ARRIVAL)
        barrier.now.expected = plus(barrier.now.expected, amount)
        barrier.now.expects.append(_Contribution(runner.index, point, self._stamp(runner)))
        if isinstance(barrier.now.expected, int) and not 0 <= barrier.now.expected <= _MAX_COUNT:
            self._problem(
                Flaw.TX_RANGE,
                runner,
                point,
                name,
                f"{barrier.now.expected} bytes expected in one phase",
                barrier,
            )
        self._complete_if_done(name, barrier)

    def _transfer(self, runner: _Runner, action: Transfer) -> None:
        for name, amount in action.completes:
            barrier = self._live(runner, name, action.point)
            if barrier is None:
                continue
            self._after_previous(runner, name, barrier, action.point, Flaw.EARLY_TRANSFER)
            barrier.now.completed = plus(barrier.now.completed, amount)
            barrier.now.transfers.append(_Contribution(runner.index, action.point, self._stamp(runner)))
            self._complete_if_done(name, barrier)

    def _complete_if_done(self, name: Barrier, barrier: _Mbarrier) -> None:
        """Complete the phase when no arrival is pending and the bytes balance.

        Symbolic bytes balance when a transfer has been issued for what is expected: the equation goes into
        the contract.
        """
        if barrier.pending > 0:
            return
        phase = barrier.now
        difference = plus(phase.expected, phase.completed, -1)
        if difference != 0 and (isinstance(difference, int) or not phase.transfers):
            return
        if isinstance(difference, Form):
            if not self._all_issued(name):
                return
            equation = Equation(name, phase.expected, phase.completed)
            self._equations.setdefault((name, str(phase.expected), str(phase.completed)), equation)
        self._check_expects(name, barrier)
        self._finish_phase(name, barrier)

    def _all_issued(self, name: Barrier) -> bool:
        """Tell whether no strand that can run without this barrier still has a transfer for its phase.

        With symbolic bytes the end of a phase cannot be counted out; it is put off until every strand is
        blocked or done, which is what `_report_stuck` then resolves.
        """
        return name in self._ready

    _ready: frozenset[Barrier] = frozenset()

    def _check_expects(self, name: Barrier, barrier: _Mbarrier) -> None:
        for expect in barrier.now.expects:
            if not any(_before(expect.clock, arrival.clock) for arrival in barrier.now.arrivals):
                self._problem_at(
                    Flaw.LATE_EXPECT, expect.strand, expect.point, name, barrier.phase,
                    "no arrival of this phase comes after these bytes are expected: the phase can complete "
                    "without them",
                )  # fmt: skip

    def _finish_phase(self, name: Barrier, barrier: _Mbarrier) -> None:
        phase = barrier.now
        parts = [c.clock for c in (*phase.arrivals, *phase.transfers, *phase.expects)]
        clock: Clock = np.maximum.reduce([barrier.born, *parts])
        if barrier.completions:
            clock = np.maximum(clock, barrier.completions[-1])
        if phase.transfers:
            clock[self._place[name]] = barrier.phase + 1
        self._check_missed(name, barrier, clock)
        barrier.completions.append(clock)
        barrier.phase += 1
        barrier.pending = barrier.count
        barrier.now = _Phase()

    def _check_missed(self, name: Barrier, barrier: _Mbarrier, clock: Clock) -> None:
        """The phase after the one that a wait named must complete only after that wait."""
        for wait in barrier.waits.pop(barrier.phase - 1, ()):
            if not _before(wait.clock, clock):
                self._problem_at(
                    Flaw.MISSED_PHASE, wait.strand, wait.point, name, barrier.phase - 1,
                    f"phase {barrier.phase} can complete before this wait has seen phase {barrier.phase - 1}",
                )  # fmt: skip

    def _wait(self, runner: _Runner, action: Wait) -> int | None:
        barrier = self._live(runner, action.barrier, action.point)
        if barrier is None:
            return -2
        named = self._named_phase(runner, action, barrier)
        if named is None:
            return None
        if named >= 1 and not _before(barrier.completions[named - 1], runner.clock):
            self._problem(
                Flaw.EARLY_WAIT, runner, action.point, action.barrier,
                f"nothing orders this wait after the completion of phase {named - 1}: it can pass one phase early",
                barrier,
            )  # fmt: skip
        if named >= 0:
            runner.clock = np.maximum(runner.clock, barrier.completions[named])
        waits = barrier.waits.setdefault(named, [])
        waits.append(_Contribution(runner.index, action.point, self._stamp(runner)))
        return named

    def _named_phase(self, runner: _Runner, action: Wait, barrier: _Mbarrier) -> int | None:
        """Return the completed phase that a wait observes now, or None while it has to wait."""
        if action.parity is None:
            phase = barrier.tokens.get((runner.index, action.token))
            if phase is None:
                self._problem(
                    Flaw.UNINITIALISED, runner, action.point, action.barrier, "state of no arrival", barrier
                )
                return -1
            return phase if phase < barrier.phase else None
        return None if barrier.phase & 1 == action.parity else barrier.phase - 1

    # -- counted barriers

    def _meet(self, runner: _Runner, action: Rendezvous) -> int | None:
        meeting = self._meetings.setdefault(action.name, _Meeting(action.needed))
        if action.arrives and not runner.waiting:
            self._join_meeting(runner, action, meeting)
        if not action.waits:
            return meeting.generation
        generation = runner.joined.get(action.name, 0)
        if meeting.generation <= generation:
            runner.waiting = True
            return None
        runner.waiting = False
        runner.clock = np.maximum(runner.clock, meeting.done[generation])
        return generation

    def _join_meeting(self, runner: _Runner, action: Rendezvous, meeting: _Meeting) -> None:
        if meeting.contributions and meeting.needed != action.needed:
            self._problem(
                Flaw.COUNT_MISMATCH, runner, action.point, action.name,
                f"{action.needed} threads named, {meeting.needed} by others of the same generation",
            )  # fmt: skip
        meeting.needed = action.needed
        if meeting.generation and not _before(meeting.done[-1], runner.clock):
            self._problem(
                Flaw.EARLY_ARRIVAL, runner, action.point, action.name,
                "nothing orders this arrival after the previous generation",
            )  # fmt: skip
        runner.joined[action.name] = meeting.generation
        meeting.contributions.append(_Contribution(runner.index, action.point, self._stamp(runner)))
        meeting.arrived += action.threads
        if meeting.arrived < meeting.needed:
            return
        if meeting.arrived > meeting.needed:
            self._problem(
                Flaw.OVER_ARRIVAL, runner, action.point, action.name,
                f"{meeting.arrived} threads arrive at a barrier of {meeting.needed}",
            )  # fmt: skip
        meeting.done.append(np.maximum.reduce([c.clock for c in meeting.contributions]))
        meeting.generation += 1
        meeting.arrived = 0
        meeting.contributions = []

    # -- reports

    def _problem(
        self,
        flaw: Flaw,
        runner: _Runner,
        point: int,
        name: Barrier | tuple[object, ...] | None,
        detail: str,
        barrier: _Mbarrier | None = None,
    ) -> None:
        self._problem_at(flaw, runner.index, point, name, -1 if barrier is None else barrier.phase, detail)

    def _problem_at(
        self,
        flaw: Flaw,
        strand: int,
        point: int,
        name: Barrier | tuple[object, ...] | None,
        phase: int,
        detail: str,
    ) -> None:
        if not any(p.flaw is flaw and p.point == point and p.barrier == name for p in self._problems):
            self._problems.append(Problem(flaw, strand, point, name, phase, detail))

    def _report_stuck(self) -> None:
        """Every strand is blocked or done: finish phases with symbolic bytes, else report the deadlock."""
        while True:
            symbolic = frozenset(
                name for name, b in self._barriers.items()
                if b.pending <= 0 and b.now.transfers
                and isinstance(plus(b.now.expected, b.now.completed, -1), Form)
            )  # fmt: skip
            if not symbolic:
                break
            self._ready = symbolic
            for name in sorted(symbolic):
                self._complete_if_done(name, self._barriers[name])
            self._ready = frozenset()
            moved = True
            while moved:
                moved = False
                for runner in self._runners:
                    while self._advance(runner):
                        moved = True
                if not moved:
                    moved = self._give_up_polls()
        for runner in self._runners:
            actions = self._actions(runner)
            if runner.at < len(actions):
                self._problems.append(self._stuck(runner, actions[runner.at]))

    def _report_unexpected_bytes(self) -> None:
        """Bytes that nothing expects let the phase complete before they arrive, in another schedule."""
        for name, barrier in sorted(self._barriers.items()):
            if barrier.pending <= 0:
                self._check_expects(name, barrier)
            surplus = plus(barrier.now.completed, barrier.now.expected, -1)
            if barrier.pending <= 0 and isinstance(surplus, int) and surplus > 0:
                transfer = barrier.now.transfers[-1]
                self._problem_at(
                    Flaw.TX_MISMATCH, transfer.strand, transfer.point, name, barrier.phase,
                    f"{barrier.now.completed} bytes complete in phase {barrier.phase}, "
                    f"{barrier.now.expected} are expected",
                )  # fmt: skip

    def _stuck(self, runner: _Runner, action: Action) -> Problem:
        if isinstance(action, Wait):
            barrier = self._barriers[action.barrier]
            detail = f"waits for phase {barrier.phase}: {', '.join(self._missing(barrier))}"
            return Problem(Flaw.DEADLOCK, runner.index, action.point, action.barrier, barrier.phase, detail)
        if isinstance(action, Rendezvous):
            meeting = self._meetings[action.name]
            detail = f"{meeting.arrived} of {meeting.needed} threads have arrived"
            return Problem(Flaw.DEADLOCK, runner.index, action.point, action.name, meeting.generation, detail)
        return Problem(Flaw.DEADLOCK, runner.index, action.point, None, -1, "blocked")

    def _missing(self, barrier: _Mbarrier) -> Iterator[str]:
        if barrier.pending > 0:
            yield f"{barrier.pending} of {barrier.count} arrivals are missing"
        difference = plus(barrier.now.expected, barrier.now.completed, -1)
        if difference != 0:
            yield f"{barrier.now.expected} bytes expected, {barrier.now.completed} complete"


def _before(earlier: Clock, later: Clock) -> bool:
    """Tell whether everything that one clock knows is known to another."""
    return bool((earlier <= later).all())
