"""Accesses in the rounds of an interval, as terms of one thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from ...terms.bitvectors import Bits
from .accesses import Access
from .intervals import Interval
from .mirrored import MirroredTerms
from .passages import Context
from .thread_terms import ThreadTerms


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """An access in the rounds of an interval's visit."""

    access: Access
    context: Context
    condition: Bits
    address: Bits
    stored: Callable[[], Bits | None]

    @property
    def value(self) -> Bits | None:
        """Return what a write stores: made when it is asked for, as most sites are of other places anyway."""
        return self.stored()


def sites_in(interval: Interval, accesses: Mapping[int, Access], thread: ThreadTerms) -> Iterator[Site]:
    """Yield the accesses of a thread in an interval, in an order in which it may make them."""
    pool, reached = thread.pool, interval.reached(thread)
    for visit in interval.visits:
        for point in interval.points(visit):
            access = accesses.get(point)
            if access is None:
                continue
            condition = pool.both(reached[visit], thread.guard(point, visit.context))
            if access.lanes < 32:
                used = pool.ult(thread.special("%laneid", point), pool.number(access.lanes, 32))
                condition = pool.both(condition, used)
            if condition is pool.false:
                continue
            address = thread.address(point, access.address, visit.context)
            yield Site(
                access, visit.context, condition, address, partial(_stored, thread, access, visit.context)
            )


def _stored(thread: ThreadTerms, access: Access, context: Context) -> Bits | None:
    """Return what a thread stores."""
    if access.value is None:
        return None
    return thread.operand(access.point, access.value, 8 * access.size, context)


def mirrored(site: Site, thread: MirroredTerms) -> Site:
    """Return the access of the other thread as one of a thread that mirrors it."""

    def stored() -> Bits | None:
        value = site.value
        return None if value is None else thread.copy(value)

    return Site(site.access, site.context, thread.copy(site.condition), thread.copy(site.address), stored)
