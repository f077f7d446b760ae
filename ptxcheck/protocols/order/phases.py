"""Phases of mbarriers in one schedule, with the checks that make it speak for all others.

Property: without a problem, in every schedule each arrival, expect and transfer counts in the same phase as here, and
each wait observes the same one.

Argument: by induction over the phases of each barrier. What counts in phase k happens after phase k-1 completed
(`early arrival`, `early transfer`); expected bytes that are not announced before an arrival of their phase cannot be
left out by any order of the rest (`late expect`), so the phase does not complete without them; and the phase after the
one that a wait names completes only after that wait (`missed phase`), which itself comes after the phase before
(`early wait`), so a parity means one phase. Then what completes a phase is the same set of arrivals and bytes in every
schedule. `phase_ends` has the checks at the end of a phase.

Not covered: that symbolic bytes balance. Each phase that ends with them leaves an equation that the host must meet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

import numpy as np

from ..model.actions import (
    Amount,
    Arrive,
    AsyncArrive,
    Barrier,
    Expect,
    Transfer,
    Wait,
)
from ..model.equations import never_zero
from ..model.outcome import (
    LAST_OF_ALL,
    MAX_COUNT,
    Equation,
    Flaw,
)
from ..model.record import Record
from ..symex.values.symbol import Form, plus
from .actor import Actor
from .clock import (
    CLUSTER_ROWS,
    Clock,
    Components,
    Row,
    executed_before,
    execution_only,
    relaxed,
)
from .mbarrier_lifetimes import Lifetimes
from .mbarrier_state import Contribution, Mbarrier, Phase, note
from .phase_ends import can_leave_out, check_expects, check_last, check_missed


class Phases:
    """The phases of all mbarriers of a schedule."""

    def __init__(self, components: Components, record: Record, lifetimes: Lifetimes) -> None:
        self._components = components
        self._record = record
        self._lifetimes = lifetimes
        self.live: Mapping[Barrier, Mbarrier] = lifetimes.live
        self.equations: dict[tuple[Barrier, str, str], Equation] = {}
        self._balanced_by_host: AbstractSet[Barrier] = frozenset()

    def present(self, name: Barrier) -> int:
        """Return the phase that an mbarrier is in, 0 when it is not live."""
        barrier = self.live.get(name)
        return 0 if barrier is None else barrier.phase

    def completed_by(self, name: Barrier, phase: int) -> int:
        """Return how many phases have completed at a place when a phase of the present mbarrier has."""
        barrier = self.live.get(name)
        return phase + 1 + (barrier.lived if barrier is not None else 0)

    # -- actions

    def arrive(self, actor: Actor, action: Arrive) -> int | None:
        """Count an arrival; return its phase, None when the barrier is not live."""
        barrier = self._lifetimes.find(actor, action.barrier, action.point)
        if barrier is None:
            return None
        self._after_previous(actor, action.barrier, barrier, action.point, Flaw.EARLY_ARRIVAL)
        phase = barrier.phase
        published = self._published(actor, action)
        if action.beside:
            published = published.copy()
            for strand, number in action.beside:
                published[Row.EXECUTED, strand] = max(published[Row.EXECUTED, strand], number)
        if action.expect != 0:
            self._announce(actor, action.barrier, barrier, action.expect, action.point)
        if action.token >= 0:
            barrier.tokens[(actor.strand, action.token)] = phase
        if not action.completes and action.count >= barrier.pending:
            text = LAST_OF_ALL
            note(
                self._record, Flaw.OVER_ARRIVAL, actor, action.point, action.barrier, text, barrier, happened=True
            )  # fmt: skip
        if action.count < 1:
            text = f"an arrival of {action.count} is outside 1 to {MAX_COUNT}"
            note(
                self._record, Flaw.TX_RANGE, actor, action.point, action.barrier, text, barrier, happened=True
            )
        arrival = self._count_arrival(actor, action.barrier, barrier, action.point, action.count, published)
        arrival.completes = action.completes
        if action.drop:
            barrier.count -= action.count
        self._complete_if_done(action.barrier, barrier)
        return phase

    def _published(self, actor: Actor, action: Arrive) -> Clock:
        """Return what an arrival publishes; what is in order goes no further than the CTA where nothing releases it."""
        is_far = not self._components.is_in(actor.strand, action.barrier.cta)
        if not action.releases:
            published = (execution_only if is_far else relaxed)(actor.stamp, actor.released)
        else:
            published = actor.stamp
        if not action.wide:
            published = published.copy()
            published[Row.RELEASED] = actor.clock[Row.RELEASED]
            if is_far:
                published[CLUSTER_ROWS] = 0
                published[Row.IN_ORDER] = actor.released[Row.IN_ORDER]
        return published

    def arrive_later(self, actor: Actor, action: AsyncArrive, done: Clock) -> int | None:
        """Count an arrival of asynchronous work that publishes `done` alone; return its phase."""
        barrier = self._lifetimes.find(actor, action.barrier, action.point)
        if barrier is None:
            return None
        if action.increments or not self._is_in_order(actor, barrier, (action.pipeline, action.count)):
            self._after_previous(actor, action.barrier, barrier, action.point, Flaw.EARLY_ARRIVAL)
        phase = barrier.phase
        published = np.maximum(done, self._components.of_asynchronous_work(actor.stamp))
        if action.increments:
            barrier.pending += action.count
        barrier.now.is_asynchronous = True
        arrival = self._count_arrival(actor, action.barrier, barrier, action.point, action.count, published)
        if action.increments:
            barrier.now.raises.append((Contribution(actor.strand, action.point, actor.stamp), arrival))
        else:
            arrival.commits = action.pipeline, action.count
        self._complete_if_done(action.barrier, barrier)
        return phase

    def expect(self, actor: Actor, action: Expect) -> int | None:
        barrier = self._lifetimes.find(actor, action.barrier, action.point)
        if barrier is None:
            return None
        self._after_previous(actor, action.barrier, barrier, action.point, Flaw.EARLY_ARRIVAL)
        phase = barrier.phase
        self._announce(actor, action.barrier, barrier, action.amount, action.point)
        self._complete_if_done(action.barrier, barrier)
        return phase

    def transfer(self, actor: Actor, action: Transfer, name: Barrier, amount: Amount) -> int | None:
        """Complete bytes; return the phase in which they count."""
        barrier = self._lifetimes.find(actor, name, action.point)
        if barrier is None:
            return None
        self._after_previous(actor, name, barrier, action.point, Flaw.EARLY_TRANSFER)
        phase = barrier.phase
        barrier.now.completed = plus(barrier.now.completed, amount)
        published = self._components.of_asynchronous_work(actor.stamp)
        barrier.now.transfers.append(Contribution(actor.strand, action.point, published, amount))
        barrier.now.is_asynchronous = True
        self._complete_if_done(name, barrier)
        return phase

    def wait(self, actor: Actor, action: Wait) -> tuple[int, Clock | None] | None:
        """Return the phase that a wait observes and what its completion publishes; None while it has to wait."""
        barrier = self._lifetimes.find(actor, action.barrier, action.point)
        if barrier is None:
            return -1, None
        named = self._named_phase(actor, action, barrier)
        if named is None:
            return None
        if (
            action.parity is not None
            and named >= 1
            and not executed_before(barrier.completions[named - 1], actor.clock)
        ):
            text = f"nothing orders this wait after the completion of phase {named - 1}: it can pass one phase early"
            note(self._record, Flaw.EARLY_WAIT, actor, action.point, action.barrier, text, barrier)
        if 0 <= named < barrier.phase - 1:
            text = f"the state names phase {named}, and phase {barrier.phase} is under way"
            note(
                self._record,
                Flaw.MISSED_PHASE,
                actor,
                action.point,
                action.barrier,
                text,
                barrier,
                happened=True,
            )
        barrier.seen[actor.strand] = named
        waits = barrier.waits.setdefault(named, [])
        waits.append(Contribution(actor.strand, action.point, actor.stamp))
        return named, barrier.completions[named] if named >= 0 else None

    # -- the ends of phases

    def balanced_by_host(self) -> frozenset[Barrier]:
        """Return the mbarriers whose phase ends if the host says that its symbolic bytes balance, as it may."""
        return frozenset(
            name for name, b in self.live.items()
            if b.pending <= 0 and b.now.transfers
            and isinstance(difference := plus(b.now.expected, b.now.completed, -1), Form)
            and not never_zero(difference)
        )  # fmt: skip

    def settle(self, balanced: AbstractSet[Barrier]) -> None:
        """Nothing moves any more: end phases whose symbolic bytes balance if the host says so."""
        self._balanced_by_host = balanced
        for name in sorted(balanced):
            self._complete_if_done(name, self.live[name])
        self._balanced_by_host = frozenset()

    def check_rest(self) -> None:
        """Check phases that did not complete: in another schedule they may, before all their bytes have come."""
        for name, barrier in sorted(self.live.items()):
            if barrier.pending > 0:
                continue
            check_expects(self._record, name, barrier)
            if barrier.now.transfers and can_leave_out(barrier, ()):
                transfer = barrier.now.transfers[-1]
                self._record.add(
                    Flaw.TX_MISMATCH, transfer.strand, transfer.point, name, barrier.phase,
                    f"{barrier.now.completed} bytes complete in phase {barrier.phase}, "
                    f"{barrier.now.expected} are expected",
                )  # fmt: skip

    def missing(self, name: Barrier) -> Iterator[str]:
        """Say what the present phase of a barrier lacks."""
        barrier = self.live[name]
        if barrier.pending > 0:
            yield f"{barrier.pending} of {barrier.count} arrivals are missing"
        if self.lacks_bytes(name):
            yield f"{barrier.now.expected} bytes expected, {barrier.now.completed} complete"

    def lacks_bytes(self, name: Barrier) -> bool:
        """Tell whether other bytes are expected in the present phase of a barrier than have completed."""
        now = self.live[name].now
        return plus(now.expected, now.completed, -1) != 0

    # -- inside

    def _count_arrival(
        self, actor: Actor, name: Barrier, barrier: Mbarrier, point: int, count: int, published: Clock
    ) -> Contribution:
        arrival = Contribution(actor.strand, point, published)
        barrier.now.arrivals.append(arrival)
        barrier.pending -= count
        if barrier.pending < 0:
            text = f"arrivals of the phase exceed the expected count {barrier.count}"
            note(self._record, Flaw.OVER_ARRIVAL, actor, point, name, text, barrier, happened=True)
        return arrival

    def _announce(self, actor: Actor, name: Barrier, barrier: Mbarrier, amount: Amount, point: int) -> None:
        barrier.now.expected = plus(barrier.now.expected, amount)
        published = relaxed(actor.stamp, actor.released)
        barrier.now.expects.append(Contribution(actor.strand, point, published, amount))
        if isinstance(barrier.now.expected, int) and not -MAX_COUNT <= barrier.now.expected <= MAX_COUNT:
            text = f"{barrier.now.expected} bytes expected in one phase"
            note(self._record, Flaw.TX_RANGE, actor, point, name, text, barrier, happened=True)

    def _after_previous(self, actor: Actor, name: Barrier, barrier: Mbarrier, point: int, flaw: Flaw) -> None:
        """Check that what counts in phase k happens after phase k-1 completed."""
        if barrier.phase and not executed_before(barrier.completions[-1], actor.clock):
            what = "arrival" if flaw is Flaw.EARLY_ARRIVAL else "transfer"
            text = (
                f"nothing orders this {what} after the completion of phase {barrier.phase - 1}: in another "
                f"schedule it counts in that phase"
            )
            note(self._record, flaw, actor, point, name, text, barrier)

    def _is_in_order(self, actor: Actor, barrier: Mbarrier, commits: tuple[str, int]) -> bool:
        """Tell whether only earlier arrivals by the same pipeline of a thread kept the phase before from its end.

        Such arrivals are alike, and what the later one tells includes what the earlier one does: it does not matter
        which of them counts first. Those of several lanes are not, as one lane may be done twice before another is.
        """
        last = barrier.last
        _, threads = commits
        if last is None or last.transfers or last.raises or threads != 1:
            return False
        own = actor.strand, commits
        others = [each for each in last.arrivals if (each.strand, each.commits) != own]
        return all(each.commits is None for each in others) and all(
            executed_before(clock, actor.clock)
            for clock in (*(each.clock for each in (*others, *last.expects)), *barrier.completions[-2:-1])
        )

    def _complete_if_done(self, name: Barrier, barrier: Mbarrier) -> None:
        """Complete the phase when no arrival is pending and the bytes balance.

        Symbolic bytes balance when a transfer has been issued for what is expected and nothing else can move
        (`settle`): the equation goes into the contract.
        """
        if barrier.pending > 0:
            return
        phase = barrier.now
        difference = plus(phase.expected, phase.completed, -1)
        if isinstance(difference, Form):
            if name not in self._balanced_by_host:
                return
            equation = Equation(name, phase.expected, phase.completed)
            self.equations.setdefault((name, str(phase.expected), str(phase.completed)), equation)
        elif difference != 0:
            return
        check_expects(self._record, name, barrier)
        check_last(self._record, name, barrier)
        self._finish(name, barrier)

    def _finish(self, name: Barrier, barrier: Mbarrier) -> None:
        phase = barrier.now
        parts = [c.clock for c in (*phase.arrivals, *phase.transfers, *phase.expects)]
        clock: Clock = np.maximum.reduce([execution_only(barrier.born, self._components.zero()), *parts])
        if barrier.completions:
            before = barrier.completions[-1]
            clock[Row.EXECUTED] = np.maximum(clock[Row.EXECUTED], before[Row.EXECUTED])
        place = self._components.bytes_of(name)
        if phase.is_asynchronous and place is not None:
            barrier.last_asynchronous = barrier.phase + 1
            clock[:, place] = barrier.lived + barrier.phase + 1
        check_missed(self._record, name, barrier, clock)
        barrier.completions.append(clock)
        barrier.phase += 1
        barrier.pending = barrier.count
        barrier.last, barrier.now = phase, Phase()

    def _named_phase(self, actor: Actor, action: Wait, barrier: Mbarrier) -> int | None:
        """Return the completed phase that a wait observes now, or None while it has to wait."""
        if action.parity is not None:
            return None if barrier.phase & 1 == action.parity else barrier.phase - 1
        phase = barrier.phase_of(actor.strand, action.token)
        if phase is None and (action.barrier, action.token) in self._components.states:
            return None  # of an arrival to come, whose state is handed on
        if phase is None:
            text = "waits for the state of no arrival at this barrier"
            note(
                self._record,
                Flaw.UNINITIALISED,
                actor,
                action.point,
                action.barrier,
                text,
                barrier,
                happened=True,
            )
            return -1
        return phase if phase < barrier.phase else None
