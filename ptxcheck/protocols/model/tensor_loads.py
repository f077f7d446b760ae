"""Loads of tensor memory that are over because their registers have been read.

A load runs on after its instruction, and PTX has `tcgen05.wait::ld` to settle its registers. Machine code waits for the
registers of a load where they are read, and released kernels rely on that for the end of the load as well: they hand an
accumulator back behind the last use of what they loaded, with no wait, and also where threads without output skip that
use (FlashInfer's `kda` and `vsa` kernels).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from ...cfg.cfg import Cfg
from ...cfg.definitions import Definitions
from ...cfg.uses import Uses
from ...opcodes.op import Op
from .actions import (
    TENSOR_LOADS,
    Action,
    TensorAccess,
    TensorWait,
)

Numbered = tuple[int, Action]
"""An action with the number of its event."""
_LOADS = frozenset({Op.TCGEN05_LD, Op.TCGEN05_LD_RED})


class LoadUses:
    """Where the registers of loads are read."""

    def __init__(self, cfg: Cfg) -> None:
        self._cfg = cfg
        self._readers: dict[int, tuple[int, ...]] = {}
        self._read: dict[tuple[int, int], frozenset[int]] = {}
        self._at_once: dict[int, frozenset[int]] = {}

    @cached_property
    def _uses(self) -> Uses:
        return Uses(self._cfg, Definitions(self._cfg))

    def settled(self, numbered: Iterable[Numbered]) -> Iterator[Numbered]:
        """Yield the actions of a strand, with a wait for a load, and earlier ones, where its registers were read."""
        open_loads: list[int] = []
        last = -1
        for index, action in numbered:
            if open_loads and action.point != last:
                read = self._read_between(last, action.point)
                used = [i for i, load in enumerate(open_loads) if load in read] if read else []
                if used:
                    del open_loads[: used[-1] + 1]
                    yield index, TensorWait(action.point, TENSOR_LOADS, len(open_loads))
            yield index, action
            last = action.point
            if isinstance(action, TensorAccess) and action.pipeline == TENSOR_LOADS:
                open_loads.append(action.point)
            elif isinstance(action, TensorWait) and action.pipeline == TENSOR_LOADS:
                open_loads.clear()

    def read_in(self, points: range) -> frozenset[int]:
        """Return the loads of whose registers some are read in a part of a block, moved or not.

        Moves count where the load, the moves and the reader follow each other in one block: no round lies between.
        """
        return frozenset(
            load
            for reader in self._readers_in(points)
            for load in self._loads_by_reader[reader]
            if reader in self._readers_at_once(load)
        )

    def _read_between(self, before: int, point: int) -> frozenset[int]:
        """Return the loads of whose registers some way from one point to another passes a reader."""
        known = self._read.get((before, point))
        if known is None:
            readers = [
                reader for points in self._between(before, point) for reader in self._readers_in(points)
            ]
            known = self._read[before, point] = frozenset(
                load for reader in readers for load in self._loads_by_reader[reader]
            )
        return known

    def _readers_in(self, points: range) -> Sequence[int]:
        readers = self._sorted_readers
        return readers[bisect_left(readers, points.start) : bisect_left(readers, points.stop)]

    @cached_property
    def _loads_by_reader(self) -> Mapping[int, Sequence[int]]:
        found: dict[int, list[int]] = {}
        for load, instruction in enumerate(self._cfg.instructions):
            if instruction.operation.op in _LOADS:
                for reader in self._readers_of(load):
                    found.setdefault(reader, []).append(load)
        return found

    @cached_property
    def _sorted_readers(self) -> Sequence[int]:
        return sorted(self._loads_by_reader)

    def _between(self, before: int, point: int) -> list[range]:
        """Return what lies between two points of a strand that come one after the other."""
        cfg = self._cfg
        first, last = cfg.graph.block_of[before], cfg.graph.block_of[point]
        if first == last and before < point:
            return [range(before + 1, point)]
        onward = _reached(cfg.successors, first, last)
        back = _reached(cfg.predecessors, last, first)
        whole = [range(cfg.blocks[block].start, cfg.blocks[block].end) for block in onward & back]
        return [range(before + 1, cfg.blocks[first].end), *whole, range(cfg.blocks[last].start, point)]

    def _readers_at_once(self, load: int) -> frozenset[int]:
        """Return the points that read loaded registers themselves, or move them and read that behind, in one block."""
        known = self._at_once.get(load)
        if known is None:
            block_of = self._cfg.graph.block_of
            found, waiting = set(self._uses.of(load)), [*self._uses.of(load)]
            while waiting:
                move = waiting.pop()
                if self._cfg.instructions[move].operation.op is not Op.MOV or move < load:
                    continue
                if block_of[move] == block_of[load]:
                    onward = {
                        each
                        for each in self._uses.of(move)
                        if each > move and block_of[each] == block_of[move]
                    }
                    waiting += onward - found
                    found |= onward
            known = self._at_once[load] = frozenset(found)
        return known

    def _precedes(self, move: int, load: int) -> bool:
        """Tell whether a move has the number of the round before: the load comes behind it, in the same block."""
        block_of = self._cfg.graph.block_of
        return move < load and block_of[move] == block_of[load]

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
                    elif reader not in seen and not self._precedes(reader, load):
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
