"""Waits that tell their strand something: whose phase may be open when they are reached.

Property: a poll at a wait that is not named here is answered with yes in every schedule.

Argument: a poll that is not repeated may be answered with no where the phase is open. Where the strand knows before
that the phase is over, as its clock does not change by the wait, the answer is yes in every schedule.

Not covered: whether a poll that is named is ever answered with no: a wait may tell of other things that are over
anyway. Ordinary accesses are left out, as they tell nobody anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

import numpy as np

from ...cfg.cfg import Cfg
from ..model.actions import Protocol, Wait
from ..order.clock import Clock, Row
from ..symex.slice.polling import POLLS
from ..symex.values.trace import Trace
from .coalesced_accesses import without_accesses
from .simulate import scheduled_steps


def open_waits(protocol: Protocol, points: AbstractSet[int]) -> Iterator[tuple[int, int]]:
    """Yield CTA and event of the waits at some points that are passed only after something else has happened."""
    bare = without_accesses(protocol)
    clocks: list[Clock] = []
    steps = scheduled_steps(bare, clocks)
    known: dict[int, Clock] = {}
    for step, clock in zip(steps, clocks, strict=True):
        strand = bare.strands[step.strand]
        executed = clock[Row.EXECUTED].copy()
        executed[step.strand] = 0
        before = known.get(step.strand, np.zeros_like(executed))
        known[step.strand] = executed
        action = strand.actions[step.index]
        if isinstance(action, Wait) and action.point in points and (executed != before).any():
            yield strand.cta, strand.events[step.index]


def take_same_steps(cfg: Cfg, some: Sequence[Trace], others: Sequence[Trace]) -> bool:
    """Tell whether threads come to the same synchronisation in two runs, waits that polls may spare them left out."""
    return _done(cfg, some) == _done(cfg, others)


def _done(cfg: Cfg, traces: Sequence[Trace]) -> Counter[tuple[int, int, int]]:
    return Counter(
        (trace.rank, event.point, event.threads)
        for trace in traces
        for event in trace.events
        if event.access is None and cfg.instructions[event.point].operation.op not in POLLS
    )
