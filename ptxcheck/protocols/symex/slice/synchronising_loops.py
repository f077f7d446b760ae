"""Loops of a kernel that synchronise in each round, and how they nest.

Property: a loop that is none of these has no event in it, or is left only as a poll in it answers.

Argument: events are found by block; a poll decides an exit where it is behind the predicate of every branch that leaves
the loop, followed through definitions inside the loop.

Not covered: loops of irreducible code are no loops here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from ....cfg.loops import Loop
from .kernel import Kernel
from .polling import POLLS


class SynchronisingLoops:
    """The loops of one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._cfg = kernel.cfg
        self._known: dict[int, bool] = {}

    @cached_property
    def headers(self) -> Mapping[int, frozenset[int]]:
        """Header of each loop, with the blocks of the loop."""
        return {loop.header: loop.blocks for loop in self._cfg.loops}

    def around(self, block: int) -> tuple[Loop, ...]:
        """Return the loops around a block in which something is synchronised, outermost first."""
        return tuple(loop for loop in reversed(self._cfg.loops_around(block)) if self._synchronises(loop))

    @cached_property
    def outer(self) -> frozenset[int]:
        """Headers of loops with another one inside that synchronises."""
        return frozenset(
            loop.header
            for inner in self._cfg.loops
            for loop in self.around(inner.header)[:-1]
            if self._synchronises(inner)
        )

    def _synchronises(self, loop: Loop) -> bool:
        """Tell whether a loop synchronises in each round, and does not just poll."""
        known = self._known.get(loop.index)
        if known is None:
            known = bool(loop.blocks & self._kernel.acting_blocks) and not self._polls(loop)
            self._known[loop.index] = known
        return known

    def _polls(self, loop: Loop) -> bool:
        """Tell whether what a poll answers decides every exit of a loop."""
        exits = {source for source, _ in loop.exits}
        return bool(exits) and all(
            self._depends_on_poll(self._cfg.blocks[block].last, loop) for block in exits
        )

    def _depends_on_poll(self, point: int, loop: Loop) -> bool:
        definitions = self._kernel.definitions
        waiting, seen = [point], {point}
        while waiting:
            each = waiting.pop()
            if self._cfg.instructions[each].operation.op in POLLS:
                return True
            for name in definitions.read_at(each):
                for site in definitions.instructions_behind(name):
                    if site not in seen and self._cfg.graph.block_of[site] in loop.blocks:
                        seen.add(site)
                        waiting.append(site)
        return False
