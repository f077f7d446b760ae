"""Threads that access the same bytes of an array of global memory in no order.

Property: a `Race` of `GlobalRaces.races` is in runs with numbers for three sizes, small ones too, whatever is loaded: a
thread reads a byte of one array that another one writes, and they are of different warps of a block, with no barrier
between, or of neighbouring CTAs of a small grid. Nothing is said of kernels without one: this is no proof.

Argument: as for shared memory (`pairs`, `witness`). An address of global memory counts from one pointer of the host
(`typestate.global_arrays`); two accesses that count from the same pointer are of one byte where their offsets say
so. Pairs whose distance depends on a number of the host are left out: pitches are such numbers, and hosts pass those
that keep rows apart. The solver compares the lowest 32 bits of addresses, runs with numbers compare them whole.
How many CTAs there are, and along which axes, is up to the host: those that are found are next to each other along one
axis, and the same along the others. Where a block is not stated, only threads of different CTAs are looked at, and
what is found is so in small and large blocks alike: most kernels are right for one block, which no code says.

Not covered: two writes, and writes of one number, as they may leave the same; atomic operations; arrays that overlap,
pointers that are loaded, lanes of one warp, distances that a number of the host or what is loaded decides, guards by
two of the host's numbers, as a host may pass one flag of two; places that do not depend on the CTA, as a host may
launch one alone; kernels that order accesses by fences, flags and locks (what is found there is possible).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...cfg import Uniformity
from ...cfg.special import MAX_THREADS
from ...ir import Register, Vector
from ...launch import Dim
from ...terms.bitvectors import Bits
from ...terms.effort import Effort
from ..typestate.global_arrays import GlobalArrays
from .accesses import Access, Action, access_of
from .agreement import agreement
from .array_witness import ArrayWitnesses
from .block_steps import Steps
from .blocks import axes_used, bound_of
from .geometry import Geometry
from .intervals import TooManyVisitsError, intervals
from .kernel import Kernel
from .layout import layout_of
from .meetings import Meetings, NoMeetings
from .pairs import Known, Pair, Pairs, Relation
from .sites import Site
from .thread_terms import ThreadTerms
from .witness import Race

if TYPE_CHECKING:
    from ...view import KernelView

_SHARE = 0.1
"""Of the effort for one kernel."""
_LINES: tuple[Dim, ...] = ((1, 1, 1), (32, 1, 1), (128, 1, 1), (1024, 1, 1))
_PLANES: tuple[Dim, ...] = ((1, 1, 1), (32, 1, 1), (8, 8, 1), (32, 32, 1))


@dataclass(frozen=True, slots=True)
class GlobalRaces:
    """What was found in one kernel."""

    races: tuple[Race, ...] = ()
    possible: tuple[Pair, ...] = ()
    """Pairs that may meet by what is passed or loaded."""


def global_accesses(view: KernelView) -> tuple[Access, ...]:
    """Return the accesses of arrays that a kernel writes and more than one thread may reach, each of one array."""
    found: list[Access] = []
    for each in view.get(GlobalArrays).accesses:
        if not each.is_known or len(each.arrays) != 1 or each.is_asynchronous:
            continue
        (array,) = each.arrays
        access = access_of(each.point, view.body.instructions[each.point])
        if access is not None and array.followed == 1 and not _stores_constant(view, access):
            found.append(replace(access, array=array, strong=each.is_strong))
    written = {access.array for access in found if access.action is not Action.READ}
    return tuple(access for access in found if access.array in written)


def _stores_constant(view: KernelView, access: Access) -> bool:
    """Tell whether a write is of one number, as of a flag that others may read at any time."""
    if isinstance(access.value, Register):
        return view.facts.constant(access.point, access.value) is not None
    return access.value is not None and not isinstance(access.value, Vector)


def global_races(view: KernelView) -> GlobalRaces:
    """Return the races of global memory that are found, within a block and between CTAs."""
    accesses = view.get(global_accesses)
    if not any(one.conflicts(two) for one in accesses for two in accesses):
        return GlobalRaces()
    effort = Effort(view.verify_seconds).part(_SHARE)
    search = _Search(view, accesses, effort)
    found: GlobalRaces | None = None
    for block, is_stated in search.blocks():
        its = search.within(block, is_stated=is_stated)
        if found is None:
            found = its
        shown = {frozenset(race.points) for race in its.races}
        found = replace(found, races=tuple(race for race in found.races if frozenset(race.points) in shown))
        if not found.races:
            break
    return found or GlobalRaces()


class _Search:
    def __init__(self, view: KernelView, accesses: tuple[Access, ...], effort: Effort) -> None:
        self._view = view
        self._accesses = accesses
        self._effort = effort

    def blocks(self) -> Iterator[tuple[Dim, bool]]:
        """Yield the block that is stated, else small and large ones, and whether it is the one of the launch."""
        launch, axes = self._view.launch, axes_used(self._view)
        if launch.block is not None and launch.block_is_exact:
            yield launch.block, True
            return
        most = launch.max_threads or MAX_THREADS
        tried = [each for each in (_LINES if axes == 1 else _PLANES) if each[0] * each[1] <= most]
        for block in dict.fromkeys((*tried, bound_of(self._view) or tried[-1])):
            yield block, False

    def within(self, block: Dim, *, is_stated: bool) -> GlobalRaces:
        """Return what is found in one block."""
        kernel = self._kernel(Geometry(block))
        agreed, open_ = agreement(kernel)
        meetings = Meetings(kernel.facts, Uniformity.CTA, agreed)
        if open_ or meetings.guarded:  # threads may come to different barriers
            return GlobalRaces()
        pairs = [*self._pairs(kernel, Relation.OTHER_WARPS, meetings)] if is_stated else []
        told = {frozenset(pair.points) for pair in pairs}
        unordered = NoMeetings(kernel.facts, Uniformity.GRID)
        for known in (_other_than_first, None):  # the first CTA may have work of its own
            for pair in self._pairs(kernel, Relation.OTHER_BLOCKS, unordered, known):
                if frozenset(pair.points) not in told:
                    told.add(frozenset(pair.points))
                    pairs.append(pair)
        if not pairs:
            return GlobalRaces()
        steps = Steps(self._view.facts, self._view.module, self._view.function, {})
        if steps.orders_by_flags:
            return GlobalRaces((), tuple(pairs))
        witnesses = ArrayWitnesses(self._view, kernel, self._accesses, block, agreed)
        races: list[Race] = []
        possible: list[Pair] = []
        for pair in pairs:
            race = witnesses.race(pair)
            if race is None:
                possible.append(pair)
            else:
                races.append(race)
        return GlobalRaces(tuple(races), tuple(possible))

    def _pairs(
        self, kernel: Kernel, relation: Relation, meetings: Meetings, known: Known | None = None
    ) -> Iterator[Pair]:
        asked = Pairs(kernel, relation, self._accesses, known=known)
        for interval in intervals(kernel, meetings):
            try:
                yield from asked.meeting(interval).pairs
            except TooManyVisitsError:
                continue

    def _kernel(self, geometry: Geometry) -> Kernel:
        view = self._view
        return Kernel(view.facts, layout_of(view.function, view.module), geometry, self._effort)


def _other_than_first(threads: tuple[ThreadTerms, ThreadTerms], one: Site, _: Site) -> tuple[Bits, ...]:
    """Say of two threads that neither is of the first CTA along x."""
    pool = threads[0].pool
    places = (thread.special("%ctaid.x", one.access.point) for thread in threads)
    return tuple(pool.not_(pool.eq(place, pool.number(0, 32))) for place in places)


__all__ = ["GlobalRaces", "global_accesses", "global_races"]
