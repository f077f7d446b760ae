"""What a race is about: two reports of one race at one instruction may have two causes.

Property: two races of one flaw at one instruction are told apart when the asynchronous copies in them tell of
their end at mbarriers that no instruction has in common. A wait that is missing for one of them is then not the one
that is missing for the other.

Argument: the stages of a ring share the instructions that arrive at their mbarriers or wait for them, and copies onto
one mbarrier share that. What shares none is waited for apart.

Not covered: copies of groups, and accesses of threads alone: for these one barrier may be missing for all.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..protocols.model.actions import Action, AsyncArrive, Expect, Protocol, Transfer, Wait
from ..protocols.model.actions import Barrier as Mbarrier
from ..protocols.model.outcome import Problem

Cause = tuple[int, ...]
"""The first mbarrier of each of the sets that the copies of a race belong to, by its offset."""


def cause_of(protocol: Protocol, problem: Problem) -> Cause:
    """Return what a race is about; empty where that is no copy which an mbarrier tells of."""
    ends = {(problem.strand, problem.point), *problem.related}
    offsets = {
        barrier.offset
        for strand, point in ends
        for action in protocol.strands[strand].actions
        if action.point == point and isinstance(action, Transfer)
        for barrier, _ in action.completes
    }
    if not offsets:
        return ()
    sets = _sets(protocol)
    return tuple(sorted({sets[offset] for offset in offsets}))


def _sets(protocol: Protocol) -> dict[int, int]:
    """Return for each mbarrier, by its offset, the first one of those that it shares instructions with."""
    first: dict[int, int] = {}
    at: dict[int, int] = {}

    def find(offset: int) -> int:
        while first.setdefault(offset, offset) != offset:
            offset = first[offset]
        return offset

    for strand in protocol.strands:
        for action in strand.actions:
            for barrier in _barriers(action):
                one, other = find(barrier.offset), find(at.setdefault(action.point, barrier.offset))
                first[max(one, other)] = min(one, other)
    return {offset: find(offset) for offset in first}


def _barriers(action: Action) -> Iterator[Mbarrier]:
    if isinstance(action, Transfer):
        yield from (barrier for barrier, _ in action.completes)
    elif isinstance(action, AsyncArrive | Expect | Wait):
        yield action.barrier


__all__ = ["Cause", "cause_of"]
