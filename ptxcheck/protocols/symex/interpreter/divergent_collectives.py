"""Warp-collectives that lanes of a warp come to without others that the member mask names (PTX ISA, "shfl.sync").

Property: `Parted.threads` returns every thread whose warp comes to a collective without a lane that the mask names.

Argument: masks are compared with the thread set that comes together, warp by warp; a mask that is no constant is
taken to name all lanes.

Not covered: lanes that have ended; who waits for them is told by the protocol.

The lanes wait there for the others, which have to come to the same kind of instruction with the same mask, unless they
have ended. Where all lanes of the mask come together there is nothing to wait for. A lane that the mask does not name
must not come at all.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..slice.sliced_program import Program
from ..values.trace import ThreadSet

_WARP = 32
_FULL = (1 << _WARP) - 1


class Parted:
    """Which instructions of the blocks of a kernel some lanes come to alone."""

    def __init__(self, program: Program, threads: int) -> None:
        self._program = program
        self._all = (1 << threads) - 1
        self._steps: dict[tuple[int, ThreadSet], tuple[int, ...]] = {}
        self._in_block: dict[int, list[int]] = {}
        for point in program.member_masks:
            self._in_block.setdefault(program.cfg.graph.block_of[point], []).append(point)

    def steps(self, block: int, threads: ThreadSet) -> tuple[int, ...]:
        """Return the points of a block that threads are to execute, with the collectives that they wait at."""
        steps = self._program.regions.steps[block]
        own = self._in_block.get(block)
        if own is None:
            return steps
        found = self._steps.get((block, threads))
        if found is None:
            parted = {point for point in own if self.threads(point, threads)}
            found = self._steps[block, threads] = tuple(sorted(parted.union(steps)))
        return found

    def threads(self, point: int, threads: ThreadSet) -> ThreadSet:
        """Return the threads of warps whose lanes are not those that a mask names; any lane, if it is not known."""
        mask = self._program.member_masks[point]
        alone = 0
        for first in self._warps(threads):
            here = threads >> first & _FULL
            wanted = self._all >> first & (_FULL if mask is None else mask & _FULL)
            if wanted & ~here or (mask is not None and here & ~mask):
                alone |= here << first
        return alone

    def _warps(self, threads: ThreadSet) -> Iterable[int]:
        return (first for first in range(0, threads.bit_length(), _WARP) if threads >> first & _FULL)
