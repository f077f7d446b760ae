"""How deep a ring is follows from the stages that a run came to, and from those beside them."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.actions import Action, Arrive, Barrier, Init, Protocol, Strand, Wait
from ptxcheck.protocols.stages import stages_of

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
        found = max(stages_of(_ring(7, rounds, apart=apart, step=step, counts=counts)).values())
        assert found == 7 if rounds > 7 or counts[0] != counts[1] else 7 <= found < 14


def test_without_mbarriers_there_is_no_ring() -> None:
    assert stages_of(Protocol((), 0)) == {}
