"""Points that part of a warp executes while other lanes of that warp are alive elsewhere.

Property: when `part_of_warp(view, point)` gives a `Part`, then in every run in which a warp with several
threads gets to the point, some of its lanes are not with it and have not ended: on every path of theirs to
the end they still meet a barrier or a collective instruction. Lanes that may have ended (`if (tid >= n)
return;`) do not count. `sure` is False where the set of threads rests on an assumed shape of the block.

Not seen: branches that no thread index decides (values from memory), loops left at different times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...cfg import (
    Cfg,
    EdgeKind,
    ThreadSet,
    Uniformity,
)
from ...opcodes.spec import Trait

if TYPE_CHECKING:
    from ...view import KernelView

WARP = 32
_MEETING = frozenset({Trait.BARRIER, Trait.COLLECTIVE, Trait.ALIGNED})


@dataclass(frozen=True, slots=True)
class Part:
    """Which part of its warps executes a point, and the branch or guard that leaves the others out."""

    branch: int
    threads: ThreadSet | None
    """Exactly the threads that execute the point together, None when only "one of each warp" is known."""
    sure: bool

    def __str__(self) -> str:
        return "one thread of the warp" if self.threads is None else f"threads {self.threads}"


def part_of_warp(view: KernelView, point: int) -> Part | None:
    """Return how part of a warp executes the point while other lanes are alive, None when not proved."""
    facts = view.facts
    execution = facts.execution(point)
    if execution.uniformity is not Uniformity.DIVERGENT or facts.never_runs(point):
        return None
    threads = execution.threads
    split = threads is not None and execution.exact and len(threads) > 0 and not threads.whole(WARP)
    if not split and (not execution.elected or view.launch.threads == 1):
        return None
    for branch, elsewhere in _dividing(view, point):
        if not _may_end_alone(view.cfg, elsewhere, _is_meeting(view.cfg)):
            known = threads if split else None
            sure = view.launch.threads is not None or execution.elected
            return Part(branch, known, sure)
    return None


def _is_meeting(cfg: Cfg) -> Callable[[int], bool]:
    def meets(point: int) -> bool:
        instruction = cfg.instructions[point]
        return instruction.guard is None and bool(instruction.operation.traits & _MEETING)

    return meets


def _dividing(view: KernelView, point: int) -> Iterator[tuple[int, int]]:
    """Yield each divergent branch or guard over the point, with a point where other lanes go on."""
    cfg, facts = view.cfg, view.facts
    guard = cfg.instructions[point].guard
    if guard is not None and facts.uniform(point, guard.register) is Uniformity.DIVERGENT:
        if point + 1 < len(cfg.instructions):
            yield point, point + 1
        return
    for branch, taken in controlling(cfg, cfg.graph.block_of[point]):
        last = cfg.blocks[branch].last
        jump = cfg.instructions[last]
        if jump.guard is None or facts.uniform(last, jump.guard.register) is not Uniformity.DIVERGENT:
            continue
        for edge in cfg.edges_from(branch):
            if edge.target != taken and edge.target != cfg.exit:
                yield last, cfg.blocks[edge.target].start


def controlling(cfg: Cfg, block: int) -> tuple[tuple[int, int], ...]:
    """Return the branch blocks that a block depends on, nearest first, each with the target that is taken."""
    found: dict[tuple[int, int], None] = {}
    work = [block]
    for current in work:
        for dependence in cfg.control[current]:
            key = (dependence.branch, dependence.target)
            if key not in found:
                found[key] = None
                if dependence.branch not in work:
                    work.append(dependence.branch)
    return tuple(found)


def _may_end_alone(cfg: Cfg, start: int, meets: Callable[[int], bool]) -> bool:
    """Tell whether some path from a point ends the function without a point that `meets`."""
    seen: set[int] = set()
    first = cfg.block_at(start)
    work = [(first.index, start)]
    while work:
        block, begin = work.pop()
        if block == cfg.exit:
            return True
        if any(meets(point) for point in range(begin, cfg.blocks[block].end)):
            continue
        for edge in cfg.edges_from(block):
            if edge.kind is not EdgeKind.TRAP and edge.target not in seen:
                seen.add(edge.target)
                begin = cfg.exit if edge.target == cfg.exit else cfg.blocks[edge.target].start
                work.append((edge.target, begin))
    return False


__all__ = ["WARP", "Part", "controlling", "part_of_warp"]
