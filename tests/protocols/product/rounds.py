"""Loops of strands, performed round after round until a state stands for all rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ptxcheck.protocols.model.actions import Action
from ptxcheck.protocols.product.operations import Failure
from ptxcheck.protocols.product.order_state import BLOCKED, OrderState
from ptxcheck.protocols.product.setup import Setup, StrandInfo

_MOST_ROUNDS = 12


class StuckError(Exception):
    """No strand can go on."""


class FailedError(Exception):
    """An action is not shown to be in order."""


@dataclass(frozen=True)
class Loop:
    """What a strand does first, and what it does again and again."""

    first: Sequence[Action]
    body: Sequence[Action]
    cta: int = 0
    lanes: int = 1
    warp: int = -1


def setup_of(loops: Sequence[Loop], **more: object) -> Setup:
    infos = [
        StrandInfo(each.cta, number if each.warp < 0 else each.warp, each.lanes, f"strand {number}")
        for number, each in enumerate(loops)
    ]
    return Setup(infos, [(*each.first, *each.body) for each in loops], **more)  # type: ignore[arg-type]


def perform(state: OrderState, programs: Sequence[Sequence[Action]], *, ends: bool = False) -> None:
    """Perform the programs of all strands to their ends. Raises StuckError, FailedError."""
    at = [0] * len(programs)
    moved = True
    while moved:
        moved = False
        for strand, program in enumerate(programs):
            while at[strand] < len(program):
                result = state.perform(strand, program[at[strand]])
                if isinstance(result, Failure):
                    raise FailedError(result.reason, result.strand, result.point)
                if result == BLOCKED:
                    break
                at[strand] += 1
                moved = True
    for strand, program in enumerate(programs):
        if at[strand] < len(program):
            raise StuckError(strand, program[at[strand]])
    for strand in range(len(programs)) if ends else ():
        failure = state.end(strand)
        if failure is not None:
            raise FailedError(failure.reason, failure.strand, failure.point)


def rounds_to_fixpoint(loops: Sequence[Loop], **more: object) -> int:
    """Return after how many rounds a state stands for all that follow; in each of them strands may also end."""
    state = OrderState(setup_of(loops, **more))
    perform(state, [each.first for each in loops])
    known = state.copy()
    for count in range(1, _MOST_ROUNDS):
        perform(state, [each.body for each in loops])
        _finish(state.copy())
        if state.control() == known.control():
            if state.covered_by(known):
                return count
            state.weaken(known)
        known = state.copy()
    raise StuckError("no fixpoint")


def _finish(state: OrderState) -> None:
    perform(state, [()] * len(state.setup.strands), ends=True)
    failure = state.finish()
    if failure is not None:
        raise FailedError(failure.reason, failure.strand, failure.point)
