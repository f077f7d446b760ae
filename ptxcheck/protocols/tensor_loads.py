"""Loads of tensor memory that are over because their registers have been read.

A load runs on after its instruction, and PTX has `tcgen05.wait::ld` to settle its registers. Machine code waits for the
registers of a load where they are read, and released kernels rely on that for the end of the load as well: they hand an
accumulator back behind the last use of what they loaded, with no wait, and also where threads without output skip that
use (FlashInfer's `kda` and `vsa` kernels).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..cfg.cfg import Cfg
from ..cfg.definitions import Definitions
from ..cfg.uses import Uses
from ..op import Op
from .actions import TENSOR_LOADS, Action, TensorAccess, TensorWait

Numbered = tuple[int, Action]
"""An action with the number of its event."""


@dataclass(frozen=True, slots=True)
class _Between:
    """The part of the first block behind a point, the part of the last one before another, and the blocks between."""

    first: int
    head: range
    last: int
    tail: range
    blocks: frozenset[int]


class LoadUses:
    """Where the registers of loads are read."""

    def __init__(self, cfg: Cfg) -> None:
        self._cfg = cfg
        self._readers: dict[int, tuple[int, ...]] = {}
        self._passed: dict[tuple[int, int, int], bool] = {}
        self._regions: dict[tuple[int, int], _Between] = {}

    @cached_property
    def _uses(self) -> Uses:
        return Uses(self._cfg, Definitions(self._cfg))

    def settled(self, numbered: Iterable[Numbered]) -> Iterator[Numbered]:
        """Yield the actions of a strand, with a wait for a load, and earlier ones, where its registers were read."""
        open_loads: list[int] = []
        last = -1
        for index, action in numbered:
            if open_loads and action.point != last:
                used = [i for i, load in enumerate(open_loads) if self._is_used(load, last, action.point)]
                if used:
                    del open_loads[: used[-1] + 1]
                    yield index, TensorWait(action.point, TENSOR_LOADS, len(open_loads))
            yield index, action
            last = action.point
            if isinstance(action, TensorAccess) and action.pipeline == TENSOR_LOADS:
                open_loads.append(action.point)
            elif isinstance(action, TensorWait) and action.pipeline == TENSOR_LOADS:
                open_loads.clear()

    def _is_used(self, load: int, before: int, point: int) -> bool:
        """Tell whether some way from one point to another passes a reader of what a load loaded."""
        key = load, before, point
        known = self._passed.get(key)
        if known is None:
            between = self._between(before, point)
            known = self._passed[key] = any(self._is_in(reader, between) for reader in self._readers_of(load))
        return known

    def _is_in(self, reader: int, between: _Between) -> bool:
        block = self._cfg.graph.block_of[reader]
        return (
            block in between.blocks
            or (block == between.first and reader in between.head)
            or (block == between.last and reader in between.tail)
        )

    def _between(self, before: int, point: int) -> _Between:
        """Return what lies between two points of a strand that come one after the other."""
        known = self._regions.get((before, point))
        if known is None:
            cfg = self._cfg
            first, last = cfg.graph.block_of[before], cfg.graph.block_of[point]
            if first == last and before < point:
                known = _Between(first, range(before + 1, point), last, range(0), frozenset())
            else:
                onward = _reached(cfg.successors, first, last)
                back = _reached(cfg.predecessors, last, first)
                head = range(before + 1, cfg.blocks[first].end)
                tail = range(cfg.blocks[last].start, point)
                known = _Between(first, head, last, tail, onward & back)
            self._regions[before, point] = known
        return known

    def _readers_of(self, load: int) -> tuple[int, ...]:
        """Return the points that read loaded registers; moves are none, as the assembler removes them."""
        known = self._readers.get(load)
        if known is None:
            found: dict[int, None] = {}
            waiting, seen = [load], {load}
            while waiting:
                for reader in self._uses.of(waiting.pop()):
                    if self._cfg.instructions[reader].operation.op is not Op.MOV:
                        found[reader] = None
                    elif reader not in seen:
                        seen.add(reader)
                        waiting.append(reader)
            known = self._readers[load] = tuple(sorted(found))
        return known


def _reached(steps: Sequence[Sequence[int]], start: int, end: int) -> frozenset[int]:
    """Return the blocks that steps lead to from one, not through it again and not through the end."""
    seen: set[int] = set()
    waiting = [start]
    while waiting:
        block = waiting.pop()
        for each in steps[block] if block < len(steps) else ():
            if each not in seen and each not in (start, end):
                seen.add(each)
                waiting.append(each)
    return frozenset(seen)
