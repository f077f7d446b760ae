"""Protocols for tests: strands of one warp each, that start behind a barrier of all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ptxcheck.protocols.model.actions import (
    Action,
    Arrive,
    Barrier,
    Init,
    Protocol,
    Rendezvous,
    Span,
    Strand,
    Transfer,
)
from ptxcheck.protocols.model.outcome import Flaw, Outcome
from ptxcheck.protocols.model.sync_objects import ClusterBarrier, NamedBarrier
from ptxcheck.protocols.proof.search import examine

BYTES = 16
FULL = Barrier(0, 0)
EMPTY = Barrier(0, 8)
SLOT = Span(0, 1024, BYTES)


def meeting(count: int, number: int = 0) -> Rendezvous:
    """Return a barrier of `count` strands that all wait for it."""
    return Rendezvous(0, NamedBarrier(0, number), 1, count, True)


def protocol(
    counts: Mapping[Barrier, int],
    *strands: Sequence[Action],
    ctas: Sequence[int] = (),
    registers: int | None = None,
) -> Protocol:
    """Return a protocol whose first strand initialises mbarriers before all of them start."""
    places = ctas or [0] * len(strands)
    start = Rendezvous(0, ClusterBarrier(), 1, len(strands), True)
    built = []
    for index, actions in enumerate(strands):
        head: list[Action] = [Init(0, b, count) for b, count in counts.items() if index == 0]
        numbered = [replace(a, point=100 * index + n) for n, a in enumerate((*head, start, *actions))]
        built.append(Strand(places[index], index, 1, f"warp {index}", tuple(numbered)))
    return Protocol(tuple(built), len(strands), registers)


def expected_load(barrier: Barrier = FULL, slot: Span = SLOT) -> list[Action]:
    """Return what expects the bytes of a tile and copies it."""
    return [Arrive(0, barrier, 1, slot.size), Transfer(0, ((barrier, slot.size),), writes=(slot,))]


def shown(outcome: Outcome) -> set[Flaw]:
    """Return the flaws that some schedule demonstrates."""
    return {problem.flaw for problem in outcome.problems if problem.demonstrated}


def flaws_of(
    counts: Mapping[Barrier, int],
    *strands: Sequence[Action],
    ctas: Sequence[int] = (),
    registers: int | None = None,
) -> set[Flaw]:
    """Return what is demonstrated to be wrong with a protocol; nothing may be left undecided."""
    outcome = examine(protocol(counts, *strands, ctas=ctas, registers=registers))
    assert all(problem.demonstrated for problem in outcome.problems), outcome.problems
    assert outcome.memory_doubts == ()
    return shown(outcome)
