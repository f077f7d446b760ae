"""What stands on the ways between two points: barriers of the block, fences of the GPU, waits for copies.

Property: `is_open(start, end, closing)` is false only where each way of the graph from a point to another one passes an
unguarded one of some points; guards and thread sets are not looked at, so that it speaks for any two threads that meet
on the way as well as for one. `is_feasible` is true only for a way that one thread can take.

Not covered: what a barrier with a count of its own, or an mbarrier, orders: it closes nothing.
"""

from __future__ import annotations

from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

from ...cfg import Uniformity
from ...ir import Instruction
from ...isa.modifier import Mod
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from .divergence import WARP, controlling
from .paths import Paths, Query

if TYPE_CHECKING:
    from ...cfg import ThreadSet
    from ...view import KernelView

_BLOCK = frozenset({Op.BAR_SYNC, Op.BAR_RED})
_WIDE = (Mod.GPU, Mod.SYS, Mod.GL)


class GlobalWays:
    """Ways through one kernel."""

    def __init__(self, view: KernelView) -> None:
        self._view = view
        self._cfg = view.cfg
        self._fences: dict[Mod, frozenset[int]] = {}
        self._open: dict[tuple[int, int, frozenset[int]], bool] = {}

    # ---- what stands there

    @cached_property
    def meetings(self) -> frozenset[int]:
        """Where all threads of the block wait for each other."""
        return frozenset(
            point
            for point, each in enumerate(self._view.body.instructions)
            if each.operation.op is Op.BARRIER_CLUSTER_WAIT
            or (each.operation.op in _BLOCK and self._is_of_all(point, each))
        )

    def _is_of_all(self, point: int, instruction: Instruction) -> bool:
        """Tell whether a barrier counts all threads of the block."""
        threads = instruction.get("threads")
        if threads is None:
            return True
        block = self._view.launch.block
        return block is not None and self._view.facts.constant(point, threads) == prod(block)

    @cached_property
    def is_simple(self) -> bool:
        """Tell whether threads meet at barriers of the block alone, and nothing is called or unknown."""
        return not any(
            each.operation.traits & {Trait.CALL, Trait.ANYTHING, Trait.MBARRIER}
            or (Trait.BARRIER in each.operation.traits and point not in self.meetings | self.warp_meetings)
            or each.operation.op is Op.BARRIER_CLUSTER_WAIT
            for point, each in enumerate(self._view.body.instructions)
        )

    @cached_property
    def warp_meetings(self) -> frozenset[int]:
        """Where lanes of a warp wait for each other."""
        return frozenset(
            point for point, each in enumerate(self._view.body.instructions)
            if each.operation.op is Op.BAR_WARP_SYNC
        )  # fmt: skip

    def meetings_of(self, one: int, other: int) -> frozenset[int]:
        """Return what orders two points, whoever executes them: barriers of a warp, too, where one warp does."""
        threads = self._view.launch.max_threads
        sets = [self.threads(point) for point in (one, other)]
        warps = {thread // WARP for each in sets if each is not None for thread in each}
        is_one_warp = (threads is not None and threads <= WARP) or (None not in sets and len(warps) <= 1)
        return self.meetings | self.warp_meetings if is_one_warp else self.meetings

    def threads(self, point: int) -> ThreadSet | None:
        """Return the threads that execute a point, if they are known."""
        execution = self._view.facts.execution(point)
        known = execution.exact and self._view.launch.threads is not None
        return execution.threads if known else None

    def are_of_one_thread(self, one: int, other: int) -> bool:
        """Tell whether no more than one thread executes both points, and it is the same one."""
        executions = [self._view.facts.execution(point) for point in (one, other)]
        ours, its = (each.threads for each in executions)
        if ours is not None and its is not None and len(ours) == 1:
            return ours == its
        return all(each.single_thread for each in executions) and self._parting(one) == self._parting(other)

    def _parting(self, point: int) -> frozenset[object]:
        """Return the branches and the guard that part the threads of the block in front of a point."""
        facts, instructions = self._view.facts, self._view.body.instructions
        found: set[object] = {
            (branch, taken)
            for branch, taken in controlling(self._cfg, self._cfg.graph.block_of[point])
            if facts.branch_uniformity(branch) > Uniformity.CTA
        }
        guard = instructions[point].guard
        if guard is not None and facts.uniform(point, guard.register) > Uniformity.CTA:
            found.add((facts.name(point, guard.register), guard.negated))
        return frozenset(found)

    def fences(self, direction: Mod) -> frozenset[int]:
        """Return the fences of the scope of the GPU that release, or acquire."""
        if direction not in self._fences:
            other = Mod.ACQUIRE if direction is Mod.RELEASE else Mod.RELEASE
            self._fences[direction] = frozenset(
                point
                for point, each in enumerate(self._view.body.instructions)
                if each.operation.op in (Op.FENCE, Op.MEMBAR)
                and each.operation.slots.get("scope") in _WIDE
                and not each.operation.has(other)
            )
        return self._fences[direction]

    def is_awaited(self, copy: int, end: int) -> bool:
        """Tell whether a copy out is committed and waited for, for its writing, on each way from it to a point."""
        waits, commits = self._full_waits, self._commits
        return not self.is_open(copy, end, waits) and not any(
            self.is_open(copy, wait, commits) for wait in waits
        )

    @cached_property
    def _full_waits(self) -> frozenset[int]:
        return frozenset(
            point
            for point, each in enumerate(self._view.body.instructions)
            if each.operation.op is Op.CP_ASYNC_BULK_WAIT_GROUP
            and not each.operation.has(Mod.READ)
            and self._view.facts.constant(point, each.get("n")) == 0
        )

    @cached_property
    def _commits(self) -> frozenset[int]:
        return frozenset(
            point
            for point, each in enumerate(self._view.body.instructions)
            if each.operation.op is Op.CP_ASYNC_BULK_COMMIT_GROUP
        )

    # ---- ways

    def is_open(self, start: int | None, end: int, closing: frozenset[int]) -> bool:
        """Tell whether a way of the graph leads from a point (None: the entry) to another one past none of some."""
        key = (-1 if start is None else start, end, closing)
        if key not in self._open:
            self._open[key] = self._search(start, end, closing)
        return self._open[key]

    def _search(self, start: int | None, end: int, closing: frozenset[int]) -> bool:
        cfg, instructions = self._cfg, self._view.body.instructions
        closed = sorted(point for point in closing if instructions[point].guard is None)
        first_closed: dict[int, list[int]] = {}
        for point in closed:
            first_closed.setdefault(cfg.graph.block_of[point], []).append(point)
        begin = cfg.order[0] if start is None else cfg.graph.block_of[start]
        work = [(begin, cfg.blocks[begin].start if start is None else start + 1)]
        seen: set[int] = set()
        while work:
            block, point = work.pop()
            stop = next(
                (each for each in first_closed.get(block, ()) if each >= point), cfg.blocks[block].end
            )
            if point <= end < cfg.blocks[block].end and end <= stop:
                return True
            if stop < cfg.blocks[block].end:
                continue
            for target in cfg.successors[block]:
                if target != cfg.exit and target not in seen:
                    seen.add(target)
                    work.append((target, cfg.blocks[target].start))
        return False

    def is_parted_open(self, start: int, end: int, closing: frozenset[int]) -> bool:
        """Tell whether a way is open for one thread, or for two of which one has come to a meeting, and one goes on."""
        return self.is_open(start, end, closing) or any(
            self.is_open(start, meeting, closing) and self.is_open(meeting, end, closing)
            for meeting in self.meetings
        )

    def is_surely_open(self, start: int, end: int, closing: frozenset[int], *, parts: bool) -> bool:
        """Tell whether a thread can surely take a way past none of some points; with `parts`, or two that meet."""
        return self.is_feasible(start, end, closing) or (
            parts
            and any(
                self.is_feasible(start, meeting, closing) and self.is_feasible(meeting, end, closing)
                for meeting in sorted(self.meetings - closing)
            )
        )

    def is_feasible(self, start: int, end: int, closing: frozenset[int]) -> bool:
        """Tell whether a thread can surely take a way from a point to another one past none of some points."""
        query = Query(frozenset({start}), frozenset({end}), closing)
        return self._view.get(Paths.of).find(query) is not None
