"""Role automata: what the threads of one CTA do, with loops kept.

Property: each run of a thread is a path through the nodes that its thread set is part of: the events of the nodes in
order are the synchronising instructions and accesses of the thread, with their operands, where the atoms of kind
`ORDINAL` and `WIDENED` stand for the numbers of that round.

Argument: `builder` makes a node for each block and each valuation of the registers that matter there.

Not covered: which paths are possible: a question may be answered either way at each visit, unless `decisions` knows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from ..symex.values.symbol import Atom, Form
from ..symex.values.trace import Assumption, Event, Shape, ThreadSet
from .handed_words import Read, Stored


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
    stored: tuple[Stored, ...] = ()
    """Words that threads store to constant places."""
    read: tuple[Read, ...] = ()
    """Words that warps read."""
    received: tuple[int, ...] = ()
    """Points where threads receive values that are followed."""
    is_cut: bool = False
    """Its threads are followed no further: what they read last is to be found out."""
    targets: tuple[Target, ...] = ()
    """One that is next, one for each answer, one for each side, or none at the end."""


@dataclass(frozen=True, slots=True)
class Automaton:
    """All roles of one CTA."""

    rank: int
    shape: Shape
    nodes: Sequence[Node]
    entry: int
    modulus: int
    parents: Mapping[int, int]
    """For the header of each loop that is kept, that of the loop around it; -1 for none."""
    assumptions: tuple[Assumption, ...] = ()
    widened: frozenset[tuple[int, str]] = field(default_factory=frozenset)
    """Registers that are symbols from the header of a loop on."""

    @property
    def places_by_loop(self) -> int:
        """Return what it takes to look at all places for each loop."""
        return len(self.nodes) * len(self.parents)

    of_shared: frozenset[Atom] = field(default_factory=frozenset)
    """Those of their symbols that may be computed from what threads have read from shared memory."""
