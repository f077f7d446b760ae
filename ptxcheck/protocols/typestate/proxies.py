"""Bytes that a thread writes through the generic proxy and then has read through the async proxy.

Property: each `Crossing` is on a feasible path of one thread from a write to the start of an asynchronous
read of a byte that it wrote, with no proxy fence that covers the space of the byte, no call that may hold
one, and no asynchronous write to the bytes read on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ...ir import Instruction
from ...isa.modifier import Mod
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from .async_bytes import AsyncBytes
from .must_alias import Bytes, Meeting, meeting
from .paths import Paths, Query

if TYPE_CHECKING:
    from ...view import KernelView

_PROXY_FENCES = frozenset({Op.FENCE_PROXY, Op.MEMBAR_PROXY})
_MEMORY_FENCES = frozenset({Op.FENCE, Op.MEMBAR})


class Between(Enum):
    """What stands in for the fence that is missing."""

    NOTHING = "nothing"
    OTHER_SPACE = "other space"
    """A fence of the async proxy for another state space."""
    MEMORY_FENCE = "memory fence"


@dataclass(frozen=True, slots=True)
class Crossing:
    """A write and an asynchronous read of one byte that no proxy fence orders."""

    write: int
    read: int
    is_global: bool
    between: Between = Between.NOTHING
    fence: int = -1
    """The fence that does not help."""


def find_crossings(view: KernelView) -> tuple[Crossing, ...]:
    """Return the crossings of one kernel, one for each asynchronous read."""
    return (*_Search(view, is_global=False).run(), *_Search(view, is_global=True).run())


class _Search:
    def __init__(self, view: KernelView, *, is_global: bool) -> None:
        self._view = view
        self._is_global = is_global
        self._spaces = ("", Mod.GLOBAL) if is_global else ("", Mod.SHARED_CTA, Mod.SHARED_CLUSTER)

    def run(self) -> Iterator[Crossing]:
        known = self._view.get(AsyncBytes)
        reads = known.copied_from_global if self._is_global else known.copied_from_shared
        if not reads:
            return
        closing = self._points(self._closes)
        writes = known.global_writes if self._is_global else known.shared_writes
        for read in reads:
            found = self._unordered(read, writes, closing)
            if found is not None:
                yield found

    def _points(self, wanted: Callable[[Instruction], bool]) -> frozenset[int]:
        return frozenset(p for p, i in enumerate(self._view.cfg.instructions) if wanted(i))

    def _closes(self, instruction: Instruction) -> bool:
        operation = instruction.operation
        if operation.op in _PROXY_FENCES and self._is_async(instruction):
            return operation.slots.get("space", "") in self._spaces
        return Trait.ANYTHING in operation.traits or Trait.CALL in operation.traits

    @staticmethod
    def _is_async(instruction: Instruction) -> bool:
        return instruction.operation.has(Mod.ASYNC) or instruction.operation.has(Mod.ASYNC_GENERIC)

    def _unordered(self, read: Bytes, writes: Sequence[Bytes], closing: frozenset[int]) -> Crossing | None:
        barred = closing | self._overwriting(read)
        for write, met in self._nearest(read, writes):
            if self._leads(write, read.point, barred, met):
                return self._explained(Crossing(write, read.point, self._is_global), barred, met)
        return None

    def _nearest(self, read: Bytes, writes: Sequence[Bytes]) -> Iterator[tuple[int, Meeting]]:
        """Yield the writes of a byte that is read, of each block the last and the last before the read."""
        cfg = self._view.cfg
        chosen: dict[tuple[int, bool], tuple[int, Meeting]] = {}
        for write in writes:
            if write.point == read.point or not cfg.reaches(write.point, read.point):
                continue
            met = meeting(self._view, write, read)
            if met is not None:
                key = cfg.graph.block_of[write.point], write.point < read.point
                chosen[key] = write.point, met
        yield from chosen.values()

    def _overwriting(self, read: Bytes) -> frozenset[int]:
        """Return the asynchronous writes that may put other bytes where it reads."""
        if self._is_global:
            return self._points(lambda i: i.operation.has(Mod.BULK_GROUP))
        place = read.place
        return frozenset(
            other.point
            for other in self._view.get(AsyncBytes).copied_to_shared
            if place is None or other.place is None or other.place.symbol == place.symbol
        )

    def _leads(self, start: int, end: int, barred: frozenset[int], met: Meeting) -> bool:
        query = Query(frozenset({start}), frozenset({end}), barred | met.barred, threads=met.threads)
        return self._view.get(Paths.of).find(query) is not None

    def _explained(self, crossing: Crossing, barred: frozenset[int], met: Meeting) -> Crossing:
        """Say which fence on the way looks as if it were meant to order the two."""
        kinds = (
            (Between.OTHER_SPACE, lambda i: i.operation.op in _PROXY_FENCES and self._is_async(i)),
            (Between.MEMORY_FENCE, lambda i: i.operation.op in _MEMORY_FENCES),
        )
        for kind, wanted in kinds:
            for fence in sorted(self._points(wanted) - barred):
                reaches = self._view.cfg.reaches
                if not (reaches(crossing.write, fence) and reaches(fence, crossing.read)):
                    continue
                to_fence = self._leads(crossing.write, fence, barred, met)
                if to_fence and self._leads(fence, crossing.read, barred, met):
                    return Crossing(crossing.write, crossing.read, self._is_global, kind, fence)
        return crossing


__all__ = ["Between", "Crossing", "find_crossings"]
