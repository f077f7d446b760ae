"""Whether each access of shared memory stays inside of its variable, which `layout` sets far from all others.

Property: where `leaving` gives nothing, no access of a barrier interval reaches a byte outside of all shared variables,
whatever the parameters, the block and what is loaded.

Argument: the sites of one thread are all that any thread may access in an interval (`sites`), and one question of the
solver asks whether one of them can be outside. Variables lie further apart than shared memory is long, so an index that
leads from one into another is none that a run can have.

Not covered: how long shared memory of open size is, which the launch says; generic addresses that come from memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...cfg import AtomKind, Uniformity
from ...terms.bitvectors import Bits
from ...terms.effort import Work
from .accesses import Access, Action
from .intervals import TooManyVisitsError, intervals_of
from .kernel import Kernel
from .mirrored import one_thread
from .questions import UndecidedError
from .sites import Site, sites_in
from .thread_terms import ThreadTerms

STAYS_INSIDE = "each access of shared memory stays inside the variable that its address begins at"
_DYNAMIC = 1 << 18
"""More bytes than shared memory of open size can have."""


def leaving(kernel: Kernel, accesses: Sequence[Access], agreed: frozenset[int]) -> tuple[int, ...]:
    """Return points of accesses that may be outside of their variables, not all there may be; empty if none is."""
    if all(access.action is Action.READ for access in accesses):
        return ()
    by_point = {access.point: access for access in accesses if _is_of_variable(kernel, access)}
    if not by_point:
        return ()
    thread = one_thread(kernel)
    claims: dict[Bits, int] = {}
    anything = kernel.pool.false
    try:
        for site in _sites(kernel, by_point, agreed, thread):
            claim = kernel.pool.both(site.condition, _is_outside(kernel, site))
            if claim is not kernel.pool.false:
                claims.setdefault(claim, site.access.point)
                anything = kernel.pool.either(anything, claim)
        base = kernel.geometry.claims(kernel.pool, thread.index)
        numbers = kernel.questions.numbers((base, anything), [*claims])
    except (TooManyVisitsError, UndecidedError):
        return (min(by_point),)
    return () if numbers is None else tuple(sorted({claims[claim] for claim in claims if numbers[claim]}))


def _is_of_variable(kernel: Kernel, access: Access) -> bool:
    """Tell whether an access is of shared memory by its state space, or by the variable that its address begins at."""
    if kernel.cfg.instructions[access.point].operation.slots.get("space"):
        return True
    pointer = kernel.facts.address(access.point, access.address)
    base = None if pointer is None else pointer.base
    return base is not None and base.kind is AtomKind.ADDRESS and base.space == ".shared"


def _sites(
    kernel: Kernel, accesses: Mapping[int, Access], agreed: frozenset[int], thread: ThreadTerms
) -> Iterator[Site]:
    """Yield the accesses of a thread in all intervals. Raises TooManyVisitsError."""
    for interval in intervals_of(kernel, Uniformity.CTA, agreed):
        for site in sites_in(interval, accesses, thread):
            kernel.effort.spend(Work.SPAN)
            yield site


def _is_outside(kernel: Kernel, site: Site) -> Bits:
    """Return that an access is not wholly inside of any variable."""
    pool = kernel.pool
    outside = pool.true
    for placed in dict.fromkeys(kernel.layout.starts.values()):
        size = _DYNAMIC if placed.size is None else placed.size
        offset = pool.sub(site.address, pool.number(placed.start, site.address.width))
        fitting = max(size - site.access.size + 1, 0)
        inside = pool.ult(offset, pool.number(fitting, site.address.width))
        outside = pool.both(outside, pool.not_(inside))
    return outside


__all__ = ["STAYS_INSIDE", "leaving"]
