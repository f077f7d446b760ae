"""Bytes that generic accesses and asynchronous copies of one thread read and write.

Property: each `Bytes` is touched whenever its point runs: sizes are the least, and accesses of which
nothing is known but that they happen are left out. Matrix accesses count for the row that the executing
lane names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from ...ir import Address, Instruction
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from .must_alias import Bytes, bytes_at
from .shared_access import (
    TENSOR_BYTES,
    WARP,
    access_bytes,
    find_shared_accesses,
)

if TYPE_CHECKING:
    from ...view import KernelView

_STORES = frozenset({Trait.STORE, Trait.ATOMIC})
TENSOR = frozenset({Op.CP_ASYNC_BULK_TENSOR, Op.CP_REDUCE_ASYNC_BULK_TENSOR})
"""Copies that a tensor map describes."""
BULK = frozenset(
    {
        Op.CP_ASYNC_BULK,
        Op.CP_REDUCE_ASYNC_BULK,
        Op.CP_ASYNC_BULK_PREFETCH,
        Op.MULTIMEM_CP_ASYNC_BULK,
        Op.MULTIMEM_CP_REDUCE_ASYNC_BULK,
    }
)
"""Copies, reductions and prefetches of a number of bytes."""
_GLOBAL = ".global"
_SHARED = ".shared"


@dataclass(frozen=True)
class AsyncBytes:
    """Accesses of one kernel, by who makes them."""

    view: KernelView = field(repr=False)

    @cached_property
    def shared_writes(self) -> tuple[Bytes, ...]:
        """Writes of shared memory through the generic proxy, `cp.async` among them."""
        return tuple(
            self._shared(lambda i: bool(i.operation.traits & _STORES) or i.operation.op is Op.CP_ASYNC)
        )

    @cached_property
    def shared_reads(self) -> tuple[Bytes, ...]:
        """Loads and atomics of shared memory."""
        return tuple(self._shared(lambda i: bool(i.operation.traits & {Trait.LOAD, Trait.ATOMIC})))

    def _shared(self, wanted: Callable[[Instruction], bool]) -> Iterator[Bytes]:
        for access in self.view.get(find_shared_accesses):
            instruction = self.view.cfg.instructions[access.point]
            if not wanted(instruction) or access.operand == "src" or access.lanes < WARP:
                continue
            yield Bytes(access.point, access.value, access.place, access.size)

    @cached_property
    def global_writes(self) -> tuple[Bytes, ...]:
        return tuple(self._global(_STORES))

    @cached_property
    def global_reads(self) -> tuple[Bytes, ...]:
        return tuple(self._global(frozenset({Trait.LOAD, Trait.ATOMIC})))

    def _global(self, traits: frozenset[Trait]) -> Iterator[Bytes]:
        for point, instruction in enumerate(self.view.cfg.instructions):
            operation = instruction.operation
            if not operation.traits & traits or Trait.ASYNC in operation.traits:
                continue
            address = next((o for o in instruction.operands if isinstance(o, Address)), None)
            if operation.slots.get("space", _GLOBAL) == _GLOBAL and not self.view.facts.never_runs(point):
                yield bytes_at(self.view, point, address, _GLOBAL, access_bytes(instruction))

    # ---- asynchronous copies

    @cached_property
    def copied_from_shared(self) -> tuple[Bytes, ...]:
        """Sources in shared memory, read through the async proxy."""
        return tuple(self._copied("src", _SHARED, Trait.ASYNC_PROXY_READ))

    @cached_property
    def copied_from_global(self) -> tuple[Bytes, ...]:
        """Sources in global memory that are named by address, not by tensor map."""
        return tuple(self._copied("src", _GLOBAL, Trait.ASYNC_PROXY_READ))

    @cached_property
    def copied_to_shared(self) -> tuple[Bytes, ...]:
        return tuple(self._copied("dst", _SHARED, Trait.ASYNC_PROXY_WRITE))

    @cached_property
    def copied_to_global(self) -> tuple[Bytes, ...]:
        return tuple(self._copied("dst", _GLOBAL, Trait.ASYNC_PROXY_WRITE))

    @cached_property
    def small_copies(self) -> tuple[Bytes, ...]:
        """Destinations of `cp.async`."""
        return tuple(b for b in self.shared_writes if self._op(b.point) is Op.CP_ASYNC)

    def _copied(self, operand: str, space: str, trait: Trait) -> Iterator[Bytes]:
        for point, instruction in enumerate(self.view.cfg.instructions):
            operation = instruction.operation
            if trait not in operation.traits or not isinstance(instruction.get(operand), Address):
                continue
            spelled = operation.slots.get(f"{operand}_space", "")
            if not spelled.startswith(space) or self.view.facts.never_runs(point):
                continue
            size = self.view.facts.constant(point, instruction.get("size")) or 0
            if operation.op in TENSOR:
                size = TENSOR_BYTES
            yield bytes_at(self.view, point, instruction[operand], spelled, size)

    def _op(self, point: int) -> Op:
        return self.view.cfg.instructions[point].operation.op


__all__ = ["BULK", "TENSOR", "AsyncBytes"]
