"""Counted barriers: named, warp and cluster barriers, generation after generation.

Property: without a problem, every schedule forms the same generations of the same arrivals, and all that meet in one
name the same number of threads.

Argument: each arrival happens after the generation before it completed (`early arrival`), so no other schedule can
count it there; induction over generations does the rest. A thread that has ended counts for every generation that it
did not arrive in, at barriers that count the rest, so when it ends does not matter; a second arrival in a generation
that ended threads might complete first is a problem.

Not covered: lanes that come to an aligned barrier apart from the others of their warp, where PTX defines nothing:
that is a problem if others of the warp do something else by then, which hangs on an H100.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..model.actions import Protocol, Rendezvous, Strand
from ..model.outcome import Flaw
from ..model.record import Record
from ..model.sync_objects import CountedBarrier, DivergentWarpBarrier, concerns
from .actor import Actor
from .clock import (
    Clock,
    Row,
    executed_before,
    execution_only,
)


@dataclass(slots=True)
class Meeting:
    """One counted barrier."""

    needed: int
    without_exited: bool
    arrived: int = 0
    generation: int = 0
    strands: set[int] = field(default_factory=set)
    """Strands that have arrived in this generation."""
    warps: set[tuple[int, int]] = field(default_factory=set)
    """Warps of which only some lanes came, and which count as a whole all the same."""
    parts: list[Clock] = field(default_factory=list)
    done: list[Clock] = field(default_factory=list)

    @property
    def state(self) -> tuple[object, ...]:
        """Return what decides whether a wait is over."""
        return (self.generation,)


class Meetings:
    """All counted barriers of a schedule.

    Every schedule forms the same generations, because each arrival happens after the generation before it
    completed (`early arrival`). A thread that has ended counts for every generation that it did not arrive in, at
    barriers that count the rest.
    """

    def __init__(self, protocol: Protocol, record: Record) -> None:
        self._protocol = protocol
        self._record = record
        self.by_name: dict[CountedBarrier, Meeting] = {}
        self._joined: dict[tuple[int, CountedBarrier], int] = {}
        self._passed: dict[tuple[int, CountedBarrier], int] = {}
        """The generation of the last wait without an arrival that each strand has passed."""
        self._ended: dict[int, Clock] = {}

    def arrive(self, actor: Actor, action: Rendezvous) -> int:
        """Count an arrival; return its generation."""
        meeting = self._meeting(action)
        if meeting.parts and meeting.needed != action.needed:
            text = f"{action.needed} threads named, {meeting.needed} by others of the same generation"
            self._problem(Flaw.COUNT_MISMATCH, actor, action, text, happened=True)
        meeting.needed = action.needed
        if meeting.generation and not executed_before(meeting.done[-1], actor.clock):
            text = "nothing orders this arrival after the previous generation"
            self._problem(Flaw.EARLY_ARRIVAL, actor, action, text)
        generation = meeting.generation
        self._joined[actor.strand, action.name] = generation
        stamp = actor.stamp if action.orders else execution_only(actor.stamp, actor.released)
        if meeting.without_exited and actor.strand in meeting.strands:
            text = "a second arrival in one generation: when others have ended, the first completes it"
            self._problem(Flaw.EARLY_ARRIVAL, actor, action, text)
        if action.parted and self._protocol.strands[actor.strand].events:
            self._check_parted(actor, action)
        if action.unnamed:
            text = f"executed by {_lanes(action.unnamed)}, which the member mask does not name"
            self._problem(Flaw.LANE_NOT_IN_MASK, actor, action, text, happened=True)
        meeting.parts.append(stamp)
        meeting.strands.add(actor.strand)
        if action.parted:
            own = self._protocol.strands[actor.strand]
            meeting.warps.add((own.cta, own.warp))
        meeting.arrived += action.threads
        if meeting.arrived > meeting.needed:
            text = f"{meeting.arrived} threads arrive at a barrier of {meeting.needed}"
            self._problem(Flaw.OVER_ARRIVAL, actor, action, text, happened=True)
        self._complete_if_done(action.name, meeting)
        return generation

    def _check_parted(self, actor: Actor, action: Rendezvous) -> None:
        """Check that lanes that come to an aligned barrier without the others of their warp are alone by then.

        On an H100 such kernels hang; PTX leaves it undefined.
        """
        strands = self._protocol.strands
        own = strands[actor.strand]
        event = own.events[actor.number - 1]
        for other in strands:
            if (own.cta, own.warp) != (other.cta, other.warp) or other.lanes & action.parted:
                continue
            shared = {each for each in own.events if each < event}.intersection(other.events)
            if other.events and other.events[-1] > max(shared, default=-1):
                text = "some lanes of this warp come to an aligned barrier, and others do something else"
                self._problem(Flaw.COUNT_MISMATCH, actor, action, text, happened=True)

    def end(self, strand: int, clock: Clock) -> None:
        """Note the end of a strand: one more action of it, which nobody knows of but by these barriers."""
        clock = clock.copy()
        clock[Row.EXECUTED, strand] += 1
        self._ended[strand] = clock
        for name, meeting in self.by_name.items():
            if meeting.parts:
                self._complete_if_done(name, meeting)

    def joined(self, strand: int, name: CountedBarrier) -> int | None:
        """Return the generation that a strand arrived in last."""
        return self._joined.get((strand, name))

    def passed(self, actor: Actor, action: Rendezvous) -> Clock | None:
        """Return what the generation that a strand joined publishes, None while it is not complete."""
        meeting = self._meeting(action)
        key = actor.strand, action.name
        generation = self._joined.get(key)
        if generation is None or (not action.arrives and self._passed.get(key) == generation):
            text = "a wait without an arrival of its own"
            self._problem(Flaw.COUNT_MISMATCH, actor, action, text, happened=True)
            generation = generation or 0
        if meeting.generation <= generation:
            return None
        if not action.arrives:
            self._passed[key] = generation
        return meeting.done[generation]

    def _meeting(self, action: Rendezvous) -> Meeting:
        return self.by_name.setdefault(action.name, Meeting(action.needed, action.without_exited))

    def _absent(self, name: CountedBarrier, meeting: Meeting) -> list[int]:
        """Return the strands that have ended and count without an arrival."""
        if not meeting.without_exited:
            return []
        return [
            strand for strand in self._ended
            if strand not in meeting.strands and counted(name, self._protocol.strands[strand])
        ]  # fmt: skip

    def _exited(self, name: CountedBarrier, meeting: Meeting) -> int:
        absent = (self._protocol.strands[strand] for strand in self._absent(name, meeting))
        return sum(counted(name, each) for each in absent if (each.cta, each.warp) not in meeting.warps)

    def _complete_if_done(self, name: CountedBarrier, meeting: Meeting) -> None:
        if meeting.arrived + self._exited(name, meeting) < meeting.needed:
            return
        clock: Clock = np.maximum.reduce(meeting.parts)
        all_needed = meeting.arrived + self._exited(name, meeting) == meeting.needed
        for strand in self._absent(name, meeting) if all_needed else ():
            clock[Row.EXECUTED] = np.maximum(clock[Row.EXECUTED], self._ended[strand][Row.EXECUTED])
        meeting.done.append(clock)
        meeting.generation += 1
        meeting.arrived = 0
        meeting.parts = []
        meeting.strands = set()
        meeting.warps = set()

    def _problem(
        self, flaw: Flaw, actor: Actor, action: Rendezvous, detail: str, *, happened: bool = False
    ) -> None:
        generation = self.by_name[action.name].generation
        self._record.add(flaw, actor.strand, action.point, action.name, generation, detail, happened=happened)


def _lanes(bits: int) -> str:
    lowest, highest = (bits & -bits).bit_length() - 1, bits.bit_length() - 1
    if lowest == highest:
        return f"lane {lowest}"
    return f"{bits.bit_count()} lanes from {lowest} to {highest}"


def counted(name: CountedBarrier, strand: Strand) -> int:
    """Return how many threads of a strand take part in a counted barrier of all threads, or of lanes of a warp."""
    if not concerns(name, strand.cta):
        return 0
    if not isinstance(name, DivergentWarpBarrier):
        return strand.threads
    return (strand.lanes & name.mask).bit_count() if strand.warp == name.warp else 0
