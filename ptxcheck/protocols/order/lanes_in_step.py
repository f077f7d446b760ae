"""Lanes of one warp that run in step: which accesses of shared memory that keeps in order.

Property: `orders` holds of two accesses only where the earlier one comes first if lanes of a warp come to instructions
together, and are done with one when they come to the next. Nothing more is taken of lanes on two sides of a branch.

Argument: events of a warp are numbered in the order in which its lanes come to them. Both accesses are ordinary ones of
one warp; or the earlier one is a read that its warp passed before another lane of it did what the later one knows of.

Not covered: that compilers keep instructions in the order of the PTX text.
"""

from __future__ import annotations

from bisect import bisect_right

from ..model.actions import Protocol, Proxy, Strand
from .clock import Row
from .conflicts import Touch


def orders(protocol: Protocol, earlier: Touch, later: Touch) -> bool:
    """Tell whether only the independence of the lanes of a warp is against a pair of accesses."""
    if earlier.is_asynchronous:
        return False
    own, other = protocol.strands[earlier.strand], protocol.strands[later.strand]
    if not later.is_asynchronous and _are_of_one_warp(own, other):
        return not (
            own.events
            and other.events
            and protocol.partings.are_on_two_sides(
                own.cta, own.events[earlier.index], other.events[later.index]
            )
        )
    if earlier.writes or not own.events:
        return False
    event = own.events[earlier.index]
    return any(
        _are_of_one_warp(strand, own)
        and strand.events
        and _is_passed(protocol, own, event, strand, int(later.clock[Row.EXECUTED, index]))
        for index, strand in enumerate(protocol.strands)
    )


def copy_together(protocol: Protocol, earlier: Touch, later: Touch) -> bool:
    """Tell whether lanes of one warp start both writes together, by one copy of each thread for itself."""
    if not earlier.is_asynchronous or earlier.proxy is Proxy.ASYNC or not (earlier.writes and later.writes):
        return False
    own, other = protocol.strands[earlier.strand], protocol.strands[later.strand]
    if not _are_of_one_warp(own, other) or not own.events:
        return False
    return own.events[earlier.index] == other.events[later.index]


def is_ahead(protocol: Protocol, access: Touch, other: Touch) -> bool:
    """Tell whether another lane of the warp comes to something before an access, where lanes run in step."""
    own, its = protocol.strands[access.strand], protocol.strands[other.strand]
    if not _are_of_one_warp(own, its) or access.strand == other.strand or not own.events:
        return False
    return own.events[access.index] > its.events[other.index]


def _are_of_one_warp(one: Strand, other: Strand) -> bool:
    return (one.cta, one.warp) == (other.cta, other.warp)


def _is_passed(protocol: Protocol, own: Strand, event: int, strand: Strand, known: int) -> bool:
    """Tell whether lanes in step come to an event before other lanes have done so many of their actions.

    The end of a thread counts as one more than it has events (see `counted_barriers`), and is no meeting.
    """
    known = min(known, len(strand.events))
    last = bisect_right(strand.events, event, hi=known)
    return any(
        each > event and not protocol.partings.are_apart(own.cta, event, each)
        for each in dict.fromkeys(reversed(strand.events[last:known]))
    )
