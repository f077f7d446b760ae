"""The state of one mbarrier in a schedule: its life, its phases so far, and what counts in the present one.

Property: a phase lists everything that counts in it, each with what its completion publishes; `state` changes
whenever a blocked wait might be over or see something else.

Argument: a wait depends on the phase, on the states that arrivals have returned, and on whether the bytes still are
an mbarrier. All of that is in `state`.

Not covered: any rule about mbarriers; those are in `mbarrier_lifetimes`, `phases` and `phase_ends`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..model.actions import Amount, Barrier
from ..model.outcome import Flaw
from ..model.record import Record
from .actor import Actor
from .clock import Clock


@dataclass(slots=True)
class Contribution:
    """Something that counts in a phase: who, where, what it knows to have happened, and its bytes."""

    strand: int
    point: int
    clock: Clock
    amount: Amount = 0
    completes: bool = True
    """False for an arrival that must not be the last one of the phase."""
    commits: tuple[str, int] | None = None
    """Pipeline and count of an arrival that comes when all earlier work of its strand in the pipeline is done."""


@dataclass(slots=True)
class Phase:
    arrivals: list[Contribution] = field(default_factory=list)
    expects: list[Contribution] = field(default_factory=list)
    raises: list[tuple[Contribution, Contribution]] = field(default_factory=list)
    """Increments of the pending count, each with the arrival that takes it back."""
    transfers: list[Contribution] = field(default_factory=list)
    expected: Amount = 0
    completed: Amount = 0
    is_asynchronous: bool = False
    """True when the end of the phase depends on work that nobody has to wait for."""


@dataclass(slots=True)
class Mbarrier:
    """One live mbarrier."""

    count: int
    pending: int
    born: Clock
    maker: int
    made: int
    """Strand that initialised it, and the number of its action, counted from one."""
    is_fenced: bool
    """Its maker had fenced initialisations before: of other mbarriers."""
    lived: int = 0
    """Phases that completed before it was initialised: of earlier mbarriers at the same place."""
    overwritten: tuple[int, int] | None = None
    """Strand and point of an access of its bytes."""
    last_asynchronous: int = 0
    """Phases up to the last that depended on asynchronous work."""
    phase: int = 0
    now: Phase = field(default_factory=Phase)
    completions: list[Clock] = field(default_factory=list)
    last: Phase | None = None
    """The phase that completed last."""
    tokens: dict[tuple[int, int], int] = field(default_factory=dict)
    waits: dict[int, list[Contribution]] = field(default_factory=dict)
    users: dict[int, int] = field(default_factory=dict)
    """For each strand, the number of its last action on it, counted from one."""
    seen: dict[int, int] = field(default_factory=dict)
    """For each strand, the last phase that a wait of it observed."""
    is_over: bool = False
    """Invalidated, or initialised again."""

    def phase_of(self, strand: int, token: int) -> int | None:
        """Return the phase that a state names: of an arrival by the strand, or by those that have handed it on."""
        own = self.tokens.get((strand, token))
        if own is not None:
            return own
        others = {phase for (_, number), phase in self.tokens.items() if number == token}
        return others.pop() if len(others) == 1 else None

    @property
    def state(self) -> tuple[object, ...]:
        """Return what decides whether a wait is over, and what is found out about it."""
        return self.phase, self.overwritten, self.is_over, len(self.tokens)


def note(
    record: Record,
    flaw: Flaw,
    actor: Actor,
    point: int,
    name: Barrier,
    detail: str,
    barrier: Mbarrier | None = None,
    *,
    happened: bool = False,
    related: tuple[tuple[int, int], ...] = (),
) -> None:
    """Note a problem with what somebody does to an mbarrier; without one that is live it has no phase."""
    phase = -1 if barrier is None else barrier.phase
    record.add(flaw, actor.strand, point, name, phase, detail, happened=happened, related=related)
