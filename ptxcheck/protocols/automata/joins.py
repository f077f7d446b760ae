"""Threads that come to a block, and how those of the sides of a branch go on together from its join.

Property: who goes on from a join together holds what each of the threads held where it came there.

Argument: threads of different sides are different ones, and what they have found apart has names of their own
(`parted_names`). Where one side comes to the join in several ways, what differs between the ways is a symbol from there
on, which stands for either.

Not covered: sides of which some threads end in one way and come to the join in another: these are not followed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...cfg.cfg import Cfg
from ..symex.values.kinds import Kind
from ..symex.values.symbol import LANE, WARP, atom
from ..symex.values.trace import NotFollowedError, ThreadSet
from .loop_heads import LoopHeads
from .nodes import Node, Target
from .parted_names import Parting, told_apart
from .valuations import Valuation, key_of, restricted, united


@dataclass(frozen=True, slots=True)
class Come:
    """Threads that come to a block, by some edges."""

    slots: tuple[Target, ...]
    source: int
    block: int
    threads: ThreadSet
    contents: Valuation
    residues: Mapping[int, int]


class Joins:
    """The joins of one kernel."""

    def __init__(self, cfg: Cfg, heads: LoopHeads, threads: int) -> None:
        self._cfg = cfg
        self._heads = heads
        self._threads = threads

    def meet(
        self, node: Node, ends: Sequence[Sequence[Come]], parting: Parting, residues: Mapping[int, int]
    ) -> list[Come]:
        """Return how the threads of some sides go on together from their join. Raises NotFollowedError."""
        came = [self._together(each, parting) for each in ends if each]
        if not came:
            return []
        parting.check()
        slots = tuple(slot for each in came for slot in each.slots)
        threads = sum(each.threads for each in came)
        contents = united(told_apart([(each.threads, each.contents) for each in came], parting))
        return [Come(slots, node.block, parting.join, threads, contents, residues)]

    def _together(self, ends: Sequence[Come], parting: Parting) -> Come:
        """Return how threads come to a join in whichever way: what differs between the ways is a symbol."""
        join = parting.join
        first = ends[0]
        if len(ends) == 1:
            return first
        by_threads: dict[ThreadSet, list[Come]] = {}
        for each in ends:
            by_threads.setdefault(each.threads, []).append(each)
        if len(by_threads) > 1:
            return self._united([self._together(each, parting) for each in by_threads.values()], parting)
        live, count = self._heads.live[join], self._threads
        ways = [restricted(each.contents, live, first.threads, count) for each in ends]
        keys = [dict(key_of(way)) for way in ways]
        contents = dict(ways[0])
        for register in sorted({r for way in ways for r in way}):
            held = {key.get(register) for key in keys}
            if len(held) > 1:
                symbol = atom(
                    Kind.WIDENED, -1 - join, register.name, str(register.scope), differs=LANE | WARP
                )
                contents[register] = [(first.threads, symbol)]
        slots = tuple(slot for each in ends for slot in each.slots)
        return Come(slots, first.source, join, first.threads, contents, first.residues)

    def _united(self, ends: Sequence[Come], parting: Parting) -> Come:
        """Return how different threads come to a join."""
        join = parting.join
        threads: ThreadSet = 0
        for each in ends:
            if threads & each.threads:
                raise NotFollowedError("some threads of a side end, or not", self._cfg.blocks[join].start)
            threads |= each.threads
        slots = tuple(slot for each in ends for slot in each.slots)
        contents = united(told_apart([(each.threads, each.contents) for each in ends], parting))
        return Come(slots, ends[0].source, join, threads, contents, ends[0].residues)
