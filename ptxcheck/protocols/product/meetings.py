"""Counted barriers, generation after generation, as `order.counted_barriers` has them.

Property: where no step fails, every schedule forms the same generations of the same arrivals.

Argument: where the same strands meet each time and all of them wait, each has left the generation before when it
comes again. Elsewhere each arrival knows that the generation before it is complete, by the landmark of that or by
those of all its arrivals (who knows of a later arrival of the same strand knows that the generation was over). A
strand that has ended counts for every generation that it did not arrive in, at barriers that count the rest.

Not covered: lanes that come to an aligned barrier apart from the others of their warp.
"""

from __future__ import annotations

from ..model.outcome import Flaw
from ..model.sync_objects import ClusterBarrier, NamedBarrier
from ..order.counted_barriers import counted
from .operations import MeetStep, Unproved
from .rows import Bits
from .state import Meet, State

BLOCKED, DONE = 0, 1
_OF_WARPS = NamedBarrier | ClusterBarrier


def meet(state: State, strand: int, step: MeetStep) -> int:
    """Arrive, and wait where that is asked for."""
    own = 1 << strand
    if step.arrives and not state.inside & own:
        _arrive(state, strand, step)
    if not step.waits:
        return DONE
    found = state.meets.get(step.meeting)
    if found is not None and found.owed & own:
        found.owed &= ~own
        state.inside &= ~own
        published = state.clocks.pop(("owed", step.meeting, strand), 0)
        state.clocks[strand] |= published if step.orders else published & state.setup.rows.all
        return DONE
    if found is None or not found.strands & own:
        raise Unproved(
            f"{Flaw.COUNT_MISMATCH.value}: a wait without an arrival of its own", strand, step.point
        )
    if step.arrives:
        state.inside |= own
    return BLOCKED


def _arrive(state: State, strand: int, step: MeetStep) -> None:
    found = state.meets.setdefault(step.meeting, Meet())
    if found.arrived and found.needed != step.needed:
        raise Unproved(Flaw.COUNT_MISMATCH.value, strand, step.point)
    found.needed, found.without_exited = step.needed, step.without_exited
    own = 1 << strand
    _after_previous(state, strand, step, found)
    if found.owed & own and (step.waits or step.waits_later):
        raise Unproved("arrives again before its wait", strand, step.point)
    if found.strands & own and (found.without_exited or found.waiting & own):
        raise Unproved(f"{Flaw.EARLY_ARRIVAL.value}: a second arrival in one generation", strand, step.point)
    if step.unnamed:
        raise Unproved(Flaw.LANE_NOT_IN_MASK.value, strand, step.point)
    if step.parted:
        raise Unproved("lanes of a warp come apart to an aligned barrier", strand, step.point)
    event = step.event
    if event:
        if event & found.last:
            _tell_all(state, step.meeting, found)
        state.happen(event)
        state.clocks[strand] |= event
    found.now |= event
    rows = state.setup.rows
    stamp = state.stamp(strand)
    if not step.orders:
        stamp = stamp & rows.all | state.clocks.get(("released", strand), 0) & rows.memory
    state.add(("meeting", step.meeting), stamp)
    found.strands |= own
    found.arrived += step.threads
    if step.waits or step.waits_later:
        found.waiting |= own
    if found.arrived > found.needed:
        raise Unproved(Flaw.OVER_ARRIVAL.value, strand, step.point)
    complete_if_done(state, step.meeting, found)


def _after_previous(state: State, strand: int, step: MeetStep, found: Meet) -> None:
    over = state.setup.generation[step.meeting]
    if found.is_over:
        raise Unproved(f"{Flaw.EARLY_ARRIVAL.value}: a second generation", strand, step.point)
    if state.knows(strand, over):
        return
    if found.last & ~state.clocks[strand]:
        raise Unproved(f"{Flaw.EARLY_ARRIVAL.value}: at a counted barrier", strand, step.point)
    state.clocks[strand] |= over


def _tell_all(state: State, meeting: int, found: Meet) -> None:
    """Let all who know of all arrivals of the last generation know that it is over."""
    over = state.setup.generation[meeting]
    if state.active & over:
        for slot, known in state.clocks.items():
            if not found.last & ~known and not known & over:
                state.clocks[slot] = known | over


def end(state: State, strand: int) -> None:
    """Let a strand end, which some barriers count as an arrival; nobody knows of it but by these."""
    state.happen(state.setup.end_of[strand])
    state.ended |= 1 << strand
    for meeting, found in state.meets.items():
        if found.arrived:
            complete_if_done(state, meeting, found)


def complete_if_done(state: State, meeting: int, found: Meet) -> None:
    absent: list[int] = []
    exited = 0
    setup = state.setup
    if found.without_exited and state.ended:
        name = setup.meetings[meeting]
        for other in range(len(setup.strands)):
            if state.ended & ~found.strands & 1 << other:
                each = setup.protocol.strands[other]
                copies = setup.strands[other].copies if isinstance(name, _OF_WARPS) else 1
                threads = counted(name, each) * copies
                if threads:
                    absent.append(other)
                    exited += threads
    if found.arrived + exited < found.needed:
        return
    known = state.clocks.pop(("meeting", meeting), 0)
    if found.arrived + exited == found.needed:
        for other in absent:
            known |= state.clocks[other] & setup.rows.all | setup.end_of[other]
            found.now |= setup.end_of[other]
    over: Bits = setup.generation[meeting]
    found.is_over = not over and meeting not in setup.awaited_by_all
    if over:
        state.happen(over)
        known |= over
    waiting = found.waiting
    found.owed |= waiting
    while waiting:
        own = waiting & -waiting
        waiting ^= own
        state.clocks["owed", meeting, own.bit_length() - 1] = known
    found.arrived = found.strands = found.waiting = 0
    found.last, found.now = found.now, 0
