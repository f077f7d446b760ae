"""Numbers that threads hand each other through shared memory: whether what was read is what the stores wrote.

The machine follows stores to constant places and takes for granted that nothing else writes there (`shared_words`). A
run's own protocol says whether that is so: copies, work of the matrix unit and all other stores are in it with the
bytes that they write. Those of unknown extent are taken to stay in the slot that they start in, as everywhere.

- Nothing else writes the bytes at all: `handed_on`.
- Something else does, as when a kernel uses the bytes again for its results; but happens-before puts it behind each
  read, or in front of a store that comes before the read: `always_seen`.
- In one schedule a store was the last to write what is read: `is_seen`. A schedule that goes wrong needs no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TypeAlias

from ...model.actions import (
    Access,
    Init,
    Protocol,
    Proxy,
    Span,
    Strand,
    Transfer,
)
from ...model.outcome import Step
from ...order.clock import Clock, Row
from ...order.memory_steps import memory_steps
from ...proof.simulate import scheduled_steps, simulate

_Place: TypeAlias = tuple[int, int]
"""CTA and offset of a byte."""
_MBARRIER = 8
"""Bytes of an mbarrier."""


def handed_on(protocol: Protocol, loads: Iterable[int], stores: AbstractSet[int]) -> frozenset[int]:
    """Return at which points what is loaded is written by the stores at some points alone, in a run."""
    others = [each for each in _touching(protocol) if each.writes and each.point not in stores]
    written = {span for each in others for span in each.writes}
    read = _read_by(protocol, loads)
    return frozenset(load for load, spans in read.items() if not _may_meet(written, spans))


def always_seen(protocol: Protocol, loads: Iterable[int], stores: AbstractSet[int]) -> frozenset[int]:
    """Return at which points what is loaded was written last by the stores at some points, in every schedule of a run.

    Only of a run in order: there, what happens before what is the same in all schedules.
    """
    found = _read_by(protocol, loads)
    read = {load: spans for load, spans in found.items() if not _are_mbarriers(protocol, spans)}
    if not read:
        return frozenset()
    met = _writes_that_meet(protocol, frozenset[Span]().union(*read.values()))
    alone = replace(
        protocol, strands=tuple(_with_accesses(each, read.keys(), met) for each in protocol.strands)
    )
    clocks: list[Clock] = []
    outcome = simulate(alone, clocks)
    if outcome.problems:
        return frozenset()
    reads, own, others = list[_Moment](), list[_Moment](), list[_Moment]()
    for step, clock in zip(outcome.steps, clocks, strict=True):
        action = alone.strands[step.strand].actions[step.index]
        if not isinstance(action, Access | Transfer):
            continue
        moment = _Moment(alone.strands[step.strand].cta, step, action, clock)
        if isinstance(action, Access) and action.point in read:
            reads.append(moment)
        if not met.isdisjoint(action.writes):
            is_own = action.point in stores and isinstance(action, Access) and action.certain
            (own if is_own else others).append(moment)
    open_reads = {
        each.action.point for each in reads if not all(_cannot_be_seen(other, each, own) for other in others)
    }
    return frozenset(read.keys() - open_reads)


@dataclass(frozen=True, slots=True)
class _Moment:
    """What touches memory, and what is known behind it."""

    cta: int
    step: Step
    action: Access | Transfer
    clock: Clock

    def is_before(self, other: _Moment, *rows: Row) -> bool:
        """Tell whether this is known at another moment, in the senses of some rows: not between CTAs."""
        known = (other.clock[row, self.step.strand] > self.step.index for row in rows)
        return self.cta == other.cta and isinstance(self.action, Access) and all(known)


def _cannot_be_seen(write: _Moment, read: _Moment, stores: Iterable[_Moment]) -> bool:
    """Tell whether a write comes behind a read, or a store in between hides it."""
    met = [each for each in write.action.writes if _may_meet((each,), frozenset(read.action.reads))]
    is_generic = isinstance(write.action, Access) or write.action.proxy is Proxy.GENERIC
    rows = (Row.EXECUTED,) if is_generic else (Row.EXECUTED, Row.CROSSED)
    if not met or read.is_before(write, *rows):
        return True
    return any(
        write.is_before(each, Row.VISIBLE)
        and each.is_before(read, Row.VISIBLE)
        and set(_bytes(each.action.writes)).issuperset(_bytes(read.action.reads))
        for each in stores
    )


def replaced(protocol: Protocol, loads: Iterable[int], stores: AbstractSet[int]) -> frozenset[int]:
    """Return at which points some byte that is loaded was last written, in a schedule of a run, by something else.

    Only writes at places that are known: what is taken for granted of these loads is not so, or not if they happen.
    """
    read = _read_by(protocol, loads)
    places = set(_bytes(frozenset[Span]().union(*read.values())))
    if not any(
        not places.isdisjoint(_bytes(_known(each)))
        for each in _touching(protocol)
        if each.point not in stores
    ):
        return frozenset()
    met = _writes_that_meet(protocol, frozenset[Span]().union(*read.values()))
    alone = replace(
        protocol, strands=tuple(_with_accesses(each, read.keys(), met) for each in protocol.strands)
    )
    others, found = set[_Place](), set[int]()
    for _, action in memory_steps(alone, scheduled_steps(alone)):
        if (
            isinstance(action, Access)
            and action.point in read
            and not others.isdisjoint(_bytes(action.reads))
        ):
            found.add(action.point)
        if isinstance(action, Access) and action.point in stores:
            others.difference_update(_bytes(action.writes))
        else:
            others.update(places.intersection(_bytes(_known(action))))
    return frozenset(found)


def _known(action: Access | Transfer) -> Iterator[Span]:
    """Yield the bytes that an action writes if it happens, where they are known."""
    return (span for span in action.writes if span.exact and span.start >= 0)


def is_seen(protocol: Protocol, steps: Sequence[Step], load: int, stores: AbstractSet[int]) -> bool:
    """Tell whether what a point loads was written last by the stores at some points, in one schedule of a run."""
    read = _read_by(protocol, [load]).get(load)
    if read is None or _are_mbarriers(protocol, read):
        return False
    places = set(_bytes(read))
    own = set[_Place]()
    """Places that one of the stores wrote last."""
    for _, action in memory_steps(protocol, steps):
        if isinstance(action, Access) and action.point == load and not own.issuperset(_bytes(action.reads)):
            return False
        is_store = isinstance(action, Access) and action.point in stores and action.certain
        for span in action.writes:
            if is_store and span.exact and span.start >= 0:
                own.update(places.intersection(_bytes((span,))))
            else:
                own.difference_update([(cta, at) for cta, at in own if span.may_meet(Span(cta, at, 1))])
    return True


def _touching(protocol: Protocol) -> Iterable[Access | Transfer]:
    """Return what touches memory in a run, each once: the same actions come again and again."""
    actions = (action for strand in protocol.strands for action in strand.actions)
    return {id(each): each for each in actions if isinstance(each, Access | Transfer)}.values()


def _read_by(protocol: Protocol, loads: Iterable[int]) -> dict[int, frozenset[Span]]:
    """Return the bytes that ordinary loads read, by their points, where they are known."""
    found: dict[int, set[Span]] = {load: set() for load in loads}
    for each in _touching(protocol):
        if isinstance(each, Access) and each.point in found:
            found[each.point].update(span for span in each.reads if span.size)
    return {
        load: frozenset(spans)
        for load, spans in found.items()
        if spans and not any(span.start < 0 for span in spans)
    }


def _writes_that_meet(protocol: Protocol, read: AbstractSet[Span]) -> frozenset[Span]:
    """Return what a run may write of some bytes."""
    written = {span for each in _touching(protocol) for span in each.writes}
    return frozenset(span for span in written if _may_meet((span,), read))


def _with_accesses(strand: Strand, loads: AbstractSet[int], met: AbstractSet[Span]) -> Strand:
    """Return a strand with the ordinary accesses that load at some points or write some bytes, and no others."""
    kept = tuple(
        action
        for action in strand.actions
        if not isinstance(action, Access) or action.point in loads or not met.isdisjoint(action.writes)
    )
    return replace(strand, actions=kept, events=())


def _may_meet(spans: Iterable[Span], others: AbstractSet[Span]) -> bool:
    return any(span.may_meet(other) for span in spans for other in others)


def _are_mbarriers(protocol: Protocol, spans: Iterable[Span]) -> bool:
    """Tell whether some bytes are of an mbarrier at any time."""
    found = {a.barrier for each in protocol.strands for a in each.actions if isinstance(a, Init)}
    words = frozenset(Span(each.cta, each.offset, _MBARRIER) for each in found)
    return _may_meet(spans, words)


def _bytes(spans: Iterable[Span]) -> Iterator[_Place]:
    return ((span.cta, place) for span in spans for place in range(span.start, span.end))
