"""Ordinary accesses of shared memory put together: a quick look at a protocol.

What a strand reads and writes between two of its other actions is known to others at the same moment, so one access of
all the bytes is ordered as each of its parts is. Two accesses that are one here meet whenever some of their parts do,
and none of the excuses that the parts may have holds for them. So a quick look that finds no problem is right; one
that finds any says nothing, and the protocol itself is judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from .actions import Access, Action, Protocol, Strand
from .in_step import without_late_lanes
from .lowering import merged
from .outcome import Outcome
from .simulate import simulate

_FIRST = -2
"""Points of accesses that were put together: none of an instruction, and another one for each strand."""


def examined(protocol: Protocol, examine: Callable[[Protocol], Outcome]) -> Outcome:
    """Return what is known of all schedules of a protocol: by a quick look if that is enough, else by `examine`.

    The steps of an outcome without problems are those of the protocol with accesses put together.
    """
    strands = tuple(_together(strand, index, protocol) for index, strand in enumerate(protocol.strands))
    if all(len(one.actions) == len(own.actions) for one, own in zip(strands, protocol.strands, strict=True)):
        return examine(protocol)
    quick = replace(protocol, strands=strands)
    outcome = without_late_lanes(quick, simulate(quick))
    if outcome.problems:
        return examine(protocol)
    points = len(protocol.strands)
    doubts = tuple(replace(each, point=_origin(each.point, points)) for each in outcome.memory_doubts)
    return replace(outcome, memory_doubts=doubts)


def without_accesses(protocol: Protocol) -> Protocol:
    """Return a protocol without ordinary accesses of shared memory."""
    return replace(
        protocol,
        strands=tuple(
            _with(strand, ((a, e) for a, e in _numbered(strand) if not isinstance(a, Access)))
            for strand in protocol.strands
        ),
    )


def _numbered(strand: Strand) -> Iterator[tuple[Action, int]]:
    return zip(strand.actions, strand.events or (-1,) * len(strand.actions), strict=True)


def _with(strand: Strand, numbered: Iterable[tuple[Action, int]]) -> Strand:
    kept = tuple(numbered)
    events = tuple(event for _, event in kept) if strand.events else ()
    return replace(strand, actions=tuple(action for action, _ in kept), events=events)


def _together(strand: Strand, index: int, protocol: Protocol) -> Strand:
    return _with(strand, _joined(strand, index, len(protocol.strands)))


def _joined(strand: Strand, index: int, strands: int) -> Iterator[tuple[Action, int]]:
    waiting: list[tuple[Access, int]] = []
    for action, event in _numbered(strand):
        if isinstance(action, Access) and not action.combines and not action.blocks:
            waiting.append((action, event))
            continue
        yield from _as_one(waiting, index, strands)
        waiting = []
        yield action, event
    yield from _as_one(waiting, index, strands)


def _as_one(accesses: list[tuple[Access, int]], index: int, strands: int) -> Iterator[tuple[Action, int]]:
    """Yield accesses that follow each other as one of all certain reads and one of all certain writes, and the rest."""
    if len(accesses) < 2:
        yield from accesses
        return
    last = accesses[-1][1]
    point = _FIRST - (accesses[0][0].point * strands + index)
    sure = [access for access, _ in accesses if _is_sure(access)]
    reads = {span for access in sure for span in access.reads}
    writes = {span for access in sure for span in access.writes}
    if reads:
        yield Access(point, reads=tuple(merged(reads))), last
    if writes:
        yield Access(point, writes=tuple(merged(writes))), last
    rest: dict[tuple[object, ...], tuple[Access, int]] = {}
    for access, event in accesses:
        if not _is_sure(access):
            rest.setdefault((access.reads, access.writes, access.certain), (access, event))
    yield from rest.values()


def _is_sure(access: Access) -> bool:
    return access.certain and all(span.exact for span in (*access.reads, *access.writes))


def _origin(point: int, strands: int) -> int:
    """Return the point of the first access that was put together with others at a point."""
    return (_FIRST - point) // strands if point <= _FIRST else point
