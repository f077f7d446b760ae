"""The states of the barriers of a run, by moment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TypeAlias

from ..protocols.model.actions import Action, Barrier, Rendezvous
from ..protocols.model.sync_objects import ClusterBarrier, CountedBarrier
from .barrier_history import Held, replay
from .barrier_names import BarrierNames, mbarriers_of
from .moments import TimedRun
from .run_chart import BarrierLane, BarrierState

Name: TypeAlias = Barrier | CountedBarrier


def barrier_lanes(
    run: TimedRun,
    barriers: Iterable[Name],
    names: BarrierNames,
    shown: Callable[[int], int | None],
    stuck: Iterable[Action],
    last: int,
) -> Iterator[BarrierLane]:
    """Yield a lane for each barrier. `shown` turns moments into those that are drawn, None behind the last.

    At the `last` one, strands that are `stuck` at a counted barrier have arrived there.
    """
    states: dict[Name, list[BarrierState]] = {barrier: [] for barrier in barriers}
    steps = [run.schedule[place] for place in run.order]
    gathered: dict[Name, BarrierState] = {}

    def gather(action: Rendezvous, moment: int) -> None:
        gathered[action.name] = _gathered(gathered.get(action.name), action, moment)
        _add(states[action.name], gathered[action.name])

    for place, (step, held) in zip(run.order, replay(run.protocol, steps), strict=True):
        moment, action = shown(run.moments[place]), run.action(step)
        if moment is None:
            continue
        for barrier in mbarriers_of(action):
            _add(states[barrier], _state_of(moment, held.get(barrier)))
        if isinstance(action, Rendezvous) and action.name in states:
            gather(action, moment)
    for action in stuck:
        if isinstance(action, Rendezvous) and action.arrives and action.name in states:
            gather(action, last)
    for name, found in states.items():
        yield BarrierLane(names.of(name), _cta_of(name), isinstance(name, Barrier), tuple(found))


def _cta_of(barrier: Name) -> int:
    return 0 if isinstance(barrier, ClusterBarrier) else barrier.cta


def _state_of(moment: int, held: Held | None) -> BarrierState:
    if held is None:
        return BarrierState(moment, None, 0, 0)
    has_bytes = held.expected != 0 or held.completed != 0
    return BarrierState(
        moment, held.phase, max(held.pending, 0), held.count,
        str(held.expected) if has_bytes else "", str(held.completed) if has_bytes else "",
    )  # fmt: skip


def _gathered(before: BarrierState | None, action: Rendezvous, moment: int) -> BarrierState:
    """Return a counted barrier after an arrival."""
    pending = action.needed if before is None else before.pending
    phase = 0 if before is None or before.phase is None else before.phase
    if action.arrives:
        pending -= action.threads
    if pending <= 0:
        return BarrierState(moment, phase + 1, action.needed, action.needed)
    return BarrierState(moment, phase, pending, action.needed)


def _add(states: list[BarrierState], state: BarrierState) -> None:
    """Add a state; of one moment the last one stays, and what does not change is left out."""
    if states and replace(states[-1], moment=state.moment) == state:
        return
    if states and states[-1].moment == state.moment:
        states.pop()
    states.append(state)
