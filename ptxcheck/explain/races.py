"""Races and divergent barriers of a kernel without asynchronous work: what is found in it, once, and its verdicts."""

from __future__ import annotations

import traceback
from dataclasses import dataclass

from ..protocols.races.global_races import GlobalRaces, global_races
from ..protocols.races.judgement import Judgement, is_ordinary, judged, unseen_control
from ..verdict import Property, Reason, Verdict, VerdictKind
from ..view import KernelView
from .violations import concerns

PROPERTIES = (Property.DATA_RACE, Property.BARRIER_DIVERGENCE)


@dataclass(frozen=True, slots=True)
class OrdinaryKernel:
    """What was found in one kernel."""

    judgement: Judgement
    failure: str = ""
    """What went wrong in ptxcheck itself, or ""."""

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return a verdict for each property."""
        if self.failure:
            reason = Reason("the analysis itself failed", -1)
            return tuple(Verdict(which, VerdictKind.UNKNOWN, (reason,)) for which in PROPERTIES)
        return self.judgement.verdicts()


def ordinary_kernel(view: KernelView) -> OrdinaryKernel | None:
    """Judge a kernel; None when verification is turned off, or when it is not an ordinary one.

    Kernels with asynchronous work are verified as a whole: their races and hangs are those of `slot-safety` and
    `deadlock-freedom`. Kernels without shared memory, barriers and instructions of whole warps have nothing to judge.
    """
    if view.verify_seconds is None or not view.function.is_entry or concerns(view) or not is_ordinary(view):
        return None
    try:
        return OrdinaryKernel(judged(view.in_registers))
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{frame.filename.rsplit('/ptxcheck/', 1)[-1]}:{frame.lineno}"
        return OrdinaryKernel(Judgement(), f"{type(error).__name__}: {error} at {place}")


def races_in_global_memory(view: KernelView) -> GlobalRaces:
    """Search a kernel without asynchronous work for races of global memory, within a block and between CTAs."""
    if view.verify_seconds is None or not view.function.is_entry or concerns(view):
        return GlobalRaces()
    if next(unseen_control(view), None) is not None:
        return GlobalRaces()
    return global_races(view.in_registers)
