"""Why a schedule is stuck: for each blocked strand what is missing, and who would have had to bring it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from .actions import (
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
from .meetings import Meetings
from .outcome import Flaw
from .phases import Phases
from .record import Record

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

    def report(self, record: Record) -> None:
        """Add a problem for each blocked strand, those that the others wait for first."""
        for index in sorted(self._blocked, key=lambda each: (self._depth(each), each)):
            action = self._next(index)
            name, phase, detail = self._describe(index, action)
            related = tuple(
                (other, self._next(other).point) for other in self._bringers(index) if other != index
            )
            record.add(
                Flaw.DEADLOCK, index, action.point, name, phase, detail, happened=True, related=related
            )

    def _next(self, index: int) -> Action:
        return self._protocol.strands[index].actions[self._positions[index]]

    def _describe(self, index: int, action: Action) -> tuple[Barrier | tuple[object, ...] | None, int, str]:
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
        """Return strands that each wait for the next, back to the first; empty when there is no such circle."""
        path: list[int] = []
        seen: set[int] = set()

        def follow(index: int) -> bool:
            path.append(index)
            seen.add(index)
            for other in self._bringers(index):
                if other == start and len(path) > 1:
                    return True
                if other not in seen and follow(other):
                    return True
            path.pop()
            return False

        return path if follow(start) else []

    def _bringers(self, index: int) -> list[int]:
        """Return the blocked strands that would still bring what a strand waits for."""
        wanted = _brings(self._next(index))
        return [other for other in self._blocked if any(wanted(action) for action in self._rest(other))]

    def _rest(self, index: int) -> Iterator[Action]:
        yield from self._protocol.strands[index].actions[self._positions[index] :]


def _brings(blocked: Action) -> Callable[[Action], bool]:
    """Return what tells whether an action brings something that a blocked one waits for."""
    match blocked:
        case Wait(barrier=barrier):
            return lambda action: (
                (isinstance(action, Arrive | AsyncArrive) and action.barrier == barrier)
                or (isinstance(action, Transfer) and any(each == barrier for each, _ in action.completes))
            )
        case Rendezvous(name=name):
            return lambda action: (
                action is not blocked
                and isinstance(action, Rendezvous)
                and action.name == name
                and action.arrives
            )
        case WaitGroup(pipeline=pipeline):
            return lambda action: getattr(action, "pipeline", None) == pipeline and action is not blocked
        case Registers():
            return lambda action: isinstance(action, Registers) and not action.increases
        case _:
            return lambda action: False
