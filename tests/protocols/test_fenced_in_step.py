"""A fence behind the barrier: what compilers emit where all warps write, meet, fence and multiply, and nothing else."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.model.actions import (
    Access,
    Action,
    Fence,
    Protocol,
    Rendezvous,
    Span,
    Strand,
    Transfer,
)
from ptxcheck.protocols.model.outcome import Flaw
from ptxcheck.protocols.model.sync_objects import NamedBarrier
from ptxcheck.protocols.proof.simulate import simulate

HALVES = (Span(0, 1024, 64), Span(0, 1088, 64))
BOTH = (Span(0, 1024, 128),)
WRITE, MEET, FENCE, MULTIPLY = 1, 2, 3, 4


def warp(number: int, *, fence: bool = True, first: bool = False, pipeline: str = "wgmma") -> Strand:
    """Return a warp that writes its half and multiplies both; `first`: it fences before the barrier."""
    meet = Rendezvous(MEET, NamedBarrier(0, 0), 32, 64, True)
    fences: tuple[Action, ...] = (Fence(FENCE, proxy=True),) if fence else ()
    middle = (*fences, meet) if first else (meet, *fences)
    use = Transfer(MULTIPLY, (), pipeline, reads=BOTH)
    return Strand(
        0, number, (1 << 32) - 1, f"warp {number}", (Access(WRITE, (), (HALVES[number],)), *middle, use)
    )


def flaws(*warps: Strand) -> list[Flaw]:
    return [problem.flaw for problem in simulate(Protocol(warps, 64)).problems]


def test_fence_of_the_writer_before_the_barrier() -> None:
    assert flaws(warp(0, first=True), warp(1, first=True)) == []


def test_fence_behind_the_barrier_is_only_strict() -> None:
    outcome = simulate(Protocol((warp(0), warp(1)), 64))
    assert outcome.problems == ()
    assert {problem.flaw for problem in outcome.strict} == {Flaw.FENCED_BEHIND_BARRIER}


@pytest.mark.parametrize("which", [0, 1])
def test_a_warp_that_never_fences_is_not_excused(which: int) -> None:
    assert Flaw.MISSING_PROXY_FENCE in flaws(*(warp(number, fence=number != which) for number in (0, 1)))


def test_bulk_copies_are_not_excused() -> None:
    assert Flaw.MISSING_PROXY_FENCE in flaws(warp(0, pipeline="bulk"), warp(1, pipeline="bulk"))
