"""Numbers that are handed on through a ring in shared memory: whether each read sees the write of its turn.

The machine takes the k-th turn of a reader at a place for that of the k-th write there (`mailbox_rings`). A run's own
protocol says whether that is so: with these accesses alone it is run once, all of them have to be in an order that no
schedule changes, and in that order each read has to come behind the write of its turn and before the next one. Nothing
else may write the bytes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from enum import Enum
from typing import TypeAlias

from ...model.actions import (
    Access,
    Action,
    Protocol,
    Span,
    Strand,
    Transfer,
)
from ...model.outcome import Flaw, Step
from ...order.memory_steps import memory_steps
from ...proof.search import MEMORY_FLAWS
from ...proof.simulate import simulate
from ...symex.values.trace import Trace

_Place: TypeAlias = tuple[int, int]
"""CTA and offset."""


class Turns(Enum):
    """Whether reads of rings by a run see what they were taken to see."""

    KEPT = "kept"
    """In every schedule."""
    BROKEN = "broken"
    """In no order of the accesses that schedules admit."""
    OPEN = "open"


def turns_of(protocol: Protocol, traces: Sequence[Trace], stores: AbstractSet[int]) -> Turns:
    """Return whether all reads of rings by a run see what they were taken to see."""
    turns = {trace.rank: trace.turns for trace in traces}
    read = {
        span
        for strand in protocol.strands
        for action, event in zip(strand.actions, strand.events, strict=True)
        if isinstance(action, Access) and event in turns[strand.cta]
        for span in action.reads
    }
    if any(span.start < 0 or not span.exact for span in read) or _is_written_otherwise(
        protocol, stores, read
    ):
        return Turns.OPEN
    alone = replace(
        protocol, strands=tuple(_with_rings(each, turns[each.cta], stores) for each in protocol.strands)
    )
    outcome = simulate(alone)
    accesses = {a.point for each in alone.strands for a in each.actions if isinstance(a, Access)}
    races = any(
        problem.flaw in MEMORY_FLAWS
        and (problem.flaw is not Flaw.EXIT_WITH_REMOTE_ACCESS or problem.point in accesses)
        for problem in (*outcome.problems, *outcome.strict)
    )
    if races or outcome.memory_doubts:
        return Turns.OPEN
    return Turns.KEPT if _follow(alone, outcome.steps, turns) else Turns.BROKEN


def are_turns_seen(
    protocol: Protocol, steps: Sequence[Step], traces: Sequence[Trace], stores: AbstractSet[int]
) -> bool:
    """Tell whether the reads of rings in one schedule of a run see the writes of their turns.

    A schedule that goes wrong needs no more. Reads that it does not come to say nothing.
    """
    turns = {trace.rank: trace.turns for trace in traces}
    rings = sorted(_places_of(protocol, stores))
    written: Counter[_Place] = Counter()
    spoiled = set[_Place]()
    """Places that something else wrote last."""
    for step, action in memory_steps(protocol, steps):
        strand = protocol.strands[step.strand]
        is_own = False
        if isinstance(action, Access):
            is_own = action.point in stores and action.certain
            turn = turns[strand.cta].get(strand.events[step.index])
            if turn is not None and any(span.start < 0 or not span.exact for span in action.reads):
                return False
            read = () if turn is None else _bytes(action.reads)
            if turn is not None and any(written[at] != turn + 1 or at in spoiled for at in read):
                return False
        for span in action.writes:
            if is_own and span.start >= 0 and span.exact:
                written.update(_bytes((span,)))
                spoiled.difference_update(_bytes((span,)))
            else:
                spoiled.update(_met(span, rings))
    return True


def _places_of(protocol: Protocol, stores: AbstractSet[int]) -> set[_Place]:
    """Return the bytes that some stores certainly write."""
    return {
        place
        for strand in protocol.strands
        for action in strand.actions
        if isinstance(action, Access) and action.point in stores and action.certain
        for place in _bytes([span for span in action.writes if span.start >= 0 and span.exact])
    }


def _met(span: Span, places: Sequence[_Place]) -> Sequence[_Place]:
    """Return those of some bytes, in order, that a span may meet."""
    if span.start < 0:
        return places
    ends = span.start, span.start + max(span.size, span.reach, 1)
    first, behind = (bisect_left(places, (span.cta, end)) for end in ends)
    return places[first:behind]


def _is_written_otherwise(protocol: Protocol, stores: AbstractSet[int], read: AbstractSet[Span]) -> bool:
    return any(
        any(span.may_meet(own) for own in read)
        for strand in protocol.strands
        for action in strand.actions
        if isinstance(action, Access | Transfer) and action.point not in stores
        for span in action.writes
    )


def _with_rings(strand: Strand, turns: Mapping[int, int], stores: AbstractSet[int]) -> Strand:
    kept = tuple(
        (action, event)
        for action, event in zip(strand.actions, strand.events, strict=True)
        if not isinstance(action, Access) or action.point in stores or event in turns
    )
    return replace(strand, actions=tuple(a for a, _ in kept), events=tuple(e for _, e in kept))


def _follow(protocol: Protocol, steps: Sequence[Step], turns: Mapping[int, Mapping[int, int]]) -> bool:
    """Tell whether the reads of a schedule come when as many writes are done as their turn says."""
    written: Counter[_Place] = Counter()
    for step in steps:
        strand = protocol.strands[step.strand]
        action: Action = strand.actions[step.index]
        if step.completes or not isinstance(action, Access):
            continue
        turn = turns[strand.cta].get(strand.events[step.index])
        if turn is not None and any(written[place] != turn + 1 for place in _bytes(action.reads)):
            return False
        written.update(_bytes(action.writes))
    return True


def _bytes(spans: Sequence[Span]) -> Iterator[_Place]:
    return ((span.cta, place) for span in spans for place in range(span.start, span.end))
