"""Phases in which actions count in a reference schedule: a state in which one counts in another phase is wrong.

Property: a schedule in which no check raises lets every action count in, or observe, the phase of the reference.

Argument: each action that takes part in a phase is compared when it does, whether a strand or work in flight does it.

Not covered: actions that the reference has not reached: they may count in any phase.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ..model.actions import Action, Expect, SyncObject, Transfer, Wait
from ..model.outcome import Flaw
from .explicit_state import Wrong, WrongError

Reference: TypeAlias = Mapping[tuple[int, int], int]
"""Phase of each action (strand, number) in the reference schedule."""


def check_phase(
    reference: Reference, strand: int, index: int, name: SyncObject, phase: int, action: Action
) -> None:
    """Compare the phase that an action counts in, or observes, with that in the reference. Raises WrongError."""
    expected = reference.get((strand, index))
    if expected is None or expected == phase:
        return
    flaw, what = _difference(action, phase < expected)
    text = f"{what} phase {phase} in this schedule, and phase {expected} in another one"
    raise WrongError(Wrong(flaw, strand, action.point, name, phase, text))


def _difference(action: Action, early: bool) -> tuple[Flaw, str]:
    match action:
        case Wait():
            return (Flaw.EARLY_WAIT if early else Flaw.MISSED_PHASE), "the wait observes"
        case Transfer():
            return Flaw.EARLY_TRANSFER, "the bytes count in"
        case Expect():
            return Flaw.LATE_EXPECT, "the bytes are expected in"
        case _:
            return Flaw.EARLY_ARRIVAL, "the arrival counts in"
