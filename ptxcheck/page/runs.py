"""Runs of one kernel for the page: those that go wrong, and the longest one that was made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..explain.barrier_names import BarrierNames, barrier_names
from ..explain.charting import run_chart
from ..explain.counterexample import Story
from ..explain.run_chart import (
    BarrierLane,
    Event,
    RunChart,
    Work,
)
from ..explain.shared_map import Buffer, shared_map
from ..explain.violations import (
    Violation,
    WholeKernel,
    steps_of,
    whole_kernel,
)
from ..finding import Counterexample, Location
from ..protocols.model.outcome import Problem, Step
from ..protocols.proof.evidence import Run
from ..protocols.proof.simulate import scheduled_steps
from ..view import KernelView
from .places import Places

MOST_RUNS = 4
"""Runs that go wrong which are shown of one kernel."""


@dataclass(frozen=True)
class ShownRun:
    """One run, and the counterexample that it is."""

    counterexample: Counterexample[Location] | None
    data: dict[str, Any]


def runs_of(view: KernelView, places: Places) -> Iterator[ShownRun]:
    """Yield the runs of a kernel that are shown, those that go wrong first."""
    whole = view.get(whole_kernel)
    if whole is None:
        return
    for violation in whole.violations[:MOST_RUNS]:
        yield _wrong(view, violation, places)
    sample = whole.result.sample
    if sample is not None and not any(run.protocol is sample.protocol for run in whole.result.failures):
        yield ShownRun(
            None, {**_drawn(view, places, sample, scheduled_steps(sample.protocol)), **_good(sample)}
        )


def why_no_run(whole: WholeKernel | None) -> str:
    """Return why there is no run to show of a kernel."""
    if whole is None:
        return "nothing in this kernel is about barriers or asynchronous work, or verification is turned off"
    reasons = whole.failure or "; ".join(reason.text for reason in whole.result.reasons[:2])
    return f"no run of this kernel could be followed: {reasons or 'the time was used up'}"


def _good(run: Run) -> dict[str, Any]:
    rounds = "once" if run.trips == 1 else f"{run.trips} times"
    title = f"the longest run that was made; loops whose trip count is open go round {rounds}"
    return {"title": title, "message": "", "state": [], "needed": "", "certain": True}


def _wrong(view: KernelView, violation: Violation, places: Places) -> ShownRun:
    story = Story(view, violation)
    told = story.counterexample()
    schedule = steps_of(violation.run, violation.problem)
    drawn = _drawn(view, places, violation.run, schedule, violation.problem, told.bad)
    texts = {
        "title": ", ".join((told.launch, *told.inputs)),
        "message": story.message(),
        "state": list(told.state),
        "needed": told.needed,
        "certain": violation.certain,
    }
    return ShownRun(told.placed(places.location), {**drawn, **texts})


def _drawn(
    view: KernelView,
    places: Places,
    run: Run,
    schedule: Sequence[Step],
    problem: Problem | None = None,
    bad: int | None = None,
) -> dict[str, Any]:
    names = barrier_names(view.function, view.module, run.protocol)
    chart = run_chart(run.protocol, schedule, names, view.cfg.instructions, problem, bad)
    maps = {cta: shared_map(run.protocol, names, cta) for cta in sorted({role.cta for role in chart.roles})}
    return {**_Packed(chart, places, names).data(), **_memory(chart, maps)}


class _Packed:
    """A chart as lists of numbers, with its texts told once."""

    def __init__(self, chart: RunChart, places: Places, names: BarrierNames) -> None:
        self._chart, self._places, self._names = chart, places, names
        self._texts: dict[str, int] = {}

    def data(self) -> dict[str, Any]:
        chart = self._chart
        return {
            "roles": [[lane.name, lane.cta] for lane in chart.roles],
            "units": [[lane.name, lane.cta] for lane in chart.units],
            "barriers": [self._barrier(barrier) for barrier in chart.barriers],
            "events": [self._event(event) for event in chart.events],
            "work": [self._work(work) for work in chart.work],
            "last": chart.last,
            "left_out": chart.left_out,
            "texts": list(self._texts),
        }

    def _text(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))

    def _event(self, event: Event) -> list[Any]:
        return [
            event.order, event.moment, event.lane, event.kind.value, self._text(event.text),
            self._places.note(event.point), list(event.barriers), event.phase, list(event.causes),
            int(event.is_stuck), int(event.is_bad),
        ]  # fmt: skip

    @staticmethod
    def _work(work: Work) -> list[Any]:
        return [work.lane, work.event, work.start, work.end, work.count, int(work.writes)]

    def _barrier(self, lane: BarrierLane) -> dict[str, Any]:
        states = [
            [s.moment, s.phase, s.pending, s.count, self._text(s.expected), self._text(s.completed)]
            for s in lane.states
        ]
        return {"name": lane.name, "cta": lane.cta, "mbarrier": lane.is_mbarrier, "states": states}


def _memory(chart: RunChart, maps: dict[int, tuple[Buffer, ...]]) -> dict[str, Any]:
    """Return the buffers of each CTA, and for each work the stages that it touches: [CTA, buffer, stage]."""
    touched = [
        sorted({(span.cta, *place) for span in work.spans for place in _stages(maps, span.cta, span.start)})
        for work in chart.work
    ]
    return {
        "memory": {str(cta): [_buffer(buffer) for buffer in buffers] for cta, buffers in maps.items()},
        "touched": [[list(place) for place in places] for places in touched],
    }


def _stages(maps: dict[int, tuple[Buffer, ...]], cta: int, offset: int) -> Iterator[tuple[int, int]]:
    for number, buffer in enumerate(maps.get(cta, ())):
        stage = buffer.stage_of(offset)
        if stage is not None:
            yield number, stage


def _buffer(buffer: Buffer) -> dict[str, Any]:
    return {
        "name": buffer.name,
        "starts": list(buffer.starts),
        "size": buffer.size,
        "exact": buffer.is_exact,
        "uses": [use.value for use in buffer.uses],
        "pieces": buffer.pieces,
    }
