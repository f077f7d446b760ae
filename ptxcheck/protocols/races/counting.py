"""Counting in one barrier interval: fields of shared memory that a thread sets to 0 and then adds 1 to.

Property: where `Counting.counted` gives something, each thread that goes through the interval sets to 0 what it counts
in, and stores nothing else there; what a counting load gives is less than what the field holds at the end of the
interval, if no other thread accesses it; and a thread adds `each` to all fields together.

Argument: the accesses of the interval, in order, are on each path; each store is one of 0, before all loads that count,
or follows the load of the same address with that number plus 1. The solver shows that what is counted in lies in what
the same thread has set to 0.

Not covered: counting under a condition, or in a loop without a barrier.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from ...cfg import Name
from ...ir import Register
from .accesses import Access, Action
from .intervals import Interval
from .kernel import Kernel
from .mirrored import one_thread
from .passages import Round
from .questions import UndecidedError
from .semantics import fitted
from .sites import Site, sites_in
from .thread_terms import ThreadTerms


@dataclass(frozen=True, slots=True)
class Counted:
    """What an interval counts."""

    zeros: tuple[int, ...]
    """Points of stores of 0."""
    loads: tuple[int, ...]
    size: int
    """Bytes of a field."""

    @property
    def each(self) -> int:
        """Return how much one thread adds."""
        return len(self.loads)


class Counting:
    """The accesses of one interval that all threads go through alike."""

    def __init__(
        self,
        kernel: Kernel,
        interval: Interval,
        accesses: Mapping[int, Access],
        terms: ThreadTerms | None = None,
    ) -> None:
        self._kernel = kernel
        self._interval = interval
        self._terms = terms or one_thread(kernel)
        self._whole = interval.reached(self._terms)[interval.first]
        self._sites = [*sites_in(interval, accesses, self._terms)]

    @property
    def _is_once(self) -> bool:
        """Tell whether each block is gone through once at most."""
        visits = self._interval.visits
        in_any = any(
            passage.round is Round.ANY and passage != self._interval.first.context.of(index)
            for visit in visits for index, passage in visit.context.passages
        )  # fmt: skip
        return not in_any and len({visit.block for visit in visits}) == len(visits)

    def loads_first(self, point: int) -> bool:
        """Tell whether all threads load here once, before they store anything."""
        for site in self._sites if self._is_once else ():
            if site.access.point == point:
                return site.condition is self._whole
            if site.access.action is not Action.READ:
                return False
        return False

    def counted(self, counts: AbstractSet[int]) -> Counted | None:
        """Return what is counted by some loads."""
        if not self._is_once:
            return None
        zeros: list[Site] = []
        loads: list[Site] = []
        pending: Site | None = None
        for site in self._sites:
            action, counts_here = site.access.action, site.access.point in counts
            if action is Action.READ and not counts_here:
                continue
            if site.condition is not self._whole:
                return None
            if action is Action.READ and pending is None:
                pending = site
            elif action is Action.WRITE and pending is not None:
                if not self._adds_one(pending, site):
                    return None
                loads.append(pending)
                pending = None
            elif action is Action.WRITE and not loads and self._is_zero(site):
                zeros.append(site)
            else:
                return None
        sizes = {site.access.size for site in loads}
        if pending is not None or len(sizes) != 1 or not sizes <= {1, 2, 4}:
            return None
        if not all(self._is_within(site, zeros) for site in loads):
            return None
        return Counted(
            tuple(site.access.point for site in zeros),
            tuple(site.access.point for site in loads),
            sizes.pop(),
        )

    def _is_zero(self, site: Site) -> bool:
        value = site.value
        return value is not None and value.constant == 0

    def _adds_one(self, load: Site, store: Site) -> bool:
        """Tell whether a store is of what a load gave, plus 1, at its address."""
        pool, bits = self._kernel.pool, 8 * load.access.size
        target = self._kernel.cfg.instructions[load.access.point].operands[0]
        if store.address is not load.address or store.access.size != load.access.size:
            return False
        if not isinstance(target, Register):
            return False
        value = self._terms.value(Name(target, load.access.point), load.context)
        if value is None:
            return False
        one = pool.number(1, bits)
        sums = [pool.add(fitted(pool, value, bits), one)]
        if bits < 32:
            sums.append(pool.extract(pool.add(fitted(pool, value, 32), pool.number(1, 32)), 0, bits))
        return store.value in sums

    def _is_within(self, site: Site, zeros: list[Site]) -> bool:
        """Tell whether an access is within what its thread has stored to."""
        pool, terms = self._kernel.pool, self._terms
        outside = pool.true
        for zero in zeros:
            if zero.access.size >= site.access.size:
                start = pool.and_(site.address, pool.number(-zero.access.size, 32))
                outside = pool.both(outside, pool.not_(pool.eq(start, zero.address)))
        inside_block = self._kernel.geometry.claims(pool, terms.index)
        try:
            return self._kernel.questions.numbers((inside_block, self._whole, outside)) is None
        except UndecidedError:
            return False
