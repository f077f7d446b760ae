"""Clocks: what a strand knows to have happened, in eight senses at once.

A clock is a matrix. Its columns are *components*: one for each strand, which counts its actions, and one for each
source of asynchronous work, which counts completed phases of an mbarrier or completed operations of a pipeline of a
strand. Its rows are senses of "known", each weaker than the first:

- `EXECUTED`: it happened earlier, in every schedule.
- `VISIBLE`: its accesses of memory are visible (release, acquire and completion, as the PTX memory model has it).
- `FENCED`: its generic writes are visible to the async proxy, by a proxy fence of the strand that wrote.
- `CROSSED`: the same, by a proxy fence of any strand on the way; one that only releases or only acquires is none.
- `INITIALISED`: its mbarrier initialisations are visible;
- `IN_ORDER`: its accesses are visible if all arrivals, waits and completions of asynchronous work publish them;
- `RELEASED`: as `WIDE`, whatever the waits on the way acquire;
- `WIDE`: its accesses of memory are visible to other CTAs (scope `.cluster` or wider).

Property: a number n in a row and column says that the first n events of that component are known in that sense, in
every schedule in which all phases are those of the schedule at hand.

Argument: vector clocks. A strand counts its own actions; what it learns at a wait or barrier is the maximum over what
those published that completed it, and these are the same ones in every such schedule (`phases`, `counted_barriers`).
Asynchronous work publishes no ordinary access of its issuer, but bytes that the issuer saw complete. `IN_ORDER` and
`RELEASED` are what hardware keeps beyond that: axioms alone look at them.

Not covered: work that a group waits for, in `IN_ORDER`: that it is over is told on by releases alone. Events of one
component that complete out of order: the n-th stands for all before it. Scopes are two,
the CTA and wider; visibility of global memory is not tracked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..model.actions import (
    TEAM_PIPELINES,
    Arrive,
    AsyncArrive,
    Barrier,
    Protocol,
    TensorAccess,
    Transfer,
)

Clock: TypeAlias = npt.NDArray[np.int32]
Component: TypeAlias = int


class Row(IntEnum):
    """Senses of "known"."""

    EXECUTED = 0
    VISIBLE = 1
    FENCED = 2
    CROSSED = 3
    INITIALISED = 4
    IN_ORDER = 5
    RELEASED = 6
    WIDE = 7


OWN_ROWS = (Row.EXECUTED, Row.VISIBLE, Row.INITIALISED, Row.IN_ORDER)
"""Rows in which a strand knows its own actions at once."""
_EXECUTED, _OWN = int(Row.EXECUTED), tuple(map(int, OWN_ROWS))
"""The same as numbers, which arrays are read with faster."""
MEMORY_ROWS = slice(Row.VISIBLE, None)
NARROW_ROWS = slice(Row.VISIBLE, Row.WIDE)
"""The same, but for what acquires of the scope of a cluster alone show."""
CLUSTER_ROWS = slice(Row.RELEASED, None)
"""What releases of cluster scope publish."""
_PUBLISHED = tuple(int(row) for row in Row if row not in (Row.EXECUTED, Row.IN_ORDER))
"""Rows in which asynchronous work publishes no ordinary access of its issuer."""
READS = ".read"
"""Suffix of the component that counts operations whose source has been read."""


class Components:
    """Numbers of the components of a protocol."""

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol
        self._strands = len(protocol.strands)
        barriers: set[Barrier] = set()
        work: set[tuple[str, int]] = set()
        for index, strand in enumerate(protocol.strands):
            for action in strand.actions:
                if isinstance(action, Transfer):
                    barriers.update(barrier for barrier, _ in action.completes)
                    if action.pipeline:
                        work.update(((action.pipeline, index), (action.pipeline + READS, index)))
                elif isinstance(action, TensorAccess):
                    if action.pipeline:
                        work.add((action.pipeline, index))
                elif isinstance(action, AsyncArrive):
                    work.add((action.pipeline, index))
                    barriers.add(action.barrier)
        ordered = sorted(barriers, key=lambda each: (str(each.cta), str(each.offset)))
        pipelines = sorted(work, key=lambda each: (each[0], str(each[1])))
        self.names: tuple[Barrier | tuple[str, int], ...] = (*ordered, *pipelines)
        """Sources of asynchronous work, in the order of their components, which follow those of the strands.

        They are mbarriers, and pipelines of strands.
        """
        own = np.array([strand.cta for strand in protocol.strands], dtype=np.int64)
        ctas = np.concatenate([own, np.full(len(self.names), -1, dtype=np.int64)])
        self._ctas = [strand.cta for strand in protocol.strands]
        parts = {cta: _part(ctas == cta) for cta in set(self._ctas)} if len(set(self._ctas)) > 1 else {}
        self._same_cta = [parts.get(cta) for cta in self._ctas]
        """For each strand, the components of the strands of its CTA; None when there is but one CTA."""
        self._bytes = {name: self._strands + place for place, name in enumerate(ordered)}
        self._work = {name: self._strands + len(ordered) + place for place, name in enumerate(pipelines)}

    @cached_property
    def states(self) -> frozenset[tuple[Barrier, int]]:
        """States that arrivals return, with their mbarriers."""
        actions = (action for strand in self._protocol.strands for action in strand.actions)
        return frozenset((a.barrier, a.token) for a in actions if isinstance(a, Arrive) and a.token >= 0)

    @property
    def size(self) -> int:
        return self._strands + len(self.names)

    def zero(self) -> Clock:
        return np.zeros((len(Row), self.size), dtype=np.int32)

    def of_asynchronous_work(self, clock: Clock) -> Clock:
        """Return what the completion of asynchronous work publishes of what its issuer knew.

        It publishes no ordinary access of its issuer (PTX ISA, "Asynchronous operations"); but bytes of earlier
        asynchronous work that the issuer saw complete are in memory.
        """
        result = clock.copy()
        result[_PUBLISHED, : self._strands] = 0
        return result

    def is_in(self, strand: int, cta: int) -> bool:
        """Tell whether a strand belongs to a CTA."""
        return self._ctas[strand] == cta

    def publish(self, clock: Clock, strand: int) -> None:
        """Let a strand hand on to other CTAs what its own CTA has shown it."""
        same = self._same_cta[strand]
        if isinstance(same, slice):
            wide = clock[CLUSTER_ROWS, same]
            np.maximum(wide, clock[Row.VISIBLE, same], out=wide)
        elif same is not None:
            clock[CLUSTER_ROWS, same] = np.maximum(clock[CLUSTER_ROWS, same], clock[Row.VISIBLE, same])

    def bytes_of(self, barrier: Barrier) -> Component | None:
        """Return the component that counts the phases of a barrier that asynchronous work takes part in."""
        return self._bytes.get(barrier)

    @cached_property
    def shared_work(self) -> Mapping[Component, Component]:
        """For work that a warpgroup does together: from what waits of its own warp show to what any wait does."""
        return {
            self._work[pipeline + READS, strand]: component
            for (pipeline, strand), component in self._work.items()
            if pipeline in TEAM_PIPELINES
        }

    def work_of(self, pipeline: str, strand: int) -> Component | None:
        """Return the component that counts the completed operations of a strand in a pipeline."""
        return self._work.get((pipeline, strand))


def stamped(clock: Clock, strand: int, count: int) -> Clock:
    """Return a clock in which a strand has done so many actions."""
    stamp = clock.copy()
    for row in _OWN:
        stamp[row, strand] = count
    return stamp


def _part(chosen: npt.NDArray[np.bool_]) -> slice | npt.NDArray[np.bool_]:
    """Return which components are chosen: as a slice if they are next to each other."""
    places = np.flatnonzero(chosen)
    if len(places) and places[-1] - places[0] + 1 == len(places):
        return slice(int(places[0]), int(places[-1]) + 1)
    return chosen


def executed_before(earlier: Clock, later: Clock) -> bool:
    """Tell whether everything that one clock knows to have happened is known to another."""
    return not np.count_nonzero(earlier[_EXECUTED] > later[_EXECUTED])


def executed_before_some(earlier: Sequence[Clock], later: Sequence[Clock]) -> list[bool]:
    """Tell of each of some clocks whether all that it knows to have happened is known to one of the later ones."""
    if not earlier or not later:
        return [False] * len(earlier)
    known = np.stack([clock[_EXECUTED] for clock in later])
    return [bool((known >= clock[_EXECUTED]).all(axis=1).any()) for clock in earlier]


def execution_only(clock: Clock, published: Clock) -> Clock:
    """Return a clock that orders what happened as `clock`, and memory only as `published`."""
    result = published.copy()
    result[Row.EXECUTED] = clock[Row.EXECUTED]
    return result


def relaxed(clock: Clock, published: Clock) -> Clock:
    """Return a clock that orders what happened as `clock`, if memory is in that order too, and else as `published`."""
    result = execution_only(clock, published)
    result[Row.IN_ORDER] = clock[Row.IN_ORDER]
    return result
