"""Whether all the ways into a block bring the same threads, whatever the CTA-uniform branches decide.

A branch by the thread index always sends the same threads the same way. A branch that is uniform in the CTA
sends all of them, but not in every run. So where ways into a block meet that bring different threads, the
block has one set of threads only if these ways are always open together: below the same decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .cfg import Cfg, ControlDependence
from .threads import ThreadSet

_Occasion = tuple[int, ...]
"""What must have been decided the same for a block to be reached: nothing, an edge, or what meets in a block."""


class Gatherings:
    """Blocks that are reached by the same threads in each run that reaches them.

    `brought` gives the threads that a control dependence brings, `by_index` tells whether its branch goes by
    the thread index alone.
    """

    def __init__(
        self,
        cfg: Cfg,
        threads: Sequence[ThreadSet | None],
        brought: Callable[[ControlDependence], ThreadSet | None],
        by_index: Callable[[ControlDependence], bool],
    ) -> None:
        self._cfg = cfg
        self._threads = threads
        self._brought = brought
        self._by_index = by_index
        self._occasions: dict[int, _Occasion] = {}

    def differ(self, block: int) -> bool:
        """Tell whether some run may bring other threads to a block than another run, or round, does."""
        ways = self._cfg.control[block]
        if all(self._brought(way) == self._threads[block] for way in ways):
            return False
        return len(self._occasions_of(block)) > 1

    def _occasions_of(self, block: int) -> set[_Occasion]:
        coming = self._threads[block]
        occasions = set()
        for way in self._cfg.control[block]:
            brought = self._brought(way)
            if brought is None or brought:
                occasions.add(self._occasion_of_way(way))
            if coming is not None and brought is not None:
                coming = coming - brought
        return occasions | {()} if coming else occasions

    def _occasion_of_way(self, way: ControlDependence) -> _Occasion:
        return self._occasion(way.branch) if self._by_index(way) else (way.branch, way.target)

    def _occasion(self, block: int) -> _Occasion:
        found = self._occasions.get(block)
        if found is None:
            self._occasions[block] = (block,)
            occasions = self._occasions_of(block)
            found = occasions.pop() if len(occasions) == 1 else (block,)
            self._occasions[block] = found
        return found
