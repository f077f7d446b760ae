"""Pipelines of asynchronous work of a strand: operations, the groups that close them, and waits for groups.

Property: behind a wait for groups, a strand knows the work of all groups but the newest `pending` to be complete, and
what was done before these were closed; it is blocked while another warp of the warpgroup has not closed as many.

Argument: work of one pipeline of one strand is known to be complete by its number: group waits and commits complete
all earlier operations of the pipeline (PTX ISA, "cp.async.wait_group", "wgmma.wait_group", "tcgen05.commit").

Not covered: `wgmma` of the other warps of a warpgroup. A wait shows that the work of the executing warp is complete;
that of the others is taken to be so as well, in a component of its own, which is what an H100 does and PTX does not
promise: an access that relies on it has a strict problem (`memory`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..model.actions import (
    TEAM_PIPELINES,
    WARPS_OF_A_TEAM,
    Commit,
    Protocol,
    WaitGroup,
)
from .actor import Actor
from .clock import (
    READS,
    Clock,
    Component,
    Components,
    Row,
)


@dataclass(slots=True)
class _Pipeline:
    issued: int = 0
    closed: list[tuple[int, Clock]] = field(default_factory=list)
    """For each group, how many operations were issued when it was closed, and what was known then."""


class Pipelines:
    """The pipelines of all strands."""

    def __init__(self, protocol: Protocol, components: Components) -> None:
        self._protocol = protocol
        self._components = components
        self._by_owner: dict[tuple[int, str], _Pipeline] = {}
        self._teams = _teams(protocol)
        self._places: dict[tuple[int, str, tuple[str, ...]], tuple[Component, ...]] = {}

    def _of(self, strand: int, pipeline: str) -> _Pipeline:
        found = self._by_owner.get((strand, pipeline))
        if found is None:
            found = self._by_owner[strand, pipeline] = _Pipeline()
        return found

    def issue(self, strand: int, pipeline: str) -> int:
        """Add an operation; return its number, counted from one."""
        own = self._of(strand, pipeline)
        own.issued += 1
        return own.issued

    def commit(self, actor: Actor, pipeline: str) -> None:
        own = self._of(actor.strand, pipeline)
        own.closed.append((own.issued, actor.stamp))

    def done_so_far(self, strand: int, pipeline: str) -> Clock:
        """Return what is known when all operations issued so far are complete."""
        clock = self._components.zero()
        self._know(clock, strand, pipeline, self._of(strand, pipeline).issued)
        return clock

    def after(self, actor: Actor, pipeline: str, pending: int) -> Clock:
        """Return what a strand knows when its operations are complete, but for the newest `pending`."""
        clock = actor.clock.copy()
        self._know(clock, actor.strand, pipeline, self._of(actor.strand, pipeline).issued - pending)
        return clock

    def wait(self, actor: Actor, action: WaitGroup) -> Clock | None:
        """Return what a strand knows behind a wait for groups, None while another warp has not issued them."""
        groups = len(self._of(actor.strand, action.pipeline).closed)
        last = groups - action.pending - 1
        clock = actor.clock.copy()
        for member in self._teams.get((actor.strand, action.pipeline), ()) or (actor.strand,):
            closed = self._of(member, action.pipeline).closed
            if len(closed) < groups:
                return None
            if last >= 0:
                issued, stamp = closed[last]
                suffixes = (READS,) if action.read else ("", READS) if self._is_own(actor, member) else ("",)
                self._know(clock, member, action.pipeline, issued, suffixes)
                executed = clock[Row.EXECUTED]
                np.maximum(executed, stamp[Row.EXECUTED], out=executed)
        return clock

    def _is_own(self, actor: Actor, member: int) -> bool:
        """Tell whether a strand is of the same warp, whose work its wait is certainly for."""
        strands = self._protocol.strands
        return strands[actor.strand].warp == strands[member].warp

    def _know(
        self, clock: Clock, strand: int, pipeline: str, issued: int, suffixes: tuple[str, ...] = ("", READS)
    ) -> None:
        places = self._places.get((strand, pipeline, suffixes))
        if places is None:
            found = (self._components.work_of(pipeline + suffix, strand) for suffix in suffixes)
            places = tuple(place for place in found if place is not None)
            self._places[strand, pipeline, suffixes] = places
        for place in places:
            for row in (Row.EXECUTED, Row.VISIBLE):
                if clock[row, place] < issued:
                    clock[row, place] = issued


def _teams(protocol: Protocol) -> dict[tuple[int, str], list[int]]:
    """Return, for each strand and pipeline of warpgroups, the strands of its warpgroup that close groups of it."""
    found: dict[tuple[int, str], list[int]] = {}
    for pipeline in sorted(TEAM_PIPELINES):
        by_team: dict[tuple[int, int], list[int]] = {}
        for index, strand in enumerate(protocol.strands):
            if any(isinstance(a, Commit) and a.pipeline == pipeline for a in strand.actions):
                by_team.setdefault((strand.cta, strand.warp // WARPS_OF_A_TEAM), []).append(index)
        for index, strand in enumerate(protocol.strands):
            found[index, pipeline] = by_team.get((strand.cta, strand.warp // WARPS_OF_A_TEAM), [])
    return found
