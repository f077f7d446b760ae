"""Numbers that threads hand each other through shared memory: whether anything else writes the bytes that were read.

The machine follows stores to constant places and takes for granted that nothing else writes there (`machine.table`). A
run's own protocol says whether that is so: copies, work of the matrix unit and all other stores are in it with the
bytes that they write. Those of unknown extent are taken to stay in the slot that they start in, as everywhere.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from .actions import Access, Protocol, Span, Transfer


def is_handed_on(protocol: Protocol, load: int, stores: AbstractSet[int]) -> bool:
    """Tell whether what a point loads is written by the stores at some points alone, in a run."""
    read = [span for span in _spans(protocol, load) if span.size]
    if not read or any(span.start < 0 for span in read):
        return False
    return not any(
        isinstance(action, Access | Transfer)
        and action.point not in stores
        and any(span.may_meet(own) for own in read for span in action.writes)
        for strand in protocol.strands
        for action in strand.actions
    )


def _spans(protocol: Protocol, point: int) -> set[Span]:
    """Return the bytes that an ordinary load reads."""
    return {
        span
        for strand in protocol.strands
        for action in strand.actions
        if isinstance(action, Access) and action.point == point
        for span in action.reads
    }
