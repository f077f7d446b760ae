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
    if execution.elected or threads is None or not execution.exact or view.launch.threads == 1:
        return False
    if execution.uniformity > Uniformity.WARP and not execution.splits_warps:
        return False
    return bool(threads.warps) and not threads.one_per_warp


__all__ = ["issued_by_several"]
