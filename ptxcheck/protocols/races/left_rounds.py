"""Runs with numbers in which a lane reads by `shfl.sync` from one that has left their loop.

Property: an `AbsentSource` is in the runs of two lanes of a warp, whatever is loaded, for each size that is tried: the
one executes the shuffle in a round of a loop and reads from the other one, which its mask names and which comes to no
instruction of the warp any more.

Argument: all lanes of a warp are executed (`replay`). Both come to the same instructions of the warp in the same
order, until the run of the other lane has no further one, to its end; the shuffle comes behind that. So the other lane
has left the loop, and is not active in the shuffle in any schedule.

Not covered: lanes that end in a branch in front of a loop, as kernels do that leave what is read unused; offsets and
masks that are no constants.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ...cfg import Uniformity
from ...launch import Dim
from ..typestate.member_mask import member_mask
from .collectives import is_collective
from .gone_lanes import source_lane
from .kernel import Kernel
from .meetings import is_block_barrier
from .program import Program
from .replay import Replay, Run
from .witness import Witnesses, written_thread

_WARP = 32
_MOST_WARPS = 4


@dataclass(frozen=True, slots=True)
class AbsentSource:
    """A lane that reads from one that has left."""

    point: int
    branch: int
    """Where the other lane leaves the loop."""
    threads: tuple[Dim, Dim]
    block: Dim

    @property
    def message(self) -> str:
        """Say who reads from whom."""
        one, two = (written_thread(thread, self.block) for thread in self.threads)
        return f"thread {one} reads here from the lane of thread {two}, which has left the loop by then"


class LeftRounds:
    """Looks for lanes that read from others which have left a loop."""

    def __init__(self, kernel: Kernel, witnesses: Witnesses, block: Dim) -> None:
        self._kernel = kernel
        self._witnesses = witnesses
        self._block = block

    @cached_property
    def _program(self) -> Program:
        points = frozenset(
            point for point, each in enumerate(self._kernel.cfg.instructions)
            if is_collective(each) or is_block_barrier(each)
        )  # fmt: skip
        return Program(self._kernel, {}, points, frozenset(), with_values=False)

    def absent_source(self, point: int) -> AbsentSource | None:
        """Return two lanes that show it in each setting; those of the first one."""
        branch = self._parting_exit(point)
        reads = self._reads(point)
        if branch is None or reads is None:
            return None
        found: AbsentSource | None = None
        for _, inputs in self._witnesses.settings(self._block):
            threads = self._apart(point, reads, inputs)
            if threads is None:
                return None
            found = found or AbsentSource(point, branch, threads, self._block)
        return found

    def _parting_exit(self, point: int) -> int | None:
        """Return the branch by which lanes of a warp leave a loop around a point in different rounds."""
        cfg, facts = self._kernel.cfg, self._kernel.facts
        for loop in cfg.loops_around(cfg.graph.block_of[point]):
            for source, _ in loop.exits:
                if facts.branch_uniformity(source) > Uniformity.WARP:
                    return cfg.blocks[source].last
        return None

    def _reads(self, point: int) -> Mapping[int, int] | None:
        """Return from which other lane, named by the mask, each lane reads; None where that is no constant."""
        instruction = self._kernel.cfg.instructions[point]
        pool, facts = self._kernel.pool, self._kernel.facts
        operands = (instruction["b"], instruction["c"], member_mask(instruction))
        offset, bounds, mask = (None if each is None else facts.constant(point, each) for each in operands)
        if offset is None or bounds is None or mask is None:
            return None
        found: dict[int, int] = {}
        for lane in range(_WARP):
            numbers = (pool.number(each, 32) for each in (lane, offset, bounds))
            source = source_lane(pool, instruction.operation.slots["mode"], *numbers).constant
            if source is not None and source != lane and mask >> source & 1 and mask >> lane & 1:
                found[lane] = source
        return found

    def _apart(
        self, point: int, reads: Mapping[int, int], inputs: Mapping[str, int]
    ) -> tuple[Dim, Dim] | None:
        for threads in self._warps():
            runs: list[Run] = []
            for thread in threads:
                run = Replay(self._program, inputs, self._block, thread).result()
                if not run.complete:
                    return None
                runs.append(run)
            found = _reader(point, reads, runs)
            if found is not None:
                return threads[found], threads[reads[found]]
        return None

    def _warps(self) -> Iterator[Sequence[Dim]]:
        x, y, z = self._block
        threads = [(n % x, n // x % y, n // (x * y)) for n in range(min(x * y * z, _MOST_WARPS * _WARP))]
        for start in range(0, len(threads), _WARP):
            yield threads[start : start + _WARP]


def _reader(point: int, reads: Mapping[int, int], runs: Sequence[Run]) -> int | None:
    """Return a lane that reads from one which comes to nothing of the warp any more."""
    for lane, run in enumerate(runs):
        source = reads.get(lane)
        if source is None or source >= len(runs):
            continue
        its = runs[source].meetings
        if run.meetings[: len(its)] == its and point in run.meetings[len(its) :]:
            return lane
    return None


__all__ = ["AbsentSource", "LeftRounds"]
