"""Where threads of a block, or of a warp, meet: the barriers between which accesses are unordered.

Property: when two threads have come out of a meeting of `Meetings`, both were in that one, in the same rounds of the
loops around it, and before they come to the next one nothing orders them.

Argument: a barrier of all threads that stands under branches all threads take alike, or whose other ways end the
thread, is executed by all threads that are left, each time. Threads that ended do not count at a barrier (PTX ISA
9.7.14.1). For a warp the same holds of `bar.warp.sync` with a mask that is the same in the lanes that execute it. Each
of these has to be in the mask, or PTX says nothing of it: `judgement` excludes no race before that is shown.

Not covered: barriers whose branches two threads may take differently; `aligned` does not have them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ...cfg import Cfg, Facts, Loop, Uniformity
from ...ir import Immediate, Instruction
from ...opcodes.op import Op

_BLOCK = frozenset({Op.BAR_SYNC, Op.BAR_RED})


def is_block_barrier(instruction: Instruction) -> bool:
    """Tell whether an instruction is a barrier of all threads of the block, `bar.sync 0` or the like."""
    if instruction.operation.op not in _BLOCK or instruction.get("threads") is not None:
        return False
    barrier = instruction.get("barrier")
    return isinstance(barrier, Immediate)


@dataclass(frozen=True, slots=True)
class Divider:
    """A branch that two threads may take differently, of which one way leads to a barrier."""

    barrier: int
    branch: int
    """Block that the branch ends."""


class Meetings:
    """Barriers of one kernel for groups of threads: the block, or a warp of it."""

    def __init__(
        self,
        facts: Facts,
        level: Uniformity,
        agreed: frozenset[int] = frozenset(),
        also: tuple[int, ...] = (),
    ) -> None:
        self._facts = facts
        self._cfg: Cfg = facts.cfg
        self._level = level
        self._agreed = agreed
        """Branches, by their blocks, that all threads take alike for other reasons."""
        self._also = also
        """Further points that lanes which go another way must not come to."""

    @cached_property
    def points(self) -> frozenset[int]:
        """Points at which all threads of a group meet, or none of them."""
        return frozenset(point for point in self._candidates if not self.divided_at(point))

    @cached_property
    def dividers(self) -> tuple[Divider, ...]:
        """Branches over barriers of the block that threads may take differently."""
        return tuple(
            Divider(point, branch)
            for point in self.barriers
            for branch in dict.fromkeys(self._dividers(point))
        )

    @cached_property
    def barriers(self) -> tuple[int, ...]:
        """Barriers of all threads of the block that may run."""
        return tuple(
            point for point in self._cfg.points_of(_BLOCK)
            if is_block_barrier(self._cfg.instructions[point]) and not self._facts.never_runs(point)
        )  # fmt: skip

    @cached_property
    def guarded(self) -> tuple[int, ...]:
        """Barriers of the block under a guard that threads may read differently."""
        facts = self._facts
        return tuple(
            point for point in self.barriers
            if (guard := self._cfg.instructions[point].guard) is not None
            and facts.uniform(point, guard.register) > self._level
        )  # fmt: skip

    @cached_property
    def _candidates(self) -> tuple[int, ...]:
        warp = () if self._level < Uniformity.WARP else tuple(self._warp_barriers())
        return (*(p for p in self.barriers if self._cfg.instructions[p].guard is None), *warp)

    def _warp_barriers(self) -> Iterator[int]:
        for point in self._cfg.points_of((Op.BAR_WARP_SYNC,)):
            instruction = self._cfg.instructions[point]
            if instruction.guard is None:
                mask = instruction.get("member_mask")
                if mask is not None and self._facts.uniform(point, mask) <= Uniformity.WARP:
                    yield point

    def divided_at(self, point: int) -> bool:
        """Tell whether threads of a group may go different ways over a point, and go on."""
        return next(self._dividers(point), None) is not None

    def parted_at(self, point: int) -> bool:
        """Tell whether threads of a group may go different ways over a point, and end there or go on."""
        return next(self._parting(point), None) is not None

    def _dividers(self, point: int) -> Iterator[int]:
        """Yield the branches over a barrier that threads of a group may take differently."""
        return (branch for branch in self._parting(point) if not self._ends_elsewhere(branch))

    def _parting(self, point: int) -> Iterator[int]:
        seen: set[int] = set()
        work = [self._cfg.graph.block_of[point]]
        while work:
            for dependence in self._cfg.control[work.pop()]:
                branch = dependence.branch
                if branch in seen:
                    continue
                seen.add(branch)
                work.append(branch)
                alike = branch in self._agreed or self._facts.branch_uniformity(branch) <= self._level
                if not alike:
                    yield branch

    def _ends_elsewhere(self, branch: int) -> bool:
        """Tell whether a branch leads to meetings by one of its ways only: the other ones end the thread."""
        ways = [target for target in self._cfg.successors[branch] if self._leads_to_meeting(target)]
        return len(ways) <= 1

    def _leads_to_meeting(self, block: int) -> bool:
        blocks = {self._cfg.graph.block_of[point] for point in self._meeting}
        return any(self._cfg.leads_to(block, other) for other in blocks)

    @cached_property
    def _meeting(self) -> tuple[int, ...]:
        found = [*self.barriers, *self._also]
        if self._level >= Uniformity.WARP:
            found += (p for p, i in enumerate(self._cfg.instructions) if i.operation.op is Op.BAR_WARP_SYNC)
        return tuple(found)

    def meets_in(self, loop: Loop) -> bool:
        """Tell whether a loop has a meeting."""
        return any(self._cfg.graph.block_of[point] in loop.blocks for point in self.points)


class NoMeetings(Meetings):
    """Those of threads of different CTAs: there are none."""

    @cached_property
    def points(self) -> frozenset[int]:
        return frozenset()
