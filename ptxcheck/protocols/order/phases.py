"""Phases of mbarriers in one schedule, with the checks that make it speak for all others.

The argument is by induction over the phases of each barrier. What counts in phase k happens after phase k-1
completed (`early arrival`, `early transfer`); expected bytes that are not announced before an arrival of their phase
cannot be left out by any order of the rest (`late expect`), so the phase does not complete without them; and the
phase after the one that a wait names completes only after that wait (`missed phase`), which itself comes after the
phase before (`early wait`), so a parity means one phase. Then what completes a phase is the same set of arrivals and
bytes in every schedule.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from ..model.actions import (
    OBJECT_BYTES,
    Amount,
    Arrive,
    AsyncArrive,
    Barrier,
    Expect,
    Init,
    Span,
    Transfer,
    Wait,
)
from ..model.outcome import (
    LAST_OF_ALL,
    MAX_COUNT,
    Equation,
    Flaw,
)
from ..model.record import Record
from ..symex.values.symbol import Form, plus
from .clock import (
    Clock,
    Components,
    Row,
    executed_before,
    execution_only,
    stamped,
)

_MOST_PARTS = 12
"""So many late expects and transfers of one phase are tried in all combinations."""


@dataclass(slots=True)
class Contribution:
    """Something that counts in a phase: who, where, what it knows to have happened, and its bytes."""

    strand: int
    point: int
    clock: Clock
    amount: Amount = 0
    completes: bool = True
    """False for an arrival that must not be the last one of the phase."""
    alike: tuple[str, int] | None = None
    """Pipeline and count of an arrival that comes when all earlier work of its strand in the pipeline is done."""


@dataclass(slots=True)
class _Phase:
    arrivals: list[Contribution] = field(default_factory=list)
    expects: list[Contribution] = field(default_factory=list)
    raises: list[tuple[Contribution, Contribution]] = field(default_factory=list)
    """Increments of the pending count, each with the arrival that takes it back."""
    transfers: list[Contribution] = field(default_factory=list)
    expected: Amount = 0
    completed: Amount = 0
    is_asynchronous: bool = False
    """True when the end of the phase depends on work that nobody has to wait for."""


@dataclass(slots=True)
class Mbarrier:
    """One live mbarrier."""

    count: int
    pending: int
    born: Clock
    maker: int
    made: int
    """Strand that initialised it, and the number of its action, counted from one."""
    is_fenced: bool
    """Its maker had fenced initialisations before: of other mbarriers."""
    lived: int = 0
    """Phases that completed before it was initialised: of earlier mbarriers at the same place."""
    overwritten: tuple[int, int] | None = None
    """Strand and point of an access of its bytes."""
    last_asynchronous: int = 0
    """Phases up to the last that depended on asynchronous work."""
    phase: int = 0
    now: _Phase = field(default_factory=_Phase)
    completions: list[Clock] = field(default_factory=list)
    last: _Phase | None = None
    """The phase that completed last."""
    tokens: dict[tuple[int, int], int] = field(default_factory=dict)
    waits: dict[int, list[Contribution]] = field(default_factory=dict)
    users: dict[int, int] = field(default_factory=dict)
    """For each strand, the number of its last action on it, counted from one."""
    seen: dict[int, int] = field(default_factory=dict)
    """For each strand, the last phase that a wait of it observed."""
    is_over: bool = False
    """Invalidated, or initialised again."""

    def phase_of(self, strand: int, token: int) -> int | None:
        """Return the phase that a state names: of an arrival by the strand, or by those that have handed it on."""
        own = self.tokens.get((strand, token))
        if own is not None:
            return own
        others = {phase for (_, number), phase in self.tokens.items() if number == token}
        return others.pop() if len(others) == 1 else None

    @property
    def state(self) -> tuple[object, ...]:
        """Return what decides whether a wait is over, and what is found out about it."""
        return self.phase, self.overwritten, self.is_over, len(self.tokens)


class Actor:
    """Who acts now: a strand, the number of its action, what it knows before, and what relaxed arrivals publish."""

    __slots__ = ("_components", "_stamp", "clock", "number", "released", "strand")

    def __init__(
        self, components: Components, strand: int, number: int, clock: Clock, released: Clock
    ) -> None:
        self.strand = strand
        self.number = number
        """Counted from one."""
        self.clock = clock
        self.released = released
        self._components = components
        self._stamp: Clock | None = None

    @property
    def stamp(self) -> Clock:
        """What is known after the action, and handed on."""
        if self._stamp is None:
            self._stamp = stamped(self.clock, self.strand, self.number)
            self._components.publish(self._stamp, self.strand)
        return self._stamp


class Phases:
    """All mbarriers of a schedule."""

    def __init__(self, components: Components, record: Record) -> None:
        self._components = components
        self._record = record
        self.live: dict[Barrier, Mbarrier] = {}
        self._offsets: dict[int, list[int]] = {}
        """Places of the live mbarriers of each CTA, in order."""
        self.equations: dict[tuple[Barrier, str, str], Equation] = {}
        self._balanced_by_host: AbstractSet[Barrier] = frozenset()
        self._lived: dict[Barrier, int] = {}
        self._init_fences: set[int] = set()
        """Strands that have fenced initialisations."""
        self._outstanding: dict[Barrier, int] = {}
        """Places of invalidated mbarriers, with the phases that must be known to be over; -1: never."""

    def present(self, name: Barrier) -> int:
        """Return the phase that an mbarrier is in, 0 when it is not live."""
        barrier = self.live.get(name)
        return 0 if barrier is None else barrier.phase

    def completed_by(self, name: Barrier, phase: int) -> int:
        """Return how many phases have completed at a place when a phase of the present mbarrier has."""
        barrier = self.live.get(name)
        return phase + 1 + (barrier.lived if barrier is not None else 0)

    # -- actions

    def fence_inits(self, strand: int) -> None:
        """Note that a strand fences its initialisations."""
        self._init_fences.add(strand)

    def init(self, actor: Actor, action: Init) -> None:
        if action.barrier in self.live:
            self._problem(
                Flaw.DOUBLE_INIT, actor, action.point, action.barrier, "initialised while it is live", happened=True
            )  # fmt: skip
        self._check_place(actor, action.barrier, action.point)
        if not 1 <= action.count <= MAX_COUNT:
            text = f"an expected count of {action.count} is outside 1 to {MAX_COUNT}"
            self._problem(Flaw.TX_RANGE, actor, action.point, action.barrier, text, happened=True)
        made = actor.number
        before = self.live.get(action.barrier)
        if before is not None:
            before.is_over = True
        else:
            insort(self._offsets.setdefault(action.barrier.cta, []), action.barrier.offset)
        self.live[action.barrier] = Mbarrier(
            action.count, action.count, actor.stamp, actor.strand, made, actor.strand in self._init_fences,
            self._lived.get(action.barrier, 0),
        )  # fmt: skip

    def invalidate(self, actor: Actor, name: Barrier, point: int) -> None:
        barrier = self._find(actor, name, point)
        if barrier is not None:
            self._check_users(
                actor, name, barrier, point, "nothing orders the invalidation after its last use"
            )
            self._lived[name] = barrier.lived + barrier.phase
            self._check_outstanding(actor, name, barrier, point)
            barrier.is_over = True
            del self.live[name]
            self._offsets[name.cta].remove(name.offset)

    def arrive(self, actor: Actor, action: Arrive) -> int | None:
        """Count an arrival; return its phase, None when the barrier is not live."""
        barrier = self._find(actor, action.barrier, action.point)
        if barrier is None:
            return None
        self._after_previous(actor, action.barrier, barrier, action.point, Flaw.EARLY_ARRIVAL)
        phase = barrier.phase
        published = actor.stamp if action.releases else execution_only(actor.stamp, actor.released)
        if not action.wide and not self._components.is_in(actor.strand, action.barrier.cta):
            published = published.copy()
            published[Row.WIDE] = 0
        if action.expect != 0:
            self._announce(actor, action.barrier, barrier, action.expect, action.point)
        if action.token >= 0:
            barrier.tokens[(actor.strand, action.token)] = phase
        if not action.completes and action.count >= barrier.pending:
            self._problem(
                Flaw.OVER_ARRIVAL, actor, action.point, action.barrier, LAST_OF_ALL, barrier, happened=True
            )
        if action.count < 1:
            text = f"an arrival of {action.count} is outside 1 to {MAX_COUNT}"
            self._problem(Flaw.TX_RANGE, actor, action.point, action.barrier, text, barrier, happened=True)
        arrival = self._count_arrival(actor, action.barrier, barrier, action.point, action.count, published)
        arrival.completes = action.completes
        if action.drop:
            barrier.count -= action.count
        self._complete_if_done(action.barrier, barrier)
        return phase

    def arrive_later(self, actor: Actor, action: AsyncArrive, done: Clock) -> int | None:
        """Count an arrival of asynchronous work that publishes `done` alone; return its phase."""
        barrier = self._find(actor, action.barrier, action.point)
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
            arrival.alike = action.pipeline, action.count
        self._complete_if_done(action.barrier, barrier)
        return phase

    def expect(self, actor: Actor, action: Expect) -> int | None:
        barrier = self._find(actor, action.barrier, action.point)
        if barrier is None:
            return None
        self._after_previous(actor, action.barrier, barrier, action.point, Flaw.EARLY_ARRIVAL)
        phase = barrier.phase
        self._announce(actor, action.barrier, barrier, action.amount, action.point)
        self._complete_if_done(action.barrier, barrier)
        return phase

    def transfer(self, actor: Actor, action: Transfer, name: Barrier, amount: Amount) -> int | None:
        """Complete bytes; return the phase in which they count."""
        barrier = self._find(actor, name, action.point)
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
        barrier = self._find(actor, action.barrier, action.point)
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
            self._problem(Flaw.EARLY_WAIT, actor, action.point, action.barrier, text, barrier)
        if 0 <= named < barrier.phase - 1:
            text = f"the state names phase {named}, and phase {barrier.phase} is under way"
            self._problem(
                Flaw.MISSED_PHASE, actor, action.point, action.barrier, text, barrier, happened=True
            )
        barrier.seen[actor.strand] = named
        waits = barrier.waits.setdefault(named, [])
        waits.append(Contribution(actor.strand, action.point, actor.stamp))
        return named, barrier.completions[named] if named >= 0 else None

    # -- the ends of phases

    def balanced_by_host(self) -> frozenset[Barrier]:
        """Return the mbarriers whose phase ends if the host says that its symbolic bytes balance."""
        return frozenset(
            name for name, b in self.live.items()
            if b.pending <= 0 and b.now.transfers
            and isinstance(plus(b.now.expected, b.now.completed, -1), Form)
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
            self._check_expects(name, barrier)
            if barrier.now.transfers and self._can_leave_out(barrier, ()):
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
        if plus(barrier.now.expected, barrier.now.completed, -1) != 0:
            yield f"{barrier.now.expected} bytes expected, {barrier.now.completed} complete"

    # -- inside

    def _find(self, actor: Actor, name: Barrier, point: int) -> Mbarrier | None:
        barrier = self.live.get(name)
        if barrier is None:
            text = "used before it is initialised"
            self._problem(Flaw.UNINITIALISED, actor, point, name, text, happened=True)
            return None
        if actor.clock[Row.INITIALISED, barrier.maker] < barrier.made:
            known = actor.clock[Row.EXECUTED, barrier.maker] >= barrier.made
            text = (
                "nothing makes the initialisation visible to this use" if known
                else "nothing orders this use after the initialisation"
            )  # fmt: skip
            self._record.add(
                Flaw.UNORDERED_INIT, actor.strand, point, name, -1, text, happened=True,
                related=((barrier.maker, point),), strict=known and barrier.is_fenced,
            )  # fmt: skip
        if barrier.overwritten is not None:
            strand, where = barrier.overwritten
            text = "accesses the bytes of a live mbarrier, which is used again"
            self._record.add(
                Flaw.BARRIER_OVERWRITTEN, strand, where, name, barrier.phase, text, happened=True,
                related=((actor.strand, point),),
            )  # fmt: skip
        barrier.users[actor.strand] = actor.number
        return barrier

    def _count_arrival(
        self, actor: Actor, name: Barrier, barrier: Mbarrier, point: int, count: int, published: Clock
    ) -> Contribution:
        arrival = Contribution(actor.strand, point, published)
        barrier.now.arrivals.append(arrival)
        barrier.pending -= count
        if barrier.pending < 0:
            text = f"arrivals of the phase exceed the expected count {barrier.count}"
            self._problem(Flaw.OVER_ARRIVAL, actor, point, name, text, barrier, happened=True)
        return arrival

    def _announce(self, actor: Actor, name: Barrier, barrier: Mbarrier, amount: Amount, point: int) -> None:
        barrier.now.expected = plus(barrier.now.expected, amount)
        published = execution_only(actor.stamp, actor.released)
        barrier.now.expects.append(Contribution(actor.strand, point, published, amount))
        if isinstance(barrier.now.expected, int) and not -MAX_COUNT <= barrier.now.expected <= MAX_COUNT:
            text = f"{barrier.now.expected} bytes expected in one phase"
            self._problem(Flaw.TX_RANGE, actor, point, name, text, barrier, happened=True)

    def _after_previous(self, actor: Actor, name: Barrier, barrier: Mbarrier, point: int, flaw: Flaw) -> None:
        """Check that what counts in phase k happens after phase k-1 completed."""
        if barrier.phase and not executed_before(barrier.completions[-1], actor.clock):
            what = "arrival" if flaw is Flaw.EARLY_ARRIVAL else "transfer"
            text = (
                f"nothing orders this {what} after the completion of phase {barrier.phase - 1}: in another "
                f"schedule it counts in that phase"
            )
            self._problem(flaw, actor, point, name, text, barrier)

    def _is_in_order(self, actor: Actor, barrier: Mbarrier, alike: tuple[str, int]) -> bool:
        """Tell whether only earlier arrivals by the same pipeline of a thread kept the phase before from its end.

        Such arrivals are alike, and what the later one tells includes what the earlier one does: it does not matter
        which of them counts first. Those of several lanes are not, as one lane may be done twice before another is.
        """
        last = barrier.last
        _, threads = alike
        if last is None or last.transfers or last.raises or threads != 1:
            return False
        own = actor.strand, alike
        others = [each for each in last.arrivals if (each.strand, each.alike) != own]
        return all(each.alike is None for each in others) and all(
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
        self._check_expects(name, barrier)
        self._check_last(name, barrier)
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
        self._check_missed(name, barrier, clock)
        barrier.completions.append(clock)
        barrier.phase += 1
        barrier.pending = barrier.count
        barrier.last, barrier.now = phase, _Phase()

    def _check_missed(self, name: Barrier, barrier: Mbarrier, clock: Clock) -> None:
        """The phase after the one that a wait named must complete only after that wait."""
        for wait in barrier.waits.pop(barrier.phase - 1, ()):
            if not executed_before(wait.clock, clock):
                self._record.add(
                    Flaw.MISSED_PHASE, wait.strand, wait.point, name, barrier.phase - 1,
                    f"phase {barrier.phase} can complete before this wait has seen phase {barrier.phase - 1}",
                )  # fmt: skip

    def _named_phase(self, actor: Actor, action: Wait, barrier: Mbarrier) -> int | None:
        """Return the completed phase that a wait observes now, or None while it has to wait."""
        if action.parity is not None:
            return None if barrier.phase & 1 == action.parity else barrier.phase - 1
        phase = barrier.phase_of(actor.strand, action.token)
        if phase is None and (action.barrier, action.token) in self._components.states:
            return None  # of an arrival to come, whose state is handed on
        if phase is None:
            text = "waits for the state of no arrival at this barrier"
            self._problem(
                Flaw.UNINITIALISED, actor, action.point, action.barrier, text, barrier, happened=True
            )
            return -1
        return phase if phase < barrier.phase else None

    # -- expected bytes that come late

    def _check_expects(self, name: Barrier, barrier: Mbarrier) -> None:
        now = barrier.now
        late = [e for e in now.expects if not _before_any(e, now.arrivals)]
        for each in _late_raises(now):
            self._report_late(name, barrier, each, "this arrival is announced")
        if not late or not self._can_leave_out(barrier, late):
            return
        for each in late:
            self._report_late(name, barrier, each, "these bytes are expected")

    def _check_last(self, name: Barrier, barrier: Mbarrier) -> None:
        """Check that in every schedule an arrival that may complete the phase comes behind those that must not."""
        last = [arrival for arrival in barrier.now.arrivals if arrival.completes]
        for each in barrier.now.arrivals:
            if not each.completes and not _before_any(each, last):
                text = f"{LAST_OF_ALL} in another schedule"
                self._record.add(Flaw.OVER_ARRIVAL, each.strand, each.point, name, barrier.phase, text)

    def _report_late(self, name: Barrier, barrier: Mbarrier, late: Contribution, what: str) -> None:
        self._record.add(
            Flaw.LATE_EXPECT, late.strand, late.point, name, barrier.phase,
            f"no arrival of this phase comes after {what}: the phase can complete without them",
        )  # fmt: skip

    def _can_leave_out(self, barrier: Mbarrier, late: Sequence[Contribution]) -> bool:
        """Tell whether the bytes balance at some moment at which not all late expects have been executed.

        All arrivals have happened by then, and what they know of. Any set of the rest that contains what its
        members know of may have happened. Without late expects: at which some transfer has not completed.
        """
        parts = [*late, *barrier.now.transfers]
        if len(parts) > _MOST_PARTS:
            return True
        total = plus(barrier.now.expected, barrier.now.completed, -1)
        balance: Amount = 0 if isinstance(total, Form) else total  # balanced by the host
        expects = len(late)
        for size in range(1, len(parts) + 1):
            for left in combinations(range(len(parts)), size):
                if (late and left[0] >= expects) or not _is_closed(parts, left, expects):
                    continue
                without: Amount = 0
                for each in left:
                    without = plus(without, parts[each].amount, -1 if each < expects else 1)
                if _may_balance(plus(balance, without), plus(total, without)):
                    return True
        return False

    def _check_users(self, actor: Actor, name: Barrier, barrier: Mbarrier, point: int, text: str) -> bool:
        """Check that all that has been done to a barrier is known to have been; False when it is not."""
        for strand, last in sorted(barrier.users.items()):
            if strand != actor.strand and actor.clock[Row.EXECUTED, strand] < last:
                self._problem(
                    Flaw.EARLY_INVALIDATION, actor, point, name, text, barrier, happened=True,
                    related=((strand, point),),
                )  # fmt: skip
                return False
        return True

    def _check_outstanding(self, actor: Actor, name: Barrier, barrier: Mbarrier, point: int) -> None:
        """Note asynchronous work that may complete on a barrier when it is no more.

        Released kernels end that way. It is wrong where another mbarrier takes the place.
        """
        place = self._components.bytes_of(name)
        last = barrier.lived + barrier.last_asynchronous
        if barrier.now.is_asynchronous:
            self._outstanding[name] = -1
        elif place is not None and actor.clock[Row.EXECUTED, place] < last:
            self._outstanding[name] = last
        else:
            return
        text = "asynchronous work may complete on this mbarrier when it is invalidated"
        self._record.add(
            Flaw.EARLY_INVALIDATION,
            actor.strand,
            point,
            name,
            barrier.phase,
            text,
            happened=True,
            strict=True,
        )

    def _check_place(self, actor: Actor, name: Barrier, point: int) -> None:
        """Check that no work for an earlier mbarrier at the same place may be outstanding."""
        last = self._outstanding.pop(name, None)
        place = self._components.bytes_of(name)
        if last is not None and (last < 0 or place is None or actor.clock[Row.EXECUTED, place] < last):
            text = "asynchronous work for an earlier mbarrier at this place may complete on it"
            self._problem(Flaw.EARLY_INVALIDATION, actor, point, name, text, happened=True)

    def touch(self, actor: Actor, point: int, spans: Iterable[Span]) -> None:
        """Note an access of certain bytes. Those of a live mbarrier may be reused without invalidation after its
        last use, though the PTX ISA asks for one."""
        for span in spans:
            for name in self._live_in(span):
                barrier = self.live[name]
                if barrier.overwritten is not None:
                    continue
                barrier.overwritten = (actor.strand, point)
                text = "accesses the bytes of a live mbarrier, and nothing orders that after its last use"
                if self._check_users(actor, name, barrier, point, text):
                    text = "accesses the bytes of an mbarrier that is not invalidated"
                    self._record.add(
                        Flaw.BARRIER_OVERWRITTEN, actor.strand, point, name, barrier.phase, text, strict=True,
                        happened=True,
                    )  # fmt: skip

    def _live_in(self, span: Span) -> list[Barrier]:
        """Return the live mbarriers of which a span covers bytes."""
        places = self._offsets.get(span.cta)
        if places is None or not span.size:
            return []
        first = bisect_right(places, span.start - OBJECT_BYTES)
        last = bisect_left(places, span.end, lo=first)
        return [Barrier(span.cta, offset) for offset in places[first:last]]

    def _problem(
        self,
        flaw: Flaw,
        actor: Actor,
        point: int,
        name: Barrier,
        detail: str,
        barrier: Mbarrier | None = None,
        *,
        happened: bool = False,
        related: tuple[tuple[int, int], ...] = (),
    ) -> None:
        phase = -1 if barrier is None else barrier.phase
        self._record.add(flaw, actor.strand, point, name, phase, detail, happened=happened, related=related)


def _may_balance(*forms: Amount) -> bool:
    """Tell whether bytes may be zero, given in forms that equations make equal: not when one is another number."""
    return all(isinstance(form, Form) or form == 0 for form in forms)


def _late_raises(phase: _Phase) -> list[Contribution]:
    """Return increments that the phase can do without, together with the arrivals that take them back."""
    paired = {id(arrival) for _, arrival in phase.raises}
    sure = [arrival for arrival in phase.arrivals if id(arrival) not in paired]
    late = list(phase.raises)
    while held := [pair for pair in late if _before_any(pair[0], sure)]:
        sure += [arrival for _, arrival in held]
        late = [pair for pair in late if not any(pair is each for each in held)]
    return [increment for increment, _ in late]


def _before_any(one: Contribution, others: Sequence[Contribution]) -> bool:
    return any(executed_before(one.clock, other.clock) for other in others)


def _is_closed(parts: Sequence[Contribution], left: tuple[int, ...], expects: int) -> bool:
    """Tell whether nothing that has happened knows of an expect that has not."""
    happened = [part for index, part in enumerate(parts) if index not in left]
    return not any(
        executed_before(parts[each].clock, other.clock)
        for each in left
        if each < expects
        for other in happened
    )
