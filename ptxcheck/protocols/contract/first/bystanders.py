"""Warps that only wait: where they may come too late, what the others do is judged without them.

Compilers let a whole warpgroup wait for a slot that one of its threads fills (TileLang does). Nobody waits for the
other warps, so one that is two turns late sees the wrong phase, or hangs. Released kernels rely on that no warp is. It
says nothing of the rest of the kernel: a wait that nothing follows orders nobody else, and what the others do is the
same in every schedule, whether such a warp ever comes out of it or not. Only the end of the CTA is later with it.

A warp that fills slots or hands them back does more than wait, also where it ends with waits for what it has filled,
and so does one that leaves results in global memory between its waits: they have reason to be late.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass, replace

from ....cfg.cfg import Cfg
from ....verdict import Property
from ...model.actions import (
    Action,
    Arrive,
    AsyncArrive,
    Expect,
    Fence,
    Protocol,
    Rendezvous,
    Strand,
    Transfer,
    Wait,
)
from ...model.mechanisms import PROPERTY_OF, changes_no_phase
from ...model.outcome import Flaw, Outcome, Problem
from ...model.outside import leaves_results
from ...model.sync_objects import WarpBarrier
from ...order.axioms import LATE_OBSERVER
from ...proof.coalesced_accesses import without_accesses
from ...proof.simulate import scheduled_steps

_LATE = frozenset({Flaw.MISSED_PHASE, Flaw.DEADLOCK})
"""Flaws that somebody causes by being late, and that befall him alone when nobody waits for him."""


@dataclass(frozen=True, slots=True)
class Late:
    """Waits of warps that only wait and may be late: a protocol with them, and what goes wrong then."""

    protocol: Protocol
    problems: tuple[Problem, ...]


def late_bystanders(protocol: Protocol, outcome: Outcome) -> Late:
    """Return which waits are left out of a protocol by `judged_without_late`."""
    missed = (problem for problem in outcome.problems if problem.flaw is Flaw.MISSED_PHASE)
    return Late(
        protocol, tuple(replace(problem, flaw=Flaw.LATE_OBSERVER, axiom=LATE_OBSERVER) for problem in missed)
    )


def judged_without_late(
    cfg: Cfg, protocol: Protocol, outcome: Outcome, judge: Callable[[Protocol], Outcome]
) -> tuple[Protocol, Outcome] | None:
    """Return a protocol without the waits that come too late, and its outcome, when nothing else changes phases.

    None when there are no such waits, or something else goes wrong, or a wait hangs though nobody is late, or the end
    of the CTA may hang on them.
    """
    others = _without_late_bystanders(cfg, protocol, outcome)
    rest = None if others is None else judge(others)
    if others is None or rest is None:
        return None
    ends_early = any(PROPERTY_OF[problem.flaw] is Property.EXIT_SAFETY for problem in rest.problems)
    return None if ends_early else (others, rest)


def _without_late_bystanders(cfg: Cfg, protocol: Protocol, outcome: Outcome) -> Protocol | None:
    problems = tuple(each for each in outcome.problems if not changes_no_phase(each.flaw))
    flaws = {problem.flaw for problem in problems}
    if Flaw.MISSED_PHASE not in flaws or not flaws <= _LATE:
        return None
    if not _comes_to_its_end(protocol):
        return None
    alone = _warps_of_one_strand(protocol)
    points = {problem.point for problem in problems}
    kept = [
        _first_of_tail(strand, points, is_alone=(strand.cta, strand.warp) in alone)
        for strand in protocol.strands
    ]
    for problem in problems:
        actions = protocol.strands[problem.strand].actions
        if any(action.point == problem.point for action in actions[: kept[problem.strand]]):
            return None
    cut = [
        (strand, end) for strand, end in zip(protocol.strands, kept, strict=True) if end < len(strand.actions)
    ]
    if any(_does_more(cfg, strand, end) for strand, end in cut):
        return None
    return replace(
        protocol, strands=tuple(_cut(strand, end) for strand, end in zip(protocol.strands, kept, strict=True))
    )


def _does_more(cfg: Cfg, strand: Strand, end: int) -> bool:
    """Tell whether a strand hands over something, or leaves results from one of its waits on."""
    actions = strand.actions
    hands_over = any(isinstance(action, Arrive | Expect | Transfer | AsyncArrive) for action in actions)
    return hands_over or leaves_results(cfg, {action.point for action in actions}, actions[end].point)


def _comes_to_its_end(protocol: Protocol) -> bool:
    """Tell whether nothing hangs where each strand goes on as soon as it can."""
    bare = without_accesses(protocol)
    done = sum(not step.completes for step in scheduled_steps(bare))
    return done == sum(len(strand.actions) for strand in bare.strands)


def _warps_of_one_strand(protocol: Protocol) -> Set[tuple[int, int]]:
    """Return CTA and warp of the warps whose lanes all act together: they meet nobody else at a barrier of the warp."""
    warps = [(strand.cta, strand.warp) for strand in protocol.strands]
    return {warp for warp in warps if warps.count(warp) == 1}


def _first_of_tail(strand: Strand, points: Set[int], *, is_alone: bool) -> int:
    """Return where the waits that end a strand begin, from the first of some points on; its length if none do."""
    actions = strand.actions
    start = len(actions)
    while start and _concerns_nobody(actions[start - 1], is_alone=is_alone):
        start -= 1
    return next(
        (index for index in range(start, len(actions)) if _is_wait_of(actions[index], points)), len(actions)
    )


def _is_wait_of(action: Action, points: Set[int]) -> bool:
    return isinstance(action, Wait) and action.point in points


def _concerns_nobody(action: Action, *, is_alone: bool) -> bool:
    """Tell whether no other strand is told anything by an action."""
    if isinstance(action, Rendezvous):
        return is_alone and isinstance(action.name, WarpBarrier)
    return isinstance(action, Wait | Fence)


def _cut(strand: Strand, end: int) -> Strand:
    return replace(strand, actions=strand.actions[:end], events=strand.events[:end])
