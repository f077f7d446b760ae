"""Why a schedule is stuck: for each blocked strand what is missing, and who would have had to bring it.

Property: each strand that is not at its end when nothing moves any more gets a problem, the ones that the others wait
for first.

Argument: phases and generations are the same in every schedule as far as no other problem was found, so that what is
blocked here is blocked in all of them; the actions that a blocked strand still has tell whom it would have helped.

Not covered: whether a cause is the only one. Circles of waits are named by the first that is found, and a strand that
brings something for another phase than the one awaited counts as one who would arrive.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..model.actions import (
    Action,
    Arrive,
    AsyncArrive,
    Barrier,
    Protocol,
    Registers,
    Rendezvous,
    Transfer,
    Wait,
    WaitGroup,
)
from ..model.outcome import Flaw, Hang
from ..model.record import Record
from ..model.sync_objects import CountedBarrier
from .counted_barriers import Meetings
from .phases import Phases

Positions = Sequence[int]


class Explainer:
    """Says why strands do not move, from the state in which nothing moves any more."""

    def __init__(self, protocol: Protocol, positions: Positions, phases: Phases, meetings: Meetings) -> None:
        self._protocol = protocol
        self._positions = positions
        self._phases = phases
        self._meetings = meetings
        self._blocked = [
            index for index, strand in enumerate(protocol.strands) if positions[index] < len(strand.actions)
        ]
        self._brought: dict[int, dict[_Wanted, Action]] = {
            index: _brought(protocol.strands[index].actions[positions[index] :]) for index in self._blocked
        }
        self._known_bringers: dict[int, list[int]] = {}
        self._waits: Any = None
        """Who waits for whom, a graph of networkx: made when a circle is looked for."""

    def report(self, record: Record) -> None:
        """Add a problem for each blocked strand, those that the others wait for first."""
        for index in sorted(self._blocked, key=lambda each: (self._depth(each), each)):
            action = self._next(index)
            name, phase, detail = self._describe(index, action)
            related = tuple(
                (other, self._next(other).point) for other in self._bringers(index) if other != index
            )
            record.add(
                Flaw.DEADLOCK, index, action.point, name, phase, detail, happened=True, related=related,
                hang=self._hang(action),
            )  # fmt: skip

    def _hang(self, action: Action) -> Hang:
        lacks_bytes = isinstance(action, Wait) and self._phases.lacks_bytes(action.barrier)
        return Hang.BYTES if lacks_bytes else Hang.ARRIVALS

    def _next(self, index: int) -> Action:
        return self._protocol.strands[index].actions[self._positions[index]]

    def _describe(self, index: int, action: Action) -> tuple[Barrier | CountedBarrier | None, int, str]:
        match action:
            case Wait():
                phase = self._phases.live[action.barrier].phase
                missing = ", ".join(self._phases.missing(action.barrier))
                detail = f"waits for phase {phase}: {missing}; {self._cause(index, action)}"
                return action.barrier, phase, detail
            case Rendezvous():
                meeting = self._meetings.by_name[action.name]
                detail = f"{meeting.arrived} of {meeting.needed} threads have arrived"
                return action.name, meeting.generation, f"{detail}; {self._cause(index, action)}"
            case WaitGroup():
                return None, -1, "waits for a group that another warp of the warpgroup has not committed"
            case Registers():
                return (
                    None,
                    -1,
                    f"waits for {action.count} registers for each thread, and no warp releases any",
                )
            case _:
                return None, -1, "blocked"

    def _depth(self, index: int) -> int:
        """Return how far a strand is from what went wrong: 0 where a phase has its arrivals and not its bytes."""
        action = self._next(index)
        if isinstance(action, Wait):
            if self._phases.live[action.barrier].pending <= 0:
                return 0
            if self._is_stale(index, action) or self._has_skipped(index, action):
                return 1
        bringers = self._bringers(index)
        if not bringers or bringers == [index]:
            return 2
        return 3 if self._circle(index) else 4

    def _cause(self, index: int, action: Wait | Rendezvous) -> str:
        if isinstance(action, Wait) and self._is_stale(index, action):
            seen = self._phases.live[action.barrier].seen[index]
            return (
                f"it has seen phase {seen} and waits with the same parity again, "
                f"while phase {seen + 1}, which it did not wait for, is over"
            )  # fmt: skip
        bringers = self._bringers(index)
        if not bringers:
            return "no thread arrives there any more"
        if bringers == [index]:
            return "only the waiting threads themselves would arrive, after the wait"
        circle = self._circle(index)
        if circle:
            names = " → ".join(self._protocol.strands[each].name for each in (*circle, circle[0]))
            return f"a circle of waits: {names}"
        names = ", ".join(self._protocol.strands[each].name for each in bringers[:4])
        return f"those who would arrive are blocked themselves: {names}"

    def _is_stale(self, index: int, action: Wait) -> bool:
        barrier = self._phases.live[action.barrier]
        seen = barrier.seen.get(index, -1)
        return action.parity is not None and seen >= 0 and barrier.phase == seen + 2

    def _has_skipped(self, index: int, action: Wait) -> bool:
        """Tell whether a strand waits for a phase without having seen the one before, which is over."""
        barrier = self._phases.live[action.barrier]
        return action.parity is not None and barrier.seen.get(index, -1) < barrier.phase - 1

    def _circle(self, start: int) -> list[int]:
        """Return the fewest strands that each wait for the next, back to the first; empty when there are none."""
        import networkx as nx

        if self._waits is None:
            self._waits = nx.DiGraph(
                (index, other) for index in self._blocked for other in self._bringers(index)
            )
        found: list[int] = []
        for other in self._bringers(start):
            if other != start and nx.has_path(self._waits, other, start):
                path = nx.shortest_path(self._waits, other, start)
                if not found or len(path) < len(found):
                    found = path
        return [start, *found[:-1]] if found else []

    def _bringers(self, index: int) -> list[int]:
        """Return the blocked strands that would still bring what a strand waits for."""
        found = self._known_bringers.get(index)
        if found is None:
            wanted, blocked = _wanted(self._next(index)), self._next(index)
            found = self._known_bringers[index] = [
                other for other in self._blocked if self._brought[other].get(wanted, blocked) is not blocked
            ]
        return found


@dataclass(frozen=True, slots=True)
class _Groups:
    """Groups of the work of a pipeline."""

    pipeline: str


_Wanted: TypeAlias = Barrier | CountedBarrier | _Groups | type[Registers] | None
"""What a strand waits for; None for nothing that others bring."""


def _wanted(blocked: Action) -> _Wanted:
    """Return what a blocked action waits for."""
    match blocked:
        case Wait():
            return blocked.barrier
        case Rendezvous():
            return blocked.name
        case WaitGroup():
            return _Groups(blocked.pipeline)
        case Registers():
            return Registers
        case _:
            return None


def _brought(actions: Sequence[Action]) -> dict[_Wanted, Action]:
    """Return all that actions bring, each with the last action that does."""
    found: dict[_Wanted, Action] = {}
    for action in actions:
        for brought in _brings(action):
            found[brought] = action
    return found


def _brings(action: Action) -> Iterator[_Wanted]:
    match action:
        case Arrive() | AsyncArrive():
            yield action.barrier
        case Transfer():
            for barrier, _ in action.completes:
                yield barrier
        case Rendezvous() if action.arrives:
            yield action.name
        case Registers() if not action.increases:
            yield Registers
    pipeline = getattr(action, "pipeline", None)
    if pipeline is not None:
        yield _Groups(pipeline)
