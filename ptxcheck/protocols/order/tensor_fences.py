"""Fences of tensor memory around the synchronisation of threads (PTX ISA §9.7.17.6 and 9.7.17.11.1).

Property: a `Lack` is a pair of accesses of different warps to the same columns, one of them a write, that barriers put
in order, and one of the two fences that the ISA asks for is not there: `before_thread_sync` in the warp of the earlier
access behind it, which the later one knows of; or `after_thread_sync` in the warp of the later one, where it knows the
earlier.

Argument: a commit has the first fence in it, so multiplications and copies need the second one alone. Of the accesses
of a strand to a bank the last one before the later access is looked at: a fence behind it is behind those before it.

Not covered: deallocations; threads of one warp; pairs that nothing orders, which are a race.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..model.actions import TENSOR_CORE, Protocol, Span, TensorFence
from .clock import Clock, Row
from .conflicts import Touch, is_executed_before

_Warp = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Lack:
    """Two accesses with a fence missing between them, and the first column that both touch, of a bank."""

    earlier: Touch
    later: Touch
    kind: TensorFence
    bank: int
    column: int


@dataclass(frozen=True, slots=True)
class _Fence:
    strand: int
    index: int
    clock: Clock


class TensorFences:
    """The fences of all warps in one schedule, in its order."""

    def __init__(self, protocol: Protocol) -> None:
        self._warps: list[_Warp] = [(strand.cta, strand.warp) for strand in protocol.strands]
        self._fences: dict[tuple[_Warp, TensorFence], list[_Fence]] = {}

    def add(self, strand: int, index: int, kind: TensorFence, clock: Clock) -> None:
        self._fences.setdefault((self._warps[strand], kind), []).append(_Fence(strand, index, clock))

    def lacking(self, touches: Sequence[Touch], pipeline_of: Callable[[Touch], str]) -> Iterator[Lack]:
        """Yield what lacks fences, once for each pair of instructions."""
        last: dict[int, dict[tuple[int, bool], tuple[Touch, Span]]] = {}
        told: set[tuple[int, int]] = set()
        for later in touches:
            for span in later.spans:
                in_bank = last.setdefault(span.cta, {})
                for earlier, before in in_bank.values():
                    column = max(span.start, before.start)
                    pair = earlier.point, later.point
                    if pair in told or column >= min(span.start + span.size, before.start + before.size):
                        continue
                    kind = self._missing(earlier, later, pipeline_of)
                    if kind is not None:
                        told.add(pair)
                        yield Lack(earlier, later, kind, span.cta, column)
                if pipeline_of(later):
                    in_bank[later.strand, later.writes] = later, span

    def _missing(
        self, earlier: Touch, later: Touch, pipeline_of: Callable[[Touch], str]
    ) -> TensorFence | None:
        conflicts = (earlier.writes or later.writes) and bool(pipeline_of(later))
        apart = self._warps[earlier.strand] != self._warps[later.strand]
        if not (conflicts and apart and is_executed_before(earlier, later)):
            return None
        if pipeline_of(earlier) != TENSOR_CORE and not self._has(
            TensorFence.BEFORE_SYNC, self._warps[earlier.strand], later, earlier.strand, earlier.index + 1
        ):
            return TensorFence.BEFORE_SYNC
        if not self._has(
            TensorFence.AFTER_SYNC, self._warps[later.strand], later, earlier.component, earlier.over
        ):
            return TensorFence.AFTER_SYNC
        return None

    def _has(self, kind: TensorFence, warp: _Warp, later: Touch, component: int, least: int) -> bool:
        """Tell whether a fence of a warp is in front of an access, and has so much of a component in front of it."""
        return any(
            fence.clock[Row.EXECUTED, component] >= least
            and later.clock[Row.EXECUTED, fence.strand] > fence.index
            for fence in self._fences.get((warp, kind), ())
        )
