"""Lanes of one warp in step: where the order argument fails because lanes that wait or arrive together may part.

Property: a flaw of order is made strict when the protocol does not have it with lanes that come to a wait together
leaving it together, and lanes that arrive by one instruction arriving at one moment, and has no new one then.

Argument: the PTX ISA lets a lane fall behind the others of its warp for as long as it likes: one that only waits at
the mbarriers of a ring may be a whole turn late and miss a phase. Released kernels rely on the hardware, which lets
lanes that came to an instruction together execute it together. `in_step` says so with a barrier of these lanes behind
each wait, and in front of each arrival, which tells of those beside it; it orders execution and no memory.

Not covered: races of accesses, and arrivals behind anything else than a wait or a barrier, where lanes may have parted.
Lanes that use the bytes that they waited for. They are not done when they come out of the wait, and
hardware parts them there: one that frees the slot for all of them has to meet them first (a missing `__syncwarp`).
Where bytes of unknown extent are written, the ones that follow are taken to be used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from ...verdict import Property
from ..model.actions import (
    Access,
    Action,
    Arrive,
    Protocol,
    Rendezvous,
    Span,
    Strand,
    Transfer,
    Wait,
)
from ..model.mechanisms import PROPERTY_OF
from ..model.outcome import Flaw, Outcome, Problem
from ..model.sync_objects import LockstepBarrier
from ..order.axioms import LANES_WAIT_TOGETHER
from .simulate import simulate

_OF_ORDER = frozenset({Flaw.MISSED_PHASE, Flaw.EARLY_WAIT, Flaw.EARLY_ARRIVAL, Flaw.EARLY_TRANSFER})
"""Flaws that a lane may cause by being late."""
_Together = Mapping[tuple[int, int, int], int]
"""CTA, warp and event of each wait or arrival that lanes of several strands come to together, with their number."""
_Arrivals = Mapping[tuple[int, int, int], Sequence[tuple[int, int]]]
"""Strand, and number of actions up to it, of each arrival of a CTA and warp by an event that lanes come to together."""


def without_late_lanes(
    protocol: Protocol, outcome: Outcome, is_late: Callable[[], bool] = lambda: False
) -> Outcome:
    """Return an outcome in which flaws of order that lanes in step do not have are strict ones."""
    doubtful = [problem for problem in outcome.problems if not problem.demonstrated]
    if not doubtful or not all(problem.flaw in _OF_ORDER for problem in doubtful):
        return outcome
    if any(_is_used(protocol, problem) for problem in doubtful):
        return outcome
    together = _together(protocol)
    if not together:
        return outcome
    stepped = simulate(in_step(protocol, together), is_late=is_late)
    left = {(problem.flaw, problem.point, problem.barrier) for problem in stepped.problems}
    known = {(problem.flaw, problem.point, problem.barrier) for problem in outcome.problems}
    if not left <= known or any((p.flaw, p.point, p.barrier) in left for p in doubtful):
        return outcome
    kept, strict = [], []
    for p in outcome.problems:
        if (p.flaw, p.point, p.barrier) in left or PROPERTY_OF[p.flaw] is Property.SLOT_SAFETY:
            kept.append(p)
        else:
            strict.append(replace(p, axiom=LANES_WAIT_TOGETHER))
    return replace(outcome, problems=tuple(kept), strict=(*outcome.strict, *strict))


def _is_used(protocol: Protocol, problem: Problem) -> bool:
    """Tell whether lanes that may be late read, between the wait in question and the next one, what others write."""
    strand = protocol.strands[problem.strand]
    read: set[Span] = set()
    waited = False
    for action in strand.actions:
        if isinstance(action, Wait):
            waited = action.barrier == problem.barrier
        elif waited and isinstance(action, Access):
            read.update(action.reads)
    if not read:
        return False
    written = set(_written(protocol, strand))
    return any(_is_in(one, [other for other in written if other.cta == one.cta]) for one in read)


def _is_in(read: Span, written: Sequence[Span]) -> bool:
    """Tell whether bytes are among those that are written; the ones of unknown extent reach up to the next that are."""
    if any(other.start < read.end and read.start < other.end for other in written):
        return True
    last = max((other.start for other in written if other.start <= read.start), default=None)
    return any(other.start == last and not other.exact for other in written)


def _written(protocol: Protocol, reader: Strand) -> Iterator[Span]:
    """Yield the bytes that other warps write at places that are known."""
    for strand in protocol.strands:
        if (strand.cta, strand.warp) != (reader.cta, reader.warp):
            for action in strand.actions:
                if isinstance(action, Access | Transfer):
                    yield from (span for span in action.writes if span.start >= 0)


def in_step(protocol: Protocol, together: _Together) -> Protocol:
    """Return a protocol in which lanes that come to a wait or an arrival together do it together."""
    stepped = [_stepped(strand, together) for strand in protocol.strands]
    arrivals = _arrivals(stepped, together)
    joined = tuple(_with_others(strand, number, arrivals) for number, strand in enumerate(stepped))
    return replace(protocol, strands=joined)


def _together(protocol: Protocol) -> _Together:
    counts: dict[tuple[int, int, int], int] = {}
    coming: dict[tuple[int, int, int], int] = {}
    for strand in protocol.strands:
        for event in sorted({*_events_together(strand)}):
            key = (strand.cta, strand.warp, event)
            counts[key] = counts.get(key, 0) + 1
            coming[key] = coming.get(key, 0) + strand.threads
    return {key: coming[key] for key, count in counts.items() if count > 1}


def _events_together(strand: Strand) -> Iterator[int]:
    """Yield the waits of a strand, and the arrivals that come right behind a wait, a barrier or the beginning."""
    before: Action | None = None
    last = -1
    for action, event in zip(strand.actions, strand.events, strict=False):
        is_behind = before is None or isinstance(before, Wait | Rendezvous) or last == event
        if isinstance(action, Wait) or (isinstance(action, Arrive) and is_behind):
            yield event
        before, last = action, event


def _stepped(strand: Strand, together: _Together) -> Strand:
    actions: list[Action] = []
    events: list[int] = []
    numbered = list(zip(strand.actions, strand.events, strict=False))

    def meet(action: Wait | Arrive, event: int, threads: int) -> None:
        name = LockstepBarrier(strand.cta, strand.warp, event)
        actions.append(Rendezvous(action.point, name, strand.threads, threads, waits=True, orders=False))
        events.append(event)

    for position, (action, event) in enumerate(numbered):
        threads = together.get((strand.cta, strand.warp, event))
        is_first = position == 0 or numbered[position - 1][1] != event
        if threads is not None and isinstance(action, Arrive) and is_first:
            meet(action, event, threads)
        actions.append(action)
        events.append(event)
        is_last = position + 1 == len(numbered) or numbered[position + 1][1] != event
        if threads is not None and isinstance(action, Wait) and is_last:
            meet(action, event, threads)
    return replace(strand, actions=tuple(actions), events=tuple(events))


def _arrivals(strands: Sequence[Strand], together: _Together) -> _Arrivals:
    found: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
    for number, strand in enumerate(strands):
        for place, (action, event) in enumerate(zip(strand.actions, strand.events, strict=False)):
            key = (strand.cta, strand.warp, event)
            if isinstance(action, Arrive) and key in together:
                found.setdefault(key, []).append((number, place + 1))
    return found


def _with_others(strand: Strand, own: int, arrivals: _Arrivals) -> Strand:
    """Return a strand whose arrivals tell of those of other lanes of its warp by the same instruction."""

    def beside(event: int) -> tuple[tuple[int, int], ...]:
        by_event = arrivals.get((strand.cta, strand.warp, event), ())
        return tuple(each for each in by_event if each[0] != own)

    actions = tuple(
        replace(action, beside=beside(event)) if isinstance(action, Arrive) else action
        for action, event in zip(strand.actions, strand.events, strict=False)
    )
    return replace(strand, actions=actions) if strand.events else strand
