"""When asynchronous work is known to be done: at the first wait for a phase that it counts in, or for its group."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from ..protocols.model.actions import (
    AsyncArrive,
    Barrier,
    Commit,
    Transfer,
    Wait,
    WaitGroup,
)
from .moments import TimedRun


class Completion:
    """The ends of the asynchronous work of one run."""

    def __init__(self, run: TimedRun) -> None:
        self._run = run

    def moment(self, strand: int, index: int, action: Transfer) -> int | None:
        """Return the moment at which somebody first knows that work is done, None when nobody does."""
        ends = [self._first_wait(barrier, phase) for barrier, phase in self._phases_of_work(strand, index)]
        if not action.completes and action.pipeline:
            ends += [self._group_end(strand, index, action.pipeline), self._commit_end(strand, index, action)]
        known = [end for end in ends if end is not None]
        return min(known, default=None)

    def _phases_of_work(self, strand: int, index: int) -> Iterator[tuple[Barrier, int]]:
        """Yield the phases that work of an action counts in; none when it has not been started."""
        place = self._completions.get((strand, index), self._run.places.get((strand, index)))
        yield from () if place is None else self._run.phases[place].items()

    @cached_property
    def _completions(self) -> dict[tuple[int, int], int]:
        """Number of the step that completes the work of an action, in schedules that have such steps."""
        return {(s.strand, s.index): number for number, s in enumerate(self._run.schedule) if s.completes}

    @cached_property
    def _waits(self) -> dict[Barrier, list[tuple[int, int]]]:
        """Phase and moment of each wait for an mbarrier."""
        found: dict[Barrier, list[tuple[int, int]]] = {}
        for number, step in enumerate(self._run.schedule):
            action = self._run.action(step)
            if isinstance(action, Wait):
                found.setdefault(action.barrier, []).append(
                    (self._run.phases[number][action.barrier], self._run.moments[number])
                )
        return found

    def _first_wait(self, barrier: Barrier, phase: int) -> int | None:
        """Return the moment of the first wait that sees a phase, or a later one, complete."""
        found = [moment for seen, moment in self._waits.get(barrier, ()) if seen >= phase]
        return min(found, default=None)

    def _group_end(self, strand: int, index: int, pipeline: str) -> int | None:
        """Return the moment of the first wait of the strand that covers the group of an action."""
        actions = self._run.protocol.strands[strand].actions
        closed, group = 0, None
        for at, action in enumerate(actions):
            if at == index:
                group = closed
            if isinstance(action, Commit) and action.pipeline == pipeline:
                closed += 1
            covers = isinstance(action, WaitGroup) and action.pipeline == pipeline
            if (
                covers
                and group is not None
                and isinstance(action, WaitGroup)
                and closed - action.pending > group
            ):
                return self._moment(strand, at)
        return None

    def _commit_end(self, strand: int, index: int, work: Transfer) -> int | None:
        """Return the moment of the first wait for an arrival that comes when the work is done."""
        actions = self._run.protocol.strands[strand].actions
        ends = [
            self._first_wait(*phase)
            for at, action in enumerate(actions)
            if at > index and isinstance(action, AsyncArrive) and action.pipeline == work.pipeline
            for phase in self._phases_of_work(strand, at)
        ]
        return min((end for end in ends if end is not None), default=None)

    def _moment(self, strand: int, index: int) -> int | None:
        place = self._run.places.get((strand, index))
        return None if place is None else self._run.moments[place]
