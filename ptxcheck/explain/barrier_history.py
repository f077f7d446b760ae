"""What mbarriers held before each step of a run that was simulated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..protocols.model.actions import (
    Action,
    Amount,
    Arrive,
    AsyncArrive,
    Barrier,
    Expect,
    Init,
    Inval,
    Protocol,
    Transfer,
    Wait,
)
from ..protocols.model.outcome import Step
from ..protocols.symex.values.symbol import plus


@dataclass(slots=True)
class Held:
    """The state of an mbarrier: expected count, phase, arrivals still pending, bytes of this phase."""

    count: int
    pending: int
    phase: int = 0
    expected: Amount = 0
    completed: Amount = 0

    def settle(self) -> None:
        """Begin the next phase when nothing of this one is missing."""
        if self.pending <= 0 and self.expected == self.completed:
            self.begin(self.phase + 1)

    def begin(self, phase: int) -> None:
        """Begin a phase that is not the present one; symbolic bytes are taken to have balanced."""
        if phase > self.phase:
            self.phase, self.pending = phase, self.count
            self.expected = self.completed = 0

    def __str__(self) -> str:
        text = f"phase {self.phase}, {max(self.pending, 0)} of {self.count} arrivals pending"
        if self.expected == 0 and self.completed == 0:
            return text
        return f"{text}, {self.expected} bytes expected, {self.completed} complete"


def held_after(protocol: Protocol, steps: Iterable[Step]) -> dict[Barrier, Held]:
    """Return the state of every live mbarrier after some steps.

    Asynchronous work counts at the step that completes it, or at its issue when the schedule has no such step.
    """
    found: dict[Barrier, Held] = {}
    for _, held in replay(protocol, steps):
        found = held
    return found


def replay(protocol: Protocol, steps: Iterable[Step]) -> Iterator[tuple[Step, dict[Barrier, Held]]]:
    """Yield each step with the state of every live mbarrier after it: one table, which the next step changes."""
    found: dict[Barrier, Held] = {}
    kept = tuple(steps)
    later = {(step.strand, step.index) for step in kept if step.completes}
    for step in kept:
        action = protocol.strands[step.strand].actions[step.index]
        if step.completes or (step.strand, step.index) not in later:
            _apply(found, action, step.phase)
        yield step, found


def _apply(found: dict[Barrier, Held], action: Action, phase: int | None) -> None:
    match action:
        case Init():
            found[action.barrier] = Held(action.count, action.count)
        case Inval():
            found.pop(action.barrier, None)
        case Arrive() | AsyncArrive() if (held := found.get(action.barrier)) is not None:
            held.begin(phase or 0)
            held.pending -= action.count
            if isinstance(action, Arrive):
                held.expected = plus(held.expected, action.expect)
                held.count -= action.count if action.drop else 0
            held.settle()
        case Expect() if (held := found.get(action.barrier)) is not None:
            held.expected = plus(held.expected, action.amount)
            held.settle()
        case Transfer():
            for barrier, amount in action.completes:
                if (held := found.get(barrier)) is not None:
                    held.completed = plus(held.completed, amount)
                    held.settle()
        case Wait() if phase is not None and (held := found.get(action.barrier)) is not None:
            held.begin(phase + 1)
        case _:
            return
