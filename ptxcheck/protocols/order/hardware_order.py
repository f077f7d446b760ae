"""Order of accesses of shared memory that the hardware keeps and the PTX ISA does not promise.

Property: a race that `HardwareOrder` lets pass does not happen on hardware as released kernels rely on it; it is
*strict*: told by pedantic rules, and never a violation.

Argument: released kernels rely on each of these cases, and none was seen to fail on an H100.
1. a proxy fence between generic accesses and a later write through the async proxy, and one between `cp.async` and a
   matrix instruction, are left out by released kernels;
2. a proxy fence by the writer before the barrier, where all warps write, meet, fence and then multiply;
3. lanes of one warp run in step, also where they copy by one `cp.async`;
4. threads that store to the same bytes by one instruction store the same value;
5. the wait of each warp for its own part of a `wgmma` waits for the whole;
6. the address that `tcgen05.alloc` wrote is visible where the order of execution gives it.

That a relaxed or narrower arrival publishes a read is enough even for strict problems.

Not covered: whether hardware of the future does the same.
"""

from __future__ import annotations

from bisect import bisect_right

from ..model.actions import Access, Fence, Init, Inval, Protocol, Proxy, Strand, Transfer
from ..model.outcome import Axiom, Flaw
from .clock import Row
from .conflicts import Told, Touch, is_executed_before
from .extents import MATRIX_PIPELINES
from .races import Race, Races

THREAD_COPIES = "cp.async"
LANES_IN_STEP = "lanes of a warp run in step between their accesses of shared memory"


class HardwareOrder:
    """Tells what is wrong between accesses of one protocol, and what of it is strict."""

    def __init__(self, protocol: Protocol, races: Races) -> None:
        self._protocol = protocol
        self._races = races

    def race(self, earlier: Touch, later: Touch) -> Race | None:
        """Return what is wrong between two conflicting touches, by what they are the work of."""
        found = self._races.race(earlier, later)
        if found is not None and self._was_object(earlier) and is_executed_before(earlier, later):
            return None
        if found is not None and self._is_stored_in_front(found.flaw, earlier, later):
            text = "no barrier lies between a store by one warp of a warpgroup and a wgmma of another, which reads it"
            return Race(Flaw.STORED_BY_ANOTHER_WARP, text, strict=True)
        if found is not None and self._is_fenced_behind(found, earlier, later):
            text = "a warp fences its store behind the barrier in front of a wgmma of another warp, which reads it"
            return Race(Flaw.FENCED_BEHIND_BARRIER, text, strict=True)
        if (
            found is None
            or found.flaw is not Flaw.MISSING_PROXY_FENCE
            or not self._is_multiplied(earlier, later)
        ):
            return found
        text = "no proxy fence lies between cp.async and this read of what it brought by a matrix instruction"
        return Race(Flaw.UNFENCED_COPY, text, strict=True)

    def _is_multiplied(self, earlier: Touch, later: Touch) -> bool:
        """Tell whether a matrix instruction reads what `cp.async` brought."""
        copy, work = (self._protocol.strands[touch.strand].actions[touch.index] for touch in (earlier, later))
        return (
            isinstance(copy, Transfer) and copy.pipeline == THREAD_COPIES
            and isinstance(work, Transfer) and work.pipeline in MATRIX_PIPELINES
        )  # fmt: skip

    def _was_object(self, touch: Touch) -> bool:
        """Tell whether bytes were an mbarrier that was initialised or invalidated: nobody reads what that wrote."""
        return isinstance(self._protocol.strands[touch.strand].actions[touch.index], Init | Inval)

    def is_strict(self, race: Race, earlier: Touch, later: Touch) -> bool:
        """Tell whether a race is strict."""
        if race.flaw is Flaw.WRITES_COLLIDE and self._races.store_different(earlier, later):
            return False
        return (
            race.strict
            or self._is_warp_synchronous(earlier, later)
            or self._is_one_copy(earlier, later)
            or (race.flaw is Flaw.READ_TOO_EARLY and self._is_over(earlier, later))
        )

    def axiom(self, race: Race, earlier: Touch, later: Touch) -> Axiom | None:
        """Return what keeps a strict race from happening, None where its flaw tells, or where it does no harm."""
        is_named = race.strict or not self._is_warp_synchronous(earlier, later)
        return None if is_named else Axiom.LANES_IN_STEP

    def let_pass(self, earlier: Touch, later: Touch) -> Told:
        """Return what a pair is taken for of which what is wrong is let pass."""
        if is_executed_before(earlier, later):
            return Told.FINE
        in_step = self._is_warp_synchronous(earlier, later) or self._is_one_copy(earlier, later)
        return Told.IN_STEP if in_step else Told.PASSED

    def is_ahead(self, access: Touch, other: Touch) -> bool:
        """Tell whether another lane of the warp comes to something before an access, where lanes run in step."""
        own, its = (self._protocol.strands[touch.strand] for touch in (access, other))
        is_of_warp = (own.cta, own.warp) == (its.cta, its.warp) and access.strand != other.strand
        return is_of_warp and bool(own.events) and own.events[access.index] > its.events[other.index]

    def _is_over(self, earlier: Touch, later: Touch) -> bool:
        """Tell whether a write that its instruction ends with comes first in every schedule, if not visibly so."""
        action = self._protocol.strands[earlier.strand].actions[earlier.index]
        return isinstance(action, Access) and action.blocks and is_executed_before(earlier, later)

    def _is_fenced_in_step(self, earlier: Touch, later: Touch) -> bool:
        """Tell whether the writer comes to the same `wgmma` itself, with a proxy fence on its way there."""
        action = self._protocol.strands[later.strand].actions[later.index]
        if not isinstance(action, Transfer) or action.pipeline != "wgmma" or earlier.is_asynchronous:
            return False
        fenced = False
        for own in self._protocol.strands[earlier.strand].actions[earlier.index + 1 :]:
            if isinstance(own, Fence) and own.proxy:
                fenced = True
            elif own.point == action.point:
                return fenced
        return False

    def _is_fenced_behind(self, race: Race, earlier: Touch, later: Touch) -> bool:
        """Tell whether a store that a barrier puts in front of a `wgmma` only lacks a fence before that barrier.

        Its warp has the fence on its own way to the same `wgmma`.
        """
        is_missing = race.flaw is Flaw.MISSING_PROXY_FENCE and not race.strict
        return is_missing and self._is_fenced_in_step(earlier, later)

    def _is_stored_in_front(self, flaw: Flaw, earlier: Touch, later: Touch) -> bool:
        """Tell whether a warp stores, and fences, what a `wgmma` of its warpgroup reads before it comes to that itself.

        In the schedule at hand either may come first.
        """
        if flaw not in (Flaw.READ_TOO_EARLY, Flaw.OVERWRITE):
            return False
        write, read = (earlier, later) if flaw is Flaw.READ_TOO_EARLY else (later, earlier)
        is_of_team = write.strand in self._protocol.team(read.strand)
        if not is_of_team or not self._is_fenced_in_step(write, read):
            return False
        reader, writer = (self._protocol.strands[each.strand].actions for each in (read, write))
        point = reader[read.index].point
        before = sum(each.point == point for each in writer[: write.index])
        return before <= sum(each.point == point for each in reader[: read.index])

    def _is_one_copy(self, earlier: Touch, later: Touch) -> bool:
        """Tell whether lanes of one warp start both writes together, by one copy of each thread for itself."""
        if (
            not earlier.is_asynchronous
            or earlier.proxy is Proxy.ASYNC
            or not (earlier.writes and later.writes)
        ):
            return False
        own, other = self._protocol.strands[earlier.strand], self._protocol.strands[later.strand]
        is_of_one_warp = (own.cta, own.warp) == (other.cta, other.warp)
        return is_of_one_warp and bool(own.events) and own.events[earlier.index] == other.events[later.index]

    def _is_warp_synchronous(self, earlier: Touch, later: Touch) -> bool:
        """Tell whether only the independence of the lanes of a warp is against a pair of accesses.

        Both are ordinary accesses of one warp, or the earlier one is a read that its warp passed before another lane of
        it did what the later access knows of. Lanes on two sides of a branch are not in step.
        """
        if earlier.is_asynchronous:
            return False
        strands = self._protocol.strands
        own, other = strands[earlier.strand], strands[later.strand]
        if not later.is_asynchronous and (own.cta, own.warp) == (other.cta, other.warp):
            return not (
                own.events
                and other.events
                and self._protocol.partings.are_on_two_sides(
                    own.cta, own.events[earlier.index], other.events[later.index]
                )
            )
        if earlier.writes or not own.events:
            return False
        event = own.events[earlier.index]
        return any(
            (strand.cta, strand.warp) == (own.cta, own.warp)
            and strand.events
            and self._is_passed(own, event, strand, int(later.clock[Row.EXECUTED, index]))
            for index, strand in enumerate(strands)
        )

    def _is_passed(self, own: Strand, event: int, strand: Strand, known: int) -> bool:
        """Tell whether lanes in step come to an event before other lanes have done so many of their actions."""
        last = bisect_right(strand.events, event, hi=known)
        return any(
            each > event and not self._protocol.partings.are_apart(own.cta, event, each)
            for each in dict.fromkeys(reversed(strand.events[last:known]))
        )
