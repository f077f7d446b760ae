"""Pipelines of asynchronous work of a strand: operations, the groups that close them, and waits for groups.

Work of one pipeline of one strand is known to be complete by its number: group waits and commits complete all
earlier operations of the pipeline (PTX ISA, "cp.async.wait_group", "wgmma.wait_group", "tcgen05.commit").
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .actions import TEAM_PIPELINES, Commit, Protocol, WaitGroup
from .clock import READS, Clock, Components, Row
from .phases import Actor


@dataclass(slots=True)
class _Pipeline:
    issued: int = 0
    closed: list[tuple[int, Clock]] = field(default_factory=list)
    """For each group, how many operations were issued when it was closed, and what was known then."""


class Pipelines:
    """The pipelines of all strands."""

    def __init__(self, protocol: Protocol, components: Components) -> None:
        self._components = components
        self._by_owner: dict[tuple[int, str], _Pipeline] = {}
        self._teams = {
            (index, pipeline): [
                member for member in protocol.team(index)
                if any(isinstance(a, Commit) and a.pipeline == pipeline for a in protocol.strands[member].actions)
            ]
            for pipeline in sorted(TEAM_PIPELINES)
            for index in range(len(protocol.strands))
        }  # fmt: skip

    def _of(self, strand: int, pipeline: str) -> _Pipeline:
        return self._by_owner.setdefault((strand, pipeline), _Pipeline())

    def issue(self, strand: int, pipeline: str) -> int:
        """Add an operation; return its number, counted from one."""
        own = self._of(strand, pipeline)
        own.issued += 1
        return own.issued

    def commit(self, actor: Actor, pipeline: str) -> None:
        own = self._of(actor.strand, pipeline)
        own.closed.append((own.issued, actor.stamp))

    def done_so_far(self, strand: int, pipeline: str, pending: int = 0) -> Clock:
        """Return what is known when all operations issued so far are complete, but for the newest `pending`."""
        clock = self._components.zero()
        self._know(clock, strand, pipeline, self._of(strand, pipeline).issued - pending, read=False)
        return clock

    def wait(self, actor: Actor, action: WaitGroup) -> Clock | None:
        """Return what a wait for groups lets its strand know, None while another warp has not issued them."""
        groups = len(self._of(actor.strand, action.pipeline).closed)
        last = groups - action.pending - 1
        clock = self._components.zero()
        for member in self._teams.get((actor.strand, action.pipeline), [actor.strand]) or [actor.strand]:
            closed = self._of(member, action.pipeline).closed
            if len(closed) < groups:
                return None
            if last >= 0:
                issued, stamp = closed[last]
                self._know(clock, member, action.pipeline, issued, read=action.read)
                clock[Row.EXECUTED] = np.maximum(clock[Row.EXECUTED], stamp[Row.EXECUTED])
        return clock

    def _know(self, clock: Clock, strand: int, pipeline: str, issued: int, *, read: bool) -> None:
        for suffix in (READS,) if read else ("", READS):
            place = self._components.work_of(pipeline + suffix, strand)
            if place is not None:
                clock[(Row.EXECUTED, Row.VISIBLE), place] = np.maximum(
                    clock[(Row.EXECUTED, Row.VISIBLE), place], issued
                )
