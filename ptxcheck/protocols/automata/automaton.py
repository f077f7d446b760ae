"""Role automata: what the threads of one CTA do, with loops kept.

Property: each run of a thread is a path through the nodes that its thread set is part of: the events of the nodes in
order are the synchronising instructions and accesses of the thread, with their operands, where the atoms of kind
`ORDINAL`, `WIDENED` and `VARIABLE` stand for the numbers of that round.

Argument: `builder` makes a node for each block and each valuation of the registers that matter there.

Not covered: which paths are possible: a question may be answered either way at each visit, unless `decisions` knows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..symex.values.symbol import Atom
from ..symex.values.trace import Assumption, Shape
from .environments import Variables
from .nodes import Node


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
    variables: Variables
    assumptions: tuple[Assumption, ...] = ()
    widened: frozenset[tuple[int, str]] = field(default_factory=frozenset)
    """Registers that are symbols from the header of a loop on."""
    entered_again: frozenset[int] = field(default_factory=frozenset)
    """Headers of kept loops inside others that are not: a round of one has no ordinals of its own."""

    @property
    def places_by_loop(self) -> int:
        """Return what it takes to look at all places for each loop."""
        return len(self.nodes) * len(self.parents)

    of_shared: frozenset[Atom] = field(default_factory=frozenset)
    """Those of their symbols that may be computed from what threads have read from shared memory."""
