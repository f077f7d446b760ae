"""When what is missing between CTAs that hand over data is surely missing, and they surely hand it over.

Property: where `lacks` holds, there are two CTAs of one launch, one of which reads what the
other one writes, behind a word that says that the other has come so far, and a thread takes a way on which nothing of
what is asked for stands.

Argument, for each of what has to be known:

* The word says something of other CTAs: what is observed is compared with a number of CTAs, or is polled.
* Both CTAs exist: the kernel reads the size of the grid or the index of the CTA; neither the host nor the CTA nor
  anything loaded decides whether the write, its word and the observation are executed, but for branches around all.
* One reads what the other writes: all CTAs read the same places of one array, of which each writes some.
* Other threads are concerned, where a barrier is missing: the sets of threads are known and differ.
* Nothing else orders the two: no calls, no mbarriers, no barriers of some threads, no words of the scope of a cluster.

Not covered: everything else, which is not decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ...isa.modifier import Mod
from .divergence import WARP, controlling
from .global_arrays import GlobalAccess
from .global_places import Decided, GlobalPlaces
from .global_ways import GlobalWays

if TYPE_CHECKING:
    from ...view import KernelView


@dataclass(frozen=True, slots=True)
class Need:
    """What would close a way: a barrier, or a release or an acquire, and the points of it."""

    closing: frozenset[int]
    is_barrier: bool


class Certainty:
    """What is sure of handovers by one word of one kernel."""

    def __init__(
        self, view: KernelView, words: Sequence[GlobalAccess], tellers: Sequence[GlobalAccess]
    ) -> None:
        self._view = view
        self._words = words
        self._tellers = tellers
        self._places = view.get(GlobalPlaces)
        self._ways = view.get(GlobalWays)

    def may_be(self, writes: Sequence[GlobalAccess], reads: Sequence[GlobalAccess]) -> bool:
        """Tell whether anything may be sure of some writes and reads."""
        return self._is_telling and any(
            self._places.are_shared(write, read) for write in writes if not write.is_strong for read in reads
        )

    def lacks(
        self, data: GlobalAccess, words: Sequence[GlobalAccess], others: Sequence[GlobalAccess], need: Need
    ) -> bool:
        """Tell whether each way between data and its words surely lacks what would close it.

        `words` are those behind a write, or in front of a read; `others` what reads, or writes, the same array.
        """
        pairs = [(data, each) if data.writes else (each, data) for each in others]
        ways = [(data.point, word.point) if data.writes else (word.point, data.point) for word in words]
        return (
            self._is_telling
            and any(self._is_handed_over(write, read) for write, read in pairs)
            and not (need.is_barrier and not all(self._is_by_others(data, word) for word in words))
            and all(
                self._ways.is_surely_open(start, end, need.closing, parts=not need.is_barrier)
                for start, end in ways
            )
        )

    def _is_handed_over(self, write: GlobalAccess, read: GlobalAccess) -> bool:
        return not write.is_strong and self._places.are_shared(write, read) and self._are_both(write, read)

    @cached_property
    def _is_telling(self) -> bool:
        """Tell whether the words say something of other CTAs, in a kernel in which nothing else orders them."""
        return (
            self._ways.is_simple
            and self._places.knows_the_grid
            and not any(self._scope(each) == Mod.CLUSTER for each in (*self._words, *self._tellers))
            and all(self._is_polled(word) or self._places.is_counted(word.point) for word in self._words)
        )

    def _scope(self, access: GlobalAccess) -> str:
        return self._view.body.instructions[access.point].operation.slots.get("scope", "")

    def _is_polled(self, word: GlobalAccess) -> bool:
        """Tell whether threads stay in a loop by what they observe."""
        cfg = self._view.cfg
        return any(
            self._places.depends(cfg.blocks[source].last, frozenset({word.point}))
            for loop in cfg.loops
            if cfg.graph.block_of[word.point] in loop.blocks
            for source, _ in loop.exits
        )

    def _are_both(self, write: GlobalAccess, read: GlobalAccess) -> bool:
        """Tell whether two CTAs come to both: what decides that is around all, or is the word itself."""
        cfg = self._view.cfg
        of_words = frozenset(word.point for word in self._words)
        points = (write.point, read.point, *(each.point for each in (*self._words, *self._tellers)))
        around = [set(controlling(cfg, cfg.graph.block_of[point])) for point in points]
        common = set.intersection(*around)
        for point, branches in zip(points, around, strict=True):
            for branch, _ in branches - common:
                decided = self._places.of_branch(branch, of_words)
                if decided - ({Decided.DATA} if point == read.point or point in of_words else set()):
                    return False
        return not any(
            Decided.CTA in self._places.of_branch(branch, of_words) for branch, _ in common
        ) and self._guards_are_of_threads(points)

    def _guards_are_of_threads(self, points: Iterable[int]) -> bool:
        """Tell whether predicates of single instructions go by the thread alone."""
        return all(
            self._view.body.instructions[point].guard is None or self._ways.threads(point) is not None
            for point in points
        )

    def _is_by_others(self, data: GlobalAccess, word: GlobalAccess) -> bool:
        """Tell whether threads of other warps than those of the word come to the data."""
        ours, its = self._ways.threads(data.point), self._ways.threads(word.point)
        if ours is None or its is None:
            return False
        return any(thread // WARP not in {each // WARP for each in its} for thread in ours - its)
