"""Asynchronous work of a run as bars, by the unit of the hardware that does it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..ir import Instruction
from ..opcodes.op import Op
from ..protocols.model import (
    async_copy,
    bulk_copy,
    launch_control,
    tcgen05,
    wgmma,
)
from ..protocols.model.actions import Transfer
from .completion import Completion
from .moments import TimedRun
from .run_chart import Event, Lane, Work

_TENSOR_CORE, _TMA = "tensor core", "TMA"
UNITS: Mapping[Op, str] = {
    **dict.fromkeys(launch_control.MEANINGS, "launch control"),
    **dict.fromkeys(async_copy.MEANINGS, "copies by threads"),
    **dict.fromkeys(bulk_copy.MEANINGS, _TMA),
    **dict.fromkeys(wgmma.MEANINGS, _TENSOR_CORE),
    **dict.fromkeys(tcgen05.MEANINGS, _TENSOR_CORE),
}
"""What does the asynchronous work of each instruction."""
_OTHER = "asynchronous work"


def work_bars(
    run: TimedRun,
    events: Sequence[Event],
    event_of: Mapping[tuple[int, int], int],
    instructions: Sequence[Instruction],
) -> tuple[tuple[Lane, ...], tuple[Work, ...]]:
    """Return the units, and the work of the events that start some. `event_of` gives the event of an action.

    Moments are those of the run.
    """
    completion = Completion(run)
    units: dict[tuple[int, str], int] = {}
    bars: dict[tuple[int, int | None], Work] = {}
    for (strand, index), event in sorted(event_of.items(), key=lambda item: (item[1], item[0])):
        action = run.protocol.strands[strand].actions[index]
        if not isinstance(action, Transfer):
            continue
        end = completion.moment(strand, index, action)
        spans = (*action.writes, *action.reads)
        known = bars.get((event, end))
        if known is not None:
            spans = tuple(dict.fromkeys((*known.spans, *spans)))
            bars[event, end] = replace(known, count=known.count + 1, spans=spans)
            continue
        unit = UNITS.get(instructions[action.point].operation.op, _OTHER)
        lane = units.setdefault((run.protocol.strands[strand].cta, unit), len(units))
        bars[event, end] = Work(lane, event, events[event].moment, end, 1, spans, bool(action.writes))
    ordered = sorted(units)
    place = {number: ordered.index(unit) for unit, number in units.items()}
    lanes = tuple(Lane(name, cta) for cta, name in ordered)
    return lanes, tuple(replace(work, lane=place[work.lane]) for work in bars.values())
