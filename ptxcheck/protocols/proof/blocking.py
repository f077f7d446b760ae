"""What has to wait in an explicit state: for groups of work, for registers, and work in flight for other work.

Property: a wait for groups is blocked while work of a group that it covers is in flight, or another warp of the
warpgroup has not closed as many groups; an increase of registers while the CTA has not enough of them; an arrival of a
pipeline while earlier work of it is in flight.

Argument: the actions that strands have done by a state tell the groups that they have closed and the registers that
they hold. Of arrivals of one thread that are the same, the earlier one goes first: which of them counts makes no
difference.

Not covered: waits that are for the reading of sources alone: they are taken to be for the whole work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..model.actions import (
    TEAM_PIPELINES,
    Action,
    AsyncArrive,
    Commit,
    Protocol,
    Registers,
    Transfer,
    WaitGroup,
)
from .explicit_state import Flight, State


class Blocking:
    """Tells what is blocked in states of a protocol by other things than barriers."""

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol
        self._actions: Sequence[tuple[Action, ...]] = [strand.actions for strand in protocol.strands]

    def issued(self, flight: Flight) -> Action:
        """Return the action that issued work."""
        return self._actions[flight.strand][flight.number]

    def is_open(self, state: State, strand: int, action: WaitGroup) -> bool:
        """Tell whether work of the groups that a wait covers is in flight, or not issued by another warp."""
        groups = self._committed(strand, state.at[strand], action.pipeline)
        for member in self._members(strand, action.pipeline):
            own = self._committed(member, state.at[member], action.pipeline)
            if len(own) < len(groups):
                return True
            last = len(groups) - action.pending - 1
            if last >= 0 and any(
                flight.strand == member and flight.number < own[last]
                and getattr(self.issued(flight), "pipeline", "") == action.pipeline
                and isinstance(self.issued(flight), Transfer)
                for flight in state.flights
            ):  # fmt: skip
                return True
        return False

    def _members(self, strand: int, pipeline: str) -> Iterator[int]:
        if pipeline not in TEAM_PIPELINES:
            yield strand
            return
        for member in self._protocol.team(strand):
            if any(isinstance(a, Commit) and a.pipeline == pipeline for a in self._actions[member]):
                yield member

    def _committed(self, strand: int, at: int, pipeline: str) -> list[int]:
        """Return where a strand has closed groups of a pipeline so far."""
        return [
            index for index, action in enumerate(self._actions[strand][:at])
            if isinstance(action, Commit) and action.pipeline == pipeline
        ]  # fmt: skip

    def has_registers(self, state: State, strand: int, action: Registers) -> bool:
        """Tell whether a strand can have the registers that it asks for."""
        start = self._protocol.registers
        if start is None or not action.increases:
            return True
        free, own = 0, start
        for other, at in enumerate(state.at):
            if self._protocol.strands[other].cta != self._protocol.strands[strand].cta:
                continue
            held = start
            for each in self._actions[other][:at]:
                if isinstance(each, Registers):
                    free += (held - each.count) * each.warps
                    held = each.count
            if other == strand:
                own = held
        return (action.count - own) * action.warps <= free

    def may_complete(self, state: State, flight: Flight) -> bool:
        """Tell whether work may complete now: an arrival comes after all earlier work of its pipeline.

        So it does after arrivals like it: which one counts first makes no difference.
        """
        action = self.issued(flight)
        if isinstance(action, Transfer):
            return True
        assert isinstance(action, AsyncArrive)
        return not any(
            other.strand == flight.strand and other.number < flight.number
            and getattr(self.issued(other), "pipeline", "") == action.pipeline
            and (isinstance(self.issued(other), Transfer) or _is_interchangeable(self.issued(other), action))
            for other in state.flights
        )  # fmt: skip


def _is_interchangeable(earlier: Action, later: AsyncArrive) -> bool:
    """Tell whether two arrivals by one pipeline of a strand do the same: not those of several lanes (see `phases`)."""
    if not isinstance(earlier, AsyncArrive) or earlier.increments or later.increments:
        return False
    return earlier.barrier == later.barrier and earlier.count == later.count == 1
