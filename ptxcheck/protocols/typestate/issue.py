"""Points that two or more threads of one warp surely execute, each for itself.

Property: where `issued_by_several` says so, every run that gets to the point has two threads of a warp
execute it. Guards and branches that are not known to hold alike in a warp make it silent, and so do threads
that may have ended before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...cfg import Uniformity

if TYPE_CHECKING:
    from ...view import KernelView


def issued_by_several(view: KernelView, point: int) -> bool:
    """Tell whether several threads of a warp execute the point."""
    execution = view.facts.execution(point)
    threads = execution.threads
    if execution.elected or threads is None or view.launch.threads == 1:
        return False
    if not execution.exact:
        return not threads.one_per_warp and _in_whole_warps(view, point)
    if execution.uniformity > Uniformity.WARP and not execution.splits_warps:
        return False
    return bool(threads.warps) and not threads.one_per_warp


def _in_whole_warps(view: KernelView, point: int) -> bool:
    """Tell whether all branches on the way to a point, those that end threads too, go alike in each warp."""
    instructions, cfg = view.body.instructions, view.cfg
    guards = [(point, instructions[point].guard)] if instructions[point].guard is not None else []
    work, seen = [cfg.graph.block_of[point]], set[int]()
    while work:
        for dependence in cfg.control[work.pop()]:
            if dependence.branch not in seen:
                seen.add(dependence.branch)
                work.append(dependence.branch)
                last = cfg.blocks[dependence.branch].last
                guards.append((last, instructions[last].guard))
    return all(
        guard is not None and view.facts.uniform(at, guard.register) <= Uniformity.WARP
        for at, guard in guards
    )


__all__ = ["issued_by_several"]
