"""How deep a ring is follows from the stages that a run came to, and from those beside them."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.model.actions import (
    Action,
    Arrive,
    Barrier,
    Expect,
    Init,
    Protocol,
    Strand,
    Wait,
)
from ptxcheck.protocols.proof.first.stages import Ring, joined, stages_of

_WAIT, _ARRIVE = 10, 11


def _ring(stages: int, rounds: int, *, apart: int, step: int, counts: tuple[int, int]) -> Protocol:
    """Return a consumer that waits for `full` and arrives at `empty`, `apart` bytes behind it."""
    makes: list[Action] = []
    for stage in range(stages):
        full = Barrier(0, stage * step)
        makes += [Init(stage, full, counts[0]), Init(stage, Barrier(0, full.offset + apart), counts[1])]
    uses: list[Action] = []
    for turn in range(rounds):
        full = Barrier(0, turn % stages * step)
        uses += [Wait(_WAIT, full, 0), Arrive(_ARRIVE, Barrier(0, full.offset + apart), 1)]
    return Protocol((Strand(0, 0, 1, "", tuple(makes)), Strand(0, 1, 1, "", tuple(uses))), 2)


@pytest.mark.parametrize("rounds", [2, 3, 9])
@pytest.mark.parametrize("counts", [(1, 1), (1, 4)])
def test_stages_beyond_the_stages_of_a_run_are_counted(rounds: int, counts: tuple[int, int]) -> None:
    layouts = {"side by side": (56, 8), "in turns": (8, 16)}
    for apart, step in layouts.values():
        found = max(
            r.stages for r in stages_of(_ring(7, rounds, apart=apart, step=step, counts=counts)).values()
        )
        assert found == 7 if rounds > 7 or counts[0] != counts[1] else 7 <= found < 14


def test_without_mbarriers_there_is_no_ring() -> None:
    assert stages_of(Protocol((), 0)) == {}


@pytest.mark.parametrize(("kinds", "copies"), [((Arrive, Arrive), 2), ((Arrive, Expect), 1)])
def test_an_unrolled_body_does_one_thing_at_an_mbarrier_from_many_places(
    kinds: tuple[type[Arrive | Expect], ...], copies: int
) -> None:
    full = Barrier(0, 0)
    uses = tuple(kind(_ARRIVE + place, full, 1) for place, kind in enumerate(kinds))
    (ring,) = stages_of(Protocol((Strand(0, 0, 1, "", (Init(0, full, 1), *uses)),), 1)).values()
    assert ring == Ring(1, copies)


def test_a_look_ahead_is_of_the_ring_of_the_wait_that_another_run_shows() -> None:
    look, wait, other = 20, 21, 30
    alone = [(frozenset({look}), Ring(8, 0)), (frozenset({other}), Ring(2, 1))]
    together = [(frozenset({look, wait}), Ring(3, 2))]
    assert joined([*alone, *together]) == {
        frozenset({look, wait}): Ring(8, 2),
        frozenset({other}): Ring(2, 1),
    }
