"""Which threads execute a point, and how far they do so together.

Properties of `Execution`, for every run of one CTA that gets to the point:

* `uniformity`: whenever one thread of a group of that kind executes the point, the whole group does, in the
  same round of the loops around it.
* `threads`: no thread outside the set executes the point. With `exact`, the threads in it do so together: all
  branches on the way go by the thread index or are the same for the CTA, and which of the latter are taken
  makes no difference to the set (see `gatherings`).
* `elected`: at most one thread of each warp executes the point.

A branch that parts the threads of a warp counts for the points that such a warp may come to. Another warp, none of
whose threads may take more than one way of it (`if (warp == 4 && elected) … else if (warp < 4)`), goes its way whole;
a thread that was left out before was left out by a branch that controls this one, and counts itself.

Threads that a branch sends straight to the end of the function, with nothing that synchronises on the way,
count as absent: such a branch leaves the others of its warp together (WARP at worst). What callers of a
device function do is not known: its threads are taken to enter together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Generic, TypeVar

from ..ir import Guard
from .cfg import Cfg, ControlDependence
from .claims import Claims
from .definitions import Definitions, Name
from .gatherings import Gatherings
from .graph import Edge
from .sparse import Sparse
from .synchronising import SYNCHRONISING
from .threads import WARP, Lanes, ThreadSet
from .uniform import Uniformity
from .uniformity import Levels


@dataclass(frozen=True, slots=True)
class Execution:
    """Who executes a point."""

    uniformity: Uniformity
    threads: ThreadSet | None
    exact: bool
    elected: bool

    @property
    def splits_warps(self) -> bool:
        """Tell whether some warp is known to execute the point with a part of its threads only.

        `uniformity` DIVERGENT alone means that nothing better is known.
        """
        known = self.exact and self.threads is not None and not self.threads.whole(WARP)
        return self.uniformity is Uniformity.DIVERGENT and (known or self.elected)

    @property
    def single_thread(self) -> bool:
        """Tell whether at most one thread of the CTA is known to execute the point."""
        if self.threads is None:
            return False
        return len(self.threads) <= 1 or (self.elected and len(self.threads.warps) <= 1)


_T = TypeVar("_T", bound=int)


class _Controlled(Generic[_T]):
    """Least solution of: a block has the greatest of its own and what the blocks that control it have."""

    def __init__(self, cfg: Cfg, of: Callable[[int], _T]) -> None:
        self._cfg = cfg
        self._of = of
        self._own: dict[int, _T] = {}
        self._branches: dict[int, tuple[int, ...]] = {}

    def inputs(self, key: int) -> Sequence[int]:
        found = self._branches.get(key)
        if found is None:
            branches = dict.fromkeys(dependence.branch for dependence in self._cfg.control[key])
            found = self._branches[key] = tuple(branches)
        return found

    def evaluate(self, key: int, read: Callable[[int], _T | None]) -> _T | None:
        found = self._own.get(key)
        if found is None:
            found = self._own[key] = self._of(key)
        for branch in self.inputs(key):
            value = read(branch)
            if value is not None and value > found:
                found = value
        return found

    def closes_cycle(self, key: int) -> bool:
        return True

    def merge(self, key: int, old: _T, new: _T, turn: int, cycle: Sequence[int]) -> _T:
        return max(old, new)


class Executions:
    """Execution of all points of one function."""

    def __init__(
        self, cfg: Cfg, definitions: Definitions, levels: Levels, lanes: Lanes, claims: Claims
    ) -> None:
        self._cfg = cfg
        self._definitions = definitions
        self._levels = levels
        self._lanes = lanes
        self._claims = claims
        self._level_of_branch = cache(levels.of_branch)
        self._ends_at_once = cache(self._is_end)
        self._is_exact = cache(self._goes_by_index)
        self._parts = cache(self._parts_warps)
        self._blocks = Sparse(_Controlled(cfg, self._level_of))
        self._inexact = Sparse(_Controlled(cfg, self._is_inexact))

    def at(self, point: int) -> Execution:
        block = self._cfg.graph.block_of[point]
        level = self._of_warps(block)
        threads, exact = self._threads[block], not self._inexact.get(block)
        elected = self._elected[block]
        guard = self._cfg.instructions[point].guard
        if guard is not None:
            level = max(level, self._levels.at(point, guard.register))
            exact = exact and self._decides(point, guard)
            claim = self._claims.of_guard(point, guard)
            elected = elected or claim.elected
            if threads is not None and claim.threads is not None:
                threads = threads & claim.threads
        if threads is not None and threads.one_per_warp and threads.size > 1:
            elected = True
        return Execution(level, threads, exact and threads is not None, elected)

    def _of_warps(self, block: int) -> Uniformity:
        """Return the level of a block, for the warps that have threads which may come there."""
        level, threads = self._blocks.get(block) or Uniformity.GRID, self._threads[block]
        if level < Uniformity.DIVERGENT or threads is None or not threads:
            return level
        warps = self._whole_warps(threads)
        seen, waiting = {block}, [block]
        found = Uniformity.GRID
        while waiting and found < Uniformity.DIVERGENT:
            for dependence in self._cfg.control[waiting.pop()]:
                own = self._of_dependence(dependence)
                if own is Uniformity.DIVERGENT:
                    own = own if self._parts(dependence.branch, warps) else Uniformity.WARP
                found = max(found, own)
                if dependence.branch not in seen:
                    seen.add(dependence.branch)
                    waiting.append(dependence.branch)
        return found

    def _parts_warps(self, branch: int, warps: ThreadSet) -> bool:
        """Tell whether some warp of a set may have threads on two ways of a branch."""
        coming = self._threads[branch]
        parted = seen = ThreadSet(0, warps.size)
        for edge in self._cfg.edges_from(branch):
            passing = self._passing(edge)
            taken = warps if coming is None else warps & coming
            own = self._whole_warps(taken if passing is None else taken & passing)
            parted, seen = parted | (seen & own), seen | own
        return bool(parted)

    def _whole_warps(self, threads: ThreadSet) -> ThreadSet:
        bits = sum(((1 << WARP) - 1) << warp * WARP for warp in threads.warps)
        return ThreadSet(bits & (1 << threads.size) - 1, threads.size)

    def _decides(self, point: int, guard: Guard) -> bool:
        """Tell whether a guard goes by the thread index, or is uniform in the whole CTA."""
        name = self._definitions.before(point, guard.register)
        return self._levels.of(name) <= Uniformity.CTA or self._lanes.of(name) is not None

    def _only_ends(self, dependence: ControlDependence) -> bool:
        """Tell whether all other ways of a branch end the thread at once."""
        others = (s for s in self._cfg.successors[dependence.branch] if s != dependence.target)
        return all(self._ends_at_once(block) for block in others)

    def _is_end(self, block: int) -> bool:
        """Tell whether a block ends its threads at once."""
        if block == self._cfg.exit:
            return True
        points = self._cfg.blocks[block].points
        quiet = not any(self._cfg.instructions[p].operation.traits & SYNCHRONISING for p in points)
        return quiet and self._cfg.successors[block] == (self._cfg.exit,)

    def _level_of(self, block: int) -> Uniformity:
        return max(map(self._of_dependence, self._cfg.control[block]), default=Uniformity.GRID)

    def _is_inexact(self, block: int) -> bool:
        if all(self._is_exact(dependence.branch) for dependence in self._cfg.control[block]):
            return self._gatherings.differ(block)
        return True

    @cached_property
    def _gatherings(self) -> Gatherings:
        return Gatherings(self._cfg, self._threads, self._brought_by, self._goes_by_index_alone)

    def _brought_by(self, dependence: ControlDependence) -> ThreadSet | None:
        found = self._threads[dependence.branch]
        if found is None:
            return None
        brought = ThreadSet(0, found.size)
        for edge in self._cfg.edges_from(dependence.branch):
            if edge.target == dependence.target:
                passing = self._passing(edge)
                brought = brought | (found if passing is None else found & passing)
        return brought

    def _of_dependence(self, dependence: ControlDependence) -> Uniformity:
        level = self._level_of_branch(dependence.branch)
        return min(level, Uniformity.WARP) if self._only_ends(dependence) else level

    @cached_property
    def _threads(self) -> tuple[ThreadSet | None, ...]:
        """Threads that can come into each block, by the branches that go by the thread index."""
        count = len(self._cfg.successors)
        if not self._lanes.usable:
            return (None,) * count
        size = self._lanes.size
        found = [0] * count
        found[self._cfg.order[0]] = (1 << size) - 1
        passing = {edge: self._passing(edge) for edge in self._cfg.graph.edges}
        changed = True
        while changed:
            changed = False
            for block in self._cfg.order:
                for edge in self._cfg.edges_from(block):
                    holding = passing[edge]
                    new = found[block] if holding is None else found[block] & holding.bits
                    if new & ~found[edge.target]:
                        found[edge.target] |= new
                        changed = True
        return tuple(ThreadSet(bits, size) for bits in found)

    def _passing(self, edge: Edge) -> ThreadSet | None:
        """Return the threads that an edge can be taken by, None when it says nothing."""
        if not self._cfg.dominators.reached(edge.source):
            return None
        point = self._cfg.blocks[edge.source].last if self._cfg.blocks[edge.source].points else -1
        passing = None if edge.guard is None else self._claims.of_guard(point, edge.guard).threads
        index = self._cfg.jump_index(edge)
        if index is None:
            return passing
        chosen = self._lanes.chosen(self._definitions.before(point, index), edge.cases)
        if passing is None or chosen is None:
            return passing if chosen is None else chosen
        return passing & chosen

    def _goes_by_index(self, branch: int) -> bool:
        """Tell whether a branch goes by the thread index, or is uniform in the whole CTA."""
        if self._level_of_branch(branch) <= Uniformity.CTA:
            return True
        deciding = self._deciding(branch)
        return all(self._levels.of(n) <= Uniformity.CTA or self._lanes.of(n) is not None for n in deciding)

    def _goes_by_index_alone(self, dependence: ControlDependence) -> bool:
        return all(self._lanes.of(name) is not None for name in self._deciding(dependence.branch))

    def _deciding(self, branch: int) -> tuple[Name, ...]:
        return self._definitions.read_at(self._cfg.blocks[branch].last)

    @cached_property
    def _elected(self) -> tuple[bool, ...]:
        """Blocks that an elected thread alone comes into: below an edge whose guard elects."""
        found = [False] * len(self._cfg.successors)
        for block in self._cfg.order:
            parent = self._cfg.dominators.parent[block]
            into = [e for e in self._cfg.edges_into(block) if self._cfg.dominators.reached(e.source)]
            found[block] = parent is not None and found[parent]
            if not found[block] and len(into) == 1 and into[0].guard is not None:
                last = self._cfg.blocks[into[0].source].last
                found[block] = self._claims.of_guard(last, into[0].guard).elected
        return tuple(found)
