"""The nodes of a role automaton, and the edges between them.

Property: a node says all that its threads do before they go on to a target.

Argument: see `automaton`.

Not covered: what decides which target is next: that is up to the question, or to the side that a thread is on.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from ..symex.values.symbol import Atom, Form
from ..symex.values.trace import Event, ThreadSet
from .handed_words import Read, Stored

Assigned: TypeAlias = tuple[Atom, int | Form]
"""A variable, and what it becomes, in terms of what variables were before."""

Passed: TypeAlias = tuple[ThreadSet, tuple[tuple[int, int], ...]]
"""Threads, and edges between blocks that they pass with nothing done: from the end of one block to another one."""


class Arrival(Enum):
    """What an edge does to the ordinals of loops."""

    KEEP = 0
    """It stays at the same place of the program."""
    MOVE = 1
    """It goes to another block, and may leave loops."""
    ENTER = 2
    """It enters the loop whose header its target is."""
    REPEAT = 3
    """It begins a further round of the loop whose header its target is."""


Begun: TypeAlias = tuple[Arrival, int]
"""How a loop is entered or repeated, and the node behind the edge."""


@dataclass(frozen=True, slots=True)
class Question:
    """A predicate that the values of a role do not decide."""

    point: int
    truth: Form
    threads: ThreadSet
    """Who asks it."""


@dataclass(slots=True)
class Target:
    """Where an edge leads."""

    node: int = -1
    arrival: Arrival = Arrival.KEEP
    assigned: tuple[Assigned, ...] = ()
    """Variables that get new numbers on the way, all at once."""

    @property
    def begun(self) -> Begun | None:
        """The loop that is entered or repeated."""
        return (self.arrival, self.node) if self.arrival in (Arrival.ENTER, Arrival.REPEAT) else None


@dataclass(frozen=True, slots=True)
class NotFollowed:
    """Why threads are not followed further."""

    reason: str
    point: int


@dataclass(slots=True)
class Node:
    """What threads do from one place of the program to the next choice."""

    number: int
    block: int
    threads: ThreadSet
    loops: tuple[int, ...]
    """Headers of the loops around that are kept, outermost first."""
    residues: tuple[int, ...]
    """For each of them, the ordinal of the round modulo `Automaton.modulus`."""
    events: tuple[Event, ...] = ()
    question: Question | None = None
    """What decides which of two targets is next: the first where it holds."""
    sides: tuple[ThreadSet, ...] = ()
    """Threads that part here, for each target."""
    passed: tuple[Passed, ...] = ()
    """Who passes which blocks on the way to the one target, where threads parted and did nothing (`silent_sides`)."""
    stored: tuple[Stored, ...] = ()
    """Words that threads store to constant places."""
    read: tuple[Read, ...] = ()
    """Words that warps read."""
    received: tuple[int, ...] = ()
    """Points where threads receive values that are followed."""
    not_followed: NotFollowed | None = None
    """Nothing is shown where threads come here."""
    is_cut: bool = False
    """Its threads are followed no further: what they read last is to be found out."""
    targets: tuple[Target, ...] = ()
    """One that is next, one for each answer, one for each side, or none at the end."""

    def open_to(self, threads: ThreadSet) -> tuple[int, ...]:
        """Return the numbers of the targets that some threads, who are on one side where they part, may go to."""
        return tuple(
            which for which in range(len(self.targets)) if not self.sides or not threads & ~self.sides[which]
        )

    @property
    def is_last(self) -> bool:
        """Tell whether its threads are followed no further, though they do not end here."""
        return self.is_cut or self.not_followed is not None
